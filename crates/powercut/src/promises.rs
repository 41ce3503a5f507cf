//! The log of promises, kept on another machine than the one whose power is cut. Each line has a
//! checksum and a number. A damaged line is reported and not trusted: a promise that is not known
//! accuses nobody.

use crate::check::Checked;
use crate::session::{RULES, Session};
use record::human::counted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// The first line.
    Start(Session),
    /// The kernel acknowledged the first `batches` batches of a stream as durable.
    Durable {
        /// The stream.
        stream: u16,
        /// Number of batches.
        batches: u64,
    },
    /// The tester saw its storage fail after its power was cut.
    Cut,
    /// Why the tester ended before a cut.
    Ended(String),
    /// What a check after the cut found.
    Checked(Checked),
}

/// A line that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Its number in the file, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

/// A log as it was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Promises {
    /// The session; `None` if that line is damaged.
    pub session: Option<Session>,
    /// Number of durable batches of each stream.
    pub durable: BTreeMap<u16, u64>,
    /// Whether the tester saw the cut.
    pub is_cut_seen: bool,
    /// Why the tester ended before a cut.
    pub ended: Option<String>,
    /// Checks that were made so far.
    pub checks: Vec<Checked>,
    /// Damaged lines.
    pub damage: Vec<Damage>,
    /// Number of the next line.
    pub next: u64,
}

impl Promises {
    /// Number of durable batches of a stream.
    pub fn batches(&self, stream: u16) -> u64 {
        self.durable.get(&stream).copied().unwrap_or(0)
    }
}

/// The line of an entry, with its newline.
pub fn line(number: u64, entry: &Entry) -> String {
    let json = serde_json::to_string(entry).expect("an entry has only names, numbers and texts");
    let rest = format!("{number} {json}");
    format!("{:08x} {rest}\n", crc32c::crc32c(rest.as_bytes()))
}

/// Reads a log. Bytes that are no log give a log with damage only.
pub fn read(bytes: &[u8]) -> Promises {
    let mut promises = Promises::default();
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(1..).peekable();
    while let Some((text, line)) = lines.next() {
        let damage = match parse(text) {
            Ok((number, entry)) => promises.add(number, entry, line),
            Err(_) if lines.peek().is_none() && !text.ends_with(b"\n") => {
                Some("it was not written to its end".to_owned())
            }
            Err(what) => Some(what),
        };
        promises.damage.extend(damage.map(|what| Damage { line, what }));
    }
    promises
}

fn parse(text: &[u8]) -> Result<(u64, Entry), String> {
    let text = text.strip_suffix(b"\n").ok_or("it has no end")?;
    let text = std::str::from_utf8(text).map_err(|_| "it is not text")?;
    let (checksum, rest) = text.split_once(' ').ok_or("it has no checksum")?;
    // Compared as text: a number may be written in several ways, and one of them is damage.
    if checksum != format!("{:08x}", crc32c::crc32c(rest.as_bytes())) {
        return Err("its checksum is wrong".into());
    }
    let (number, json) = rest.split_once(' ').ok_or("it has no number")?;
    let number = number.parse().map_err(|_| "it has no number")?;
    let entry = serde_json::from_slice(json.as_bytes())
        .map_err(|error| format!("another version of fathom wrote it ({error})"))?;
    Ok((number, entry))
}

impl Promises {
    /// Adds an intact line. Returns what is wrong with the lines before it.
    fn add(&mut self, number: u64, entry: Entry, line: u64) -> Option<String> {
        let expected = std::mem::replace(&mut self.next, number + 1);
        match entry {
            Entry::Start(session) if line == 1 => self.session = Some(session),
            Entry::Start(_) => return Some("a second session starts in this file".into()),
            Entry::Durable { stream, batches } => {
                let known = self.durable.entry(stream).or_default();
                *known = batches.max(*known);
            }
            Entry::Cut => self.is_cut_seen = true,
            Entry::Ended(why) => self.ended = Some(why),
            Entry::Checked(checked) => self.checks.push(checked),
        }
        // A damaged line before this one is reported by itself.
        let gap = number.saturating_sub(expected);
        let is_told = self.damage.last().is_some_and(|damage| damage.line + 1 == line) && gap == 1;
        match number.cmp(&expected) {
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater if is_told => None,
            std::cmp::Ordering::Greater => {
                Some(format!("{} before it missing", counted(gap as usize, "line")))
            }
            std::cmp::Ordering::Less => Some("it stands there a second time".into()),
        }
    }

