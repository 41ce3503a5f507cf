//! Exact replay: an iolog (version 3, with times) of what was seen.

use crate::steps::StepKind;
use std::io::{self, Write};
use trace::ftr::{Entry, FileKind, Level};
use trace::{HEADER, write_action, write_file_action};

/// Writes the events of one level of a trace as an iolog.
pub struct ReplayWriter<W> {
    out: W,
    level: Level,
    scale: f64,
    names: Vec<(String, bool)>,
    first: Option<u64>,
    latest_us: u64,
    /// I/Os written.
    pub ios: u64,
    /// Events of this level that an iolog cannot hold.
    pub skipped: u64,
}

impl<W: Write> ReplayWriter<W> {
    /// Positions are multiplied by `scale` and aligned to 4 KiB if it is not 1.
    pub fn new(mut out: W, level: Level, scale: f64) -> io::Result<ReplayWriter<W>> {
        writeln!(out, "{HEADER}")?;
        let (names, first) = (Vec::new(), None);
        Ok(ReplayWriter { out, level, scale, names, first, latest_us: 0, ios: 0, skipped: 0 })
    }

    /// Takes an entry.
    pub fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        let event = match entry {
            Entry::File(file) => {
                let at = file.number as usize;
                if at <= self.names.len() + (1 << 20) {
                    let plain = file.kind != FileKind::Directory
                        && !file.name.contains(char::is_whitespace);
                    self.names.resize(self.names.len().max(at + 1), (String::new(), false));
                    self.names[at] = (if plain { file.name.clone() } else { String::new() }, false);
                }
                return Ok(());
            }
            Entry::Event(event) if event.level == self.level => event,
            _ => return Ok(()),
        };
        let Some(kind) = StepKind::from_operation(event.operation) else { return Ok(()) };
        let (action, length) = match kind {
            StepKind::Read => ("read", event.length),
            StepKind::Write => ("write", event.length),
            StepKind::Trim => ("trim", event.length),
            StepKind::Fsync => ("sync", 0),
            StepKind::Fdatasync => ("datasync", 0),
            // An iolog has no action for it.
            StepKind::SyncRange => {
                self.skipped += 1;
                return Ok(());
            }
        };
        let name = self.names.get_mut(event.file as usize).filter(|(name, _)| !name.is_empty());
        let Some((name, open)) = name.filter(|_| !kind.moves() || length > 0) else {
            self.skipped += 1;
            return Ok(());
        };
        let first = *self.first.get_or_insert(event.at_ns);
        // Events are listed by their ends: times must not go back.
        self.latest_us = self.latest_us.max(event.at_ns.saturating_sub(first) / 1000);
        if !*open {
            *open = true;
            write_file_action(&mut self.out, self.latest_us, name, "add")?;
            write_file_action(&mut self.out, self.latest_us, name, "open")?;
        }
        let offset = match self.scale {
            1.0 => event.offset,
            scale => (event.offset as f64 * scale) as u64 / 4096 * 4096,
        };
        self.ios += 1;
        write_action(&mut self.out, self.latest_us, name, action, offset, length)
    }

    /// Closes the files.
    pub fn finish(mut self) -> io::Result<()> {
        for (name, _) in self.names.iter().filter(|(_, open)| *open) {
            write_file_action(&mut self.out, self.latest_us, name, "close")?;
        }
        self.out.flush()
    }
}
