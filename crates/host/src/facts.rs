//! Facts before a run: the machine, the targets, and the devices under them.

mod device;
mod direct;
mod environment;
mod machine;
pub(crate) mod mounts;
mod signature;
mod target;
mod transport;
mod uses;

use crate::Host;
use crate::health::NoHealth;
pub use mounts::Mount;
use record::{DeviceFacts, DeviceKind, DirectLimits, Facts, FilesystemFacts};
use std::collections::BTreeMap;
use std::path::Path;

/// A target to examine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetQuery {
    /// As the job names it.
    pub path: String,
    /// Whether the job will write or trim it. If so, a device is opened exclusively for reading to
    /// see whether it is in use, and a directory is probed for its O_DIRECT alignment with an
    /// unnamed file.
    pub will_write: bool,
}

impl Host {
    /// Facts about the machine, each target and each block device below them. Never fails:
    /// [`Facts::unknown`] names what could not be read.
    ///
    /// Changes nothing: devices are opened for reading only.
    pub fn facts(&self, targets: &[TargetQuery]) -> Facts {
        self.survey(self.machine(), targets)
    }

    /// Facts about the machine alone.
    pub fn machine(&self) -> Facts {
        let mut facts = Facts::default();
        machine::machine(self, &mut facts);
        facts.environment = environment::environment(self, &mut facts.unknown);
        facts
    }

    /// Kernel names of all disks and stacked devices, in order, without partitions and empty
    /// devices (a loop device without a file, a card reader without a card).
    pub fn disks(&self) -> Vec<String> {
        let mut names = self.names("/sys/class/block");
        names.retain(|name| {
            let directory = device::directory(name);
            let holds = self.number(format!("{directory}/size")).is_some_and(|size| size > 0);
            let hidden = self.number(format!("{directory}/hidden")) == Some(1);
            holds && !hidden && !self.exists(format!("{directory}/partition"))
        });
        names
    }

    /// Facts about block devices and all devices below them, by kernel name.
    pub fn devices(&self, names: &[String]) -> BTreeMap<String, DeviceFacts> {
        let mut survey = Survey::new(self);
        names.iter().for_each(|name| survey.descend(name));
        survey.devices
    }

    /// Adds facts about each target and each block device below them, as [`Host::facts`] does.
    pub fn survey(&self, mut facts: Facts, targets: &[TargetQuery]) -> Facts {
        let mut survey = Survey::new(self);
        for query in merge_queries(targets) {
            let target = survey.target(&query);
            let under = target.filesystem.iter().flat_map(|f| &f.devices);
            let names: Vec<String> = target.device.iter().chain(under).cloned().collect();
            for name in names {
                survey.descend(&name);
            }
            facts.targets.insert(query.path, target);
        }
        facts.devices = survey.devices;
        facts.unknown.extend(survey.unknown);
        facts
    }
}

/// Each path once. It will be written if any of its queries says so.
fn merge_queries(queries: &[TargetQuery]) -> impl Iterator<Item = TargetQuery> {
    let mut will_write: BTreeMap<&str, bool> = BTreeMap::new();
    for query in queries {
        *will_write.entry(&query.path).or_default() |= query.will_write;
    }
    let query = |(path, will_write): (&str, bool)| TargetQuery { path: path.into(), will_write };
    will_write.into_iter().map(query)
}

/// Data that are read once for all targets, and the facts found so far.
struct Survey<'a> {
    host: &'a Host,
    mounts: Vec<Mount>,
    /// Loop devices with their backing files.
    loops: BTreeMap<String, String>,
    /// The devices of each mounted btrfs.
    btrfs: Vec<Vec<String>>,
    devices: BTreeMap<String, DeviceFacts>,
    /// The filesystem of each mount by its id, and the limits of O_DIRECT of each device: a job may have a
    /// million files on one of them.
    filesystems: BTreeMap<u64, FilesystemFacts>,
    limits: BTreeMap<String, Option<DirectLimits>>,
    unknown: Vec<String>,
}

