//! Sources of samples: this machine, or a log.

use super::layers::DiskTimer;
use super::log::file_error;
use crate::commands::inspect;
use crate::output::write_stderr;
use anyhow::Result;
use engine::kernel::thread_cpu_time;
use host::{ApplicationQuery, ApplicationReader, Detail, Host, SampleReader, TargetQuery};
use live::log::{Devices, Entry, Reader, SCHEMA, Start, TimedSample};
use record::{Facts, Nanos};
use runner::Refusal;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longest pause of a replay; longer gaps in the log are shortened to this.
const GAP_MAX: Duration = Duration::from_secs(5);

/// A source of log entries, in the order of a log.
pub trait SampleSource {
    /// When the next entries are due; `None` when there are no more.
    fn due(&self) -> Option<Instant>;
    /// The next entries. The last of them is a sample, except at the end of a log; none when it was not
    /// yet time for one.
    fn next_entries(&mut self) -> Result<Vec<Entry>>;
    /// The pace in words, such as "every 1 s".
    fn pace(&self) -> String;
    /// Whether pausing the screen pauses the source too.
    fn can_wait(&self) -> bool;
}

/// Shortest time between two checks for added or removed disks. Below 1 s, so that each sample of a
/// one-second interval makes the check.
const DEVICE_CHECK_INTERVAL: Duration = Duration::from_millis(900);

/// Shortest time between two looks at an application. They must not come in step with it, so some of
/// them come later.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// Looks take at most one part of so many of a CPU's time.
const LOOK_SHARE: u32 = 50;

/// A watched application, and when it is looked at next.
struct Application {
    reader: ApplicationReader,
    looks: u32,
    due: Instant,
}

impl Application {
    fn count_in_flight(&mut self) {
        let (begun, used) = (Instant::now(), thread_cpu_time());
        self.reader.count_in_flight();
        // Not the time that passed: on a busy machine this thread waits for a CPU, which costs nobody.
        let cost = thread_cpu_time().saturating_sub(used);
        self.looks = self.looks.wrapping_add(1);
        // 0 to 20 ms, in an order without a short period.
        let later = Duration::from_millis(u64::from(self.looks.wrapping_mul(7919) % 21));
        self.due = begun + (LOOK_INTERVAL + later).max(cost * LOOK_SHARE);
    }
}

/// Samples of this machine.
pub struct LiveSource {
    host: Host,
    application: Option<Application>,
    /// Times the layers of I/Os; `None`: not asked for, or not possible.
    layers: Option<DiskTimer>,
    reader: SampleReader,
    /// Entries that come before the next sample.
    pending: Vec<Entry>,
    /// The path whose disks are sampled; `None`: all disks.
    path: Option<String>,
    devices: Devices,
    devices_checked: Instant,
    origin: Instant,
    interval: Duration,
    due: Instant,
}

impl LiveSource {
    /// Samples the disks under a path, or all disks.
    ///
    /// # Errors
    /// When the path or the application does not exist, or cannot be read.
    pub fn open(
        path: Option<&OsStr>,
        interval: Nanos,
        application: Option<ApplicationQuery>,
    ) -> Result<LiveSource> {
        let path = path.map(|path| inspect::existing(path, "watch").map(|(path, _)| path));
        let path = path.transpose().map_err(Refusal::usage)?.map(str::to_owned);
        // No kernel interface: watching must not send commands to a disk.
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
        let application = application.map(|query| ApplicationReader::open(host.clone(), query));
        let application = application.transpose().map_err(Refusal::usage)?;
        Ok(LiveSource {
            host,
            application: application.map(|reader| Application { reader, looks: 0, due: origin }),
            layers: None,
            reader,
            pending: vec![Entry::Watch(start), Entry::Stack(devices.clone())],
            path,
            devices,
            devices_checked: origin,
            origin,
            interval: Duration::from_nanos(interval.0),
            due: origin,
        })
    }

    /// Times the layers of all I/Os from now on. If that is not possible, prints the reason.
    pub fn time_layers(&mut self) {
        match DiskTimer::start(&self.devices.devices, self.host.clone()) {
            Ok(timer) => self.layers = Some(timer),
            Err(why) => write_stderr(&format!("fathom: --layers: not timed: {why}\n")),
        }
    }

    /// Reads the devices again. Added or removed disks and members, and another filesystem under the
    /// path, change them. When the path itself disappeared, the devices stay as they were.
    fn update_devices(&mut self) {
        if self.devices_checked.elapsed() < DEVICE_CHECK_INTERVAL {
            return;
        }
        self.devices_checked = Instant::now();
        let now = devices(&self.host, self.path.as_deref());
        let is_gone = now.devices.is_empty() && !self.devices.devices.is_empty();
        if !is_gone && (now.tops != self.devices.tops || !members(&now).eq(members(&self.devices)))
        {
            self.reader = reader(&self.host, &now, self.origin);
            self.pending.push(Entry::Stack(now.clone()));
            self.devices = now;
            if self.layers.take().is_some() {
                self.time_layers();
            }
        }
    }
}

