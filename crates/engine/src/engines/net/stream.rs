//! Sockets that connect.

use super::address::Address;
use super::wait::{CHECK_INTERVAL, TransferError, Transferred, check_retry};
use crate::engines::WaitLimit;
use crate::engines::splice::Pipe;
use plan::{Protocol, Socket as Plan};
use socket2::Socket;
use std::io::{self, Read, Write};
use std::time::Duration;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;
/// How long a connection is tried for.
const CONNECT: Duration = Duration::from_secs(30);

fn is_tcp(plan: &Plan) -> bool {
    matches!(plan.protocol, Protocol::Tcp | Protocol::TcpV6)
}

/// One who waits for a connection. The path of a UNIX socket is gone with it.
pub(super) struct Listener {
    socket: Socket,
    path: Option<String>,
}

impl Listener {
    /// Bound and listening. A socket that was left at the path of this one is replaced.
    ///
    /// # Errors
    /// The port is in use, the path is taken by something else.
    pub fn new(plan: &Plan, address: &Address) -> io::Result<Listener> {
        let socket = address.socket(plan)?;
        match &address.path {
            Some(path) => remove_socket(path)?,
            None if is_tcp(plan) => socket.set_reuse_address(true)?,
            None => {}
        }
        socket.bind(&address.address)?;
        let listener = Listener { socket, path: address.path.clone() };
        listener.socket.listen(BACKLOG)?;
        Ok(listener)
    }

    /// Waits for a connection.
    pub fn accept(
        &self,
        plan: &Plan,
        block: u64,
        limit: &WaitLimit,
    ) -> Result<Stream, TransferError> {
        self.socket.set_read_timeout(Some(CHECK_INTERVAL))?;
        loop {
            match self.socket.accept() {
                Ok((socket, _)) => return Ok(Stream::new(socket, plan, block)?),
                Err(error) => check_retry(error, limit)?,
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nobody is left who could be told.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn remove_socket(path: &str) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => std::fs::remove_file(path),
        // Anything else is left to bind(2), which refuses it.
        _ => Ok(()),
    }
}

/// A connection.
pub(super) struct Stream {
    socket: Socket,
    pipe: Option<Pipe>,
}

impl Stream {
    fn new(socket: Socket, plan: &Plan, block: u64) -> io::Result<Stream> {
        if is_tcp(plan) {
            socket.set_tcp_nodelay(plan.nodelay)?;
        }
        socket.set_read_timeout(Some(CHECK_INTERVAL))?;
        socket.set_write_timeout(Some(CHECK_INTERVAL))?;
        let pipe = plan.splices.then(|| Pipe::new(block)).transpose()?;
        Ok(Stream { socket, pipe })
    }

    /// Connects.
    ///
    /// # Errors
    /// Nobody listens there, or nobody answers.
    pub fn connected(
        plan: &Plan,
        address: &Address,
        block: u64,
        limit: &WaitLimit,
    ) -> io::Result<Stream> {
        let socket = address.socket(plan)?;
        if address.path.is_some() {
            socket.connect(&address.address)?;
        } else {
            socket.connect_timeout(&address.address, limit.next_sleep(CONNECT))?;
        }
        Stream::new(socket, plan, block)
    }

    /// Fills the buffer; less only when the other side ends.
    pub fn receive(&self, buffer: &mut [u8], limit: &WaitLimit) -> Transferred {
        let mut done = 0;
        while done < buffer.len() {
            let rest = &mut buffer[done..];
            let step = match &self.pipe {
                Some(pipe) => pipe.fill(&self.socket, None, rest).map_err(io::Error::from),
                None => (&self.socket).read(rest),
            };
            match step {
                Ok(0) if done == 0 => return Err(TransferError::Closed),
                Ok(0) => break,
                Ok(step) => done += step,
                Err(error) => check_retry(error, limit)?,
            }
        }
        Ok(done)
    }

    /// Sends the buffer.
    pub fn send(&self, buffer: &mut [u8], limit: &WaitLimit) -> Transferred {
        let mut done = 0;
        while done < buffer.len() {
            let rest = &mut buffer[done..];
            let step = match &self.pipe {
                Some(pipe) => pipe.drain(&self.socket, None, rest).map_err(io::Error::from),
                None => (&self.socket).write(rest),
            };
            match step {
                Ok(step) => done += step,
                Err(error) => check_retry(error, limit)?,
            }
        }
        Ok(done)
    }
}
