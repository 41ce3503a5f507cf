//! "Disk stats".

use judge::DiskMetrics;
use std::fmt::Write;

/// Writes a line for each device; a stacked one is indented further and has its members' figures.
pub(super) fn render(out: &mut String, disks: &[DiskMetrics]) {
    if disks.is_empty() {
        return;
    }
    out.push_str("\nDisk stats (read/write):\n");
    for disk in disks {
        let own = &disk.own;
        let indent = if disk.members.is_some() { "    " } else { "  " };
        let _ = write!(
            out,
            "{indent}{}: ios={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:3.2}%",
            disk.name,
            own.read_ios,
            own.write_ios,
            own.read_merges,
            own.write_merges,
            own.read_ticks_ms,
            own.write_ticks_ms,
            own.in_queue_ms,
            own.util,
        );
        if let Some(members) = &disk.members {
            let _ = write!(
                out,
                ", aggrios={}/{}, aggrmerge={}/{}, aggrticks={}/{}, aggrin_queue={}, \
                 aggrutil={:3.2}%",
                members.read_ios,
                members.write_ios,
                members.read_merges,
                members.write_merges,
                members.read_ticks_ms,
                members.write_ticks_ms,
                members.in_queue_ms,
                members.util,
            );
        }
        out.push('\n');
    }
}
