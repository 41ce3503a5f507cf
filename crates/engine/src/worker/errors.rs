//! Errors of a worker: counted by kind, and what each does to it.

use super::build::{Finished, failed};
use crate::files::{FileError, LayoutError, LayoutReport, survey, system_text};
use crate::ops::{Fault, Op, OpKind};
use crate::run::{Event, Shared};
use plan::{Engine, ErrorPolicy, Medium, Retry, Worker};
use record::{Direction, ErrorCount, LayoutProgress, Message};
use std::io;

/// With `error_dump`, every tolerated error is told, and every fault, but no more than this many.
const MOST_DUMPED: u64 = 100;

/// Operation of the faults that `continue_on_error=verify` tolerates.
pub(crate) const VERIFY: &str = "verify";

/// What an error does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Counted; the I/O is given up, the worker goes on.
    Tolerated,
    /// The worker ends with it.
    Fatal,
}

/// The errors of one worker.
pub(crate) struct Errors {
    policy: ErrorPolicy,
    /// What the engine does to a file, where that is neither reading nor writing.
    deed: Option<&'static str>,
    /// Any error is one of a single I/O: an answer says nothing of other requests.
    of_one_io: bool,
    paths: Vec<String>,
    counts: Vec<ErrorCount>,
    fatal: i32,
    ended: bool,
    dumped: u64,
    told: u64,
}

/// The name an operation has in messages.
fn operation(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::Trim => "trim",
        OpKind::ResetZone => "zone reset",
        OpKind::Fsync => "fsync",
        OpKind::Fdatasync => "fdatasync",
        OpKind::SyncFileRange(_) => "sync_file_range",
        OpKind::Stat => "stat",
    }
}

/// The call an engine is about, where its I/O is none.
fn deed(engine: Engine) -> Option<&'static str> {
    match engine {
        Engine::Filecreate => Some("creation"),
        Engine::Filestat | Engine::Dirstat => Some("stat"),
        Engine::Filedelete => Some("unlink"),
        Engine::Dircreate => Some("mkdir"),
        Engine::Dirdelete => Some("rmdir"),
        _ => None,
    }
}

/// The system's text for an errno.
fn errno_text(errno: i32) -> String {
    system_text(&io::Error::from_raw_os_error(errno))
}

impl Errors {
    pub(super) fn new(worker: &Worker) -> Self {
        Errors {
            policy: worker.errors.clone(),
            deed: deed(worker.queue.engine),
            of_one_io: worker.queue.engine.medium() == Medium::Objects,
            paths: worker.files.iter().map(|f| f.path.clone()).collect(),
            counts: Vec::new(),
            fatal: 0,
            ended: false,
            dumped: 0,
            told: 0,
        }
    }

    /// An I/O failed. The message is for the user: always for a fatal error, for a tolerated one
    /// when `error_dump` asks for it.
    pub(super) fn io(&mut self, op: &Op, errno: i32) -> (Verdict, Option<String>) {
        let path = self.paths.get(op.file as usize).cloned().unwrap_or_default();
        let text = errno_text(errno);
        let what = self.deed.unwrap_or(operation(op.kind));
        let message = match self.deed {
            Some(deed) => format!("{deed} of '{path}' failed: {text}"),
            None => format!(
                "{what} of {} bytes at offset {} of '{path}' failed: {text}",
                op.length, op.offset
            ),
        };
        self.count(ErrorCount {
            errno,
            text,
            operation: what.into(),
            count: 1,
            first_file: path,
            first_offset: Some(op.offset),
            first_length: Some(op.length),
        });
        if self.tolerates(op.kind, errno) {
            self.dumped += 1;
            let shown = self.policy.dump && self.dumped <= MOST_DUMPED;
            return (Verdict::Tolerated, shown.then_some(message));
        }
        self.fatal = errno;
        self.ended = true;
        (Verdict::Fatal, Some(message))
    }

    /// The source found something wrong, or a reason to end. The message is for the user.
    pub(super) fn fault(&mut self, op: Option<&Op>, fault: &Fault) -> (Verdict, Option<String>) {
        let path = op.and_then(|op| self.paths.get(op.file as usize)).cloned().unwrap_or_default();
        self.count(ErrorCount {
            errno: fault.errno,
            text: errno_text(fault.errno),
            operation: fault.operation.into(),
            count: 1,
            first_file: path,
            first_offset: op.map(|op| op.offset),
            first_length: op.map(|op| op.length),
        });
        // What is ignored in the third place is about verification.
        let listed = &self.policy.ignored[Direction::Trim];
        let goes_on = match listed.is_empty() {
            true => self.policy.verify == Retry::Continue,
            false => listed.contains(&fault.errno),
        };
        self.told += 1;
        let text = match self.told {
            ..MOST_DUMPED => Some(fault.text.clone()),
            MOST_DUMPED => Some(format!("{} (more of this worker are only counted)", fault.text)),
            _ => None,
        };
        if fault.operation == VERIFY && goes_on {
            return (Verdict::Tolerated, text);
        }
        if self.fatal == 0 {
            self.fatal = fault.errno;
        }
        self.ended |= fault.ends;
        let verdict = if fault.ends { Verdict::Fatal } else { Verdict::Tolerated };
        (verdict, text)
    }

