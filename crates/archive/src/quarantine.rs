//! Damaged archives are renamed, never removed: usually most of one can be recovered (`.recover` in
//! the sqlite3 shell).

use crate::ArchiveError;
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Suffixes of the files of an archive.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// A path with a suffix appended to its name.
pub(crate) fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Locks the archive against other programs that want to replace or migrate it, until the value is
/// dropped.
pub(crate) fn lock(path: &Path) -> Result<File, ArchiveError> {
    let lock = with_suffix(path, ".lock");
    let failed =
        |error: std::io::Error| ArchiveError::from_io(&lock, "it cannot be locked", &error);
    let file = OpenOptions::new().create(true).append(true).open(&lock).map_err(failed)?;
    flock(&file, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    Ok(file)
}

/// Renames the files of an archive. Returns the new path.
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
