//! Samples of the code that CPUs execute, by the kernel's CPU clock (perf_event_open(2)).

use super::memory::{Mapping, READ_WRITE, check, errno, page_size};
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_CPU_CLOCK: u64 = 0;
const PERF_SAMPLE_IP: u64 = 1 << 0;
const PERF_SAMPLE_TID: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_IDLE: u64 = 1 << 7;
const FREQUENCY: u64 = 1 << 10;
const PERF_FLAG_FD_CLOEXEC: u64 = 1 << 3;
const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;
/// Pages of a ring, a power of two: ten seconds of samples of one CPU at 500 Hz.
const RING_PAGES: usize = 32;
/// A thread has a ring of its own where only this process may be sampled; locked memory is scarce.
const THREAD_PAGES: usize = 4;
/// Places of the ring's positions in its first page, in bytes (struct perf_event_mmap_page).
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

/// struct perf_event_attr, as first published (PERF_ATTR_SIZE_VER0).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    frequency: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

/// Code that a CPU executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeSample {
    /// The process.
    pub pid: u32,
    /// The address, in the process's memory or in the kernel's half.
    pub address: u64,
}

/// Takes samples until it is dropped.
#[derive(Debug)]
pub struct CpuSampler {
    rings: Vec<Ring>,
    all: bool,
}

impl CpuSampler {
    /// Samples all CPUs `hz` times a second. Without the right to do so, it samples the threads of this
    /// process that exist, outside of the kernel.
    ///
    /// # Errors
    /// EACCES or EPERM if neither is allowed (`kernel.perf_event_paranoid`), ENOENT or ENOSYS if the
    /// kernel has no performance events, ENOMEM or EPERM for too little memory that may be locked.
    pub fn open(hz: u64) -> io::Result<CpuSampler> {
        match CpuSampler::of_cpus(hz) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                CpuSampler::of_own_threads(hz)
            }
            result => result,
        }
    }

    fn of_cpus(hz: u64) -> io::Result<CpuSampler> {
        let mut rings = Vec::new();
        // SAFETY: it takes a number.
        let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        for cpu in 0..cpus as i32 {
            match Ring::open(hz, 0, -1, cpu, RING_PAGES) {
                Ok(ring) => rings.push(ring),
                // It is offline.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(CpuSampler { rings, all: true })
    }

    fn of_own_threads(hz: u64) -> io::Result<CpuSampler> {
        let names = std::fs::read_dir("/proc/self/task")?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let rings = names.map(|tid| Ring::open(hz, EXCLUDE_KERNEL, tid, -1, THREAD_PAGES));
        Ok(CpuSampler { rings: rings.collect::<io::Result<_>>()?, all: false })
    }

    /// Whether every process is sampled, and the kernel.
    pub fn sees_all(&self) -> bool {
        self.all
    }

    /// Calls `each` with the samples since the last call. Returns how many were lost.
    pub fn drain(&mut self, mut each: impl FnMut(CodeSample)) -> u64 {
        self.rings.iter_mut().map(|ring| ring.drain(&mut each)).sum()
    }
}

#[derive(Debug)]
struct Ring {
    _event: OwnedFd,
    memory: Mapping,
}

impl Ring {
    fn open(hz: u64, flags: u64, pid: i32, cpu: i32, pages: usize) -> io::Result<Ring> {
        let attributes = Attributes {
            kind: PERF_TYPE_SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: PERF_COUNT_SW_CPU_CLOCK,
            frequency: hz,
            sample_type: PERF_SAMPLE_IP | PERF_SAMPLE_TID,
            flags: flags | EXCLUDE_IDLE | FREQUENCY,
            ..Attributes::default()
        };
        let (call, at, group) = (libc::SYS_perf_event_open, &raw const attributes, -1);
        // SAFETY: the kernel reads `size` bytes of the attributes, which live until it returns.
        let fd = unsafe { libc::syscall(call, at, pid, cpu, group, PERF_FLAG_FD_CLOEXEC) };
        let fd = i32::try_from(fd).map_err(|_| errno(libc::EBADF))?;
        check(fd)?;
        // SAFETY: the call just returned this descriptor, and nothing else owns it.
        let event = unsafe { OwnedFd::from_raw_fd(fd) };
        let length = (pages + 1) * page_size();
        let memory = Mapping::of_file(event.as_fd(), 0, length, READ_WRITE, libc::MAP_SHARED)?;
        Ok(Ring { _event: event, memory })
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.memory.length());
        // SAFETY: the place lies in the mapping, which lives as long as the borrow, and is aligned for a
        // word; the kernel, the only other user, changes words as a whole.
        unsafe { AtomicU64::from_ptr(self.memory.base().as_ptr().add(at).cast()) }
    }

    /// A word of the data at a position that counts from the ring's first byte ever.
    fn data(&self, position: u64) -> u64 {
        let (page, room) = (page_size(), self.memory.length() - page_size());
        self.word(page + (position % room as u64) as usize).load(Ordering::Relaxed)
    }

    fn drain(&mut self, each: &mut impl FnMut(CodeSample)) -> u64 {
        let head = self.word(HEAD_AT).load(Ordering::Acquire);
        let mut tail = self.word(TAIL_AT).load(Ordering::Relaxed);
        let mut lost = 0;
        while tail < head {
            // struct perf_event_header: type (32 bits), misc (16), size (16).
            let header = self.data(tail);
            match header as u32 {
                RECORD_SAMPLE => {
                    let (address, task) = (self.data(tail + 8), self.data(tail + 16));
                    each(CodeSample { pid: task as u32, address });
                }
                RECORD_LOST => lost += self.data(tail + 16),
                _ => {}
            }
            // A record is a multiple of 8 bytes, and never empty.
            tail += (header >> 48).max(8) & !7;
        }
        self.word(TAIL_AT).store(tail, Ordering::Release);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Samples of this process and of all, while this thread is busy.
    fn sampled(mut sampler: CpuSampler) -> (u32, u32) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(300) {
            std::hint::spin_loop();
        }
        let (mut own, mut all) = (0, 0);
        let lost = sampler.drain(|sample| {
            all += 1;
            own += u32::from(sample.pid == std::process::id());
        });
        assert_eq!(lost, 0);
        (own, all)
    }

    #[test]
    fn a_busy_process_is_sampled() {
        let sampler = CpuSampler::open(999).unwrap();
        assert!(sampler.sees_all());
        let (own, all) = sampled(sampler);
        assert!(own >= 50 && own <= all, "{own} of {all}");
    }

    #[test]
    fn without_rights_only_the_threads_of_this_process_are() {
        let sampler = CpuSampler::of_own_threads(999).unwrap();
        assert!(!sampler.sees_all());
        let (own, all) = sampled(sampler);
        assert!(own >= 50 && own == all, "{own} of {all}");
    }
}
