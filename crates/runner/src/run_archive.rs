//! Saves the runs of a command: in the archive, each as soon as it ended, and in a file (`--record`).

use crate::error::{Refusal, describe};
use crate::publish;
use anyhow::Result;
use archive::{Archive, ArchiveError, Choice, Lineage, Location, RunId, SetId, SetInfo, Summary};
use formats::RecordError;
use judge::Judged;
use record::{RecordSet, RunRecord, SavedTo};
use std::env;
use std::path::{Path, PathBuf};

/// An empty set of records.
pub fn empty_set(kind: &str, seed: u64) -> RecordSet {
    RecordSet {
        schema: record::SCHEMA_VERSION,
        fathom_version: env!("CARGO_PKG_VERSION").into(),
        kind: kind.into(),
        seed,
        runs: Vec::new(),
    }
}

/// Saves the runs of a command.
pub struct RunArchive {
    choice: Choice,
    /// The file of `--record`.
    record: Option<PathBuf>,
    /// Kind and seed of the set, and the runs that could not be archived.
    set: RecordSet,
    /// Name of the set that the runs belong to, for runs of a set; empty for a new set.
    set_name: Option<String>,
    /// Tags of every run.
    tags: Vec<String>,
    /// Runs that are not archived.
    is_left_out: fn(&RunRecord) -> bool,
    /// The file that gets the record of the one run as soon as it ended.
    run_file: Option<PathBuf>,
    run_file_error: Option<RecordError>,
    archive: Option<Archive>,
    set_id: Option<SetId>,
    last: Option<RunId>,
    /// The file that holds the runs that could not be archived.
    fallback: Option<PathBuf>,
    notes: Vec<String>,
}

impl RunArchive {
    /// For a command that makes one run.
    pub fn for_one_run(choice: Choice, kind: &str) -> RunArchive {
        RunArchive {
            choice,
            record: None,
            set: empty_set(kind, 0),
            set_name: None,
            tags: Vec::new(),
            is_left_out: |_| false,
            run_file: None,
            run_file_error: None,
            archive: None,
            set_id: None,
            last: None,
            fallback: None,
            notes: Vec::new(),
        }
    }

    /// For the runs of a set.
    pub fn for_set(choice: Choice, kind: &str, seed: u64) -> RunArchive {
        let archive = RunArchive::for_one_run(choice, kind).with_seed(seed);
        RunArchive { set_name: Some(String::new()), ..archive }
    }

    /// Adds the runs to the set that was archived before under this name (see [`SetInfo::name`]).
    pub fn continuing(self, name: &Path) -> RunArchive {
        RunArchive { set_name: Some(name.to_string_lossy().into_owned()), ..self }
    }

    /// Writes the records to this file as well.
    pub fn with_record_file(self, record: Option<PathBuf>) -> RunArchive {
        RunArchive { record, ..self }
    }

    /// Writes the record of the one run to this file as soon as it ended.
    pub fn with_run_file(self, path: Option<PathBuf>) -> RunArchive {
        RunArchive { run_file: path, ..self }
    }

    /// Adds these tags to every run.
    pub fn with_tags(self, tags: Vec<String>) -> RunArchive {
        RunArchive { tags, ..self }
    }

    /// Leaves out runs for which this is true.
    pub fn leaving_out(mut self, is_left_out: fn(&RunRecord) -> bool) -> RunArchive {
        self.leave_out(is_left_out);
        self
    }

    /// From now on leaves out runs for which this is true.
    pub fn leave_out(&mut self, is_left_out: fn(&RunRecord) -> bool) {
        self.is_left_out = is_left_out;
    }

    /// Sets the seed of the set.
    pub fn with_seed(self, seed: u64) -> RunArchive {
        RunArchive { set: RecordSet { seed, ..self.set }, ..self }
    }

    /// Checks that the file of the records can be written, before an hour of measuring.
    ///
    /// # Errors
    /// When the directory of a record's file is not there, or the file is one.
    pub fn check_record_file(&self) -> Result<()> {
        let Some(path) = &self.record else { return Ok(()) };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if parent.is_some_and(|parent| !parent.is_dir()) {
            let text =
                format!("--record={}: its directory is not there; make it first", path.display());
            return Err(Refusal::usage(text));
        }
        if path.is_dir() {
            let text = format!("--record={}: it is a directory; name a file", path.display());
            return Err(Refusal::usage(text));
        }
        Ok(())
    }

