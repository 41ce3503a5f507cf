//! The life of a request: sent, answered, retried, ended.

use super::pool::Connection;
use super::slot::{At, Slot};
use super::timers::Timer;
use super::verdict::{verdict, was_closed_idle};
use super::{Client, Contents, talk};
use crate::sign::Body;
use crate::wire::{Asked, Reading, Stream};
use crate::{Failure, Outcome, Verb};
use std::io::{self, ErrorKind, IoSlice};
use std::time::SystemTime;

/// Bytes to read together with a head, if the content is received elsewhere.
const ALONG_BYTES: usize = 16 << 10;
/// First pause before a retry. Each further pause is twice as long, up to the maximum.
const PAUSE_NS: u64 = 20_000_000;
const PAUSE_NS_MAX: u64 = 2_000_000_000;

impl<C: Fn() -> u64> Client<C> {
    /// Writes the head of a request and starts to send it.
    pub(super) fn begin(&mut self, index: u32, contents: &mut impl Contents) {
        let Some(connection) = self.pool.get(index) else { return };
        let Some(slot) = connection.slot else { return };
        let own = &mut self.slots[slot as usize];
        connection.head.clear();
        connection.sent = 0;
        connection.flushed = false;
        connection.broken = None;
        let content = match own.verb() {
            Verb::Put | Verb::PutPart => contents.content(slot),
            _ => &[],
        };
        let (signer, head, endpoint) =
            (&mut self.signer, &mut connection.head, connection.endpoint);
        let body =
            own.request(|request| signer.head(endpoint, request, content, SystemTime::now(), head));
        connection.content = match body {
            Ok(Body::Content(part)) => part,
            Ok(Body::Text(text)) => {
                connection.head.extend_from_slice(&text);
                0..0
            }
            Ok(Body::Nothing) => 0..0,
            Err(failure) => {
                connection.slot = None;
                self.pool.put_idle(index);
                return self.fail(slot, failure, (self.clock)());
            }
        };
        connection.reading = Some(Reading::new(Asked {
            verb: own.verb(),
            length: own.length(),
            from: own.from(),
            headers: self.store.verbose > 1,
        }));
        if self.store.verbose > 1 {
            talk::request(slot, &self.places[endpoint].endpoint, &connection.head);
        }
        self.send(index, contents);
    }

    /// Sends as many bytes as the socket accepts.
    pub(super) fn send(&mut self, index: u32, contents: &impl Contents) {
        let Some(connection) = self.pool.get(index) else { return };
        let Some(slot) = connection.slot else { return };
        let due = connection.due();
        while connection.sent < due {
            let head = connection.head.get(connection.sent..).unwrap_or_default();
            let from =
                connection.content.start + connection.sent.saturating_sub(connection.head.len());
            let content = match connection.content.is_empty() {
                true => &[],
                false => {
                    contents.content(slot).get(from..connection.content.end).unwrap_or_default()
                }
            };
            let stamp = &mut self.slots[slot as usize].stamps.sent;
            stamp.get_or_insert_with(&self.clock);
            match connection.stream.send(&[IoSlice::new(head), IoSlice::new(content)]) {
                // The socket is full. Epoll reports when it accepts more.
                Ok(bytes) if connection.sent + bytes < due && bytes > 0 => {
                    connection.sent += bytes;
                    return;
                }
                Ok(0) => return connection.broken = Some(Failure::Broken(libc::EPIPE)),
                Ok(bytes) => connection.sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Self::on_send_error(connection, &error),
            }
        }
        match connection.stream.flush() {
            Ok(flushed) => connection.flushed = flushed,
            Err(error) => Self::on_send_error(connection, &error),
        }
    }

    /// A server may answer and close before it has received everything. That answer counts, so it
    /// is read before the request fails.
    fn on_send_error(connection: &mut Connection, error: &io::Error) {
        connection.broken = Some(connection.stream.failure(error));
        connection.stream.ending = true;
        connection.stream.readable = true;
    }

    /// Receives all available bytes.
    pub(super) fn receive(&mut self, index: u32, now: u64, contents: &mut impl Contents) {
        loop {
            let Some(connection) = self.pool.get(index) else { return };
            let (Some(slot), Some(reading)) = (connection.slot, &mut connection.reading) else {
                return;
            };
            if !connection.stream.readable {
                return;
            }
            let began = reading.has_begun();
            let room = if reading.wants_room() { contents.room(slot) } else { None };
            let result = receive_once(&mut connection.stream, reading, room, &mut self.hot);
            if !began && reading.has_begun() {
                self.slots[slot as usize].stamps.first_byte = Some(now);
            }
            match result {
                Ok(Got::All { surplus }) => return self.complete(index, surplus),
                Ok(Got::Some) => {}
                Err(Missed::Wait) => {
                    // A broken connection receives nothing more.
                    if let Some(failure) = connection.broken.take() {
                        self.lose(index, failure, now);
                    }
                    return;
                }
                Err(Missed::Failed(failure)) => {
                    let failure = match connection.broken.take() {
                        Some(broken) if !reading.has_begun() => broken,
                        _ => failure,
                    };
                    return self.lose(index, failure, now);
                }
            }
        }
    }

