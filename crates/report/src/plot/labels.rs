//! Names of dimensions, values and figures for people.

use charts::{Axis, Quantity, Tick, Unit};
use judge::Measure;
use record::human;
use suite::grid::Dimension;

/// Names of dimensions, with their units.
const LABELS: [(&str, &str); 16] = [
    ("bs", "block size (bytes)"),
    ("blocksize", "block size (bytes)"),
    ("iodepth", "queue depth (I/Os)"),
    ("numjobs", "jobs (workers)"),
    ("threads", "threads (workers)"),
    ("size", "size (bytes)"),
    ("filesize", "file size (bytes)"),
    ("file_kb", "file size (bytes)"),
    ("record_kb", "record size (bytes)"),
    ("rwmixread", "reads (%)"),
    ("rwmixwrite", "writes (%)"),
    ("rate_iops", "rate (IOPS)"),
    ("read_ahead_kb", "read-ahead (KiB)"),
    ("nr_requests", "queue of the scheduler (requests)"),
    ("fs", "filesystem"),
    ("rw", "access"),
];

/// Dimensions with values in KiB, shown as sizes.
const IN_KIB: [&str; 2] = ["file_kb", "record_kb"];

/// The name of a dimension with its unit.
fn label(name: &str) -> String {
    // An option of a single job follows the name of the job.
    let (job, option) = match name.rsplit_once('/') {
        Some((job, option)) => (Some(job), option),
        None => (None, name),
    };
    let known = LABELS.iter().find(|(known, _)| *known == option);
    let label = known.map_or(option, |(_, label)| label);
    match job {
        Some(job) => format!("{job}: {label}"),
        None => label.into(),
    }
}

/// The name of a dimension without its unit.
pub(super) fn short_label(name: &str) -> String {
    let label = label(name);
    label.split(" (").next().unwrap_or_default().to_owned()
}

/// An axis for a dimension.
pub(super) fn dimension_axis(dimension: &Dimension) -> Axis {
    let ticks = (0..dimension.values.len()).map(|value| tick(dimension, value)).collect();
    Axis { label: label(&dimension.name), ticks }
}

/// An axis with these names.
pub(super) fn name_axis(names: &[String]) -> Axis {
    let tick = |name: &String| Tick { text: name.clone(), number: None };
    Axis { label: String::new(), ticks: names.iter().map(tick).collect() }
}

/// The tick for a value of a dimension.
pub(super) fn tick(dimension: &Dimension, value: usize) -> Tick {
    let value = &dimension.values[value];
    let text = match value.number {
        Some(kib) if IN_KIB.contains(&dimension.name.as_str()) => {
            human::exact_size((kib * 1024.0) as u64)
        }
        _ if value.text.is_empty() => "–".into(),
        _ => value.text.clone(),
    };
    Tick { text, number: value.number }
}

/// The name of a measure.
pub(super) fn measure_name(measure: &Measure) -> String {
    let name = measure.name();
    if let Some((of, figure)) = name.split_once("ttfb.") {
        return format!("{}{figure} time to first byte", of.replace('.', " "));
    }
    let (of, name) = match name.split_once('.') {
        Some((of, rest)) if !of.starts_with('p') => (format!("{of} "), rest.to_owned()),
        _ => (String::new(), name),
    };
    match name.as_str() {
        "iops" => format!("{of}IOPS"),
        "bandwidth" => format!("{of}bandwidth"),
        latency => format!("{of}{latency} latency"),
    }
}

/// A measure as the quantity of a picture.
pub(crate) fn quantity(measure: &Measure) -> Quantity {
    let unit = match measure.unit() {
        "IOPS" => Unit::PerSecond,
        "bytes/s" => Unit::BytesPerSecond,
        _ => Unit::Nanoseconds,
    };
    Quantity { name: measure_name(measure), unit, more_is_better: measure.is_rate() }
}
