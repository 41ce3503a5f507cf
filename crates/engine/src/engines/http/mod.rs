//! The `http` engine: objects of a store reached over HTTP.
//!
//! Each I/O is a request on its own connection. The worker's thread drives all connections when it
//! starts an I/O or waits for one. Requests are counted here because only this level knows their
//! kinds, statuses and times.

mod errno;
mod listings;
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
use listings::Listings;
use objects::{Action, Client, Contents, Outcome, Request, Verb};
use plan::ReadUse;
use record::Exchange;
use request::RequestBuilder;
use stats::RequestStats;
use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use uploads::{UploadRequest, Uploads};

pub use store::store as object_store;

/// Maximum wait for answers before the loop checks the time.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Time from an interrupt until requests in flight are abandoned. The requests that abort uploads then
/// get the same time again.
const INTERRUPT_GRACE_NS: u64 = 1_000_000_000;

/// The `http` engine.
pub struct Http {
    client: Client<Box<dyn Fn() -> u64>>,
    memory: Memory,
    requests: RequestBuilder,
    /// The request of each slot.
    slots: Vec<SlotRequest>,
    /// Requests started since the last `submit`.
    started: u32,
    /// The I/Os that the last `reap` returned.
    done: Vec<EndedIo>,
    /// The requests that ended in the last `reap`. They are counted after the loop has read the I/Os and
    /// the time, because that may begin the window.
    ended_requests: Vec<EndedRequest>,
    /// Whether the loop has read all of `done`.
    completions_are_read: Cell<bool>,
    /// Set if objects are put in parts.
    uploads: Option<Uploads>,
    /// The next requests of uploads.
    upload_requests: Vec<UploadRequest>,
    listings: Listings,
    stats: RequestStats,
    clock: RunClock,
    limit: WaitLimit,
    /// When to abandon the requests in flight.
    abandon_at: Option<u64>,
}

/// What a slot requests for its I/O.
#[derive(Clone, Default)]
struct SlotRequest {
    path: String,
    /// Bytes that the I/O counts.
    length: u64,
    /// Whether the I/O consists of several requests.
    is_upload: bool,
    /// Start of the first request, once that has ended.
    begun: Option<u64>,
}

/// An I/O that ended, with its times.
#[derive(Clone, Copy)]
struct EndedIo {
    completion: Completion,
    times: IoTimes,
}

/// A request that ended, and the number of keys in its answer.
struct EndedRequest {
    outcome: Outcome,
    keys: u64,
}

/// The buffers of the slots.
struct Memory {
    slots: Slots,
    /// Client slots per slot.
    width: u32,
    /// Bytes per slot.
    size: usize,
    /// Whether received data is used.
    keeps_received: bool,
}

impl Contents for Memory {
    fn content(&self, slot: u32) -> &[u8] {
        // SAFETY: the buffer is as long as the largest block, initialised, and belongs to the
        // slot's I/O until its completion was taken (contract of `Ring`); until then nothing writes
        // to data being sent.
        unsafe { std::slice::from_raw_parts(self.slots.slot(slot / self.width), self.size) }
    }

    fn room(&mut self, slot: u32) -> Option<&mut [u8]> {
        // SAFETY: as above; `&mut self` excludes other slices of it.
        self.keeps_received.then(|| unsafe {
            std::slice::from_raw_parts_mut(self.slots.slot(slot / self.width), self.size)
        })
    }
}

impl Http {
    /// Counts the requests that ended in the last `reap`.
    fn count_ended(&mut self) {
        for EndedRequest { outcome, keys } in self.ended_requests.drain(..) {
            let slot = outcome.slot / self.memory.width;
            self.stats.count(&outcome, keys, &self.slots[slot as usize].path);
        }
    }

    /// Counts the ended requests if the loop has read all completions.
    fn count_if_read(&mut self) {
        if self.completions_are_read.get() {
            self.count_ended();
        }
    }

    /// Handles the end of a request: its I/O has ended, or more requests follow.
    fn handle_outcome(&mut self, mut outcome: Outcome) {
        let slot = outcome.slot / self.memory.width;
        let keys = self.listings.request_ended(slot, &mut outcome);
        let slot_request = &mut self.slots[slot as usize];
        let issued = *slot_request.begun.get_or_insert(outcome.stamps.begun);
        let result = match &mut self.uploads {
            Some(uploads) if slot_request.is_upload => {
                uploads.request_ended(outcome.slot, &outcome.result, &mut self.upload_requests)
            }
            _ => Some(outcome.result.as_ref().map(|_| ()).map_err(errno)),
        };
        if let Some(result) = result {
            let result =
                result.map_or_else(|errno| -i64::from(errno), |()| slot_request.length as i64);
            self.done.push(EndedIo {
                completion: Completion { slot, result },
                times: IoTimes { issued, ended: outcome.stamps.ended },
            });
        }
        self.ended_requests.push(EndedRequest { outcome, keys });
    }

