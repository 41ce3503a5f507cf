//! The command line of `fathom sweep`: its own options mixed with those of the job.

use crate::suites::{self};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, Parser};
use record::Bytes;
use runner::Refusal;
use std::path::PathBuf;
use suite::sweep::{Baseline, Design, Order, TableOptions};

/// The help text below the options.
const AFTER: &str = "\
JOB is a job file, options of 'fathom run', or both. A varied option overrides the same option of
every job; --vary NAME/OPTION=… of the job NAME only. --vary target=/a,/b runs all jobs in those
directories, or on those files or devices; --vary position=start,middle,end on a tenth of each
file or device at its start, middle and end; --vary layer=all on the file and on each device below
it, which are only read. These settings of the machine can be varied: scheduler, read_ahead_kb and
nr_requests (of the disks below the target), mount (options of its filesystem) and fs (filesystems
made for each run). All are restored at the end.

Values: 1,2,4..64 is a sequence that doubles when the two values before the dots double, and otherwise
goes on by their difference. Separate values that contain commas by ';': --vary 'bs=4k,16k;8k,8k'.

The values of the first --vary are compared. In each combination of the others, the best value is
marked, together with those whose distance from it may be chance. See docs/SWEEPS.md.

Examples:
  fathom sweep job.fio --vary iodepth=1,2,4..64 --repeat 5
  fathom sweep --name=a --filename=/data/x --size=1g --rw=randread --direct=1 --ioengine=io_uring
               --runtime=5s --time_based --vary iodepth=1,2,4..32 --vary bs=4k,16k
  fathom sweep --resume ~/.local/share/fathom/records/2031-05-04T10-00-00-sweep";

/// Run one job with several values of its options: every combination several times, in random order,
/// each saved as soon as it is done.
#[derive(Parser)]
#[command(name = "fathom sweep", disable_version_flag = true, after_help = AFTER)]
#[command(override_usage = "fathom sweep JOB --vary OPTION=VALUE,… [OPTIONS]
       fathom sweep --resume DIR [OPTIONS]
       fathom sweep --show DIR [OPTIONS]
       fathom sweep --restore [--json]")]
pub struct Arguments {
    /// Option to vary, and its values; several options are combined, each value with each.
    #[arg(long, value_name = "OPTION=VALUES")]
    pub vary: Vec<String>,
    /// Combine the first values of all lists, then the second ones, and so on.
    #[arg(long)]
    pub paired: bool,
    /// Runs of each combination.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Order of the combinations in each round: random, by the seed, or as given.
    #[arg(long, value_name = "ORDER", default_value = "random",
          value_parser = PossibleValuesParser::new(["random", "given"]))]
    order: String,
    /// Seed of the order [default: differs from sweep to sweep].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Save the runs in this new directory [default: one below $XDG_DATA_HOME/fathom/records].
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Continue the sweep in this directory: make the runs that are missing.
    #[arg(long, value_name = "DIR",
          conflicts_with_all = ["vary", "paired", "repeat", "order", "seed", "into", "show"])]
    pub resume: Option<PathBuf>,
    /// With --resume: also repeat the runs that failed.
    #[arg(long, requires = "resume")]
    pub retry_failed: bool,
    /// Show the tables of the sweep in this directory, without running anything.
    #[arg(long, value_name = "DIR",
          conflicts_with_all = ["vary", "paired", "repeat", "order", "seed", "into"])]
    pub show: Option<PathBuf>,
    /// Restore the settings of the machine that killed sweeps left changed, without running anything.
    #[arg(long, conflicts_with_all = ["vary", "paired", "repeat", "order", "seed", "into", "resume",
          "show", "retry_failed", "fs_on", "fs_size", "metric", "percent_of"])]
    pub restore: bool,
    /// With --vary fs=…: make the filesystems in a scratch file in this directory, or on this device,
    /// which --allow-destroy must name [default: the working directory].
    #[arg(long, value_name = "PATH", conflicts_with_all = ["resume", "show"])]
    pub fs_on: Option<String>,
    /// Size of the scratch file for filesystems [default: 1g].
    #[arg(long, value_name = "SIZE", value_parser = suites::size,
          conflicts_with_all = ["resume", "show"])]
    pub fs_size: Option<Bytes>,
    /// Figures to show: iops, bandwidth, mean, p50 … p99.99, of all I/Os or of one direction
    /// (read.p99) [default: by the kind of job].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// What percentages are relative to: the best or the first value, the total of all values, or a
    /// value of the first or second --vary.
    #[arg(long, value_name = "best|first|total|VALUE", default_value = "best")]
    percent_of: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub archive: suites::ArchiveArguments,
}

