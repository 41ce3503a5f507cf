//! What one phase does, and doing it.

use crate::project;
use crate::session::{Session, Statement};
use crate::tree;
use crate::{Connection, Failure, cache, command};
use host::Host;
use record::{Amount, CacheState, Nanos, Work, WorkPart};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// All that one phase does, for a process of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Where it works: on this filesystem everything is written out before the work begins.
    pub directory: PathBuf,
    /// What has to be there first; not timed.
    pub before: Vec<Action>,
    /// What is in memory when the work begins.
    pub caches: Caches,
    /// The database that statements go to.
    pub database: Option<Connection>,
    /// The work, part by part.
    pub timed: Vec<Timed>,
    /// How much it is.
    pub amount: Option<Amount>,
}

/// What is in memory when work begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Caches {
    /// What was there.
    #[default]
    Left,
    /// As little as this user can see to.
    Emptied,
}

/// A part of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Its name.
    pub name: String,
    /// What is done.
    pub action: Action,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Does these, unless a path is there.
    Unless(PathBuf, Vec<Action>),
    /// Grows a tree of text files.
    Tree(PathBuf, tree::Shape),
    /// Grows a C project.
    Project(PathBuf, project::Shape),
    /// Removes a file or a directory with all that is in it, if it is there.
    Remove(PathBuf),
    /// Runs a program with arguments in a directory.
    Run(String, Vec<String>, PathBuf),
    /// Writes out the filesystem of the task's directory.
    Sync,
    /// Has the database do something; the first of them connects.
    Database(Statement),
}

/// Carries a task out. What failed is in what is returned.
pub fn perform(task: &Task, host: &Host) -> Work {
    let began = Instant::now();
    let mut performer = Performer { task, session: None };
    let mut work = Work { amount: task.amount, ..Work::default() };
    let done = performer.perform(host, began, &mut work);
    work.failure = done.err().map(|failure| failure.0);
    work
}

struct Performer<'a> {
    task: &'a Task,
    session: Option<Box<dyn Session>>,
}

impl Performer<'_> {
    fn perform(&mut self, host: &Host, began: Instant, work: &mut Work) -> Result<(), Failure> {
        for action in &self.task.before {
            self.act(action)?;
        }
        let at = &self.task.directory;
        work.cache = match self.task.caches {
            Caches::Emptied => cache::empty(host, at)?,
            Caches::Left => cache::sync(at).map(|()| CacheState::Warm)?,
        };
        for Timed { name, action } in &self.task.timed {
            let from = began.elapsed();
            self.act(action)?;
            let length = began.elapsed() - from;
            work.parts.push(WorkPart {
                name: name.clone(),
                from: nanos(from),
                length: nanos(length),
            });
        }
        Ok(())
    }

    fn act(&mut self, action: &Action) -> Result<(), Failure> {
        match action {
            Action::Unless(path, actions) if !path.exists() => {
                actions.iter().try_for_each(|action| self.act(action))
            }
            Action::Unless(..) => Ok(()),
            Action::Tree(path, shape) => shape.grow(path),
            Action::Project(path, shape) => shape.grow(path),
            Action::Remove(path) => remove(path),
            Action::Run(program, arguments, at) => command::run(program, arguments, at),
            Action::Sync => cache::sync(&self.task.directory),
            Action::Database(statement) => statement.run(self.session()?),
        }
    }

    fn session(&mut self) -> Result<&mut dyn Session, Failure> {
        let session = match self.session.take() {
            Some(session) => session,
            None => {
                let nowhere = || Failure("no database is named".into());
                self.task.database.as_ref().ok_or_else(nowhere)?.open()?
            }
        };
        Ok(self.session.insert(session).as_mut())
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

fn remove(path: &Path) -> Result<(), Failure> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::io("remove", path, &error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, at: &Path) -> Action {
        Action::Run("sh".into(), vec!["-c".into(), script.into()], at.into())
    }

    fn task(at: &Path, before: Vec<Action>, timed: Vec<Action>) -> Task {
        let timed = timed.into_iter().map(|action| Timed { name: "part".into(), action });
        Task {
            directory: at.into(),
            before,
            caches: Caches::Left,
            database: None,
            timed: timed.collect(),
            amount: None,
        }
    }

    #[test]
    fn only_the_work_itself_is_timed() {
        let scratch = testbed::scratch();
        let at = scratch.path();
        let task = task(at, vec![sh("sleep 0.3", at)], vec![sh("sleep 0.1", at), Action::Sync]);
        let work = perform(&task, &Host::at("/"));
        assert_eq!((work.failure.as_ref(), work.parts.len()), (None, 2));
        assert!(work.parts[0].from.seconds() >= 0.3, "{work:?}");
        assert!(
            work.parts[0].length.seconds() >= 0.1 && work.length() < work.parts[0].from,
            "{work:?}"
        );
        assert!(work.parts[1].from >= work.parts[0].from + work.parts[0].length);
        assert_eq!(work.cache, CacheState::Warm);
    }

    #[test]
    fn what_fails_ends_the_work_and_is_told() {
        let scratch = testbed::scratch();
        let at = scratch.path();
        let failing =
            task(at, Vec::new(), vec![sh("true", at), sh("exit 9", at), sh("touch x", at)]);
        let work = perform(&failing, &Host::at("/"));
        assert_eq!(work.parts.len(), 1);
        assert_eq!(work.failure.as_deref(), Some("'sh' ended with exit status: 9"));
        assert!(!at.join("x").exists());
        let gone = task(&at.join("gone"), Vec::new(), Vec::new());
        assert!(perform(&gone, &Host::at("/")).failure.unwrap().contains("cannot synchronise"));
    }

    #[test]
    fn what_is_there_is_not_made_again_and_removing_nothing_is_no_error() {
        let scratch = testbed::scratch();
        let (at, file) = (scratch.path(), scratch.path().join("file"));
        let make = Action::Unless(file.clone(), vec![sh("echo x >> file", at)]);
        let remove = Action::Remove(file.clone());
        let done =
            |before: Vec<Action>| perform(&task(at, before, Vec::new()), &Host::at("/")).failure;
        assert_eq!(done(vec![make.clone(), make]), None);
        assert_eq!(fs::read_to_string(&file).unwrap(), "x\n");
        assert_eq!(done(vec![remove.clone(), remove]), None);
        assert!(!file.exists());
    }
}
