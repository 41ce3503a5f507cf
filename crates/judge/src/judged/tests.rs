use super::*;
use record::{
    Bytes, Direction, DiskCounters, DiskResult, DiskSample, ErrorCount, GroupKey, Histogram,
    Interval, JobRecord, Nanos,
};

const SECOND: u64 = 1_000_000_000;

/// A worker that read `per_second` blocks of 4 KiB a second from `begin` for `seconds` seconds,
/// with a latency of `clat` ns each.
fn reader(
    worker: u32,
    report: u32,
    begin: u64,
    seconds: u64,
    per_second: u64,
    clat: u64,
) -> JobRecord {
    let mut job = JobRecord {
        name: format!("job{worker}"),
        job: worker - 1,
        worker,
        group: GroupKey { group: 0, report },
        started: Nanos(begin * SECOND),
        ended: Nanos((begin + seconds) * SECOND),
        elapsed: Nanos(seconds * SECOND),
        interval_step: Nanos(SECOND),
        percentiles: vec![99.0, 50.0],
        ..JobRecord::default()
    };
    let ios = per_second * seconds;
    let mut histogram = Histogram::new();
    histogram.record_n(clat, ios);
    let read = &mut job.results[Direction::Read];
    (read.ios_issued, read.ios, read.bytes) = (ios, ios, Bytes(ios * 4096));
    read.runtime = Nanos(seconds * SECOND);
    read.latency.clat = Some(histogram);
    for second in begin..begin + seconds {
        let mut interval = Interval {
            start: Nanos(second * SECOND),
            length: Nanos(SECOND),
            ..Interval::default()
        };
        interval.ios[Direction::Read] = per_second;
        interval.bytes[Direction::Read] = per_second * 4096;
        job.intervals.push(interval);
    }
    job
}

fn judge_jobs(jobs: Vec<JobRecord>) -> Judged {
    judge(&RunRecord { jobs, ..RunRecord::default() })
}

#[test]
fn chained_jobs_of_one_report_have_the_bandwidth_they_had() {
    // fio sums the bytes over the longest job's time and reports six times the truth.
    let jobs = (0..6).map(|i| reader(i + 1, 0, u64::from(i) * 10, 10, 100, 1000)).collect();
    let judged = judge_jobs(jobs);
    let read = &judged.units[0].directions[Direction::Read];
    assert_eq!(read.runtime_ns, 60 * SECOND);
    assert!((read.iops - 100.0).abs() < 1e-9);
    assert_eq!((read.iops_series.min, read.iops_series.max), (100.0, 100.0));
    assert_eq!(read.longest_ns, 10 * SECOND);
    assert!((read.over_longest().1 - 600.0).abs() < 1e-9);
    assert!(judged.findings.iter().any(|finding| finding.check == "not-together"));
    assert!((judged.groups[0].rows[0].bytes_per_second - 409_600.0).abs() < 1e-6);
}

#[test]
fn a_pause_between_jobs_is_not_time_they_ran() {
    let judged = judge_jobs(vec![reader(1, 0, 0, 1, 100, 1000), reader(2, 0, 9, 1, 100, 1000)]);
    assert_eq!(judged.units[0].directions[Direction::Read].runtime_ns, 2 * SECOND);
}

#[test]
fn extremes_of_a_merged_unit_come_from_aligned_intervals() {
    let mut stalled = reader(1, 0, 0, 3, 100, 1000);
    stalled.intervals[1].ios[Direction::Read] = 0;
    let judged = judge_jobs(vec![stalled, reader(2, 0, 0, 3, 50, 1000)]);
    let series = judged.units[0].directions[Direction::Read].iops_series;
    assert_eq!((series.min, series.max, series.samples), (50.0, 150.0, 3));
    assert!((series.mean - 350.0 / 3.0).abs() < 1e-9);
    assert!((series.stddev - 57.735_026_9).abs() < 1e-6, "{}", series.stddev);
    assert!(judged.findings.iter().all(|finding| finding.check != "not-together"));
}

#[test]
fn bandwidth_and_iops_have_periods_of_their_own() {
    let mut job = reader(1, 0, 0, 4, 100, 1000);
    job.intervals[0].ios[Direction::Read] = 0;
    job.intervals[0].bytes[Direction::Read] = 0;
    job.show.bandwidth_period = Nanos(2 * SECOND);
    let judged = judge_jobs(vec![job]);
    let read = &judged.units[0].directions[Direction::Read];
    assert_eq!((read.bandwidth.samples, read.bandwidth.min), (2, 204_800.0));
    assert_eq!((read.iops_series.samples, read.iops_series.min), (4, 0.0));
}

#[test]
fn intervals_of_two_workers_that_took_turns_are_one_sample() {
    let part_of = |mut job: JobRecord, start: u64, length: u64| {
        (job.intervals[0].start, job.intervals[0].length) = (Nanos(start), Nanos(length));
        job
    };
    let first = part_of(reader(1, 0, 0, 1, 100, 1000), 0, SECOND / 4);
    let second = part_of(reader(2, 0, 0, 1, 100, 1000), SECOND / 4, SECOND * 3 / 4);
    let series = judge_jobs(vec![second, first]).units[0].directions[Direction::Read].iops_series;
    assert_eq!((series.samples, series.min), (1, 200.0));
}

