use super::*;
use record::{
    DepthUse, DirectionResult, ErrorCount, GroupKey, LatencyResult, WorkerState, Workload,
};

fn job(name: &str, group: u32) -> JobRecord {
    let block_size = PerDirection { read: (Bytes(4096), Bytes(4096)), ..PerDirection::default() };
    let workload = Workload {
        rw: "randread".into(),
        ioengine: "psync".into(),
        iodepth: 8,
        block_size,
        ..Workload::default()
    };
    let group = GroupKey { group, report: 0 };
    JobRecord { name: name.into(), group, workload, ..JobRecord::default() }
}

/// A worker that measured from second 1 on, and read with these latencies until `ended`.
fn laid_out(name: &str, ended: u64, latencies: &[u64], depth: f64) -> JobRecord {
    let mut clat = Histogram::new();
    latencies.iter().for_each(|ns| clat.record(*ns));
    let ios = latencies.len() as u64;
    let (started, ended) = (Nanos::SECOND, Nanos(ended * Nanos::SECOND.0));
    let read = DirectionResult {
        ios,
        bytes: Bytes(ios * 4096),
        runtime: ended - started,
        latency: LatencyResult { clat: Some(clat), ..LatencyResult::default() },
        ..DirectionResult::default()
    };
    JobRecord {
        started,
        ended,
        results: PerDirection { read, ..PerDirection::default() },
        depth: DepthUse { achieved_mean: depth, ..DepthUse::default() },
        ..job(name, 0)
    }
}

fn worker(state: WorkerState, ios: u64) -> WorkerStatus {
    WorkerStatus {
        state,
        ios: PerDirection { read: ios, ..PerDirection::default() },
        bytes: PerDirection { read: ios * 4096, ..PerDirection::default() },
        directions: PerDirection { read: true, ..PerDirection::default() },
        started: Some(Nanos(Nanos::SECOND.0 / 2)),
        ..WorkerStatus::default()
    }
}

fn observation(
    second: u64,
    workers: Vec<WorkerStatus>,
    laid_out: Option<Vec<JobRecord>>,
) -> RunObservation {
    let at = Nanos(second * Nanos::SECOND.0);
    RunObservation {
        snapshot: Snapshot { at, workers, layout: None },
        laid_out,
        sample: Sample { at, own_cpu_ms: Some(second * 500), ..Sample::default() },
        ..RunObservation::default()
    }
}

fn read(moment: &Moment, row: usize) -> DirectionNow {
    moment.jobs[row].directions.read.clone().unwrap()
}

#[test]
fn workers_of_one_name_and_group_are_told_of_together() {
    let workers = [job("a", 0), job("b", 0), job("a", 0), job("a", 1)];
    let mut maker = MomentBuilder::new(3, &workers);
    let states = [WorkerState::Ramp, WorkerState::Failed, WorkerState::Running];
    let states = states.into_iter().chain([WorkerState::NotStarted]);
    let moment = maker.build(observation(2, states.map(|state| worker(state, 5)).collect(), None));
    let rows: Vec<_> = moment
        .jobs
        .iter()
        .map(|job| (job.name.as_str(), job.workers, job.state, job.in_state))
        .collect();
    let expected =
        [("a", 2, State::Running, 1), ("b", 1, State::Failed, 1), ("a", 1, State::Waiting, 1)];
    assert_eq!((moment.run, rows.as_slice()), (3, &expected[..]));
    assert_eq!(moment.jobs[0].workload, "randread 4k psync");
    assert_eq!((read(&moment, 0).ios, read(&moment, 0).bytes), (10, 40960));
    assert!(moment.jobs[0].directions.write.is_none() && moment.jobs[0].depth.is_none());
}

#[test]
fn rates_are_what_came_since_the_look_before_or_the_first_io() {
    let mut maker = MomentBuilder::new(1, &[job("a", 0)]);
    let mut take = |second, ios| {
        let moment =
            maker.build(observation(second, vec![worker(WorkerState::Running, ios)], None));
        let now = read(&moment, 0);
        (now.iops, now.bytes_per_second, moment.own_cpu_percent)
    };
    assert_eq!(take(1, 50), (100.0, 409_600.0, None));
    assert_eq!(take(3, 250), (100.0, 409_600.0, Some(50.0)));
    assert_eq!(take(4, 250), (0.0, 0.0, Some(50.0)), "a stall shows");
    assert_eq!(take(5, 200), (0.0, 0.0, Some(50.0)), "what went back counts as nothing");
}

