//! Data through sockets: the `net` and `netsplice` engines.
//!
//! A side that waits is bound before any worker of its batch starts, so that the others find it;
//! connections are made when the worker starts, and neither belongs to an I/O. An I/O is a block
//! sent or received as a whole, with `pingpong` one that came back as well.

mod address;
mod datagrams;
mod stream;
mod wait;

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, WaitLimit};
use crate::files::{Action, FileError};
use crate::hot::op::{Op, OpKind};
use address::Address;
use datagrams::Datagrams;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;
use stream::{Listener, Stream};
use wait::{TransferError, Transferred};

/// How long an answer to a message is awaited before it counts as lost.
const ANSWER: Duration = Duration::from_secs(5);

enum Link {
    Apart,
    Listening(Listener),
    Stream(Stream),
    Datagrams(Datagrams),
}

/// The `net` and `netsplice` engines.
pub struct Net {
    socket: plan::Socket,
    label: String,
    block: u64,
    writes: bool,
    time_based: bool,
    link: Link,
    limit: WaitLimit,
    /// Takes the answer to what was sent.
    answer: Vec<u8>,
    closed: bool,
}

impl Net {
    /// The worker's end, not yet bound.
    ///
    /// # Errors
    /// The plan has none.
    pub fn new(setup: &RingSetup<'_>) -> io::Result<Net> {
        let worker = setup.worker;
        let socket = worker.socket.clone().ok_or(io::ErrorKind::NotFound)?;
        let block = worker.max_block();
        Ok(Net {
            label: socket.label(),
            block,
            writes: setup.io.writes,
            time_based: worker.stop.time_based,
            link: Link::Apart,
            limit: WaitLimit::default(),
            answer: if socket.pingpong { vec![0; block as usize] } else { Vec::new() },
            socket,
            closed: false,
        })
    }

    fn failed(&self, action: Action, error: io::Error) -> FileError {
        FileError::new(action, &self.label, error)
    }

    fn bind(&mut self, address: &Address) -> io::Result<()> {
        self.link = match self.socket.protocol.is_udp() {
            true => Link::Datagrams(Datagrams::bound(&self.socket, address)?),
            false => Link::Listening(Listener::new(&self.socket, address)?),
        };
        Ok(())
    }

    fn connect(&mut self) -> Result<(), FileError> {
        let address = self.address()?;
        let made = match self.socket.protocol.is_udp() {
            true => Datagrams::towards(&self.socket, &address).map(Link::Datagrams),
            false => {
                Stream::connected(&self.socket, &address, self.block, &self.limit).map(Link::Stream)
            }
        };
        self.link = made.map_err(|e| self.failed(Action::Connect, e))?;
        Ok(())
    }

    fn address(&self) -> Result<Address, FileError> {
        Address::of(&self.socket).map_err(|e| self.failed(Action::Find, e))
    }

    /// Waits for the other side, where this one does.
    fn join(&mut self) -> Result<(), TransferError> {
        match &mut self.link {
            Link::Listening(listener) => {
                let stream = listener.accept(&self.socket, self.block, &self.limit)?;
                self.link = Link::Stream(stream);
                Ok(())
            }
            Link::Datagrams(datagrams) if self.socket.waits => datagrams.await_open(&self.limit),
            _ => Ok(()),
        }
    }

    fn transfer(&mut self, buffer: &mut [u8], sends: bool) -> Transferred {
        match (&mut self.link, sends) {
            (Link::Stream(stream), true) => stream.send(buffer, &self.limit),
            (Link::Stream(stream), false) => stream.receive(buffer, &self.limit),
            (Link::Datagrams(datagrams), true) => datagrams.send(buffer, &self.limit),
            (Link::Datagrams(datagrams), false) => datagrams.receive(buffer, &self.limit, None),
            // Nobody came before the time was up.
            (Link::Apart | Link::Listening(_), _) => Err(TransferError::Limit),
        }
    }

    /// The way back of a block that came, or went, as a whole.
    fn answer(&mut self, buffer: &mut [u8], sent: bool) -> Transferred {
        if !sent {
            return self.transfer(buffer, true);
        }
        let mut answer = std::mem::take(&mut self.answer);
        let back = &mut answer[..buffer.len()];
        let moved = match &mut self.link {
            Link::Datagrams(datagrams) => datagrams.receive(back, &self.limit, Some(ANSWER)),
            _ => self.transfer(back, false),
        };
        self.answer = answer;
        moved
    }
}

/// Whether an error only says that the other side is gone.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

impl SyncEngine for Net {
    fn prepare(&mut self) -> Result<(), FileError> {
        if !self.socket.waits {
            return Ok(());
        }
        let address = self.address()?;
        self.bind(&address).map_err(|e| self.failed(Action::Listen, e))
    }

    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.limit = limit.clone();
        if !self.socket.waits {
            self.connect()?;
        }
        match self.join() {
            Err(TransferError::Failed(error)) => return Err(self.failed(Action::Accept, error)),
            Err(_) if limit.has_timed_out() => {
                let error = io::Error::from_raw_os_error(libc::ETIMEDOUT);
                return Err(self.failed(Action::Accept, error));
            }
            Err(_) | Ok(()) => {}
        }
        self.limit = limit.restarted();
        Ok(())
    }

    fn execute(&mut self, _: RawFd, buffer: &mut [u8], op: &Op) -> Queued {
        let sends = op.kind == OpKind::Write;
        let mut moved = self.transfer(buffer, sends);
        if self.socket.pingpong && moved.as_ref().is_ok_and(|moved| *moved == buffer.len()) {
            moved = self.answer(buffer, sends);
        }
        match moved {
            Ok(moved) => Queued::Done(moved as i64),
            Err(TransferError::Limit) => Queued::Full,
            Err(TransferError::Failed(error)) if !(self.time_based && is_gone(&error)) => {
                Queued::Done(-i64::from(error.raw_os_error().unwrap_or(libc::EIO)))
            }
            Err(TransferError::Closed | TransferError::Failed(_)) => {
                self.closed = true;
                Queued::Done(-i64::from(libc::ESHUTDOWN))
            }
        }
    }

    fn end(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Link::Datagrams(datagrams) = &mut self.link {
            if self.writes {
                datagrams.tell_end();
            }
            notes.extend(datagrams.losses());
        }
        if self.closed && !self.time_based {
            notes.push("the other side ended before all of size had been moved".into());
        }
        notes
    }
}
