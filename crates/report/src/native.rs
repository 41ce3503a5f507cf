//! The record as a file: one JSON document, described in docs/record.md.

use record::{RunRecord, SCHEMA_VERSION};
use serde::Deserialize;
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

/// The part of a record that says whether the rest can be read.
#[derive(Deserialize)]
struct Heading {
    schema: u32,
    #[serde(default)]
    fathom_version: String,
}

/// Reads a record from JSON text; `path` is for messages.
fn from_json(text: &str, path: &Path) -> Result<RunRecord, RecordError> {
    let wrong = |error: serde_json::Error| RecordError::NotARecord {
        path: path.into(),
        reason: error.to_string(),
    };
    let heading: Heading = serde_json::from_str(text).map_err(wrong)?;
    if heading.schema > SCHEMA_VERSION {
        return Err(RecordError::Newer {
            path: path.into(),
            found: heading.schema,
            made_by: heading.fathom_version,
        });
    }
    serde_json::from_str(text).map_err(wrong)
}

/// Saves the record. The file is complete or is not there: it is written beside its place, synced
/// and moved over it. What is no plain file (a link, a pipe, /dev/null) stays and is written to.
///
/// # Errors
/// When the file cannot be written.
pub fn save(record: &RunRecord, path: &Path) -> Result<(), RecordError> {
    let plain = fs::symlink_metadata(path).map_or(true, |there| there.is_file());
    let written = if plain { replace(record, path) } else { write(record, path).map(drop) };
    written.map_err(|source| RecordError::Write { path: path.into(), source })
}

fn replace(record: &RunRecord, path: &Path) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = write(record, &beside).and_then(|file| file.sync_all());
    let moved = written.and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        // What went wrong is reported; a left-over that cannot be removed adds nothing to it.
        let _ = fs::remove_file(&beside);
    }
    moved
}

fn write(record: &RunRecord, path: &Path) -> io::Result<File> {
    let mut file = BufWriter::new(File::create(path)?);
    serde_json::to_writer(&mut file, record)?;
    file.write_all(b"\n")?;
    Ok(file.into_inner()?)
}

/// Loads a record.
///
/// # Errors
/// When the file cannot be read, is not a record, or has a newer schema.
pub fn load(path: &Path) -> Result<RunRecord, RecordError> {
    let text = fs::read_to_string(path)
        .map_err(|source| RecordError::Read { path: path.into(), source })?;
    from_json(&text, path)
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

    #[test]
    fn a_newer_schema_is_refused_with_both_numbers() {
        let text = r#"{"schema": 99, "fathom_version": "9.1.0", "shape": "unknown"}"#;
        let error = from_json(text, Path::new("x.json")).unwrap_err().to_string();
        assert!(error.starts_with("x.json: this record has schema 99, made by fathom 9.1.0"));
        assert!(error.ends_with("use a newer fathom"), "{error}");
    }

    #[test]
    fn what_is_no_record_is_said_to_be_none() {
        for text in ["", "[]", "{}", "{\"schema\": \"one\"}", "\u{0}\u{1}"] {
            let error = from_json(text, Path::new("x")).unwrap_err();
            assert!(matches!(error, RecordError::NotARecord { .. }), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = save(&sample::mixed(), Path::new("/nowhere/at/all.json")).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/at/all.json: cannot save"), "{error}");
    }
}
