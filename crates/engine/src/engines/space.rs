//! The space of a file changes, none of its data: fallocate(2) and ftruncate(2).

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, borrow};
use crate::hot::op::{Op, OpKind};
use plan::Engine;
use rustix::fs::FallocateFlags;
use std::os::fd::RawFd;

/// The `falloc` and `ftruncate` engines.
pub struct Space {
    truncates: bool,
}

impl Space {
    /// As the worker's engine has it.
    pub fn new(setup: &RingSetup<'_>) -> Space {
        Space { truncates: setup.worker.queue.engine == Engine::Ftruncate }
    }
}

impl SyncEngine for Space {
    fn execute(&mut self, fd: RawFd, _: &mut [u8], op: &Op) -> Queued {
        let file = borrow(fd);
        let answer = rustix::io::retry_on_intr(|| match (self.truncates, op.kind) {
            (true, _) => rustix::fs::ftruncate(file, op.offset),
            (false, kind) => rustix::fs::fallocate(file, mode(kind), op.offset, op.length),
        });
        Queued::Done(match answer {
            Ok(()) => op.length as i64,
            Err(error) => -i64::from(error.raw_os_error()),
        })
    }
}

/// What a read, a write and a trim stand for, as fio's manual has it.
fn mode(kind: OpKind) -> FallocateFlags {
    match kind {
        OpKind::Read => FallocateFlags::KEEP_SIZE,
        OpKind::Trim => FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
        _ => FallocateFlags::empty(),
    }
}
