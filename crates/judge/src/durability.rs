//! Whether completed writes survive power loss, as far as the stack below a path shows.
//!
//! Classes and their order follow the kernel's Documentation/block/writeback_cache_control.rst: a
//! volatile cache below needs a flush, or force-unit-access writes, to keep what it acknowledged.

use record::{DeviceFacts, DeviceKind, Facts, FilesystemFacts, TargetFacts, TargetKind, named};

/// What a completed write to a path has survived.
///
/// In order from the strongest to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// No volatile cache: a direct write is on the medium when it completes; a buffered one after
    /// fsync, which has no cache to flush.
    WriteThrough,
    /// A volatile cache that takes single writes past it (FUA): a synchronous write is kept, other
    /// writes are after fsync.
    WriteBackFua,
    /// A volatile cache without FUA: each fsync or synchronous write flushes all of it.
    WriteBackFlush,
    /// Unknown.
    Unknown,
    /// A server or another machine decides; this side cannot see how.
    Network,
    /// A volatile cache that is never flushed: not even fsync is safe.
    NeverFlushed,
    /// Memory: nothing is kept.
    Memory,
}

named! {
    Durability: WriteThrough "write through", WriteBackFua "write back with FUA",
        WriteBackFlush "write back, flushed", NeverFlushed "write back, never flushed",
        Memory "memory", Network "decided by a server", Unknown "unknown"
}

impl Durability {
    /// Which completed writes are durable, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Durability::WriteThrough => {
                "direct writes are durable when they complete, buffered writes after fsync"
            }
            Durability::WriteBackFua => "only fsync or O_SYNC makes writes durable",
            Durability::WriteBackFlush => {
                "only fsync or O_SYNC makes writes durable, by flushing the whole cache"
            }
            Durability::NeverFlushed => "not even fsync makes writes durable",
            Durability::Memory => "nothing written survives power loss",
            Durability::Network => "the server decides whether a write or fsync is durable",
            Durability::Unknown => "it is unknown whether completed writes are durable",
        }
    }

    /// Whether a direct write is kept once it completes, without fsync or O_SYNC; `None` when that
    /// cannot be told.
    pub fn keeps_completed(self) -> Option<bool> {
        match self {
            Durability::WriteThrough => Some(true),
            Durability::Network | Durability::Unknown => None,
            _ => Some(false),
        }
    }

    /// Whether fsync and O_SYNC keep what they should; `None` when that cannot be told.
    pub fn keeps_synced(self) -> Option<bool> {
        match self {
            Durability::WriteThrough | Durability::WriteBackFua | Durability::WriteBackFlush => {
                Some(true)
            }
            Durability::NeverFlushed | Durability::Memory => Some(false),
            Durability::Network | Durability::Unknown => None,
        }
    }
}

/// The durability class of a target, by the path the job names.
pub fn durability(facts: &Facts, target: &str) -> Durability {
    assess(facts, target).0
}

/// Why it is that class: the level of the stack and the setting that decide, without a full stop.
pub fn durability_reason(facts: &Facts, target: &str) -> String {
    assess(facts, target).1
}

fn assess(facts: &Facts, path: &str) -> (Durability, String) {
    let Some(target) = facts.targets.get(path) else {
        return (Durability::Unknown, format!("nothing is known about {path}"));
    };
    if let Some(decided) = classify_target(target) {
        return decided;
    }
    let stack: Vec<&DeviceFacts> =
        facts.stack_under(path).into_iter().filter_map(|name| facts.devices.get(name)).collect();
    if stack.is_empty() {
        let reason = match &target.filesystem {
            Some(f) => format!("no block device is visible below this {} filesystem", f.kind),
            None => "no block device is visible below it".to_owned(),
        };
        return (Durability::Unknown, reason);
    }
    let (class, reason) = classify_stack(&stack);
    if !matches!(class, Durability::WriteBackFua | Durability::WriteBackFlush) {
        return (class, reason);
    }
    match target.filesystem.as_ref().and_then(barriers_off) {
        Some(option) => (
            Durability::NeverFlushed,
            format!("{reason}, and mount option {option} forbids flushing it"),
        ),
        None => (class, reason),
    }
}

