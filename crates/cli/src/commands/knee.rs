//! `fathom knee`: measures throughput and latency at each queue depth, and finds the depth to use.

use crate::output::{Output, describe, write_stderr};
use crate::suites::scratch::{Scratch, size_refusal};
use crate::suites::{self, SuiteOptions, device};
use crate::{exit, ranks};
use anyhow::{Context, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use record::{Bytes, Nanos, RecordSet, SavedTo};
use runner::{Refusal, Runner};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use suite::Target;
use suite::curve::{Access, Bound, Conclusion, Curve, DEPTHS, Figure, Setting, conclude, depths};
use suite::test::Length;

/// Default length of a window: nine depths, three times each, take a minute.
const DEFAULT_TIME: Nanos = Nanos::from_millis(1500);

/// O_DIRECT requires at least multiples of this.
const SECTOR: u64 = 512;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom knee /data
  fathom knee /data --rw=randwrite --bs=16k --p99=2ms
  fathom knee /dev/nvme0n1 --depths=1,2,4..512 --write-job=knee.fio";

/// Arguments of `fathom knee`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Directory to measure in a temporary file, a file in it, or a block device. A device is only
    /// read, unless --rw writes and --allow-destroy names it.
    #[arg(value_name = "PATH|DEVICE", default_value = ".")]
    path: OsString,
    /// Access pattern.
    #[arg(long, value_name = "RW", default_value = "randread",
          value_parser = PossibleValuesParser::new(Access::NAMES))]
    rw: String,
    /// Block size.
    #[arg(long, value_name = "SIZE", default_value = "4k", value_parser = suites::size)]
    bs: Bytes,
    /// Size of the temporary file or of the region of the device [default: 1g or a tenth of the free
    /// space; the whole device].
    #[arg(long, value_parser = suites::size)]
    size: Option<Bytes>,
    /// Length of each window, such as 1500ms or 10s; a ramp of a fifth precedes it.
    #[arg(long, value_name = "TIME", value_parser = suites::time)]
    time: Option<Nanos>,
    /// Windows at each depth.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Depths, such as 1,8,32 or 1,2,4..64 [default: 1,2,4..256, then some in between near the knee].
    #[arg(long, value_name = "LIST")]
    depths: Option<String>,
    /// Threads, each with this depth.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,
    /// Find the deepest depth with a 99th percentile of latency of at most this, such as 2ms; exit code 4
    /// if there is none.
    #[arg(long, value_name = "TIME", value_parser = latency)]
    p99: Option<f64>,
    /// The same for the 99.9th percentile.
    #[arg(long = "p99.9", value_name = "TIME", value_parser = latency)]
    p99_9: Option<f64>,
    /// The same for the mean.
    #[arg(long, value_name = "TIME", value_parser = latency)]
    mean: Option<f64>,
    /// Write a new job file with the found depth, for fathom and fio.
    #[arg(long, value_name = "FILE")]
    write_job: Option<PathBuf>,
    /// Overwrite this device even if it holds data; repeatable.
    #[arg(long, value_name = "DEVICE")]
    allow_destroy: Vec<String>,
    /// Seed of the order of runs and of their offsets [default: differs from call to call].
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    measuring: suites::MeasuringArguments,
    #[command(flatten)]
    output: suites::OutputArguments,
}

impl Arguments {
    fn bounds(&self) -> Vec<Bound> {
        let bounds = [
            (Figure::Mean, self.mean),
            (Figure::Percentile(99.0), self.p99),
            (Figure::Percentile(99.9), self.p99_9),
        ];
        let bound =
            |(figure, limit): (Figure, Option<f64>)| Some(Bound { figure, limit_ns: limit? });
        bounds.into_iter().filter_map(bound).collect()
    }
}

