//! A small object store on loopback whose speed is known: it answers every GET with the same bytes,
//! late or not at all, and receives every PUT.

use anyhow::Result;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How the store behaves.
#[derive(Clone, Copy, Default)]
pub struct Behaviour {
    /// Time from a request to its answer.
    pub delay: Duration,
    /// Of so many requests one is refused with S3's SlowDown; 0: none.
    pub refuses_each: u64,
    /// Bytes of every object.
    pub bytes: usize,
}

/// A store that answers until it is dropped.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    stops: Arc<AtomicBool>,
}

impl Server {
    /// Starts it.
    pub fn start(behaviour: Behaviour) -> Result<Server> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let stops = Arc::new(AtomicBool::new(false));
        let (stop, count) = (Arc::clone(&stops), Arc::new(AtomicU64::new(0)));
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let count = Arc::clone(&count);
                // A client that goes away ends its connection.
                std::thread::spawn(move || drop(serve(&connection, behaviour, &count)));
            }
        });
        Ok(Server { address, stops })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        // Wakes the thread that listens.
        drop(TcpStream::connect(self.address));
    }
}

const SLOW_DOWN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>SlowDown</Code>\
    <Message>Please reduce your request rate.</Message></Error>";

fn serve(mut connection: &TcpStream, behaviour: Behaviour, count: &AtomicU64) -> Result<()> {
    connection.set_nodelay(true)?;
    let body = vec![0x5a; behaviour.bytes];
    let mut reader = BufReader::with_capacity(256 << 10, connection);
    loop {
        let Some((method, length)) = head(&mut reader)? else { return Ok(()) };
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
        std::thread::sleep(behaviour.delay);
        let number = count.fetch_add(1, Ordering::Relaxed);
        if behaviour.refuses_each > 0 && number.is_multiple_of(behaviour.refuses_each) {
            let head = format!(
                "HTTP/1.1 503 Slow Down\r\nContent-Length: {}\r\n\r\n{SLOW_DOWN}",
                SLOW_DOWN.len()
            );
            connection.write_all(head.as_bytes())?;
            continue;
        }
        let length = if method == "PUT" { 0 } else { body.len() };
        let tag = "ETag: \"d41d8cd98f00b204e9800998ecf8427e\"";
        let head = format!("HTTP/1.1 200 OK\r\n{tag}\r\nContent-Length: {length}\r\n\r\n");
        connection.write_all(head.as_bytes())?;
        if method == "GET" {
            connection.write_all(&body)?;
        }
    }
}

/// Method and length of the body of the next request; `None` at the end of the connection.
fn head(reader: &mut impl BufRead) -> Result<Option<(String, u64)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let method = line.split(' ').next().unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(Some((method, length)));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
}
