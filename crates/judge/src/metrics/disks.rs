//! Figures of the devices under the targets.

use record::{DiskCounters, DiskResult, DiskSample};

/// The figures of a device over the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskMetrics {
    /// Kernel name.
    pub name: String,
    /// Its own figures.
    pub own: DiskTotals,
    /// Means over its members, but the highest utilisation; `None` for a plain disk.
    pub members: Option<DiskTotals>,
    /// The number of members.
    pub member_count: u64,
}

/// What a device did over a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskTotals {
    /// Its counters over the window.
    pub counters: DiskSample,
    /// Time with I/O in flight, in percent of the window.
    pub util: f64,
}

/// Figures of every device, in the record's order.
pub(crate) fn measure(disks: &[DiskResult]) -> Vec<DiskMetrics> {
    disks
        .iter()
        .map(|disk| {
            let members: Vec<DiskTotals> = disk
                .members
                .iter()
                .filter_map(|name| disks.iter().find(|other| other.name == *name))
                .map(|member| totals(&member.counters))
                .collect();
            DiskMetrics {
                name: disk.name.clone(),
                own: totals(&disk.counters),
                member_count: members.len() as u64,
                members: mean(&members),
            }
        })
        .collect()
}

fn totals(counters: &DiskCounters) -> DiskTotals {
    // A counter that decreased belongs to another device of the same name: no figures.
    let done = counters.after.zip(&counters.before, u64::saturating_sub);
    let window_ms = counters.window.0 as f64 / 1e6;
    let busy = done.busy_ms as f64 * 100.0 / window_ms;
    DiskTotals { counters: done, util: if window_ms > 0.0 { busy.min(100.0) } else { 0.0 } }
}

fn mean(members: &[DiskTotals]) -> Option<DiskTotals> {
    let counters = members.iter().map(|member| member.counters);
    let sum = counters.reduce(|sum, one| sum.zip(&one, |a, b| a + b))?;
    Some(DiskTotals {
        counters: sum.zip(&sum, |sum, _| sum / members.len() as u64),
        util: members.iter().map(|m| m.util).fold(0.0, f64::max),
    })
}
