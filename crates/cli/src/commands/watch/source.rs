//! Where looks come from: this machine now, or a log.

use super::wrong_file;
use crate::commands::inspect;
use crate::output::say;
use anyhow::Result;
use host::{Detail, Host, SampleReader, TargetQuery};
use live::log::{Devices, Entry, Reader, SCHEMA, Start, TimedSample};
use record::{Facts, Nanos};
use runner::Refusal;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest gap of a log that a replay waits out.
const GAP_MAX: Duration = Duration::from_secs(5);

/// Gives entries in the order of a log.
pub trait Source {
    /// When the next entries are to be taken; `None`: there are no more.
    fn due(&self) -> Option<Instant>;
    /// The next entries, the last of them a look at the machine, unless a log ends.
    ///
    /// # Errors
    /// Those of reading a log.
    fn take(&mut self) -> Result<Vec<Entry>>;
    /// How often it looks, or what else its pace is.
    fn pace(&self) -> String;
    /// Whether it may be kept waiting.
    fn is_patient(&self) -> bool;
}

/// How often it is looked at most whether other disks are to be watched: with every look that comes
/// a second after the one before.
const FOLLOWED: Duration = Duration::from_millis(900);

/// This machine.
pub struct Live {
    host: Host,
    reader: SampleReader,
    /// What there is to tell before the next look.
    news: Vec<Entry>,
    /// What lies on the disks; `None`: all are watched.
    path: Option<String>,
    /// What is watched.
    devices: Devices,
    /// When it was last looked for others.
    followed: Instant,
    origin: Instant,
    interval: Duration,
    due: Instant,
}

impl Live {
    /// Of the disks under a path, or all.
    ///
    /// # Errors
    /// When the path is not there, or may not be looked at.
    pub fn under(path: Option<&OsStr>, interval: Nanos) -> Result<Live> {
        let path = path.map(|path| inspect::existing(path, "watch").map(|(path, _)| path));
        let path = path.transpose().map_err(Refusal::usage)?.map(str::to_owned);
        // Without a kernel to ask: nothing of this may send a disk a command.
        let host = Host::at("/");
        let machine = host.machine();
        let start = Start {
            schema: SCHEMA,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            started_unix_ms: unix_ms(),
            interval_ns: interval.0,
            path: path.clone(),
            hostname: machine.hostname,
            kernel: machine.kernel,
        };
        let devices = devices(&host, path.as_deref());
        let origin = Instant::now();
        let reader = reader(&host, &devices, origin);
        Ok(Live {
            host,
            reader,
            news: vec![Entry::Watch(start), Entry::Stack(devices.clone())],
            path,
            devices,
            followed: origin,
            origin,
            interval: Duration::from_nanos(interval.0),
            due: origin,
        })
    }

    /// Disks that came or went, legs that were added, another filesystem under the path: each makes
    /// another stack. What is no longer there at all is not followed: the disks under it still are.
    fn follow_disks(&mut self) {
        if self.followed.elapsed() < FOLLOWED {
            return;
        }
        self.followed = Instant::now();
        let now = devices(&self.host, self.path.as_deref());
        let is_gone = now.devices.is_empty() && !self.devices.devices.is_empty();
        if !is_gone && (now.tops != self.devices.tops || !legs(&now).eq(legs(&self.devices))) {
            self.reader = reader(&self.host, &now, self.origin);
            self.news.push(Entry::Stack(now.clone()));
            self.devices = now;
        }
    }
}

/// What stands on what.
fn legs(devices: &Devices) -> impl Iterator<Item = (&String, &Vec<String>)> {
    devices.devices.iter().map(|(name, device)| (name, &device.below))
}

impl Source for Live {
    fn due(&self) -> Option<Instant> {
        Some(self.due)
    }

    fn take(&mut self) -> Result<Vec<Entry>> {
        self.follow_disks();
        let sample = self.reader.read(&[], Detail::Slow);
        let mut entries = std::mem::take(&mut self.news);
        entries.push(Entry::Sample(Box::new(TimedSample { unix_ms: unix_ms(), sample })));
        // Beats that were missed, in a program that was stopped, are left out.
        let passed = self.origin.elapsed().as_nanos() / self.interval.as_nanos().max(1);
        let next = u64::try_from((passed + 1) * self.interval.as_nanos()).unwrap_or(u64::MAX);
        self.due = self.origin + Duration::from_nanos(next);
        Ok(entries)
    }

