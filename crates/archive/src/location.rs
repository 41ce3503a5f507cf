//! The location of the archive.

use crate::ArchiveError;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The environment variable that names the archive.
const VARIABLE: &str = "FATHOM_ARCHIVE";
/// The value of the variable that disables the archive.
const OFF: &str = "off";

/// The file of an archive, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// The user named it. A file there that is not an archive is left alone.
    pub is_explicit: bool,
}

impl Location {
    /// A file that the user named.
    pub fn explicit(path: impl Into<PathBuf>) -> Location {
        Location { path: path.into(), is_explicit: true }
    }

    /// `$XDG_DATA_HOME/fathom/archive.db`, below `~/.local/share` where that is not set (XDG Base
    /// Directory Specification).
    ///
    /// # Errors
    /// When there is no home directory.
    pub fn standard() -> Result<Location, ArchiveError> {
        let given = env::var_os("XDG_DATA_HOME").map(PathBuf::from);
        let home = || env::home_dir().filter(|home| home.is_absolute());
        let data = given.filter(|path| path.is_absolute());
        let data = data.or_else(|| Some(home()?.join(".local/share")));
        let path = data.ok_or(ArchiveError::NoLocation)?.join("fathom/archive.db");
        Ok(Location { path, is_explicit: false })
    }
}

/// The archive that the options and the environment select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// None (`--no-archive`, or the variable is "off" or empty).
    Off,
    /// This file.
    At(PathBuf),
    /// The standard location.
    #[default]
    Standard,
}

impl Choice {
    /// From `--archive` and `--no-archive`, then FATHOM_ARCHIVE, then the standard location.
    pub fn from_options(path: Option<&Path>, off: bool) -> Choice {
        Choice::from_values(path, off, env::var_os(VARIABLE).as_deref())
    }

    fn from_values(path: Option<&Path>, off: bool, variable: Option<&OsStr>) -> Choice {
        match (path, off, variable) {
            (_, true, _) => Choice::Off,
            (Some(path), false, _) => Choice::At(path.to_owned()),
            (None, false, Some(value)) if value.is_empty() || value == OFF => Choice::Off,
            (None, false, Some(value)) => Choice::At(value.into()),
            (None, false, None) => Choice::Standard,
        }
    }

    /// The location; `None` without an archive.
    ///
    /// # Errors
    /// See [`Location::standard`].
    pub fn location(&self) -> Result<Option<Location>, ArchiveError> {
        match self {
            Choice::Off => Ok(None),
            Choice::At(path) => Ok(Some(Location::explicit(path))),
            Choice::Standard => Location::standard().map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_before_the_variable() {
        let by = |path: Option<&str>, off, variable: Option<&str>| {
            Choice::from_values(path.map(Path::new), off, variable.map(OsStr::new))
        };
        let at = |path: &str| Choice::At(path.into());
        assert_eq!(by(Some("a.db"), false, Some("b.db")), at("a.db"));
        assert_eq!(by(Some("a.db"), false, Some("off")), at("a.db"));
        assert_eq!(by(None, true, Some("b.db")), Choice::Off);
        assert_eq!(by(None, false, Some("b.db")), at("b.db"));
        assert_eq!(by(None, false, Some("")), Choice::Off);
        assert_eq!(by(None, false, Some("off")), Choice::Off);
        assert_eq!(by(None, false, None), Choice::Standard);
    }
}
