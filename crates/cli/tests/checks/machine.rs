//! The checks about what else the machine did, on real runs.

use crate::common::{
    MemoryDisk, MemoryFilesystem, Running, alone, findings, recorded, silent, system, the_finding,
    wait_until,
};
use judge::checks::over_set;
use record::{Cell, RecordSet, RunRecord, Severity};
use std::path::Path;

/// A disk with only the jobs of a test on it.
struct OwnDisk(MemoryDisk);

impl OwnDisk {
    fn new() -> OwnDisk {
        OwnDisk(MemoryDisk::new(64 << 20))
    }

    /// A job that reads the disk, one 4 KiB block at a time, with further options.
    fn read(&self, options: &[&str]) -> RunRecord {
        let filename = format!("--filename={}", self.0.device.device);
        let job = ["--name=read", &filename, "--direct=1", "--rw=randread", "--time_based"];
        recorded(self.0.directory.path(), 0, &[&job[..], options].concat())
    }

    /// Another process that reads the disk until it is dropped.
    fn neighbour(&self, options: &[&str]) -> Running {
        let filename = format!("--filename={}", self.0.device.device);
        let job = ["--name=other", &filename, "--direct=1", "--rw=read", "--bs=64k"];
        let endless = ["--time_based", "--runtime=60"];
        let before = self.0.reads();
        let directory = self.0.directory.path();
        let running = Running::fathom("run", directory, &[&job[..], &endless, options].concat());
        wait_until("the neighbour reads", || self.0.reads() > before + 100);
        running
    }
}

#[test]
fn another_process_on_the_disk_is_named() {
    let _alone = alone();
    let disk = OwnDisk::new();
    let _other = disk.neighbour(&["--rate=40m"]);
    let found = the_finding(&disk.read(&["--runtime=1", "--rate_iops=1000"]), "noisy-neighbour");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.text.contains(disk.0.device.name()), "{found:?}");
    assert!(found.cause.contains("fathom (process "), "{found:?}");
}

#[test]
fn a_disk_of_ones_own_has_no_neighbour() {
    let _alone = alone();
    let disk = OwnDisk::new();
    let record = disk.read(&["--runtime=1"]);
    silent(&record, "noisy-neighbour");
    silent(&record, "background-work");
}

#[test]
fn writeback_from_before_is_background_work() {
    let _alone = alone();
    // Large enough for ext4 not to hurry for fear of running out of room.
    let own = MemoryFilesystem::new(4 << 30);
    std::fs::write(own.path().join("target"), vec![1; 4 << 20]).unwrap();
    sync(own.path());
    std::fs::write(own.path().join("before"), vec![1; 128 << 20]).unwrap();
    let job = ["--name=read", "--filename=target", "--direct=1", "--rw=randread"];
    let paced = ["--rate_iops=1000", "--time_based", "--runtime=3"];
    let line = [&job[..], &paced].concat();
    let before = own.disk.reads();
    let record = std::thread::scope(|scope| {
        let run = scope.spawn(|| recorded(own.path(), 0, &line));
        // In the middle of the run, as the kernel would after half a minute.
        wait_until("the reads", || own.disk.reads() > before + 500);
        sync(own.path());
        run.join().unwrap()
    });
    let found = the_finding(&record, "background-work");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.text.contains("from before the run reached"), "{found:?}");
    assert!(found.remedy.to_string().contains("sync"), "{found:?}");
    // What becomes dirty on other disks meanwhile hides some of it, but most is no neighbour's: not
    // where nobody is seen who wrote so much.
    let neighbours = findings(&record, "noisy-neighbour");
    let figures = neighbours.iter().flat_map(|finding| &finding.figures);
    let blamed = figures.filter(|f| f.name == "bytes others wrote").map(|f| f.value).sum::<f64>();
    let seen: u64 = record.evidence.neighbours.iter().map(|other| other.written.0).sum();
    assert!(blamed < 32e6 || seen > 32 << 20, "{neighbours:?}");
}

fn sync(filesystem: &Path) {
    system("sync", &["--file-system", filesystem.to_str().unwrap()]);
}

/// What the checks find over some runs of one name.
fn over(runs: Vec<RunRecord>) -> Vec<judge::Finding> {
    let cell = |round| Some(Cell { name: "read".into(), round, ..Cell::default() });
    let runs = (0..).zip(runs).map(|(round, run)| RunRecord { cell: cell(round), ..run });
    over_set(&RecordSet { runs: runs.collect(), ..RecordSet::default() })
}

#[test]
fn repeats_with_a_neighbour_now_and_then_vary() {
    let _alone = alone();
    let disk = OwnDisk::new();
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
    let disk = OwnDisk::new();
    let runs = (0..3).map(|_| disk.read(&["--runtime=1", "--rate_iops=500"])).collect::<Vec<_>>();
    // What a run did not catch up with at its end is missing from its rate.
    let behind = |run: &RunRecord| {
        let job = &run.jobs[0];
        500.0 - job.ios() as f64 / (job.ended - job.started).seconds()
    };
    let kept = runs.iter().all(|run| behind(run) < 10.0);
    let found = over(runs);
    assert!(found.is_empty() || !kept, "{found:?}");
}
