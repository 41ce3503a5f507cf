//! memcpy to and from a mapping of the file.
//!
//! Regions too large to map at once are mapped in windows. A mapping cannot bypass the page cache, so
//! with direct=1 an msync of its pages follows every I/O, as in fio. A write beyond the end of a file
//! extends it; a read there moves nothing. Of persistent memory (`libpmem`, `dev-dax`), writes flush the
//! caches of the CPU where the mapping is synchronous (MAP_SYNC). SIGBUS (the file was truncated, the disk is full, the
//! device is gone) becomes EIO or ENOSPC.

use super::blocking::maintain;
use super::{Queued, Ring, RingFile, RingSetup, borrow, negative_errno};
use crate::hot::op::{Op, OpKind};
use crate::mutex::lock;
use crate::sys::buffers::Slots;
use crate::sys::fault;
use crate::sys::files::{Advice, free_bytes, resize, size_of};
use crate::sys::io as calls;
use crate::sys::memory::{Access, Mapping, page_size};
use plan::Engine;
use std::io;
use std::os::fd::RawFd;
use std::sync::Mutex;

/// The `mmap` engine.
pub struct Mmap {
    slots: Slots,
    files: Vec<Mapped>,
    access: Access,
    direct: bool,
    thp: bool,
    advice: Option<Advice>,
    page: u64,
    persistence: Persistence,
    /// The device has no syncs and no size that stat(2) knows.
    is_dax: bool,
}

/// What makes writes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Persistence {
    /// msync(2).
    Sync,
    /// Flushing the caches of the CPU, if the mapping can be synchronous.
    Wanted,
    /// The same; it is synchronous.
    Flush,
}

struct Mapped {
    fd: RawFd,
    start: u64,
    end: u64,
    /// Size of the file at the last check.
    size: u64,
    window: Option<Window>,
    /// Pages were written through windows that are unmapped now.
    unsynced: bool,
}

struct Window {
    mapping: Mapping,
    /// Offset of its first byte in the file, a multiple of the page size.
    offset: u64,
}

impl Window {
    fn covers(&self, op: &Op) -> bool {
        op.offset >= self.offset
            && op.offset + op.length <= self.offset + self.mapping.length() as u64
    }
}

/// Alignment of most DAX devices.
const DAX_ALIGN: u64 = 2 << 20;

/// Maximum bytes of a file mapped at once. Fully touched, 256 GiB need a page table of half a GiB; on
/// 32 bits the address space is the limit.
const WINDOW_MAX: u64 = if cfg!(target_pointer_width = "64") { 256 << 30 } else { 256 << 20 };

impl Ring for Mmap {
    const SYNCHRONOUS: bool = true;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        fault::install()?;
        let engine = setup.worker.queue.engine;
        let mut ring = Mmap {
            slots: setup.buffers.slots(),
            files: setup.files.iter().map(Mapped::closed).collect(),
            access: Access { read: true, write: setup.io.writes },
            direct: setup.io.direct,
            thp: setup.options.thp,
            advice: setup.io.advice,
            // Mappings of a DAX device begin and end at huge pages.
            page: if engine == Engine::DevDax { DAX_ALIGN } else { page_size() as u64 },
            persistence: match engine {
                Engine::DevDax | Engine::Libpmem => Persistence::Wanted,
                _ => Persistence::Sync,
            },
            is_dax: engine == Engine::DevDax,
        };
        for (index, file) in setup.files.iter().enumerate().filter(|(_, f)| f.fd >= 0) {
            ring.file_changed(index as u32, file.fd)?;
        }
        Ok(ring)
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        let mapped = &mut self.files[file as usize];
        mapped.window = None;
        mapped.unsynced = false;
        mapped.fd = fd;
        mapped.size = match fd {
            ..0 => 0,
            _ if self.is_dax => mapped.end,
            _ => size_of(borrow(fd))?,
        };
        Ok(())
    }

    fn end(&mut self) -> Vec<String> {
        if self.persistence != Persistence::Wanted {
            return Vec::new();
        }
        let text = "the file is not on persistent memory that is mapped directly (DAX): writes went \
                    through the page cache, with an msync for each";
        vec![text.to_owned()]
    }

    #[inline]
    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        Queued::Done(match op.kind {
            OpKind::Read | OpKind::Write => self.transfer(slot, op).unwrap_or_else(|e| e),
            OpKind::Fsync | OpKind::Fdatasync if self.is_dax => 0,
            OpKind::Fsync | OpKind::Fdatasync => self.synchronise(op),
            _ => maintain(self.files[op.file as usize].fd, *op),
        })
    }
}

impl Mmap {
    /// Copies. Returns bytes moved, or the negative errno.
    #[inline]
    fn transfer(&mut self, slot: u32, op: &Op) -> Result<i64, i64> {
        let mapped = &mut self.files[op.file as usize];
        if mapped.fd < 0 {
            return Err(-i64::from(libc::EBADF));
        }
        let length = mapped.available(op)?;
        if length == 0 {
            return Ok(0);
        }
        let op = &Op { length, ..*op };
        if !mapped.window.as_ref().is_some_and(|w| w.covers(op)) {
            self.map(op)?;
        }
        let mapped = &mut self.files[op.file as usize];
        let Some(window) = &mapped.window else { return Err(-i64::from(libc::EIO)) };
        let at = (op.offset - window.offset) as usize;
        let inside = window.mapping.base().as_ptr().wrapping_add(at);
        let buffer = self.slots.slot(slot);
        let length = length as usize;
        // SAFETY: `covers` or `map` ensured that the range lies in the window; the buffer is as
        // long as the I/O and belongs to it; `open` installed the handler.
        let copied = unsafe {
            match op.kind {
                OpKind::Read => fault::copy(&window.mapping, inside, buffer, length),
                _ => fault::copy(&window.mapping, buffer, inside, length),
            }
        };
        if !copied {
            return Err(mapped.fault(op));
        }
        let persists = self.persistence != Persistence::Sync;
        if self.persistence == Persistence::Flush {
            if op.kind == OpKind::Write {
                window.mapping.persist(at, length).map_err(|e| negative_errno(&e))?;
            }
        } else if self.direct || persists && op.kind == OpKind::Write {
            let slack = at % self.page as usize;
            window.mapping.sync(at - slack, length + slack).map_err(|e| negative_errno(&e))?;
        }
        Ok(length as i64)
    }

