use super::*;
use crate::checks::testing::{FILE, IOPS, LATENCY, MS, SECOND, at_each, job, record};
use record::{Direction, Histogram, JobRecord, RunRecord, Sample, SlowSample};

/// The verdicts on a record, with these findings.
fn verdicts(record: &RunRecord, findings: &[Finding]) -> Vec<Verdict> {
    super::verdicts(&Case::from_record(record), findings)
}

#[track_caller]
fn the_verdict(record: &RunRecord) -> Verdict {
    let verdicts = verdicts(record, &[]);
    assert_eq!(verdicts.len(), 1);
    verdicts.into_iter().next().unwrap()
}

#[track_caller]
fn assert_limit(record: &RunRecord, limit: Limit, confidence: Confidence) -> Verdict {
    let verdict = the_verdict(record);
    assert_eq!((verdict.limit, verdict.confidence), (limit, confidence), "{verdict:#?}");
    assert!(verdict.figures.len() <= 3);
    verdict
}

fn reading() -> JobRecord {
    job("a", Direction::Read, 5)
}

/// Its workers' time on a CPU, as shares in user mode and in the kernel.
fn on_cpu(job: &mut JobRecord, user: f64, system: f64) {
    let window = (job.ended - job.started).0 as f64;
    job.cpu.user = Nanos((window * user) as u64);
    job.cpu.system = Nanos((window * system) as u64);
}

/// Each I/O takes so long.
fn takes(job: &mut JobRecord, direction: Direction, latency: u64) {
    let mut histogram = Histogram::new();
    histogram.record_n(latency, job.results[direction].ios);
    job.results[direction].latency.clat = Some(histogram);
}

/// The disk moves this share of what it would, and has this many I/Os under way.
fn disk_does(record: &mut RunRecord, moves: f64, in_flight: f64) {
    at_each(record, |at, sample| {
        let disk = sample.disks.get_mut("sda").unwrap();
        disk.read_bytes = (disk.read_bytes as f64 * moves) as u64;
        disk.write_bytes = (disk.write_bytes as f64 * moves) as u64;
        disk.queue_ms = (at * 1000.0 * in_flight) as u64;
    });
}

fn finding(check: &'static str, severity: Severity) -> Finding {
    Finding {
        check,
        severity,
        jobs: vec!["a".into()],
        text: format!("{check} was seen").into(),
        figures: Vec::new(),
        cause: "".into(),
        remedy: "".into(),
    }
}

#[test]
fn a_worker_that_sleeps_for_its_disk_is_limited_by_the_device() {
    let verdict = assert_limit(&record(vec![reading()]), Limit::Device, Confidence::High);
    assert_eq!(
        verdict.because,
        "mean latency 1 ms: 100 % in the device; workers used 7 % of a CPU"
    );
    assert_eq!(
        verdict.valid_for,
        "valid for: 4 KiB random reads on this filesystem (ext4) at depth 1, direct"
    );
}

#[test]
fn a_deep_queue_that_stands_at_the_device_is_limited_by_it() {
    let mut deep = reading();
    (deep.workload.iodepth, deep.depth.requested) = (32, 32);
    takes(&mut deep, Direction::Read, 32 * LATENCY);
    on_cpu(&mut deep, 0.1, 0.4);
    let mut record = record(vec![deep]);
    disk_does(&mut record, 1.0, 31.0);
    let verdict = assert_limit(&record, Limit::Device, Confidence::High);
    assert!(verdict.valid_for.contains("at depth 32, direct"), "{}", verdict.valid_for);
}

#[test]
fn merged_ios_are_one_request_of_the_device() {
    let mut deep = reading();
    takes(&mut deep, Direction::Read, 32 * LATENCY);
    let mut record = record(vec![deep]);
    disk_does(&mut record, 1.0, 1.0);
    at_each(&mut record, |_, sample| {
        let disk = sample.disks.get_mut("sda").unwrap();
        (disk.read_ios, disk.read_merges) = (disk.read_ios / 32, disk.read_ios * 31 / 32);
    });
    assert_limit(&record, Limit::Device, Confidence::High);
}

#[test]
fn a_busy_disk_with_a_short_queue_of_a_deep_job_is_not_the_limit() {
    // The disk is always busy, but with one of 32 I/Os: the others wait elsewhere.
    let mut deep = reading();
    takes(&mut deep, Direction::Read, 32 * LATENCY);
    let mut record = record(vec![deep]);
    disk_does(&mut record, 1.0, 1.0);
    assert_limit(&record, Limit::Unknown, Confidence::Low);
}

