//! A sweep as a directory: a manifest with its settings, and a record for each run as soon as it is
//! made; described in docs/SWEEPS.md.
//!
//! Each file is complete or missing, so a killed sweep can be continued: missing and incomplete
//! runs are measured again.

use crate::native::{self, RecordError};
use record::{RecordSet, RunRecord};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use suite::sweep::{Design, KIND, Manifest, RunSlot};

/// The manifest of a sweep.
const MANIFEST: &str = "sweep.json";
/// The directory of its runs.
const CELLS: &str = "cells";

/// Whether a path is the directory of a sweep.
pub fn is_sweep(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

/// Whether a new sweep may be started there: the path does not exist, or it is a directory that is
/// empty except for files of a sweep that was killed during its start.
pub fn is_free(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => {
            entries.all(|entry| entry.is_ok_and(|entry| is_left_over(&entry.path())))
        }
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Whether a file is an incomplete manifest (see [`native::write_atomically`]).
fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(MANIFEST) && name.ends_with(".tmp") && path.is_file()
}

/// Creates the directory of a new sweep.
///
/// # Errors
/// When it cannot be created or written, or is not empty.
pub fn begin(directory: &Path, manifest: &Manifest) -> Result<(), RecordError> {
    let failed = |source| RecordError::Write { path: directory.into(), source };
    fs::create_dir_all(directory).map_err(failed)?;
    if !is_free(directory) {
        return Err(failed(io::Error::new(ErrorKind::AlreadyExists, "it is not empty")));
    }
    for left_over in fs::read_dir(directory).map_err(failed)? {
        fs::remove_file(left_over.map_err(failed)?.path()).map_err(failed)?;
    }
    native::save_document(manifest, &directory.join(MANIFEST))?;
    fs::create_dir(directory.join(CELLS)).map_err(failed)?;
    settle(directory).map_err(failed)
}

/// The manifest of the sweep in a directory.
///
/// # Errors
/// When it cannot be read, is not a manifest, or was written by a newer program.
pub fn manifest(directory: &Path) -> Result<Manifest, RecordError> {
    let path = directory.join(MANIFEST);
    let text = native::read(&path)?;
    native::heading(&text, &path)?;
    let manifest: Manifest = native::parsed(&text, &path)?;
    let wrong = |reason: String| RecordError::NotARecord { path: path.clone(), reason };
    if manifest.kind != KIND {
        return Err(wrong(format!("its kind is '{}', not '{KIND}'", manifest.kind)));
    }
    manifest.design.check().map_err(wrong)?;
    Ok(manifest)
}

/// The file of the manifest. A process that runs the sweep holds a lock on it.
pub fn manifest_file(directory: &Path) -> PathBuf {
    directory.join(MANIFEST)
}

/// Removes incomplete files of a killed program, and checks that the directory can be written. The
/// caller must hold the lock.
pub fn tidy(directory: &Path) -> Result<(), RecordError> {
    let cells = directory.join(CELLS);
    let clean = || -> io::Result<()> {
        fs::create_dir_all(&cells)?;
        for entry in fs::read_dir(&cells)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "tmp") {
                fs::remove_file(&path)?;
            }
        }
        let probe = cells.join("probe.tmp");
        File::create(&probe)?;
        fs::remove_file(&probe)
    };
    clean().map_err(|source| RecordError::Write { path: cells.clone(), source })
}

/// The file of a run.
fn path(directory: &Path, place: RunSlot) -> PathBuf {
    directory.join(CELLS).join(format!("{:04}-{}.json", place.cell + 1, place.round + 1))
}

/// Saves a run durably.
///
/// # Errors
/// When it cannot be written. An earlier file is kept.
pub fn save(directory: &Path, place: RunSlot, record: &RunRecord) -> Result<(), RecordError> {
    let path = path(directory, place);
    native::save(record, &path)?;
    settle(&directory.join(CELLS)).map_err(|source| RecordError::Write { path, source })
}

/// Syncs a directory.
fn settle(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// The complete runs, in the order of the design.
///
/// # Errors
/// When a run cannot be read, or was made by a newer program. Incomplete runs and runs of other
/// sweeps are skipped.
pub fn load(directory: &Path, design: &Design) -> Result<Vec<(RunSlot, RunRecord)>, RecordError> {
    let mut found = Vec::new();
    for place in design.order() {
        let record = match native::load_run(&path(directory, place)) {
            Ok(record) => record,
            Err(RecordError::NotARecord { .. }) => continue,
            Err(RecordError::Read { source, .. })
                if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) =>
            {
                continue;
            }
            Err(error) => return Err(error),
        };
        if record.cell == Some(design.cell(place)) && record.interrupted_by.is_none() {
            found.push((place, record));
        }
    }
    Ok(found)
}

