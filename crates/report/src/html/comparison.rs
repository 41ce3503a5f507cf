//! The differences between the first set and each of the others.

use crate::compare::factor;
use crate::figures::in_unit;
use crate::judged_set::JudgedSet;
use judge::Operation;
use judge::compare::{Change, Comparison, DirectionComparison, MetricComparison, Options, compare};
use maud::{Markup, html};
use record::human;

/// The most differences of the environment in the summary.
const IN_SHORT: usize = 4;

/// Two sets and their comparison.
pub(super) struct Compared<'a> {
    first: &'a JudgedSet,
    other: &'a JudgedSet,
    comparison: Comparison,
}

/// Compares the first set with each of the others, or a single one with its earlier set.
pub(super) fn all<'a>(judged_sets: &'a [JudgedSet]) -> Vec<Compared<'a>> {
    let pair = |first: &'a JudgedSet, other: &'a JudgedSet| {
        let comparison = compare(&first.set, &other.set, &Options::default());
        Compared { first, other, comparison }
    };
    match judged_sets {
        [] => Vec::new(),
        [one] => one.since.iter().map(|before| pair(before, one)).collect(),
        [first, others @ ..] => others.iter().map(|other| pair(first, other)).collect(),
    }
}

/// One sentence for each comparison.
pub(super) fn in_short(all: &[Compared]) -> Markup {
    html! {
        @for Compared { first, other, comparison } in all {
            p {
                strong { (other.name) } " against " strong { (first.name) } ": "
                (conclusion(comparison)) " " (environment(comparison))
            }
        }
        p { a href="#comparison" { "All figures side by side" } }
    }
}

fn conclusion(comparison: &Comparison) -> String {
    let names_of = |change: Change| -> Vec<String> {
        let all = comparison.jobs.iter().flat_map(|job| {
            job.directions.iter().flat_map(move |d| d.metrics.iter().map(move |m| (job, d, m)))
        });
        let changed = all.filter(|(.., metric)| metric.change == change);
        let several = comparison.jobs.len() > 1;
        let words = |(job, direction, metric): (
            &judge::compare::JobComparison,
            &DirectionComparison,
            &MetricComparison,
        )| {
            let job = if several { format!("{} ", job.name) } else { String::new() };
            let ratio = metric.ratio.map_or(1.0, |ratio| ratio.value);
            format!("{job}{} {} ×{}", described(direction, metric), metric.name, factor(ratio))
        };
        changed.map(words).collect()
    };
    let (slower, faster) = (names_of(Change::Slower), names_of(Change::Faster));
    let (worse, better) = crate::compare::compared_as(comparison);
    let list = |names: &[String]| human::list_up_to(names, 4);
    match (slower.is_empty(), faster.is_empty()) {
        (true, true) => format!("{}.", crate::compare::without_difference(comparison)),
        (false, true) => format!("{worse} ({}).", list(&slower)),
        (true, false) => format!("{better} ({}).", list(&faster)),
        (false, false) => {
            format!("{better} in some ({}), {worse} in others ({}).", list(&faster), list(&slower))
        }
    }
}

fn environment(comparison: &Comparison) -> String {
    let shown: Vec<String> = comparison
        .environment
        .iter()
        .take(IN_SHORT)
        .map(|d| format!("{} ({} → {})", d.what, d.before, d.after))
        .collect();
    match (shown.is_empty(), comparison.environment.len().saturating_sub(IN_SHORT)) {
        (true, _) if comparison.environment_unknown => {
            "The environment was not recorded: machine, storage or settings may differ.".into()
        }
        (true, _) => "Machine, storage and settings are the same.".into(),
        (false, 0) => format!("The environments differ: {}.", shown.join(", ")),
        (false, more) => format!("The environments differ: {} and {more} more.", shown.join(", ")),
    }
}

/// The operation, with the latency of requests; the table does not name the latency of I/Os.
fn described(direction: &DirectionComparison, metric: &MetricComparison) -> String {
    match direction.operation {
        Operation::Request(_) if !metric.is_failures() => crate::compare::operation_name(direction),
        _ => direction.operation.name().to_owned(),
    }
}

