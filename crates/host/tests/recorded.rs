//! Facts of machines recorded in trees/ (see trees/record.sh).

use host::{Host, TargetQuery};
use record::{DeviceFacts, DeviceKind, Facts, TargetKind, Use};
use std::path::Path;
use tempfile::TempDir;

/// Unpacks a recorded tree and the directories that things are mounted on in one of them.
fn unpack(tree: &str) -> TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees").join(tree);
    testbed::unpack(&source, &["/data", "/crypt", "/raid", "/pool"])
}

fn facts(tree: &str, paths: &[&str]) -> Facts {
    let root = unpack(tree);
    let query = |path: &&str| TargetQuery { path: (*path).to_owned(), will_write: true };
    Host::at(root.path()).facts(&paths.iter().map(query).collect::<Vec<_>>())
}

fn stacks(path: &str) -> Facts {
    facts("stacks.tree", &[path])
}

fn mounted(device: &str, mount_point: &str) -> Use {
    Use::Mounted { device: device.to_owned(), mount_point: mount_point.to_owned() }
}

fn holders(names: &[&str]) -> Use {
    Use::Holders { names: names.iter().map(|n| (*n).to_owned()).collect() }
}

#[test]
fn a_file_on_a_logical_volume_lies_on_a_partition_of_an_nvme_disk() {
    let facts = stacks("/data/new");
    let target = &facts.targets["/data/new"];
    assert_eq!(target.kind, TargetKind::Missing);
    assert!(target.parent_exists);
    assert_eq!(target.device.as_deref(), Some("dm-0"));
    let filesystem = target.filesystem.as_ref().unwrap();
    assert_eq!(
        (filesystem.kind.as_str(), filesystem.source.as_str()),
        ("ext4", "/dev/mapper/vg0-data")
    );
    assert_eq!(facts.stack_under("/data/new"), ["dm-0", "nvme0n1p2", "nvme0n1"]);
    let volume = DeviceKind::DeviceMapper { name: "vg0-data".into(), subsystem: "LVM".into() };
    assert_eq!(facts.devices["dm-0"].kind, volume);
    assert_eq!(facts.devices["nvme0n1p2"].kind, DeviceKind::Partition);
    let disk = &facts.devices["nvme0n1"];
    let expected = DeviceFacts {
        name: "nvme0n1".into(),
        kind: DeviceKind::Disk,
        model: Some("QEMU NVMe Ctrl".into()),
        serial: Some("lab0".into()),
        transport: Some("nvme".into()),
        is_virtual: true,
        size: record::Bytes(256 << 20),
        rotational: Some(false),
        scheduler: Some("none".into()),
        ..disk.clone()
    };
    assert_eq!(*disk, expected);
    assert_eq!((disk.logical_block.0, disk.physical_block.0), (512, 512));
    assert_eq!(disk.write_cache.as_deref(), Some("write back"));
    assert_eq!(disk.fua, Some(true));
    assert_eq!((disk.alignment_offset, disk.read_only), (Some(0), false));
    assert!(disk.nr_requests.is_some() && disk.read_ahead.0 > 0 && disk.max_request.0 > 0);
    assert_eq!(facts.devices["nvme0n1p2"].logical_block, disk.logical_block);
}

#[test]
fn dm_crypt_mounted_read_only() {
    let facts = stacks("/crypt");
    let secret = DeviceKind::DeviceMapper { name: "secret".into(), subsystem: "CRYPT".into() };
    assert_eq!(facts.devices["dm-1"].kind, secret);
    let filesystem = facts.targets["/crypt"].filesystem.as_ref().unwrap();
    assert!(filesystem.read_only);
    assert!(filesystem.options.contains(&"ro".to_owned()));
    assert!(!filesystem.options.contains(&"rw".to_owned()));
}

#[test]
fn a_disk_has_the_uses_of_all_devices_stacked_on_it() {
    let facts = stacks("/dev/nvme0n1");
    let target = &facts.targets["/dev/nvme0n1"];
    assert_eq!((target.kind, target.size.0), (TargetKind::Block, 256 << 20));
    let partitions = Use::Partitions { names: vec!["nvme0n1p1".into(), "nvme0n1p2".into()] };
    let swap = Use::Swap { device: "nvme0n1p1".into() };
    let expected = [
        mounted("dm-0", "/data"),
        mounted("dm-1", "/crypt"),
        swap,
        partitions,
        holders(&["dm-0", "dm-1"]),
    ];
    assert_eq!(target.uses, expected);
}