    /// Archives a run, and returns its id unless it is left out. If archiving fails, the run is written
    /// to a file and [`RunArchive::take_notes`] says so.
    pub fn add(&mut self, record: &RunRecord) -> Option<RunId> {
        if let Some(path) = &self.run_file {
            self.run_file_error = formats::save(record, path).err();
        }
        if self.choice == Choice::Off || (self.is_left_out)(record) {
            return None;
        }
        self.last = self.try_add(record).map_err(|error| self.save_beside(record, &error)).ok();
        if let Some(id) = &self.last {
            publish::archived(&id.to_string());
            if let Some(archive) = &mut self.archive {
                let failed = self.tags.iter().filter_map(|tag| archive.tag(id, tag).err());
                self.notes.extend(failed.map(|error| error.to_string()));
            }
        }
        self.last.clone()
    }

    /// Archives a run before anything else can fail, then judges it and archives its verdict.
    pub fn add_and_judge(&mut self, record: &RunRecord) -> Judged {
        let added = self.add(record);
        let judged = judge::judge(record);
        self.add_summary(added, record, &judged);
        judged
    }

    /// The same for a run whose verdict only the archive needs.
    pub fn add_with_summary(&mut self, record: &RunRecord) {
        if let Some(id) = self.add(record) {
            self.add_summary(Some(id), record, &judge::judge(record));
        }
    }

    /// Archives figures and verdict of a run that [`RunArchive::add`] added.
    pub fn add_summary(&mut self, added: Option<RunId>, record: &RunRecord, judged: &Judged) {
        let (Some(id), Some(archive)) = (&added, &mut self.archive) else { return };
        if let Err(error) = archive.save_summary(id, &Summary::new(record, judged)) {
            self.notes.push(format!(
                "run {} is in the archive without figures and verdict, which 'fathom runs rejudge \
                 {}' adds: {error}",
                id.short(),
                id.short()
            ));
        }
    }

    fn try_add(&mut self, record: &RunRecord) -> Result<RunId, ArchiveError> {
        let place = self.choice.location()?.ok_or(ArchiveError::NoLocation)?;
        match self.add_at(&place, record) {
            Err(why) if place.server().is_some() => {
                let waiting = place.waiting()?;
                self.archive = Some(Archive::open(&waiting)?);
                let added = self.add_at(&waiting, record)?;
                let file = waiting.path.display();
                self.notes.push(format!(
                    "not archived yet: {why}; runs wait in {file} until a later one reaches the server, \
                     which sends them"
                ));
                Ok(added)
            }
            added => added,
        }
    }

    /// Adds a run to the archive that is open, or else to that of the location.
    fn add_at(&mut self, place: &Location, record: &RunRecord) -> Result<RunId, ArchiveError> {
        let archive = match &mut self.archive {
            Some(archive) => archive,
            None => self.archive.insert(Archive::open(place)?),
        };
        self.notes.extend(archive.messages());
        let kind = self.set.kind.clone();
        let set = match &self.set_name {
            None => None,
            Some(name) => {
                let id = match &self.set_id {
                    Some(id) => id.clone(),
                    None => {
                        let known = match name.is_empty() {
                            true => None,
                            false => archive.find_set(&kind, name)?,
                        };
                        known.unwrap_or_else(SetId::random)
                    }
                };
                self.set_id = Some(id.clone());
                Some(SetInfo { id, seed: self.set.seed, name: name.clone() })
            }
        };
        let added = archive.add(record, &Lineage { kind, set });
        self.notes.extend(archive.messages());
        added
    }

