//! What the rest of the program calls of a fleet. The exchange runs in its own thread, because MPI has to be
//! called from the thread that started it.

use crate::exchange::Exchange;
use crate::lead::Lead;
use crate::member::Member;
use crate::message::{Assignment, Enrolment, Task};
use crate::part::OwnResult;
use crate::state::{Command, Event, Farewell, LAID_OUT, Orders, Settings, Shared, Sum};
use runner::StartGate;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long ranks are waited for, unless the user says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// Time between two polls of signals.
const SIGNAL_POLL: Duration = Duration::from_millis(20);
/// How long the end of the exchange may take.
const LEAVE_MAX: Duration = Duration::from_secs(10);
/// How long a rank waits for rank 0 to end all, when some are lost.
const ALONE_MAX: Duration = Duration::from_secs(1);

/// Numbers of barriers that each phase has, for jobs in it that wait for others. A rank without jobs in a
/// phase waits for the barrier of its next one.
const STARTS_OF_PHASE: u32 = 1 << 12;

/// The gate of a rank's run.
struct RankGate {
    shared: Arc<Shared>,
    commands: Mutex<Sender<Command>>,
}

impl RankGate {
    /// Waits until all ranks are here. The thread of the exchange ends every wait: it releases the
    /// barrier once the others have come or are lost, and opens the gate if it ends itself.
    fn wait(&self, least: u32) -> Option<Instant> {
        let mut gate = self.shared.gate();
        gate.asked = (gate.asked + 1).max(least);
        let barrier = gate.asked;
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if commands.send(Command::Reached(barrier)).is_err() {
            return None;
        }
        while !gate.is_open && gate.released < barrier {
            gate = self.shared.moved.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        if gate.is_open { None } else { gate.at }
    }
}

impl StartGate for RankGate {
    fn laid_out(&self) {
        self.wait(LAID_OUT);
    }

    fn set_up(&self, phase: u32) -> Option<Instant> {
        self.wait(LAID_OUT + 1 + phase * STARTS_OF_PHASE)
    }
}

/// A rank of a fleet.
pub struct Fleet {
    /// Its number, from 0.
    pub rank: u32,
    /// The number of ranks.
    pub size: u32,
    /// What moves the messages ("Open MPI v4.1.4").
    pub library: String,
    /// At rank 0, the host of each rank; empty for those that are lost. At others, nothing.
    pub hosts: Vec<String>,
    shared: Arc<Shared>,
    commands: Sender<Command>,
    events: Receiver<Event>,
}

/// Opens the gate however its thread ends, so that no run waits for it.
struct OpenAtEnd(Arc<Shared>);

impl Drop for OpenAtEnd {
    fn drop(&mut self) {
        self.0.open();
    }
}

impl Fleet {
    /// Starts the exchange, on a thread of its own. All ranks have to join.
    ///
    /// # Errors
    /// Why it cannot be started, or that it took longer than the timeout.
    pub fn join(
        open: impl FnOnce() -> Result<Box<dyn Exchange>, String> + Send + 'static,
        settings: Settings,
    ) -> Result<Fleet, String> {
        let begin = Instant::now();
        let (commands, asked) = channel();
        let (tell, events) = channel();
        let shared = Arc::<Shared>::default();
        let (of_thread, timeout) = (Arc::clone(&shared), settings.timeout);
        let serve = move || {
            let _open = OpenAtEnd(Arc::clone(&of_thread));
            let mut exchange = match open() {
                Ok(exchange) => exchange,
                Err(why) => return drop(tell.send(Event::Failed(why))),
            };
            let (rank, size, library) = (exchange.rank(), exchange.size(), exchange.library());
            // Nobody waits any more if this fails.
            let _ = tell.send(Event::Joined { rank, size, library });
            let served = match rank {
                0 => Lead::new(&mut *exchange, &settings, &of_thread, &asked, &tell, begin).run(),
                _ => Member::new(&mut *exchange, &settings, &of_thread, &asked, &tell).run(),
            };
            match served {
                Ok(Farewell::Together) => exchange.finish(),
                Ok(Farewell::Abort(code)) => exchange.abort(code),
                // The library of the others ends this one.
                Ok(Farewell::Alone) => std::thread::sleep(ALONE_MAX),
                Err(why) => return drop(tell.send(Event::Failed(why))),
            }
            let _ = tell.send(Event::Left);
        };
        std::thread::Builder::new()
            .name("fleet".into())
            .spawn(serve)
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        let (rank, size, library) = match events.recv_timeout(timeout) {
            Ok(Event::Joined { rank, size, library }) => (rank, size, library),
            Ok(Event::Failed(why)) => return Err(why),
            _ => {
                let seconds = timeout.as_secs();
                return Err(format!("MPI did not start within {seconds} s; see --rank-timeout"));
            }
        };
        let hosts = match rank {
            0 => match events.recv() {
                Ok(Event::Assembled(hosts)) => hosts,
                other => return Err(unexpected(other.ok())),
            },
            _ => Vec::new(),
        };
        Ok(Fleet { rank, size, library, hosts, shared, commands, events })
    }

