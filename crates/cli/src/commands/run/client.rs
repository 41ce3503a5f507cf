//! `--client`: runs jobs on servers and reports what they measured.

mod interims;
mod member;

use crate::commands::run::connection::words;
use crate::commands::run::gate::{self, Gate};
use crate::commands::run::request::{RunRequest, SEED, program, usage_code};
use crate::commands::run::status_line::StatusTicker;
use crate::exit;
use crate::output::{Output, say};
use anyhow::Result;
use job::{Action, Client, Dialect, Invocation};
use judge::gate::Subject;
use member::{Member, Stage};
use record::{Cell, Message, RecordSet, RunRecord, Snapshot};
use remote::{Address, FrameError, FromClient, FromServer};
use report::RenderOptions;
use report::clients::{ClientReport, Clients};
use runner::RunArchive;
use runner::Signals;
use runner::Trigger;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often signals are looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// What a server says, and which one.
type Heard = (usize, Result<FromServer, FrameError>);

/// Runs the jobs of an invocation on its servers.
///
/// # Errors
/// Those of showing and keeping what was measured.
pub fn main(request: &RunRequest, output: &mut Output) -> Result<u8> {
    let usage = usage_code(request.dialect);
    let addresses = match check(request.invocation).and_then(|()| addresses(request.invocation)) {
        Ok(addresses) => addresses,
        Err(text) => {
            say(&format!("command line: {text}\n"));
            return Ok(usage);
        }
    };
    let signals = request.runner.signals()?;
    let (sender, heard) = channel();
    let members = match member::connect(request, &addresses, &sender) {
        Ok(members) => members,
        Err(text) => {
            say(&text);
            return Ok(exit::ERRORS);
        }
    };
    let trigger = Trigger::set(&request.invocation.trigger);
    let mut clients = Servers {
        request,
        output,
        members,
        heard,
        signals,
        asked: signals.requests(),
        trigger,
        code: None,
        text: request.is_text(),
        archive: RunArchive::for_set(request.archive(), "clients", SEED),
    };
    clients.run()
}

/// Options that make no sense with servers, before anything is sent.
fn check(asked: &Invocation) -> Result<(), String> {
    let wrong = [
        (
            !asked.allow_destroy.is_empty(),
            "--allow-destroy: it is the server that must allow this; \
          start the server with it",
        ),
        (asked.repeat.is_some(), "--repeat: does not work with --client; request it so many times"),
        (asked.server.is_some(), "--server: a server takes jobs, --client gives them; choose one"),
        (asked.live == Some(true), "--live: the runs are elsewhere; leave it out"),
        (asked.metrics.is_some(), "--metrics: the runs are elsewhere; leave it out"),
        (asked.daemonize.is_some(), "--daemonize: only a server goes into the background"),
    ];
    match wrong.iter().find(|(given, _)| *given) {
        Some((_, text)) => Err((*text).into()),
        None => Ok(()),
    }
}

fn addresses(asked: &Invocation) -> Result<Vec<Address>, String> {
    let address = |client: &Client| {
        Address::parse(&client.address).map_err(|error| format!("--client: {error}"))
    };
    asked.clients.iter().map(address).collect()
}

/// All servers of a request.
struct Servers<'a> {
    request: &'a RunRequest<'a>,
    output: &'a mut Output,
    members: Vec<Member>,
    heard: Receiver<Heard>,
    signals: &'a Signals,
    /// How often it was asked, and passed on, what servers have measured so far.
    asked: u64,
    trigger: Trigger,
    /// With what to end, where something went wrong.
    code: Option<u8>,
    /// The report is text.
    text: bool,
    archive: RunArchive,
}

