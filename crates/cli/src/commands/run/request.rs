//! One call of `fathom run` or `fio`: its options, and where its output goes.

use crate::exit;
use crate::output::{Output, can_draw, describe, write_stderr};
use anyhow::Result;
use archive::{Choice, Location};
use job::{Dialect, Invocation};
use plan::{Plan, PlanError};
use record::{Format, Message, SavedTo, Severity};
use report::fio_numbers::SizeStyle;
use report::header::JobLine;
use report::{RenderOptions, version_line};
use runner::{PlannedRun, RunArchive, Runner};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Seed of the resampling when runs are judged. It is fixed, so that the same runs always get the same
/// intervals.
pub const SEED: u64 = 1;

/// A call that runs jobs.
pub struct RunRequest<'a> {
    /// The rules that apply.
    pub dialect: Dialect,
    /// Runs the jobs.
    pub runner: &'a Runner,
    /// The parsed command line.
    pub invocation: &'a Invocation,
    /// Invocations that run in turn with it (`--interleave`).
    pub others: &'a [Invocation],
}

/// Where remarks go: notes, warnings and findings, which do not stop a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remarks {
    /// Standard error.
    Stderr,
    /// The report's output, as text.
    Output,
    /// Only in the report: JSON has fields for them, terse lines have no place for them.
    InReport,
}

/// Name of the program in messages.
pub fn program(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Fathom => "fathom",
        Dialect::Fio => "fio",
    }
}

/// The exit code for usage errors. fio uses 1 for all errors.
pub fn usage_code(dialect: Dialect) -> u8 {
    match dialect {
        Dialect::Fathom => exit::USAGE,
        Dialect::Fio => exit::ERRORS,
    }
}

