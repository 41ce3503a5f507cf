//! `fathom trim`: free space that a disk is told of, or a whole device; and what that changed.

use crate::exit;
use crate::output::{Output, describe};
use crate::suites::scratch::Scratch;
use crate::suites::{self, SuiteOptions, device};
use anyhow::{Context, Result};
use clap::Args;
use engine::kernel;
use judge::{Discards, Obstacle, discards};
use record::SavedTo;
use record::{Bytes, DiskSample, FilesystemFacts, FreeSpace, Nanos, RecordSet, TargetFacts, Use};
use report::trim::{Trim, TrimDone, in_use};
use runner::Refusal;
use runner::RunArchive;
use runner::Runner;
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::time::Instant;
use suite::Target;
use suite::test::{Length, SizeError};
use suite::trim::{Discard, PIECE_MAX, Range, Setting, Writes, conclude};

/// Length of a window of writes where none is given.
const TIME: Nanos = Nanos::from_millis(3000);
/// How much of a device is written where nothing is said.
const REGION: Bytes = Bytes(1 << 30);

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom trim /data
  fathom trim --commit /data
  fathom trim --commit --before-after /data";

/// What `fathom trim` takes.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// A path on the filesystem whose free space is trimmed, or a block device.
    #[arg(value_name = "PATH|DEVICE")]
    path: OsString,
    /// Do it. Without, nothing is discarded, and what would be is told.
    #[arg(long)]
    commit: bool,
    /// From here on, such as 10g; otherwise from the beginning.
    #[arg(long, value_name = "SIZE", value_parser = suites::size)]
    offset: Option<Bytes>,
    /// So much from there on; otherwise all.
    #[arg(long, value_name = "SIZE", value_parser = suites::size)]
    length: Option<Bytes>,
    /// Leave out free ranges that are smaller.
    #[arg(long, value_name = "SIZE", value_parser = suites::size)]
    minimum: Option<Bytes>,
    /// Measure sequential and random writes before and after, and say what the trim changed. Of a
    /// device, its beginning is overwritten; of a filesystem, one file that is removed.
    #[arg(long, requires = "commit")]
    before_after: bool,
    /// How often each write is measured on either side.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, requires = "before_after",
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    repeat: u32,
    /// Length of each of those windows, such as 3 or 500ms.
    #[arg(long, value_name = "TIME", requires = "before_after", value_parser = suites::time)]
    time: Option<Nanos>,
    /// Size of the file for them, or how much of the device; otherwise 1g or a tenth of the free
    /// space.
    #[arg(long, requires = "before_after", value_parser = suites::size)]
    size: Option<Bytes>,
    /// Discard this device, whatever it holds; repeatable.
    #[arg(long, value_name = "DEVICE")]
    allow_destroy: Vec<String>,
    /// Seed of the order of writes and of their offsets; otherwise it differs from call to call.
    #[arg(long, requires = "before_after")]
    seed: Option<u64>,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Trims and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let archive = arguments.output.archive("trim")?;
    let runner = Runner::new(false);
    let mut subject = Subject::of(arguments, &runner)?;
    let mut set = runner::empty_set("trim", arguments.seed.unwrap_or_else(runner::fresh_seed));
    let mut archive = archive.with_seed(set.seed);
    let (done, end) = match (arguments.commit, &subject.obstacle) {
        (true, None) => subject.commit(&mut set, &mut archive),
        _ => (None, Ok(())),
    };
    if done.is_none() && set.runs.is_empty() {
        end?;
        return subject.show(None, &set, "").map(|()| subject.refused());
    }
    let kept = suites::save(&mut archive, &set);
    let conclusion = conclude(&set);
    let failed = kept.is_lost || !conclusion.failures.is_empty();
    let more = if set.runs.is_empty() || arguments.output.json {
        String::new()
    } else {
        suites::footer(&kept) + &format!("Seed:   {}\n", set.seed)
    };
    subject.kept = kept;
    subject.show(done, &set, &more)?;
    end?;
    Ok(suites::exit_code(conclusion.interrupted_by, failed))
}

/// What is to be trimmed.
struct Subject<'a> {
    arguments: &'a Arguments,
    runner: &'a Runner,
    path: &'a str,
    target: TargetFacts,
    discards: Discards,
    /// Smallest unit of the device, for one that is to be discarded.
    unit: u64,
    free: Option<FreeSpace>,
    obstacle: Option<Obstacle>,
    kept: SavedTo,
}

