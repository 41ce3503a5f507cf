//! One ring for all engines whose I/O is a call, or a few, that cost far more than a call through a
//! table: the loop is compiled once for them together.

use super::blocking::maintain;
use super::cpuio::CpuLoad;
use super::exec::Exec;
use super::names::Names;
use super::net::Net;
use super::page_fault::PageFault;
use super::space::Space;
use super::splice::Splice;
use super::{Queued, Ring, Setup, Until};
use crate::files::FileError;
use crate::ops::{Op, OpKind};
use crate::sys::buffers::Slots;
use plan::Engine;
use std::io;
use std::os::fd::RawFd;

/// What such an engine does.
pub trait Deed: Send {
    /// See [`Ring::prepare`].
    ///
    /// # Errors
    /// The worker does not start.
    fn prepare(&mut self) -> Result<(), FileError> {
        Ok(())
    }

    /// See [`Ring::begin`].
    ///
    /// # Errors
    /// The worker ends before its first I/O.
    fn begin(&mut self, until: &Until) -> Result<(), FileError> {
        let _ = until;
        Ok(())
    }

    /// A file was opened or is about to be closed (-1). Of engines that open none: a loop has ended.
    ///
    /// # Errors
    /// The worker ends.
    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        let _ = (file, fd);
        Ok(())
    }

    /// Does one I/O: bytes moved or a negative errno, or that its time was up before its end.
    fn act(&mut self, fd: RawFd, buffer: &mut [u8], op: &Op) -> Queued;

    /// See [`Ring::end`].
    fn end(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A ring that does deeds.
pub struct Plain {
    slots: Slots,
    files: Vec<RawFd>,
    deed: Box<dyn Deed>,
}

fn deed(setup: &Setup<'_>) -> io::Result<Box<dyn Deed>> {
    Ok(match setup.worker.queue.engine {
        Engine::Splice => Box::new(Splice::new(setup)?),
        Engine::Falloc | Engine::Ftruncate => Box::new(Space::new(setup)),
        Engine::PageFault => Box::new(PageFault::new(setup)?),
        Engine::Cpuio => Box::new(CpuLoad::new(setup)),
        Engine::Exec => Box::new(Exec::new(setup)),
        Engine::Net | Engine::Netsplice => Box::new(Net::new(setup)?),
        _ => Box::new(Names::new(setup)),
    })
}

impl Ring for Plain {
    const SYNCHRONOUS: bool = true;

    fn open(setup: &Setup<'_>) -> io::Result<Self> {
        Ok(Plain {
            slots: setup.buffers.slots(),
            files: setup.files.iter().map(|file| file.fd).collect(),
            deed: deed(setup)?,
        })
    }

    fn prepare(&mut self) -> Result<(), FileError> {
        self.deed.prepare()
    }

    fn begin(&mut self, until: &Until) -> Result<(), FileError> {
        self.deed.begin(until)
    }

    fn end(&mut self) -> Vec<String> {
        self.deed.end()
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.files[file as usize] = fd;
        self.deed.file_changed(file, fd)
    }

    #[inline]
    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let fd = self.files.get(op.file as usize).copied().unwrap_or(-1);
        match op.kind {
            OpKind::ResetZone
            | OpKind::Fsync
            | OpKind::Fdatasync
            | OpKind::SyncFileRange(_)
            | OpKind::Stat => Queued::Done(maintain(fd, *op)),
            OpKind::Read | OpKind::Write | OpKind::Trim => {
                let length = if op.kind == OpKind::Trim { 0 } else { op.length as usize };
                // SAFETY: the slot's buffer is as long as the largest block that is read or
                // written, initialised, lives as long as the ring, and belongs to this I/O until it
                // is done (contract of `Ring`).
                let buffer =
                    unsafe { std::slice::from_raw_parts_mut(self.slots.slot(slot), length) };
                self.deed.act(fd, buffer, op)
            }
        }
    }
}
