//! The file of a trace; if its size is bounded, two files that take turns.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use trace::ftr::{Contents, Entry, Event, Header, Writer};

/// Writes entries into a file. With a bound, a file that has half of it becomes FILE.1 (an older one is
/// overwritten) and a new one begins. Each of the two names the files and threads of its events, and numbers
/// them by their first event, so each is a trace of its own.
pub struct Output {
    path: PathBuf,
    header: Header,
    half: Option<u64>,
    writer: Writer<File>,
    /// Files and threads so far, if the size is bounded.
    named: HashMap<Name, Named>,
    /// How often a new file began.
    turns: u32,
    /// Files and threads that the current file names.
    counts: [u32; 2],
}

/// The number of a file or thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    File(u32),
    Thread(u32),
}

/// A file or thread that events name.
struct Named {
    entry: Entry,
    /// `turns` when it was written last, and its number in that file; `None`: never.
    written: Option<(u32, u32)>,
}

impl Output {
    /// Creates the file.
    pub fn create(path: &Path, header: Header, size_max: Option<u64>) -> io::Result<Output> {
        let writer = Writer::new(File::create(path)?, &header)?;
        let half = size_max.map(|most| most / 2);
        Ok(Output {
            path: path.into(),
            header,
            half,
            writer,
            named: HashMap::new(),
            turns: 0,
            counts: [0; 2],
        })
    }

    /// The name of the older file.
    pub fn older(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".1");
        name.into()
    }

    /// Whether there is an older file.
    pub fn has_older(&self) -> bool {
        self.turns > 0
    }

    /// Writes an entry.
    pub fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        let Some(half) = self.half else { return self.writer.entry(entry) };
        let name = match entry {
            Entry::File(file) => Name::File(file.number),
            Entry::Thread(thread) => Name::Thread(thread.number),
            _ => {
                if self.writer.size() >= half {
                    self.turn_file()?;
                }
                let entry = self.renumbered(entry)?;
                return self.writer.entry(&entry);
            }
        };
        self.named.insert(name, Named { entry: entry.clone(), written: None });
        Ok(())
    }

    /// An entry with the numbers of this file. Files and threads that are new here are written first.
    fn renumbered(&mut self, entry: &Entry) -> io::Result<Entry> {
        Ok(match entry {
            Entry::Event(event) => {
                let thread = self.number(Name::Thread(event.thread))?.unwrap_or(event.thread);
                let file = self.number(Name::File(event.file))?.unwrap_or(event.file);
                Entry::Event(Event { thread, file, ..*event })
            }
            Entry::Contents(contents) => {
                let file = self.number(Name::File(contents.file))?.unwrap_or(contents.file);
                Entry::Contents(Contents { file, ..*contents })
            }
            other => other.clone(),
        })
    }

    /// The number of a file or thread in this file; `None` if it is not known.
    fn number(&mut self, name: Name) -> io::Result<Option<u32>> {
        let Some(named) = self.named.get_mut(&name) else { return Ok(None) };
        if let Some((_, number)) = named.written.filter(|(turn, _)| *turn == self.turns) {
            return Ok(Some(number));
        }
        let count = &mut self.counts[usize::from(matches!(name, Name::Thread(_)))];
        let number = std::mem::replace(count, *count + 1);
        named.written = Some((self.turns, number));
        let mut entry = named.entry.clone();
        match &mut entry {
            Entry::File(file) => file.number = number,
            Entry::Thread(thread) => thread.number = number,
            _ => {}
        }
        self.writer.entry(&entry)?;
        Ok(Some(number))
    }

    fn turn_file(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        let next = self.path.with_extension("next");
        let writer = Writer::new(File::create(&next)?, &self.header)?;
        std::mem::replace(&mut self.writer, writer).finish()?;
        fs::rename(&self.path, Output::older(&self.path))?;
        fs::rename(&next, &self.path)?;
        self.turns += 1;
        self.counts = [0; 2];
        Ok(())
    }

    /// Writes what waits, so that it stays however the program ends.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Ends the trace. Returns the bytes of the file.
    pub fn finish(self, duration_ns: u64, left_out: u64) -> io::Result<u64> {
        let file = self.writer.finish_with(duration_ns, left_out)?;
        Ok(file.metadata()?.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ftr::{FileKind, Flags, Level, Operation, Reader, Thread};

    fn named(number: u32, name: &str) -> trace::ftr::File {
        let kind = FileKind::Regular;
        trace::ftr::File { number, name: name.into(), kind, size: 0, device: None }
    }

    fn read_of(at_ns: u64, file: u32) -> Event {
        Event {
            at_ns,
            duration_ns: Some(1),
            level: Level::Application,
            operation: Operation::Read,
            flags: Flags::default(),
            thread: 0,
            file,
            offset: 0,
            length: 4096,
            result: Some(4096),
            cpu_before_ns: None,
        }
    }

    #[test]
    fn two_files_take_turns_and_each_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.ftr");
        let header = Header { application: true, ..Header::default() };
        let mut output = Output::create(&path, header, Some(2 << 20)).unwrap();
        let thread = Thread { number: 0, process: 1, thread: 1, name: "x".into() };
        output.entry(&Entry::File(named(0, "/data/x"))).unwrap();
        output.entry(&Entry::Thread(thread)).unwrap();
        let mut state = 1_u64;
        for number in 0..300_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let event = Event {
                duration_ns: Some(state >> 44),
                offset: state >> 24,
                ..read_of(number * 1000, 0)
            };
            output.entry(&Entry::Event(event)).unwrap();
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

    /// Names alone must not fill a file: each event would begin another one then.
    #[test]
    fn more_names_than_a_file_holds_do_not_crowd_out_events() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.ftr");
        let mut output = Output::create(&path, Header::default(), Some(64 << 10)).unwrap();
        let thread = Thread { number: 0, process: 1, thread: 1, name: "x".into() };
        output.entry(&Entry::Thread(thread)).unwrap();
        const FILES: u32 = 20_000;
        for number in 0..FILES {
            let name = format!("/data/{:x}", u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            output.entry(&Entry::File(named(number, &name))).unwrap();
            output.entry(&Entry::Event(read_of(number.into(), number))).unwrap();
        }
        for again in 0..1000 {
            output.entry(&Entry::Event(read_of(u64::from(FILES) + again, 7))).unwrap();
        }
        output.finish(0, 0).unwrap();
        let entries: Result<Vec<Entry>, _> =
            Reader::new(File::open(&path).unwrap()).unwrap().collect();
        let entries = entries.unwrap();
        let names = entries.iter().filter(|entry| matches!(entry, Entry::File(_))).count();
        let events = entries.iter().filter(|entry| matches!(entry, Entry::Event(_))).count();
        assert!(events >= 1000 && names <= events, "{names} names, {events} events");
    }
}
