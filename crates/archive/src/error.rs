//! Errors of an archive.

use crate::RunId;
use crate::database::DatabaseError;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why an operation on the archive failed.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The location of the archive is not known.
    #[error(
        "the location of the archive is unknown: neither XDG_DATA_HOME nor a home directory is set; \
         name a file with --archive or FATHOM_ARCHIVE"
    )]
    NoLocation,
    /// There is no archive to read.
    #[error("{path}: there is no archive yet; the first run makes it")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The directory of an explicitly named archive does not exist.
    #[error(
        "{path}: its directory is not there; make it first, or name another file with --archive or \
         FATHOM_ARCHIVE"
    )]
    NoDirectory {
        /// The file.
        path: PathBuf,
    },
    /// The file is not an archive; it was left alone.
    #[error(
        "{path}: this is {what}, not an archive of fathom, and was left alone; name another file \
         with --archive or FATHOM_ARCHIVE"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What the file is instead.
        what: &'static str,
    },
    /// A newer program created the archive.
    #[error(
        "{path}: this archive has schema {found}, and this fathom reads schemas up to {known}: use a \
         newer fathom, or another file with --archive"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema of the archive.
        found: i64,
        /// Newest schema that this program reads.
        known: i64,
    },
    /// The address of a server has a mistake.
    #[error("{address}: {reason}; expected postgres://USER@HOST:PORT/DATABASE")]
    Address {
        /// As typed, without its password.
        address: PathBuf,
        /// The mistake.
        reason: String,
    },
    /// The file is damaged.
    #[error("{path}: the archive is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        reason: String,
    },
    /// The system refuses an operation.
    #[error("{path}: {reason}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// No run or set has this name.
    #[error(
        "no run is called '{name}': give an id or four or more digits it begins with, a tag, latest or latest~2{near}"
    )]
    Unknown {
        /// As typed.
        name: String,
        /// A suggestion of a similar tag, to append; empty if there is none.
        near: String,
    },
    /// Several runs or sets have this name.
    #[error("'{name}' is the name of several: {candidates}")]
    Ambiguous {
        /// As typed.
        name: String,
        /// The first few of their ids.
        candidates: String,
    },
    /// A record cannot be read.
    #[error("run {id}: its record cannot be read: {reason}")]
    Unreadable {
        /// The run.
        id: RunId,
        /// Why.
        reason: String,
    },
    /// A word is not a valid tag.
    #[error("'{tag}' cannot be a tag: {reason}")]
    Tag {
        /// As typed.
        tag: String,
        /// Why.
        reason: &'static str,
    },
}

impl ArchiveError {
    /// Converts an error of the database.
    pub(crate) fn from_database(path: &Path, error: &DatabaseError) -> ArchiveError {
        match error {
            DatabaseError::Sqlite(error) => ArchiveError::from_sqlite(path, error),
            DatabaseError::Server(reason) => {
                ArchiveError::Unusable { path: path.to_owned(), reason: reason.clone() }
            }
        }
    }

    /// Converts an error of SQLite.
    pub(crate) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> ArchiveError {
        let path = path.to_owned();
        let code = error.sqlite_error_code();
        if matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) {
            return ArchiveError::Damaged { path, reason: error.to_string() };
        }
        let reason = match code {
            Some(ErrorCode::DiskFull) => "no space is left for it".into(),
            Some(ErrorCode::ReadOnly) => "it cannot be written to".into(),
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                "it cannot be opened: is its directory there, and may you write to it?".into()
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another program holds it for too long".into()
            }
            Some(ErrorCode::SystemIoFailure) => format!("input or output failed ({error})"),
            _ => error.to_string(),
        };
        ArchiveError::Unusable { path, reason }
    }

    /// Converts an error of the operating system; `what` is what failed.
    pub(crate) fn from_io(path: &Path, what: &str, error: &io::Error) -> ArchiveError {
        let error = error.to_string();
        let error = error.split(" (os error ").next().unwrap_or_default();
        ArchiveError::Unusable { path: path.to_owned(), reason: format!("{what}: {error}") }
    }
}
