//! One call of `fathom run` or `fio`: what all its runs share, and where its output goes.

use super::live_view;
use crate::exit;
use crate::output::{Output, describe, say};
use anyhow::Result;
use archive::{Choice, Location};
use job::{Dialect, Invocation};
use plan::{Plan, PlanError};
use record::SavedTo;
use record::{Format, Message, Severity};
use report::fio_numbers::SizeStyle;
use report::header::JobLine;
use report::{FIO_VERSION, RenderOptions};
use runner::RunArchive;
use runner::{PlannedRun, Runner};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Seed of what is drawn when runs are judged. One for all: the same runs judged again shall have
/// the same intervals.
pub const SEED: u64 = 1;

/// A call that runs something.
pub struct RunRequest<'a> {
    /// Whose rules apply.
    pub dialect: Dialect,
    /// What runs it.
    pub runner: &'a Runner,
    /// What was asked for.
    pub invocation: &'a Invocation,
    /// What runs in turn with it (`--interleave`).
    pub others: &'a [Invocation],
}

/// Where remarks go that stop nothing: notes, warnings, findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remarks {
    /// Standard error.
    Stderr,
    /// With the report, as text.
    Output,
    /// Nowhere else than in the report: JSON holds them in its own way, terse lines have no place.
    InReport,
}

/// As what messages name the program.
pub fn program(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Fathom => "fathom",
        Dialect::Fio => "fio",
    }
}

/// fio has one code for everything that goes wrong.
pub fn usage_code(dialect: Dialect) -> u8 {
    match dialect {
        Dialect::Fathom => exit::USAGE,
        Dialect::Fio => exit::ERRORS,
    }
}

impl RunRequest<'_> {
    /// Under the name fio.
    pub fn as_fio(&self) -> bool {
        self.dialect == Dialect::Fio
    }

    /// Whether the report is text, among others.
    pub fn is_text(&self) -> bool {
        self.invocation.formats.contains(&Format::Normal)
    }

    /// Where remarks go. Programs that have fio give them JSON, or run it with `--output`, take
    /// whatever is on stderr for a failure, or read it together with the report (fio's own regression
    /// tests and kubestr do). JSON holds every remark; beside text in a file they can stand, as fio's
    /// do; lines of terse fields are read by number and stay alone.
    pub fn remarks(&self) -> Remarks {
        let formats = &self.invocation.formats;
        let is_text = formats.iter().all(|format| *format == Format::Normal);
        match (self.as_fio(), self.invocation.output.is_some()) {
            (false, _) => Remarks::Stderr,
            (true, _) if formats.iter().any(|format| format.is_json()) => Remarks::InReport,
            (true, false) => Remarks::Stderr,
            (true, true) if is_text => Remarks::Output,
            (true, true) => Remarks::InReport,
        }
    }

    /// Makes remarks, lines of text, where they belong.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn remark(&self, text: &str, output: &mut Output) -> Result<()> {
        match self.remarks() {
            Remarks::Stderr => say(text),
            Remarks::Output => output.write(text)?,
            Remarks::InReport => {}
        }
        Ok(())
    }

    /// Which archive its runs go to.
    pub fn archive(&self) -> Choice {
        Choice::from_options(self.invocation.archive.as_deref(), self.invocation.no_archive)
    }

    /// As what its runs are archived.
    pub fn kind(&self) -> &'static str {
        if self.as_fio() { "fio" } else { "run" }
    }

    /// Says below a text as what its runs are archived, and why they are not where remarks belong.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn show_archive(
        &self,
        archive: &mut RunArchive,
        is_set: bool,
        output: &mut Output,
    ) -> Result<()> {
        self.remark(&archive.take_notes(), output)?;
        match archive.id() {
            Some(id) if self.is_text() && !self.as_fio() => {
                let kept = SavedTo { archived_as: Some(id), is_set, ..SavedTo::default() };
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

    /// What is wrong with the options together; better found now than after an hour of measuring.
    ///
    /// # Errors
    /// The option and what to do, in a line.
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
                "--trigger-remote: needs --client=HOST: a server that runs the command".into()
            );
        }
        if asked.trigger != job::Trigger::default() && asked.repeat.is_some() {
            return Err("--trigger: not with --repeat: a run that it ends is no repeat".into());
        }
        if asked.daemonize.is_some() {
            return Err("--daemonize: only a server goes into the background; add --server".into());
        }
        live_view::check(asked, self.dialect)?;
        if let Some(path) = &asked.archive {
            if asked.no_archive {
                return Err("--archive: --no-archive is given as well; leave out one".into());
            }
            Location::explicit(path).check().map_err(|error| format!("--archive: {error}"))?;
        }
        self.check_repeated_logs()?;
        check_logs(asked, self.dialect)?;
        if !asked.interleave.is_empty() && asked.repeat.is_none() {
            return Err("--interleave: needs --repeat=N, the number of rounds".into());
        }
        if asked.repeat.is_some() && (asked.status_interval.is_some() || asked.bandwidth_log) {
            return Err("--repeat: neither --status-interval nor --bandwidth-log say anything \
                        about several runs; leave them out"
                .into());
        }
        if asked.repeat.is_some() && self.as_fio() {
            return Err("--repeat: not under the name fio, whose reports are of one run; \
                        say 'fathom run --repeat=…'"
                .into());
        }
        Ok(())
    }

    fn check_repeated_logs(&self) -> Result<(), String> {
        match self.invocation.repeat.is_some() && log_prefixes(self.invocation).next().is_some() {
            true => {
                Err("--repeat: each run would overwrite the logs of the one before; leave out \
                         write_bw_log and its like"
                    .into())
            }
            false => Ok(()),
        }
    }

    /// Plans an invocation and shows its messages. The exit code if it must not run.
    ///
    /// # Errors
    /// The exit code; the reason was printed.
    pub fn plan(
        &self,
        invocation: &Invocation,
        shown: &mut ShownMessages,
        output: &mut Output,
    ) -> Result<PlannedRun, u8> {
        let planned = self.runner.plan(invocation).map_err(|error| self.refusal(&error))?;
        shown.show(self, &planned.messages, output).map_err(|error| {
            say(&format!("{}: error: {}\n", program(self.dialect), describe(&error)));
            exit::ERRORS
        })?;
        match planned.is_forbidden(invocation) {
            true => Err(usage_code(self.dialect)),
            false => Ok(planned),
        }
    }

    fn refusal(&self, error: &PlanError) -> u8 {
        say(&format!("{error}\n"));
        if self.as_fio() { exit::ERRORS } else { error.exit_code() as u8 }
    }

    /// How the report is rendered.
    pub fn render_options(&self, output: &Output) -> RenderOptions {
        RenderOptions {
            as_fio: self.as_fio(),
            terse_version: self.invocation.terse_version,
            // Programs that follow fio split its documents by their lines.
            json_lines: self.invocation.status_interval.is_some() && !self.as_fio(),
            style: output.style(),
            ..RenderOptions::default()
        }
    }

    /// The forms of the report.
    pub fn formats(&self) -> &[Format] {
        &self.invocation.formats
    }
}

