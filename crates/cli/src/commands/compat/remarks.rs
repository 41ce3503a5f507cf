//! Shared by the other tools: surveys of targets, messages and errors in the terms of the tool.

use crate::error::exit_code;
use crate::output::{describe, write_stderr};
use crate::ranks;
use anyhow::{Context, Result};
use archive::Choice;
use compat::{Fault, Usage};
use host::TargetQuery;
use job::Invocation;
use plan::PlanError;
use record::{Facts, Message, RunRecord, Terminology};
use runner::{Refusal, RunArchive, Runner};
use std::fs;
use std::path::PathBuf;
use suite::Failure;

/// Files of each task whose names stay in the records of runs of very many files.
pub const FILES_KEPT: usize = 64;

/// A usage error of a tool as a refusal, which has an exit code.
pub fn refused(usage: Usage) -> anyhow::Error {
    match usage.fault {
        Fault::Line => Refusal::usage(usage.to_string()),
        Fault::Target => Refusal::target(usage.to_string()),
    }
}

/// The time, as date(1) shows it in the C locale.
pub fn now() -> String {
    chrono::Local::now().format("%a %b %e %H:%M:%S %Y").to_string()
}

/// Prints why a run of a tool failed, if one did, in the terms of the tool.
pub fn print_failure(tool: &str, terminology: &Terminology, failure: Option<&Failure>) {
    if let Some(Failure { cell, text }) = failure {
        write_stderr(&format!("fathom: error: {tool}: {cell}: {}\n", text.in_terms(terminology)));
    }
}

/// Prints notes about the command line of a tool.
pub fn print_notes(tool: &str, notes: &[String]) {
    notes.iter().for_each(|note| write_stderr(&format!("fathom: note: {tool}: {note}\n")));
}

/// The archive for the runs of a tool, and the file of its option `--record`.
///
/// # Errors
/// When the directory of that file is not there, or the file is a directory.
pub fn archive(
    tool: &'static str,
    no_archive: bool,
    record: Option<&String>,
) -> Result<RunArchive> {
    let archive = RunArchive::for_set(Choice::from_options(None, no_archive), tool, 0)
        .with_record_file(record.map(PathBuf::from));
    archive.check_record_file()?;
    Ok(archive)
}

/// Surveys paths, each with whether it will be written.
pub fn survey(runner: &Runner, paths: &[(&str, bool)]) -> Facts {
    let query = |(path, will_write): &(&str, bool)| TargetQuery {
        path: (*path).to_owned(),
        will_write: *will_write,
    };
    let queries: Vec<TargetQuery> = paths.iter().map(query).collect();
    runner.host().survey(runner.machine().clone(), &queries)
}

/// Bytes of the filesystem of a path, and those in use; `None`: not known.
pub fn capacity(facts: &Facts, path: &str) -> Option<(u64, u64)> {
    let filesystem = plan::filesystem(facts, path).filter(|found| found.total.0 > 0)?;
    Some((filesystem.total.0, filesystem.total.0.saturating_sub(filesystem.free.0)))
}

/// Runs a tool on the ranks that a launcher started, or alone. `body` gets the command line, in which each
/// rank is a task unless `flag` gives another number.
///
/// # Errors
/// When the ranks do not join, and errors of `body`.
pub fn on_ranks(
    words: &[String],
    flag: &str,
    body: impl FnOnce(&Runner, &[String]) -> Result<u8>,
) -> Result<u8> {
    engine::prepare_clock();
    let runner = Runner::new(false);
    ranks::with_ranks(&runner, || body(&runner, &words_for_ranks(words, flag, &runner)))
}

fn words_for_ranks(words: &[String], flag: &str, runner: &Runner) -> Vec<String> {
    let number = runner.team().map(|hosts| format!("{flag}{}", hosts.len()));
    number.into_iter().chain(words.iter().cloned()).collect()
}

/// Reads the count that a status file has, which an earlier call wrote.
///
/// # Errors
/// When it cannot be read, or holds something else.
pub fn read_count(flag: &str, path: &str) -> Result<u64> {
    let text = fs::read_to_string(path)
        .map_err(|error| Refusal::usage(format!("{flag}: {path}: cannot be read: {error}")))?;
    text.trim().parse().map_err(|_| {
        Refusal::usage(format!(
            "{flag}: {path} holds no number; the call that writes makes this file"
        ))
    })
}

/// Writes the count that each task reached into a status file.
pub fn write_count(flag: &str, path: &str, count: u64) -> Result<()> {
    fs::write(path, format!("{count}\n"))
        .with_context(|| format!("{flag}: {path}: cannot be written"))
}

/// The hosts of the first so many tasks. Without ranks all are on this one.
///
/// # Errors
/// When fewer ranks were started.
pub fn hosts_of(tasks: u32, flag: &str, runner: &Runner) -> Result<Vec<String>> {
    match runner.team() {
        None => Ok(vec![runner.machine().hostname.clone(); tasks as usize]),
        Some(hosts) => hosts.get(..tasks as usize).map(<[_]>::to_vec).ok_or_else(|| {
            Refusal::usage(format!("{flag}{tasks}: only {} ranks were started", hosts.len()))
        }),
    }
}

/// Prints messages about runs in the terms of a tool. Each is printed once, even if it is true of
/// several runs.
pub struct Remarks {
    terminology: Terminology,
    printed: Vec<Message>,
}

impl Remarks {
    /// Prints in the terms of this tool.
    pub fn new(terminology: Terminology) -> Remarks {
        Remarks { terminology, printed: Vec::new() }
    }

    /// Plans a run before the first one starts, and prints its messages.
    ///
    /// # Errors
    /// When the run cannot be planned; nothing was touched.
    pub fn plan(&mut self, runner: &Runner, invocation: &Invocation) -> Result<()> {
        let messages = runner.plan(invocation)?.messages;
        self.print(messages);
        Ok(())
    }

    /// Prints the messages of a finished run.
    pub fn print_messages(&mut self, record: &RunRecord) {
        self.print(record.messages.clone());
    }

    fn print(&mut self, messages: Vec<Message>) {
        for mut message in messages {
            if !self.printed.contains(&message) {
                self.printed.push(message.clone());
                message.text = message.text.in_terms(&self.terminology).into();
                write_stderr(&report::messages::lines("fathom", [&message]));
            }
        }
    }
}

/// Prints an error in the terms of the tool. Returns its exit code.
pub fn fail(terminology: &Terminology, error: &anyhow::Error) -> u8 {
    error_texts(terminology, error)
        .iter()
        .for_each(|text| write_stderr(&format!("fathom: error: {text}\n")));
    exit_code(error)
}

/// The problems of an error in the terms of the tool, one text each.
pub fn error_texts(terminology: &Terminology, error: &anyhow::Error) -> Vec<String> {
    let Some(PlanError { problems }) = error.downcast_ref() else {
        return vec![describe(error)];
    };
    let texts = problems.iter().map(|problem| {
        let flag = terminology.flag(&problem.option);
        let (found, remedy) = (&problem.found, &problem.remedy);
        format!("{flag}: {}; {}", found.in_terms(terminology), remedy.in_terms(terminology))
    });
    texts.collect()
}
