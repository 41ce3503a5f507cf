//! An NBD server for a [`LyingDisk`], as clients of the fixed newstyle handshake use it (QEMU, the Linux
//! kernel, our tests): EXPORT_NAME and GO, simple replies, FUA and FLUSH.

use crate::lying_disk::{LyingDisk, SECTOR};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;

/// Has flags, can flush, can write through.
const TRANSMISSION_FLAGS: u16 = 1 | 4 | 8;

const COMMAND_FUA: u16 = 1;

/// The longest request that is accepted, in bytes.
const REQUEST_MAX: u32 = 32 << 20;

/// A served disk. Its power can be cut and come back.
pub struct Nbd {
    shared: Arc<Shared>,
    address: SocketAddr,
}

struct Shared {
    state: Mutex<State>,
}

struct State {
    disk: LyingDisk,
    /// Connections since the power came on.
    connections: Vec<TcpStream>,
    /// How often the power was cut.
    cuts: u64,
}

impl Nbd {
    /// Serves a disk on a free port of loopback until the process ends.
    ///
    /// # Panics
    /// When there is no free port.
    #[track_caller]
    pub fn serve(disk: LyingDisk) -> Nbd {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Mutex::new(State { disk, connections: Vec::new(), cuts: 0 });
        let shared = Arc::new(Shared { state });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = Arc::clone(&serving);
                // A client that is gone, or without power, ends its connection only.
                std::thread::spawn(move || drop(serving.converse(&stream)));
            }
        });
        Nbd { shared, address }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts the power: every connection ends, and the cache is lost as the disk loses it. Later connections
    /// find the disk with power again.
    pub fn cut(&self) {
        let mut state = self.shared.state();
        for stream in std::mem::take(&mut state.connections) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        state.disk.cut();
        state.cuts += 1;
    }

    /// Puts another disk in the place of this one. Connections to it have ended before.
    pub fn replace(&self, disk: LyingDisk) {
        self.shared.state().disk = disk;
    }

    /// What is on the disk.
    pub fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        self.shared.state().disk.read(offset, length)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn converse(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let size = self.state().disk.size() as u64;
        if !negotiate(stream, size)? {
            return Ok(());
        }
        let mut state = self.state();
        let cuts = state.cuts;
        state.connections.push(stream.try_clone()?);
        drop(state);
        loop {
            let mut header = [0; 28];
            (&*stream).read_exact(&mut header)?;
            let request = Request::parse(&header)?;
            let mut data = vec![0; if request.is_write() { request.length as usize } else { 0 }];
            (&*stream).read_exact(&mut data)?;
            let mut state = self.state();
            // A request that was on its way when the power was cut never arrives.
            if state.cuts != cuts {
                return Ok(());
            }
            let Some((error, answer)) = carry_out(&mut state.disk, &request, &data) else {
                return Ok(());
            };
            let mut reply = Vec::with_capacity(16 + answer.len());
            reply.extend(REPLY_MAGIC.to_be_bytes());
            reply.extend(error.to_be_bytes());
            reply.extend(request.cookie);
            reply.extend(answer);
            // The lock is still held, so no cut comes between a write and its acknowledgement.
            (&*stream).write_all(&reply)?;
        }
    }
}

struct Request {
    flags: u16,
    command: u16,
    cookie: [u8; 8],
    offset: u64,
    length: u32,
}

impl Request {
    fn parse(header: &[u8; 28]) -> io::Result<Request> {
        let length = u32::from_be_bytes(part(header, 24));
        if u32::from_be_bytes(part(header, 0)) != REQUEST_MAGIC || length > REQUEST_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Request {
            flags: u16::from_be_bytes(part(header, 4)),
            command: u16::from_be_bytes(part(header, 6)),
            cookie: part(header, 8),
            offset: u64::from_be_bytes(part(header, 16)),
            length,
        })
    }

    fn is_write(&self) -> bool {
        self.command == 1
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("so many bytes")
}

/// The error number and the data of the reply; `None` if the client ends.
fn carry_out(disk: &mut LyingDisk, request: &Request, data: &[u8]) -> Option<(u32, Vec<u8>)> {
    const INVALID: u32 = 22;
    let (offset, length) = (request.offset as usize, request.length as usize);
    let is_within = offset.checked_add(length).is_some_and(|end| end <= disk.size());
    let is_whole = offset.is_multiple_of(SECTOR) && length.is_multiple_of(SECTOR);
    Some(match request.command {
        0 | 1 if !is_within || !is_whole => (INVALID, Vec::new()),
        0 => (0, disk.read(offset, length)),
        1 => {
            disk.write(offset, data, request.flags & COMMAND_FUA != 0);
            (0, Vec::new())
        }
        2 => return None,
        3 => {
            disk.flush();
            (0, Vec::new())
        }
        _ => (INVALID, Vec::new()),
    })
}