#[test]
fn a_device_with_almost_no_io_means_the_cache() {
    let mut cached = reading();
    cached.workload.direct = false;
    on_cpu(&mut cached, 0.1, 0.85);
    let mut cached_run = record(vec![cached.clone()]);
    disk_does(&mut cached_run, 0.01, 0.01);
    let verdict = assert_limit(&cached_run, Limit::Cache, Confidence::High);
    assert!(verdict.because.starts_with("the device read 1 % of the bytes"), "{verdict:?}");
    assert!(
        verdict
            .valid_for
            .ends_with("served from memory; not valid for: the storage below the cache")
    );

    // NVMe commands never pass it, and the counters of the device do not show them.
    let mut commands = cached_run.clone();
    commands.jobs[0].workload.ioengine = record::Engine::IoUringCmd.name().into();
    assert_ne!(the_verdict(&commands).limit, Limit::Cache);

    // A third comes from the device, and the worker runs on its CPU: the cache contributed.
    let mut partly = record(vec![cached.clone()]);
    disk_does(&mut partly, 0.3, 0.3);
    assert_limit(&partly, Limit::Cache, Confidence::Medium);

    // The same third, but the worker waits for it: the device is the limit.
    on_cpu(&mut cached, 0.05, 0.05);
    let mut waited = record(vec![cached]);
    disk_does(&mut waited, 0.3, 0.9);
    assert_limit(&waited, Limit::Device, Confidence::High);
}

#[test]
fn writes_without_waiting_are_limited_by_the_cache() {
    let mut behind = job("a", Direction::Write, 5);
    behind.workload.direct = false;
    on_cpu(&mut behind, 0.1, 0.85);
    let verdict = assert_limit(&record(vec![behind.clone()]), Limit::Cache, Confidence::Medium);
    assert!(verdict.because.contains("workers waited 5 % of the time"), "{verdict:?}");
    // The disk is slower than the writer, so the worker waits.
    on_cpu(&mut behind, 0.05, 0.3);
    assert_limit(&record(vec![behind]), Limit::Device, Confidence::High);
}

#[test]
fn files_in_memory_have_no_device() {
    let mut memory = record(vec![reading()]);
    let target = memory.facts.targets.get_mut(FILE).unwrap();
    target.device = None;
    let filesystem = target.filesystem.as_mut().unwrap();
    (filesystem.kind, filesystem.devices) = ("tmpfs".into(), Vec::new());
    assert_limit(&memory, Limit::Cache, Confidence::High);
}

#[test]
fn a_worker_that_never_sleeps_is_limited_by_its_cpu() {
    let mut null = reading();
    (null.workload.ioengine, null.workload.files) = ("null".into(), Vec::new());
    on_cpu(&mut null, 0.9, 0.09);
    let null_run = record(vec![null]);
    let verdict = assert_limit(&null_run, Limit::Cpu, Confidence::High);
    assert!(verdict.valid_for.contains("with engine null (no storage)"), "{verdict:?}");

    // Most of its I/Os are at the device, too: the evidence disagrees.
    let mut both = reading();
    on_cpu(&mut both, 0.2, 0.72);
    assert_limit(&record(vec![both]), Limit::Cpu, Confidence::Low);

    // Eight workers on two CPUs: each is always runnable.
    let mut crowded = reading();
    on_cpu(&mut crowded, 0.05, 0.20);
    crowded.cpu.run_delay = Some(Nanos(15 * SECOND / 4));
    let mut crowded_run = record(vec![crowded]);
    disk_does(&mut crowded_run, 1.0, 0.2);
    let verdict = assert_limit(&crowded_run, Limit::Cpu, Confidence::High);
    assert!(verdict.because.contains("waited for a CPU 75 %"), "{verdict:?}");
}

#[test]
fn a_worker_whose_cpu_is_stolen_never_sleeps_either() {
    let mut busy = reading();
    busy.workload.ioengine = "null".into();
    on_cpu(&mut busy, 0.4, 0.1);
    let mut run = record(vec![busy]);
    disk_does(&mut run, 1.0, 0.2);
    at_each(&mut run, |at, sample| {
        let half = (at * 500.0) as u64;
        for cpu in &mut sample.cpus {
            (cpu.user_ms, cpu.system_ms, cpu.steal_ms, cpu.idle_ms) = (half, 0, half, 0);
        }
    });
    assert_limit(&run, Limit::Cpu, Confidence::High);
}

