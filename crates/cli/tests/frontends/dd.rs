//! `fathom dd`: what it does to files is what Debian's dd does, and what it says too.

use crate::common::*;
use rustix::process::Signal;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Debian's dd, the oracle.
const DD: &str = "/usr/bin/dd";

/// `fathom dd OPERANDS` in a directory.
#[track_caller]
fn dd(at: &Path, operands: &str) -> Ran {
    run(Command::new(FATHOM).arg("dd").args(operands.split(' ')).current_dir(at))
}

/// dd's last lines: as many as there are at most three, the last without its time and rate.
fn last_lines(said: &str) -> Vec<String> {
    let lines: Vec<&str> = said.lines().collect();
    let last = &lines[lines.len().saturating_sub(3)..];
    last.iter().map(|line| line.split(" copied, ").next().unwrap_or_default().to_owned()).collect()
}

/// Bytes that are not alike from block to block.
fn bytes(count: usize) -> Vec<u8> {
    Seeded::new(count as u64).bytes(count)
}

#[test]
fn files_and_records_are_those_of_the_oracle() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("src"), bytes(100_003)).unwrap();
    for operands in [
        "if=src of=out bs=4K",
        "if=src of=out",
        "if=src of=out bs=4K count=3 skip=1 seek=2",
        "if=src of=out bs=4K count=1 seek=1 conv=notrunc",
        "if=src of=out bs=1K count=2 oflag=append conv=notrunc",
        "if=src of=out bs=3000 count=5000B",
        "if=src of=out bs=1M skip=7 iflag=skip_bytes conv=fsync",
        "if=src of=new bs=64K conv=excl,fdatasync",
        "if=src of=out bs=8K conv=nocreat oflag=dsync",
        "if=/dev/zero of=out ibs=1K obs=4K count=5",
        "if=/dev/zero of=out bs=1000 count=7 seek=10 oflag=seek_bytes,sync",
        "if=src of=/dev/null bs=1000",
        "if=src of=/dev/null ibs=4096 obs=512 count=10",
        "if=/dev/zero of=/dev/null bs=1M count=4",
        "if=src of=out bs=4K conv=notrunc seek=30",
        "if=src of=new bs=4K conv=notrunc",
        "if=src of=new bs=4K oflag=append conv=notrunc",
        "if=/dev/zero of=new bs=4K count=2 seek=3",
        "if=/dev/zero of=new bs=4K count=1 oflag=append,seek_bytes seek=10",
        "if=/dev/zero of=out bs=4K count=1 oflag=append seek=2",
        "if=src of=out bs=4K count=2 iflag=append,seek_bytes oflag=count_bytes,skip_bytes",
        "if=src of=out bs=4K oflag=direct",
        "if=src of=out bs=4K iflag=direct",
        "if=src of=new bs=8K iflag=direct oflag=direct conv=notrunc,fdatasync",
        "if=src of=new bs=1M iflag=direct oflag=direct",
        "if=/dev/zero of=new bs=4K count=5000B oflag=direct",
        "if=/dev/zero of=out bs=4K count=2 seek=1 oflag=direct conv=notrunc",
        "if=src of=/dev/null bs=4K count=2 conv=fsync",
        "if=/dev/zero of=/dev/null count=1 conv=fdatasync",
        "if=src of=out bs=4K status=noxfer",
        "if=src of=out bs=4K status=none",
    ] {
        let prepare = || {
            fs::write(at.join("out"), vec![b'x'; 20_000]).unwrap();
            let _ = fs::remove_file(at.join("new"));
        };
        let file = |name: &str| {
            let mode = fs::metadata(at.join(name)).ok()?.mode();
            Some((fs::read(at.join(name)).ok()?, mode))
        };
        let files = || ["src", "out", "new"].map(file);
        prepare();
        let oracle = run(Command::new(DD).args(operands.split(' ')).current_dir(at));
        let expected = files();
        prepare();
        let ours = dd(at, operands).expect(oracle.code);
        assert!(files() == expected, "{operands}: other files");
        assert_eq!(last_lines(&ours.err), last_lines(&oracle.err), "{operands}");
        assert!(ours.out.contains("latency"), "{operands}: {}", ours.out);
    }
}

