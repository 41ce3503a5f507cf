//! Synchronisations between writes.
//!
//! # Rules
//! After every n-th write, counted over all files and loops, the file written last is synchronised
//! before the next I/O. The last I/O is not followed by a synchronisation (`end_fsync` is done by the
//! worker). If several kinds are due, only the strongest is issued: fsync, fdatasync, sync_file_range.
//! The range of sync_file_range covers the writes to the file since its last synchronisation.

use super::progress::Progress;
use crate::hot::op::{Op, OpKind};
use plan::{SyncFileRange, Worker};

const WAIT_BEFORE: u32 = 1;
const WRITE: u32 = 2;
const WAIT_AFTER: u32 = 4;

/// Counts writes and issues synchronisations.
#[derive(Clone, Debug)]
pub(crate) struct Syncs {
    fsync: EveryNth,
    fdatasync: EveryNth,
    file_range: EveryNth,
    flags: u32,
    /// For each file, the start and end of the writes since its last synchronisation; empty without sync_file_range.
    dirty: Vec<(u64, u64)>,
    due: Option<Op>,
    active: bool,
}

impl Syncs {
    pub fn new(worker: &Worker) -> Syncs {
        let syncing = &worker.syncing;
        let range = syncing.file_range.unwrap_or_default();
        let files = if range.writes > 0 { worker.files.len() } else { 0 };
        Syncs {
            fsync: EveryNth::new(syncing.fsync),
            fdatasync: EveryNth::new(syncing.fdatasync),
            file_range: EveryNth::new(range.writes),
            flags: flags(range),
            dirty: vec![CLEAN; files],
            due: None,
            active: syncing.fsync > 0 || syncing.fdatasync > 0 || range.writes > 0,
        }
    }

    /// Whether the worker synchronises at all.
    pub fn active(&self) -> bool {
        self.active
    }

    /// The synchronisation that is due; `None` once all work was issued.
    #[inline]
    pub fn due_before(&mut self, progress: &Progress) -> Option<Op> {
        if self.due.is_none() || progress.done() {
            return None;
        }
        self.due.take()
    }

    /// Counts a write that was issued.
    #[inline]
    pub fn written(&mut self, op: &Op) {
        if self.active {
            self.count(op);
        }
    }

    fn count(&mut self, op: &Op) {
        let file = op.file as usize;
        if let Some(dirty) = self.dirty.get_mut(file) {
            *dirty = (dirty.0.min(op.offset), dirty.1.max(op.offset + op.length));
        }
        let (fsync, fdatasync) = (self.fsync.tick(), self.fdatasync.tick());
        let file_range = self.file_range.tick();
        let range = self.dirty.get(file).copied().unwrap_or(CLEAN);
        let whole = |kind| Op { kind, file: op.file, offset: 0, length: 0, tag: 0 };
        let due = if fsync {
            whole(OpKind::Fsync)
        } else if fdatasync {
            whole(OpKind::Fdatasync)
        } else if file_range {
            let kind = OpKind::SyncFileRange(self.flags);
            Op { kind, file: op.file, offset: range.0, length: range.1 - range.0, tag: 0 }
        } else {
            return;
        };
        self.due = Some(due);
        if let Some(dirty) = self.dirty.get_mut(file) {
            *dirty = CLEAN;
        }
    }
}

/// The range of a file without writes.
const CLEAN: (u64, u64) = (u64::MAX, 0);

fn flags(range: SyncFileRange) -> u32 {
    u32::from(range.wait_before) * WAIT_BEFORE
        + u32::from(range.write) * WRITE
        + u32::from(range.wait_after) * WAIT_AFTER
}

/// True for every n-th call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EveryNth {
    period: u64,
    left: u64,
}

impl EveryNth {
    /// True for every `period`-th call; with 0 never.
    pub fn new(period: u64) -> EveryNth {
        EveryNth { period, left: period }
    }

    /// Counts a call.
    #[inline]
    pub fn tick(&mut self) -> bool {
        if self.period == 0 {
            return false;
        }
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            return true;
        }
        false
    }

    /// Whether the next `tick` will be true.
    #[inline]
    pub fn next_is(&self) -> bool {
        self.left == 1
    }
}
