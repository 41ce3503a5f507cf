//! What `cargo xtask bench s3` compares the client with, in separate processes so that the kernel
//! accounts their CPU time separately: a store that keeps nothing (`serve SIZE`, `serve-tls SIZE`),
//! and the minimum work of any client (`put`, `get`, each `PORT SIZE COUNT DEPTH`), optionally with
//! SHA-256 over the sent content (`-hashed`), with TLS's cipher over all content (`-sealed`), or
//! both.

mod sealing;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use sealing::{Line, Seal};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::error::Error;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;

type Done = Result<(), Box<dyn Error>>;

/// Size of a read.
const CHUNK: usize = 256 << 10;
const USAGE: &str =
    "serve|serve-tls SIZE, or put|get with -hashed, -sealed or both, PORT SIZE COUNT DEPTH";

fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", size] => serve(size.parse()?, false),
        ["serve-tls", size] => serve(size.parse()?, true),
        [what, port, size, count, depth]
            if ["put", "get"].contains(&what.split('-').next().unwrap_or_default()) =>
        {
            let mut client = Client::new(what, size.parse()?, count.parse()?)?;
            client.run(port.parse()?, depth.parse()?)
        }
        _ => Err(USAGE.into()),
    }
}

/// Whether to try again when the socket is ready.
fn later(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// One connection of the store.
struct Served {
    line: Line,
    /// The start of an incomplete head.
    head: Vec<u8>,
    /// Missing bytes of the body.
    due: u64,
    /// Bytes of the answer's head and body that are not sent yet.
    head_left: usize,
    body_left: usize,
    answers: bool,
}

/// The store: one thread receives and drops PUTs and answers GETs with `size` bytes, until stdin
/// ends. Prints its port on stdout.
fn serve(size: usize, encrypts: bool) -> Done {
    let tls = if encrypts { Some(sealing::server()?) } else { None };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", listener.local_addr()?.port());
    std::thread::spawn(|| {
        // The end of stdin, or an error, ends the store.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let queue = epoll::create(CreateFlags::CLOEXEC)?;
    let store = Store {
        full: format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").into_bytes(),
        body: vec![0x5a; size],
    };
    watch(&queue, &listener, u64::MAX)?;
    listener.set_nonblocking(true)?;
    let mut connections = HashMap::new();
    let mut chunk = vec![0; CHUNK];
    let mut events = Vec::with_capacity(256);
    loop {
        epoll::wait(&queue, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in events.drain(..) {
            let key = event.data.u64();
            if key == u64::MAX {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                let key = stream.as_raw_fd() as u64;
                watch(&queue, &stream, key)?;
                connections.insert(key, Served::new(Line::new(stream, tls.as_ref())?));
            } else if let Some(connection) = connections.get_mut(&key)
                && !connection.goes_on(&store, &mut chunk)
            {
                connections.remove(&key);
            }
        }
    }
}

fn watch(queue: &OwnedFd, what: &impl rustix::fd::AsFd, key: u64) -> io::Result<()> {
    // The listener is level-triggered; connections are edge-triggered and served until they block.
    let edge = if key == u64::MAX { EventFlags::empty() } else { EventFlags::ET };
    let flags = EventFlags::IN | edge | EventFlags::OUT;
    Ok(epoll::add(queue, what, EventData::new_u64(key), flags)?)
}

/// The answer to every GET.
struct Store {
    full: Vec<u8>,
    body: Vec<u8>,
}

const EMPTY: &[u8] = b"HTTP/1.1 200 OK\r\nETag: \"0\"\r\nContent-Length: 0\r\n\r\n";

impl Served {
    fn new(line: Line) -> Served {
        Served { line, head: Vec::new(), due: 0, head_left: 0, body_left: 0, answers: false }
    }

    /// Reads and writes until the socket blocks. Returns whether the connection is still open.
    fn goes_on(&mut self, store: &Store, chunk: &mut [u8]) -> bool {
        loop {
            let moved = match self.head_left + self.body_left {
                // A part of the earlier answer may be encrypted but not sent.
                0 if self.line.flush().is_err_and(|why| later(&why)) => return true,
                0 => self.receive(store, chunk),
                _ => self.send(store),
            };
            match moved {
                Ok(0) => return false,
                Ok(_) => {}
                Err(why) => return later(&why),
            }
        }
    }

    fn send(&mut self, store: &Store) -> io::Result<usize> {
        let head = if self.answers { &store.full[..] } else { EMPTY };
        let parts = [
            IoSlice::new(&head[head.len() - self.head_left..]),
            IoSlice::new(&store.body[store.body.len() - self.body_left..]),
        ];
        let sent = self.line.send(&parts)?;
        let of_head = sent.min(self.head_left);
        self.head_left -= of_head;
        self.body_left -= sent - of_head;
        Ok(sent)
    }

    fn receive(&mut self, store: &Store, chunk: &mut [u8]) -> io::Result<usize> {
        let came = self.line.receive(chunk)?;
        let mut rest = &chunk[..came];
        if self.due == 0 {
            self.head.extend_from_slice(rest);
            let Some(end) = self.head.windows(4).position(|four| four == b"\r\n\r\n") else {
                return Ok(came);
            };
            let text = String::from_utf8_lossy(&self.head[..end]).to_ascii_lowercase();
            let length = text.split_once("\r\ncontent-length:").map(|(_, rest)| rest);
            let length = length.and_then(|rest| rest.lines().next()?.trim().parse().ok());
            self.due = length.unwrap_or(0);
            self.answers = text.starts_with("get ");
            // The end of the received bytes belongs to the body.
            rest = &rest[came - (self.head.len() - end - 4)..];
            self.head.clear();
        }
        self.due = self.due.saturating_sub(rest.len() as u64);
        if self.due == 0 {
            self.head_left = if self.answers { store.full.len() } else { EMPTY.len() };
            self.body_left = if self.answers { store.body.len() } else { 0 };
        }
        Ok(came)
    }
}

/// The minimum work of a client.
struct Client {
    hashes: bool,
    /// The cipher for the content.
    seal: Option<Seal>,
    head: Vec<u8>,
    /// Bytes sent with a request, and bytes received.
    sends: usize,
    receives: usize,
    count: u64,
}

/// One connection of the client: the request, the bytes sent, and the bytes received.
struct Flow {
    stream: TcpStream,
    content: Vec<u8>,
    sent: usize,
    came: usize,
    /// Length of the answer, after its head was received.
    due: Option<usize>,
    start: Vec<u8>,
}

impl Client {
    fn new(what: &str, size: usize, count: u64) -> Result<Client, Box<dyn Error>> {
        let puts = what.starts_with("put");
        let (method, sends) = if puts { ("PUT", size) } else { ("GET", 0) };
        let head = format!("{method} /bench/object HTTP/1.1\r\nHost: x\r\nContent-Length: {sends}");
        Ok(Client {
            hashes: what.contains("-hashed"),
            seal: if what.ends_with("-sealed") { Some(Seal::new()?) } else { None },
            head: (head + "\r\n\r\n").into_bytes(),
            sends,
            receives: if puts { 0 } else { size },
            count,
        })
    }

    /// Makes all requests over `depth` connections.
    fn run(&mut self, port: u16, depth: u64) -> Done {
        let mut flows = Vec::new();
        for number in 0..depth {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let content = vec![number as u8; self.sends];
            let start = Vec::with_capacity(CHUNK);
            flows.push(Flow { stream, content, sent: 0, came: 0, due: None, start });
        }
        let mut chunk = vec![0; CHUNK];
        let (mut begun, mut done) = (0, 0);
        for flow in &mut flows {
            begun += 1;
            self.begin(flow)?;
        }
        while done < self.count {
            for at in self.ready(&flows)? {
                while self.moves(&mut flows[at], &mut chunk)? {
                    done += 1;
                    if begun == self.count {
                        break;
                    }
                    begun += 1;
                    self.begin(&mut flows[at])?;
                }
            }
        }
        Ok(())
    }

    fn ready(&self, flows: &[Flow]) -> io::Result<Vec<usize>> {
        let all = |flow: &Flow| self.head.len() + flow.content.len();
        let wants = flows.iter().map(|flow| {
            let sending = flow.sent < all(flow);
            PollFd::new(&flow.stream, if sending { PollFlags::OUT } else { PollFlags::IN })
        });
        let mut wants: Vec<PollFd<'_>> = wants.collect();
        poll(&mut wants, None)?;
        Ok((0..wants.len()).filter(|&at| !wants[at].revents().is_empty()).collect())
    }

    fn begin(&mut self, flow: &mut Flow) -> io::Result<()> {
        if self.hashes {
            std::hint::black_box(Sha256::digest(&flow.content));
        }
        if let Some(seal) = &mut self.seal {
            seal.pass(&mut flow.content)?;
        }
        (flow.sent, flow.came, flow.due) = (0, 0, None);
        flow.start.clear();
        self.send(flow)
    }

    /// Sends as much as the socket accepts.
    fn send(&self, flow: &mut Flow) -> io::Result<()> {
        while flow.sent < self.head.len() + flow.content.len() {
            let of_head = flow.sent.min(self.head.len());
            let parts = [
                IoSlice::new(&self.head[of_head..]),
                IoSlice::new(&flow.content[flow.sent - of_head..]),
            ];
            match flow.stream.write_vectored(&parts) {
                Ok(sent) => flow.sent += sent,
                Err(why) if later(&why) => break,
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// Sends and receives. Returns whether the answer is complete.
    fn moves(&mut self, flow: &mut Flow, chunk: &mut [u8]) -> io::Result<bool> {
        self.send(flow)?;
        if flow.sent < self.head.len() + flow.content.len() {
            return Ok(false);
        }
        loop {
            let came = match flow.stream.read(chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(came) => came,
                Err(why) if later(&why) => return Ok(false),
                Err(why) => return Err(why),
            };
            flow.came += came;
            if flow.due.is_none() {
                flow.start.extend_from_slice(&chunk[..came]);
                let end = flow.start.windows(4).position(|four| four == b"\r\n\r\n");
                flow.due = end.map(|end| end + 4 + self.receives);
            }
            // The received bytes are encrypted, not decrypted: this uses as much CPU time, and the client
            // can send plain text.
            if let Some(seal) = self.seal.as_mut().filter(|_| self.receives > 0) {
                seal.pass(&mut chunk[..came])?;
            }
            if flow.due == Some(flow.came) {
                return Ok(true);
            }
        }
    }
}
