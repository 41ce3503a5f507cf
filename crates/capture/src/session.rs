//! A capture in progress.

use crate::output::Output;
use crate::programs::{Programs, Settings, Unseen};
use crate::records::Record;
use crate::samples::Samples;
use crate::translate::{Naming, Translator};
use layers::{Unavailable, monotonic_ns};
use std::io;
use std::time::{Duration, Instant};
use trace::ftr::Entry;

/// What was written can be read after so long, however the program ends.
const FLUSH: Duration = Duration::from_secs(1);
/// Records that are taken from the ring before the time is looked at.
const BATCH: usize = 4096;

/// What a capture has so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls and requests.
    pub events: u64,
    /// Files and devices.
    pub files: u64,
    /// Threads.
    pub threads: u64,
    /// Events that were lost because this program did not read them in time.
    pub lost: u64,
    /// Calls on sockets, pipes, terminals and files of the kernel.
    pub left_out: u64,
    /// Length in nanoseconds.
    pub duration_ns: u64,
    /// Bytes of the trace.
    pub bytes: u64,
    /// The trace has an older part in a file of its own.
    pub has_older: bool,
}

/// Writes what the programs see into a trace.
pub struct Capture {
    programs: Programs,
    translator: Translator,
    samples: Option<Samples>,
    output: Output,
    totals: Totals,
    origin: u64,
    flushed: Instant,
    entries: Vec<Entry>,
}

impl Capture {
    /// Begins.
    ///
    /// # Errors
    /// When the kernel does not allow it or lacks what the programs need.
    pub fn start(
        settings: Settings,
        naming: Naming,
        with_contents: bool,
        output: Output,
    ) -> Result<Capture, Unavailable> {
        let programs = Programs::start(&settings)?;
        let origin = monotonic_ns();
        Ok(Capture {
            programs,
            translator: Translator::new(naming, settings.disks, origin),
            samples: with_contents.then(Samples::default),
            output,
            totals: Totals::default(),
            origin,
            flushed: Instant::now(),
            entries: Vec::new(),
        })
    }

    /// What this kernel does not show.
    pub fn unseen(&self) -> &[Unseen] {
        &self.programs.unseen
    }

    /// Watches one more thread, and those that it starts.
    ///
    /// # Errors
    /// When the map of watched threads is full.
    pub fn watch(&mut self, thread: u32) -> Result<(), Unavailable> {
        self.programs.watch(thread)
    }

    /// Writes what was seen since the last call. To be called some hundred times a second.
    pub fn drain(&mut self) -> io::Result<()> {
        loop {
            for _ in 0..BATCH {
                let Some(record) = self.programs.ring.next() else {
                    return self.keep(self.flushed.elapsed() >= FLUSH);
                };
                let parsed = Record::parse(&record);
                drop(record);
                if let Some(record) = parsed {
                    self.translator.record(record, &mut self.entries);
                    self.write()?;
                }
            }
            self.keep(self.flushed.elapsed() >= FLUSH)?;
        }
    }

    fn write(&mut self) -> io::Result<()> {
        for entry in &self.entries {
            match entry {
                Entry::Event(event) => {
                    self.totals.events += 1;
                    if let Some(samples) = &mut self.samples {
                        samples.event(event);
                    }
                }
                Entry::File(_) => self.totals.files += 1,
                Entry::Thread(_) => self.totals.threads += 1,
                Entry::Lost(_) | Entry::Contents(_) => {}
            }
            self.output.entry(entry)?;
        }
        self.entries.clear();
        Ok(())
    }

    /// Writes how many events were lost since the last time, and what waits if it is time.
    fn keep(&mut self, is_time: bool) -> io::Result<()> {
        let (lost, left_out) = self.programs.tallies().map_err(io::Error::other)?;
        self.totals.left_out = left_out;
        let more = lost.saturating_sub(self.totals.lost);
        if more > 0 {
            self.totals.lost = lost;
            self.output.entry(&Entry::Lost(more))?;
        }
        if is_time {
            self.flushed = Instant::now();
            self.output.flush()?;
        }
        Ok(())
    }

    /// Ends the programs, writes what they sent, and ends the trace.
    pub fn finish(mut self) -> io::Result<Totals> {
        self.totals.duration_ns = monotonic_ns() - self.origin;
        self.programs.stop().map_err(io::Error::other)?;
        self.drain()?;
        if let Some(samples) = &self.samples {
            self.entries = samples.contents(|file| self.translator.place(file));
            self.write()?;
        }
        self.totals.has_older = self.output.has_older();
        self.totals.bytes = self.output.finish(self.totals.duration_ns, self.totals.left_out)?;
        Ok(self.totals)
    }
}
