//! `fathom iozone`: IOzone's tests, also when called as `iozone`.

mod files;

use super::carry;
use crate::archive::Keeper;
use crate::output::{Output, describe, say};
use crate::runner::Runner;
use crate::several::{self, Common, Refusal, Work};
use anyhow::{Context, Result};
use archive::Choice;
use compat::iozone::{
    Around, Banner, Call, Conclusion, Iozone, Live, Request, head, help, json, parse, report,
    sheets, tongue, workbook,
};
use files::{Files, Found};
use record::{Facts, RecordSet, RunRecord};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use suite::{Failure, Suite};

/// Measures and reports.
pub fn main(words: Vec<String>) -> ExitCode {
    ExitCode::from(asked(&words).unwrap_or_else(|error| carry::fail(&tongue(), &error)))
}

fn asked(words: &[String]) -> Result<u8> {
    engine::look_at_clock();
    match parse(words).map_err(carry::refused)? {
        Request::Help => Output::Stdout.write(&help()).map(|()| 0),
        Request::Version => Output::Stdout
            .write(&format!("fathom {}: IOzone's tests\n", env!("CARGO_PKG_VERSION")))
            .map(|()| 0),
        Request::Run(call) => run(&call, &format!("iozone {}", words.join(" "))),
    }
}

fn run(call: &Call, command: &str) -> Result<u8> {
    let own = &call.own;
    let keeper = Keeper::together(Choice::of(None, own.no_archive), "iozone", 0)
        .with_record(own.record.clone().map(PathBuf::from));
    keeper.check()?;
    check_workbook(call)?;
    let runner = Runner::new(false);
    let found = Found::look(call, &runner)?;
    let seed = several::fresh_seed();
    let mut suite = Iozone::new(call, Around { cpus: runner.machine().cpu.online, seed });
    let mut common = Common {
        with_serials: own.with_serials,
        allow_destroy: own.allow_destroy.clone(),
        tongue: tongue(),
        ..Common::default()
    };
    // Refused before a word is printed and before a file is emptied. What comes later works on what
    // the first run makes.
    if let Some(first) = suite.next() {
        runner.prepare(&several::invocation(&first, &runner, &common)?)?;
    }
    let mut files = found.take(call)?;
    common.left_behind = files.left_behind();
    let mut output = Output::Stdout;
    let live = Live::new(call);
    if !own.json {
        output.write(&(banner(call, command, runner.machine()) + &live.head()))?;
    }
    let mut shown = Shown { suite, live, call, files: &files };
    let mut set = several::set("iozone", seed);
    let mut keeper = keeper.seeded(seed);
    let end = several::carry_out_work(&mut shown, &runner, &common, &mut set, &mut keeper);
    let mut conclusion = shown.live.conclusion();
    match &end {
        // Of a signal while nothing ran, no record knows.
        Ok(signal) => conclusion.interrupted_by = conclusion.interrupted_by.or(*signal),
        // What was measured before is shown all the same.
        Err(error) => {
            let text = carry::complaints(&tongue(), error).join("; ");
            conclusion.failure.get_or_insert(Failure { cell: "the run after these".into(), text });
        }
    }
    let is_kept = conclude(call, command, &set, &conclusion, &mut keeper);
    files.remove();
    end?;
    let failed = !is_kept? || conclusion.failure.is_some();
    Ok(several::exit_code(conclusion.interrupted_by, failed))
}

/// Keeps the records, and shows what they come to. Whether all is kept that was to be.
fn conclude(
    call: &Call,
    command: &str,
    set: &RecordSet,
    conclusion: &Conclusion,
    keeper: &mut Keeper,
) -> Result<bool> {
    if set.runs.is_empty() {
        return Ok(true);
    }
    let kept = keeper.save(set);
    let mut output = Output::Stdout;
    let text = match call.own.json {
        true => json(conclusion, &kept),
        false => {
            let report = report(call, conclusion, &output.style());
            report + &several::where_it_is(&kept)
        }
    };
    output.write(&text)?;
    if let Some(path) = &call.show.workbook {
        let book = workbook(command, &sheets(call, &conclusion.figures));
        fs::write(path, book).with_context(|| format!("-b {path}: cannot be written"))?;
    }
    Ok(!kept.is_lost)
}

/// Better found before an hour of measuring than after it.
fn check_workbook(call: &Call) -> Result<()> {
    let Some(path) = &call.show.workbook else { return Ok(()) };
    let parent = Path::new(path).parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent.is_none_or(Path::is_dir) && !Path::new(path).is_dir() {
        true => Ok(()),
        false => Err(Refusal::usage(format!(
            "-b {path}: no file can be made there; name one in a directory that is there"
        ))),
    }
}

fn banner(call: &Call, command: &str, machine: &Facts) -> String {
    // As date(1) shows it in the C locale.
    let began = chrono::Local::now().format("%a %b %e %H:%M:%S %Y").to_string();
    let uname = format!("Linux {} {} {}", machine.hostname, machine.kernel, machine.architecture);
    let version = env!("CARGO_PKG_VERSION");
    head(call, &Banner { version, began: &began, command, uname: &uname })
}

/// The runs, each shown as soon as it was made.
struct Shown<'a> {
    suite: Iozone,
    live: Live<'a>,
    call: &'a Call,
    files: &'a Files,
}

impl Work for Shown<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        &mut self.suite
    }

    fn keep(&mut self, record: &RunRecord) -> Result<()> {
        let text = self.live.took(record);
        if !self.call.own.json {
            Output::Stdout.write(&text)?;
        }
        // As IOzone does while its clock stands: no test has to wait for what the one before left.
        if let Err(error) = self.files.settle() {
            say(&format!("fathom: warning: iozone: {}\n", describe(&error)));
        }
        Ok(())
    }
}
