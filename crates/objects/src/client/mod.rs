//! The connections of one thread to a store.
//!
//! A request waits for a connection and is sent as soon as the connection is open. Its answer is
//! parsed as it arrives. `drive` has the steps of connections, `exchange` the steps of requests.
//! Sockets are awaited with epoll, each registered once and edge-triggered; deadlines with
//! [`Timers`].

mod drive;
mod exchange;
mod pool;
mod slot;
mod talk;
mod timers;
mod verdict;

#[cfg(test)]
mod tests;

use crate::sign::Signer;
use crate::wire::tls::Tls;
use crate::{Endpoint, Failure, Outcome, Request, Store};
use pool::Pool;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use slot::{At, Slot};
use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use timers::{Timer, Timers};

/// Size of the buffer for content that is dropped. It fits into the CPU's cache.
const HOT_BYTES: usize = 256 << 10;
/// Most events of one call of epoll.
const EVENTS_MAX: usize = 256;
/// For shorter waits, in nanoseconds, the milliseconds of epoll are too coarse.
const COARSE_NS: u64 = 2_000_000;

/// The content of slots; the client never keeps a reference between calls.
pub trait Contents {
    /// The content of the slot, which PUTs and parts send.
    fn content(&self, slot: u32) -> &[u8];
    /// The buffer for the bytes of a GET; `None`: they are received, counted and dropped.
    fn room(&mut self, slot: u32) -> Option<&mut [u8]>;
}

/// The connections of one thread to a store: non-blocking, HTTP/1.1 with keep-alive, no threads.
/// `C` is the clock, in nanoseconds.
pub struct Client<C> {
    store: Arc<Store>,
    places: Vec<Place>,
    tls: Option<Tls>,
    signer: Signer,
    clock: C,
    poller: OwnedFd,
    events: Vec<epoll::Event>,
    pool: Pool,
    slots: Vec<Slot>,
    /// Slots whose requests wait for a connection, in order.
    waiting: VecDeque<u32>,
    timers: Timers,
    outcomes: VecDeque<Outcome>,
    /// Requests without an outcome.
    active: u32,
    hot: Box<[u8]>,
    /// Time in nanoseconds after which a connection without traffic fails.
    timeout_ns: u64,
    connections_made: u64,
    /// The failure of a connection that was opened without a request.
    unasked: Option<Failure>,
}

/// An endpoint and its addresses; the one that worked last is tried first.
struct Place {
    endpoint: Endpoint,
    addresses: Vec<SocketAddr>,
    good: usize,
}

/// No content: requests neither send nor keep any.
pub struct NoContents;

impl Contents for NoContents {
    fn content(&self, _: u32) -> &[u8] {
        &[]
    }

