//! Memory for I/O buffers.

use super::memory::{Mapping, READ_WRITE, check, errno, page_size};
use plan::{Buffers, MemoryKind};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::ptr::NonNull;

/// One buffer per slot, zeroed unless backed by a file with data, freed on drop.
///
/// Every buffer starts on a page boundary, unless `mem_align` is set. Then the first one starts that
/// many bytes after a page boundary: 512 gives memory aligned to 512 bytes and no more, 2 MiB gives
/// memory aligned to 2 MiB. The others follow at intervals of the largest block. fio does the same.
pub struct BufferArea {
    base: NonNull<u8>,
    stride: usize,
    slots: u32,
    _memory: Memory,
}

/// The addresses of the buffers of a [`BufferArea`], which a ring may keep.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    base: NonNull<u8>,
    stride: usize,
}

impl Slots {
    /// Address of the buffer of `slot`.
    #[inline(always)]
    pub fn slot(&self, slot: u32) -> *mut u8 {
        self.base.as_ptr().wrapping_add(slot as usize * self.stride)
    }

    /// Bytes from one buffer to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }
}

// SAFETY: these are addresses only; dereferencing them is unsafe by itself.
unsafe impl Send for Slots {}

// SAFETY: the memory belongs to the process, not to a thread, and the area is its only owner.
unsafe impl Send for BufferArea {}

impl BufferArea {
    /// Allocates `depth` buffers of `max_block` bytes as `buffers` asks for. Blocks of 0 bytes need no
    /// memory.
    pub fn new(buffers: &Buffers, depth: u32, max_block: u64) -> io::Result<BufferArea> {
        let page = page_size();
        let too_much = || io::Error::new(io::ErrorKind::OutOfMemory, TOO_MUCH);
        let step = if buffers.align.is_some() { 1 } else { page };
        let stride = usize::try_from(max_block)
            .ok()
            .and_then(|b| b.checked_next_multiple_of(step))
            .ok_or_else(too_much)?;
        let payload = stride.checked_mul(depth as usize).ok_or_else(too_much)?;
        if payload == 0 {
            let base = NonNull::<Page>::dangling().cast();
            return Ok(BufferArea { base, stride: 0, slots: depth, _memory: Memory::None });
        }
        let place =
            Place::for_alignment(buffers.align.map_or(0, |a| a.0), page).ok_or_else(too_much)?;
        let total = payload
            .checked_add(place.slack())
            .filter(|t| *t <= isize::MAX as usize)
            .ok_or_else(too_much)?;
        let (start, memory) = Memory::take(buffers, total)?;
        let base = place.first(start);
        Ok(BufferArea { base, stride, slots: depth, _memory: memory })
    }

    /// Address of the buffer of `slot`.
    #[inline(always)]
    pub fn slot(&self, slot: u32) -> *mut u8 {
        self.slots().slot(slot)
    }

    /// The addresses of all buffers. They are valid as long as the area lives.
    #[inline(always)]
    pub fn slots(&self) -> Slots {
        Slots { base: self.base, stride: self.stride }
    }

    /// The first `length` bytes of the buffer of `slot`.
    ///
    /// # Panics
    /// If there is no such slot or its buffer is shorter.
    #[inline(always)]
    pub fn slice_mut(&mut self, slot: u32, length: usize) -> &mut [u8] {
        assert!(slot < self.slots && length <= self.stride, "outside of the buffers");
        // SAFETY: the range lies in memory this area owns, which is initialised (zeroed or a
        // file's content). `&mut self` excludes other slices; the kernel writes only to the
        // buffers of I/Os in flight, and the loop touches a buffer only before giving it to a ring
        // and after taking its completion.
        unsafe { std::slice::from_raw_parts_mut(self.slot(slot), length) }
    }

    /// Minimum length of each buffer, in bytes.
    pub fn length(&self) -> usize {
        self.stride
    }

    /// The buffer of `slot` as a separate area that frees nothing.
    ///
    /// # Safety
    /// This area must outlive the part, and only one of the two may use the buffer at a time.
    pub unsafe fn part(&self, slot: u32) -> BufferArea {
        // SAFETY: an address within an allocation, or the dangling one itself, is not null.
        let base = unsafe { NonNull::new_unchecked(self.slot(slot)) };
        BufferArea { base, stride: self.stride, slots: 1, _memory: Memory::None }
    }

    /// Every buffer as an iovec, for registration with the kernel.
    pub fn iovecs(&self) -> Vec<libc::iovec> {
        (0..self.slots)
            .map(|i| libc::iovec { iov_base: self.slot(i).cast(), iov_len: self.stride })
            .collect()
    }
}

const TOO_MUCH: &str = "iodepth times the largest block size exceeds the address space";

/// A type with the largest alignment that a dangling base may need.
#[repr(align(4096))]
struct Page;

