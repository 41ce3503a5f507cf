//! `fathom test`: a quick, honest test of the storage under a path.

use crate::output::{Output, say};
use runner::Runner;

use crate::suites::scratch::Scratch;
use crate::suites::{self, SuiteOptions};
use anyhow::Result;
use clap::Args;
use record::Bytes;
use runner::Refusal;
use std::ffi::OsString;
use suite::Target;
use suite::test::{Length, SizeError};

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom test /data
  fathom test --quick --json /data
  fathom test --thorough --size=16g /data";

/// What `fathom test` takes.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// A directory, or a file in it: the storage there is tested, by one file that is removed.
    #[arg(default_value = ".")]
    path: OsString,
    /// Half a minute instead of two: one round.
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,
    /// Random writes until the disk is steady, then five long rounds.
    #[arg(long)]
    thorough: bool,
    /// Size of the file, such as 4g; otherwise by the length of the test, and never more than a
    /// tenth of the free space.
    #[arg(long, value_parser = suites::size)]
    size: Option<Bytes>,
    /// Keep the file.
    #[arg(long)]
    keep: bool,
    /// Seed of the order of runs and of their offsets; otherwise it differs from test to test.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Tests and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let archive = arguments.output.archive("test")?;
    let runner = Runner::new(false);
    let mut file = Scratch::under(&arguments.path, "test", runner.machine(), arguments.keep)?;
    let length = match (arguments.quick, arguments.thorough) {
        (true, _) => Length::Quick,
        (_, true) => Length::Thorough,
        _ => Length::Normal,
    };
    let size = suite::test::size(length, file.free, arguments.size).map_err(refused)?;
    let seed = arguments.seed.unwrap_or_else(runner::fresh_seed);
    let place = Target::new(&file.path, file.direct);
    let mut test =
        suite::test::Test::new(suite::test::Setting { target: place, size, length, seed });
    let options =
        SuiteOptions { left_behind: file.left_behind(), ..arguments.output.suite_options() };
    let mut set = runner::empty_set("test", seed);
    let mut archive = archive.with_seed(set.seed);
    let end = suites::run(&mut test, &runner, &options, &mut set, &mut archive);
    let kept = suites::save(&mut archive, &set);
    file.remove();
    let conclusion = suite::test::conclude(&set);
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::test(&conclusion, seed, &kept),
        false => {
            report::suite::test(&conclusion, &output.style())
                + &suites::footer(&kept)
                + &format!("Seed:   {seed}\n")
        }
    })?;
    if arguments.keep {
        say(&format!("the file is kept: {}\n", file.path));
    }
    end?;
    let failed = kept.is_lost || !conclusion.failures.is_empty();
    Ok(suites::exit_code(conclusion.interrupted_by, failed))
}

fn refused(error: SizeError) -> anyhow::Error {
    match error {
        SizeError::TooSmall { .. } => Refusal::usage(error.to_string()),
        _ => Refusal::target(error.to_string()),
    }
}
