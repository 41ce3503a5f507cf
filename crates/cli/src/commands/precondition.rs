//! `fathom precondition`: overwrites a device or file until it reaches its steady state.

use crate::output::Output;
use crate::suites::{self, SuiteOptions, device};
use anyhow::Result;
use clap::Args;
use record::{Bytes, Nanos, TargetFacts, TargetKind};
use runner::{Refusal, Runner};
use std::ffi::OsString;
use suite::Target;
use suite::precondition::{Precondition, Setting, conclude};

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom precondition /data/file --size=64g
  fathom precondition /dev/nvme0n1 --allow-destroy=/dev/nvme0n1";

/// Arguments of `fathom precondition`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Block device or file to overwrite. A missing file is created and left.
    #[arg(value_name = "DEVICE|FILE")]
    target: OsString,
    /// Overwrite only this much from the start, such as 100g [default: all].
    #[arg(long, value_parser = suites::size)]
    size: Option<Bytes>,
    /// Overwrite this device or file even if it holds data or is in use; repeatable.
    #[arg(long, value_name = "DEVICE|FILE")]
    allow_destroy: Vec<String>,
    /// Most rounds of random writes.
    #[arg(long, value_name = "NUMBER", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    rounds_max: u32,
    /// Longest time, such as 30m or 4h [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = suites::time)]
    time_max: Option<Nanos>,
    /// Length of a round [default: the time to write the size once, at most a minute].
    #[arg(long, value_name = "TIME", value_parser = suites::time)]
    round: Option<Nanos>,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Preconditions and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let archive = arguments.output.archive("precondition")?;
    let path = device::utf8(&arguments.target)?;
    let runner = Runner::new(false);
    let target = device::facts(path, &runner).targets.get(path).cloned().unwrap_or_default();
    let size = size(path, &target, arguments)?;
    let seed = runner::fresh_seed();
    let direct = device::takes_direct(&target);
    let mut suite = Precondition::new(Setting {
        target: Target::new(path, direct),
        size,
        rounds_max: arguments.rounds_max,
        time_max: arguments.time_max,
        round: arguments.round,
        seed,
    });
    let options = SuiteOptions {
        allow_destroy: arguments.allow_destroy.clone(),
        ..arguments.output.suite_options()
    };
    let mut set = runner::empty_set("precondition", seed);
    let mut archive = archive.with_seed(set.seed);
    let end = suites::run(&mut suite, &runner, &options, &mut set, &mut archive);
    if set.runs.is_empty() {
        end?;
        return Ok(0);
    }
    let saved = suites::save(&mut archive, &set);
    let conclusion = conclude(&set);
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::precondition(&conclusion, &saved),
        false => {
            report::suite::precondition(&conclusion, &output.style()) + &suites::footer(&saved)
        }
    })?;
    end?;
    let failed = saved.is_lost || conclusion.failure.is_some();
    Ok(suites::exit_code(conclusion.interrupted_by, failed))
}

/// The size to write. Refuses a file with data unless --allow-destroy names it; the plan refuses devices
/// with data, but not files.
fn size(path: &str, target: &TargetFacts, arguments: &Arguments) -> Result<Bytes> {
    let allowed = device::may_destroy(&arguments.allow_destroy, path, target);
    match target.kind {
        TargetKind::Block => {}
        TargetKind::File if target.size.0 == 0 || allowed => {}
        TargetKind::File => {
            return Err(Refusal::target(format!(
                "{path} holds {} bytes, which preconditioning would overwrite; give \
                 --allow-destroy={path} to allow it",
                target.size.0
            )));
        }
        TargetKind::Missing if target.parent_exists => {}
        TargetKind::Missing => {
            return Err(Refusal::usage(format!(
                "{path}: its directory is not there; make it first"
            )));
        }
        TargetKind::Directory => {
            return Err(Refusal::target(format!(
                "{path} is a directory; name a block device, or a file in it with --size"
            )));
        }
        TargetKind::Char | TargetKind::Fifo | TargetKind::Other => {
            return Err(Refusal::target(format!(
                "{path} is neither a block device nor a file; name one"
            )));
        }
    }
    let room = if target.kind == TargetKind::Block { target.size } else { free(target) };
    match arguments.size {
        Some(size) if size > room => Err(Refusal::target(format!(
            "--size: {} bytes exceed the {} bytes of {path}",
            size.0, room.0
        ))),
        Some(size) if size.0 < 1 << 20 => {
            Err(Refusal::usage(format!("--size: {} bytes are too few; give 1m or more", size.0)))
        }
        Some(size) => Ok(size),
        None if target.size.0 >= 1 << 20 => Ok(target.size),
        None => Err(Refusal::usage(format!("{path}: give the size of the file with --size"))),
    }
}

fn free(target: &TargetFacts) -> Bytes {
    let free = target.filesystem.as_ref().map_or(0, |filesystem| filesystem.free.0);
    Bytes(free + target.size.0)
}
