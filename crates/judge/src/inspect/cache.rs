//! Ways around the page cache, and how to tell its figures from the disk's.

use super::view::{View, row};
use super::words::size;
use super::{Mark, Section};
use record::{DirectLimits, TargetKind};

/// Filesystems that may take O_DIRECT and go through the page cache nevertheless.
const MAY_BUFFER: [&str; 4] = ["zfs", "nfs", "cifs", "fuse"];

/// Task 7: whether the page cache can be bypassed.
pub(super) fn direct(view: &View) -> Section {
    let kind = view.filesystem().map_or("", |f| f.kind.as_str());
    let in_memory = matches!(kind, "tmpfs" | "ramfs" | "devtmpfs");
    let (value, mark, means, decide) = match view.target.direct {
        _ if in_memory => (
            "no use on a filesystem in memory".to_owned(),
            Mark::Problem,
            format!("{kind} is memory itself: there is nothing behind it to reach."),
            "Use no figures from here for a device.",
        ),
        _ if matches!(view.target.kind, TargetKind::Char | TargetKind::Fifo) => (
            "no cache on this path".to_owned(),
            Mark::Ok,
            "There is no page cache on this path.".to_owned(),
            "Nothing to decide.",
        ),
        Some(DirectLimits { offset: 0, .. }) => (
            "not taken".to_owned(),
            Mark::Problem,
            format!("{} has no direct I/O: everything passes through memory.", named(kind)),
            "Use no figures from here for a device; --direct=1 is refused.",
        ),
        Some(limits) => taken(view, kind, limits),
        None => (
            "not known".to_owned(),
            Mark::Look,
            "Nothing tells whether direct I/O works here.".to_owned(),
            "Try --direct=1, and see whether the device moves as much.",
        ),
    };
    let rows = vec![row("O_DIRECT", value, mark)];
    Section { number: 7, id: "direct", title: "Direct I/O", rows, means, decide: decide.to_owned() }
}

/// Value, mark, meaning and decision where O_DIRECT is taken.
fn taken(view: &View, kind: &str, limits: DirectLimits) -> (String, Mark, String, &'static str) {
    let [offset, memory] = [limits.offset, limits.memory].map(|bytes| size(bytes.into()));
    let compressed = view
        .filesystem()
        .is_some_and(|f| kind == "btrfs" && f.options.iter().any(|o| o.starts_with("compress")));
    let by_kind = MAY_BUFFER.iter().any(|known| kind.starts_with(known));
    let (mark, means) = match compressed || by_kind || view.option("data=journal") {
        true => {
            (Mark::Look, format!("{} accepts O_DIRECT but may buffer all the same.", named(kind)))
        }
        false => (Mark::Ok, format!("--direct=1 bypasses the page cache, from {offset} on.")),
    };
    let value = format!("taken: offsets by {offset}, memory by {memory}");
    (value, mark, means, "Use --direct=1 for what the storage can do.")
}

fn named(kind: &str) -> &str {
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
    let mut rows = vec![row("memory", size(memory), Mark::Ok)];
    rows.extend(limit.map(|l| row("group's limit", size(l), Mark::Look)));
    rows.extend(dirty.map(|d| row("dirty limit", format!("about {}", size(d)), Mark::Ok)));
    if environment.swap_used.0 > 0 {
        rows.push(row("swap in use", size(environment.swap_used.0), Mark::Look));
    }
    let room = match view.is_device() {
        true => view.target.size.0,
        false => view.filesystem().map_or(0, |f| f.free.0),
    };
    let fits = room >= enough;
    let mark = if fits { Mark::Ok } else { Mark::Look };
    let no_room = if fits { "" } else { ", more than there is room for" };
    rows.push(row("beyond the cache", format!("{}{no_room}", size(enough)), mark));
    let writes = match dirty {
        Some(dirty) => format!("; {} may be written to it", size(dirty)),
        None => String::new(),
    };
    Section {
        number: 8,
        id: "buffered",
        title: "Buffered",
        rows,
        means: format!("Less than {} is read from memory when read again{writes}.", size(cache)),
        decide: match fits {
            true => format!(
                "Stay direct; for buffered reads take --size={}g or a cold cache.",
                enough.div_ceil(1 << 30)
            ),
            false => "Stay direct; buffered reads only count from a cold cache.".to_owned(),
        },
    }
}

/// A machine that does not tell how much memory it has.
fn without_memory() -> Section {
    Section {
        number: 8,
        id: "buffered",
        title: "Buffered",
        rows: vec![row("memory", "not told", Mark::Look)],
        means: "How much could be read from memory is not known.".to_owned(),
        decide: "Stay direct; buffered reads only count from a cold cache.".to_owned(),
    }
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
