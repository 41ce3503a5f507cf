//! The system calls that the host crate needs: the engine holds all unsafe code.

use engine::kernel;
use host::{Kernel, NvmeAdmin, PageCache, ScsiAnswer};
use record::Extents;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

/// The kernel this program runs on.
pub struct System;

impl Kernel for System {
    fn page_cache(&self, file: &File, length: u64) -> io::Result<PageCache> {
        let kernel::PageCache { cached, dirty } = kernel::page_cache(file.as_fd(), length)?;
        Ok(PageCache { cached, dirty })
    }

    fn extents(&self, file: &File, range: Range<u64>) -> io::Result<Extents> {
        kernel::extents(file.as_fd(), range)
    }

    fn nvme_admin(&self, device: &File, command: NvmeAdmin, data: &mut [u8]) -> io::Result<u32> {
        kernel::nvme_admin(device.as_fd(), command.opcode, command.namespace, command.words, data)
    }

    fn scsi(&self, device: &File, command: &[u8], data: &mut [u8]) -> io::Result<ScsiAnswer> {
        let answer = kernel::scsi(device.as_fd(), command, data)?;
        Ok(ScsiAnswer { length: answer.length, status: answer.status, sense: answer.sense })
    }
}
