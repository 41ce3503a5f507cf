//! Block devices in display order, with their nesting.

use crate::Rates;
use record::{DeviceFacts, DeviceKind, distinct};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Devices, each stack from the top down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// One row for each device.
    pub rows: Vec<Row>,
}

/// A row of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Kernel name.
    pub name: String,
    /// A short description: "raid1", "vg-home", "disk.img"; empty for a plain disk.
    pub what: String,
    /// For each level above it, then for itself, whether another row of that level follows. The
    /// tree lines are drawn from this. Empty at the top.
    pub follows: Vec<bool>,
    /// The array, volume or filesystem of which it is one of several members; `None` for others.
    #[serde(rename = "legs_of")]
    pub member_of: Option<MemberOf>,
    /// Devices directly below it that are shown above, under another device.
    pub also_on: Vec<String>,
}

/// What a device is a member of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberOf {
    /// The device of this name.
    Device(String),
    /// The filesystem on all top devices.
    Filesystem,
}

impl Stack {
    /// The devices under a path on `tops`. A filesystem may span several.
    pub fn under(devices: &BTreeMap<String, DeviceFacts>, tops: &[String]) -> Stack {
        let mut builder = Builder { devices, partitions: true, rows: Vec::new() };
        let members = (tops.len() > 1).then_some(MemberOf::Filesystem);
        for top in tops {
            builder.descend(top, &[], members.as_ref());
        }
        Stack { rows: builder.rows }
    }

    /// All devices of a machine without partitions, which are replaced by their disks. Loop devices
    /// over files come last, because a desktop may have dozens.
    pub fn whole(devices: &BTreeMap<String, DeviceFacts>) -> Stack {
        let mut builder = Builder { devices, partitions: false, rows: Vec::new() };
        let mut names: Vec<&String> =
            devices.keys().filter(|name| !builder.is_partition(name)).collect();
        names.sort_by_key(|name| (builder.is_over_a_file(name), natural(name)));
        let stacked = |device: &&DeviceFacts| !builder.is_over_a_file(&device.name);
        let carries = |name: &String| {
            devices.values().filter(stacked).any(|device| builder.below(device).contains(name))
        };
        let tops: Vec<String> = names.into_iter().filter(|name| !carries(name)).cloned().collect();
        for top in tops {
            builder.descend(&top, &[], None);
        }
        Stack { rows: builder.rows }
    }

    /// Share of the reads of all members that a member served, in percent; `None` for other
    /// devices, or without reads.
    pub fn share_of_reads(&self, row: &Row, rates: &Rates) -> Option<f64> {
        let member_of = row.member_of.as_ref()?;
        let reads = |name: &str| rates.disks.get(name).map_or(0, |disk| disk.counted.read_ios);
        let members = self.rows.iter().filter(|other| other.member_of.as_ref() == Some(member_of));
        let all: u64 = members.map(|member| reads(&member.name)).sum();
        (all > 0).then(|| reads(&row.name) as f64 * 100.0 / all as f64)
    }

    /// Whether any device is a member.
    pub fn has_members(&self) -> bool {
        self.rows.iter().any(|row| row.member_of.is_some())
    }
}

struct Builder<'a> {
    devices: &'a BTreeMap<String, DeviceFacts>,
    partitions: bool,
    rows: Vec<Row>,
}