#[test]
fn what_is_not_to_be_cached_is_not_cached_afterwards() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("src"), vec![7; 1 << 20]).unwrap();
    for (flags, left) in [("iflag=nocache", 0), ("iflag=fullblock", 1 << 20)] {
        File::open(at.join("src")).unwrap().sync_all().unwrap();
        dd(at, &format!("if=src of=/dev/null bs=32K {flags} --record=r.json")).expect(0);
        let record = formats::load(&at.join("r.json")).unwrap();
        let after = record.evidence.files["src"].after.as_ref().unwrap();
        assert_eq!(after.cached.unwrap().0, left, "{flags}");
    }
}

#[test]
fn a_write_with_a_flush_is_measured_whole() {
    let directory = scratch();
    let at = directory.path();
    let line = "if=/dev/zero of=test bs=32K count=64 conv=fsync oflag=direct --record=r.json";
    let ran = dd(at, line).expect(0);
    assert_eq!(fs::read(at.join("test")).unwrap(), vec![0; 2 << 20]);
    let record = formats::load(&at.join("r.json")).unwrap();
    let job = &record.jobs[0];
    assert_eq!((job.results.write.ios, job.results.read.ios, job.sync.count), (64, 0, 1));
    assert!(job.workload.direct && job.workload.settings.contains_key("zero_buffers"));
    // The figure holds the writes and the flush.
    let within = job.results.write.latency.clat.as_ref().unwrap().sum() + job.sync.latency.sum();
    assert!((job.ended - job.started).0 >= within, "{job:?}");
    let call: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let call = compat::dd::DdCommand::parse(&call).unwrap();
    assert!(ran.err.ends_with(&compat::dd::lines(&call, &record)), "{}", ran.err);
    for part in
        ["64 writes of 32 KiB: median ", "1 synchronisation: ", "durability", "zeros", "depth 1"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    for trap in ["\n  cache       memory took", "\n  bs "] {
        assert!(!ran.out.contains(trap), "{}", ran.out);
    }
}

/// A run of some milliseconds on a file that was just written.
#[test]
fn a_direct_copy_of_a_small_file_is_not_that_of_a_cache() {
    for _ in 0..5 {
        let directory = scratch();
        let at = directory.path();
        fs::write(at.join("src"), bytes(4 << 20)).unwrap();
        File::open(at.join("src")).unwrap().sync_all().unwrap();
        let ran = dd(at, "if=src of=/dev/null bs=32K iflag=direct").expect(0);
        assert!(ran.out.contains("limited by: "), "{}", ran.out);
        for wrong in ["limited by: cache", "[served-from-cache]"] {
            assert!(!ran.out.contains(wrong), "{}", ran.out);
        }
    }
}

/// What passes the page cache by leaves nothing of itself there.
#[test]
fn one_file_of_a_copy_may_be_direct_alone() {
    let directory = scratch();
    let at = directory.path();
    for (flags, cached, only) in [
        ("oflag=direct", (1 << 20, 0), "write"),
        ("iflag=direct", (0, 1 << 20), "read"),
        ("iflag=direct oflag=direct", (0, 0), ""),
    ] {
        let content = bytes(1 << 20);
        fs::write(at.join("src"), &content).unwrap();
        File::open(at.join("src")).unwrap().sync_all().unwrap();
        // So that it is on the disk alone.
        run(Command::new(DD).args(["if=src", "iflag=nocache", "count=0"]).current_dir(at))
            .expect(0);
        let _ = fs::remove_file(at.join("out"));
        let ran = dd(at, &format!("if=src of=out bs=64K {flags} --record=r.json")).expect(0);
        assert!(fs::read(at.join("out")).unwrap() == content, "{flags}");
        let record = formats::load(&at.join("r.json")).unwrap();
        let after = |name: &str| {
            let look = record.evidence.files[name].after.as_ref().unwrap();
            look.cached.unwrap().0
        };
        assert_eq!((after("src"), after("out")), cached, "{flags}");
        let settings = &record.jobs[0].workload.settings;
        assert_eq!(settings.get("direct_only").map_or("", String::as_str), only);
        assert_eq!(ran.out.contains("memory took"), only == "read", "{}", ran.out);
    }
    // Nor does a last block that is not full, of megabytes as it may be.
    fs::write(at.join("src"), bytes((9 << 20) + 3)).unwrap();
    dd(at, "if=src of=out bs=5M iflag=direct oflag=direct --record=r.json").expect(0);
    let record = formats::load(&at.join("r.json")).unwrap();
    assert_eq!(record.evidence.files["out"].after.as_ref().unwrap().cached.unwrap().0, 0);
    assert_eq!(record.jobs[0].workload.files, ["src", "out"]);
    assert_eq!(record.jobs[0].workload.region.0, 2 * ((9 << 20) + 3));
}

#[test]
fn a_full_filesystem_ends_it_as_it_ends_dd() {
    let filesystem = MemoryFilesystem::new(16 << 20);
    let at = filesystem.path();
    let operands = "if=/dev/zero of=test bs=1M count=100 conv=notrunc";
    let oracle = run(Command::new(DD).args(operands.split(' ')).current_dir(at)).expect(1);
    fs::remove_file(at.join("test")).unwrap();
    let ours = dd(at, operands).expect(1);
    assert_eq!(last_lines(&ours.err), last_lines(&oracle.err));
}

#[test]
fn random_bytes_are_all_different() {
    let directory = scratch();
    let at = directory.path();
    dd(at, "if=/dev/urandom of=test bs=4K count=16").expect(0);
    let written = fs::read(at.join("test")).unwrap();
    let blocks: std::collections::HashSet<&[u8]> = written.chunks(4096).collect();
    assert_eq!((written.len(), blocks.len()), (16 * 4096, 16));
}

#[test]
fn what_is_only_read_stays_as_it_is() {
    let directory = scratch();
    let at = directory.path();
    let hole = fs::File::create(at.join("hole")).unwrap();
    hole.set_len(1 << 20).unwrap();
    let look = || {
        let metadata = fs::metadata(at.join("hole")).unwrap();
        (metadata.blocks(), metadata.mtime_nsec(), metadata.len())
    };
    let before = look();
    dd(at, "if=hole of=/dev/null bs=64K").expect(0);
    dd(at, "if=hole of=copy bs=64K").expect(0);
    assert_eq!(look(), before);
    assert_eq!(fs::read(at.join("copy")).unwrap(), vec![0; 1 << 20]);
}

#[test]
fn a_mistake_touches_nothing() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("src"), bytes(8192)).unwrap();
    fs::write(at.join("out"), "kept").unwrap();
    fs::write(at.join("empty"), "").unwrap();
    for (operands, code, word) in [
        ("if=src of=out bs=0", 2, "bs=0"),
        ("if=src of=out conv=swab", 2, "conv=swab"),
        ("if=src of=out oflag=fullblock", 2, "iflag=fullblock"),
        ("if=src of=out ibs=1K", 2, "bs="),
        ("if=src of=out bs=1000 iflag=direct", 3, "bs=1000"),
        ("if=src of=/dev/null bs=1000 iflag=direct", 3, "bs=1000"),
        ("if=src of=/dev/null bs=4K skip=3B iflag=direct", 3, "skip="),
        ("if=/dev/zero of=out bs=4K seek=1000B count=2 oflag=direct", 3, "seek="),
        ("if=/dev/zero of=out bs=4K count=3 oflag=append,direct conv=notrunc", 3, "seek="),
        ("if=/dev/zero of=out", 2, "count="),
        ("of=out", 2, "if="),
        ("if=src of=out conv=excl", 3, "of=out"),
        ("if=gone of=out", 3, "if=gone"),
        ("if=empty of=out", 3, "if=: the input holds nothing"),
        ("if=src of=gone/out", 3, "of=gone/out"),
        ("if=src of=new conv=nocreat", 3, "of=new"),
        ("if=src of=src", 3, "of=src"),
        ("if=src of=/dev/no-such-disk", 3, "no-such-disk"),
    ] {
        let ran = dd(at, operands).expect(code);
        assert!(ran.err.contains(word) && ran.out.is_empty(), "{operands}: {ran:?}");
        assert!(!ran.err.contains("fathom run") && !ran.err.contains("--direct"), "{}", ran.err);
        assert_eq!(fs::read(at.join("out")).unwrap(), b"kept", "{operands}");
        assert_eq!(fs::read_dir(at).unwrap().count(), 3, "{operands}");
    }
}

