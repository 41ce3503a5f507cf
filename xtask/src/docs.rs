//! `cargo xtask docs`: the documents generated from the options table and from the checks.

mod checks;

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// A generated document: its path below the root, and what makes its text from the present one.
pub type Document = (&'static str, fn(&str) -> String);

/// Every generated document.
pub const DOCUMENTS: &[Document] = &[
    ("docs/options.md", |_| job::docs::markdown()),
    ("docs/CHECKS.md", |_| checks::markdown()),
    ("CONTRIBUTING.md", crate::rooms::contributing),
];

/// Writes every document below `root`.
pub fn write(root: &Path) -> Result<()> {
    for (name, text) in DOCUMENTS {
        let path = root.join(name);
        let writing = || format!("writing {}", path.display());
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).with_context(writing)?;
        }
        let present = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, text(&present)).with_context(writing)?;
        println!("{name}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_written_where_tidy_reads_them() {
        let root = tempfile::tempdir().unwrap();
        write(root.path()).unwrap();
        for (name, text) in DOCUMENTS {
            assert_eq!(fs::read_to_string(root.path().join(name)).unwrap(), text(""));
        }
    }
}
