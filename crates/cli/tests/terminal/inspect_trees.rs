//! What inspect says of the machines recorded in crates/host/tests/trees.

use host::{Host, TargetQuery};
use judge::inspect::{Inspection, Mark, Section};
use judge::{Durability, inspect};
use record::{Bytes, Facts, Health};
use report::style::Style;
use std::path::Path;

const ALL: [(&str, &[&str]); 3] = [
    (
        "stacks.tree",
        &["/data/new", "/crypt", "/raid", "/pool/file", "/dev/loop0", "/dev/vda", "/dev/nvme0n1"],
    ),
    ("fabric.tree", &["/dev/bcache0", "/dev/sdb", "/dev/nvme0n1"]),
    ("server.tree", &["/data", "/raw/x", "/export", "/dev/sda", "/dev/nvme0n1", "/nowhere"]),
];

/// Facts of a recorded machine as it would have told them: what no file tells is of the one the
/// tests run on, and left out.
fn facts(tree: &str, path: &str) -> Facts {
    let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/tests/trees");
    let mounts = ["/data", "/crypt", "/raid", "/pool", "/raw", "/export"];
    let root = testbed::unpack(&trees.join(tree), &mounts);
    let query = TargetQuery { path: path.into(), will_write: false };
    let mut facts = Host::at(root.path()).facts(&[query]);
    facts.environment.is_root = false;
    facts.page_size = Bytes(4096);
    for filesystem in facts.targets.values_mut().flat_map(|target| &mut target.filesystem) {
        (filesystem.free, filesystem.total) = (Bytes(60 << 30), Bytes(100 << 30));
        filesystem.block_size = Bytes(4096);
    }
    facts
}

fn inspected(tree: &str, path: &str) -> Inspection {
    inspect(&facts(tree, path), path)
}

/// Rows of a section as "MARK label: value".
fn rows(inspection: &Inspection, id: &str) -> Vec<String> {
    let row = |row: &judge::inspect::Row| {
        let mark = row.mark.name();
        format!("{mark} {}: {}", row.label, row.value)
    };
    section(inspection, id).rows.iter().map(row).collect()
}

fn section<'a>(inspection: &'a Inspection, id: &str) -> &'a Section {
    inspection.sections.iter().find(|section| section.id == id).unwrap()
}

#[test]
fn a_logical_volume_on_nvme() {
    let found = inspected("stacks.tree", "/data/new");
    assert_eq!(found.stack, ["ext4", "dm-0", "nvme0n1p2", "nvme0n1"]);
    assert_eq!(found.durability, Durability::WriteBackFua);
    let expected = [
        "ok path: /data/new, does not exist yet on ext4",
        "ok dm-0: LVM volume vg0-data, 100 MiB",
        "ok nvme0n1p2: partition, 234 MiB",
        "look nvme0n1: QEMU NVMe Ctrl, 256 MiB, nvme, virtual",
    ];
    assert_eq!(rows(&found, "device"), expected);
    assert!(section(&found, "device").means.ends_with("neighbours and LVM."));
    assert_eq!(rows(&found, "scheduler"), ["ok nvme0n1: none; available: mq-deadline"]);
    let expected = ["ok nvme0n1: 512 B logical, 512 B physical", "ok filesystem: 4 KiB"];
    assert_eq!(rows(&found, "blocks"), expected);
    assert_eq!(rows(&found, "filesystem")[1], "ok options: rw, relatime");
    assert_eq!(rows(&found, "filesystem")[2], "ok free: 60 GiB of 100 GiB, 60 %");
    let expected = [
        "ok dm-0: write back, FUA",
        "ok nvme0n1: write back, FUA",
        "look durability: write back with FUA",
    ];
    assert_eq!(rows(&found, "write-cache"), expected);
    assert_eq!(rows(&found, "health"), ["look nvme0n1: not read: needs root"]);
    assert_eq!(
        rows(&found, "direct"),
        ["ok O_DIRECT: supported; alignment: offsets 512 B, memory 512 B"]
    );
    assert_eq!(rows(&found, "buffered"), ["look memory: unknown"]);
    let trim = ["dm-0", "nvme0n1"].map(|d| format!("ok {d}: units of 512 B, up to 2 GiB at once"));
    assert_eq!(rows(&found, "trim")[..2], trim);
}

