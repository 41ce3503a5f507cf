//! The thread of a worker: id, CPU use, placement, priorities.

use super::memory::{check, errno};
use plan::NumaMemory;
use record::{CpuUse, Nanos};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, Gid, Uid, sched_setaffinity, set_thread_gid, set_thread_uid};
use std::io;

/// The thread's id.
pub fn id() -> u32 {
    rustix::thread::gettid().as_raw_pid().cast_unsigned()
}

/// The thread's resource use so far, from getrusage(RUSAGE_THREAD).
pub fn usage() -> CpuUse {
    // getrusage alone returns the time up to the last tick or switch, milliseconds ago. Reading the
    // thread's CPU clock updates the account first.
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
pub fn bind_to_cpus(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    let cpus = cpus.iter().map(|cpu| *cpu as usize).filter(|cpu| *cpu < CpuSet::MAX_CPU);
    cpus.for_each(|cpu| set.set(cpu));
    Ok(sched_setaffinity(None, &set)?)
}

/// Sets the thread's nice value.
pub fn set_nice(nice: i32) -> io::Result<()> {
    // On Linux, no process id means the calling thread alone.
    Ok(rustix::process::setpriority_process(None, nice)?)
}

/// I/O priority as the kernel encodes it (linux/ioprio.h: class << 13, hint << 3, level).
pub fn io_priority_value(class: u8, level: u8, hint: u16) -> u16 {
    (u16::from(class) << 13) | ((hint & 0x3ff) << 3) | u16::from(level & 7)
}

/// Changes group and user of this thread only; the group first, while the thread still may.
pub fn become_user(uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    // The C library's functions would change every thread of the process.
    gid.map(|gid| set_thread_gid(Gid::from_raw(gid))).transpose()?;
    uid.map(|uid| set_thread_uid(Uid::from_raw(uid))).transpose()?;
    Ok(())
}

/// Sets the thread's I/O priority, as [`io_priority_value`] encodes it. The real-time class needs
/// CAP_SYS_ADMIN or CAP_SYS_NICE.
pub fn set_io_priority(value: u16) -> io::Result<()> {
    const IOPRIO_WHO_PROCESS: i32 = 1;
    // SAFETY: no memory is involved; 0 is the calling thread.
    let result =
        unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, i32::from(value)) };
    check(result as i32)
}

/// Raises the process's limit on open files to the maximum: workers are threads and share one table of
/// descriptors.
pub fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // If this is refused, the open that fails because of the limit reports so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Lets timed sleeps of this thread end within 1 µs of their time instead of 50 µs (PR_SET_TIMERSLACK).
pub fn sharpen_timers() {
    // SAFETY: no memory is involved. A refusal leaves sleeps a little longer, which the loop bears.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000, 0, 0, 0) };
}

/// Sets the NUMA policy of the thread's new memory (set_mempolicy(2)).
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
    fn work_counts_only_for_its_own_thread() {
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
    fn a_missing_cpu_is_refused() {
        assert!(bind_to_cpus(&[1023]).is_err());
        assert!(bind_to_cpus(&[]).is_err());
    }

    #[test]
    fn priorities_are_encoded_as_the_kernel_reads_them() {
        assert_eq!(io_priority_value(2, 7, 0), (2 << 13) | 7);
        assert_eq!(io_priority_value(1, 0, 3), (1 << 13) | (3 << 3));
    }
}
