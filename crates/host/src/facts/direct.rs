//! The alignment that O_DIRECT requires.

use super::Survey;
use record::{DirectLimits, TargetKind};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, open, statx};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

impl Survey<'_> {
    /// From statx on the target (since Linux 6.1), else from trying O_DIRECT, with the block size
    /// of the device as alignment. For a directory that will be written, or the directory of a
    /// missing path, an unnamed file stands for the later ones; it is gone when closed. `None` if
    /// unknown.
    pub(super) fn direct(
        &mut self,
        kind: TargetKind,
        path: &Path,
        will_write: bool,
        device: Option<&str>,
    ) -> Option<DirectLimits> {
        if !self.host.is_live() {
            return self.device_limits(device);
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = match kind {
            TargetKind::File | TargetKind::Block => open(path, flags, Mode::empty()),
            TargetKind::Directory | TargetKind::Missing if will_write => unnamed_file(path),
            TargetKind::Directory | TargetKind::Missing => return self.device_limits(device),
            TargetKind::Char | TargetKind::Fifo | TargetKind::Other => return None,
        };
        let Ok(file) = opened else { return self.device_limits(device) };
        stated_limits(&file).or_else(|| self.probe_limits(&file, device))
    }

    /// From a block device, read once.
    fn device_limits(&mut self, device: Option<&str>) -> Option<DirectLimits> {
        let name = device?;
        if let Some(known) = self.limits.get(name) {
            return *known;
        }
        let limits = self.read_limits(name);
        self.limits.insert(name.to_owned(), limits);
        limits
    }

    /// Offsets by the logical block of a device, memory by its DMA alignment.
    fn read_limits(&self, name: &str) -> Option<DirectLimits> {
        let offset = u32::try_from(self.host.device(name)?.logical_block.0).ok()?;
        let disk = self.host.disk_of_partition(name).unwrap_or_else(|| name.to_owned());
        let queue = format!("{}/queue", super::device::directory(&disk));
        let mask = self.host.number(format!("{queue}/dma_alignment"));
        let memory = mask.and_then(|m| u32::try_from(m + 1).ok()).unwrap_or(offset);
        (offset > 0).then_some(DirectLimits { memory, offset })
    }

    /// Sets O_DIRECT on the open file. A filesystem without direct I/O refuses with EINVAL.
    fn probe_limits(&mut self, file: &OwnedFd, device: Option<&str>) -> Option<DirectLimits> {
        let flags = rustix::fs::fcntl_getfl(file).ok()?;
        match rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT) {
            Err(Errno::INVAL) => Some(DirectLimits::default()),
            _ => self.device_limits(device),
        }
    }
}

fn unnamed_file(directory: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    open(directory, flags, Mode::RUSR | Mode::WUSR)
}

/// statx returns 0 and 0 for a file without direct I/O.
fn stated_limits(file: impl AsFd) -> Option<DirectLimits> {
    let stat = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let has_limits = stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    has_limits.then_some(DirectLimits {
        memory: stat.stx_dio_mem_align,
        offset: stat.stx_dio_offset_align,
    })
}
