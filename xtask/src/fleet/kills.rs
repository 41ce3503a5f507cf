//! Ranks that are killed at any moment, from the start of the launcher to its end.

use super::launch::{Ended, Stage, paced};
use super::table::Row;
use anyhow::Result;
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

/// Exit codes of the launchers after SIGKILL of a rank, as docs/FLEET.md lists them.
const CODES: [(&str, &[i32]); 2] = [("mpirun.openmpi", &[0, 137]), ("mpirun.mpich", &[0, 9, 15])];

pub fn prove(stage: &mut Stage) -> Result<Row> {
    let what =
        format!("any of {} ranks killed at any moment: no hang, a listed exit code", stage.ranks);
    let mut row = Row::new(what, stage.launcher);
    let job = paced();
    let undisturbed = stage.ranks(stage.ranks, ":", &job)?;
    undisturbed.good()?;
    let (mut longest, mut reported) = (Duration::ZERO, 0);
    let (mut without, mut codes) = (Vec::new(), BTreeSet::new());
    for _ in 0..stage.draws {
        let rank = stage.seeded.below(stage.ranks as usize);
        let moment = stage.seeded.between(0, undisturbed.took.as_millis() as u64);
        let seconds = format!("{}.{:03}", moment / 1000, moment % 1000);
        // The shell becomes the rank, which keeps its number of a process.
        let script = format!("if [ $R = {rank} ]; then (sleep {seconds}; kill -KILL $$) &\nfi");
        let ended = stage.ranks(stage.ranks, &script, &job)?;
        longest = longest.max(ended.took);
        reported += u32::from(ended.report.is_some());
        without.push(lost(&ended));
        codes.insert(ended.code.to_string());
        let outcome = judge(&ended, stage.launcher);
        row.count(outcome.map_err(|seen| format!("rank {rank} after {seconds} s: {seen}")));
    }
    row.figure = format!(
        "{:.1} s undisturbed, longest {:.1} s; {reported} reports: {} without one rank, {} without more; \
         exit codes {}",
        undisturbed.took.as_secs_f64(),
        longest.as_secs_f64(),
        without.iter().filter(|lost| **lost == 1).count(),
        without.iter().filter(|lost| **lost > 1).count(),
        codes.into_iter().collect::<Vec<_>>().join(", ")
    );
    Ok(row)
}

fn judge(ended: &Ended, launcher: &str) -> Result<(), String> {
    if ended.hung() {
        return Err(format!("no end after {:?}", ended.took));
    }
    let listed = CODES.iter().any(|(name, codes)| *name == launcher && codes.contains(&ended.code));
    if !listed {
        return Err(format!("exit code {}: {}", ended.code, ended.last_line()));
    }
    let is_missing = lost(ended) > 0;
    if is_missing && ended.code == 0 {
        return Err("exit code 0, but a rank is missing".into());
    }
    match remaining(ended) {
        0 => Ok(()),
        count => Err(format!("{count} ranks go on")),
    }
}

/// Ranks whose results the report does not have.
fn lost(ended: &Ended) -> usize {
    let report = ended.report.as_ref();
    let ranks = report.and_then(|report| report["fathom"]["fleet"]["ranks"].as_array());
    ranks.into_iter().flatten().filter(|rank| rank["state"] != "ran").count()
}

/// Ranks that go on after their launcher ended: processes whose number a rank wrote down, in its directory.
fn remaining(ended: &Ended) -> usize {
    let place = ended.directory.path();
    let files = fs::read_dir(place).into_iter().flatten().flatten();
    let numbers = files.filter(|file| file.file_name().to_string_lossy().starts_with("pid."));
    let goes_on = |number: &String| {
        let directory = fs::read_link(format!("/proc/{}/cwd", number.trim()));
        directory.is_ok_and(|directory| directory == place)
    };
    numbers.filter_map(|file| fs::read_to_string(file.path()).ok()).filter(goes_on).count()
}
