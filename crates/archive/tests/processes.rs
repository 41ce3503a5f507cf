//! Several programs at one archive, and programs that are killed while they save. It runs itself with
//! `add PATH COUNT SEED` to have programs that add runs and print the id of each once it is added.

use archive::{Archive, Filter, Lineage, Location, RunId};
use record::{Invocation, Message, RunRecord};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Programs that are killed.
const KILLS: u64 = 200;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, verb, path, count, seed] = &arguments[..] {
        assert_eq!(verb, "add");
        return add(Path::new(path), count.parse().unwrap(), seed.parse().unwrap());
    }
    // Whoever runs one test by its name does not mean these.
    let wanted = |name: &str| {
        let mut names =
            arguments[1..].iter().filter(|argument| !argument.starts_with('-')).peekable();
        names.peek().is_none() || names.any(|filter| name.contains(filter.as_str()))
    };
    let tests: [(&str, fn()); 2] = [
        ("two_programs_add_at_once", two_programs_add_at_once),
        ("a_kill_at_any_moment_loses_nothing", a_kill_at_any_moment_loses_nothing),
    ];
    let mut passed = 0;
    for (name, test) in tests.into_iter().filter(|(name, _)| wanted(name)) {
        test();
        println!("test {name} ... ok");
        passed += 1;
    }
    println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}

/// A run that no other has, with something to save.
fn record(seed: u64, number: u64) -> RunRecord {
    let mut noise = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
    let words = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{noise:x}")
    });
    RunRecord {
        schema: record::SCHEMA_VERSION,
        invocation: Invocation {
            arguments: vec![format!("{seed}-{number}")],
            started_unix_ms: 1_800_000_000_000 + number,
            ..Invocation::default()
        },
        messages: words.take(1000).map(|word| Message::note(None, word)).collect(),
        ..RunRecord::default()
    }
}

fn add(path: &Path, count: u64, seed: u64) {
    let mut archive = Archive::open(&Location::explicit(path)).unwrap();
    for number in 0..count {
        let id = archive.add(&record(seed, number), &Lineage::alone("run")).unwrap();
        println!("{number} {id}");
        std::io::stdout().flush().unwrap();
    }
    assert_eq!(archive.messages(), [""; 0], "nothing was wrong with it");
}

fn adding(path: &Path, count: u64, seed: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("add").arg(path).arg(count.to_string()).arg(seed.to_string());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// Ids of the runs that a program said it added, by their numbers. The last line may be cut.
fn said(child: &mut Child) -> Vec<(u64, String)> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let parted = lines.filter_map(|line| {
        let (number, id) = line.split_once(' ')?;
        (id.len() == 16).then(|| (number.parse().unwrap(), id.to_owned()))
    });
    parted.collect()
}

fn find(archive: &Archive, id: &str) -> RunId {
    archive.find(id).unwrap_or_else(|error| panic!("lost: {error}"))
}

fn two_programs_add_at_once() {
    let directory = testbed::scratch();
    let path = directory.path().join("archive.db");
    let mut both = [1, 2].map(|seed| (seed, adding(&path, 50, seed)));
    let mut ids = Vec::new();
    for (seed, child) in &mut both {
        for (number, id) in said(child) {
            ids.push((*seed, number, id));
        }
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(ids.len(), 100);
    let archive = Archive::open(&Location::explicit(&path)).unwrap();
    for (seed, number, id) in ids {
        assert_eq!(archive.load(&find(&archive, &id)).unwrap(), record(seed, number));
    }
    assert_eq!(archive.count(&Filter::all()).unwrap(), 100);
}

fn a_kill_at_any_moment_loses_nothing() {
    let directory = testbed::scratch();
    let path = |seed: u64| {
        // Some are killed while they make the archive, most while they add to a large one.
        let name = if seed < KILLS / 4 { format!("{seed}.db") } else { "all.db".into() };
        directory.path().join(name)
    };
    // Of the large one, and how many there are of all.
    let (mut known, mut total) = (BTreeSet::new(), 0);
    // A busy machine takes longer to start a program and save a run.
    let began = Instant::now();
    assert!(adding(&directory.path().join("first.db"), 1, 0).wait().unwrap().success());
    let window_us = (3 * began.elapsed().as_micros() as u64).max(40_000);
    for seed in 0..KILLS {
        let path = path(seed);
        let mut child = adding(&path, u64::MAX, seed);
        let moment = Instant::now() + Duration::from_micros(seed.wrapping_mul(7919) % window_us);
        while Instant::now() < moment {
            std::thread::sleep(Duration::from_micros(100));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let added = said(&mut child);
        if added.is_empty() && !path.exists() {
            continue;
        }
        let mut archive = Archive::open(&Location::explicit(&path)).unwrap();
        assert_eq!(archive.messages(), [""; 0], "kill {seed}: it is as it should be");
        for (number, id) in &added {
            assert_eq!(archive.load(&find(&archive, id)).unwrap(), record(seed, *number));
        }
        total += added.len();
        // Those that were saved when the program had no time left to say so are whole as well.
        let there = archive.ids(&Filter::all()).unwrap();
        for id in there.iter().filter(|id| !known.contains(*id)) {
            archive.load(id).unwrap_or_else(|error| panic!("kill {seed}: {error}"));
        }
        if seed >= KILLS / 4 {
            assert!(known.iter().all(|id| there.contains(id)), "kill {seed}: one is gone");
            known.extend(there);
        }
    }
    assert!(total as u64 > KILLS, "they were killed while they saved");
    let whole = rusqlite::Connection::open(path(KILLS)).unwrap();
    let whole: String = whole.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
}
