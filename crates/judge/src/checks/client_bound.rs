//! Was the load generator itself the limit?

use super::prelude::*;

/// Share of the time in which the queue was not full because the worker prepared or checked data.
const NOTE: f64 = 0.10;
const WARNING: f64 = 0.25;
/// Mean lag behind the schedule that a timer's late wake-up does not explain.
const LAG_MIN_NS: f64 = 1e6;
/// A device that stalls has I/O about as slow as the schedule is late; the generator has not.
const LAG_OVER_LATENCY: u64 = 4;
/// Share of the depth in use from which the device, not the generator, holds the schedule up.
const DEPTH_FULL: f64 = 0.8;
/// Times of threads are kept by the tick on some kernels.
const WINDOW_MIN_NS: u64 = 100_000_000;

pub(super) const CHECK: Check = Check {
    id: "client-bound",
    question: "Was the load generator itself the limit?",
    evidence: "user CPU time of the workers, compared with the share of the queue depth that stayed empty; lag of I/Os behind their schedule while the queue had room",
    threshold: "note when workers were busy in user mode for 10 % of the time while the queue was not full, warning from 25 %; warning when I/Os lag 1 ms behind their schedule on average although the queue had room and no I/O was slow",
    reason: "while a worker fills or checks buffers, it keeps fewer I/Os in flight than the job requests and the device is idle; no latency includes that time, but it lowers every rate",
    cause: "the load generator's own work between I/Os",
    remedy: || raise(["numjobs"]).ending("to share the work among more workers"),
    proof: Proof::real(
        "checks/time.rs::filling_every_buffer_anew_is_the_clients_work",
        "checks/time.rs::a_paced_job_without_a_stall_omits_nothing",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    payload(case, part).or_else(|| lag(part))
}

/// Share of the requested depth that was in use, over all workers and time.
fn depth_used(part: &Part) -> f64 {
    let depth = part.metrics.depth;
    depth.achieved_mean / f64::from(depth.requested.max(1))
}

fn payload(case: &Case, part: &Part) -> Option<Finding> {
    let window: u64 = part.workers.iter().map(|job| (job.ended - job.started).0).sum();
    if window < WINDOW_MIN_NS {
        return None;
    }
    let user: u64 = part.workers.iter().map(|job| job.cpu.user.0).sum();
    // Time that the hypervisor took from the worker kept the queue empty, too.
    let took = user as f64 * (1.0 + case.stolen_per_run(part.from, part.to));
    let (busy, unused) = (took / window as f64, 1.0 - depth_used(part));
    let share = busy.min(unused);
    if share < NOTE {
        return None;
    }
    let each = user as f64 / part.all_ios().max(1) as f64;
    let latency = part.mean_latency().unwrap_or(0.0);
    let severity = if share < WARNING { Severity::Note } else { Severity::Warning };
    let text = format!(
        "the load generator spent {} of CPU time on each I/O, which took {}: workers did this {} of the time while only {} of the queue depth was in use",
        time(each),
        time(latency),
        percent(busy),
        percent(1.0 - unused),
    );
    let (cause, remedy) = work(case, part);
    let figures = [
        Figure::new("user CPU time an I/O", each, "ns"),
        Figure::new("mean latency", latency, "ns"),
        Figure::new("queue depth in use", (1.0 - unused) * 100.0, "percent"),
    ];
    Some(CHECK.finding_for(part, severity, text).figures(figures).cause(cause).remedy(remedy))
}

/// The work an option asks for, as cause and remedy.
fn work(case: &Case, part: &Part) -> (Sentence, Remedy) {
    let first = part.first();
    let typed = |name: &str| {
        let mut options = first.options.iter().chain(&case.record.global_options);
        options.any(|(option, value)| option == name && value != "0")
    };
    if typed("verify") {
        return (
            "verify computes a checksum for each block before or after its I/O".into(),
            drop(["verify"]).ending("and verify in a separate run").or(set("verify", "crc32c")),
        );
    }
    if part.setting("buffer_compress_percentage").is_some()
        || part.setting("dedupe_percentage").is_some()
    {
        return (
            "every buffer is generated to compress or repeat as requested, which takes longer than random data".into(),
            drop(["buffer_compress_percentage", "dedupe_percentage"])
                .ending("if the device does not compress").or((CHECK.remedy)()),
        );
    }
    if part.setting("refill_buffers").is_some() {
        return (
            "`refill_buffers` fills each buffer again before each write".into(),
            drop(["refill_buffers"])
                .ending("(each write has different content without it)")
                .or((CHECK.remedy)()),
        );
    }
    (CHECK.cause.into(), (CHECK.remedy)())
}

/// Behind the schedule although the device had room for more.
fn lag(part: &Part) -> Option<Finding> {
    let latest = part.workers.iter().flat_map(|job| &job.intervals).map(|i| i.lag_ns_max).max()?;
    let histogram = |pick: fn(&record::LatencyResult) -> Option<&Histogram>| {
        let results = part.workers.iter().flat_map(|job: &&JobRecord| job.results.iter());
        results.filter_map(move |(_, result)| pick(&result.latency))
    };
    let samples: u64 = histogram(|l| l.response.as_ref()).map(Histogram::count).sum();
    let response: u64 = histogram(|l| l.response.as_ref()).map(Histogram::sum).sum();
    let slowest = histogram(|l| l.clat.as_ref()).map(Histogram::max).max()?;
    if samples == 0 {
        return None;
    }
    let mean = response as f64 / samples as f64 - part.mean_latency()?;
    let stalled = slowest * LAG_OVER_LATENCY > latest;
    if mean < LAG_MIN_NS || stalled || depth_used(part) > DEPTH_FULL {
        return None;
    }
    let text = format!(
        "I/Os were issued {} behind their schedule on average and {} at most, while {} of the queue depth was free and no I/O took longer than {}",
        time(mean),
        time(latest as f64),
        percent(1.0 - depth_used(part)),
        time(slowest as f64),
    );
    let figures = [
        Figure::new("mean lag", mean, "ns"),
        Figure::new("largest lag", latest as f64, "ns"),
        Figure::new("slowest I/O", slowest as f64, "ns"),
    ];
    let cause = "the load generator was late, not the device: it was stopped, waited for a CPU, or needs more time for each I/O than the rate allows";
    let remedy =
        choose(["cpus_allowed"]).ending("to give each worker its own CPU").or(raise(["numjobs"])
            .ending(format!("to spread {} IOPS over more workers", count(part.iops()))));
    Some(
        CHECK
            .finding_for(part, Severity::Warning, text)
            .figures(figures)
            .cause(cause)
            .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LATENCY, MS, SECOND, findings, job, record, the_finding};
    use super::*;
    use record::{Direction, Nanos};

    #[test]
    fn work_between_the_ios_is_the_clients() {
        let mut busy = job("busy", Direction::Write, 10);
        busy.cpu.user = Nanos(4 * SECOND);
        assert!(findings(&record(vec![busy.clone()]), CHECK.id).is_empty(), "the depth is full");
        busy.depth.achieved_mean = 0.6;
        busy.workload.settings.insert("refill_buffers".into(), "1".into());
        let found = the_finding(&record(vec![busy.clone()]), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("400 µs of CPU time on each I/O"), "{}", found.text);
        assert!(found.cause.starts_with("refill_buffers"));
        busy.options.push(("verify".into(), "sha512".into()));
        assert!(the_finding(&record(vec![busy]), CHECK.id).cause.starts_with("verify"));
    }

    #[test]
    fn a_schedule_is_the_clients_to_keep_unless_the_device_stalls() {
        let mut late = job("late", Direction::Read, 10);
        late.depth.achieved_mean = 0.3;
        let mut response = Histogram::new();
        response.record_n(20 * MS, 10_000);
        late.results[Direction::Read].latency.response = Some(response);
        late.intervals[4].lag_ns_max = 300 * MS;
        let found = the_finding(&record(vec![late.clone()]), CHECK.id);
        assert!(found.text.contains("19 ms behind their schedule"), "{}", found.text);
        let clat = late.results[Direction::Read].latency.clat.as_mut().unwrap();
        assert_eq!(clat.max(), LATENCY);
        clat.record(300 * MS);
        assert!(findings(&record(vec![late]), CHECK.id).is_empty());
    }
}
