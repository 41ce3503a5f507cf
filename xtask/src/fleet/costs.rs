//! What a fleet costs: seconds at the start and at the end, and time of each I/O.

use super::launch::{Stage, options, paced};
use super::table::Row;
use crate::bench::middle;
use anyhow::{Context, Result};
use serde_json::Value;

/// Barrier and merge of all ranks together take less than this.
const SECONDS_MAX: f64 = 1.0;
/// The median CPU time of an I/O of two ranks is at most so many times that of two jobs of one process.
const COST_MAX: f64 = 1.02;

/// Barrier and merge.
pub fn prove_fleet(stage: &mut Stage) -> Result<Row> {
    let what = format!("barrier and merge of {} ranks take less than {SECONDS_MAX} s", stage.ranks);
    let mut row = Row::new(what, stage.launcher);
    let names = ["join", "start", "merge", "skew"];
    let mut all: [Vec<f64>; 4] = Default::default();
    let job = paced();
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

/// Two ranks against two jobs of one process, in turn. Which comes first changes with each draw. CPU time is
/// compared: other programs change the rate, and launchers bind ranks to CPUs.
pub fn prove_loop(stage: &mut Stage) -> Result<Row> {
    let what = format!(
        "an I/O of two ranks takes at most {COST_MAX} times the CPU time of one without ranks"
    );
    let mut row = Row::new(what, stage.launcher);
    let ranks = |stage: &Stage| loop_cost(stage.ranks(2, ":", &fast("--numjobs=1"))?.good()?);
    let alone = |stage: &Stage| loop_cost(stage.alone(&fast("--numjobs=2"))?.good()?);
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
    let pairs = ratios.len();
    let median = middle(ratios);
    row.count(if median <= COST_MAX { Ok(()) } else { Err(format!("{median:.3}")) });
    row.figure = format!("median ratio {median:.3} of {pairs} pairs, from {least:.3} to {most:.3}");
    Ok(row)
}

/// A job that only the CPU limits.
fn fast(numjobs: &str) -> Vec<String> {
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
}

/// The CPU time of an I/O: the share of a CPU that each worker used, over the rate of all.
fn loop_cost(report: &Value) -> Result<f64> {
    let job = &report["jobs"][0];
    let number = |value: &Value| value.as_f64().context("no CPU time or rate");
    Ok((number(&job["usr_cpu"])? + number(&job["sys_cpu"])?) / number(&job["read"]["iops"])?)
}

fn seconds(nanoseconds: &Value) -> Result<f64> {
    Ok(nanoseconds.as_u64().context("no time")? as f64 / 1e9)
}
