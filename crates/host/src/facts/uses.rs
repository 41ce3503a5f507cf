//! Uses of a block device that speak against overwriting it.

use super::Survey;
use super::mounts::unescape;
use super::signature::{Signature, signatures};
use record::{DeviceKind, Use};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;

impl Survey<'_> {
    /// All uses of a device. The device is only opened for reading; with `exclusively` also with
    /// O_EXCL, to see whether it is claimed.
    pub(super) fn uses(&mut self, name: &str, path: &str, exclusively: bool) -> Vec<Use> {
        let related = self.related(name);
        let mut uses = self.mounted(&related);
        uses.extend(self.swaps(&related));
        let partitions = self.host.partitions(name);
        if !partitions.is_empty() {
            uses.push(Use::Partitions { names: partitions });
        }
        // The disk of a partition may be a loop or dm device, which is below it, not on top.
        let disk = self.host.disk_of_partition(name);
        let other = |n: &&String| *n != name && disk.as_ref() != Some(*n);
        let holders: Vec<String> =
            related.iter().filter(|n| other(n) && self.is_stacked(n)).cloned().collect();
        if !holders.is_empty() {
            uses.push(Use::Holders { names: holders });
        }
        uses.extend(self.signatures_on(name, path));
        if exclusively {
            uses.extend(self.busy(name, path));
        }
        uses
    }

    /// All known uses of a device that /sys does not list.
    pub(super) fn uses_of_unlisted(
        &mut self,
        dev: &str,
        path: &str,
        exclusively: bool,
    ) -> Vec<Use> {
        let here = self.mounts.iter().filter(|m| m.dev == dev || m.source == path);
        let mounted = here.map(|mount| Use::Mounted {
            device: path.to_owned(),
            mount_point: mount.point.to_string_lossy().into_owned(),
        });
        let mut uses: Vec<Use> = mounted.collect();
        uses.extend(self.signatures_on(path, path));
        if exclusively {
            uses.extend(self.busy(path, path));
        }
        uses
    }

    /// The device and all others that a write to it affects: its partitions and the devices stacked
    /// on them; for a partition also its disk and the devices stacked on that; for a loop device
    /// also its backing device and other loop devices over the same file.
    fn related(&self, name: &str) -> BTreeSet<String> {
        let mut related = BTreeSet::new();
        let mut waiting = vec![name.to_owned()];
        if let Some(disk) = self.host.disk_of_partition(name) {
            waiting.extend(self.stacked_on(&disk));
            related.insert(disk);
        }
        if let Some(file) = self.host.backing_file(name) {
            waiting.extend(self.loop_devices_over(&file));
            waiting.extend(self.host.device_by_path(&file));
        }
        while let Some(next) = waiting.pop() {
            if related.insert(next.clone()) {
                waiting.extend(self.host.partitions(&next));
                waiting.extend(self.stacked_on(&next));
            }
        }
        related
    }

    /// Devices directly on a device: its holders, and loop devices, which are not listed as
    /// holders.
    fn stacked_on(&self, name: &str) -> Vec<String> {
        let mut names = self.host.holders(name);
        names.extend(self.loop_devices_over(&format!("/dev/{}", name.replace('!', "/"))));
        names
    }

    fn loop_devices_over(&self, file: &str) -> Vec<String> {
        let over = |name: &&String| self.loops.get(*name).is_some_and(|f| f == file);
        self.loops.keys().filter(over).cloned().collect()
    }

    /// Whether a device is stacked on another, and not a partition.
    fn is_stacked(&self, name: &str) -> bool {
        let kind = self.host.device(name).map(|d| d.kind);
        let below = !self.host.below(name).is_empty() && kind != Some(DeviceKind::Partition);
        below || matches!(kind, Some(DeviceKind::Loop { .. }))
    }

    fn mounted(&self, related: &BTreeSet<String>) -> Vec<Use> {
        let mut uses = Vec::new();
        for mount in &self.mounts {
            for device in self.devices_of(mount) {
                let mount_point = mount.point.to_string_lossy().into_owned();
                let mounted = Use::Mounted { device: device.clone(), mount_point };
                if related.contains(&device) && !uses.contains(&mounted) {
                    uses.push(mounted);
                }
            }
        }
        uses
    }

    fn swaps(&self, related: &BTreeSet<String>) -> Vec<Use> {
        let text = self.host.text("/proc/swaps").unwrap_or_default();
        let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        let devices = paths.filter_map(|path| self.host.device_by_path(unescape(path)));
        devices.filter(|d| related.contains(d)).map(|device| Use::Swap { device }).collect()
    }

    fn signatures_on(&mut self, name: &str, path: &str) -> Vec<Use> {
        let looked = File::open(self.host.real(path)).and_then(|mut file| signatures(&mut file));
        match looked {
            Ok(found) => {
                let signature = |s: Signature| Use::Signature {
                    device: name.to_owned(),
                    what: s.what.to_owned(),
                    offset: s.offset,
                };
                found.into_iter().map(signature).collect()
            }
            Err(error) => {
                self.add_unknown(format!(
                    "{path}: cannot be read, so what it holds (a filesystem, a partition table) \
                     was not checked: {error}"
                ));
                Vec::new()
            }
        }
    }

    /// Mounts, swap and stacked devices claim a device, and O_EXCL then fails. This also sees
    /// mounts of other namespaces, which /proc does not show.
    fn busy(&mut self, name: &str, path: &str) -> Option<Use> {
        if !self.host.is_live() {
            return None;
        }
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match open(path, flags, Mode::empty()) {
            Err(Errno::BUSY) => Some(Use::Busy { device: name.to_owned() }),
            Err(error) => {
                self.add_unknown(format!(
                    "{path}: whether it is opened exclusively was not checked: {error}"
                ));
                None
            }
            Ok(_) => None,
        }
    }
}
