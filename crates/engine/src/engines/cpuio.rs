//! Uses a share of a CPU's time. Each I/O is a burst of work, then a sleep.
//!
//! The share refers to the CPU time of the thread since the start: if a burst was preempted, the next
//! one makes up for it. It makes up for at most one burst, so that an overload does not keep the CPU
//! busy afterwards.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, WaitLimit};
use crate::files::FileError;
use crate::hot::op::Op;
use crate::kernel::thread_cpu_time;
use std::hint::black_box;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// Default of `cpuchunks`, the length of a burst.
const DEFAULT_CHUNK: Duration = Duration::from_millis(50);
/// Loop iterations between two reads of the clocks: about 10 µs.
const SPINS: u32 = 20_000;
/// Numbers sorted between two reads of the clocks: a few tens of microseconds.
const SORT_LENGTH: usize = 1024;

/// The `cpuio` engine.
pub struct CpuLoad {
    chunk: Duration,
    cycle: Duration,
    numbers: Option<Vec<u32>>,
    limit: WaitLimit,
    /// End of the current cycle.
    cycle_end: Instant,
    /// CPU time the thread should have used by then.
    cpu_due: Duration,
}

impl CpuLoad {
    /// The load that the worker's options ask for.
    pub fn new(setup: &RingSetup<'_>) -> CpuLoad {
        let load = setup.options.cpu;
        let percent = u64::from(load.percent.unwrap_or(100).clamp(1, 100));
        let chunk = load.chunk_us.filter(|us| *us > 0).map_or(DEFAULT_CHUNK, Duration::from_micros);
        let nanos = u64::try_from(chunk.as_nanos()).unwrap_or(u64::MAX / 100);
        CpuLoad {
            chunk,
            cycle: Duration::from_nanos(nanos.saturating_mul(100) / percent),
            numbers: load.sorts.then(|| vec![0; SORT_LENGTH]),
            limit: WaitLimit::default(),
            cycle_end: Instant::now(),
            cpu_due: Duration::ZERO,
        }
    }

    /// Works until the thread has used its CPU time or the cycle is over; false if the wait limit is
    /// reached first.
    fn work(&mut self) -> bool {
        while thread_cpu_time() < self.cpu_due && Instant::now() < self.cycle_end {
            if self.limit.is_reached() {
                return false;
            }
            match &mut self.numbers {
                Some(numbers) => sort(numbers),
                None => (0..SPINS).for_each(|turn| {
                    black_box(turn);
                }),
            }
        }
        true
    }
}

/// Fills `numbers` with random numbers, seeded by the first, and sorts them.
fn sort(numbers: &mut [u32]) {
    let mut state = numbers[0] | 1;
    for number in numbers.iter_mut() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        *number = state;
    }
    numbers.sort_unstable();
    black_box(numbers);
}

impl SyncEngine for CpuLoad {
    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.limit = limit.clone();
        self.cycle_end = Instant::now();
        self.cpu_due = thread_cpu_time();
        Ok(())
    }

    fn execute(&mut self, _: RawFd, _: &mut [u8], _: &Op) -> Queued {
        self.cycle_end = (self.cycle_end + self.cycle).max(Instant::now());
        let used = thread_cpu_time();
        self.cpu_due = (self.cpu_due + self.chunk).clamp(used, used + 2 * self.chunk);
        if self.work() && self.limit.sleep_until(Some(self.cycle_end)) {
            Queued::Done(0)
        } else {
            Queued::Full
        }
    }
}