#[test]
fn logs_that_are_written_too_slowly_are_the_limit_of_their_job() {
    let mut job = reading();
    on_cpu(&mut job, 0.7, 0.05);
    job.log_wait = Nanos((job.ended - job.started).0 / 5);
    let verdict = assert_limit(&record(vec![job.clone()]), Limit::Client, Confidence::High);
    assert!(verdict.because.contains("waited 20 % of the time until their logs"), "{verdict:?}");
    // They are not what a job that sleeps waits for.
    on_cpu(&mut job, 0.1, 0.05);
    assert_ne!(the_verdict(&record(vec![job])).limit, Limit::Client);
}

#[test]
fn polling_is_no_evidence_for_the_cpu() {
    let mut polling = reading();
    polling.workload.settings.insert("hipri".into(), "1".into());
    on_cpu(&mut polling, 0.1, 0.89);
    assert_limit(&record(vec![polling]), Limit::Device, Confidence::High);
}

#[test]
fn a_rate_limit_that_is_reached_is_the_limit() {
    let mut rated = reading();
    rated.workload.rate_iops.read = Some(IOPS);
    takes(&mut rated, Direction::Read, LATENCY / 10);
    let mut kept = record(vec![rated.clone()]);
    disk_does(&mut kept, 1.0, 0.1);
    let verdict = assert_limit(&kept, Limit::Rate, Confidence::High);
    assert!(verdict.valid_for.starts_with("valid for: latency of 4 KiB random"));

    rated.workload.rate_iops.read = Some(2 * IOPS);
    takes(&mut rated, Direction::Read, LATENCY);
    assert_limit(&record(vec![rated]), Limit::Device, Confidence::High);

    let mut bytes = reading();
    bytes.workload.rate.read = Some(IOPS * 4096 * 100 / 96);
    let verdict = assert_limit(&record(vec![bytes]), Limit::Rate, Confidence::Medium);
    assert!(verdict.because.contains("MiB/s and reached 96 %"), "{verdict:?}");
}

#[test]
fn a_job_with_think_time_limits_itself() {
    let mut resting = reading();
    resting.workload.settings.insert("thinktime_ns".into(), "900000".into());
    takes(&mut resting, Direction::Read, LATENCY / 10);
    let mut resting = record(vec![resting]);
    disk_does(&mut resting, 1.0, 0.1);
    assert_limit(&resting, Limit::Rate, Confidence::High);
    // Pauses that take little more than half of the time leave a doubt.
    takes(&mut resting.jobs[0], Direction::Read, LATENCY * 35 / 100);
    assert_limit(&resting, Limit::Rate, Confidence::Medium);
}

#[test]
fn a_generator_that_works_between_its_ios_is_the_limit() {
    let mut filling = job("a", Direction::Write, 5);
    filling.workload.settings.insert("refill_buffers".into(), "1".into());
    takes(&mut filling, Direction::Write, LATENCY / 4);
    on_cpu(&mut filling, 0.7, 0.1);
    let mut filling_run = record(vec![filling.clone()]);
    disk_does(&mut filling_run, 1.0, 0.25);
    let verdict = assert_limit(&filling_run, Limit::Client, Confidence::High);
    assert!(verdict.because.contains("(refill_buffers) used 70 %"), "{verdict:?}");
    assert!(verdict.valid_for.contains("not valid for: the storage"), "{verdict:?}");

    // All of a run of a few ticks may be told to be user mode: more than passed between the I/Os is not
    // the generator's.
    let mut brief = filling.clone();
    on_cpu(&mut brief, 1.05, 0.0);
    let mut brief = record(vec![brief]);
    disk_does(&mut brief, 1.0, 0.25);
    let verdict = assert_limit(&brief, Limit::Client, Confidence::High);
    assert!(verdict.because.contains("(refill_buffers) used 75 %"), "{verdict:?}");

    // Checksums that cost more than copies to memory, on CPUs that are short: the memory is not the limit.
    let mut verifying = filling.clone();
    verifying.workload.settings = [("verify".to_owned(), "sha3-512".to_owned())].into();
    on_cpu(&mut verifying, 0.2, 0.01);
    let window = (verifying.ended - verifying.started).0;
    verifying.cpu.run_delay = Some(Nanos(window * 3 / 4));
    let mut verifying = record(vec![verifying]);
    let target = verifying.facts.targets.get_mut(FILE).unwrap();
    target.filesystem.as_mut().unwrap().kind = "tmpfs".into();
    let verdict = the_verdict(&verifying);
    assert_eq!(verdict.limit, Limit::Client, "{verdict:?}");
    assert!(verdict.because.contains("(verify)"), "{verdict:?}");

    let mut unnamed = filling.clone();
    unnamed.workload.settings.clear();
    assert_limit(&record(vec![unnamed.clone()]), Limit::Client, Confidence::Medium);
    // Without an option that asks for the work, ticks are all there is to go by.
    unnamed.ended = unnamed.started + Nanos(50 * MS);
    assert_ne!(the_verdict(&record(vec![unnamed])).limit, Limit::Client);

    // The same work hidden behind a device that is slower still.
    takes(&mut filling, Direction::Write, LATENCY);
    on_cpu(&mut filling, 0.2, 0.1);
    assert_limit(&record(vec![filling]), Limit::Device, Confidence::High);
}

