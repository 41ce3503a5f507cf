//! `fathom mdtest`, also when called as `mdtest`.

use super::remarks;
use crate::output::Output;
use crate::suites::{self, SuiteOptions};
use anyhow::{Context, Result};
use compat::mdtest::{
    Banner, Mdtest, MdtestCommand, Outcome, Phase, Request, TERMINOLOGY, Table, footer, help,
    parse, phase_of,
};
use job::Invocation;
use record::{RecordSet, RunRecord};
use runner::{Refusal, RunArchive, Runner, SuiteTask};
use rustix::fs::syncfs;
use std::path::Path;
use std::time::Instant;
use std::{fs, io};
use suite::{Step, Suite};

const KIND: &str = "mdtest";
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
            run(&call, &format!("mdtest {}", words.join(" ")), runner)
        }
    })
}

fn run(call: &MdtestCommand, command: &str, runner: &Runner) -> Result<u8> {
    let own = &call.own;
    let archive = remarks::archive(KIND, own.no_archive, own.record.as_ref())?;
    remarks::print_notes(KIND, &call.notes);
    check(call)?;
    let seed = runner::fresh_seed();
    let options = SuiteOptions {
        with_serials: own.with_serials,
        quiet: true,
        no_progress: true,
        terminology: TERMINOLOGY,
        left_behind: match call.create {
            true => format!(" and leaves {}", call.directory),
            false => String::new(),
        },
        ranks: Some(call.tasks),
        job_of_rank: Some("task.".into()),
        ..SuiteOptions::default()
    };
    let table = Table(call);
    Output::Stdout.write(&table.head(&banner(call, command, runner)))?;
    let (suite, outcome) = (Mdtest::new(call, seed), Outcome::default());
    let missing = call.directory.split('@').filter(|top| !Path::new(top).exists()).collect();
    let mut task = MdtestTask { suite, outcome, call, options: &options, missing };
    let mut set = runner::empty_set(KIND, seed);
    let mut archive = archive.with_seed(seed);
    let end = suites::run_task(&mut task, runner, &options, &mut set, &mut archive);
    // A signal between two runs is in no record. The results before an error are still shown.
    task.outcome.interrupted_by =
        task.outcome.interrupted_by.or(end.as_ref().copied().unwrap_or_default());
    let is_saved = task.conclude(&set, &mut archive)?;
    end?;
    let failed = !is_saved || task.outcome.failure.is_some();
    Ok(suites::exit_code(task.outcome.interrupted_by, failed))
}

/// The count of the status file, for a call that goes on with what another created.
fn read_count(call: &mut MdtestCommand) -> Result<()> {
    if let (Some(path), false) = (&call.status_file, call.create) {
        call.made = remarks::read_count("-x", path)?;
    }
    Ok(())
}

/// All test directories of a call, each with its iteration.
fn test_directories(call: &MdtestCommand) -> impl Iterator<Item = String> {
    (0..call.iterations).flat_map(|iteration| call.test_directories(iteration))
}

/// Checks that nothing is in the way of what is created, and that the rest is there.
fn check(call: &MdtestCommand) -> Result<()> {
    let is_there = |path: &String| fs::symlink_metadata(path).is_ok();
    if call.create {
        return match test_directories(call).find(is_there) {
            None => Ok(()),
            Some(path) => Err(Refusal::target(format!(
                "{path} is there already: remove it, or name another directory with -d"
            ))),
        };
    }
    let items = (0..call.iterations).flat_map(|iteration| call.last_items(iteration));
    match test_directories(call).chain(items).find(|path| !is_there(path)) {
        None => Ok(()),
        Some(path) => Err(Refusal::usage(format!(
            "{path} is not there: create it first with -C, and give the same options now"
        ))),
    }
}

fn now() -> String {
    chrono::Local::now().format("%m/%d/%Y %H:%M:%S").to_string()
}

fn banner(call: &MdtestCommand, command: &str, runner: &Runner) -> Banner {
    let path = call.test_directories(0).swap_remove(0);
    let facts = remarks::survey(runner, &[(path.as_str(), call.create)]);
    Banner {
        version: env!("CARGO_PKG_VERSION").into(),
        began: now(),
        command: command.trim_end().into(),
        capacity: remarks::capacity(&facts, &path),
    }
}

/// The phases.
struct MdtestTask<'a> {
    suite: Mdtest,
    outcome: Outcome,
    call: &'a MdtestCommand,
    options: &'a SuiteOptions,
    /// Directories of `-d` that the call creates.
    missing: Vec<&'a str>,
}

impl SuiteTask for MdtestTask<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        &mut self.suite
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        if let Some((Phase::TreeCreate, iteration)) = phase_of(&step.cell) {
            for path in self.call.test_directories(iteration) {
                fs::create_dir_all(&path).with_context(|| format!("{path}: cannot be created"))?;
            }
        }
        suites::invocation(step, runner, self.options)
    }

    fn save(&mut self, record: &RunRecord) -> Result<()> {
        let Some((phase, iteration)) = record.cell.as_ref().and_then(phase_of) else {
            return Ok(());
        };
        let sync = if self.call.sync { sync(self.call)? } else { 0.0 };
        self.outcome.add(record, sync);
        if phase == Phase::TreeRemove && self.outcome.failure.is_none() {
            for path in self.call.test_directories(iteration) {
                fs::remove_dir(&path).with_context(|| format!("{path}: cannot be removed"))?;
            }
        }
        Ok(())
    }

    fn complete(&mut self, record: &mut RunRecord) {
        record.keep_files(remarks::FILES_KEPT);
    }
}

/// Writes back the filesystems of `-d`. Returns the seconds that it took.
pub(super) fn sync(call: &MdtestCommand) -> Result<f64> {
    let began = Instant::now();
    for path in call.directory.split('@') {
        let synced = fs::File::open(path).and_then(|file| Ok(syncfs(file)?));
        synced.with_context(|| format!("-Y: {path}: cannot be synchronised"))?;
    }
    Ok(began.elapsed().as_secs_f64())
}

impl MdtestTask<'_> {
    /// Saves the records and prints the end. Returns whether the records were saved.
    fn conclude(&mut self, set: &RecordSet, archive: &mut RunArchive) -> Result<bool> {
        let (call, finished) = (self.call, now());
        if self.outcome.failure.is_none() && self.suite.is_within_phase() {
            self.outcome.drop_last();
        }
        if let (Some(path), Some(count)) = (&call.status_file, self.outcome.made_each()) {
            remarks::write_count("-x", path, count)?;
        }
        if call.create && call.remove {
            self.remove()?;
        }
        let kept = suites::save(archive, set);
        let mut output = Output::Stdout;
        let text = Table(call).end(&self.outcome, &finished)
            + &footer(call, &self.outcome, &output.style())
            + &suites::footer(&kept);
        output.write(&text)?;
        remarks::print_failure(KIND, &TERMINOLOGY, self.outcome.failure.as_ref());
        Ok(!kept.is_lost)
    }

    /// Removes what a call that ended early created, and the directories of `-d` that it created.
    fn remove(&self) -> Result<()> {
        for path in test_directories(self.call) {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("{path}: cannot be removed"));
                }
                _ => {}
            }
        }
        for top in &self.missing {
            // Fails if it holds something else.
            let _ = fs::remove_dir(top);
        }
        Ok(())
    }
}
