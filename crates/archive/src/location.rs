//! The location of the archive.

use crate::ArchiveError;
use crate::database::server::{self, Address};
use record::without_password;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The environment variable that names the archive.
const VARIABLE: &str = "FATHOM_ARCHIVE";
/// The value of the variable that disables the archive.
const OFF: &str = "off";

/// The file of an archive, which may not exist yet, or the address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, or `postgres://…`.
    pub path: PathBuf,
    /// Whether the user named it. An existing file that is not an archive is left alone.
    pub is_explicit: bool,
}

impl Location {
    /// A file or a server that the user named.
    pub fn explicit(path: impl Into<PathBuf>) -> Location {
        Location { path: path.into(), is_explicit: true }
    }

    /// `archive.db` in `$XDG_DATA_HOME/fathom`. The default of `$XDG_DATA_HOME` is `~/.local/share` (XDG Base
    /// Directory Specification).
    ///
    /// # Errors
    /// When there is no home directory.
    pub fn standard() -> Result<Location, ArchiveError> {
        Ok(Location { path: data_directory()?.join("archive.db"), is_explicit: false })
    }

    /// The address, if it is a server.
    pub fn server(&self) -> Option<&str> {
        self.path.to_str().filter(|_| server::is_address(&self.path))
    }

    /// The same, parsed.
    pub(crate) fn address(&self) -> Result<Option<Address>, ArchiveError> {
        let wrong = |reason| ArchiveError::Address { address: self.shown(), reason };
        self.server().map(Address::parse).transpose().map_err(wrong)
    }

    /// The file, or the server's address without its password.
    pub fn shown(&self) -> PathBuf {
        self.server().map_or_else(|| self.path.clone(), |address| without_password(address).into())
    }
}

/// The directory of fathom's data: `$XDG_DATA_HOME/fathom`. The default of `$XDG_DATA_HOME` is
/// `~/.local/share` (XDG Base Directory Specification).
///
/// # Errors
/// When there is no home directory.
pub(crate) fn data_directory() -> Result<PathBuf, ArchiveError> {
    let data_home = env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let home = || env::home_dir().filter(|home| home.is_absolute());
    let data = data_home.filter(|path| path.is_absolute());
    let data = data.or_else(|| Some(home()?.join(".local/share")));
    Ok(data.ok_or(ArchiveError::NoLocation)?.join("fathom"))
}

/// The archive that the options and the environment select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// None (`--no-archive`, or the variable is "off" or empty).
    Off,
    /// This file or server.
    At(PathBuf),
    /// The standard location.
    #[default]
    Standard,
}

impl Choice {
    /// Chooses by `--archive` and `--no-archive`, else by FATHOM_ARCHIVE, else the standard location.
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
    fn options_override_the_variable() {
        let choose = |path: Option<&str>, off, variable: Option<&str>| {
            Choice::from_values(path.map(Path::new), off, variable.map(OsStr::new))
        };
        let at = |path: &str| Choice::At(path.into());
        assert_eq!(choose(Some("a.db"), false, Some("b.db")), at("a.db"));
        assert_eq!(choose(Some("a.db"), false, Some("off")), at("a.db"));
        assert_eq!(choose(None, true, Some("b.db")), Choice::Off);
        assert_eq!(choose(None, false, Some("b.db")), at("b.db"));
        assert_eq!(choose(None, false, Some("")), Choice::Off);
        assert_eq!(choose(None, false, Some("off")), Choice::Off);
        assert_eq!(choose(None, false, None), Choice::Standard);
    }
}