/// The manifest and the runs of the sweep in a directory.
///
/// # Errors
/// When they cannot be read, or the directory has no sweep.
pub fn open(directory: &Path) -> Result<(Manifest, RecordSet), RecordError> {
    let manifest = manifest(directory)?;
    let mut set = set(&manifest);
    set.runs.extend(load(directory, &manifest.design)?.into_iter().map(|(_, record)| record));
    Ok((manifest, set))
}

/// A set for the runs of a sweep.
pub fn set(manifest: &Manifest) -> RecordSet {
    RecordSet {
        schema: manifest.schema,
        fathom_version: manifest.fathom_version.clone(),
        kind: KIND.into(),
        seed: manifest.design.seed,
        runs: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suite::sweep::{Dimension, Order};

    fn manifest_of(values: &[&str]) -> Manifest {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let design = Design {
            dimensions: vec![Dimension { name: "iodepth".into(), values }],
            repeats: 2,
            order: Order::Given,
            ..Design::default()
        };
        Manifest { schema: 1, kind: KIND.into(), design, ..Manifest::default() }
    }

    fn run(manifest: &Manifest, place: RunSlot) -> RunRecord {
        let cell = Some(manifest.design.cell(place));
        RunRecord { schema: 1, cell, ..RunRecord::default() }
    }

    #[test]
    fn saved_runs_are_loaded_and_incomplete_files_are_skipped() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().join("deep/sweep");
        let told = manifest_of(&["1", "2"]);
        begin(&at, &told).unwrap();
        assert_eq!(manifest(&at).unwrap(), told);
        let order = told.design.order();
        for place in &order {
            save(&at, *place, &run(&told, *place)).unwrap();
        }
        let places = |at: &Path| -> Vec<RunSlot> {
            load(at, &told.design).unwrap().into_iter().map(|(place, _)| place).collect()
        };
        assert_eq!(places(&at), order);
        assert_eq!(crate::load_set(&at).unwrap().runs.len(), 4);
        // An incomplete file, an empty file, and a file at the place of another one.
        let whole = fs::read(path(&at, order[0])).unwrap();
        fs::write(path(&at, order[0]), &whole[..whole.len() / 2]).unwrap();
        fs::write(path(&at, order[1]), "").unwrap();
        save(&at, order[2], &run(&told, order[3])).unwrap();
        assert_eq!(places(&at), [order[3]]);
        let stopped = RunRecord { interrupted_by: Some(2), ..run(&told, order[3]) };
        save(&at, order[3], &stopped).unwrap();
        assert!(places(&at).is_empty());
    }

    #[test]
    fn a_directory_holds_one_sweep_and_left_overs_are_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().join("sweep");
        begin(&at, &manifest_of(&["1"])).unwrap();
        assert!(!is_free(&at) && begin(&at, &manifest_of(&["1"])).is_err(), "it holds something");
        fs::write(at.join(CELLS).join("0001-1.json.123.tmp"), "half").unwrap();
        tidy(&at).unwrap();
        assert_eq!(fs::read_dir(at.join(CELLS)).unwrap().count(), 0);
    }

    #[test]
    fn a_manifest_that_was_never_whole_stands_in_nobodys_way() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().join("sweep");
        assert!(is_free(&at), "nothing is there");
        fs::create_dir(&at).unwrap();
        fs::write(at.join("sweep.json.123.tmp"), "{\"sche").unwrap();
        fs::write(at.join("mine.tmp"), "").unwrap();
        assert!(!is_free(&at), "something of the user's");
        fs::remove_file(at.join("mine.tmp")).unwrap();
        assert!(is_free(&at));
        begin(&at, &manifest_of(&["1"])).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [CELLS, MANIFEST]);
    }

    #[test]
    fn other_directories_are_refused_as_sweeps() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path();
        assert!(!is_sweep(at) && manifest(at).is_err());
        let save = |change: &dyn Fn(&mut Manifest)| {
            let mut told = manifest_of(&["1"]);
            change(&mut told);
            native::save_document(&told, &at.join(MANIFEST)).unwrap();
            manifest(at).unwrap_err().to_string()
        };
        assert!(save(&|told| told.kind = "test".into()).contains("its kind is 'test'"));
        assert!(save(&|told| told.design.dimensions.clear()).contains("nothing to vary"));
        assert!(save(&|told| told.schema = 99).contains("newer fathom"));
    }
}
