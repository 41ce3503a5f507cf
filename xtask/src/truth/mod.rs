//! `cargo xtask truth`: makes situations whose limit is known, runs our program in each with shapes
//! drawn at random, and counts where its verdict and its warnings are right.

mod guest;
mod quiet;
mod score;
mod server;
mod shape;
mod situation;
mod situations;
mod stage;
mod table;

use crate::{cargo, interrupt};
use anyhow::{Context, Result, ensure};
use clap::Args;
use quiet::Usage;
use score::{Outcome, score};
use situation::Situation;
use stage::Made;
pub use stage::{Group, Stage, on_device};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use table::Origin;

/// A situation is made so often before a machine is called too busy.
const ATTEMPTS_MAX: u32 = 20;

/// What to make, and how often.
#[derive(Args)]
pub struct Options {
    /// Judge by this program instead of building it.
    #[arg(long, value_name = "PATH")]
    fathom: Option<PathBuf>,
    /// Draws of each situation.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    draws: u32,
    /// The seed of the shapes; the same seed draws the same shapes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only situations whose name holds one of these words.
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,
    /// Run with --layers, so that verdicts use what the kernel timed.
    #[arg(long, conflicts_with = "guest")]
    layers: bool,
    /// Make the situations that need a guest with emulated disks, and no others.
    #[arg(long)]
    guest: bool,
    /// Directory for the files on disk.
    #[arg(long, value_name = "DIR", default_value = "target/truth")]
    dir: PathBuf,
    /// Write the table here as well.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Makes all situations, and prints the table; after an interrupt that of the runs so far. Records of
/// wrong runs stay in `DIR/wrong`. What was set up is taken down again, also after an error.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let interrupted = interrupt::catch()?;
    let ours = cargo::measured_program(root, options.fathom.as_deref())?;
    let chosen = |s: &&Situation| {
        options.only.is_empty() || options.only.iter().any(|word| s.name.contains(word.as_str()))
    };
    let situations: Vec<&Situation> = match options.guest {
        true => situations::in_guest().filter(chosen).collect(),
        false => situations::all().filter(chosen).collect(),
    };
    ensure!(!situations.is_empty(), "no situation's name holds {}", options.only.join(" or "));
    let mut stage =
        Stage::set_up(ours, &root.join(&options.dir), options.seed, Arc::clone(&interrupted))?;
    stage.layers = options.layers;
    let (outcomes, disturbed) = match options.guest {
        true => (guest::run(root, &mut stage, &situations, options.draws)?, 0),
        false => on_this_machine(&mut stage, &situations, options.draws, &interrupted)?,
    };
    let Options { seed, guest: in_guest, layers, .. } = *options;
    let origin = Origin { seed, in_guest, layers, disturbed };
    let text = table::render(&situations, &outcomes, &origin);
    println!("{text}");
    if let Some(path) = &options.output {
        fs::write(path, &text).with_context(|| path.display().to_string())?;
    }
    ensure!(!interrupted.load(Ordering::Relaxed), "interrupted after {} runs", outcomes.len());
    Ok(())
}

/// The outcomes, and the number of runs that were disturbed and made again.
fn on_this_machine(
    stage: &mut Stage,
    situations: &[&Situation],
    draws: u32,
    interrupted: &AtomicBool,
) -> Result<(Vec<Outcome>, u32)> {
    let (mut outcomes, mut disturbed) = (Vec::new(), 0);
    for draw in 0..draws {
        for situation in situations {
            if interrupted.load(Ordering::Relaxed) {
                return Ok((outcomes, disturbed));
            }
            let outcome = in_quiet(situation, stage, draw, &mut disturbed)
                .with_context(|| format!("{}, draw {draw}", situation.name))?;
            eprintln!("{}", outcome.line());
            outcomes.push(outcome);
        }
    }
    Ok((outcomes, disturbed))
}

/// Makes a situation again while other programs disturb it.
fn in_quiet(
    situation: &Situation,
    stage: &mut Stage,
    draw: u32,
    disturbed: &mut u32,
) -> Result<Outcome> {
    for _ in 0..ATTEMPTS_MAX {
        let (outcome, disturbance) = one(situation, stage, draw)?;
        match disturbance {
            None => return Ok(outcome),
            Some(disturbance) => eprintln!("      again, {disturbance}: {}", outcome.line()),
        }
        *disturbed += 1;
    }
    anyhow::bail!("other programs disturbed {ATTEMPTS_MAX} runs; truth needs a quiet machine")
}

/// Makes a situation once, and judges what the program says of it. With it: what disturbed it.
fn one(situation: &Situation, stage: &mut Stage, draw: u32) -> Result<(Outcome, Option<String>)> {
    stage.begin(situation.name, draw);
    let mut made = (situation.make)(stage)?;
    let usage = Usage::now();
    let record = stage.directory.join("record.json");
    let line = arguments(stage, &made, &record);
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]).env("FATHOM_ARCHIVE", "off").current_dir(&stage.directory);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = child.spawn().with_context(|| line.join(" "))?;
    if let Some(meanwhile) = made.meanwhile.take() {
        meanwhile();
    }
    let ended = child.wait_with_output()?;
    let disturbance = if made.has_company { None } else { usage.disturbance() };
    let text = String::from_utf8_lossy(&ended.stdout);
    let document = serde_json::from_str(&text).with_context(|| {
        format!("{}: {text}{}", line.join(" "), String::from_utf8_lossy(&ended.stderr))
    })?;
    let outcome = score(situation, &made, draw, &document, line.join(" "));
    if disturbance.is_some() {
        return Ok((outcome, disturbance));
    }
    if !outcome.is_right() || !outcome.missed.is_empty() || !outcome.false_warnings.is_empty() {
        let wrong = stage.directory.join("wrong");
        fs::create_dir_all(&wrong)?;
        fs::copy(&record, wrong.join(format!("{}-{draw}.json", situation.name)))?;
    }
    Ok((outcome, None))
}

fn arguments(stage: &Stage, made: &Made, record: &Path) -> Vec<String> {
    let mut line = made.starter.clone();
    line.push(stage.fathom.display().to_string());
    line.extend(["run", "--output-format=json", "--name=truth"].map(String::from));
    line.push(format!("--record={}", record.display()));
    line.extend(stage.layers.then(|| "--layers".to_owned()));
    line.extend(made.arguments.iter().cloned());
    line
}
