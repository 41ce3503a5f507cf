//! Sweeps: their directory, their tables.

pub mod directory;
mod tables;

use crate::style::Style;
use crate::suite::{duration, findings, paragraph};
use crate::verdict::sentence;
use judge::Finding;
use record::{Severity, human};
use suite::sweep::{Conclusion, Failed, Limited};

/// Cells named where many are meant.
const NAMED: usize = 4;

/// `fathom sweep`: its tables, what limited the cells, what was found. `repeats`: runs of each cell.
pub fn text(conclusion: &Conclusion, repeats: u32, style: &Style) -> String {
    let mut out = tables::text(conclusion, repeats as usize, style);
    out += &made(conclusion, style);
    out.extend(conclusion.failures.iter().map(|failed| failure(failed, style)));
    out += &limits(conclusion, style);
    let counted = |finding: &Finding| Finding {
        text: finding.text.clone().text(count(finding.jobs.len(), conclusion.cells)),
        ..finding.clone()
    };
    out += &findings(&conclusion.findings.iter().map(counted).collect::<Vec<_>>(), style);
    if let Some(signal) = conclusion.interrupted_by {
        let line = format!("Ended early by signal {signal}: what was measured is kept.");
        out += &format!("\n{line}\n");
    }
    out
}

/// How much of the sweep there is.
fn made(conclusion: &Conclusion, style: &Style) -> String {
    let Conclusion { made, planned, cells, .. } = conclusion;
    let line = match made == planned {
        true => format!("{cells} cells, {made} runs in {}.", duration(conclusion.took)),
        false => format!("{made} of {planned} runs were made; the others are missing above."),
    };
    paragraph(&line, 0, style)
}

/// " (in 3 of 12 cells)"; nothing where there is one cell, or none is named.
fn count(found: usize, cells: usize) -> String {
    match found {
        0 => String::new(),
        _ if cells < 2 => String::new(),
        _ => format!(" (in {found} of {cells} cells)"),
    }
}

/// "a, b, c, d and 3 more".
fn some(names: &[String]) -> String {
    let first = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn failure(failed: &Failed, style: &Style) -> String {
    let mut cells: Vec<String> = Vec::new();
    for cell in &failed.cells {
        if !cells.contains(cell) {
            cells.push(cell.clone());
        }
    }
    let runs = human::counted(failed.cells.len(), "run");
    let line = format!("{runs} failed ({}): {}", some(&cells), failed.text);
    style.severity(Severity::Error, &style.wrap(&line, 0)) + "\n"
}

/// What limited the cells: each limit once.
fn limits(conclusion: &Conclusion, style: &Style) -> String {
    if conclusion.limited.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.bold("Verdict"));
    for Limited { verdict, cells } in &conclusion.limited {
        let heading = format!(
            "limited by: {}, confidence: {}{}: {}",
            verdict.limit.name(),
            verdict.confidence.name(),
            count(cells.len(), conclusion.cells),
            some(cells)
        );
        out += &(style.bold(&style.wrap(&heading, 2)) + "\n");
        out += &paragraph(&format!("{}: {}", verdict.job, verdict.because), 4, style);
        out += &paragraph(&sentence(&verdict.use_for), 4, style);
    }
    out
}

#[cfg(test)]
pub(crate) mod tests;
