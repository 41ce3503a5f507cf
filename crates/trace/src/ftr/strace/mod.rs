//! Reads the text of strace: with or without threads, times, durations and paths of descriptors.

mod calls;
mod line;
mod tables;

use super::event::{Entry, Event, File, FileKind, Flags, Level, Operation, Thread};
use crate::error::TraceError;
use line::{Call, LineKind, Time};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, Read};
use tables::Tables;

/// Longer lines are passed over: no call on files needs so much.
const LINE_MAX: u64 = 1 << 20;
/// A clock that steps back by more than this was set; less is the order of lines.
const STEP_NS: u64 = 1_000_000_000;
const DAY_NS: u64 = 24 * 3600 * 1_000_000_000;

/// A call that began on an earlier line.
struct Begun {
    at_ns: u64,
    text: String,
}

/// A thread.
struct Known {
    number: u32,
    process: u32,
}

/// Reads entries.
pub(super) struct Strace<R> {
    input: R,
    begun: HashMap<u32, Begun>,
    threads: HashMap<u32, Known>,
    thread_count: u32,
    files: HashMap<String, u32>,
    names: Vec<FileState>,
    tables: Tables,
    out: VecDeque<Entry>,
    clock: Clock,
    /// Calls on what is no file.
    pub left_out: u64,
    /// Time of the first line since 1970, if it has that.
    pub began_unix_ns: Option<u64>,
    /// Calls of io_uring, whose I/O is not in the text.
    pub rings: u64,
    /// Lines that are calls.
    pub calls: u64,
    is_over: bool,
}

/// What is known of a file: its end so far.
#[derive(Clone, Copy, Default)]
struct FileState {
    end: u64,
}

/// Turns times of lines into times of the trace.
#[derive(Default)]
struct Clock {
    /// What is subtracted from the times of lines.
    origin: Option<u64>,
    added: u64,
    last: u64,
}

impl Clock {
    fn at(&mut self, time: Option<Time>) -> u64 {
        let now = match time {
            None => return self.last,
            Some(Time::Since(ns)) => self.last.saturating_add(ns),
            Some(Time::Unix(ns) | Time::OfDay(ns)) => {
                let origin = *self.origin.get_or_insert(ns);
                let mut now = ns.wrapping_sub(origin).wrapping_add(self.added);
                let back = self.last.wrapping_sub(now);
                if (now as i64) < 0 || (back as i64) > STEP_NS as i64 {
                    // Midnight, or the clock was set: time goes on from the last line.
                    let is_midnight = matches!(time, Some(Time::OfDay(_)))
                        && (now.wrapping_add(DAY_NS) as i64) >= self.last as i64;
                    let forward = if is_midnight { DAY_NS } else { self.last.wrapping_sub(now) };
                    self.added = self.added.wrapping_add(forward);
                    now = now.wrapping_add(forward);
                }
                now
            }
        };
        self.last = self.last.max(now);
        now
    }
}

impl<R: BufRead> Strace<R> {
    pub fn new(input: R) -> Self {
        Strace {
            input,
            begun: HashMap::new(),
            threads: HashMap::new(),
            thread_count: 0,
            files: HashMap::new(),
            names: Vec::new(),
            tables: Tables::default(),
            out: VecDeque::new(),
            clock: Clock::default(),
            left_out: 0,
            began_unix_ns: None,
            rings: 0,
            calls: 0,
            is_over: false,
        }
    }

