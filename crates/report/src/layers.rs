//! The layers of the I/Os: a table for each job, and who else used its disks.

use crate::options::RenderOptions;
use crate::style::{Style, printable};
use judge::{CellLayers, IoLayer, Judged, LayerTable, LayersJudged, SizeLayers};
use record::{DeviceEvents, RunRecord, human};

/// Other processes that are shown.
const OTHERS: usize = 10;
/// Width of the first column.
const NAMES: usize = 14;
/// Share of the latency from which on a layer is named where there is no table.
const SHARE_SHOWN: f64 = 0.005;

/// What is known of the layers, after an empty line; empty if nobody asked for them and they were not timed.
pub(crate) fn section(record: &RunRecord, judged: &Judged, options: &RenderOptions) -> String {
    let why = record.evidence.layers_not_timed.as_ref().filter(|_| options.verbose);
    let text = match (&judged.layers, why) {
        (Some(layers), _) => text(layers, &options.style, options.verbose),
        (None, Some(why)) => options.style.paragraph(&format!("Layers were not timed: {why}."), 0),
        (None, None) => String::new(),
    };
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!("\n{text}\n") }
}

/// The tables; one line for each job, disk and direction if they were timed by default. Ends with an empty
/// line.
fn text(layers: &LayersJudged, style: &Style, in_full: bool) -> String {
    if layers.is_default && !in_full {
        return in_brief(layers, style);
    }
    let mut out: String = layers.tables.iter().map(|layers| table(layers, style) + "\n").collect();
    if layers.tables.is_empty() {
        out += &style.paragraph("No I/O of the jobs reached a disk.", 0);
    }
    out += &others(layers, style);
    out.extend(syncs(layers).iter().map(|text| style.paragraph(text, 0)));
    out.extend(measured(layers).map(|text| style.paragraph(&text, 0)));
    out.extend(layers.gaps.iter().map(|gap| style.paragraph(gap, 0)));
    out.trim_end().to_owned() + "\n\n"
}

/// What synchronisations wait for, in sentences.
pub(crate) fn syncs(layers: &LayersJudged) -> Vec<String> {
    let journals = layers.journals.iter().map(|them| events("Commits of the journal", them));
    let flushes = layers.flushes.iter().map(|them| events("Flushes of the cache", them));
    journals.chain(flushes).chain(layers.sync.iter().map(|sync| sync.sentence())).collect()
}

fn events(name: &str, events: &DeviceEvents) -> String {
    let (mean, longest) = (human::time(events.mean_ns()), human::time(events.longest.0 as f64));
    format!("{name} on {}: {}, mean {mean}, longest {longest}.", events.device, events.count)
}

/// From when on I/Os were timed, and what that cost.
fn measured(layers: &LayersJudged) -> Option<String> {
    let since =
        (layers.since.0 > 0).then(|| format!("from {} on", human::time(layers.since.0 as f64)));
    let cost = layers
        .cost_ns
        .map(|ns| format!("at a cost of at most {} of a CPU for each", human::time(ns)));
    let parts: Vec<String> = since.into_iter().chain(cost).collect();
    (!parts.is_empty()).then(|| format!("I/Os were timed {}.", parts.join(", ")))
}

