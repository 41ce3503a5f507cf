//! `fathom run --repeat`: one invocation run several times, others in turn with it.

use crate::archive::Keeper;
use crate::call::{Call, SEED, Said, header};
use crate::exit;
use crate::follow::{Console, follow};
use crate::gate::Gate;
use crate::output::{Output, say};
use crate::trigger::Trigger;
use anyhow::Result;
use job::{Invocation, Job, Medium};
use judge::Judged;
use judge::gate::Subject;
use record::{Cell, PerDirection, RecordSet, RunRecord};
use report::Dress;
use std::process::ExitCode;

/// Runs everything `repeats` times and reports the runs together.
///
/// # Errors
/// Those of showing and keeping what was measured.
pub fn run(call: &Call, gate: &Gate, output: &mut Output, repeats: u32) -> Result<ExitCode> {
    let mut rounds = Rounds::new(call, repeats);
    if let Err(code) = rounds.rehearse(output)? {
        return Ok(ExitCode::from(code));
    }
    let refused = rounds.all(output)?;
    let Rounds { set, judged, mut keeper, .. } = rounds;
    // Kept before anything looks at it, as a single run is.
    let kept = match &call.invocation.record {
        Some(path) => report::native::save_set(&set, path),
        None => Ok(()),
    };
    let mut together = judge::together(&set, &judged);
    let missed = gate.hold(&set.runs, &mut together, set.seed);
    let dress = Dress { archived_as: keeper.id(), ..call.dress(output) };
    output.write(&report::render_set(&set, &judged, &together, &call.formats(), &dress))?;
    call.say_kept(&mut keeper, true, output)?;
    gate.write_junit(&set.runs, &together)?;
    kept?;
    let interrupted = call.runner.caught().map(|signal| exit::interrupted(signal, false));
    let errors = || set.runs.iter().map(|run| exit::of(run, false)).find(|code| *code != 0);
    Ok(ExitCode::from(interrupted.or(refused).or_else(errors).or(missed).unwrap_or(0)))
}

/// The jobs of all that a call runs, as findings and conditions name them: with what they belong to
/// where several things run in turn.
pub fn jobs(call: &Call) -> Vec<Subject> {
    let contenders = contenders(call);
    let several = contenders.len() > 1;
    let of = |contender: &Contender| {
        let cell = contender.name.clone();
        let named = move |subject: Subject| match several && subject.name != cell {
            true => Subject { name: format!("{cell}: {}", subject.name), ..subject },
            false => subject,
        };
        subjects(&contender.invocation.jobs).into_iter().map(named).collect::<Vec<_>>()
    };
    contenders.iter().flat_map(of).collect()
}

/// Jobs as findings and conditions name them.
pub fn subjects(jobs: &[Job]) -> Vec<Subject> {
    let subject = |job: &Job| {
        let rw = job.pattern.rw;
        let directions = PerDirection { read: rw.reads(), write: rw.writes(), trim: rw.trims() };
        let sends_requests = job.queue.engine.medium() == Medium::Objects;
        Subject { name: job.identity.name.clone(), directions, sends_requests }
    };
    jobs.iter().map(subject).collect()
}

/// What is repeated, under its own name.
struct Contender<'a> {
    name: String,
    invocation: &'a Invocation,
}

/// The runs, those made and those to come.
struct Rounds<'a> {
    call: &'a Call<'a>,
    contenders: Vec<Contender<'a>>,
    repeats: u32,
    set: RecordSet,
    /// What judging says of each run of the set.
    judged: Vec<Judged>,
    said: Said,
    keeper: Keeper,
}

impl<'a> Rounds<'a> {
    fn new(call: &'a Call, repeats: u32) -> Self {
        let set = RecordSet {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            kind: "repeat".into(),
            seed: SEED,
            runs: Vec::new(),
        };
        let keeper = Keeper::together(call.archive(), &set.kind, SEED);
        let contenders = contenders(call);
        let said = Said::default();
        Rounds { call, contenders, repeats, set, judged: Vec::new(), said, keeper }
    }

