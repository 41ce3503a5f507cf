//! Records made up for tests.

use record::{
    Bytes, Clock, CpuUse, DepthUse, Direction, DiskCounters, DiskResult, DiskSample, Exchange,
    GroupKey, Histogram, Interval, Invocation, JobRecord, LatencyResult, Message, Nanos,
    PerDirection, RequestResult, RunRecord, SCHEMA_VERSION, SizeMap, Workload,
};

pub(crate) const SECOND: u64 = 1_000_000_000;
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// A histogram of `count` values spread evenly from `low` to `high` ns.
pub(crate) fn spread(low: u64, high: u64, count: u64) -> Histogram {
    let mut out = Histogram::new();
    (0..count).for_each(|i| out.record(low + (high - low) * i / (count - 1).max(1)));
    out
}

/// A worker with nothing done yet.
pub(crate) fn worker(name: &str, number: u32, group: GroupKey) -> JobRecord {
    JobRecord {
        name: name.into(),
        job: number - 1,
        worker: number,
        group,
        tid: 1000 + number,
        options: vec![("rw".into(), "randrw".into()), ("bs".into(), "4k".into())],
        workload: Workload { ioengine: "libaio".into(), iodepth: 8, ..Workload::default() },
        ended: Nanos(2 * SECOND),
        elapsed: Nanos(2 * SECOND),
        interval_step: Nanos(SECOND / 2),
        depth: DepthUse {
            requested: 8,
            achieved_mean: 7.5,
            at_issue: SizeMap([1, 2, 4, 2993, 0, 0, 0]),
            submit: SizeMap([0, 3000, 0, 0, 0, 0, 0]),
            complete: SizeMap([0, 2999, 1, 0, 0, 0, 0]),
        },
        cpu: CpuUse {
            user: Nanos(SECOND / 10),
            system: Nanos(SECOND / 4),
            run_delay: Some(Nanos(SECOND / 100)),
            context_switches: 3000,
            major_faults: 0,
            minor_faults: 12,
        },
        percentiles: PERCENTILES.to_vec(),
        ..JobRecord::default()
    }
}

/// Adds `ios` I/Os of 4 KiB in `direction` over two seconds, with latencies from `low` to `high`.
pub(crate) fn add(job: &mut JobRecord, direction: Direction, ios: u64, (low, high): (u64, u64)) {
    let result = &mut job.results[direction];
    (result.ios_issued, result.ios, result.bytes) = (ios, ios, Bytes(ios * 4096));
    result.runtime = Nanos(2 * SECOND);
    result.latency = LatencyResult {
        slat: Some(spread(2000, 90_000, ios)),
        clat: Some(spread(low, high, ios)),
        lat: Some(spread(low + 2000, high + 90_000, ios)),
        response: None,
    };
    job.intervals.resize(4, Interval::default());
    for (index, interval) in job.intervals.iter_mut().enumerate() {
        interval.start = Nanos(index as u64 * SECOND / 2);
        interval.length = Nanos(SECOND / 2);
        interval.ios[direction] = ios / 4;
        interval.bytes[direction] = ios / 4 * 4096;
    }
}

/// A run of one worker that reads and writes, on one disk.
pub(crate) fn mixed() -> RunRecord {
    let mut job = worker("mixed", 1, GroupKey { group: 0, report: 0 });
    add(&mut job, Direction::Read, 1000, (100_000, 900_000));
    add(&mut job, Direction::Write, 2000, (3_000_000, 300_000_000));
    run_of(vec![job])
}

/// A run of the given workers, on one disk.
pub(crate) fn run_of(jobs: Vec<JobRecord>) -> RunRecord {
    RunRecord {
        schema: SCHEMA_VERSION,
        fathom_version: "0.1.0".into(),
        invocation: Invocation {
            arguments: vec!["fathom".into(), "run".into(), "a b.fio".into()],
            ended_unix_ms: 1_795_215_228_864,
            started_unix_ms: 1_795_215_226_864,
            ..Invocation::default()
        },
        clock: Clock { source: "tsc".into(), hertz: 3e9, drift_ppm: 0.5, stamp: Nanos(20) },
        jobs,
        disks: vec![disk("sda", &[])],
        messages: vec![Message::warning(Some("mixed"), "said \"so\"")],
        ..RunRecord::default()
    }
}

/// A device, a stacked one when it has `members`.
pub(crate) fn disk(name: &str, members: &[&str]) -> DiskResult {
    DiskResult {
        name: name.into(),
        members: members.iter().map(|member| member.to_string()).collect(),
        counters: DiskCounters {
            before: DiskSample { read_ios: 10, ..DiskSample::default() },
            after: DiskSample {
                read_ios: 1010,
                write_ios: 2000,
                read_merges: 3,
                write_merges: 4,
                read_ticks_ms: 500,
                write_ticks_ms: 600,
                queue_ms: 1100,
                busy_ms: 1999,
                ..DiskSample::default()
            },
            window: Nanos(2 * SECOND),
        },
    }
}

/// A run like [`mixed`] whose reads and writes have a schedule.
pub(crate) fn rated() -> RunRecord {
    let mut record = mixed();
    record.jobs[0].results.read.latency.response = Some(spread(150_000, 5_000_000, 1000));
    record.jobs[0].workload.rate_iops = PerDirection { read: Some(500), write: None, trim: None };
    record
}

/// A run of one worker that reads objects, of which one in ten is not there.
pub(crate) fn objects() -> RunRecord {
    let mut job = worker("objects", 1, GroupKey { group: 0, report: 0 });
    add(&mut job, Direction::Read, 900, (1_000_000, 9_000_000));
    let get = RequestResult {
        request: "GET".into(),
        sent: 1000,
        good: 900,
        bytes: Bytes(900 * 4096),
        statuses: [(200, 900), (404, 100)].into(),
        first_byte: spread(500_000, 2_000_000, 900),
        whole: spread(1_000_000, 9_000_000, 900),
        ..RequestResult::default()
    };
    job.exchange = Some(Exchange {
        protocol: "s3".into(),
        endpoints: vec!["127.0.0.1:9000".into()],
        content: "signed".into(),
        tls: "off".into(),
        connections: 8,
        requests: vec![get],
        connect: spread(100_000, 200_000, 8),
        failures: vec!["GET of /b/o: the server answered 404 NoSuchKey".into()],
        ..Exchange::default()
    });
    run_of(vec![job])
}
