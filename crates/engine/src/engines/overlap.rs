//! `serialize_overlap` with `io_submit_mode=offload`: I/Os that overlap run one after the other, in the
//! order of submission, across all workers with these options.

use crate::hot::op::Op;
use crate::mutex::lock;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The I/Os in flight of all workers with these options.
#[derive(Debug, Default)]
pub struct OverlapQueue {
    state: Mutex<QueueState>,
    io_ended: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    next: u64,
    ranges: Vec<Range>,
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    number: u64,
    file: u32,
    start: u64,
    end: u64,
}

/// An I/O's place in the order; dropping it ends the I/O.
#[derive(Debug)]
pub struct Ticket {
    queue: Arc<OverlapQueue>,
    range: Range,
}

impl OverlapQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        lock(&self.state)
    }

    /// The number of the file at `path`; all paths of one file have the same number.
    pub fn file_number(&self, path: &str) -> u32 {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let files = &mut self.lock().files;
        let known = files.iter().position(|file| *file == path);
        known.unwrap_or_else(|| {
            files.push(path);
            files.len() - 1
        }) as u32
    }

    /// Appends an I/O on the file with this number.
    pub fn enter(self: &Arc<Self>, file: u32, op: &Op) -> Ticket {
        let mut state = self.lock();
        let end = op.offset.saturating_add(op.length);
        let range = Range { number: state.next, file, start: op.offset, end };
        state.next += 1;
        state.ranges.push(range);
        Ticket { queue: Arc::clone(self), range }
    }
}

impl Range {
    fn shares_bytes(&self, other: &Range) -> bool {
        self.file == other.file && self.start < other.end && other.start < self.end
    }
}

impl Ticket {
    /// Waits until no earlier I/O shares a byte with this one. Earlier I/Os never wait for later ones,
    /// so there is no deadlock.
    pub fn wait(&self) {
        let is_blocked = |state: &mut QueueState| {
            let is_earlier = |other: &&Range| other.number < self.range.number;
            state.ranges.iter().filter(is_earlier).any(|other| other.shares_bytes(&self.range))
        };
        let waited = self.queue.io_ended.wait_while(self.queue.lock(), is_blocked);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.queue.lock().ranges.retain(|range| range.number != self.range.number);
        self.queue.io_ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::op::OpKind;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    fn op(offset: u64) -> Op {
        Op { kind: OpKind::Write, file: 0, offset, length: 4096, tag: 0 }
    }

    #[test]
    fn overlapping_io_runs_in_the_order_of_submission() {
        let queue = Arc::<OverlapQueue>::default();
        let (first, second) = (queue.enter(0, &op(0)), queue.enter(0, &op(4095)));
        let third = queue.enter(0, &op(4096));
        for unrelated in [queue.enter(0, &op(12288)), queue.enter(1, &op(0))] {
            unrelated.wait();
        }
        first.wait();
        let (sender, receiver) = channel();
        let threads = [(2, second), (3, third)].map(|(number, ticket)| {
            let sender = sender.clone();
            std::thread::spawn(move || {
                ticket.wait();
                sender.send(number).unwrap();
                drop(ticket);
            })
        });
        assert!(receiver.recv_timeout(Duration::from_millis(20)).is_err(), "the first is not over");
        drop(first);
        assert_eq!(receiver.recv().unwrap(), 2);
        assert_eq!(receiver.recv().unwrap(), 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn all_paths_of_a_file_have_one_number() {
        let queue = OverlapQueue::default();
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("a"), "").unwrap();
        std::os::unix::fs::symlink(path("a"), path("b")).unwrap();
        let number = queue.file_number(&path("a"));
        assert_eq!(queue.file_number(&path("b")), number);
        assert_ne!(queue.file_number(&path("c")), number);
    }
}
