//! Objects of a store reached over HTTP: the `http` engine.
//!
//! Each I/O is a request on a connection of its own; the worker's thread moves all of them along
//! when it starts an I/O or waits for one. The requests are counted here, below the I/O, for only
//! here their kinds, statuses and times are known.

mod errno;
mod lists;
mod numbered;
mod object;
mod request;
mod stats;
mod store;
#[cfg(test)]
mod tests;
mod uploads;

use super::{Completion, IoTimes, Queued, Ring, RingSetup, WaitLimit};
use crate::clock::{Clock, RunClock};
use crate::files::FileError;
use crate::hot::op::Op;
use crate::sys::buffers::Slots;
use crate::sys::memory::keep_freed;
use errno::errno;
use lists::Lists;
use objects::{Action, Client, Contents, Outcome, Request, Verb};
use plan::ReadUse;
use record::Exchange;
use request::RequestBuilder;
use stats::RequestStats;
use std::cell::Cell;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;
use uploads::{Ask, Uploads};

pub use store::store as object_store;

/// One who waits for answers looks this often at the time.
const LOOK: Duration = Duration::from_millis(100);

/// How long answers are waited for once the run was ended by its user. Where an upload is given up
/// then, the server has as long again to take note of it.
const GRACE_NS: u64 = 1_000_000_000;

/// The `http` engine.
pub struct Http {
    client: Client<Box<dyn Fn() -> u64>>,
    memory: Memory,
    asking: RequestBuilder,
    /// What each slot asks for: the object, and the bytes its I/O counts.
    asked: Vec<Asked>,
    /// Started since the last `submit`.
    started: u32,
    /// The I/Os that the last `reap` found done.
    done: Vec<Done>,
    /// The requests that it found over; counted once the loop has looked at the time, which may begin
    /// the window, and has read what is done.
    over: Vec<Over>,
    /// Whether the loop has read all that is done.
    is_read: Cell<bool>,
    /// Where objects are put in parts.
    uploads: Option<Uploads>,
    /// What of them is to be asked next.
    asks: Vec<Ask>,
    lists: Lists,
    ledger: RequestStats,
    clock: RunClock,
    /// When the run's user ends it.
    limit: WaitLimit,
    /// When what is in flight is given up.
    gives_up_at: Option<u64>,
}

#[derive(Clone, Default)]
struct Asked {
    path: String,
    length: u64,
    /// It is several requests; when the first of them was begun, once that is over.
    is_upload: bool,
    begun: Option<u64>,
}

/// An I/O that is done.
#[derive(Clone, Copy)]
struct Done {
    completion: Completion,
    moments: IoTimes,
}

/// A request that is over, and the keys that it brought.
struct Over {
    outcome: Outcome,
    keys: u64,
}

/// The buffers of the slots.
struct Memory {
    slots: Slots,
    /// Slots of the client for each.
    width: u32,
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
        unsafe { std::slice::from_raw_parts(self.slots.slot(slot / self.width), self.size) }
    }

    fn room(&mut self, slot: u32) -> Option<&mut [u8]> {
        // SAFETY: as above; `&mut self` keeps other slices of it away.
        self.keeps.then(|| unsafe {
            std::slice::from_raw_parts_mut(self.slots.slot(slot / self.width), self.size)
        })
    }
}

impl Http {
    /// Counts what the last `reap` brought.
    fn settle(&mut self) {
        for Over { outcome, keys } in self.over.drain(..) {
            let slot = outcome.slot / self.memory.width;
            self.ledger.count(&outcome, keys, &self.asked[slot as usize].path);
        }
    }

    /// The same, if the loop has counted it.
    fn settle_read(&mut self) {
        if self.is_read.get() {
            self.settle();
        }
    }

    /// Takes a request that is over: its I/O is done, or there is more to ask.
    fn take(&mut self, mut outcome: Outcome) {
        let slot = outcome.slot / self.memory.width;
        let keys = self.lists.ended(slot, &mut outcome);
        let asked = &mut self.asked[slot as usize];
        let issued = *asked.begun.get_or_insert(outcome.stamps.begun);
        let result = match &mut self.uploads {
            Some(uploads) if asked.is_upload => {
                uploads.ended(outcome.slot, &outcome.result, &mut self.asks)
            }
            _ => Some(outcome.result.as_ref().map(|_| ()).map_err(errno)),
        };
        if let Some(result) = result {
            let result = result.map_or_else(|errno| -i64::from(errno), |()| asked.length as i64);
            self.done.push(Done {
                completion: Completion { slot, result },
                moments: IoTimes { issued, ended: outcome.stamps.ended },
            });
        }
        self.over.push(Over { outcome, keys });
    }

