//! Whether a verdict and its warnings are right.

use super::situation::Situation;
use super::stage::Made;
use serde_json::Value;

/// What the program said of one made situation.
pub struct Outcome {
    pub situation: &'static str,
    pub draw: u32,
    /// The limits that are right.
    pub right: &'static [&'static str],
    pub limit: String,
    pub confidence: String,
    pub because: String,
    /// Findings that should have been there.
    pub missed: Vec<&'static str>,
    /// Warnings that do not hold.
    pub false_warnings: Vec<String>,
    /// The command line.
    pub line: String,
}

/// Warnings that hold of every run that this harness makes: they are all short.
const ALWAYS_TRUE: [&str; 3] = ["too-short", "too-few-samples", "smaller-than-memory"];

/// Holds what the program said against what was made.
pub fn score(
    situation: &Situation,
    made: &Made,
    draw: u32,
    document: &Value,
    line: String,
) -> Outcome {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let verdict = &document["fathom"]["verdicts"][0];
    let none = Vec::new();
    let findings = document["fathom"]["findings"].as_array().unwrap_or(&none);
    let is_warning = |finding: &&Value| finding["severity"] != "note";
    let holds = |check: &str| {
        ALWAYS_TRUE.contains(&check)
            || situation.must.contains(&check)
            || situation.may.contains(&check)
            || made.may.contains(&check)
    };
    let warnings = findings.iter().filter(is_warning);
    let missed = situation.must.iter().filter(|check| {
        let lasts = verdict["limit"] != "unknown";
        lasts && !findings.iter().any(|finding| finding["check"] == **check)
    });
    Outcome {
        situation: situation.name,
        draw,
        right: made.limits.unwrap_or(situation.limits),
        limit: text(&verdict["limit"]),
        confidence: text(&verdict["confidence"]),
        because: text(&verdict["because"]),
        missed: missed.copied().collect(),
        false_warnings: warnings
            .filter(|finding| !holds(finding["check"].as_str().unwrap_or_default()))
            .map(|finding| format!("{}: {}", text(&finding["check"]), text(&finding["text"])))
            .collect(),
        line,
    }
}

impl Outcome {
    /// Whether the limit is one of the right ones.
    pub fn is_right(&self) -> bool {
        self.right.contains(&self.limit.as_str())
    }

    /// What is wrong with it, as an item of a list.
    pub fn summary(&self) -> String {
        let mut text = format!("- {}, draw {}: ", self.situation, self.draw);
        text += &match self.is_right() {
            true => format!("{} is right", self.limit),
            false => format!(
                "{} ({}) where {} is right",
                self.limit,
                self.confidence,
                self.right.join(" or ")
            ),
        };
        if !self.missed.is_empty() {
            text += &format!("; missed {}", self.missed.join(", "));
        }
        for warning in &self.false_warnings {
            text += &format!("; false warning {warning}");
        }
        text
    }

    /// The outcome in one line, and the details of what is wrong.
    pub fn line(&self) -> String {
        let mark = if self.is_right() { "ok   " } else { "WRONG" };
        let mut text = format!(
            "{mark} {} {}: {} ({}), {}",
            self.situation, self.draw, self.limit, self.confidence, self.because
        );
        if !self.is_right() {
            text += &format!("; expected {}", self.right.join(" or "));
        }
        for check in &self.missed {
            text += &format!("\n      missed: {check}");
        }
        for warning in &self.false_warnings {
            text += &format!("\n      false:  {warning}");
        }
        if text.contains('\n') || !self.is_right() {
            text += &format!("\n      {}", self.line);
        }
        text
    }
}
