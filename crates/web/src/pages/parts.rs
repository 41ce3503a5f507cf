//! Parts that several pages share.

use crate::format::encoded;
use archive::Row;
use maud::{Markup, html};
use record::{Severity, human};

/// Figures to choose from on a page. An address accepts any figure.
pub const METRICS: [&str; 7] = ["iops", "bandwidth", "mean", "p50", "p99", "p99.9", "ttfb.p99"];

/// The figures to choose from, with the selected one, which may be another.
pub fn metric_options(shown: &str) -> Markup {
    html! {
        @for name in METRICS { option selected[name == shown] { (name) } }
        @if !shown.is_empty() && !METRICS.contains(&shown) { option selected { (shown) } }
    }
}

/// The input field of a filter with its current words and an example.
pub fn filter_field(typed: &str, example: &str) -> Markup {
    html! {
        label for="filter" { "Filter" }
        input.mono #filter type="search" name="filter" value=(typed) spellcheck="false"
            autocapitalize="none" placeholder=(example);
    }
}

/// A table of runs in which two or more can be chosen and compared.
pub fn choice(caption: &Markup, heads: &Markup, rows: &Markup) -> Markup {
    html! {
        form method="get" action="/compare" data-choosing {
            div.wide {
                table.list.cards data-rows {
                    caption { (caption) }
                    thead { tr { th scope="col" { "Choose" } (heads) } }
                    tbody { (rows) }
                }
            }
            div.actions {
                button data-needs="2" { "Compare those chosen" }
                span.muted data-count role="status" {}
            }
        }
    }
}

/// The cell with the checkbox of a run; `name` is for screen readers.
pub fn chooser(row: &Row, name: &str) -> Markup {
    html! {
        td {
            input type="checkbox" name="run" value=(row.id.as_str())
                aria-label={ "Choose " (name) ", " (row.id.short()) };
        }
    }
}

/// The cells with IOPS, bandwidth, p99 and verdict of a run.
pub fn figures(row: &Row) -> Markup {
    html! {
        td.number data-name="IOPS" { (row.iops.map(human::count).unwrap_or_default()) }
        td.number data-name="Bandwidth" { (row.bandwidth.map(human::rate).unwrap_or_default()) }
        td.number data-name="p99" { (row.p99_ns.map(human::time).unwrap_or_default()) }
        td data-name="Limited by" { (verdict(row)) }
    }
}

/// What limited a run, and the number of its findings and errors.
fn verdict(row: &Row) -> Markup {
    let found = row.found.unwrap_or_default();
    html! {
        (row.verdict.as_deref().unwrap_or("not judged"))
        @if found.errors > 0 { " " span.badge.badge-error { (found.errors) " ✖" } }
        @if found.warnings > 0 { " " span.badge.badge-warning { (found.warnings) " !" } }
        @if row.errors > 0 { " " span.badge.badge-error { (row.errors) " I/O errors" } }
        @if let Some(signal) = row.interrupted_by {
            " " span.badge.badge-warning { "ended by signal " (signal) }
        }
    }
}

/// A tag, as a link to all runs that have it.
pub fn tag_link(tag: &str) -> Markup {
    let query = encoded(&[("filter", &format!("tag={tag}"))]);
    html! { a.tag href={ "/runs?" (query) } { (tag) } }
}

/// Width and height of a sparkline.
const SPARK: (f64, f64) = (240.0, 44.0);

/// A severity as a badge.
pub fn mark(severity: Severity) -> Markup {
    let name = match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    html! { span class={ "badge badge-" (name) } { (name) } }
}

/// A sparkline of the last values from 0 up, with the latest value as text.
pub fn spark(name: &str, values: &[f64], words: impl Fn(f64) -> String) -> Markup {
    let Some(last) = values.last() else { return html! {} };
    let most = values.iter().copied().fold(0.0, f64::max);
    let (width, height) = SPARK;
    let step = width / (values.len().max(2) - 1) as f64;
    // A line at the edge would be cut in half.
    let y = |value: f64| height - 2.0 - value / most.max(f64::MIN_POSITIVE) * (height - 4.0);
    let points: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(index, value)| format!("{:.1},{:.1}", index as f64 * step, y(*value)))
        .collect();
    let (last, most) = (words(*last), words(most));
    html! {
        div.spark {
            span.muted { (name) } " " strong.number { (last.trim()) }
            svg viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img"
                aria-label={ (name) ": now " (last.trim()) ", at most " (most.trim()) } {
                polyline points=(points.join(" ")) fill="none" stroke="currentColor"
                    stroke-width="2" stroke-linejoin="round" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_that_is_shown_is_among_those_to_choose() {
        let chosen = |shown| {
            let text = metric_options(shown).into_string();
            (text.matches("<option").count(), text.matches("selected").count())
        };
        assert_eq!(chosen("p99"), (7, 1));
        assert_eq!(chosen("read.p99"), (8, 1));
        assert_eq!(chosen(""), (7, 0));
    }

    #[test]
    fn curves_begin_at_nothing_and_say_their_last_value() {
        let text = spark("IOPS", &[0.0, 10.0, 5.0], |value| format!("{value:.0}")).into_string();
        assert!(text.contains("0.0,42.0 120.0,2.0 240.0,22.0"), "{text}");
        assert!(text.contains("aria-label=\"IOPS: now 5, at most 10\""), "{text}");
        assert_eq!(spark("IOPS", &[], |_| String::new()).into_string(), "");
        assert!(spark("<b>", &[0.0], |_| "<i>".into()).into_string().contains("&lt;b&gt;"));
    }
}
