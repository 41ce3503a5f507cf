//! How the filesystem affects writes: mount options, write caches, TRIM.

use super::section::{Mark, Row, Section};
use super::view::{View, row};
use crate::durability::{Durability, barriers_off, durability, durability_reason};
use record::human::size;
use record::{DeviceFacts, FilesystemFacts};

/// Mount options that change what a write costs or is worth: option, what it does.
const TELLING: [(&str, &str); 11] = [
    ("data=journal", "writes data twice and buffers O_DIRECT I/O"),
    ("data=writeback", "may expose stale blocks after a crash"),
    ("sync", "waits for the disk on every write"),
    ("dirsync", "waits for the disk on every change of a directory"),
    ("discard", "sends TRIM for deleted files during the run"),
    ("discard=async", "sends TRIM for deleted files with a delay"),
    ("strictatime", "writes a timestamp on every read"),
    ("nodatacow", "overwrites in place, without checksums"),
    ("nodatasum", "keeps no checksums of data"),
    ("norecovery", "does not replay its journal"),
    ("noload", "does not replay its journal"),
];

/// Free space below which filesystems allocate in fragments, in percent.
const FREE_LOW: u64 = 15;

/// Task 4: filesystem and mount options.
pub(super) fn mount(view: &View) -> Section {
    let section = |rows, means: String, decide: &str| {
        Section::new((4, "filesystem", "Filesystem"), rows, means, decide)
    };
    let Some(filesystem) = view.filesystem() else {
        let rows = vec![row("filesystem", "none on this path", Mark::Ok)];
        let means = "Figures include no allocation, journal or mount option.";
        let decide = "Do not predict programs that use files with them.";
        return section(rows, means.to_owned(), decide);
    };
    let notable_options = notable_options(filesystem, view);
    let mut rows = vec![mount_row(filesystem)];
    rows.push(row("options", filesystem.options.join(", "), options_mark(filesystem, view)));
    rows.push(free_space_row(filesystem));
    let means = match notable_options.first() {
        Some((option, does)) => format!("{option} {does}."),
        None => describe_kind(filesystem),
    };
    let decide = match () {
        () if filesystem.read_only => "Only read here, or mount it writable.",
        () if !notable_options.is_empty() => {
            "Measure with production's options, not with faster ones."
        }
        () => "Use production's options and note them with the result.",
    };
    section(rows, means, decide)
}

fn mount_row(filesystem: &FilesystemFacts) -> Row {
    let FilesystemFacts { kind, source, mount_point, .. } = filesystem;
    let mark = if filesystem.read_only { Mark::Look } else { Mark::Ok };
    row(kind.clone(), format!("{source} at {mount_point}"), mark)
}

fn free_space_row(filesystem: &FilesystemFacts) -> Row {
    let (free, total) = (filesystem.free.0, filesystem.total.0);
    let percent = u128::from(free) * 100 / u128::from(total.max(1));
    let mark = if percent < FREE_LOW.into() && total > 0 { Mark::Look } else { Mark::Ok };
    row("free", format!("{} of {}, {percent} %", size(free as f64), size(total as f64)), mark)
}

/// Options worth a word, the gravest first.
fn notable_options<'a>(
    filesystem: &'a FilesystemFacts,
    view: &View,
) -> Vec<(&'a str, &'static str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    if let Some(option) = barriers_off(filesystem) {
        let does = match durability(view.facts, view.path) {
            Durability::NeverFlushed => "leaves synced writes in a volatile cache",
            _ => "sends no flushes, and no cache below needs them",
        };
        found.push((option, does));
    }
    for option in &filesystem.options {
        let known = TELLING.iter().find(|(name, _)| name == option);
        if let Some((_, does)) = known {
            found.push((option, does));
        } else if option.starts_with("compress") && !option.ends_with("=none") {
            found.push((option, "stores less than is written, depending on the data"));
        }
    }
    found
}

fn options_mark(filesystem: &FilesystemFacts, view: &View) -> Mark {
    match notable_options(filesystem, view) {
        found if found.is_empty() => Mark::Ok,
        _ if durability(view.facts, view.path) == Durability::NeverFlushed => Mark::Problem,
        _ => Mark::Look,
    }
}

fn describe_kind(filesystem: &FilesystemFacts) -> String {
    let text = match filesystem.kind.as_str() {
        "ext4" | "ext3" => "Each fsync of a changed file waits for a commit of its journal.",
        "xfs" => "Each fsync of a changed file waits for a write of its log.",
        "btrfs" | "bcachefs" | "zfs" => {
            "Overwrites allocate new blocks and write metadata and checksums."
        }
        "f2fs" => "Random writes become sequential until garbage collection starts.",
        "tmpfs" | "ramfs" | "devtmpfs" => "Files here are memory; there is nothing to sync.",
        "vfat" | "exfat" => "No journal: fsync writes its tables in place.",
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "9p" | "virtiofs" => {
            "The server's filesystem and cache are part of every figure."
        }
        kind => {
            return format!("Allocation and metadata of {kind} are part of every figure.");
        }
    };
    text.to_owned()
}