impl Servers<'_> {
    /// A line of `--debug=net`, where that is asked for.
    fn trace(&mut self, text: &str) -> Result<()> {
        match self.request.invocation.debug.covers("net") {
            true => self.output.write(&job::debug::line("net", std::process::id(), text)),
            false => Ok(()),
        }
    }

    fn trace_all(&mut self, text: impl Fn(&str) -> String) -> Result<()> {
        let labels: Vec<String> = self.members.iter().map(Member::label).collect();
        labels.iter().try_for_each(|label| self.trace(&text(label)))
    }

    fn run(&mut self) -> Result<u8> {
        self.trace_all(|label| format!("client: {label} connected"))?;
        for member in &self.members {
            if self.text {
                self.output.write(&format!("{}\n", member.machine))?;
            }
        }
        if let Err(text) = self.submit() {
            self.complain(&text);
            return Ok(exit::ERRORS);
        }
        self.trace_all(|label| format!("send ini to {label}"))?;
        self.until(|stage| stage != Stage::Preparing)?;
        let caught = self.signals.caught();
        if let Some(code) =
            caught.map(|s| exit::interrupted(s, self.request.as_fio())).or(self.code)
        {
            self.members.iter().for_each(Member::close);
            return Ok(code);
        }
        if self.request.invocation.action == Action::ParseOnly {
            return Ok(0);
        }
        let gate = match Gate::new(self.request.invocation, &self.subjects()) {
            Ok(gate) => gate,
            Err(text) => {
                say(&format!("command line: {text}\n"));
                return Ok(usage_code(self.request.dialect));
            }
        };
        self.trace("client: start all")?;
        self.trace_all(|label| format!("client: start {label}"))?;
        self.members.iter_mut().for_each(Member::start);
        self.until(Stage::is_over)?;
        self.trigger.settle(true);
        self.conclude(&gate)
    }

    fn submit(&mut self) -> Result<(), String> {
        let mut input = member::Files::default();
        for (member, client) in self.members.iter_mut().zip(&self.request.invocation.clients) {
            member.submit(client, self.request, &mut input)?;
        }
        Ok(())
    }

    fn complain(&self, text: &str) {
        say(&format!("{}: error: {text}\n", program(self.request.dialect)));
    }

    /// Jobs of all servers, as conditions name them.
    fn subjects(&self) -> Vec<Subject> {
        let several = self.members.len() > 1;
        let of = |member: &Member| {
            let named = |job: &remote::Announced| {
                let own = job.name.clone();
                let name = if several { format!("{}: {own}", member.label()) } else { own };
                // A server does not say with which engines its jobs do I/O.
                Subject { name, directions: job.directions, sends_requests: true }
            };
            member.jobs.iter().map(named).collect::<Vec<_>>()
        };
        self.members.iter().flat_map(of).collect()
    }

    /// Hears the servers until all are where `done` wants them.
    fn until(&mut self, done: fn(Stage) -> bool) -> Result<()> {
        let request = self.request;
        let mut ticker =
            StatusTicker::new(request.invocation, self.output, request.as_fio(), self.text);
        let mut stopped = false;
        while !self.members.iter().all(|member| done(member.stage)) {
            match self.heard.recv_timeout(GLANCE) {
                Ok((index, message)) => {
                    if let Some(ticker) = &mut ticker {
                        ticker.clear()?;
                    }
                    self.trace_heard(index, &message)?;
                    self.take(index, message)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Every one has said its last word.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let (Some(signal), false) = (self.signals.caught(), stopped) {
                stopped = true;
                self.terminate(signal)?;
                self.members.iter_mut().for_each(|member| member.stop(signal));
            }
            if self.running() && self.asked != self.signals.requests() {
                self.asked = self.signals.requests();
                self.members.iter().for_each(|member| member.say(&FromClient::Report));
            }
            self.look_at_trigger();
            if let (Some(ticker), true) = (&mut ticker, self.running()) {
                let snapshot = || joined(&self.members);
                ticker.tick(snapshot)?;
            }
        }
        match &mut ticker {
            Some(ticker) => ticker.leave(),
            None => Ok(()),
        }
    }

    /// Has the servers keep their states when the trigger goes off, and runs our own command once
    /// they have.
    fn look_at_trigger(&self) {
        if self.running() && self.trigger.goes_off() {
            let command = self.request.invocation.trigger.remote.clone();
            let pull = FromClient::Trigger { command };
            self.members.iter().for_each(|member| member.say(&pull));
        }
        self.trigger
            .settle(self.members.iter().all(|member| member.kept || member.stage.is_over()));
    }

    fn running(&self) -> bool {
        self.members.iter().any(|member| member.stage == Stage::Running)
    }

    fn terminate(&mut self, signal: i32) -> Result<()> {
        let line = format!("{}: terminating on signal {signal}\n", program(self.request.dialect));
        match self.text && self.request.as_fio() {
            true => self.output.write(&format!("\n{line}")),
            false => {
                say(&line);
                Ok(())
            }
        }
    }

    fn take(&mut self, index: usize, message: Result<FromServer, FrameError>) -> Result<()> {
        let aux_path = self.request.invocation.aux_path.as_str();
        let Some(member) = self.members.get_mut(index) else { return Ok(()) };
        match message {
            Ok(FromServer::Text(text)) if self.text => {
                self.output.write(&report::normal::prefixed(&member.machine.name, &text))?;
            }
            Ok(FromServer::Messages(messages)) => {
                let lines = report::messages::lines(program(self.request.dialect), &messages);
                say(&report::normal::prefixed(&member.machine.name, &lines));
            }
            Ok(FromServer::Refused(refusal)) => {
                let text = format!("{}\n", refusal.text);
                say(&report::normal::prefixed(&member.machine.name, &text));
                self.code.get_or_insert(refusal.exit_code);
                member.stage = Stage::Lost;
            }
            Ok(FromServer::Ready(jobs)) => {
                member.jobs = jobs;
                member.stage = Stage::Ready;
            }
            Ok(FromServer::Wants(names)) => {
                member.say(&FromClient::Files(member.kept_before(&names, aux_path)));
            }
            Ok(FromServer::Live(snapshot)) => member.snapshot = Some(snapshot),
            Ok(FromServer::SoFar(record)) => self.so_far(index, *record)?,
            Ok(FromServer::Kept) => {
                member.say(&FromClient::Held);
                member.kept = true;
            }
            Ok(FromServer::Triggered(Some(failure))) => {
                let text = format!("{}: {failure}", member.label());
                self.complain(&text);
                self.code = Some(exit::ERRORS);
            }
            Ok(FromServer::Done(record)) => self.done(index, *record)?,
            Ok(FromServer::File(file)) => {
                if let Err(text) = member.keep(&file, aux_path) {
                    self.complain(&text);
                    self.code = Some(exit::ERRORS);
                }
            }
            Ok(_) => {}
            Err(_) if member.stage.is_over() => {}
            Err(error) => {
                let text = format!("{}: {}", member.label(), words(&error));
                member.stage = Stage::Lost;
                self.complain(&text);
                self.code = Some(exit::ERRORS);
            }
        }
        Ok(())
    }

    fn trace_heard(
        &mut self,
        index: usize,
        message: &Result<FromServer, FrameError>,
    ) -> Result<()> {
        let (Some(member), Ok(message)) = (self.members.get(index), message) else { return Ok(()) };
        let text = format!("client: got cmd op {} from {}", message.kind(), member.label());
        self.trace(&text)
    }

    /// Takes the results of a server, and shows them as text at once: another may run much longer.
    fn done(&mut self, index: usize, mut record: RunRecord) -> Result<()> {
        let options = self.request.render_options(self.output);
        let Some(member) = self.members.get_mut(index) else { return Ok(()) };
        member.stage = Stage::Done;
        record.cell = Some(Cell { name: member.label(), round: 0, ..Cell::default() });
        let new: Vec<&Message> = record.messages.iter().collect();
        let lines = report::messages::lines(program(self.request.dialect), new);
        say(&report::normal::prefixed(&member.machine.name, &lines));
        self.archive.add(&record);
        let report = member.report(record);
        self.archive.add_summary(&report.record, &report.judged);
        if self.text {
            self.output.write(&report::normal::server(&report, &options))?;
        }
        if self.request.as_fio() {
            let verdict = report::verdict::lines_for_fio(&report.judged);
            say(&report::normal::prefixed(&report.name, &verdict));
        }
        member.report = Some(report);
        Ok(())
    }

    /// Keeps and shows what all measured.
    fn conclude(&mut self, gate: &Gate) -> Result<u8> {
        let reports: Vec<ClientReport> =
            self.members.iter_mut().filter_map(|member| member.report.take()).collect();
        let set = RecordSet {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            kind: "clients".into(),
            seed: SEED,
            runs: reports.iter().map(|report| report.record.clone()).collect(),
        };
        // Kept before anything looks at it, as a run here is.
        let kept = match &self.request.invocation.record {
            Some(path) => formats::save_set(&set, path),
            None => Ok(()),
        };
        let judged: Vec<judge::Judged> = reports.iter().map(|r| r.judged.clone()).collect();
        let mut together = judge::judge_set(&set, &judged);
        let missed = gate.apply(&set.runs, &mut together, SEED);
        let clients = Clients::new(reports);
        let options = RenderOptions {
            archived_as: self.archive.id(),
            ..self.request.render_options(self.output)
        };
        self.output.write(&report::render(
            report::Subject::Clients(&clients),
            self.request.formats(),
            &options,
        ))?;
        self.request.show_archive(&mut self.archive, true, self.output)?;
        gate::show_for_fio(&together);
        gate.write_junit(&set.runs, &together)?;
        let trigger = self.trigger.failure().map(|text| {
            self.complain(&text);
            exit::ERRORS
        });
        let logged = self.log_bandwidth(&set);
        kept?;
        let as_fio = self.request.dialect == Dialect::Fio;
        let interrupted = self.signals.caught().map(|signal| exit::interrupted(signal, as_fio));
        let errors = set.runs.iter().map(|run| exit::of(run, as_fio)).find(|code| *code != 0);
        // fio counts failed jobs where they run; its client only tells that there were some.
        let errors = errors.map(|code| if as_fio { exit::ERRORS } else { code });
        let code = interrupted.or(self.code).or(errors).or(trigger).or(logged).or(missed);
        Ok(code.unwrap_or(0))
    }

    /// Logs the bandwidth of all jobs together, if asked for; the exit code when it fails.
    fn log_bandwidth(&self, set: &RecordSet) -> Option<u8> {
        if !self.request.invocation.bandwidth_log {
            return None;
        }
        let jobs = set.runs.iter().flat_map(|run| run.jobs.clone()).collect();
        let together = RunRecord { jobs, ..RunRecord::default() };
        let failures = formats::logs::write_aggregate(&together, Path::new(""));
        say(&report::messages::lines(program(self.request.dialect), &failures));
        (!failures.is_empty()).then_some(exit::ERRORS)
    }
}

/// What all servers do now, as one.
fn joined(members: &[Member]) -> Snapshot {
    let known = || members.iter().filter_map(|member| member.snapshot.as_ref());
    Snapshot {
        at: known().map(|snapshot| snapshot.at).max().unwrap_or_default(),
        workers: known().flat_map(|snapshot| snapshot.workers.clone()).collect(),
        layout: known().find_map(|snapshot| snapshot.layout.clone()),
    }
}
