//! `fathom test`: a standard test of the storage under a path.

use crate::output::{Output, write_file, write_stderr};
use crate::ranks;
use crate::suites::scratch::{Scratch, size_refusal};
use crate::suites::{self, SuiteOptions};
use anyhow::Result;
use clap::Args;
use host::TargetQuery;
use record::{Bytes, DeviceKind, Facts, RecordSet, SavedTo};
use report::judged_set::JudgedSet;
use report::style::Style;
use runner::Runner;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use suite::Target;
use suite::test::{Conclusion, Disk, Length};

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom test /data
  fathom test --quick --json /data
  fathom test --share=result.html /data
  fathom test --thorough --size=16g /data";

/// How long a test of the normal length takes.
pub const DURATION: &str = "two minutes";

/// Arguments of `fathom test`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Directory to test in a temporary file, or a file in it.
    #[arg(default_value = ".")]
    path: OsString,
    /// One round: half a minute instead of two.
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,
    /// Random writes until the disk is in its steady state, then five long rounds; as root also reads at
    /// the start, the middle and the end of each disk.
    #[arg(long)]
    thorough: bool,
    /// Size of the temporary file, such as 4g [default: by the length of the test, at most a tenth of the
    /// free space].
    #[arg(long, value_parser = suites::size)]
    size: Option<Bytes>,
    /// Keep the temporary file.
    #[arg(long)]
    keep: bool,
    /// Seed of the order of runs and of their offsets [default: differs from test to test].
    #[arg(long)]
    seed: Option<u64>,
    /// Also write the result for others, without serial numbers, host names and paths: all of it in one
    /// page if FILE ends in .html, the table as text otherwise.
    #[arg(long, value_name = "FILE")]
    share: Option<PathBuf>,
    #[command(flatten)]
    measuring: suites::MeasuringArguments,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Tests and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let runner = Runner::new(false);
    ranks::with_ranks(&runner, || measure(arguments, &runner))
}

fn measure(arguments: &Arguments, runner: &Runner) -> Result<u8> {
    let archive = arguments.output.archive("test")?;
    let mut file = Scratch::of_suite(&arguments.path, "test", runner, arguments.keep)?;
    let length = match (arguments.quick, arguments.thorough) {
        (true, _) => Length::Quick,
        (_, true) => Length::Thorough,
        _ => Length::Normal,
    };
    let size = suite::test::size(length, file.free, arguments.size).map_err(size_refusal)?;
    let seed = arguments.seed.unwrap_or_else(runner::fresh_seed);
    let target = Target::new(&file.path, file.direct);
    let (disks, is_on_several_disks) = match length {
        // Ranks have other disks, and readers beside those of this one.
        Length::Thorough if runner.team().is_none() => {
            let facts = suites::device::facts(&file.path, runner);
            (disks(&facts, runner), is_on_several_disks(&facts, &file.path))
        }
        _ => (Vec::new(), false),
    };
    let setting = suite::test::Setting { target, size, length, seed, disks, is_on_several_disks };
    let mut test = suite::test::Test::new(setting);
    let options = SuiteOptions {
        left_behind: file.left_behind(),
        layers: arguments.measuring.layers,
        scratch: file.to_remove(),
        ..arguments.output.suite_options()
    };
    let mut set = runner::empty_set("test", seed);
    let mut archive = archive.with_seed(set.seed);
    let end = suites::run(&mut test, runner, &options, &mut set, &mut archive);
    let saved = suites::save(&mut archive, &set);
    file.remove();
    let conclusion = suite::test::conclude(&set);
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::test(&conclusion, &set, &saved),
        false => text(&conclusion, &set, &saved, &output),
    })?;
    if let Some(path) = &arguments.share {
        share(path, &set)?;
    }
    if arguments.keep {
        write_stderr(&format!("file kept: {}\n", file.path));
    }
    end?;
    let failed = saved.is_lost || !conclusion.failures.is_empty();
    Ok(suites::exit_code(conclusion.interrupted_by, failed))
}

/// The report. What is longer than the terminal is shortened if `fathom runs show` can show the whole.
fn text(conclusion: &Conclusion, set: &RecordSet, saved: &SavedTo, output: &Output) -> String {
    let style = output.style();
    let end = report::layers::by_cell(&set.runs, &style) + &suites::footer(saved);
    let whole = report::suite::test(conclusion, &style) + &end + &format!("Seed:   {}\n", set.seed);
    match (output.rows(), &saved.archived_as) {
        (Some(rows), Some(_)) if whole.lines().count() > rows => {
            report::suite::test_in_brief(conclusion, &style) + &end
        }
        _ => whole,
    }
}

/// Writes the result for others.
fn share(path: &Path, set: &RecordSet) -> Result<()> {
    let set = formats::shareable(set);
    let text = match path.extension().is_some_and(|ending| ending == "html") {
        true => report::html::document(&[JudgedSet::new("test", set)]),
        false => report::suite::test(&suite::test::conclude(&set), &Style::default()),
    };
    write_file(path, text.as_bytes()).map_err(anyhow::Error::msg)?;
    write_stderr(&format!("to share: {}\n", path.display()));
    Ok(())
}

/// Whether the storage of a file consists of several disks: an array, or a filesystem on several.
fn is_on_several_disks(facts: &Facts, file: &str) -> bool {
    let mut stack = facts.stack_under(file).into_iter().filter_map(|name| facts.devices.get(name));
    facts.tops_of(file).len() > 1 || stack.any(|device| device.below.len() > 1)
}

/// The disks below the test's file that can be read. Says which cannot.
fn disks(facts: &Facts, runner: &Runner) -> Vec<Disk> {
    let is_disk = |kind: &DeviceKind| !matches!(kind, DeviceKind::Zram | DeviceKind::Ram);
    let below = facts.devices.values();
    let disks = below.filter(|device| device.below.is_empty() && is_disk(&device.kind));
    let disks: Vec<Disk> =
        disks.map(|device| Disk { name: device.name.clone(), size: device.size }).collect();
    let query = |disk: &Disk| TargetQuery { path: disk.path(), will_write: false };
    let queries: Vec<TargetQuery> = disks.iter().map(query).collect();
    let targets = runner.host().survey(runner.machine().clone(), &queries).targets;
    let is_readable = |disk: &Disk| targets.get(&disk.path()).is_some_and(|target| target.readable);
    let (readable, closed): (Vec<Disk>, Vec<Disk>) = disks.into_iter().partition(is_readable);
    let cure = if facts.environment.is_root { "" } else { "; run as root" };
    for disk in closed {
        let path = disk.path();
        write_stderr(&format!(
            "fathom: {path} cannot be read, so its speed by position is not measured{cure}\n"
        ));
    }
    readable
}
