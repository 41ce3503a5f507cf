//! Did the figures stay the same throughout the run?

use super::prelude::*;
use crate::metrics::series::{Slot, slots};
use crate::stats::{change_points, mean, median, trend};

/// Changes of the rate from which it is a note, and a warning.
const RATE: [f64; 2] = [0.10, 0.20];
/// The same of the latency, which varies more.
const LATENCY: [f64; 2] = [0.20, 0.40];
/// Intervals that show a course.
const SLOTS_MIN: usize = 10;

pub(super) const CHECK: Check = Check {
    id: "not-steady",
    question: "Did the figures stay the same throughout the run?",
    evidence: "IOPS and mean latency of each interval: change points and trend",
    threshold: "with at least 10 intervals: note when IOPS changed by 10 % between two levels or drifted by that much, warning from 20 %; for latency alone note from 20 %, warning from 40 %",
    reason: "the mean of a burst and of the time after it is a figure that the device never has; SNIA's rule for steady state allows 20 % in total",
    cause: "the device, or a limit on it, changed during the run",
    remedy: || {
        "exclude the burst with `ramp_time`, and run long enough to see the sustained figure".into()
    },
    proof: Proof::real(
        "checks/time.rs::a_throttle_in_the_middle_of_a_run_is_not_steady",
        "checks/time.rs::a_run_of_enough_intervals_is_not_too_short",
    ),
    function: CheckFunction::Part(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    let slots = slots(&part.workers, &Direction::ALL);
    if slots.len() < SLOTS_MIN {
        return None;
    }
    let rates: Vec<f64> = slots.iter().map(Slot::iops).collect();
    // A job with a rate keeps it on a slower device; only its latency changes. Where no device answers and
    // workers mostly wait for a CPU, the few I/Os in which they do make the mean of an interval.
    let waits = part.metrics.cpu.run_delay.is_some_and(|percent| percent >= 50.0);
    let is_of_cpus = part.devices.is_empty() && waits;
    let latencies: Option<Vec<f64>> =
        if is_of_cpus { None } else { slots.iter().map(Slot::latency).collect() };
    // What arrives at random times comes in bursts of its own.
    let of_rate = if part.has_random_arrivals() { None } else { Course::from_values(&rates, RATE) };
    let course = of_rate.map(|course| (course, Series::Rate)).or_else(|| {
        let course = Course::from_values(&latencies?, LATENCY)?;
        Some((course, Series::Latency))
    });
    let (course, series) = course?;
    let when = course.at.map(|index| slots[index].start.saturating_sub(part.from.0));
    Some(finding(case, part, &course, series, when))
}

/// What changed.
#[derive(Clone, Copy, PartialEq)]
enum Series {
    Rate,
    Latency,
}

impl Series {
    fn show(self, value: f64) -> String {
        match self {
            Series::Rate => format!("{} IOPS", count(value)),
            Series::Latency => time(value),
        }
    }
}

/// How a series went.
struct Course {
    before: f64,
    after: f64,
    /// Where the second level began; `None` for a drift.
    at: Option<usize>,
    change: f64,
    severity: Severity,
}

impl Course {
    /// The largest step between two levels, or the drift where there is none; `None` for a series
    /// that stays within the first of the limits.
    fn from_values(values: &[f64], limits: [f64; 2]) -> Option<Course> {
        Course::step(values, limits).or_else(|| Course::drift(values, limits))
    }

    fn step(values: &[f64], limits: [f64; 2]) -> Option<Course> {
        let points = change_points(values);
        let bounds: Vec<usize> =
            std::iter::once(0).chain(points).chain(std::iter::once(values.len())).collect();
        // A hiccup within a level is in the percentiles; it does not move the median.
        let level = |range: &[usize]| median(&values[range[0]..range[1]]);
        let levels = bounds.windows(3);
        let steps = levels
            .filter_map(|b| Course::between(level(&b[..2]), level(&b[1..]), Some(b[1]), limits));
        steps.max_by(|a, b| a.change.abs().total_cmp(&b.change.abs()))
    }

    fn drift(values: &[f64], limits: [f64; 2]) -> Option<Course> {
        let trend = trend(values);
        if !trend.significant {
            return None;
        }
        let middle = mean(values);
        let half = trend.slope_per_step * (values.len() - 1) as f64 / 2.0;
        Course::between((middle - half).max(0.0), (middle + half).max(0.0), None, limits)
    }

    fn between(before: f64, after: f64, at: Option<usize>, limits: [f64; 2]) -> Option<Course> {
        let change = (after - before) / before.max(after).max(f64::MIN_POSITIVE);
        let [note, warning] = limits;
        if change.abs() < note {
            return None;
        }
        let severity = if change.abs() < warning { Severity::Note } else { Severity::Warning };
        Some(Course { before, after, at, change, severity })
    }
}

fn finding(
    case: &Case,
    part: &Part,
    course: &Course,
    series: Series,
    when: Option<u64>,
) -> Finding {
    let what = if series == Series::Rate { "the rate" } else { "the mean latency" };
    let verb = if course.after < course.before { "fell" } else { "rose" };
    let how = match when {
        Some(ns) => format!("{verb} after {}", time(ns as f64)),
        None => format!("{verb} throughout the run"),
    };
    let text = format!(
        "{what} {how}, from {} to {} ({}): the mean over the run shows neither level",
        series.show(course.before),
        series.show(course.after),
        percent(course.change.abs()),
    );
    let unit = if series == Series::Rate { "IOPS" } else { "ns" };
    let mut figures =
        vec![Figure::new("before", course.before, unit), Figure::new("after", course.after, unit)];
    figures.extend(when.map(|ns| Figure::new("changed after", ns as f64, "ns")));
    let worse = (course.after < course.before) == (series == Series::Rate);
    let remedy = match when {
        Some(ns) => {
            let confirm = format!(
                "and run longer to confirm the sustained figure of {}",
                series.show(course.after)
            );
            set("ramp_time", (ns as f64 / 1e9).ceil()).ending(confirm)
        }
        None => {
            "run until the rate settles, or precondition the device (fathom precondition)".into()
        }
    };
    let cause = cause(case, part, worse);
    CHECK.finding_for(part, course.severity, text).figures(figures).cause(cause).remedy(remedy)
}

fn cause(case: &Case, part: &Part, worse: bool) -> Sentence {
    let limits = &case.record.facts.environment.cgroup.io_max;
    let disks: Vec<&str> = case.disks_of(part).iter().map(|disk| disk.dev.as_str()).collect();
    let limited: Vec<&str> =
        limits.keys().map(String::as_str).filter(|dev| disks.contains(dev)).collect();
    if !limited.is_empty() {
        return format!("the control group limits {} (io.max, blkio.throttle)", list(&limited))
            .into();
    }
    match (worse, part.bytes(Direction::Write) > 0) {
        (false, _) => "a cache warmed up, or a disturbance at the start of the run ended".into(),
        (true, true) => "a write cache filled up, the flash ran out of erased blocks, or a limit took hold (burst credit, control group, heat)".into(),
        (true, false) => "a limit took hold (burst credit, control group, heat), or something else began to use the device".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, job, record, the_finding};
    use super::*;
    use record::JobRecord;

    /// A job of 10 s whose intervals have these shares of its pace.
    fn paced(share: impl Fn(usize) -> f64) -> JobRecord {
        let mut job = job("job", Direction::Write, 10);
        for (index, interval) in job.intervals.iter_mut().enumerate() {
            // Not all alike, as nothing is.
            let share = share(index) * (1.0 + 0.01 * (index % 3) as f64);
            let ios = &mut interval.ios[Direction::Write];
            *ios = (*ios as f64 * share) as u64;
            interval.clat_ns_sum[Direction::Write] = *ios * super::super::testing::LATENCY;
        }
        job
    }

    #[test]
    fn a_burst_is_told_from_what_is_sustained() {
        let burst = paced(|index| if index < 8 { 1.0 } else { 0.3 });
        let found = the_finding(&record(vec![burst]), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("fell after 4 s, from 1.01 k IOPS to 30"), "{}", found.text);
        assert!(found.remedy.to_string().contains("--ramp_time=4"), "{}", found.remedy);
        assert!(found.cause.contains("write cache"), "{}", found.cause);
        let small = paced(|index| if index < 8 { 1.0 } else { 0.85 });
        assert_eq!(the_finding(&record(vec![small]), CHECK.id).severity, Severity::Note);
    }

    #[test]
    fn arrivals_at_random_are_no_change_of_the_rate() {
        let mut job = paced(|index| 1.0 + 0.03 * index as f64);
        assert!(!findings(&record(vec![job.clone()]), CHECK.id).is_empty());
        job.workload.settings.insert("rate_process".into(), "poisson".into());
        assert!(findings(&record(vec![job]), CHECK.id).is_empty());
    }

    #[test]
    fn a_drift_is_told_without_a_moment() {
        let found = the_finding(&record(vec![paced(|i| 1.0 - 0.03 * i as f64)]), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
    }

    #[test]
    fn latency_tells_where_the_rate_is_kept() {
        let mut job = paced(|_| 1.0);
        for interval in &mut job.intervals[10..] {
            interval.clat_ns_sum[Direction::Write] *= 3;
        }
        let found = the_finding(&record(vec![job]), CHECK.id);
        assert!(found.text.contains("latency rose after 5 s, from 1 ms to 3 ms"), "{found:?}");
    }

    #[test]
    fn an_even_run_and_one_hiccup_are_steady() {
        assert!(findings(&record(vec![paced(|_| 1.0)]), CHECK.id).is_empty());
        let hiccup = paced(|index| if index == 9 { 0.2 } else { 1.0 });
        assert_eq!(findings(&record(vec![hiccup]), CHECK.id), []);
        let short = paced(|index| if index < 8 { 1.0 } else { 0.3 });
        let mut short = short;
        short.intervals.truncate(9);
        assert!(findings(&record(vec![short]), CHECK.id).is_empty());
    }
}