    fn room(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

impl<C: Fn() -> u64> Client<C> {
    /// A client of `store` with at most `most` connections. It opens none yet, but looks up the
    /// addresses of the hosts, which may take time, and reads the trusted certificates.
    ///
    /// # Errors
    /// A host has no address, certificates cannot be read, or the system refuses an epoll instance.
    pub fn open(store: Arc<Store>, most: u32, clock: C) -> Result<Client<C>, Failure> {
        let places = store.endpoints.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        if places.is_empty() {
            return Err(Failure::Refused("the store has no endpoint: name its host".into()));
        }
        let poller = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| Failure::Connect(errno.raw_os_error()))?;
        let timeout = u64::try_from(store.timeout.as_nanos()).unwrap_or(u64::MAX);
        Ok(Client {
            places,
            tls: Tls::for_store(&store)?,
            signer: Signer::new(&store)?,
            clock,
            poller,
            events: Vec::with_capacity(EVENTS_MAX),
            pool: Pool::new(most.max(1)),
            slots: Vec::new(),
            waiting: VecDeque::new(),
            timers: Timers::default(),
            outcomes: VecDeque::new(),
            active: 0,
            hot: vec![0; HOT_BYTES].into_boxed_slice(),
            timeout_ns: timeout,
            connections_made: 0,
            unasked: None,
            store,
        })
    }

    /// Opens connections until there are `count`, including their TLS handshakes, so that the first
    /// requests need not wait for them. Does nothing while requests are active.
    ///
    /// # Errors
    /// A connection could not be opened within `patience`; open connections are kept.
    pub fn connect(&mut self, count: u32, patience: Duration) -> Result<(), Failure> {
        if self.active > 0 {
            return Ok(());
        }
        let until = (self.clock)().saturating_add(nanos(patience));
        let count = (count as usize).min(self.pool.most());
        let mut result = Ok(());
        while result.is_ok() && self.pool.len() < count {
            result = self.open_connection(None, (self.clock)()).map(|_| ());
        }
        self.unasked = None;
        while result.is_ok() && !self.pool.unfinished().is_empty() {
            let now = (self.clock)();
            self.expire(now);
            result = match self.unasked.take() {
                Some(failure) => Err(failure),
                None if now >= until => Err(Failure::Timeout),
                None => self
                    .turn(Some(until - now), &mut NoContents)
                    .map_err(|error| Failure::Connect(error.raw_os_error().unwrap_or(libc::EIO))),
            };
        }
        result = self.unasked.take().map_or(result, Err);
        if result.is_err() {
            for index in self.pool.unfinished() {
                self.pool.remove(index);
            }
        }
        result
    }

    /// Starts a request and sends as much as the socket accepts. A slot has one request at a time;
    /// an earlier one is dropped.
    pub fn start(&mut self, slot: u32, request: &Request<'_>, contents: &mut impl Contents) {
        let now = (self.clock)();
        let at = slot as usize;
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, Slot::default);
        }
        if self.slots[at].at != At::Nowhere {
            self.drop_request(slot);
        }
        self.slots[at].begin(request, now);
        self.active += 1;
        self.waiting.push_back(slot);
        self.place(now, contents);
    }

    /// Sends and receives until there are at least `min` outcomes, no request is active, or
    /// `timeout` has passed; `None`: until requests end by their own timeouts. Returns the number
    /// of outcomes.
    ///
    /// # Errors
    /// The system cannot wait for sockets.
    pub fn progress(
        &mut self,
        min: u32,
        timeout: Option<Duration>,
        contents: &mut impl Contents,
    ) -> io::Result<u32> {
        let mut now = (self.clock)();
        let until = timeout.map(|timeout| now.saturating_add(nanos(timeout)));
        let mut looked = false;
        loop {
            self.expire(now);
            self.place(now, contents);
            let there = self.outcomes.len() as u32;
            let enough = there >= min && (looked || min > 0);
            let late = looked && until.is_some_and(|until| now >= until);
            if enough || late || self.active == 0 {
                return Ok(there);
            }
            let patience = until.map(|until| until.saturating_sub(now));
            self.turn(if min == 0 { Some(0) } else { patience }, contents)?;
            looked = true;
            now = (self.clock)();
        }
    }

    /// Removes and returns the oldest outcome.
    pub fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// Removes and returns the outcomes, oldest first.
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome> + '_ {
        self.outcomes.drain(..)
    }

    /// Drops a slot's request. Its connection is closed, and there is no outcome.
    pub fn drop_request(&mut self, slot: u32) {
        if self.take_off(slot) {
            self.active -= 1;
        } else {
            self.outcomes.retain(|outcome| outcome.slot != slot);
        }
    }

    /// Ends every active request with [`Failure::GivenUp`] and closes their connections.
    pub fn give_up(&mut self) {
        let now = (self.clock)();
        for slot in 0..self.slots.len() as u32 {
            if self.take_off(slot) {
                let failed = self.slots[slot as usize].failed.take();
                self.end(slot, Err(failed.unwrap_or(Failure::GivenUp)), now);
            }
        }
    }

    /// Removes a slot's request from its queue or connection. Returns whether it was active.
    fn take_off(&mut self, slot: u32) -> bool {
        let Some(own) = self.slots.get_mut(slot as usize) else { return false };
        let at = std::mem::take(&mut own.at);
        own.turn = own.turn.wrapping_add(1);
        match at {
            At::Nowhere => return false,
            At::Waiting => self.waiting.retain(|waiting| *waiting != slot),
            At::On(index) => drop(self.pool.remove(index)),
            At::Paused => {}
        }
        true
    }

    /// Number of connections opened so far.
    pub fn connections_made(&self) -> u64 {
        self.connections_made
    }

    /// Waits for sockets, at most `patience` nanoseconds or until a timer is due, and handles their
    /// events.
    fn turn(&mut self, patience: Option<u64>, contents: &mut impl Contents) -> io::Result<()> {
        let timer = self.timers.next().map(|due| due.saturating_sub((self.clock)()));
        let wait = match (patience, timer) {
            (Some(patience), Some(timer)) => Some(patience.min(timer)),
            (one, other) => one.or(other),
        };
        let mut events = std::mem::take(&mut self.events);
        let result = self.wait_for_events(wait, &mut events);
        let now = (self.clock)();
        let mut first = true;
        for event in events.drain(..) {
            let data = event.data.u64();
            // Each answer gets its own time stamp.
            let now = if first { now } else { (self.clock)() };
            first = false;
            self.on_event(data as u32, (data >> 32) as u32, event.flags, now, contents);
        }
        self.events = events;
        result
    }

    fn wait_for_events(&self, wait: Option<u64>, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        let timespec = |ns: u64| Timespec {
            tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (ns % 1_000_000_000) as _,
        };
        let mut wait = wait;
        if let Some(ns @ 1..COARSE_NS) = wait {
            let mut fds = [PollFd::new(&self.poller, PollFlags::IN)];
            if poll(&mut fds, Some(&timespec(ns))).is_ok_and(|ready| ready == 0) {
                return Ok(());
            }
            wait = Some(0);
        }
        // Whole milliseconds, rounded down; the rest is waited for exactly.
        let wait = wait.map(|ns| timespec(ns - ns % 1_000_000));
        match epoll::wait(&self.poller, spare_capacity(events), wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Handles timers that are due.
    fn expire(&mut self, now: u64) {
        while let Some(timer) = self.timers.take(now) {
            match timer {
                Timer::Connection { index, generation } => self.on_silence(index, generation, now),
                Timer::Pause { slot, turn } => {
                    let own = &mut self.slots[slot as usize];
                    if own.at != At::Paused || own.turn != turn {
                        continue;
                    }
                    match own.failed.take() {
                        Some(failure) => self.end(slot, Err(failure), now),
                        None => {
                            own.again();
                            self.waiting.push_back(slot);
                        }
                    }
                }
            }
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn place(endpoint: &Endpoint) -> Result<Place, Failure> {
    let host = endpoint.host.as_str();
    let addresses: Vec<SocketAddr> = (host, endpoint.port)
        .to_socket_addrs()
        .map_err(|error| Failure::NoSuchHost(format!("{host}: {error}")))?
        .collect();
    if addresses.is_empty() {
        return Err(Failure::NoSuchHost(host.into()));
    }
    Ok(Place { endpoint: endpoint.clone(), addresses, good: 0 })
}
