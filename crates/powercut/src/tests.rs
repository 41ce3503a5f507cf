//! The whole way in one process: writes over NBD to a disk that lies, promises over TCP, the cut, the check.

use crate::check::{Outcome, StreamResult, check_stream, sectors};
use crate::class::Class;
use crate::client::{Access, Client, ClientError};
use crate::promises::Promises;
use crate::protocol::{Reply, Request};
use crate::sector::SECTOR;
use crate::server::Server;
use crate::session::{Session, TargetIdentity, TargetShape, Write};
use crate::storage::Storage;
use crate::write::{End, Progress, session, write};
use remote::tls::{ClientTls, ServerTls};
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use test_servers::{Lie, LyingDisk, Nbd, NbdClient};

const DISK: usize = 256 << 10;

/// Serves promises of a directory on a free port. Returns its address.
fn serve(directory: &Path, token: Option<&str>) -> String {
    serving(Server::new(directory, token.map(str::to_owned)).unwrap())
}

fn serving(server: Server) -> String {
    let server = Arc::new(server);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || server.serve(&listener));
    address
}

fn connect(address: &str, token: Option<&str>) -> Result<Client, ClientError> {
    let access = Access { token: token.map(str::to_owned), tls: None };
    Client::connect(address, access, Duration::ZERO)
}

fn fetch(client: &mut Client, run: u64) -> Promises {
    match client.request(&Request::Fetch(run)).unwrap() {
        Reply::Promises(promises) => *promises,
        reply => panic!("{reply:?}"),
    }
}

/// A stream over NBD.
struct NbdStorage {
    client: NbdClient,
    class: Class,
    start: u64,
}

impl Storage for NbdStorage {
    fn write(&mut self, write: &Write, bytes: &[u8]) -> io::Result<()> {
        let offset = self.start + write.block.offset;
        self.client.write(offset, bytes, self.class.is_write_through())
    }

    fn commit(&mut self, _: &[Write]) -> io::Result<()> {
        if self.class.is_write_through() { Ok(()) } else { self.client.flush() }
    }
}

fn new_session(run: u64, classes: &[Class]) -> Session {
    let kind = TargetShape::Device;
    let identity = TargetIdentity { kind, size: DISK as u64, ..TargetIdentity::default() };
    session(run, run, identity, classes, Some(1), DISK as u64).unwrap()
}

/// Writes to a disk until its power is cut, and checks it.
fn cut_once(address: &str, lie: Lie, classes: &[Class], seed: u64) -> Vec<StreamResult> {
    let nbd = Nbd::serve(LyingDisk::new(DISK, lie, seed));
    let session = new_session(seed, classes);
    let storage = |stream: &crate::session::Stream| NbdStorage {
        client: NbdClient::connect(nbd.address()).unwrap(),
        class: stream.class,
        start: stream.start,
    };
    let storages = session.streams.iter().map(storage).collect();
    let mut client = connect(address, None).unwrap();
    let progress = Progress::default();
    let cut = || {
        while progress.promises.load(Ordering::Relaxed) < 10 + seed % 20 {
            std::thread::sleep(Duration::from_micros(100));
        }
        nbd.cut();
        while progress.ended.load(Ordering::Relaxed) < session.streams.len() as u64 {
            std::thread::sleep(Duration::from_micros(100));
        }
    };
    let ends = write(&session, storages, &mut client, &progress, cut).unwrap();
    // The first to fail asks the others to end.
    assert!(ends.iter().any(|end| matches!(end, End::Target(..))), "{ends:?}");
    let promises = fetch(&mut client, session.run);
    assert!(promises.damage.is_empty(), "{promises:?}");
    let check = |stream| {
        let stream: &crate::session::Stream = stream;
        let durable = promises.durable.get(&stream.id).copied().unwrap_or(0);
        check_stream(&session, stream, durable, |promise, found| {
            let length = usize::from(promise.block.sectors) * SECTOR;
            let bytes = nbd.read((stream.start + promise.block.offset) as usize, length);
            found.extend(sectors(&bytes));
        })
    };
    session.streams.iter().map(check).collect()
}

