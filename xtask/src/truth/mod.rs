//! `cargo xtask truth`: makes situations whose limit is known, runs our program in each with shapes
//! drawn at random, and counts where its verdict and its warnings are right.

mod goals;
mod guest;
mod quiet;
mod results;
mod score;
mod server;
mod shape;
mod situation;
mod situations;
mod stage;
mod table;

use crate::selection::is_chosen;
use crate::{cargo, interrupt};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
pub use quiet::Usage;
pub use results::{Attempt, until_quiet};
use results::{NotMeasured, Results};
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

/// So many draws in a row that could not be measured end the run: the machine is not quiet.
const NOT_MEASURED_IN_A_ROW_MAX: u32 = 5;

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

/// Makes all situations, and prints the table; after an interrupt that of the runs so far. Fails when a
/// goal is missed or a situation was not measured. Records of wrong runs stay in `DIR/wrong`. What was set
/// up is taken down again, also after an error.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let interrupted = interrupt::catch()?;
    let ours = cargo::measured_program(root, options.fathom.as_deref())?;
    let chosen = |situation: &&Situation| is_chosen(situation.name, &options.only);
    let situations: Vec<&Situation> = match options.guest {
        true => situations::in_guest().filter(chosen).collect(),
        false => situations::all().filter(chosen).collect(),
    };
    ensure!(!situations.is_empty(), "no situation's name holds {}", options.only.join(" or "));
    let mut stage =
        Stage::set_up(ours, &root.join(&options.dir), options.seed, Arc::clone(&interrupted))?;
    stage.layers = options.layers;
    let results = match options.guest {
        true => guest::run(root, &mut stage, &situations, options.draws)?,
        false => on_this_machine(&mut stage, &situations, options.draws, &interrupted),
    };
    let Options { seed, guest: in_guest, layers, draws, .. } = *options;
    let origin = Origin { seed, in_guest, layers, draws };
    let text = table::render(&situations, &results, &origin);
    println!("{text}");
    if let Some(path) = &options.output {
        fs::write(path, &text).with_context(|| path.display().to_string())?;
    }
    if interrupted.load(Ordering::Relaxed) {
        bail!("interrupted after {} runs", results.outcomes.len());
    }
    results.verify()
}

/// Makes every draw of every situation. A draw that fails or is always disturbed costs none of the others.
fn on_this_machine(
    stage: &mut Stage,
    situations: &[&Situation],
    draws: u32,
    interrupted: &AtomicBool,
) -> Results {
    let (mut results, mut in_a_row) = (Results::default(), 0);
    for draw in 0..draws {
        for situation in situations {
            let measured = until_quiet(interrupted, &mut results.disturbed, || {
                measure_once(situation, stage, draw).map(|(outcome, disturbance)| {
                    let line = outcome.line();
                    Attempt { outcome, line, disturbance }
                })
            });
            match measured {
                None => return results,
                Some(Ok(outcome)) => {
                    eprintln!("{}", outcome.line());
                    results.outcomes.push(outcome);
                    in_a_row = 0;
                }
                Some(Err(why)) => {
                    eprintln!("not measured: {} {draw}: {why}", situation.name);
                    let situation = situation.name;
                    results.not_measured.push(NotMeasured { situation, draw, why });
                    in_a_row += 1;
                }
            }
            if in_a_row == NOT_MEASURED_IN_A_ROW_MAX {
                eprintln!(
                    "{in_a_row} draws in a row could not be measured; the others are left out"
                );
                return results;
            }
        }
    }
    results
}

/// Makes a situation once, and judges what the program says of it. With it: what disturbed it.
fn measure_once(
    situation: &Situation,
    stage: &mut Stage,
    draw: u32,
) -> Result<(Outcome, Option<String>)> {
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
