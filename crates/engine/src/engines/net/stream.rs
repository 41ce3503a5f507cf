//! Connections: TCP, UNIX and VSOCK sockets.

use super::address::Address;
use super::wait::{CHECK_INTERVAL, TransferError, Transferred, check_retry};
use crate::engines::WaitLimit;
use crate::engines::splice::Pipe;
use plan::{Protocol, Socket as Plan};
use socket2::Socket;
use std::io::{self, Read, Write};
use std::time::Duration;

/// Maximum number of connections waiting to be accepted.
const BACKLOG: i32 = 128;
/// Timeout of connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

fn is_tcp(plan: &Plan) -> bool {
    matches!(plan.protocol, Protocol::Tcp | Protocol::TcpV6)
}

/// A listening socket. Dropping it removes the path of a UNIX socket.
pub(super) struct Listener {
    socket: Socket,
    path: Option<String>,
}

impl Listener {
    /// Binds and listens. Replaces a socket that was left at its path.
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
            // There is no one left to report an error to.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn remove_socket(path: &str) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => std::fs::remove_file(path),
        // bind(2) refuses any other file.
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

    /// Connects to `address`.
    pub fn connect(
        plan: &Plan,
        address: &Address,
        block: u64,
        limit: &WaitLimit,
    ) -> io::Result<Stream> {
        let socket = address.socket(plan)?;
        if address.path.is_some() {
            socket.connect(&address.address)?;
        } else {
            socket.connect_timeout(&address.address, limit.next_wait(CONNECT_TIMEOUT))?;
        }
        Stream::new(socket, plan, block)
    }

    /// Receives until the buffer is full, or until the other side closes.
    pub fn receive(&self, buffer: &mut [u8], limit: &WaitLimit) -> Transferred {
        let moved = transfer(buffer, limit, |rest| match &self.pipe {
            Some(pipe) => pipe.fill(&self.socket, None, rest).map_err(io::Error::from),
            None => (&self.socket).read(rest),
        })?;
        if moved == 0 && !buffer.is_empty() { Err(TransferError::Closed) } else { Ok(moved) }
    }

    /// Sends the buffer.
    pub fn send(&self, buffer: &mut [u8], limit: &WaitLimit) -> Transferred {
        transfer(buffer, limit, |rest| match &self.pipe {
            Some(pipe) => pipe.drain(&self.socket, None, rest).map_err(io::Error::from),
            None => (&self.socket).write(rest),
        })
    }
}

/// Repeats `step` on the rest of the buffer until all of it, or nothing more, is transferred.
fn transfer(
    buffer: &mut [u8],
    limit: &WaitLimit,
    mut step: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> Transferred {
    let mut done = 0;
    while done < buffer.len() {
        match step(&mut buffer[done..]) {
            Ok(0) => break,
            Ok(moved) => done += moved,
            Err(error) => check_retry(error, limit)?,
        }
    }
    Ok(done)
}
