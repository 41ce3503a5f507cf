//! Reasons why a run cannot start, and the collector of these problems and of messages.

use crate::policy::Policy;
use job::Job;
use record::{Message, Remedy, Sentence};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// The kind of a problem, which selects the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The jobs contradict themselves on every machine. Exit code 2.
    Usage,
    /// The jobs cannot run on these targets: they would destroy data, or a target is missing, too
    /// small, not permitted or lacks a capability. Exit code 3.
    Refusal,
}

/// One reason why a run cannot start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Usage or refusal.
    pub kind: ProblemKind,
    /// Where the job was defined ("quick.fio:7"); empty if the problem concerns all jobs.
    pub origin: String,
    /// Name of the job; empty if the problem concerns all jobs.
    pub job: String,
    /// The option to change.
    pub option: String,
    /// What is wrong, with the figures.
    pub found: Sentence,
    /// What to do.
    pub remedy: Remedy,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.origin.is_empty() {
            write!(f, "{}: ", self.origin)?;
        }
        if !self.job.is_empty() {
            write!(f, "[{}] ", self.job)?;
        }
        write!(f, "{}: {}; {}", self.option, self.found, self.remedy)
    }
}

/// Every reason why a run cannot start; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct PlanError {
    /// In the order of the jobs.
    pub problems: Vec<Problem>,
}

impl PlanError {
    /// 2 if a job file has to be changed, else 3.
    pub fn exit_code(&self) -> i32 {
        match self.problems.iter().map(|p| p.kind).min() {
            Some(ProblemKind::Usage) | None => 2,
            Some(ProblemKind::Refusal) => 3,
        }
    }
}

/// Maximum number of listed problems of one job with the same option and remedy. Without it, a job of
/// ten thousand files in a directory that cannot be written would list ten thousand problems.
const ALIKE_MAX: usize = 8;

/// The errno values of Linux that jobs which cannot be set up end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Errno {
    NotPermitted = 1,
    NotThere = 2,
    Access = 13,
    NotADirectory = 20,
    IsADirectory = 21,
    Invalid = 22,
    NoSuchCall = 25,
    NoOffsets = 29,
    ReadOnly = 30,
    Unsupported = 95,
}

/// Collects problems and messages. Each is kept once, because all clones of a job have the same ones.
#[derive(Default)]
pub(crate) struct Diagnostics {
    /// Called as fio: a problem of one job's files ends only that job.
    as_fio: bool,
    problems: Vec<Problem>,
    /// At least one problem keeps all jobs from running.
    fatal: bool,
    /// The error that the next problem ends its job with, if the other jobs can run.
    ending: Option<Errno>,
    /// The error that the current worker ends with.
    unready: Option<Errno>,
    /// (job, option, remedy) → number of such problems, and index of the last one listed.
    alike: HashMap<(String, String, String), (usize, usize)>,
    messages: Vec<Message>,
    seen: HashSet<(String, String, String)>,
}

impl Diagnostics {
    pub fn new(policy: &Policy) -> Self {
        Diagnostics { as_fio: policy.as_fio, ..Diagnostics::default() }
    }

    /// Marks the next problem as one that fio finds when it sets up the files of a job, or at the
    /// first I/O. Called as fio, that job ends with this error and the others run.
    pub fn ending(&mut self, errno: Errno) -> &mut Self {
        self.ending = Some(errno);
        self
    }

    /// The error that a worker ends with because of the problems since the last call; `None` if it can
    /// run.
    pub fn take_unready(&mut self) -> Option<Errno> {
        self.unready.take()
    }

    pub fn usage(
        &mut self,
        job: &Job,
        option: &str,
        found: impl Into<Sentence>,
        remedy: impl Into<Remedy>,
    ) {
        self.add(ProblemKind::Usage, Some(job), option, found.into(), remedy.into());
    }

    pub fn refuse(
        &mut self,
        job: &Job,
        option: &str,
        found: impl Into<Sentence>,
        remedy: impl Into<Remedy>,
    ) {
        self.add(ProblemKind::Refusal, Some(job), option, found.into(), remedy.into());
    }

    /// Adds a usage problem that concerns all jobs.
    pub fn usage_overall(
        &mut self,
        option: &str,
        found: impl Into<Sentence>,
        remedy: impl Into<Remedy>,
    ) {
        self.add(ProblemKind::Usage, None, option, found.into(), remedy.into());
    }

    pub fn warn(&mut self, job: &Job, text: impl Into<Sentence>) {
        self.add_message(Message::warning(Some(&job.identity.name), text));
    }

    pub fn note(&mut self, job: &Job, text: impl Into<Sentence>) {
        self.add_message(Message::note(Some(&job.identity.name), text));
    }

    pub fn add_message(&mut self, message: Message) {
        let job = message.job.clone().unwrap_or_default();
        if self.seen.insert((String::new(), job, message.text.to_string())) {
            self.messages.push(message);
        }
    }

    /// Whether no job can run.
    pub fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// The problems alone.
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// The messages, including the problems of single jobs. If no job can run, all problems instead.
    pub fn finish(mut self) -> Result<Vec<Message>, PlanError> {
        for (count, last) in self.alike.into_values().filter(|(count, _)| *count > ALIKE_MAX) {
            let more = count - ALIKE_MAX;
            let found = &mut self.problems[last].found;
            *found = std::mem::take(found).text(format!(" (and {more} more like this)"));
        }
        if self.fatal {
            return Err(PlanError { problems: self.problems });
        }
        let errors = self.problems.iter().map(|problem| Message::error(None, problem.to_string()));
        self.messages.extend(errors);
        Ok(self.messages)
    }

    fn add(
        &mut self,
        kind: ProblemKind,
        job: Option<&Job>,
        option: &str,
        found: Sentence,
        remedy: Remedy,
    ) {
        match self.ending.take().filter(|_| self.as_fio) {
            Some(errno) => _ = self.unready.get_or_insert(errno),
            None => self.fatal = true,
        }
        let (origin, name) = job.map_or((String::new(), String::new()), |j| {
            (j.identity.origin.clone(), j.identity.name.clone())
        });
        let owner = format!("{origin}\n{name}");
        if !self.seen.insert((owner.clone(), option.into(), found.to_string())) {
            return;
        }
        let alike = self.alike.entry((owner, option.into(), remedy.to_string())).or_default();
        alike.0 += 1;
        if alike.0 <= ALIKE_MAX {
            alike.1 = self.problems.len();
            let option = option.into();
            self.problems.push(Problem { kind, origin, job: name, option, found, remedy });
        }
    }
}