impl RunRequest<'_> {
    /// Whether the program was called as fio.
    pub fn as_fio(&self) -> bool {
        self.dialect == Dialect::Fio
    }

    /// Whether text is one of the formats.
    pub fn is_text(&self) -> bool {
        self.invocation.formats.contains(&Format::Normal)
    }

    /// Where remarks go. Programs that start fio take text on standard error for a failure, or read it
    /// together with the report (fio's own regression tests and kubestr do), and a busy machine is enough
    /// for a remark. JSON has fields for remarks. Text has them around the report, as fio's own notes are.
    /// Terse lines are read by line number, so no remark is added to them.
    pub fn remarks(&self) -> Remarks {
        let formats = &self.invocation.formats;
        let is_text = formats.iter().all(|format| *format == Format::Normal);
        match (self.as_fio(), self.invocation.output.is_some()) {
            (false, _) => Remarks::Stderr,
            (true, _) if formats.iter().any(|format| format.is_json()) => Remarks::InReport,
            (true, _) if is_text => Remarks::Output,
            (true, false) => Remarks::Stderr,
            (true, true) => Remarks::InReport,
        }
    }

    /// Prints remarks, lines of text, where remarks go.
    pub fn remark(&self, text: &str, output: &mut Output) -> Result<()> {
        match self.remarks() {
            Remarks::Stderr => write_stderr(text),
            Remarks::Output => output.write(text)?,
            Remarks::InReport => {}
        }
        Ok(())
    }

    /// The archive of its only run.
    pub fn archive(&self) -> RunArchive {
        RunArchive::for_one_run(self.archive_choice(), self.kind())
            .with_run_file(self.invocation.record.clone())
            .with_tags(self.invocation.tags.clone())
    }

    /// The archive of the runs of a set.
    pub fn archive_of_set(&self, kind: &str, seed: u64) -> RunArchive {
        RunArchive::for_set(self.archive_choice(), kind, seed)
            .with_tags(self.invocation.tags.clone())
    }

    fn archive_choice(&self) -> Choice {
        Choice::from_options(self.invocation.archive.as_deref(), self.invocation.no_archive)
    }

    /// The kind under which its runs are archived.
    pub fn kind(&self) -> &'static str {
        if self.as_fio() { "fio" } else { "run" }
    }

    /// Prints the intent and the id of the archived runs below a text report, and notes of the archive as remarks.
    pub fn show_archive(
        &self,
        archive: &mut RunArchive,
        is_set: bool,
        intent: String,
        output: &mut Output,
    ) -> Result<()> {
        self.remark(&archive.take_notes(), output)?;
        match archive.id() {
            Some(id) if self.is_text() && !self.as_fio() => {
                let intent = Some(intent);
                let kept = SavedTo { archived_as: Some(id), is_set, intent, ..SavedTo::default() };
                output.write(&format!("\n{}", kept.text(|_| String::new())))
            }
            _ => Ok(()),
        }
    }

    /// How events of the run are shown.
    pub fn output_mode(&self) -> OutputMode {
        let quiet = self.remarks() == Remarks::InReport;
        OutputMode { as_fio: self.as_fio(), text: self.is_text(), quiet }
    }

    /// Checks the options in combination before the run.
    ///
    /// # Errors
    /// The option and what to do, in one line.
    pub fn check(&self) -> Result<(), String> {
        let asked = self.invocation;
        let files = [("record", &asked.record), ("junit", &asked.junit)];
        for (option, path) in files {
            if let Some(path) = path.as_ref().filter(|path| !has_directory(path)) {
                let path = path.display();
                return Err(format!(
                    "--{option}={path}: its directory is not there; make it first"
                ));
            }
        }
        if asked.trigger.remote.is_some() {
            return Err(
                "--trigger-remote: needs --client=HOST, a server that runs the command".into()
            );
        }
        if asked.trigger != job::Trigger::default() && asked.repeat.is_some() {
            return Err("--trigger: cannot be combined with --repeat; leave one of them out".into());
        }
        if asked.daemonize.is_some() {
            return Err("--daemonize: only a server can run in the background; add --server".into());
        }
        if asked.access != job::Access::default() {
            return Err(
                "--token, --token-file and --tls-… are for --server and --client; add one of \
                        them, or leave these out"
                    .into(),
            );
        }
        self.check_live()?;
        self.check_archive()?;
        self.check_repeated_logs()?;
        check_logs(asked, self.dialect)?;
        if !asked.interleave.is_empty() && asked.repeat.is_none() {
            return Err("--interleave: needs --repeat=N, the number of rounds".into());
        }
        if asked.repeat.is_some() && (asked.status_interval.is_some() || asked.bandwidth_log) {
            return Err(
                "--repeat: --status-interval and --bandwidth-log work for a single run only; \
                        leave them out"
                    .into(),
            );
        }
        if asked.repeat.is_some() && self.as_fio() {
            return Err("--repeat: not under the name fio, whose reports cover one run; \
                        use 'fathom run --repeat=…'"
                .into());
        }
        Ok(())
    }

    /// Checks the options of the archive.
    fn check_archive(&self) -> Result<(), String> {
        let asked = self.invocation;
        let contradicts = [("archive", asked.archive.is_some()), ("tag", !asked.tags.is_empty())];
        if let Some((option, _)) = contradicts.iter().find(|(_, given)| *given && asked.no_archive)
        {
            return Err(format!("--{option}: contradicts --no-archive; leave one of them out"));
        }
        if let Some(path) = &asked.archive {
            Location::explicit(path).check().map_err(|error| format!("--archive: {error}"))?;
        }
        let refused = asked.tags.iter().find_map(|tag| archive::check_tag(tag).err());
        refused.map_or(Ok(()), |error| Err(format!("--tag: {error}")))
    }

    fn check_live(&self) -> Result<(), String> {
        if self.invocation.live != Some(true) {
            return Ok(());
        }
        let text = if self.as_fio() {
            "--live: not under the name fio, whose --eta has a status line; use 'fathom run --live'"
        } else if !self.invocation.debug.areas.is_empty() {
            "--live: --debug writes lines where the live view would be; leave one of them out"
        } else if !can_draw() {
            "--live: standard output is not a terminal that can show the live view; leave it out, or \
             follow the run from another terminal with 'fathom watch --run'"
        } else {
            return Ok(());
        };
        Err(text.into())
    }

    fn check_repeated_logs(&self) -> Result<(), String> {
        match self.invocation.repeat.is_some() && log_prefixes(self.invocation).next().is_some() {
            true => {
                Err("--repeat: each run would overwrite the logs of the previous one; leave out \
                         write_bw_log and its like"
                    .into())
            }
            false => Ok(()),
        }
    }

    /// Plans an invocation and shows its messages.
    ///
    /// # Errors
    /// The exit code, if it must not run; the reason was printed.
    pub fn plan(
        &self,
        invocation: &Invocation,
        shown: &mut ShownMessages,
        output: &mut Output,
    ) -> Result<PlannedRun, u8> {
        let planned = self.runner.plan(invocation).map_err(|error| self.refusal(&error))?;
        shown.show(self, &planned.messages, output).map_err(|error| {
            write_stderr(&format!("{}: error: {}\n", program(self.dialect), describe(&error)));
            exit::ERRORS
        })?;
        if planned.is_forbidden(invocation) { Err(usage_code(self.dialect)) } else { Ok(planned) }
    }

    fn refusal(&self, error: &PlanError) -> u8 {
        write_stderr(&format!("{error}\n"));
        if self.as_fio() { exit::ERRORS } else { error.exit_code() as u8 }
    }

    /// How the report is rendered.
    pub fn render_options(&self, output: &Output) -> RenderOptions {
        RenderOptions {
            as_fio: self.as_fio(),
            compat: self.invocation.compat,
            terse_version: self.invocation.terse_version,
            // Programs that read interim reports of fio split them by lines.
            json_lines: self.invocation.status_interval.is_some() && !self.as_fio(),
            verbose: self.invocation.verbose,
            style: output.style(),
            ..RenderOptions::default()
        }
    }

    /// The formats of the report.
    pub fn formats(&self) -> &[Format] {
        &self.invocation.formats
    }
}

