//! What disks say of their own health. Each kind of disk is asked in its own language; the answers
//! are read by pure functions over their bytes.

mod ata;
mod nvme;
mod scsi;

use crate::Host;
use record::Health;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

/// Why a disk's health is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoHealth {
    /// It has none to tell: a virtual disk, memory, a stacked device.
    Unsupported,
    /// Only root may ask.
    Forbidden,
}

impl Host {
    /// Health of a whole disk, by kernel name; `None` where there is none to tell or it may not be
    /// asked. The disk is only asked, and not woken when it sleeps.
    pub fn health(&self, device: &str) -> Option<Health> {
        self.read_health(device).ok()
    }

    pub(crate) fn read_health(&self, device: &str) -> Result<Health, NoHealth> {
        let kernel = self.kernel().ok_or(NoHealth::Unsupported)?;
        let language = self.language(device).ok_or(NoHealth::Unsupported)?;
        let disk = self.open_disk(device)?;
        let health = match language {
            Language::Nvme => nvme::ask(kernel, &disk),
            Language::Scsi => ata::ask(kernel, &disk).or_else(|| scsi::ask(kernel, &disk)),
        };
        health.ok_or(NoHealth::Unsupported)
    }

    fn language(&self, device: &str) -> Option<Language> {
        let directory = format!("/sys/class/block/{device}");
        if self.exists(format!("{directory}/partition")) {
            return None;
        }
        if device.starts_with("nvme") {
            return Some(Language::Nvme);
        }
        // Disks that speak SCSI, or ATA through it, have the type of their device there.
        self.exists(format!("{directory}/device/scsi_level")).then_some(Language::Scsi)
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

enum Language {
    Nvme,
    Scsi,
}

/// A little-endian number of up to 8 bytes; `None` beyond the end.
fn little(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A big-endian number of up to 8 bytes; `None` beyond the end.
fn big(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_the_answer_ends() {
        let bytes = [1, 2, 3];
        assert_eq!((little(&bytes, 0, 2), big(&bytes, 0, 2)), (Some(0x0201), Some(0x0102)));
        assert_eq!((little(&bytes, 2, 2), big(&bytes, 3, 1)), (None, None));
        assert_eq!(little(&bytes, usize::MAX, 2), None);
    }

    #[test]
    fn what_is_no_disk_is_not_asked() {
        assert_eq!(Host::at("/").read_health("no-such-disk"), Err(NoHealth::Unsupported));
    }
}
