//! `fathom run --repeat`: runs an invocation several times, interleaved with others (`--interleave`).

use super::console::Console;
use super::gate::Gate;
use super::request::{RunRequest, SEED, ShownMessages, header};
use crate::exit;
use crate::output::{Output, write_stderr};
use anyhow::Result;
use job::{Invocation, Job, Medium};
use judge::Judged;
use judge::gate::Subject;
use record::{Cell, PerDirection, RecordSet};
use report::RenderOptions;
use runner::RunArchive;

/// Makes `repeats` rounds and reports all runs together.
///
/// # Errors
/// When the results cannot be shown or saved.
pub fn run(request: &RunRequest, gate: &Gate, output: &mut Output, repeats: u32) -> Result<u8> {
    let mut rounds = Rounds::new(request, repeats);
    if let Err(code) = rounds.plan_all(output)? {
        return Ok(code);
    }
    let refused = rounds.run_all(output)?;
    let Rounds { set, judged, mut archive, .. } = rounds;
    // Saved before anything else can fail.
    let saved = match &request.invocation.record {
        Some(path) => formats::save_set(&set, path),
        None => Ok(()),
    };
    let mut together = judge::judge_set(&set, &judged);
    let gate_code = gate.apply(&set.runs, &mut together, set.seed);
    let options = RenderOptions { archived_as: archive.id(), ..request.render_options(output) };
    output.write(&report::render(
        report::Subject::Set { set: &set, judged: &judged, together: &together },
        request.formats(),
        &options,
    ))?;
    request.show_archive(&mut archive, true, set.intent(), output)?;
    gate.write_junit(&set.runs, &together)?;
    saved?;
    let interrupted = request.runner.caught().map(|signal| exit::interrupted(signal, false));
    let errors = || set.runs.iter().map(|run| exit::of_run(run, false)).find(|code| *code != 0);
    Ok(interrupted.or(refused).or_else(errors).or(gate_code).unwrap_or(0))
}

/// All jobs of a request, with the names that findings and conditions use: with the name of their
/// invocation if there are several.
pub fn jobs(request: &RunRequest) -> Vec<Subject> {
    let contenders = contenders(request);
    let several = contenders.len() > 1;
    let subjects_of = |contender: &Contender| {
        let cell = contender.name.clone();
        let named = move |subject: Subject| match several && subject.name != cell {
            true => Subject { name: format!("{cell}: {}", subject.name), ..subject },
            false => subject,
        };
        subjects(&contender.invocation.jobs).into_iter().map(named).collect::<Vec<_>>()
    };
    contenders.iter().flat_map(subjects_of).collect()
}

/// Jobs with the names that findings and conditions use.
pub fn subjects(jobs: &[Job]) -> Vec<Subject> {
    let subject = |job: &Job| {
        let rw = job.pattern.rw;
        let directions = PerDirection { read: rw.reads(), write: rw.writes(), trim: rw.trims() };
        let sends_requests = job.queue.engine.medium() == Medium::Objects;
        Subject { name: job.identity.name.clone(), directions, sends_requests }
    };
    jobs.iter().map(subject).collect()
}

/// An invocation that is repeated, and its name.
struct Contender<'a> {
    name: String,
    invocation: &'a Invocation,
}

/// The rounds, and the runs made so far.
struct Rounds<'a> {
    request: &'a RunRequest<'a>,
    contenders: Vec<Contender<'a>>,
    repeats: u32,
    set: RecordSet,
    /// The judgement of each run of the set.
    judged: Vec<Judged>,
    shown: ShownMessages,
    archive: RunArchive,
}

impl<'a> Rounds<'a> {
    fn new(request: &'a RunRequest, repeats: u32) -> Self {
        let set = runner::empty_set("repeat", SEED);
        let archive = request.archive_of_set(&set.kind, SEED);
        let contenders = contenders(request);
        let shown = ShownMessages::default();
        Rounds { request, contenders, repeats, set, judged: Vec::new(), shown, archive }
    }

