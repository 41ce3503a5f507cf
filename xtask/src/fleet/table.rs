//! The table of the proofs.

use super::scale::Scale;
use std::fmt::Write;

/// What a proof with one launcher gave.
pub struct Row {
    /// What was to hold.
    pub what: String,
    pub launcher: &'static str,
    /// Draws in which it held, of all.
    pub held: u32,
    pub draws: u32,
    /// The figure that was measured, with its goal.
    pub figure: String,
    /// What was seen in each draw in which it did not hold.
    pub failures: Vec<String>,
}

impl Row {
    pub fn new(what: String, launcher: &'static str) -> Row {
        let (figure, failures) = (String::new(), Vec::new());
        Row { what, launcher, held: 0, draws: 0, figure, failures }
    }

    /// Counts a draw; the error is what was seen instead.
    pub fn count(&mut self, outcome: Result<(), String>) {
        self.draws += 1;
        match outcome {
            Ok(()) => self.held += 1,
            Err(seen) => {
                eprintln!("draw {}: {seen}", self.draws);
                self.failures.push(format!("draw {}: {seen}", self.draws));
            }
        }
    }

    /// Whether it held in every draw.
    pub fn holds(&self) -> bool {
        self.held == self.draws
    }
}

/// The document.
pub fn render(rows: &[Row], facts: &[String], scale: Scale) -> String {
    let mut text = format!(
        "# Proof of one measurement of many ranks\n\n`cargo xtask fleet --seed={}` started up to {} ranks on \
         this machine, {} times for each proof and launcher.\n\n",
        scale.seed, scale.ranks, scale.draws
    );
    for fact in facts {
        text += &format!("- {fact}\n");
    }
    text += "\n| what holds | launcher | held | figures |\n|---|---|--:|---|\n";
    for row in rows {
        let Row { what, launcher, held, draws, figure, .. } = row;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {what} | {launcher} | {held} of {draws} | {figure} |");
    }
    for row in rows.iter().filter(|row| !row.failures.is_empty()) {
        text += &format!("\n{}, {}:\n\n", row.what, row.launcher);
        for failure in &row.failures {
            text += &format!("- {failure}\n");
        }
    }
    text
}