    fn pace(&self) -> String {
        format!("every {}", short(self.interval))
    }

    fn is_patient(&self) -> bool {
        false
    }
}

/// The stack under a path, or those of all disks.
fn devices(host: &Host, path: Option<&str>) -> Devices {
    let Some(path) = path else {
        return without_serials(Devices { tops: None, devices: host.devices(&host.disks()) });
    };
    let query = TargetQuery { path: path.to_owned(), will_write: false };
    let facts = host.survey(Facts::default(), &[query]);
    let tops = facts.tops_of(path).into_iter().map(str::to_owned).collect();
    without_serials(Devices { tops: Some(tops), devices: facts.devices })
}

/// A log may be shown to others.
fn without_serials(mut devices: Devices) -> Devices {
    devices.devices.values_mut().for_each(|device| device.serial = None);
    devices
}

fn reader(host: &Host, devices: &Devices, origin: Instant) -> SampleReader {
    let mut names: Vec<String> = devices.stack().rows.into_iter().map(|row| row.name).collect();
    names.sort_unstable();
    SampleReader::new(host.clone(), names, origin)
}

/// A log that is shown again.
pub struct Replay {
    reader: Reader<BufReader<File>>,
    name: String,
    /// Entries up to the next look, and its moment.
    next: VecDeque<Entry>,
    next_unix_ms: Option<u64>,
    /// Whether it takes as long as it took.
    paced: bool,
    due: Instant,
}

impl Replay {
    /// Opens a log.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn open(path: &Path, paced: bool) -> Result<Replay> {
        let file = File::open(path).map_err(|error| wrong_file("replay", path, error))?;
        let mut replay = Replay {
            reader: Reader::new(BufReader::new(file)),
            name: path.display().to_string(),
            next: VecDeque::new(),
            next_unix_ms: None,
            paced,
            due: Instant::now(),
        };
        replay.fill().map_err(|error| wrong_file("replay", path, error))?;
        Ok(replay)
    }

    /// Reads up to the next look.
    fn fill(&mut self) -> Result<(), live::log::LogError> {
        self.next_unix_ms = None;
        while let Some(entry) = self.reader.next_entry()? {
            let moment = match &entry {
                Entry::Sample(look) => Some(look.unix_ms),
                Entry::Watch(_) | Entry::Stack(_) => None,
            };
            self.next.push_back(entry);
            if moment.is_some() {
                self.next_unix_ms = moment;
                break;
            }
        }
        Ok(())
    }

    /// Says what of the log could not be shown.
    pub fn tell(&self) {
        match self.reader.damaged() {
            0 => {}
            1 => say(&format!("fathom: {}: a line was cut off and is passed over\n", self.name)),
            n => {
                say(&format!("fathom: {}: {n} lines were cut off and are passed over\n", self.name))
            }
        }
    }
}

impl Source for Replay {
    fn due(&self) -> Option<Instant> {
        (!self.next.is_empty()).then_some(self.due)
    }

    fn take(&mut self) -> Result<Vec<Entry>> {
        let entries = std::mem::take(&mut self.next).into();
        let before = self.next_unix_ms;
        self.fill()?;
        let gap =
            self.next_unix_ms.zip(before).map_or(0, |(next, before)| next.saturating_sub(before));
        let gap = if self.paced { Duration::from_millis(gap).min(GAP_MAX) } else { Duration::ZERO };
        self.due = Instant::now() + gap;
        Ok(entries)
    }

    fn pace(&self) -> String {
        "replay".into()
    }

    fn is_patient(&self) -> bool {
        true
    }
}

/// "1 s", "500 ms", "2 min".
fn short(interval: Duration) -> String {
    match interval.as_millis() {
        ms if ms.is_multiple_of(60_000) => format!("{} min", ms / 60_000),
        ms if ms.is_multiple_of(1000) => format!("{} s", ms / 1000),
        ms => format!("{ms} ms"),
    }
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}