#[test]
fn a_device_in_use_is_not_overwritten() {
    let filesystem = MemoryFilesystem::new(16 << 20);
    let device = &filesystem.disk.device.device;
    let directory = scratch();
    let before = fs::read(device).unwrap();
    let ran = dd(directory.path(), &format!("if=/dev/zero of={device} bs=1M count=1")).expect(3);
    let said = format!("fathom: error: dd: {device} ");
    assert!(ran.err.starts_with(&said) && ran.err.contains("--allow-destroy"), "{}", ran.err);
    assert!(fs::read(device).unwrap() == before);
    dd(directory.path(), &format!("if={device} of=/dev/null bs=1M")).expect(0);
}

#[test]
fn a_device_is_written_to_its_end() {
    let disk = MemoryDisk::new(4 << 20);
    let device = &disk.device.device;
    let at = disk.directory.path();
    let ran = dd(at, &format!("if=/dev/zero of={device} bs=1M oflag=direct")).expect(0);
    assert_eq!(last_lines(&ran.err)[0], "4+0 records in");
    let over = dd(at, &format!("if=/dev/zero of={device} bs=1M count=5")).expect(3);
    assert!(over.err.contains("has room for 4194304"), "{}", over.err);
}

#[test]
fn its_own_name_is_enough() {
    let directory = scratch();
    let at = directory.path();
    let operands = ["if=/dev/zero", "of=test", "count=2"];
    let ran = run(Command::new(FATHOM).arg0("dd").args(operands).current_dir(at)).expect(0);
    assert_eq!(last_lines(&ran.err)[1], "2+0 records out");
    let help = run(Command::new(FATHOM).arg0("/usr/bin/dd").arg("--help")).expect(0);
    assert!(help.out.starts_with("usage: fathom dd "));
    let version = run(Command::new(FATHOM).arg0("dd").arg("--version")).expect(0);
    assert!(version.out.starts_with("fathom ") && version.out.lines().count() == 1);
}

