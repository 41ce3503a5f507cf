//! Was the run long enough?

use super::prelude::*;
use crate::metrics::series::{Slot, slots};
use crate::stats::{mean, variance};

/// Intervals a window must hold before anything can be said of its steadiness.
const INTERVALS_MIN: u64 = 5;
/// Intervals a job without a ramp must have for its first to be compared with the rest.
const SLOTS_MIN: usize = 8;
/// Change from the first interval to the rest, as a share of the rest …
const START_DIFFERS: f64 = 0.2;
/// … and in standard deviations of the rest.
const DEVIATIONS: f64 = 4.0;

pub(super) const CHECK: Check = Check {
    id: "too-short",
    question: "Was the run long enough?",
    evidence: "length of the measured window, compared with its intervals; the first interval of a job without a ramp, compared with the others",
    threshold: "note when the window is shorter than 5 intervals, or when the first interval of a job without a ramp differs from the others by 20 % and 4 standard deviations",
    reason: "with fewer than 5 intervals a change during the run cannot be distinguished from noise; caches and queues behave differently while they fill",
    cause: "the run ended before it settled",
    remedy: || {
        let settled = set("runtime", 30).and(set("time_based", 1)).and(set("ramp_time", 5));
        settled.also("writes to flash need minutes")
    },
    proof: Proof::real(
        "checks/time.rs::half_a_second_is_too_short",
        "checks/time.rs::a_run_of_enough_intervals_is_not_too_short",
    ),
    function: CheckFunction::Part(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    // The length of a computation or of a program is no choice of the job.
    let does_io = part.medium() != Medium::Time;
    does_io.then(|| window(case, part).or_else(|| start(part))).flatten()
}

fn window(case: &Case, part: &Part) -> Option<Finding> {
    let step = part.first().interval_step.0;
    // A worker's window may begin within one interval and end within the tenth of another.
    if step == 0 || part.length().0 + step / 10 >= INTERVALS_MIN * step {
        return None;
    }
    let text = format!(
        "the measured window is {} ({} I/Os), shorter than {INTERVALS_MIN} intervals of {}: the run does not show whether the figure is sustained",
        time(part.length().0 as f64),
        count(part.all_ios() as f64),
        time(step as f64),
    );
    let workload = &part.first().workload;
    let by_size = !workload.time_based && workload.io_size.is_some();
    let ended_by_error = part.workers.iter().any(|job| job.error != 0);
    let cause = match (workload.runtime, by_size) {
        _ if ended_by_error => "an error ended the job".into(),
        _ if case.record.interrupted_by.is_some() => "the run was interrupted".into(),
        (Some(runtime), false) => format!("runtime is {}", time(runtime.0 as f64)),
        _ => "the job ended after it moved its size".into(),
    };
    let remedy = match ended_by_error {
        true => "remove the cause of the error and run again".into(),
        false => (CHECK.remedy)(),
    };
    let figures = [Figure::new("measured window", part.length().0 as f64, "ns")];
    Some(CHECK.finding_for(part, Severity::Note, text).figures(figures).cause(cause).remedy(remedy))
}

/// A start unlike the rest, which a ramp would have left out.
fn start(part: &Part) -> Option<Finding> {
    let slots = slots(&part.workers, &Direction::ALL);
    if part.first().workload.ramp.0 > 0 || slots.len() < SLOTS_MIN {
        return None;
    }
    let (first, rest) = slots.split_first()?;
    let rates: Vec<f64> = rest.iter().map(Slot::iops).collect();
    let (mean, deviation) = (mean(&rates), variance(&rates).sqrt());
    let apart = first.iops() - mean;
    if mean <= 0.0 || apart.abs() < START_DIFFERS * mean || apart.abs() < DEVIATIONS * deviation {
        return None;
    }
    let text = format!(
        "the first {} ran at {} IOPS, the rest at {}: the start is {} {}, and the figures include it",
        time(first.length as f64),
        count(first.iops()),
        count(mean),
        percent(apart.abs() / mean),
        if apart > 0.0 { "faster" } else { "slower" },
    );
    let figures = [
        Figure::new("first interval", first.iops(), "IOPS"),
        Figure::new("the others", mean, "IOPS"),
    ];
    let cause = "caches, queues and frequencies settle at the start of a run";
    let remedy = set("ramp_time", (2.0 * first.length as f64 / 1e9).ceil());
    Some(CHECK.finding_for(part, Severity::Note, text).figures(figures).cause(cause).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MS, findings, job, record, the_finding};
    use super::*;
    use record::Nanos;

    #[test]
    fn five_intervals_are_enough() {
        let mut short = job("short", Direction::Read, 3);
        assert!(findings(&record(vec![short.clone()]), CHECK.id).is_empty());
        short.ended = Nanos(short.started.0 + 800 * MS);
        let found = the_finding(&record(vec![short]), CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        assert!(found.text.contains("window is 800 ms"), "{}", found.text);
    }

    #[test]
    fn a_job_that_an_error_ended_did_not_move_its_size() {
        let mut refused = job("talk", Direction::Write, 3);
        refused.ended = refused.started;
        (refused.workload.runtime, refused.error) = (None, 111);
        let mut run = record(vec![refused]);
        assert_eq!(the_finding(&run, CHECK.id).cause, "an error ended the job");
        run.jobs[0].error = 0;
        run.interrupted_by = Some(2);
        assert_eq!(the_finding(&run, CHECK.id).cause, "the run was interrupted");
    }

    #[test]
    fn a_start_unlike_the_rest_asks_for_a_ramp() {
        let mut job = job("cold", Direction::Read, 10);
        job.intervals[0].ios[Direction::Read] /= 2;
        assert!(findings(&record(vec![job.clone()]), CHECK.id).is_empty(), "it has a ramp");
        job.workload.ramp = Nanos(0);
        let found = the_finding(&record(vec![job]), CHECK.id);
        assert!(found.text.contains("50 % slower"), "{}", found.text);
        assert_eq!(found.remedy.to_string(), "use --ramp_time=1");
    }
}
