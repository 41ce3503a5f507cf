//! Every check is in a file of its name and names two tests that are there, and every test that the
//! documents name is there as well.

use super::Finding;
use anyhow::Result;
use judge::checks::ALL;
use std::fs;
use std::path::Path;

/// Every check whose file, or whose tests, are not where it says.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let checks: Vec<_> =
        ALL.iter().map(|check| (check.id, [check.firing_test(), check.silent_test()])).collect();
    let mut findings = check_proofs(root, &checks);
    for document in ["docs/FIO-DIFFERENCES.md", "docs/ENGINES.md"] {
        findings.extend(check_document(root, document)?);
    }
    Ok(findings)
}

/// Tests that a document names, in backquotes as `file::function`, and that are not there.
fn check_document(root: &Path, document: &str) -> Result<Vec<Finding>> {
    let text = fs::read_to_string(root.join(document))?;
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let named = line.split('`').filter(|word| word.contains(".rs::"));
        for proof in named.filter(|proof| !is_test(root, proof)) {
            let message = format!("names the test {proof}, which is not there");
            findings.push(Finding::new(document, number, message));
        }
    }
    Ok(findings)
}

fn check_proofs(root: &Path, checks: &[(&str, [impl AsRef<str>; 2])]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, (id, proofs)) in checks.iter().enumerate() {
        let file = format!("crates/judge/src/checks/{}.rs", id.replace('-', "_"));
        let mut wrong = |message: String| findings.push(Finding::new(&file, 0, message));
        if !root.join(&file).is_file() {
            wrong(format!("the check {id} is not in the file of its name"));
        }
        if checks[..index].iter().any(|(other, _)| other == id) {
            wrong(format!("there are two checks {id}"));
        }
        for proof in proofs.iter().map(AsRef::as_ref).filter(|proof| !is_test(root, proof)) {
            wrong(format!("{id} says it is proven by {proof}, and there is no such test"));
        }
    }
    findings
}

/// Whether `file::function` is a test of that file.
fn is_test(root: &Path, proof: &str) -> bool {
    let Some((file, function)) = proof.split_once("::") else { return false };
    let Ok(text) = fs::read_to_string(root.join(file)) else { return false };
    let mut attribute = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            attribute = true;
        } else if !line.starts_with("#[") {
            if attribute && line.starts_with(&format!("fn {function}(")) {
                return true;
            }
            attribute = false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    #[test]
    fn a_test_that_a_document_names_must_be_there() {
        let root = scratch(&[
            ("docs/D.md", "| a | `x.rs::there` |\n| b | `x.rs::gone`, `other` |\n"),
            ("x.rs", "#[test]\nfn there() {}\n"),
        ]);
        let found = check_document(root.path(), "docs/D.md").unwrap();
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["docs/D.md:2: names the test x.rs::gone, which is not there"]);
    }

    #[test]
    fn a_proof_that_is_no_test_is_found() {
        let tests =
            "#[test]\nfn fires() {}\n\n#[test]\n#[cfg(unix)]\nfn silent() {}\n\nfn helper() {}\n";
        let root = scratch(&[
            ("crates/judge/src/checks/two_words.rs", ""),
            ("crates/cli/tests/checks/x.rs", tests),
        ]);
        let file = |function: &str| format!("crates/cli/tests/checks/x.rs::{function}");
        let (fires, silent, helper) = (file("fires"), file("silent"), file("helper"));
        let good = ("two-words", [fires.as_str(), silent.as_str()]);
        assert!(check_proofs(root.path(), &[good]).is_empty());
        let bad = [
            ("two-words", [fires.as_str(), helper.as_str()]),
            ("two-words", [fires.as_str(), "nowhere.rs::x"]),
            ("three", [fires.as_str(), "x"]),
        ];
        let found: Vec<String> =
            check_proofs(root.path(), &bad).iter().map(ToString::to_string).collect();
        let says = ["proven by crates/cli/tests/checks/x.rs::helper", "two checks", "by nowhere"];
        for (found, says) in found.iter().zip(says) {
            assert!(found.contains(says), "{found}");
        }
        assert!(found[3].contains("not in the file of its name"), "{found:?}");
        assert_eq!(found.len(), 5, "{found:?}");
    }
}
