//! The figures of a load, counted from a capture of its calls.

use crate::bench::middle;
use anyhow::{Context, Result, ensure};
use record::human;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use trace::ftr::{AnyTrace, Entry, Event, Operation};

/// The calls of a load.
#[derive(Default)]
struct Calls {
    reads: Kind,
    writes: Kind,
    syncs: Kind,
    /// When the first read or write began, and the last ended, in nanoseconds.
    span: Option<(u64, u64)>,
}

/// Calls of one kind.
#[derive(Default)]
struct Kind {
    bytes: u64,
    times: Vec<u64>,
}

/// A figure.
pub struct Property {
    pub name: &'static str,
    figure: fn(&Calls) -> Option<f64>,
    pub show: fn(f64) -> String,
}

pub const IOPS: usize = 0;
/// Of all calls.
pub const P99: usize = 2;

/// The figures that are compared.
pub const PROPERTIES: &[Property] = &[
    Property {
        name: "IOPS",
        figure: |calls| calls.each_second(calls.ios() as f64),
        show: human::count,
    },
    Property {
        name: "bandwidth",
        figure: |calls| calls.each_second((calls.reads.bytes + calls.writes.bytes) as f64),
        show: human::rate,
    },
    Property {
        name: "p99 of all calls",
        figure: |calls| calls.all_quantile(0.99),
        show: human::time,
    },
    Property {
        name: "reads among I/Os",
        figure: |calls| ratio(calls.reads.times.len(), calls.ios()),
        show: human::percent,
    },
    Property { name: "mean read", figure: |calls| calls.reads.mean(), show: human::size },
    Property { name: "mean write", figure: |calls| calls.writes.mean(), show: human::size },
    Property {
        name: "syncs for each write",
        figure: |calls| ratio(calls.syncs.times.len(), calls.writes.times.len()),
        show: |value| format!("{value:.3}"),
    },
    Property { name: "p50 of reads", figure: |calls| calls.reads.quantile(0.5), show: human::time },
    Property {
        name: "p99 of reads",
        figure: |calls| calls.reads.quantile(0.99),
        show: human::time,
    },
    Property {
        name: "p50 of writes",
        figure: |calls| calls.writes.quantile(0.5),
        show: human::time,
    },
    Property {
        name: "p99 of writes",
        figure: |calls| calls.writes.quantile(0.99),
        show: human::time,
    },
    Property { name: "p50 of syncs", figure: |calls| calls.syncs.quantile(0.5), show: human::time },
    Property {
        name: "p99 of syncs",
        figure: |calls| calls.syncs.quantile(0.99),
        show: human::time,
    },
];

/// One figure for each of [`PROPERTIES`]; `None` if the load has no such calls.
pub type Figures = Vec<Option<f64>>;

/// The figures of a capture.
pub fn read(path: &Path) -> Result<Figures> {
    let naming = || path.display().to_string();
    let mut trace = AnyTrace::open(BufReader::new(File::open(path).with_context(naming)?))
        .with_context(naming)?;
    let mut calls = Calls::default();
    let mut beside = BTreeSet::new();
    for entry in &mut trace {
        match entry.with_context(naming)? {
            // Our program samples the content of files after a run; its workers have other names.
            Entry::Thread(thread) if thread.name == "fathom" => {
                beside.insert(thread.number);
            }
            Entry::Event(event) if !beside.contains(&event.thread) => calls.add(&event),
            Entry::Lost(count) => ensure!(count == 0, "{}: {count} events are lost", naming()),
            _ => {}
        }
    }
    ensure!(calls.ios() > 0, "{}: no reads and no writes", naming());
    for kind in [&mut calls.reads, &mut calls.writes, &mut calls.syncs] {
        kind.times.sort_unstable();
    }
    Ok(PROPERTIES.iter().map(|property| (property.figure)(&calls)).collect())
}

impl Calls {
    fn add(&mut self, event: &Event) {
        let (is_io, kind) = match event.operation {
            Operation::Read => (true, &mut self.reads),
            Operation::Write => (true, &mut self.writes),
            Operation::Fsync | Operation::Fdatasync => (false, &mut self.syncs),
            _ => return,
        };
        let Some(time) = event.duration_ns else { return };
        // A read at the end of a file moves nothing.
        let moved = event.result.map_or(event.length, |result| result.max(0) as u64);
        if is_io && moved == 0 {
            return;
        }
        kind.bytes += moved;
        kind.times.push(time);
        if is_io {
            let (from, to) = self.span.unwrap_or((event.at_ns, 0));
            self.span = Some((from.min(event.at_ns), to.max(event.at_ns + time)));
        }
    }

    fn ios(&self) -> usize {
        self.reads.times.len() + self.writes.times.len()
    }

    fn each_second(&self, sum: f64) -> Option<f64> {
        self.span.map(|(from, to)| sum / ((to - from).max(1) as f64 / 1e9))
    }

    fn all_quantile(&self, share: f64) -> Option<f64> {
        let mut times = [&self.reads, &self.writes, &self.syncs].map(|kind| &*kind.times).concat();
        times.sort_unstable();
        quantile(&times, share)
    }
}

impl Kind {
    fn mean(&self) -> Option<f64> {
        (!self.times.is_empty()).then(|| self.bytes as f64 / self.times.len() as f64)
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        quantile(&self.times, share)
    }
}

/// The smallest of sorted times that so many are not above.
fn quantile(times: &[u64], share: f64) -> Option<f64> {
    let place = (times.len() as f64 * share).ceil() as usize;
    times.get(place.saturating_sub(1)).map(|time| *time as f64)
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The medians of each figure.
pub fn medians(runs: &[Figures]) -> Figures {
    let median = |at: usize| {
        let all: Vec<f64> = runs.iter().filter_map(|run| run[at]).collect();
        (!all.is_empty()).then(|| middle(all))
    };
    (0..PROPERTIES.len()).map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_calls() {
        let mut calls = Calls::default();
        let event = |operation, at_ns, time, length| Event {
            at_ns,
            duration_ns: Some(time),
            operation,
            length,
            level: trace::ftr::Level::Application,
            flags: trace::ftr::Flags::default(),
            thread: 0,
            file: 0,
            offset: 0,
            result: None,
            cpu_before_ns: None,
        };
        for n in 0..100 {
            calls.add(&event(Operation::Read, n * 10_000_000, (n + 1) * 1000, 4096));
        }
        calls.add(&event(Operation::Write, 995_000_000, 5_000_000, 8192));
        calls.add(&event(Operation::Fsync, 2_000_000_000, 70_000_000, 0));
        let all: Figures = PROPERTIES.iter().map(|property| (property.figure)(&calls)).collect();
        let figure =
            |name| all[PROPERTIES.iter().position(|one| one.name == name).unwrap()].unwrap();
        assert!((figure("IOPS") - 101.0).abs() < 1e-9, "{all:?}");
        assert_eq!((figure("p50 of reads"), figure("p99 of reads")), (50_000.0, 99_000.0));
        assert_eq!((figure("syncs for each write"), figure("mean write")), (1.0, 8192.0));
        assert_eq!(figure("p99 of all calls"), 5_000_000.0);
        assert!((figure("reads among I/Os") - 100.0 / 101.0).abs() < 1e-9);
        assert_eq!(medians(&[all.clone(), all.clone()]), all);
        assert_eq!(Calls::default().reads.quantile(0.5), None);
    }
}
