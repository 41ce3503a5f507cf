//! Traces of what workers do (`--debug`), gathered for whoever shows them. Line shapes are fio's.

use crate::mutex::lock;
use crate::sys::thread;
use plan::trace::line;
use record::WorkerState;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Lines kept until they are taken; a worker that has more to say waits, so that no line is lost
/// and memory stays bounded.
const LINES_MAX: usize = 20_000;

/// How long a worker waits for that at most: what is traced must not hang because nobody looks.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines of a run on their way.
#[derive(Default)]
pub(crate) struct Trace {
    lines: Mutex<Vec<String>>,
    taken: Condvar,
}

impl Trace {
    /// Adds a line of the calling thread.
    pub fn say(&self, area: &str, text: &str) {
        let lines = lock(&self.lines);
        let full = |lines: &mut Vec<String>| lines.len() >= LINES_MAX;
        let waited = self.taken.wait_timeout_while(lines, PATIENCE, full);
        waited.unwrap_or_else(PoisonError::into_inner).0.push(line(area, thread::id(), text));
    }

    /// The lines since the last call.
    pub fn take(&self) -> Vec<String> {
        let lines = std::mem::take(&mut *lock(&self.lines));
        self.taken.notify_all();
        lines
    }

    /// Adds that worker `tid` went from one state to another.
    pub fn state(&self, tid: u32, before: WorkerState, now: WorkerState) {
        let text = format!("pid={tid}: runstate {} -> {}", name(before), name(now));
        self.say("process", &text);
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
        trace.say("io", "first");
        trace.state(7, WorkerState::Created, WorkerState::Ramp);
        let id = thread::id();
        let lines = trace.take();
        assert_eq!(lines[0], format!("io       {id:<5} first\n"));
        assert_eq!(lines[1], format!("process  {id:<5} pid=7: runstate CREATED -> RAMP\n"));
        assert!(trace.take().is_empty());
    }
}
