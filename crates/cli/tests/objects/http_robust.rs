//! Object storage at its worst: no hang, no panic, every request accounted for exactly once.

use crate::common::objects::{Objects, objects, s3};
use crate::common::{FATHOM, Ran, Running, scratch, wait_until};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use test_servers::{Asked, Authority, Fault, Listening, Proxy, S3Options, S3Server, now_and_then};

#[test]
fn a_thousand_connections_from_one_worker() {
    let server = S3Server::start(&["bucket"]);
    // Whoever has been answered waits for the others: all are in flight at once.
    let slow = Fault::Delay(Duration::from_millis(500));
    let proxy = Proxy::start(server.address(), None, move |_| slow.clone());
    let job = format!(
        "{} rw=write bs=4k size=12000k iodepth=1000 filename=/bucket/object",
        s3(&proxy.host())
    );
    let ran = objects(0, &job);
    assert_eq!(ran.ios_and_errors(), [3000, 0]);
    assert_eq!(ran.requests("PUT"), [3000, 3000, 0]);
    assert_eq!((server.count("PUT", 200), proxy.count(200)), (3000, 3000));
    assert_eq!(proxy.connections(), 1000);
    assert_eq!(ran.exchanges().next().unwrap().connections, 1000);
    assert_eq!(server.memory.keys("bucket").len(), 3000);
}

#[test]
fn many_workers_with_connections_of_their_own_and_tls() {
    let authority = Authority::new();
    let listening = Listening { tls: Some(authority.identity(&["127.0.0.1"]).config()), at: None };
    let server = S3Server::with(S3Options { listening, ..S3Options::default() }, &["bucket"]);
    let job = format!(
        "{} https=on http_ca_file={} rw=write bs=4k size=64k iodepth=4 numjobs=50 \
         filename=/bucket/object",
        s3(&server.host()),
        authority.file().display()
    );
    let ran = objects(0, &job);
    assert_eq!(ran.ios_and_errors(), [800, 0]);
    assert_eq!(ran.requests("PUT"), [800, 800, 0]);
    assert_eq!(server.count("PUT", 200), 800);
}

/// So many requests in a hundred of one method meet a fault.
fn some(method: &'static str, seed: u64, fault: Fault) -> impl FnMut(&Asked) -> Fault + Send {
    let mut decide = now_and_then(seed, 10, fault);
    move |asked| if asked.method == method { decide(asked) } else { Fault::Pass }
}

#[test]
fn a_tenth_of_the_requests_reset() {
    let server = S3Server::start(&["bucket"]);
    let job = "bs=4k size=8m iodepth=32 continue_on_error=all filename=/bucket/object";
    // What is read has to be there.
    objects(0, &format!("{} rw=write {job}", s3(&server.host())));
    // Of one whose connection ends without a byte of an answer nobody knows whether it was closed
    // while idle: it is sent once more, and fails when that happens again.
    for (method, fault, most_fail) in [
        ("PUT", Fault::Reset, false),
        ("GET", Fault::Close, false),
        ("GET", Fault::ResetWithin(2000), true),
        ("GET", Fault::Truncate(2000), true),
    ] {
        let proxy = Proxy::start(server.address(), None, some(method, 7, fault.clone()));
        let ran = objects(1, &format!("{} rw=randrw {job}", s3(&proxy.host())));
        let [ios, errors] = ran.ios_and_errors();
        assert_eq!(ios + errors, 2048, "{fault:?}");
        let least = if most_fail { 50 } else { 1 };
        assert!(errors >= least && ios > 1500, "{fault:?}: {ios} and {errors}");
        let asked = proxy.asked();
        let mut failed = 0;
        for kind in ["PUT", "GET"] {
            let [sent, good, retries] = ran.requests(kind);
            let of_kind: Vec<_> = asked.iter().filter(|asked| asked.method == kind).collect();
            let answered = of_kind.iter().filter(|asked| asked.status == 200).count() as u64;
            assert_eq!((good, retries), (answered, 0), "{fault:?} {kind}");
            let all = of_kind.len() as u64;
            // Those that are sent again may not have come to the proxy at first.
            let again = ran.resent(kind);
            assert!((sent..=sent + again).contains(&all), "{fault:?} {kind}: {sent} {again} {all}");
            assert!(!most_fail || sent == all, "{fault:?} {kind}");
            failed += sent - good;
        }
        assert_eq!(failed, errors, "{fault:?}");
    }
}

#[test]
fn a_tenth_of_the_requests_reset_and_repeated() {
    let server = S3Server::start(&["bucket"]);
    let proxy = Proxy::start(server.address(), None, now_and_then(4, 10, Fault::Reset));
    let job = format!(
        "{} rw=write bs=4k size=8m iodepth=32 http_retries=10 filename=/bucket/object",
        s3(&proxy.host())
    );
    let ran = objects(0, &job);
    assert_eq!(ran.ios_and_errors(), [2048, 0]);
    let [sent, good, retries] = ran.requests("PUT");
    assert_eq!((good, sent), (2048, 2048 + retries));
    assert_eq!(proxy.count(200), 2048);
    assert_eq!(server.memory.keys("bucket").len(), 2048);
}

/// Starts `fathom run WORDS`, the words split at blanks.
#[track_caller]
fn started(at: &Path, words: &str) -> Running {
    let mut command = Command::new(FATHOM);
    command.arg("run").arg("--record=record.json");
    command.args(words.split_whitespace().map(|word| format!("--{word}")));
    Running::start(command.current_dir(at))
}

