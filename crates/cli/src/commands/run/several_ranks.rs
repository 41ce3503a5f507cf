//! `mpirun -n N fathom run`: this process is one of several ranks, which make one measurement.

use super::command_line::{self, UsageError};
use super::console::Console;
use super::gate::Gate;
use super::request::{RunRequest, SEED, ShownMessages, header};
use super::{debug, repeat};
use crate::exit;
use crate::output::{Output, write_stderr};
use crate::ranks::{self, KnownInputs, Planned, Rank};
use anyhow::{Result, anyhow};
use fleet::{Assignment, Fleet, Orders, Task};
use host::Launcher;
use job::{Dialect, Invocation, RankPlace};
use judge::Judged;
use record::{RankRecord, RunRecord};
use report::{RenderOptions, Subject};
use runner::Runner;
use runner::inputs::Machine;
use std::time::Duration;

/// Joins the other ranks and runs the jobs with them. `read` is the parsed command line, or why it is
/// wrong: other ranks are told that as well.
///
/// # Errors
/// When the ranks cannot be joined, or the results cannot be shown or saved.
pub fn main(
    runner: &Runner,
    launcher: Launcher,
    read: Result<(Invocation, Vec<Invocation>), UsageError>,
) -> Result<u8> {
    let read = read.map_err(|UsageError(text)| text).and_then(|(invocation, others)| {
        check(&invocation, &others).map_err(|text| format!("command line: {text}"))?;
        Ok(invocation)
    });
    let timeout = read.as_ref().ok().and_then(|invocation| invocation.rank_timeout);
    let timeout = timeout.map(|time| Duration::from_nanos(time.0));
    let fleet = ranks::join(runner, launcher, timeout)?;
    if !fleet.is_lead() {
        while let Some(task) = fleet.next_task().map_err(|why| anyhow!(why))? {
            Member::new(runner, &fleet, &task, read.clone()).follow()?;
        }
        // A launcher ends all ranks when one exits with another code than 0. Rank 0 reports this one's.
        return Ok(0);
    }
    let per_host = read.as_ref().ok().and_then(|invocation| invocation.ranks_per_host);
    let task = Task { ranks: ranks::chosen(&fleet.hosts, per_host, None), body: String::new() };
    let own = task.assignment(0).unwrap_or_default();
    fleet.announce(task).map_err(|why| anyhow!(why))?;
    let code = Member::new(runner, &fleet, &own, read).lead();
    fleet.leave(*code.as_ref().unwrap_or(&exit::ERRORS));
    code
}

/// Refuses options that make no sense for several ranks.
fn check(invocation: &Invocation, others: &[Invocation]) -> Result<(), String> {
    let wrong = [
        ("--repeat", invocation.repeat.is_some() || !others.is_empty()),
        ("--status-interval", invocation.status_interval.is_some()),
        ("--metrics", invocation.metrics.is_some()),
        ("--trigger", invocation.trigger != job::Trigger::default()),
        ("--bandwidth-log", invocation.bandwidth_log),
        ("--live", invocation.live == Some(true)),
    ];
    match wrong.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(format!(
            "{option}: does not work with several ranks, which an MPI launcher started; leave it out"
        )),
        None => Ok(()),
    }
}

/// This process as one of those that run the command line, each its own.
struct Member<'a> {
    rank: Rank<'a>,
    invocation: Invocation,
    /// What is wrong with the command line.
    wrong: Option<String>,
}

