//! The commands that users already have: every one of them runs, lays out the files it is shown
//! with, and reports the sections it is shown with.

use crate::common::{FATHOM, Ran, alone, loop_device, run, scratch};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

/// One command a line. $DIR is a scratch directory, $DEV a scratch device, $SECS a run time.
const COMMANDS: &str = include_str!("../seeds/commands.txt");

const DIRECTORIES: [&str; 5] = ["0", "1", "fio", "readcache", "nocache"];

/// Copies the job files to a directory and makes the directories that the commands use.
fn prepare(directory: &Path) {
    for name in DIRECTORIES {
        std::fs::create_dir_all(directory.join(name)).unwrap();
    }
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds");
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, directory.join(path.file_name().unwrap())).unwrap();
    }
}

/// Runs one of the commands as it is typed, under the name fio.
fn command(line: &str, directory: &Path, device: &str) -> Ran {
    let dir = directory.to_str().unwrap();
    let line = line.replace("$DIR", dir).replace("$DEV", device).replace("$SECS", "1");
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let mut command = Command::new("timeout");
    command.args(["60", FATHOM, "fio"]).args(words).current_dir(directory).env("DIR", dir);
    run(&mut command)
}

/// Names and sizes below a directory.
fn files(root: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for directory in [&[""][..], &DIRECTORIES].concat() {
        for entry in std::fs::read_dir(root.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, path.metadata().unwrap().len());
            }
        }
    }
    found
}

/// Every number of `from..to` put into a name.
fn named(form: &str, numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|n| form.replace('#', &n.to_string())).collect()
}

/// Files a command leaves and their size in MiB, as its source shows or says.
fn expected_files(line: &str) -> Option<(Vec<String>, u64)> {
    let alternating = |form: &str| -> Vec<String> {
        (0..6)
            .map(|n| form.replace('%', &(n % 2).to_string()).replace('#', &n.to_string()))
            .collect()
    };
    let five = |names: Vec<String>| -> Vec<String> {
        names.iter().flat_map(|name| named(&format!("{name}.#"), 0..5)).collect()
    };
    Some(match line.split("--runtime=10s --numjobs=6").collect::<Vec<_>>()[..] {
        [before, ""] if before.contains("hello:world") => {
            (vec!["0/hello".into(), "0/world".into()], 5)
        }
        [before, ""] if before.contains("hello") => (vec!["0/hello".into()], 10),
        [before, ""] if before.contains("/1/") => (alternating("%/test.#.0"), 10),
        [_, ""] => (named("0/test.#.0", 0..6), 10),
        [_, " --filesize=7M"] => (vec!["0/hello".into(), "0/world".into()], 7),
        [_, " --nrfiles=5"] => (five(alternating("%/test.#")), 2),
        [_, _] => (five(alternating("%/test.#")), 1),
        _ if line.contains("-name=test1") => (vec!["0/test1.0.0".into()], 64),
        _ if line.contains("-name=test2") => (named("0/test2.#.0", 0..16), 16),
        _ if line.contains("-name=test3") => {
            ((0..16).flat_map(|job| named(&format!("0/test3.{job}.#"), 0..64)).collect(), 1)
        }
        _ if line.contains("fio.test") => (vec!["fio.test".into()], 64),
        _ if line.contains("fiotest01") => (vec!["fio/fiotest01.0.0".into()], 64),
        _ if line.contains("fiotest02") => (named("fio/fiotest02.#.0", 0..4), 64),
        _ if line.contains("fioread.ini") => (named("readcache/reader1.#.0", 0..4), 64),
        _ if line.contains("fiowrite.ini") => (named("nocache/writer1.#.0", 0..4), 64),
        _ => return None,
    })
}

/// The sections of a report, in order; which latencies are in it.
fn sections(line: &str, ran: &Ran) {
    let text = &ran.out;
    let value = |name: &str| {
        let rest = line.split(name).nth(1)?;
        rest.split_whitespace().next()
    };
    let engine = value("ioengine=").or(line.contains(".ini").then_some("libaio"));
    let has = |what: &str| assert!(text.contains(what), "{line}\nno '{what}' in\n{text}");
    let rw = value("rw=").unwrap_or(if line.contains(".ini") { "rand" } else { "read" });
    for (direction, line_of) in [("read", "  read: IOPS="), ("write", "  write: IOPS=")] {
        if rw.ends_with(direction) {
            has(line_of);
        }
    }
    // fio 3.42 names zones where there are some.
    assert!(!text.contains("zone resets"), "{line}\n{text}");
    let queued = ["libaio", "io_uring", "posixaio"].contains(&engine.unwrap_or("psync"));
    assert_eq!(text.contains("    slat ("), queued, "{line}\n{text}");
    if line.contains("lat_percentiles=1") {
        has("    lat percentiles (");
    }
    for what in [
        ": (g=0): rw=",
        "Starting ",
        ": (groupid=0, jobs=",
        "): err= 0: pid=",
        "    clat (",
        "     lat (",
        "    clat percentiles (",
        "     |  1.00th=[",
        "  lat (",
        "  cpu          : usr=",
        "  IO depths    : 1=",
        "     submit    : 0=0.0%, 4=",
        "     complete  : 0=0.0%, 4=",
        "     issued rwts: total=",
        " short=0,0,0,0 dropped=0,0,0,0",
        "     latency   : target=0, window=0, percentile=100.00%, depth=",
        "Run status group 0 (all jobs):",
        ": bw=",
        "Disk stats (read/write):",
    ] {
        has(what);
    }
}

#[test]
fn every_command_runs() {
    let _alone = alone();
    let place = scratch();
    let device = loop_device(place.path(), 64 << 20, &[]);
    for line in COMMANDS.lines().filter(|line| !line.contains("s3.fio")) {
        let directory = scratch();
        prepare(directory.path());
        let before = files(directory.path());
        let ran = command(line, directory.path(), &device.device);
        assert_eq!(ran.code, 0, "{line}\n{}\n{}", ran.out, ran.err);
        sections(line, &ran);
        let mut left = files(directory.path());
        left.retain(|name, _| !before.contains_key(name));
        match expected_files(line) {
            Some((names, mib)) => {
                let names: BTreeMap<_, _> = names.into_iter().map(|n| (n, mib << 20)).collect();
                assert_eq!(left, names, "{line}");
            }
            None if line.contains("readwrite.ini") => assert_eq!(left.len(), 8, "{left:?}"),
            None => assert!(line.contains("$DEV") && left.is_empty(), "{line}: {left:?}"),
        }
    }
}

/// The store of the job is not there: it is said, and nothing is made on this machine's disks. With
/// stores behind them such jobs are run elsewhere.
#[test]
fn an_object_store_that_is_not_there_is_told() {
    let directory = scratch();
    prepare(directory.path());
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let job = directory.path().join("s3.fio");
    let text = std::fs::read_to_string(&job).unwrap();
    assert!(text.contains("127.0.0.1:9000"), "{text}");
    std::fs::write(&job, text.replace("127.0.0.1:9000", &nobody.to_string())).unwrap();
    let line = COMMANDS.lines().find(|line| line.contains("s3.fio")).unwrap();
    let before = files(directory.path());
    let ran = command(line, directory.path(), "/dev/null");
    assert_eq!(ran.code, 32, "each thread failed: {} {}", ran.out, ran.err);
    // fio prints what it has to say beside its report.
    assert!(ran.out.contains("no connection: Connection refused"), "{} {}", ran.out, ran.err);
    assert_eq!(files(directory.path()), before);
}
