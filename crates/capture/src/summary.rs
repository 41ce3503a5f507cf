//! What a trace holds: counts of each file, thread and device, and a timeline.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use trace::ftr::{Contents, Entry, Event, File, Flags, Level, Operation, Thread};

/// Steps of the timeline; when it has more, two become one.
const STEPS_MAX: usize = 64;
/// The first length of a step.
const STEP_NS: u64 = 1_000_000;
/// Sizes of reads and writes that are counted each; more share one.
const SIZES_MAX: usize = 4096;

/// Counts of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// By operation.
    pub operations: BTreeMap<Operation, u64>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Events that failed.
    pub errors: u64,
    /// Reads and writes that begin where the last one of the file ended.
    pub sequential: u64,
    /// Reads and writes with O_DIRECT.
    pub direct: u64,
    /// Sum of the durations, and how many events have one.
    pub duration_ns: u64,
    /// See `duration_ns`.
    pub timed: u64,
}

impl Counts {
    /// All events.
    pub fn events(&self) -> u64 {
        self.operations.values().sum()
    }

    /// Events of one operation.
    pub fn count(&self, operation: Operation) -> u64 {
        self.operations.get(&operation).copied().unwrap_or(0)
    }

    /// Shares of sequential and of direct I/O among reads and writes; `None` without any.
    pub fn transfer_shares(&self) -> Option<(f64, f64)> {
        let transfers = self.count(Operation::Read) + self.count(Operation::Write);
        let share = |count: u64| count as f64 / transfers as f64;
        (transfers > 0).then(|| (share(self.sequential), share(self.direct)))
    }

    /// Mean duration in nanoseconds; `None` if no event has one.
    pub fn mean_ns(&self) -> Option<u64> {
        self.duration_ns.checked_div(self.timed)
    }

    fn add(&mut self, event: &Event, is_next: bool) {
        *self.operations.entry(event.operation).or_default() += 1;
        let moved = match event.result {
            Some(result) => u64::try_from(result).unwrap_or(0),
            None => event.length,
        };
        let is_transfer = matches!(event.operation, Operation::Read | Operation::Write);
        match event.operation {
            Operation::Read | Operation::Fault => {
                self.read_bytes = self.read_bytes.saturating_add(moved);
            }
            Operation::Write => self.written_bytes = self.written_bytes.saturating_add(moved),
            _ => {}
        }
        self.errors += u64::from(event.result.is_some_and(|result| result < 0));
        self.sequential += u64::from(is_transfer && is_next);
        self.direct += u64::from(is_transfer && event.flags.has(Flags::DIRECT));
        if let Some(duration) = event.duration_ns {
            self.duration_ns = self.duration_ns.saturating_add(duration);
            self.timed += 1;
        }
    }
}

/// A file or device and its events.
#[derive(Clone, Debug)]
pub struct FileCounts {
    /// The file.
    pub file: File,
    /// Events of the application.
    pub application: Counts,
    /// Requests of the device.
    pub device: Counts,
    /// Samples of its contents.
    pub contents: Option<Contents>,
    end: u64,
}

/// A thread and its events.
#[derive(Clone, Debug)]
pub struct ThreadCounts {
    /// The thread.
    pub thread: Thread,
    /// Its events, of both levels.
    pub counts: Counts,
}

/// A step of the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Events of the application.
    pub calls: u64,
    /// Requests of devices.
    pub requests: u64,
    /// Bytes that the application read.
    pub read_bytes: u64,
    /// Bytes that it wrote.
    pub written_bytes: u64,
}

/// Adds a trace up, entry by entry.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Files and devices.
    pub files: Vec<FileCounts>,
    /// Threads.
    pub threads: Vec<ThreadCounts>,
    /// All events of the application, and all requests of devices.
    pub application: Counts,
    /// See `application`.
    pub device: Counts,
    /// How many reads and writes of the application have this size.
    pub sizes: BTreeMap<u64, u64>,
    /// Those whose size is not in `sizes`.
    pub other_sizes: u64,
    /// Events that were lost.
    pub lost: u64,
    /// The end of the last event.
    pub duration_ns: u64,
    /// Steps of equal length.
    pub steps: Vec<Step>,
    /// Their length.
    pub step_ns: u64,
}

impl Summary {
    /// Files and devices, those with the most bytes first.
    pub fn files_by_bytes(&self) -> Vec<&FileCounts> {
        let weight = |file: &FileCounts| {
            [&file.application, &file.device].map(|counts| {
                (counts.read_bytes.saturating_add(counts.written_bytes), counts.events())
            })
        };
        let mut files: Vec<&FileCounts> = self.files.iter().collect();
        files.sort_by_key(|file| (Reverse(weight(file)), file.file.number));
        files
    }

    /// Threads, those with the most events first.
    pub fn threads_by_events(&self) -> Vec<&ThreadCounts> {
        let mut threads: Vec<&ThreadCounts> = self.threads.iter().collect();
        threads.sort_by_key(|counted| (Reverse(counted.counts.events()), counted.thread.number));
        threads
    }

