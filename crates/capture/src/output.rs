//! The file of a trace; if its size is bounded, two files that take turns.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use trace::ftr::{Entry, Header, Writer};

/// Writes entries into a file. With a bound, a file that has half of it becomes FILE.1 (an older one is
/// overwritten) and a new one begins, which names all files and threads again: each is a trace of its own.
pub struct Output {
    path: PathBuf,
    header: Header,
    half: Option<u64>,
    writer: Writer<File>,
    /// Files and threads so far, if a later file may have to name them.
    named: Vec<Entry>,
    turned: bool,
}

impl Output {
    /// Creates the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path, header: Header, size_max: Option<u64>) -> io::Result<Output> {
        let writer = Writer::new(File::create(path)?, &header)?;
        let half = size_max.map(|most| most / 2);
        Ok(Output { path: path.into(), header, half, writer, named: Vec::new(), turned: false })
    }

    /// The name of the older file.
    pub fn older(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".1");
        name.into()
    }

    /// Whether there is an older file.
    pub fn has_older(&self) -> bool {
        self.turned
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        if let Some(half) = self.half {
            if matches!(entry, Entry::File(_) | Entry::Thread(_)) {
                self.named.push(entry.clone());
            } else if self.writer.size() >= half {
                self.turn()?;
            }
        }
        self.writer.entry(entry)
    }

    fn turn(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        let next = self.path.with_extension("next");
        let writer = Writer::new(File::create(&next)?, &self.header)?;
        std::mem::replace(&mut self.writer, writer).finish()?;
        fs::rename(&self.path, Output::older(&self.path))?;
        fs::rename(&next, &self.path)?;
        self.turned = true;
        self.named.iter().try_for_each(|entry| self.writer.entry(entry))
    }

    /// Writes what waits, so that it stays however the program ends.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Ends the trace. Returns the bytes of the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(self, duration_ns: u64, left_out: u64) -> io::Result<u64> {
        let file = self.writer.finish_with(duration_ns, left_out)?;
        Ok(file.metadata()?.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ftr::{Event, FileKind, Flags, Level, Operation, Reader, Thread};

    #[test]
    fn two_files_take_turns_and_each_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.ftr");
        let header = Header { application: true, ..Header::default() };
        let mut output = Output::create(&path, header, Some(2 << 20)).unwrap();
        let file = trace::ftr::File {
            number: 0,
            name: "/data/x".into(),
            kind: FileKind::Regular,
            size: 0,
            device: None,
        };
        let thread = Thread { number: 0, process: 1, thread: 1, name: "x".into() };
        output.entry(&Entry::File(file)).unwrap();
        output.entry(&Entry::Thread(thread)).unwrap();
        let mut state = 1_u64;
        for number in 0..300_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            output
                .entry(&Entry::Event(Event {
                    at_ns: number * 1000,
                    duration_ns: Some(state >> 44),
                    level: Level::Application,
                    operation: Operation::Read,
                    flags: Flags::default(),
                    thread: 0,
                    file: 0,
                    offset: state >> 24,
                    length: 4096,
                    result: Some(4096),
                    cpu_before_ns: None,
                }))
                .unwrap();
        }
        assert!(output.has_older());
        output.finish(0, 0).unwrap();
        let read = |path: &Path| {
            assert!(fs::metadata(path).unwrap().len() < 5 << 18, "{}", path.display());
            let entries: Result<Vec<Entry>, _> =
                Reader::new(File::open(path).unwrap()).unwrap().collect();
            entries.unwrap()
        };
        let last = |entries: &[Entry]| match entries.last() {
            Some(Entry::Event(event)) => event.at_ns,
            other => panic!("{other:?}"),
        };
        let (old, new) = (read(&Output::older(&path)), read(&path));
        assert_eq!(last(&new), 299_999_000);
        let Some(Entry::Event(first)) = new.get(2) else { panic!("no event") };
        assert_eq!(first.at_ns, last(&old) + 1000);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
