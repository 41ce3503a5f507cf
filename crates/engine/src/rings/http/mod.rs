//! Objects of a store reached over HTTP: the `http` engine.
//!
//! Each I/O is a request on a connection of its own; the worker's thread moves all of them along
//! when it starts an I/O or waits for one. The requests are counted here, below the I/O, for only
//! here their kinds, statuses and times are known.

mod ask;
mod ledger;
mod store;
#[cfg(test)]
mod tests;

use super::{Completion, Moments, Queued, Ring, Setup};
use crate::clock::Clock;
use crate::ops::Op;
use crate::sys::buffers::Slots;
use ask::{Asking, errno};
use ledger::Ledger;
use objects::{Client, Contents, Outcome, Request};
use record::Exchange;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

/// One who waits for answers looks this often at the time.
const LOOK: Duration = Duration::from_millis(100);

/// The `http` engine.
pub struct Http {
    client: Client<Box<dyn Fn() -> u64>>,
    memory: Memory,
    asking: Asking,
    /// What each slot asks for: the object, and the bytes its I/O counts.
    asked: Vec<Asked>,
    /// Started since the last `submit`.
    started: u32,
    /// What the last `reap` brought; counted once the loop has looked at the time, which may begin
    /// the window.
    done: Vec<Outcome>,
    ledger: Ledger,
}

#[derive(Clone, Default)]
struct Asked {
    path: String,
    length: u64,
}

/// The buffers of the slots.
struct Memory {
    slots: Slots,
    /// Bytes of each.
    size: usize,
    /// Somebody looks at what is received.
    keeps: bool,
}

impl Contents for Memory {
    fn content(&self, slot: u32) -> &[u8] {
        // SAFETY: the buffer is as long as the largest block, initialised, and belongs to the
        // slot's I/O until its completion was taken (contract of `Ring`); until then nothing writes
        // to what is sent.
        unsafe { std::slice::from_raw_parts(self.slots.slot(slot), self.size) }
    }

    fn room(&mut self, slot: u32) -> Option<&mut [u8]> {
        // SAFETY: as above; `&mut self` keeps other slices of it away.
        self.keeps
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.slots.slot(slot), self.size) })
    }
}

impl Http {
    /// Counts what the last `reap` brought.
    fn settle(&mut self) {
        for outcome in self.done.drain(..) {
            self.ledger.count(&outcome, &self.asked[outcome.slot as usize].path);
        }
    }
}

impl Ring for Http {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &Setup<'_>) -> io::Result<Self> {
        let worker = setup.worker;
        let planned = worker.objects.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let store = Arc::new(store::store(planned));
        let ledger = Ledger::new(&store, store::protocol(planned));
        let clock = setup.clock;
        let client = Client::open(store, setup.depth, Box::new(move || clock.now()) as Box<_>)
            .map_err(|failure| io::Error::other(failure.to_string()))?;
        Ok(Http {
            client,
            memory: Memory {
                slots: setup.buffers.slots(),
                size: worker.max_buffer() as usize,
                keeps: worker.verify.is_some(),
            },
            asking: Asking::new(setup),
            asked: vec![Asked::default(); setup.depth as usize],
            started: 0,
            done: Vec::with_capacity(setup.depth as usize),
            ledger,
        })
    }

    fn end(&mut self) -> Vec<String> {
        self.settle();
        self.ledger.failures().to_vec()
    }

    fn file_changed(&mut self, _: u32, _: RawFd) -> io::Result<()> {
        Ok(())
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        self.settle();
        let Asked { path, length } = &mut self.asked[slot as usize];
        *length = op.length;
        let Some((action, moved)) = self.asking.request(op, path) else {
            return Queued::Done(-i64::from(libc::EINVAL));
        };
        let request = Request { action, path, length: moved };
        self.client.start(slot, &request, &mut self.memory);
        self.started += 1;
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        Ok(std::mem::take(&mut self.started))
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.settle();
        // A server that is silent must not keep the loop from looking at the time.
        let patience = timeout.map_or(LOOK, |timeout| timeout.min(LOOK));
        self.client.progress(min.min(max), Some(patience), &mut self.memory)?;
        while self.done.len() < max as usize
            && let Some(outcome) = self.client.next_outcome()
        {
            self.done.push(outcome);
        }
        Ok(self.done.len() as u32)
    }

    fn completion(&self, index: u32) -> Completion {
        let outcome = &self.done[index as usize];
        let result = match &outcome.result {
            Ok(_) => self.asked[outcome.slot as usize].length as i64,
            Err(failure) => -i64::from(errno(failure)),
        };
        Completion { slot: outcome.slot, result }
    }

    fn moments(&self, index: u32) -> Option<Moments> {
        let stamps = &self.done[index as usize].stamps;
        Some(Moments { issued: stamps.begun, ended: stamps.ended })
    }

    fn window_begins(&mut self, now: u64) {
        self.ledger.restart(now, self.client.connections_made());
    }

    fn exchange(&mut self) -> Option<Exchange> {
        self.settle();
        Some(self.ledger.close(self.client.connections_made()))
    }
}
