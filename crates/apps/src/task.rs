//! The task of a phase, and its execution.

use crate::session::{Session, Statement};
use crate::{Connection, Failure, cache, command, project, tree};
use host::Host;
use record::{Amount, CacheState, Nanos, Work, WorkPart};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The work of one phase, which a separate process executes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its directory. Dirty data of this filesystem is written before the timed work starts.
    pub directory: PathBuf,
    /// Preparations, not timed.
    pub before: Vec<Action>,
    /// State of the caches at the start of the timed work.
    pub caches: Caches,
    /// The database for statements.
    pub database: Option<Connection>,
    /// The timed parts, in order.
    pub timed: Vec<Timed>,
    /// The amount of work.
    pub amount: Option<Amount>,
}

/// State of the caches at the start of the timed work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Caches {
    /// Unchanged.
    #[default]
    Left,
    /// As empty as the user's rights allow.
    Emptied,
}

/// A timed part of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Its name.
    pub name: String,
    /// Its action.
    pub action: Action,
}

/// A step of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Performs actions, unless a path exists.
    Unless(PathBuf, Vec<Action>),
    /// Generates a tree of text files.
    Tree(PathBuf, tree::Shape),
    /// Generates a C project.
    Project(PathBuf, project::Shape),
    /// Removes a file or a directory with its content, if it exists.
    Remove(PathBuf),
    /// Runs a program with arguments in a directory.
    Run(String, Vec<String>, PathBuf),
    /// Writes the dirty data of the directory's filesystem (syncfs).
    Sync,
    /// Executes a statement; the first one opens the session.
    Database(Statement),
}

/// Executes a task. A failure is part of the result.
pub fn perform(task: &Task, host: &Host) -> Work {
    let began = Instant::now();
    let mut performer = Performer { task, session: None };
    let mut work = Work { amount: task.amount, ..Work::default() };
    let result = performer.perform(host, began, &mut work);
    work.failure = result.err().map(|failure| failure.0);
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
            let (from, cpu_before) = (began.elapsed(), self.cpu_ms(host));
            self.act(action)?;
            let length = began.elapsed() - from;
            let used =
                |before| Some(Nanos((self.cpu_ms(host)?.saturating_sub(before)) * 1_000_000));
            work.parts.push(WorkPart {
                name: name.clone(),
                from: nanos(from),
                length: nanos(length),
                cpu: cpu_before.and_then(used),
            });
        }
        Ok(())
    }

    /// CPU time of the work so far, in milliseconds; `None` where a server does it.
    fn cpu_ms(&self, host: &Host) -> Option<u64> {
        match self.task.database {
            Some(Connection::Client(_)) => None,
            _ => host.family_cpu_ms(),
        }
    }

    fn act(&mut self, action: &Action) -> Result<(), Failure> {
        match action {
            Action::Unless(path, actions) if !path.exists() => {
                actions.iter().try_for_each(|action| self.act(action))
            }
            Action::Unless(..) => Ok(()),
            Action::Tree(path, shape) => shape.generate(path),
            Action::Project(path, shape) => shape.generate(path),
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
                let no_database = || Failure("no database is named".into());
                self.task.database.as_ref().ok_or_else(no_database)?.open()?
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
    fn preparations_are_not_timed() {
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
    fn cpu_time_of_children_is_counted() {
        let scratch = testbed::scratch();
        let at = scratch.path();
        let counting = sh("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done", at);
        let work = perform(&task(at, vec![], vec![counting]), &Host::at("/"));
        // Children of other tests of this process count as well.
        assert!(work.cpu().unwrap().seconds() >= 0.05, "{work:?}");
    }

    #[test]
    fn a_failing_action_ends_the_task_with_its_error() {
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
    fn an_existing_path_is_not_made_again_and_removing_a_missing_one_succeeds() {
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
