//! poll(2).

use super::memory::check;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// Waits until one of these descriptors is ready, at most for `timeout`. Returns false if none is, or
/// after a signal.
pub fn wait(descriptors: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<bool> {
    // Rounded up: a wait of less than a millisecond would not wait at all.
    let ms = timeout.map_or(-1, |timeout| {
        i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
    });
    let count = descriptors.len() as libc::nfds_t;
    // SAFETY: the kernel reads and writes `count` elements, which is how many there are.
    let ready = unsafe { libc::poll(descriptors.as_mut_ptr(), count, ms) };
    match check(ready) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        result => result.map(|()| ready > 0),
    }
}

/// [`wait`] for one descriptor and these events.
pub fn wait_one(fd: RawFd, events: i16, timeout: Option<Duration>) -> io::Result<bool> {
    wait(&mut [libc::pollfd { fd, events, revents: 0 }], timeout)
}