/// What the kind of target or of filesystem decides alone.
fn classify_target(target: &TargetFacts) -> Option<(Durability, String)> {
    if matches!(target.kind, TargetKind::Char | TargetKind::Fifo | TargetKind::Other) {
        return Some((Durability::Unknown, "it is not storage".to_owned()));
    }
    let filesystem = target.filesystem.as_ref()?;
    let kind = filesystem.kind.as_str();
    if filesystem.is_in_memory() {
        return Some((Durability::Memory, format!("{kind} keeps its files in memory")));
    }
    if filesystem.is_remote() {
        let reason = format!("{kind} leaves it to {}", filesystem.source);
        return Some((Durability::Network, reason));
    }
    if kind.starts_with("fuse") && filesystem.devices.is_empty() {
        let reason = format!("the program behind this {kind} filesystem decides");
        return Some((Durability::Network, reason));
    }
    None
}

/// The mount option that stops the filesystem from sending flushes.
pub(crate) fn barriers_off(filesystem: &FilesystemFacts) -> Option<&str> {
    let off = ["nobarrier", "barrier=0", "barrier=off", "barrier=none"];
    filesystem.options.iter().map(String::as_str).find(|option| off.contains(option))
}

/// The weakest durability of any level.
fn classify_stack(stack: &[&DeviceFacts]) -> (Durability, String) {
    let levels: Vec<&&DeviceFacts> =
        stack.iter().filter(|device| device.kind != DeviceKind::Partition).collect();
    if let Some(device) = levels.iter().find(|device| device.is_memory()) {
        return (Durability::Memory, format!("{} is made of memory", device.name));
    }
    if let Some(device) = levels.iter().find(|device| device.kind == DeviceKind::Network) {
        let reason = format!("{} is a disk of another machine", device.name);
        return (Durability::Network, reason);
    }
    let hidden = |device: &&&&DeviceFacts| {
        matches!(device.kind, DeviceKind::Loop { .. }) && device.below.is_empty()
    };
    if let Some(device) = levels.iter().find(hidden) {
        let reason = format!("the device behind the file of {} is not visible", device.name);
        return (Durability::Unknown, reason);
    }
    if let Some(lie) = levels.iter().find_map(|device| unflushed(device, &levels)) {
        return (Durability::NeverFlushed, lie);
    }
    // The highest of equally weak levels.
    let weakest = levels.iter().rev().map(|device| classify_device(device)).max_by_key(|(c, _)| *c);
    weakest.unwrap_or((Durability::WriteThrough, String::new()))
}

/// A volatile cache that the kernel sends no flush to: set to "write through" by hand while the
/// disk's cache is on, or below a level that passes none on.
fn unflushed(device: &DeviceFacts, levels: &[&&DeviceFacts]) -> Option<String> {
    if device.write_cache.as_deref() != Some("write through") {
        return None;
    }
    let own = device.health.as_ref().and_then(|health| health.volatile_write_cache);
    if own == Some(true) {
        return Some(format!(
            "{} has a volatile write cache, but the kernel treats it as write through and sends \
             no flush",
            device.name
        ));
    }
    let is_below = |other: &&&&DeviceFacts| {
        device.below.contains(&other.name) && other.write_cache.as_deref() == Some("write back")
    };
    let below = levels.iter().find(is_below)?;
    Some(format!(
        "{} does not pass flushes to the volatile write cache of {}",
        device.name, below.name
    ))
}

