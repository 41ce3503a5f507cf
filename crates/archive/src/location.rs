//! Where the archive is.

use crate::ArchiveError;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The variable that names it.
const VARIABLE: &str = "FATHOM_ARCHIVE";
/// As what that says that there is to be none.
const OFF: &str = "off";

/// Where an archive is, or is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// Somebody named it: what lies there and is no archive is theirs, and left alone.
    pub is_explicit: bool,
}

impl Location {
    /// The file of this name.
    pub fn explicit(path: impl Into<PathBuf>) -> Location {
        Location { path: path.into(), is_explicit: true }
    }

    /// Whether what lies there could be an archive; what is not there can. Nothing is opened.
    ///
    /// # Errors
    /// What it is instead, or that it cannot be looked at.
    pub fn check(&self) -> Result<(), ArchiveError> {
        crate::open::check(self)
    }

    /// `$XDG_DATA_HOME/fathom/archive.db`, below `~/.local/share` where that is not set (XDG Base
    /// Directory Specification).
    ///
    /// # Errors
    /// When there is no home directory either.
    pub fn standard() -> Result<Location, ArchiveError> {
        let given = env::var_os("XDG_DATA_HOME").map(PathBuf::from);
        let home = || env::home_dir().filter(|home| home.is_absolute());
        let data = given.filter(|path| path.is_absolute());
        let data = data.or_else(|| Some(home()?.join(".local/share")));
        let path = data.ok_or(ArchiveError::NoLocation)?.join("fathom/archive.db");
        Ok(Location { path, is_explicit: false })
    }
}

/// Which archive a call was told to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// None (`--no-archive`, or the variable says "off" or nothing).
    Off,
    /// The file of this name.
    At(PathBuf),
    /// The usual one.
    #[default]
    Standard,
}

impl Choice {
    /// By `--archive` and `--no-archive`, then FATHOM_ARCHIVE, then the usual one.
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

    /// Where that is; `None`: nowhere.
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
