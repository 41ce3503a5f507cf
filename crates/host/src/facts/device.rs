//! One block device, as /sys/class/block describes it.

use super::transport::{self, Attachment};
use crate::{Host, bracketed};
use record::{Bytes, DeviceFacts, DeviceKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// /sys/class/block/NAME/size counts these, whatever the device's own block is.
const SECTOR_BYTES: u64 = 512;

/// Directory of a device in /sys.
pub(super) fn directory(name: &str) -> String {
    format!("/sys/class/block/{name}")
}

impl Host {
    /// Whether the kernel has a block device of this name.
    pub(super) fn is_device(&self, name: &str) -> bool {
        !name.is_empty() && self.exists(directory(name))
    }

    /// Kernel name of the block device with this "major:minor".
    pub(super) fn device_by_number(&self, dev: &str) -> Option<String> {
        let path = self.canonical(format!("/sys/dev/block/{dev}")).ok()?;
        Some(path.file_name()?.to_string_lossy().into_owned())
    }

    /// Path of the block device with this number, if there is one.
    pub fn device_path(&self, major: u32, minor: u32) -> Option<String> {
        let name = self.device_by_number(&format!("{major}:{minor}"))?;
        // The kernel writes "!" for "/" in the names of a few drivers ("cciss!c0d0").
        Some(format!("/dev/{}", name.replace('!', "/")))
    }

    /// The block device of the disk behind an sg or NVMe character device; `None` for other devices.
    pub(crate) fn block_device_of(&self, device: &Path) -> Option<String> {
        let name = device.strip_prefix("/dev").ok()?.to_str()?;
        if let Some(namespace) = name.strip_prefix("ng") {
            let block = format!("nvme{namespace}");
            return self.exists(format!("/sys/class/block/{block}")).then_some(block);
        }
        self.names(format!("/sys/class/scsi_generic/{name}/device/block")).pop()
    }

    /// Bytes of a flash device or a DAX device; `None` for other character devices.
    pub(crate) fn size_of_character(&self, device: &Path) -> Option<u64> {
        let name = device.strip_prefix("/dev").ok()?.to_str()?;
        let flash = self.number(format!("/sys/class/mtd/{name}/size"));
        flash.or_else(|| self.number(format!("/sys/bus/dax/devices/{name}/size")))
    }

    /// Kernel name of the block device that a path under /dev leads to.
    pub(crate) fn device_by_path(&self, path: impl AsRef<Path>) -> Option<String> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let path = path.as_ref();
        let canonical = self.canonical(path).unwrap_or_else(|_| path.to_path_buf());
        if self.is_live() {
            let metadata = std::fs::metadata(&canonical).ok()?;
            if metadata.file_type().is_block_device() {
                let number = metadata.rdev();
                let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
                return self.device_by_number(&format!("{major}:{minor}"));
            }
            return None;
        }
        // The kernel writes "!" for "/" in the names of a few drivers ("cciss!c0d0").
        let name = canonical.strip_prefix("/dev").ok()?.to_string_lossy().replace('/', "!");
        self.is_device(&name).then_some(name)
    }

    /// The whole disk of a partition.
    pub(super) fn disk_of_partition(&self, name: &str) -> Option<String> {
        let directory = directory(name);
        if !self.exists(format!("{directory}/partition")) {
            return None;
        }
        let path = self.canonical(directory).ok()?;
        Some(path.parent()?.file_name()?.to_string_lossy().into_owned())
    }

    /// The partitions of a disk.
    pub(super) fn partitions(&self, name: &str) -> Vec<String> {
        let directory = directory(name);
        let mut names = self.names(&directory);
        names.retain(|n| self.exists(format!("{directory}/{n}/partition")));
        names
    }

    /// Devices stacked directly on a device.
    pub(super) fn holders(&self, name: &str) -> Vec<String> {
        self.names(format!("{}/holders", directory(name)))
    }

    /// The backing file or device of a loop device, without the kernel's mark for an unlinked file.
    pub(crate) fn backing_file(&self, name: &str) -> Option<String> {
        let path = self.text(format!("{}/loop/backing_file", directory(name)))?;
        Some(path.strip_suffix(" (deleted)").unwrap_or(&path).to_owned())
    }

    /// Devices directly below according to /sys, which does not include the device under a loop's
    /// file.
    pub(super) fn below(&self, name: &str) -> Vec<String> {
        if let Some(disk) = self.disk_of_partition(name) {
            return vec![disk];
        }
        self.names(format!("{}/slaves", directory(name)))
    }

    /// Facts about a device from its own directory in /sys; `None` if there is no such device.
    pub(super) fn device(&self, name: &str) -> Option<DeviceFacts> {
        if !self.is_device(name) {
            return None;
        }
        let own = PathBuf::from(directory(name));
        let below = self.below(name);
        let disk = match self.disk_of_partition(name) {
            Some(disk) => PathBuf::from(directory(&disk)),
            None => own.clone(),
        };
        let kind = self.kind(name, &own);
        let real = self.canonical(&own).unwrap_or_default();
        let Attachment { transport, is_virtual } = transport::attachment(self, &kind, &disk, &real);
        let mut facts = DeviceFacts {
            name: name.to_owned(),
            dev: self.text(own.join("dev")).unwrap_or_default(),
            size: Bytes(self.number(own.join("size")).unwrap_or(0) * SECTOR_BYTES),
            alignment_offset: self.alignment_offset(&own),
            read_only: self.number(own.join("ro")) == Some(1),
            numa_node: self.numa_node(&real),
            power: self.power(&real),
            partition_start: self.number(own.join("start")).map(|n| Bytes(n * SECTOR_BYTES)),
            hardware_queues: self.hardware_queues(&disk),
            loop_direct_io: self.number(own.join("loop/dio")).map(|on| on == 1),
            kind,
            below,
            transport,
            is_virtual,
            ..DeviceFacts::default()
        };
        self.queue(&disk.join("queue"), &mut facts);
        if disk == own {
            self.identity(&own, &mut facts);
        }
        Some(facts)
    }

    fn kind(&self, name: &str, own: &Path) -> DeviceKind {
        let text = |file: &str| self.text(own.join(file));
        if self.exists(own.join("partition")) {
            return DeviceKind::Partition;
        }
        if let Some(dm_name) = text("dm/name") {
            let uuid = text("dm/uuid").unwrap_or_default();
            let subsystem = uuid.split_once('-').map_or("", |(first, _)| first).to_owned();
            return DeviceKind::DeviceMapper { name: dm_name, subsystem };
        }
        if self.exists(own.join("md")) {
            return DeviceKind::Md { level: text("md/level").unwrap_or_default() };
        }
        // A loop device without a file has the number but not this directory.
        if let Some(backing_file) = text("loop/backing_file") {
            return DeviceKind::Loop { backing_file };
        }
        match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "loop" => DeviceKind::Loop { backing_file: String::new() },
            "zram" => DeviceKind::Zram,
            "ram" => DeviceKind::Ram,
            "nbd" | "rbd" | "drbd" => DeviceKind::Network,
            _ => DeviceKind::Disk,
        }
    }

    /// The kernel says -1 if a stacked device is misaligned by several distances.
    fn alignment_offset(&self, own: &Path) -> Option<u64> {
        match self.text(own.join("alignment_offset"))?.parse::<i64>().ok()? {
            -1 => Some(u64::MAX),
            offset => u64::try_from(offset).ok(),
        }
    }

    /// Queues of the driver; `None` for stacked devices, which have no requests.
    fn hardware_queues(&self, disk: &Path) -> Option<u32> {
        Some(self.names(disk.join("mq")).len() as u32).filter(|queues| *queues > 0)
    }

    /// From the nearest directory above the device; the kernel says -1 for none.
    fn numa_node(&self, real: &Path) -> Option<i32> {
        let known = real.ancestors().take_while(|d| d.starts_with("/sys/devices"));
        let mut found = known.filter_map(|d| self.text(d.join("numa_node")));
        found.next()?.parse().ok().filter(|node| *node >= 0)
    }

    /// What may put the device or its link to sleep. The nearest directory above it that has a setting
    /// counts; the kernel's Documentation/ABI/testing/sysfs-devices-power and
    /// sysfs-class-scsi_host describe them.
    fn power(&self, real: &Path) -> BTreeMap<String, String> {
        let above = || real.ancestors().take_while(|d| d.starts_with("/sys/devices"));
        // The block device itself is never put to sleep.
        let runtime = above().skip(1).find_map(|d| self.text(d.join("power/control")));
        let host = above()
            .find(|d| d.file_name().is_some_and(|n| n.to_string_lossy().starts_with("host")));
        let link = host.and_then(|host| {
            let own = host.join("scsi_host").join(host.file_name()?);
            self.text(own.join("link_power_management_policy"))
        });
        let named = [("runtime", runtime), ("link", link)];
        named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    fn queue(&self, queue: &Path, facts: &mut DeviceFacts) {
        let text = |file: &str| self.text(queue.join(file)).filter(|t| !t.is_empty());
        let number = |file: &str| self.number(queue.join(file));
        let bytes = |file: &str| Bytes(number(file).unwrap_or(0));
        let kib = |file: &str| Bytes(number(file).unwrap_or(0) * 1024);
        (facts.scheduler, facts.schedulers) = schedulers(&text("scheduler").unwrap_or_default());
        facts.rotational = number("rotational").map(|n| n != 0);
        facts.logical_block = bytes("logical_block_size");
        facts.physical_block = bytes("physical_block_size");
        facts.io_min = bytes("minimum_io_size");
        facts.io_opt = bytes("optimal_io_size");
        facts.nr_requests = number("nr_requests");
        facts.read_ahead = kib("read_ahead_kb");
        facts.max_request = kib("max_sectors_kb");
        facts.write_cache = text("write_cache");
        facts.fua = number("fua").map(|n| n != 0);
        facts.discard_max = bytes("discard_max_bytes");
        facts.discard_max_hardware = bytes("discard_max_hw_bytes");
        facts.discard_granularity = bytes("discard_granularity");
        facts.zoned = text("zoned");
        if facts.zoned.as_deref().is_some_and(|zoned| zoned != "none") {
            facts.zone_size = Bytes(number("chunk_sectors").unwrap_or(0) * SECTOR_BYTES);
            facts.max_open_zones = number("max_open_zones").unwrap_or(0);
            facts.max_active_zones = number("max_active_zones").unwrap_or(0);
        }
    }

    /// Model, firmware and serial number. Each bus has its own file names.
    fn identity(&self, own: &Path, facts: &mut DeviceFacts) {
        let text = |file: &str| {
            let value = self.text(own.join(file))?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        // Virtio and others give the vendor as a PCI number; ATA disks behind SCSI have "ATA".
        let vendor = text("device/vendor").filter(|v| v != "ATA" && !v.starts_with("0x"));
        let model = text("device/model").or_else(|| text("device/name"));
        facts.model = match (vendor, model) {
            (Some(vendor), Some(model)) if !model.starts_with(&vendor) => {
                Some(format!("{vendor} {model}"))
            }
            (vendor, model) => model.or(vendor),
        };
        facts.firmware =
            ["firmware_rev", "rev", "fwrev"].iter().find_map(|f| text(&format!("device/{f}")));
        let vital = || serial_page(&self.bytes(own.join("device/vpd_pg80"))?);
        facts.serial = text("serial").or_else(|| text("device/serial")).or_else(vital);
    }
}

/// SCSI's unit serial number page: a header of four bytes, the last two the length, then ASCII.
fn serial_page(page: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let serial = page.get(4..)?;
    let serial = String::from_utf8_lossy(&serial[..length.min(serial.len())]).into_owned();
    let serial = serial.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
    (!serial.is_empty()).then_some(serial)
}

/// "none [mq-deadline] kyber": the one in brackets is active. A device without a queue of requests
/// has the bare word "none".
fn schedulers(text: &str) -> (Option<String>, Vec<String>) {
    let all: Vec<String> =
        text.split_whitespace().map(|word| word.trim_matches(['[', ']']).to_owned()).collect();
    let only = || (all.len() == 1).then(|| all[0].clone());
    (bracketed(text).map(str::to_owned).or_else(only), all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_active() {
        let (active, all) = schedulers("none [mq-deadline] kyber bfq");
        assert_eq!(active.as_deref(), Some("mq-deadline"));
        assert_eq!(all, ["none", "mq-deadline", "kyber", "bfq"]);
        assert_eq!(schedulers("none"), (Some("none".into()), vec!["none".into()]));
        assert_eq!(schedulers(""), (None, vec![]));
    }

    #[test]
    fn the_serial_page_may_lie_about_its_length() {
        assert_eq!(serial_page(b"\0\x80\0\x06  S3Z8").as_deref(), Some("S3Z8"));
        assert_eq!(serial_page(b"\0\x80\xff\xffAB\0").as_deref(), Some("AB"));
        assert_eq!(serial_page(b"\0\x80\0\x04    "), None);
        assert_eq!(serial_page(b"\0\x80"), None);
    }
}
