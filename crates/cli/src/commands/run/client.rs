//! `--client`: runs jobs on servers and reports what they measured.

mod interim_results;
mod server_link;

use crate::commands::run::access::ClientAccess;
use crate::commands::run::connection::describe_error;
use crate::commands::run::gate::{self, Gate};
use crate::commands::run::request::{RunRequest, SEED, program, usage_code};
use crate::commands::run::status_line::StatusTicker;
use crate::exit;
use crate::output::{Output, write_stderr};
use anyhow::Result;
use job::{Action, Client, Dialect, Invocation};
use judge::gate::Subject;
use record::{Cell, Message, RecordSet, RunRecord, Severity, Snapshot};
use remote::{Address, FrameError, FromClient, FromServer};
use report::RenderOptions;
use report::clients::{ClientReport, Clients};
use runner::{RunArchive, Signals, Trigger};
use server_link::{ServerLink, ServerMessage, Stage};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two polls of signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs the jobs of an invocation on its servers.
///
/// # Errors
/// When the results cannot be shown or saved.
pub fn main(request: &RunRequest, output: &mut Output) -> Result<u8> {
    let usage = usage_code(request.dialect);
    let (addresses, access) = match check(request.invocation) {
        Ok(checked) => checked,
        Err(text) => {
            write_stderr(&format!("command line: {text}\n"));
            return Ok(usage);
        }
    };
    let signals = request.runner.signals()?;
    let (sender, messages) = channel();
    let servers = match server_link::connect(request, &addresses, &access, &sender) {
        Ok(servers) => servers,
        Err(text) => {
            write_stderr(&text);
            return Ok(exit::ERRORS);
        }
    };
    let trigger = Trigger::set(&request.invocation.trigger);
    let mut clients = Servers {
        request,
        output,
        servers,
        messages,
        signals,
        requests: signals.requests(),
        trigger,
        code: None,
        text: request.is_text(),
        archive: request.archive_of_set("clients", SEED),
    };
    clients.run()
}

/// Refuses options that cannot be used with servers. Returns where these are, and what is asked of them.
fn check(invocation: &Invocation) -> Result<(Vec<Address>, ClientAccess), String> {
    let wrong = [
        (
            !invocation.allow_destroy.is_empty(),
            "--allow-destroy: only the server can allow this; start the server with it",
        ),
        (
            invocation.repeat.is_some(),
            "--repeat: does not work with --client; call the client several times",
        ),
        (
            invocation.server.is_some(),
            "--server: a server receives jobs, --client sends them; choose one",
        ),
        (invocation.live == Some(true), "--live: the jobs run on other machines; leave it out"),
        (invocation.metrics.is_some(), "--metrics: the jobs run on other machines; leave it out"),
        (invocation.daemonize.is_some(), "--daemonize: only a server can run in the background"),
    ];
    match wrong.iter().find(|(given, _)| *given) {
        Some((_, text)) => Err((*text).into()),
        None => Ok((addresses(invocation)?, ClientAccess::new(invocation)?)),
    }
}

fn addresses(invocation: &Invocation) -> Result<Vec<Address>, String> {
    let address = |client: &Client| {
        Address::parse(&client.address).map_err(|error| format!("--client: {error}"))
    };
    invocation.clients.iter().map(address).collect()
}

/// The servers of a request and their results.
struct Servers<'a> {
    request: &'a RunRequest<'a>,
    output: &'a mut Output,
    servers: Vec<ServerLink>,
    messages: Receiver<ServerMessage>,
    signals: &'a Signals,
    /// Number of SIGUSR1 that were passed on to the servers.
    requests: u64,
    trigger: Trigger,
    /// The exit code, if something failed.
    code: Option<u8>,
    /// Whether the report is text.
    text: bool,
    archive: RunArchive,
}

