//! Generated documents are those that the present tables make.

use super::Finding;
use crate::docs::{DOCUMENTS, Document};
use anyhow::{Context, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Every document that is not there or is not what its generator writes now.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    check_documents(root, DOCUMENTS)
}

fn check_documents(root: &Path, documents: &[Document]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, text) in documents {
        let found = match fs::read_to_string(root.join(name)) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("reading {name}")),
        };
        let expected = text(&found);
        if found != expected {
            let same = found.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
            let message = "not what its table makes: run cargo xtask docs";
            findings.push(Finding::new(name, same + 1, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    #[test]
    fn an_old_or_missing_document_is_found() {
        let root = scratch(&[("docs/old.md", "a\nb\n"), ("docs/new.md", "a\nc\n")]);
        let documents: &[Document] = &[
            ("docs/old.md", |_| "a\nc\n".to_string()),
            ("docs/new.md", |_| "a\nc\n".to_string()),
            ("docs/missing.md", |_| "a\nc\n".to_string()),
        ];
        let found = check_documents(root.path(), documents).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].path.as_path(), found[0].line), (Path::new("docs/old.md"), 2));
        assert_eq!((found[1].path.as_path(), found[1].line), (Path::new("docs/missing.md"), 1));
    }
}
