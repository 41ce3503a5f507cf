//! Invented records for the tests of the checks: a calm run on a healthy disk, to be changed into
//! the situation of a test. Unchanged, it gives no check a reason to speak.

use super::findings_of_run;
use crate::case::Case;
use crate::finding::Finding;
use record::{
    Bytes, CpuSample, DeviceFacts, Direction, DiskSample, Exchange, FileEvidence, FileLook,
    FilesystemFacts, GroupKey, Histogram, Interval, JobRecord, Medium, Nanos, OwnIo, Region,
    RequestResult, RunRecord, Sample, TargetFacts, TargetKind, WorkerSample,
};

/// Nanoseconds of a millisecond.
pub(crate) const MS: u64 = 1_000_000;
/// Nanoseconds of a second.
pub(crate) const SECOND: u64 = 1000 * MS;
/// The file of the jobs, on the disk sda.
pub(crate) const FILE: &str = "/data/file";
/// I/Os a second of a calm job.
pub(crate) const IOPS: u64 = 1000;
/// Latency of each I/O of a calm job: one in flight, all the time.
pub(crate) const LATENCY: u64 = SECOND / IOPS;
const STEP: u64 = 500 * MS;
const CPUS: usize = 4;

/// A job that reads or writes random blocks of 4 KiB with O_DIRECT for `seconds` after a ramp of a
/// second, one at a time, at the same pace throughout.
pub(crate) fn job(name: &str, direction: Direction, seconds: u64) -> JobRecord {
    let ios = IOPS * seconds;
    let (from, to) = (SECOND, (seconds + 1) * SECOND);
    let mut job = JobRecord {
        name: name.into(),
        worker: 1,
        tid: 1000,
        started: Nanos(from),
        ended: Nanos(to),
        elapsed: Nanos(to),
        interval_step: Nanos(STEP),
        percentiles: vec![50.0, 99.0],
        ..JobRecord::default()
    };
    let workload = &mut job.workload;
    let rw = if direction == Direction::Write { "randwrite" } else { "randread" };
    (workload.rw, workload.ioengine) = (rw.into(), "io_uring".into());
    (workload.iodepth, workload.direct, workload.time_based) = (1, true, true);
    workload.block_size[direction] = (Bytes(4096), Bytes(4096));
    (workload.region, workload.files) = (Bytes(1 << 30), vec![FILE.into()]);
    workload.regions = vec![Region { start: Bytes(0), length: Bytes(1 << 30) }];
    (workload.runtime, workload.ramp) = (Some(Nanos(seconds * SECOND)), Nanos(SECOND));
    (job.depth.requested, job.depth.achieved_mean) = (1, 1.0);
    (job.cpu.user, job.cpu.system) = (Nanos((to - from) / 50), Nanos((to - from) / 20));
    job.cpu.run_delay = Some(Nanos(MS));
    let mut latency = Histogram::new();
    latency.record_n(LATENCY, ios);
    let result = &mut job.results[direction];
    (result.ios_issued, result.ios, result.bytes) = (ios, ios, Bytes(ios * 4096));
    result.runtime = job.ended - job.started;
    result.latency.clat = Some(latency.clone());
    result.latency.lat = Some(latency);
    job.intervals = (from..to).step_by(STEP as usize).map(|at| step(at, direction, IOPS)).collect();
    job
}

/// An interval with this many I/Os a second of [`LATENCY`] each.
fn step(start: u64, direction: Direction, iops: u64) -> Interval {
    let ios = iops * STEP / SECOND;
    let mut interval = Interval { start: Nanos(start), length: Nanos(STEP), ..Interval::default() };
    interval.ios[direction] = ios;
    interval.bytes[direction] = ios * 4096;
    interval.clat_ns_sum[direction] = ios * LATENCY;
    interval.clat_ns_max[direction] = LATENCY;
    interval
}

/// The record of some jobs: a healthy disk, an idle machine of 4 CPUs and 64 GiB, samples ten
/// times a second in which the disk and this process move what the intervals of the jobs say.
pub(crate) fn record(jobs: Vec<JobRecord>) -> RunRecord {
    let mut record = RunRecord { jobs, ..RunRecord::default() };
    for (index, job) in (0_u32..).zip(&mut record.jobs) {
        (job.job, job.worker, job.tid) = (index, index + 1, 1000 + index);
        job.group = GroupKey { group: 0, report: index };
    }
    facts(&mut record);
    let looked = FileLook {
        size: Bytes(1 << 30),
        cached: Some(Bytes(0)),
        dirty: Some(Bytes(0)),
        extents: Some(record::Extents::default()),
    };
    let file = FileEvidence { before: Some(looked.clone()), after: Some(looked), content: None };
    record.evidence.files.insert(FILE.into(), file);
    let end = record.jobs.iter().map(|job| job.ended.0).max().unwrap_or(0);
    let moments = (0..=end).step_by(100 * MS as usize);
    record.timeline.samples = moments.map(|at| sample(&record.jobs, at)).collect();
    record
}

fn facts(record: &mut RunRecord) {
    let facts = &mut record.facts;
    (facts.kernel, facts.architecture) = ("6.12.0".into(), "x86_64".into());
    (facts.memory, facts.page_size) = (Bytes(64 << 30), Bytes(4096));
    facts.cpu.online = CPUS as u32;
    facts.cpu.allowed = (0..CPUS as u32).collect();
    facts.environment.is_root = true;
    let filesystem = FilesystemFacts {
        kind: "ext4".into(),
        mount_point: "/data".into(),
        source: "/dev/sda".into(),
        options: vec!["rw".into(), "relatime".into()],
        total: Bytes(1 << 40),
        free: Bytes(1 << 39),
        block_size: Bytes(4096),
        devices: vec!["sda".into()],
        ..FilesystemFacts::default()
    };
    let target = TargetFacts {
        kind: TargetKind::File,
        size: Bytes(1 << 30),
        readable: true,
        writable: true,
        parent_exists: true,
        canonical: FILE.into(),
        filesystem: Some(filesystem),
        device: Some("sda".into()),
        extents: Some(record::Extents::default()),
        ..TargetFacts::default()
    };
    facts.targets.insert(FILE.into(), target);
    facts.devices.insert("sda".into(), disk("sda"));
}