    /// The session, if this version of fathom can check it.
    pub fn session(&self) -> Result<&Session, String> {
        let Some(session) = &self.session else {
            let line = self.damage.first().map(|damage| format!(" ({})", damage.what));
            return Err(format!(
                "its first line, which says what was written, is damaged{}",
                line.unwrap_or_default()
            ));
        };
        match session.rules {
            RULES => Ok(session),
            rules => Err(format!(
                "fathom wrote the target by version {rules} of its rules, and this one knows \
                 version {RULES}: check with the fathom that wrote it"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Class;
    use crate::session::tests::session;
    use proptest::prelude::*;

    fn log() -> Vec<u8> {
        let entries = [
            Entry::Start(session(Class::Fsync, 1 << 20)),
            Entry::Durable { stream: 0, batches: 1 },
            Entry::Durable { stream: 0, batches: 2 },
            Entry::Durable { stream: 1, batches: 7 },
            Entry::Durable { stream: 0, batches: 3 },
        ];
        entries.iter().zip(0..).map(|(entry, n)| line(n, entry)).collect::<String>().into_bytes()
    }

    fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn a_log_reads_as_it_was_written() {
        let read = read(&log());
        assert_eq!(read.session().unwrap(), &session(Class::Fsync, 1 << 20));
        assert_eq!(read.durable, BTreeMap::from([(0, 3), (1, 7)]));
        assert_eq!((read.damage.len(), read.next), (0, 5));
    }

    #[test]
    fn a_missing_a_doubled_and_a_torn_line_are_reported() {
        let mut missing = lines(&log());
        missing.remove(3);
        let read_missing = read(&missing.concat());
        assert_eq!(read_missing.damage[0].what, "1 line before it missing");
        assert_eq!(read_missing.durable, BTreeMap::from([(0, 3)]));
        let mut doubled = lines(&log());
        doubled.push(doubled[4].clone());
        assert!(read(&doubled.concat()).damage[0].what.contains("second time"));
        let torn = &log()[..log().len() - 3];
        let torn = read(torn);
        assert_eq!(torn.damage[0].what, "it was not written to its end");
        assert_eq!(torn.durable[&0], 2);
    }

    #[test]
    fn a_log_without_its_first_line_is_not_checked() {
        let without = lines(&log())[1..].concat();
        assert!(read(&without).session().unwrap_err().contains("first line"));
        let mut other = session(Class::Fsync, 1 << 20);
        other.rules = RULES + 1;
        let other = read(line(0, &Entry::Start(other)).as_bytes());
        assert!(other.session().unwrap_err().contains("check with the fathom that wrote it"));
    }

    proptest! {
        #[test]
        fn a_changed_byte_is_reported_and_its_promise_not_trusted(at in 0..1000_usize, change in 1..=255_u8) {
            let mut bytes = log();
            let at = at % bytes.len();
            bytes[at] ^= change;
            let damaged = read(&bytes);
            prop_assert!(!damaged.damage.is_empty());
            let whole = read(&log());
            for (stream, batches) in &damaged.durable {
                prop_assert!(batches <= &whole.durable[stream]);
            }
        }

        #[test]
        fn noise_is_no_log_and_no_panic(noise in proptest::collection::vec(any::<u8>(), 1..200)) {
            let read = read(&noise);
            prop_assert!(read.session().is_err() && read.durable.is_empty());
        }
    }
}