    /// Abandons the requests in flight some time after an interrupt. Without this, a silent server would
    /// delay the end by its timeout.
    fn abandon_after_grace(&mut self) {
        if !self.limit.is_interrupted() {
            return;
        }
        let now = self.clock.now();
        let at = self.abandon_at.get_or_insert(now.saturating_add(INTERRUPT_GRACE_NS));
        if now >= *at {
            *at = now.saturating_add(INTERRUPT_GRACE_NS);
            self.client.give_up();
        }
    }

    /// Sends the next requests of uploads.
    fn send_upload_requests(&mut self) {
        for UploadRequest { slot, action, length } in self.upload_requests.drain(..) {
            let path = &self.slots[(slot / self.memory.width) as usize].path;
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
        let stats = RequestStats::new(&store, planned.kind.name());
        let max_keys = worker.numbered.as_ref().map_or(0, |set| set.max_keys);
        let listings = Listings::new(setup.depth, store.protocol, max_keys);
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
                keeps_received: worker.verify.is_some()
                    || worker.buffers.read_use != ReadUse::Nothing,
            },
            requests: RequestBuilder::new(setup),
            slots: vec![SlotRequest::default(); setup.depth as usize],
            started: 0,
            done: Vec::with_capacity(setup.depth as usize),
            ended_requests: Vec::with_capacity((setup.depth * width) as usize),
            completions_are_read: Cell::new(false),
            uploads,
            upload_requests: Vec::new(),
            listings,
            stats,
            clock,
            limit: WaitLimit::default(),
            abandon_at: None,
        })
    }

    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.limit = limit.clone();
        Ok(())
    }

    fn end(&mut self) -> Vec<String> {
        self.count_ended();
        self.stats.notes()
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        self.count_ended();
        let slot_request = &mut self.slots[slot as usize];
        let Some((action, moved)) = self.requests.request(op, &mut slot_request.path) else {
            return Queued::Done(-i64::from(libc::EINVAL));
        };
        slot_request.length = op.length;
        slot_request.begun = None;
        slot_request.is_upload = self.uploads.is_some() && action == Action::Put;
        let first = match &mut self.uploads {
            Some(uploads) if slot_request.is_upload => uploads.begin(slot, op.length),
            _ => {
                let lists = action.verb() == Verb::List;
                let action = if lists { self.listings.page(slot) } else { action };
                UploadRequest { slot: slot * self.memory.width, action, length: moved }
            }
        };
        let request =
            Request { action: first.action, path: &slot_request.path, length: first.length };
        self.client.start(first.slot, &request, &mut self.memory);
        self.started += 1;
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        Ok(std::mem::take(&mut self.started))
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.count_ended();
        self.done.clear();
        self.completions_are_read.set(false);
        self.abandon_after_grace();
        // A silent server must not keep the loop from checking the time.
        let wait = timeout.map_or(CHECK_INTERVAL, |timeout| timeout.min(CHECK_INTERVAL));
        self.client.progress(min.min(max), Some(wait), &mut self.memory)?;
        while self.done.len() < max as usize
            && let Some(outcome) = self.client.next_outcome()
        {
            self.handle_outcome(outcome);
        }
        self.send_upload_requests();
        Ok(self.done.len() as u32)
    }

    fn completion(&self, index: u32) -> Completion {
        self.completions_are_read.set(index as usize + 1 == self.done.len());
        self.done[index as usize].completion
    }

    fn io_times(&self, index: u32) -> Option<IoTimes> {
        Some(self.done[index as usize].times)
    }

    fn window_begins(&mut self, now: u64) {
        self.count_if_read();
        self.stats.restart(now, self.client.connections_made());
    }

    fn exchange(&mut self) -> Option<Exchange> {
        self.count_ended();
        self.exchange_so_far()
    }

    fn exchange_so_far(&mut self) -> Option<Exchange> {
        self.count_if_read();
        Some(self.stats.exchange(self.client.connections_made()))
    }
}

/// The uploads of a worker, if it puts objects in parts.
fn uploads(setup: &RingSetup<'_>) -> Option<Uploads> {
    let set = setup.worker.numbered.as_ref()?;
    Some(Uploads::new(setup.depth, set.part_concurrent, set.part_size?))
}
