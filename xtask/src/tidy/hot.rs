//! What may not stand in the hot loop. It runs tens of millions of times a second: choices are made
//! before it, and nothing in it allocates, locks, prints or dispatches.

use super::Finding;
use crate::rust_text::{code_only, lines_with, without_tests};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The loop, and what is inlined into it.
const HOT: [&str; 2] = ["crates/engine/src/hot/mod.rs", "crates/engine/src/hot/inline.rs"];
const LINES_MAX: usize = 249;
const BANNED: &[&str] = &[
    "dyn",
    "Box",
    "Vec::new",
    "vec!",
    "String",
    "format!",
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "Mutex",
    "RwLock",
    ".clone()",
    ".to_vec()",
    ".to_string()",
    ".to_owned()",
];

/// Banned words of the hot loop's code, and a loop too long to be read at once.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in HOT {
        findings.extend(of_file(root, file)?);
    }
    findings.sort();
    Ok(findings)
}

fn of_file(root: &Path, file: &str) -> Result<Vec<Finding>> {
    let text = fs::read_to_string(root.join(file)).with_context(|| format!("reading {file}"))?;
    let text = without_tests(&text);
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > LINES_MAX {
        let message = format!("{lines} lines, {LINES_MAX} allowed: it must be read at once");
        findings.push(Finding::new(file, 0, message));
    }
    let code = code_only(text);
    for word in BANNED {
        for line in lines_with(&code, word) {
            let message = format!("'{word}' in the hot loop: make the choice before the loop");
            findings.push(Finding::new(file, line, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    /// What is found when `file` holds `text` and the others nothing.
    fn found_in(file: &str, text: &str) -> Vec<Finding> {
        let root = scratch(&HOT.map(|hot| (hot, if hot == file { text } else { "" })));
        check(root.path()).unwrap()
    }

    #[test]
    fn every_banned_word_is_found() {
        for code in [
            "fn a(x: Box<dyn Fn()>) {}",
            "fn a(x: &dyn Fn()) {}",
            "let x = format!(\"{y}\");",
            "println!();",
            "use std::sync::Mutex;",
            "let x = y.clone();",
            "let x = Vec::new();",
            "let x = String::from(y);",
        ] {
            for file in HOT {
                let found = found_in(file, &format!("// first\n{code}\n"));
                assert!(!found.is_empty(), "{code}");
                assert!(found.iter().all(|finding| finding.line == 2), "{found:?}");
            }
        }
    }

    #[test]
    fn words_in_comments_and_tests_pass() {
        let text = "// no Mutex, no dyn here\nfn a(dynamic: u8) {}\n#[cfg(test)]\nmod tests {\n    \
                    use std::sync::Mutex;\n}\n";
        assert_eq!(found_in(HOT[0], text), []);
    }

    #[test]
    fn a_long_loop_is_found() {
        assert_eq!(found_in(HOT[0], &"x();\n".repeat(LINES_MAX + 1)).len(), 1);
    }
}
