//! The thread that runs a worker: identity, cost, placement, priorities.

use super::memory::{check, errno};
use plan::NumaMemory;
use record::{CpuUse, Nanos};
use std::io;

/// The thread's id.
pub fn id() -> u32 {
    // SAFETY: gettid takes nothing and cannot fail.
    unsafe { libc::gettid() as u32 }
}

/// What the thread has used so far, from getrusage(RUSAGE_THREAD).
pub fn usage() -> CpuUse {
    // getrusage tells the time up to the last tick or switch, milliseconds ago. The thread's clock is
    // exact, and reading it brings the account that getrusage tells of up to date.
    let _ = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // SAFETY: all-zero is a value of this struct of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the address is an rusage of ours. The call cannot fail with these arguments.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    let time = |t: libc::timeval| Nanos(t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000);
    CpuUse {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        run_delay: None,
        context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        major_faults: usage.ru_majflt as u64,
        minor_faults: usage.ru_minflt as u64,
    }
}

/// Binds the thread to CPUs.
///
/// # Errors
/// None of them exists or is allowed.
pub fn bind_to_cpus(cpus: &[u32]) -> io::Result<()> {
    // SAFETY: all-zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus.iter().filter(|c| **c < libc::CPU_SETSIZE as u32) {
        // SAFETY: the index is below the size of the set.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    // SAFETY: the set lives during the call; 0 is this thread.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })
}

/// Sets the thread's nice value.
///
/// # Errors
/// Lower than allowed for this user.
pub fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: no memory is involved; on Linux 0 is the calling thread alone.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) })
}

/// I/O priority as the kernel encodes it (linux/ioprio.h: class << 13, hint << 3, level).
pub fn io_priority_value(class: u8, level: u8, hint: u16) -> u16 {
    (u16::from(class) << 13) | ((hint & 0x3ff) << 3) | u16::from(level & 7)
}

/// Makes the thread alone run as another group and user; the group first, while it still may.
///
/// # Errors
/// Not allowed to this user.
pub fn become_user(uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    // The wrappers of the C library would change every thread of the process.
    if let Some(gid) = gid {
        // SAFETY: no memory is involved.
        check(unsafe { libc::syscall(libc::SYS_setgid, gid) } as i32)?;
    }
    if let Some(uid) = uid {
        // SAFETY: no memory is involved.
        check(unsafe { libc::syscall(libc::SYS_setuid, uid) } as i32)?;
    }
    Ok(())
}

/// Sets the thread's I/O priority, as [`io_priority_value`] encodes it.
///
/// # Errors
/// The real-time class needs CAP_SYS_ADMIN or CAP_SYS_NICE.
pub fn set_io_priority(value: u16) -> io::Result<()> {
    const IOPRIO_WHO_PROCESS: i32 = 1;
    // SAFETY: no memory is involved; 0 is the calling thread.
    let result =
        unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, i32::from(value)) };
    check(result as i32)
}

/// Raises the process's limit on open files as far as it may: workers are threads and share one
/// table of descriptors, where 1000 jobs in processes have one each.
pub fn raise_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get the address of an rlimit of ours. A refusal leaves the limit as it is;
    // an open that fails for it says so.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Makes timed sleeps of this thread end within a microsecond of their time, where 50 is the
/// default (PR_SET_TIMERSLACK).
pub fn sharpen_timers() {
    // SAFETY: no memory is involved. A refusal leaves sleeps a little longer, which the loop bears.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000, 0, 0, 0) };
}

/// Sets where the thread's new memory comes from (set_mempolicy(2)).
///
/// # Errors
/// The kernel knows no NUMA, or not these nodes.
pub fn set_memory_policy(policy: &NumaMemory) -> io::Result<()> {
    let (mode, nodes): (i32, &[u32]) = match policy {
        NumaMemory::Default => (libc::MPOL_DEFAULT, &[]),
        NumaMemory::Prefer(node) => (libc::MPOL_PREFERRED, std::slice::from_ref(node)),
        NumaMemory::Bind(nodes) => (libc::MPOL_BIND, nodes),
        NumaMemory::Interleave(nodes) => (libc::MPOL_INTERLEAVE, nodes),
        NumaMemory::Local => (libc::MPOL_LOCAL, &[]),
    };
    let mut mask = [0_u64; 16];
    for node in nodes {
        let word = mask.get_mut(*node as usize / 64).ok_or_else(|| errno(libc::EINVAL))?;
        *word |= 1 << (node % 64);
    }
    let (pointer, bits) =
        if nodes.is_empty() { (std::ptr::null(), 0) } else { (mask.as_ptr(), mask.len() * 64) };
    // SAFETY: the mask has as many bits as are named and lives during the call.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, pointer, bits) };
    check(result as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_in_the_usage_of_its_thread_alone() {
        let before = usage();
        std::thread::spawn(|| {
            let own = usage().user;
            while usage().user.0 < own.0 + 20_000_000 {}
        })
        .join()
        .unwrap();
        let spent = usage().user.0 - before.user.0;
        assert!(spent < 15_000_000, "{spent} ns of another thread were counted here");
    }

    #[test]
    fn work_shorter_than_a_tick_is_counted() {
        let clock = || {
            let read = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            read.tv_sec as u64 * 1_000_000_000 + read.tv_nsec as u64
        };
        for _ in 0..20 {
            let (before, began) = (usage(), clock());
            while clock() < began + 500_000 {}
            let (after, ended) = (usage(), clock());
            let counted = (after.user.0 + after.system.0) - (before.user.0 + before.system.0);
            let spent = ended - began;
            assert!(
                counted + 100_000 > spent && counted < spent + 100_000,
                "{counted} of {spent} ns"
            );
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused() {
        assert!(bind_to_cpus(&[1023]).is_err());
        assert!(bind_to_cpus(&[]).is_err());
    }

    #[test]
    fn priorities_are_encoded_as_the_kernel_reads_them() {
        assert_eq!(io_priority_value(2, 7, 0), (2 << 13) | 7);
        assert_eq!(io_priority_value(1, 0, 3), (1 << 13) | (3 << 3));
    }
}
