//! `fathom s3` against a server in this process, which checks signatures and knows what it was asked.

use crate::common::s3::{SECRET, below, done, options, recorded, requests, s3, server};
use crate::common::{ARCHIVE, FATHOM, at_once, joined, run, scratch};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use test_servers::{S3Options, S3Server};

#[test]
fn what_was_put_is_counted_shown_and_taken_away_and_nothing_else() {
    let (server, directory) = (server(), scratch());
    server.memory.put("bucket", "somebody/else", vec![1]);
    let words =
        "put --size=64k --duration=3 --concurrent=4 --threads=2 --record=r.json --cpu-profile";
    let ran = done(&server, directory.path(), words);
    for line in ["PUT: THROUGHPUT ", " obj/s", "Fastest:", "50% Median:", "Slowest:", "TTFB:"] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
    assert!(ran.out.contains("client (fathom) "), "{}", ran.out);
    // The server is in this process.
    let of_server = format!(", process {})", std::process::id());
    let line = ran.out.lines().find(|line| line.contains(&of_server)).expect(&ran.out);
    let cpu: f64 = line.split_whitespace().rev().nth(3).unwrap().parse().unwrap_or(0.0);
    assert!(line.starts_with("server (") && cpu >= 0.0, "{line}");
    let text = std::fs::read_to_string(directory.path().join("r.json")).unwrap();
    assert!(!format!("{text}{}{}", ran.out, ran.err).contains(SECRET), "the key is shown");
    let record = recorded(directory.path());
    let code = &record.evidence.cpu_profile.as_ref().expect(&ran.err).code;
    assert!(code.iter().any(|code| code.pid == std::process::id()), "the server's: {code:?}");
    assert!(code.iter().any(|code| code.process == "fathom"), "{code:?}");
    assert!(ran.out.contains("CPU time by code"), "{}", ran.out);
    let (sent, good) = requests(&record, "PUT");
    assert!(sent > 10 && sent == good, "{sent} {good}");
    assert_eq!(server.count("PUT", 200), sent);
    let ios: u64 = record.jobs.iter().map(|job| job.results.write.ios).sum();
    assert_eq!(ios, good);
    assert_eq!(server.count("DELETE", 204), sent);
    assert_eq!(server.memory.keys("bucket"), [("somebody/else".to_owned(), 1)]);
}

#[test]
fn objects_that_were_left_serve_again_and_are_never_overwritten() {
    let (server, directory) = (server(), scratch());
    let at = directory.path();
    let set = "--prefix=mine/ --size=4k-64k --objects=12 --concurrent=4 --seed=7";
    let ran = done(&server, at, &format!("get {set} --duration=1 --no-cleanup --record=r.json"));
    assert!(ran.err.contains("left below /bucket/mine"), "{}", ran.err);
    let kept = below(&server, "mine/0/");
    assert_eq!(kept.len(), 12);
    assert!(kept.iter().any(|(_, size)| *size != kept[0].1), "{kept:?}");
    let (sent, good) = requests(&recorded(at), "GET");
    assert!(sent >= 12 && sent == good, "{sent} {good}");
    // Their sizes are known from their numbers.
    done(&server, at, &format!("get {set} --duration=1 --no-prepare --range-size=1k"));
    let refused = run(&mut s3(&server, at, &format!("get {set} --duration=1"))).expect(3);
    assert!(refused.err.contains("already has objects there"), "{}", refused.err);
    assert_eq!(below(&server, "mine/"), kept);
    let missing = "get --prefix=other --objects=1 --no-prepare --concurrent=1";
    let refused = run(&mut s3(&server, at, missing)).expect(3);
    assert!(refused.err.contains("no object is below other/"), "{}", refused.err);
}

