//! `fathom s3` as a picture on a terminal, which script(1) makes, and what becomes of objects when a
//! signal comes.

use crate::common::s3::{SECRET, options, recorded, s3, server};
use crate::common::tty::{SEEN_RUNNING, TAKEN, Tty};
use crate::common::{Running, joined, scratch, wait_until};
use rustix::process::Signal;
use test_servers::{Fault, Proxy, S3Options, S3Server, each};

/// `fathom s3 WORDS --live` on a terminal.
#[track_caller]
fn live(server: &S3Server, words: &str) -> Tty {
    on_a_terminal(server, &format!("{words} --live"))
}

/// `fathom s3 WORDS` on a terminal.
#[track_caller]
fn on_a_terminal(server: &S3Server, words: &str) -> Tty {
    let settings = format!(
        "AWS_ACCESS_KEY_ID=minioadmin AWS_SECRET_ACCESS_KEY={SECRET} FATHOM_ARCHIVE=off \
         AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null "
    );
    let place = format!("--endpoint={} --bucket=bucket", server.host());
    Tty::dressed(&settings, "s3", 30, 110, &format!("{words} {place}"))
}

#[test]
fn it_is_drawn_and_a_key_ends_it_with_its_figures() {
    let server = server();
    let mut tty = live(&server, "get --size=4k --objects=8 --concurrent=2 --duration=60");
    tty.shows(TAKEN);
    for part in ["get", SEEN_RUNNING, "p99.9", "IO/s"] {
        tty.shows(part);
    }
    tty.press("q");
    tty.ended("130");
    let out = tty.out();
    let end = out.rfind("GET: THROUGHPUT").expect("the figures");
    assert!(out.rfind("\x1b[?1049l").expect("the terminal was given back") < end, "{out}");
    assert!(out.contains("deleting the 8 objects"), "{out}");
    assert!(!out.contains(SECRET));
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn a_short_one_is_drawn_to_its_end() {
    let server = server();
    let tty = live(&server, "mixed --size=4k --objects=20 --concurrent=4 --rate=200 --duration=3");
    tty.shows(TAKEN);
    tty.ended("0");
    assert!(tty.out().contains("Response:"), "{}", tty.out());
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn without_a_terminal_there_is_no_picture() {
    let (server, directory) = (server(), scratch());
    let words = "put --size=1k --duration=1 --live";
    let ran = crate::common::run(&mut s3(&server, directory.path(), words)).expect(2);
    assert!(ran.err.contains("--live: standard output is not a terminal"), "{}", ran.err);
    assert_eq!(server.asked(), []);
}

#[test]
fn a_long_one_is_drawn_unasked() {
    let server = server();
    let mut tty = on_a_terminal(&server, "put --size=1k --concurrent=1 --rate=20 --duration=60");
    tty.shows(SEEN_RUNNING);
    tty.press("q");
    tty.ended("130");
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn a_signal_while_objects_are_put_takes_them_away() {
    let (server, directory) = (server(), scratch());
    let words = "get --size=1k --objects=1000000 --duration=1";
    let mut running = Running::start(&mut s3(&server, directory.path(), words));
    running.says("err", "putting 1000000 objects");
    wait_until("some objects", || server.count("PUT", 200) > 20);
    running.signal(Signal::INT);
    let ran = running.end();
    assert_eq!(ran.code, 130, "{}\n{}", ran.out, ran.err);
    assert!(ran.err.contains("fathom: deleting the "), "{}", ran.err);
    assert_eq!(server.memory.keys("bucket"), []);
    assert_eq!(
        server.count("GET", 200),
        server.asked().iter().filter(|a| a.method == "GET").count() as u64
    );
}

#[test]
fn a_signal_while_objects_are_deleted_leaves_the_rest_and_says_where() {
    let (server, directory) = (server(), scratch());
    let slow = each("DELETE", Fault::Delay(std::time::Duration::from_millis(300)));
    let proxy = Proxy::start(server.address(), None, slow);
    let words = "put --size=1k --duration=1 --concurrent=8 --prefix=mine --record=r.json";
    let mut command = crate::common::s3::s3_at(&proxy.host(), directory.path(), words);
    let mut running = Running::start(&mut command);
    running.says("err", "fathom: deleting the ");
    let before = server.memory.keys("bucket").len();
    running.signal(Signal::INT);
    let ran = running.end();
    let said = joined(&ran.err);
    assert!(said.contains("objects below /bucket/mine may not have been deleted"), "{said}");
    let left = server.memory.keys("bucket").len();
    assert!(left > 0 && left <= before, "{left} of {before}");
    assert!(ran.out.contains("PUT: THROUGHPUT"), "{}", ran.out);
    assert!(recorded(directory.path()).jobs[0].exchange.is_some());
}

#[test]
fn what_was_measured_is_shown_before_anything_is_deleted() {
    let (server, directory) = (server(), scratch());
    let proxy = Proxy::start(server.address(), None, each("DELETE", Fault::Stall));
    let words = "put --size=1k --duration=1 --concurrent=8";
    let mut command = crate::common::s3::s3_at(&proxy.host(), directory.path(), words);
    let mut running = Running::start(&mut command);
    running.says("err", "fathom: deleting the ");
    assert!(running.said("out").contains("PUT: THROUGHPUT"), "{}", running.said("out"));
}

#[test]
fn what_cannot_be_deleted_is_told() {
    let (server, directory) = (S3Server::with(S3Options { ..options() }, &["bucket"]), scratch());
    let denied = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".to_vec();
    let proxy = Proxy::start(server.address(), None, each("DELETE", Fault::Instead(denied)));
    let words = "put --size=1k --duration=1 --concurrent=8 --prefix=mine";
    let ran =
        crate::common::run(&mut crate::common::s3::s3_at(&proxy.host(), directory.path(), words))
            .expect(0);
    let said = joined(&ran.err);
    assert!(said.contains("may not have been deleted: the server answered 403"), "{said}");
    assert!(ran.out.contains("PUT: THROUGHPUT"), "{}", ran.out);
}