impl<'a> Subject<'a> {
    fn of(arguments: &'a Arguments, runner: &'a Runner) -> Result<Subject<'a>> {
        let path = device::utf8(&arguments.path)?;
        std::fs::metadata(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Refusal::usage(format!(
                "{path}: not there; name a path on a filesystem, or a device below /dev"
            )),
            _ => Refusal::target(format!("{path}: {}", describe(&error.into()))),
        })?;
        let facts = device::facts(path, runner);
        let target = facts.targets.get(path).cloned().unwrap_or_default();
        let discards = discards(&facts, path);
        if discards.filesystem.is_none() && discards.device.is_none() {
            return Err(Refusal::target(format!(
                "{path} is neither on a filesystem nor a block device that /sys lists: nothing to trim"
            )));
        }
        let logical = target.device.as_ref().and_then(|name| facts.devices.get(name));
        let logical = logical.map_or(512, |device| device.logical_block.0.max(512));
        let unit = discards.granularity().0.max(logical);
        let obstacle = discards.obstacle();
        let kept = SavedTo::default();
        let free = None;
        let mut subject =
            Subject { arguments, runner, path, target, discards, unit, free, obstacle, kept };
        subject.check()?;
        subject.free = subject.ranges();
        Ok(subject)
    }

    fn is_device(&self) -> bool {
        self.discards.device.is_some()
    }

    /// What is wrong with the command line, or too dangerous.
    fn check(&self) -> Result<()> {
        if self.is_device() && self.arguments.minimum.is_some() {
            let text = "--minimum: a device has no free ranges; leave it out, or name a path on the \
                        filesystem";
            return Err(Refusal::usage(text));
        }
        if self.arguments.length == Some(Bytes(0)) {
            return Err(Refusal::usage("--length: of 0 bytes nothing can be trimmed"));
        }
        if self.is_device() {
            self.range()?;
        }
        match self.arguments.commit && self.is_device() && self.obstacle.is_none() {
            true => self.check_use(),
            false => Ok(()),
        }
    }

    /// A device that is in use is no device to be emptied, whatever was named.
    fn check_use(&self) -> Result<()> {
        let path = self.path;
        let in_use = |reason: &Use| in_use(path, reason);
        if let Some(text) = self.target.uses.iter().find_map(in_use) {
            return Err(Refusal::target(text));
        }
        if device::may_destroy(&self.arguments.allow_destroy, path, &self.target) {
            return Ok(());
        }
        Err(Refusal::target(format!(
            "--commit would discard all of {path} and what it holds: say --allow-destroy={path} if \
             that may go"
        )))
    }

    /// What of a device is discarded: whole units.
    fn range(&self) -> Result<Range> {
        let (unit, size) = (self.unit, self.target.size.0);
        let offset = self.arguments.offset.unwrap_or_default().0;
        let room = size.saturating_sub(offset);
        if size == 0 {
            let text = format!("{} has no bytes: nothing is attached to it", self.path);
            return Err(Refusal::target(text));
        }
        let length = self.arguments.length.map_or(room / unit * unit, |length| length.0);
        if !offset.is_multiple_of(unit) || !length.is_multiple_of(unit) {
            return Err(Refusal::usage(format!(
                "--offset, --length: {} discards in units of {unit} bytes; give multiples of that",
                self.path
            )));
        }
        if length == 0 || length > room {
            return Err(Refusal::usage(format!(
                "--offset, --length: {length} bytes from {offset} on are not within the {size} of {}",
                self.path
            )));
        }
        let most = self.discards.layers.first().map_or(PIECE_MAX, |layer| layer.most);
        let piece = most.0.min(PIECE_MAX.0).max(unit) / unit * unit;
        Ok(Range { offset: Bytes(offset), length: Bytes(length), piece: Bytes(piece.min(length)) })
    }

    /// From this size on the kernel discards a free range.
    fn minimum(&self) -> Bytes {
        let asked = self.arguments.minimum.unwrap_or_default();
        asked.max(self.discards.granularity())
    }

    /// The free ranges, where the filesystem tells of them.
    fn ranges(&self) -> Option<FreeSpace> {
        self.discards.filesystem.as_ref()?;
        let file = File::open(self.path).ok()?;
        let offset = self.arguments.offset.unwrap_or_default().0;
        let end = self.arguments.length.map_or(u64::MAX, |l| offset.saturating_add(l.0));
        kernel::free_space(file.as_fd(), offset, end, self.minimum().0).ok()
    }

    /// 3 where it cannot be trimmed.
    fn refused(&self) -> u8 {
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
            true => report::trim::json(&trim, &self.kept),
            false => report::trim::text(&trim, &output.style()) + more,
        })
    }

    /// Trims, between the writes before and after where they are wanted. What was done, and how it
    /// ended; runs are in the set in any case.
    fn commit(
        &self,
        set: &mut RecordSet,
        archive: &mut RunArchive,
    ) -> (Option<TrimDone>, Result<()>) {
        let mut done = None;
        let end = match self.arguments.before_after {
            true => self.around(set, archive, &mut done),
            false => self.once(set, archive).map(|made| done = Some(made)),
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

    fn around(
        &self,
        set: &mut RecordSet,
        archive: &mut RunArchive,
        done: &mut Option<TrimDone>,
    ) -> Result<()> {
        let (place, region, file) = self.place()?;
        let options = self.options(file.as_ref().map(Scratch::left_behind).unwrap_or_default());
        let mut writes = Writes::before(Setting {
            target: place,
            region,
            repeat: self.arguments.repeat,
            time: self.arguments.time.unwrap_or(TIME),
            seed: set.seed,
        });
        suites::run(&mut writes, self.runner, &options, set, archive)?;
        let before = conclude(set);
        if before.interrupted_by.is_some() || !before.failures.is_empty() {
            return Ok(());
        }
        *done = Some(self.once(set, archive)?);
        if self.runner.caught().is_some() || conclude(set).interrupted_by.is_some() {
            return Ok(());
        }
        suites::run(&mut writes.after(), self.runner, &options, set, archive)
    }

    /// Where writes are measured: a file of the filesystem, or the device itself.
    fn place(&self) -> Result<(Target, Bytes, Option<Scratch>)> {
        let asked = self.arguments.size;
        if self.is_device() {
            let most = self.range()?.length;
            let size = asked.unwrap_or(Bytes(most.0.min(REGION.0)));
            if size > most {
                return Err(Refusal::usage(format!(
                    "--size: {} bytes are more than the {} that are discarded",
                    size.0, most.0
                )));
            }
            return Ok((Target::new(self.path, device::takes_direct(&self.target)), size, None));
        }
        let path = &self.arguments.path;
        let file = Scratch::under(path, "trim", self.runner.machine(), false)?;
        let refused = |error: SizeError| match error {
            SizeError::TooSmall { .. } => Refusal::usage(error.to_string()),
            _ => Refusal::target(error.to_string()),
        };
        let size = suite::test::size(Length::Quick, file.free, asked).map_err(refused)?;
        Ok((Target::new(&file.path, file.direct), size, Some(file)))
    }

    fn once(&self, set: &mut RecordSet, archive: &mut RunArchive) -> Result<TrimDone> {
        let before = self.samples();
        let mut done = match &self.discards.filesystem {
            Some(filesystem) => self.trim_filesystem(filesystem)?,
            None => self.discard_device(set, archive)?,
        };
        let after = self.samples();
        let sent = before.into_iter().zip(after).filter_map(|((name, before), (_, after))| {
            let discards = after.discard_ios.saturating_sub(before.discard_ios);
            let bytes = after.discard_bytes.saturating_sub(before.discard_bytes);
            (discards > 0).then_some((name, discards, Bytes(bytes)))
        });
        done.sent = sent.collect();
        Ok(done)
    }

    /// The counters of the layers that a discard reaches.
    fn samples(&self) -> Vec<(String, DiskSample)> {
        let reached = self.discards.layers.iter().filter(|layer| layer.is_reached);
        let sample = |name: &String| self.runner.host().disk_sample(name).unwrap_or_default();
        reached.map(|layer| (layer.name.clone(), sample(&layer.name))).collect()
    }

    fn trim_filesystem(&self, filesystem: &FilesystemFacts) -> Result<TrimDone> {
        let file = File::open(self.path).with_context(|| self.path.to_owned())?;
        // What was deleted a moment ago is free once the journal says so.
        rustix::fs::syncfs(&file).with_context(|| format!("syncing {}", self.path))?;
        let offset = self.arguments.offset.unwrap_or_default().0;
        let length = self.arguments.length.map_or(u64::MAX, |length| length.0);
        let minimum = self.arguments.minimum.unwrap_or_default().0;
        let began = Instant::now();
        let bytes = kernel::trim_free_space(file.as_fd(), offset, length, minimum)
            .map_err(|error| self.unable(filesystem, error))?;
        let took = Nanos(began.elapsed().as_nanos() as u64);
        Ok(TrimDone { bytes: Bytes(bytes), took, sent: Vec::new() })
    }

    /// What the kernel's refusal means.
    fn unable(&self, filesystem: &FilesystemFacts, error: io::Error) -> anyhow::Error {
        let (kind, point) = (&filesystem.kind, &filesystem.mount_point);
        match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::ACCESS) => Refusal::target(format!(
                "{point}: only root may trim (CAP_SYS_ADMIN); say it with sudo"
            )),
            Some(Errno::NOTTY) => Refusal::target(format!(
                "{kind} (at {point}) does not know how to trim; discard unused blocks while files \
                 are deleted (mount option discard) if it has that"
            )),
            Some(Errno::OPNOTSUPP) => Refusal::target(format!(
                "{kind} at {point}: the kernel says that a device below takes no discards, though \
                 /sys does not show which; see fathom inspect {point}"
            )),
            Some(Errno::INVAL) => Refusal::usage(format!(
                "--offset, --length or --minimum do not fit the {} bytes of the filesystem at {point}",
                filesystem.total.0
            )),
            _ => anyhow::Error::from(error).context(format!("trimming {point}")),
        }
    }

    fn discard_device(&self, set: &mut RecordSet, archive: &mut RunArchive) -> Result<TrimDone> {
        let place = Target::new(self.path, device::takes_direct(&self.target));
        let mut discard = Discard::new(place, self.range()?);
        suites::run(&mut discard, self.runner, &self.options(String::new()), set, archive)?;
        let conclusion = conclude(set);
        Ok(TrimDone { bytes: conclusion.discarded, took: conclusion.took, sent: Vec::new() })
    }
}
