//! What fio found when it watched for a steady state.

use super::ImportError;
use super::reader::{Reader, text, wrong};
use record::{Nanos, SteadyResult, SteadySample};
use serde_json::Value;

/// Names of fio's criteria.
const CRITERIA: [&str; 6] = ["iops", "iops_slope", "bw", "bw_slope", "lat", "lat_slope"];

/// What an entry tells of it; `None` where nothing was watched for.
pub(super) fn read(
    reader: &Reader,
    job: &str,
    entry: &Value,
) -> Result<Option<SteadyResult>, ImportError> {
    let found = &entry["steadystate"];
    let Some((criterion, limit)) = text(&found["ss"]).split_once(':') else {
        return match found {
            Value::Null => Ok(None),
            _ => Err(wrong(job, "ss", &found["ss"], "a criterion and its limit")),
        };
    };
    if !CRITERIA.contains(&criterion) {
        return Err(wrong(job, "ss", &found["ss"], "a criterion that is known"));
    }
    let samples = samples(reader, job, &found["data"])?;
    let seconds = reader.count(job, found, "duration")?;
    let duration = Nanos(seconds.saturating_mul(Nanos::SECOND.0));
    Ok(Some(SteadyResult {
        criterion: criterion.to_owned(),
        limit: number(limit),
        percent: limit.ends_with('%'),
        duration,
        // fio has as many places as fit into the window.
        interval: Nanos(duration.0 / samples.len().max(1) as u64),
        attained: reader.count(job, found, "attained")? == 1,
        value: number(text(&found["criterion"])),
        deviation: reader.real(job, found, "max_deviation")?,
        slope: found["slope"].as_f64().unwrap_or(0.0),
        samples: begun(samples),
    }))
}

/// "4.621922%": without a whole window fio has none, and may write that as "nan".
fn number(text: &str) -> f64 {
    let number: f64 = text.trim_end_matches('%').parse().unwrap_or(0.0);
    if number.is_finite() { number } else { 0.0 }
}

fn samples(reader: &Reader, job: &str, data: &Value) -> Result<Vec<SteadySample>, ImportError> {
    let series = |key: &str| data[key].as_array().map_or(&[][..], Vec::as_slice);
    let [iops, bandwidth, latency] = ["iops", "bw", "lat"].map(series);
    let one = |index: usize| {
        let of =
            |series: &[Value]| series.get(index).map_or(Ok(0.0), |v| reader.number(job, "data", v));
        Ok(SteadySample {
            iops: of(iops)?,
            bytes_per_second: of(bandwidth)?,
            latency_ns: of(latency)?,
        })
    };
    (0..iops.len().max(bandwidth.len())).map(one).collect()
}

/// Those that were taken: what a window lacks fio fills with zeros.
fn begun(mut samples: Vec<SteadySample>) -> Vec<SteadySample> {
    let taken = samples.iter().rposition(|s| s.iops > 0.0 || s.bytes_per_second > 0.0);
    samples.truncate(taken.map_or(0, |last| last + 1));
    samples
}
