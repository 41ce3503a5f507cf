//! `fathom ior`, also when called as `ior`.

mod files;

use super::remarks;
use crate::output::{Output, write_stderr};
use crate::suites::{self, SuiteOptions};
use anyhow::{Context, Result};
use compat::ior::{
    Banner, Format, Ior, IorCommand, Outcome, Phase, Request, TERMINOLOGY, Table, csv, footer,
    help, json, parse, phase_of,
};
use files::Files;
use job::Invocation;
use record::{RecordSet, RunRecord};
use runner::{RunArchive, Runner, SuiteTask};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use suite::{Step, Suite};

const KIND: &str = "ior";
/// The option that says how many tasks there are.
const TASKS: &str = "--tasks=";

/// Measures and reports.
pub fn main(words: &[String]) -> u8 {
    run_words(words).unwrap_or_else(|error| remarks::fail(&TERMINOLOGY, &error))
}

fn run_words(words: &[String]) -> Result<u8> {
    remarks::on_ranks(words, TASKS, |runner, all| match parse(all).map_err(remarks::refused)? {
        Request::Help => Output::Stdout.write(&help()).map(|()| 0),
        Request::Run(mut call) => {
            read_count(&mut call)?;
            call.place_on(&remarks::hosts_of(call.tasks, TASKS, runner)?);
            if call.reorder && call.nodes == 1 {
                let note = "-C: all tasks are on one host, so each reads what it wrote itself; -ZZ \
                                moves them";
                call.notes.push(note.into());
            }
            run(&call, &format!("ior {}", words.join(" ")), runner)
        }
    })
}

fn run(call: &IorCommand, command: &str, runner: &Runner) -> Result<u8> {
    let own = &call.own;
    let archive = remarks::archive(KIND, own.no_archive, own.record.as_ref())?;
    remarks::print_notes(KIND, &call.notes);
    let (files, facts) = Files::check(call, runner)?;
    let seed = runner::fresh_seed();
    let options = SuiteOptions {
        with_serials: own.with_serials,
        allow_destroy: own.allow_destroy.clone(),
        quiet: true,
        no_progress: call.format == Format::Text && call.summary_file.is_none(),
        terminology: TERMINOLOGY,
        left_behind: files.left_behind(),
        ranks: Some(call.tasks),
        job_of_rank: Some("task.".into()),
        ..SuiteOptions::default()
    };
    let mut suite = Ior::new(call, seed);
    // Errors must show before a file is removed.
    if let Some(first) = suite.next() {
        runner.plan(&suites::invocation(&first, runner, &options)?)?;
    }
    let banner = banner(call, command, runner, &facts);
    let mut printer = Printer::new(call)?;
    printer.print(&Table(call).head(&banner))?;
    let (outcome, started) = (Outcome::default(), Instant::now());
    let mut task =
        IorTask { suite, outcome, call, files, options: &options, printer, started, printed: 0 };
    let mut set = runner::empty_set(KIND, seed);
    let mut archive = archive.with_seed(seed);
    let end = suites::run_task(&mut task, runner, &options, &mut set, &mut archive);
    // A signal between two runs is in no record. The results before an error are still shown.
    task.outcome.interrupted_by =
        task.outcome.interrupted_by.or(end.as_ref().copied().unwrap_or_default());
    let is_saved = task.conclude(&banner, &set, &mut archive)?;
    end?;
    let failed = !is_saved || task.outcome.failure.is_some();
    Ok(suites::exit_code(task.outcome.interrupted_by, failed))
}

/// The count of the status file, for a call that only reads.
fn read_count(call: &mut IorCommand) -> Result<()> {
    if let (Some(path), false) = (&call.status_file, call.write) {
        call.iterations = remarks::read_count("-O stoneWallingStatusFile", path)?;
    }
    Ok(())
}

fn banner(call: &IorCommand, command: &str, runner: &Runner, facts: &record::Facts) -> Banner {
    let machine = runner.machine();
    let path = call.path(0, 0);
    let directory = Path::new(&path).parent().filter(|parent| !parent.as_os_str().is_empty());
    Banner {
        version: env!("CARGO_PKG_VERSION").into(),
        began: remarks::now(),
        command: command.trim_end().into(),
        machine: format!("Linux {}", machine.hostname),
        path: directory.unwrap_or(Path::new(".")).display().to_string(),
        capacity: remarks::capacity(facts, &path),
    }
}

/// Prints the tables as they grow, to standard output or to the file of `summaryFile`. Other forms
/// are printed whole at the end.
struct Printer {
    format: Format,
    file: Option<(String, String)>,
}

