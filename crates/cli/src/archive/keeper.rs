//! Keeping the runs of a call: in the archive, each as soon as it ended, and in a file where that is
//! asked for.

use crate::output::{describe, say};
use crate::runner::publish;
use crate::several::Refusal;
use anyhow::Result;
use archive::{Archive, ArchiveError, Choice, Lineage, RunId, SetId, Summary, Together};
use judge::Judged;
use record::{RecordSet, RunRecord};
use report::Kept;
use std::env;
use std::path::{Path, PathBuf};

/// Keeps the runs of a call.
pub struct Keeper {
    choice: Choice,
    /// Where the records go as well.
    record: Option<PathBuf>,
    /// What makes the runs, and of several the seed and the name of their set.
    set: RecordSet,
    together: Option<String>,
    /// Runs that are not kept.
    is_left_out: fn(&RunRecord) -> bool,
    archive: Option<Archive>,
    set_id: Option<SetId>,
    last: Option<RunId>,
    /// Where runs are that could not be archived: they are in `set`.
    beside: Option<PathBuf>,
    said: Vec<String>,
}

impl Keeper {
    /// Keeps one run.
    pub fn alone(choice: Choice, kind: &str) -> Keeper {
        Keeper {
            choice,
            record: None,
            set: crate::several::set(kind, 0),
            together: None,
            is_left_out: |_| false,
            archive: None,
            set_id: None,
            last: None,
            beside: None,
            said: Vec::new(),
        }
    }

    /// Keeps runs made together.
    pub fn together(choice: Choice, kind: &str, seed: u64) -> Keeper {
        let mut keeper = Keeper::alone(choice, kind);
        keeper.set.seed = seed;
        keeper.together = Some(String::new());
        keeper
    }

    /// Has them go on with those made before under a name (see [`Together::name`]).
    pub fn going_on(self, name: &Path) -> Keeper {
        Keeper { together: Some(name.to_string_lossy().into_owned()), ..self }
    }

    /// Has the records in a file as well.
    pub fn with_record(self, record: Option<PathBuf>) -> Keeper {
        Keeper { record, ..self }
    }

    /// Leaves runs out.
    pub fn without(self, is_left_out: fn(&RunRecord) -> bool) -> Keeper {
        Keeper { is_left_out, ..self }
    }

    /// The seed is known only later.
    pub fn seeded(self, seed: u64) -> Keeper {
        Keeper { set: RecordSet { seed, ..self.set }, ..self }
    }

    /// Better found before an hour of measuring than after it.
    ///
    /// # Errors
    /// When the directory of a record's file is not there, or the file is one.
    pub fn check(&self) -> Result<()> {
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

    /// Archives a run. Where that is not possible it is written beside, and [`Keeper::said`] tells;
    /// nothing else changes.
    pub fn add(&mut self, record: &RunRecord) {
        if self.choice == Choice::Off || (self.is_left_out)(record) {
            return;
        }
        match self.try_add(record) {
            Ok(id) => {
                publish::kept(&id.to_string());
                self.last = Some(id);
            }
            Err(error) => {
                self.last = None;
                self.keep_beside(record, &error);
            }
        }
    }

    /// Archives a run and what judging says of it.
    pub fn add_judged(&mut self, record: &RunRecord) {
        self.add(record);
        if self.last.is_some() {
            self.judged(record, &judge::judge(record));
        }
    }

    /// Notes what judging says of the run that was added last.
    pub fn judged(&mut self, record: &RunRecord, judged: &Judged) {
        let (Some(id), Some(archive)) = (&self.last, &mut self.archive) else { return };
        if let Err(error) = archive.judged(id, &Summary::of(record, judged)) {
            self.said.push(format!(
                "run {} is in the archive without figures and verdict, which 'fathom runs rejudge \
                 {}' adds: {error}",
                id.short(),
                id.short()
            ));
        }
    }

    fn try_add(&mut self, record: &RunRecord) -> Result<RunId, ArchiveError> {
        let archive = match &mut self.archive {
            Some(archive) => archive,
            None => {
                let place = self.choice.place()?.ok_or(ArchiveError::NoPlace)?;
                self.archive.insert(Archive::open(&place)?)
            }
        };
        self.said.extend(archive.remarks());
        let kind = self.set.kind.clone();
        let together = match &self.together {
            None => None,
            Some(name) => {
                let id = match &self.set_id {
                    Some(id) => id.clone(),
                    None => {
                        let known = match name.is_empty() {
                            true => None,
                            false => archive.set_called(&kind, name)?,
                        };
                        known.map_or_else(|| archive.new_set(), Ok)?
                    }
                };
                self.set_id = Some(id.clone());
                Some(Together { id, seed: self.set.seed, name: name.clone() })
            }
        };
        let added = archive.add(record, &Lineage { kind, together });
        self.said.extend(archive.remarks());
        added
    }

    /// Writes a run where it can be found and imported: where the archive is to be, where the call
    /// was made, or where things lie for a while, whichever takes it.
    fn keep_beside(&mut self, record: &RunRecord, why: &ArchiveError) {
        self.set.runs.push(record.clone());
        let is_first = self.set.runs.len() == 1;
        let candidates = match self.beside.clone() {
            Some(path) => vec![path],
            None => self.places(),
        };
        self.beside = candidates.into_iter().find(|path| self.write(path).is_ok());
        match &self.beside {
            Some(path) if is_first => self.said.push(format!(
                "not archived: {why}; kept in {0}: 'fathom runs import {0}' archives it",
                path.display()
            )),
            Some(_) => {}
            None => self.said.push(format!(
                "not archived: {why}; nor can it be written anywhere else: this report is all there \
                 is"
            )),
        }
    }

    fn places(&self) -> Vec<PathBuf> {
        let now = chrono::Local::now().format("%Y-%m-%dT%H-%M-%S");
        let name = format!("fathom-{}-{now}-{}.json", self.set.kind, std::process::id());
        let archive = self.choice.place().ok().flatten();
        let beside = archive.and_then(|place| place.path.parent().map(Path::to_owned));
        let here = env::current_dir().ok();
        let places = [beside.filter(|path| path.is_dir()), here, Some(env::temp_dir())];
        places.into_iter().flatten().map(|place| place.join(&name)).collect()
    }

    fn write(&self, path: &Path) -> Result<(), report::native::RecordError> {
        match (&self.together, &self.set.runs[..]) {
            (None, [run]) => report::native::save(run, path),
            _ => report::native::save_set(&self.set, path),
        }
    }

    /// What the user should know of it, in lines, once.
    pub fn said(&mut self) -> String {
        std::mem::take(&mut self.said).iter().map(|line| format!("fathom: {line}\n")).collect()
    }

    /// As what the runs are archived: their set, or the one run.
    pub fn id(&self) -> Option<String> {
        self.last.as_ref()?;
        match (&self.set_id, &self.last) {
            (Some(set), _) => Some(set.to_string()),
            (None, run) => run.as_ref().map(RunId::to_string),
        }
    }

    /// Writes the file that was asked for; where everything is. That it was not possible is said, and
    /// costs nothing but the exit code.
    pub fn save(&mut self, set: &RecordSet) -> Kept {
        say(&self.said());
        let mut is_lost = false;
        let record = self.record.take().filter(|path| {
            let saved = report::native::save_set(set, path);
            is_lost = saved.is_err();
            if let Err(error) = saved {
                let why = describe(&error.into());
                say(&format!("fathom: error: the records are not kept: {why}\n"));
            }
            !is_lost
        });
        Kept { record, is_lost, archived_as: self.id(), is_set: self.together.is_some() }
    }
}
