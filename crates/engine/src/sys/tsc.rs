//! The processor's time-stamp counter.

/// Reads the counter without a fence: a timestamp next to a system call needs none, and a fence would
/// cost more than the error it removes (some nanoseconds).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn read() -> u64 {
    // SAFETY: RDTSC exists on every x86_64 processor and touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Reads the counter after all earlier loads (RDTSCP).
#[cfg(target_arch = "x86_64")]
pub fn read_after_loads() -> u64 {
    let mut cpu = 0;
    // SAFETY: RDTSCP exists wherever the counter is invariant, writes only to its argument.
    unsafe { std::arch::x86_64::__rdtscp(&raw mut cpu) }
}

/// No counter known on this processor.
#[cfg(not(target_arch = "x86_64"))]
pub fn read_after_loads() -> u64 {
    0
}

/// Whether the counter runs at one rate in all power states (CPUID 8000_0007h, EDX bit 8).
#[cfg(target_arch = "x86_64")]
pub fn is_invariant() -> bool {
    // CPUID is unprivileged and always there on x86_64; the leaf is read only when it exists.
    let highest = std::arch::x86_64::__cpuid(0x8000_0000).eax;
    highest >= 0x8000_0007 && std::arch::x86_64::__cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// No counter known on this processor.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn read() -> u64 {
    0
}

/// No counter known on this processor.
#[cfg(not(target_arch = "x86_64"))]
pub fn is_invariant() -> bool {
    false
}
