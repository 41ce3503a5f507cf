//! A client that follows its run.

use super::{Session, dialect, states};
use crate::commands::run::connection::words;
use crate::commands::run::request::program;
use anyhow::Result;
use record::{Message, RunRecord};
use remote::{FrameError, FromClient, FromServer, Submission};
use runner::RunInProgress;
use runner::{RunControl, RunObserver};
use runner::{TRIGGER_PATIENCE, Trigger};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the client is told how far the run is.
const LIVE: Duration = Duration::from_millis(500);

/// The client of a run under way.
pub(super) struct Follower<'a> {
    session: &'a Session<'a>,
    submission: &'a Submission,
    next_live: Instant,
    /// It asked for the end: the signal it met.
    pub signal: Option<i32>,
    /// It is gone, and why; nobody waits for the results.
    pub lost: Option<String>,
    /// It may pull this.
    pub trigger: Trigger,
    /// It has what is to outlive this machine.
    held: bool,
}

impl<'a> Follower<'a> {
    pub fn new(session: &'a Session<'a>, submission: &'a Submission) -> Self {
        Follower {
            session,
            submission,
            next_live: Instant::now() + LIVE,
            signal: None,
            lost: None,
            trigger: Trigger::default(),
            held: false,
        }
    }

    /// Says something. Whether it is heard shows when the client is listened to.
    fn say(&self, message: &FromServer) {
        let _ = self.session.mouth.say(message);
    }

    /// Gives a record the command line and the name that the client was called by.
    fn as_clients(&self, record: &mut RunRecord) {
        let name = program(dialect(self.submission)).to_owned();
        let arguments = self.submission.arguments.iter().cloned();
        record.invocation.arguments = std::iter::once(name).chain(arguments).collect();
        job::hide_in_arguments(&mut record.invocation.arguments);
        record.invocation.as_fio = self.submission.as_fio;
        record.interrupted_by = record.interrupted_by.or(self.signal);
    }

    /// Takes what the client has said; whether it asks for a report.
    fn listen(&mut self) -> bool {
        let mut report = false;
        while let Ok(heard) = self.session.heard.try_recv() {
            report |= self.mind(heard);
        }
        report
    }

    /// Does what the client asks for; whether that is a report.
    fn mind(&mut self, heard: Result<FromClient, FrameError>) -> bool {
        if let Ok(message) = &heard {
            self.session.trace(message);
        }
        match heard {
            Ok(FromClient::Stop { signal }) => self.signal = Some(signal),
            Ok(FromClient::Trigger { command }) => self.trigger.pull(command),
            Ok(FromClient::Held) => self.held = true,
            Ok(FromClient::Report) => return true,
            Ok(_) => {}
            Err(error) => {
                let why = words(&error);
                let text = format!("the client is gone, so its run was ended: {why}");
                self.lost.get_or_insert(text);
            }
        }
        false
    }

    /// Waits until the client has what is to outlive this machine, or seems never to get it.
    fn wait_until_held(&mut self) {
        let deadline = Instant::now() + TRIGGER_PATIENCE;
        while !self.held && self.lost.is_none() {
            let rest = deadline.saturating_duration_since(Instant::now());
            match self.session.heard.recv_timeout(rest) {
                Ok(heard) => _ = self.mind(heard),
                Err(_) => return,
            }
        }
    }

    /// Runs the command of a trigger that was pulled, once the client has what is to outlive it.
    fn settle(&mut self, run: &RunInProgress, ended: bool) {
        if self.trigger.is_ripe(ended) {
            states::hand_over(self.session, &run.so_far());
            self.say(&FromServer::Kept);
            self.wait_until_held();
            self.trigger.settle(ended);
            self.say(&FromServer::Triggered(self.trigger.failure()));
        }
    }
}

impl RunObserver for Follower<'_> {
    fn laying_out(&mut self, job: &str, files: u64, bytes: u64) -> Result<()> {
        self.say(&FromServer::Text(report::header::layout(job, files, bytes)));
        Ok(())
    }

    fn traced(&mut self, lines: &str) -> Result<()> {
        self.say(&FromServer::Text(lines.into()));
        Ok(())
    }

    fn interim(&mut self, mut record: RunRecord) -> Result<()> {
        self.as_clients(&mut record);
        self.say(&FromServer::SoFar(Box::new(record)));
        Ok(())
    }

    fn poll(&mut self, run: &RunInProgress) -> Result<RunControl> {
        let report = self.listen();
        self.settle(run, false);
        if Instant::now() >= self.next_live {
            self.next_live = Instant::now() + LIVE;
            self.say(&FromServer::Live(run.run.snapshot()));
        }
        let ending = self.session.server.ending.load(Ordering::Relaxed);
        let asked = self.signal.is_some() || self.lost.is_some() || self.trigger.was_pulled();
        Ok(RunControl { stop: ending || asked, report })
    }

    fn ended(&mut self, run: &RunInProgress) -> Result<()> {
        // One that came with the end counts as well.
        self.listen();
        self.settle(run, true);
        Ok(())
    }

    fn complete(&mut self, record: &mut RunRecord) {
        self.as_clients(record);
        if record.interrupted_by.is_some() && self.signal.is_none() {
            let text = "the run was cut short: the server was ended";
            record.messages.push(Message::warning(None, text));
        }
    }
}
