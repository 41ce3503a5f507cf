//! An archive on a server of PostgreSQL, as its users meet it.

use crate::common::*;
use std::path::Path;
use std::process::Command;
use test_servers::Postgres;

/// `fathom ARGUMENTS` with an archive on the server, the user's data in a directory.
#[track_caller]
fn with(server: &Postgres, directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(FATHOM);
    command.args(arguments).current_dir(directory).env("XDG_DATA_HOME", directory.join("data"));
    run(command.env(ARCHIVE, server.address("owner", "postgres")))
}

/// A run that is over at once.
fn tiny(name: &str) -> Vec<String> {
    ["run", "--ioengine=null", "--size=1m", "--rw=read", "--name"]
        .iter()
        .chain(&[name])
        .map(|word| (*word).to_owned())
        .collect()
}

#[track_caller]
fn run_tiny(server: &Postgres, directory: &Path, name: &str) -> Ran {
    let words = tiny(name);
    with(server, directory, &words.iter().map(String::as_str).collect::<Vec<_>>()).expect(0)
}

/// Names of the jobs that the server has, in the order in which the runs were made.
fn on_server(server: &Postgres) -> String {
    server.sql("postgres", "SELECT string_agg(job, ' ' ORDER BY started_ms) FROM fathom.runs")
}

#[test]
fn runs_wait_for_a_server_that_is_away_and_follow() {
    let directory = scratch();
    let at = directory.path();
    let mut server = Postgres::start(None);
    let ran = run_tiny(&server, at, "first");
    assert!(ran.out.contains("\nRun:    ") && ran.err.is_empty(), "{}{}", ran.out, ran.err);
    server.kill();
    let ran = run_tiny(&server, at, "second");
    for word in ["not archived yet", "127.0.0.1", "wait in", "data/fathom/waiting/"] {
        assert!(ran.err.contains(word), "{word}: {}", ran.err);
    }
    assert!(!ran.err.contains("s3cret"), "{}", ran.err);
    // Every run of a sweep waits, three of each cell, as one set.
    let job = ["sweep", "job.fio", "--vary", "iodepth=1,2", "-o", "cells"];
    std::fs::write(at.join("job.fio"), "[swept]\nioengine=null\nsize=1m\nrw=read\n").unwrap();
    with(&server, at, &job).expect(0);
    server.resume();
    let ran = run_tiny(&server, at, "last");
    assert!(ran.err.contains("7 runs that waited in"), "{}", ran.err);
    assert_eq!(on_server(&server), format!("first second {}last", "swept ".repeat(6)));
    let sets = "SELECT count(DISTINCT set_id) FROM fathom.runs WHERE job = 'swept' AND iops > 0";
    assert_eq!(server.sql("postgres", sets), "1", "with their figures");
    let again = run_tiny(&server, at, "end");
    assert!(again.err.is_empty(), "nothing waits any more: {}", again.err);
}

#[test]
fn runs_on_a_server_are_listed_copied_and_granted() {
    let directory = scratch();
    let at = directory.path();
    let server = Postgres::start(None);
    let none = with(&server, at, &["runs"]).expect(0);
    assert!(none.err.contains("no archive yet") && none.out.contains("No runs"), "{}", none.err);
    run_tiny(&server, at, "alpha");
    run_tiny(&server, at, "beta");
    with(&server, at, &["runs", "tag", "latest", "base"]).expect(0);
    let listed = with(&server, at, &["runs", "job=beta", "--json"]).expect(0);
    assert_eq!(listed.json()[0]["tags"][0], "base");
    let shown = with(&server, at, &["runs", "show", "latest~1"]).expect(0);
    assert!(shown.out.contains("alpha: (groupid=0"), "{}", shown.out);
    let copied = with(&server, at, &["runs", "copy", "--to", "copy.db"]).expect(0);
    assert!(copied.err.contains("copy.db: 2 runs copied\n"), "{}", copied.err);
    let copied = with(&server, at, &["runs", "copy", "job=beta", "--to=copy.db"]).expect(0);
    assert!(copied.err.contains("0 runs copied, 1 run there already"), "{}", copied.err);
    let both = |archive: &[&str]| {
        let ran = with(&server, at, &[&["runs", "--json"], archive].concat()).expect(0);
        ran.json()
    };
    assert_eq!(both(&["--archive=copy.db"]), both(&[]));
    server.add_user("alice");
    let granted = with(&server, at, &["runs", "grant", "reader", "alice"]).expect(0);
    assert!(granted.err.contains("alice may read in postgres://owner@127"), "{}", granted.err);
    let address = format!("--archive={}", server.address("alice", "postgres"));
    assert_eq!(both(&[&address]), both(&[]));
    let refused = with(&server, at, &["runs", "rm", "latest", &address]);
    assert!(refused.code == 1 && refused.err.contains("permission denied"), "{}", refused.err);
    let unknown = with(&server, at, &["runs", "grant", "reader", "bob"]);
    assert!(unknown.code == 1 && unknown.err.contains("bob"), "{}", unknown.err);
}

#[test]
fn no_password_is_kept_and_a_wrong_address_stops_nothing_late() {
    let directory = scratch();
    let at = directory.path();
    let server = Postgres::start(None);
    let address = format!("--archive={}", server.address("owner", "postgres"));
    let words: Vec<String> = tiny("secret").into_iter().chain([address]).collect();
    let mut command = Command::new(FATHOM);
    run(command.args(words).current_dir(at)).expect(0);
    let shown = with(&server, at, &["runs", "export", "latest", "-o", "run.json"]).expect(0);
    let record = std::fs::read_to_string(at.join("run.json")).unwrap();
    assert!(record.contains("postgres://owner@127.0.0.1"), "{}", shown.err);
    assert!(!record.contains("s3cret"));
    let wrong = ["--archive=postgres://me@db:http/x".to_owned()];
    let mut command = Command::new(FATHOM);
    let ran = run(command.args(tiny("x").into_iter().chain(wrong)).current_dir(at)).expect(2);
    assert!(ran.err.contains("expected postgres://USER@HOST:PORT/DATABASE"), "{}", ran.err);
}
