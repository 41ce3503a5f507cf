//! What only shows once all workers are there: overlaps, memory.

use crate::model::Worker;
use crate::problem::Diagnostics;
use crate::sizes::human;
use job::{Job, LockFile};
use record::remedy::{lower, raise};
use record::{Facts, Message};
use std::collections::BTreeMap;

/// Regions of one file in one phase: beginning, end, index of the worker.
type Regions = Vec<(u64, u64, usize)>;

/// Remarks on files that several workers write at the same places at the same time.
pub(crate) fn overlaps(workers: &[Worker], facts: &Facts, diagnostics: &mut Diagnostics) {
    let mut regions: BTreeMap<(u32, &str), Regions> = BTreeMap::new();
    for (at, worker) in workers.iter().enumerate() {
        let rw = worker.pattern.rw;
        let changes = rw.writes() || rw.trims();
        let apart = worker.selection.lock != LockFile::None || worker.pattern.shared_cursor;
        if !changes || apart {
            continue;
        }
        if !worker.queue.engine.moves_data() {
            continue;
        }
        for file in &worker.files {
            let canonical = facts.targets.get(&file.path).map(|t| t.canonical.as_str());
            let path = canonical.filter(|c| !c.is_empty()).unwrap_or(&file.path);
            let end = file.start.saturating_add(file.length);
            regions.entry((worker.start.phase, path)).or_default().push((file.start, end, at));
        }
    }
    for ((_, path), mut list) in regions {
        list.sort_unstable();
        if let Some((a, b)) = first_overlap(workers, &list) {
            let who = format!("{} and {}", describe(&workers[a]), describe(&workers[b]));
            let verified = workers[a].verify.is_some() || workers[b].verify.is_some();
            let harm = if verified {
                "; verify takes what another wrote for a fault: give each its own places \
                 (offset_increment) or file"
            } else {
                ""
            };
            diagnostics.add_message(Message::warning(
                Some(&workers[b].name),
                format!("{who} write the same places of {path} at the same time{harm}"),
            ));
        }
    }
}

fn describe(worker: &Worker) -> String {
    format!("worker {} ({})", worker.number, worker.name)
}

/// First pair of workers in a sorted list of regions that overlap and run together.
fn first_overlap(workers: &[Worker], list: &[(u64, u64, usize)]) -> Option<(usize, usize)> {
    let mut furthest: Option<(u64, usize)> = None;
    for &(start, end, at) in list {
        if let Some((reach, other)) = furthest
            && start < reach
            && at != other
            && run_together(&workers[at], &workers[other])
            && !stride_apart(&workers[at], &workers[other])
        {
            return Some((other.min(at), other.max(at)));
        }
        if furthest.is_none_or(|(reach, _)| end > reach) {
            furthest = Some((end, at));
        }
    }
    None
}

/// Whether the zones of one worker lie in the gaps between those of the other.
fn stride_apart(a: &Worker, b: &Worker) -> bool {
    let (Some(one), Some(other)) = (a.placing.strides, b.placing.strides) else { return false };
    let period = one.range.saturating_add(one.skip);
    let (Some(first), Some(second)) = (a.files.first(), b.files.first()) else { return false };
    let distance =
        (i128::from(first.start) - i128::from(second.start)).rem_euclid(period.max(1).into());
    let is_alike = (one.range, one.skip) == (other.range, other.skip);
    let is_alone = a.files.len() == 1 && b.files.len() == 1;
    is_alike
        && is_alone
        && distance >= i128::from(one.range)
        && i128::from(period) - distance >= i128::from(one.range)
}

fn run_together(a: &Worker, b: &Worker) -> bool {
    !a.start.after_jobs.contains(&b.job) && !b.start.after_jobs.contains(&a.job)
}

/// What `block_error_percentiles` keeps of a block.
const FOLLOWED_BYTES: u128 = 4;

/// Refuses buffers that the machine has no memory for.
pub(crate) fn memory(
    jobs: &[Job],
    workers: &[Worker],
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    let need = |w: &Worker| u128::from(w.queue.depth) * u128::from(w.max_buffer());
    let mut phases: BTreeMap<u32, (u128, &Worker)> = BTreeMap::new();
    for worker in workers {
        let phase = phases.entry(worker.start.phase).or_insert((0, worker));
        phase.0 += need(worker);
        if need(worker) > need(phase.1) {
            phase.1 = worker;
        }
    }
    let memory = facts.memory.0;
    for (total, largest) in phases.into_values() {
        if memory > 0 && total > u128::from(memory) {
            let total = human(u64::try_from(total).unwrap_or(u64::MAX));
            let what = format!("buffers of {total} at once, the machine has {}", human(memory));
            let cure = lower(["iodepth", "bs", "numjobs"]);
            diagnostics.refuse(&jobs[largest.job as usize], "iodepth", what, cure);
        }
    }
}

/// Refuses to follow more blocks than the machine has memory for.
pub(crate) fn followed(
    jobs: &[Job],
    workers: &[Worker],
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    let need = |worker: &Worker| {
        let blocks = |size: u64| worker.files.iter().map(move |f| f.length.div_ceil(size));
        let blocks = worker.counted_blocks.into_iter().flat_map(blocks);
        blocks.map(|count| u128::from(count) * FOLLOWED_BYTES).sum::<u128>()
    };
    let total: u128 = workers.iter().map(need).sum();
    let Some(largest) = workers.iter().max_by_key(|worker| need(worker)) else { return };
    let memory = facts.memory.0;
    if memory > 0 && total > u128::from(memory) {
        let total = human(u64::try_from(total).unwrap_or(u64::MAX));
        let what =
            format!("{total} for the states of all blocks, the machine has {}", human(memory));
        let cure = lower(["size", "numjobs"]).or(raise(["bs"]));
        diagnostics.refuse(&jobs[largest.job as usize], "block_error_percentiles", what, cure);
    }
}
