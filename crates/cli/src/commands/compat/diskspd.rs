//! `fathom diskspd`, also when called as `diskspd`.

use super::remarks;
use crate::output::{Output, describe, write_stderr};
use crate::suites::{self, SuiteOptions};
use crate::{error, exit};
use anyhow::{Context, Result, bail};
use compat::diskspd::{
    DiskspdCommand, Format, ParseContext, Spans, TERMINOLOGY, Task, Unsuitable, Usage,
    only_created, usage, verdict,
};
use record::{Bytes, Facts, RecordSet, SavedTo, TargetKind};
use runner::{RunArchive, Runner, inputs};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// DISKSPD's exit code for usage errors, and fathom's for unsuitable targets.
const USAGE: u8 = 3;
const KIND: &str = "diskspd";
/// DISKSPD's last line when a run failed.
const FAILED: &str = "Error generating I/O requests\n";

/// Runs as DISKSPD.
pub fn main(arguments: &[String]) -> u8 {
    diskspd(arguments).unwrap_or_else(|error| fail(&error))
}

fn diskspd(arguments: &[String]) -> Result<u8> {
    engine::prepare_clock();
    let read =
        |path: &str| inputs::read(path).map_err(|error| describe(&anyhow::Error::from(error)));
    let call = DiskspdCommand::parse(
        arguments,
        &ParseContext { read: &read, seed: runner::fresh_seed() },
    )?;
    let line = [&[KIND.to_owned()], arguments].concat();
    match call.task {
        Task::Run => run(&call, &line),
        Task::Show => Output::Stdout.write(&call.show(&line)).map(|()| 0),
        Task::Help => Output::Stdout.write(usage()).map(|()| 0),
    }
}

/// Prints an error in DISKSPD's terms. Returns its exit code.
fn fail(error: &anyhow::Error) -> u8 {
    let print_error = |text: &str| write_stderr(&format!("{KIND}: error: {text}\n"));
    if let Some(Usage(text)) = error.downcast_ref() {
        if text.is_empty() {
            // There are no arguments. An error of the output does not matter here.
            let _ = Output::Stdout.write(usage());
        }
        text.lines().for_each(print_error);
        return USAGE;
    }
    remarks::error_texts(&TERMINOLOGY, error).iter().for_each(|text| print_error(text));
    if error.is::<Unsuitable>() {
        write_stderr(FAILED);
        return exit::ERRORS;
    }
    match error::exit_code(error) {
        exit::USAGE => USAGE,
        code => code,
    }
}

fn run(call: &DiskspdCommand, line: &[String]) -> Result<u8> {
    let own = &call.own;
    let archive = remarks::archive(KIND, own.no_archive, own.record.as_ref())?;
    let archive = archive.leaving_out(only_created);
    let verbose = call.profile.verbose;
    let print = |kind: &str, text: &String| write_stderr(&format!("{KIND}: {kind}: {text}\n"));
    call.remarks.warnings.iter().for_each(|text| print("warning", text));
    call.remarks.notes.iter().filter(|_| verbose).for_each(|text| print("note", text));
    let runner = Runner::new(false);
    let files = call.files();
    let mut directories = Directories::create(&files)?;
    let facts = survey(call, &runner, &files);
    let mut spans = Spans::new(&call.profile, &facts)?;
    let options = SuiteOptions {
        with_serials: own.with_serials,
        allow_destroy: own.allow_destroy.clone(),
        quiet: !verbose,
        terminology: TERMINOLOGY,
        ..SuiteOptions::default()
    };
    // Errors must show before the first timespan, and before a file is truncated.
    for step in spans.steps() {
        runner.plan(&suites::invocation(&step, &runner, &options)?)?;
    }
    empty_files(&files, &facts)?;
    directories.keep();
    let seed = call.profile.spans.first().map_or(0, |span| span.seed);
    let mut set = runner::empty_set(KIND, seed);
    let mut archive = archive.with_seed(seed);
    let end = suites::run(&mut spans, &runner, &options, &mut set, &mut archive);
    let interrupted = set.runs.iter().find_map(|run| run.interrupted_by);
    set.runs.retain(|run| !only_created(run));
    let is_saved = report(call, line, &set, interrupted.is_some(), &mut archive)?;
    end?;
    Ok(exit_code(&set, interrupted, is_saved))
}

