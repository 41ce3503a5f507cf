//! `fathom trim`: discards the free space of a filesystem or a whole device, and measures the effect.

use crate::exit;
use crate::output::{Output, describe};
use crate::suites::scratch::{Scratch, size_refusal};
use crate::suites::{self, SuiteOptions, device};
use anyhow::{Context, Result};
use clap::Args;
use engine::kernel;
use judge::{Discards, Obstacle, discards};
use record::{
    Bytes, DiskSample, FilesystemFacts, FreeSpace, Nanos, RecordSet, SavedTo, TargetFacts, Use,
};
use report::trim::{Trim, TrimDone, in_use};
use runner::{Refusal, RunArchive, Runner};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::time::Instant;
use suite::Target;
use suite::test::Length;
use suite::trim::{Discard, PIECE_MAX, Range, Setting, Writes, conclude};

/// Default length of a window of writes.
const DEFAULT_TIME: Nanos = Nanos::from_millis(3000);
/// Default size of the region of a device that is written.
const DEFAULT_REGION: Bytes = Bytes(1 << 30);

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom trim /data
  fathom trim --commit /data
  fathom trim --commit --before-after /data";

/// Arguments of `fathom trim`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Path on the filesystem to trim, or block device.
    #[arg(value_name = "PATH|DEVICE")]
    path: OsString,
    /// Discard. Without this, only show what would be discarded.
    #[arg(long)]
    commit: bool,
    /// Start of the range, such as 10g [default: 0].
    #[arg(long, value_name = "SIZE", value_parser = suites::size)]
    offset: Option<Bytes>,
    /// Length of the range [default: up to the end].
    #[arg(long, value_name = "SIZE", value_parser = suites::size)]
    length: Option<Bytes>,
    /// Skip free ranges that are smaller.
    #[arg(long, value_name = "SIZE", value_parser = suites::size)]
    minimum: Option<Bytes>,
    /// Measure sequential and random writes before and after, and show the effect. Overwrites the
    /// start of a device, or a temporary file on a filesystem.
    #[arg(long, requires = "commit")]
    before_after: bool,
    /// Windows of each kind of write, before and after.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, requires = "before_after",
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    repeat: u32,
    /// Length of each window, such as 3 or 500ms [default: 3].
    #[arg(long, value_name = "TIME", requires = "before_after", value_parser = suites::time)]
    time: Option<Nanos>,
    /// Size of the temporary file, or of the region of the device [default: 1g, or a tenth of the free
    /// space].
    #[arg(long, requires = "before_after", value_parser = suites::size)]
    size: Option<Bytes>,
    /// Discard this device even if it holds data; repeatable.
    #[arg(long, value_name = "DEVICE")]
    allow_destroy: Vec<String>,
    /// Seed of the order of writes and of their offsets [default: differs from call to call].
    #[arg(long, requires = "before_after")]
    seed: Option<u64>,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Trims, or shows what would be trimmed, and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let archive = arguments.output.archive("trim")?;
    let runner = Runner::new(false);
    let mut target = TrimTarget::inspect(arguments, &runner)?;
    let mut set = runner::empty_set("trim", arguments.seed.unwrap_or_else(runner::fresh_seed));
    let mut archive = archive.with_seed(set.seed);
    let (done, end) = match (arguments.commit, &target.obstacle) {
        (true, None) => target.commit(&mut set, &mut archive),
        _ => (None, Ok(())),
    };
    if done.is_none() && set.runs.is_empty() {
        end?;
        return target.show(None, &set, "").map(|()| target.refusal_code());
    }
    let saved = suites::save(&mut archive, &set);
    let conclusion = conclude(&set);
    let failed = saved.is_lost || !conclusion.failures.is_empty();
    let more = if set.runs.is_empty() || arguments.output.json {
        String::new()
    } else {
        suites::footer(&saved) + &format!("Seed:   {}\n", set.seed)
    };
    target.saved = saved;
    target.show(done, &set, &more)?;
    end?;
    Ok(suites::exit_code(conclusion.interrupted_by, failed))
}