impl Builder<'_> {
    fn is_partition(&self, name: &str) -> bool {
        self.devices.get(name).is_some_and(|device| device.kind == DeviceKind::Partition)
    }

    /// Whether it is a loop device over a file.
    fn is_over_a_file(&self, name: &str) -> bool {
        let kind = self.devices.get(name).map(|device| &device.kind);
        matches!(kind, Some(DeviceKind::Loop { backing_file }) if !backing_file.starts_with("/dev/"))
    }

    /// The devices below a device, in natural order, with partitions replaced by disks if they are
    /// left out.
    fn below(&self, device: &DeviceFacts) -> Vec<String> {
        let shown = |name: &String| {
            let disk = self.devices.get(name).filter(|_| self.is_partition(name));
            let disk = disk.and_then(|partition| partition.below.first());
            disk.filter(|_| !self.partitions).unwrap_or(name).clone()
        };
        let mut below = distinct(device.below.iter().map(shown));
        below.sort_by_key(|name| natural(name));
        below
    }

    fn descend(&mut self, name: &str, follows: &[bool], member_of: Option<&MemberOf>) {
        if self.rows.iter().any(|row| row.name == name) {
            return;
        }
        let device = self.devices.get(name);
        let below = device.map(|device| self.below(device)).unwrap_or_default();
        let is_file = !self.partitions && self.is_over_a_file(name);
        let shown = |name: &String| is_file || self.rows.iter().any(|row| row.name == *name);
        let (also_on, new): (Vec<String>, Vec<String>) = below.iter().cloned().partition(shown);
        self.rows.push(Row {
            name: name.to_owned(),
            what: device.map(describe).unwrap_or_default(),
            follows: follows.to_vec(),
            member_of: member_of.cloned(),
            also_on,
        });
        let members = (below.len() > 1).then(|| MemberOf::Device(name.to_owned()));
        for (at, lower) in new.iter().enumerate() {
            let follows = [follows, &[at + 1 < new.len()]].concat();
            self.descend(lower, &follows, members.as_ref());
        }
    }
}

/// A description of a device whose name does not say enough.
fn describe(device: &DeviceFacts) -> String {
    match &device.kind {
        DeviceKind::DeviceMapper { name, .. } => name.clone(),
        DeviceKind::Md { level } => level.clone(),
        // Control characters could change the terminal.
        DeviceKind::Loop { backing_file } => backing_file
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .replace(|c: char| c.is_control(), "?"),
        DeviceKind::Disk
        | DeviceKind::Partition
        | DeviceKind::Zram
        | DeviceKind::Ram
        | DeviceKind::Network => String::new(),
    }
}

