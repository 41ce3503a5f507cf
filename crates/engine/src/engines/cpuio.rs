//! Computes for a share of a CPU's time. Each I/O is a burst of work and the sleep that belongs to
//! it.
//!
//! The share is one of the time that passed since the beginning, counted by the CPU time the thread
//! got: a burst that was interrupted is made good by the next one. What more than one burst is
//! missing by is given up, so that a crowded machine is not held busy afterwards.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, WaitLimit};
use crate::files::FileError;
use crate::hot::op::Op;
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// Length of a burst unless `cpuchunks` says otherwise.
const CHUNK: Duration = Duration::from_millis(50);
/// Work between two looks at the clocks: some ten microseconds.
const SPIN: u32 = 20_000;
/// Numbers sorted between two looks: some tens of microseconds.
const SORTED: usize = 1024;
/// A sleeper looks this often whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// The `cpuio` engine.
pub struct CpuLoad {
    chunk: Duration,
    cycle: Duration,
    numbers: Option<Vec<u32>>,
    limit: WaitLimit,
    /// End of the last cycle, and the CPU time the thread should have had by then.
    end: Instant,
    due: Duration,
}

impl CpuLoad {
    /// As the worker's options have it.
    pub fn new(setup: &RingSetup<'_>) -> CpuLoad {
        let load = setup.options.cpu;
        let percent = u64::from(load.percent.unwrap_or(100).clamp(1, 100));
        let chunk = load.chunk_us.filter(|us| *us > 0).map_or(CHUNK, Duration::from_micros);
        let nanos = u64::try_from(chunk.as_nanos()).unwrap_or(u64::MAX / 100);
        CpuLoad {
            chunk,
            cycle: Duration::from_nanos(nanos.saturating_mul(100) / percent),
            numbers: load.sorts.then(|| vec![0; SORTED]),
            limit: WaitLimit::default(),
            end: Instant::now(),
            due: Duration::ZERO,
        }
    }

    /// Works until the thread has had its time, or a whole cycle is over; false when the run is
    /// over before.
    fn work(&mut self) -> bool {
        while used() < self.due && Instant::now() < self.end {
            if self.limit.is_reached() {
                return false;
            }
            match &mut self.numbers {
                Some(numbers) => sort(numbers),
                None => (0..SPIN).for_each(|turn| {
                    black_box(turn);
                }),
            }
        }
        true
    }

    fn sleep(&self) -> bool {
        loop {
            let rest = self.end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return true;
            }
            if self.limit.is_reached() {
                return false;
            }
            std::thread::sleep(self.limit.next_sleep(rest.min(LOOK)));
        }
    }
}

/// CPU time of this thread.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Sorts numbers in an order that the last one decides.
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
        self.end = Instant::now();
        self.due = used();
        Ok(())
    }

    fn execute(&mut self, _: RawFd, _: &mut [u8], _: &Op) -> Queued {
        self.end = (self.end + self.cycle).max(Instant::now());
        let used = used();
        self.due = (self.due + self.chunk).clamp(used, used + 2 * self.chunk);
        if self.work() && self.sleep() { Queued::Done(0) } else { Queued::Full }
    }
}
