//! How long a file may be. A file that outgrows its subject is split by subject.

use super::Finding;
use crate::rust_text::without_tests;
use crate::workspace;
use anyhow::Result;
use std::path::Path;

const LINES_MAX: usize = 600;

/// Every Rust file of more than [`LINES_MAX`] lines. Tests do not count.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in workspace::sources(root, &["rs"])? {
        let path = source.path.to_string_lossy();
        if path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs") {
            continue;
        }
        let lines = without_tests(&source.text).lines().count();
        if lines > LINES_MAX {
            let message = format!("{lines} lines, {LINES_MAX} allowed: split it by subject");
            findings.push(Finding::new(&source.path, 0, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    #[test]
    fn one_line_too_many_is_found() {
        let fits = "x();\n".repeat(LINES_MAX);
        let long = format!("{fits}x();\n");
        let tested = format!("{fits}#[cfg(test)]\nmod tests {{\n{fits}}}\n");
        let root = scratch(&[
            ("crates/a/src/fits.rs", &fits),
            ("crates/a/src/long.rs", &long),
            ("crates/a/src/tested.rs", &tested),
            ("crates/a/src/part/tests.rs", &long),
            ("crates/a/src/part_tests.rs", &long),
            ("crates/a/tests/long.rs", &long),
        ]);
        let found = check(root.path()).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, Path::new("crates/a/src/long.rs"));
    }
}