/// The offset of the first buffer in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    alignment: usize,
    offset: usize,
}

impl Place {
    fn for_alignment(asked: u64, page: usize) -> Option<Place> {
        let asked = usize::try_from(asked).ok()?;
        if asked >= page && asked.is_power_of_two() {
            return Some(Place { alignment: asked, offset: 0 });
        }
        Some(Place { alignment: page, offset: asked })
    }

    /// Maximum number of unused bytes before the first buffer.
    fn slack(self) -> usize {
        self.alignment.saturating_add(self.offset)
    }

    fn first(self, start: NonNull<u8>) -> NonNull<u8> {
        let skip = start.as_ptr().align_offset(self.alignment) + self.offset;
        // SAFETY: the memory is `slack()` bytes longer than the buffers, and `skip` is less.
        unsafe { start.add(skip) }
    }
}

/// The memory of the buffers, and how to free it.
enum Memory {
    None,
    Heap { start: NonNull<u8>, layout: Layout },
    Mapped { _mapping: Mapping, _file: Option<BackingFile> },
    Segment { start: NonNull<u8> },
}

impl Memory {
    fn take(buffers: &Buffers, total: usize) -> io::Result<(NonNull<u8>, Memory)> {
        let huge = || huge_length(total, buffers.hugepage_size.0);
        match &buffers.memory {
            MemoryKind::Malloc => Memory::heap(total),
            MemoryKind::Shm => Memory::segment(total, 0),
            MemoryKind::ShmHuge => Memory::segment(huge()?, libc::SHM_HUGETLB),
            MemoryKind::Mmap(path) => Memory::mapped(total, path.as_deref(), libc::MAP_PRIVATE),
            MemoryKind::MmapShared(path) => {
                Memory::mapped(total, path.as_deref(), libc::MAP_SHARED)
            }
            MemoryKind::MmapHuge(None) => {
                Memory::mapped(huge()?, None, libc::MAP_PRIVATE | libc::MAP_HUGETLB)
            }
            MemoryKind::MmapHuge(path) => {
                Memory::mapped(huge()?, path.as_deref(), libc::MAP_SHARED)
            }
        }
    }

    fn heap(total: usize) -> io::Result<(NonNull<u8>, Memory)> {
        // A larger alignment here would make the allocator touch every page to zero it.
        let layout = Layout::from_size_align(total, 16).map_err(|_| errno(libc::ENOMEM))?;
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) });
        let start = start.ok_or_else(|| errno(libc::ENOMEM))?;
        prefer_huge_pages(start, total);
        Ok((start, Memory::Heap { start, layout }))
    }

    fn segment(total: usize, flags: i32) -> io::Result<(NonNull<u8>, Memory)> {
        // SAFETY: creates a segment of our own; touches nothing that exists.
        let id = unsafe { libc::shmget(libc::IPC_PRIVATE, total, libc::IPC_CREAT | 0o600 | flags) };
        check(id)?;
        // SAFETY: the kernel chooses a free place for the segment just made.
        let start = unsafe { libc::shmat(id, std::ptr::null(), 0) };
        let attached = if start as isize == -1 { Err(io::Error::last_os_error()) } else { Ok(()) };
        // Marked for removal at once, so that it is removed with the last attached process, even after
        // a crash.
        // SAFETY: the command takes no argument.
        unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
        attached?;
        let start = NonNull::new(start.cast()).ok_or_else(|| errno(libc::ENOMEM))?;
        Ok((start, Memory::Segment { start }))
    }

    fn mapped(total: usize, path: Option<&str>, flags: i32) -> io::Result<(NonNull<u8>, Memory)> {
        let (mapping, file) = match path {
            None => (Mapping::anonymous(total, flags)?, None),
            Some(path) => {
                let backing = BackingFile::open(path, total as u64)?;
                let mapping = Mapping::of_file(backing.file.as_fd(), 0, total, READ_WRITE, flags)?;
                (mapping, Some(backing))
            }
        };
        Ok((mapping.base(), Memory::Mapped { _mapping: mapping, _file: file }))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        match self {
            Memory::None | Memory::Mapped { .. } => {}
            // SAFETY: allocated with this layout and not freed before.
            Memory::Heap { start, layout } => unsafe { dealloc(start.as_ptr(), *layout) },
            // SAFETY: the address is what shmat gave.
            Memory::Segment { start } => unsafe {
                libc::shmdt(start.as_ptr().cast());
            },
        }
    }
}