/// The comparisons in full; empty for a single set.
pub(super) fn sections(all: &[Compared]) -> Markup {
    html! {
        @if !all.is_empty() {
            section id="comparison" aria-labelledby="comparison-title" {
                h2 id="comparison-title" { "Comparison" }
                @for one in all { (shown(one)) }
            }
        }
    }
}

fn shown(Compared { first, other, comparison }: &Compared) -> Markup {
    html! {
        h3 { (other.name) " against " (first.name) }
        @for job in &comparison.jobs {
            @if !job.not_comparable.is_empty() {
                p { strong { (job.name) } ": not comparable, the workload differs: "
                    @for d in &job.not_comparable { (d.what) " (" (d.before) " → " (d.after) ") " } }
            }
        }
        (missing(&first.name, &comparison.only_before))
        (missing(&other.name, &comparison.only_after))
        (table(first, other, comparison))
        @if !comparison.environment.is_empty() {
            h4 { "Differences in the environment" }
            div class="table-room" tabindex="0" role="group" aria-label="Differences of the environment" {
                table {
                    thead { tr {
                        th scope="col" { "what" }
                        th scope="col" { (first.name) }
                        th scope="col" { (other.name) }
                    } }
                    tbody {
                        @for d in &comparison.environment {
                            tr { th scope="row" { (d.what) } td { (d.before) } td { (d.after) } }
                        }
                    }
                }
            }
        }
    }
}

fn missing(name: &str, jobs: &[String]) -> Markup {
    html! { @if !jobs.is_empty() { p { "Only in " (name) ": " (jobs.join(", ")) "." } } }
}

fn table(first: &JudgedSet, other: &JudgedSet, comparison: &Comparison) -> Markup {
    html! {
        div class="table-room" tabindex="0" role="group" aria-label="Figures compared" {
            table {
                thead { tr {
                    th scope="col" { "job" } th scope="col" { "I/O" } th scope="col" { "figure" }
                    th scope="col" class="number" { (first.name) }
                    th scope="col" class="number" { (other.name) }
                    th scope="col" class="number" { "ratio" }
                    th scope="col" { (other.name) " is" }
                } }
                tbody {
                    @for job in &comparison.jobs {
                        @for direction in &job.directions {
                            @for some in direction.lines() {
                                @let names: Vec<&str> = some.iter().map(|m| m.name).collect();
                                tr class=(class(some[0].change)) {
                                    th scope="row" { (job.name) }
                                    td { (described(direction, &some[0])) }
                                    td { (names.join(", ")) }
                                    (figures(&some[0]))
                                }
                            }
                        }
                    }
                }
            }
        }
        p class="aside" {
            "Below each ratio: its interval. All intervals together hold the true ratios in 95 of \
             100 comparisons. A difference is shown when the interval does not contain 1. There is no \
             difference when it lies within the tolerance of " (comparison.tolerance * 100.0) " % \
             both ways; otherwise the runs are too few or too different to tell."
            @if comparison.is_spread_assumed {
                " One run does not show the spread from run to run, so it is assumed: repeat the \
                 runs to measure it."
            }
        }
    }
}

fn figures(metric: &MetricComparison) -> Markup {
    html! {
        @match metric.ratio {
            Some(ratio) => {
                td class="number" { (in_unit(metric.before, metric.unit)) }
                td class="number" { (in_unit(metric.after, metric.unit)) }
                td class="number" {
                    "×" (factor(ratio.value))
                    span class="interval" { (factor(ratio.low)) " to " (factor(ratio.high)) }
                }
                td class="change" { (metric.change_name()) }
            }
            None => {
                td class="reason" colspan="4" {
                    (metric.change.name()) ": " (metric.reason.as_deref().unwrap_or_default())
                }
            }
        }
    }
}

fn class(change: Change) -> &'static str {
    match change {
        Change::Faster => "good",
        Change::Slower => "bad",
        Change::NoDifference | Change::Inconclusive | Change::NotComparable => "",
    }
}