    /// Writes a run to a file that can be imported: next to the archive, in the working directory, or
    /// in the directory for temporary files, whichever can be written.
    fn save_beside(&mut self, record: &RunRecord, why: &ArchiveError) {
        self.set.runs.push(record.clone());
        let is_first = self.set.runs.len() == 1;
        let candidates = match self.fallback.clone() {
            Some(path) => vec![path],
            None => self.places(),
        };
        self.fallback = candidates.into_iter().find(|path| self.write(path).is_ok());
        match &self.fallback {
            Some(path) if is_first => self.notes.push(format!(
                "not archived: {why}; kept in {0}: 'fathom runs import {0}' archives it",
                path.display()
            )),
            Some(_) => {}
            None => self.notes.push(format!(
                "not archived: {why}; nor can it be written anywhere else: this report is all there \
                 is"
            )),
        }
    }

    fn places(&self) -> Vec<PathBuf> {
        let now = chrono::Local::now().format("%Y-%m-%dT%H-%M-%S");
        let name = format!("fathom-{}-{now}-{}.json", self.set.kind, std::process::id());
        let archive = self.choice.location().ok().flatten();
        let beside = archive
            .filter(|place| place.server().is_none())
            .and_then(|place| place.path.parent().map(Path::to_owned));
        let here = env::current_dir().ok();
        let places = [beside.filter(|path| path.is_dir()), here, Some(env::temp_dir())];
        places.into_iter().flatten().map(|place| place.join(&name)).collect()
    }

    fn write(&self, path: &Path) -> Result<(), RecordError> {
        match (&self.set_name, &self.set.runs[..]) {
            (None, [run]) => formats::save(run, path),
            _ => formats::save_set(&self.set, path),
        }
    }

    /// Whether the file of the one run was written, if there is one.
    pub fn run_file_result(&mut self) -> Result<(), RecordError> {
        self.run_file_error.take().map_or(Ok(()), Err)
    }

    /// What the user should know about the archive, in lines; each note is returned once.
    pub fn take_notes(&mut self) -> String {
        std::mem::take(&mut self.notes).iter().map(|line| format!("fathom: {line}\n")).collect()
    }

    /// The id of the archived set, or of the one run.
    pub fn id(&self) -> Option<String> {
        self.last.as_ref()?;
        match (&self.set_id, &self.last) {
            (Some(set), _) => Some(set.to_string()),
            (None, run) => run.as_ref().map(RunId::to_string),
        }
    }

    /// Writes the file of `--record` and says where everything is. An error is a note, and the result
    /// says that the file is lost.
    pub fn save(&mut self, set: &RecordSet) -> SavedTo {
        let mut is_lost = false;
        let record = self.record.take().filter(|path| {
            let saved = formats::save_set(set, path);
            is_lost = saved.is_err();
            if let Err(error) = saved {
                let why = describe(&error.into());
                self.notes.push(format!("error: the records are not kept: {why}"));
            }
            !is_lost
        });
        SavedTo {
            record,
            is_lost,
            archived_as: self.id(),
            is_set: self.set_name.is_some(),
            intent: Some(set.intent()).filter(|intent| !intent.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(interrupted_by: Option<i32>, started_unix_ms: u64) -> RunRecord {
        let mut record = RunRecord { interrupted_by, ..RunRecord::default() };
        record.invocation.started_unix_ms = started_unix_ms;
        record
    }

    #[test]
    fn a_run_that_is_left_out_leaves_the_figures_of_the_run_before_it() {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::explicit(directory.path().join("runs.db"));
        let mut runs = RunArchive::for_set(Choice::At(location.path.clone()), "repeat", 1);
        runs.add_and_judge(&run(None, 1_000));
        let first = runs.last.clone().unwrap();
        let before = Archive::open(&location).unwrap().row(&first).unwrap();
        runs.leave_out(|record| record.interrupted_by.is_some());

        assert_eq!(runs.add(&run(Some(2), 2_000)), None);
        runs.add_and_judge(&run(Some(2), 2_000));
        runs.add_with_summary(&run(Some(2), 2_000));

        let archive = Archive::open(&location).unwrap();
        assert_eq!(archive.list(&archive::Filter::all()).unwrap().len(), 1);
        assert_eq!(format!("{:?}", archive.row(&first).unwrap()), format!("{before:?}"));
        assert!(runs.id().is_some(), "the set is still named");
    }
}
