//! `mpirun -n N fathom run`: this process is one of several ranks, which make one measurement.

mod enrolment;
mod observer;

use super::command_line::UsageError;
use super::console::Console;
use super::gate::Gate;
use super::request::{RunRequest, SEED, ShownMessages, header, usage_code};
use super::{debug, repeat};
use crate::exit;
use crate::output::{Output, say};
use anyhow::{Result, anyhow};
use engine::{Mpi, MpiFamily};
use fleet::{
    DEFAULT_TIMEOUT, Enrolment, Exchange, Fleet, MpiExchange, Orders, OwnResult, Settings, Sum,
};
use host::Launcher;
use job::{Dialect, Invocation};
use judge::Judged;
use observer::RankObserver;
use record::{Message, RankRecord, RankState, RunRecord};
use report::{RenderOptions, Subject};
use runner::{PlannedRun, RunArchive, Runner};
use std::time::{Duration, Instant};

/// Time series of ranks are added, so their steps are at most this long.
const STEP_MAX: record::Nanos = record::Nanos::from_millis(100);

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
    let (invocation, wrong) = match read {
        Ok((invocation, others)) => {
            let wrong = check(&invocation, &others).err();
            (invocation, wrong.map(|text| format!("command line: {text}")))
        }
        Err(UsageError(text)) => (Invocation::default(), Some(text)),
    };
    let fleet = match join(launcher, &invocation) {
        Ok(fleet) => fleet,
        Err(why) => {
            let host = &runner.machine().hostname;
            return Err(anyhow!("rank {} of {} on {host}: {why}", launcher.rank, launcher.ranks));
        }
    };
    let rank = Rank { runner, invocation: &invocation, fleet: &fleet };
    let code = match fleet.is_lead() {
        true => rank.lead(wrong),
        false => return rank.follow(wrong),
    };
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

/// Starts MPI with the library of the launcher.
fn join(launcher: Launcher, invocation: &Invocation) -> Result<Fleet, String> {
    let timeout = invocation.rank_timeout.map(|time| Duration::from_nanos(time.0));
    let settings = Settings { timeout: timeout.unwrap_or(DEFAULT_TIMEOUT) };
    let family = if launcher.is_open_mpi { MpiFamily::OpenMpi } else { MpiFamily::Mpich };
    let open = move || {
        let mpi = Mpi::start(family)?;
        if mpi.size() != launcher.ranks {
            return Err(format!(
                "{}={}, but {} finds {} ranks: it is not the library of this launcher",
                launcher.variable,
                launcher.ranks,
                mpi.library(),
                mpi.size()
            ));
        }
        let ends_all_by_itself = !launcher.is_slurm();
        Ok(Box::new(MpiExchange { mpi, ends_all_by_itself }) as Box<dyn Exchange>)
    };
    Fleet::join(open, settings)
}

/// This process in the fleet.
struct Rank<'a> {
    runner: &'a Runner,
    invocation: &'a Invocation,
    fleet: &'a Fleet,
}

/// What a rank is about to run, or why it does not, with its exit code.
type Planned = Result<PlannedRun, (String, u8)>;

