//! Layout that rustfmt does not see to: in Markdown, TOML and job files, in long literals, and in
//! comments.

use super::Finding;
use crate::workspace::{self, Source};
use anyhow::Result;
use std::path::Path;

/// Trailing blanks, tabs, carriage returns and a last line without its end, in every source. Files
/// under `tests/` that are not Rust are data and may hold what they like.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in workspace::sources(root, &["rs", "toml", "md", "fio", "sh"])? {
        let rust = source.path.extension().is_some_and(|found| found == "rs");
        if rust || !source.path.components().any(|part| part.as_os_str() == "tests") {
            findings.extend(check_source(&source));
        }
        if rust {
            findings.extend(examples_in_comments(&source));
        }
    }
    Ok(findings)
}

fn check_source(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.text.split('\n').enumerate() {
        let wrong = match line {
            _ if line.ends_with('\r') => "carriage return at the end of the line",
            _ if line.ends_with([' ', '\t']) => "blank at the end of the line",
            _ if line.contains('\t') => "tab: indent with spaces, write \\t in a literal",
            _ => continue,
        };
        findings.push(Finding::new(&source.path, index + 1, wrong));
    }
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        let last = source.text.lines().count();
        findings.push(Finding::new(&source.path, last, "the last line does not end"));
    }
    findings
}

/// Blocks of code in doc comments. `cargo xtask test` does not run `cargo test --doc`, which compiles
/// every dependency again, so nothing would notice an example that no longer compiles.
fn examples_in_comments(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_open = false;
    for (index, line) in source.text.lines().enumerate() {
        let comment = line.trim_start();
        let Some(text) = comment.strip_prefix("//! ```").or(comment.strip_prefix("/// ```")) else {
            continue;
        };
        is_open = !is_open;
        if is_open && text != "text" {
            let wrong = "nothing compiles this example: make it a test, or begin it with ```text";
            findings.push(Finding::new(&source.path, index + 1, wrong));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    #[test]
    fn each_fault_is_found() {
        for text in ["a\nb \nc\n", "a\n\tb\n", "a\nb\r\n", "a\nb"] {
            let root = scratch(&[("examples/a.fio", text)]);
            let found = check(root.path()).unwrap();
            assert_eq!(found.len(), 1, "{text:?}: {found:?}");
            assert_eq!(found[0].line, 2, "{text:?}");
        }
    }

    #[test]
    fn an_example_that_nothing_compiles_is_found() {
        let text = "//! ```text\n//! a\n//! ```\n\n/// ```\n/// let a = 1;\n/// ```\nfn f() {}\n";
        let found = check(scratch(&[("crates/a/src/lib.rs", text)]).path()).unwrap();
        assert_eq!(found.iter().map(|one| one.line).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn data_of_tests_is_left_alone() {
        let root = scratch(&[
            ("crates/a/tests/data/crlf.fio", "[a]\r\n"),
            ("crates/a/src/lib.rs", "//! A.\n"),
        ]);
        assert_eq!(check(root.path()).unwrap(), []);
    }
}