    #[cold]
    fn map(&mut self, op: &Op) -> Result<(), i64> {
        let mapped = &mut self.files[op.file as usize];
        mapped.unsynced |= mapped.window.take().is_some();
        let mut max = WINDOW_MAX;
        loop {
            let (offset, length) = mapped.window_for(op, max, self.page);
            let made =
                usize::try_from(length).map_err(|_| -i64::from(libc::ENOMEM)).and_then(|length| {
                    map_file(mapped.fd, offset, length, self.access, &mut self.persistence)
                        .map_err(|e| negative_errno(&e))
                });
            match made {
                Ok(mapping) => {
                    advise(&mapping, self.advice, self.thp);
                    mapped.window = Some(Window { mapping, offset });
                    return Ok(());
                }
                Err(error) if error == -i64::from(libc::ENOMEM) && max > op.length => max /= 2,
                Err(error) => return Err(error),
            }
        }
    }

    fn synchronise(&mut self, op: &Op) -> i64 {
        let mapped = &mut self.files[op.file as usize];
        if let Some(window) = &mapped.window
            && let Err(error) = window.mapping.sync(0, window.mapping.length())
        {
            return negative_errno(&error);
        }
        if !mapped.unsynced && mapped.window.is_some() {
            return 0;
        }
        let result = match op.kind {
            OpKind::Fsync => calls::fsync(mapped.fd),
            _ => calls::fdatasync(mapped.fd),
        };
        mapped.unsynced = result < 0;
        result
    }
}

impl Mapped {
    fn closed(file: &RingFile) -> Mapped {
        Mapped {
            fd: -1,
            start: file.start,
            end: file.start.saturating_add(file.length),
            size: 0,
            window: None,
            unsynced: false,
        }
    }

    /// How many bytes of `op` lie within the file. A write extends the file first.
    #[inline]
    fn available(&mut self, op: &Op) -> Result<u64, i64> {
        let end = op.offset + op.length;
        if end > self.size {
            // Without the lock, another worker could extend the file further between the check and
            // the resize, which would then truncate it.
            static RESIZING: Mutex<()> = Mutex::new(());
            let _resizing = lock(&RESIZING);
            let file = borrow(self.fd);
            self.size = size_of(file).map_err(|e| negative_errno(&e))?;
            if end > self.size && op.kind == OpKind::Write {
                // To the end of the region, so that it is mapped once.
                let size = end.max(self.end);
                resize(file, size).map_err(|e| negative_errno(&e))?;
                self.size = size;
            }
        }
        Ok(op.length.min(self.size.saturating_sub(op.offset)))
    }

    /// The offset and length to map for `op`: the whole region, or the window of `max` bytes around
    /// the op.
    fn window_for(&self, op: &Op, max: u64, page: u64) -> (u64, u64) {
        let down = |at: u64| at / page * page;
        let start = down(self.start.min(op.offset));
        let mut end = self.end.min(self.size).max(op.offset + op.length);
        if page == DAX_ALIGN {
            end = end.next_multiple_of(page);
        }
        if end - start <= max {
            return (start, end - start);
        }
        let max = down(max).max(page);
        let offset = start + (op.offset - start) / max * max;
        let length = (op.offset + op.length - offset).max(max).min(end - offset);
        (offset, length)
    }

    /// The error of a copy that faulted. The window is unmapped.
    #[cold]
    fn fault(&mut self, op: &Op) -> i64 {
        self.window = None;
        self.unsynced = true;
        let file = borrow(self.fd);
        let full = op.kind == OpKind::Write && free_bytes(file).is_ok_and(|f| f < op.length);
        -i64::from(if full { libc::ENOSPC } else { libc::EIO })
    }
}

/// Maps a range; synchronously if that is wanted and the file can.
fn map_file(
    fd: RawFd,
    offset: u64,
    length: usize,
    access: Access,
    persistence: &mut Persistence,
) -> io::Result<Mapping> {
    if *persistence != Persistence::Sync {
        let flags = libc::MAP_SHARED_VALIDATE | libc::MAP_SYNC;
        match Mapping::of_file(borrow(fd), offset, length, access, flags) {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {}
            made => {
                *persistence = Persistence::Flush;
                return made;
            }
        }
    }
    Mapping::of_file(borrow(fd), offset, length, access, libc::MAP_SHARED)
}

fn advise(mapping: &Mapping, advice: Option<Advice>, thp: bool) {
    let pattern = match advice {
        Some(Advice::Random) => Some(libc::MADV_RANDOM),
        Some(Advice::Sequential) => Some(libc::MADV_SEQUENTIAL),
        _ => None,
    };
    let huge = thp.then_some(libc::MADV_HUGEPAGE);
    for advice in pattern.into_iter().chain(huge) {
        // Advice may be refused without an effect on the result.
        let _ = mapping.advise(advice);
    }
}
