//! An export of an NBD server: up to `iodepth` requests in flight on one connection per worker.

mod connection;
mod protocol;
mod uri;

pub use connection::nbd_export;

use super::{Completion, Queued, Ring, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use crate::sys::poll;
use connection::Stream;
use protocol::{Chunk, Export, Head, REQUEST_BYTES, Request, errno, garbled};
use std::io::{self, IoSlice, Read, Write};
use std::time::Duration;

/// The `nbd` engine.
pub struct Nbd {
    slots: Slots,
    stream: Stream,
    export: Export,
    requests: Box<[InFlight]>,
    /// Slots whose requests are to be sent; the first of them may be sent in part.
    queued: Vec<u32>,
    /// Bytes that were sent of the first one.
    sent: usize,
    /// What was received and not read: `buffer[begin..end]`.
    buffer: Box<[u8]>,
    begin: usize,
    end: usize,
    state: Incoming,
    in_flight: usize,
    done: Vec<Completion>,
    /// How many of `done` the last `reap` returned.
    returned: usize,
}

/// The request of a slot.
#[derive(Clone, Copy)]
struct InFlight {
    head: [u8; REQUEST_BYTES],
    is_write: bool,
    offset: u64,
    length: u32,
    /// Bytes of its result.
    moved: i64,
    /// Error that a chunk of its reply brought.
    errno: i32,
    is_open: bool,
}

/// What the next bytes are.
#[derive(Clone, Copy)]
enum Incoming {
    Head,
    /// Data of a slot, from this byte of its buffer on.
    Data {
        slot: u32,
        at: usize,
        left: usize,
        is_last: bool,
    },
    /// A chunk that is not understood.
    Skip {
        slot: u32,
        left: usize,
        is_last: bool,
    },
}

/// Holds many heads, or the text of an error.
const BUFFER_BYTES: usize = 128 << 10;
/// Longest error that is taken.
const ERROR_MAX: u32 = 64 << 10;

impl Ring for Nbd {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let uri = setup.options.nbd_uri.as_deref().unwrap_or_default();
        let (stream, export) = connection::connect(uri)?;
        let rw = setup.worker.pattern.rw;
        if export.is_read_only() && (rw.writes() || rw.trims()) {
            return Err(io::Error::other("the export is read-only"));
        }
        if rw.trims() && !export.trims() {
            return Err(io::Error::other("the server takes no trims"));
        }
        stream.set_nonblocking()?;
        let depth = setup.depth.max(1) as usize;
        let none = InFlight {
            head: [0; REQUEST_BYTES],
            is_write: false,
            offset: 0,
            length: 0,
            moved: 0,
            errno: 0,
            is_open: false,
        };
        Ok(Nbd {
            slots: setup.buffers.slots(),
            stream,
            export,
            requests: vec![none; depth].into(),
            queued: Vec::with_capacity(depth),
            sent: 0,
            buffer: vec![0; BUFFER_BYTES].into(),
            begin: 0,
            end: 0,
            state: Incoming::Head,
            in_flight: 0,
            done: Vec::with_capacity(depth),
            returned: 0,
        })
    }

    fn end(&mut self) -> Vec<String> {
        // A server that has gone needs no farewell.
        let _ = self.stream.write(&protocol::request(Request::Disconnect, 0, 0, 0));
        Vec::new()
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let kind = match op.kind {
            OpKind::Read => Request::Read,
            OpKind::Write => Request::Write,
            OpKind::Trim => Request::Trim,
            OpKind::Fsync | OpKind::Fdatasync if self.export.flushes() => Request::Flush,
            // A server without a cache has nothing to flush.
            OpKind::Fsync | OpKind::Fdatasync => return Queued::Done(0),
            OpKind::ResetZone | OpKind::SyncFileRange(_) | OpKind::Stat => {
                return Queued::Done(-i64::from(libc::EOPNOTSUPP));
            }
        };
        let is_flush = kind == Request::Flush;
        let (offset, length) = if is_flush { (0, 0) } else { (op.offset, op.length) };
        let Ok(length) = u32::try_from(length) else {
            return Queued::Done(-i64::from(libc::EINVAL));
        };
        self.requests[slot as usize] = InFlight {
            head: protocol::request(kind, u64::from(slot), offset, length),
            is_write: kind == Request::Write,
            offset,
            length,
            moved: i64::from(length),
            errno: 0,
            is_open: true,
        };
        self.queued.push(slot);
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        self.drop_returned();
        let count = self.queued.len();
        let mut next = 0;
        while next < count {
            if self.send(self.queued[next])? {
                next += 1;
                continue;
            }
            // The server may wait for its replies to be read before it reads requests.
            poll::wait_one(self.stream.fd(), libc::POLLIN | libc::POLLOUT, None)?;
            self.receive()?;
        }
        self.queued.clear();
        Ok(count as u32)
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.drop_returned();
        let (min, max) = (min as usize, max as usize);
        while self.receive()? || self.done.len() < min {
            if self.done.len() >= max || self.in_flight == 0 {
                break;
            }
            if self.done.len() < min && !poll::wait_one(self.stream.fd(), libc::POLLIN, timeout)? {
                break;
            }
        }
        self.returned = self.done.len().min(max);
        Ok(self.returned as u32)
    }

    fn completion(&self, index: u32) -> Completion {
        self.done[index as usize]
    }
}

