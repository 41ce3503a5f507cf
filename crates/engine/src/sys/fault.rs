//! Copies to and from mapped files that survive a truncated file, a full disk or a dead device.
//!
//! The kernel sends SIGBUS for a load or store that it cannot serve, which ends the process. During a
//! copy in a guarded mapping, the handler maps a page of zeros at the fault and records it. The copy
//! continues and the caller gets an error. Any other SIGBUS ends the process as before.

use super::memory::{Mapping, check, page_size};
use std::cell::Cell;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

thread_local! {
    /// Start and end address of the mapping of the current copy.
    static GUARDED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static FAULTED: Cell<bool> = const { Cell::new(false) };
}

static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// Installs the SIGBUS handler for [`copy`], once for the process.
pub fn install() -> io::Result<()> {
    static RESULT: OnceLock<Result<(), i32>> = OnceLock::new();
    let result = RESULT.get_or_init(|| {
        PAGE.store(page_size(), Ordering::Relaxed);
        // SAFETY: all-zero is a value of this struct: no flags, an empty mask, the default action.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler calls only what may be called in a handler, and keeps errno.
        check(unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) })
            .map_err(|e| e.raw_os_error().unwrap_or(libc::EINVAL))
    });
    result.map_err(io::Error::from_raw_os_error)
}

extern "C" fn on_fault(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a valid siginfo, which for SIGBUS has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let (start, end) = GUARDED.get();
    let page = PAGE.load(Ordering::Relaxed);
    let place = address & !(page - 1);
    if address >= start && address < end && patch(place, page) {
        FAULTED.set(true);
        return;
    }
    // SAFETY: back to the default action; the instruction is repeated and ends the process.
    unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
}

/// Maps an anonymous page at `place` and preserves errno.
fn patch(place: usize, page: usize) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the page belongs to a mapping this thread has exclusively guarded, so replacing it
    // affects nothing else; errno is this thread's own.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let mapped = libc::mmap(place as *mut _, page, protection, flags, -1, 0);
        *errno = before;
        mapped != libc::MAP_FAILED
    }
}

/// Copies `length` bytes. Returns false if a part of `mapping` was not accessible; then the copied data
/// is invalid and the mapping must be replaced.
///
/// # Safety
/// Both ranges must be valid for such a copy and not overlap, one of them must lie in `mapping`,
/// and [`install`] must have succeeded.
pub unsafe fn copy(mapping: &Mapping, from: *const u8, to: *mut u8, length: usize) -> bool {
    let start = mapping.base().as_ptr() as usize;
    FAULTED.set(false);
    GUARDED.set((start, start + mapping.length()));
    compiler_fence(Ordering::SeqCst);
    // SAFETY: see this function's contract.
    unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
    compiler_fence(Ordering::SeqCst);
    GUARDED.set((0, 0));
    !FAULTED.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::memory::READ_WRITE;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_copy_beyond_the_end_fails_and_the_process_lives() {
        install().unwrap();
        let page = page_size();
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![9; page], 0).unwrap();
        let map = || Mapping::of_file(file.as_fd(), 0, 2 * page, READ_WRITE, libc::MAP_SHARED);
        let mapping = map().unwrap();
        let mut buffer = vec![0; 2 * page];
        let base = mapping.base().as_ptr();
        // SAFETY: the mapping and the buffer are both two pages long.
        unsafe {
            assert!(copy(&mapping, base, buffer.as_mut_ptr(), page));
            assert!(!copy(&mapping, base, buffer.as_mut_ptr(), 2 * page));
        }
        assert!(buffer[..page].iter().all(|b| *b == 9));
        let again = map().unwrap();
        // SAFETY: as above.
        assert!(unsafe { copy(&again, again.base().as_ptr(), buffer.as_mut_ptr(), page) });
    }
}
