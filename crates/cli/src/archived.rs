//! Names of archived runs, wherever a command takes the path of a record.

use crate::output::describe;
use anyhow::Result;
use archive::{Archive, ArchiveError, Choice};
use record::RecordSet;
use runner::Refusal;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The records of a file or of an archived run: its id or the beginning of it, a tag, `latest`,
/// `latest~2`. A file or directory that is there wins.
///
/// # Errors
/// When it is neither, or cannot be read; with exit code 2.
pub fn load(name: &Path) -> Result<RecordSet> {
    load_from(name, &Choice::from_options(None, false))
}

/// The same with another archive than the one that the environment names.
///
/// # Errors
/// As [`load`].
pub fn load_from(name: &Path, archive: &Choice) -> Result<RecordSet> {
    let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    if !fs::metadata(name).err().as_ref().is_some_and(is_missing) {
        let usage = |error: formats::RecordError| Refusal::usage(describe(&error.into()));
        return formats::load_set(name).map_err(usage);
    }
    let lost = format!("{}: cannot read the record: No such file or directory", name.display());
    let loaded = match name.to_str() {
        // No name of a run looks so.
        Some(text) if !text.starts_with(['/', '.']) => from_archive(text, archive),
        _ => return Err(Refusal::usage(lost)),
    };
    loaded.map_err(|why| Refusal::usage(format!("{lost}; {why}")))
}

/// What an archived run or set is to be held against, the last before it that did the same, with its
/// short name. `None` for a file, for the first of its kind, and where the archive cannot be read: the
/// report does without.
pub fn before(name: &Path) -> Option<(String, RecordSet)> {
    if fs::symlink_metadata(name).is_ok() {
        return None;
    }
    let archive = open_existing(&Choice::from_options(None, false)).ok()?;
    let (row, earlier) = archive.load_previous(name.to_str()?).ok()??;
    Some((row.id.short().to_owned(), earlier))
}

fn from_archive(name: &str, archive: &Choice) -> Result<RecordSet, String> {
    let opened =
        open_existing(archive).map_err(|why| format!("nor an archive to look in: {why}"))?;
    opened.load_named(name).map_err(|error| match error {
        ArchiveError::Unknown { .. } => format!("and in {}, {error}", opened.path().display()),
        other => other.to_string(),
    })
}

/// The archive to read from.
///
/// # Errors
/// That there is none, or what is wrong with it.
pub fn open_existing(archive: &Choice) -> Result<Archive, String> {
    match archive.location() {
        Ok(Some(place)) => Archive::open_existing(&place).map_err(|error| error.to_string()),
        Ok(None) => Err("FATHOM_ARCHIVE says that there is to be none".into()),
        Err(error) => Err(error.to_string()),
    }
}
