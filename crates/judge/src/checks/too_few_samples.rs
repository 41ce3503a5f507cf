//! Do the percentiles rest on enough samples?

use super::check::{Check, How, Look, Proof};
use super::words::{list, number, percentile, time};
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use crate::metrics::latency::merged;
use crate::stats::{percentile_interval, samples_needed, supports};
use record::{Direction, Histogram, Medium, Severity};

pub(super) const CHECK: Check = Check {
    id: "too-few-samples",
    question: "Do the percentiles rest on enough samples?",
    evidence: "number of latencies in each direction, against the percentiles the report shows",
    threshold: "note for every percentile beyond which too few samples lie for a 95 % interval by order statistics",
    reason: "a percentile is found by counting what lies beyond it: the p99.9 of 500 samples is their maximum, and the next run's is another one",
    cause: "the run completed too few I/Os for so rare an event",
    remedy: || "run longer, or read the highest percentile that has an interval".into(),
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks/time.rs::half_a_second_is_too_short",
        silent: "crates/cli/tests/checks/time.rs::percentiles_of_many_samples_are_supported",
    },
    look: Look::Run(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(about).collect()
}

/// The direction with the fewest samples that shows percentiles.
fn about(part: &Part) -> Option<Finding> {
    // A program that is run is one sample.
    if !part.first().show.clat_percentiles || part.medium() == Medium::Time {
        return None;
    }
    let all = |direction| {
        let of = |job: &&'_ record::JobRecord| job.results[direction].latency.clat.clone();
        let histograms: Vec<Histogram> = part.workers.iter().filter_map(of).collect();
        Some((direction, merged(histograms.iter())?))
    };
    let (direction, fewest) =
        Direction::ALL.into_iter().filter_map(all).min_by_key(|(_, all)| all.count())?;
    let count = fewest.count();
    let mut shown = part.first().percentiles.clone();
    shown.sort_by(f64::total_cmp);
    // The lowest percentiles are as rare as the highest, and nobody reads them for it.
    let unsupported = |p: &&f64| **p > 50.0 && **p < 100.0 && !supports(count, **p);
    let missing: Vec<f64> = shown.iter().filter(unsupported).copied().collect();
    let rarest = *missing.last()?;
    let highest = shown.iter().rev().copied().find(|p| supports(count, *p));
    let bound = highest.and_then(|p| Some((p, percentile_interval(&fewest, p)?)));
    let known = match bound {
        Some((p, (low, high))) => format!(
            "the highest one with an interval is {}, {} to {}",
            percentile(p),
            time(low as f64),
            time(high as f64)
        ),
        None => "none of those shown has an interval".into(),
    };
    let names: Vec<String> = missing.iter().map(|p| percentile(*p)).collect();
    let what = match (direction, part.medium()) {
        (Direction::Trim, Medium::Objects) => "delete",
        _ => direction.name(),
    };
    let text = format!(
        "{what} {} of {} samples {} chance; {known}",
        list(&names),
        number(count as f64),
        if names.len() == 1 { "is" } else { "are" },
    );
    let needed = samples_needed(rarest);
    let times = needed as f64 / count.max(1) as f64;
    Some(Finding {
        figures: vec![
            Figure::new("samples", count as f64, "count"),
            Figure::new("samples the rarest percentile needs", needed as f64, "count"),
        ],
        remedy: format!(
            "run about {:.0} times as long: {} takes {} samples; or read {} at most",
            times.ceil(),
            percentile(rarest),
            number(needed as f64),
            highest.map_or("the mean".to_owned(), percentile),
        )
        .into(),
        ..CHECK.about(part, Severity::Note, text)
    })
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
                .starts_with("read p99.9 and p99.99 of 1.0 k samples are chance; the highest"),
            "{}",
            found.text
        );
        assert!(found.text.contains("is p99, 1.0 ms to 1.0 ms"), "{}", found.text);
        assert!(
            found
                .remedy
                .to_string()
                .contains("about 37 times as long: p99.99 takes 36.9 k samples")
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
