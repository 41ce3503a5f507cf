//! "Disk stats".

use judge::{DiskMetrics, DiskTotals};
use std::fmt::Write;

/// Writes a line for each device; a stacked one is indented further and has its members' figures.
pub(super) fn render(out: &mut String, disks: &[DiskMetrics]) {
    if disks.is_empty() {
        return;
    }
    out.push_str("\nDisk stats (read/write):\n");
    for disk in disks {
        let indent = if disk.members.is_some() { "    " } else { "  " };
        let _ = write!(out, "{indent}{}: ", disk.name);
        totals(out, "", &disk.own);
        if let Some(members) = &disk.members {
            out.push_str(", ");
            totals(out, "aggr", members);
        }
        out.push('\n');
    }
}

fn totals(out: &mut String, prefix: &str, totals: &DiskTotals) {
    let DiskTotals { counters: c, util } = totals;
    let _ = write!(
        out,
        "{prefix}ios={}/{}, {prefix}merge={}/{}, {prefix}ticks={}/{}, {prefix}in_queue={}, \
         {prefix}util={util:3.2}%",
        c.read_ios,
        c.write_ios,
        c.read_merges,
        c.write_merges,
        c.read_ticks_ms,
        c.write_ticks_ms,
        c.queue_ms,
    );
}
