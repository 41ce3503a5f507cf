//! Runs on servers that are followed as runs here are: reports meanwhile, states, triggers, replays,
//! many clients and many servers at once.

use crate::common::served::{LONG, Served, client, job_file};
use crate::common::{Running, scratch, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;

const NULL: &str = "[a]\nioengine=null\nsize=1g\nrw=read\nrate_iops=2000\ntime_based\nruntime=2\n";

fn reads(document: &Value, job: usize) -> u64 {
    document["client_stats"][job]["read"]["total_ios"].as_u64().unwrap()
}

#[test]
fn a_server_takes_many_clients_at_once() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let mut all: Vec<(String, Running)> = (0..16)
        .map(|number| {
            let (own, name) = (served.client(), format!("n{number}"));
            let named = format!("--name={name}");
            let arguments = [&[own.as_str(), &named], &LONG[1..]].concat();
            (name, Running::fathom("run", directory.path(), &arguments))
        })
        .collect();
    // Each would go on for minutes: that all have begun shows that none waits for another.
    for (name, client) in &mut all {
        client.says("out", "Starting 1 process");
        wait_until(name, || directory.path().join(format!("{name}.0.0")).exists());
    }
    for (name, client) in all {
        client.signal(Signal::INT);
        let ran = client.end();
        assert_eq!(ran.code, 130, "{}", ran.err);
        assert!(ran.out.contains(&format!("{name}: (groupid=0, jobs=1)")), "{}", ran.out);
        assert_eq!(ran.out.matches("(groupid=0").count(), 1, "{}", ran.out);
    }
}

#[test]
fn each_server_gets_its_own_jobs() {
    let directory = scratch();
    let servers: Vec<(tempfile::TempDir, Served)> = (0..3)
        .map(|_| {
            let there = scratch();
            let served = Served::start(there.path(), &[]);
            (there, served)
        })
        .collect();
    for (name, text) in [("x", "[x]\nrw=read\n"), ("y", "[y]\nrw=write\n"), ("z", "[z]\nrw=read\n")]
    {
        job_file(directory.path(), &format!("{name}.fio"), text);
    }
    job_file(servers[1].0.path(), "own.fio", "[own]\nsize=32k\nrw=write\n");
    let hosts = format!("{}\n{}\n", servers[0].1.address, servers[2].1.address);
    job_file(directory.path(), "hosts", &hosts);
    let middle = servers[1].1.client();
    let arguments = ["--output-format=json", "--size=16k", "--client=hosts", "x.fio", "y.fio"];
    let more = [middle.as_str(), "z.fio", "--remote-config=own.fio", "--bs=8k"];
    let ran = client("run", directory.path(), &[&arguments[..], &more].concat()).expect(0);
    let stats = ran.json()["client_stats"].as_array().unwrap().clone();
    let seen: Vec<(String, u64, String)> = stats
        .iter()
        .map(|job| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let options = &job["job options"];
            (text(&job["jobname"]), job["port"].as_u64().unwrap(), text(&options["bs"]))
        })
        .collect();
    let port = |at: usize| servers[at].1.address.split_once(',').unwrap().1.parse::<u64>().unwrap();
    let named = |name: &str, at: usize, bs: &str| (name.to_owned(), port(at), bs.to_owned());
    assert_eq!(
        seen[..4],
        [named("x", 0, ""), named("y", 0, ""), named("x", 2, ""), named("y", 2, "")]
    );
    assert_eq!(seen.len(), 7, "{seen:?}");
    let (own, all) = (seen[4..6].to_vec(), &seen[6].0);
    assert!(own.iter().all(|job| job.1 == port(1)), "{own:?}");
    let mut names: Vec<&str> = own.iter().map(|job| job.0.as_str()).collect();
    names.sort_unstable();
    assert_eq!((names, all.as_str()), (vec!["own", "z"], "All clients"));
}

/// A server that says hello in another version; its address.
fn of_version(protocol: u32) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let hello = format!(
            r#"{{"Hello":[{{"protocol":{protocol},"version":"7.7.7"}},{{"name":"x","system":"",
            "architecture":"","bits":64,"big_endian":false,"fio_version":"fio-3.42"}}]}}"#
        );
        let length = u32::try_from(hello.len()).unwrap().to_be_bytes();
        stream.write_all(&[b"FTHM", &length[..], hello.as_bytes()].concat()).unwrap();
        // Until the client hangs up.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    format!("--client=127.0.0.1,{port}")
}

