//! Does the completion latency hide how long users would have waited?

use super::prelude::*;
use crate::metrics::latency::merged;
use crate::metrics::rates::Rates;
use record::{JobRecord, LatencyResult};

/// Percentile at which both are compared: rare enough to see a stall of a hundredth of the run.
const AT: f64 = 99.0;
/// How much longer the response must have taken, as a ratio …
const RATIO: f64 = 2.0;
/// … and in nanoseconds: timers wake some tens of microseconds late.
const DIFFERENCE_NS: u64 = 1_000_000;
/// Fewer late I/Os are single slow ones: of 200 I/Os, two decide the p99.
const WAITED_MIN: u64 = 10;
/// Below this share of the requested rate the device cannot keep up; it is not a stall.
const KEPT_UP: f64 = 0.98;
/// A delay that grows evenly has a third of its length after a third of the time. Less than this share
/// of the last delay means that it began later.
const EARLY_LAG: f64 = 0.1;
/// Fewer intervals show no course.
const LAGS_MIN: usize = 3;

pub(super) const CHECK: Check = Check {
    id: "coordinated-omission",
    question: "Does the completion latency hide how long users would have waited?",
    evidence: "response latency (from the scheduled start of an I/O), compared with completion latency (from its actual start), of jobs with a rate",
    threshold: "warning when the response p99 is at least twice the completion p99 and at least 1 ms above it, and at least 10 I/Os responded that late",
    reason: "completion latency leaves out the time that I/Os waited to be issued during a stall: one slow sample stands for hundreds that waited. Timers explain tens of microseconds, not a millisecond",
    cause: "I/Os that were due during a stall were issued late, and completion latency does not include that wait",
    remedy: || "use the response percentiles: they count from the scheduled start".into(),
    proof: Proof::real(
        "checks/time.rs::a_stall_shows_in_the_response_and_not_in_the_service",
        "checks/time.rs::a_paced_job_without_a_stall_omits_nothing",
    ),
    function: CheckFunction::Part(check),
};

/// One histogram of a direction over all workers.
fn all(
    part: &Part,
    direction: Direction,
    pick: impl Fn(&LatencyResult) -> Option<&Histogram>,
) -> Option<Histogram> {
    merged(part.workers.iter().filter_map(|job| pick(&job.results[direction].latency)))
}

fn check(_: &Case, part: &Part) -> Option<Finding> {
    let apart = |direction| {
        let response = all(part, direction, |latency| latency.response.as_ref())?;
        let service = all(part, direction, |latency| latency.clat.as_ref())?;
        let (late, served) = (response.percentile(AT), service.percentile(AT));
        let diverge = late as f64 >= RATIO * served as f64 && late - served >= DIFFERENCE_NS;
        (diverge && waited(&response, served) >= WAITED_MIN)
            .then_some((direction, response, service))
    };
    let found: Vec<_> = Direction::ALL.into_iter().filter_map(apart).collect();
    let (direction, response, service) =
        found.into_iter().max_by_key(|(_, response, _)| response.percentile(AT))?;
    let (late, served) = (response.percentile(AT), service.percentile(AT));
    let text = format!(
        "{} p99 is {} from the actual start but {} from the scheduled start; {} of {} I/Os responded later than twice the former",
        direction.name(),
        time(served as f64),
        time(late as f64),
        count(waited(&response, served) as f64),
        count(response.count() as f64),
    );
    let lag = part.workers.iter().flat_map(|job| &job.intervals).map(|i| i.lag_ns_max).max();
    let (cause, remedy) = reason(part, lag.unwrap_or(0));
    let figures = [
        Figure::new("completion latency p99", served as f64, "ns"),
        Figure::new("response latency p99", late as f64, "ns"),
        Figure::new("latest behind the schedule", lag.unwrap_or(0) as f64, "ns"),
    ];
    Some(
        CHECK
            .finding_for(part, Severity::Warning, text)
            .figures(figures)
            .cause(cause)
            .remedy(remedy),
    )
}

/// I/Os whose response took longer than twice this completion latency.
fn waited(response: &Histogram, served: u64) -> u64 {
    response.count() - response.count_at_most((RATIO * served as f64) as u64)
}

