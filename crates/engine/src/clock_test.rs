//! Tests whether the counters of all CPUs are synchronous (`--cpuclock-test`).

use crate::sys::{thread, tsc};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Duration of the test.
const DURATION: Duration = Duration::from_millis(200);

/// Result of the test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockTest {
    /// The processor reports an invariant counter.
    pub invariant: bool,
    /// One result per CPU.
    pub cpus: Vec<CpuClock>,
    /// Largest lag of a CPU behind an earlier reading of another, in ticks.
    pub worst: u64,
}

/// Result of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuClock {
    /// Its number.
    pub cpu: u32,
    /// Number of readings.
    pub reads: u64,
    /// Its first reading.
    pub first: u64,
    /// Number of readings behind an earlier one of another CPU.
    pub behind: u64,
    /// Largest lag, in ticks.
    pub worst: u64,
}

/// Reads the counters of `cpus` at the same time. If a counter is behind an earlier reading of another,
/// latencies of workers that change CPUs are wrong, even negative.
pub fn clock_test(cpus: &[u32]) -> ClockTest {
    if !tsc::is_invariant() {
        return ClockTest::default();
    }
    let (latest, start) = (AtomicU64::new(0), Barrier::new(cpus.len()));
    let cpus: Vec<CpuClock> = std::thread::scope(|scope| {
        let (latest, start) = (&latest, &start);
        let read = |cpu: u32| scope.spawn(move || read_on(cpu, latest, start));
        let threads: Vec<_> = cpus.iter().map(|cpu| read(*cpu)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect()
    });
    let worst = cpus.iter().map(|cpu| cpu.worst).max().unwrap_or(0);
    ClockTest { invariant: true, cpus, worst }
}

/// Reads the counter of one CPU. `None` if the process may not use the CPU.
fn read_on(cpu: u32, latest: &AtomicU64, start: &Barrier) -> Option<CpuClock> {
    let bound = thread::bind_to_cpus(&[cpu]);
    start.wait();
    bound.ok()?;
    let until = Instant::now() + DURATION;
    let mut result = CpuClock { cpu, first: tsc::read(), ..CpuClock::default() };
    while Instant::now() < until {
        for _ in 0..1000 {
            let before = latest.load(Ordering::Acquire);
            let now = tsc::read_after_loads();
            if now < before {
                result.behind += 1;
                result.worst = result.worst.max(before - now);
            }
            latest.fetch_max(now, Ordering::AcqRel);
            result.reads += 1;
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_never_behind_itself() {
        let test = clock_test(&[0]);
        assert_eq!(test.invariant, tsc::is_invariant());
        for cpu in &test.cpus {
            assert!(cpu.reads >= 1000 && cpu.behind == 0, "{cpu:?}");
        }
    }
}
