//! Moves nothing, to measure the cost of the loop itself.

use super::{Completion, Queued, Ring, RingSetup};
use crate::hot::op::Op;
use std::io;
use std::time::Duration;

/// The `null` engine at depth 1: every I/O ends within the call.
pub struct NullSync;

impl Ring for NullSync {
    const SYNCHRONOUS: bool = true;

    fn open(_: &RingSetup<'_>) -> io::Result<Self> {
        Ok(NullSync)
    }

    #[inline(always)]
    fn queue(&mut self, _: u32, op: &Op) -> Queued {
        Queued::Done(op.length as i64)
    }
}

/// The `null` engine at other depths: I/O is queued, submitted and reaped as with a device, and ends
/// when it is submitted.
pub struct NullQueue {
    // In the order in which they were queued.
    ring: Box<[Completion]>,
    mask: u32,
    queued: u32,
    submitted: u32,
    first: u32,
    taken: u32,
}

impl Ring for NullQueue {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let size = setup.depth.next_power_of_two();
        Ok(NullQueue {
            ring: vec![Completion::default(); size as usize].into(),
            mask: size - 1,
            queued: 0,
            submitted: 0,
            first: 0,
            taken: 0,
        })
    }

    #[inline(always)]
    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let index = (self.queued & self.mask) as usize;
        self.ring[index] = Completion { slot, result: op.length as i64 };
        self.queued = self.queued.wrapping_add(1);
        Queued::Pending
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<u32> {
        let taken = self.queued.wrapping_sub(self.submitted);
        self.submitted = self.queued;
        Ok(taken)
    }

    #[inline(always)]
    fn reap(&mut self, _: u32, max: u32, _: Option<Duration>) -> io::Result<u32> {
        self.first = self.first.wrapping_add(std::mem::take(&mut self.taken));
        self.taken = self.submitted.wrapping_sub(self.first).min(max);
        Ok(self.taken)
    }

    #[inline(always)]
    fn completion(&self, index: u32) -> Completion {
        self.ring[(self.first.wrapping_add(index) & self.mask) as usize]
    }
}
