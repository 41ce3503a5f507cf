//! `fathom s3` with several endpoints.

mod common;

use common::s3::{options, recorded, s3_at, server};
use common::{run, scratch};
use stores::S3Server;

/// Two servers of the same objects.
fn twins() -> (S3Server, S3Server) {
    let first = server();
    let second = S3Server::over(options(), first.memory.clone());
    (first, second)
}

fn both(first: &S3Server, second: &S3Server) -> String {
    format!("{},{}", first.host(), second.host())
}

#[test]
fn requests_are_spread_over_all_of_them() {
    let ((first, second), directory) = (twins(), scratch());
    let at = directory.path();
    let words = "mixed --size=4k --objects=40 --duration=2 --concurrent=8 --threads=2 \
                 --record=r.json";
    run(&mut s3_at(&both(&first, &second), at, words)).expect(0);
    for (method, status) in [("GET", 200), ("HEAD", 200), ("PUT", 200), ("DELETE", 204)] {
        let [one, other] = [&first, &second].map(|server| server.count(method, status) as f64);
        assert!(one.min(other) > 0.3 * (one + other), "{method}: {one} {other}");
    }
    let exchange = recorded(at).jobs[0].exchange.clone().unwrap();
    assert_eq!(exchange.endpoints, [first.host(), second.host()]);
    assert_eq!(first.memory.keys("bucket"), []);
}