/// Each device with the devices below it.
fn members(devices: &Devices) -> impl Iterator<Item = (&String, &Vec<String>)> {
    devices.devices.iter().map(|(name, device)| (name, &device.below))
}

impl SampleSource for LiveSource {
    fn due(&self) -> Option<Instant> {
        Some(
            self.application.as_ref().map_or(self.due, |application| application.due.min(self.due)),
        )
    }

    fn next_entries(&mut self) -> Result<Vec<Entry>> {
        if let Some(application) = &mut self.application
            && application.due <= Instant::now()
        {
            application.count_in_flight();
        }
        if self.due > Instant::now() {
            return Ok(Vec::new());
        }
        self.update_devices();
        let mut sample = self.reader.read(&[], Detail::Slow);
        sample.application = self.application.as_mut().map(|watched| watched.reader.sample());
        sample.layers = self.layers.as_mut().and_then(DiskTimer::sample);
        let mut entries = std::mem::take(&mut self.pending);
        entries.push(Entry::Sample(Box::new(TimedSample { unix_ms: unix_ms(), sample })));
        // Intervals that passed while the program was stopped are skipped.
        let passed = self.origin.elapsed().as_nanos() / self.interval.as_nanos().max(1);
        let next = u64::try_from((passed + 1) * self.interval.as_nanos()).unwrap_or(u64::MAX);
        self.due = self.origin + Duration::from_nanos(next);
        Ok(entries)
    }

    fn pace(&self) -> String {
        format!("every {}", short(self.interval))
    }

    fn can_wait(&self) -> bool {
        false
    }
}

/// The devices under a path, or all disks.
fn devices(host: &Host, path: Option<&str>) -> Devices {
    let Some(path) = path else {
        return without_serials(Devices { tops: None, devices: host.devices(&host.disks()) });
    };
    let query = TargetQuery { path: path.to_owned(), will_write: false };
    let facts = host.survey(Facts::default(), &[query]);
    let tops = facts.tops_of(path).into_iter().map(str::to_owned).collect();
    without_serials(Devices { tops: Some(tops), devices: facts.devices })
}

/// Removes serial numbers, because a log may be published.
fn without_serials(mut devices: Devices) -> Devices {
    devices.devices.values_mut().for_each(|device| device.serial = None);
    devices
}

fn reader(host: &Host, devices: &Devices, origin: Instant) -> SampleReader {
    let mut names: Vec<String> = devices.stack().rows.into_iter().map(|row| row.name).collect();
    names.sort_unstable();
    SampleReader::new(host.clone(), names, origin)
}

/// Samples of a log.
pub struct ReplaySource {
    reader: Reader<BufReader<File>>,
    name: String,
    /// Entries up to the next sample, and its time.
    next: VecDeque<Entry>,
    next_unix_ms: Option<u64>,
    /// Whether to wait between samples as long as recorded.
    in_real_time: bool,
    due: Instant,
}

impl ReplaySource {
    /// Opens a log.
    ///
    /// # Errors
    /// When the file cannot be read or is not a log.
    pub fn open(path: &Path, in_real_time: bool) -> Result<ReplaySource> {
        let file = File::open(path).map_err(|error| file_error("replay", path, error))?;
        let mut replay = ReplaySource {
            reader: Reader::new(BufReader::new(file)),
            name: path.display().to_string(),
            next: VecDeque::new(),
            next_unix_ms: None,
            in_real_time,
            due: Instant::now(),
        };
        replay.fill().map_err(|error| file_error("replay", path, error))?;
        Ok(replay)
    }

    /// Reads entries up to the next sample.
    fn fill(&mut self) -> Result<(), live::log::LogError> {
        self.next_unix_ms = None;
        while let Some(entry) = self.reader.next_entry()? {
            let moment = match &entry {
                Entry::Sample(sample) => Some(sample.unix_ms),
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

    /// Prints how many lines of the log were damaged.
    pub fn report_damaged_lines(&self) {
        match self.reader.damaged() {
            0 => {}
            1 => {
                write_stderr(&format!("fathom: {}: 1 line is cut off and was skipped\n", self.name))
            }
            n => write_stderr(&format!(
                "fathom: {}: {n} lines are cut off and were skipped\n",
                self.name
            )),
        }
    }
}

impl SampleSource for ReplaySource {
    fn due(&self) -> Option<Instant> {
        (!self.next.is_empty()).then_some(self.due)
    }

    fn next_entries(&mut self) -> Result<Vec<Entry>> {
        let entries = std::mem::take(&mut self.next).into();
        let before = self.next_unix_ms;
        self.fill()?;
        let gap =
            self.next_unix_ms.zip(before).map_or(0, |(next, before)| next.saturating_sub(before));
        let gap = if self.in_real_time {
            Duration::from_millis(gap).min(GAP_MAX)
        } else {
            Duration::ZERO
        };
        self.due = Instant::now() + gap;
        Ok(entries)
    }

    fn pace(&self) -> String {
        "replay".into()
    }

    fn can_wait(&self) -> bool {
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
