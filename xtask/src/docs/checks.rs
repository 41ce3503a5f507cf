//! docs/CHECKS.md: what the checks say of themselves.

use judge::checks::{ALL, Check, CheckFunction, FORMER_IDS, How};
use record::Sentence;

const HEAD: &str = "\
# The checks

<!-- Written by `cargo xtask docs` from the checks in crates/judge/src/checks. -->

After every run, fathom checks what the machine did and whether the figures mean what they seem to
mean. A finding is printed with the id of its check in brackets: `warning [served-from-cache] …`.

| level | meaning |
|---|---|
| note | good to know |
| warning | the figure may not mean what it seems to mean |
| error | something failed |

Each check has two tests. In one the situation exists, and the check reports it. In the other it does
not exist, and the check reports nothing. Tests create the situation with real I/O (*real*) or take it
from the record of a real or an invented machine (*recorded*).

## All checks

";

/// The whole document.
pub fn markdown() -> String {
    let mut out = String::from(HEAD);
    out += "| check | question | tested with | reports in | silent in |\n|---|---|---|---|---|\n";
    for check in ALL {
        let id = check.id;
        out += &format!(
            "| [{id}](#{id}) | {} | {} | {} | {} |\n",
            cell(check.question),
            proof_kind(check),
            test(&check.firing_test()),
            test(&check.silent_test()),
        );
    }
    out.extend(ALL.iter().map(|check| section(check)));
    out
}

fn section(check: &Check) -> String {
    let looks_at = match check.function {
        CheckFunction::Part(_) | CheckFunction::Data(_) | CheckFunction::Run(_) => "each run",
        CheckFunction::Fleet(_) => "each run of several ranks",
        CheckFunction::Set(_) => "runs that repeat each other",
        CheckFunction::Pair(_) => "an earlier and a later run that are compared",
    };
    let cause = Sentence::from(check.cause).to_string();
    let remedy = (check.remedy)().to_string();
    let rows = [
        ("Subject", looks_at),
        ("Evidence", check.evidence),
        ("Reports", check.threshold),
        ("Why these values", check.reason),
        ("Usual cause", &cause),
        ("Cure", &remedy),
    ];
    let mut out = format!("\n## {}\n\n{}\n\n", check.id, check.question);
    if let Some((former, _)) = FORMER_IDS.iter().find(|(_, id)| *id == check.id) {
        out += &format!("Its former id, `{former}`, is still accepted.\n\n");
    }
    for (label, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
        out += &format!("- **{label}:** {}\n", escaped(text));
    }
    out
}

fn proof_kind(check: &Check) -> &'static str {
    match check.proof.how {
        How::Real => "real",
        How::Recorded => "recorded",
    }
}

/// "`a_test`", linked to its file.
fn test(proof: &str) -> String {
    match proof.split_once("::") {
        Some((file, function)) => format!("[`{function}`](../{file})"),
        None => cell(proof),
    }
}

fn cell(text: &str) -> String {
    escaped(text).replace('|', "\\|")
}

/// As text, not as HTML or emphasis.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if matches!(letter, '<' | '>' | '*' | '_' | '`' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_its_line_and_its_section() {
        let text = markdown();
        for check in ALL {
            assert_eq!(text.matches(&format!("\n## {}\n", check.id)).count(), 1, "{}", check.id);
            assert_eq!(text.matches(&format!("\n| [{}](#", check.id)).count(), 1, "{}", check.id);
        }
        assert!(text.lines().filter(|line| line.starts_with("| [")).all(|l| l.ends_with(") |")));
    }

    #[test]
    fn signs_of_markdown_in_a_text_are_text() {
        assert_eq!(cell("a|b <c> /sys/*_d"), "a\\|b \\<c\\> /sys/\\*\\_d");
        assert_eq!(test("x/y.rs::f"), "[`f`](../x/y.rs)");
    }
}