#[test]
fn a_hundred_cuts_of_an_honest_disk_find_nothing() {
    let directory = testbed::scratch();
    let address = serve(directory.path(), None);
    let mut kept = 0;
    for seed in 0..100 {
        let classes = [Class::DirectFdatasync, Class::Dsync, Class::Append];
        for result in cut_once(&address, Lie::Honest, &classes, seed) {
            assert!(result.losses.is_empty(), "cut {seed}: {result:?}");
            kept += result.kept;
        }
    }
    assert!(kept > 500, "{kept}");
}

#[test]
fn each_lie_is_found_within_ten_cuts() {
    let directory = testbed::scratch();
    let address = serve(directory.path(), None);
    let lies = [
        (Lie::FlushIgnored, Class::DirectFdatasync, None),
        (Lie::FuaIgnored, Class::Fua, None),
        (Lie::Torn, Class::DirectFdatasync, Some(Outcome::Torn)),
        (Lie::Reordered, Class::DirectFdatasync, None),
        (Lie::HalfFlush, Class::DirectFdatasync, None),
        (Lie::Stale, Class::DirectFdatasync, None),
        (Lie::Misdirected, Class::DirectFdatasync, Some(Outcome::Misplaced)),
    ];
    for ((lie, class, mark), base) in lies.into_iter().zip((1000..).step_by(100)) {
        let found = (base..base + 10).any(|seed| {
            let results = cut_once(&address, lie, &[class], seed);
            let mut losses = results.iter().flat_map(|result| &result.losses);
            losses.any(|loss| mark.is_none_or(|mark| loss.outcome == mark))
        });
        assert!(found, "{lie:?} was not found within ten cuts");
    }
}

#[test]
fn a_token_is_wanted_on_both_sides() {
    let directory = testbed::scratch();
    let guarded = serve(directory.path(), Some("a token of length"));
    assert!(connect(&guarded, Some("a token of length")).is_ok());
    let refusal = |token| connect(&guarded, token).map(|_| ()).unwrap_err().to_string();
    assert!(refusal(Some("another token")).contains("the token is not the server's"));
    assert!(refusal(None).contains("give --token-file"));
    let open = serve(directory.path(), None);
    let refused = connect(&open, Some("a token of length")).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("it has no token"), "{refused}");
}

#[test]
fn promises_outlive_a_restart_of_the_server() {
    let directory = testbed::scratch();
    let mut client = connect(&serve(directory.path(), None), None).unwrap();
    let session = new_session(5, &[Class::Fsync]);
    let durable = |batches| Request::Durable { run: 5, stream: 0, batches };
    client.request(&Request::Start(session.clone())).unwrap();
    client.request(&durable(1)).unwrap();
    client.request(&durable(2)).unwrap();
    // Another server in place of the first one, which died while it wrote.
    let path = directory.path().join("0000000000000005.promises");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"12345678 3 {\"dur");
    std::fs::write(&path, bytes).unwrap();
    let mut client = connect(&serve(directory.path(), None), None).unwrap();
    client.request(&Request::Start(session.clone())).unwrap();
    client.request(&durable(2)).unwrap();
    client.request(&durable(3)).unwrap();
    let promises = fetch(&mut client, 5);
    assert_eq!((promises.durable[&0], promises.session.as_ref()), (3, Some(&session)));
    assert_eq!(promises.damage.len(), 1, "{promises:?}");
}