/// Orders "sdb" before "sdaa" and "loop9" before "loop10".
fn natural(name: &str) -> (String, usize, String, u64) {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[letters.len()..].parse().unwrap_or(0);
    let family: String = letters.chars().take(2).collect();
    (family, letters.chars().count(), letters.to_owned(), number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiskRates;
    use record::DiskSample;

    fn devices(list: &[(&str, DeviceKind, &[&str])]) -> BTreeMap<String, DeviceFacts> {
        let device = |(name, kind, below): &(&str, DeviceKind, &[&str])| {
            let below = below.iter().map(|b| (*b).to_owned()).collect();
            let facts = DeviceFacts {
                name: (*name).into(),
                kind: kind.clone(),
                below,
                ..Default::default()
            };
            ((*name).to_owned(), facts)
        };
        list.iter().map(device).collect()
    }

    fn md() -> DeviceKind {
        DeviceKind::Md { level: "raid1".into() }
    }

    fn mirror() -> BTreeMap<String, DeviceFacts> {
        devices(&[
            ("md0", md(), &["sdb1", "sda1"]),
            ("sda1", DeviceKind::Partition, &["sda"]),
            ("sdb1", DeviceKind::Partition, &["sdb"]),
            ("sda", DeviceKind::Disk, &[]),
            ("sdb", DeviceKind::Disk, &[]),
        ])
    }

    fn names(stack: &Stack) -> Vec<(&str, usize)> {
        stack.rows.iter().map(|row| (row.name.as_str(), row.follows.len())).collect()
    }

    #[test]
    fn under_a_path_every_level_is_shown() {
        let stack = Stack::under(&mirror(), &["md0".into()]);
        assert_eq!(names(&stack), [("md0", 0), ("sda1", 1), ("sda", 2), ("sdb1", 1), ("sdb", 2)]);
        assert_eq!(stack.rows[0].what, "raid1");
        assert_eq!(stack.rows[1].follows, [true]);
        assert_eq!(stack.rows[2].follows, [true, false]);
        assert_eq!(stack.rows[3].follows, [false]);
        let members: Vec<bool> = stack.rows.iter().map(|row| row.member_of.is_some()).collect();
        assert_eq!(members, [false, true, false, true, false]);
    }

    #[test]
    fn the_stack_of_a_machine_has_no_partitions() {
        let mut devices = mirror();
        devices.extend(super::tests::devices(&[
            (
                "dm-1",
                DeviceKind::DeviceMapper { name: "vg-root".into(), subsystem: "LVM".into() },
                &["sdc2"],
            ),
            (
                "dm-0",
                DeviceKind::DeviceMapper { name: "vg-home".into(), subsystem: "LVM".into() },
                &["sdc2"],
            ),
            ("sdc2", DeviceKind::Partition, &["sdc"]),
            ("sdc", DeviceKind::Disk, &[]),
            ("sdaa", DeviceKind::Disk, &[]),
            ("sdd", DeviceKind::Disk, &[]),
        ]));
        let stack = Stack::whole(&devices);
        assert_eq!(
            names(&stack),
            [
                ("dm-0", 0),
                ("sdc", 1),
                ("dm-1", 0),
                ("md0", 0),
                ("sda", 1),
                ("sdb", 1),
                ("sdd", 0),
                ("sdaa", 0)
            ]
        );
        assert_eq!(stack.rows[2].also_on, ["sdc"]);
        assert_eq!(stack.rows[2].what, "vg-root");
    }

    #[test]
    fn a_member_has_its_share_of_the_reads() {
        let stack = Stack::under(&mirror(), &["md0".into()]);
        let disk = |read_ios| DiskRates {
            counted: DiskSample { read_ios, ..DiskSample::default() },
            ..DiskRates::default()
        };
        let mut rates = Rates::default();
        assert_eq!(stack.share_of_reads(&stack.rows[1], &rates), None);
        rates.disks = [("sda1", 30), ("sdb1", 10), ("md0", 40)]
            .map(|(name, reads)| (name.to_owned(), disk(reads)))
            .into();
        assert_eq!(stack.share_of_reads(&stack.rows[1], &rates), Some(75.0));
        assert_eq!(stack.share_of_reads(&stack.rows[3], &rates), Some(25.0));
        assert_eq!(stack.share_of_reads(&stack.rows[0], &rates), None);
        assert_eq!(stack.share_of_reads(&stack.rows[2], &rates), None);
    }

    #[test]
    fn the_devices_of_one_filesystem_are_legs_too() {
        let devices = devices(&[("sda", DeviceKind::Disk, &[]), ("sdb", DeviceKind::Disk, &[])]);
        let stack = Stack::under(&devices, &["sda".into(), "sdb".into()]);
        assert!(
            stack.has_members()
                && stack.rows.iter().all(|row| row.member_of == Some(MemberOf::Filesystem))
        );
        assert!(!Stack::under(&devices, &["sda".into()]).has_members());
        assert_eq!(names(&Stack::under(&devices, &["gone".into()])), [("gone", 0)]);
    }

    #[test]
    fn a_loop_device_says_which_file_it_shows() {
        let kind = DeviceKind::Loop { backing_file: "/a/disk\u{1b}.img".into() };
        let stack = Stack::whole(&devices(&[("loop0", kind, &[])]));
        assert_eq!(stack.rows[0].what, "disk?.img");
    }

    #[test]
    fn loop_devices_over_files_come_last() {
        let over = |file: &str| DeviceKind::Loop { backing_file: file.into() };
        let devices = devices(&[
            ("loop0", over("/srv/one.img"), &["sda"]),
            ("loop1", over("/dev/sdb"), &["sdb"]),
            ("sda", DeviceKind::Disk, &[]),
            ("sdb", DeviceKind::Disk, &[]),
        ]);
        let whole = Stack::whole(&devices);
        assert_eq!(names(&whole), [("loop1", 0), ("sdb", 1), ("sda", 0), ("loop0", 0)]);
        assert_eq!(whole.rows[3].also_on, ["sda"]);
        let under = Stack::under(&devices, &["loop0".into()]);
        assert_eq!(names(&under), [("loop0", 0), ("sda", 1)]);
    }

    #[test]
    fn a_circle_or_a_device_that_is_its_own_leg_ends() {
        let circle = devices(&[("dm-0", md(), &["dm-1"]), ("dm-1", md(), &["dm-0"])]);
        assert_eq!(names(&Stack::under(&circle, &["dm-0".into()])), [("dm-0", 0), ("dm-1", 1)]);
        assert!(Stack::whole(&circle).rows.is_empty());
    }
}