impl Arguments {
    /// Splits the command line into the options of the sweep and those of the job. Like clap, ends the
    /// program for --help and for a mistake in the former.
    pub fn split(all: Vec<String>) -> (Arguments, Vec<String>) {
        let (own, job) = split_arguments(all);
        (Arguments::parse_from(own), job)
    }

    /// The order of the cells.
    pub fn order(&self) -> Order {
        if self.order == "given" { Order::Given } else { Order::Random }
    }

    /// The value that percentages are relative to.
    pub fn baseline(&self) -> Baseline {
        match self.percent_of.as_str() {
            "best" => Baseline::Best,
            "first" => Baseline::First,
            "total" => Baseline::Total,
            value => Baseline::Value(value.into()),
        }
    }

    /// What the tables show.
    ///
    /// # Errors
    /// An unknown figure, or a baseline that the sweep does not have.
    pub fn tables(&self, design: &Design) -> Result<TableOptions> {
        let options = TableOptions { measures: self.measures()?, baseline: self.baseline() };
        match options.check(design) {
            Ok(()) => Ok(options),
            Err(why) => Err(Refusal::usage(format!("--percent-of: {why}"))),
        }
    }

    /// The figures of --metric.
    ///
    /// # Errors
    /// An unknown figure.
    pub fn measures(&self) -> Result<Vec<judge::Measure>> {
        let parse = |name: &String| {
            let measure = judge::Measure::parse(name);
            measure.map_err(|why| Refusal::usage(format!("--metric: {why}")))
        };
        self.metric.iter().map(parse).collect()
    }
}

/// The options of the sweep, after the program's name, and everything else.
fn split_arguments(all: Vec<String>) -> (Vec<String>, Vec<String>) {
    let command = Arguments::command();
    let takes_value = |name: &str| {
        let known = command.get_arguments().find(|known| known.get_long() == Some(name))?;
        Some(known.get_action().takes_values())
    };
    let (mut own, mut job) = (vec!["fathom sweep".to_owned()], Vec::new());
    let mut all = all.into_iter();
    while let Some(argument) = all.next() {
        if argument == "--" {
            job.push(argument);
            break;
        }
        if ["-h", "--help"].contains(&argument.as_str()) {
            own.push(argument);
            continue;
        }
        let name = argument.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or(rest));
        let Some(takes_value) = name.and_then(takes_value) else {
            job.push(argument);
            continue;
        };
        let apart = takes_value && !argument.contains('=');
        own.push(argument);
        if apart {
            own.extend(all.next());
        }
    }
    job.extend(all);
    (own, job)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_of_the_sweep_and_of_the_job_may_be_mixed() {
        let line = "job.fio --vary iodepth=1,2 --rw read --json --vary=bs=4k --repeat 5 -- --vary";
        let (own, job) = split_arguments(texts(line));
        assert_eq!(own.join(" "), "fathom sweep --vary iodepth=1,2 --json --vary=bs=4k --repeat 5");
        assert_eq!(job.join(" "), "job.fio --rw read -- --vary");
        let parsed = Arguments::parse_from(own);
        assert_eq!((parsed.vary.len(), parsed.repeat, parsed.json), (2, 5, true));
        assert_eq!((parsed.order(), parsed.baseline()), (Order::Random, Baseline::Best));
    }

    #[test]
    fn conflicting_options_are_refused() {
        for line in [
            "--resume a --vary bs=4k",
            "--resume a --show b",
            "--retry-failed",
            "--repeat 0",
            "--order some",
            "--show a --seed 3",
        ] {
            let (own, _) = split_arguments(texts(line));
            assert!(Arguments::try_parse_from(own).is_err(), "{line}");
        }
    }
}
