//! A log of samples as JSON lines.

use record::{DeviceFacts, Sample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

/// Version of the format. Raised when a key changes its meaning or is removed, not for a new
/// optional key.
pub const SCHEMA: u32 = 1;

/// Most bytes of a line. A sample of a machine with 1000 disks needs a tenth of this.
const LINE_MAX: u64 = 4 << 20;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The start of watching: the first line, and again where a log was continued.
    Watch(Start),
    /// The devices watched from here on.
    Stack(Devices),
    /// A sample of the machine.
    Sample(Box<TimedSample>),
}

/// The settings of a watch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// Version of the program that wrote it.
    pub fathom_version: String,
    /// Wall clock, in milliseconds since 1970 (UTC).
    pub started_unix_ms: u64,
    /// Requested time between two samples.
    pub interval_ns: u64,
    /// The path watched; `None` for all disks.
    pub path: Option<String>,
    /// Host name.
    pub hostname: String,
    /// Kernel release.
    pub kernel: String,
}

/// The watched devices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Devices {
    /// The devices directly under the path, by kernel name; `None` when all disks are watched.
    pub tops: Option<Vec<String>>,
    /// Every device of the stack, by kernel name.
    pub devices: BTreeMap<String, DeviceFacts>,
}

impl Devices {
    /// The devices in display order.
    pub fn stack(&self) -> crate::Stack {
        match &self.tops {
            Some(tops) => crate::Stack::under(&self.devices, tops),
            None => crate::Stack::whole(&self.devices),
        }
    }
}

/// A sample of the machine with its wall clock time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimedSample {
    /// Wall clock, in milliseconds since 1970 (UTC).
    pub unix_ms: u64,
    /// The sample. Its time counts from the start of watching.
    pub sample: Sample,
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The first line is not the start of a log.
    #[error("is not a log of 'fathom watch': its first line is no start of one")]
    Foreign,
    /// A newer fathom wrote it.
    #[error(
        "is a log of format {found}, made by a newer fathom ({version}); this one reads formats up to {SCHEMA}"
    )]
    Newer {
        /// Its format.
        found: u32,
        /// The version that wrote it.
        version: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads a log line by line.
pub struct Reader<R> {
    from: R,
    begun: bool,
    damaged: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads from the current position of `from`.
    pub fn new(from: R) -> Reader<R> {
        Reader { from, begun: false, damaged: 0 }
    }

    /// Number of damaged lines that were skipped. A program that is killed or a full disk leaves
    /// such lines.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// When it is not a log, has a newer format, or cannot be read.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, LogError> {
        loop {
            let mut line = Vec::new();
            let read = self.from.by_ref().take(LINE_MAX).read_until(b'\n', &mut line)?;
            if read == 0 {
                return if self.begun { Ok(None) } else { Err(LogError::Foreign) };
            }
            match serde_json::from_slice(&line) {
                Ok(Entry::Watch(start)) if start.schema > SCHEMA => {
                    let version = start.fathom_version;
                    return Err(LogError::Newer { found: start.schema, version });
                }
                Ok(entry) if self.begun || matches!(entry, Entry::Watch(_)) => {
                    self.begun = true;
                    return Ok(Some(entry));
                }
                _ if !self.begun => return Err(self.not_begun(&line)),
                Ok(_) | Err(_) => self.damaged += 1,
            }
        }
    }

    /// The error for a first line that is not a start. A newer format may have unknown keys.
    fn not_begun(&self, line: &[u8]) -> LogError {
        let value: Option<serde_json::Value> = serde_json::from_slice(line).ok();
        let watch = value.as_ref().and_then(|value| value.get("watch"));
        let schema = watch.and_then(|watch| watch.get("schema")?.as_u64());
        match schema.filter(|schema| *schema > u64::from(SCHEMA)) {
            Some(schema) => {
                let version = watch.and_then(|watch| watch.get("fathom_version")?.as_str());
                let version = version.unwrap_or("of unknown version").to_owned();
                LogError::Newer { found: u32::try_from(schema).unwrap_or(u32::MAX), version }
            }
            None => LogError::Foreign,
        }
    }
}

/// An entry as a line, with its line feed.
///
/// # Errors
/// None in practice: every key is a string.
pub fn line(entry: &Entry) -> io::Result<String> {
    Ok(serde_json::to_string(entry)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Nanos, WorkerSample};

    fn start() -> Entry {
        Entry::Watch(Start { schema: SCHEMA, hostname: "here".into(), ..Start::default() })
    }

    fn look(unix_ms: u64) -> Entry {
        let mut sample = Sample { at: Nanos(unix_ms), ..Sample::default() };
        sample.workers.insert(77, WorkerSample::default());
        Entry::Sample(Box::new(TimedSample { unix_ms, sample }))
    }

    fn read(text: &[u8]) -> (Vec<Entry>, u64, Option<LogError>) {
        let mut reader = Reader::new(text);
        let mut entries = Vec::new();
        loop {
            match reader.next_entry() {
                Ok(Some(entry)) => entries.push(entry),
                Ok(None) => return (entries, reader.damaged(), None),
                Err(error) => return (entries, reader.damaged(), Some(error)),
            }
        }
    }

    #[test]
    fn a_log_reads_back_as_written() {
        let entries = [start(), Entry::Stack(Devices::default()), look(5), start(), look(6)];
        let text: String = entries.iter().map(|entry| line(entry).unwrap()).collect();
        assert_eq!(text.lines().count(), entries.len());
        let (found, damaged, error) = read(text.as_bytes());
        assert!(error.is_none());
        assert_eq!((found.as_slice(), damaged), (entries.as_slice(), 0));
    }

    #[test]
    fn a_line_cut_off_costs_itself_alone() {
        let [first, second, third] = [start(), look(5), look(6)].map(|entry| line(&entry).unwrap());
        let cut = format!("{first}{}\n{third}", &second[..second.len() / 2]);
        let (found, damaged, _) = read(cut.as_bytes());
        assert_eq!((found, damaged), (vec![start(), look(6)], 1));
        let (found, damaged, error) = read(format!("{first}{}", &second[..20]).as_bytes());
        assert!(error.is_none());
        assert_eq!((found.len(), damaged), (1, 1));
    }

    #[test]
    fn other_files_and_newer_logs_are_refused() {
        for foreign in ["", "hello\n", "{\"schema\":1}\n", "\0\0\0", &line(&look(5)).unwrap()] {
            assert!(matches!(read(foreign.as_bytes()).2, Some(LogError::Foreign)), "{foreign}");
        }
        let newer = "{\"watch\":{\"schema\":9,\"fathom_version\":\"7.0\",\"new\":[]}}\n";
        let error = read(newer.as_bytes()).2.unwrap();
        assert!(error.to_string().contains("format 9") && error.to_string().contains("7.0"));
    }
}
