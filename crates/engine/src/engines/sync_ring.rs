//! One ring for all [`SyncEngine`]s, so that the hot loop is compiled once for all of them.

use super::blocking::maintain;
use super::cpuio::CpuLoad;
use super::exec::Exec;
use super::metadata::Metadata;
use super::net::Net;
use super::page_fault::PageFault;
use super::space::Space;
use super::splice::Splice;
use super::sync_engine::SyncEngine;
use super::{Queued, Ring, RingSetup, WaitLimit};
use crate::files::FileError;
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use plan::Engine;
use std::io;
use std::os::fd::RawFd;

/// A ring over a synchronous engine.
pub struct SyncRing {
    slots: Slots,
    files: Vec<RawFd>,
    engine: Box<dyn SyncEngine>,
}

fn open_engine(setup: &RingSetup<'_>) -> io::Result<Box<dyn SyncEngine>> {
    Ok(match setup.worker.queue.engine {
        Engine::Splice => Box::new(Splice::new(setup)?),
        Engine::Falloc | Engine::Ftruncate => Box::new(Space::new(setup)),
        Engine::PageFault => Box::new(PageFault::new(setup)?),
        Engine::Cpuio => Box::new(CpuLoad::new(setup)),
        Engine::Exec => Box::new(Exec::new(setup)),
        Engine::Net | Engine::Netsplice => Box::new(Net::new(setup)?),
        _ => Box::new(Metadata::new(setup)),
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
            _ => return Queued::Done(maintain(fd, *op)),
        };
        // SAFETY: the slot's buffer is initialised, as long as the largest block that is read or
        // written, lives as long as the ring, and belongs to this I/O until it is done (contract
        // of `Ring`).
        let buffer = unsafe { std::slice::from_raw_parts_mut(self.slots.slot(slot), length) };
        self.engine.execute(fd, buffer, op)
    }
}