#[test]
fn a_limit_of_the_control_group_that_is_reached_is_the_limit() {
    let with = |name: &str, limit: u64| {
        let mut limited = record(vec![reading()]);
        let limits = [(name.to_owned(), limit)].into();
        limited.facts.environment.cgroup.io_max.insert("8:0".into(), limits);
        limited
    };
    let verdict = assert_limit(&with("riops", IOPS), Limit::Throttle, Confidence::High);
    assert!(verdict.because.contains("sda to 1 k IOPS (riops)"), "{verdict:?}");
    assert!(
        verdict
            .valid_for
            .ends_with("under this limit; not valid for: the storage without the limit")
    );
    assert_limit(&with("rbps", IOPS * 4096), Limit::Throttle, Confidence::High);
    assert_limit(&with("riops", 10 * IOPS), Limit::Device, Confidence::High);
    assert_limit(&with("wiops", IOPS), Limit::Device, Confidence::High);
}

#[test]
fn io_that_waits_above_an_idle_device_waits_for_the_limit() {
    let mut wasteful = record(vec![reading()]);
    let limits = [("riops".to_owned(), IOPS * 10 / 7)].into();
    wasteful.facts.environment.cgroup.io_max.insert("8:0".into(), limits);
    assert_limit(&wasteful, Limit::Device, Confidence::High);
    disk_does(&mut wasteful, 1.0, 0.02);
    assert_limit(&wasteful, Limit::Throttle, Confidence::Medium);
}

#[test]
fn a_server_that_rejects_everything_throttles() {
    let mut rejected = reading();
    rejected.results.read = ::record::DirectionResult { ios_issued: 10, ..Default::default() };
    let found = [finding("server-throttles", Severity::Warning)];
    assert_eq!(verdicts(&record(vec![rejected]), &found)[0].limit, Limit::Throttle);
}

#[test]
fn a_cpu_quota_that_was_used_up_is_a_throttle() {
    let mut limited = record(vec![reading()]);
    let slow = |at: u64, cgroup_throttled_us: u64| Sample {
        at: Nanos(at),
        slow: Some(SlowSample { cgroup_throttled_us, ..SlowSample::default() }),
        ..limited.timeline.samples[0].clone()
    };
    let (first, last) = (slow(0, 0), slow(6 * SECOND, 4_000_000));
    let end = limited.timeline.samples.len() - 1;
    limited.timeline.samples[0].slow = first.slow;
    limited.timeline.samples[end].slow = last.slow;
    assert_limit(&limited, Limit::Throttle, Confidence::High);
}

#[test]
fn a_finding_of_heat_is_a_throttle() {
    let calm = record(vec![reading()]);
    let found = verdicts(&calm, &[finding("throttled-hot", Severity::Warning)]);
    assert_eq!((found[0].limit, found[0].confidence), (Limit::Throttle, Confidence::Medium));
    assert_eq!(found[0].because, "throttled-hot was seen");
}

#[test]
fn ambiguous_evidence_is_reported_as_ambiguous() {
    // Half of the time on a CPU, a fifth at the device, nothing else known.
    let mut vague = reading();
    on_cpu(&mut vague, 0.2, 0.3);
    let mut vague = record(vec![vague]);
    disk_does(&mut vague, 1.0, 0.2);
    let verdict = assert_limit(&vague, Limit::Unknown, Confidence::Low);
    assert!(verdict.valid_for.starts_with("valid for: comparison with the same run"));

    // No samples at all.
    let mut blind = record(vec![reading()]);
    blind.timeline.samples.clear();
    assert_limit(&blind, Limit::Unknown, Confidence::Low);

    // Nothing was done.
    let mut idle = reading();
    for (_, direction) in [(0, Direction::Read), (1, Direction::Write)] {
        idle.results[direction] = record::DirectionResult::default();
    }
    let verdict = assert_limit(&record(vec![idle]), Limit::Unknown, Confidence::Low);
    assert_eq!(verdict.valid_for, "valid for: nothing; no I/O was measured");
}

