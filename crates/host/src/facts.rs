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
use record::{DeviceFacts, DeviceKind, Facts};
use std::collections::BTreeMap;
use std::path::Path;

/// A path to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetQuery {
    /// As the job names it.
    pub path: String,
    /// Whether the job will write or trim it. A device then is asked, by an exclusive opening for
    /// reading, whether somebody claims it; a directory, by an unnamed file, for its O_DIRECT
    /// alignment.
    pub will_write: bool,
}

impl Host {
    /// Facts about the machine, each target and each block device below them. Never fails: what
    /// could not be read is named in [`Facts::unknown`].
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

    /// Kernel names of the whole disks and what is made of disks, in order: no partitions, and
    /// nothing that holds nothing (a loop device without a file, a card reader without a card).
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

    /// Facts about some block devices, by kernel name, and about each below them.
    pub fn devices(&self, names: &[String]) -> BTreeMap<String, DeviceFacts> {
        let mut survey = Survey::new(self);
        names.iter().for_each(|name| survey.descend(name));
        survey.devices
    }

    /// Adds to facts about the machine those about each target and each block device below them, as
    /// [`Host::facts`] does.
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

/// Each path once: many jobs may name one target, and one of them writing it is enough.
fn merge_queries(queries: &[TargetQuery]) -> impl Iterator<Item = TargetQuery> {
    let mut will_write: BTreeMap<&str, bool> = BTreeMap::new();
    for query in queries {
        *will_write.entry(&query.path).or_default() |= query.will_write;
    }
    let query = |(path, will_write): (&str, bool)| TargetQuery { path: path.into(), will_write };
    will_write.into_iter().map(query)
}

/// What is read once for all targets, and what is found on the way.
struct Survey<'a> {
    host: &'a Host,
    mounts: Vec<Mount>,
    /// Loop devices that show something, and what.
    loops: BTreeMap<String, String>,
    /// Of each multi-device filesystem the kernel has mounted, its devices.
    btrfs: Vec<Vec<String>>,
    devices: BTreeMap<String, DeviceFacts>,
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
            unknown: Vec::new(),
        }
    }

    /// The block devices a mounted filesystem lies on, that of its mount first; none for tmpfs,
    /// network and the like. Btrfs has an anonymous device number: there the source leads to its
    /// first device and /sys/fs/btrfs to the others.
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
        let id = self.host.is_live().then(|| direct::mount_id(canonical)).flatten();
        mounts::covering(&self.mounts, canonical, id)
    }

    /// Says once that something could not be found out.
    fn add_unknown(&mut self, text: String) {
        if !self.unknown.contains(&text) {
            self.unknown.push(text);
        }
    }

    /// Records a device and everything below it.
    fn descend(&mut self, name: &str) {
        if self.devices.contains_key(name) {
            return;
        }
        let Some(mut device) = self.host.device(name) else { return };
        device.interrupts = self.host.interrupts(name);
        device.activity = self.host.activity(name);
        if device.interrupts.iter().any(|interrupt| interrupt.cpus.is_empty()) {
            self.add_unknown(format!("{name}: which CPUs serve its interrupts is not told"));
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
        for lower in &below {
            self.descend(lower);
        }
        self.inherit_virtual(name, &below);
    }

    /// What is made of virtual disks is virtual.
    fn inherit_virtual(&mut self, name: &str, below: &[String]) {
        let is_virtual = |lower: &String| self.devices.get(lower).is_some_and(|d| d.is_virtual);
        let any = below.iter().any(is_virtual);
        if let Some(device) = self.devices.get_mut(name) {
            device.is_virtual |= any;
        }
    }

    /// The devices that hold the file of a loop device, or the device it shows.
    fn below_loop(&mut self, name: &str, backing_file: &str) -> Vec<String> {
        let Some(file) = self.host.backing_file(name) else { return Vec::new() };
        if let Some(device) = self.host.device_by_path(&file) {
            return vec![device];
        }
        match self.mount_of(Path::new(&file)).filter(|_| file == backing_file) {
            Some(mount) => self.devices_of(mount),
            None => {
                self.add_unknown(format!(
                    "{name}: which device holds its file {backing_file} is not known"
                ));
                Vec::new()
            }
        }
    }
}
