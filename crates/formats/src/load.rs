//! Any kind of record, from wherever it is.

use crate::native::{self, RecordError};
use crate::{import, sweep};
use record::{RecordSet, RunRecord};
use std::path::Path;

/// Loads a record.
///
/// # Errors
/// When the file cannot be read, is not a record, holds several runs, or has a newer schema.
pub fn load(path: &Path) -> Result<RunRecord, RecordError> {
    native::only_run(load_set(path)?, path)
}

/// Loads runs made together: from a file with a set, from one with a single record (a set of kind
/// "run"), from the directory of a sweep, or from the JSON of fio, as far as it goes ([`import`]).
///
/// # Errors
/// When the file cannot be read, is neither a record nor a set, or has a newer schema.
pub fn load_set(path: &Path) -> Result<RecordSet, RecordError> {
    match sweep::is_sweep(path) {
        true => Ok(sweep::open(path)?.1),
        false => set_from_json(&native::read(path)?, path),
    }
}

fn set_from_json(text: &str, path: &Path) -> Result<RecordSet, RecordError> {
    match native::set_from_json(text, path) {
        Err(RecordError::NotARecord { .. }) if import::is_fio(text) => {
            import::from_fio(text).map(RecordSet::from).map_err(|error| RecordError::NotARecord {
                path: path.into(),
                reason: error.to_string(),
            })
        }
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use crate::{save, save_set};
    use record::SCHEMA_VERSION;
    use std::fs;

    #[test]
    fn a_saved_record_loads_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        let record = testing::mixed();
        save(&record, &path).unwrap();
        assert_eq!(load(&path).unwrap(), record);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing left over");
    }

    #[test]
    fn links_and_devices_are_written_to_and_stay() {
        let directory = tempfile::tempdir().unwrap();
        let [link, null, place] = ["link", "null", "place"].map(|name| directory.path().join(name));
        std::os::unix::fs::symlink(&place, &link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        let record = testing::mixed();
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
            runs: vec![testing::mixed(); runs],
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
    fn a_record_loads_as_a_set_of_one_and_a_set_of_one_as_a_record() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        let record = testing::mixed();
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
    fn other_files_are_refused_as_records() {
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
        let error = save(&testing::mixed(), Path::new("/nowhere/at/all.json")).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/at/all.json: cannot save"), "{error}");
    }
}
