//! `fathom iozone`, also when called as `iozone`.

mod files;

use super::remarks;
use crate::output::{Output, describe, write_stderr};
use crate::suites::{self, SuiteOptions};
use anyhow::{Context, Result};
use compat::iozone::{
    Banner, Conclusion, Iozone, IozoneCommand, Live, Request, RunContext, TERMINOLOGY, head, help,
    json, parse, report, sheets, workbook,
};
use files::{CheckedTargets, Files};
use job::Invocation;
use record::{Facts, RecordSet, RunRecord};
use runner::{Refusal, RunArchive, Runner, SuiteTask};
use std::fs;
use std::path::Path;
use suite::{Failure, Step, Suite};

/// Measures and reports.
pub fn main(words: &[String]) -> u8 {
    run_words(words).unwrap_or_else(|error| remarks::fail(&TERMINOLOGY, &error))
}

fn run_words(words: &[String]) -> Result<u8> {
    engine::prepare_clock();
    match parse(words).map_err(remarks::refused)? {
        Request::Help => Output::Stdout.write(&help()).map(|()| 0),
        Request::Version => Output::Stdout
            .write(&format!("fathom {}: IOzone's tests\n", env!("CARGO_PKG_VERSION")))
            .map(|()| 0),
        Request::Run(call) => run(&call, &format!("iozone {}", words.join(" "))),
    }
}

fn run(call: &IozoneCommand, command: &str) -> Result<u8> {
    let own = &call.own;
    let archive = remarks::archive("iozone", own.no_archive, own.record.as_ref())?;
    check_workbook(call)?;
    let runner = Runner::new(false);
    let targets = CheckedTargets::check(call, &runner)?;
    let seed = runner::fresh_seed();
    let mut suite = Iozone::new(call, RunContext { cpus: runner.machine().cpu.online, seed });
    let mut options = SuiteOptions {
        with_serials: own.with_serials,
        allow_destroy: own.allow_destroy.clone(),
        terminology: TERMINOLOGY,
        ..SuiteOptions::default()
    };
    // Errors must show before anything is printed and before a file is truncated. Later runs use the
    // files of the first one, so only that is planned.
    if let Some(first) = suite.next() {
        runner.plan(&suites::invocation(&first, &runner, &options)?)?;
    }
    let mut files = targets.into_files(call)?;
    options.left_behind = files.left_behind();
    let mut output = Output::Stdout;
    let live = Live::new(call);
    if !own.json {
        output.write(&(banner(call, command, runner.machine()) + &live.head()))?;
    }
    let mut task = IozoneTask { suite, live, call, files: &files, options: &options };
    let mut set = runner::empty_set("iozone", seed);
    let mut archive = archive.with_seed(seed);
    let end = suites::run_task(&mut task, &runner, &options, &mut set, &mut archive);
    let mut conclusion = task.live.conclusion();
    match &end {
        // A signal between two runs is in no record.
        Ok(signal) => conclusion.interrupted_by = conclusion.interrupted_by.or(*signal),
        // The results before the error are still shown.
        Err(error) => {
            let text = remarks::error_texts(&TERMINOLOGY, error).join("; ");
            conclusion
                .failure
                .get_or_insert(Failure { cell: "the run after these".into(), text: text.into() });
        }
    }
    let is_saved = conclude(call, command, &set, &conclusion, &mut archive);
    files.remove();
    end?;
    let failed = !is_saved? || conclusion.failure.is_some();
    Ok(suites::exit_code(conclusion.interrupted_by, failed))
}

/// Saves the records and prints the report. Returns whether the records were saved.
fn conclude(
    call: &IozoneCommand,
    command: &str,
    set: &RecordSet,
    conclusion: &Conclusion,
    archive: &mut RunArchive,
) -> Result<bool> {
    if set.runs.is_empty() {
        return Ok(true);
    }
    let kept = suites::save(archive, set);
    let mut output = Output::Stdout;
    let text = match call.own.json {
        true => json(conclusion, &kept),
        false => {
            let report = report(call, conclusion, &output.style());
            report + &suites::footer(&kept)
        }
    };
    output.write(&text)?;
    if let Some(path) = &call.show.workbook {
        let book = workbook(command, &sheets(call, &conclusion.figures));
        fs::write(path, book).with_context(|| format!("-b {path}: cannot be written"))?;
    }
    Ok(!kept.is_lost)
}

/// Checks that the file of -b can be written, before the tests.
fn check_workbook(call: &IozoneCommand) -> Result<()> {
    let Some(path) = &call.show.workbook else { return Ok(()) };
    let parent = Path::new(path).parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent.is_none_or(Path::is_dir) && !Path::new(path).is_dir() {
        true => Ok(()),
        false => Err(Refusal::usage(format!(
            "-b {path}: no file can be created there; name one in an existing directory"
        ))),
    }
}

fn banner(call: &IozoneCommand, command: &str, machine: &Facts) -> String {
    let began = remarks::now();
    let uname = format!("Linux {} {} {}", machine.hostname, machine.kernel, machine.architecture);
    let version = env!("CARGO_PKG_VERSION");
    head(call, &Banner { version, began: &began, command, uname: &uname })
}

/// The tests. Each is printed as soon as it is done.
struct IozoneTask<'a> {
    suite: Iozone,
    live: Live<'a>,
    call: &'a IozoneCommand,
    files: &'a Files,
    options: &'a SuiteOptions,
}

impl SuiteTask for IozoneTask<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        &mut self.suite
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        suites::invocation(step, runner, self.options)
    }

    fn save(&mut self, record: &RunRecord) -> Result<()> {
        let text = self.live.took(record);
        if !self.call.own.json {
            Output::Stdout.write(&text)?;
        }
        // As IOzone, outside of the timing: no test waits for the writes of the previous one.
        if let Err(error) = self.files.sync() {
            write_stderr(&format!("fathom: warning: iozone: {}\n", describe(&error)));
        }
        Ok(())
    }
}
