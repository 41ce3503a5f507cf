//! Whether a verdict and its warnings are right.

use super::situation::Situation;
use super::stage::Made;
use serde_json::Value;

/// What the program said of one made situation.
#[derive(Default)]
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
    let required = || situation.must.iter().chain(&made.must);
    let holds = |check: &str| {
        ALWAYS_TRUE.contains(&check)
            || required().any(|known| *known == check)
            || situation.may.contains(&check)
            || made.may.contains(&check)
    };
    let warnings = findings.iter().filter(is_warning);
    let missed = required().filter(|check| !findings.iter().any(|found| found["check"] == **check));
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HOLES: Situation = Situation {
        name: "holes",
        what: "",
        limits: &["cache"],
        must: &["never-written"],
        may: &["cpu-bound"],
        make: |_| Ok(Made::default()),
    };

    fn scored(limit: &str, findings: &[(&str, &str)]) -> Outcome {
        let finding =
            |(check, severity): &(&str, &str)| json!({"check": check, "severity": severity});
        let findings: Vec<Value> = findings.iter().map(finding).collect();
        let document = json!({"fathom": {"verdicts": [{"limit": limit}], "findings": findings}});
        let made = Made { must: vec!["too-short"], may: vec!["errors"], ..Made::default() };
        score(&HOLES, &made, 0, &document, String::new())
    }

    #[test]
    fn findings_of_the_situation_and_of_the_draw_are_required_whatever_the_limit() {
        for limit in ["cache", "unknown"] {
            assert_eq!(scored(limit, &[]).missed, ["never-written", "too-short"]);
        }
        let found = [("never-written", "warning"), ("too-short", "note")];
        assert!(scored("unknown", &found).missed.is_empty());
    }

    #[test]
    fn warnings_that_nothing_allows_are_false_and_notes_are_not_counted() {
        let found = [
            ("never-written", "warning"),
            ("errors", "error"),
            ("cpu-bound", "warning"),
            ("cpu-starved", "note"),
            ("background-work", "warning"),
        ];
        assert_eq!(scored("cache", &found).false_warnings, ["background-work: "]);
    }
}
