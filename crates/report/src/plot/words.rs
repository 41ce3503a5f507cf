//! What is written on a picture.

use super::{Plot, Request, Source};
use crate::when;
use charts::{Axis, Tick, Words};
use judge::Measure;
use record::human;
use suite::grid::{Dimension, Reading};

/// Names of dimensions for people, with their units.
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

/// Dimensions whose values are KiB and are shown as sizes.
const IN_KIB: [&str; 2] = ["file_kb", "record_kb"];

/// The name of a dimension with its unit.
fn label(name: &str) -> String {
    // An option of one job only has its name before it.
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

/// The same without its unit.
pub(super) fn short(name: &str) -> String {
    let label = label(name);
    label.split(" (").next().unwrap_or_default().to_owned()
}

/// A dimension as an axis.
pub(super) fn axis(dimension: &Dimension) -> Axis {
    let ticks = (0..dimension.values.len()).map(|value| tick(dimension, value)).collect();
    Axis { label: label(&dimension.name), ticks }
}

/// Names as an axis.
pub(super) fn axis_of_names(names: &[String]) -> Axis {
    let tick = |name: &String| Tick { text: name.clone(), number: None };
    Axis { label: String::new(), ticks: names.iter().map(tick).collect() }
}

/// One of the values of a dimension.
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

/// A figure for people.
pub(super) fn of_measure(measure: &Measure) -> String {
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

/// All words around a picture.
pub(super) fn of(plot: &Plot, sources: &[Source], request: &Request, measure: &Measure) -> Words {
    let title = request.title.clone().unwrap_or_else(|| title(plot, measure));
    let fixed = fixed(plot, sources);
    let subtitle = fixed.into_iter().chain(runs(plot)).collect::<Vec<_>>().join("; ");
    Words { title, subtitle, source: source(sources) }
}

/// "IOPS by block size and queue depth".
fn title(plot: &Plot, measure: &Measure) -> String {
    let shape = &plot.shape;
    let dimensions = [shape.y, shape.x, shape.series].into_iter().flatten();
    let names: Vec<String> =
        dimensions.map(|dimension| short(&plot.dimensions[dimension].name)).collect();
    let by = match &names[..] {
        [] => String::new(),
        [one] => format!(" by {one}"),
        [all @ .., last] => format!(" by {} and {last}", all.join(", ")),
    };
    let figure = of_measure(measure);
    let mut letters = figure.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    // Percentiles are written small.
    match figure.starts_with('p') {
        true => format!("{figure}{by}"),
        false => format!("{}{}{by}", first.unwrap_or_default(), letters.as_str()),
    }
}

/// What all figures have in common: "rw=randread, scheduler=none".
fn fixed(plot: &Plot, sources: &[Source]) -> Option<String> {
    let shape = &plot.shape;
    let is_drawn = |index: usize| [shape.x, shape.y, shape.series].contains(&Some(index));
    let text = |(index, dimension): (usize, &Dimension)| {
        let value = &dimension.values.get(shape.fixed[index])?.text;
        // Where each source has a value of its own, none is that of all.
        let own =
            |source: &Source| source.dimensions.iter().find(|d| d.name == dimension.name).cloned();
        let is_common =
            sources.iter().filter_map(own).all(|d| d.values.iter().any(|v| v.text == *value));
        (!is_drawn(index) && is_common).then(|| format!("{}={value}", dimension.name))
    };
    let all: Vec<String> = plot.dimensions.iter().enumerate().filter_map(text).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// How often each figure was measured: "3 runs each".
fn runs(plot: &Plot) -> Option<String> {
    let readings = plot.grids.iter().flat_map(|grid| grid.readings());
    let counts =
        readings.filter_map(|(_, reading): (_, &Reading)| Some(reading.measured()?.values.len()));
    let (least, most) = counts.fold((usize::MAX, 0), |(a, b), n| (a.min(n), b.max(n)));
    match (least, most) {
        (_, 0) => None,
        (1, 1) => Some("one run each: no intervals".into()),
        (least, most) if least == most => Some(format!("{most} runs each")),
        (least, most) => Some(format!("{least} to {most} runs each")),
    }
}

/// Where the figures come from.
fn source(sources: &[Source]) -> String {
    // What is in an archive is in no file of its own.
    let files = sources.iter().map(|source| source.file.as_str()).filter(|file| !file.is_empty());
    let files: Vec<&str> = files.collect();
    let runs = || sources.iter().flat_map(|source| &source.set.runs);
    let mut hosts: Vec<&str> = runs().map(|run| run.facts.hostname.as_str()).collect();
    hosts.retain(|host| !host.is_empty());
    hosts.sort_unstable();
    hosts.dedup();
    let day = runs().map(|run| &run.invocation).find(|call| call.started_unix_ms > 0);
    let day = day.map(|call| when::day(call.started_unix_ms, call.utc_offset_seconds));
    let version = sources.first().map_or("", |source| source.set.fathom_version.as_str());
    let made = format!("fathom {version}").trim().to_owned();
    let host = (!hosts.is_empty()).then(|| format!("on {}", hosts.join(", ")));
    let parts = [Some(made), host, day].into_iter().flatten();
    let made = parts.collect::<Vec<_>>().join(" ");
    if files.is_empty() { made } else { format!("{made}: {}", files.join(", ")) }
}