#[test]
fn findings_name_dds_operands() {
    let directory = scratch();
    let at = directory.path();
    let said = joined(&dd(at, "if=/dev/zero of=out bs=64K count=64").expect(0).out);
    assert!(said.contains("Use oflag=dsync to synchronise as the application does"), "{said}");
    assert!(!said.contains("--fdatasync") && !said.contains("--direct"), "{said}");
}

#[test]
fn a_terminal_that_goes_keeps_what_was_copied() {
    let directory = scratch();
    let at = directory.path();
    let operands =
        ["if=/dev/zero", "of=/dev/null", "bs=4M", "count=1000000", "status=progress", "--record=r"];
    let mut running = Running::fathom("dd", at, &operands);
    running.says("err", " copied, 1 s, ");
    running.signal(Signal::HUP);
    let ran = running.end().expect(129);
    assert!(last_lines(&ran.err)[1].ends_with("+0 records out"), "{}", ran.err);
    let record = formats::load(&at.join("r")).unwrap();
    assert_eq!(record.interrupted_by, Some(Signal::HUP.as_raw()));
}

#[test]
fn a_signal_asks_or_ends() {
    let directory = scratch();
    let operands = ["if=/dev/zero", "of=/dev/null", "bs=4M", "count=1000000", "status=progress"];
    let mut running = Running::fathom("dd", directory.path(), &operands);
    running.says("err", " copied, 1 s, ");
    running.signal(Signal::USR1);
    // The line that stood ends, and what is asked for is dd's three lines with the time in full.
    running.says("err", "B/s\n");
    let said = running.said("err");
    let asked: Vec<&str> = said.lines().skip(1).take(3).collect();
    let [read, written, copied] = asked[..] else { panic!("{said}") };
    let blocks = read.strip_suffix("+0 records in").unwrap();
    assert_eq!(written, format!("{blocks}+0 records out"));
    let bytes = blocks.parse::<u64>().unwrap() * (4 << 20);
    assert!(copied.starts_with(&format!("{bytes} bytes (")), "{said}");
    let (_, time) = copied.split_once(" copied, ").unwrap();
    assert!(time.split_once(" s, ").unwrap().0.contains('.'), "{said}");
    running.signal(Signal::INT);
    let ran = running.end();
    assert_eq!(ran.code, 130, "{ran:?}");
    let last = last_lines(&ran.err);
    assert!(last[0].ends_with("+0 records in") && last[1].ends_with("+0 records out"), "{last:?}");
}
