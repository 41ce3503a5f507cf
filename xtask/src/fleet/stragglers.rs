//! A rank that a control group makes slower than the others.

use super::launch::{Stage, options};
use super::table::Row;
use crate::truth::Group;
use anyhow::Result;
use testbed::{Loop, Mounted};

/// Ranks of a run.
const RANKS: u64 = 4;
/// I/Os a second of each rank, and of one that is slow.
const RATE: u64 = 600;
const SLOW: u64 = 150;
const DISK_BYTES: u64 = 64 << 20;

pub fn prove(stage: &mut Stage) -> Result<Row> {
    let what =
        format!("of {RANKS} ranks the one that a control group throttles is named, no other");
    let mut row = Row::new(what, stage.launcher);
    // A disk for which nobody else of this machine has a use.
    let directory = tempfile::tempdir()?;
    let memory = Mounted::new(&["-t", "tmpfs"], "tmpfs", directory.path().join("memory"));
    let disk = Loop::over(&memory.path().join("disk.img"), DISK_BYTES, &[]);
    let group = Group::throttling(&disk, "iops", &["read"], SLOW)?;
    let starter: Vec<String> = group.starter().iter().map(|word| format!("'{word}'")).collect();
    let job = options(&[
        "--name=slow",
        &format!("--filename={}", disk.device),
        "--rw=randread",
        "--direct=1",
        &format!("--rate_iops={RATE}"),
        "--time_based",
        "--runtime=2",
    ]);
    let mut highest: f64 = 0.0;
    for _ in 0..stage.draws {
        let slow = stage.seeded.below(RANKS as usize);
        let script = format!("if [ $R = {slow} ]; then exec {} \"$@\"\nfi", starter.join(" "));
        let ended = stage.ranks(RANKS as u32, &script, &job)?;
        let found = &ended.fleet()?["groups"][0]["stragglers"];
        let is_right =
            found.as_array().is_some_and(|all| all.len() == 1) && found[0]["rank"] == slow;
        let is_reported = matches!(&ended.findings("straggler")[..], [text] if text.starts_with(&format!("rank {slow} on ")));
        highest = highest.max(found[0]["probability"].as_f64().unwrap_or(0.0));
        row.count(match is_right && is_reported {
            true => Ok(()),
            false => Err(format!("rank {slow} was slow, reported: {found}")),
        });
    }
    row.figure = format!("highest probability by chance {highest:.1e}");
    Ok(row)
}
