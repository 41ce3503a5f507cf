//! Which blocks are read back, in which order.

use super::writes::Writes;
use crate::ops::{Next, Op, OpKind, Source};
use crate::pacing::is_steered;
use crate::source::Workload;
use plan::Worker;

/// Gives the reads of a loop.
pub(super) enum Reader {
    /// The work again, so many I/Os of it: blocks come in the order they were written.
    Replay { work: Box<Workload>, left: u64 },
    /// Every piece that stands, by file and offset.
    Sweep { files: u32, file: u32, from: u64 },
    /// What a backlog has left.
    Backlog,
}

impl Reader {
    /// The next read.
    pub fn next(&mut self, writes: &mut Writes) -> Option<Op> {
        match self {
            Reader::Replay { work, left } => replay(work, left, writes),
            Reader::Sweep { files, file, from } => loop {
                if *file >= *files {
                    return None;
                }
                if let Some(piece) = writes.next_piece(*file, *from) {
                    *from = piece.start + piece.length;
                    let (offset, length) = (piece.start, piece.length);
                    return Some(Op { kind: OpKind::Read, file: *file, offset, length, tag: 0 });
                }
                (*file, *from) = (*file + 1, 0);
            },
            Reader::Backlog => writes.queued_read(),
        }
    }
}

fn replay(work: &mut Workload, left: &mut u64, writes: &Writes) -> Option<Op> {
    while *left > 0 {
        match work.next() {
            Next::Io(op) => {
                *left -= 1;
                let known = || !writes.pieces(op.file, op.offset, op.length).is_empty();
                if op.kind == OpKind::Write && known() {
                    return Some(Op { kind: OpKind::Read, ..op });
                }
            }
            Next::End => return None,
            _ => {}
        }
    }
    None
}

/// Whether going through the work again gives each block once, in the order of writing. Work that
/// depends on time, or writes a block more than once, does not.
pub(super) fn replays(worker: &Worker) -> bool {
    let pattern = &worker.pattern;
    let repeats = pattern.rw.is_random() && (pattern.norandommap || worker.layout.overwrite);
    let backwards = pattern.skip != 0;
    let drawn = !is_steered(worker) && !pattern.rw.trims();
    let placed = worker.zbd.is_some();
    !repeats && !backwards && drawn && !placed && !worker.stop.time_based
}