/// Advises the kernel to use huge pages, so that a transfer has fewer segments.
fn prefer_huge_pages(start: NonNull<u8>, total: usize) {
    // Smaller areas contain no huge page, and advice would split the heap's mapping.
    const MIN_LENGTH: usize = 2 << 20;
    if total < MIN_LENGTH {
        return;
    }
    let skipped = start.as_ptr().align_offset(page_size());
    let whole = (total - skipped) / page_size() * page_size();
    // SAFETY: whole pages of memory that is ours; this advice changes no content.
    unsafe { libc::madvise(start.as_ptr().add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
}

fn huge_length(total: usize, page: u64) -> io::Result<usize> {
    let page = usize::try_from(page).ok().filter(|p| *p > 0).ok_or_else(|| errno(libc::EINVAL))?;
    total.checked_next_multiple_of(page).ok_or_else(|| errno(libc::ENOMEM))
}

/// The file of `mem=mmap:FILE`; removed at the end if it did not exist before.
struct BackingFile {
    file: File,
    made: Option<PathBuf>,
}

impl BackingFile {
    fn open(path: &str, length: u64) -> io::Result<BackingFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let (file, made) = match options.clone().create_new(true).open(path) {
            Ok(file) => (file, Some(PathBuf::from(path))),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => (options.open(path)?, None),
            Err(e) => return Err(e),
        };
        let backing = BackingFile { file, made };
        if backing.file.metadata()?.len() < length {
            backing.file.set_len(length)?;
        }
        Ok(backing)
    }
}

impl Drop for BackingFile {
    fn drop(&mut self) {
        if let Some(path) = &self.made {
            // There is no one left to report an error to.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Bytes;

    fn buffers(memory: MemoryKind, align: Option<u64>) -> Buffers {
        Buffers { memory, align: align.map(Bytes), ..Buffers::default() }
    }

    fn exercise(area: &mut BufferArea, depth: u32, block: usize) {
        for slot in 0..depth {
            assert!(area.slice_mut(slot, block).iter().all(|b| *b == 0));
            area.slice_mut(slot, block).fill(slot as u8 + 1);
        }
        for slot in 0..depth {
            assert!(area.slice_mut(slot, block).iter().all(|b| *b == slot as u8 + 1));
        }
    }

    #[test]
    fn every_kind_gives_zeroed_disjoint_buffers() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("backing").to_str().unwrap().to_owned();
        let kinds = [
            MemoryKind::Malloc,
            MemoryKind::Shm,
            MemoryKind::Mmap(None),
            MemoryKind::MmapShared(None),
            MemoryKind::Mmap(Some(file.clone())),
            MemoryKind::MmapShared(Some(file)),
        ];
        for kind in kinds {
            let mut area = BufferArea::new(&buffers(kind.clone(), None), 5, 5000).unwrap();
            assert_eq!(area.slot(0) as usize % page_size(), 0, "{kind:?}");
            assert_eq!(area.stride, 5000usize.next_multiple_of(page_size()));
            exercise(&mut area, 5, 5000);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_backing_file_of_the_user_is_kept_and_not_shortened() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), vec![0; 1 << 20]).unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        drop(BufferArea::new(&buffers(MemoryKind::Mmap(Some(path)), None), 1, 4096).unwrap());
        assert_eq!(fs::metadata(file.path()).unwrap().len(), 1 << 20);
    }

    #[test]
    fn huge_pages_work_or_are_refused() {
        for kind in [MemoryKind::MmapHuge(None), MemoryKind::ShmHuge] {
            if let Ok(mut area) = BufferArea::new(&buffers(kind, None), 2, 4096) {
                exercise(&mut area, 2, 4096);
            }
        }
    }

    #[test]
    fn alignment_is_an_offset_from_a_page_or_a_larger_boundary() {
        let page = page_size();
        for (asked, modulus, expected) in
            [(512, page, 512), (3, page, 3), (2 << 20, 2 << 20, 0), (4096, page, 0)]
        {
            let area = BufferArea::new(&buffers(MemoryKind::Malloc, Some(asked)), 2, 4096);
            let mut area = area.unwrap();
            assert_eq!(area.slot(0) as usize % modulus, expected, "{asked}");
            exercise(&mut area, 2, 4096);
            let area = BufferArea::new(&buffers(MemoryKind::Malloc, Some(asked)), 2, 6144);
            let area = area.unwrap();
            assert_eq!(area.slot(1) as usize - area.slot(0) as usize, 6144);
        }
    }

    #[test]
    fn empty_and_impossible_areas() {
        let mut none = BufferArea::new(&Buffers::default(), 4, 0).unwrap();
        assert_eq!(none.slice_mut(3, 0).len(), 0);
        for (depth, block) in [(u32::MAX, u64::MAX), (u32::MAX, 1 << 40), (2, u64::MAX / 2)] {
            assert!(BufferArea::new(&Buffers::default(), depth, block).is_err());
        }
    }

    #[test]
    #[should_panic(expected = "outside of the buffers")]
    fn a_slice_beyond_its_buffer_panics() {
        BufferArea::new(&Buffers::default(), 1, 4096).unwrap().slice_mut(0, 4097);
    }
}
