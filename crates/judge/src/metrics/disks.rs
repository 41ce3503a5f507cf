//! Figures of the devices under the targets.

use record::{DiskCounters, DiskResult};

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

/// Counts of a device over a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskTotals {
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Reads merged.
    pub read_merges: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// Sum of read times, ms.
    pub read_ticks_ms: u64,
    /// Sum of write times, ms.
    pub write_ticks_ms: u64,
    /// Sum over time of I/Os in flight, ms.
    pub in_queue_ms: u64,
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
    let (before, after) = (&counters.before, &counters.after);
    // A counter that decreased belongs to another device of the same name: no figures.
    let busy_ms = after.busy_ms.saturating_sub(before.busy_ms) as f64;
    let window_ms = counters.window.0 as f64 / 1e6;
    DiskTotals {
        read_ios: after.read_ios.saturating_sub(before.read_ios),
        write_ios: after.write_ios.saturating_sub(before.write_ios),
        read_merges: after.read_merges.saturating_sub(before.read_merges),
        write_merges: after.write_merges.saturating_sub(before.write_merges),
        read_ticks_ms: after.read_ticks_ms.saturating_sub(before.read_ticks_ms),
        write_ticks_ms: after.write_ticks_ms.saturating_sub(before.write_ticks_ms),
        in_queue_ms: after.queue_ms.saturating_sub(before.queue_ms),
        util: if window_ms > 0.0 { (busy_ms * 100.0 / window_ms).min(100.0) } else { 0.0 },
    }
}

fn mean(members: &[DiskTotals]) -> Option<DiskTotals> {
    if members.is_empty() {
        return None;
    }
    let of =
        |pick: fn(&DiskTotals) -> u64| members.iter().map(pick).sum::<u64>() / members.len() as u64;
    Some(DiskTotals {
        read_ios: of(|m| m.read_ios),
        write_ios: of(|m| m.write_ios),
        read_merges: of(|m| m.read_merges),
        write_merges: of(|m| m.write_merges),
        read_ticks_ms: of(|m| m.read_ticks_ms),
        write_ticks_ms: of(|m| m.write_ticks_ms),
        in_queue_ms: of(|m| m.in_queue_ms),
        util: members.iter().map(|m| m.util).fold(0.0, f64::max),
    })
}
