//! What was measured inside of a run: the layers that its I/Os passed, and the code that used the CPUs.
//! Of a set of several runs, each part is that of the first run that has it.

use crate::judged_set::JudgedSet;
use crate::{cpu_profile, layers, style::Style};
use judge::{IoLayer, LayerTable, LayersAt, LayersJudged, SizeLayers};
use maud::{Markup, html};
use record::human::{count, percent, size, time};
use record::{CpuProfile, SlowIo};

/// The most rows of a table on a page.
const ROWS_MAX: usize = 60;
/// Of the slowest I/Os, those that have a row.
const SLOWEST_SHOWN: usize = 20;
/// The most rows with the slowest I/O of a second each, or of a longer step.
const STEPS_SHOWN: usize = 600;

/// The sections; empty where nothing of it was measured.
pub(super) fn sections(judged_sets: &[JudgedSet]) -> Markup {
    let suffix = |judged_set: &JudgedSet| match judged_sets.len() {
        1 => String::new(),
        _ => format!(" of {}", judged_set.name),
    };
    html! {
        @for (index, judged_set) in judged_sets.iter().enumerate() {
            @if let Some(found) = judged_set.judged.iter().find_map(|judged| judged.layers.as_ref()) {
                (layers_section(found, &suffix(judged_set), index))
            }
            @if let Some(found) = profile(judged_set) { (code(found, &suffix(judged_set), index)) }
        }
    }
}

fn profile(judged_set: &JudgedSet) -> Option<&CpuProfile> {
    judged_set.set.runs.iter().find_map(|run| run.evidence.cpu_profile.as_ref())
}

fn layers_section(found: &LayersJudged, of: &str, index: usize) -> Markup {
    let id = format!("layers-{index}");
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { "Layers of the I/Os" (of) }
            @if found.tables.is_empty() { p { "No I/O of the jobs reached a disk." } }
            @for table in found.tables.iter().take(ROWS_MAX) { (layer_table(table)) }
            @if !found.others.is_empty() { (other_requests(found)) }
            @for sentence in layers::syncs(found) { p { (sentence) } }
            @for gap in &found.gaps { p class="aside" { (gap) } }
        }
    }
}

fn layer_table(table: &LayerTable) -> Markup {
    let title = table.title();
    html! {
        h3 { (title) }
        div class="table-room" tabindex="0" role="group" aria-label={ "Layers of " (title) } {
            table {
                thead {
                    tr {
                        th scope="col" { "layer" }
                        @for head in ["mean", "p50", "p99", "p99.9", "share"] {
                            th scope="col" class="number" { (head) }
                        }
                        th scope="col" { "what it is" }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            th scope="row" { (row.layer.name()) }
                            td class="number" { (time(row.mean_ns)) }
                            @for place in 0..3 {
                                td class="number" {
                                    @if let Some(all) = row.percentiles_ns { (time(all[place] as f64)) }
                                }
                            }
                            td class="number" {
                                (percent(row.share))
                                (share_bar(row.share))
                            }
                            td { (row.layer.meaning()) }
                        }
                    }
                }
            }
        }
        p class="aside" {
            "Mean " (table.latency_name()) " " (time(table.latency_ns)) "; " (count(table.ios as f64)) " I/Os timed"
            @if let Some(job) = table.job_ios.filter(|job| *job != table.ios) {
                ", the job made " (count(job as f64))
            }
            @for (name, number) in &table.events { ", " (number) " " (name) }
            "."
        }
        @if !table.percentiles.is_empty() { (at_percentiles(table)) }
        @if let Some(member) = &table.slow_member { p { (member.sentence()) } }
        @if let Some(beside) = &table.beside_others { p { (beside.sentence()) } }
        @if !table.sizes.is_empty() { (by_size(&table.sizes)) }
        @if let Some(slowest) = &table.slowest {
            p {
                (slowest.sentence())
                @if let Some(size) = &table.slow_size { " " (size.sentence()) }
            }
            (slow_ios("The slowest I/Os", slowest.ios.iter().take(SLOWEST_SHOWN)))
        }
        @if table.slowest_of_steps.len() > 1 {
            (slow_ios("The slowest I/O of each second", table.slowest_of_steps.iter().take(STEPS_SHOWN)))
        }
    }
}

/// Where I/Os spent their time, as a bar for each percentile.
fn at_percentiles(table: &LayerTable) -> Markup {
    let passed = |layer: &IoLayer| {
        table.percentiles.iter().any(|at| at.times_ns.iter().any(|(name, _)| name == layer))
    };
    let layers: Vec<IoLayer> = IoLayer::INSIDE.into_iter().filter(passed).collect();
    html! {
        div class="table-room" tabindex="0" role="group" aria-label="Layers by percentile" {
            table {
                thead {
                    tr {
                        th scope="col" { "I/Os at" }
                        th scope="col" class="number" { "in the block layer" }
                        @for layer in &layers {
                            th scope="col" class="number" {
                                span class={ "sample " (layer.name()) } {}
                                (layer.name())
                            }
                        }
                        th scope="col" { "shares" }
                    }
                }
                tbody {
                    @for at in &table.percentiles { (at_percentile(at, &layers)) }
                }
            }
        }
    }
}

