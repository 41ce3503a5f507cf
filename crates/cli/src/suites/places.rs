//! Default directories for records, and how paths are shown.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The user's directory for records (XDG Base Directory Specification).
fn directory() -> Result<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    let Some(data) = data else {
        bail!("neither XDG_DATA_HOME nor HOME is set; name a directory with --into")
    };
    Ok(data.join("fathom/records"))
}

/// A new path for records of this kind in the user's data directory. The path does not exist yet.
///
/// # Errors
/// When the data directory cannot be created.
pub fn new_directory(kind: &str) -> Result<PathBuf> {
    unused_path(&directory()?, kind, "")
}

/// An unused path with date, time and kind in its name.
fn unused_path(directory: &Path, kind: &str, end: &str) -> Result<PathBuf> {
    fs::create_dir_all(directory)
        .with_context(|| format!("{}: cannot create it", directory.display()))?;
    let now = chrono::Local::now().format("%Y-%m-%dT%H-%M-%S");
    let numbers = std::iter::once(String::new()).chain((2..).map(|n| format!("-{n}")));
    let mut paths = numbers.map(|n| directory.join(format!("{now}-{kind}{n}{end}")));
    Ok(paths.find(|path| !path.exists()).unwrap_or_default())
}

/// The path, with ~ for the home directory.
pub fn shown(path: &Path) -> String {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    match home.and_then(|home| Some(path.strip_prefix(home).ok()?.to_path_buf())) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_paths_have_date_and_kind_and_are_unused() {
        let directory = testbed::scratch();
        let at = directory.path().join("fathom/records");
        let first = unused_path(&at, "test", ".json").unwrap();
        fs::write(&first, "").unwrap();
        let second = unused_path(&at, "test", ".json").unwrap();
        assert!(first.to_str().unwrap().ends_with("-test.json") && first != second);
    }
}
