//! `fathom run --metrics`: figures for Prometheus while a run goes on.

use crate::common::{FATHOM, Running, fathom, free_port, is_served, run, scratch, wait_until};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

const JOB: [&str; 6] = [
    "--name=reader",
    "--ioengine=null",
    "--rw=randread",
    "--size=1g",
    "--time_based",
    "--runtime=60",
];

/// What is answered to a request, from its first line on.
#[track_caller]
fn asked(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[track_caller]
fn metrics(port: u16) -> String {
    asked(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

/// The value of a sample.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

/// Prometheus's own tool finds nothing wrong with the metrics.
#[track_caller]
fn promtool_accepts(metrics: &str) {
    let check = "promtool check metrics";
    let mut promtool = Command::new("sh");
    let input = scratch();
    let path = input.path().join("metrics");
    std::fs::write(&path, metrics).unwrap();
    let ran = run(promtool.args(["-c", &format!("{check} < '{}'", path.display())]));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{metrics}");
}

#[track_caller]
fn served(port: u16, arguments: &[&str]) -> Running {
    let directory = scratch();
    let option = format!("--metrics={port}");
    let running =
        Running::fathom("run", directory.path(), &[arguments, &[option.as_str()]].concat());
    wait_until("the metrics", || is_served("tcp", port));
    running
}

#[test]
fn figures_are_served_while_it_runs_and_count_up() {
    let port = free_port();
    let running = served(port, &JOB);
    let series = |name: &str| {
        format!("{name}{{pid=\"{}\",job=\"reader\",direction=\"read\"}}", running.pid())
    };
    let ios = series("fathom_job_ios_total");
    wait_until("I/Os in the metrics", || value(&metrics(port), &ios).is_some_and(|ios| ios > 0.0));
    let before = value(&metrics(port), &ios).unwrap();
    wait_until("more of them", || value(&metrics(port), &ios).unwrap() > before);
    let text = metrics(port);
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.contains("content-type: text/plain; version=0.0.4"), "{text}");
    assert!(value(&text, &series("fathom_job_iops")).unwrap() > 0.0);
    assert!(text.contains("# TYPE fathom_job_ios_total counter\n"));
    promtool_accepts(text.split_once("\r\n\r\n").unwrap().1);
    for path in ["/", "/../etc/passwd", "/metrics/../..", "/metrics%00"] {
        let answer =
            asked(port, &format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    assert!(asked(port, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    running.signal(Signal::INT);
    running.end().expect(130);
}

#[test]
fn a_hundred_that_say_nothing_keep_nobody_from_the_figures_and_not_the_run_from_its_end() {
    let port = free_port();
    let running = served(port, &JOB);
    let slow: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost").unwrap();
            stream
        })
        .collect();
    assert!(metrics(port).starts_with("HTTP/1.1 200 OK\r\n"));
    running.signal(Signal::INT);
    running.end().expect(130);
    drop(slow);
}

#[test]
fn an_address_that_cannot_be_had_is_told_before_anything_runs() {
    let directory = scratch();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().port().to_string();
    let job = ["--name=a", "--rw=write", "--size=64k", "--filename=f"];
    for address in [taken.as_str(), "256.0.0.1:1", "nowhere", "127.0.0.1:99999", ""] {
        let option = format!("--metrics={address}");
        let ran = fathom(directory.path(), &[&job[..], &[option.as_str()]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{address}: {ran:?}");
        assert!(ran.err.contains("metrics"), "{}", ran.err);
        assert!(!directory.path().join("f").exists(), "{address}");
    }
}

#[test]
fn repeats_are_served_through_all_their_runs() {
    let port = free_port();
    let quick =
        ["--name=a", "--ioengine=null", "--rw=read", "--size=1g", "--time_based", "--runtime=2"];
    let running = served(port, &[&quick[..], &["--repeat=2"]].concat());
    wait_until("the second run", || metrics(port).contains("run=\"2\""));
    running.end().expect(0);
    let ran =
        run(Command::new(FATHOM).args(["run", "--metrics=1", "--client=localhost", "--name=a"]));
    assert_eq!(ran.code, 2, "{ran:?}");
}
