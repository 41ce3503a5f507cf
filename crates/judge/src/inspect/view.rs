//! A target and what lies below it, as the sections ask for it.

use super::section::{Mark, Row};
use record::{DeviceFacts, DeviceKind, Facts, FilesystemFacts, TargetFacts, TargetKind};
use std::sync::LazyLock;

/// Stands for a target without facts.
static NOTHING: LazyLock<TargetFacts> = LazyLock::new(TargetFacts::default);

pub(super) struct View<'a> {
    pub facts: &'a Facts,
    pub path: &'a str,
    pub target: &'a TargetFacts,
    /// All devices, each before those below it.
    pub stack: Vec<&'a DeviceFacts>,
    /// Those with nothing below them.
    pub disks: Vec<&'a DeviceFacts>,
}

impl<'a> View<'a> {
    pub fn new(facts: &'a Facts, path: &'a str) -> View<'a> {
        let stack: Vec<&DeviceFacts> = facts
            .stack_under(path)
            .into_iter()
            .filter_map(|name| facts.devices.get(name))
            .collect();
        let disks = stack.iter().copied().filter(|device| device.below.is_empty()).collect();
        let target = facts.targets.get(path).unwrap_or(&NOTHING);
        View { facts, path, target, stack, disks }
    }

    pub fn filesystem(&self) -> Option<&'a FilesystemFacts> {
        self.target.filesystem.as_ref()
    }

    /// Whether the path is a device rather than a place for files.
    pub fn is_device(&self) -> bool {
        self.target.kind == TargetKind::Block
    }

    /// Devices with a queue of their own: all but partitions.
    pub fn queues(&self) -> impl Iterator<Item = &'a DeviceFacts> {
        self.stack.iter().copied().filter(|device| device.kind != DeviceKind::Partition)
    }

    /// Whether any disk is of this sort.
    pub fn any(&self, is: impl Fn(&DeviceFacts) -> bool) -> bool {
        self.disks.iter().any(|disk| is(disk))
    }

    /// A mount option.
    pub fn option(&self, name: &str) -> bool {
        self.filesystem().is_some_and(|f| f.options.iter().any(|option| option == name))
    }

    /// Names of the disks: "sdb and sdc".
    pub fn disk_names(&self) -> String {
        let names: Vec<&str> = self.disks.iter().map(|disk| disk.name.as_str()).collect();
        record::human::list(&names)
    }
}

pub(super) fn row(label: impl Into<String>, value: impl Into<String>, mark: Mark) -> Row {
    Row { label: label.into(), value: value.into(), mark }
}

/// A disk of another machine.
pub(super) fn is_remote(device: &DeviceFacts) -> bool {
    let fabric = |transport: &str| transport == "iscsi" || transport.starts_with("nvme-");
    device.kind == DeviceKind::Network || device.transport.as_deref().is_some_and(fabric)
}

/// Whether a device can report its health: it is a disk, neither memory nor provided by a hypervisor.
pub(super) fn has_health(device: &DeviceFacts) -> bool {
    let by_host = matches!(device.transport.as_deref(), Some("virtio" | "xen" | "hyperv"));
    device.kind == DeviceKind::Disk && !by_host && !device.is_memory()
}

/// CPU numbers as the kernel lists them: "0-3,8".
pub(super) fn cpu_ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn adjacent_cpus_are_a_range() {
        assert_eq!(super::cpu_ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }
}