/// The filesystem or device to trim.
struct TrimTarget<'a> {
    arguments: &'a Arguments,
    runner: &'a Runner,
    path: &'a str,
    facts: TargetFacts,
    discards: Discards,
    /// Smallest unit, in bytes, that the device discards.
    unit: u64,
    free: Option<FreeSpace>,
    obstacle: Option<Obstacle>,
    saved: SavedTo,
}

impl<'a> TrimTarget<'a> {
    fn inspect(arguments: &'a Arguments, runner: &'a Runner) -> Result<TrimTarget<'a>> {
        let path = device::utf8(&arguments.path)?;
        std::fs::metadata(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Refusal::usage(format!(
                "{path}: not there; name a path on a filesystem, or a device below /dev"
            )),
            _ => Refusal::target(format!("{path}: {}", describe(&error.into()))),
        })?;
        let machine = device::facts(path, runner);
        let facts = machine.targets.get(path).cloned().unwrap_or_default();
        let discards = discards(&machine, path);
        if discards.filesystem.is_none() && discards.device.is_none() {
            return Err(Refusal::target(format!(
                "{path} is neither on a filesystem nor a block device that /sys lists"
            )));
        }
        let logical = facts.device.as_ref().and_then(|name| machine.devices.get(name));
        let logical = logical.map_or(512, |device| device.logical_block.0.max(512));
        let unit = discards.granularity().0.max(logical);
        let obstacle = discards.obstacle();
        let saved = SavedTo::default();
        let free = None;
        let mut target =
            TrimTarget { arguments, runner, path, facts, discards, unit, free, obstacle, saved };
        target.check()?;
        target.free = target.free_space();
        Ok(target)
    }

    fn is_device(&self) -> bool {
        self.discards.device.is_some()
    }

    /// Refuses wrong options, and a device that is in use or not named by --allow-destroy.
    fn check(&self) -> Result<()> {
        if self.is_device() && self.arguments.minimum.is_some() {
            let text = "--minimum: a device has no free ranges; leave it out, or name a path on the \
                        filesystem";
            return Err(Refusal::usage(text));
        }
        if self.arguments.length == Some(Bytes(0)) {
            return Err(Refusal::usage("--length: must be more than 0 bytes"));
        }
        if self.is_device() {
            self.range()?;
        }
        match self.arguments.commit && self.is_device() && self.obstacle.is_none() {
            true => self.check_use(),
            false => Ok(()),
        }
    }

    /// Refuses a device that is in use, even if --allow-destroy names it.
    fn check_use(&self) -> Result<()> {
        let path = self.path;
        let in_use = |reason: &Use| in_use(path, reason);
        if let Some(text) = self.facts.uses.iter().find_map(in_use) {
            return Err(Refusal::target(text));
        }
        if device::may_destroy(&self.arguments.allow_destroy, path, &self.facts) {
            return Ok(());
        }
        Err(Refusal::target(format!(
            "--commit would discard all data on {path}; give --allow-destroy={path} to allow it"
        )))
    }

    /// The range of a device to discard, in whole units.
    fn range(&self) -> Result<Range> {
        let (unit, size) = (self.unit, self.facts.size.0);
        let offset = self.arguments.offset.unwrap_or_default().0;
        let room = size.saturating_sub(offset);
        if size == 0 {
            let text = format!("{} has a size of 0 bytes: no medium is attached to it", self.path);
            return Err(Refusal::target(text));
        }
        let length = self.arguments.length.map_or(room / unit * unit, |length| length.0);
        if !offset.is_multiple_of(unit) || !length.is_multiple_of(unit) {
            return Err(Refusal::usage(format!(
                "--offset, --length: {} discards in units of {unit} bytes; give multiples of it",
                self.path
            )));
        }
        if length == 0 || length > room {
            return Err(Refusal::usage(format!(
                "--offset, --length: {length} bytes from {offset} exceed the {size} bytes of {}",
                self.path
            )));
        }
        let most = self.discards.layers.first().map_or(PIECE_MAX, |layer| layer.most);
        let piece = most.0.min(PIECE_MAX.0).max(unit) / unit * unit;
        Ok(Range { offset: Bytes(offset), length: Bytes(length), piece: Bytes(piece.min(length)) })
    }

    /// Size of the smallest free range that the kernel discards.
    fn minimum(&self) -> Bytes {
        let asked = self.arguments.minimum.unwrap_or_default();
        asked.max(self.discards.granularity())
    }

    /// The free space, if the filesystem reports it.
    fn free_space(&self) -> Option<FreeSpace> {
        self.discards.filesystem.as_ref()?;
        let file = File::open(self.path).ok()?;
        let offset = self.arguments.offset.unwrap_or_default().0;
        let end = self.arguments.length.map_or(u64::MAX, |l| offset.saturating_add(l.0));
        kernel::free_space(file.as_fd(), offset, end, self.minimum().0).ok()
    }

    /// 3 if the target cannot be trimmed, else 0.
    fn refusal_code(&self) -> u8 {
        if self.obstacle.is_some() { exit::REFUSED } else { 0 }
    }

    fn show(&self, done: Option<TrimDone>, set: &RecordSet, more: &str) -> Result<()> {
        let conclusion = conclude(set);
        let trim = Trim {
            path: self.path,
            discards: &self.discards,
            free: self.free,
            minimum: self.minimum(),
            obstacle: self.obstacle.as_ref(),
            done,
            conclusion: &conclusion,
        };
        let mut output = Output::Stdout;
        output.write(&match self.arguments.output.json {
            true => report::trim::json(&trim, &self.saved),
            false => report::trim::text(&trim, &output.style()) + more,
        })
    }

    /// Trims, with --before-after between two series of writes. Returns what was trimmed and the
    /// result; the runs are in `set` in any case.
    fn commit(
        &self,
        set: &mut RecordSet,
        archive: &mut RunArchive,
    ) -> (Option<TrimDone>, Result<()>) {
        let mut done = None;
        let end = match self.arguments.before_after {
            true => self.trim_between_writes(set, archive, &mut done),
            false => self.trim(set, archive).map(|made| done = Some(made)),
        };
        (done.filter(|done| done.took.0 > 0), end)
    }

    fn options(&self, left_behind: String) -> SuiteOptions {
        SuiteOptions {
            allow_destroy: self.arguments.allow_destroy.clone(),
            left_behind,
            ..self.arguments.output.suite_options()
        }
    }

    fn trim_between_writes(
        &self,
        set: &mut RecordSet,
        archive: &mut RunArchive,
        done: &mut Option<TrimDone>,
    ) -> Result<()> {
        let (place, region, file) = self.write_place()?;
        let options = self.options(file.as_ref().map(Scratch::left_behind).unwrap_or_default());
        let mut writes = Writes::before(Setting {
            target: place,
            region,
            repeat: self.arguments.repeat,
            time: self.arguments.time.unwrap_or(DEFAULT_TIME),
            seed: set.seed,
        });
        suites::run(&mut writes, self.runner, &options, set, archive)?;
        let before = conclude(set);
        if before.interrupted_by.is_some() || !before.failures.is_empty() {
            return Ok(());
        }
        *done = Some(self.trim(set, archive)?);
        if self.runner.caught().is_some() || conclude(set).interrupted_by.is_some() {
            return Ok(());
        }
        suites::run(&mut writes.after(), self.runner, &options, set, archive)
    }

    /// Where writes are measured, the size of the region, and the temporary file of a filesystem.
    fn write_place(&self) -> Result<(Target, Bytes, Option<Scratch>)> {
        let asked = self.arguments.size;
        if self.is_device() {
            let most = self.range()?.length;
            let size = asked.unwrap_or(Bytes(most.0.min(DEFAULT_REGION.0)));
            if size > most {
                return Err(Refusal::usage(format!(
                    "--size: {} bytes exceed the {} bytes that are discarded",
                    size.0, most.0
                )));
            }
            return Ok((Target::new(self.path, device::takes_direct(&self.facts)), size, None));
        }
        let path = &self.arguments.path;
        let file = Scratch::under(path, "trim", self.runner.machine(), false)?;
        let size = suite::test::size(Length::Quick, file.free, asked).map_err(size_refusal)?;
        Ok((Target::new(&file.path, file.direct), size, Some(file)))
    }

    fn trim(&self, set: &mut RecordSet, archive: &mut RunArchive) -> Result<TrimDone> {
        let before = self.disk_samples();
        let mut done = match &self.discards.filesystem {
            Some(filesystem) => self.trim_filesystem(filesystem)?,
            None => self.discard_device(set, archive)?,
        };
        let after = self.disk_samples();
        let sent = before.into_iter().zip(after).filter_map(|((name, before), (_, after))| {
            let discards = after.discard_ios.saturating_sub(before.discard_ios);
            let bytes = after.discard_bytes.saturating_sub(before.discard_bytes);
            (discards > 0).then_some((name, discards, Bytes(bytes)))
        });
        done.sent = sent.collect();
        Ok(done)
    }

    /// Counters of the layers that a discard reaches.
    fn disk_samples(&self) -> Vec<(String, DiskSample)> {
        let reached = self.discards.layers.iter().filter(|layer| layer.is_reached);
        let sample = |name: &String| self.runner.host().disk_sample(name).unwrap_or_default();
        reached.map(|layer| (layer.name.clone(), sample(&layer.name))).collect()
    }

    fn trim_filesystem(&self, filesystem: &FilesystemFacts) -> Result<TrimDone> {
        let file = File::open(self.path).with_context(|| self.path.to_owned())?;
        // Space of recently deleted files becomes free when the journal is written.
        rustix::fs::syncfs(&file).with_context(|| format!("syncing {}", self.path))?;
        let offset = self.arguments.offset.unwrap_or_default().0;
        let length = self.arguments.length.map_or(u64::MAX, |length| length.0);
        let minimum = self.arguments.minimum.unwrap_or_default().0;
        let began = Instant::now();
        let bytes = kernel::trim_free_space(file.as_fd(), offset, length, minimum)
            .map_err(|error| self.trim_error(filesystem, error))?;
        let took = Nanos(began.elapsed().as_nanos() as u64);
        Ok(TrimDone { bytes: Bytes(bytes), took, sent: Vec::new() })
    }

    /// Explains an error of the kernel.
    fn trim_error(&self, filesystem: &FilesystemFacts, error: io::Error) -> anyhow::Error {
        let (kind, point) = (&filesystem.kind, &filesystem.mount_point);
        match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::ACCESS) => {
                Refusal::target(format!("{point}: only root may trim (CAP_SYS_ADMIN); use sudo"))
            }
            Some(Errno::NOTTY) => Refusal::target(format!(
                "{kind} (at {point}) does not support trimming; use its mount option discard if it has \
                 one"
            )),
            Some(Errno::OPNOTSUPP) => Refusal::target(format!(
                "{kind} at {point}: a device below does not support discards, but /sys does not show \
                 which; see fathom inspect {point}"
            )),
            Some(Errno::INVAL) => Refusal::usage(format!(
                "--offset, --length or --minimum do not fit the {} bytes of the filesystem at {point}",
                filesystem.total.0
            )),
            _ => anyhow::Error::from(error).context(format!("trimming {point}")),
        }
    }

    fn discard_device(&self, set: &mut RecordSet, archive: &mut RunArchive) -> Result<TrimDone> {
        let place = Target::new(self.path, device::takes_direct(&self.facts));
        let mut discard = Discard::new(place, self.range()?);
        suites::run(&mut discard, self.runner, &self.options(String::new()), set, archive)?;
        let conclusion = conclude(set);
        Ok(TrimDone { bytes: conclusion.discarded, took: conclusion.took, sent: Vec::new() })
    }
}