/// Saves the records and prints the results. A failed run has errors instead of results. Returns whether
/// the records were saved.
fn report(
    call: &DiskspdCommand,
    line: &[String],
    set: &RecordSet,
    interrupted: bool,
    archive: &mut RunArchive,
) -> Result<bool> {
    let kept = if set.runs.is_empty() { SavedTo::default() } else { suites::save(archive, set) };
    let mut output = Output::Stdout;
    let has_results = interrupted || call.has_measured(set);
    if has_results {
        output.write(&call.report(set, line, env!("CARGO_PKG_VERSION")))?;
    }
    let mut below = verdict(&call.profile, set, &output.style());
    if has_results || kept != SavedTo::default() {
        below += &suites::footer(&kept);
    }
    match call.profile.format {
        Format::Text if has_results => output.write(&below)?,
        // Readers of XML expect nothing else on standard output.
        Format::Text | Format::Xml => write_stderr(&below),
    }
    Ok(!kept.is_lost)
}

fn survey(call: &DiskspdCommand, runner: &Runner, files: &[(String, Option<Bytes>)]) -> Facts {
    let written = |path: &str, create: &Option<Bytes>| create.is_some() || call.writes_to(path);
    let paths: Vec<(&str, bool)> =
        files.iter().map(|(path, create)| (path.as_str(), written(path, create))).collect();
    remarks::survey(runner, &paths)
}

/// Directories created for `-c`. They are removed when this is dropped, unless [`Directories::keep`] was
/// called.
struct Directories(Vec<PathBuf>);

impl Directories {
    fn create(files: &[(String, Option<Bytes>)]) -> Result<Directories> {
        let mut made = Directories(Vec::new());
        for (path, _) in files.iter().filter(|(_, create)| create.is_some()) {
            let above = Path::new(path).ancestors().skip(1);
            let mut missing: Vec<&Path> = above
                .take_while(|directory| !directory.as_os_str().is_empty() && !directory.exists())
                .collect();
            missing.reverse();
            for directory in missing {
                fs::create_dir(directory)
                    .with_context(|| format!("-c: cannot make the directory of '{path}'"))?;
                made.0.push(directory.into());
            }
            let parent = Path::new(path).parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
                bail!("-c: '{}' is no directory: a file cannot be made in it", parent.display());
            }
        }
        Ok(made)
    }

    fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for Directories {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // Fails if the directory is not empty any more; then it stays.
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Truncates existing files of `-c`, so that all of each file is laid out again.
fn empty_files(files: &[(String, Option<Bytes>)], facts: &Facts) -> Result<()> {
    for (path, _) in files.iter().filter(|(_, create)| create.is_some()) {
        if facts.targets.get(path).is_some_and(|target| target.kind == TargetKind::File) {
            let emptied = OpenOptions::new().write(true).truncate(true).open(path);
            emptied.with_context(|| format!("-c: cannot truncate '{path}'"))?;
        }
    }
    Ok(())
}

/// Prints the failures. Returns 0 if there are none. A run that was repeated with another engine does
/// not count.
fn exit_code(set: &RecordSet, interrupted: Option<i32>, is_saved: bool) -> u8 {
    let failures = suite::failures(set);
    for failure in &failures {
        let text = failure.text.in_terms(&TERMINOLOGY);
        write_stderr(&format!("{KIND}: error: {}: {text}\n", failure.cell));
    }
    if !failures.is_empty() {
        write_stderr(FAILED);
    }
    suites::exit_code(interrupted, !is_saved || !failures.is_empty())
}
