//! "Disk stats".

use crate::options::RenderOptions;
use judge::{DiskMetrics, DiskTotals};
use record::FioVersion;
use std::fmt::Write;

/// Bytes of a sector in fio's disk statistics.
const SECTOR: u64 = 512;

/// Writes a line for each device; a stacked one is indented further and has its members' figures.
pub(super) fn render(out: &mut String, disks: &[DiskMetrics], options: &RenderOptions) {
    if disks.is_empty() {
        return;
    }
    out.push_str("\nDisk stats (read/write):\n");
    for disk in disks {
        let indent = if disk.members.is_some() { "    " } else { "  " };
        let _ = write!(out, "{indent}{}: ", disk.name);
        totals(out, "", &disk.own, options);
        if let Some(members) = &disk.members {
            out.push_str(", ");
            totals(out, "aggr", members, options);
        }
        out.push('\n');
    }
}

fn totals(out: &mut String, prefix: &str, totals: &DiskTotals, options: &RenderOptions) {
    let DiskTotals { counters: c, util } = totals;
    let sectors = match options.compat {
        FioVersion::V3_33 => String::new(),
        FioVersion::V3_42 => {
            format!("{prefix}sectors={}/{}, ", c.read_bytes / SECTOR, c.write_bytes / SECTOR)
        }
    };
    let _ = write!(
        out,
        "{prefix}ios={}/{}, {sectors}{prefix}merge={}/{}, {prefix}ticks={}/{}, {prefix}in_queue={}, \
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
