//! Reports of sweeps.

mod tables;

use crate::style::Style;
use crate::suite::parts::{duration, findings, interruption};
use crate::verdict::sentence;
use judge::Finding;
use record::{Severity, distinct, human};
use suite::sweep::{Conclusion, FailureGroup, LayerCost, Scaling};
use suite::{Estimated, LimitGroup};

/// The most cells that a line names.
const NAMES_MAX: usize = 5;

/// The report of `fathom sweep`: tables, limits of the cells, findings. `repeats`: runs of each cell.
pub fn text(conclusion: &Conclusion, repeats: u32, style: &Style) -> String {
    let mut out = tables::text(conclusion, repeats as usize, style);
    out += &mkfs(&conclusion.mkfs, style);
    out += &layers(&conclusion.layers, style);
    out += &scaling(&conclusion.scaling, style);
    out += &progress(conclusion, style);
    out.extend(conclusion.failures.iter().map(|failed| failure(failed, style)));
    out += &limits(conclusion, style);
    let counted = |finding: &Finding| Finding {
        text: finding.text.clone().text(cell_count(finding.jobs.len(), conclusion.cells)),
        ..finding.clone()
    };
    out += &findings(&conclusion.findings.iter().map(counted).collect::<Vec<_>>(), style);
    out + &interruption(conclusion.interrupted_by, "the results so far are saved")
}

/// How long it took to make each filesystem.
fn mkfs(times: &[(String, Estimated)], style: &Style) -> String {
    let one = |(kind, time): &(String, Estimated)| {
        let ends = time.interval.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", human::time(low * 1e9), human::time(high * 1e9))
        });
        format!("{kind} {}{ends}", human::time(time.value * 1e9))
    };
    let times: Vec<String> = times.iter().map(one).collect();
    match times.is_empty() {
        true => String::new(),
        false => style.paragraph(&format!("Time of mkfs: {}.", times.join(", ")), 0) + "\n",
    }
}

/// What each layer of a stack adds to the latency of the one below.
fn layers(costs: &[LayerCost], style: &Style) -> String {
    if costs.is_empty() {
        return String::new();
    }
    let mut out = style
        .bold("Cost of each layer: what it adds to the mean latency of the layer below")
        + "\n";
    for cost in costs {
        let at = if cost.at.is_empty() { String::new() } else { format!("{}: ", cost.at) };
        let signed =
            |ns: f64| format!("{}{}", if ns < 0.0 { "-" } else { "+" }, human::time(ns.abs()));
        let ratio = cost.ratio.map_or(String::new(), |ratio| format!(", x {:.3}", ratio.value));
        let sure = match cost.added_ns.interval {
            None => " (one run: not known how sure)".to_owned(),
            Some((low, high)) => {
                let shown = if low <= 0.0 && high >= 0.0 { ", none shown" } else { "" };
                format!(" (95 % interval {} to {}{shown})", signed(low), signed(high))
            }
        };
        let line = format!(
            "{at}{} over {}: {}{ratio}{sure}",
            cost.layer,
            cost.below,
            signed(cost.added_ns.value)
        );
        out += &style.paragraph(&line, 2);
    }
    out + "\n"
}

/// How throughput scales with the number of workers.
fn scaling(all: &[Scaling], style: &Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = style.bold("Scaling (Universal Scalability Law)") + "\n";
    for one in all {
        out += &style.paragraph(&scaling_line(one), 2);
    }
    out + "\n"
}

fn scaling_line(scaling: &Scaling) -> String {
    let at = if scaling.at.is_empty() { String::new() } else { format!("{}, ", scaling.at) };
    let shown = |figure: Estimated, text: &dyn Fn(f64) -> String| {
        let ends = figure
            .interval
            .map_or(String::new(), |(low, high)| format!(" ({} to {})", text(low), text(high)));
        text(figure.value) + &ends
    };
    let rate = |value: f64| {
        if scaling.figure.ends_with("bandwidth") { human::rate(value) } else { human::count(value) }
    };
    let percent = |value: f64| match value {
        0.0 => "0 %".to_owned(),
        _ => format!("{} %", human::digits(value * 100.0, 2)),
    };
    let whole = |value: f64| match value.is_finite() {
        true => format!("{value:.0}"),
        false => "any number".to_owned(),
    };
    let dimension = &scaling.dimension;
    let mut line = format!(
        "{at}{}: {:.0} {dimension} reach {:.0} % of {:.0} times one ({}). ",
        scaling.figure,
        scaling.largest,
        scaling.efficiency * 100.0,
        scaling.largest,
        shown(scaling.one, &rate),
    );
    line += &format!(
        "Contention {}, coherency {}. ",
        shown(scaling.contention, &percent),
        shown(scaling.coherency, &percent)
    );
    line += &match (scaling.peak, scaling.most) {
        (Some(peak), Some(most)) => {
            format!("The most is at {dimension}={}: {}. ", shown(peak, &whole), shown(most, &rate))
        }
        (None, Some(most)) => {
            format!("No number of {dimension} has more than {}. ", shown(most, &rate))
        }
        _ => "No limit is seen. ".to_owned(),
    };
    let deviation = format!("{:.0} %", scaling.deviation * 100.0);
    line += &match scaling.is_followed() {
        true => format!("The law is within {deviation} of every cell."),
        false => format!("The cells do not follow the law: one is off by {deviation}."),
    };
    line
}

/// The number of cells and runs.
fn progress(conclusion: &Conclusion, style: &Style) -> String {
    let Conclusion { made, planned, cells, .. } = conclusion;
    let line = match made == planned {
        true => format!("{cells} cells, {made} runs in {}.", duration(conclusion.elapsed)),
        false => format!("{made} of {planned} runs are done; the others are missing above."),
    };
    style.paragraph(&line, 0)
}

/// " (in 3 of 12 cells)"; empty for a sweep of one cell, and when no cell is concerned.
fn cell_count(found: usize, cells: usize) -> String {
    match found {
        0 => String::new(),
        _ if cells < 2 => String::new(),
        _ => format!(" (in {found} of {cells} cells)"),
    }
}

fn failure(failed: &FailureGroup, style: &Style) -> String {
    let cells = distinct(&failed.cells);
    let runs = human::counted(failed.cells.len(), "run");
    let line = format!("{runs} failed ({}): {}", human::list_up_to(&cells, NAMES_MAX), failed.text);
    style.severity(Severity::Error, &style.wrap(&line, 0)) + "\n"
}

/// The limits of the cells, each once.
fn limits(conclusion: &Conclusion, style: &Style) -> String {
    if conclusion.limited.is_empty() {
        return String::new();
    }
    let mut out = style.heading("Verdict");
    for LimitGroup { verdict, cells } in &conclusion.limited {
        let heading = format!(
            "limited by: {}, confidence: {}{}: {}",
            verdict.limit.name(),
            verdict.confidence.name(),
            cell_count(cells.len(), conclusion.cells),
            human::list_up_to(cells, NAMES_MAX)
        );
        out += &(style.bold(&style.wrap(&heading, 2)) + "\n");
        out += &style.paragraph(&format!("{}: {}", verdict.job, verdict.because), 4);
        out += &style.paragraph(&sentence(&verdict.valid_for), 4);
    }
    out
}

#[cfg(test)]
pub(crate) mod tests;
