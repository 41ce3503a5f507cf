//! The guide: every document is a chapter, every link leads somewhere, and the README is short.

use super::Finding;
use crate::workspace;
use anyhow::Result;
use std::path::{Path, PathBuf};

const SUMMARY: &str = "docs/SUMMARY.md";

const README: &str = "README.md";
/// What does not fit belongs into the guide.
const README_LINES_MAX: usize = 150;

/// Every broken relative link in a Markdown file, and every document of `docs/` that the summary does
/// not list, and a README that is too long. Test data and build output are not looked at.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut chapters: Vec<PathBuf> = Vec::new();
    let documents = workspace::sources(root, &["md"])?;
    for document in &documents {
        let directory = document.path.parent().unwrap_or(Path::new(""));
        for (line, target) in links(&document.text) {
            let path = directory.join(&target);
            if !root.join(&path).exists() {
                let message = format!("the link to '{target}' leads nowhere");
                findings.push(Finding::new(&document.path, line, message));
            } else if document.path == Path::new(SUMMARY) {
                chapters.push(path);
            }
        }
    }
    for document in &documents {
        let is_chapter = document.path.parent() == Some(Path::new("docs"));
        if is_chapter && document.path != Path::new(SUMMARY) && !chapters.contains(&document.path) {
            let message = format!("{SUMMARY} does not list this document");
            findings.push(Finding::new(&document.path, 0, message));
        }
        let lines = document.text.lines().count();
        if document.path == Path::new(README) && lines > README_LINES_MAX {
            let message =
                format!("{lines} lines, {README_LINES_MAX} allowed: move something to the guide");
            findings.push(Finding::new(&document.path, 0, message));
        }
    }
    Ok(findings)
}

/// Targets of the relative links of a text with their lines, without what stands behind `#`. Code blocks
/// have no links.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for part in line.split("](").skip(1) {
            let target = part.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                found.push((index + 1, target.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    #[test]
    fn a_readme_of_one_line_too_many_is_found() {
        let fits = "a\n".repeat(README_LINES_MAX);
        let long = format!("{fits}a\n");
        let readme =
            |text: &str| scratch(&[(README, text), (SUMMARY, ""), ("python/README.md", &long)]);
        assert!(check(readme(&fits).path()).unwrap().is_empty());
        let found = check(readme(&long).path()).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&*found[0].path, found[0].line), (Path::new(README), 0));
    }

    #[test]
    fn broken_links_and_missing_chapters_are_found() {
        let root = scratch(&[
            ("README.md", "[a](docs/A.md#x) [w](https://example.org) `[x]`\n```\n[c](d)\n```\n"),
            ("docs/SUMMARY.md", "- [A](A.md)\n"),
            ("docs/A.md", "![gone](pictures/gone.svg)\n"),
            ("docs/B.md", "[home](../README.md)\n"),
        ]);
        let found: Vec<String> =
            check(root.path()).unwrap().iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/A.md:1: the link to 'pictures/gone.svg' leads nowhere",
                "docs/B.md: docs/SUMMARY.md does not list this document"
            ]
        );
    }
}
