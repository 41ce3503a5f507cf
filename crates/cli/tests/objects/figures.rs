//! Figures of requests to object stores wherever figures are asked for by name: compared, held
//! against limits, over time, taken out, reported.

use crate::common::objects::s3;
use crate::common::{FATHOM, Ran, run, scratch};
use std::path::Path;
use std::process::Command;
use test_servers::{S3Options, S3Server};

/// `fathom WORDS` with an archive in this directory.
fn fathom(at: &Path, words: &str) -> Ran {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", FATHOM]).args(words.split_whitespace());
    run(command.env("FATHOM_ARCHIVE", at.join("runs.db")).current_dir(at))
}

/// `fathom run` of a job on four objects of 64 KiB.
fn ran(at: &Path, server: &S3Server, more: &str) -> Ran {
    let store = format!(" {}", s3(&server.host())).replace(' ', " --");
    let job =
        "--name=objects --ioengine=http --filename=/bucket/o --bs=64k --size=256k --iodepth=2";
    fathom(at, &format!("run {job}{store} {more}"))
}

/// Four objects, and two archived runs that fetch them over and over.
fn fetched(at: &Path) -> S3Server {
    let server = S3Server::start(&["bucket"]);
    ran(at, &server, "--rw=write --no-archive").expect(0);
    for _ in 0..2 {
        ran(at, &server, "--rw=randread --time_based --runtime=2").expect(0);
    }
    server
}

#[test]
fn requests_are_compared_listed_and_taken_out_by_their_first_byte() {
    let directory = scratch();
    let at = directory.path();
    let _server = fetched(at);
    let compared = fathom(at, "compare latest~1 latest --json --metrics=p50,failed").json();
    let directions = compared["jobs"][0]["directions"].as_array().unwrap();
    let told: Vec<[Option<&str>; 2]> =
        directions.iter().map(|d| [d["direction"].as_str(), d["latency_is"].as_str()]).collect();
    assert_eq!(told, [["read", "completion"], ["GET", "first byte"]].map(|pair| pair.map(Some)));
    assert_eq!(directions[1]["metrics"].as_array().unwrap().len(), 1, "nothing failed");

    let trend = fathom(at, "trend --metric=get.ttfb.p99 --json").expect(0);
    assert!(trend.out.contains("\"GET.ttfb.p99\""), "{}", trend.out);
    let unknown = fathom(at, "trend --metric=get.ttfb.p98").expect(2);
    assert!(unknown.err.contains("ttfb.p99"), "{}", unknown.err);
    let listed = |filter: &str| fathom(at, &format!("runs {filter} --json")).expect(0).json();
    assert_eq!(listed("ttfb.p50<100s").as_array().map(Vec::len), Some(2));
    assert_eq!(listed("GET.ttfb.p50>100s").as_array().map(Vec::len), Some(0));

    fathom(at, "runs export latest -o p.csv --what=percentiles").expect(0);
    fathom(at, "report latest -o r.md").expect(0);
    for (file, part) in [("p.csv", ",objects,GET,first byte,99,"), ("r.md", "| GET | first byte |")]
    {
        let text = std::fs::read_to_string(at.join(file)).unwrap();
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn requests_are_held_against_limits_of_their_own() {
    let directory = scratch();
    let at = directory.path();
    let server = fetched(at);
    let read = |accept: &str| {
        ran(at, &server, &format!("--rw=randread --time_based --runtime=1 --accept={accept}"))
    };
    let passed = read("ttfb.p50<100s --accept=get.failed<20%").expect(0);
    assert!(passed.out.contains("pass      objects ttfb.p50<100s (GET):"), "{}", passed.out);
    assert!(passed.out.contains("pass      objects get.failed<20%: 0 %"), "{}", passed.out);
    let failed = read("GET.ttfb.p50<1ns").expect(4);
    assert!(failed.out.contains("fail      objects GET.ttfb.p50<1ns:"), "{}", failed.out);
    let nothing = read("PUT.ttfb.p50<1s").expect(4);
    assert!(nothing.out.contains("no job sent such a request"), "{}", nothing.out);
}

#[test]
fn requests_of_a_mix_are_told_as_what_they_are() {
    let (directory, server) = (scratch(), S3Server::start(&["bucket"]));
    let at = directory.path();
    let S3Options { key_id, key, .. } = S3Options::default();
    let words = format!(
        "s3 mixed --endpoint={} --bucket=bucket --access-key={key_id} --secret-key={} --size=4k \
         --objects=20 --duration=2 --concurrent=2",
        server.host(),
        key.unwrap_or_default()
    );
    fathom(at, &words).expect(0);
    fathom(at, "report latest -o r.md").expect(0);
    let table = std::fs::read_to_string(at.join("r.md")).unwrap();
    for row in ["| GET | first byte |", "| HEAD | whole |", "| DELETE | first byte |"] {
        assert!(table.contains(row), "{row}\n{table}");
    }
    assert!(!table.contains("sync"), "{table}");
    let shown = fathom(at, "runs show latest").expect(0).out;
    assert!(!shown.contains("fsync/fdatasync"), "{shown}");
    assert!(shown.contains("HEADs ("), "what was measured: {shown}");
}
