//! Which devices of two runs are the same: a disk keeps its serial number, but not its kernel name
//! or its place in a list.

use crate::case::Case;
use record::{DeviceFacts, DeviceKind};
use std::collections::BTreeMap;

/// A device as both runs have it; `None` where a run did not use it.
type Pair<'a> = (Option<&'a DeviceFacts>, Option<&'a DeviceFacts>);

/// The devices of two runs, paired.
pub(super) struct DevicePairs<'a> {
    pairs: Vec<Pair<'a>>,
    /// Labels of the earlier run's devices and of the later run's, by kernel name. Devices of a pair
    /// have the same label.
    labels: [BTreeMap<&'a str, String>; 2],
}

/// Whether a device of the earlier run is found again in one of the later run.
type Rule = fn(&[&Case; 2], &DeviceFacts, &DeviceFacts) -> bool;

/// Rules by which a device is found again, the surest first.
const RULES: [Rule; 4] = [
    |cases, a, b| is_same(cases, a, b) == Some(true) && a.name == b.name,
    |cases, a, b| is_same(cases, a, b) == Some(true),
    |cases, a, b| is_same(cases, a, b).is_none() && a.name == b.name,
    // Another one takes its part.
    |_, _, _| true,
];

impl<'a> DevicePairs<'a> {
    /// Pairs the devices under the files of two runs.
    pub(super) fn find(earlier: &Case<'a>, later: &Case<'a>) -> DevicePairs<'a> {
        let cases = [earlier, later];
        let (olds, mut news) = (devices(earlier), devices(later));
        let mut partners: Vec<Option<&DeviceFacts>> = vec![None; olds.len()];
        for rule in RULES {
            for (old, partner) in olds.iter().zip(&mut partners).filter(|(_, p)| p.is_none()) {
                let fits = |new: &&DeviceFacts| kind(old) == kind(new) && rule(&cases, old, new);
                *partner = news.iter().position(fits).map(|place| news.remove(place));
            }
        }
        let both = olds.into_iter().zip(partners).map(|(old, new)| (Some(old), new));
        let pairs: Vec<Pair> = both.chain(news.into_iter().map(|new| (None, Some(new)))).collect();
        let labels = labels(&pairs);
        DevicePairs { pairs, labels }
    }

    /// The label of a device of the earlier run (0) or of the later run (1): "disk sda". `None` for one
    /// that only that run used.
    pub(super) fn label(&self, run: usize, device: &str) -> Option<&str> {
        self.labels[run].get(device).map(String::as_str)
    }

    /// What became of the devices, where they are not the same: what, before, after, and whether they
    /// are known to be other ones.
    pub(super) fn differences(&self, cases: &[&Case; 2]) -> Vec<(String, String, String, bool)> {
        let difference = |(old, new): &Pair| match (old, new) {
            (Some(old), Some(new)) => match is_same(cases, old, new) {
                Some(true) => None,
                Some(false) => {
                    Some((self.label(0, &old.name)?.into(), describe(old), describe(new), true))
                }
                None if old.name == new.name => None,
                None => {
                    let what = format!("name of {} {}", kind(old), old.name);
                    Some((what, old.name.clone(), new.name.clone(), false))
                }
            },
            (Some(old), None) => {
                Some((format!("{} {}", kind(old), old.name), describe(old), "none".into(), true))
            }
            (None, new) => {
                let new = new.as_ref()?;
                Some((format!("{} {}", kind(new), new.name), "none".into(), describe(new), true))
            }
        };
        self.pairs.iter().filter_map(difference).collect()
    }
}

fn labels<'a>(pairs: &[Pair<'a>]) -> [BTreeMap<&'a str, String>; 2] {
    let mut labels = [BTreeMap::new(), BTreeMap::new()];
    for (old, new) in pairs.iter().filter_map(|(old, new)| old.zip(*new)) {
        let label = match old.name == new.name {
            true => format!("{} {}", kind(old), old.name),
            false => format!("{} {} (later {})", kind(old), old.name, new.name),
        };
        labels[0].insert(old.name.as_str(), label.clone());
        labels[1].insert(new.name.as_str(), label);
    }
    labels
}

/// The devices under the files of a run, each once, those below others last.
fn devices<'a>(case: &Case<'a>) -> Vec<&'a DeviceFacts> {
    let mut found: Vec<&DeviceFacts> = Vec::new();
    let names = case.parts.iter().flat_map(|part| &part.devices);
    for device in names.filter_map(|name| case.device(name)) {
        if found.iter().all(|known| known.name != device.name) {
            found.push(device);
        }
    }
    found
}

/// Whether a device of the earlier run is that of the later run; `None` where neither run recorded what
/// tells devices apart.
fn is_same(cases: &[&Case; 2], old: &DeviceFacts, new: &DeviceFacts) -> Option<bool> {
    if let (DeviceKind::Partition, DeviceKind::Partition) = (&old.kind, &new.kind) {
        let old_disk = cases[0].device(old.below.first()?)?;
        let new_disk = cases[1].device(new.below.first()?)?;
        let number = |partition: &DeviceFacts, disk: &DeviceFacts| {
            partition.name.strip_prefix(&disk.name).map(str::to_owned)
        };
        let is_same_number = number(old, old_disk) == number(new, new_disk);
        return is_same(cases, old_disk, new_disk).map(|same| same && is_same_number);
    }
    Some(identity(old)? == identity(new)?)
}

/// What a device keeps from boot to boot.
fn identity(device: &DeviceFacts) -> Option<&str> {
    match &device.kind {
        DeviceKind::DeviceMapper { name, .. } => Some(name.as_str()),
        _ => device.serial.as_deref(),
    }
    .filter(|text| !text.is_empty())
}

/// "sdb, serial number 1234", "dm-0, data-home".
fn describe(device: &DeviceFacts) -> String {
    let number = if device.serial.is_some() { "serial number " } else { "" };
    match identity(device) {
        Some(identity) => format!("{}, {number}{identity}", device.name),
        None => device.name.clone(),
    }
}

/// A device's kind in a word.
pub(super) fn kind(device: &DeviceFacts) -> &str {
    match &device.kind {
        DeviceKind::Disk => "disk",
        DeviceKind::Partition => "partition",
        DeviceKind::DeviceMapper { subsystem, .. } if !subsystem.is_empty() => subsystem,
        DeviceKind::DeviceMapper { .. } => "device mapper",
        DeviceKind::Md { level } => level,
        DeviceKind::Loop { .. } => "loop",
        DeviceKind::Zram => "zram",
        DeviceKind::Ram => "RAM disk",
        DeviceKind::Network => "network disk",
    }
}
