//! Clones that share one position in their files.

use crate::blocks::Blocks;
use crate::model::BlockPlan;
use crate::problem::Diagnostics;
use job::{Job, LockFile, ReadWrite, Size, ZoneMode};
use record::{Bytes, Direction};

/// Refuses `shared_cursor` where there is nothing to share, or nothing that could be.
pub(crate) fn check(job: &Job, blocks: &Blocks, diagnostics: &mut Diagnostics) {
    if !job.pattern.shared_cursor {
        return;
    }
    let (target, syncing) = (&job.target, &job.syncing);
    let rw = job.pattern.rw;
    let used = [
        (rw.reads(), Direction::Read),
        (rw.writes(), Direction::Write),
        (rw.trims(), Direction::Trim),
    ];
    let sizes_vary =
        used.iter().any(|(used, d)| *used && !matches!(blocks.sizes[*d], BlockPlan::Fixed(_)));
    let one_way = matches!(rw, ReadWrite::Read | ReadWrite::Write | ReadWrite::Trim);
    let shifted = target.offset_increment.is_some_and(|by| by != Size::Bytes(Bytes(0)));
    let syncs = syncing.fsync + syncing.fdatasync + syncing.write_barrier > 0
        || syncing.file_range.is_some();
    let reasons = [
        (!one_way, "it goes one way and in sequence", "give rw=read, write or trim"),
        (
            job.pattern.skip.is_some(),
            "there is nothing to leave out",
            "leave the number behind rw away",
        ),
        (sizes_vary, "all blocks have one size", "give one bs"),
        (
            target.filenames.is_empty(),
            "each clone has files of its own",
            "name the shared ones by filename",
        ),
        (shifted, "all clones work in the same region", "leave offset_increment away"),
        (
            syncs,
            "a write of one clone is synchronised by no other",
            "synchronise at the end (end_fsync)",
        ),
        (target.lockfile != LockFile::None, "clones never meet on a block", "leave lockfile away"),
        (
            target.unlink_each_loop,
            "no clone knows when a pass has ended",
            "leave unlink_each_loop away",
        ),
        (
            job.zones.mode != ZoneMode::None,
            "all of the region is gone through",
            "leave zonemode away",
        ),
        (target.openfiles.is_some(), "every file is open in every clone", "leave openfiles away"),
    ];
    for (_, what, cure) in reasons.iter().filter(|(is_so, ..)| *is_so) {
        diagnostics.usage(job, "shared_cursor", format!("with a shared cursor {what}"), *cure);
    }
}
