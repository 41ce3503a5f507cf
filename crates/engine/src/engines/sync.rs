//! lseek, then read or write.

use super::RingSetup;
use super::blocking::{Blocking, Transfer};
use crate::hot::op::{Op, OpKind};
use crate::sys::io as calls;
use std::io;
use std::os::fd::RawFd;

/// The `sync` engine.
pub type Sync = Blocking<Seeking>;

/// Calls at the file position, preceded by lseek if the position differs from the offset.
pub struct Seeking {
    /// Position of each file; `UNKNOWN` after opening and after errors.
    positions: Vec<u64>,
}

const UNKNOWN: u64 = u64::MAX;

impl Transfer for Seeking {
    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        Ok(Seeking { positions: vec![UNKNOWN; setup.files.len()] })
    }

    fn file_changed(&mut self, file: u32, _fd: RawFd) -> io::Result<()> {
        self.positions[file as usize] = UNKNOWN;
        Ok(())
    }

    #[inline(always)]
    unsafe fn transfer(&mut self, fd: RawFd, buffer: *mut u8, op: &Op) -> i64 {
        let position = &mut self.positions[op.file as usize];
        if *position != op.offset {
            let moved = calls::seek(fd, op.offset);
            if moved < 0 {
                return moved;
            }
        }
        // SAFETY: see the trait's contract.
        let result = unsafe {
            match op.kind {
                OpKind::Read => calls::read(fd, buffer, op.length),
                _ => calls::write(fd, buffer, op.length),
            }
        };
        *position = if result < 0 { UNKNOWN } else { op.offset + result as u64 };
        result
    }
}
