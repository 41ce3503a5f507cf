//! The devices of which the counters are recorded.

use crate::machine::{device, filesystem};
use crate::model::{DiskWatch, Worker};
use record::{DeviceKind, Facts};

/// The devices under all targets, in order of first use, stacked ones before their members.
///
/// As in the oracle, a partition counts as its disk, a device mapper or md device is followed by
/// the disks directly below it, and a loop device has no members.
pub(crate) fn watch(workers: &[Worker], facts: &Facts) -> Vec<DiskWatch> {
    let mut list = Vec::new();
    let real =
        workers.iter().filter(|w| w.queue.engine.has_targets() && !w.queue.engine.sends_commands());
    for file in real.flat_map(|w| &w.files) {
        // A filesystem may be on several devices (btrfs).
        let devices = filesystem(facts, &file.path).into_iter().flat_map(|f| &f.devices);
        let first = device(facts, &file.path).map(|d| &d.name);
        for name in first.into_iter().chain(devices) {
            add(name, facts, &mut list);
        }
    }
    list
}

fn add(name: &str, facts: &Facts, list: &mut Vec<DiskWatch>) {
    let name = disk_of(name, facts);
    if list.iter().any(|d| d.name == name) {
        return;
    }
    let members = members(&name, facts);
    list.push(DiskWatch { name, members: members.clone() });
    for member in members {
        add(&member, facts, list);
    }
}

fn members(name: &str, facts: &Facts) -> Vec<String> {
    let Some(device) = facts.devices.get(name) else { return Vec::new() };
    if !matches!(device.kind, DeviceKind::DeviceMapper { .. } | DeviceKind::Md { .. }) {
        return Vec::new();
    }
    let mut members = Vec::new();
    for below in &device.below {
        let disk = disk_of(below, facts);
        if disk != name && !members.contains(&disk) {
            members.push(disk);
        }
    }
    members
}

/// The disk of a partition, otherwise the device itself.
pub(crate) fn disk_of(name: &str, facts: &Facts) -> String {
    match facts.devices.get(name) {
        Some(device) if device.kind == DeviceKind::Partition => {
            device.below.first().unwrap_or(&device.name).clone()
        }
        _ => name.into(),
    }
}
