//! The ring against a small server in this process that keeps objects in memory.

use super::*;
use crate::engines::{IoSettings, RingFile};
use crate::hot::op::OpKind;
use crate::sys::buffers::BufferArea;
use plan::{Buffers, EngineOptions, Objects, Worker};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const BLOCK: u64 = 8192;
const DEPTH: u32 = 4;
/// Far longer than any request here takes.
const PATIENCE: Duration = Duration::from_secs(60);

type Kept = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// Starts a server that lives as long as the process. Returns its port.
fn serve(kept: Kept) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            thread::spawn(move || answer_all(&stream, &kept));
        }
    });
    port
}

/// Answers requests until an error, which ends the connection.
fn answer_all(stream: &TcpStream, kept: &Kept) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut words = String::new();
        reader.read_line(&mut words).ok().filter(|read| *read > 0)?;
        let mut words = words.split_whitespace();
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut length = 0;
        let mut range = None;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "range" => {
                    let (from, to) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
                    range = Some((from.parse::<usize>().ok()?, to.parse::<usize>().ok()?));
                }
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        writer.write_all(&answer(kept, &method, path, body, range)).ok()?;
    }
}

fn answer(
    kept: &Kept,
    method: &str,
    path: String,
    body: Vec<u8>,
    range: Option<(usize, usize)>,
) -> Vec<u8> {
    let mut kept = kept.lock().expect("nobody panics with it");
    let head = |status: &str, length: usize, more: &str| {
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{more}\r\n").into_bytes()
    };
    match (method, kept.get(&path), range) {
        ("PUT", _, _) => {
            kept.insert(path, body);
            head("201 Created", 0, "")
        }
        (_, None, _) => head("404 Not Found", 0, ""),
        ("GET", Some(content), None) => {
            [head("200 OK", content.len(), ""), content.clone()].concat()
        }
        ("GET", Some(content), Some((from, to))) => {
            let more = format!("Content-Range: bytes {from}-{to}/{}\r\n", content.len());
            let part = &content[from..=to];
            [head("206 Partial Content", part.len(), &more), part.to_vec()].concat()
        }
        _ => {
            kept.remove(&path);
            b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()
        }
    }
}

struct Rig {
    ring: Http,
    area: BufferArea,
}

impl Rig {
    fn new(port: u16, ranges: bool) -> Rig {
        let worker = Worker {
            objects: Some(Objects {
                endpoints: vec![("127.0.0.1".into(), port)],
                ranges,
                timeout: record::Nanos(20 * record::Nanos::SECOND.0),
                ..Objects::default()
            }),
            pattern: plan::Pattern {
                blocks: record::PerDirection::all(plan::BlockPlan::Fixed(BLOCK)),
                rw: plan::ReadWrite::Rw,
                ..plan::Pattern::default()
            },
            ..Worker::default()
        };
        let area = BufferArea::new(&Buffers::default(), DEPTH, BLOCK).expect("there is memory");
        let file = RingFile { path: "bucket/object".into(), fd: -1, start: 0, length: 1 << 20 };
        let ring = Http::open(&RingSetup {
            worker: &worker,
            depth: DEPTH,
            buffers: &area,
            options: &EngineOptions::default(),
            files: &[file],
            io: IoSettings {
                direct: false,
                ..IoSettings::direct(RunClock::start(Some("clock_gettime")))
            },
            overlaps: None,
        });
        let mut ring = ring.expect("it opens");
        ring.memory.keeps_received = true;
        Rig { ring, area }
    }

    /// Does one I/O of a block at each offset, all at once. Returns their results by slot.
    fn run(&mut self, kind: OpKind, offsets: &[u64]) -> Vec<i64> {
        for (slot, offset) in (0..).zip(offsets) {
            let op = Op { kind, file: 0, offset: *offset, length: BLOCK, tag: 0 };
            assert_eq!(self.ring.queue(slot, &op), Queued::Pending);
        }
        assert_eq!(self.ring.submit().expect("it takes them"), offsets.len() as u32);
        let mut results = vec![None; offsets.len()];
        let begun = std::time::Instant::now();
        while results.iter().any(Option::is_none) {
            assert!(begun.elapsed() < PATIENCE, "{results:?}");
            let count = self.ring.reap(1, DEPTH, None).expect("it can wait");
            for index in 0..count {
                let done = self.ring.completion(index);
                let times = self.ring.io_times(index).expect("requests have times");
                assert!(times.issued < times.ended);
                assert!(results[done.slot as usize].replace(done.result).is_none());
            }
        }
        results.into_iter().flatten().collect()
    }
}

#[test]
fn an_object_can_be_fetched_until_it_is_deleted() {
    let kept = Kept::default();
    let mut rig = Rig::new(serve(Arc::clone(&kept)), false);
    for slot in 0..DEPTH {
        rig.area.slice_mut(slot, BLOCK as usize).fill(slot as u8 + 1);
    }
    let offsets = [0, BLOCK, 2 * BLOCK, 3 * BLOCK];
    assert_eq!(rig.run(OpKind::Write, &offsets), [BLOCK as i64; 4]);
    let third = format!("/bucket/object_{}_{BLOCK}", 2 * BLOCK);
    assert_eq!(kept.lock().expect("it is free")[&third], vec![3; BLOCK as usize]);
    for slot in 0..DEPTH {
        rig.area.slice_mut(slot, BLOCK as usize).fill(0);
    }
    assert_eq!(rig.run(OpKind::Read, &offsets), [BLOCK as i64; 4]);
    assert!(rig.area.slice_mut(1, BLOCK as usize).iter().all(|byte| *byte == 2));
    assert_eq!(rig.run(OpKind::Trim, &offsets), [BLOCK as i64; 4]);
    assert!(kept.lock().expect("it is free").is_empty());
    let exchange = rig.ring.exchange().expect("it asked");
    assert_eq!(exchange.connections, u64::from(DEPTH));
    for (request, status, bytes) in [("PUT", 201, 4), ("GET", 200, 4), ("DELETE", 204, 0)] {
        let result = exchange.of_kind(request).expect(request);
        assert_eq!((result.sent, result.good, result.statuses[&status]), (4, 4, 4), "{request}");
        assert_eq!(result.bytes.0, bytes * BLOCK, "{request}");
        assert_eq!((result.whole.count(), result.first_byte.count()), (4, 4), "{request}");
    }
}

