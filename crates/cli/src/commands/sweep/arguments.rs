//! The command line of `fathom sweep`: its own options, and between them those of the job.

use crate::suites::{self};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, Parser};
use record::Bytes;
use runner::Refusal;
use std::path::PathBuf;
use suite::sweep::{Baseline, Order};

/// What stands below the options in the help.
const AFTER: &str = "\
JOB is a job file, or options as 'fathom run' takes them, or both. What is varied holds for every
job, whatever it says itself; --vary NAME/OPTION=… holds for the job NAME only. --vary target=/a,/b
has all jobs work in those directories, or on those files or devices. Settings of the machine are
varied by scheduler, read_ahead_kb, nr_requests (of the disks below the target), mount (options of the
filesystem it is on) and fs (filesystems made for each run); all is put back.

Values: 1,2,4..64 goes on as the two values before the dots do, doubling where they double, else by
their difference. Where values hold commas, part them by ';': --vary 'bs=4k,16k;8k,8k'.

The first --vary is what is compared: in each combination of the others its best value is marked,
with those that chance may have put behind it. docs/SWEEPS.md tells how.

Examples:
  fathom sweep job.fio --vary iodepth=1,2,4..64 --repeat 5
  fathom sweep --name=a --filename=/data/x --size=1g --rw=randread --direct=1 --ioengine=io_uring
               --runtime=5s --time_based --vary iodepth=1,2,4..32 --vary bs=4k,16k
  fathom sweep --resume ~/.local/share/fathom/records/2031-05-04T10-00-00-sweep";

/// Run one job over values of its options: every cell several times, in interleaved random order,
/// each kept as soon as it is done.
#[derive(Parser)]
#[command(name = "fathom sweep", disable_version_flag = true, after_help = AFTER)]
#[command(override_usage = "fathom sweep JOB --vary OPTION=VALUE,… [OPTIONS]
       fathom sweep --resume DIR [OPTIONS]
       fathom sweep --show DIR [OPTIONS]
       fathom sweep --restore [--json]")]
pub struct Arguments {
    /// What is varied, and its values; several: each value with each of the others.
    #[arg(long, value_name = "OPTION=VALUES")]
    pub vary: Vec<String>,
    /// The first values of all lists together, then the second ones, and so on.
    #[arg(long)]
    pub paired: bool,
    /// How often each cell is run.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Order of the cells in each round: drawn anew from the seed, or as the values are given.
    #[arg(long, value_name = "ORDER", default_value = "random",
          value_parser = PossibleValuesParser::new(["random", "given"]))]
    order: String,
    /// Seed of the order; otherwise it differs from sweep to sweep.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Keep the runs in this directory, which is made; otherwise in one among the user's data
    /// ($XDG_DATA_HOME/fathom/records).
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Go on with the sweep in this directory: with what is missing there.
    #[arg(long, value_name = "DIR",
          conflicts_with_all = ["vary", "paired", "repeat", "order", "seed", "into", "show"])]
    pub resume: Option<PathBuf>,
    /// With --resume: run those that failed again.
    #[arg(long, requires = "resume")]
    pub retry_failed: bool,
    /// Show the tables of the sweep in this directory; run nothing.
    #[arg(long, value_name = "DIR",
          conflicts_with_all = ["vary", "paired", "repeat", "order", "seed", "into"])]
    pub show: Option<PathBuf>,
    /// Put back what sweeps that were killed left changed of the machine; run nothing.
    #[arg(long, conflicts_with_all = ["vary", "paired", "repeat", "order", "seed", "into", "resume",
          "show", "retry_failed", "fs_on", "fs_size", "metric", "percent_of"])]
    pub restore: bool,
    /// With --vary fs=…: make filesystems on a scratch file in this directory, or on this device,
    /// which --allow-destroy has to name; otherwise in the working directory.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["resume", "show"])]
    pub fs_on: Option<String>,
    /// Size of the scratch file for filesystems [default: 1g].
    #[arg(long, value_name = "SIZE", value_parser = suites::size,
          conflicts_with_all = ["resume", "show"])]
    pub fs_size: Option<Bytes>,
    /// Show these figures: iops, bandwidth, mean, p50 … p99.99, of all I/Os or of one direction
    /// (read.p99); otherwise by the kind of work.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// Percentages are of the best value, or of the first.
    #[arg(long, value_name = "WHICH", default_value = "best",
          value_parser = PossibleValuesParser::new(["best", "first"]))]
    percent_of: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub archive: suites::ArchiveArguments,
}

impl Arguments {
    /// Parts the command line into the options of sweeps and those of the job. Ends the program for
    /// --help and for a mistake among the former, as clap does.
    pub fn part(all: Vec<String>) -> (Arguments, Vec<String>) {
        let (own, job) = parted(all);
        (Arguments::parse_from(own), job)
    }

    /// In which order cells run.
    pub fn order(&self) -> Order {
        if self.order == "given" { Order::Given } else { Order::Random }
    }

    /// What percentages are of.
    pub fn baseline(&self) -> Baseline {
        if self.percent_of == "first" { Baseline::First } else { Baseline::Best }
    }

    /// The figures asked for.
    ///
    /// # Errors
    /// A name that is none.
    pub fn measures(&self) -> Result<Vec<judge::Measure>> {
        let parse = |name: &String| {
            let measure = judge::Measure::parse(name);
            measure.map_err(|why| Refusal::usage(format!("--metric: {why}")))
        };
        self.metric.iter().map(parse).collect()
    }
}

/// The options of sweeps with the program's name before them, and everything else.
fn parted(all: Vec<String>) -> (Vec<String>, Vec<String>) {
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
    fn the_options_of_sweeps_may_stand_anywhere_between_those_of_the_job() {
        let line = "job.fio --vary iodepth=1,2 --rw read --json --vary=bs=4k --repeat 5 -- --vary";
        let (own, job) = parted(texts(line));
        assert_eq!(own.join(" "), "fathom sweep --vary iodepth=1,2 --json --vary=bs=4k --repeat 5");
        assert_eq!(job.join(" "), "job.fio --rw read -- --vary");
        let parsed = Arguments::parse_from(own);
        assert_eq!((parsed.vary.len(), parsed.repeat, parsed.json), (2, 5, true));
        assert_eq!((parsed.order(), parsed.baseline()), (Order::Random, Baseline::Best));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for line in [
            "--resume a --vary bs=4k",
            "--resume a --show b",
            "--retry-failed",
            "--repeat 0",
            "--order some",
            "--show a --seed 3",
        ] {
            let (own, _) = parted(texts(line));
            assert!(Arguments::try_parse_from(own).is_err(), "{line}");
        }
    }
}
