//! `cargo xtask docs`: the documents generated from the options table and from the checks.

mod checks;

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// A generated document: its path below the root, and what makes its text.
pub type Document = (&'static str, fn() -> String);

/// Every generated document.
pub const DOCUMENTS: &[Document] = &[
    ("docs/options.md", job::docs::markdown),
    ("docs/fathom.1", job::docs::man),
    ("docs/CHECKS.md", checks::markdown),
];

/// Writes every document below `root`.
pub fn write(root: &Path) -> Result<()> {
    for (name, text) in DOCUMENTS {
        let path = root.join(name);
        let writing = || format!("writing {}", path.display());
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).with_context(writing)?;
        }
        fs::write(&path, text()).with_context(writing)?;
        println!("{name}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    #[test]
    fn documents_are_written_where_tidy_reads_them() {
        let root = tempfile::tempdir().unwrap();
        write(root.path()).unwrap();
        for (name, text) in DOCUMENTS {
            assert_eq!(fs::read_to_string(root.path().join(name)).unwrap(), text());
        }
    }

    #[test]
    fn the_man_page_renders_without_a_warning() {
        let mut groff = Command::new("groff")
            .args(["-man", "-Tutf8", "-Kutf8", "-ww", "-z"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("groff, which cargo xtask test installs");
        groff.stdin.take().unwrap().write_all(job::docs::man().as_bytes()).unwrap();
        let done = groff.wait_with_output().unwrap();
        let warnings = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && warnings.is_empty(), "{warnings}");
    }
}
