//! Block sizes, alignment and the random map.

use crate::model::{BlockPlan, Strides};
use crate::problem::Diagnostics;
use crate::zones;
use job::{BlockSizes, Job, SplitEntry};
use record::{Direction, PerDirection};

const DEFAULT_BLOCK: u64 = 4096;

/// Block sizes of a job.
pub(crate) struct Blocks {
    pub sizes: PerDirection<BlockPlan>,
    pub align: PerDirection<u64>,
    /// Smallest block of the directions the job uses.
    pub min: u64,
    /// The size of all blocks, if the directions the job uses have a single one.
    pub fixed: Option<u64>,
    /// Whether `norandommap` or `blockalign` turns the random map off.
    pub norandommap: bool,
    /// Sizes of the sequential share of a random pattern, if they differ from `sizes`.
    pub sequential: Option<BlockPlan>,
}

impl Blocks {
    /// Largest block of the directions the job uses.
    pub(crate) fn max(&self, job: &Job) -> u64 {
        directions(job).map(|d| self.sizes[d].max()).max().unwrap_or(0)
    }
}

/// The directions a job uses.
pub(crate) fn directions(job: &Job) -> impl Iterator<Item = Direction> {
    let rw = job.pattern.rw;
    Direction::ALL.into_iter().filter(move |d| match d {
        Direction::Read => rw.reads(),
        Direction::Write => rw.writes(),
        Direction::Trim => rw.trims(),
    })
}

pub(crate) fn resolve(job: &Job, diagnostics: &mut Diagnostics) -> Blocks {
    let sizes = PerDirection::from_fn(|d| direction_plan(job, source(job, d), diagnostics));
    let align = PerDirection::from_fn(|d| match job.blocks.align[source(job, d)] {
        Some(align) if align.0 > 0 => align.0,
        _ => sizes[d].min(),
    });
    let sequential = sequential(job, diagnostics);
    let used = || directions(job).map(|d| &sizes[d]).chain(&sequential);
    let min = used().map(BlockPlan::min).min().unwrap_or(DEFAULT_BLOCK);
    let max = used().map(BlockPlan::max).max();
    let fixed = max.filter(|max| *max == min);
    let norandommap = without_map(job, &sizes, &align, diagnostics);
    Blocks { min, fixed, norandommap, sizes, align, sequential }
}

/// The sizes for reads, if the job is random with bs_is_seq_rand and a share of its I/O is sequential.
fn sequential(job: &Job, diagnostics: &mut Diagnostics) -> Option<BlockPlan> {
    let shares = directions(job).any(|d| job.pattern.percentage_random[d] < 100);
    (job.blocks.is_seq_rand && job.pattern.rw.is_random() && shares)
        .then(|| direction_plan(job, Direction::Read, diagnostics))
}

/// The direction whose options set the block sizes of `direction`. With bs_is_seq_rand, the options
/// for reads apply to all sequential I/O, and the options for writes to all random I/O.
fn source(job: &Job, direction: Direction) -> Direction {
    match (job.blocks.is_seq_rand, job.pattern.rw.is_random()) {
        (false, _) => direction,
        (true, false) => Direction::Read,
        (true, true) => Direction::Write,
    }
}

/// Whether blocks may be hit more than once. The random map requires that blocks are aligned to the
/// smallest block (the oracle reports this too). With blocks of one size, the lfsr generator hits each
/// block once even with norandommap, because it needs no map.
fn without_map(
    job: &Job,
    sizes: &PerDirection<BlockPlan>,
    align: &PerDirection<u64>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let has_other_alignment = directions(job).any(|d| align[d] != sizes[d].min());
    if has_other_alignment && job.pattern.rw.is_random() && !job.pattern.norandommap {
        diagnostics
            .note(job, "blockalign turns the random map off: blocks may be hit more than once");
        return true;
    }
    let mut used = directions(job).map(|d| &sizes[d]);
    let first = used.next();
    let is_one_size =
        matches!(first, Some(BlockPlan::Fixed(_))) && used.all(|size| Some(size) == first);
    job.pattern.norandommap && !(is_one_size && job.pattern.generator == "lfsr")
}

