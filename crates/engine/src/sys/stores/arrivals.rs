//! A queue of completed I/Os, filled by callbacks of libraries.

use super::contract::{Ended, StoreIo};
use crate::hot::op::OpKind;
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// I/Os that ended and were not taken yet.
#[derive(Default)]
pub(super) struct Arrivals {
    ended: Mutex<Vec<Ended>>,
    more: Condvar,
}

impl Arrivals {
    pub fn add(&self, ended: Ended) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
        self.more.notify_one();
    }

    /// Moves all to `to`.
    pub fn take(&self, to: &mut Vec<Ended>) {
        to.append(&mut self.ended.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Moves all to `to`, after waiting for the first at most for `wait`.
    pub fn wait(&self, wait: Duration, to: &mut Vec<Ended>) {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.more.wait_timeout_while(ended, wait, |ended| ended.is_empty());
        to.append(&mut waited.unwrap_or_else(PoisonError::into_inner).0);
    }
}

/// What a callback gets: the I/O that a slot has in flight, and the functions of the library. Its
/// address does not change while the store lives.
pub(super) struct InFlight<F> {
    arrivals: Arc<Arrivals>,
    pub functions: Arc<F>,
    pub io: StoreIo,
}

impl<F> InFlight<F> {
    /// One for each slot.
    pub fn slots(depth: u32, arrivals: &Arc<Arrivals>, functions: &Arc<F>) -> Box<[Self]> {
        let io = |slot| StoreIo {
            slot,
            kind: OpKind::Fsync,
            file: 0,
            offset: 0,
            length: 0,
            buffer: std::ptr::null_mut(),
        };
        let slot = |slot| {
            let (arrivals, functions) = (Arc::clone(arrivals), Arc::clone(functions));
            InFlight { arrivals, functions, io: io(slot) }
        };
        (0..depth.max(1)).map(slot).collect()
    }

    /// Begins an I/O. Returns the pointer to pass to its callback.
    pub fn begin(&mut self, io: &StoreIo) -> *mut c_void {
        self.io = *io;
        (&raw mut *self).cast()
    }

    /// The I/O ended with this result.
    pub fn ended(&self, result: i64) {
        self.arrivals.add((self.io.slot, result));
    }

    /// The result of a successful I/O, for libraries that report no length: its length, or 0 for a sync.
    pub fn whole(&self) -> i64 {
        match self.io.kind.direction() {
            Some(_) => self.io.length as i64,
            None => 0,
        }
    }
}
