//! Are there enough samples for the percentiles?

use super::prelude::*;
use crate::metrics::latency::merged;
use crate::stats::{percentile_interval, samples_needed, supports};

pub(super) const CHECK: Check = Check {
    id: "too-few-samples",
    question: "Are there enough samples for the percentiles?",
    evidence: "number of latencies in each direction, compared with the percentiles in the report",
    threshold: "note for every percentile with too few samples for a 95 % confidence interval (order statistics)",
    reason: "a percentile depends on the samples beyond it: the p99.9 of 500 samples is their maximum, which differs in the next run",
    cause: "the run completed too few I/Os for events this rare",
    remedy: || "run longer, or use the highest percentile that has an interval".into(),
    proof: Proof::real(
        "checks/time.rs::half_a_second_is_too_short",
        "checks/time.rs::percentiles_of_many_samples_are_supported",
    ),
    function: CheckFunction::Part(check),
};

/// The direction with the fewest samples that shows percentiles.
fn check(_: &Case, part: &Part) -> Option<Finding> {
    // A program that is run is one sample.
    if !part.first().show.clat_percentiles || part.medium() == Medium::Time {
        return None;
    }
    let all = |direction| {
        let latencies = |job: &&'_ record::JobRecord| job.results[direction].latency.clat.clone();
        let histograms: Vec<Histogram> = part.workers.iter().filter_map(latencies).collect();
        Some((direction, merged(histograms.iter())?))
    };
    let (direction, fewest) =
        Direction::ALL.into_iter().filter_map(all).min_by_key(|(_, all)| all.count())?;
    let samples = fewest.count();
    let mut shown = part.first().percentiles.clone();
    shown.sort_by(f64::total_cmp);
    // The lowest percentiles are as rare as the highest, and nobody reads them for it.
    let unsupported = |p: &&f64| **p > 50.0 && **p < 100.0 && !supports(samples, **p);
    let missing: Vec<f64> = shown.iter().filter(unsupported).copied().collect();
    let rarest = *missing.last()?;
    let highest = shown.iter().rev().copied().find(|p| supports(samples, *p));
    let bound = highest.and_then(|p| Some((p, percentile_interval(&fewest, p)?)));
    let known = match bound {
        Some((p, (low, high))) => format!(
            "the highest percentile with an interval is {}, {} to {}",
            percentile(p),
            time(low as f64),
            time(high as f64)
        ),
        None => "none of the percentiles shown has an interval".into(),
    };
    let names: Vec<String> = missing.iter().map(|p| percentile(*p)).collect();
    let what = match (direction, part.medium()) {
        (Direction::Trim, Medium::Objects) => "delete",
        _ => direction.name(),
    };
    let text = format!(
        "{} {what} samples are too few for {}; {known}",
        count(samples as f64),
        list(&names)
    );
    let needed = samples_needed(rarest);
    let times = needed as f64 / samples.max(1) as f64;
    let figures = [
        Figure::new("samples", samples as f64, "count"),
        Figure::new("samples the rarest percentile needs", needed as f64, "count"),
    ];
    let remedy = format!(
        "run about {:.0} times as long ({} needs {} samples), or use {} at most",
        times.ceil(),
        percentile(rarest),
        count(needed as f64),
        highest.map_or("the mean".to_owned(), percentile),
    );
    Some(CHECK.finding_for(part, Severity::Note, text).figures(figures).remedy(remedy))
}

fn percentile(percentile: f64) -> String {
    format!("p{percentile}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, job, record, the_finding};
    use super::*;

    #[test]
    fn the_highest_percentile_that_holds_is_named() {
        let mut few = job("few", Direction::Read, 1);
        few.percentiles = vec![99.0, 99.9, 50.0, 99.99];
        let found = the_finding(&record(vec![few]), CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        assert!(
            found
                .text
                .starts_with("1 k read samples are too few for p99.9 and p99.99; the highest"),
            "{}",
            found.text
        );
        assert!(found.text.contains("is p99, 1 ms to 1 ms"), "{}", found.text);
        assert!(
            found
                .remedy
                .to_string()
                .contains("about 37 times as long (p99.99 needs 36.9 k samples)")
        );
    }

    #[test]
    fn many_samples_support_what_is_shown() {
        let many = job("many", Direction::Read, 10);
        assert!(findings(&record(vec![many.clone()]), CHECK.id).is_empty());
        let mut hidden = many;
        hidden.percentiles = vec![99.999];
        hidden.show.clat_percentiles = false;
        assert!(findings(&record(vec![hidden]), CHECK.id).is_empty());
    }
}