#[test]
fn a_server_of_another_version_is_left_alone() {
    let directory = scratch();
    for protocol in [1, 99] {
        let at = of_version(protocol);
        let ran = client("run", directory.path(), &[&at, "--name=a", "--size=4k"]).expect(1);
        let versions = ran.err.contains("fathom 7.7.7") && ran.err.contains("same fathom");
        assert!(versions && ran.err.contains(&format!("version {protocol} ")), "{}", ran.err);
    }
}

#[test]
fn servers_report_at_each_interval_and_when_asked() {
    let directory = scratch();
    job_file(directory.path(), "null.fio", NULL);
    let (one, two) = (Served::start(directory.path(), &[]), Served::start(directory.path(), &[]));
    let to = [one.client(), two.client()];
    let arguments =
        ["--status-interval=400ms", "--output-format=json", &to[0], "null.fio", &to[1], "null.fio"];
    let ran = client("run", directory.path(), &arguments).expect(0);
    let documents: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(documents.len() >= 3, "{}", ran.out);
    let last = documents.last().unwrap();
    for server in 0..2 {
        assert!(
            documents.windows(2).all(|pair| reads(&pair[0], server) <= reads(&pair[1], server))
        );
        let of = |document: &Value| document["fathom"]["clients"][server]["interval"].clone();
        let numbers: Vec<u64> =
            documents.iter().map(|d| of(d)["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=documents.len() as u64).collect::<Vec<_>>());
        let since = |document: &Value| of(document)["workers"][0]["read"]["total_ios"].as_u64();
        let sum: u64 = documents.iter().filter_map(since).sum();
        assert_eq!(sum, reads(last, server));
    }
    assert!(reads(last, 0) > reads(&documents[0], 0));
}

#[test]
fn clients_and_servers_are_asked_how_far_they_are() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let mut asking = served.asked_for_long(directory.path());
    let reports = |said: &str| said.matches("<").count() > 0 && said.contains("read: IOPS=");
    asking.signal(Signal::USR1);
    asking.says("out", "long: (groupid=0, jobs=1)");
    assert!(reports(&asking.said("out")));
    served.server.signal(Signal::USR1);
    wait_until("a second report", || {
        asking.said("out").matches("long: (groupid=0, jobs=1)").count() == 2
    });
    asking.signal(Signal::INT);
    let ran = asking.end();
    assert_eq!(ran.code, 130, "{}", ran.err);
    assert_eq!(ran.out.matches("long: (groupid=0, jobs=1)").count(), 3, "{}", ran.out);
}

#[test]
fn the_bandwidth_of_all_servers_is_logged_here() {
    let (directory, there) = (scratch(), scratch());
    job_file(directory.path(), "null.fio", NULL);
    let (one, two) = (Served::start(there.path(), &[]), Served::start(there.path(), &[]));
    let to = [one.client(), two.client()];
    let arguments =
        ["--bandwidth-log", "--output-format=json", &to[0], "null.fio", &to[1], "null.fio"];
    let document = client("fio", directory.path(), &arguments).expect(0).json();
    let log = std::fs::read_to_string(directory.path().join("agg-read_bw.log")).unwrap();
    let mut before = 0;
    let kib: u64 = log
        .lines()
        .map(|line| line.split(", ").map(|n| n.parse().unwrap()).collect::<Vec<u64>>())
        .map(|line| line[1] * (line[0] - std::mem::replace(&mut before, line[0])))
        .sum();
    let moved = (reads(&document, 0) + reads(&document, 1)) as f64 * 4096.0;
    assert!((kib as f64 * 1.024 - moved).abs() <= moved * 0.001, "{kib} {moved}");
    assert!(!there.path().join("agg-read_bw.log").exists());
}

#[test]
fn states_are_here_before_any_command_of_the_trigger_runs() {
    let (directory, there) = (scratch(), scratch());
    let served = Served::start(there.path(), &[]);
    let own = served.client();
    let state = directory.path().join("127.0.0.1-long-0-verify.state").display().to_string();
    let remote = format!("--trigger-remote=test -s {state} && touch there");
    let local = format!("--trigger=test -s {state} && touch here");
    let job = ["--rw=write", "--verify=crc32c", "--trigger-timeout=500ms", &remote, &local];
    let arguments = [&[own.as_str()], &LONG[..], &job].concat();
    let ran = client("run", directory.path(), &arguments).expect(0);
    // Both have ended before the report: nothing is to be waited for.
    assert!(there.path().join("there").exists() && directory.path().join("here").exists());
    assert!(ran.out.contains("long: (groupid=0, jobs=1)"), "{}", ran.out);
    let failing =
        [&[own.as_str()], &LONG[..], &["--trigger-timeout=300ms", "--trigger-remote=exit 9"]];
    let ran = client("run", directory.path(), &failing.concat()).expect(1);
    assert!(ran.err.contains("--trigger-remote='exit 9': the command ended with exit code 9"));
}

#[test]
fn states_that_the_client_keeps_are_loaded_by_its_servers() {
    let (directory, there) = (scratch(), scratch());
    let served = Served::start(there.path(), &[]);
    let own = served.client();
    let job = ["--name=j", "--filename=data", "--bs=4k", "--verify=crc32c", "--size=64k"];
    let base = [&[own.as_str()], &job[..]].concat();
    let half = [&base[..], &["--rw=write", "--io_size=32k", "--do_verify=0"]].concat();
    client("fio", directory.path(), &half).expect(0);
    let left = there.path().join("local-j-0-verify.state");
    std::fs::rename(&left, directory.path().join("127.0.0.1-j-0-verify.state")).unwrap();
    let more = ["--rw=read", "--verify_state_load=1", "--output-format=json"];
    let ran = client("fio", directory.path(), &[&base[..], &more].concat()).expect(0);
    assert_eq!(reads(&ran.json(), 0), 8);
    std::fs::remove_file(&left).unwrap();
    std::fs::remove_file(directory.path().join("127.0.0.1-j-0-verify.state")).unwrap();
    let ran = client("fio", directory.path(), &[&base[..], &more].concat()).expect(1);
    assert!(ran.err.contains("verify_state_load"), "{}", ran.err);
}

#[test]
fn servers_replay_and_record() {
    let (directory, there) = (scratch(), scratch());
    let served = Served::start(there.path(), &[]);
    let own = served.client();
    let log = "fio version 2 iolog\ndata add\ndata open\ndata read 0 4096\ndata read 8192 4096\ndata close\n";
    std::fs::write(there.path().join("in.log"), log).unwrap();
    let replay = |name: &str| {
        let named = format!("--read_iolog={name}");
        let job =
            [own.as_str(), "--name=r", &named, "--write_iolog=out.log", "--output-format=json"];
        client("fio", directory.path(), &job)
    };
    assert_eq!(reads(&replay("in.log").expect(0).json(), 0), 2);
    let written = std::fs::read_to_string(there.path().join("out.log")).unwrap();
    assert!(written.contains("data read 8192 4096"), "{written}");
    let ran = replay("none.log").expect(1);
    assert!(ran.err.contains("read_iolog=none.log"), "{}", ran.err);
}

#[test]
fn servers_mind_what_a_run_here_minds() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let own = served.client();
    let with = |arguments: &[&str]| {
        client(
            "run",
            directory.path(),
            &[&[own.as_str(), "--name=a", "--size=16k"], arguments].concat(),
        )
    };
    let warned = ["--warnings-fatal", "--rw=write", "--latency_target=10ms", "--runtime=1"];
    let here = [&["--name=a", "--size=16k"], &warned[..]].concat();
    for ran in [client("run", directory.path(), &here), with(&warned)] {
        let ran = ran.expect(2);
        assert!(ran.err.contains("latency_target without latency_window"), "{}", ran.err);
        assert!(!directory.path().join("a.0.0").exists());
    }
    let ran = with(&["--rw=write", "--write_bw_log=none/x"]).expect(2);
    assert!(ran.err.contains("its directory is not there"), "{}", ran.err);
    let ran = with(&["--rw=read", "--debug=time"]).expect(0);
    assert!(ran.out.contains("> time     ") && ran.out.contains("drift_ppm="), "{}", ran.out);
}
