//! What the filesystem and its options do to writes: mount options, write caches, TRIM.

use super::view::{View, row};
use super::words::size;
use super::{Mark, Row, Section};
use crate::durability::{Durability, barriers_off, durability, durability_reason};
use record::{DeviceFacts, FilesystemFacts};

/// Mount options that change what a write costs or is worth: option, what it does.
const TELLING: [(&str, &str); 11] = [
    ("data=journal", "writes data twice, and buffers what asks for O_DIRECT"),
    ("data=writeback", "may show old blocks in files after a crash"),
    ("sync", "waits for the disk on every write"),
    ("dirsync", "waits for the disk on every change of a directory"),
    ("discard", "sends TRIM for deleted files amid the measured I/O"),
    ("discard=async", "sends TRIM for deleted files a while later"),
    ("strictatime", "makes every read a write of the file's time"),
    ("nodatacow", "overwrites in place, without checksums"),
    ("nodatasum", "keeps no checksums of data"),
    ("norecovery", "does not replay its journal"),
    ("noload", "does not replay its journal"),
];

/// Free space below which filesystems allocate in fragments, in percent.
const FREE_LOW: u64 = 15;

/// Task 4: filesystem and mount options.
pub(super) fn mount(view: &View) -> Section {
    let section = |rows, means: String, decide: &str| Section {
        number: 4,
        id: "filesystem",
        title: "Filesystem",
        rows,
        means,
        decide: decide.to_owned(),
    };
    let Some(filesystem) = view.filesystem() else {
        let rows = vec![row("filesystem", "none on this path", Mark::Ok)];
        let means = "No allocation, journal or mount option is part of the figures.";
        let decide = "Do not predict programs that use files from them.";
        return section(rows, means.to_owned(), decide);
    };
    let telling = telling(filesystem, view);
    let mut rows = vec![mounted(filesystem)];
    rows.push(row("options", filesystem.options.join(", "), options_mark(filesystem, view)));
    rows.push(space(filesystem));
    let means = match telling.first() {
        Some((option, does)) => format!("{option} {does}."),
        None => by_kind(filesystem),
    };
    let decide = match () {
        () if filesystem.read_only => "Only read here, or mount it writable.",
        () if !telling.is_empty() => {
            "Measure with production's options; drop none for speed alone."
        }
        () => "Keep the options of production, and note them with the result.",
    };
    section(rows, means, decide)
}

fn mounted(filesystem: &FilesystemFacts) -> Row {
    let FilesystemFacts { kind, source, mount_point, .. } = filesystem;
    let mark = if filesystem.read_only { Mark::Look } else { Mark::Ok };
    row(kind.clone(), format!("{source} at {mount_point}"), mark)
}

fn space(filesystem: &FilesystemFacts) -> Row {
    let (free, total) = (filesystem.free.0, filesystem.total.0);
    let percent = u128::from(free) * 100 / u128::from(total.max(1));
    let mark = if percent < FREE_LOW.into() && total > 0 { Mark::Look } else { Mark::Ok };
    row("free", format!("{} of {}, {percent} %", size(free), size(total)), mark)
}

/// Options worth a word, the gravest first.
fn telling<'a>(filesystem: &'a FilesystemFacts, view: &View) -> Vec<(&'a str, &'static str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    if let Some(option) = barriers_off(filesystem) {
        let does = match durability(view.facts, view.path) {
            Durability::NeverFlushed => "leaves synced writes in a volatile cache",
            _ => "sends no flushes, which no cache below needs",
        };
        found.push((option, does));
    }
    for option in &filesystem.options {
        let known = TELLING.iter().find(|(name, _)| name == option);
        if let Some((_, does)) = known {
            found.push((option, does));
        } else if option.starts_with("compress") && !option.ends_with("=none") {
            found.push((option, "stores less than is written, by what the data is"));
        }
    }
    found
}

fn options_mark(filesystem: &FilesystemFacts, view: &View) -> Mark {
    match telling(filesystem, view) {
        found if found.is_empty() => Mark::Ok,
        _ if durability(view.facts, view.path) == Durability::NeverFlushed => Mark::Problem,
        _ => Mark::Look,
    }
}

fn by_kind(filesystem: &FilesystemFacts) -> String {
    let text = match filesystem.kind.as_str() {
        "ext4" | "ext3" => "Each fsync of a changed file waits for a commit of its journal.",
        "xfs" => "Each fsync of a changed file waits for a write of its log.",
        "btrfs" | "bcachefs" | "zfs" => {
            "Overwriting allocates anew and writes metadata and checksums too."
        }
        "f2fs" => "Random writes become sequential until it has to clean up.",
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
        means += ", as far as the hypervisor lets it.";
    }
    let decide = match class {
        Durability::WriteThrough => "Direct writes may be called durable; sync buffered ones.",
        Durability::WriteBackFua | Durability::WriteBackFlush => {
            "For databases use --fsync=1 or --sync=dsync; the rest is cached."
        }
        Durability::NeverFlushed => {
            "Call no write durable; mount with barriers, set the cache right."
        }
        Durability::Memory => "Never use write figures from here for storage.",
        Durability::Network | Durability::Unknown => {
            "Find out what fsync does there before calling a write durable."
        }
    };
    Section {
        number: 5,
        id: "write-cache",
        title: "Write cache",
        rows,
        means: capital(&means, view),
        decide: decide.to_owned(),
    }
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
        (None, _) => "not told".to_owned(),
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
            ("There is nothing here that TRIM could be sent to.".to_owned(), "Nothing to decide.")
        }
        () if through => (
            "Trimmed blocks are answered without the medium.".to_owned(),
            "Write what you will read; keep to fstrim or discard between runs.",
        ),
        () if !able.is_empty() => (
            format!("{} takes no TRIM: the medium never learns what is free.", refusing[0]),
            "Expect writes as on a full disk, whatever is free.",
        ),
        () => (
            "Blocks once written stay so for the medium, deleted or not.".to_owned(),
            "Precondition flash fully; fresh files are not fresh blocks.",
        ),
    };
    Section { number: 14, id: "trim", title: "TRIM", rows, means, decide: decide.to_owned() }
}

fn discard_row(device: &DeviceFacts) -> Row {
    let value = match (device.discard_max.0, device.discard_granularity.0) {
        (0, _) => "no".to_owned(),
        (max, 0) => format!("up to {} at once", size(max)),
        (max, unit) => format!("units of {}, up to {} at once", size(unit), size(max)),
    };
    let wanted = device.rotational == Some(false) && device.discard_max.0 == 0;
    row(device.name.clone(), value, if wanted { Mark::Look } else { Mark::Ok })
}