    /// Everything is resolved once before anything runs: what is refused is refused now. The exit
    /// code when something is.
    fn rehearse(&mut self, output: &mut Output) -> Result<Result<(), u8>> {
        let mut text = String::new();
        for contender in &self.contenders {
            match self.call.prepare(contender.invocation, &mut self.said, output) {
                Ok(prepared) => text += &header(contender.invocation, &prepared.plan),
                Err(code) => return Ok(Err(code)),
            }
        }
        if self.call.is_text() {
            text += &format!("\n{}", report::rounds::heading(self.total()));
            output.write(&text)?;
        }
        Ok(Ok(()))
    }

    fn total(&self) -> u32 {
        self.repeats * self.contenders.len() as u32
    }

    /// All rounds, until a signal comes or a run fails. A B, then B A: what drifts with time then
    /// hits all alike. The exit code when a run was refused.
    fn all(&mut self, output: &mut Output) -> Result<Option<u8>> {
        for round in 0..self.repeats {
            for place in 0..self.contenders.len() {
                let index = if round % 2 == 0 { place } else { self.contenders.len() - 1 - place };
                if self.call.runner.caught().is_some() {
                    return Ok(None);
                }
                let record = match self.one(index, round, output)? {
                    Ok(record) => record,
                    Err(code) => return Ok(Some(code)),
                };
                if !self.take(record, index, output)? {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    fn one(
        &mut self,
        index: usize,
        round: u32,
        output: &mut Output,
    ) -> Result<Result<RunRecord, u8>> {
        let Contender { name, invocation } = &self.contenders[index];
        let prepared = match self.call.prepare(invocation, &mut self.said, output) {
            Ok(prepared) => prepared,
            Err(code) => return Ok(Err(code)),
        };
        let manner = self.call.manner();
        let mut record = self.call.runner.measure(prepared, invocation, |under_way| {
            let never = Trigger::default();
            let mut console = Console::new(invocation, output, manner, &never, None);
            follow(under_way, None, &mut console)
        })?;
        self.said.say(self.call, &record.messages, output)?;
        record.cell = Some(Cell { name: name.clone(), round, ..Cell::default() });
        Ok(Ok(record))
    }

    /// Keeps a run and shows it; whether to go on. One that was cut short is no repeat of the
    /// others, and kept only where it is all there is.
    fn take(&mut self, record: RunRecord, index: usize, output: &mut Output) -> Result<bool> {
        let number = self.set.runs.len() as u32 + 1;
        let cut_short = record.interrupted_by.is_some();
        if cut_short && number > 1 {
            say(&format!("fathom: run {number} was cut short and is left out\n"));
            return Ok(false);
        }
        // What is shown is kept: a kill costs no run that was told of.
        self.keeper.add(&record);
        let judged = judge::judge(&record);
        self.keeper.judged(&record, &judged);
        if self.call.is_text() {
            let name = Some(self.contenders[index].name.as_str());
            let name = name.filter(|_| self.contenders.len() > 1);
            output.write(&report::rounds::lines(number, self.total(), name, &record))?;
        }
        say(&self.keeper.said());
        let failed = exit::failed(&record);
        self.set.runs.push(record);
        self.judged.push(judged);
        if failed && number < self.total() {
            say(&format!("fathom: run {number} failed; the others are not made\n"));
        }
        Ok(!cut_short && !failed)
    }
}

/// Each with a name of its own: that of its job files or, without any, of its jobs.
fn contenders<'a>(call: &Call<'a>) -> Vec<Contender<'a>> {
    let mut plain: Vec<String> = Vec::new();
    let named = |invocation: &'a Invocation| {
        let name = match invocation.job_files.as_slice() {
            [] => {
                let jobs = invocation.jobs.iter().map(|job| job.identity.name.as_str());
                jobs.collect::<Vec<_>>().join(" ")
            }
            files => files.join(" "),
        };
        let before = plain.iter().filter(|known| **known == name).count();
        plain.push(name.clone());
        let name = if before == 0 { name } else { format!("{name} ({})", before + 1) };
        Contender { name, invocation }
    };
    std::iter::once(call.invocation).chain(call.others).map(named).collect()
}