/// Parses a latency with its unit. Returns nanoseconds.
fn latency(text: &str) -> Result<f64, String> {
    let factors = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let with_unit = |(unit, factor): (&str, f64)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        (number > 0.0 && number.is_finite()).then_some(number * factor)
    };
    let expected = "expected a time with its unit (ns, us, ms or s), such as 2ms";
    factors.into_iter().find_map(with_unit).ok_or_else(|| expected.into())
}

/// Measures and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let runner = Runner::new(false);
    ranks::with_ranks(&runner, || measure(arguments, &runner))
}

fn measure(arguments: &Arguments, runner: &Runner) -> Result<u8> {
    let archive = arguments.output.archive("knee")?;
    let mut target = MeasuredTarget::inspect(arguments, runner)?;
    if let Some(file) = &arguments.write_job {
        check_job_file(file, &target.place.path)?;
    }
    let seed = arguments.seed.unwrap_or_else(runner::fresh_seed);
    let mut curve = Curve::new(setting(arguments, &target, seed)?);
    let options = SuiteOptions {
        left_behind: target.file.as_ref().map(Scratch::left_behind).unwrap_or_default(),
        allow_destroy: arguments.allow_destroy.clone(),
        layers: arguments.measuring.layers,
        scratch: target.file.as_ref().and_then(Scratch::to_remove),
        ..arguments.output.suite_options()
    };
    let mut set = runner::empty_set("knee", seed);
    let mut archive = archive.with_seed(set.seed);
    let end = suites::run(&mut curve, runner, &options, &mut set, &mut archive);
    if set.runs.is_empty() {
        return end.map(|()| 0);
    }
    let saved = suites::save(&mut archive, &set);
    if let Some(file) = &mut target.file {
        file.remove();
    }
    let (conclusion, written) = report(arguments, &set, &saved)?;
    end?;
    let failed = saved.is_lost || !conclusion.failures.is_empty() || !written;
    let code = suites::exit_code(conclusion.interrupted_by, failed);
    Ok(if code == 0 && conclusion.is_unmet() { exit::GATE } else { code })
}

/// Writes the job file and the report. Returns whether the job file was written.
fn report(arguments: &Arguments, set: &RecordSet, saved: &SavedTo) -> Result<(Conclusion, bool)> {
    let conclusion = conclude(set, &arguments.bounds());
    let written = match &arguments.write_job {
        Some(file) => write_job(file, &conclusion),
        None => Ok(None),
    };
    let job_file = written.as_ref().ok().copied().flatten();
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::curve(&conclusion, set, saved, job_file),
        false => {
            let job = job_file.map(|file| format!("Job:    {}\n", file.display()));
            report::suite::knee(&conclusion, &output.style())
                + &report::layers::by_cell(&set.runs, &output.style())
                + &suites::footer(saved)
                + &job.unwrap_or_default()
                + &format!("Seed:   {}\n", set.seed)
        }
    })?;
    if let Err(error) = &written {
        write_stderr(&format!("fathom: error: {}\n", describe(error)));
    }
    Ok((conclusion, written.is_ok()))
}

/// The file or device to measure.
struct MeasuredTarget {
    place: Target,
    size: Bytes,
    /// The temporary file; `None` for a device.
    file: Option<Scratch>,
}

impl MeasuredTarget {
    fn inspect(arguments: &Arguments, runner: &Runner) -> Result<MeasuredTarget> {
        if device::is_device(&arguments.path) {
            return MeasuredTarget::device(arguments, runner);
        }
        let file = Scratch::of_suite(&arguments.path, "knee", runner, false)?;
        let size =
            suite::test::size(Length::Quick, file.free, arguments.size).map_err(size_refusal)?;
        Ok(MeasuredTarget { place: Target::new(&file.path, file.direct), size, file: Some(file) })
    }

