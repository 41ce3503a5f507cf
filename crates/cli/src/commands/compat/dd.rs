//! `fathom dd`, also when called as `dd`.

use super::remarks::{self, Remarks};
use crate::output::{Output, write_stderr};
use crate::suites::{self, SuiteOptions};
use crate::{error, exit};
use anyhow::{Context, Result};
use archive::Choice;
use compat::dd::{DdCommand, HELP, Input, Status, Work, lines, progress, summary_so_far, traps};
use compat::{ReportFooter, Runs};
use job::Invocation;
use record::{Cell, Direction, RunRecord};
use report::style::Style;
use runner::{RunArchive, RunInProgress, Runner};
use std::fs::OpenOptions;
use std::path::Path;
use suite::{Step, Suite};

/// Name of the run and kind of the set.
const NAME: &str = "dd";

/// Copies and reports.
pub fn main(arguments: &[String]) -> u8 {
    dd(arguments).unwrap_or_else(|error| error::fail(&error))
}

fn dd(arguments: &[String]) -> Result<u8> {
    if arguments.iter().any(|argument| argument == "--help") {
        return Output::Stdout.write(HELP).map(|()| 0);
    }
    if arguments.iter().any(|argument| argument == "--version") {
        let line = format!("fathom {}: dd's copies\n", env!("CARGO_PKG_VERSION"));
        return Output::Stdout.write(&line).map(|()| 0);
    }
    let call = DdCommand::parse(arguments).map_err(remarks::refused)?;
    Ok(copy(&call).unwrap_or_else(|error| remarks::fail(&call.terminology(), &error)))
}

fn copy(call: &DdCommand) -> Result<u8> {
    engine::prepare_clock();
    let runner = Runner::new(false);
    let mut paths: Vec<(&str, bool)> = Vec::new();
    if let Input::Path(path) = &call.input {
        paths.push((path, false));
    }
    paths.extend(call.written().map(|path| (path, true)));
    let work = call.work(&remarks::survey(&runner, &paths)).map_err(remarks::refused)?;
    remarks::print_notes(NAME, &work.notes);
    let options = SuiteOptions {
        allow_destroy: call.allow_destroy.clone(),
        quiet: true,
        no_progress: true,
        terminology: call.terminology(),
        ..SuiteOptions::default()
    };
    let cell = Cell { name: NAME.into(), ..Cell::default() };
    let arguments = work.arguments.clone();
    let step = Step { cell, description: "copying".into(), arguments, ..Step::default() };
    let mut remarks = Remarks::new(call.terminology());
    remarks.plan(&runner, &invocation(call, &work, &step, &runner, &options)?)?;
    create_output(call, &work)?;
    let runs = Runs::new(vec![step]);
    let progress = ProgressLines::new(call);
    let mut task = CopyTask { call, work: &work, options: &options, runs, remarks, progress };
    let mut set = runner::empty_set(NAME, 0);
    let mut archive = RunArchive::for_one_run(Choice::from_options(None, false), NAME);
    let end = suites::run_task(&mut task, &runner, &options, &mut set, &mut archive);
    let Some(record) = set.runs.first() else {
        return Ok(suites::exit_code(end?, false));
    };
    let mut output = Output::Stdout;
    output.write(&footer(call, record, &output.style()))?;
    end?;
    Ok(match exit::of_run(record, false) {
        0 if call.fails => exit::ERRORS,
        code => code,
    })
}

/// The job of the command line.
fn invocation(
    call: &DdCommand,
    work: &Work,
    step: &Step,
    runner: &Runner,
    options: &SuiteOptions,
) -> Result<Invocation> {
    let mut invocation = suites::invocation(step, runner, options)?;
    invocation.jobs.iter_mut().for_each(|job| work.complete(job));
    invocation.readonly = call.written().is_none();
    Ok(invocation)
}

/// The copy.
struct CopyTask<'a> {
    call: &'a DdCommand,
    work: &'a Work,
    options: &'a SuiteOptions,
    runs: Runs,
    remarks: Remarks,
    progress: ProgressLines<'a>,
}

impl runner::SuiteTask for CopyTask<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        &mut self.runs
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        invocation(self.call, self.work, step, runner, self.options)
    }

    fn poll(&mut self, run: &RunInProgress) {
        self.progress.poll(run);
    }

    fn save(&mut self, record: &RunRecord) -> Result<()> {
        self.progress.end();
        self.remarks.print_messages(record);
        write_stderr(&lines(self.call, record));
        match &self.call.record {
            Some(path) => Ok(formats::save(record, Path::new(path))?),
            None => Ok(()),
        }
    }
}

/// Creates the output file and truncates it, as dd does before its clock starts.
fn create_output(call: &DdCommand, work: &Work) -> Result<()> {
    let Some(path) = call.written().filter(|_| work.makes) else { return Ok(()) };
    let mut options = OpenOptions::new();
    options.write(true).create(!call.nocreat).create_new(work.excl).truncate(false);
    let file = options.open(path).with_context(|| format!("dd: of={path}: cannot be opened"))?;
    let Some(size) = work.cut else { return Ok(()) };
    file.set_len(size)
        .with_context(|| format!("dd: of={path}: cannot be truncated to {size} bytes"))
}

/// The text below dd's lines.
fn footer(call: &DdCommand, record: &RunRecord, style: &Style) -> String {
    let judged = judge::judge(record).in_terms(&call.terminology());
    let footer = ReportFooter { record, judged: &judged, written: call.written(), style };
    let traps = traps(call, record);
    let mut text = footer.lines();
    if !traps.is_empty() {
        text += &format!("\n{}\n", style.bold("What dd's figure leaves out"));
        text.extend(traps.iter().map(|(name, trap)| footer.line(name, trap)));
    }
    text + &report::verdict::brief(&judged, style)
}

/// Lines during the copy: with `status=progress` once per second, and on SIGUSR1.
struct ProgressLines<'a> {
    call: &'a DdCommand,
    /// The second of the last progress line.
    second: u64,
    /// Number of SIGUSR1 that were answered.
    requests: u64,
    /// Length of the current progress line in characters.
    drawn: usize,
}

impl ProgressLines<'_> {
    fn new(call: &DdCommand) -> ProgressLines<'_> {
        ProgressLines { call, second: 0, requests: 0, drawn: 0 }
    }

    fn poll(&mut self, in_progress: &RunInProgress) {
        let snapshot = in_progress.run.snapshot();
        let Some(worker) = snapshot.workers.first() else { return };
        let Some(started) = worker.started else { return };
        let direction = match self.call.written() {
            Some(_) => Direction::Write,
            None => Direction::Read,
        };
        let seconds = (snapshot.at - started).seconds();
        let line = progress(worker.bytes[direction], seconds);
        let requests = in_progress.signals.requests();
        let is_requested = requests != std::mem::replace(&mut self.requests, requests);
        if is_requested && self.call.status != Status::None {
            self.end();
            write_stderr(&summary_so_far(self.call, &worker.bytes, seconds));
        } else if self.call.status == Status::Progress && seconds as u64 > self.second {
            self.second = seconds as u64;
            let blanks = self.drawn.saturating_sub(line.len());
            write_stderr(&format!("\r{line}{}", " ".repeat(blanks)));
            self.drawn = line.len();
        }
    }

    /// Goes to the next line, if a progress line is shown.
    fn end(&mut self) {
        if std::mem::take(&mut self.drawn) > 0 {
            write_stderr("\n");
        }
    }
}