#[test]
fn a_sliver_of_an_interval_is_no_sample() {
    let mut job = reader(1, 0, 0, 2, 100, 1000);
    let mut sliver = job.intervals[1];
    (sliver.start, sliver.length) = (Nanos(2 * SECOND), Nanos(1000));
    job.intervals.push(sliver);
    let judged = judge_jobs(vec![job]);
    assert_eq!(judged.units[0].directions[Direction::Read].bandwidth.samples, 2);
}

#[test]
fn percentiles_of_merged_workers_come_from_one_histogram_in_rising_order() {
    let judged = judge_jobs(vec![reader(1, 0, 0, 1, 99, 10), reader(2, 0, 0, 1, 1, 200)]);
    let clat = judged.units[0].directions[Direction::Read].clat.clone().unwrap();
    assert_eq!(clat.percentiles, vec![(50.0, 10), (99.0, 10)]);
    assert_eq!((clat.count, clat.min, clat.max), (100, 10, 200));
}

#[test]
fn a_merged_unit_is_named_after_its_first_job_and_lists_all() {
    let mut twin = reader(3, 0, 0, 1, 1, 10);
    (twin.job, twin.name) = (1, "job2".into());
    let judged = judge_jobs(vec![reader(1, 0, 0, 1, 1, 10), reader(2, 0, 0, 1, 1, 10), twin]);
    assert_eq!(judged.units.len(), 1);
    assert_eq!(judged.units[0].name, "job1");
    assert_eq!(judged.units[0].merged, vec![("job1".into(), 1), ("job2".into(), 2)]);
}

#[test]
fn separate_workers_are_separate_units_with_their_share() {
    let judged = judge_jobs(vec![reader(1, 0, 0, 1, 300, 10), reader(2, 1, 0, 1, 100, 10)]);
    let shares: Vec<f64> =
        judged.units.iter().map(|u| u.directions[Direction::Read].group_share).collect();
    assert_eq!(shares, vec![75.0, 25.0]);
    let row = judged.groups[0].rows[0];
    assert_eq!((row.unit_min, row.unit_max), (409_600.0, 1_228_800.0));
}

#[test]
fn a_worker_without_stats_is_left_out_and_its_group_stays() {
    let mut job = reader(1, 0, 0, 1, 300, 10);
    job.show.stats = false;
    let judged = judge_jobs(vec![job]);
    assert!(judged.units.is_empty());
    assert_eq!((judged.groups.len(), judged.groups[0].rows.len()), (1, 0));
}

#[test]
fn unified_reporting_merges_the_directions() {
    let mut job = reader(1, 0, 0, 1, 300, 10);
    job.results.write = job.results.read.clone();
    for (unified, kinds) in [(0, 2), (1, 1), (2, 3)] {
        job.show.unified = unified;
        let judged = judge_jobs(vec![job.clone()]);
        assert_eq!(judged.groups[0].rows.len(), kinds, "unified {unified}");
        let mixed = judged.units[0].mixed.as_ref().map(|m| (m.ios, m.runtime_ns));
        assert_eq!(mixed, (unified > 0).then_some((600, SECOND)));
    }
}

#[test]
fn errors_of_one_kind_are_one_line() {
    let mut jobs = vec![reader(1, 0, 0, 1, 1, 10), reader(2, 0, 0, 1, 1, 10)];
    for job in &mut jobs {
        job.error = 5;
        job.errors.push(ErrorCount {
            errno: 5,
            text: "Input/output error".into(),
            operation: "read".into(),
            count: 2,
            first_file: job.name.clone(),
            first_offset: Some(0),
            first_length: Some(4096),
        });
    }
    let unit = &judge_jobs(jobs).units[0];
    assert_eq!((unit.errors.len(), unit.total_errors(), unit.error), (1, 4, 5));
    assert_eq!(unit.errors[0].first_file, "job1");
}

#[test]
fn cpu_is_a_share_of_the_workers_time() {
    let mut jobs = vec![reader(1, 0, 0, 1, 1, 10), reader(2, 0, 0, 3, 1, 10)];
    jobs[0].cpu.user = Nanos(SECOND);
    jobs[1].cpu.user = Nanos(SECOND);
    let unit = &judge_jobs(jobs).units[0];
    assert_eq!((unit.cpu.user, unit.cpu.run_delay), (50.0, None));
    assert_eq!(unit.job_runtime_ns, 4 * SECOND);
}

#[test]
fn a_stacked_device_shows_the_mean_of_its_members() {
    let disk = |name: &str, members: &[&str], reads: u64, busy_ms: u64| DiskResult {
        name: name.into(),
        members: members.iter().map(|m| m.to_string()).collect(),
        counters: DiskCounters {
            before: DiskSample { read_ios: 5, ..DiskSample::default() },
            after: DiskSample { read_ios: 5 + reads, busy_ms, ..DiskSample::default() },
            window: Nanos(SECOND),
        },
    };
    let disks = disks::measure(&[
        disk("dm-0", &["sda", "sdb"], 10, 900),
        disk("sda", &[], 4, 100),
        disk("sdb", &[], 6, 300),
    ]);
    assert_eq!((disks[0].own.counters.read_ios, disks[0].own.util), (10, 90.0));
    let members = disks[0].members.unwrap();
    assert_eq!((members.counters.read_ios, members.util, disks[0].member_count), (5, 30.0, 2));
    assert_eq!(disks[1].members, None);
}

#[test]
fn an_empty_record_is_judged_without_a_figure() {
    assert_eq!(judge(&RunRecord::default()), Judged::default());
}
