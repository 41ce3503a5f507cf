//! preadv2, pwritev2 with flags.

use super::RingSetup;
use super::blocking::{Blocking, Transfer};
use super::priority::Percentage;
use crate::hot::op::{Op, OpKind};
use crate::sys::io as calls;
use std::ffi::c_int;
use std::io;
use std::os::fd::RawFd;

/// The `pvsync2` engine.
pub type Pvsync2 = Blocking<Flagged>;

/// Reads and writes one vector at an offset, with RWF_HIPRI, RWF_DONTCACHE or RWF_NOWAIT, or
/// RWF_ATOMIC for writes.
pub struct Flagged {
    flags: c_int,
    write_flags: c_int,
    hipri: Percentage,
}

/// In kernels since 6.14; older ones answer EOPNOTSUPP.
const RWF_DONTCACHE: c_int = 0x80;

impl Transfer for Flagged {
    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let options = setup.options;
        let mut flags = 0;
        if options.uncached {
            flags |= RWF_DONTCACHE;
        }
        if options.nowait {
            flags |= libc::RWF_NOWAIT;
        }
        let hipri = if options.hipri { options.hipri_percentage.unwrap_or(100) } else { 0 };
        let write_flags = setup.io.write_flags as c_int;
        Ok(Flagged { flags, write_flags, hipri: Percentage::new(hipri) })
    }

    #[inline(always)]
    unsafe fn transfer(&mut self, fd: RawFd, buffer: *mut u8, op: &Op) -> i64 {
        let vector = [libc::iovec { iov_base: buffer.cast(), iov_len: op.length as usize }];
        let flags = if self.hipri.draw() { self.flags | libc::RWF_HIPRI } else { self.flags };
        // SAFETY: see the trait's contract.
        unsafe {
            match op.kind {
                OpKind::Read => calls::preadv2(fd, &vector, op.offset, flags),
                _ => calls::pwritev2(fd, &vector, op.offset, flags | self.write_flags),
            }
        }
    }
}
