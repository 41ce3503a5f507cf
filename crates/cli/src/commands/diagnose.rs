//! `fathom diagnose`: finds in five steps why storage is slow.

use crate::output::Output;
use crate::suites::scratch::Scratch;
use crate::suites::{self, SuiteOptions};
use anyhow::Result;
use clap::Args;
use runner::{Refusal, Runner};
use std::ffi::OsString;
use suite::Target;
use suite::test::Length;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom diagnose /data";

/// Arguments of `fathom diagnose`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Directory to diagnose in a temporary file, or a file in it.
    #[arg(default_value = ".")]
    path: OsString,
    #[command(flatten)]
    measuring: suites::MeasuringArguments,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Diagnoses and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let archive = arguments.output.archive("diagnose")?;
    let runner = Runner::new(false);
    let mut file = Scratch::under(&arguments.path, "diagnose", runner.machine(), false)?;
    // The size of a quick test: more only takes longer.
    let size = suite::test::size(Length::Quick, file.free, None)
        .map_err(|error| Refusal::target(error.without_option()))?;
    let seed = runner::fresh_seed();
    let target = Target::new(&file.path, file.direct);
    let mut diagnose =
        suite::diagnose::Diagnose::new(suite::diagnose::Setting { target, size, seed });
    let options = SuiteOptions {
        left_behind: file.left_behind(),
        layers: arguments.measuring.layers,
        ..arguments.output.suite_options()
    };
    let mut set = runner::empty_set("diagnose", seed);
    let mut archive = archive.with_seed(set.seed);
    let end = suites::run(&mut diagnose, &runner, &options, &mut set, &mut archive);
    let saved = suites::save(&mut archive, &set);
    file.remove();
    let conclusion = suite::diagnose::conclude(&set);
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::diagnose(&conclusion, &set, &saved),
        false => {
            report::suite::diagnose(&conclusion, &output.style())
                + &report::layers::by_cell(&set.runs, &output.style())
                + &suites::footer(&saved)
        }
    })?;
    end?;
    let failed = saved.is_lost || !conclusion.failures.is_empty();
    Ok(suites::exit_code(conclusion.interrupted_by, failed))
}
