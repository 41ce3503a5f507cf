//! Reports a run to its client while it goes on, and handles the client's messages.

use super::client::{ClientSession, dialect};
use super::verify_states;
use crate::commands::run::connection::describe_error;
use crate::commands::run::request::program;
use anyhow::Result;
use record::{Message, RunRecord};
use remote::{FrameError, FromClient, FromServer, Submission};
use runner::{RunControl, RunInProgress, RunObserver, TRIGGER_PATIENCE, Trigger};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time between two snapshots for the client.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(500);

/// Observes a run on behalf of a client.
pub(super) struct ClientRunObserver<'a> {
    session: &'a ClientSession<'a>,
    submission: &'a Submission,
    next_snapshot: Instant,
    /// The signal with which the client asked to end the run.
    pub signal: Option<i32>,
    /// Why the client is gone, if it is.
    pub lost: Option<String>,
    /// The trigger that the client may pull.
    pub trigger: Trigger,
    /// Whether the client has stored the verify states.
    states_stored: bool,
}

impl<'a> ClientRunObserver<'a> {
    pub fn new(session: &'a ClientSession<'a>, submission: &'a Submission) -> Self {
        ClientRunObserver {
            session,
            submission,
            next_snapshot: Instant::now() + SNAPSHOT_INTERVAL,
            signal: None,
            lost: None,
            trigger: Trigger::default(),
            states_stored: false,
        }
    }

    /// Sends a message. An error shows at the next read.
    fn send(&self, message: &FromServer) {
        let _ = self.session.writer.send(message);
    }

    /// Sets the command line of the client in a record.
    fn set_invocation(&self, record: &mut RunRecord) {
        let name = program(dialect(self.submission)).to_owned();
        let arguments = self.submission.arguments.iter().cloned();
        record.invocation.arguments = std::iter::once(name).chain(arguments).collect();
        job::hide_in_arguments(&mut record.invocation.arguments);
        record.invocation.as_fio = self.submission.as_fio;
        record.interrupted_by = record.interrupted_by.or(self.signal);
    }

    /// Handles the messages that have arrived. Returns whether one asks for a report.
    fn handle_messages(&mut self) -> bool {
        let mut report = false;
        while let Ok(message) = self.session.messages.try_recv() {
            report |= self.handle(message);
        }
        report
    }

    /// Handles a message. Returns whether it asks for a report.
    fn handle(&mut self, message: Result<FromClient, FrameError>) -> bool {
        if let Ok(message) = &message {
            self.session.trace(message);
        }
        match message {
            Ok(FromClient::Stop { signal }) => self.signal = Some(signal),
            Ok(FromClient::Trigger { command }) => self.trigger.pull(command),
            Ok(FromClient::Held) => self.states_stored = true,
            Ok(FromClient::Report) => return true,
            Ok(_) => {}
            Err(error) => {
                let why = describe_error(&error);
                let text = format!("the client is gone: {why}; its run was ended");
                self.lost.get_or_insert(text);
            }
        }
        false
    }

    /// Waits until the client has stored the verify states, for at most [`TRIGGER_PATIENCE`].
    fn wait_until_stored(&mut self) {
        let deadline = Instant::now() + TRIGGER_PATIENCE;
        while !self.states_stored && self.lost.is_none() {
            let rest = deadline.saturating_duration_since(Instant::now());
            match self.session.messages.recv_timeout(rest) {
                Ok(message) => _ = self.handle(message),
                Err(_) => return,
            }
        }
    }

    /// Runs the command of a pulled trigger as soon as the client has stored the verify states.
    fn settle_trigger(&mut self, run: &RunInProgress, ended: bool) {
        if self.trigger.is_command_due(ended) {
            verify_states::send(self.session, &run.so_far());
            self.send(&FromServer::Kept);
            self.wait_until_stored();
            self.trigger.settle(ended);
            self.send(&FromServer::Triggered(self.trigger.failure()));
        }
    }
}

impl RunObserver for ClientRunObserver<'_> {
    fn laying_out(&mut self, job: &str, files: u64, bytes: u64) -> Result<()> {
        self.send(&FromServer::Text(report::header::layout(job, files, bytes)));
        Ok(())
    }

    fn traced(&mut self, lines: &str) -> Result<()> {
        self.send(&FromServer::Text(lines.into()));
        Ok(())
    }

    fn wants_interim_results(&self) -> bool {
        true
    }

    fn interim(&mut self, mut record: RunRecord) -> Result<()> {
        self.set_invocation(&mut record);
        self.send(&FromServer::SoFar(Box::new(record)));
        Ok(())
    }

    fn poll(&mut self, run: &RunInProgress) -> Result<RunControl> {
        let report = self.handle_messages();
        self.settle_trigger(run, false);
        if Instant::now() >= self.next_snapshot {
            self.next_snapshot = Instant::now() + SNAPSHOT_INTERVAL;
            self.send(&FromServer::Live(run.run.snapshot()));
        }
        let ending = self.session.server.ending.load(Ordering::Relaxed);
        let asked = self.signal.is_some() || self.lost.is_some() || self.trigger.was_pulled();
        Ok(RunControl { stop: ending || asked, report })
    }

    fn ended(&mut self, run: &RunInProgress) -> Result<()> {
        // A trigger may have been pulled just before the end.
        self.handle_messages();
        self.settle_trigger(run, true);
        // The client's status line ends with it.
        self.send(&FromServer::Live(run.run.snapshot()));
        Ok(())
    }

    fn complete(&mut self, record: &mut RunRecord) {
        self.set_invocation(record);
        if record.interrupted_by.is_some() && self.signal.is_none() {
            let text = "the run was cut short because the server was ended";
            record.messages.push(Message::warning(None, text));
        }
    }
}