#[test]
fn a_missing_object_is_an_error_of_any_request() {
    let mut rig = Rig::new(serve(Kept::default()), false);
    assert_eq!(rig.run(OpKind::Read, &[0, BLOCK]), [-i64::from(libc::ENOENT); 2]);
    assert_eq!(rig.run(OpKind::Trim, &[0]), [-i64::from(libc::ENOENT)]);
    let notes = rig.ring.end();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("GET of /bucket/object_"), "{notes:?}");
    assert!(notes[0].contains("404"), "{notes:?}");
    let exchange = rig.ring.exchange().expect("it asked");
    assert_eq!(exchange.of_kind("GET").map(|get| (get.failed(), get.statuses[&404])), Some((2, 2)));
    assert_eq!(exchange.failures, notes);
}

#[test]
fn objects_that_are_files_are_read_by_range() {
    let kept = Kept::default();
    let content: Vec<u8> = (0..4 * BLOCK).map(|at| (at / BLOCK) as u8).collect();
    kept.lock().expect("it is free").insert("/bucket/object".into(), content);
    let mut rig = Rig::new(serve(kept), true);
    assert_eq!(rig.run(OpKind::Read, &[3 * BLOCK, BLOCK]), [BLOCK as i64; 2]);
    assert!(rig.area.slice_mut(0, BLOCK as usize).iter().all(|byte| *byte == 3));
    assert!(rig.area.slice_mut(1, BLOCK as usize).iter().all(|byte| *byte == 1));
}

#[test]
fn a_refused_connection_is_an_error_of_each_io() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let mut rig = Rig::new(port, false);
    assert_eq!(rig.run(OpKind::Write, &[0, BLOCK]), [-i64::from(libc::ECONNREFUSED); 2]);
    let exchange = rig.ring.exchange().expect("it asked");
    assert_eq!((exchange.connections, exchange.requests[0].failures["connect"]), (0, 2));
}

#[test]
fn an_interrupted_run_waits_only_briefly_for_a_silent_server() {
    // The kernel accepts connections for it, but it never answers.
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let mut rig = Rig::new(listener.local_addr().expect("it is bound").port(), false);
    let called_off = Arc::new(AtomicBool::new(false));
    let limit = WaitLimit::default().with_interrupt(Arc::clone(&called_off));
    rig.ring.begin(&limit).expect("nothing can fail");
    called_off.store(true, Ordering::Relaxed);
    let begun = std::time::Instant::now();
    assert_eq!(rig.run(OpKind::Write, &[0, BLOCK]), [-i64::from(libc::ECANCELED); 2]);
    let took = begun.elapsed();
    assert!(took >= Duration::from_nanos(INTERRUPT_GRACE_NS) && took < PATIENCE / 2, "{took:?}");
    let notes = rig.ring.end();
    assert!(notes[0].starts_with("2 requests in flight"), "{notes:?}");
    let exchange = rig.ring.exchange().expect("it asked");
    let put = exchange.of_kind("PUT").expect("it was asked");
    assert_eq!((put.sent, put.failed(), put.unfinished), (2, 0, 2));
}

#[test]
fn the_window_begins_with_the_last_reap() {
    let mut rig = Rig::new(serve(Kept::default()), false);
    rig.run(OpKind::Write, &[0, BLOCK]);
    let so_far = |rig: &mut Rig| rig.ring.exchange_so_far().expect("it asked");
    assert_eq!(so_far(&mut rig).of_kind("PUT").map(|put| put.sent), Some(2));
    // The loop counts a completion after it has checked whether the window begins.
    let op = Op { kind: OpKind::Write, file: 0, offset: 0, length: BLOCK, tag: 0 };
    assert_eq!(rig.ring.queue(0, &op), Queued::Pending);
    let begun = std::time::Instant::now();
    while rig.ring.reap(1, DEPTH, None).expect("it can wait") == 0 {
        assert!(begun.elapsed() < PATIENCE);
    }
    assert_eq!(so_far(&mut rig).of_kind("PUT").map(|put| put.sent), Some(2));
    rig.ring.window_begins(0);
    assert_eq!(rig.ring.completion(0).result, BLOCK as i64);
    let exchange = so_far(&mut rig);
    assert_eq!(exchange.of_kind("PUT").map(|put| put.sent), Some(1));
    assert_eq!(exchange.connections, 0);
    // Requests counted before the window do not belong to it.
    rig.ring.window_begins(0);
    assert_eq!(rig.ring.exchange().expect("it asked").requests, []);
}

#[test]
fn io_without_a_request_is_refused() {
    let mut rig = Rig::new(serve(Kept::default()), false);
    let op = Op { kind: OpKind::Fsync, file: 0, offset: 0, length: 0, tag: 0 };
    assert_eq!(rig.ring.queue(0, &op), Queued::Done(-i64::from(libc::EINVAL)));
}
