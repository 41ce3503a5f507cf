//! Health of disks, by the protocol of each kind. The answers are parsed by pure functions.

mod ata;
mod bytes;
mod nvme;
mod scsi;

use crate::Host;
use record::Health;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

/// Why a disk's health is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoHealth {
    /// The device has no health data: a virtual disk, memory, a stacked device.
    Unsupported,
    /// Only root may query it.
    Forbidden,
}

impl Host {
    /// Health of a disk by kernel name; `None` if it has none or may not be queried. A sleeping
    /// disk is not woken.
    pub fn health(&self, device: &str) -> Option<Health> {
        self.read_health(device).ok()
    }

    pub(crate) fn read_health(&self, device: &str) -> Result<Health, NoHealth> {
        let kernel = self.kernel().ok_or(NoHealth::Unsupported)?;
        let protocol = self.protocol(device).ok_or(NoHealth::Unsupported)?;
        let disk = self.open_disk(device)?;
        let health = match protocol {
            Protocol::Nvme => nvme::query(kernel, &disk),
            Protocol::Scsi => ata::query(kernel, &disk).or_else(|| scsi::query(kernel, &disk)),
        };
        health.ok_or(NoHealth::Unsupported)
    }

    fn protocol(&self, device: &str) -> Option<Protocol> {
        let directory = format!("/sys/class/block/{device}");
        if self.exists(format!("{directory}/partition")) {
            return None;
        }
        if device.starts_with("nvme") {
            return Some(Protocol::Nvme);
        }
        // SCSI disks, and ATA disks behind SCSI, have this file.
        self.exists(format!("{directory}/device/scsi_level")).then_some(Protocol::Scsi)
    }

    fn open_disk(&self, device: &str) -> Result<File, NoHealth> {
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let path = self.real(format!("/dev/{device}"));
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
        opened.map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => NoHealth::Forbidden,
            _ => NoHealth::Unsupported,
        })
    }
}

enum Protocol {
    Nvme,
    Scsi,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_disks_are_queried_for_health() {
        assert_eq!(Host::at("/").read_health("no-such-disk"), Err(NoHealth::Unsupported));
    }
}
