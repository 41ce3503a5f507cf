//! The latencies of a direction.

use super::error::ImportError;
use super::reader::{Object, wrong};
use record::{Direction, Histogram, PrintedLatency};
use serde_json::Value;
use std::str::FromStr;

/// The kinds of latency that fio prints for a direction.
pub(super) const KINDS: [&str; 3] = ["slat_ns", "clat_ns", "lat_ns"];

/// One distribution; `None` when it holds no value.
pub(super) fn read(latency: Object) -> Result<Option<Histogram>, ImportError> {
    let count = latency.count("N")?;
    if count == 0 {
        return Ok(None);
    }
    let printed = PrintedLatency {
        count,
        min: latency.count("min")?,
        max: latency.count("max")?,
        mean: latency.real("mean")?,
        stddev: latency.real("stddev")?,
        percentiles: pairs(latency, "percentile")?,
        bins: pairs::<u64>(latency, "bins")?,
    };
    latency.add_to_sum(printed.mean * count as f64)?;
    if printed.min > printed.max || printed.mean > printed.max as f64 + 1.0 {
        return Err(latency.wrong("max", "no less than min and mean"));
    }
    Ok(Some(Histogram::of_printed(&printed)))
}

/// The pairs of an object whose keys are numbers.
fn pairs<K: FromStr>(latency: Object, key: &str) -> Result<Vec<(K, u64)>, ImportError> {
    let Some(pairs) = latency.value[key].as_object() else { return Ok(Vec::new()) };
    let pair = |name: &String| match name.parse() {
        Ok(number) => Ok((number, latency.at(key).count(name)?)),
        Err(_) => Err(wrong(latency.job, key, &Value::from(name.as_str()), "numbers as keys")),
    };
    pairs.keys().map(pair).collect()
}

/// Every distribution of an entry that shows percentiles.
pub(super) fn tables(entry: &Value) -> impl Iterator<Item = &Value> {
    let latencies_in = move |direction: Direction| KINDS.map(|kind| &entry[direction.name()][kind]);
    Direction::ALL.into_iter().flat_map(latencies_in)
}

/// Whether an entry holds whole distributions rather than percentiles alone.
pub(super) fn has_bins(entry: &Value) -> bool {
    tables(entry).chain([&entry["sync"]["lat_ns"]]).any(|table| table["bins"].is_object())
}

/// The percentiles that an entry shows, each once, rising.
pub(super) fn percentiles(entry: &Value) -> Vec<f64> {
    let keys = tables(entry).filter_map(|table| table["percentile"].as_object());
    let mut shown: Vec<f64> =
        keys.flat_map(|object| object.keys()).filter_map(|key| key.parse().ok()).collect();
    shown.retain(|percentile| (0.0..=100.0).contains(percentile));
    shown.sort_by(f64::total_cmp);
    shown.dedup();
    shown
}

/// Whether the tables of one kind show percentiles.
pub(super) fn shows(entry: &Value, kind: &str) -> bool {
    Direction::ALL.into_iter().any(|direction| {
        let table = &entry[direction.name()][kind];
        table["percentile"].is_object() || table["bins"].is_object()
    })
}