#[test]
fn a_mix_has_its_shares_and_meets_nothing_that_is_gone() {
    let (server, directory) = (server(), scratch());
    let words = "mixed --size=4k --objects=40 --duration=2 --concurrent=16 --record=r.json";
    let ran = done(&server, directory.path(), words);
    let record = recorded(directory.path());
    let of = |name: &str| requests(&record, name).1 as f64;
    let all = of("GET") + of("HEAD") + of("PUT") + of("DELETE");
    for (name, share) in [("GET", 0.45), ("HEAD", 0.30), ("PUT", 0.15), ("DELETE", 0.10)] {
        assert!((of(name) / all - share).abs() < 0.03, "{name}: {} of {all}", of(name));
        let (sent, good) = requests(&record, name);
        assert_eq!(sent, good, "{name}\n{}", ran.out);
        assert!(ran.out.contains(&format!("{name}: ")), "{}", ran.out);
    }
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn uploads_in_parts_are_whole_objects() {
    let (server, directory) = (server(), scratch());
    let words = "multipart --size=11m --part-size=5m --part-concurrent=2 --concurrent=2 \
                 --prefix=parts --duration=1 --no-cleanup --record=r.json";
    let ran = done(&server, directory.path(), words);
    let record = recorded(directory.path());
    let objects = record.jobs[0].results.write.ios;
    assert!(objects > 0);
    assert_eq!(requests(&record, "UploadPart").1, 3 * objects);
    assert_eq!(requests(&record, "CompleteMultipartUpload").1, objects);
    let kept = below(&server, "parts/");
    assert_eq!(kept.len() as u64, objects);
    assert!(kept.iter().all(|(_, size)| *size == 11 << 20), "{kept:?}");
    assert_eq!(server.memory.open_uploads(), 0);
    assert!(ran.out.contains("MULTIPART: THROUGHPUT "), "{}", ran.out);
}

#[test]
fn deletes_and_stats_are_counted() {
    let server = server();
    let all = ["delete --objects=300", "stat --objects=30"];
    let rans = at_once(&all, |words| {
        let directory = scratch();
        let more = "--duration=1 --concurrent=4 --record=r.json --json";
        let ran = done(&server, directory.path(), &format!("{words} {more}"));
        (ran.json(), recorded(directory.path()), ran.err)
    });
    let [delete, stat] = &rans[..] else { panic!("two runs") };
    assert_eq!(requests(&delete.1, "DELETE"), (300, 300));
    assert!(!delete.2.contains("deleting"), "what the measurement deleted is gone: {}", delete.2);
    assert!(stat.2.contains("deleting the 30 objects"), "{}", stat.2);
    assert_eq!(stat.0["operations"][0]["operation"], "HEAD");
    assert!(requests(&stat.1, "HEAD").1 > 10);
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn operations_at_a_rate_show_the_response_time() {
    let (server, directory) = (server(), scratch());
    let words = "get --size=4k --objects=10 --rate=100 --duration=3 --record=r.json";
    let ran = done(&server, directory.path(), words);
    assert!(ran.out.contains("Response:"), "{}", ran.out);
    let (sent, _) = requests(&recorded(directory.path()), "GET");
    assert!((290..=301).contains(&sent), "{sent}");
}

#[test]
fn what_is_wrong_is_said_before_anything_is_put() {
    let directory = scratch();
    let at = directory.path();
    let refused = |command: &mut Command, words: &[&str]| {
        let ran = run(command.args(["--duration=1", "--size=1k"])).expect(3);
        let text = joined(&ran.err);
        words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
    };
    let right = server();
    let elsewhere = S3Server::with(options(), &["other"]);
    refused(&mut s3(&elsewhere, at, "put"), &["NoSuchBucket", "--make-bucket"]);
    refused(s3(&right, at, "put").env("AWS_SECRET_ACCESS_KEY", "x"), &["SignatureDoesNotMatch"]);
    refused(s3(&right, at, "put").env("AWS_ACCESS_KEY_ID", "x"), &["InvalidAccessKeyId"]);
    refused(s3(&right, at, "put").arg("--region=eu-north-1"), &["us-east-1"]);
    let ahead = S3Options { clock_ahead: 3600, ..options() };
    refused(&mut s3(&S3Server::with(ahead, &["bucket"]), at, "put"), &["RequestTimeTooSkewed"]);
    let mut gone = server();
    gone.stop();
    refused(&mut s3(&gone, at, "put"), &["--endpoint"]);
    assert_eq!(right.memory.keys("bucket"), []);
    let made = S3Server::with(options(), &[]);
    run(s3(&made, at, "put --make-bucket").args(["--duration=1", "--size=1k"])).expect(0);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let (server, directory) = (server(), scratch());
    for (words, said) in [
        ("put --objects=5", "--objects does not apply to put"),
        ("get --concurrent=3 --threads=2", "--threads=2"),
        ("get --size=4k:50", "add up to 50"),
        ("mixed --mix=10/10/10/20", "deletes"),
        ("mixed --mix=1/2", "invalid value '1/2' for '--mix <G/S/P/D>'"),
        ("get --access-key=a", "--secret-key"),
        ("get --prefix=a:b", "--prefix"),
    ] {
        let ran = run(&mut s3(&server, directory.path(), words)).expect(2);
        assert!(joined(&ran.err).contains(said), "{words}: {}", ran.err);
    }
    assert!(server.asked().iter().all(|asked| asked.method != "PUT"));
}

#[test]
fn a_signal_ends_it_and_its_objects_are_taken_away() {
    let (server, directory) = (server(), scratch());
    let mut command = s3(&server, directory.path(), "put --size=4k --duration=60 --record=r.json");
    command.env(ARCHIVE, "off").stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let began = Instant::now();
    while server.count("PUT", 200) < 20 {
        assert!(began.elapsed() < Duration::from_secs(30), "nothing is put");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{out}\n{err}");
    assert!(out.contains("PUT: THROUGHPUT") && out.contains("Ended early"), "{out}");
    assert_eq!(server.memory.keys("bucket"), []);
    assert_eq!(recorded(directory.path()).interrupted_by, Some(2));
}

#[test]
fn the_list_of_runs_names_requests_that_move_no_bytes() {
    let (server, directory) = (server(), scratch());
    let (at, archive) = (directory.path(), directory.path().join("archive.db"));
    for words in ["list --size=4k --objects=8 --duration=1", "delete --size=4k --objects=8"] {
        run(s3(&server, at, words).env(ARCHIVE, &archive)).expect(0);
    }
    let list = ["runs", "--json"];
    let rows = run(Command::new(FATHOM).args(list).env(ARCHIVE, &archive)).expect(0).json();
    for (row, request) in [(&rows[0], "DELETE"), (&rows[1], "LIST")] {
        assert_eq!(row["figures_of"], format!("{request}, IOPS are requests"), "{row}");
        assert!(row["bandwidth"].is_null() && row["iops"].is_number(), "{row}");
    }
}

#[test]
fn runs_are_archived_and_compared() {
    let (server, directory) = (server(), scratch());
    let at = directory.path();
    for name in ["a.json", "b.json"] {
        let words = format!("get --size=4k --objects=4 --duration=1 --record={name}");
        run(s3(&server, at, &words).env(ARCHIVE, at.join("archive.db"))).expect(0);
    }
    let runs = run(Command::new(FATHOM).arg("runs").env(ARCHIVE, at.join("archive.db"))).expect(0);
    assert_eq!(runs.out.matches(" s3 ").count(), 2, "{}", runs.out);
    let compare = ["compare", "a.json", "b.json"];
    let compared = run(Command::new(FATHOM).args(compare).current_dir(at));
    assert!([0, 4].contains(&compared.code), "{}", compared.err);
}