    fn device(arguments: &Arguments, runner: &Runner) -> Result<MeasuredTarget> {
        let path = device::utf8(&arguments.path)?;
        let facts = device::facts(path, runner);
        let target = facts.targets.get(path).cloned().unwrap_or_default();
        let writes = Access::named(&arguments.rw).is_some_and(Access::writes);
        if writes && !device::may_destroy(&arguments.allow_destroy, path, &target) {
            return Err(Refusal::target(format!(
                "--rw={} would overwrite {path}; give --allow-destroy={path} to allow it, or name a \
                 directory for a temporary file",
                arguments.rw
            )));
        }
        let size = match arguments.size {
            Some(size) if size > target.size => {
                return Err(Refusal::target(format!(
                    "--size: {} bytes exceed the {} bytes of {path}",
                    size.0, target.size.0
                )));
            }
            Some(size) => size,
            None => target.size,
        };
        let place = Target::new(path, device::takes_direct(&target));
        Ok(MeasuredTarget { place, size, file: None })
    }
}

fn setting(arguments: &Arguments, target: &MeasuredTarget, seed: u64) -> Result<Setting> {
    let given = arguments.depths.as_deref();
    let depths = depths(given.unwrap_or(DEPTHS))
        .map_err(|error| Refusal::usage(format!("--depths: {error}")))?;
    let block = arguments.bs;
    check_block(block, target, arguments.threads)?;
    Ok(Setting {
        target: target.place.clone(),
        is_filled_first: target.file.is_some(),
        access: Access::named(&arguments.rw).context("--rw")?,
        block,
        region: target.size,
        depths,
        is_refined: given.is_none(),
        threads: arguments.threads,
        repeat: arguments.repeat,
        time: arguments.time.unwrap_or(DEFAULT_TIME),
        bounds: arguments.bounds(),
        seed,
    })
}

/// Checks the block size, before the file is filled.
fn check_block(block: Bytes, target: &MeasuredTarget, threads: u32) -> Result<()> {
    let room = target.size.0 / u64::from(threads);
    let wrong = match block.0 {
        0 => "must be at least one byte; give a size such as 4k".into(),
        size if size > room => format!(
            "{size} bytes do not fit into the {room} bytes of each thread; give less, or a larger \
             --size"
        ),
        size if target.place.direct && size % SECTOR != 0 => format!(
            "{size} is not a multiple of {SECTOR}, which O_DIRECT requires; give {}",
            size.next_multiple_of(SECTOR)
        ),
        _ => return Ok(()),
    };
    Err(Refusal::usage(format!("--bs: {wrong}")))
}

/// Checks that the job file can be written, before the measurement.
fn check_job_file(file: &Path, path: &str) -> Result<()> {
    let shown = file.display();
    if file.symlink_metadata().is_ok() {
        let text = format!("--write-job={shown}: already exists; name another file, or remove it");
        return Err(Refusal::usage(text));
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    if parent.is_some_and(|parent| !parent.is_dir()) {
        let text = format!("--write-job={shown}: its directory is not there; make it first");
        return Err(Refusal::usage(text));
    }
    if !report::suite::fits_job_file(path) {
        return Err(Refusal::usage(format!(
            "--write-job: '{path}' contains characters with a meaning in job files; use a path without \
             them"
        )));
    }
    Ok(())
}

/// Writes the job file. Returns its path; `None` if no depth was found.
fn write_job<'a>(file: &'a Path, conclusion: &Conclusion) -> Result<Option<&'a Path>> {
    let Some(text) = report::suite::job_file(conclusion) else {
        write_stderr(&format!("no depth was found, so {} is not written\n", file.display()));
        return Ok(None);
    };
    File::create_new(file)
        .and_then(|mut made| made.write_all(text.as_bytes()).and_then(|()| made.sync_all()))
        .with_context(|| format!("--write-job: cannot write '{}'", file.display()))?;
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_need_their_unit() {
        for (text, ns) in [("2ms", 2e6), ("0.5 s", 5e8), ("150us", 150e3), ("80ns", 80.0)] {
            assert_eq!(latency(text), Ok(ns), "{text}");
        }
        for wrong in ["2", "ms", "-1ms", "0ms", "infs", "2m", ""] {
            assert!(latency(wrong).is_err(), "{wrong}");
        }
    }
}