#[test]
fn a_short_window_or_a_neighbour_lowers_the_confidence() {
    let mut short = reading();
    short.started = short.ended - Nanos(300 * MS);
    let ios = IOPS * 3 / 10;
    (short.results.read.ios, short.results.read.bytes) = (ios, ::record::Bytes(ios * 4096));
    short.results.read.runtime = Nanos(300 * MS);
    on_cpu(&mut short, 0.02, 0.05);
    takes(&mut short, Direction::Read, LATENCY);
    assert_limit(&record(vec![short.clone()]), Limit::Device, Confidence::Medium);

    let calm = record(vec![reading()]);
    let found = verdicts(&calm, &[finding("noisy-neighbour", Severity::Warning)]);
    assert_eq!((found[0].limit, found[0].confidence), (Limit::Device, Confidence::Medium));
    let with_share = |percent| Finding {
        figures: vec![crate::finding::Figure::new(
            "share of the disks' traffic",
            percent,
            "percent",
        )],
        ..finding("noisy-neighbour", Severity::Warning)
    };
    assert_eq!(verdicts(&calm, &[with_share(40.0)])[0].confidence, Confidence::Medium);
    assert_eq!(verdicts(&calm, &[with_share(10.0)])[0].confidence, Confidence::High);
    assert!(
        found[0].valid_for.ends_with("not valid for: comparison until repeated on a quiet machine")
    );
}

#[test]
fn a_finding_limits_validity_once_and_a_note_does_not() {
    let calm = record(vec![reading()]);
    let found = [
        finding("too-short", Severity::Warning),
        finding("not-steady", Severity::Warning),
        finding("too-few-samples", Severity::Note),
    ];
    let verdict = &verdicts(&calm, &found)[0];
    assert!(
        verdict.valid_for.ends_with("direct; not valid for: sustained load"),
        "{}",
        verdict.valid_for
    );
}

#[test]
fn writes_without_sync_are_reported_as_volatile() {
    let volatile = "not valid for: writes that must survive power loss";
    let writes = |cache: &str, synced: u64, direct: bool| {
        let mut job = job("a", Direction::Write, 5);
        (job.workload.direct, job.sync.count) = (direct, synced);
        let mut record = record(vec![job]);
        record.facts.devices.get_mut("sda").unwrap().write_cache = Some(cache.into());
        the_verdict(&record).valid_for
    };
    assert!(writes("write back", 0, true).contains(volatile));
    assert!(!writes("write back", 9, true).contains(volatile));
    assert!(!writes("write through", 0, true).contains(volatile));
    assert!(writes("write through", 0, false).contains(volatile));
}

#[test]
fn synchronisations_count_as_waiting_for_the_device() {
    let mut syncing = job("a", Direction::Write, 5);
    syncing.workload.direct = false;
    takes(&mut syncing, Direction::Write, LATENCY / 100);
    syncing.sync.count = 5 * IOPS;
    syncing.sync.latency.record_n(LATENCY, 5 * IOPS);
    let verdict = assert_limit(&record(vec![syncing]), Limit::Device, Confidence::High);
    assert!(verdict.because.starts_with("99 % of the waiting was for fsync"));
}

#[test]
fn synchronisations_that_queue_in_the_filesystem_are_limited_by_a_busy_device() {
    // As io_uring with an fsync after each of 64 writes in flight: 8 writes and 56 fsyncs.
    let synced = |busy: f64| {
        let mut job = job("a", Direction::Write, 5);
        (job.workload.iodepth, job.depth.requested) = (64, 64);
        takes(&mut job, Direction::Write, 8 * LATENCY);
        let ios = job.results.write.ios;
        job.sync.count = ios;
        job.sync.latency.record_n(56 * LATENCY, ios);
        job.cpu.run_delay = Some(Nanos(3 * SECOND / 2));
        let mut record = record(vec![job]);
        disk_does(&mut record, 1.0, 8.0);
        at_each(&mut record, |at, sample| {
            sample.disks.get_mut("sda").unwrap().busy_ms = (at * 1000.0 * busy) as u64;
        });
        the_verdict(&record)
    };
    let verdict = synced(0.85);
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Device, Confidence::Medium));
    let because = "88 % of the waiting was for fsync, and the device was busy 85 % of the time";
    assert_eq!(verdict.because, because);
    assert_eq!(synced(0.55).confidence, Confidence::Low);
    assert_ne!(synced(0.2).limit, Limit::Device);
}

#[test]
fn jobs_on_one_disk_share_its_figures() {
    let mut pair = record(vec![reading(), job("b", Direction::Read, 5)]);
    disk_does(&mut pair, 1.0, 2.0);
    for verdict in verdicts(&pair, &[]) {
        assert_eq!((verdict.limit, verdict.confidence), (Limit::Device, Confidence::Medium));
    }
}

