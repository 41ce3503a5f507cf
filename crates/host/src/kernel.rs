//! Queries that need system calls. Their unsafe code is in the engine; the program provides an
//! implementation, tests provide recorded answers.

use record::Extents;
use std::fs::File;
use std::io;
use std::ops::Range;

/// Queries of the kernel that no file answers.
pub trait Kernel: Send + Sync {
    /// The part of the first `length` bytes of a file or device in the page cache (cachestat, or
    /// mincore before Linux 6.5).
    fn page_cache(&self, file: &File, length: u64) -> io::Result<PageCache>;

    /// Holes and unwritten extents in a range of a file, in bytes (FIEMAP).
    ///
    /// # Errors
    /// EOPNOTSUPP if the filesystem lacks FIEMAP.
    fn extents(&self, file: &File, range: Range<u64>) -> io::Result<Extents>;

    /// An NVMe admin command that reads `data` (NVMe base specification 2.0, section 5); its
    /// result, which is where Get Features answers.
    ///
    /// # Errors
    /// Those of the call; a status of the controller other than success is `EIO`.
    fn nvme_admin(&self, device: &File, command: NvmeAdmin, data: &mut [u8]) -> io::Result<u32>;

    /// A SCSI command that reads `data` (SG_IO).
    ///
    /// # Errors
    /// Those of the call. A status other than good is an answer.
    fn scsi(&self, device: &File, command: &[u8], data: &mut [u8]) -> io::Result<ScsiAnswer>;
}

/// Cached bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCache {
    /// In the cache.
    pub cached: u64,
    /// Dirty bytes; `None` if only mincore is available.
    pub dirty: Option<u64>,
}

/// The answer of a SCSI device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScsiAnswer {
    /// Bytes received.
    pub length: usize,
    /// SCSI status: 0 good, 2 check condition.
    pub status: u8,
    /// Sense data; ATA registers come back in it.
    pub sense: [u8; 64],
}

/// The fields of an NVMe admin command that reads data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NvmeAdmin {
    /// Opcode: 0x02 Get Log Page, 0x06 Identify, 0x0a Get Features.
    pub opcode: u8,
    /// Namespace; 0xffff_ffff for all.
    pub namespace: u32,
    /// Command dwords 10 to 15.
    pub words: [u32; 6],
}
