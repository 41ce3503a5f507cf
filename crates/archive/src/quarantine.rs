//! Damaged archives are put aside, never removed: much of one can be read as a rule (`.recover` of
//! the sqlite3 shell).

use crate::ArchiveError;
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What SQLite keeps beside a file.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// A path with something behind its name.
pub(crate) fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Of several programs that find it damaged, or want to migrate it, one does. Until the value goes.
pub(crate) fn lock(path: &Path) -> Result<File, ArchiveError> {
    let lock = with_suffix(path, ".lock");
    let failed =
        |error: std::io::Error| ArchiveError::from_io(&lock, "it cannot be locked", &error);
    let file = OpenOptions::new().create(true).append(true).open(&lock).map_err(failed)?;
    flock(&file, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    Ok(file)
}

/// Renames an archive with what belongs to it; where it is now.
pub(crate) fn put_aside(path: &Path) -> Result<PathBuf, ArchiveError> {
    let now = chrono::Local::now().format("%Y-%m-%dT%H-%M-%S");
    let free = |end: String| {
        let aside = with_suffix(path, &format!(".corrupt-{now}{end}"));
        (!SUFFIXES.iter().any(|end| with_suffix(&aside, end).exists())).then_some(aside)
    };
    let ends = std::iter::once(String::new()).chain((2..1000).map(|n| format!("-{n}")));
    let aside = { ends }.find_map(free).unwrap_or_else(|| with_suffix(path, ".corrupt"));
    for end in SUFFIXES {
        match fs::rename(with_suffix(path, end), with_suffix(&aside, end)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(ArchiveError::from_io(
                    path,
                    "it is damaged, and cannot be put aside",
                    &error,
                ));
            }
            _ => {}
        }
    }
    Ok(aside)
}
