//! The client against small servers: one thread listens, one serves each connection.

mod failures;
mod framing;
mod many;
mod tls;

use crate::{Action, Client, Contents, Endpoint, Failure, Outcome, Request, Store};
use socket2::SockRef;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longest time that a test waits.
const PATIENCE: Duration = Duration::from_secs(30);

struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Server {
    /// A server that calls `serve` with the number of each connection, from 0, and the connection.
    fn new(serve: impl Fn(u64, TcpStream) + Send + Sync + 'static) -> Server {
        Server::at("127.0.0.1:0", serve)
    }

    fn at(address: &str, serve: impl Fn(u64, TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind(address).unwrap();
        // A thousand clients may connect before the first one is accepted.
        SockRef::from(&listener).listen(4096).unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stopped, serve) = (accepted.clone(), stop.clone(), Arc::new(serve));
        let listen = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                stream.set_write_timeout(Some(PATIENCE)).unwrap();
                let (serve, number) = (serve.clone(), count.fetch_add(1, Ordering::SeqCst));
                let serve = move || serve(number, stream);
                thread::Builder::new().stack_size(128 << 10).spawn(serve).unwrap();
            }
        };
        Server { address, accepted, stop, listener: Some(thread::spawn(listen)) }
    }

    /// A server that answers each request on each connection with the same bytes.
    fn saying(answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::new(move |_, stream| {
            let mut stream = BufReader::new(stream);
            while request(&mut stream).is_some() {
                if stream.get_mut().write_all(&answer).is_err() {
                    return;
                }
            }
        })
    }

    /// A server that answers the first request of a connection with these bytes, and closes.
    fn closing(answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::new(move |_, stream| {
            let mut stream = BufReader::new(stream);
            if request(&mut stream).is_some() {
                let _ = stream.get_mut().write_all(&answer);
            }
        })
    }

    fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst)
    }

    fn store(&self) -> Store {
        Store {
            endpoints: vec![endpoint("127.0.0.1", self.address)],
            timeout: PATIENCE,
            ..Store::default()
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn endpoint(host: &str, address: SocketAddr) -> Endpoint {
    Endpoint { host: host.into(), port: address.port() }
}

/// Head and body of the next request; `None`: the connection has ended.
fn request(stream: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length =
        |line: &str| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok();
    let mut body = vec![0; head.lines().find_map(length).unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

fn ok(content: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content.len());
    [head.as_bytes(), content].concat()
}

/// Breaks a connection instead of closing it.
fn reset(stream: TcpStream) {
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
}

/// Holds a connection until the client closes it.
fn hold(mut stream: TcpStream) {
    let mut sink = [0; 4096];
    while stream.read(&mut sink).is_ok_and(|bytes| bytes > 0) {}
    let _ = stream.shutdown(Shutdown::Both);
}

fn clock() -> impl Fn() -> u64 {
    let begin = Instant::now();
    move || begin.elapsed().as_nanos() as u64
}

fn client(store: Store, most: u32) -> Client<impl Fn() -> u64> {
    Client::open(Arc::new(store), most, clock()).unwrap()
}

/// The content to send, and a buffer for each slot unless content is dropped.
struct Buffers {
    content: Vec<u8>,
    rooms: Option<Vec<Vec<u8>>>,
}

impl Buffers {
    fn new(content: impl Into<Vec<u8>>) -> Buffers {
        Buffers { content: content.into(), rooms: None }
    }

    fn rooms(slots: usize, length: usize) -> Buffers {
        Buffers { content: Vec::new(), rooms: Some(vec![vec![0; length]; slots]) }
    }
}

impl Contents for Buffers {
    fn content(&self, _: u32) -> &[u8] {
        &self.content
    }

    fn room(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.rooms.as_mut().map(|rooms| rooms[slot as usize].as_mut_slice())
    }
}

fn get(length: u64) -> Request<'static> {
    Request { action: Action::Get { range: None }, path: "/b/key", length }
}

fn put(length: u64) -> Request<'static> {
    Request { action: Action::Put, path: "/b/key", length }
}

/// Runs one request to its end.
fn run<C: Fn() -> u64>(
    client: &mut Client<C>,
    request: &Request<'_>,
    contents: &mut Buffers,
) -> Outcome {
    client.start(0, request, contents);
    client.progress(1, Some(PATIENCE), contents).unwrap();
    client.next_outcome().expect("an outcome in time")
}

fn failure(outcome: Outcome) -> Failure {
    outcome.result.expect_err("a failure")
}

/// The failure of a GET of `length` bytes at a server.
fn failing(server: &Server, length: u64) -> Failure {
    failure(run(&mut client(server.store(), 1), &get(length), &mut Buffers::new("")))
}
