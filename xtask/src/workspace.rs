//! Where the workspace is and which files it has.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Root of the workspace: the directory above this crate. cargo names the crate at run time, so a
/// moved checkout still finds itself.
pub fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
}

/// A source file, read once.
pub struct Source {
    /// Path below the root.
    pub path: PathBuf,
    /// All of its text.
    pub text: String,
}

/// Every file under `root` whose extension is one of `extensions`, sorted by path. Build output and
/// version control are left out, and so is what is not UTF-8: job files of tests may be anything.
pub fn sources(root: &Path, extensions: &[&str]) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    walk(root, &mut paths)?;
    paths.retain(|path| {
        path.extension().and_then(OsStr::to_str).is_some_and(|found| extensions.contains(&found))
    });
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        if let Ok(text) = String::from_utf8(bytes) {
            let path = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            sources.push(Source { path, text });
        }
    }
    Ok(sources)
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let reading = || format!("reading directory {}", directory.display());
    for entry in fs::read_dir(directory).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        let name = entry.file_name();
        if name == "target" || name == ".git" {
            continue;
        }
        let kind = entry.file_type().with_context(reading)?;
        if kind.is_dir() {
            walk(&entry.path(), found)?;
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// The directories under `root` that hold a crate, sorted: `crates/*` and `xtask`.
pub fn crates(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let crates = root.join("crates");
    if crates.is_dir() {
        for entry in fs::read_dir(&crates)? {
            found.push(entry?.path());
        }
    }
    found.push(root.join("xtask"));
    found.retain(|path| path.join("Cargo.toml").is_file());
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_holds_this_crate() {
        assert!(root().join("xtask/Cargo.toml").is_file());
    }

    #[test]
    fn sources_leave_out_build_output_and_what_is_not_text() {
        let scratch = tempfile::tempdir().unwrap();
        for directory in ["target", ".git", "crates/a/src"] {
            fs::create_dir_all(scratch.path().join(directory)).unwrap();
        }
        for path in ["target/x.rs", ".git/x.rs", "crates/a/src/b.rs", "crates/a/src/a.rs", "a.txt"]
        {
            fs::write(scratch.path().join(path), "text").unwrap();
        }
        fs::write(scratch.path().join("crates/a/src/c.rs"), [0xff, 0xfe]).unwrap();
        let found: Vec<_> =
            sources(scratch.path(), &["rs"]).unwrap().into_iter().map(|s| s.path).collect();
        assert_eq!(found, [Path::new("crates/a/src/a.rs"), Path::new("crates/a/src/b.rs")]);
    }
}