impl Nbd {
    /// Sends the rest of a request; false if the connection takes no more now.
    fn send(&mut self, slot: u32) -> io::Result<bool> {
        let request = &self.requests[slot as usize];
        let length = if request.is_write { request.length as usize } else { 0 };
        // SAFETY: the slot's buffer is as long as the largest block, lives as long as the ring, and
        // belongs to this I/O until it is done (contract of `Ring`).
        let data = unsafe { std::slice::from_raw_parts(self.slots.slot(slot), length) };
        while self.sent < REQUEST_BYTES + length {
            let head = &request.head[self.sent.min(REQUEST_BYTES)..];
            let data = &data[self.sent.saturating_sub(REQUEST_BYTES)..];
            match self.stream.write_vectored(&[IoSlice::new(head), IoSlice::new(data)]) {
                Ok(0) => return Err(closed()),
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.sent = 0;
        self.in_flight += 1;
        Ok(true)
    }

    /// Takes what has arrived; false if nothing has.
    fn receive(&mut self) -> io::Result<bool> {
        let read = match self.state {
            Incoming::Data { slot, at, left, .. } if self.begin == self.end => {
                // SAFETY: as in `send`; `take_head` checked that the data fits into the block.
                let room = unsafe {
                    std::slice::from_raw_parts_mut(self.slots.slot(slot).wrapping_add(at), left)
                };
                let read = self.stream.read(room);
                if let Ok(bytes @ 1..) = read {
                    self.advance(bytes);
                }
                read
            }
            _ => {
                self.buffer.copy_within(self.begin..self.end, 0);
                (self.begin, self.end) = (0, self.end - self.begin);
                let read = self.stream.read(&mut self.buffer[self.end..]);
                self.end += *read.as_ref().unwrap_or(&0);
                read
            }
        };
        match read {
            Ok(0) if self.in_flight > 0 || self.sent > 0 => return Err(closed()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(error),
        }
        while self.take_part()? {}
        Ok(true)
    }

    /// Reads one part of what was received; false if it is not complete yet.
    fn take_part(&mut self) -> io::Result<bool> {
        let available = self.end - self.begin;
        match self.state {
            Incoming::Head => return self.take_head(),
            _ if available == 0 => return Ok(false),
            Incoming::Data { slot, at, left, .. } => {
                let length = left.min(available);
                let bytes = &self.buffer[self.begin..self.begin + length];
                // SAFETY: as in `receive`.
                unsafe {
                    let to = self.slots.slot(slot).wrapping_add(at);
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, length);
                }
                self.begin += length;
                self.advance(length);
            }
            Incoming::Skip { left, .. } => {
                let length = left.min(available);
                self.begin += length;
                self.advance(length);
            }
        }
        Ok(true)
    }

    /// So many bytes of the current part were read.
    fn advance(&mut self, bytes: usize) {
        let (slot, rest, is_last) = match &mut self.state {
            Incoming::Head => return,
            Incoming::Data { slot, at, left, is_last } => {
                (*at, *left) = (*at + bytes, *left - bytes);
                (*slot, *left, *is_last)
            }
            Incoming::Skip { slot, left, is_last } => {
                *left -= bytes;
                (*slot, *left, *is_last)
            }
        };
        if rest == 0 {
            self.state = Incoming::Head;
            self.chunk_ended(slot, is_last);
        }
    }

    /// Reads the head of a reply or chunk; false if it is not complete yet.
    fn take_head(&mut self) -> io::Result<bool> {
        let bytes = &self.buffer[self.begin..self.end];
        let Some((Head { cookie, kind, is_last }, length)) = protocol::head(bytes)? else {
            return Ok(false);
        };
        let rest = &bytes[length..];
        let slot = u32::try_from(cookie).map_err(|_| garbled())?;
        let request = self.requests.get_mut(slot as usize).filter(|request| request.is_open);
        let request = request.ok_or_else(garbled)?;
        let is_read = request.head[7] == Request::Read as u8;
        let within = |offset: u64, count: u64| {
            let at = offset.checked_sub(request.offset).ok_or_else(garbled)?;
            let fits = at.checked_add(count).is_some_and(|end| end <= u64::from(request.length));
            if is_read && fits { Ok(at as usize) } else { Err(garbled()) }
        };
        let mut used = length;
        match kind {
            Chunk::Simple(0) if is_read => {
                let left = request.length as usize;
                self.state = Incoming::Data { slot, at: 0, left, is_last };
            }
            Chunk::Simple(error) => request.errno = errno(error),
            Chunk::None => {}
            Chunk::Data(count) => {
                let Some(offset) = protocol::number::<8>(rest, 0) else { return Ok(false) };
                let (at, left) = (within(offset, count.into())?, count as usize);
                self.state = Incoming::Data { slot, at, left, is_last };
                used += 8;
            }
            Chunk::Hole => {
                let Some(count) = protocol::number::<4>(rest, 8) else { return Ok(false) };
                let at = within(protocol::number::<8>(rest, 0).unwrap_or(0), count)?;
                // SAFETY: as in `receive`; `within` checked the range.
                unsafe { self.slots.slot(slot).wrapping_add(at).write_bytes(0, count as usize) };
                used += 12;
            }
            Chunk::Error(count) if count > ERROR_MAX => return Err(garbled()),
            Chunk::Error(count) => {
                if rest.len() < count as usize {
                    return Ok(false);
                }
                request.errno = errno(protocol::number::<4>(rest, 0).unwrap_or(0) as u32);
                used += count as usize;
            }
            Chunk::Other(count) => {
                self.state = Incoming::Skip { slot, left: count as usize, is_last };
            }
        }
        self.begin += used;
        match self.state {
            Incoming::Head => self.chunk_ended(slot, is_last),
            // A part without bytes is over.
            Incoming::Data { left: 0, .. } | Incoming::Skip { left: 0, .. } => self.advance(0),
            _ => {}
        }
        Ok(true)
    }

    fn chunk_ended(&mut self, slot: u32, is_last: bool) {
        if !is_last {
            return;
        }
        let request = &mut self.requests[slot as usize];
        request.is_open = false;
        let result = if request.errno == 0 { request.moved } else { -i64::from(request.errno) };
        self.in_flight = self.in_flight.saturating_sub(1);
        self.done.push(Completion { slot, result });
    }

    fn drop_returned(&mut self) {
        self.done.drain(..self.returned);
        self.returned = 0;
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the NBD server closed the connection")
}