/// What it said and recorded.
#[track_caller]
fn kept(at: &Path, ran: Ran) -> Objects {
    let record = formats::load(&at.join("record.json"));
    Objects { record: record.unwrap_or_else(|e| panic!("{e}: {ran:?}")), ran }
}

#[test]
fn a_server_that_restarts_in_the_middle() {
    for (retries, tls) in [(0, false), (20, false), (20, true)] {
        let authority = Authority::new();
        let listening =
            Listening { tls: tls.then(|| authority.identity(&["127.0.0.1"]).config()), at: None };
        let options = S3Options { listening, ..S3Options::default() };
        let mut server = S3Server::with(options, &["bucket"]);
        let directory = scratch();
        let more = if tls {
            format!("https=on http_ca_file={}", authority.file().display())
        } else {
            String::new()
        };
        let words = format!(
            "{} {more} name=job ioengine=http rw=write bs=4k size=64m time_based runtime=4 \
             iodepth=16 http_retries={retries} http_timeout=5 continue_on_error=all \
             filename=/bucket/object",
            s3(&server.host())
        );
        let running = started(directory.path(), &words);
        wait_until("some objects", || server.count("PUT", 200) > 20);
        server.stop();
        let before = server.count("PUT", 200);
        std::thread::sleep(Duration::from_millis(300));
        server.start_again();
        wait_until("objects once more", || server.count("PUT", 200) > before + 20);
        let ran = kept(directory.path(), running.end());
        let [ios, errors] = ran.ios_and_errors();
        let [sent, good, repeated] = ran.requests("PUT");
        assert_eq!(good, ios, "{}", ran.said());
        assert_eq!(sent, good + errors + repeated, "{}", ran.said());
        if retries == 0 {
            assert!(errors > 0 && ran.ran.code == 1, "{ios} {errors} {}", ran.said());
        }
        // What was being answered when it stopped may have been lost on its way.
        let answered = server.count("PUT", 200);
        assert!((ios..=ios + 16).contains(&answered), "{answered} answered, {ios} good");
        assert!(!ran.ran.err.contains("panicked"), "{}", ran.ran.err);
    }
}

/// A proxy that is silent about the PUTs from number `from` on, and how many those are.
fn falling_silent(server: &S3Server, from: u64) -> (Proxy, Arc<AtomicU64>) {
    let silent = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&silent);
    let mut puts = 0;
    let decide = move |asked: &Asked| {
        puts += u64::from(asked.method == "PUT");
        if asked.method != "PUT" || puts <= from {
            return Fault::Pass;
        }
        counted.fetch_add(1, Ordering::Relaxed);
        Fault::Stall
    };
    (Proxy::start(server.address(), None, decide), silent)
}

/// A run of a job that a server with a minute of patience leaves waiting, ended by SIGINT once so
/// many requests have no answer.
#[track_caller]
fn ended_early(job: &str, silent: &AtomicU64, most: u64) -> Objects {
    let directory = scratch();
    let words =
        format!("name=job ioengine=http rw=write time_based runtime=60 http_timeout=60 {job}");
    let running = started(directory.path(), &words);
    wait_until("silence", || silent.load(Ordering::Relaxed) == most);
    running.signal(Signal::INT);
    let asked = Instant::now();
    let ran = running.end().expect(130);
    assert!(asked.elapsed() < Duration::from_secs(5), "it took {:?}", asked.elapsed());
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    kept(directory.path(), ran)
}

#[test]
fn who_ends_a_run_does_not_wait_for_a_silent_server() {
    let server = S3Server::start(&["bucket"]);
    let (proxy, silent) = falling_silent(&server, 40);
    let job = format!("{} bs=4k size=64m iodepth=8 filename=/bucket/object", s3(&proxy.host()));
    let ran = ended_early(&job, &silent, 8);
    assert_eq!(ran.record.interrupted_by, Some(2));
    assert_eq!(ran.ios_and_errors(), [40, 0], "{}", ran.said());
    assert_eq!(ran.requests("PUT"), [48, 40, 0]);
    let put = ran.exchanges().next().and_then(|exchange| exchange.of_kind("PUT")).unwrap();
    assert_eq!((put.failed(), put.unfinished), (0, 8));
    for part in ["sent=48, good=40, unfinished=8", "8 requests in flight at the interrupt"] {
        assert!(ran.said().contains(part), "{part}: {}", ran.said());
    }
}

#[test]
fn an_upload_that_is_given_up_leaves_no_parts() {
    let server = S3Server::start(&["bucket"]);
    let (proxy, silent) = falling_silent(&server, 8);
    let job = format!(
        "{} bs=64k object_set=put object_count=1000 object_part_size=16k object_part_concurrent=2 \
         iodepth=2 filename=/bucket/object",
        s3(&proxy.host())
    );
    let ran = ended_early(&job, &silent, 4);
    assert_eq!(ran.ios_and_errors()[1], 0, "{}", ran.said());
    let exchange = ran.exchanges().next().unwrap();
    let unfinished = |kind: &str| exchange.of_kind(kind).map_or(0, |of| of.unfinished);
    assert_eq!((unfinished("UploadPart"), exchange.of_kind("UploadPart").unwrap().good), (4, 8));
    assert_eq!(server.count("DELETE", 204), 2, "{:?}", server.asked());
}
