//! Where records of suites are kept when nobody says where.

use anyhow::{Context, Result, bail};
use record::RecordSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a set is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nowhere.
    No,
    /// In a file.
    At(PathBuf),
    /// Among the user's data.
    Usual,
}

impl Keep {
    /// From `--record` and `--no-record`.
    pub fn of(record: Option<PathBuf>, no_record: bool) -> Keep {
        match (record, no_record) {
            (_, true) => Keep::No,
            (Some(path), false) => Keep::At(path),
            (None, false) => Keep::Usual,
        }
    }

    /// Better found before an hour of measuring than after it.
    ///
    /// # Errors
    /// When the directory of a file that was named is not there.
    pub fn check(&self) -> Result<()> {
        let Keep::At(path) = self else { return Ok(()) };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if parent.is_some_and(|parent| !parent.is_dir()) {
            let text =
                format!("--record={}: its directory is not there; make it first", path.display());
            return Err(super::Refusal::usage(text));
        }
        Ok(())
    }

    /// Keeps a set; where it is now, `None` where it was not to be kept.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, set: &RecordSet) -> Result<Option<PathBuf>> {
        let path = match self {
            Keep::No => return Ok(None),
            Keep::At(path) => path.clone(),
            Keep::Usual => usual(&directory()?, &set.kind)?,
        };
        report::native::save_set(set, &path)?;
        Ok(Some(path))
    }
}

/// The user's directory for records (XDG Base Directory Specification).
fn directory() -> Result<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    let Some(data) = data else {
        bail!("neither XDG_DATA_HOME nor HOME is set: name a file with --record")
    };
    Ok(data.join("fathom/records"))
}

/// A name by date, time and kind that is not taken.
fn usual(directory: &Path, kind: &str) -> Result<PathBuf> {
    fs::create_dir_all(directory)
        .with_context(|| format!("{}: cannot be made", directory.display()))?;
    let now = chrono::Local::now().format("%Y-%m-%dT%H-%M-%S");
    let numbers = std::iter::once(String::new()).chain((2..).map(|n| format!("-{n}")));
    let mut paths = numbers.map(|n| directory.join(format!("{now}-{kind}{n}.json")));
    Ok(paths.find(|path| !path.exists()).unwrap_or_default())
}

/// A path below the home directory as people write it.
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
    fn names_are_by_date_and_kind_and_never_taken() {
        let directory = testbed::scratch();
        let at = directory.path().join("fathom/records");
        let first = usual(&at, "test").unwrap();
        fs::write(&first, "").unwrap();
        let second = usual(&at, "test").unwrap();
        assert!(first.to_str().unwrap().ends_with("-test.json") && first != second);
    }

    #[test]
    fn a_file_in_a_missing_directory_is_found_before() {
        assert!(Keep::At("/nowhere/at/all.json".into()).check().is_err());
        assert!(Keep::At("here.json".into()).check().is_ok());
        assert!(Keep::of(Some("x".into()), true).check().is_ok());
        assert_eq!(Keep::No.save(&RecordSet::default()).unwrap(), None);
    }
}
