use super::*;
use crate::clock::RunClock;
use crate::engines::IoSettings;
use crate::sys::buffers::BufferArea;
use plan::{Buffers, EngineOptions, RdmaUse, Socket, Worker};

/// A side that was served, whose connection ended while the other side had told of `credit` I/Os.
fn served(credit: u64) -> Rdma {
    let socket = Socket { waits: true, rdma: Some(RdmaUse::default()), ..Socket::default() };
    let worker = Worker { socket: Some(socket), ..Worker::default() };
    let area = BufferArea::new(&Buffers::default(), 1, 4096).expect("there is memory");
    let mut ring = Rdma::open(&RingSetup {
        worker: &worker,
        depth: 1,
        buffers: &area,
        options: &EngineOptions::default(),
        files: &[],
        io: IoSettings::direct(RunClock::start(Some("clock_gettime"))),
        overlaps: None,
    })
    .expect("it opens");
    ring.role = Role::Serves;
    ring.credit = credit;
    ring
}

/// Both the last count and the end of the connection may be there when this side looks.
#[test]
fn ios_told_of_before_the_connection_ended_take_place() {
    let mut ring = served(2);
    let op = Op { kind: OpKind::Read, file: 0, offset: 0, length: 4096, tag: 0 };
    for _ in 0..2 {
        assert_eq!(ring.queue(0, &op), Queued::Pending);
        assert_eq!(ring.reap(1, 1, None).expect("it can wait"), 1);
        assert_eq!(ring.completion(0).result, 4096);
    }
    assert_eq!(ring.queue(0, &op), Queued::Done(-i64::from(libc::ESHUTDOWN)));
}
