//! fio's iolog: one action per line, as fio's manual describes it ("Trace file format").
//!
//! The first line is `fio version N iolog`. In version 3 every line begins with a time in
//! microseconds from the beginning of the run; version 2 has `wait` lines instead. Then come a path
//! and an action: `add`, `open` and `close`, or `read`, `write`, `trim`, `sync`, `datasync` and
//! `wait` with an offset and a length in bytes.

use crate::error::TraceError;
use crate::event::{Event, Kind, Name};
use crate::lines::Lines;
use std::collections::HashMap;
use std::io::{self, BufRead, Write};

/// First line of written logs.
pub const HEADER: &str = "fio version 3 iolog";

/// The start of every log.
pub(crate) const MAGIC: &[u8] = b"fio version ";

/// Shorter waits are skipped, as fio's manual says.
const SHORTEST_WAIT_US: u64 = 100;

/// The longest I/O of the kernel (MAX_RW_COUNT: 2 GiB less a page).
const LONGEST_IO: u64 = 0x7fff_f000;

const ACTIONS: &str = "add, open, close, read, write, trim, sync, datasync or, in version 2, wait";

/// Reads a log.
pub(crate) struct Iolog<R> {
    lines: Lines<R>,
    version: u8,
    names: Vec<Name>,
    /// The number of each file by its path, and whether it is open.
    known: HashMap<String, (u32, bool)>,
    clock_us: u64,
}

/// The rest of a line after its time.
struct Words<'a> {
    path: &'a str,
    action: &'a str,
    offset: Option<&'a str>,
    length: Option<&'a str>,
}

impl<R: BufRead> Iolog<R> {
    /// Reads the first line, which has the version.
    pub fn new(input: R) -> Result<Self, TraceError> {
        let mut lines = Lines::new(input);
        let first = lines.next()?.unwrap_or_default().trim().to_owned();
        let version = match first.as_str() {
            "fio version 2 iolog" => 2,
            HEADER => 3,
            other => {
                let what = format!("'{other}' is no version that is known: expected 2 or 3");
                return Err(lines.wrong(what));
            }
        };
        Ok(Iolog { lines, version, names: Vec::new(), known: HashMap::new(), clock_us: 0 })
    }

    pub fn version(&self) -> u8 {
        self.version
    }

    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// The next event; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            let Some(line) = self.lines.next()? else { return Ok(None) };
            if line.trim().is_empty() {
                continue;
            }
            let parsed = split(line, self.version);
            let event = parsed.and_then(|(time, words)| {
                if let Some(time) = time {
                    // Times may step back in logs of several threads. Late I/O is issued at once.
                    self.clock_us = self.clock_us.max(time);
                }
                act(&words, self.version, &mut self.names, &mut self.known, &mut self.clock_us)
            });
            match event {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) => {}
                Err(what) => return Err(self.lines.wrong(what)),
            }
        }
    }
}

fn split(line: &str, version: u8) -> Result<(Option<u64>, Words<'_>), String> {
    if line.as_bytes().starts_with(MAGIC) {
        return Err("another log begins here (runs append to the file they are given): \
                    split it, one log a file"
            .into());
    }
    let mut words = line.split_ascii_whitespace();
    let time = match version {
        2 => None,
        _ => Some(number(words.next().unwrap_or_default(), "a time in microseconds")?),
    };
    let (Some(path), Some(action)) = (words.next(), words.next()) else {
        let before = if version == 2 { "" } else { "a time, " };
        return Err(format!("expected {before}a path and an action, got '{}'", line.trim()));
    };
    let words = Words { path, action, offset: words.next(), length: words.next() };
    Ok((time, words))
}

fn number(text: &str, what: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected {what}, got '{text}'"))
}

/// The event of a line; `None` if it has none.
fn act(
    words: &Words<'_>,
    version: u8,
    names: &mut Vec<Name>,
    known: &mut HashMap<String, (u32, bool)>,
    clock_us: &mut u64,
) -> Result<Option<Event>, String> {
    let path = words.path;
    let kind = match words.action {
        "add" => {
            if !known.contains_key(path) {
                known.insert(path.to_owned(), (names.len() as u32, false));
                names.push(Name::Path(path.to_owned()));
            }
            return Ok(None);
        }
        "wait" => return wait(words, version, clock_us).map(|()| None),
        "open" => Kind::Open,
        "close" => Kind::Close,
        "read" => Kind::Read,
        "write" => Kind::Write,
        "trim" => Kind::Trim,
        "sync" => Kind::Sync,
        "datasync" => Kind::Datasync,
        other => return Err(format!("'{other}' is no action: expected {ACTIONS}")),
    };
    let Some((file, open)) = known.get_mut(path) else {
        return Err(format!("'{path}' was not added before: expected '{path} add' above"));
    };
    match kind {
        Kind::Open => *open = true,
        _ if !*open => return Err(format!("'{path}' is not open: expected '{path} open' above")),
        Kind::Close => *open = false,
        _ => {}
    }
    let (offset, length) = range(kind, words)?;
    let at = clock_us.checked_mul(1000).ok_or("the time is beyond 584 years")?;
    Ok(Some(Event { at, offset, length, file: *file, kind }))
}

/// `wait`: its time counts from the wait before it, or from the start.
fn wait(words: &Words<'_>, version: u8, clock_us: &mut u64) -> Result<(), String> {
    if version != 2 {
        return Err("'wait' is for version 2 only: expected another time instead".into());
    }
    let time = number(words.offset.unwrap_or_default(), "microseconds to wait")?;
    if time >= SHORTEST_WAIT_US {
        *clock_us = clock_us.checked_add(time).ok_or("the waits are longer than time lasts")?;
    }
    Ok(())
}

