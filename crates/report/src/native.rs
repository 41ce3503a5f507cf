//! Records as files: a JSON document of one run, or of several made together; described in
//! docs/record.md.

use crate::import;
use record::{RecordSet, RunRecord, SCHEMA_VERSION};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
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
    #[error("{path}: not a fathom record: {reason}")]
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
    serde_json::from_str(text)
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

/// Saves the record. The file is complete or is not there: it is written beside its place, synced
/// and moved over it. What is no plain file (a link, a pipe, /dev/null) stays and is written to.
///
/// # Errors
/// When the file cannot be written.
pub fn save(record: &RunRecord, path: &Path) -> Result<(), RecordError> {
    save_document(record, path)
}

/// Saves several records as one document, as [`save`] saves one.
///
/// # Errors
/// When the file cannot be written.
pub fn save_set(set: &RecordSet, path: &Path) -> Result<(), RecordError> {
    save_document(set, path)
}

pub(crate) fn save_document(document: &impl Serialize, path: &Path) -> Result<(), RecordError> {
    replace(path, |path| write(document, path))
        .map_err(|source| RecordError::Write { path: path.into(), source })
}

/// Has a file written so that it is complete or as it was, as [`save`] says; `write` is given where
/// to write it.
///
/// # Errors
/// Those of writing it and of moving it to its place.
pub fn replace(path: &Path, write: impl Fn(&Path) -> io::Result<File>) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        return write(path).map(drop);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = write(&beside).and_then(|file| file.sync_all());
    let moved = written.and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        // What went wrong is reported; a left-over that cannot be removed adds nothing to it.
        let _ = fs::remove_file(&beside);
    }
    moved
}

fn write(document: &impl Serialize, path: &Path) -> io::Result<File> {
    let mut file = BufWriter::new(File::create(path)?);
    serde_json::to_writer(&mut file, document)?;
    file.write_all(b"\n")?;
    Ok(file.into_inner()?)
}

/// Loads a record.
///
/// # Errors
/// When the file cannot be read, is not a record, holds not one run but several, or has a newer
/// schema.
pub fn load(path: &Path) -> Result<RunRecord, RecordError> {
    let mut set = load_set(path)?;
    match (set.runs.pop(), set.runs.len()) {
        (Some(record), 0) => Ok(record),
        (last, others) => {
            let count = others + usize::from(last.is_some());
            let reason = format!("it holds {count} runs, and one is needed here");
            Err(RecordError::NotARecord { path: path.into(), reason })
        }
    }
}

/// Loads several records made together. A file with one record is a set of one, of kind "run"; the
/// directory of a sweep is the set of its runs.
///
/// # Errors
/// When the file cannot be read, is neither a record nor a set, or has a newer schema.
///
/// The JSON that fio writes is read as well, as far as it tells ([`crate::import`]).
pub fn load_set(path: &Path) -> Result<RecordSet, RecordError> {
    if crate::sweep::directory::is_one(path) {
        return crate::sweep::directory::load_set(path);
    }
    set_from_json(&read(path)?, path)
}

fn set_from_json(text: &str, path: &Path) -> Result<RecordSet, RecordError> {
    let heading = match heading(text, path) {
        Err(RecordError::NotARecord { .. }) if import::is_fio(text) => {
            return match import::fio(text) {
                Ok(run) => Ok(set_of(run)),
                Err(error) => {
                    Err(RecordError::NotARecord { path: path.into(), reason: error.to_string() })
                }
            };
        }
        heading => heading?,
    };
    if heading.runs.is_some() {
        return parsed(text, path);
    }
    Ok(set_of(parsed(text, path)?))
}

/// One run as a set of its own.
fn set_of(run: RunRecord) -> RecordSet {
    RecordSet {
        schema: run.schema,
        fathom_version: run.fathom_version.clone(),
        kind: "run".into(),
        seed: 0,
        runs: vec![run],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_is_saved_is_what_is_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        let record = sample::mixed();
        save(&record, &path).unwrap();
        assert_eq!(load(&path).unwrap(), record);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing left over");
    }

    #[test]
    fn what_is_no_plain_file_is_written_to_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let [link, null, place] = ["link", "null", "place"].map(|name| directory.path().join(name));
        std::os::unix::fs::symlink(&place, &link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        let record = sample::mixed();
        save(&record, &link).unwrap();
        save(&record, &null).unwrap();
        assert_eq!(load(&place).unwrap(), record);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&null).unwrap().is_symlink());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3, "nothing left over");
    }

    fn set(runs: usize) -> RecordSet {
        RecordSet {
            schema: SCHEMA_VERSION,
            fathom_version: "0.1.0".into(),
            kind: "repeat".into(),
            seed: 7,
            runs: vec![sample::mixed(); runs],
        }
    }

    #[test]
    fn sets_are_loaded_as_they_were_saved() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.json");
        save_set(&set(3), &path).unwrap();
        assert_eq!(load_set(&path).unwrap(), set(3));
        let error = load(&path).unwrap_err().to_string();
        assert!(error.ends_with("it holds 3 runs, and one is needed here"), "{error}");
    }

    #[test]
    fn a_record_is_a_set_of_one_and_a_set_of_one_a_record() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        let record = sample::mixed();
        save(&record, &path).unwrap();
        let loaded = load_set(&path).unwrap();
        assert_eq!((loaded.kind.as_str(), &loaded.runs[..]), ("run", &[record.clone()][..]));
        save_set(&set(1), &path).unwrap();
        assert_eq!(load(&path).unwrap(), record);
        save_set(&set(0), &path).unwrap();
        assert!(load(&path).unwrap_err().to_string().contains("it holds 0 runs"));
    }

    #[test]
    fn a_newer_schema_is_refused_with_both_numbers() {
        let text = r#"{"schema": 99, "fathom_version": "9.1.0", "shape": "unknown"}"#;
        let error = set_from_json(text, Path::new("x.json")).unwrap_err().to_string();
        assert!(error.starts_with("x.json: this record has schema 99, made by fathom 9.1.0"));
        assert!(error.ends_with("use a newer fathom"), "{error}");
    }

    #[test]
    fn what_is_no_record_is_said_to_be_none() {
        let of_none = r#"{"schema": 1, "runs": 5}"#;
        let of_wrong = r#"{"schema": 1, "kind": "repeat", "runs": [{"schema": 1}]}"#;
        let none = ["", "[]", "{}", "{\"schema\": \"one\"}", "\u{0}\u{1}", of_none, of_wrong];
        for text in none {
            let error = set_from_json(text, Path::new("x")).unwrap_err();
            assert!(matches!(error, RecordError::NotARecord { .. }), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = save(&sample::mixed(), Path::new("/nowhere/at/all.json")).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/at/all.json: cannot save"), "{error}");
    }
}