#[test]
fn a_job_with_a_cached_file_is_limited_by_the_cache_beside_a_direct_job() {
    let mut cached = reading();
    cached.workload.direct = false;
    on_cpu(&mut cached, 0.1, 0.85);
    let mut pair = record(vec![cached, job("b", Direction::Read, 5)]);
    let before = |pair: &mut RunRecord, cached: u64| {
        let look = pair.evidence.files.get_mut(FILE).unwrap().before.as_mut().unwrap();
        look.cached = Some(::record::Bytes(cached));
    };
    before(&mut pair, 1 << 30);
    let found = verdicts(&pair, &[]);
    assert_eq!((found[0].limit, found[0].confidence), (Limit::Cache, Confidence::Medium));
    assert_eq!(found[1].limit, Limit::Device);
    before(&mut pair, 0);
    assert_ne!(verdicts(&pair, &[])[0].limit, Limit::Cache);
}

#[test]
fn a_store_with_waiting_clients_is_the_limit() {
    let asking = crate::checks::testing::asking("GET", 1000, 0);
    let verdict = assert_limit(&asking, Limit::Server, Confidence::High);
    assert!(verdict.because.contains("mean request latency 1 ms"), "{}", verdict.because);
    assert_eq!(
        verdict.valid_for,
        "valid for: 4 KiB GETs of objects at store.example:80 (s3) at depth 1"
    );
}

#[test]
fn a_client_that_never_waits_is_not_the_servers_limit() {
    let mut asking = crate::checks::testing::asking("PUT", 1000, 0);
    on_cpu(&mut asking.jobs[0], 0.9, 0.09);
    assert_limit(&asking, Limit::Cpu, Confidence::High);
}

#[test]
fn a_full_link_is_the_networks_limit() {
    // 125 MB/s for 10 s is all of a gigabit.
    let moved = |bytes: u64| {
        let mut asking = crate::checks::testing::asking("GET", 1000, 0);
        let eth0 = ::record::InterfaceUse {
            name: "eth0".into(),
            speed: Some(::record::Bytes(125_000_000)),
            received: ::record::Bytes(bytes),
            ..Default::default()
        };
        asking.evidence.network = Some(::record::NetworkUse {
            window: Nanos(10 * SECOND),
            interfaces: vec![eth0],
            ..Default::default()
        });
        the_verdict(&asking)
    };
    let full = moved(1_180_000_000);
    assert_eq!((full.limit, full.confidence), (Limit::Network, Confidence::High));
    assert!(full.because.contains("the link of eth0 was 94 % full"), "{}", full.because);
    assert_eq!(moved(1_050_000_000).confidence, Confidence::Medium);
    assert_eq!(moved(800_000_000).limit, Limit::Server);
}

#[test]
fn a_full_queue_is_the_devices() {
    let mut deep = reading();
    takes(&mut deep, Direction::Read, LATENCY * 64);
    let full = |in_flight| {
        let mut record = record(vec![deep.clone()]);
        record.facts.devices.get_mut("sda").unwrap().nr_requests = Some(4);
        disk_does(&mut record, 1.0, in_flight);
        the_verdict(&record)
    };
    let verdict = full(3.8);
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Device, Confidence::Medium));
    let because =
        "the queue of sda is full: 3.8 of its 4 requests were in use, while the job had 64";
    assert!(verdict.because.contains(because), "{}", verdict.because);
    assert_eq!(full(2.9).limit, Limit::Device, "io_submit waits for a request, then gets several");
    assert_eq!(full(1.0).limit, Limit::Unknown);
}

/// Random writes of 16 KiB with 64 in flight for 7 s, of which the disk has `share` in flight while it
/// works. For the 2 s after the third, `stands` says what the samples show instead.
fn frozen(share: f64, stands: impl Fn(f64, &mut Sample)) -> RunRecord {
    let mut job = job("a", Direction::Write, 7);
    (job.workload.iodepth, job.workload.ioengine) = (64, "libaio".into());
    takes(&mut job, Direction::Write, LATENCY * 64);
    let mut record = record(vec![job]);
    at_each(&mut record, |at, sample| {
        let busy = if at < 4.0 { at } else { (at - 2.0).max(4.0) };
        let disk = sample.disks.get_mut("sda").unwrap();
        disk.write_ios = (busy * 1000.0) as u64;
        disk.queue_ms = (busy * 1000.0 * 64.0 * share) as u64;
        for worker in sample.workers.values_mut() {
            worker.run_ns = (busy * 0.3 * SECOND as f64) as u64;
        }
        stands((at - 4.0).clamp(0.0, 2.0), sample);
    });
    record
}