fn range(kind: Kind, words: &Words<'_>) -> Result<(u64, u64), String> {
    if kind.direction().is_none() {
        return Ok((0, 0));
    }
    let offset = number(words.offset.unwrap_or_default(), "an offset in bytes")?;
    let length = number(words.length.unwrap_or_default(), "a length in bytes")?;
    check_range(kind, offset, length)?;
    Ok((offset, length))
}

/// Refuses ranges that the kernel does not support.
pub(crate) fn check_range(kind: Kind, offset: u64, length: u64) -> Result<(), String> {
    if length == 0 {
        return Err("a length of 0 bytes: expected at least 1".into());
    }
    if kind != Kind::Trim && length > LONGEST_IO {
        return Err(format!("{length} bytes are more than one I/O can move ({LONGEST_IO})"));
    }
    match offset.checked_add(length) {
        Some(end) if end <= i64::MAX as u64 => Ok(()),
        _ => Err(format!("offset {offset} and length {length} reach beyond 2^63 - 1 bytes")),
    }
}

/// Writes a line of a file action (`add`, `open`, `close`) at a time in microseconds.
pub fn write_file_action(
    out: &mut impl Write,
    time_us: u64,
    path: &str,
    action: &str,
) -> io::Result<()> {
    writeln!(out, "{time_us} {path} {action}")
}

/// Writes a line of an I/O at a time in microseconds.
pub fn write_action(
    out: &mut impl Write,
    time_us: u64,
    path: &str,
    action: &str,
    offset: u64,
    length: u64,
) -> io::Result<()> {
    writeln!(out, "{time_us} {path} {action} {offset} {length}")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Line = (u64, u32, Kind, u64, u64);

    fn events(text: &str) -> Result<Vec<Line>, String> {
        let mut log = Iolog::new(text.as_bytes()).map_err(|e| e.to_string())?;
        let mut all = Vec::new();
        while let Some(e) = log.next().map_err(|e| e.to_string())? {
            all.push((e.at, e.file, e.kind, e.offset, e.length));
        }
        Ok(all)
    }

    #[test]
    fn version_2_counts_its_waits() {
        let text = "fio version 2 iolog\n/a add\n/b add\n/b open\n\n/a open\r\n/a write 0 4096\n\
                    /a wait 1000\n/b read 512 1024\n/b wait 99 0\n/a wait 100 0\n/a sync 0 0\n\
                    /a datasync\n  /a trim 4096 8192\n/a close\n";
        assert_eq!(
            events(text).unwrap(),
            [
                (0, 1, Kind::Open, 0, 0),
                (0, 0, Kind::Open, 0, 0),
                (0, 0, Kind::Write, 0, 4096),
                (1_000_000, 1, Kind::Read, 512, 1024),
                (1_100_000, 0, Kind::Sync, 0, 0),
                (1_100_000, 0, Kind::Datasync, 0, 0),
                (1_100_000, 0, Kind::Trim, 4096, 8192),
                (1_100_000, 0, Kind::Close, 0, 0),
            ]
        );
    }

    #[test]
    fn version_3_has_times() {
        let text = "fio version 3 iolog\n0 /a add\n7 /a open\n9 /a read 0 1\n8 /a write 1 2";
        assert_eq!(
            events(text).unwrap(),
            [
                (7000, 0, Kind::Open, 0, 0),
                (9000, 0, Kind::Read, 0, 1),
                (9000, 0, Kind::Write, 1, 2)
            ]
        );
    }

    #[test]
    fn an_error_names_the_line() {
        let opened = "fio version 2 iolog\n/a add\n/a open\n";
        for (rest, expected) in [
            ("/a bogus 0 1", "line 4: 'bogus' is no action: expected add, open"),
            ("/a read 0", "line 4: expected a length in bytes, got ''"),
            ("/a read x 1", "line 4: expected an offset in bytes, got 'x'"),
            ("/a read -1 1", "line 4: expected an offset in bytes, got '-1'"),
            ("/a read 0 0", "line 4: a length of 0 bytes"),
            ("/a read 0 4294967296", "line 4: 4294967296 bytes are more than one I/O"),
            ("/a read 9223372036854775807 1", "line 4: offset 9223372036854775807 and"),
            ("/a", "line 4: expected a path and an action, got '/a'"),
            ("/b read 0 1", "line 4: '/b' was not added before"),
            ("/a close\n/a read 0 1", "line 5: '/a' is not open"),
            ("fio version 2 iolog", "line 4: another log begins here"),
            ("/a wait", "line 4: expected microseconds to wait, got ''"),
            ("/a wait 18446744073709551615\n/a wait 200", "line 5: the waits are longer"),
            ("/a wait 18446744073709551615\n/a sync", "line 5: the time is beyond"),
        ] {
            let text = events(&format!("{opened}{rest}\n")).unwrap_err();
            assert!(text.starts_with(expected), "{rest}: {text}");
        }
        let third = "fio version 3 iolog\n0 /a add\n0 /a open\n";
        for (rest, expected) in [
            ("/a read 0 1", "line 4: expected a time in microseconds, got '/a'"),
            ("5 /a wait 100 0", "line 4: 'wait' is for version 2 only"),
            ("5 /a", "line 4: expected a time, a path and an action, got '5 /a'"),
        ] {
            let text = events(&format!("{third}{rest}\n")).unwrap_err();
            assert!(text.starts_with(expected), "{rest}: {text}");
        }
        let text = events("fio version 4 iolog\n").unwrap_err();
        assert_eq!(
            text,
            "line 1: 'fio version 4 iolog' is no version that is known: expected 2 or 3"
        );
        let long = format!("fio version 2 iolog\n{}\n", "x".repeat(9000));
        assert!(events(&long).unwrap_err().starts_with("line 2: longer than 8192 bytes"));
    }
}
