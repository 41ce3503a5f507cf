//! Records as files: a JSON document of one run, or of several made together; described in
//! docs/record.md.

use record::{RecordSet, RunRecord, SCHEMA_VERSION};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a record could not be saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file could not be read.
    #[error("{path}: cannot read the record")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file could not be written.
    #[error("{path}: cannot save the record")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not a record.
    #[error("{path}: not a fathom record: {reason}{}", job_file_hint(.path))]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column where there is one.
        reason: String,
    },
    /// The file was made by a newer program.
    #[error(
        "{path}: this record has schema {found}, made by fathom {made_by}; this fathom reads \
         schemas up to {SCHEMA_VERSION}: use a newer fathom"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// Version of the program that made it.
        made_by: String,
    },
}

/// What to do with a file that looks like a job file by its name.
fn job_file_hint(path: &Path) -> &'static str {
    match path.extension().is_some_and(|end| end == "fio") {
        true => "; a job file is run first: fathom run --repeat=5 A.fio --interleave=B.fio",
        false => "",
    }
}

/// The part of a document that says whether the rest can be read, and as what.
#[derive(Deserialize)]
pub(crate) struct Heading {
    schema: u32,
    #[serde(default)]
    fathom_version: String,
    /// Only sets have it.
    runs: Option<Vec<IgnoredAny>>,
}

pub(crate) fn parsed<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, RecordError> {
    // Code for records exists once: all of it is read from bytes.
    serde_json::from_slice(text.as_bytes())
        .map_err(|error| RecordError::NotARecord { path: path.into(), reason: error.to_string() })
}

/// Reads the heading of JSON text; `path` is for messages.
pub(crate) fn heading(text: &str, path: &Path) -> Result<Heading, RecordError> {
    let heading: Heading = parsed(text, path)?;
    if heading.schema > SCHEMA_VERSION {
        return Err(RecordError::Newer {
            path: path.into(),
            found: heading.schema,
            made_by: heading.fathom_version,
        });
    }
    Ok(heading)
}

pub(crate) fn read(path: &Path) -> Result<String, RecordError> {
    fs::read_to_string(path).map_err(|source| RecordError::Read { path: path.into(), source })
}

/// Saves a record, as [`write_atomically`] writes.
pub fn save(record: &RunRecord, path: &Path) -> Result<(), RecordError> {
    save_document(record, path)
}

/// Saves several records as one document, as [`write_atomically`] writes.
pub fn save_set(set: &RecordSet, path: &Path) -> Result<(), RecordError> {
    save_document(set, path)
}

pub(crate) fn save_document(document: &impl Serialize, path: &Path) -> Result<(), RecordError> {
    write_atomically(path, |path| write(document, path))
        .map_err(|source| RecordError::Write { path: path.into(), source })
}

/// Replaces a file atomically: `write` writes a temporary file beside it, which is synced and
/// renamed. Files that are not regular (a link, a pipe, /dev/null) are written directly.
pub fn write_atomically(path: &Path, write: impl Fn(&Path) -> io::Result<File>) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        return write(path).map(drop);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = write(&beside).and_then(|file| file.sync_all());
    let moved = written.and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        // The error is reported; a failure to remove the temporary file does not matter.
        let _ = fs::remove_file(&beside);
    }
    moved
}

fn write(document: &impl Serialize, path: &Path) -> io::Result<File> {
    let mut file = File::create(path)?;
    let mut json = serde_json::to_vec(document)?;
    json.push(b'\n');
    file.write_all(&json)?;
    Ok(file)
}

/// Parses a document of fathom: a record or several; `path` is for messages.
pub(crate) fn set_from_json(text: &str, path: &Path) -> Result<RecordSet, RecordError> {
    match heading(text, path)?.runs {
        Some(_) => parsed(text, path),
        None => Ok(RecordSet::from(parsed::<RunRecord>(text, path)?)),
    }
}

/// Loads a file with one record.
pub(crate) fn load_run(path: &Path) -> Result<RunRecord, RecordError> {
    only_run(set_from_json(&read(path)?, path)?, path)
}

/// The run of a set of one.
pub(crate) fn only_run(mut set: RecordSet, path: &Path) -> Result<RunRecord, RecordError> {
    match (set.runs.pop(), set.runs.len()) {
        (Some(record), 0) => Ok(record),
        (last, others) => {
            let count = others + usize::from(last.is_some());
            let reason = format!("it holds {count} runs, and one is needed here");
            Err(RecordError::NotARecord { path: path.into(), reason })
        }
    }
}
