//! The `net` and `netsplice` engines: data through sockets.
//!
//! The listening side binds before any worker of its batch starts, so that the others can connect.
//! Connections are made when the worker starts. Neither belongs to an I/O. An I/O sends or receives a
//! whole block; with `pingpong` it also includes the block's way back.

mod address;
mod datagrams;
mod stream;
mod wait;

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, WaitLimit, negative_errno};
use crate::files::{Action, FileError};
use crate::hot::op::{Op, OpKind};
use address::Address;
use datagrams::Datagrams;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;
use stream::{Listener, Stream};
use wait::{TransferError, Transferred};

/// After this time an unanswered message counts as lost.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

enum Link {
    Unbound,
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
    /// Receives the answers of `pingpong`.
    answer: Vec<u8>,
    closed: bool,
}

impl Net {
    /// The worker's side, not yet bound.
    pub fn new(setup: &RingSetup<'_>) -> io::Result<Net> {
        let worker = setup.worker;
        let socket = worker.socket.clone().ok_or(io::ErrorKind::NotFound)?;
        let block = worker.max_block();
        Ok(Net {
            label: socket.label(),
            block,
            writes: setup.io.writes,
            time_based: worker.stop.time_based,
            link: Link::Unbound,
            limit: WaitLimit::default(),
            answer: if socket.pingpong { vec![0; block as usize] } else { Vec::new() },
            socket,
            closed: false,
        })
    }

    fn error(&self, action: Action, error: io::Error) -> FileError {
        FileError::new(action, &self.label, error)
    }

    fn bind(&mut self, address: &Address) -> io::Result<()> {
        self.link = match self.socket.protocol.is_udp() {
            true => Link::Datagrams(Datagrams::bind(&self.socket, address)?),
            false => Link::Listening(Listener::new(&self.socket, address)?),
        };
        Ok(())
    }

    fn connect(&mut self) -> Result<(), FileError> {
        let address = self.address()?;
        let made = match self.socket.protocol.is_udp() {
            true => Datagrams::connect(&self.socket, &address).map(Link::Datagrams),
            false => {
                Stream::connect(&self.socket, &address, self.block, &self.limit).map(Link::Stream)
            }
        };
        self.link = made.map_err(|e| self.error(Action::Connect, e))?;
        Ok(())
    }

    fn address(&self) -> Result<Address, FileError> {
        Address::resolve(&self.socket).map_err(|e| self.error(Action::Find, e))
    }

    /// If this side listens, waits for the other side.
    fn accept(&mut self) -> Result<(), TransferError> {
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
            // No one connected before the wait limit.
            (Link::Unbound | Link::Listening(_), _) => Err(TransferError::Limit),
        }
    }

    /// The way back of a block that was received or sent as a whole.
    fn transfer_back(&mut self, buffer: &mut [u8], sent: bool) -> Transferred {
        if !sent {
            return self.transfer(buffer, true);
        }
        let mut answer = std::mem::take(&mut self.answer);
        let back = &mut answer[..buffer.len()];
        let moved = match &mut self.link {
            Link::Datagrams(datagrams) => {
                datagrams.receive(back, &self.limit, Some(ANSWER_TIMEOUT))
            }
            _ => self.transfer(back, false),
        };
        self.answer = answer;
        moved
    }
}

/// Whether the error means that the other side is gone.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

impl SyncEngine for Net {
    fn prepare(&mut self) -> Result<(), FileError> {
        if !self.socket.waits {
            return Ok(());
        }
        let address = self.address()?;
        self.bind(&address).map_err(|e| self.error(Action::Listen, e))
    }

    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.limit = limit.clone();
        if !self.socket.waits {
            self.connect()?;
        }
        match self.accept() {
            Err(TransferError::Failed(error)) => return Err(self.error(Action::Accept, error)),
            Err(_) if limit.has_timed_out() => {
                let error = io::Error::from_raw_os_error(libc::ETIMEDOUT);
                return Err(self.error(Action::Accept, error));
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
            moved = self.transfer_back(buffer, sends);
        }
        match moved {
            Ok(moved) => Queued::Done(moved as i64),
            Err(TransferError::Limit) => Queued::Full,
            Err(TransferError::Failed(error)) if !(self.time_based && is_gone(&error)) => {
                Queued::Done(negative_errno(&error))
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
                datagrams.close();
            }
            notes.extend(datagrams.loss_message());
        }
        if self.closed && !self.time_based {
            notes.push("the other side ended before all of size was moved".into());
        }
        notes
    }
}
