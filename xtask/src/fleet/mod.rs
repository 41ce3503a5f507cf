//! `cargo xtask fleet`: many ranks on this machine, started by both MPI launchers. Counts where their one
//! measurement is exact, where clocks, stragglers and deaths are found, and times what a fleet costs.

mod clocks;
mod costs;
mod exact;
mod kills;
mod launch;
mod scale;
mod stragglers;
mod table;

use crate::bench::machine_facts;
use crate::selection::is_chosen;
use crate::{cargo, interrupt};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use launch::{LAUNCHERS, Stage};
use scale::Scale;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use table::Row;

/// What to prove, and how often.
#[derive(Args)]
pub struct Options {
    /// Start this program instead of building it.
    #[arg(long, value_name = "PATH")]
    fathom: Option<PathBuf>,
    #[command(flatten)]
    scale: Scale,
    /// Only proofs whose name holds one of these words.
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,
    /// Write the table here as well.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A proof: its name, and what makes it.
type Proof = (&'static str, fn(&mut Stage) -> Result<Row>);

const PROOFS: [Proof; 6] = [
    ("exact", exact::prove),
    ("barrier", costs::prove_fleet),
    ("loop", costs::prove_loop),
    ("clocks", clocks::prove),
    ("stragglers", stragglers::prove),
    ("kills", kills::prove),
];

/// Makes all proofs with each launcher, and prints the table. Fails when one does not hold.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let interrupted = interrupt::catch()?;
    let fathom = cargo::measured_program(root, options.fathom.as_deref())?;
    let chosen = |(name, _): &&Proof| is_chosen(name, &options.only);
    let proofs: Vec<&Proof> = PROOFS.iter().filter(chosen).collect();
    ensure!(!proofs.is_empty(), "no proof's name holds {}", options.only.join(" or "));
    let mut facts = machine_facts();
    let mut rows = Vec::new();
    for launcher in LAUNCHERS {
        let mut stage = Stage::new(launcher, &fathom, options.scale, interrupted.clone());
        facts.push(stage.version()?);
        for (name, prove) in &proofs {
            eprintln!("{name}, {}", stage.launcher);
            rows.push(prove(&mut stage).with_context(|| format!("{name}, {launcher}"))?);
        }
    }
    let text = table::render(&rows, &facts, options.scale);
    println!("{text}");
    if let Some(path) = &options.output {
        fs::write(path, &text).with_context(|| path.display().to_string())?;
    }
    ensure!(!interrupted.load(Ordering::Relaxed), "interrupted");
    match rows.iter().filter(|row| !row.holds()).count() {
        0 => Ok(()),
        failed => bail!("{failed} of {} proofs do not hold", rows.len()),
    }
}