impl<'a> Member<'a> {
    /// If not all ranks take part, the places of the others are new, and so may be their jobs.
    fn new(
        runner: &'a Runner,
        fleet: &'a Fleet,
        task: &Assignment,
        read: Result<Invocation, String>,
    ) -> Member<'a> {
        let (rank, ranks) = (task.place, task.ranks);
        let read = read.and_then(|read| {
            if ranks == fleet.size {
                return Ok(read);
            }
            let host = runner.machine().hostname.clone();
            let machine = Machine::new(runner.machine()).at(RankPlace { rank, ranks, host });
            let inputs = KnownInputs { known: &read.sources, machine };
            command_line::again(&read, &inputs, runner).map_err(|UsageError(text)| text)
        });
        let (invocation, wrong) = match read {
            Ok(invocation) => (invocation, None),
            Err(wrong) => (Invocation::default(), Some(wrong)),
        };
        Member { rank: Rank { runner, fleet }, invocation, wrong }
    }

    fn request(&self) -> RunRequest<'_> {
        RunRequest {
            dialect: Dialect::Fathom,
            runner: self.rank.runner,
            invocation: &self.invocation,
            others: &[],
        }
    }

    fn plan(&self) -> Planned {
        match self.wrong.clone().or_else(|| self.check().err()) {
            Some(text) => Err((text, exit::USAGE)),
            None => self.rank.plan(&self.invocation),
        }
    }

    /// Checks what only rank 0 writes there alone.
    fn check(&self) -> Result<(), String> {
        if self.rank.fleet.is_lead() {
            self.request().check().map_err(|text| format!("command line: {text}"))?;
        }
        super::request::check_logs(&self.invocation, Dialect::Fathom)
            .map_err(|text| format!("command line: {text}"))
    }

    fn follow(&self) -> Result<()> {
        self.rank.follow(self.plan(), &self.invocation)
    }

    /// Runs, and reports what all ranks did.
    fn lead(&self) -> Result<u8> {
        let request = self.request();
        let mut planned = self.plan();
        let mut shown = ShownMessages::default();
        if let Orders::Dismissed(ranks) = self.rank.enrol(&mut planned)? {
            return Ok(self.refused(&ranks));
        }
        let mut output = Output::open(self.invocation.output.as_deref())?;
        let subjects = repeat::jobs(&request);
        let gate = Gate::new(&self.invocation, &subjects).map_err(runner::Refusal::usage)?;
        if let Ok(planned) = &planned {
            shown.show(&request, &planned.messages, &mut output)?;
            output.write(&debug::before("fathom", &self.invocation, &planned.plan))?;
            if request.is_text() {
                output.write(&header(&self.invocation, &planned.plan))?;
            }
        }
        let mut console = Console::new(&request, &self.invocation, &mut output);
        let record = self.rank.lead(planned.ok(), &self.invocation, &mut console)?;
        drop(console);
        self.report(&request, &gate, record, &mut shown, &mut output)
    }

    fn report(
        &self,
        request: &RunRequest,
        gate: &Gate,
        record: RunRecord,
        shown: &mut ShownMessages,
        output: &mut Output,
    ) -> Result<u8> {
        let mut archive = request.archive();
        let mut judged: Judged = archive.add_and_judge(&record);
        let runs = std::slice::from_ref(&record);
        let gate_code = gate.apply(runs, &mut judged, SEED);
        shown.show(request, &record.messages, output)?;
        output.write(&debug::after(&self.invocation, &record))?;
        let options = RenderOptions { archived_as: archive.id(), ..request.render_options(output) };
        let subject = Subject::Run(&record, &judged);
        output.write(&report::render(subject, request.formats(), &options))?;
        request.show_archive(&mut archive, false, record.intent(), output)?;
        gate.write_junit(runs, &judged)?;
        archive.run_file_result()?;
        let ranks = record.fleet.iter().flat_map(|fleet| &fleet.ranks);
        let worst = ranks.map(|rank| rank.exit_code).max().unwrap_or(0);
        let codes = [exit::of_run(&record, false), worst];
        Ok(codes.into_iter().find(|code| *code != 0).or(gate_code).unwrap_or(0))
    }

    /// Says why every rank refused. Returns the exit code.
    fn refused(&self, ranks: &[RankRecord]) -> u8 {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for rank in ranks {
            match reasons.iter_mut().find(|(why, _)| *why == rank.why) {
                Some((_, numbers)) => numbers.push(rank.rank.to_string()),
                None => reasons.push((&rank.why, vec![rank.rank.to_string()])),
            }
        }
        for (why, numbers) in &reasons {
            if numbers.len() < ranks.len() {
                write_stderr(&format!("ranks {}:\n", record::human::list_up_to(numbers, 8)));
            }
            write_stderr(&format!("{}\n", why.trim_end()));
        }
        ranks.iter().map(|rank| rank.exit_code).max().unwrap_or(exit::ERRORS)
    }
}
