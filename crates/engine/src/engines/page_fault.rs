//! Touches anonymous memory page by page. The latency of an I/O is the time of its page faults.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::sys::memory::{Mapping, page_size};
use std::io;
use std::os::fd::RawFd;

/// The `page_fault` engine. Each file is a separate mapping; an I/O touches the pages of its block.
pub struct PageFault {
    files: Vec<FileMapping>,
    page: usize,
}

struct FileMapping {
    mapping: Mapping,
    start: u64,
}

impl PageFault {
    /// Maps the regions of the worker's files without allocating their memory.
    pub fn new(setup: &RingSetup<'_>) -> io::Result<PageFault> {
        let map = |file: &super::RingFile| {
            let length = usize::try_from(file.length.max(1))
                .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
            let mapping = Mapping::anonymous(length, libc::MAP_PRIVATE | libc::MAP_NORESERVE)?;
            if setup.options.thp {
                mapping.advise(libc::MADV_HUGEPAGE)?;
            }
            Ok(FileMapping { mapping, start: file.start })
        };
        let files = setup.files.iter().map(map).collect::<io::Result<_>>()?;
        Ok(PageFault { files, page: page_size() })
    }
}

impl SyncEngine for PageFault {
    /// Frees the memory, so that the next loop faults again.
    fn file_changed(&mut self, file: u32, _: RawFd) -> io::Result<()> {
        self.files[file as usize].mapping.advise(libc::MADV_DONTNEED)
    }

    fn execute(&mut self, _: RawFd, _: &mut [u8], op: &Op) -> Queued {
        let FileMapping { mapping, start } = &self.files[op.file as usize];
        let first = (op.offset - start) as usize;
        let end = (first + op.length as usize).min(mapping.length());
        for offset in (first - first % self.page..end).step_by(self.page) {
            let byte = mapping.base().as_ptr().wrapping_add(offset);
            // SAFETY: the byte lies in the mapping, which is readable and writable and used by
            // nothing else.
            unsafe {
                match op.kind {
                    OpKind::Write => byte.write_volatile(offset as u8 | 1),
                    _ => {
                        std::hint::black_box(byte.read_volatile());
                    }
                }
            }
        }
        Queued::Done(op.length as i64)
    }
}
