//! The sum of all ranks is that of all I/Os: each rank logs the latency of every I/O, and the histogram of all
//! logs is compared with the report.

use super::launch::{Ended, Stage, options};
use super::table::Row;
use anyhow::{Context, Result, ensure};
use record::Histogram;
use serde_json::Value;
use std::fs;

/// Directions as logs number them.
const DIRECTIONS: [&str; 2] = ["read", "write"];
/// Latencies of the report and their logs.
const LATENCIES: [&str; 2] = ["clat", "lat"];

pub fn prove(stage: &mut Stage) -> Result<Row> {
    let what =
        format!("percentiles, mean and deviation of {} ranks are those of all I/Os", stage.ranks);
    let mut row = Row::new(what, stage.launcher);
    let (mut ios, mut compared) = (0, 0);
    for _ in 0..stage.draws {
        let rate = stage.seeded.between(20, 80);
        let size = stage.seeded.one(&["4k-4k", "8k-8k", "512-16k"]).to_owned();
        let job = [
            "--name=exact",
            "--filename=data.$rank",
            "--size=256k",
            "--rw=randrw",
            "--ioengine=psync",
            "--time_based",
            "--runtime=1",
            "--write_lat_log=log.$rank",
            &format!("--bsrange={size}"),
            &format!("--rate_iops={rate}"),
            &format!("--randseed={}", stage.seeded.number() >> 32),
        ];
        let ended = stage.ranks(stage.ranks, ":", &options(&job))?;
        let outcome = compare(&ended, stage.ranks);
        row.count(outcome.map_err(|error| format!("{error:#}")).map(|(samples, figures)| {
            ios += samples;
            compared += figures;
        }));
    }
    row.figure = format!("{ios} I/Os, {compared} figures equal");
    Ok(row)
}

/// The number of samples and of figures that are equal.
fn compare(ended: &Ended, ranks: u32) -> Result<(u64, u64)> {
    let report = ended.good()?;
    let (mut samples, mut figures) = (0, 0);
    for latency in LATENCIES {
        let all = read_logs(ended, latency, ranks)?;
        for (direction, all) in DIRECTIONS.iter().zip(&all) {
            let place = format!("{direction} {latency}");
            let printed = &report["jobs"][0][direction][format!("{latency}_ns")];
            ensure!(
                all.count() > 0 && printed["N"] == all.count(),
                "{place}: not {} I/Os",
                all.count()
            );
            ensure!(
                printed["min"] == all.min() && printed["max"] == all.max(),
                "{place}: {printed}"
            );
            for (name, exact) in [("mean", all.mean()), ("stddev", all.stddev())] {
                let value = printed[name].as_f64().context(name)?;
                // The report has six decimals.
                ensure!((value - exact).abs() < 1e-6, "{place}: {name} {value}, not {exact}");
            }
            samples += all.count();
            figures += 5 + compare_percentiles(printed, all, &place)?;
        }
    }
    Ok((samples / LATENCIES.len() as u64, figures))
}

/// The number of percentiles in a report, which are all those of the histogram.
fn compare_percentiles(printed: &Value, all: &Histogram, place: &str) -> Result<u64> {
    let Some(percentiles) = printed["percentile"].as_object() else { return Ok(0) };
    for (percentile, value) in percentiles {
        let exact = all.percentile(percentile.parse()?);
        ensure!(*value == exact, "{place}: percentile {percentile} is {value}, not {exact}");
    }
    Ok(percentiles.len() as u64)
}

/// All latencies of the logs of all ranks, by direction.
fn read_logs(ended: &Ended, latency: &str, ranks: u32) -> Result<[Histogram; 2]> {
    let mut all = [Histogram::new(), Histogram::new()];
    for rank in 0..ranks {
        let path = ended.directory.path().join(format!("log.{rank}_{latency}.1.log"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for line in text.lines() {
            let words: Vec<&str> = line.split(", ").collect();
            let [_, nanoseconds, direction, ..] = words[..] else { continue };
            let direction: usize = direction.parse()?;
            all.get_mut(direction).context("direction")?.record(nanoseconds.parse()?);
        }
    }
    Ok(all)
}
