//! `fathom diagnose`: why storage is slow, in five steps.

use crate::output::Output;
use crate::suites::scratch::Scratch;
use crate::suites::{self, SuiteOptions};
use anyhow::Result;
use clap::Args;
use runner::Refusal;
use runner::Runner;
use std::ffi::OsString;
use suite::Target;
use suite::test::Length;

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom diagnose /data";

/// What `fathom diagnose` takes.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// A directory, or a file in it: the storage there is looked at, by one file that is removed.
    #[arg(default_value = ".")]
    path: OsString,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Diagnoses and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let archive = arguments.output.archive("diagnose")?;
    let runner = Runner::new(false);
    let mut file = Scratch::under(&arguments.path, "diagnose", runner.machine(), false)?;
    // As much as a quick test writes: what it costs is time.
    let size = suite::test::size(Length::Quick, file.free, None)
        .map_err(|error| Refusal::target(error.without_option()))?;
    let seed = runner::fresh_seed();
    let place = Target::new(&file.path, file.direct);
    let mut diagnose =
        suite::diagnose::Diagnose::new(suite::diagnose::Setting { target: place, size, seed });
    let options =
        SuiteOptions { left_behind: file.left_behind(), ..arguments.output.suite_options() };
    let mut set = runner::empty_set("diagnose", seed);
    let mut archive = archive.with_seed(set.seed);
    let end = suites::run(&mut diagnose, &runner, &options, &mut set, &mut archive);
    let kept = suites::save(&mut archive, &set);
    file.remove();
    let conclusion = suite::diagnose::conclude(&set);
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::diagnose(&conclusion, &kept),
        false => report::suite::diagnose(&conclusion, &output.style()) + &suites::footer(&kept),
    })?;
    end?;
    let failed = kept.is_lost || !conclusion.failures.is_empty();
    Ok(suites::exit_code(conclusion.interrupted_by, failed))
}
