//! Ranks whose clock is another: time namespaces make the offsets.

use super::launch::{Ended, Stage, paced};
use super::table::Row;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// The largest offset, in seconds: eleven days.
const OFFSET_MAX: u64 = 1_000_000;
/// Ranks with another clock in each run, each with one of its own; at most half of all.
const OTHERS: usize = 8;

pub fn prove(stage: &mut Stage) -> Result<Row> {
    let others = OTHERS.min(stage.ranks as usize / 2);
    let what = format!("the clocks of {others} other hosts are found within the stated bounds");
    let mut row = Row::new(what, stage.launcher);
    let mut widest = 0;
    let job = paced();
    for _ in 0..stage.draws {
        let mut ahead = BTreeMap::new();
        while ahead.len() < others {
            let rank = stage.seeded.between(1, u64::from(stage.ranks) - 1);
            ahead.insert(rank as usize, stage.seeded.between(1, OFFSET_MAX));
        }
        let arms = ahead.iter().map(|(rank, seconds)| format!("{rank}) O={seconds};;\n"));
        let script = format!(
            "case $R in\n{}esac\nif [ $O ]; then set -- unshare --time --monotonic $O --fork \"$@\"; fi",
            arms.collect::<String>()
        );
        let ended = stage.ranks(stage.ranks, &script, &job)?;
        let outcome = compare(&ended, &ahead).map(|bound| widest = widest.max(bound));
        row.count(outcome.map_err(|error| format!("{error:#}")));
    }
    row.figure = format!("widest bound {:.3} ms", widest as f64 / 1e6);
    Ok(row)
}

/// The widest bound of the clocks, which are all right.
fn compare(ended: &Ended, ahead: &BTreeMap<usize, u64>) -> Result<i64> {
    let mut widest = 0;
    let fleet = ended.fleet()?;
    for (rank, row) in fleet["ranks"].as_array().context("no ranks")?.iter().enumerate() {
        let clock = &row["clock"];
        let Some(seconds) = ahead.get(&rank) else {
            ensure!(clock["same_as_rank_0"] == true, "rank {rank}: {clock}");
            continue;
        };
        for moment in ["before", "after"] {
            let number = |name: &str| clock[moment][name].as_i64().context("no clock");
            let (found, bound) = (number("ahead_ns")?, number("bound_ns")?);
            let off = (found - *seconds as i64 * 1_000_000_000).abs();
            ensure!(off <= bound, "rank {rank}: {off} ns off, the bound is {bound} ns");
            widest = widest.max(bound);
        }
    }
    Ok(widest)
}
