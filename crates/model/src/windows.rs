//! Load over time in at most 256 windows. When a trace is longer, neighbours are joined.

use crate::distinct::Distinct;
use std::collections::BTreeMap;

const WINDOWS: usize = 256;
const FIRST_WIDTH: u64 = 1_000_000;

/// I/Os and bytes of each step in a window, and the distinct blocks.
#[derive(Clone, Debug, Default)]
pub struct Load {
    pub steps: BTreeMap<u16, (u64, u64)>,
    pub distinct: Distinct,
}

/// All windows.
#[derive(Clone, Debug)]
pub struct Windows {
    pub width: u64,
    pub loads: Vec<Load>,
}

impl Default for Windows {
    fn default() -> Self {
        Windows { width: FIRST_WIDTH, loads: Vec::new() }
    }
}

impl Windows {
    /// The window at `at`, nanoseconds from the first event.
    pub fn at(&mut self, at: u64) -> &mut Load {
        while at / self.width >= WINDOWS as u64 {
            self.join();
        }
        let index = (at / self.width) as usize;
        if self.loads.len() <= index {
            self.loads.resize_with(index + 1, Load::default);
        }
        &mut self.loads[index]
    }

    fn join(&mut self) {
        self.width = self.width.saturating_mul(2);
        let mut joined = Vec::with_capacity(self.loads.len().div_ceil(2));
        let mut loads = std::mem::take(&mut self.loads).into_iter();
        while let Some(mut one) = loads.next() {
            if let Some(other) = loads.next() {
                one.distinct.merge(&other.distinct);
                for (step, (ios, bytes)) in other.steps {
                    let sum = one.steps.entry(step).or_default();
                    *sum = (sum.0 + ios, sum.1 + bytes);
                }
            }
            joined.push(one);
        }
        self.loads = joined;
    }
}
