//! Direct I/O, and how to distinguish figures of the page cache from those of the disk.

use super::section::{Mark, Section};
use super::view::{View, row};
use record::human::size;
use record::{DirectLimits, TargetKind};

/// Filesystems that may take O_DIRECT and go through the page cache nevertheless.
const MAY_BUFFER: [&str; 4] = ["zfs", "nfs", "cifs", "fuse"];

/// Task 7: whether the page cache can be bypassed.
pub(super) fn direct(view: &View) -> Section {
    let kind = view.filesystem().map_or("", |f| f.kind.as_str());
    let in_memory = view.filesystem().is_some_and(|f| f.is_in_memory());
    let (value, mark, means, decide) = match view.target.direct {
        _ if in_memory => (
            "no effect on a filesystem in memory".to_owned(),
            Mark::Problem,
            format!("{kind} is memory: there is no device behind it."),
            "Do not use figures from here for a device.",
        ),
        _ if matches!(view.target.kind, TargetKind::Char | TargetKind::Fifo) => (
            "no page cache on this path".to_owned(),
            Mark::Ok,
            "There is no page cache on this path.".to_owned(),
            "Nothing to decide.",
        ),
        Some(DirectLimits { offset: 0, .. }) => (
            "not supported".to_owned(),
            Mark::Problem,
            format!(
                "{} has no direct I/O: all I/O goes through the page cache.",
                name_or_target(kind)
            ),
            "Do not use figures from here for a device; --direct=1 is refused.",
        ),
        Some(limits) => direct_supported(view, kind, limits),
        None => (
            "not known".to_owned(),
            Mark::Look,
            "It is unknown whether direct I/O works here.".to_owned(),
            "Try --direct=1 and compare it with what the device moves.",
        ),
    };
    let rows = vec![row("O_DIRECT", value, mark)];
    Section::new((7, "direct", "Direct I/O"), rows, means, decide)
}

/// Value, mark, meaning and decision where O_DIRECT is taken.
fn direct_supported(
    view: &View,
    kind: &str,
    limits: DirectLimits,
) -> (String, Mark, String, &'static str) {
    let [offset, memory] = [limits.offset, limits.memory].map(|bytes| size(f64::from(bytes)));
    let compressed = view
        .filesystem()
        .is_some_and(|f| kind == "btrfs" && f.options.iter().any(|o| o.starts_with("compress")));
    let by_kind = MAY_BUFFER.iter().any(|known| kind.starts_with(known));
    let value = format!("supported; alignment: offsets {offset}, memory {memory}");
    if let Some(device) = view.stack.iter().find(|device| device.loop_direct_io == Some(false)) {
        let means = format!(
            "--direct=1 bypasses the page cache above {} only: {0} reads and writes its file through the page cache.",
            device.name
        );
        return (
            value,
            Mark::Problem,
            means,
            "Set it up with losetup --direct-io=on to measure the storage.",
        );
    }
    let (mark, means) = match compressed || by_kind || view.option("data=journal") {
        true => {
            (Mark::Look, format!("{} accepts O_DIRECT but may still buffer.", name_or_target(kind)))
        }
        false => (Mark::Ok, format!("--direct=1 bypasses the page cache, for {offset} and more.")),
    };
    (value, mark, means, "Use --direct=1 to measure the storage.")
}

fn name_or_target(kind: &str) -> &str {
    if kind.is_empty() { "This target" } else { kind }
}

/// Task 8: what buffered I/O would measure.
pub(super) fn buffered(view: &View) -> Section {
    let environment = &view.facts.environment;
    let memory = view.facts.memory.0;
    let limit = environment.cgroup.memory_max.map(|limit| limit.0).filter(|l| *l < memory);
    let cache = limit.unwrap_or(memory);
    let dirty = dirty_limit(view, cache);
    // Reads of twice the cache find at most half of it there, whatever is evicted.
    let enough = cache.saturating_mul(2);
    if memory == 0 {
        return without_memory();
    }
    let mut rows = vec![row("memory", size(memory as f64), Mark::Ok)];
    rows.extend(limit.map(|l| row("group's limit", size(l as f64), Mark::Look)));
    rows.extend(dirty.map(|d| row("dirty limit", format!("about {}", size(d as f64)), Mark::Ok)));
    if environment.swap_used.0 > 0 {
        rows.push(row("swap in use", size(environment.swap_used.0 as f64), Mark::Look));
    }
    let room = match view.is_device() {
        true => view.target.size.0,
        false => view.filesystem().map_or(0, |f| f.free.0),
    };
    let fits = room >= enough;
    let mark = if fits { Mark::Ok } else { Mark::Look };
    let no_room = if fits { "" } else { ", more than is free" };
    rows.push(row("beyond the cache", format!("{}{no_room}", size(enough as f64)), mark));
    let writes = match dirty {
        Some(dirty) => format!("; up to {} of writes stay there", size(dirty as f64)),
        None => String::new(),
    };
    Section::new(
        (8, "buffered", "Buffered"),
        rows,
        format!("Less than {} is served from memory when read again{writes}.", size(cache as f64)),
        match fits {
            true => format!(
                "Use direct I/O; buffered reads need --size={}g or a cold cache.",
                enough.div_ceil(1 << 30)
            ),
            false => "Use direct I/O; buffered reads only count with a cold cache.".to_owned(),
        },
    )
}

/// The section for a machine with unknown memory.
fn without_memory() -> Section {
    Section::new(
        (8, "buffered", "Buffered"),
        vec![row("memory", "unknown", Mark::Look)],
        "How much memory can cache is unknown.",
        "Use direct I/O; buffered reads only count with a cold cache.",
    )
}

/// What may be dirty before writers are made to wait: vm.dirty_bytes, or vm.dirty_ratio percent of
/// the memory that can be had (Documentation/admin-guide/sysctl/vm.rst), here of all.
fn dirty_limit(view: &View, cache: u64) -> Option<u64> {
    let tunable = |name: &str| {
        view.facts.environment.tunables.get(name)?.parse::<u64>().ok().filter(|value| *value > 0)
    };
    let ratio = || Some(cache / 100 * tunable("vm.dirty_ratio")?.min(100));
    tunable("vm.dirty_bytes").or_else(ratio)
}