impl<'a> Rank<'a> {
    fn request(&self) -> RunRequest<'a> {
        RunRequest {
            dialect: Dialect::Fathom,
            runner: self.runner,
            invocation: self.invocation,
            others: &[],
        }
    }

    fn plan(&self, wrong: Option<String>) -> Planned {
        let usage = usage_code(Dialect::Fathom);
        if let Some(text) = wrong.or_else(|| self.check().err()) {
            return Err((text, usage));
        }
        let mut planned = self
            .runner
            .plan(self.invocation)
            .map_err(|error| (error.to_string(), error.exit_code() as u8))?;
        if planned.is_forbidden(self.invocation) {
            return Err((report::messages::lines("fathom", &planned.messages), usage));
        }
        planned.plan.interval = planned.plan.interval.min(STEP_MAX);
        planned.gate = Some(self.fleet.gate());
        Ok(planned)
    }

    /// Checks what only rank 0 writes there alone.
    fn check(&self) -> Result<(), String> {
        if self.fleet.is_lead() {
            self.request().check().map_err(|text| format!("command line: {text}"))?;
        }
        super::request::check_logs(self.invocation, Dialect::Fathom)
            .map_err(|text| format!("command line: {text}"))
    }

    fn enrol(&self, planned: &Planned) -> Result<Orders> {
        let facts = planned.as_ref().map_or(self.runner.machine(), PlannedRun::facts);
        let enrolment = Enrolment {
            version: env!("CARGO_PKG_VERSION").into(),
            host: facts.hostname.clone(),
            kernel: facts.kernel.clone(),
            mounts: enrolment::mounts(facts),
            clock: self.runner.host().clock_id(),
            files: planned.as_ref().map_or(Vec::new(), |it| enrolment::files(&it.plan)),
            refusal: planned.as_ref().err().cloned(),
            ..Enrolment::default()
        };
        self.fleet.enrol(enrolment).map_err(|why| anyhow!(why))
    }

    /// Runs silently, and hands the result to rank 0.
    fn follow(&self, wrong: Option<String>) -> Result<u8> {
        let planned = self.plan(wrong);
        let result = match (self.enrol(&planned)?, planned) {
            (Orders::Run, Ok(planned)) => {
                let mut observer = RankObserver::silent(self.fleet);
                let record = self.runner.execute(planned, self.invocation, &mut observer)?;
                Some(own_result(&record, observer.origin()))
            }
            _ => None,
        };
        // A launcher ends all ranks when one exits with another code than 0. Rank 0 reports this one's.
        self.fleet.finish(result, || self.runner.caught()).map(|_| 0).map_err(|why| anyhow!(why))
    }

    /// Runs, and reports what all ranks did.
    fn lead(&self, wrong: Option<String>) -> Result<u8> {
        let request = self.request();
        let planned = self.plan(wrong);
        let mut shown = ShownMessages::default();
        let orders = self.enrol(&planned)?;
        if let Orders::Dismissed(ranks) = orders {
            return Ok(self.refused(&ranks));
        }
        let mut output = Output::open(self.invocation.output.as_deref())?;
        let subjects = repeat::jobs(&request);
        let gate = Gate::new(self.invocation, &subjects).map_err(runner::Refusal::usage)?;
        let (own, origin) = match planned {
            Ok(planned) => {
                shown.show(&request, &planned.messages, &mut output)?;
                output.write(&debug::before("fathom", self.invocation, &planned.plan))?;
                if request.is_text() {
                    output.write(&header(self.invocation, &planned.plan))?;
                }
                let console = Console::new(&request, self.invocation, &mut output);
                let mut observer = RankObserver::shown(self.fleet, console);
                let record = self.runner.execute(planned, self.invocation, &mut observer);
                let origin = observer.origin();
                match record {
                    Err(error) if !self.fleet.is_abandoned() => return Err(error),
                    record => (record.ok(), origin),
                }
            }
            Err(_) => (None, Instant::now()),
        };
        let result = own.as_ref().map(|record| own_result(record, origin));
        let sum = self
            .fleet
            .finish(result, || self.runner.caught())
            .map_err(|why| anyhow!(why))?
            .unwrap_or_default();
        let record = self.joint(own, sum);
        self.report(&request, &gate, record, &mut shown, &mut output)
    }

    /// The record of all ranks: that of rank 0, with the sum of all jobs.
    fn joint(&self, own: Option<RunRecord>, sum: Sum) -> RunRecord {
        let mut record = own.unwrap_or_else(|| RunRecord {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            sources: self.invocation.sources.clone(),
            facts: self.runner.machine().clone(),
            ..RunRecord::default()
        });
        let hosts = || sum.fleet.ranks.iter().map(|rank| &rank.host);
        if hosts().any(|host| Some(host) != hosts().next()) {
            // They are those of one host.
            record.disks.clear();
        }
        for rank in sum.fleet.ranks.iter().filter(|rank| rank.state != RankState::Ran) {
            record.messages.push(Message::error(None, failure(rank)));
        }
        record.jobs = sum.jobs;
        record.fleet = Some(sum.fleet);
        job::hide_secrets(&mut record);
        record
    }

    fn report(
        &self,
        request: &RunRequest,
        gate: &Gate,
        record: RunRecord,
        shown: &mut ShownMessages,
        output: &mut Output,
    ) -> Result<u8> {
        let mut archive = RunArchive::for_one_run(request.archive(), request.kind())
            .with_run_file(self.invocation.record.clone());
        let mut judged: Judged = archive.add_and_judge(&record);
        let runs = std::slice::from_ref(&record);
        let gate_code = gate.apply(runs, &mut judged, SEED);
        shown.show(request, &record.messages, output)?;
        output.write(&debug::after(self.invocation, &record))?;
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
                say(&format!("ranks {}:\n", record::human::list_up_to(numbers, 8)));
            }
            say(&format!("{}\n", why.trim_end()));
        }
        ranks.iter().map(|rank| rank.exit_code).max().unwrap_or(exit::ERRORS)
    }
}

/// What became of a rank that has no results.
fn failure(rank: &RankRecord) -> String {
    format!("{}: {}: {}", rank.label(), rank.state.name(), rank.why.trim_end())
}

fn own_result(record: &RunRecord, origin: Instant) -> OwnResult {
    OwnResult::new(record, origin, exit::of_run(record, false))
}
