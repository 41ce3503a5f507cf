//! The I/O engines, one file per interface. This file selects the ring of an engine; `ring.rs` defines
//! the contract of rings.

pub mod blocking;
pub mod cpuio;
pub mod e4defrag;
pub mod exec;
pub mod helpers;
pub mod http;
pub mod io_uring;
pub mod io_uring_cmd;
pub mod libaio;
pub mod metadata;
pub mod mmap;
pub mod mtd;
pub mod nbd;
pub mod net;
pub mod null;
pub mod offload;
pub mod overlap;
pub mod page_fault;
pub mod posixaio;
pub mod priority;
pub mod psync;
pub mod pvsync;
pub mod pvsync2;
pub mod rdma;
mod ring;
pub mod sg;
pub mod space;
pub mod splice;
pub mod store;
pub mod sync;
pub mod sync_engine;
pub mod vsync;

#[cfg(test)]
mod tests;

pub use ring::{Completion, IoSettings, IoTimes, Queued, Ring, RingFile, RingSetup, WaitLimit};
pub(crate) use ring::{borrow, negative_errno, result};

use crate::files::FileError;
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use plan::{Engine, Queue};
use std::io;
use std::os::fd::RawFd;
use sync_engine::SyncEngine;

/// Code that is compiled for each ring.
pub trait RingVisitor {
    /// The result of a visit.
    type Output;

    /// `R` is the ring of the engine; `QUEUED` is the opposite of [`Ring::SYNCHRONOUS`].
    fn visit<R: Ring + 'static, const QUEUED: bool>(self) -> Self::Output;

    /// For rings whose I/O costs so much that a less specialised loop suffices.
    fn visit_general<R: Ring + 'static, const QUEUED: bool>(self) -> Self::Output;
}

/// Calls `visitor` with the ring of a worker with this queue, disregarding `io_submit_mode`.
pub fn visit_ring<V: RingVisitor>(queue: &Queue, visitor: V) -> V::Output {
    match queue.engine {
        Engine::Null if queue.depth == 1 => visitor.visit::<null::NullSync, false>(),
        Engine::Null => visitor.visit::<null::NullQueue, true>(),
        Engine::Sync => visitor.visit::<sync::Sync, false>(),
        Engine::Psync => visitor.visit::<psync::Psync, false>(),
        Engine::Vsync => visitor.visit_general::<vsync::Vsync, true>(),
        Engine::Pvsync => visitor.visit::<pvsync::Pvsync, false>(),
        Engine::Pvsync2 => visitor.visit::<pvsync2::Pvsync2, false>(),
        Engine::Mmap | Engine::Libpmem | Engine::DevDax => visitor.visit::<mmap::Mmap, false>(),
        Engine::Libaio => visitor.visit::<libaio::Libaio, true>(),
        Engine::Posixaio => visitor.visit_general::<posixaio::Posixaio, true>(),
        Engine::IoUring => visitor.visit::<io_uring::IoUring, true>(),
        Engine::Sg | Engine::Libzbc => visitor.visit_general::<sg::Sg, true>(),
        Engine::IoUringCmd => visitor.visit_general::<io_uring_cmd::IoUringCmd, true>(),
        Engine::Nbd => visitor.visit_general::<nbd::Nbd, true>(),
        Engine::Rdma => visitor.visit_general::<rdma::Rdma, true>(),
        Engine::Http => visitor.visit_general::<http::Http, true>(),
        engine if engine.is_store() => visitor.visit_general::<store::StoreRing, true>(),
        _ => visitor.visit_general::<SyncRing, false>(),
    }
}

/// One ring for all [`SyncEngine`]s, so that the hot loop is compiled once for all of them.
pub struct SyncRing {
    slots: Slots,
    files: Vec<RawFd>,
    engine: Box<dyn SyncEngine>,
}

fn open_engine(setup: &RingSetup<'_>) -> io::Result<Box<dyn SyncEngine>> {
    Ok(match setup.worker.queue.engine {
        Engine::Splice => Box::new(splice::Splice::new(setup)?),
        Engine::Falloc | Engine::Ftruncate => Box::new(space::Space::new(setup)),
        Engine::Mtd => Box::new(mtd::Mtd::new(setup)),
        Engine::E4defrag => Box::new(e4defrag::Defragment::new(setup)?),
        Engine::PageFault => Box::new(page_fault::PageFault::new(setup)?),
        Engine::Cpuio => Box::new(cpuio::CpuLoad::new(setup)),
        Engine::Exec => Box::new(exec::Exec::new(setup)),
        Engine::Net | Engine::Netsplice => Box::new(net::Net::new(setup)?),
        _ => Box::new(metadata::Metadata::new(setup)),
    })
}

impl Ring for SyncRing {
    const SYNCHRONOUS: bool = true;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        Ok(SyncRing {
            slots: setup.buffers.slots(),
            files: setup.fds(),
            engine: open_engine(setup)?,
        })
    }

    fn prepare(&mut self) -> Result<(), FileError> {
        self.engine.prepare()
    }

    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.engine.begin(limit)
    }

    fn end(&mut self) -> Vec<String> {
        self.engine.end()
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.files[file as usize] = fd;
        self.engine.file_changed(file, fd)
    }

    #[inline]
    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let fd = self.files.get(op.file as usize).copied().unwrap_or(-1);
        let length = match op.kind {
            OpKind::Read | OpKind::Write => op.length as usize,
            OpKind::Trim => 0,
            _ => return Queued::Done(self.engine.synchronise(fd, op)),
        };
        // SAFETY: the slot's buffer is initialised, as long as the largest block that is read or
        // written, lives as long as the ring, and belongs to this I/O until it is done (contract
        // of `Ring`).
        let buffer = unsafe { std::slice::from_raw_parts_mut(self.slots.slot(slot), length) };
        self.engine.execute(fd, buffer, op)
    }
}