/// A line for each job, disk and direction: the shares of its layers, the largest first.
fn in_brief(layers: &LayersJudged, style: &Style) -> String {
    let tables = layers.tables.iter().filter(|table| !table.is_member && table.direction.is_some());
    let line = |table: &LayerTable| {
        let mut rows: Vec<_> = table.rows.iter().filter(|row| row.share >= SHARE_SHOWN).collect();
        rows.sort_by(|a, b| b.share.total_cmp(&a.share));
        let shares =
            rows.iter().map(|row| format!("{} {}", row.layer.name(), human::percent(row.share)));
        let shares: Vec<String> = shares.collect();
        let latency = human::time(table.latency_ns);
        let text = format!(
            "Layers of {}: mean {} {latency}: {}.",
            printable(&table.title()),
            table.latency_name(),
            shares.join(", ")
        );
        let slow = table.slow_member.as_ref().map(|slow| format!(" {}", slow.sentence()));
        style.paragraph(&(text + &slow.unwrap_or_default()), 0)
    };
    let lines: String = tables.map(line).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

fn table(layers: &LayerTable, style: &Style) -> String {
    let mut out = style.bold(&format!("Layers of {}", printable(&layers.title()))) + "\n";
    let row = |name: &str, cells: [String; 5]| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>11}")).collect();
        format!("  {name:<NAMES$}{cells}\n")
    };
    let title = ["mean", "p50", "p99", "p99.9", "share"].map(str::to_owned);
    out += &row("", title);
    let time = |ns: u64| human::time(ns as f64);
    for layer in &layers.rows {
        let [p50, p99, p999] =
            layer.percentiles_ns.map_or_else(|| [""; 3].map(str::to_owned), |all| all.map(time));
        let mean = human::time(layer.mean_ns);
        out += &row(layer.layer.name(), [mean, p50, p99, p999, human::percent(layer.share)]);
    }
    let mut counts = vec![format!("{} I/Os timed", layers.ios)];
    if let Some(job) = layers.job_ios.filter(|job| *job != layers.ios) {
        counts.push(format!("the job made {job}"));
    }
    counts.extend(layers.events.iter().map(|(name, count)| format!("{count} {name}")));
    out += &by_size(&layers.sizes);
    let (what, latency) = (layers.latency_name(), human::time(layers.latency_ns));
    out += &style.paragraph(&format!("Mean {what} {latency}; {}.", counts.join(", ")), 2);
    let slowest = layers.slowest.as_ref().map(|slowest| slowest.sentence());
    let size = layers.slow_size.as_ref().map(|size| size.sentence());
    let member = layers.slow_member.as_ref().map(|member| member.sentence());
    let beside = layers.beside_others.as_ref().map(|beside| beside.sentence());
    let sentences = [slowest, size, member, beside].into_iter().flatten();
    out.extend(sentences.map(|sentence| style.paragraph(&sentence, 2)));
    out
}

/// A row for each size class.
fn by_size(sizes: &[SizeLayers]) -> String {
    if sizes.is_empty() {
        return String::new();
    }
    let row = |name: &str, cells: [String; 4], last: &str| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>11}")).collect();
        format!("  {name:<NAMES$}{cells}  {last}").trim_end().to_owned() + "\n"
    };
    let titles = ["I/Os", "mean", "p50", "p99"].map(str::to_owned);
    let mut out = row("by size", titles, "longest in");
    for size in sizes {
        let at = |percentile| size.percentile_ns(percentile).map_or(String::new(), human::time);
        let cells = [size.ios.to_string(), human::time(size.mean_ns()), at(50.0), at(99.0)];
        let longest = size.longest_layer();
        let longest = longest.map(|(layer, it)| format!("{} {}", layer.name(), human::percent(it)));
        out += &row(&size.name(), cells, &longest.unwrap_or_default());
    }
    out
}

/// The layers of each cell of a suite: a row with the share of each layer. Empty if none was timed;
/// else it begins with an empty line.
pub fn by_cell(runs: &[RunRecord], style: &Style) -> String {
    let cells = judge::layers_by_cell(runs);
    let passed = |layer: &IoLayer| {
        cells.iter().any(|cell| cell.means_ns.iter().any(|(name, _)| name == layer))
    };
    let layers: Vec<IoLayer> = IoLayer::ALL.into_iter().filter(passed).collect();
    if layers.is_empty() {
        return String::new();
    }
    let names = cells.iter().map(|cell| name(cell).chars().count()).max().unwrap_or(0);
    let row = |name: &str, latency: &str, shares: Vec<String>| {
        let shares: String = shares.iter().map(|share| format!("{share:>12}")).collect();
        format!("{name:<names$}{latency:>10}{shares}\n")
    };
    let titles = layers.iter().map(|layer| layer.name().to_owned()).collect();
    let mut out = "\n".to_owned() + &style.bold(row("", "latency", titles).trim_end()) + "\n";
    for cell in &cells {
        let share = |layer: &IoLayer| {
            let mean = cell.means_ns.iter().find(|(name, _)| name == layer).map(|(_, mean)| mean);
            mean.map_or(String::new(), |mean| human::percent(mean / cell.latency_ns.max(1.0)))
        };
        out += &row(&name(cell), &human::time(cell.latency_ns), layers.iter().map(share).collect());
    }
    out
}

/// A cell with what of it is timed.
fn name(cell: &CellLayers) -> String {
    let job =
        if cell.job.is_empty() { String::new() } else { format!(" {}", printable(&cell.job)) };
    format!("{}{job}: {} on {}", printable(&cell.cell), cell.direction.name(), cell.device)
}

