//! `cargo xtask bench`: our program against fio, the same jobs, turn by turn on the same machine,
//! so that what drifts on it (heat, other guests) meets both.

mod cases;
mod machine;
mod measure;
mod table;
mod targets;

use crate::cargo;
use anyhow::{Context, Result, bail};
use cases::{Case, Peer};
use clap::Args;
use measure::{Program, Sample};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use targets::Targets;

/// What to measure, how long, against what.
#[derive(Args)]
pub struct Options {
    /// fio to measure against.
    #[arg(long, value_name = "PATH", default_value = "fio")]
    fio: PathBuf,
    /// Measure this program as ours instead of building it; a second fio here shows what the
    /// comparison itself is worth.
    #[arg(long, value_name = "PATH")]
    fathom: Option<PathBuf>,
    /// Rounds of each case.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(5..))]
    rounds: u32,
    /// Seconds of each run.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Only cases whose name holds one of these words.
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    cases: Vec<String>,
    /// Directory for the file on disk.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    dir: PathBuf,
    /// Size of the file on disk: bytes, or with k, m, g.
    #[arg(long, default_value = "1g", value_parser = targets::parse_size)]
    size: u64,
}

/// Both programs' runs of one case.
struct Measured {
    case: &'static Case,
    peer: Vec<Sample>,
    fathom: Vec<Sample>,
}

/// Measures, and writes the table to stdout and to `target/bench.md`. What was set up for it is
/// taken down again, also after an error or an interrupt.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .context("catching signals")?;
    }
    let wanted = cases::select(&options.cases)?;
    let ours = match &options.fathom {
        Some(path) => fs::canonicalize(path).with_context(|| path.display().to_string())?,
        None => cargo::release_binary(root)?,
    };
    let facts = machine::facts();
    let scratch = tempfile::tempdir().context("making a scratch directory")?;
    // Under this name our program speaks fio's command line and prints fio's JSON.
    let alias = scratch.path().join("fio");
    std::os::unix::fs::symlink(&ours, &alias).context("linking our program as fio")?;
    let programs = [Program::new("fio", &options.fio)?, Program::new("fathom", &alias)?];

    let directory = root.join(&options.dir);
    let targets = Targets::set_up(&wanted, &directory, options.size, &interrupted)?;
    let output = scratch.path().join("out.json");
    let mut measured = Vec::new();
    let mut left_out = Vec::new();
    for case in wanted {
        match targets.path(case.target) {
            Ok(target) => {
                let arguments = case.arguments(target, options.seconds);
                measured.push(rounds(case, &programs, &arguments, &output, options, &interrupted)?);
            }
            Err(reason) => {
                eprintln!("{} left out: {reason}", case.name);
                left_out.push((case.name, reason));
            }
        }
    }
    let text = table::markdown(&measured, &left_out, &programs, options, &facts);
    println!("{text}");
    let path = cargo::target_directory(root).join("bench.md");
    fs::write(&path, &text).with_context(|| format!("writing {}", path.display()))?;
    eprintln!("written to {}", path.display());
    Ok(())
}

/// Runs one case `options.rounds` times with each program. Who begins changes every round, so that
/// neither always meets what the other left behind.
fn rounds(
    case: &'static Case,
    programs: &[Program; 2],
    arguments: &[String],
    output: &Path,
    options: &Options,
    interrupted: &AtomicBool,
) -> Result<Measured> {
    let mut measured = Measured { case, peer: Vec::new(), fathom: Vec::new() };
    let [fio, fathom] = programs;
    let mut theirs = arguments.to_vec();
    let peer = match case.peer {
        Peer::Fio => fio,
        Peer::OursWith(argument) => {
            theirs.push(argument.to_owned());
            fathom
        }
    };
    for round in 0..options.rounds {
        let mut turns = [
            (peer, theirs.as_slice(), &mut measured.peer),
            (fathom, arguments, &mut measured.fathom),
        ];
        if round % 2 == 1 {
            turns.reverse();
        }
        for (program, arguments, samples) in turns {
            let sample = program.run(arguments, output);
            if interrupted.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
            samples.push(sample.with_context(|| format!("{} of {}", case.name, program.name))?);
        }
        let [ours, theirs] = [&measured.fathom, &measured.peer].map(|s| s[s.len() - 1].iops);
        eprintln!(
            "{} {}/{}: peer {theirs:.0}, fathom {ours:.0} I/Os per second",
            case.name,
            round + 1,
            options.rounds
        );
    }
    Ok(measured)
}