    /// Handles a complete answer. `surplus` means that bytes beyond it were received.
    fn complete(&mut self, index: u32, surplus: bool) {
        let now = (self.clock)();
        let Some(connection) = self.pool.get(index) else { return };
        let (Some(slot), Some(reading)) = (connection.slot.take(), connection.reading.take())
        else {
            return;
        };
        connection.served += 1;
        let keep = reading.leaves_reusable()
            && connection.flushed
            && connection.broken.is_none()
            && !connection.stream.ending
            && !surplus;
        if keep {
            self.pool.put_idle(index);
        } else {
            drop(self.pool.remove(index));
        }
        let own = &self.slots[slot as usize];
        let result = reading.finish().and_then(|(head, text)| {
            if self.store.verbose > 1 {
                talk::answer(slot, &head);
            }
            verdict(own, head, text)
        });
        match result {
            Ok(answer) => self.end(slot, Ok(answer), now),
            Err(failure) => self.fail(slot, failure, now),
        }
    }

    /// Handles an event of a connection without a request, which usually means that the server
    /// closed it.
    pub(super) fn check_idle(&mut self, index: u32) {
        let Some(connection) = self.pool.get(index) else { return };
        match connection.stream.receive(&mut self.hot) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            _ => drop(self.pool.remove(index)),
        }
    }

    /// Closes a connection that cannot be used any more.
    pub(super) fn lose(&mut self, index: u32, failure: Failure, now: u64) {
        let Some(connection) = self.pool.remove(index) else { return };
        let Some(slot) = connection.slot else {
            self.unasked = Some(failure);
            return;
        };
        let own = &mut self.slots[slot as usize];
        if !own.resent && was_closed_idle(&failure, connection.served, connection.reading.as_ref())
        {
            own.again();
            own.resent = true;
            own.fresh = true;
            self.waiting.push_front(slot);
        } else {
            self.fail(slot, failure, now);
        }
    }

    /// Handles a failed request: retries or ends it.
    pub(super) fn fail(&mut self, slot: u32, failure: Failure, now: u64) {
        let own = &mut self.slots[slot as usize];
        let repeats = own.lost.len() as u32;
        if !failure.may_pass() || repeats >= self.store.retries {
            // A server that is down refuses at once. If this failure were reported at once, the
            // next requests would be refused again and again and delay those to the other servers.
            if matches!(failure, Failure::Connect(_)) {
                own.failed = Some(failure);
                own.pause();
                let timer = Timer::Pause { slot, turn: own.turn };
                return self.timers.add(now.saturating_add(PAUSE_NS), timer);
            }
            return self.end(slot, Err(failure), now);
        }
        if self.store.verbose > 0 {
            talk::repeat(own, &failure);
        }
        let pause = PAUSE_NS.saturating_mul(1 << repeats.min(32)).min(PAUSE_NS_MAX);
        own.lose(failure);
        self.timers.add(now.saturating_add(pause), Timer::Pause { slot, turn: own.turn });
    }

    pub(super) fn end(&mut self, slot: u32, result: Result<crate::Answer, Failure>, now: u64) {
        let own = &mut self.slots[slot as usize];
        own.at = At::Nowhere;
        own.stamps.ended = now;
        if self.store.verbose > 0 {
            talk::end(own, &result, now);
        }
        self.active -= 1;
        let Slot { stamps, resent, endpoint, .. } = *own;
        let (verb, lost) = (own.verb(), std::mem::take(&mut own.lost));
        self.outcomes.push_back(Outcome { slot, verb, result, stamps, lost, resent, endpoint });
    }
}

/// The result of a read.
enum Got {
    /// A part of the answer.
    Some,
    /// The rest of the answer. `surplus` means that more bytes followed.
    All { surplus: bool },
}

/// Why a read received nothing.
enum Missed {
    /// No bytes are available yet.
    Wait,
    /// The connection has failed.
    Failed(Failure),
}

impl From<Failure> for Missed {
    fn from(failure: Failure) -> Missed {
        Missed::Failed(failure)
    }
}

/// Receives once: content directly into the slot's buffer if it is expected there, everything else
/// into `hot`.
fn receive_once(
    stream: &mut Stream,
    reading: &mut Reading,
    room: Option<&mut [u8]>,
    hot: &mut [u8],
) -> Result<Got, Missed> {
    let straight = reading.straight();
    let mut surplus = false;
    match (straight, room) {
        (Some((at, left)), Some(room)) if at < room.len() as u64 => {
            let rest = &mut room[at as usize..];
            let most = (rest.len() as u64).min(left) as usize;
            let bytes = received(stream, reading, &mut rest[..most])?;
            reading.passed(bytes as u64)?;
        }
        (Some((_, left)), _) => {
            let most = (hot.len() as u64).min(left) as usize;
            let bytes = received(stream, reading, &mut hot[..most])?;
            reading.passed(bytes as u64)?;
        }
        (None, room) => {
            let most = if room.is_some() { ALONG_BYTES } else { hot.len() };
            let bytes = received(stream, reading, &mut hot[..most])?;
            surplus = reading.take(&hot[..bytes], room)? < bytes;
        }
    }
    Ok(if reading.is_whole() { Got::All { surplus } } else { Got::Some })
}

/// Number of bytes received; 0 if the connection has ended and completed the answer.
fn received(stream: &mut Stream, reading: &mut Reading, into: &mut [u8]) -> Result<usize, Missed> {
    match stream.receive(into) {
        Ok(0) => {
            reading.close()?;
            Ok(0)
        }
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(Missed::Wait),
        Err(error) => {
            let failure = stream.failure(&error);
            // A status received before the reset explains the failure better.
            match (&failure, reading.close()) {
                (Failure::Broken(_), Ok(())) => Ok(0),
                _ => Err(failure.into()),
            }
        }
    }
}