/// A healthy disk without a volatile cache.
pub(crate) fn disk(name: &str) -> DeviceFacts {
    DeviceFacts {
        name: name.into(),
        dev: "8:0".into(),
        model: Some("Model".into()),
        size: Bytes(1 << 40),
        rotational: Some(false),
        transport: Some("sas".into()),
        scheduler: Some("none".into()),
        logical_block: Bytes(512),
        physical_block: Bytes(4096),
        alignment_offset: Some(0),
        nr_requests: Some(256),
        read_ahead: Bytes(128 << 10),
        max_request: Bytes(1 << 20),
        write_cache: Some("write through".into()),
        hardware_queues: Some(4),
        ..DeviceFacts::default()
    }
}

fn sample(jobs: &[JobRecord], at: u64) -> Sample {
    let moved = |direction| jobs.iter().map(|job| until(job, direction, at)).sum::<u64>();
    let (read, written) = (moved(Direction::Read), moved(Direction::Write));
    let disk = DiskSample {
        read_ios: read / 4096,
        read_bytes: read,
        write_ios: written / 4096,
        write_bytes: written,
        busy_ms: at / MS,
        queue_ms: at / MS,
        ..DiskSample::default()
    };
    let cpu = CpuSample {
        user_ms: at / MS / 50,
        system_ms: at / MS / 20,
        idle_ms: at / MS - at / MS / 50 - at / MS / 20,
        ..CpuSample::default()
    };
    let worker = WorkerSample { run_ns: at / 15, delay_ns: 0 };
    Sample {
        at: Nanos(at),
        cpus: vec![cpu; CPUS],
        disks: [("sda".to_owned(), disk)].into(),
        workers: jobs.iter().map(|job| (job.tid, worker)).collect(),
        memory_available: 60 << 30,
        memory_cached: 1 << 30,
        own: Some(OwnIo { read_bytes: read, write_bytes: written }),
        ..Sample::default()
    }
}

/// Bytes a job had moved at a moment, its ramp at the pace of its first interval included.
fn until(job: &JobRecord, direction: Direction, at: u64) -> u64 {
    let pace = |interval: &Interval| interval.bytes[direction] as f64 / interval.length.0 as f64;
    let ramp = job.intervals.first().map_or(0.0, pace) * at.min(job.started.0) as f64;
    let within = |interval: &Interval| {
        pace(interval) * at.saturating_sub(interval.start.0).min(interval.length.0) as f64
    };
    (ramp + job.intervals.iter().map(within).sum::<f64>()) as u64
}

/// Changes every sample, given its moment in seconds.
pub(crate) fn at_each(record: &mut RunRecord, change: impl Fn(f64, &mut Sample)) {
    for sample in &mut record.timeline.samples {
        change(sample.at.seconds(), sample);
    }
}

/// What one check finds in a record.
pub(crate) fn findings(record: &RunRecord, check: &str) -> Vec<Finding> {
    findings_of_run(&Case::from_record(record))
        .into_iter()
        .filter(|finding| finding.check == check)
        .collect()
}

/// The only finding of a check.
#[track_caller]
pub(crate) fn the_finding(record: &RunRecord, check: &str) -> Finding {
    let found = findings(record, check);
    assert_eq!(found.len(), 1, "{check}: {found:?}");
    found.into_iter().next().unwrap()
}

#[test]
fn a_calm_run_gives_no_check_a_reason_to_warn() {
    for direction in [Direction::Read, Direction::Write] {
        let record = record(vec![job("calm", direction, 10)]);
        let found = findings_of_run(&Case::from_record(&record));
        let grave: Vec<_> = found.iter().filter(|f| f.severity > record::Severity::Note).collect();
        assert!(grave.is_empty(), "{grave:?}");
    }
}

/// The record of a job that asks a store elsewhere for objects of 4 KiB, each once; one in ten
/// answers has this status, with 0 none.
pub(crate) fn asking(request: &str, sent: u64, status: u16) -> RunRecord {
    let direction = if request == "PUT" { Direction::Write } else { Direction::Read };
    let mut job = job("objects", direction, 10);
    let bad = if status == 0 { 0 } else { sent / 10 };
    let good = sent - bad;
    let mut result = RequestResult {
        request: request.into(),
        sent,
        good,
        bytes: Bytes(good * 4096),
        statuses: [(200, good)].into(),
        ..RequestResult::default()
    };
    if bad > 0 {
        result.statuses.insert(status, bad);
    }
    result.first_byte.record_n(LATENCY / 2, good);
    result.whole.record_n(LATENCY, good);
    job.exchange = Some(Exchange {
        protocol: "s3".into(),
        endpoints: vec!["store.example:80".into()],
        content: "signed".into(),
        tls: "off".into(),
        connections: 1,
        requests: vec![result],
        ..Exchange::default()
    });
    let workload = &mut job.workload;
    (workload.ioengine, workload.medium) = ("http".into(), Medium::Objects);
    (workload.direct, workload.files) = (false, vec!["/bucket/object".into()]);
    let mut record = record(vec![job]);
    record.evidence.files.clear();
    record
}
