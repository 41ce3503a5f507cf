//! What a fleet costs: seconds at the start and at the end, and time of each I/O.

use super::launch::{Stage, options};
use super::table::Row;
use crate::bench::middle;
use anyhow::{Context, Result};
use serde_json::Value;

/// Barrier and merge of all ranks together take less than this.
const SECONDS_MAX: f64 = 1.0;
/// The median rate of two ranks is at least this share of that of two jobs of one process.
const RATE_MIN: f64 = 0.98;

/// Barrier and merge.
pub fn prove_fleet(stage: &mut Stage) -> Result<Row> {
    let what = format!("barrier and merge of {} ranks take less than {SECONDS_MAX} s", stage.ranks);
    let mut row = Row::new(what, stage.launcher);
    let names = ["join", "start", "merge", "skew"];
    let mut all: [Vec<f64>; 4] = Default::default();
    let job = options(&[
        "--name=paced",
        "--ioengine=null",
        "--size=1g",
        "--rw=randread",
        "--rate_iops=100",
        "--time_based",
        "--runtime=1",
    ]);
    for _ in 0..stage.draws {
        let ended = stage.ranks(stage.ranks, ":", &job)?;
        let fleet = ended.fleet()?;
        let cost = |name: &str| seconds(&fleet["costs"][format!("{name}_ns")]);
        let took = [
            cost("join")?,
            cost("start")?,
            cost("merge")?,
            seconds(&fleet["groups"][0]["skew_ns"])?,
        ];
        all.iter_mut().zip(took).for_each(|(all, took)| all.push(took));
        let sum = took[1] + took[2];
        row.count(if sum < SECONDS_MAX { Ok(()) } else { Err(format!("{sum:.3} s")) });
    }
    let figure = |(name, values): (&str, Vec<f64>)| {
        let longest = values.iter().copied().fold(0.0, f64::max);
        format!("{name} {:.3} s (longest {longest:.3})", middle(values))
    };
    row.figure = names.into_iter().zip(all).map(figure).collect::<Vec<_>>().join(", ");
    Ok(row)
}

/// Two ranks against two jobs of one process, in turn. Which comes first changes with each draw.
pub fn prove_loop(stage: &mut Stage) -> Result<Row> {
    let what = format!("two ranks make at least {RATE_MIN} of the I/Os of two jobs of one process");
    let mut row = Row::new(what, stage.launcher);
    let job = |numjobs: &str| {
        options(&[
            "--name=fast",
            "--ioengine=null",
            "--size=1g",
            "--rw=randread",
            "--time_based",
            "--runtime=1",
            "--group_reporting",
            numjobs,
        ])
    };
    let iops = |value: &Value| value["iops"].as_f64().context("no rate");
    let ranks = |stage: &Stage| {
        iops(&stage.ranks(2, ":", &job("--numjobs=1"))?.fleet()?["groups"][0]["read"])
    };
    let alone = |stage: &Stage| iops(&stage.alone(&job("--numjobs=2"))?.good()?["jobs"][0]["read"]);
    let mut ratios = Vec::new();
    for draw in 0..stage.draws {
        let (ranks, alone) = if draw % 2 == 0 {
            let ranks = ranks(stage)?;
            (ranks, alone(stage)?)
        } else {
            let alone = alone(stage)?;
            (ranks(stage)?, alone)
        };
        ratios.push(ranks / alone);
    }
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let draws = ratios.len();
    let median = middle(ratios);
    row.count(if median >= RATE_MIN { Ok(()) } else { Err(format!("{median:.3}")) });
    row.figure = format!("median ratio {median:.3} of {draws} pairs, from {least:.3} to {most:.3}");
    Ok(row)
}

fn seconds(nanoseconds: &Value) -> Result<f64> {
    Ok(nanoseconds.as_u64().context("no time")? as f64 / 1e9)
}
