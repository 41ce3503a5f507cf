//! Loads records by path, or by the name of an archived run.

use crate::output::describe;
use anyhow::Result;
use archive::{Archive, ArchiveError, Choice};
use record::RecordSet;
use runner::Refusal;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Loads the records of a file or of an archived run. A run is named by its id or the first digits of
/// it, a tag, `latest` or `latest~2`. An existing file or directory takes precedence.
///
/// # Errors
/// When there is neither, or it cannot be read; a usage error.
pub fn load(name: &Path) -> Result<RecordSet> {
    load_from(name, &Choice::from_options(None, false))
}

/// Like [`load`], from the given archive.
///
/// # Errors
/// See [`load`].
pub fn load_from(name: &Path, archive: &Choice) -> Result<RecordSet> {
    let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    if !fs::metadata(name).err().as_ref().is_some_and(is_missing) {
        let usage = |error: formats::RecordError| Refusal::usage(describe(&error.into()));
        return formats::load_set(name).map_err(usage);
    }
    let lost = format!("{}: cannot read the record: No such file or directory", name.display());
    let loaded = match name.to_str() {
        // Names of runs do not start with these characters.
        Some(text) if !text.starts_with(['/', '.']) => from_archive(text, archive),
        _ => return Err(Refusal::usage(lost)),
    };
    loaded.map_err(|why| Refusal::usage(format!("{lost}; {why}")))
}

/// The latest earlier run or set with the same jobs, and its short id. `None` for a file, when there is
/// none, and when the archive cannot be read.
pub fn load_previous(name: &Path) -> Option<(String, RecordSet)> {
    if fs::symlink_metadata(name).is_ok() {
        return None;
    }
    let archive = open_existing(&Choice::from_options(None, false)).ok()?;
    let (row, earlier) = archive.load_previous(name.to_str()?).ok()??;
    Some((row.id.short().to_owned(), earlier))
}

fn from_archive(name: &str, archive: &Choice) -> Result<RecordSet, String> {
    let opened = open_existing(archive).map_err(|why| format!("and there is no archive: {why}"))?;
    opened.load_named(name).map_err(|error| match error {
        ArchiveError::Unknown { .. } => format!("and in {}, {error}", opened.path().display()),
        other => other.to_string(),
    })
}

/// Opens an existing archive.
///
/// # Errors
/// When there is none or it cannot be read.
pub fn open_existing(archive: &Choice) -> Result<Archive, String> {
    match archive.location() {
        Ok(Some(place)) => Archive::open_existing(&place).map_err(|error| error.to_string()),
        Ok(None) => Err("FATHOM_ARCHIVE turns the archive off".into()),
        Err(error) => Err(error.to_string()),
    }
}