    fn tolerates(&self, kind: OpKind, errno: i32) -> bool {
        let direction = match kind.direction() {
            Some(Direction::Read) => Direction::Read,
            _ => Direction::Write,
        };
        // As documented: a list takes the place of those that continue_on_error goes on after.
        let ignored = &self.policy.ignored[direction];
        if !ignored.is_empty() {
            return ignored.contains(&errno);
        }
        // As fio has it: only these say that a block is bad rather than that the set-up is.
        let of_the_block = self.of_one_io || matches!(errno, libc::EIO | libc::EILSEQ);
        let policy = match direction {
            Direction::Read => self.policy.read,
            Direction::Write | Direction::Trim => self.policy.write,
        };
        of_the_block && policy == Retry::Continue
    }

    /// Something failed with a file as a whole. It is fatal, but does not hide an earlier error.
    pub(super) fn file(&mut self, error: &FileError) {
        self.set_fatal(error.errno(), error.action.to_string(), error.path.clone(), &error.source);
    }

    /// Set-up failed.
    pub(super) fn setup(&mut self, what: &'static str, error: &io::Error) {
        let path = self.paths.first().cloned().unwrap_or_default();
        self.set_fatal(error.raw_os_error().unwrap_or(0), what.into(), path, error);
    }

    fn set_fatal(&mut self, errno: i32, operation: String, first_file: String, error: &io::Error) {
        // An error without a number is still an error of the worker.
        let errno = if errno == 0 { libc::EIO } else { errno };
        self.ended = true;
        self.count(ErrorCount {
            errno,
            text: system_text(error),
            operation,
            count: 1,
            first_file,
            first_offset: None,
            first_length: None,
        });
        if self.fatal == 0 {
            self.fatal = errno;
        }
    }

    fn count(&mut self, error: ErrorCount) {
        let same = |e: &&mut ErrorCount| e.errno == error.errno && e.operation == error.operation;
        match self.counts.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => self.counts.push(error),
        }
    }

    /// Whether an error ended the worker.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Every kind of error met so far.
    pub(super) fn so_far(&self) -> &[ErrorCount] {
        &self.counts
    }

    /// The errno that ended the worker (0: none) and every kind of error.
    pub(super) fn take(&mut self) -> (i32, Vec<ErrorCount>) {
        (self.fatal, std::mem::take(&mut self.counts))
    }
}

/// Makes the files of worker `index` and gives what the user should know of them. The error is the
/// worker's record, finished: at once where the plan found that it cannot run, which was told then.
pub(crate) fn lay_out(shared: &Shared, index: usize) -> Result<Option<Message>, Box<Finished>> {
    let worker = &shared.plan.workers[index];
    if let Some(errno) = worker.unready {
        let error = io::Error::from_raw_os_error(errno);
        let mut finished = failed(worker, shared.plan.interval, "set up", &error);
        finished.messages.clear();
        return Err(Box::new(finished));
    }
    let error = match make_files(shared, worker) {
        Ok(report) => return Ok(without_room(worker, &report)),
        // Nothing failed; the run just ends here, with what was made kept for the next one.
        Err(LayoutError::Interrupted) => return Ok(None),
        Err(error) => error,
    };
    let text = error.to_string();
    let source = match error {
        LayoutError::File(error) => error.source,
        LayoutError::NoSpace { .. } => io::Error::from_raw_os_error(libc::ENOSPC),
        other => io::Error::other(other.to_string()),
    };
    let mut finished = failed(worker, shared.plan.interval, "lay out", &source);
    finished.messages = vec![Message::error(Some(&worker.name), text)];
    Err(Box::new(finished))
}

/// Says of which files only that much can be written.
fn without_room(worker: &Worker, report: &LayoutReport) -> Option<Message> {
    let (first, others) = report.unallocated.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "the filesystem has no room for all of '{first}'{more}; space is taken as it is written"
    );
    Some(Message::warning(Some(&worker.name), text))
}

fn make_files(shared: &Shared, worker: &Worker) -> Result<LayoutReport, LayoutError> {
    let survey = survey(worker)?;
    if survey.files() == 0 {
        return Ok(LayoutReport::default());
    }
    let (job, files) = (worker.name.clone(), survey.files() as u64);
    shared.event(Event::LayingOut { job: job.clone(), files, bytes: survey.size() });
    let progress = |done: u64, total: u64| {
        shared.set_layout(Some(LayoutProgress { job: job.clone(), files, total, done }));
    };
    survey.run(worker, &progress, &shared.stop)
}
