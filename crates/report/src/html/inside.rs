//! What was measured inside of a run: the layers that its I/Os passed, and the code that used the CPUs.
//! Of a set of several runs, each part is that of the first run that has it.

use crate::judged_set::JudgedSet;
use crate::{cpu_profile, style::Style};
use judge::{LayerTable, LayersJudged};
use maud::{Markup, html};
use record::human::{count, percent, size, time};
use record::{CpuProfile, Direction};

/// The most rows of a table on a page.
const ROWS_MAX: usize = 60;

/// The sections; empty where nothing of it was measured.
pub(super) fn sections(judged_sets: &[JudgedSet]) -> Markup {
    let of = |judged_set: &JudgedSet| match judged_sets.len() {
        1 => String::new(),
        _ => format!(" of {}", judged_set.name),
    };
    html! {
        @for (index, judged_set) in judged_sets.iter().enumerate() {
            @if let Some(found) = judged_set.judged.iter().find_map(|judged| judged.layers.as_ref()) {
                (layers(found, &of(judged_set), index))
            }
            @if let Some(found) = profile(judged_set) { (code(found, &of(judged_set), index)) }
        }
    }
}

fn profile(judged_set: &JudgedSet) -> Option<&CpuProfile> {
    judged_set.set.runs.iter().find_map(|run| run.evidence.cpu_profile.as_ref())
}

fn layers(found: &LayersJudged, of: &str, index: usize) -> Markup {
    let id = format!("layers-{index}");
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { "Layers of the I/Os" (of) }
            @if found.tables.is_empty() { p { "No I/O of the jobs reached a disk." } }
            @for table in found.tables.iter().take(ROWS_MAX) { (layer_table(table)) }
            @if !found.others.is_empty() { (others(found)) }
            @for gap in &found.gaps { p class="aside" { (gap) } }
        }
    }
}

fn layer_table(table: &LayerTable) -> Markup {
    let job = if table.job.is_empty() { "all jobs" } else { &table.job };
    let below = if table.is_member { ", below another disk of the run" } else { "" };
    let what = table.direction.map_or("flush", Direction::name);
    let title = format!("{job}: {what} on {}{below}", table.device);
    let latency = if table.is_whole { "Mean latency " } else { "Mean time in the block layer " };
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
                                span class="bar" style={ "width:" (format!("{:.1}", row.share.min(1.0) * 8.0)) "em" } {}
                            }
                            td { (row.layer.meaning()) }
                        }
                    }
                }
            }
        }
        p class="aside" {
            (latency) (time(table.latency_ns)) "; " (count(table.ios as f64)) " I/Os timed"
            @if let Some(job) = table.job_ios.filter(|job| *job != table.ios) {
                ", the job made " (count(job as f64))
            }
            @for (name, number) in &table.events { ", " (number) " " (name) }
            "."
        }
    }
}

fn others(found: &LayersJudged) -> Markup {
    html! {
        h3 { "Other requests" }
        div class="table-room" tabindex="0" role="group" aria-label="Requests of others" {
            table {
                thead {
                    tr {
                        @for head in ["thread", "disk"] { th scope="col" { (head) } }
                        @for head in ["requests", "data", "device time", "share"] {
                            th scope="col" class="number" { (head) }
                        }
                    }
                }
                tbody {
                    @for other in found.others.iter().take(ROWS_MAX) {
                        tr {
                            td { (other.requests.name) @if other.requests.own { " (own)" } }
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
