//! fallocate(2) and ftruncate(2): change the allocation or size of a file, not its data.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, borrow, result};
use crate::hot::op::{Op, OpKind};
use plan::Engine;
use rustix::fs::FallocateFlags;
use std::os::fd::RawFd;

/// The `falloc` and `ftruncate` engines.
pub struct Space {
    truncates: bool,
}

impl Space {
    /// The one that the worker asks for.
    pub fn new(setup: &RingSetup<'_>) -> Space {
        Space { truncates: setup.worker.queue.engine == Engine::Ftruncate }
    }
}

impl SyncEngine for Space {
    fn execute(&mut self, fd: RawFd, _: &mut [u8], op: &Op) -> Queued {
        let file = borrow(fd);
        let done = rustix::io::retry_on_intr(|| match (self.truncates, op.kind) {
            (true, _) => rustix::fs::ftruncate(file, op.offset),
            (false, kind) => rustix::fs::fallocate(file, mode(kind), op.offset, op.length),
        });
        Queued::Done(result(done.map(|()| op.length)))
    }
}

/// The mode for a read, a write or a trim, as fio documents it.
fn mode(kind: OpKind) -> FallocateFlags {
    match kind {
        OpKind::Read => FallocateFlags::KEEP_SIZE,
        OpKind::Trim => FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
        _ => FallocateFlags::empty(),
    }
}
