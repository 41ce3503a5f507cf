//! Times the layers of all I/Os of some disks.

use host::Host;
use layers::{Collector, Others, Path, Settings, Unavailable, WatchedDevice, Whose};
use record::{DeviceFacts, DeviceKind, LayerSample, LayerSums, OtherRequests};
use std::collections::BTreeMap;

/// Times I/Os until it is dropped.
pub struct DiskTimer {
    collector: Collector,
    host: Host,
    /// Paths of control groups by their numbers. A new number makes it read again.
    cgroups: BTreeMap<u64, String>,
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
        let mut collector = Collector::start(Settings { devices, whose: Whose::Everyone })?;
        collector.attach()?;
        Ok(DiskTimer { collector, host, cgroups: BTreeMap::new() })
    }

    /// What was timed so far; `None` if the kernel does not return it.
    pub fn sample(&mut self) -> Option<LayerSample> {
        let sums = |Path { path, .. }: Path| LayerSums {
            job: String::new(),
            spans: path.spans(),
            device: path.device_name,
            direction: path.direction,
            ios: path.ios,
        };
        let paths = self.collector.paths().ok()?.into_iter().map(sums).collect();
        let others = self.collector.others().ok()?;
        if others.iter().any(|other| other.cgroup != 0 && !self.cgroups.contains_key(&other.cgroup))
        {
            self.cgroups = self.host.io_cgroups();
            // A group that is gone has no path.
            others.iter().for_each(|other| _ = self.cgroups.entry(other.cgroup).or_default());
        }
        let named = |Others { cgroup, requests }| OtherRequests {
            cgroup: self.cgroups.get(&cgroup).filter(|path| !path.is_empty()).cloned(),
            ..requests
        };
        Some(LayerSample { paths, processes: others.into_iter().map(named).collect() })
    }
}