/// How events of a run are shown.
#[derive(Clone, Copy)]
pub struct OutputMode {
    /// As fio does.
    pub as_fio: bool,
    /// The report is text, among others, and takes what fio writes into it.
    pub text: bool,
    /// Only errors go to stderr.
    pub quiet: bool,
}

/// Messages that were said: each is said once, however many runs it is true of.
#[derive(Default)]
pub struct ShownMessages(HashSet<(Option<String>, String)>);

impl ShownMessages {
    /// Says those that are new: errors on stderr, remarks where they belong.
    ///
    /// # Errors
    /// Those of `output`.
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
        say(&report::messages::lines(program(request.dialect), errors));
        request.remark(&report::messages::lines(program(request.dialect), remarks), output)
    }
}

fn log_prefixes(invocation: &Invocation) -> impl Iterator<Item = &str> {
    invocation.jobs.iter().flat_map(|job| job.measure.logs.prefixes())
}

/// Whether logs can be written. Under the name fio one that cannot costs only itself, as there.
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

/// Whether what a call writes spares the job files that it reads.
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
                "--{option}={path}: that is a job file of this call, and would be overwritten; name \
                 another file"
            ));
        }
    }
    Ok(())
}

/// Whether the directory a file would be made in is there.
fn has_directory(path: &Path) -> bool {
    path.parent().is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir())
}

/// What is said before a run: a line a job, the version, how many workers start.
pub fn header(invocation: &Invocation, plan: &Plan) -> String {
    let (jobs, starting) = header_lines(invocation, plan);
    format!("{jobs}{FIO_VERSION}\n{starting}")
}

/// The lines of the jobs, and how many workers start.
pub fn header_lines(invocation: &Invocation, plan: &Plan) -> (String, String) {
    let mut text = String::new();
    let mut count = [0, 0];
    // Workers come job by job.
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
        style: SizeStyle::of(&worker.show),
    }
}
