//! How latencies were distributed over whole runs.

use super::named::{LINES_MAX, NamedPicture, cut, labels, numbered, words};
use crate::judged_set::JudgedSet;
use charts::{PercentileCurve, Quantity, Unit};
use judge::{LatencyCurve, Operation, latency_curves as judged};

const READING: &str = "At 99: one I/O of 100 took longer than the curve shows; at 99.9 one of 1000. A \
    step is where another kind of I/O begins.";

/// A curve for each direction of each job, and for each kind of its requests.
pub(super) fn curves(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let all: Vec<(String, LatencyCurve)> = judged_sets
        .iter()
        .flat_map(|judged_set| {
            judged(&judged_set.set).into_iter().map(|c| (judged_set.name.clone(), c))
        })
        .filter(|(_, curve)| curve.points.len() > 1)
        .collect();
    if all.is_empty() {
        return Vec::new();
    }
    let parts: Vec<[String; 3]> = all
        .iter()
        .map(|(judged_set, curve)| {
            let operation = match curve.operation {
                Operation::Request(_) => format!("{} {}", curve.operation.name(), curve.latency),
                _ => curve.operation.name().to_owned(),
            };
            [judged_set.clone(), curve.job.clone(), operation]
        })
        .collect();
    let drawn = |(name, (_, curve)): (String, &(String, LatencyCurve))| PercentileCurve {
        name,
        points: curve.points.clone(),
        intervals: curve.intervals.iter().map(|(p, e)| (*p, e.low, e.high)).collect(),
    };
    let drawn: Vec<PercentileCurve> =
        labels(&parts).into_iter().zip(&all).take(LINES_MAX).map(drawn).collect();
    let latencies: Vec<&str> = all.iter().map(|(_, curve)| curve.latency).collect();
    let is_alike = latencies.iter().all(|latency| *latency == latencies[0]);
    let name = if is_alike { format!("{} latency", latencies[0]) } else { "latency".into() };
    let quantity = Quantity { name, unit: Unit::Nanoseconds, more_is_better: false };
    let words = words("How latencies were distributed", &cut(all.len()), judged_sets);
    numbered("percentiles", vec![charts::percentile_curves(&words, &quantity, &drawn)], READING)
}