#[test]
fn a_filesystem_that_is_frozen_for_a_while_is_a_limit_of_the_storage() {
    let verdict = assert_limit(&frozen(0.5, |_, _| ()), Limit::Device, Confidence::Medium);
    let because = "36 % in the device; for 29 % of the time I/Os waited above the idle device";
    assert!(verdict.because.contains(because), "{verdict:?}");
    // A disk that works meanwhile, or a worker that does, is not held back.
    let works = frozen(0.5, |stood, sample| {
        sample.disks.get_mut("sda").unwrap().write_ios += (stood * 1000.0) as u64;
    });
    assert_eq!(the_verdict(&works).limit, Limit::Unknown);
    let computes = frozen(0.5, |stood, sample| {
        for worker in sample.workers.values_mut() {
            worker.run_ns += (stood * SECOND as f64) as u64;
        }
    });
    assert_eq!(the_verdict(&computes).limit, Limit::Unknown);
    // The rest of the time is spent elsewhere.
    assert_eq!(the_verdict(&frozen(0.1, |_, _| ())).limit, Limit::Unknown);
}

#[test]
fn a_disk_that_works_for_others_is_limited_by_them() {
    let neighbour = || ::record::Neighbour {
        pid: 4711,
        name: "fio".into(),
        read: ::record::Bytes(400_000_000),
        same_storage: true,
        ..::record::Neighbour::default()
    };
    let beside = |others: f64| {
        let mut record = record(vec![reading()]);
        disk_does(&mut record, 1.0 + others, 1.0 + others);
        record.evidence.neighbours.push(neighbour());
        let judged = crate::judge(&record);
        assert!(judged.findings.iter().any(|finding| finding.check == "noisy-neighbour"));
        judged.verdicts[0].clone()
    };
    let verdict = beside(19.0);
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Neighbour, Confidence::High));
    assert!(
        verdict
            .because
            .contains("95 % of the I/O in flight at the device was for fio (process 4711)"),
        "{verdict:?}"
    );
    assert!(verdict.valid_for.contains("not valid for: the storage on its own"), "{verdict:?}");
    assert_eq!(beside(3.0).confidence, Confidence::Medium);
    assert_eq!(beside(1.0).limit, Limit::Device, "half is not most");
}

#[test]
fn holes_are_answered_from_memory() {
    let mut holes = record(vec![reading()]);
    let file = holes.evidence.files.get_mut(FILE).unwrap();
    file.before.as_mut().unwrap().extents =
        Some(::record::Extents { holes: ::record::Bytes(1 << 30), ..Default::default() });
    // Others keep the disk busy meanwhile.
    disk_does(&mut holes, 1.0, 8.0);
    let verdict = assert_limit(&holes, Limit::Cache, Confidence::High);
    assert!(verdict.because.contains("100 % of the data was never written"), "{verdict:?}");
    // The job reads the part with data.
    let file = holes.evidence.files.get_mut(FILE).unwrap();
    let most =
        ::record::Extents { holes: ::record::Bytes((1 << 30) / 10 * 9), ..Default::default() };
    file.before.as_mut().unwrap().extents = Some(most);
    assert_eq!(the_verdict(&holes).limit, Limit::Device);
}

#[test]
fn a_loop_device_without_direct_io_is_the_cache() {
    let mut through = record(vec![job("a", Direction::Write, 5)]);
    disk_does(&mut through, 0.0, 0.0);
    let facts = through.facts.devices.get_mut("sda").unwrap();
    facts.loop_direct_io = Some(false);
    let verdict = assert_limit(&through, Limit::Cache, Confidence::High);
    assert!(verdict.because.contains("page cache of its file"), "{verdict:?}");
    through.facts.devices.get_mut("sda").unwrap().loop_direct_io = Some(true);
    assert_ne!(the_verdict(&through).limit, Limit::Cache);
}

#[test]
fn writers_that_wait_for_written_pages_are_limited_by_the_device() {
    let mut waiting = job("a", Direction::Write, 5);
    waiting.workload.direct = false;
    on_cpu(&mut waiting, 0.05, 0.3);
    let mut waiting = record(vec![waiting]);
    disk_does(&mut waiting, 1.0, 0.3);
    let verdict = assert_limit(&waiting, Limit::Device, Confidence::Medium);
    assert!(verdict.because.contains("the device wrote 100 % of the bytes"), "{verdict:?}");
}

