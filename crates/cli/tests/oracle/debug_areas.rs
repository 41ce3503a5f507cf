//! `--debug`: every area, held against the oracle's lines where it has any.

use crate::common::served::{Served, client};
use crate::common::{FATHOM, FIO, run, scratch};
use std::path::Path;
use std::process::Command;

/// Programs that trace: ours under the name fio, and the oracle.
const PROGRAMS: [&[&str]; 2] = [&[FATHOM, "fio"], &[FIO]];

/// What a program traces of an area, numbers and names of I/Os taken out.
fn traced(program: &[&str], directory: &Path, area: &str, arguments: &[&str]) -> Vec<String> {
    let debug = format!("--debug={area}");
    let line = [&["120"], program, &[debug.as_str()], arguments].concat();
    let ran = run(Command::new("timeout").args(line).current_dir(directory)).expect(0);
    let head = format!("{area:<8} ");
    let lines = ran.out.lines().filter_map(|line| line.strip_prefix(&head));
    lines.map(|line| line.split_once(' ').unwrap().1.trim_start().to_owned()).collect()
}

/// The same of both programs, in directories of their own.
fn both(area: &str, arguments: &[&str]) -> [Vec<String>; 2] {
    PROGRAMS.map(|program| traced(program, scratch().path(), area, arguments))
}

/// A line with all numbers taken out.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for word in line.split_inclusive([' ', '=', ',', '(', ')']) {
        let end = word.len() - usize::from(!word.ends_with(char::is_alphanumeric));
        let (word, rest) = word.split_at(end.min(word.len()));
        let number = word.trim_end_matches('%').parse::<f64>().is_ok() || word.starts_with("0x");
        shape += if number { "N" } else { word };
        shape += rest;
    }
    shape
}

fn shapes(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| shape(line)).collect()
}

#[test]
fn blocks_are_made_read_back_and_checked() {
    let job = ["--name=a", "--size=32k", "--bs=8k", "--rw=randwrite", "--ioengine=psync"];
    for more in [&["--verify=crc32c"][..], &["--verify=md5", "--verify_interval=4k"]] {
        let [ours, theirs] = both("verify", &[&job[..], more].concat());
        assert_eq!(shapes(&ours), shapes(&theirs), "{more:?}");
        assert!(ours.len() > 16, "{ours:?}");
    }
}

#[test]
fn rates_that_are_drawn_and_depths_that_are_searched() {
    let job = ["--name=a", "--size=80k", "--bs=4k", "--rw=read", "--ioengine=null"];
    let drawn = ["--rate_iops=200", "--rate_process=poisson"];
    let [ours, theirs] = both("rate", &[&job[..], &drawn].concat());
    assert_eq!(shape(&ours[0]), shape(&theirs[0]));
    assert!((15..=20).contains(&ours.len()), "{ours:?}");
    let search = ["--size=1t", "--time_based", "--runtime=10", "--latency_target=10ms"];
    let more = ["--latency_window=100ms", "--latency_percentile=99", "--iodepth=8"];
    let [ours, theirs] = both("rate", &[&job[..], &search, &more].concat());
    assert_eq!((&ours[0], shape(&ours[1])), (&theirs[0], shape(&theirs[1])));
    for last in [ours.last(), theirs.last()] {
        assert_eq!(last.map(String::as_str), Some("We are done"));
    }
}

#[test]
fn zones_that_are_used() {
    let common = ["--name=a", "--filename=zoned", "--zonemode=zbd", "--zonesize=1m", "--size=8m"];
    let job = ["--io_size=1m", "--rw=randwrite", "--bs=256k", "--direct=1", "--ioengine=psync"];
    let all = PROGRAMS.map(|program| {
        let directory = scratch();
        let file = std::fs::File::create(directory.path().join("zoned")).unwrap();
        file.set_len(8 << 20).unwrap();
        let lines = traced(program, directory.path(), "zbd", &[&common[..], &job].concat());
        let queued: Vec<String> = lines.into_iter().filter(|l| l.contains("queued I/O")).collect();
        assert_eq!(queued.len(), 4, "{program:?}: {queued:?}");
        for line in &queued {
            let numbers = line.split(['(', ',', ')', ' ']).filter_map(|n| n.parse::<u64>().ok());
            let numbers: Vec<u64> = numbers.collect();
            assert_eq!(numbers[0] >> 20, numbers[2], "{line}");
        }
        shape(&queued[0])
    });
    assert_eq!(all[0], all[1]);
}

