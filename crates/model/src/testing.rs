//! Traces of known truth, drawn from a seed.

use crate::{Builder, Model};
use record::SplitMix64;
use trace::ftr::{Entry, Event, File, FileKind, Flags, Level, Operation, Thread};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// Random numbers with some distributions.
pub struct Draw(pub SplitMix64);

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw(SplitMix64::new(seed))
    }

    pub fn unit(&mut self) -> f64 {
        ((self.0.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    pub fn exponential(&mut self, mean: f64) -> u64 {
        (-self.unit().ln() * mean) as u64
    }

    pub fn below(&mut self, count: u64) -> u64 {
        self.0.below(count)
    }
}

/// A table to draw Zipf numbers from.
pub struct ZipfTable(Vec<f64>);

impl ZipfTable {
    pub fn new(theta: f64, count: usize) -> ZipfTable {
        let mut sum = 0.0;
        let upto = (1..=count).map(|rank| {
            sum += (rank as f64).powf(-theta);
            sum
        });
        ZipfTable(upto.collect())
    }

    pub fn draw(&self, draw: &mut Draw) -> u64 {
        let at = draw.unit() * self.0[self.0.len() - 1];
        self.0.partition_point(|upto| *upto < at) as u64
    }
}

pub const IO: Event = Event {
    at_ns: 0,
    duration_ns: Some(0),
    level: Level::Application,
    operation: Operation::Read,
    flags: Flags(0),
    thread: 0,
    file: 0,
    offset: 0,
    length: 4096,
    result: Some(4096),
    cpu_before_ns: None,
};

pub fn file(number: u32, name: &str, size: u64) -> Entry {
    let name = name.to_owned();
    Entry::File(File { number, name, kind: FileKind::Regular, size, device: None })
}

pub fn thread(number: u32, name: &str) -> Entry {
    let name = name.to_owned();
    Entry::Thread(Thread { number, process: 1 + number, thread: 1 + number, name })
}

/// Three files and 64 threads, then events in the order of their ends.
pub fn entries(mut events: Vec<Event>) -> Vec<Entry> {
    events.sort_by_key(|event| event.at_ns + event.duration_ns.unwrap_or(0));
    let files = [("/data/table.db", 64), ("/data/log.wal", 16), ("/data/heap", 8)];
    let files = (0..).zip(files).map(|(number, (name, mib))| file(number, name, mib << 20));
    let threads = (0..64).map(|number| thread(number, "db"));
    files.chain(threads).chain(events.into_iter().map(Entry::Event)).collect()
}

/// The model of these.
pub fn model_of(events: Vec<Event>) -> Model {
    let mut builder = Builder::new();
    entries(events).iter().for_each(|entry| builder.entry(entry));
    builder.finish()
}

/// Events of threads that wait for each I/O and then think; `io` sets the rest.
pub fn closed(
    threads: u32,
    ios: u64,
    draw: &mut Draw,
    mut io: impl FnMut(&mut Draw, u64, u32) -> (Event, u64),
) -> Vec<Event> {
    let mut events = Vec::new();
    for thread in 0..threads {
        let mut at = draw.below(MS);
        for n in 0..ios {
            let (event, think) = io(draw, n, thread);
            let latency = event.duration_ns.unwrap_or(0);
            events.push(Event { at_ns: at + think, thread, ..event });
            at += think + latency;
        }
    }
    events
}
