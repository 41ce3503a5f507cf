//! The checks about what else the machine did, on real runs.

mod common;

use common::{
    Loop, Mounted, Running, alone, recorded, scratch, silent, system, the_finding, wait_until,
};
use judge::checks::over_set;
use record::{Cell, RecordSet, RunRecord, Severity};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A disk in memory, for which nobody else of this machine has a use: a loop device over a file in
/// a tmpfs.
struct OwnDisk {
    disk: Loop,
    _memory: Mounted,
    directory: TempDir,
}

impl OwnDisk {
    fn new(bytes: u64) -> OwnDisk {
        let directory = scratch();
        let memory = Mounted::new(&["-t", "tmpfs"], "tmpfs", directory.path().join("memory"));
        let disk = Loop::over(&memory.path().join("disk.img"), bytes, &[]);
        OwnDisk { disk, _memory: memory, directory }
    }

    /// A job that reads the disk, one 4 KiB block at a time, with further options.
    fn read(&self, options: &[&str]) -> RunRecord {
        let filename = format!("--filename={}", self.disk.device);
        let job = ["--name=read", &filename, "--direct=1", "--rw=randread", "--time_based"];
        recorded(self.directory.path(), 0, &[&job[..], options].concat())
    }

    /// Another process that reads the disk until it is dropped.
    fn neighbour(&self, options: &[&str]) -> Running {
        let filename = format!("--filename={}", self.disk.device);
        let job = ["--name=other", &filename, "--direct=1", "--rw=read", "--bs=64k"];
        let endless = ["--time_based", "--runtime=60"];
        let before = self.reads();
        let directory = self.directory.path();
        let running = Running::fathom("run", directory, &[&job[..], &endless, options].concat());
        wait_until("the neighbour reads", || self.reads() > before + 100);
        running
    }

    /// Reads the disk has completed.
    fn reads(&self) -> u64 {
        let stat = format!("/sys/block/{}/stat", self.disk.name());
        let stat = std::fs::read_to_string(stat).unwrap();
        stat.split_whitespace().next().unwrap().parse().unwrap()
    }
}

#[test]
fn another_process_on_the_disk_is_named() {
    let _alone = alone();
    let disk = OwnDisk::new(64 << 20);
    let _other = disk.neighbour(&["--rate=40m"]);
    let found = the_finding(&disk.read(&["--runtime=1", "--rate_iops=1000"]), "noisy-neighbour");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.text.contains(disk.disk.name()), "{found:?}");
    assert!(found.cause.contains("fathom (process "), "{found:?}");
}

#[test]
fn a_disk_of_ones_own_has_no_neighbour() {
    let _alone = alone();
    let disk = OwnDisk::new(64 << 20);
    let record = disk.read(&["--runtime=1"]);
    silent(&record, "noisy-neighbour");
    silent(&record, "background-work");
}

/// An ext4 on the disk, with a file of `bytes` that is still in memory only.
fn dirtied(disk: &OwnDisk, bytes: usize) -> Mounted {
    system("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0", &disk.disk.device]);
    let mounted = Mounted::new(&[], &disk.disk.device, disk.directory.path().join("mounted"));
    std::fs::write(mounted.path().join("target"), vec![1; 4 << 20]).unwrap();
    sync(mounted.path());
    std::fs::write(mounted.path().join("before"), vec![1; bytes]).unwrap();
    mounted
}

#[test]
fn writeback_from_before_is_background_work() {
    let _alone = alone();
    // Large enough for ext4 not to hurry for fear of running out of room.
    let disk = OwnDisk::new(4 << 30);
    let mounted = dirtied(&disk, 128 << 20);
    let job = ["--name=read", "--filename=target", "--direct=1", "--rw=randread"];
    let paced = ["--rate_iops=1000", "--time_based", "--runtime=2"];
    let line = [&job[..], &paced].concat();
    let record = std::thread::scope(|scope| {
        let run = scope.spawn(|| recorded(mounted.path(), 0, &line));
        // In the middle of the run, as the kernel would after half a minute.
        std::thread::sleep(Duration::from_secs(1));
        sync(mounted.path());
        run.join().unwrap()
    });
    let found = the_finding(&record, "background-work");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.text.contains("written before the run reached"), "{found:?}");
    assert!(found.cure.contains("sync"), "{found:?}");
    silent(&record, "noisy-neighbour");
}

fn sync(filesystem: &Path) {
    system("sync", &["--file-system", filesystem.to_str().unwrap()]);
}

/// What the checks find over some runs of one name.
fn over(runs: Vec<RunRecord>) -> Vec<judge::Finding> {
    let cell = |round| Some(Cell { name: "read".into(), round });
    let runs = (0..).zip(runs).map(|(round, run)| RunRecord { cell: cell(round), ..run });
    over_set(&RecordSet { runs: runs.collect(), ..RecordSet::default() })
}

#[test]
fn repeats_with_a_neighbour_now_and_then_vary() {
    let _alone = alone();
    let disk = OwnDisk::new(64 << 20);
    let short = ["--runtime=500ms"];
    let first = disk.read(&short);
    let other = disk.neighbour(&["--numjobs=4", "--ioengine=io_uring", "--iodepth=32"]);
    let disturbed = disk.read(&short);
    drop(other);
    let found = over(vec![first, disturbed, disk.read(&short)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].check, found[0].severity), ("runs-vary", Severity::Warning));
}

#[test]
fn repeats_at_one_rate_agree() {
    let _alone = alone();
    let disk = OwnDisk::new(64 << 20);
    let found = over((0..3).map(|_| disk.read(&["--runtime=500ms", "--rate_iops=500"])).collect());
    assert!(found.is_empty(), "{found:?}");
}
