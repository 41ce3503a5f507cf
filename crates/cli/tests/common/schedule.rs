//! Whether a job keeps its schedule, told by its own log of every I/O. What stops a worker for a
//! while delays its I/O, and then it catches up. So two things hold however busy the machine is:
//! nothing comes early, and again and again something comes in time.

use super::{fathom, scratch};

/// Log times are cut to milliseconds, and timers wake up late.
const SLACK_MS: f64 = 5.0;

/// An I/O of a log.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Milliseconds from the job's start.
    pub at: u64,
    /// Its direction's I/Os before it.
    pub ios: u64,
    /// Its direction's bytes before it.
    pub bytes: u64,
}

/// Runs jobs and returns the I/Os of each, reads first, in their order.
#[track_caller]
pub fn logged(jobs: usize, arguments: &[&str]) -> Vec<[Vec<Ended>; 2]> {
    let directory = scratch();
    fathom(directory.path(), &[&["--write_iops_log=each"], arguments].concat()).expect(0);
    let log = |job: usize| {
        let path = directory.path().join(format!("each_iops.{job}.log"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut found = [Vec::new(), Vec::new()];
        let mut bytes = [0; 2];
        for line in text.lines() {
            let columns: Vec<u64> =
                line.split(", ").map(|column| column.parse().unwrap()).collect();
            let way = columns[2] as usize;
            let ios = found[way].len() as u64;
            found[way].push(Ended { at: columns[0], ios, bytes: bytes[way] });
            bytes[way] += columns[3];
        }
        found
    };
    (1..=jobs).map(log).collect()
}

/// Panics unless `ios` follow a schedule that has each due, in milliseconds, at `due` of it, and
/// may be off it by `spread` of it.
#[track_caller]
pub fn on_schedule(
    what: &str,
    ios: &[Ended],
    due: impl Fn(Ended) -> f64,
    spread: impl Fn(Ended) -> f64,
) {
    assert!(ios.len() > 100, "{what}: {} I/Os", ios.len());
    let behind = |io: &Ended| io.at as f64 - due(*io);
    for io in ios {
        assert!(behind(io) > -SLACK_MS - spread(*io), "{what}: early by {}: {io:?}", -behind(io));
    }
    let in_time = |io: &Ended| behind(io) < SLACK_MS + spread(*io);
    let later = &ios[ios.len() / 2..];
    let best = later.iter().map(behind).fold(f64::INFINITY, f64::min);
    assert!(later.iter().any(in_time), "{what}: never less than {best} ms behind");
}