#[test]
fn a_partition_is_not_used_by_its_neighbours() {
    let swap = Use::Swap { device: "nvme0n1p1".into() };
    assert_eq!(stacks("/dev/nvme0n1p1").targets["/dev/nvme0n1p1"].uses, [swap]);
    let uses = &stacks("/dev/nvme0n1p2").targets["/dev/nvme0n1p2"].uses;
    assert_eq!(
        *uses,
        [mounted("dm-0", "/data"), mounted("dm-1", "/crypt"), holders(&["dm-0", "dm-1"])]
    );
}

#[test]
fn a_link_under_dev_mapper_leads_to_the_device() {
    let facts = stacks("/dev/mapper/secret");
    let target = &facts.targets["/dev/mapper/secret"];
    assert_eq!((target.canonical.as_str(), target.device.as_deref()), ("/dev/dm-1", Some("dm-1")));
    assert_eq!(target.uses, [mounted("dm-1", "/crypt")]);
}

#[test]
fn a_mirror_of_two_sata_disks_and_the_loop_device_on_it() {
    let facts = stacks("/dev/loop0");
    assert_eq!(facts.stack_under("/dev/loop0"), ["loop0", "md0", "sdb", "sdc"]);
    assert_eq!(facts.targets["/dev/loop0"].uses, []);
    assert_eq!(
        facts.devices["loop0"].kind,
        DeviceKind::Loop { backing_file: "/raid/image".into() }
    );
    assert_eq!(facts.devices["md0"].kind, DeviceKind::Md { level: "raid1".into() });
    let disk = &facts.devices["sdc"];
    assert_eq!(
        (disk.transport.as_deref(), disk.serial.as_deref()),
        (Some("sata"), Some("SATA0002"))
    );
    assert_eq!(disk.model.as_deref(), Some("QEMU HARDDISK"));
    assert_eq!(
        stacks("/dev/sdb").targets["/dev/sdb"].uses,
        [mounted("md0", "/raid"), holders(&["md0"])]
    );
}

#[test]
fn btrfs_lies_on_all_its_devices_and_each_counts_as_mounted() {
    let facts = stacks("/pool/file");
    let target = &facts.targets["/pool/file"];
    assert_eq!(target.device.as_deref(), Some("nvme1n1"));
    assert_eq!(target.filesystem.as_ref().unwrap().devices, ["nvme1n1", "sdd"]);
    assert_eq!(facts.stack_under("/pool/file"), ["nvme1n1", "sdd"]);
    assert_eq!(facts.devices["sdd"].transport.as_deref(), Some("usb"));
    assert_eq!(stacks("/dev/sdd").targets["/dev/sdd"].uses, [mounted("sdd", "/pool")]);
}

#[test]
fn a_free_virtio_disk_is_free() {
    let facts = stacks("/dev/vda");
    assert_eq!(facts.targets["/dev/vda"].uses, []);
    let disk = &facts.devices["vda"];
    assert_eq!(
        (disk.transport.as_deref(), disk.serial.as_deref()),
        (Some("virtio"), Some("virt0"))
    );
    assert!(disk.is_virtual);
}

#[test]
fn a_stacked_device_lists_its_members_and_inherits_virtual() {
    let facts = facts("fabric.tree", &["/dev/bcache0", "/dev/sdb"]);
    assert_eq!(facts.stack_under("/dev/bcache0"), ["bcache0", "nvme0n1", "sda"]);
    assert_eq!(facts.devices["nvme0n1"].transport.as_deref(), Some("nvme-tcp"));
    let (sas, sata) = (&facts.devices["sda"], &facts.devices["sdb"]);
    assert_eq!(sas.transport.as_deref(), Some("sas"));
    assert_eq!(sas.model.as_deref(), Some("SEAGATE ST16000NM002G"));
    assert_eq!((sas.numa_node, sas.alignment_offset), (Some(1), Some(u64::MAX)));
    assert_eq!(sata.transport.as_deref(), Some("sata"));
    assert_eq!(sata.model.as_deref(), Some("INTEL SSDSC2KB48"));
    assert!(!facts.devices["bcache0"].is_virtual);
}

#[test]
fn an_empty_machine_gives_facts_without_targets_devices_or_panic() {
    let root = tempfile::tempdir().unwrap();
    let facts =
        Host::at(root.path()).facts(&[TargetQuery { path: "/x".into(), will_write: false }]);
    assert_eq!(facts.targets["/x"].kind, TargetKind::Missing);
    assert!(facts.devices.is_empty());
    assert!(!facts.unknown.is_empty());
}