fn at_percentile(at: &LayersAt, layers: &[IoLayer]) -> Markup {
    let time_in =
        |layer: &IoLayer| at.times_ns.iter().find(|(name, _)| name == layer).map(|it| it.1);
    html! {
        tr {
            th scope="row" { "p" (at.percentile) }
            td class="number" { (time(at.total_ns())) }
            @for layer in layers {
                td class="number" { @if let Some(took) = time_in(layer) { (time(took)) } }
            }
            td {
                (stack(at))
            }
        }
    }
}

/// A bar whose length is a share. A drawing, because a page of the server allows no styles of elements.
fn share_bar(share: f64) -> Markup {
    let width = format!("{:.1}", share.clamp(0.0, 1.0) * 100.0);
    html! {
        svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
            aria-label=(percent(share)) {
            rect width=(width) height="10" {}
        }
    }
}

/// The times in the layers as parts of a bar.
fn stack(at: &LayersAt) -> Markup {
    let share = |time: f64| time / at.total_ns() * 100.0;
    let mut parts = Vec::new();
    let mut start = 0.0;
    for (layer, time) in &at.times_ns {
        parts.push((layer.name(), start, share(*time)));
        start += share(*time);
    }
    let words: Vec<String> =
        parts.iter().map(|(name, _, width)| format!("{name} {width:.0} %")).collect();
    html! {
        svg class="stack" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
            aria-label=(words.join(", ")) {
            @for (name, start, width) in &parts {
                rect class=(name) x=(format!("{start:.1}")) width=(format!("{width:.1}")) height="10" {}
            }
        }
    }
}

fn by_size(sizes: &[SizeLayers]) -> Markup {
    html! {
        div class="table-room" tabindex="0" role="group" aria-label="Layers by size" {
            table {
                thead {
                    tr {
                        th scope="col" { "size" }
                        @for head in ["I/Os", "mean", "p50", "p99", "p99.9"] {
                            th scope="col" class="number" { (head) }
                        }
                        th scope="col" { "longest in" }
                    }
                }
                tbody {
                    @for size in sizes {
                        tr {
                            th scope="row" { (size.name()) }
                            td class="number" { (count(size.ios as f64)) }
                            td class="number" { (time(size.mean_ns())) }
                            @for percentile in [50.0, 99.0, 99.9] {
                                td class="number" { (size.percentile_ns(percentile).map(time).unwrap_or_default()) }
                            }
                            td {
                                @if let Some((layer, share)) = size.longest_layer() {
                                    (layer.name()) " " (percent(share))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn slow_ios<'a>(title: &str, ios: impl Iterator<Item = &'a SlowIo>) -> Markup {
    html! {
        details {
            summary { (title) }
            div class="table-room" tabindex="0" role="group" aria-label=(title) {
                table {
                    thead {
                        tr {
                            @for head in ["ended after", "time"] { th scope="col" class="number" { (head) } }
                            @for layer in IoLayer::INSIDE { th scope="col" class="number" { (layer.name()) } }
                            @for head in ["offset on the disk", "length"] {
                                th scope="col" class="number" { (head) }
                            }
                        }
                    }
                    tbody {
                        @for io in ios {
                            tr {
                                td class="number" { (format!("{:.3} s", io.at.0 as f64 / 1e9)) }
                                td class="number" { (time(io.total.0 as f64)) }
                                @for span in io.spans.all() { td class="number" { (time(span.0 as f64)) } }
                                td class="number" { (io.offset.0) }
                                td class="number" { (size(io.bytes.0 as f64)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn other_requests(found: &LayersJudged) -> Markup {
    html! {
        h3 { "Other requests" }
        div class="table-room" tabindex="0" role="group" aria-label="Requests of others" {
            table {
                thead {
                    tr {
                        @for head in ["process", "control group", "disk"] { th scope="col" { (head) } }
                        @for head in ["requests", "data", "device time", "share"] {
                            th scope="col" class="number" { (head) }
                        }
                    }
                }
                tbody {
                    @for other in found.others.iter().take(ROWS_MAX) {
                        tr {
                            td { (other.requests.label()) }
                            td { (other.requests.cgroup.as_deref().unwrap_or_default()) }
                            td { (other.requests.device) }
                            td class="number" { (count(other.requests.requests as f64)) }
                            td class="number" { (size(other.requests.bytes.0 as f64)) }
                            td class="number" { (time(other.requests.device_time.0 as f64)) }
                            td class="number" { (percent(other.device_share)) }
                        }
                    }
                }
            }
        }
    }
}

fn code(profile: &CpuProfile, of: &str, index: usize) -> Markup {
    let id = format!("code-{index}");
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { "CPU time by code" (of) }
            div class="table-room" tabindex="0" role="group" aria-label="CPU time by code" {
                pre { (cpu_profile::text(profile, &Style::default())) }
            }
        }
    }
}
