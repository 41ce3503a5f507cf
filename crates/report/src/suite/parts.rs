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

/// The most findings of [`remedies`], and what it leaves of the text of one.
const REMEDIES_MAX: usize = 3;

/// A line for each finding that needs an action: its id, and the action.
pub(super) fn remedies(findings: &[Finding], style: &Style) -> String {
    let is_grave = |finding: &&Finding| finding.severity > Severity::Note;
    let mut grave: Vec<&Finding> = findings.iter().filter(is_grave).collect();
    grave.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let lines = grave.iter().take(REMEDIES_MAX).map(|finding| {
        let level = crate::messages::severity(finding.severity);
        let remedy = verdict::sentence(&finding.remedy.to_string());
        // The mark of what is left out needs two characters.
        let style = Style { width: style.width - 2, ..*style };
        let line = style.wrap(&format!("{level} [{}] {remedy}", finding.check), 0);
        let first = line.lines().next().unwrap_or_default();
        let rest = if first.len() < line.len() { " …" } else { "" };
        style.severity(finding.severity, first) + rest + "\n"
    });
    let mut out: String = lines.collect();
    if grave.len() > REMEDIES_MAX {
        out += &format!("and {}\n", human::counted(grave.len() - REMEDIES_MAX, "more warning"));
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
