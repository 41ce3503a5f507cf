//! Renames damaged archives. None is removed, because most of its content can usually be recovered
//! (`.recover` in the sqlite3 shell).

use crate::ArchiveError;
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Suffixes of the files of an archive.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// A path with a suffix appended to its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Keeps other programs from replacing or migrating the archive until the returned file is dropped.
pub(crate) fn lock(path: &Path) -> Result<File, ArchiveError> {
    let lock = with_suffix(path, ".lock");
    let failed =
        |error: std::io::Error| ArchiveError::from_io(&lock, "it cannot be locked", &error);
    let file = OpenOptions::new().create(true).append(true).open(&lock).map_err(failed)?;
    flock(&file, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    Ok(file)
}

/// Renames the files of a damaged archive. Returns the new path.
pub(crate) fn rename_damaged(path: &Path) -> Result<PathBuf, ArchiveError> {
    let now = chrono::Local::now().format("%Y-%m-%dT%H-%M-%S");
    let unused = |count: String| {
        let renamed = with_suffix(path, &format!(".corrupt-{now}{count}"));
        let is_used = SUFFIXES.iter().any(|suffix| with_suffix(&renamed, suffix).exists());
        (!is_used).then_some(renamed)
    };
    let mut counts = std::iter::once(String::new()).chain((2..1000).map(|n| format!("-{n}")));
    let renamed = counts.find_map(unused).unwrap_or_else(|| with_suffix(path, ".corrupt"));
    for suffix in SUFFIXES {
        match fs::rename(with_suffix(path, suffix), with_suffix(&renamed, suffix)) {
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
    Ok(renamed)
}
