//! Errors of one worker, counted by kind, and whether each ends the worker.

use crate::files::{FileError, system_text};
use crate::hot::op::{Fault, Op, OpKind};
use plan::{Engine, ErrorPolicy, Medium, Retry, Worker};
use record::{Direction, ErrorCount};
use std::io;

/// Maximum messages about faults, and about tolerated errors with `error_dump`.
const MESSAGES_MAX: u64 = 100;

/// Operation of the faults that `continue_on_error=verify` tolerates.
pub(crate) const VERIFY: &str = "verify";

/// Consequence of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The I/O is given up; the worker continues.
    Tolerated,
    /// The worker ends.
    Fatal,
}

/// The errors of one worker.
pub(crate) struct ErrorTally {
    policy: ErrorPolicy,
    /// The system call of an engine that neither reads nor writes.
    call: Option<&'static str>,
    /// Any error concerns a single I/O, as with requests to a server.
    per_io: bool,
    paths: Vec<String>,
    counts: Vec<ErrorCount>,
    /// The errno that ended the worker, or 0.
    fatal: i32,
    ended: bool,
    tolerated: u64,
    faults: u64,
}

/// Name of an operation in messages.
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

/// Name of the call that an engine makes on the names of files.
fn file_call(engine: Engine) -> Option<&'static str> {
    let names = engine.name_use()?;
    Some(match (names.changes, names.must_exist, names.directories) {
        (false, ..) => "stat",
        (true, false, false) => "creation",
        (true, false, true) => "mkdir",
        (true, true, false) => "unlink",
        (true, true, true) => "rmdir",
    })
}

fn errno_text(errno: i32) -> String {
    system_text(&io::Error::from_raw_os_error(errno))
}

impl ErrorTally {
    pub(crate) fn new(worker: &Worker) -> Self {
        ErrorTally {
            policy: worker.errors.clone(),
            call: file_call(worker.queue.engine),
            per_io: worker.queue.engine.medium() == Medium::Objects,
            paths: worker.files.iter().map(|f| f.path.clone()).collect(),
            counts: Vec::new(),
            fatal: 0,
            ended: false,
            tolerated: 0,
            faults: 0,
        }
    }

    /// Counts a failed I/O. Returns a message for the user if the error is fatal, or tolerated with
    /// `error_dump`.
    pub(crate) fn io(&mut self, op: &Op, errno: i32) -> (Severity, Option<String>) {
        let path = self.path(Some(op));
        let text = errno_text(errno);
        let operation = self.call.unwrap_or(operation(op.kind));
        let message = match self.call {
            Some(call) => format!("{call} of '{path}' failed: {text}"),
            None => format!(
                "{operation} of {} bytes at offset {} of '{path}' failed: {text}",
                op.length, op.offset
            ),
        };
        self.count(errno, text, operation.into(), path, Some(op));
        if self.tolerates(op.kind, errno) {
            self.tolerated += 1;
            let shown = self.policy.dump && self.tolerated <= MESSAGES_MAX;
            return (Severity::Tolerated, shown.then_some(message));
        }
        self.fatal = errno;
        self.ended = true;
        (Severity::Fatal, Some(message))
    }

    /// Counts a fault that a source or observer found. Returns a message for the user.
    pub(crate) fn fault(&mut self, op: Option<&Op>, fault: &Fault) -> (Severity, Option<String>) {
        let path = self.path(op);
        self.count(fault.errno, errno_text(fault.errno), fault.operation.into(), path, op);
        // The third list of ignore_error is for verification.
        let ignored = &self.policy.ignored[Direction::Trim];
        let continues = match ignored.is_empty() {
            true => self.policy.verify == Retry::Continue,
            false => ignored.contains(&fault.errno),
        };
        self.faults += 1;
        let text = match self.faults {
            ..MESSAGES_MAX => Some(fault.text.clone()),
            MESSAGES_MAX => Some(format!("{} (more of this worker are only counted)", fault.text)),
            _ => None,
        };
        if fault.operation == VERIFY && continues {
            return (Severity::Tolerated, text);
        }
        if self.fatal == 0 {
            self.fatal = fault.errno;
        }
        self.ended |= fault.ends;
        (if fault.ends { Severity::Fatal } else { Severity::Tolerated }, text)
    }

    fn tolerates(&self, kind: OpKind, errno: i32) -> bool {
        let reads = kind.direction() == Some(Direction::Read);
        // As documented: a list in ignore_error replaces continue_on_error.
        let ignored = &self.policy.ignored[if reads { Direction::Read } else { Direction::Write }];
        if !ignored.is_empty() {
            return ignored.contains(&errno);
        }
        // As in fio: only these errors concern a block rather than the set-up.
        let concerns_block = self.per_io || matches!(errno, libc::EIO | libc::EILSEQ);
        let policy = if reads { self.policy.read } else { self.policy.write };
        concerns_block && policy == Retry::Continue
    }

    /// Counts an error with a file as a whole. It is fatal, but does not replace an earlier errno.
    pub(crate) fn file(&mut self, error: &FileError) {
        self.set_fatal(error.errno(), error.action.to_string(), error.path.clone(), &error.source);
    }

    /// Counts a failure to set up the worker.
    pub(crate) fn setup(&mut self, what: &'static str, error: &io::Error) {
        let path = self.paths.first().cloned().unwrap_or_default();
        self.set_fatal(error.raw_os_error().unwrap_or(0), what.into(), path, error);
    }

    fn set_fatal(&mut self, errno: i32, operation: String, path: String, error: &io::Error) {
        // An error without a number is still an error of the worker.
        let errno = if errno == 0 { libc::EIO } else { errno };
        self.ended = true;
        self.count(errno, system_text(error), operation, path, None);
        if self.fatal == 0 {
            self.fatal = errno;
        }
    }

    /// The path of an operation's file.
    fn path(&self, op: Option<&Op>) -> String {
        op.and_then(|op| self.paths.get(op.file as usize)).cloned().unwrap_or_default()
    }

    fn count(
        &mut self,
        errno: i32,
        text: String,
        operation: String,
        first_file: String,
        op: Option<&Op>,
    ) {
        let same = |e: &&mut ErrorCount| e.errno == errno && e.operation == operation;
        match self.counts.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => self.counts.push(ErrorCount {
                errno,
                text,
                operation,
                count: 1,
                first_file,
                first_offset: op.map(|op| op.offset),
                first_length: op.map(|op| op.length),
            }),
        }
    }

    /// Whether an error ended the worker.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn counts(&self) -> &[ErrorCount] {
        &self.counts
    }

    /// Takes the errno that ended the worker (0: none) and the counts.
    pub(crate) fn take(&mut self) -> (i32, Vec<ErrorCount>) {
        (self.fatal, std::mem::take(&mut self.counts))
    }
}