    /// Plans every invocation once, so that errors show before the first run. Returns an exit code if
    /// one must not run.
    fn plan_all(&mut self, output: &mut Output) -> Result<Result<(), u8>> {
        let mut text = String::new();
        for contender in &self.contenders {
            match self.request.plan(contender.invocation, &mut self.shown, output) {
                Ok(planned) => text += &header(contender.invocation, &planned.plan),
                Err(code) => return Ok(Err(code)),
            }
        }
        if self.request.is_text() {
            text += &format!("\n{}", report::run_lines::heading(self.total()));
            output.write(&text)?;
        }
        Ok(Ok(()))
    }

    fn total(&self) -> u32 {
        self.repeats * self.contenders.len() as u32
    }

    /// Makes all rounds, until a signal comes or a run fails. Odd rounds are in reverse order (A B, then
    /// B A), so that a drift over time affects all alike. Returns an exit code if a run was refused.
    fn run_all(&mut self, output: &mut Output) -> Result<Option<u8>> {
        for round in 0..self.repeats {
            for place in 0..self.contenders.len() {
                let index = if round % 2 == 0 { place } else { self.contenders.len() - 1 - place };
                if self.request.runner.caught().is_some() {
                    return Ok(None);
                }
                match self.run_one(index, round, output)? {
                    Ok(true) => {}
                    Ok(false) => return Ok(None),
                    Err(code) => return Ok(Some(code)),
                }
            }
        }
        Ok(None)
    }

    /// Makes a run and shows it. Returns whether to go on. A run that was cut short is saved only if it
    /// is the only one.
    fn run_one(
        &mut self,
        index: usize,
        round: u32,
        output: &mut Output,
    ) -> Result<Result<bool, u8>> {
        let Contender { name, invocation } = &self.contenders[index];
        let planned = match self.request.plan(invocation, &mut self.shown, output) {
            Ok(planned) => planned,
            Err(code) => return Ok(Err(code)),
        };
        let number = self.set.runs.len() as u32 + 1;
        let cell = Cell { name: name.clone(), round, ..Cell::default() };
        let mut console = Console::new(self.request, invocation, output).in_cell(cell);
        let record = self.request.runner.execute(planned, invocation, &mut console)?;
        let judged = self.archive.add_and_judge(&record);
        self.archive.leave_out(|record| record.interrupted_by.is_some());
        self.shown.show(self.request, &record.messages, output)?;
        write_stderr(&self.archive.take_notes());
        let cut_short = record.interrupted_by.is_some();
        if cut_short && number > 1 {
            write_stderr(&format!("fathom: run {number} was cut short and is left out\n"));
            return Ok(Ok(false));
        }
        if self.request.is_text() {
            let name = Some(name.as_str()).filter(|_| self.contenders.len() > 1);
            output.write(&report::run_lines::lines(number, self.total(), name, &record))?;
        }
        let failed = exit::failed(&record);
        self.set.runs.push(record);
        self.judged.push(judged);
        if failed && number < self.total() {
            write_stderr(&format!("fathom: run {number} failed; the remaining runs are skipped\n"));
        }
        Ok(Ok(!cut_short && !failed))
    }
}

/// The invocations with unique names: those of the job files or, without any, of the jobs.
fn contenders<'a>(request: &RunRequest<'a>) -> Vec<Contender<'a>> {
    let mut names: Vec<String> = Vec::new();
    let named = |invocation: &'a Invocation| {
        let name = match invocation.job_files.as_slice() {
            [] => {
                let jobs = invocation.jobs.iter().map(|job| job.identity.name.as_str());
                jobs.collect::<Vec<_>>().join(" ")
            }
            files => files.join(" "),
        };
        let before = names.iter().filter(|known| **known == name).count();
        names.push(name.clone());
        let name = if before == 0 { name } else { format!("{name} ({})", before + 1) };
        Contender { name, invocation }
    };
    std::iter::once(request.invocation).chain(request.others).map(named).collect()
}