    /// The next entry; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Entry>, TraceError> {
        loop {
            if let Some(entry) = self.out.pop_front() {
                return Ok(Some(entry));
            }
            if self.is_over {
                return Ok(None);
            }
            let mut bytes = Vec::new();
            let read = self.input.by_ref().take(LINE_MAX).read_until(b'\n', &mut bytes)?;
            match read {
                0 => self.is_over = true,
                _ if read as u64 == LINE_MAX && bytes.last() != Some(&b'\n') => {
                    skip_line(&mut self.input)?;
                }
                _ => self.line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r'])),
            }
        }
    }

    fn line(&mut self, text: &str) {
        let line = line::line(text);
        let kind = line::line_kind(line.rest);
        if kind == LineKind::Other {
            return;
        }
        if let Some(Time::Unix(ns)) = line.time {
            self.began_unix_ns.get_or_insert(ns);
        }
        let at_ns = self.clock.at(line.time);
        let thread = line.thread.unwrap_or(0);
        match kind {
            LineKind::Call(text) => self.call(thread, at_ns, None, text),
            LineKind::Unfinished(text) => {
                self.begun.insert(thread, Begun { at_ns, text: text.to_owned() });
            }
            LineKind::Resumed(rest) => {
                if let Some(begun) = self.begun.remove(&thread) {
                    let took = line.time.map(|_| at_ns.saturating_sub(begun.at_ns));
                    self.call(thread, begun.at_ns, took, &(begun.text + rest));
                }
            }
            LineKind::Exited => {
                self.begun.remove(&thread);
                self.threads.remove(&thread);
                self.tables.exit(thread);
            }
            LineKind::Other => {}
        }
    }

    fn call(&mut self, thread: u32, at_ns: u64, took: Option<u64>, text: &str) {
        if let Some(call) = line::call(text) {
            self.calls += 1;
            let duration_ns = call.duration_ns.or(took);
            self.act(&Doing { thread, at_ns, duration_ns, call: &call });
        }
    }

    /// The number of a thread, which is announced when it is first seen.
    fn thread(&mut self, thread: u32) -> u32 {
        if let Some(known) = self.threads.get(&thread) {
            return known.number;
        }
        self.new_thread(thread, thread, String::new())
    }

    fn new_thread(&mut self, thread: u32, process: u32, name: String) -> u32 {
        let number = self.thread_count;
        self.thread_count += 1;
        self.threads.insert(thread, Known { number, process });
        self.out.push_back(Entry::Thread(Thread { number, process, thread, name }));
        number
    }

    /// The number of a path, which is announced when it is first seen; `None` if it is left out.
    fn file(&mut self, path: &str) -> Option<u32> {
        let path = path.strip_suffix("(deleted)").map_or(path, str::trim_end);
        let kind = kind(path)?;
        let name = path.split('<').next().unwrap_or(path);
        if let Some(number) = self.files.get(name) {
            return Some(*number);
        }
        let number = self.names.len() as u32;
        self.names.push(FileState::default());
        self.files.insert(name.to_owned(), number);
        let name = name.to_owned();
        self.out.push_back(Entry::File(File { number, name, kind, size: 0, device: None }));
        Some(number)
    }

    fn event(&mut self, doing: &Doing<'_>, operation: Operation, at: Place) {
        let thread = self.thread(doing.thread);
        let Place { file, offset, length, flags, .. } = at;
        self.out.push_back(Entry::Event(Event {
            at_ns: doing.at_ns,
            duration_ns: doing.duration_ns.filter(|_| !flags.has(Flags::ASYNC)),
            level: Level::Application,
            operation,
            flags,
            thread,
            file,
            offset,
            length,
            result: doing.call.result.filter(|_| !flags.has(Flags::ASYNC)),
            cpu_before_ns: None,
        }));
    }
}

/// A call by a thread.
struct Doing<'a> {
    thread: u32,
    at_ns: u64,
    duration_ns: Option<u64>,
    call: &'a Call<'a>,
}

/// Where an operation takes place.
#[derive(Clone, Copy, Default)]
struct Place {
    file: u32,
    offset: u64,
    length: u64,
    flags: Flags,
}

/// The kind of a path as strace prints it; `None` for sockets, pipes, terminals and files of the kernel.
fn kind(path: &str) -> Option<FileKind> {
    const LEFT_OUT: [&str; 9] = [
        "/proc/",
        "/sys/",
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/pts/",
    ];
    let is_name = path.starts_with('/') || !path.contains(":[");
    if path.is_empty() || !is_name || path.contains("<char ") {
        return None;
    }
    if LEFT_OUT.iter().any(|start| path.starts_with(start)) {
        return None;
    }
    let is_device =
        path.contains("<block ") || path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
    Some(if is_device { FileKind::Block } else { FileKind::Regular })
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let available = input.fill_buf()?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(available.len(), |end| end + 1);
        let is_end = end.is_some() || available.is_empty();
        input.consume(length);
        if is_end {
            return Ok(());
        }
    }
}

/// Whether this is the beginning of a text of strace.
pub(super) fn is_strace(first: &[u8]) -> bool {
    let text = String::from_utf8_lossy(first);
    text.lines().take(200).any(|text| match line::line_kind(line::line(text).rest) {
        LineKind::Call(call) => line::call(call).is_some(),
        LineKind::Unfinished(_) | LineKind::Resumed(_) => true,
        LineKind::Exited | LineKind::Other => false,
    })
}