impl<'a> Survey<'a> {
    fn new(host: &'a Host) -> Self {
        const BTRFS: &str = "/sys/fs/btrfs";
        let loops = host.names("/sys/class/block").into_iter().filter(|n| n.starts_with("loop"));
        let btrfs = host.names(BTRFS).into_iter();
        Self {
            host,
            mounts: host.mounts(),
            loops: loops.filter_map(|n| host.backing_file(&n).map(|f| (n, f))).collect(),
            btrfs: btrfs
                .map(|id| host.names(format!("{BTRFS}/{id}/devices")))
                .filter(|devices| !devices.is_empty())
                .collect(),
            devices: BTreeMap::new(),
            filesystems: BTreeMap::new(),
            limits: BTreeMap::new(),
            unknown: Vec::new(),
        }
    }

    /// The block devices of a mounted filesystem, that of its mount first; none for tmpfs, network
    /// filesystems and the like. Btrfs has an anonymous device number, so the mount source gives
    /// its first device and /sys/fs/btrfs the others.
    fn devices_of(&self, mount: &Mount) -> Vec<String> {
        let by_number = self.host.device_by_number(&mount.dev);
        let by_source = || {
            let path = mount.source.starts_with("/dev/").then_some(&mount.source)?;
            self.host.device_by_path(path)
        };
        let Some(first) = by_number.or_else(by_source) else { return Vec::new() };
        let mut devices = vec![first];
        if mount.kind == "btrfs" {
            let all = self.btrfs.iter().find(|all| all.contains(&devices[0]));
            let first = devices[0].clone();
            devices.extend(all.into_iter().flatten().filter(|d| **d != first).cloned());
        }
        devices
    }

    /// The mount that holds an existing path.
    fn mount_of(&self, canonical: &Path) -> Option<&Mount> {
        let id = self.host.is_live().then(|| mounts::mount_id(canonical)).flatten();
        mounts::covering(&self.mounts, canonical, id)
    }

    /// Records an unknown fact, once.
    fn add_unknown(&mut self, text: String) {
        if !self.unknown.contains(&text) {
            self.unknown.push(text);
        }
    }

    /// Adds a device and all devices below it.
    fn descend(&mut self, name: &str) {
        if self.devices.contains_key(name) {
            return;
        }
        let Some(mut device) = self.host.device(name) else { return };
        device.interrupts = self.host.interrupts(name);
        device.activity = self.host.activity(name);
        device.mounted_with_discard = self.is_mounted_with_discard(&device);
        if device.interrupts.iter().any(|interrupt| interrupt.cpus.is_empty()) {
            self.add_unknown(format!("{name}: the CPUs that serve its interrupts are unknown"));
        }
        if let DeviceKind::Loop { backing_file } = &device.kind {
            device.below = self.below_loop(name, &backing_file.clone());
        }
        match self.host.read_health(name) {
            Ok(health) => device.health = Some(health),
            Err(NoHealth::Forbidden) => {
                self.add_unknown(format!("{name}: {} ask it for its health", Facts::ROOT_ONLY));
            }
            Err(NoHealth::Unsupported) => {}
        }
        let below = device.below.clone();
        self.devices.insert(name.to_owned(), device);
        below.iter().for_each(|lower| self.descend(lower));
        // A device made of virtual disks is virtual.
        let is_virtual = |lower: &String| self.devices.get(lower).is_some_and(|d| d.is_virtual);
        let any = below.iter().any(is_virtual);
        if let Some(device) = self.devices.get_mut(name) {
            device.is_virtual |= any;
        }
    }

    /// Whether a filesystem on a device discards the blocks of files that are deleted.
    fn is_mounted_with_discard(&self, device: &DeviceFacts) -> bool {
        let discards = |mount: &&Mount| {
            mount.options.iter().any(|option| option == "discard" || option.starts_with("discard="))
        };
        let mut mounts = self.mounts.iter().filter(discards);
        mounts.any(|mount| mount.dev == device.dev || self.devices_of(mount).contains(&device.name))
    }

    /// The devices under the backing file of a loop device, or its backing device.
    fn below_loop(&mut self, name: &str, backing_file: &str) -> Vec<String> {
        let Some(file) = self.host.backing_file(name) else { return Vec::new() };
        if let Some(device) = self.host.device_by_path(&file) {
            return vec![device];
        }
        match self.mount_of(Path::new(&file)).filter(|_| file == backing_file) {
            Some(mount) => self.devices_of(mount),
            None => {
                self.add_unknown(format!(
                    "{name}: the device that holds its file {backing_file} is unknown"
                ));
                Vec::new()
            }
        }
    }
}