#[test]
fn mutex_is_accepted_and_traces_nothing() {
    let job = ["--name=a", "--ioengine=null", "--size=64k", "--rw=read", "--numjobs=3"];
    let [ours, theirs] = both("mutex", &job);
    assert!(ours.is_empty() && !theirs.is_empty(), "{ours:?}");
}

#[test]
fn how_steady_it_is() {
    let job = ["--name=a", "--ioengine=null", "--size=1t", "--rw=read", "--rate_iops=1000"];
    for limit in ["--ss=iops:90%", "--ss=iops_slope:90%"] {
        let more = ["--time_based", "--runtime=5", "--ss_dur=2", limit];
        let [ours, theirs] = both("steadystate", &[&job[..], &more].concat());
        let last = |lines: &[String]| shapes(lines)[lines.len() - 2..].to_vec();
        assert_eq!(last(&ours), last(&theirs), "{ours:?}");
        assert!(ours[0].starts_with("steadystate_check() thread: 0, groupid: 0, rate_msec: "));
    }
}

#[test]
fn logs_profiles_and_traces() {
    let log = ["--name=a", "--ioengine=null", "--size=4m", "--rw=read", "--write_lat_log=x"];
    let [ours, theirs] = both("compress", &[&log[..], &["--log_compression=4k"]].concat());
    let start = |lines: &[String]| lines[0].split('=').next().unwrap().to_owned();
    assert_eq!(start(&ours), start(&theirs));
    assert!(ours[1].starts_with("deflated to size="), "{ours:?}");
    let [ours, theirs] = both("profile", &["--profile=tiobench", "--size=1", "--threads=1"]);
    assert_eq!(ours[0], theirs[0]);
    let directory = scratch();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blktrace");
    let trace = fixtures.read_dir().unwrap().next().unwrap().unwrap().path();
    let read = format!("--read_iolog={}", trace.display());
    let job =
        ["--name=a", "--ioengine=null", "--replay_redirect=target", "--filename=target", &read];
    let lines = traced(PROGRAMS[0], directory.path(), "blktrace", &job);
    assert!(lines[0].contains(": ios=") && lines[0].contains(", files=1, "), "{lines:?}");
}

#[test]
fn what_clients_and_servers_say() {
    let directory = scratch();
    let mut served = Served::start(directory.path(), &["--debug=net"]);
    let job = [&served.client(), "--debug=net", "--name=a", "--size=16k", "--rw=read"];
    let out = client("fio", directory.path(), &job).expect(0).out;
    let address = served.address.clone();
    for part in
        ["connected", "start all", "start ", "got cmd op START from ", "got cmd op TS from "]
    {
        let said = out.lines().any(|line| {
            line.starts_with("net      ") && line.contains("client: ") && line.contains(part)
        });
        assert!(said, "{part} {address}: {out}");
    }
    served.server.says("err", "server: got op [RUN]");
}

#[test]
fn the_areas_are_listed_as_the_oracle_lists_them() {
    let all = PROGRAMS.map(|program| {
        let line = [&["10"], program, &["--debug=help"]].concat();
        let ran = run(Command::new("timeout").args(line));
        let text = ran.out + &ran.err;
        text.lines().find(|line| line.contains("dumping debug options:")).unwrap().to_owned()
    });
    assert_eq!(all[0], all[1]);
    let ours = run(Command::new(FATHOM).args(["fio", "--debug=?"])).expect(0).out;
    let nothing = ours.lines().find(|line| line.trim_start().starts_with("helperthread")).unwrap();
    assert!(nothing.contains("has no counterpart"), "{ours}");
}

#[test]
fn thresholds_of_steady_states_are_told_without_any_job() {
    for limit in ["iops:10", "iops:10%", "bw:.1%", "bw:12", "bw_slope:12k"] {
        let limit = format!("--ss={limit}");
        let told = both("parse", &["--parse-only", "--ss_dur=10s", &limit, "--ss_ramp=5"])
            .map(|lines| lines.into_iter().filter(|l| l.starts_with("set ")).collect::<Vec<_>>());
        let [ours, theirs] = &told;
        assert_eq!((ours, ours.len()), (theirs, 1), "{limit}");
    }
}
