//! `cargo xtask powercut`: cuts the power of a guest while `fathom powercut write` writes to its disks,
//! which are served over NBD and honour flushes or lie. A good disk must never be accused, and each lie
//! must be found.

mod cases;
mod machine;
mod trial;
mod witness;
mod write_log;

use crate::cargo;
use crate::lab::{self, Content};
use anyhow::{Context, Result, ensure};
use cases::{CASES, Case, DISK, Expected};
use clap::Args;
use machine::Guest;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use test_servers::{Lie, LyingDisk, Nbd};
use trial::{Sum, Trials};

/// What to cut.
#[derive(Args)]
pub struct Options {
    /// Only one good disk and one that lies, with few cuts.
    #[arg(long)]
    quick: bool,
    /// Only the cases whose name contains this.
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// Cuts of each good storage, in place of the case's own number.
    #[arg(long, value_name = "NUMBER")]
    cuts: Option<u64>,
    /// Seed of all cuts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program to test in place of the release build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Also write the table to this file.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const MODULES: &[&str] = &[
    "virtio_pci",
    "virtio_blk",
    "virtio_net",
    "ext4",
    "xfs",
    "btrfs",
    "raid1",
    "raid456",
    "dm-mod",
    "dm-flakey",
    "dm-log-writes",
];

const TOOLS: &[&str] = &["mdadm", "dmsetup", "sqlite3"];

/// Cuts of the quick part.
const QUICK_CUTS: u64 = 2;

/// Boots the guest once, cuts the power of each case, and prints the table.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let program = match &options.program {
        Some(program) => program.canonicalize().context("--program")?,
        None => cargo::release_binary(root)?,
    };
    let cases = cases::chosen(options.quick, options.only.as_deref());
    ensure!(!cases.is_empty(), "no case has such a name; there are {}", names());
    let directory = root.join("target/powercut");
    std::fs::create_dir_all(&directory)?;
    let mut files = Vec::new();
    for witness in cases.iter().filter_map(|case| case.witness) {
        files.extend(witness.files()?);
    }
    let content = Content {
        program: &program,
        script: machine::SCRIPT,
        modules: MODULES,
        tools: TOOLS,
        files: &files,
        devices: &[],
    };
    let image = lab::make(&root.join("target/lab"), &content)?;
    let disks = [0; 3].map(|_| Nbd::serve(LyingDisk::new(DISK as usize, Lie::Honest, 0)));
    let addresses = [0, 1, 2].map(|at: usize| disks[at].address());
    let guest = Guest::boot(&directory, image, addresses)?;
    let mut table = String::from(HEAD);
    print!("{HEAD}");
    let mut failed = 0;
    for case in cases {
        let begun = Instant::now();
        let cuts = match (options.quick, case.expected) {
            (true, _) => QUICK_CUTS,
            (_, Expected::Kept) => options.cuts.unwrap_or(case.cuts),
            (_, Expected::Found) => case.cuts,
        };
        let trials = Trials::new(&program, &directory, case, &guest, &disks)?;
        let sum = trials.run(cuts, options.seed)?;
        let is_good = sum.is_as_expected(case.expected);
        failed += u32::from(!is_good);
        let row = row(case, &sum, is_good, begun.elapsed().as_secs());
        print!("{row}");
        table += &row;
    }
    if let Some(path) = &options.output {
        std::fs::write(path, &table).with_context(|| path.display().to_string())?;
    }
    ensure!(failed == 0, "{failed} of the cases are not as they should be");
    Ok(())
}

/// The quick part with the program that the tests use; 1 if it fails.
pub fn quick(root: &Path) -> Result<u8> {
    let program = Some(root.join("target/debug/fathom"));
    let options = Options { quick: true, only: None, cuts: None, seed: 1, program, output: None };
    match run(root, &options) {
        Ok(()) => Ok(0),
        Err(error) => {
            eprintln!("{error:#}");
            Ok(1)
        }
    }
}

fn names() -> String {
    CASES.iter().map(|case| case.name).collect::<Vec<_>>().join(", ")
}

const HEAD: &str = "| case | storage | cuts | cuts that broke promises | promises checked | broken | \
                    s | as expected | notes |\n|---|---|---:|---:|---:|---:|---:|---|---|\n";

fn row(case: &Case, sum: &Sum, is_good: bool, seconds: u64) -> String {
    let mut row = format!(
        "| {} | {} | {} | {} | {} | {} | {seconds} | {} |",
        case.name,
        case.storage,
        sum.cuts,
        sum.bad_cuts,
        sum.checked,
        sum.broken,
        if is_good { "yes" } else { "NO" },
    );
    // Writing to a string cannot fail.
    for note in &sum.notes {
        let _ = write!(row, " {};", note.replace('|', "/"));
    }
    if let Some(witness) = case.witness {
        let _ = write!(
            row,
            " {} committed {} rows, lost some in {} cuts;",
            witness.name(),
            sum.witness_rows,
            sum.witness_lost
        );
    }
    match row.strip_suffix(';') {
        Some(noted) => format!("{noted} |\n"),
        None => row + " |\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_is_not_as_expected() {
        let mut sum = Sum { cuts: 3, checked: 40, ..Sum::default() };
        assert!(sum.is_as_expected(Expected::Kept) && !sum.is_as_expected(Expected::Found));
        sum.bad_cuts = 1;
        assert!(!sum.is_as_expected(Expected::Kept) && sum.is_as_expected(Expected::Found));
        let row = row(&CASES[0], &sum, false, 7);
        assert!(row.contains("| 3 | 1 | 40 | 0 | 7 | NO |"), "{row}");
        // Nothing was checked, so nothing is proven.
        assert!(!Sum { cuts: 3, ..Sum::default() }.is_as_expected(Expected::Kept));
    }
}
