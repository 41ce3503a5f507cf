//! How long a function may be, in tests as well. A longer one does more than one thing.

use super::Finding;
use crate::rust_text::code_only;
use crate::workspace;
use anyhow::Result;
use std::path::Path;

const LINES_MAX: usize = 60;

/// Every function of more than [`LINES_MAX`] lines, from its name to its closing brace.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in workspace::sources(root, &["rs"])? {
        for (line, name, lines) in functions(&code_only(&source.text)) {
            if lines > LINES_MAX {
                let message = format!("{name} has {lines} lines, {LINES_MAX} allowed: split it");
                findings.push(Finding::new(&source.path, line, message));
            }
        }
    }
    Ok(findings)
}

/// Line, name and number of lines of every function with a body.
fn functions(code: &str) -> Vec<(usize, &str, usize)> {
    let begins = code
        .match_indices("fn ")
        .filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    let mut found = Vec::new();
    for (at, word) in begins {
        let text = &code[at + word.len()..];
        let name = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        let Some(length) = body_end(text).filter(|_| !name.is_empty()) else { continue };
        let line = code[..at].matches('\n').count() + 1;
        found.push((line, name, text[..length].matches('\n').count() + 1));
    }
    found
}

/// Where the body behind a function's name ends. Nothing for one that is only declared.
fn body_end(text: &str) -> Option<usize> {
    // Brackets of the signature: an array type has a semicolon.
    let (mut braces, mut brackets) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => braces += 1,
            '}' if braces == 1 => return Some(at),
            '}' => braces -= 1,
            '[' | '(' if braces == 0 => brackets += 1,
            ']' | ')' if braces == 0 => brackets -= 1,
            ';' if braces == 0 && brackets == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    #[test]
    fn one_line_too_many_is_found_with_its_place() {
        let body = |lines: usize| "    x();\n".repeat(lines);
        let fits = format!("fn fits() {{\n{}}}\n", body(LINES_MAX - 2));
        let long =
            format!("impl A {{\n    fn long(a: [u8; 2]) {{\n{}    }}\n}}\n", body(LINES_MAX - 1));
        let declared =
            format!("trait B {{\n    fn declared(&self);\n{}}}\n", "\n".repeat(LINES_MAX));
        let text = [fits, long, declared].concat();
        let root = scratch(&[("crates/a/tests/x.rs", &text)]);
        let found: Vec<String> =
            check(root.path()).unwrap().iter().map(Finding::to_string).collect();
        let line = LINES_MAX + 2;
        assert_eq!(
            found,
            [format!("crates/a/tests/x.rs:{line}: long has 61 lines, 60 allowed: split it")]
        );
    }
}
