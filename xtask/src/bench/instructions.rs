//! Instructions an I/O, counted by callgrind: a figure that no neighbour disturbs.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// I/Os of the two runs whose difference is looked at: what starting and ending costs is in both.
/// The cases that are counted go over 262 144 blocks.
const COUNTS: [u64; 2] = [50_000, 250_000];

/// Instructions an I/O of `job` run by `program`, start and end aside. Fails where there is no
/// valgrind, or it cannot run the program.
pub fn per_io(program: &Path, job: &[String], scratch: &Path) -> Result<f64> {
    let mut totals = [0; 2];
    for (total, count) in totals.iter_mut().zip(COUNTS) {
        *total = counted(program, job, count, scratch)?;
    }
    Ok((totals[1] as f64 - totals[0] as f64) / (COUNTS[1] - COUNTS[0]) as f64)
}

fn counted(program: &Path, job: &[String], count: u64, scratch: &Path) -> Result<u64> {
    let out = scratch.join("callgrind.out");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(job)
        // A job of its own process would be counted in another file.
        .args(["--thread", "--eta=never", "--output=/dev/null", "--name=counted"])
        .arg(format!("--number_ios={count}"))
        .env("FATHOM_ARCHIVE", "off")
        .current_dir(scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("starting valgrind")?;
    if !status.success() {
        bail!("valgrind {} ended with {status}", program.display());
    }
    let text = fs::read_to_string(&out).context("reading callgrind's file")?;
    totals(&text).context("callgrind's file has no totals")
}

/// The line `totals: N` of callgrind's output format, version 1.
fn totals(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_found() {
        assert_eq!(totals("events: Ir\nfn=(1)\n16 7\n\ntotals: 123456\n"), Some(123_456));
        assert_eq!(totals("events: Ir\nsummary: 7\n"), None);
    }
}