    /// Whether it is rank 0, which reports.
    pub fn is_lead(&self) -> bool {
        self.rank == 0
    }

    /// Begins a run; only rank 0 does. Its own part in it begins with [`Fleet::enrol`].
    pub fn announce(&self, task: Task) -> Result<(), String> {
        self.ask(Command::Task(task))
    }

    /// The next run that this rank takes part in; `None` when rank 0 has ended the fleet. Only the other
    /// ranks ask, and not before [`Fleet::finish`] for the last one.
    ///
    /// # Errors
    /// When rank 0 is gone.
    pub fn next_task(&self) -> Result<Option<Assignment>, String> {
        match self.events.recv() {
            Ok(Event::Task(task)) => Ok(Some(task)),
            Ok(Event::Left) => Ok(None),
            other => Err(unexpected(other.ok())),
        }
    }

    /// Says what this rank is about to do. Returns when it may go on.
    ///
    /// # Errors
    /// When rank 0 is gone.
    pub fn enrol(&self, enrolment: Enrolment) -> Result<Orders, String> {
        self.ask(Command::Enrol(Box::new(enrolment)))?;
        match self.events.recv() {
            Ok(Event::Orders(orders)) => Ok(orders),
            other => Err(unexpected(other.ok())),
        }
    }

    /// The gate for the run.
    pub fn gate(&self) -> Arc<dyn StartGate> {
        let commands = Mutex::new(self.commands.clone());
        Arc::new(RankGate { shared: Arc::clone(&self.shared), commands })
    }

    /// A number that changes while the run makes I/O.
    pub fn set_progress(&self, progress: u64) {
        self.shared.progress.store(progress, Ordering::Relaxed);
    }

    /// Ends the run of all ranks; from a member, its own.
    pub fn stop(&self, signal: i32) {
        self.shared.stop(signal);
    }

    /// The signal that ends the run, here or at rank 0.
    pub fn stopped_by(&self) -> Option<i32> {
        Some(self.shared.stop.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }

    /// Whether this rank's own I/O hangs, so that its run is to be left behind.
    pub fn is_abandoned(&self) -> bool {
        self.shared.is_abandoned.load(Ordering::Relaxed)
    }

    /// Hands the result of a run over. Rank 0 waits for the sum of all ranks; others get nothing. `caught`
    /// says which signal came; after one, rank 0 waits for no rank any more, as launchers kill soon after
    /// it.
    ///
    /// # Errors
    /// When rank 0 is gone.
    pub fn finish(
        &self,
        result: Option<OwnResult>,
        caught: impl Fn() -> Option<i32>,
    ) -> Result<Option<Sum>, String> {
        self.ask(Command::Ended(result.map(Box::new)))?;
        while self.is_lead() {
            match self.events.recv_timeout(SIGNAL_POLL) {
                Ok(Event::Sum(sum)) => return Ok(Some(*sum)),
                Err(RecvTimeoutError::Timeout) => {
                    caught().into_iter().for_each(|signal| self.stop(signal));
                }
                other => return Err(unexpected(other.ok())),
            }
        }
        Ok(None)
    }

    /// Ends the fleet, after the report of rank 0. With lost ranks, all are ended with this exit code.
    pub fn leave(&self, exit_code: u8) {
        if self.ask(Command::Leave(exit_code)).is_ok() {
            // A library that does not end is left behind: the program ends next.
            let _ = self.events.recv_timeout(LEAVE_MAX);
        }
    }

    fn ask(&self, command: Command) -> Result<(), String> {
        self.commands.send(command).map_err(|_| unexpected(self.events.try_iter().last()))
    }
}

fn unexpected(event: Option<Event>) -> String {
    match event {
        Some(Event::Failed(why)) => why,
        _ => "the fleet ended early".into(),
    }
}
