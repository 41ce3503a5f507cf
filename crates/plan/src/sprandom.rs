//! `sprandom`: one pass of writes that brings a flash device to the state after a long random load.
//!
//! # The model
//! A device has more flash (P) than visible capacity (L). It writes flash in order. When all flash is
//! written, it frees the oldest part by moving the blocks of it that are still valid. In the steady
//! state of uniform random writes, the valid share of a part depends on its age: after the device has
//! written a fraction x of its flash since then, it is exp(-x (1 - u) P / L). Here u is the valid share
//! of a part when it is freed, the solution for x = 1 (P. Desnoyers, "Analytic Models of SSD Write
//! Performance", 2014, on cleaning in order of age).
//!
//! The plan therefore writes the whole flash once, in equal regions. The share of each region that is
//! invalid in the steady state is written again in the next region, or in a later one, so that the
//! write cache no longer holds the first copy.

use crate::model::{BlockPlan, Renewal, Worker};
use crate::problem::Diagnostics;
use job::{Distribution, Flash, Job, ReadWrite};

impl Renewal {
    /// A plan for a device with `blocks` visible blocks and a cache of `cached` blocks.
    pub(crate) fn new(blocks: u64, flash: &Flash, cached: u64) -> Renewal {
        let (ratio, regions) = (1.0 + flash.spare, flash.regions);
        let rate = (1.0 - valid_when_freed(ratio)) * ratio;
        let region = blocks as f64 * ratio / regions as f64;
        let held = (cached as f64 / region.max(1.0)).ceil() as u64;
        let lag = held.saturating_add(1).min(regions);
        let age = |region: u64| 1.0 - (region as f64 + 0.5) / regions as f64;
        // Rounding errors of a region are added to the next, because regions may be small.
        let mut owed = 0.0;
        let stale = |number: u64| {
            owed += region * (1.0 - (-rate * age(number)).exp());
            let whole = if number + lag < regions { owed.round() } else { 0.0 };
            owed -= whole;
            whole as u64
        };
        let stale: Vec<u64> = (0..regions).map(stale).collect();
        let writes = blocks + stale.iter().sum::<u64>();
        Renewal { stale, writes, lag }
    }

    /// Number of writes of a region. All regions have the same number, except that the first ones
    /// have one more if the total does not divide evenly.
    pub fn writes_in(&self, region: usize) -> u64 {
        let regions = (self.stale.len() as u64).max(1);
        self.writes / regions + u64::from((region as u64) < self.writes % regions)
    }
}

/// The share of a freed part that is still valid: the solution u < 1 of u = exp(-(1 - u) ratio).
fn valid_when_freed(ratio: f64) -> f64 {
    (0..200).fold(0.0, |valid: f64, _| (-(1.0 - valid) * ratio).exp())
}

/// Plans `sprandom` for a worker after its files are resolved, or reports why it is impossible.
pub(crate) fn plan(job: &Job, worker: &mut Worker, diagnostics: &mut Diagnostics) {
    if !job.pattern.sprandom {
        return;
    }
    let mut refuse =
        |what: &'static str, cure: &'static str| diagnostics.usage(job, "sprandom", what, cure);
    let mut options = job.options.global.iter().chain(&job.options.own);
    let placing = &worker.placing;
    let plain = placing.spread.write == Distribution::Uniform
        && placing.sequential_share.write == 0
        && placing.strides.is_none()
        && worker.pattern.run_length <= 1;
    if job.pattern.rw != ReadWrite::RandWrite {
        return refuse("it preconditions by random writes alone", "set rw=randwrite");
    }
    if !job.pattern.norandommap {
        return refuse("sprandom requires norandommap=1", "set norandommap=1");
    }
    if options.any(|(name, value)| name == "random_generator" && value != "lfsr") {
        return refuse("it brings its own order", "leave random_generator out or set lfsr");
    }
    if job.target.io_size.is_some() || worker.stop.time_based || worker.stop.loops > 1 {
        return refuse(
            "it says itself how much is written",
            "leave io_size, loops, time_based out",
        );
    }
    let (BlockPlan::Fixed(block), true) = (&worker.pattern.blocks.write, plain) else {
        return refuse("it writes blocks of one size, evenly", "leave other orders and sizes out");
    };
    let [file] = worker.files.as_slice() else {
        return refuse("it is for one device or file", "name one");
    };
    let (blocks, flash) = (file.length / block, &job.pattern.flash);
    if flash.regions > blocks {
        let what = format!("{} regions of a device of {blocks} blocks", flash.regions);
        return diagnostics.usage(job, "spr_num_regions", what, format!("give {blocks} at most"));
    }
    let physical = (file.length as f64 * (1.0 + flash.spare) / *block as f64) as u64 * block;
    let (region, cache) = (physical / flash.regions, flash.cache.0);
    if cache > region {
        let what = format!("a cache of {cache} bytes is larger than a region of {region} bytes");
        let cure = match physical / cache {
            0 => format!("lower spr_cs: the device has {physical} bytes in all"),
            most => format!("lower spr_cs, or set spr_num_regions to at most {most}"),
        };
        return diagnostics.usage(job, "spr_cs", what, cure);
    }
    let renewal = Renewal::new(blocks, flash, cache.div_ceil(*block));
    worker.stop.bytes = Some(renewal.writes * block);
    worker.placing.renewal = Some(renewal);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flash_is_written_once() {
        for blocks in [1_000u64, 1 << 20, 1 << 40] {
            let renewal = Renewal::new(blocks, &Flash::default(), 0);
            assert_eq!(renewal.lag, 1);
            let ratio = renewal.writes as f64 / blocks as f64;
            assert!((ratio - 1.15).abs() < 0.01, "{blocks}: {ratio}");
            let all: u64 = (0..100).map(|region| renewal.writes_in(region)).sum();
            assert_eq!(all, renewal.writes);
        }
        assert_eq!(Renewal::new(0, &Flash::default(), 0).writes, 0);
    }

    #[test]
    fn spare_flash_and_regions_are_those_asked_for() {
        for (spare, regions) in [(0.07, 50u64), (0.28, 400), (0.5, 1000)] {
            let flash = Flash { spare, regions, ..Flash::default() };
            let renewal = Renewal::new(1 << 30, &flash, 0);
            assert_eq!(renewal.stale.len() as u64, regions);
            let ratio = renewal.writes as f64 / f64::from(1 << 30);
            assert!((ratio - 1.0 - spare).abs() < 0.01, "{spare}: {ratio}");
        }
    }

    #[test]
    fn a_cache_delays_rewritten_blocks() {
        let blocks = 1 << 20;
        let region = blocks * 115 / 100 / 100;
        for (cached, lag) in [(0, 1), (1, 2), (region / 2, 2), (region * 3 / 2, 3), (blocks, 88)] {
            let renewal = Renewal::new(blocks, &Flash::default(), cached);
            assert_eq!(renewal.lag, lag, "{cached}");
            let again = renewal.stale.iter().filter(|stale| **stale > 0).count() as u64;
            assert_eq!(again, 100 - lag);
        }
    }

    #[test]
    fn older_regions_hold_less_that_is_valid_down_to_what_is_freed() {
        let renewal = Renewal::new(1 << 30, &Flash::default(), 0);
        assert!(renewal.stale.is_sorted_by(|a, b| a >= b));
        let region = renewal.writes as f64 / 100.0;
        let oldest = 1.0 - renewal.stale[0] as f64 / region;
        assert!((oldest - valid_when_freed(1.15)).abs() < 0.01, "{oldest}");
        assert!((valid_when_freed(1.15) - 0.7506).abs() < 0.001);
    }
}