    /// Sizes of the application's reads and writes and their shares, the most frequent first.
    pub fn size_shares(&self) -> Vec<(u64, f64)> {
        let all = self.sizes.values().sum::<u64>() + self.other_sizes;
        let mut sizes: Vec<(&u64, &u64)> = self.sizes.iter().collect();
        sizes.sort_by_key(|(size, count)| (Reverse(**count), **size));
        sizes.into_iter().map(|(size, count)| (*size, *count as f64 / all as f64)).collect()
    }

    /// Adds an entry.
    pub fn entry(&mut self, entry: Entry) {
        match entry {
            Entry::File(file) => self.files.push(FileCounts {
                file,
                application: Counts::default(),
                device: Counts::default(),
                contents: None,
                end: u64::MAX,
            }),
            Entry::Thread(thread) => {
                self.threads.push(ThreadCounts { thread, counts: Counts::default() });
            }
            Entry::Lost(events) => self.lost = self.lost.saturating_add(events),
            Entry::Contents(contents) => {
                if let Some(file) = self.files.get_mut(contents.file as usize) {
                    file.contents = Some(contents);
                }
            }
            Entry::Event(event) => self.event(&event),
        }
    }

    fn event(&mut self, event: &Event) {
        let Some(file) = self.files.get_mut(event.file as usize) else { return };
        let is_transfer = matches!(event.operation, Operation::Read | Operation::Write);
        let is_next = file.end == event.offset;
        let is_application = event.level == Level::Application;
        if is_transfer {
            file.end = event.offset.wrapping_add(event.length);
        }
        let counts = match is_application {
            true => [&mut file.application, &mut self.application],
            false => [&mut file.device, &mut self.device],
        };
        counts.into_iter().for_each(|counts| counts.add(event, is_next));
        if let Some(thread) = self.threads.get_mut(event.thread as usize) {
            thread.counts.add(event, is_next);
        }
        if is_application && is_transfer {
            match self.sizes.len() < SIZES_MAX || self.sizes.contains_key(&event.length) {
                true => *self.sizes.entry(event.length).or_default() += 1,
                false => self.other_sizes += 1,
            }
        }
        let end = event.at_ns.saturating_add(event.duration_ns.unwrap_or(0));
        self.duration_ns = self.duration_ns.max(end);
        self.step(event);
    }

    fn step(&mut self, event: &Event) {
        self.step_ns = self.step_ns.max(STEP_NS);
        while event.at_ns / self.step_ns >= STEPS_MAX as u64 {
            let halves = self.steps.chunks(2).map(|two| {
                two.iter().fold(Step::default(), |sum, step| Step {
                    calls: sum.calls + step.calls,
                    requests: sum.requests + step.requests,
                    read_bytes: sum.read_bytes.saturating_add(step.read_bytes),
                    written_bytes: sum.written_bytes.saturating_add(step.written_bytes),
                })
            });
            self.steps = halves.collect();
            self.step_ns = self.step_ns.saturating_mul(2);
        }
        let place = (event.at_ns / self.step_ns) as usize;
        if self.steps.len() <= place {
            self.steps.resize(place + 1, Step::default());
        }
        let step = &mut self.steps[place];
        match event.level {
            Level::Device => step.requests += 1,
            Level::Application => {
                step.calls += 1;
                let bytes = match event.operation {
                    Operation::Read => &mut step.read_bytes,
                    Operation::Write => &mut step.written_bytes,
                    _ => return,
                };
                *bytes = bytes.saturating_add(event.length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ftr::FileKind;

    fn event(at_ns: u64, offset: u64) -> Entry {
        Entry::Event(Event {
            at_ns,
            duration_ns: Some(500),
            level: Level::Application,
            operation: Operation::Read,
            flags: Flags::DIRECT,
            thread: 0,
            file: 0,
            offset,
            length: 4096,
            result: Some(4096),
            cpu_before_ns: None,
        })
    }

    #[test]
    fn a_trace_is_added_up() {
        let mut summary = Summary::default();
        let name = "/x".to_owned();
        let kind = FileKind::Regular;
        summary.entry(Entry::File(File { number: 0, name, kind, size: 0, device: None }));
        summary.entry(Entry::Thread(Thread { number: 0, process: 1, thread: 1, name: "x".into() }));
        summary.entry(Entry::Lost(3));
        (0..100).for_each(|number| summary.entry(event(number * 10_000_000, number * 4096)));
        summary.entry(event(5_000_000_000, 0));
        let counts = &summary.files[0].application;
        assert_eq!((counts.events(), counts.sequential, counts.direct), (101, 99, 101));
        assert_eq!((counts.read_bytes, counts.mean_ns()), (101 * 4096, Some(500)));
        assert_eq!(summary.threads[0].counts, *counts);
        assert_eq!((summary.lost, summary.duration_ns), (3, 5_000_000_500));
        assert_eq!(summary.sizes, BTreeMap::from([(4096, 101)]));
        assert!(summary.steps.len() <= STEPS_MAX);
        assert_eq!(summary.steps.iter().map(|step| step.calls).sum::<u64>(), 101);
    }

    #[test]
    fn a_time_far_ahead_ends() {
        let mut summary = Summary::default();
        let name = "/x".to_owned();
        let kind = FileKind::Regular;
        summary.entry(Entry::File(File { number: 0, name, kind, size: 0, device: None }));
        summary.entry(event(u64::MAX, 0));
        assert_eq!(summary.steps.len() as u64, u64::MAX / summary.step_ns + 1);
    }
}
