//! Parts that the reports of suites share.

use crate::style::Style;
use crate::verdict;
use judge::{Finding, Judged};
use record::{Nanos, Severity, human};
use suite::{Failure, LimitGroup};

/// The storage stack ("ext4 > vda") and the measurement.
pub(super) fn head(stack: &[String], what: &str, style: &Style) -> String {
    let stack = match stack.is_empty() {
        true => "no filesystem or device that can be seen".to_owned(),
        false => stack.join(" > "),
    };
    style.bold(&style.wrap(&stack, 0)) + "\n" + &style.paragraph(what, 0) + "\n"
}

/// A time in whole seconds, rounded up.
pub(crate) fn duration(time: Nanos) -> String {
    human::duration(time.0.div_ceil(1_000_000_000) as f64)
}

/// One line for each failed run.
pub(crate) fn failures(failures: &[Failure], style: &Style) -> String {
    let lines = failures.iter().map(|failure| {
        let line = format!("{} failed: {}", failure.cell, failure.text);
        style.severity(Severity::Error, &style.wrap(&line, 0)) + "\n"
    });
    lines.collect()
}

/// The last line of a report that a signal ended early.
pub(crate) fn interruption(signal: Option<i32>, left: &str) -> String {
    signal.map_or(String::new(), |signal| format!("\nEnded early by signal {signal}: {left}.\n"))
}

/// The verdicts, cells with the same limit together.
pub(super) fn verdicts(limited: &[LimitGroup], style: &Style) -> String {
    let mut out = style.heading("Verdict");
    for LimitGroup { verdict, cells } in limited {
        let heading = format!(
            "limited by: {}, confidence: {}: {}",
            verdict.limit.name(),
            verdict.confidence.name(),
            cells.join(", ")
        );
        out += &(style.bold(&style.wrap(&heading, 2)) + "\n");
        out += &style.paragraph(&format!("{}: {}", verdict.job, verdict.because), 4);
    }
    out
}

/// Findings of several runs. Notes need no action, so each is one line.
pub(crate) fn findings(findings: &[Finding], style: &Style) -> String {
    let (notes, grave): (Vec<Finding>, Vec<Finding>) =
        findings.iter().cloned().partition(|finding| finding.severity == Severity::Note);
    let mut out = verdict::text(&Judged { findings: grave, ..Judged::default() }, style);
    if !notes.is_empty() {
        out += &style.heading("Notes");
        for note in notes {
            out += &style.paragraph(&format!("[{}] {}", note.check, note.text), 2);
        }
    }
    out
}