#[test]
fn sessions_are_in_the_order_in_which_they_began_whatever_clocks_say() {
    let directory = testbed::scratch();
    let mut client = connect(&serve(directory.path(), None), None).unwrap();
    for run in [9, 4, 6] {
        let started_unix_ms = 1_000_000 - run;
        let session = Session { started_unix_ms, ..new_session(run, &[Class::Fsync]) };
        client.request(&Request::Start(session)).unwrap();
    }
    // The first file is as if it were made last.
    let first = directory.path().join("0000000000000009.promises");
    let bytes = std::fs::read(&first).unwrap();
    std::fs::remove_file(&first).unwrap();
    std::fs::write(&first, bytes).unwrap();
    let listed = match client.request(&Request::List).unwrap() {
        Reply::Sessions(kept) => kept.iter().map(|kept| kept.run).collect::<Vec<_>>(),
        reply => panic!("{reply:?}"),
    };
    assert_eq!(listed, [9, 4, 6]);
}

#[test]
fn an_encrypted_connection_needs_the_authority_of_the_server() {
    let directory = testbed::scratch();
    let authority = test_servers::Authority::new();
    let (certificate, key) = authority.identity(&["127.0.0.1"]).files(directory.path());
    let tls = ServerTls::of_files(&certificate, &key).unwrap();
    let server = Server::new(directory.path(), Some("a token of length".into())).unwrap();
    let address = serving(server.encrypted(tls));
    let reach = |authority: &test_servers::Authority, token: &str| {
        let tls = Some(ClientTls::of_file(&authority.file()).unwrap());
        let access = Access { token: Some(token.into()), tls };
        Client::connect(&address, access, Duration::ZERO)
    };
    let mut client = reach(&authority, "a token of length").unwrap();
    client.request(&Request::Start(new_session(5, &[Class::Fsync]))).unwrap();
    let durable = Request::Durable { run: 5, stream: 0, batches: 1 };
    client.another().unwrap().request(&durable).unwrap();
    assert_eq!(fetch(&mut client, 5).durable[&0], 1);
    let refusal = |reached: Result<Client, ClientError>| reached.map(drop).unwrap_err().to_string();
    assert!(refusal(reach(&authority, "another token")).contains("the token is not the server's"));
    let stranger = test_servers::Authority::new();
    let refused = refusal(reach(&stranger, "a token of length"));
    assert!(refused.contains("certificate"), "{refused}");
    // A server without encryption.
    let plain = serve(directory.path(), None);
    let tls = Some(ClientTls::of_file(&authority.file()).unwrap());
    let refused = refusal(Client::connect(&plain, Access { token: None, tls }, Duration::ZERO));
    assert!(refused.contains("cannot be reached"), "{refused}");
    // Files that are none.
    assert!(ServerTls::of_files(&key, &key).is_err() && ClientTls::of_file(&key).is_err());
    assert!(ServerTls::of_files(&certificate, &certificate).is_err());
}

#[test]
fn two_testers_with_one_number_are_noticed() {
    let directory = testbed::scratch();
    let mut client = connect(&serve(directory.path(), None), None).unwrap();
    client.request(&Request::Start(new_session(5, &[Class::Fsync]))).unwrap();
    let refused = |client: &mut Client, request: &Request| match client.request(request) {
        Err(error @ ClientError::Refused { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let other = Request::Start(new_session(5, &[Class::Dsync]));
    assert!(refused(&mut client, &other).contains("another tester"));
    let skipped = Request::Durable { run: 5, stream: 0, batches: 3 };
    assert!(refused(&mut client, &skipped).contains("two testers"));
    assert!(refused(&mut client, &Request::Fetch(6)).contains("no promises of"));
}

#[test]
fn a_server_that_is_not_there_or_no_server_of_ours_is_named() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let error = connect(&free, None).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains(&free) && error.contains("cannot be reached"), "{error}");
    let nbd = Nbd::serve(LyingDisk::new(DISK, Lie::Honest, 1));
    let error = connect(&nbd.address().to_string(), None).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("not fathom's protocol"), "{error}");
    assert!(connect("no-such-host.invalid:1", None).is_err());
}

#[test]
fn a_size_without_room_for_the_threads_is_refused() {
    let identity = TargetIdentity::default();
    let classes = [Class::Fsync, Class::Fsync];
    assert!(session(1, 1, identity, &classes, Some(2), 100 << 10).unwrap_err().contains("too few"));
}
