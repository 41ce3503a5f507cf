//! The result of fio's steady state detection.

use super::error::ImportError;
use super::reader::Object;
use record::{Nanos, SteadyResult, SteadySample};
use serde_json::Value;

/// Names of fio's criteria.
const CRITERIA: [&str; 6] = ["iops", "iops_slope", "bw", "bw_slope", "lat", "lat_slope"];

/// Reads the result of an entry; `None` when the job did not ask for detection.
pub(super) fn read(entry: Object) -> Result<Option<SteadyResult>, ImportError> {
    let found = entry.at("steadystate");
    let Some((criterion, limit)) = found.text("ss").split_once(':') else {
        return match found.value {
            Value::Null => Ok(None),
            _ => Err(found.wrong("ss", "a criterion and its limit")),
        };
    };
    if !CRITERIA.contains(&criterion) {
        return Err(found.wrong("ss", "a criterion that is known"));
    }
    let samples = samples(found.at("data"))?;
    let seconds = found.count("duration")?;
    let duration = Nanos(seconds.saturating_mul(Nanos::SECOND.0));
    Ok(Some(SteadyResult {
        criterion: criterion.to_owned(),
        limit: number(limit),
        percent: limit.ends_with('%'),
        duration,
        // fio prints as many samples as fit into the window.
        interval: Nanos(duration.0 / samples.len().max(1) as u64),
        attained: found.count("attained")? == 1,
        value: number(found.text("criterion")),
        deviation: found.real("max_deviation")?,
        slope: found.value["slope"].as_f64().unwrap_or(0.0),
        samples: without_unused(samples),
    }))
}

/// The number in "4.621922%"; 0 for the "nan" that fio prints before a window is complete.
fn number(text: &str) -> f64 {
    let number: f64 = text.trim_end_matches('%').parse().unwrap_or(0.0);
    if number.is_finite() { number } else { 0.0 }
}

fn samples(data: Object) -> Result<Vec<SteadySample>, ImportError> {
    let series = |key: &str| data.value[key].as_array().map_or(&[][..], Vec::as_slice);
    let [iops, bandwidth, latency] = ["iops", "bw", "lat"].map(series);
    let one = |index: usize| {
        let value_in =
            |series: &[Value]| series.get(index).map_or(Ok(0.0), |v| data.number("data", v));
        Ok(SteadySample {
            iops: value_in(iops)?,
            bytes_per_second: value_in(bandwidth)?,
            latency_ns: value_in(latency)?,
        })
    };
    (0..iops.len().max(bandwidth.len())).map(one).collect()
}

/// Drops the zeros that fio prints for samples not yet taken.
fn without_unused(mut samples: Vec<SteadySample>) -> Vec<SteadySample> {
    let taken = samples.iter().rposition(|s| s.iops > 0.0 || s.bytes_per_second > 0.0);
    samples.truncate(taken.map_or(0, |last| last + 1));
    samples
}