fn others(layers: &LayersJudged, style: &Style) -> String {
    if layers.others.is_empty() {
        return String::new();
    }
    let head = format!(
        "{:<18}{:<10}{:>12}{:>12}{:>14}{:>8}",
        "Other requests", "disk", "requests", "data", "device time", "share"
    );
    let mut out = style.bold(&head) + "\n";
    for other in layers.others.iter().take(OTHERS) {
        let requests = &other.requests;
        let name = printable(&requests.label());
        out += &format!(
            "  {name:<16.16}{:<10}{:>12}{:>12}{:>14}{:>8}\n",
            requests.device,
            requests.requests,
            human::size(requests.bytes.0 as f64),
            human::time(requests.device_time.0 as f64),
            human::percent(other.device_share),
        );
    }
    if let Some(more) = layers.others.len().checked_sub(OTHERS).filter(|more| *more > 0) {
        out += &format!("  and {more} more\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::{IoLayer, LayerRow, LayersAt, OtherUse};
    use record::{Bytes, Direction, Nanos, OtherRequests};

    fn judged() -> LayersJudged {
        let row = |layer, mean_ns, percentiles_ns, share| LayerRow {
            layer,
            mean_ns,
            percentiles_ns,
            share,
        };
        let table = LayerTable {
            job: "oltp".into(),
            device: "nvme0n1".into(),
            direction: Some(Direction::Read),
            ios: 900,
            job_ios: Some(1000),
            is_whole: true,
            latency_ns: 100_000.0,
            rows: vec![
                row(IoLayer::Device, 81_000.0, Some([80_000, 120_000, 2_000_000]), 0.81),
                row(IoLayer::Outside, 19_000.0, None, 0.19),
            ],
            events: vec![("merged", 7)],
            sizes: vec![SizeLayers {
                up_to: Some(Bytes(16384)),
                ios: 900,
                means_ns: vec![(IoLayer::Device, 90_000.0), (IoLayer::Plug, 10_000.0)],
                percentiles: vec![LayersAt {
                    percentile: 50.0,
                    times_ns: vec![(IoLayer::Device, 80_000.0)],
                }],
            }],
            ..LayerTable::default()
        };
        let requests = OtherRequests {
            name: "postgres".into(),
            pid: 4711,
            device: "nvme0n1".into(),
            requests: 12,
            bytes: Bytes(49152),
            device_time: Nanos(1_500_000),
            ..OtherRequests::default()
        };
        LayersJudged {
            tables: vec![table],
            others: vec![OtherUse { requests, device_share: 0.25 }],
            gaps: vec!["3 requests had no known start.".into()],
            journals: vec![DeviceEvents {
                device: "nvme0n1".into(),
                count: 4,
                time: Nanos(10_000_000),
                longest: Nanos(7_000_000),
            }],
            cost_ns: Some(410.0),
            ..LayersJudged::default()
        }
    }

    #[test]
    fn layers_that_nobody_asked_for_are_a_line() {
        let brief = LayersJudged { is_default: true, ..judged() };
        let brief = super::text(&brief, &Style::default(), false);
        let brief = brief.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            brief,
            "Layers of oltp: read on nvme0n1: mean latency with submission 100 µs: device 81 %, outside 19 \
             %."
        );
    }

    #[test]
    fn layers_are_rows_of_a_table() {
        let text = super::text(&judged(), &Style::default(), true);
        let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let expected = [
            "Layers of oltp: read on nvme0n1",
            "mean p50 p99 p99.9 share",
            "device 81 µs 80 µs 120 µs 2 ms 81 %",
            "outside 19 µs 19 %",
            "by size I/Os mean p50 p99 longest in",
            "up to 16 KiB 900 100 µs 80 µs device 90 %",
            "Mean latency with submission 100 µs; 900 I/Os timed, the job made 1000, 7",
            "merged.",
            "",
            "Other requests disk requests data device time share",
            "postgres 4711 nvme0n1 12 48 KiB 1.5 ms 25 %",
            "Commits of the journal on nvme0n1: 4, mean 2.5 ms, longest 7 ms.",
            "I/Os were timed at a cost of at most 410 ns of a CPU for each.",
            "3 requests had no known start.",
            "",
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
}