fn direction_plan(job: &Job, d: Direction, diagnostics: &mut Diagnostics) -> BlockPlan {
    let options: &BlockSizes = &job.blocks;
    let plan = if !options.split[d].is_empty() {
        split_plan(job, &options.split[d], diagnostics)
    } else if let Some((a, b)) = options.range[d] {
        range_plan(a.0, b.0, options.unaligned)
    } else {
        BlockPlan::Fixed(options.size[d].map_or(DEFAULT_BLOCK, |b| b.0))
    };
    if plan.min() == 0 || plan.max() > i64::MAX as u64 {
        let what = format!("a block of {} bytes", if plan.min() == 0 { 0 } else { plan.max() });
        diagnostics.usage(job, "bs", what, "give a size of at least 1 byte");
        return BlockPlan::default();
    }
    plan
}

/// Oracle: the two sizes may be given in either order.
fn range_plan(a: u64, b: u64, unaligned: bool) -> BlockPlan {
    let (min, max) = (a.min(b), a.max(b));
    match min == max {
        true => BlockPlan::Fixed(min),
        false => BlockPlan::Range { min, max, step: if unaligned { 1 } else { min } },
    }
}

/// Completes the shares to 100. Entries without a share divide the rest evenly, rounded down; the
/// remainder goes to the largest share. (Oracle: `4k/60:64k/20` gives 80 to 4k, and
/// `4k/50:1k/:32k/:16k/` gives 52 to 4k and 16 to each other.) A sum above 100 is an error, as in
/// fio's manual.
fn split_plan(job: &Job, entries: &[SplitEntry], diagnostics: &mut Diagnostics) -> BlockPlan {
    let sum: u64 = entries.iter().filter_map(|e| e.percent).map(u64::from).sum();
    if sum > 100 {
        let what = format!("the shares add up to {sum} per cent");
        diagnostics.usage(job, "bssplit", what, "lower them to 100 in all");
        return BlockPlan::default();
    }
    let without_share = entries.iter().filter(|e| e.percent.is_none()).count() as u64;
    let default_share = (100 - sum).checked_div(without_share).unwrap_or(0) as u32;
    let mut shares: Vec<(u64, u32)> =
        entries.iter().map(|e| (e.size.0, e.percent.unwrap_or(default_share))).collect();
    let remainder = 100 - shares.iter().map(|s| s.1).sum::<u32>();
    if let Some(largest) = shares.iter_mut().max_by_key(|s| s.1) {
        largest.1 += remainder;
    }
    shares.retain(|s| s.1 > 0);
    match shares.as_slice() {
        [(size, _)] => BlockPlan::Fixed(*size),
        _ => BlockPlan::Split(shares),
    }
}

/// The first size or alignment of the job that is not a multiple of `unit`, with its option.
pub(crate) fn misaligned(job: &Job, blocks: &Blocks, unit: u64) -> Option<(&'static str, u64)> {
    let is_misaligned = |value: u64| !value.is_multiple_of(unit);
    for d in directions(job) {
        let bad = match &blocks.sizes[d] {
            BlockPlan::Fixed(size) => Some(("bs", *size)).filter(|b| is_misaligned(b.1)),
            BlockPlan::Range { min, max, step } => {
                [*min, *step, *max].into_iter().find(|s| is_misaligned(*s)).map(|s| ("bsrange", s))
            }
            BlockPlan::Split(entries) => {
                entries.iter().map(|e| ("bssplit", e.0)).find(|b| is_misaligned(b.1))
            }
        };
        let random = job.pattern.rw.is_random();
        let align = Some(("blockalign", blocks.align[d])).filter(|a| random && is_misaligned(a.1));
        if let Some(bad) = bad.or(align) {
            return Some(bad);
        }
    }
    let skip = job.pattern.skip.map(i64::unsigned_abs).filter(|s| is_misaligned(*s));
    let skip = skip.map(|s| ("rw", s));
    skip.or_else(|| {
        let Strides { range, skip, .. } = zones::strides(job)?;
        let option = if job.zones.range.0 > 0 { "zonerange" } else { "zonesize" };
        [(option, range), ("zoneskip", skip)].into_iter().find(|(_, value)| is_misaligned(*value))
    })
}