impl Printer {
    fn new(call: &IorCommand) -> Result<Printer> {
        let file = call.summary_file.clone();
        if let Some(path) = &file {
            fs::write(path, "")
                .with_context(|| format!("-O summaryFile={path}: cannot be written"))?;
        }
        Ok(Printer { format: call.format, file: file.map(|path| (path, String::new())) })
    }

    fn print(&mut self, text: &str) -> Result<()> {
        match self.format {
            Format::Text => self.write(text),
            Format::Json | Format::Csv => Ok(()),
        }
    }

    fn write(&mut self, text: &str) -> Result<()> {
        match &mut self.file {
            None => Output::Stdout.write(text),
            Some((path, all)) => {
                all.push_str(text);
                fs::write(&*path, all)
                    .with_context(|| format!("-O summaryFile={path}: cannot be written"))
            }
        }
    }
}

/// The phases. Each is printed as soon as it is done.
struct IorTask<'a> {
    suite: Ior,
    outcome: Outcome,
    call: &'a IorCommand,
    files: Files,
    options: &'a SuiteOptions,
    printer: Printer,
    started: Instant,
    /// Phases that were printed.
    printed: usize,
}

impl SuiteTask for IorTask<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        let limit = Duration::from_secs(self.call.minutes_max.saturating_mul(60));
        if self.call.minutes_max > 0 && self.started.elapsed() >= limit {
            self.suite.end();
        }
        &mut self.suite
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        if let Some((Phase::Write, repetition)) = phase_of(&step.cell)
            && !self.call.use_existing
        {
            self.files.remove(self.call, repetition)?;
        }
        suites::invocation(step, runner, self.options)
    }

    fn save(&mut self, record: &RunRecord) -> Result<()> {
        self.outcome.add(record);
        let table = Table(self.call);
        // A write that wear-out follows is printed after it.
        let new = self.outcome.phases.iter().skip(self.printed);
        for result in new.take_while(|result| !result.is_unfinished(self.call)) {
            self.printer.print(&table.row(result))?;
            self.printed += 1;
        }
        let Some((phase, repetition)) = record.cell.as_ref().and_then(phase_of) else {
            return Ok(());
        };
        let phase = if phase == Phase::WearOut { Phase::Write } else { phase };
        let is_printed = self.printed == self.outcome.phases.len();
        let is_last = self.call.phases().last() == Some(&phase) && is_printed;
        if is_last && self.outcome.failure.is_none() && !self.keeps_files() {
            let seconds = self.files.remove(self.call, repetition)?;
            self.outcome.removals.push((repetition, seconds));
            self.printer.print(&table.removal(repetition, seconds))?;
        }
        Ok(())
    }
}

impl IorTask<'_> {
    /// Files that are only read stay as well.
    fn keeps_files(&self) -> bool {
        let call = self.call;
        !call.write || call.keep || call.keep_with_error && self.outcome.bad > 0
    }

    /// Saves the records and prints the end. Returns whether the records were saved.
    fn conclude(
        &mut self,
        banner: &Banner,
        set: &RecordSet,
        archive: &mut RunArchive,
    ) -> Result<bool> {
        let (call, finished) = (self.call, remarks::now());
        self.outcome.drop_unfinished(call);
        if let (Some(path), Some(count)) = (&call.status_file, self.outcome.written_each()) {
            remarks::write_count("-O stoneWallingStatusFile", path, count)?;
        }
        if self.keeps_files() {
            self.files.mark();
        } else if !set.runs.is_empty() {
            // Files of a repetition that ended early.
            (0..call.repetitions)
                .try_for_each(|repetition| self.files.remove(call, repetition).map(|_| ()))?;
        }
        let kept = suites::save(archive, set);
        let text = match call.format {
            Format::Text => Table(call).end(&self.outcome, &finished),
            Format::Json => json(call, &self.outcome, banner, &finished),
            Format::Csv => csv(call, &self.outcome),
        };
        self.printer.write(&text)?;
        let mut output = Output::Stdout;
        let below = footer(call, &self.outcome, &output.style()) + &suites::footer(&kept);
        match call.format {
            Format::Text => output.write(&below)?,
            // Readers of JSON and CSV expect nothing else on standard output.
            Format::Json | Format::Csv => write_stderr(&below),
        }
        remarks::print_failure(KIND, &TERMINOLOGY, self.outcome.failure.as_ref());
        Ok(!kept.is_lost)
    }
}
