//! The life of a connection: requested, connected, encrypted, open, lost.

use super::pool::{Connection, Phase};
use super::slot::At;
use super::timers::Timer;
use super::{Client, Contents};
use crate::Failure;
use crate::wire::Stream;
use rustix::event::epoll::{self, EventData, EventFlags};

impl<C: Fn() -> u64> Client<C> {
    /// Assigns idle and new connections to waiting requests.
    pub(super) fn place(&mut self, now: u64, contents: &mut impl Contents) {
        while let Some(&slot) = self.waiting.front() {
            let opened = match self.take_idle_for(slot) {
                Some(index) => Ok(Some(index)),
                None => self.open_connection(Some(slot), now),
            };
            match opened {
                Ok(Some(index)) => {
                    self.waiting.pop_front();
                    self.assign(index, slot, now, contents);
                    // A connection that has broken already causes no more events.
                    let broken = |connection: &mut Connection| connection.broken.is_some();
                    if self.pool.get(index).is_some_and(broken) {
                        self.receive(index, now, contents);
                    }
                }
                Ok(None) => {
                    // A request that needs a new connection replaces an idle one.
                    match self.pool.take_idle() {
                        Some(index) => drop(self.pool.remove(index)),
                        None => return,
                    }
                }
                Err(failure) => {
                    self.waiting.pop_front();
                    self.fail(slot, failure, now);
                }
            }
        }
    }

    /// Takes an idle connection that a slot's request may use.
    fn take_idle_for(&mut self, slot: u32) -> Option<u32> {
        let own = &mut self.slots[slot as usize];
        if own.fresh {
            return None;
        }
        if self.tls.is_none() {
            return self.pool.take_idle();
        }
        let (pool, signer) = (&mut self.pool, &self.signer);
        own.request(|request| {
            pool.take_fit(|connection| {
                let bucket = signer.bucket_in_host(connection.endpoint, request);
                connection.bucket.as_deref() == bucket
            })
        })
    }

    /// Starts a connection, for the request of `slot` if there is one. `None` if the maximum number
    /// of connections exists.
    pub(super) fn open_connection(
        &mut self,
        slot: Option<u32>,
        now: u64,
    ) -> Result<Option<u32>, Failure> {
        let Some((index, generation)) = self.pool.reserve() else { return Ok(None) };
        let endpoint = index as usize % self.places.len();
        if let Some(slot) = slot {
            self.slots[slot as usize].endpoint = Some(endpoint);
        }
        let bucket = slot.and_then(|slot| {
            let signer = &self.signer;
            self.slots[slot as usize]
                .request(|request| signer.bucket_in_host(endpoint, request).map(str::to_owned))
        });
        let address = self.places[endpoint].good;
        let (stream, address, tried) = match self.dial(index, generation, endpoint, address, 0) {
            Ok(dialled) => dialled,
            Err(failure) => {
                self.pool.release(index);
                return Err(failure);
            }
        };
        self.pool.put(
            index,
            Connection {
                stream,
                generation,
                endpoint,
                address,
                tried,
                phase: Phase::Connecting,
                bucket,
                slot: None,
                served: 0,
                moved: now,
                traffic: 0,
                armed: false,
                connect_begin: now,
                agree_begin: 0,
                head: Vec::new(),
                content: 0..0,
                sent: 0,
                flushed: true,
                broken: None,
                reading: None,
            },
        );
        self.arm(index, now);
        Ok(Some(index))
    }

    /// Requests a connection to the addresses of an endpoint in turn, from `address` on, until one
    /// is not refused at once. Returns the stream, the index of its address and the number of tried
    /// addresses.
    fn dial(
        &self,
        index: u32,
        generation: u32,
        endpoint: usize,
        mut address: usize,
        mut tried: usize,
    ) -> Result<(Stream, usize, usize), Failure> {
        let addresses = &self.places[endpoint].addresses;
        loop {
            address %= addresses.len();
            tried += 1;
            let begun = Stream::connect(addresses[address]).and_then(|stream| {
                let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
                let data = EventData::new_u64(u64::from(generation) << 32 | u64::from(index));
                epoll::add(&self.poller, stream.socket(), data, flags)?;
                Ok(stream)
            });
            match begun {
                Ok(stream) => return Ok((stream, address, tried)),
                Err(_) if tried < addresses.len() => address += 1,
                Err(error) => {
                    return Err(Failure::Connect(error.raw_os_error().unwrap_or(libc::EIO)));
                }
            }
        }
    }

    /// Assigns a request to a connection.
    fn assign(&mut self, index: u32, slot: u32, now: u64, contents: &mut impl Contents) {
        let Some(connection) = self.pool.get(index) else { return };
        connection.slot = Some(slot);
        connection.moved = now;
        let open = connection.phase == Phase::Open;
        self.slots[slot as usize].at = At::On(index);
        self.slots[slot as usize].endpoint = Some(connection.endpoint);
        self.arm(index, now);
        if open {
            self.begin(index, contents);
        }
    }