#[test]
fn percentiles_are_of_the_last_seconds() {
    let mut maker = MomentBuilder::new(1, &[job("a", 0)]);
    let mut latencies = Vec::new();
    let mut moments = Vec::new();
    for second in 2..12 {
        latencies.extend([100, 100, 100, second * 1000]);
        let jobs = vec![laid_out("a", second, &latencies, 4.0)];
        let workers = vec![worker(WorkerState::Running, 4)];
        moments.push(maker.build(observation(second, workers, Some(jobs))));
    }
    let of = |at: usize| read(&moments[at], 0).latency.unwrap();
    assert_eq!((of(0).count, of(0).p50_ns, of(0).max_ns), (4, 100, 2000));
    // Five seconds of four reads: the slowest is of the last second, the first ones are forgotten.
    let last = of(9);
    assert_eq!((last.seconds, last.count, last.p50_ns), (5.0, 20, 100));
    assert!((last.p999_ns as f64 - 11_000.0).abs() < 11_000.0 * 0.01, "{last:?}");
    let now = read(&moments[9], 0);
    assert_eq!((now.mean_iops, now.mean_bytes_per_second), (Some(4.0), Some(4.0 * 4096.0)));
    // Nothing laid out anew: it is still what is state.
    let again = maker.build(observation(12, vec![worker(WorkerState::Running, 4)], None));
    assert_eq!(read(&again, 0).latency, Some(last));
}

#[test]
fn a_job_without_ios_in_the_window_has_no_latency() {
    let mut maker = MomentBuilder::new(1, &[job("a", 0)]);
    let mut latency = None;
    for second in 2..10 {
        let jobs = vec![laid_out("a", second, &[5, 5], 1.0)];
        latency = read(
            &maker.build(observation(second, vec![worker(WorkerState::Running, 2)], Some(jobs))),
            0,
        )
        .latency;
    }
    assert_eq!(latency, None);
}

#[test]
fn depth_is_of_the_time_since_and_summed_over_workers() {
    let mut maker = MomentBuilder::new(1, &[job("a", 0), job("a", 0)]);
    let both = |second, one, other| {
        Some(vec![laid_out("a", second, &[1], one), laid_out("a", second, &[1], other)])
    };
    let workers = || vec![worker(WorkerState::Running, 1); 2];
    let first = maker.build(observation(2, workers(), both(2, 4.0, 2.0)));
    assert_eq!(first.jobs[0].depth, Some(DepthNow { requested: 16, now: 6.0 }));
    // 4 over the first second, 8 over two: 12 in the second one.
    let second = maker.build(observation(3, workers(), both(3, 8.0, 2.0)));
    assert_eq!(second.jobs[0].depth.unwrap().now, 14.0);
    // One laid out nothing since: it has no part in it.
    let mut jobs = both(4, 8.0, 2.0).unwrap();
    jobs[0] = laid_out("a", 3, &[1], 8.0);
    assert_eq!(maker.build(observation(4, workers(), Some(jobs))).jobs[0].depth.unwrap().now, 2.0);
}

#[test]
fn errors_are_counted_and_further_jobs_told_of_together() {
    let many: Vec<JobRecord> = (0..200).map(|n| job(&format!("job{n}"), 0)).collect();
    let mut maker = MomentBuilder::new(1, &many);
    let error = ErrorCount {
        errno: 5,
        text: String::new(),
        operation: "read".into(),
        count: 3,
        first_file: String::new(),
        first_offset: None,
        first_length: None,
    };
    let mut jobs = many.clone();
    jobs[0].errors = vec![error.clone(), error.clone()];
    jobs[199].errors = vec![error];
    let workers = vec![worker(WorkerState::Running, 1); 200];
    let moment = maker.build(observation(2, workers, Some(jobs)));
    assert_eq!(moment.jobs.len(), MomentBuilder::JOBS_MAX);
    let last = moment.jobs.last().unwrap();
    assert_eq!((last.name.as_str(), last.workers, last.errors), ("further jobs", 137, 3));
    assert_eq!((read(&moment, MomentBuilder::JOBS_MAX - 1).ios, moment.jobs[0].errors), (137, 6));
}

#[test]
fn sizes_are_told_as_they_are_typed() {
    let mut mixed = job("a", 0);
    mixed.workload.block_size.write = (Bytes(512), Bytes(1 << 20));
    assert_eq!(workload(&mixed), "randread 512-1m psync");
    mixed.workload.block_size = PerDirection::default();
    assert_eq!(workload(&mixed), "randread psync");
    assert_eq!((short(1536), short(3 << 30)), ("1536".into(), "3g".into()));
}