/// Task 5: write caches and what a completed write is worth.
pub(super) fn write_cache(view: &View) -> Section {
    let class = durability(view.facts, view.path);
    let mut rows: Vec<Row> = view.queues().map(cache_row).collect();
    rows.push(row("durability", class.name(), class_mark(class)));
    let mut means = format!("{}: {}.", durability_reason(view.facts, view.path), class.meaning());
    if view.any(|disk| disk.is_virtual) && class.keeps_synced() == Some(true) {
        means.pop();
        means += ", if the hypervisor honours flushes.";
    }
    let decide = match class {
        Durability::WriteThrough => "Direct writes are durable; sync buffered ones.",
        Durability::WriteBackFua | Durability::WriteBackFlush => {
            "For databases use --fsync=1 or --sync=dsync; the rest is cached."
        }
        Durability::NeverFlushed => "No write is durable: mount with barriers, fix the cache mode.",
        Durability::Memory => "Never use write figures from here for storage.",
        Durability::Network | Durability::Unknown => {
            "Find out what fsync does there before calling a write durable."
        }
    };
    Section::new((5, "write-cache", "Write cache"), rows, capital(&means, view), decide)
}

/// A sentence begins with a capital letter, unless with the name of a device, path or filesystem.
fn capital(sentence: &str, view: &View) -> String {
    let first = sentence.split([' ', '\'']).next().unwrap_or_default();
    let kind = view.filesystem().is_some_and(|f| f.kind == first);
    let named = kind || view.stack.iter().any(|device| device.name == first) || first.contains('/');
    if named {
        return sentence.to_owned();
    }
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn cache_row(device: &DeviceFacts) -> Row {
    let value = match (device.write_cache.as_deref(), device.fua) {
        (Some("write back"), Some(true)) => "write back, FUA".to_owned(),
        (Some("write back"), _) => "write back, no FUA".to_owned(),
        (Some(mode), _) => mode.to_owned(),
        (None, _) => "unknown".to_owned(),
    };
    let mark = if device.write_cache.is_none() { Mark::Look } else { Mark::Ok };
    row(device.name.clone(), value, mark)
}

fn class_mark(class: Durability) -> Mark {
    match class.keeps_synced() {
        Some(false) => Mark::Problem,
        Some(true) if class == Durability::WriteThrough => Mark::Ok,
        _ => Mark::Look,
    }
}

/// Task 14: TRIM.
pub(super) fn discard(view: &View) -> Section {
    let queues: Vec<&DeviceFacts> = view.queues().collect();
    let mut rows: Vec<Row> = queues.iter().map(|device| discard_row(device)).collect();
    let online = view.option("discard") || view.option("discard=async");
    if view.filesystem().is_some_and(|f| !f.devices.is_empty()) {
        let (value, mark) = match online {
            true => ("while files are deleted", Mark::Look),
            false => ("only by fstrim", Mark::Ok),
        };
        rows.push(row("sent", value, mark));
    }
    let able: Vec<&str> =
        queues.iter().filter(|d| d.discard_max.0 > 0).map(|d| d.name.as_str()).collect();
    let through = queues.len() == able.len() && !able.is_empty();
    let refuses = |device: &&&DeviceFacts| device.discard_max.0 == 0;
    let refusing: Vec<&str> = queues.iter().filter(refuses).map(|d| d.name.as_str()).collect();
    let (means, decide) = match () {
        () if queues.is_empty() => {
            rows.push(row("TRIM", "no block device here", Mark::Ok));
            ("No device here can receive TRIM.".to_owned(), "Nothing to decide.")
        }
        () if through => (
            "Reads of trimmed blocks do not touch the medium.".to_owned(),
            "Write data before reading it; trim the same way between runs.",
        ),
        () if !able.is_empty() => (
            format!("{} does not pass TRIM: the medium never learns what is free.", refusing[0]),
            "Expect the write speed of a full disk.",
        ),
        () => (
            "The medium never learns which blocks were deleted.".to_owned(),
            "Precondition flash fully: new files may reuse written blocks.",
        ),
    };
    Section::new((14, "trim", "TRIM"), rows, means, decide)
}

fn discard_row(device: &DeviceFacts) -> Row {
    let value = match (device.discard_max.0, device.discard_granularity.0) {
        (0, _) => "no".to_owned(),
        (max, 0) => format!("up to {} at once", size(max as f64)),
        (max, unit) => {
            format!("units of {}, up to {} at once", size(unit as f64), size(max as f64))
        }
    };
    let wanted = device.rotational == Some(false) && device.discard_max.0 == 0;
    row(device.name.clone(), value, if wanted { Mark::Look } else { Mark::Ok })
}