#[test]
fn a_memory_device_is_limited_by_cpus_of_whichever_thread() {
    let mut offloaded = record(vec![reading()]);
    disk_does(&mut offloaded, 1.0, 0.2);
    offloaded.facts.devices.get_mut("sda").unwrap().transport = Some("memory".into());
    assert_limit(&offloaded, Limit::Cpu, Confidence::Medium);
    // A simulated disk has delays, a RAM disk has none.
    disk_does(&mut offloaded, 1.0, 1.0);
    assert_eq!(the_verdict(&offloaded).limit, Limit::Device);
    offloaded.facts.devices.get_mut("sda").unwrap().kind = ::record::DeviceKind::Zram;
    assert_limit(&offloaded, Limit::Cpu, Confidence::High);
}

#[test]
fn random_arrivals_may_be_fewer_than_asked_for() {
    let mut poisson = job("a", Direction::Read, 1);
    poisson.workload.rate_iops.read = Some(IOPS * 107 / 100);
    poisson.workload.settings.insert("rate_process".into(), "poisson".into());
    assert_limit(&record(vec![poisson.clone()]), Limit::Rate, Confidence::High);
    poisson.workload.settings.clear();
    assert_limit(&record(vec![poisson]), Limit::Device, Confidence::High);
}

#[test]
fn short_runs_are_judged_by_the_samples_around_their_io() {
    // 20 ms of reads after a layout that the first sample does not know.
    let mut short = reading();
    (short.started, short.ended) = (Nanos(61 * MS), Nanos(81 * MS));
    (short.results.read.ios, short.results.read.bytes) = (1280, ::record::Bytes(1280 * 4096));
    short.results.read.runtime = Nanos(20 * MS);
    short.workload.ramp = Nanos(0);
    takes(&mut short, Direction::Read, LATENCY / 64);
    on_cpu(&mut short, 0.05, 0.2);
    let mut run = record(vec![short]);
    let sample = |at: u64, bytes: u64, queue_ms: u64| {
        let mut sample = run.timeline.samples[0].clone();
        sample.at = Nanos(at * MS);
        let disk = sample.disks.get_mut("sda").unwrap();
        (disk.read_bytes, disk.queue_ms, disk.write_bytes) = (bytes, queue_ms, 0);
        sample
    };
    let (first, phase, last) = (sample(0, 0, 0), sample(60, 0, 0), sample(110, 1280 * 4096, 20));
    run.timeline.samples = vec![first, last];
    run.timeline.phase_starts = vec![phase];
    let verdict = assert_limit(&run, Limit::Device, Confidence::Low);
    assert!(verdict.because.contains("100 % in the device"), "{verdict:?}");
}

#[test]
fn requests_to_objects_are_named_as_the_protocol_does() {
    let valid_for = |request: &str| {
        let mut asking = crate::checks::testing::asking(request, 1000, 0);
        if request == "DELETE" {
            let results = &mut asking.jobs[0].results;
            results.trim = std::mem::take(&mut results.read);
        }
        the_verdict(&asking).valid_for
    };
    for request in ["DELETE", "LIST", "HEAD"] {
        let named = format!("valid for: {request}s of objects at store.example:80 (s3)");
        assert!(valid_for(request).starts_with(&named), "{}", valid_for(request));
    }
    assert!(
        valid_for("GET").starts_with("valid for: 4 KiB GETs of objects"),
        "{}",
        valid_for("GET")
    );
    // Among requests that are no I/O of their own, a delete is still no trim.
    let mut mixed = crate::checks::testing::asking("DELETE", 1000, 0);
    let results = &mut mixed.jobs[0].results;
    results.trim = std::mem::take(&mut results.read);
    let requests = &mut mixed.jobs[0].exchange.as_mut().unwrap().requests;
    requests.push(::record::RequestResult {
        request: "POST".into(),
        sent: 10,
        ..requests[0].clone()
    });
    let valid_for = the_verdict(&mixed).valid_for;
    assert!(valid_for.contains("deletes of objects") && !valid_for.contains("trim"), "{valid_for}");
}

#[test]
fn what_a_job_did_is_named_by_what_it_did() {
    let valid_for = |change: &dyn Fn(&mut JobRecord)| {
        let mut job = reading();
        change(&mut job);
        the_verdict(&record(vec![job])).valid_for
    };
    let replayed = valid_for(&|job| {
        job.workload.rw = "read".into();
        job.workload.settings.insert("replay_order".into(), "random".into());
    });
    assert!(replayed.contains("4 KiB random reads"), "{replayed}");
    let statted = valid_for(&|job| job.workload.medium = ::record::Medium::Metadata);
    assert!(!statted.contains("reads"), "{statted}");
}