#[test]
fn encryption_mounted_without_barriers() {
    let found = inspected("stacks.tree", "/crypt");
    assert_eq!(found.durability, Durability::NeverFlushed);
    assert_eq!(rows(&found, "device")[1], "ok dm-1: dm-crypt secret, 50 MiB");
    assert_eq!(rows(&found, "filesystem")[1], "problem options: ro, relatime, nobarrier");
    assert!(section(&found, "filesystem").means.starts_with("nobarrier leaves synced writes"));
    let cache = section(&found, "write-cache");
    assert_eq!(cache.mark(), Mark::Problem);
    assert!(cache.means.contains("mount option nobarrier forbids flushing it"), "{}", cache.means);
    assert_eq!(rows(&found, "trim")[0], "look dm-1: no");
}

#[test]
fn a_mirror_of_two_sata_disks_and_a_loop_device_on_it() {
    let found = inspected("stacks.tree", "/raid");
    assert_eq!(found.stack, ["ext4", "md0", "sdb", "sdc"]);
    assert_eq!(found.durability, Durability::WriteBackFlush);
    assert!(found.durability_reason.starts_with("sdb has a volatile write cache"));
    assert_eq!(rows(&found, "device")[1], "ok md0: software raid1, 159 MiB");
    let found = inspected("stacks.tree", "/dev/loop0");
    assert_eq!(rows(&found, "device")[1], "look loop0: loop over /raid/image, 8 MiB");
    assert_eq!(rows(&found, "filesystem"), ["ok filesystem: none on this path"]);
    assert_eq!(found.durability, Durability::WriteBackFlush);
}

#[test]
fn btrfs_over_nvme_and_usb() {
    let found = inspected("stacks.tree", "/pool/file");
    assert_eq!(found.stack, ["btrfs", "nvme1n1", "sdd"]);
    assert!(section(&found, "scheduler").means.starts_with("The disks differ"));
    assert!(section(&found, "filesystem").means.starts_with("compress=zstd:3 stores less"));
    assert_eq!(section(&found, "direct").mark(), Mark::Look);
    assert_eq!(rows(&found, "queue")[1], "look sdd: 2 requests in one queue, up to 1 MiB each");
    assert!(section(&found, "queue").means.contains("2 requests are in flight in sdd"));
    assert!(section(&found, "trim").means.starts_with("sdd does not pass TRIM"));
}

#[test]
fn a_disk_in_use_is_only_to_be_read() {
    let found = inspected("stacks.tree", "/dev/nvme0n1");
    let device = section(&found, "device");
    let used = &device.rows.last().unwrap();
    assert_eq!((used.label.as_str(), used.mark), ("in use", Mark::Look));
    assert!(used.value.starts_with("dm-0 is mounted at /data; dm-1 is mounted at /crypt;"));
    assert!(device.decide.starts_with("Only read it"));
}

#[test]
fn a_server_with_limits_a_resync_and_two_kinds_of_disks() {
    let found = inspected("server.tree", "/data");
    assert_eq!(found.durability, Durability::NeverFlushed);
    let expected = [
        "ok nvme0n1: 1023 requests in each of 2 queues, up to 128 KiB each",
        "ok sda: 64 requests in one queue, up to 1.25 MiB each",
        "problem nvme0n1: capped at reads 100 MiB/s, 2 k writes/s",
        "problem md1: busy with resync 12.5 %",
    ];
    assert_eq!(rows(&found, "queue"), expected);
    let expected = [
        "problem CPUs: 4, limited to 2.0",
        "look frequency: schedutil, boost off",
        "ok mitigations: retbleed, spectre_v2",
        "ok nvme0n1: 2 interrupts on CPUs 0-3",
        "look NUMA: 2 nodes, nvme0n1 on 1 (CPUs 2-3)",
        "ok load: 0.50 1.25 2.00",
    ];
    assert_eq!(rows(&found, "cpu"), expected);
    let expected = [
        "ok memory: 62.5 GiB",
        "look group's limit: 8 GiB",
        "ok dirty limit: about 1.6 GiB",
        "look swap in use: 48 MiB",
        "ok beyond the cache: 16 GiB",
    ];
    assert_eq!(rows(&found, "buffered"), expected);
    assert_eq!(rows(&found, "state"), ["ok medium: flash", "look to fill: 1.82 TiB"]);
    let expected = "ok nvme0n1: firmware 3B2QGXA7, serial number S6XXXXXXXXXXXX";
    assert_eq!(rows(&found, "errors")[0], expected);
}

