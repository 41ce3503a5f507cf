//! Trace lines of the workers (`--debug`), in fio's format.

use crate::mutex::lock;
use crate::sys::thread;
use plan::trace;
use record::WorkerState;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Maximum lines that wait to be taken. A worker with more lines waits: no line is lost and memory is
/// bounded.
const LINES_MAX: usize = 20_000;

/// Maximum wait of a worker, so that it does not hang if nobody takes lines.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Trace lines of a run.
#[derive(Default)]
pub(crate) struct Trace {
    lines: Mutex<Vec<String>>,
    taken: Condvar,
}

impl Trace {
    /// Adds a line of the calling thread.
    pub fn line(&self, area: &str, text: &str) {
        let lines = lock(&self.lines);
        let full = |lines: &mut Vec<String>| lines.len() >= LINES_MAX;
        let waited = self.taken.wait_timeout_while(lines, TIMEOUT, full);
        waited.unwrap_or_else(PoisonError::into_inner).0.push(trace::line(
            area,
            thread::id(),
            text,
        ));
    }

    /// Takes the lines since the last call.
    pub fn take(&self) -> Vec<String> {
        let lines = std::mem::take(&mut *lock(&self.lines));
        self.taken.notify_all();
        lines
    }

    /// Adds a line for a change of state of worker `tid`.
    pub fn state(&self, tid: u32, before: WorkerState, now: WorkerState) {
        let text = format!("pid={tid}: runstate {} -> {}", name(before), name(now));
        self.line("process", &text);
    }
}

/// fio's name of a state.
fn name(state: WorkerState) -> &'static str {
    match state {
        WorkerState::NotStarted => "NOT_CREATED",
        WorkerState::Created => "CREATED",
        WorkerState::Initialized => "INITIALIZED",
        WorkerState::PreReading => "PRE_READING",
        WorkerState::Ramp => "RAMP",
        WorkerState::Running => "RUNNING",
        WorkerState::Fsyncing => "FSYNCING",
        WorkerState::Verifying => "VERIFYING",
        WorkerState::Finishing => "FINISHING",
        WorkerState::Exited | WorkerState::Failed | WorkerState::Killed => "EXITED",
        WorkerState::Reaped => "REAPED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_once_and_in_order() {
        let trace = Trace::default();
        trace.line("io", "first");
        trace.state(7, WorkerState::Created, WorkerState::Ramp);
        let id = thread::id();
        let lines = trace.take();
        assert_eq!(lines[0], format!("io       {id:<5} first\n"));
        assert_eq!(lines[1], format!("process  {id:<5} pid=7: runstate CREATED -> RAMP\n"));
        assert!(trace.take().is_empty());
    }
}
