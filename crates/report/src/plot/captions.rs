//! Title, subtitle and source of a picture.

use super::content::PlotContent;
use super::labels::{measure_name, short_label};
use super::request::Request;
use super::source::Source;
use charts::Words;
use judge::Measure;
use record::{date, human};
use suite::grid::{Dimension, Reading};

/// The words around a picture.
pub(super) fn words(
    plot: &PlotContent,
    sources: &[Source],
    request: &Request,
    measure: &Measure,
) -> Words {
    let title = request.title.clone().unwrap_or_else(|| title(plot, measure));
    let fixed = fixed(plot, sources);
    let subtitle = fixed.into_iter().chain(runs(plot)).collect::<Vec<_>>().join("; ");
    Words { title, subtitle, source: source(sources) }
}

/// "IOPS by block size and queue depth".
fn title(plot: &PlotContent, measure: &Measure) -> String {
    let shape = &plot.shape;
    let dimensions = [shape.y, shape.x, shape.series].into_iter().flatten();
    let names: Vec<String> =
        dimensions.map(|dimension| short_label(&plot.dimensions[dimension].name)).collect();
    let by = if names.is_empty() { String::new() } else { format!(" by {}", human::list(&names)) };
    let figure = measure_name(measure);
    let mut letters = figure.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    // "p99" keeps its small letter.
    match figure.starts_with('p') {
        true => format!("{figure}{by}"),
        false => format!("{}{}{by}", first.unwrap_or_default(), letters.as_str()),
    }
}

/// The values that all figures share: "rw=randread, scheduler=none".
fn fixed(plot: &PlotContent, sources: &[Source]) -> Option<String> {
    let shape = &plot.shape;
    let is_drawn = |index: usize| [shape.x, shape.y, shape.series].contains(&Some(index));
    let text = |(index, dimension): (usize, &Dimension)| {
        let value = &dimension.values.get(shape.fixed[index])?.text;
        // A value of one source alone is not shared.
        let own =
            |source: &Source| source.dimensions.iter().find(|d| d.name == dimension.name).cloned();
        let is_common =
            sources.iter().filter_map(own).all(|d| d.values.iter().any(|v| v.text == *value));
        (!is_drawn(index) && is_common).then(|| format!("{}={value}", dimension.name))
    };
    let all: Vec<String> = plot.dimensions.iter().enumerate().filter_map(text).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The number of runs behind each figure: "3 runs each".
fn runs(plot: &PlotContent) -> Option<String> {
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

/// The program, host, day and files that the figures come from.
fn source(sources: &[Source]) -> String {
    // Archived runs have no file.
    let files = sources.iter().map(|source| source.file.as_str()).filter(|file| !file.is_empty());
    let files: Vec<&str> = files.collect();
    let runs = || sources.iter().flat_map(|source| &source.set.runs);
    let mut hosts: Vec<&str> = runs().map(|run| run.facts.hostname.as_str()).collect();
    hosts.retain(|host| !host.is_empty());
    hosts.sort_unstable();
    hosts.dedup();
    let day = runs().map(|run| &run.invocation).find(|call| call.started_unix_ms > 0);
    let day = day.map(|call| date::day(call.started_unix_ms, call.utc_offset_seconds));
    let version = sources.first().map_or("", |source| source.set.fathom_version.as_str());
    let made = format!("fathom {version}").trim().to_owned();
    let host = (!hosts.is_empty()).then(|| format!("on {}", hosts.join(", ")));
    let parts = [Some(made), host, day].into_iter().flatten();
    let made = parts.collect::<Vec<_>>().join(" ");
    if files.is_empty() { made } else { format!("{made}: {}", files.join(", ")) }
}
