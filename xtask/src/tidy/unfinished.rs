//! Marks of unfinished work. What is not done is an issue, not a comment; what was merged has no two
//! sides.

use super::Finding;
use crate::rust_text::lines_with;
use crate::workspace;
use anyhow::Result;
use std::path::Path;

/// Put together here, so that this file does not find itself.
const MARKS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("<<<<", "<<<"),
    concat!(">>>>", ">>>"),
];

/// Every mark of unfinished work, in code and in comments.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in workspace::sources(root, &["rs", "toml", "md", "fio", "sh"])? {
        for mark in MARKS {
            for line in lines_with(&source.text, mark) {
                let message = format!("'{mark}': finish it, or open an issue and say what holds");
                findings.push(Finding::new(&source.path, line, message));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    #[test]
    fn marks_are_found() {
        for mark in MARKS {
            let root = scratch(&[("crates/a/src/lib.rs", &format!("//! A.\n// {mark}: later\n"))]);
            let found = check(root.path()).unwrap();
            assert_eq!(found.len(), 1, "{mark}: {found:?}");
            assert_eq!(found[0].line, 2);
        }
    }
}
