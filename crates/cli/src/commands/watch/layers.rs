//! Times the layers of all I/Os of some disks.

use host::Host;
use layers::{Collector, Others, Scope, Settings, Unavailable, WatchedDevice};
use record::{DeviceFacts, DeviceKind, LayerSample};
use std::collections::{BTreeMap, BTreeSet};

/// Times I/Os until it is dropped.
pub struct DiskTimer {
    collector: Collector,
    host: Host,
    /// Paths of control groups by their numbers.
    cgroups: BTreeMap<u64, String>,
    /// The numbers for which the paths were read last, also of groups that were gone by then.
    looked_up: BTreeSet<u64>,
}

impl DiskTimer {
    /// Loads the programs for all of these devices that are whole disks.
    ///
    /// # Errors
    /// When the kernel does not allow that, or lacks what they need.
    pub fn start(
        devices: &BTreeMap<String, DeviceFacts>,
        host: Host,
    ) -> Result<DiskTimer, Unavailable> {
        let disks = devices.iter().filter(|(_, device)| device.kind != DeviceKind::Partition);
        let watched = |(name, device): (&String, &DeviceFacts)| WatchedDevice {
            name: name.clone(),
            number: device.dev.clone(),
        };
        let devices = disks.map(watched).collect();
        let mut collector =
            Collector::start(Settings { devices, scope: Scope::AllProcesses, sizes_apart: false })?;
        collector.attach()?;
        Ok(DiskTimer { collector, host, cgroups: BTreeMap::new(), looked_up: BTreeSet::new() })
    }

    /// What was timed so far; `None` if the kernel does not return it.
    pub fn sample(&mut self) -> Option<LayerSample> {
        let paths = self.collector.paths().ok()?;
        let paths = paths.into_iter().map(|path| path.into_sums(String::new())).collect();
        let others = self.collector.others().ok()?;
        let is_new = |other: &Others| other.cgroup != 0 && !self.looked_up.contains(&other.cgroup);
        if others.iter().any(is_new) {
            self.cgroups = self.host.io_cgroups();
            self.looked_up = others.iter().map(|other| other.cgroup).collect();
        }
        let processes = others.into_iter().map(|other| other.with_cgroup(&self.cgroups)).collect();
        Some(LayerSample { paths, processes })
    }
}
