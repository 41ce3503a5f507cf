//! `fathom s3` with several endpoints.

use crate::common::s3::{options, recorded, s3_at, server};
use crate::common::{Running, joined, run, scratch, wait_until};
use record::HostResult;
use std::path::Path;
use test_servers::S3Server;

/// Two servers of the same objects.
fn twins() -> (S3Server, S3Server) {
    let first = server();
    let second = S3Server::over(options(), first.memory.clone());
    (first, second)
}

fn both(first: &S3Server, second: &S3Server) -> String {
    format!("{},{}", first.host(), second.host())
}

/// What the workers together asked of each endpoint.
#[track_caller]
fn hosts(at: &Path) -> Vec<HostResult> {
    let jobs = recorded(at).jobs;
    let jobs: Vec<_> = jobs.iter().collect();
    judge::merged_exchange(&jobs).expect("they asked").hosts
}

#[test]
fn requests_are_spread_over_all_of_them() {
    let ((first, second), directory) = (twins(), scratch());
    let at = directory.path();
    let words = "mixed --size=4k --objects=40 --duration=2 --concurrent=8 --threads=2 \
                 --record=r.json";
    let ran = run(&mut s3_at(&both(&first, &second), at, words)).expect(0);
    for (method, status) in [("GET", 200), ("HEAD", 200), ("PUT", 200), ("DELETE", 204)] {
        let [one, other] = [&first, &second].map(|server| server.count(method, status) as f64);
        assert!(one.min(other) > 0.3 * (one + other), "{method}: {one} {other}");
    }
    let (hosts, endpoints) = (hosts(at), [first.host(), second.host()]);
    let named: Vec<&str> = hosts.iter().map(|host| host.endpoint.as_str()).collect();
    assert_eq!(named, endpoints);
    let good: u64 = hosts.iter().map(|host| host.good).sum();
    let record = recorded(at);
    let asked = record.jobs.iter().filter_map(|job| job.exchange.as_ref());
    let all: u64 = asked.flat_map(|asked| &asked.requests).map(|of| of.good).sum();
    assert_eq!(good, all);
    for host in &hosts {
        assert!(host.failed == 0 && host.whole.count() == host.good, "{host:?}");
        assert!(ran.out.contains(&format!(" * {}: {} requests", host.endpoint, host.good)));
    }
    assert_eq!(first.memory.keys("bucket"), []);
}

#[test]
fn one_that_goes_away_is_named_and_does_not_hold_up_the_others() {
    let ((first, mut second), directory) = (twins(), scratch());
    let at = directory.path();
    let words = "put --size=1k --duration=4 --concurrent=8 --record=r.json";
    let mut running = Running::start(&mut s3_at(&both(&first, &second), at, words));
    running.says("err", "put below");
    wait_until("puts at the second", || second.count("PUT", 200) > 20);
    second.stop();
    let ran = running.end();
    assert_eq!(ran.code, 1, "{}\n{}", ran.out, ran.err);
    let [one, other] = &hosts(at)[..] else { panic!("two hosts") };
    assert_eq!((one.failed, one.good), (0, first.count("PUT", 200)));
    assert!(other.good >= 20 && other.failed > 8, "{other:?}");
    // Eight in flight, each refused after a pause of a fiftieth of a second.
    assert!(other.failed < 8 * 50 * 5, "{}", other.failed);
    let said = joined(&ran.out);
    assert!(said.contains(&format!("at {}: no connection: ", other.endpoint)), "{said}");
    assert!(said.contains(&format!("{} failed", other.failed)), "{said}");
    assert_eq!(first.memory.keys("bucket"), [], "{}", ran.err);
}

#[test]
fn one_that_is_down_is_named_before_anything_is_put() {
    let ((first, mut second), directory) = (twins(), scratch());
    second.stop();
    let words = "put --size=1k --duration=1";
    let ran = run(&mut s3_at(&both(&first, &second), directory.path(), words)).expect(3);
    let said = joined(&ran.err);
    assert!(said.contains(&format!("{}: no connection", second.host())), "{said}");
    assert!(first.asked().iter().all(|asked| asked.method != "PUT"));
}
