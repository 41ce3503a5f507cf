//! The order in which blocks are read back.

use super::write_tracker::WriteTracker;
use crate::hot::op::{Next, Op, OpKind, Source};
use crate::pacing::is_steered;
use crate::sources::workload::Workload;
use plan::Worker;

/// Issues the reads of a loop.
pub(super) enum ReadBack {
    /// Replays `left` I/Os of the work: blocks are read in the order of writing.
    Replay { work: Box<Workload>, left: u64 },
    /// Reads every piece by file and offset.
    Sweep { files: u32, file: u32, from: u64 },
    /// Reads the rest of a backlog.
    Backlog,
}

impl ReadBack {
    /// The next read.
    pub fn next(&mut self, writes: &mut WriteTracker) -> Option<Op> {
        match self {
            ReadBack::Replay { work, left } => replay(work, left, writes),
            ReadBack::Sweep { files, file, from } => loop {
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
            ReadBack::Backlog => writes.queued_read(),
        }
    }
}

fn replay(work: &mut Workload, left: &mut u64, writes: &WriteTracker) -> Option<Op> {
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

/// Whether a replay of the work returns each block once, in the order of writing. It does not if the
/// work depends on time or writes a block more than once.
pub(super) fn replays(worker: &Worker) -> bool {
    let pattern = &worker.pattern;
    let repeats = pattern.rw.is_random() && (pattern.norandommap || worker.layout.overwrite);
    let backwards = pattern.skip != 0;
    let drawn = !is_steered(worker) && !pattern.rw.trims();
    let placed = worker.zbd.is_some();
    // A loop may go over its files more than once.
    let wraps = worker.stop.wraps && worker.stop.bytes.is_some_and(|b| b > worker.region());
    !repeats && !backwards && drawn && !placed && !wraps && !worker.stop.time_based
}