/// A rate that cannot be kept, or a stall that was caught up.
fn reason(part: &Part, lag: u64) -> (Sentence, Remedy) {
    match Rates::from_part(part).filter(|rates| rates.reached < KEPT_UP * rates.asked && falls_behind(part)) {
        Some(Rates { asked, reached, unit }) => (
            format!(
                "backlog: the job asks for {} and {} of it was served, so each I/O started later than the one before it, at the end {} after its schedule",
                Rates::text(asked, unit),
                percent(reached / asked),
                time(lag as f64),
            )
            .into(),
            lower([if unit == "IOPS" { "rate_iops" } else { "rate" }])
                .ending(format!("below {}", Rates::text(reached, unit)))
                .or(raise(["iodepth"]).ending("if the depth is the limit"))
                .also("use the response percentiles"),
        ),
        None => (
            format!(
                "a stall: I/Os were issued up to {} late, and completion latency does not include that wait",
                time(lag as f64)
            )
            .into(),
            (CHECK.remedy)().also("find what stalled the device"),
        ),
    }
}

/// Whether the delay grew through the whole window. A stall delays what is due after it, not before.
fn falls_behind(part: &Part) -> bool {
    let lags =
        |job: &&JobRecord| -> Vec<u64> { job.intervals.iter().map(|i| i.lag_ns_max).collect() };
    let latest = part.workers.iter().map(lags).max_by_key(|lags| lags.iter().max().copied());
    let lags = latest.unwrap_or_default();
    match (lags.get(lags.len() / 3), lags.last()) {
        (Some(early), Some(last)) if lags.len() >= LAGS_MIN => {
            *last > 0 && *early as f64 >= EARLY_LAG * *last as f64
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LATENCY, MS, findings, job, record, the_finding};
    use super::*;
    use record::Nanos;

    fn paced(stalled: u64) -> JobRecord {
        let mut job = job("paced", Direction::Read, 10);
        let mut response = Histogram::new();
        response.record_n(LATENCY + MS / 20, 10_000 - stalled);
        response.record_n(500 * MS, stalled);
        job.results[Direction::Read].latency.response = Some(response);
        // fio's rate_iops is of each direction, used or not.
        job.workload.rate_iops = record::PerDirection::all(Some(1000));
        job.intervals[3].lag_ns_max = 980 * MS;
        job
    }

    #[test]
    fn a_stall_diverges() {
        let found = the_finding(&record(vec![paced(1000)]), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("1 ms from the actual start but 50"), "{}", found.text);
        assert!(found.text.contains("1 k of 10 k I/Os"), "{}", found.text);
        assert!(found.cause.contains("up to 980 ms"), "{}", found.cause);
    }

    #[test]
    fn late_timers_do_not() {
        assert!(findings(&record(vec![paced(0)]), CHECK.id).is_empty());
        assert!(findings(&record(vec![job("free", Direction::Read, 2)]), CHECK.id).is_empty());
    }

    #[test]
    fn single_slow_ios_do_not() {
        let mut few = paced(0);
        let mut response = Histogram::new();
        response.record_n(LATENCY, 173);
        response.record_n(10 * LATENCY, 2);
        few.results[Direction::Read].latency.response = Some(response);
        assert!(findings(&record(vec![few]), CHECK.id).is_empty());
    }

    /// A job that reaches half of its rate, with a delay that grows to the end.
    fn behind() -> JobRecord {
        let mut job = paced(9000);
        job.workload.rate_iops[Direction::Read] = Some(2000);
        for (second, interval) in job.intervals.iter_mut().enumerate() {
            interval.lag_ns_max = 500 * MS * (second as u64 + 1);
        }
        job.ended = Nanos(11_000 * MS);
        job
    }

    #[test]
    fn a_rate_that_cannot_be_kept_is_a_backlog() {
        let found = the_finding(&record(vec![behind()]), CHECK.id);
        assert!(found.cause.contains("asks for 2 k IOPS and 50 % of it"), "{}", found.cause);
        assert!(found.cause.contains("at the end 10 s after"), "{}", found.cause);
        assert!(!found.cause.contains("stall"), "{}", found.cause);
    }

    #[test]
    fn so_is_a_bandwidth_that_cannot_be_kept() {
        let mut job = behind();
        let moved = job.results[Direction::Read].bytes.0 / 10;
        job.workload.rate_iops = record::PerDirection::all(None);
        job.workload.rate[Direction::Read] = Some(4 * moved);
        let found = the_finding(&record(vec![job]), CHECK.id);
        assert!(
            found.cause.starts_with("backlog") && found.cause.contains("25 %"),
            "{}",
            found.cause
        );
    }

    #[test]
    fn a_stall_near_the_end_is_no_backlog() {
        let mut job = behind();
        for interval in &mut job.intervals[..8] {
            interval.lag_ns_max = MS / 10;
        }
        let found = the_finding(&record(vec![job]), CHECK.id);
        assert!(found.cause.starts_with("a stall"), "{}", found.cause);
    }
}
