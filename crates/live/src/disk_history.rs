//! Rates of the disks over the last minutes.

use crate::Rates;
use std::collections::{BTreeMap, VecDeque};

/// Most intervals kept, more than the width of any terminal.
const KEPT: usize = 1000;

/// Rates of every disk in the last intervals.
#[derive(Clone, Debug, Default)]
pub struct DiskHistory {
    disks: BTreeMap<String, VecDeque<[f64; 2]>>,
    seconds: VecDeque<f64>,
}

impl DiskHistory {
    /// Adds an interval. A disk that is missing in it was idle.
    pub fn push(&mut self, rates: &Rates) {
        let known = self.seconds.len();
        for name in rates.disks.keys() {
            if !self.disks.contains_key(name) {
                self.disks.insert(name.clone(), std::iter::repeat_n([0.0; 2], known).collect());
            }
        }
        for (name, rows) in &mut self.disks {
            let disk = rates.disks.get(name);
            rows.push_back(disk.map_or([0.0; 2], |disk| {
                [disk.read_bytes_per_second, disk.write_bytes_per_second]
            }));
        }
        self.seconds.push_back(rates.seconds);
        if self.seconds.len() > KEPT {
            self.seconds.pop_front();
            for rows in self.disks.values_mut() {
                rows.pop_front();
            }
        }
    }

    /// Bytes a second that a disk read (0) or wrote (1) in the last `intervals`, without the newest
    /// `behind`, in time order.
    pub fn rates(&self, disk: &str, which: usize, intervals: usize, behind: usize) -> Vec<f64> {
        let Some(rows) = self.disks.get(disk) else { return Vec::new() };
        let end = rows.len().saturating_sub(behind);
        let range = end.saturating_sub(intervals)..end;
        rows.range(range).map(|row| row.get(which).copied().unwrap_or(0.0)).collect()
    }

    /// Total time of the same intervals, in seconds.
    pub fn span(&self, intervals: usize, behind: usize) -> f64 {
        let end = self.seconds.len().saturating_sub(behind);
        self.seconds.range(end.saturating_sub(intervals)..end).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiskRates;

    fn rates(name: &str, read: f64) -> Rates {
        let disk = DiskRates { read_bytes_per_second: read, ..DiskRates::default() };
        Rates { seconds: 2.0, disks: BTreeMap::from([(name.into(), disk)]), ..Rates::default() }
    }

    #[test]
    fn disks_that_come_and_go_stay_aligned_in_time() {
        let mut history = DiskHistory::default();
        for (name, read) in [("sda", 1.0), ("sdb", 2.0), ("sda", 3.0)] {
            history.push(&rates(name, read));
        }
        assert_eq!(history.rates("sda", 0, 10, 0), [1.0, 0.0, 3.0]);
        assert_eq!(history.rates("sdb", 0, 10, 0), [0.0, 2.0, 0.0]);
        assert_eq!(history.rates("sda", 0, 2, 1), [1.0, 0.0]);
        assert_eq!((history.span(10, 0), history.span(1, 1)), (6.0, 2.0));
        assert!(
            history.rates("sdc", 0, 10, 0).is_empty() && history.rates("sda", 1, 10, 9).is_empty()
        );
    }

    #[test]
    fn old_intervals_are_dropped() {
        let mut history = DiskHistory::default();
        for at in 0..KEPT + 5 {
            history.push(&rates("sda", at as f64));
        }
        let all = history.rates("sda", 0, KEPT * 2, 0);
        assert_eq!((all.len(), all[0]), (KEPT, 5.0));
    }
}