impl Servers<'_> {
    /// Prints a line of `--debug=net` if that was given.
    fn trace(&mut self, text: &str) -> Result<()> {
        match self.request.invocation.debug.covers("net") {
            true => self.output.write(&job::debug::line("net", std::process::id(), text)),
            false => Ok(()),
        }
    }

    fn trace_all(&mut self, text: impl Fn(&str) -> String) -> Result<()> {
        let labels: Vec<String> = self.servers.iter().map(ServerLink::label).collect();
        labels.iter().try_for_each(|label| self.trace(&text(label)))
    }

    fn run(&mut self) -> Result<u8> {
        self.trace_all(|label| format!("client: {label} connected"))?;
        for server in &self.servers {
            if self.text {
                self.output.write(&format!("{}\n", server.machine))?;
            }
        }
        if let Err(text) = self.submit() {
            self.complain(&text);
            return Ok(exit::ERRORS);
        }
        self.trace_all(|label| format!("send ini to {label}"))?;
        self.wait_until(|stage| stage != Stage::Preparing)?;
        let caught = self.signals.caught();
        if let Some(code) =
            caught.map(|s| exit::interrupted(s, self.request.as_fio())).or(self.code)
        {
            self.servers.iter().for_each(ServerLink::close);
            return Ok(code);
        }
        if self.request.invocation.action == Action::ParseOnly {
            return Ok(0);
        }
        let gate = match Gate::new(self.request.invocation, &self.subjects()) {
            Ok(gate) => gate,
            Err(text) => {
                write_stderr(&format!("command line: {text}\n"));
                return Ok(usage_code(self.request.dialect));
            }
        };
        self.trace("client: start all")?;
        self.trace_all(|label| format!("client: start {label}"))?;
        self.servers.iter_mut().for_each(ServerLink::start);
        self.wait_until(Stage::is_over)?;
        self.trigger.settle(true);
        self.conclude(&gate)
    }

    fn submit(&mut self) -> Result<(), String> {
        let mut input = server_link::JobFiles::default();
        for (server, client) in self.servers.iter_mut().zip(&self.request.invocation.clients) {
            server.submit(client, self.request, &mut input)?;
        }
        Ok(())
    }

    fn complain(&self, text: &str) {
        write_stderr(&format!("{}: error: {text}\n", program(self.request.dialect)));
    }

    /// The jobs of all servers, with the names that conditions use.
    fn subjects(&self) -> Vec<Subject> {
        let several = self.servers.len() > 1;
        let jobs_of = |server: &ServerLink| {
            let named = |job: &remote::Announced| {
                let own = job.name.clone();
                let name = if several { format!("{}: {own}", server.label()) } else { own };
                // Servers do not send the engines of their jobs, so this may be true.
                Subject { name, directions: job.directions, sends_requests: true }
            };
            server.jobs.iter().map(named).collect::<Vec<_>>()
        };
        self.servers.iter().flat_map(jobs_of).collect()
    }

    /// Handles messages until all servers have reached a stage for which `done` is true.
    fn wait_until(&mut self, done: fn(Stage) -> bool) -> Result<()> {
        let request = self.request;
        let mut ticker =
            StatusTicker::new(request.invocation, self.output, request.as_fio(), self.text);
        let (mut stopped, mut started) = (false, false);
        while !self.servers.iter().all(|server| done(server.stage)) {
            match self.messages.recv_timeout(POLL_INTERVAL) {
                Ok((index, message)) => {
                    if let Some(ticker) = &mut ticker {
                        ticker.clear()?;
                    }
                    self.trace_message(index, &message)?;
                    self.handle(index, message)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                // All connections have ended.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let (Some(signal), false) = (self.signals.caught(), stopped) {
                stopped = true;
                self.terminate(signal)?;
                self.servers.iter_mut().for_each(|server| server.stop(signal));
            }
            if self.running() && self.requests != self.signals.requests() {
                self.requests = self.signals.requests();
                self.servers.iter().for_each(|server| server.send(&FromClient::Report));
            }
            self.poll_trigger();
            started |= self.running();
            if let (Some(ticker), true) = (&mut ticker, self.running()) {
                let snapshot = || joint_snapshot(&self.servers);
                ticker.tick(snapshot)?;
            }
        }
        match &mut ticker {
            Some(ticker) if started => ticker.finish(|| joint_snapshot(&self.servers)),
            Some(ticker) => ticker.leave(),
            None => Ok(()),
        }
    }

    /// When the trigger goes off, fetches the verify states of the servers, then runs the command.
    fn poll_trigger(&self) {
        if self.running() && self.trigger.goes_off() {
            let command = self.request.invocation.trigger.remote.clone();
            let trigger = FromClient::Trigger { command };
            self.servers.iter().for_each(|server| server.send(&trigger));
        }
        self.trigger.settle(self.servers.iter().all(|s| s.states_received || s.stage.is_over()));
    }

    fn running(&self) -> bool {
        self.servers.iter().any(|server| server.stage == Stage::Running)
    }

    fn terminate(&mut self, signal: i32) -> Result<()> {
        let line = format!("{}: terminating on signal {signal}\n", program(self.request.dialect));
        match self.text && self.request.as_fio() {
            true => self.output.write(&format!("\n{line}")),
            false => {
                write_stderr(&line);
                Ok(())
            }
        }
    }

    fn handle(&mut self, index: usize, message: Result<FromServer, FrameError>) -> Result<()> {
        let aux_path = self.request.invocation.aux_path.as_str();
        let Some(server) = self.servers.get_mut(index) else { return Ok(()) };
        match message {
            Ok(FromServer::Text(text)) if self.text => {
                self.output.write(&report::normal::prefixed(&server.machine.name, &text))?;
            }
            Ok(FromServer::Messages(messages)) => {
                let name = server.machine.name.clone();
                self.show_messages(&name, &messages)?;
            }
            Ok(FromServer::Refused(refusal)) => {
                let text = format!("{}\n", refusal.text);
                write_stderr(&report::normal::prefixed(&server.machine.name, &text));
                self.code.get_or_insert(refusal.exit_code);
                server.stage = Stage::Lost;
            }
            Ok(FromServer::Ready(jobs)) => {
                server.jobs = jobs;
                server.stage = Stage::Ready;
            }
            Ok(FromServer::Wants(names)) => {
                server.send(&FromClient::Files(server.stored_states(&names, aux_path)));
            }
            Ok(FromServer::Live(snapshot)) => server.snapshot = Some(snapshot),
            Ok(FromServer::SoFar(record)) => self.so_far(index, *record)?,
            Ok(FromServer::Kept) => {
                server.send(&FromClient::Held);
                server.states_received = true;
            }
            Ok(FromServer::Triggered(Some(failure))) => {
                let text = format!("{}: {failure}", server.label());
                self.complain(&text);
                self.code = Some(exit::ERRORS);
            }
            Ok(FromServer::Done(record)) => self.done(index, *record)?,
            Ok(FromServer::File(file)) => {
                if let Err(text) = server.write_part(&file, aux_path) {
                    self.complain(&text);
                    self.code = Some(exit::ERRORS);
                }
            }
            Ok(_) => {}
            Err(_) if server.stage.is_over() => {}
            Err(error) => {
                let text = format!("{}: {}", server.label(), describe_error(&error));
                server.stage = Stage::Lost;
                self.complain(&text);
                self.code = Some(exit::ERRORS);
            }
        }
        Ok(())
    }

    fn trace_message(
        &mut self,
        index: usize,
        message: &Result<FromServer, FrameError>,
    ) -> Result<()> {
        let (Some(server), Ok(message)) = (self.servers.get(index), message) else { return Ok(()) };
        let text = format!("client: got cmd op {} from {}", message.kind(), server.label());
        self.trace(&text)
    }

    /// Shows messages of a server: remarks where those of a run here would be.
    fn show_messages(&mut self, name: &str, messages: &[Message]) -> Result<()> {
        let is_error = |message: &&Message| message.severity >= Severity::Error;
        let (errors, remarks): (Vec<_>, Vec<_>) = messages.iter().partition(is_error);
        let lines = |messages| {
            let lines = report::messages::lines(program(self.request.dialect), messages);
            report::normal::prefixed(name, &lines)
        };
        write_stderr(&lines(errors));
        let remarks = lines(remarks);
        self.request.remark(&remarks, self.output)
    }

    /// Archives the results of a server and shows them as text at once: others may run much longer.
    fn done(&mut self, index: usize, mut record: RunRecord) -> Result<()> {
        let options = self.request.render_options(self.output);
        let Some(server) = self.servers.get_mut(index) else { return Ok(()) };
        server.stage = Stage::Done;
        record.cell = Some(Cell { name: server.label(), round: 0, ..Cell::default() });
        let name = server.machine.name.clone();
        self.show_messages(&name, &record.messages)?;
        let Some(server) = self.servers.get_mut(index) else { return Ok(()) };
        let added = self.archive.add(&record);
        let report = server.report(record);
        self.archive.add_summary(added, &report.record, &report.judged);
        if self.text {
            self.output.write(&report::normal::server(&report, &options))?;
        }
        if self.request.as_fio() {
            let verdict = report::verdict::lines_for_fio(&report.judged);
            let verdict = report::normal::prefixed(&report.name, &verdict);
            self.request.remark(&verdict, self.output)?;
        }
        server.report = Some(report);
        Ok(())
    }

    /// Saves and reports the results of all servers.
    fn conclude(&mut self, gate: &Gate) -> Result<u8> {
        let reports: Vec<ClientReport> =
            self.servers.iter_mut().filter_map(|server| server.report.take()).collect();
        let set = RecordSet {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            kind: "clients".into(),
            seed: SEED,
            runs: reports.iter().map(|report| report.record.clone()).collect(),
        };
        // Saved before anything else can fail.
        let saved = match &self.request.invocation.record {
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
        self.request.show_archive(&mut self.archive, true, set.intent(), self.output)?;
        gate::show_for_fio(&together);
        gate.write_junit(&set.runs, &together)?;
        let trigger = self.trigger.failure().map(|text| {
            self.complain(&text);
            exit::ERRORS
        });
        let logged = self.log_bandwidth(&set);
        saved?;
        let as_fio = self.request.dialect == Dialect::Fio;
        let interrupted = self.signals.caught().map(|signal| exit::interrupted(signal, as_fio));
        let errors = set.runs.iter().map(|run| exit::of_run(run, as_fio)).find(|code| *code != 0);
        // fio's exit code is the number of failed jobs where they run, and 1 at the client.
        let errors = errors.map(|code| if as_fio { exit::ERRORS } else { code });
        let code = interrupted.or(self.code).or(errors).or(trigger).or(logged).or(missed);
        Ok(code.unwrap_or(0))
    }

    /// Writes the logs of `--bandwidth-log`, if it was given. Returns an exit code on failure.
    fn log_bandwidth(&self, set: &RecordSet) -> Option<u8> {
        if !self.request.invocation.bandwidth_log {
            return None;
        }
        let jobs = set.runs.iter().flat_map(|run| run.jobs.clone()).collect();
        let together = RunRecord { jobs, ..RunRecord::default() };
        let failures = formats::logs::write_aggregate(&together, Path::new(""));
        write_stderr(&report::messages::lines(program(self.request.dialect), &failures));
        (!failures.is_empty()).then_some(exit::ERRORS)
    }
}

/// The latest snapshots of all servers in one.
fn joint_snapshot(servers: &[ServerLink]) -> Snapshot {
    let known = || servers.iter().filter_map(|server| server.snapshot.as_ref());
    Snapshot {
        at: known().map(|snapshot| snapshot.at).max().unwrap_or_default(),
        workers: known().flat_map(|snapshot| snapshot.workers.clone()).collect(),
        layout: known().find_map(|snapshot| snapshot.layout.clone()),
    }
}