/// How events of a run are shown.
#[derive(Clone, Copy)]
pub struct OutputMode {
    /// In fio's format.
    pub as_fio: bool,
    /// Text is one of the formats, so events go to the report's output.
    pub text: bool,
    /// Only errors go to stderr.
    pub quiet: bool,
}

/// Messages that were shown. Each is shown once, even if it is true of several runs.
#[derive(Default)]
pub struct ShownMessages(HashSet<(Option<String>, String)>);

impl ShownMessages {
    /// Shows new messages: errors on standard error, remarks where remarks go.
    pub fn show(
        &mut self,
        request: &RunRequest,
        messages: &[Message],
        output: &mut Output,
    ) -> Result<()> {
        let new =
            |message: &&Message| self.0.insert((message.job.clone(), message.text.to_string()));
        let is_error = |message: &&Message| message.severity >= Severity::Error;
        let new = messages.iter().filter(new);
        let (errors, remarks): (Vec<_>, Vec<_>) = new.partition(is_error);
        write_stderr(&report::messages::lines(program(request.dialect), errors));
        request.remark(&report::messages::lines(program(request.dialect), remarks), output)
    }
}

fn log_prefixes(invocation: &Invocation) -> impl Iterator<Item = &str> {
    invocation.jobs.iter().flat_map(|job| job.measure.logs.prefixes())
}

/// Checks that the directories of logs exist. As fio, a log that cannot be written is only a warning.
///
/// # Errors
/// The log, and what to do.
pub fn check_logs(invocation: &Invocation, dialect: Dialect) -> Result<(), String> {
    let lost = log_prefixes(invocation).find(|prefix| !has_directory(Path::new(prefix)));
    match lost.filter(|_| dialect == Dialect::Fathom) {
        Some(prefix) => Err(format!("log '{prefix}': its directory is not there; make it first")),
        None => Ok(()),
    }
}

/// Checks that the call does not overwrite the job files that it reads.
///
/// # Errors
/// The option, and what to do.
pub fn check_job_files(invocation: &Invocation) -> Result<(), String> {
    let clients = invocation.clients.iter().flat_map(|client| &client.job_files);
    let files = invocation.job_files.iter().chain(&invocation.interleave).chain(clients);
    let read: Vec<PathBuf> = files.filter_map(|file| fs::canonicalize(file).ok()).collect();
    let written = [
        ("record", &invocation.record),
        ("junit", &invocation.junit),
        ("output", &invocation.output),
    ];
    for (option, path) in
        written.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)))
    {
        if fs::canonicalize(path).is_ok_and(|path| path.is_file() && read.contains(&path)) {
            let path = path.display();
            return Err(format!(
                "--{option}={path}: would overwrite a job file of this call; name another file"
            ));
        }
    }
    Ok(())
}

/// Whether the directory of a file exists.
fn has_directory(path: &Path) -> bool {
    path.parent().is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir())
}

/// The text before a run: one line per job, the version, and the number of workers.
pub fn header(invocation: &Invocation, plan: &Plan) -> String {
    let (jobs, starting) = header_lines(invocation, plan);
    format!("{jobs}{}\n{starting}", version_line(invocation.compat))
}

/// The lines of the jobs, and the line with the number of workers.
pub fn header_lines(invocation: &Invocation, plan: &Plan) -> (String, String) {
    let mut text = String::new();
    let mut count = [0, 0];
    // Workers are ordered by job.
    for clones in plan.workers.chunk_by(|one, next| one.job == next.job) {
        let job = invocation.jobs.get(clones[0].job as usize);
        let workers = clones.len() as u32;
        count[usize::from(job.is_some_and(|job| job.process.thread))] += workers;
        text += &report::header::job(&job_line(&clones[0], workers));
    }
    let [processes, threads] = count;
    (text, report::header::starting(threads, processes))
}

fn job_line(worker: &plan::Worker, workers: u32) -> JobLine {
    let workload = worker.workload();
    JobLine {
        name: worker.name.clone(),
        group: worker.group.group,
        rw: workload.rw,
        block_size: workload.block_size,
        ioengine: workload.ioengine,
        iodepth: worker.queue.depth_requested,
        workers,
        style: SizeStyle::from_options(&worker.show),
    }
}