    /// Gives up what is in flight, where the run was ended a while ago: a server may be silent for as
    /// long as its timeout allows.
    fn give_up_in_time(&mut self) {
        if !self.limit.is_interrupted() {
            return;
        }
        let now = self.clock.now();
        let at = self.gives_up_at.get_or_insert(now.saturating_add(GRACE_NS));
        if now >= *at {
            *at = now.saturating_add(GRACE_NS);
            self.client.give_up();
        }
    }

    /// Asks for what comes next of the uploads.
    fn ask(&mut self) {
        for Ask { slot, action, length } in self.asks.drain(..) {
            let path = &self.asked[(slot / self.memory.width) as usize].path;
            self.client.start(slot, &Request { action, path, length }, &mut self.memory);
        }
    }
}

impl Ring for Http {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        keep_freed();
        let worker = setup.worker;
        let planned = worker.objects.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let store = Arc::new(store::store(planned));
        let ledger = RequestStats::new(&store, planned.kind.name());
        let max_keys = worker.numbered.as_ref().map_or(0, |set| set.max_keys);
        let lists = Lists::new(setup.depth, store.protocol, max_keys);
        let clock = setup.io.clock;
        let uploads = uploads(setup);
        let width = uploads.as_ref().map_or(1, Uploads::width);
        let client =
            Client::open(store, setup.depth * width, Box::new(move || clock.now()) as Box<_>)
                .map_err(|failure| io::Error::other(failure.to_string()))?;
        Ok(Http {
            client,
            memory: Memory {
                slots: setup.buffers.slots(),
                width,
                size: worker.max_buffer() as usize,
                keeps: worker.verify.is_some() || worker.buffers.read_use != ReadUse::Nothing,
            },
            asking: RequestBuilder::new(setup),
            asked: vec![Asked::default(); setup.depth as usize],
            started: 0,
            done: Vec::with_capacity(setup.depth as usize),
            over: Vec::with_capacity((setup.depth * width) as usize),
            is_read: Cell::new(false),
            uploads,
            asks: Vec::new(),
            lists,
            ledger,
            clock,
            limit: WaitLimit::default(),
            gives_up_at: None,
        })
    }

    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.limit = limit.clone();
        Ok(())
    }

    fn end(&mut self) -> Vec<String> {
        self.settle();
        self.ledger.notes()
    }

    fn file_changed(&mut self, _: u32, _: RawFd) -> io::Result<()> {
        Ok(())
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        self.settle();
        let asked = &mut self.asked[slot as usize];
        let Some((action, moved)) = self.asking.request(op, &mut asked.path) else {
            return Queued::Done(-i64::from(libc::EINVAL));
        };
        asked.length = op.length;
        asked.begun = None;
        asked.is_upload = self.uploads.is_some() && action == Action::Put;
        let ask = match &mut self.uploads {
            Some(uploads) if asked.is_upload => uploads.begin(slot, op.length),
            _ => {
                let lists = action.verb() == Verb::List;
                let action = if lists { self.lists.page(slot) } else { action };
                Ask { slot: slot * self.memory.width, action, length: moved }
            }
        };
        let request = Request { action: ask.action, path: &asked.path, length: ask.length };
        self.client.start(ask.slot, &request, &mut self.memory);
        self.started += 1;
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        Ok(std::mem::take(&mut self.started))
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.settle();
        self.done.clear();
        self.is_read.set(false);
        self.give_up_in_time();
        // A server that is silent must not keep the loop from looking at the time.
        let patience = timeout.map_or(LOOK, |timeout| timeout.min(LOOK));
        self.client.progress(min.min(max), Some(patience), &mut self.memory)?;
        while self.done.len() < max as usize
            && let Some(outcome) = self.client.next_outcome()
        {
            self.take(outcome);
        }
        self.ask();
        Ok(self.done.len() as u32)
    }

    fn completion(&self, index: u32) -> Completion {
        self.is_read.set(index as usize + 1 == self.done.len());
        self.done[index as usize].completion
    }

    fn io_times(&self, index: u32) -> Option<IoTimes> {
        Some(self.done[index as usize].moments)
    }

    fn window_begins(&mut self, now: u64) {
        self.settle_read();
        self.ledger.restart(now, self.client.connections_made());
    }

    fn exchange(&mut self) -> Option<Exchange> {
        self.settle();
        self.exchange_so_far()
    }

    fn exchange_so_far(&mut self) -> Option<Exchange> {
        self.settle_read();
        Some(self.ledger.exchange(self.client.connections_made()))
    }
}

/// The uploads of a worker that puts objects in parts.
fn uploads(setup: &RingSetup<'_>) -> Option<Uploads> {
    let set = setup.worker.numbered.as_ref()?;
    Some(Uploads::new(setup.depth, set.part_concurrent, set.part_size?))
}