fn classify_device(device: &DeviceFacts) -> (Durability, String) {
    let name = &device.name;
    let off = device.health.as_ref().and_then(|health| health.volatile_write_cache) == Some(false);
    match (device.write_cache.as_deref(), device.fua) {
        (Some("write back"), _) if off => {
            (Durability::WriteThrough, format!("{name} reports that its write cache is off"))
        }
        (Some("write back"), Some(true)) => (
            Durability::WriteBackFua,
            format!("{name} has a volatile write cache and supports FUA"),
        ),
        (Some("write back"), _) => {
            (Durability::WriteBackFlush, format!("{name} has a volatile write cache without FUA"))
        }
        (Some("write through"), _) => {
            (Durability::WriteThrough, format!("{name} has no volatile write cache"))
        }
        _ => (Durability::Unknown, format!("{name} does not report whether it has a write cache")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Health;

    fn disk(name: &str, cache: &str, fua: bool, below: &[&str]) -> DeviceFacts {
        DeviceFacts {
            name: name.into(),
            write_cache: (!cache.is_empty()).then(|| cache.into()),
            fua: Some(fua),
            below: below.iter().map(|b| (*b).into()).collect(),
            ..DeviceFacts::default()
        }
    }

    fn facts(filesystem: Option<FilesystemFacts>, devices: Vec<DeviceFacts>) -> Facts {
        let target = TargetFacts {
            kind: TargetKind::File,
            filesystem,
            device: devices.first().map(|d| d.name.clone()),
            ..TargetFacts::default()
        };
        let mut facts = Facts::default();
        facts.targets.insert("x".into(), target);
        facts.devices = devices.into_iter().map(|d| (d.name.clone(), d)).collect();
        facts
    }

    fn mounted(kind: &str, options: &[&str]) -> Option<FilesystemFacts> {
        Some(FilesystemFacts {
            kind: kind.into(),
            source: "server:/export".into(),
            options: options.iter().map(|o| (*o).into()).collect(),
            ..FilesystemFacts::default()
        })
    }

    fn class(filesystem: Option<FilesystemFacts>, devices: Vec<DeviceFacts>) -> Durability {
        durability(&facts(filesystem, devices), "x")
    }

    #[test]
    fn the_write_cache_and_fua_decide_on_a_plain_disk() {
        let of = |cache, fua| class(None, vec![disk("sda", cache, fua, &[])]);
        assert_eq!(of("write back", true), Durability::WriteBackFua);
        assert_eq!(of("write back", false), Durability::WriteBackFlush);
        assert_eq!(of("write through", false), Durability::WriteThrough);
        assert_eq!(of("", false), Durability::Unknown);
    }

    #[test]
    fn the_worst_level_of_a_stack_decides_and_is_named() {
        let stack = vec![
            disk("md0", "write back", true, &["sda", "sdb"]),
            disk("sda", "write back", true, &[]),
            disk("sdb", "write back", false, &[]),
        ];
        let facts = facts(mounted("ext4", &[]), stack);
        assert_eq!(durability(&facts, "x"), Durability::WriteBackFlush);
        assert!(durability_reason(&facts, "x").starts_with("sdb "));
    }

    #[test]
    fn barriers_matter_only_over_a_volatile_cache() {
        let of = |option: &str, cache| {
            class(mounted("ext4", &["rw", option]), vec![disk("sda", cache, true, &[])])
        };
        assert_eq!(of("nobarrier", "write back"), Durability::NeverFlushed);
        assert_eq!(of("barrier=0", "write back"), Durability::NeverFlushed);
        assert_eq!(of("barrier", "write back"), Durability::WriteBackFua);
        assert_eq!(of("nobarrier", "write through"), Durability::WriteThrough);
    }

    #[test]
    fn a_cache_the_kernel_does_not_know_of_is_never_flushed() {
        let mut sda = disk("sda", "write through", false, &[]);
        sda.health = Some(Health { volatile_write_cache: Some(true), ..Health::default() });
        assert_eq!(class(None, vec![sda.clone()]), Durability::NeverFlushed);
        sda.write_cache = Some("write back".into());
        assert_eq!(class(None, vec![sda.clone()]), Durability::WriteBackFlush);
        sda.health = Some(Health { volatile_write_cache: Some(false), ..Health::default() });
        assert_eq!(class(None, vec![sda]), Durability::WriteThrough);
        let top = disk("dm-0", "write through", false, &["sda"]);
        let stack = vec![top, disk("sda", "write back", false, &[])];
        assert_eq!(class(None, stack), Durability::NeverFlushed);
    }

    #[test]
    fn memory_network_and_what_cannot_be_seen() {
        assert_eq!(class(mounted("tmpfs", &[]), vec![]), Durability::Memory);
        assert_eq!(class(mounted("nfs4", &[]), vec![]), Durability::Network);
        assert_eq!(class(mounted("fuse.sshfs", &[]), vec![]), Durability::Network);
        assert_eq!(class(mounted("overlay", &[]), vec![]), Durability::Unknown);
        let zram = DeviceFacts { kind: DeviceKind::Zram, ..disk("zram0", "", false, &[]) };
        assert_eq!(class(None, vec![zram]), Durability::Memory);
        let kind = DeviceKind::Loop { backing_file: "/dev/shm/image".into() };
        let hidden = DeviceFacts { kind, ..disk("loop0", "write back", false, &[]) };
        assert_eq!(class(None, vec![hidden]), Durability::Unknown);
        assert_eq!(durability(&Facts::default(), "y"), Durability::Unknown);
    }

    #[test]
    fn every_class_says_what_it_means_and_only_sure_ones_promise() {
        use Durability::*;
        for class in
            [WriteThrough, WriteBackFua, WriteBackFlush, NeverFlushed, Memory, Network, Unknown]
        {
            assert!(!class.name().is_empty() && !class.meaning().is_empty());
            if class.keeps_completed() == Some(true) {
                assert_eq!(class.keeps_synced(), Some(true), "{class:?}");
            }
        }
    }
}
