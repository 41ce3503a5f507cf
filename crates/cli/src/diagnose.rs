//! `fathom diagnose`: why storage is slow, in five steps.

use crate::output::Output;
use crate::runner::Runner;
use crate::several::scratch::Scratch;
use crate::several::{self, Common, Refusal};
use anyhow::Result;
use clap::Args;
use std::ffi::OsString;
use std::process::ExitCode;
use suite::Place;
use suite::test::Length;

/// What `fathom diagnose` takes.
#[derive(Args)]
pub struct Arguments {
    /// A directory, or a file in it: the storage there is looked at, by one file that is removed.
    #[arg(default_value = ".")]
    path: OsString,
    #[command(flatten)]
    output: several::OutputArguments,
}

/// Diagnoses and reports.
pub fn main(arguments: &Arguments) -> ExitCode {
    ExitCode::from(diagnose(arguments).unwrap_or_else(|error| several::fail(&error)))
}

fn diagnose(arguments: &Arguments) -> Result<u8> {
    let keeper = arguments.output.keeper("diagnose")?;
    let runner = Runner::new(false);
    let mut file = Scratch::under(&arguments.path, "diagnose", runner.machine(), false)?;
    // As much as a quick test writes: what it costs is time.
    let size = suite::test::size(Length::Quick, file.free, None)
        .map_err(|error| Refusal::target(error.without_option()))?;
    let seed = several::fresh_seed();
    let place = Place::new(&file.path, file.direct);
    let mut diagnose =
        suite::diagnose::Diagnose::new(suite::diagnose::Setting { place, size, seed });
    let common = Common { left_behind: file.left_behind(), ..arguments.output.common() };
    let mut set = several::set("diagnose", seed);
    let mut keeper = keeper.seeded(set.seed);
    let end = several::carry_out(&mut diagnose, &runner, &common, &mut set, &mut keeper);
    let kept = keeper.save(&set);
    file.remove();
    let conclusion = suite::diagnose::conclude(&set);
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::diagnose(&conclusion, &kept),
        false => {
            report::suite::diagnose(&conclusion, &output.style()) + &several::where_it_is(&kept)
        }
    })?;
    end?;
    let failed = kept.is_lost || !conclusion.failures.is_empty();
    Ok(several::exit_code(conclusion.interrupted_by, failed))
}
