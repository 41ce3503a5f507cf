//! Engines whose I/O goes to a store behind a library or a program instead of files of the kernel:
//! nfs, rbd, rados, libiscsi, custom.

use super::{Completion, Queued, Ring, RingFile, RingSetup, WaitLimit};
use crate::files::FileError;
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use crate::sys::stores::{self, Ended, Store, StoreIo, StoreSetup};
use plan::{Engine, EngineOptions};
use std::io;
use std::time::{Duration, Instant};

/// Maximum wait for answers before the loop checks the time.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Time from an interrupt until I/O in flight is abandoned.
const INTERRUPT_GRACE: Duration = Duration::from_secs(1);

/// A ring over a [`Store`].
pub struct StoreRing {
    store: Box<dyn Store>,
    slots: Slots,
    /// Whether each slot has an I/O in flight.
    in_flight: Vec<bool>,
    /// I/Os started since the last `submit`.
    started: u32,
    ended: Vec<Ended>,
    done: Vec<Completion>,
    limit: WaitLimit,
    abandon_at: Option<Instant>,
    /// Why the connection is lost; what is in flight then ends with an error.
    lost: Option<String>,
}

impl Ring for StoreRing {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let names: Vec<String> = setup.files.iter().map(|file| file.path.clone()).collect();
        let rw = setup.worker.pattern.rw;
        let is_mixed = rw.reads() && rw.writes();
        let length = |file: &RingFile| u64::from(is_mixed) * (file.start + file.length);
        let lengths: Vec<u64> = setup.files.iter().map(length).collect();
        let store = stores::open(&StoreSetup {
            engine: setup.worker.queue.engine,
            options: setup.options,
            names: &names,
            depth: setup.depth,
            block_bytes: setup.worker.max_buffer(),
            writes: setup.io.writes || rw.trims(),
            lengths: &lengths,
        })
        .map_err(io::Error::other)?;
        Ok(StoreRing {
            store,
            slots: setup.buffers.slots(),
            in_flight: vec![false; setup.depth.max(1) as usize],
            started: 0,
            ended: Vec::with_capacity(setup.depth as usize),
            done: Vec::with_capacity(setup.depth as usize),
            limit: WaitLimit::default(),
            abandon_at: None,
            lost: None,
        })
    }

    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.limit = limit.clone();
        Ok(())
    }

    fn end(&mut self) -> Vec<String> {
        let mut notes = self.store.end();
        notes.extend(self.lost.take());
        notes
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        if self.lost.is_some() {
            return Queued::Done(-i64::from(libc::ENOTCONN));
        }
        if op.kind == OpKind::Stat {
            return Queued::Done(-i64::from(libc::EOPNOTSUPP));
        }
        let Op { kind, file, offset, length, .. } = *op;
        let io = StoreIo { slot, kind, file, offset, length, buffer: self.slots.slot(slot) };
        // SAFETY: the slot's buffer is as long as the largest block and belongs to this I/O until its
        // completion was taken (contract of `Ring`). The ring ends before its buffers: `drop` waits
        // for what the store cannot abandon.
        match unsafe { self.store.start(&io) } {
            Ok(()) => {
                self.in_flight[slot as usize] = true;
                self.started += 1;
                Queued::Pending
            }
            Err(result) => Queued::Done(result),
        }
    }

    fn submit(&mut self) -> io::Result<u32> {
        self.store.flush();
        Ok(std::mem::take(&mut self.started))
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.done.clear();
        let wait = timeout.map_or(CHECK_INTERVAL, |timeout| timeout.min(CHECK_INTERVAL));
        let deadline = Instant::now() + wait;
        loop {
            self.take_ended(max);
            let left = deadline.saturating_duration_since(Instant::now());
            if self.done.len() >= min.min(max) as usize && !self.done.is_empty()
                || self.done.len() == max as usize
            {
                break;
            }
            self.poll(if min == 0 { Duration::ZERO } else { left });
            self.take_ended(max);
            if left.is_zero() || min == 0 || self.lost.is_some() {
                break;
            }
        }
        Ok(self.done.len() as u32)
    }

    #[inline]
    fn completion(&self, index: u32) -> Completion {
        self.done[index as usize]
    }
}

impl StoreRing {
    /// Moves I/Os that ended to the completions, `max` of them at most.
    fn take_ended(&mut self, max: u32) {
        let room = (max as usize).saturating_sub(self.done.len()).min(self.ended.len());
        for (slot, result) in self.ended.drain(..room) {
            self.in_flight[slot as usize] = false;
            self.done.push(Completion { slot, result });
        }
    }

    fn poll(&mut self, wait: Duration) {
        if self.lost.is_some() {
            return;
        }
        let polled = self.store.poll(wait, &mut self.ended);
        match polled {
            Err(why) => self.lose(why, libc::ENOTCONN),
            Ok(()) if self.must_abandon() => {
                self.lose(
                    "I/O in flight was abandoned after the interrupt".to_owned(),
                    libc::ECANCELED,
                );
            }
            Ok(()) => {}
        }
    }

    /// Ends everything in flight.
    fn lose(&mut self, why: String, errno: i32) {
        for slot in 0..self.in_flight.len() as u32 {
            let is_known = self.ended.iter().any(|ended| ended.0 == slot);
            if self.in_flight[slot as usize] && !is_known {
                self.ended.push((slot, -i64::from(errno)));
            }
        }
        self.lost = Some(why);
    }

    /// Whether the user has interrupted the run and the store does not answer.
    fn must_abandon(&mut self) -> bool {
        if !self.limit.is_interrupted() || !self.store.can_abandon() {
            return false;
        }
        let at = *self.abandon_at.get_or_insert_with(|| Instant::now() + INTERRUPT_GRACE);
        Instant::now() >= at
    }
}

impl Drop for StoreRing {
    /// Waits for I/O whose library would write to buffers that are gone.
    fn drop(&mut self) {
        while !self.store.can_abandon() && self.in_flight.contains(&true) {
            self.poll(CHECK_INTERVAL);
            self.take_ended(u32::MAX);
            self.done.clear();
        }
    }
}

/// What a job's files hold, asked of the store.
///
/// # Errors
/// One line about what cannot be reached, and why.
pub fn store_sizes(
    engine: Engine,
    options: &EngineOptions,
    names: &[String],
) -> Result<Vec<Option<u64>>, String> {
    stores::sizes(&StoreSetup {
        engine,
        options,
        names,
        depth: 1,
        block_bytes: 0,
        writes: false,
        lengths: &[],
    })
}