/// The handshake. False if the client only asked.
fn negotiate(mut stream: &TcpStream, size: u64) -> io::Result<bool> {
    let mut greeting = b"NBDMAGIC".to_vec();
    greeting.extend(OPTION_MAGIC.to_be_bytes());
    greeting.extend(3_u16.to_be_bytes());
    stream.write_all(&greeting)?;
    let mut flags = [0; 4];
    stream.read_exact(&mut flags)?;
    let has_no_zeroes = flags[3] & 2 != 0;
    loop {
        let mut header = [0; 16];
        stream.read_exact(&mut header)?;
        let option = u32::from_be_bytes(part(&header, 8));
        let length = u32::from_be_bytes(part(&header, 12));
        if u64::from_be_bytes(part(&header, 0)) != OPTION_MAGIC || length > 64 << 10 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.read_exact(&mut vec![0; length as usize])?;
        match option {
            1 => {
                let mut export = size.to_be_bytes().to_vec();
                export.extend(TRANSMISSION_FLAGS.to_be_bytes());
                export.resize(if has_no_zeroes { 10 } else { 134 }, 0);
                stream.write_all(&export)?;
                return Ok(true);
            }
            2 => {
                reply(stream, option, 1, &[])?;
                return Ok(false);
            }
            6 | 7 => {
                let mut export = 0_u16.to_be_bytes().to_vec();
                export.extend(size.to_be_bytes());
                export.extend(TRANSMISSION_FLAGS.to_be_bytes());
                reply(stream, option, 3, &export)?;
                reply(stream, option, 1, &[])?;
                if option == 7 {
                    return Ok(true);
                }
            }
            // Not supported.
            _ => reply(stream, option, 0x8000_0001, &[])?,
        }
    }
}

fn reply(mut stream: &TcpStream, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let mut bytes = OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
    bytes.extend(option.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    stream.write_all(&bytes)
}

/// A client of an NBD server, for tests without the kernel's.
pub struct NbdClient {
    stream: TcpStream,
}

impl NbdClient {
    /// Connects.
    ///
    /// # Errors
    /// When the server is not there, or is no NBD server.
    pub fn connect(address: SocketAddr) -> io::Result<NbdClient> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting)?;
        if !greeting.starts_with(b"NBDMAGIC") {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut option = 3_u32.to_be_bytes().to_vec();
        option.extend(OPTION_MAGIC.to_be_bytes());
        option.extend(1_u32.to_be_bytes());
        option.extend(0_u32.to_be_bytes());
        stream.write_all(&option)?;
        stream.read_exact(&mut [0; 10])?;
        Ok(NbdClient { stream })
    }

    /// Writes, with force unit access or without.
    ///
    /// # Errors
    /// When the connection ends, or the disk has an error.
    pub fn write(&mut self, offset: u64, bytes: &[u8], is_fua: bool) -> io::Result<()> {
        let flags = if is_fua { COMMAND_FUA } else { 0 };
        self.request(flags, 1, offset, bytes.len() as u32, bytes)
    }

    /// Flushes.
    ///
    /// # Errors
    /// As [`NbdClient::write`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.request(0, 3, 0, 0, &[])
    }

    fn request(
        &mut self,
        flags: u16,
        command: u16,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> io::Result<()> {
        let mut bytes = REQUEST_MAGIC.to_be_bytes().to_vec();
        bytes.extend(flags.to_be_bytes());
        bytes.extend(command.to_be_bytes());
        bytes.extend([0; 8]);
        bytes.extend(offset.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(data);
        self.stream.write_all(&bytes)?;
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply)?;
        match u32::from_be_bytes(part(&reply, 4)) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error as i32)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lying_disk::Lie;

    #[test]
    fn what_is_written_is_read_and_a_cut_ends_the_connection() {
        let nbd = Nbd::serve(LyingDisk::new(1 << 20, Lie::Honest, 1));
        let mut client = NbdClient::connect(nbd.address()).unwrap();
        client.write(4096, &[7; 4096], false).unwrap();
        client.flush().unwrap();
        client.write(8192, &[8; 512], true).unwrap();
        assert!(client.write(1 << 20, &[7; 4096], false).is_err(), "behind the end");
        nbd.cut();
        assert!(client.flush().is_err());
        assert_eq!((nbd.read(4096, 4096), nbd.read(8192, 512)), (vec![7; 4096], vec![8; 512]));
        NbdClient::connect(nbd.address()).unwrap().flush().unwrap();
    }
}
