//! Sequential I/O in another order than from the beginning to the end.

use crate::blocks::Blocks;
use crate::problem::Diagnostics;
use job::{Job, ReadWrite, SequentialOrder, ZoneMode};

/// Refuses `sequential_order` where blocks have no order that could be another one.
pub(crate) fn check(job: &Job, blocks: &Blocks, diagnostics: &mut Diagnostics) {
    let pattern = &job.pattern;
    if pattern.order == SequentialOrder::Ascending {
        return;
    }
    let one_way = matches!(pattern.rw, ReadWrite::Read | ReadWrite::Write | ReadWrite::Trim);
    let reasons = [
        (!one_way, "I/O goes one way and in sequence", "give rw=read, write or trim"),
        (pattern.skip.is_some(), "the order says all", "leave the number behind rw away"),
        (blocks.fixed.is_none(), "all blocks have one size", "give one bs"),
        (pattern.shared_cursor, "each clone has its own order", "leave shared_cursor away"),
        (
            job.zones.mode != ZoneMode::None,
            "all of the region is gone through",
            "leave zonemode away",
        ),
    ];
    for (_, what, cure) in reasons.iter().filter(|(is_so, ..)| *is_so) {
        diagnostics.usage(job, "sequential_order", format!("in another order {what}"), *cure);
    }
}