    /// Starts the inactivity timer of a connection.
    fn arm(&mut self, index: u32, now: u64) {
        let Some(connection) = self.pool.get(index) else { return };
        if self.timeout_ns > 0 && !connection.armed {
            connection.armed = true;
            let generation = connection.generation;
            self.timers
                .add(now.saturating_add(self.timeout_ns), Timer::Connection { index, generation });
        }
    }

    /// Handles the inactivity timer of a connection.
    pub(super) fn on_silence(&mut self, index: u32, generation: u32, now: u64) {
        let timeout = self.timeout_ns;
        let Some(connection) = self.pool.same(index, generation) else { return };
        connection.armed = false;
        if connection.phase == Phase::Open && connection.slot.is_none() {
            return;
        }
        let due = connection.moved.saturating_add(timeout);
        if due > now {
            connection.armed = true;
            self.timers.add(due, Timer::Connection { index, generation });
        } else if connection.phase == Phase::Connecting {
            self.dial_next(index, Failure::Timeout, now);
        } else {
            self.lose(index, Failure::Timeout, now);
        }
    }

    /// Handles an event of a socket.
    pub(super) fn on_event(
        &mut self,
        index: u32,
        generation: u32,
        flags: EventFlags,
        now: u64,
        contents: &mut impl Contents,
    ) {
        let Some(connection) = self.pool.same(index, generation) else { return };
        let end = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
        let ends = flags.intersects(end);
        match connection.phase {
            Phase::Connecting => self.on_connected(index, now, contents),
            Phase::Agreeing => self.agree(index, now, contents),
            Phase::Open => {
                connection.stream.ending |= ends;
                connection.stream.readable |= ends || flags.intersects(EventFlags::IN);
                if connection.slot.is_none() {
                    self.check_idle(index);
                } else {
                    if !connection.flushed && flags.intersects(EventFlags::OUT) {
                        self.send(index, contents);
                    }
                    self.receive(index, now, contents);
                }
            }
        }
        if let Some(connection) = self.pool.same(index, generation)
            && connection.traffic != connection.stream.traffic
        {
            connection.traffic = connection.stream.traffic;
            connection.moved = now;
        }
    }

    fn on_connected(&mut self, index: u32, now: u64, contents: &mut impl Contents) {
        let Some(connection) = self.pool.get(index) else { return };
        if let Some(error) = connection.stream.error() {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            return self.dial_next(index, Failure::Connect(errno), now);
        }
        self.connections_made += 1;
        let place = &mut self.places[connection.endpoint];
        place.good = connection.address;
        connection.moved = now;
        if let Some(slot) = connection.slot {
            self.slots[slot as usize].stamps.connect = Some((connection.connect_begin, now));
        }
        let Some(tls) = &self.tls else { return self.on_open(index, contents) };
        connection.phase = Phase::Agreeing;
        connection.agree_begin = now;
        let host = &place.endpoint.host;
        let name = connection.bucket.as_ref().map(|bucket| format!("{bucket}.{host}"));
        match connection.stream.encrypt(tls, name.as_deref().unwrap_or(host)) {
            Ok(()) => self.agree(index, now, contents),
            Err(failure) => self.lose(index, failure, now),
        }
    }

    /// Tries the endpoint's next address after a failure.
    fn dial_next(&mut self, index: u32, failure: Failure, now: u64) {
        let Some(connection) = self.pool.get(index) else { return };
        let (endpoint, address) = (connection.endpoint, connection.address);
        let (generation, tried) = (connection.generation, connection.tried);
        if tried >= self.places[endpoint].addresses.len() {
            return self.lose(index, failure, now);
        }
        match self.dial(index, generation, endpoint, address + 1, tried) {
            Ok((stream, address, tried)) => {
                let Some(connection) = self.pool.get(index) else { return };
                connection.stream = stream;
                (connection.address, connection.tried) = (address, tried);
                connection.moved = now;
                connection.traffic = 0;
                self.arm(index, now);
            }
            Err(failure) => self.lose(index, failure, now),
        }
    }

    fn agree(&mut self, index: u32, now: u64, contents: &mut impl Contents) {
        let Some(connection) = self.pool.get(index) else { return };
        match connection.stream.agree() {
            Ok(false) => {}
            Ok(true) => {
                let end = (self.clock)();
                if let Some(slot) = connection.slot {
                    self.slots[slot as usize].stamps.tls = Some((connection.agree_begin, end));
                }
                connection.moved = end;
                self.on_open(index, contents);
            }
            Err(failure) => self.lose(index, failure, now),
        }
    }

    fn on_open(&mut self, index: u32, contents: &mut impl Contents) {
        let Some(connection) = self.pool.get(index) else { return };
        connection.phase = Phase::Open;
        match connection.slot {
            Some(_) => self.begin(index, contents),
            None => self.pool.put_idle(index),
        }
    }
}