#[test]
fn a_partition_from_the_days_of_cylinders_is_misaligned() {
    let found = inspected("server.tree", "/raw/x");
    let expected = "problem nvme0n1p1: starts at 31.5 KiB, not a multiple of its block";
    assert_eq!(rows(&found, "blocks")[1], expected);
    assert!(section(&found, "blocks").decide.starts_with("Align it"));
    let aligned = inspected("server.tree", "/data");
    assert_eq!(rows(&aligned, "blocks")[2], "ok nvme0n1p2: starts at 1 GiB, aligned");
    assert!(section(&found, "filesystem").means.starts_with("discard sends TRIM"));
    assert_eq!(rows(&found, "trim")[1], "look sent: while files are deleted");
}

#[test]
fn another_machines_files() {
    let found = inspected("server.tree", "/export");
    assert_eq!(
        (found.durability, &found.stack[..]),
        (Durability::Network, &["nfs4".to_owned()][..])
    );
    assert_eq!(rows(&found, "device")[1], "look device: none is visible below it");
    assert!(section(&found, "device").means.starts_with("nfs4 from filer:/export"));
}

#[test]
fn a_hot_worn_and_failing_disk_says_so() {
    let mut facts = facts("server.tree", "/raw/x");
    let health = |health: Health, facts: &mut Facts| {
        facts.devices.get_mut("nvme0n1").unwrap().health = Some(health);
        inspect(facts, "/raw/x")
    };
    let well = Health {
        passed: Some(true),
        temperature_c: Some(41),
        temperature_warning_c: Some(70),
        used_percent: Some(2),
        spare_percent: Some(100),
        spare_threshold_percent: Some(10),
        media_errors: Some(0),
        ..Health::default()
    };
    let found = health(well.clone(), &mut facts);
    let expected = [
        "ok nvme0n1: reports that it is healthy",
        "ok temperature: 41 °C, warns at 70 °C",
        "ok wear: 2 % of its endurance used",
        "ok spare: 100 % left",
    ];
    assert_eq!(rows(&found, "health"), expected);
    assert_eq!(section(&found, "errors").mark(), Mark::Ok);
    let hot = Health { temperature_c: Some(68), used_percent: Some(97), ..well.clone() };
    assert_eq!(section(&health(hot, &mut facts), "health").mark(), Mark::Look);
    let failing = Health {
        warnings: vec!["spare below its threshold".into()],
        spare_percent: Some(3),
        media_errors: Some(12),
        ..well
    };
    let found = health(failing, &mut facts);
    assert_eq!(rows(&found, "health")[0], "problem nvme0n1: warns: spare below its threshold");
    assert_eq!(rows(&found, "health")[3], "problem spare: 3 % left");
    assert!(section(&found, "errors").decide.starts_with("Stop"));
}

#[test]
fn every_machine_has_fourteen_full_sections_that_fit_80_columns() {
    for (tree, paths) in ALL {
        for path in paths {
            let facts = facts(tree, path);
            let found = inspect(&facts, path);
            let numbers: Vec<u32> = found.sections.iter().map(|section| section.number).collect();
            assert_eq!(numbers, (1..=14).collect::<Vec<_>>());
            for section in &found.sections {
                assert!(!section.rows.is_empty(), "{path}: {}", section.id);
                for sentence in [&section.means, &section.decide] {
                    let whole = sentence.ends_with('.') && !sentence.contains("  ");
                    assert!(whole, "{path}: {}: {sentence}", section.id);
                }
            }
            let text = report::inspect::text(&found, Style::default());
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= 80, "{path}: {widest}");
            assert!(text.lines().count() <= 80, "{path}: {} lines", text.lines().count());
        }
    }
}
