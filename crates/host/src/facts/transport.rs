//! How a device is attached, from its path in /sys/devices.

use crate::Host;
use record::DeviceKind;
use std::path::Path;

/// How a device is attached.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attachment {
    /// "nvme", "sata", …; `None` for devices made of other devices.
    pub transport: Option<String>,
    /// A disk of a hypervisor, or one in memory or files.
    pub is_virtual: bool,
}

/// Drivers of disks in memory.
const IN_MEMORY: [&str; 3] = ["nullb", "brd", "zloop"];

/// Prefixes of the models of virtual disks.
const VIRTUAL_MODELS: [&str; 13] = [
    "QEMU",
    "VMware",
    "Virtual",
    "VBOX",
    "ORCL-VBOX",
    "Msft",
    "MSFT",
    "Microsoft NVMe",
    "Amazon E",
    "Google",
    "nvme_card",
    "OCI",
    "Parallels",
];

/// Parts of the path in /sys/devices that name the bus, the most specific first: a SATA disk may be
/// behind USB, and every SCSI disk is behind PCI.
const BUSES: [(&str, &str); 16] = [
    ("pseudo_", "memory"),
    ("session", "iscsi"),
    ("rport-", "fc"),
    ("usb", "usb"),
    ("end_device-", "sas"),
    ("ata", "sata"),
    ("virtio", "virtio"),
    ("MSFT1000", "hyperv"),
    ("VMBUS", "hyperv"),
    ("vbd-", "xen"),
    ("ufshc", "ufs"),
    ("mmc", "mmc"),
    ("ndbus", "nvdimm"),
    ("fw", "firewire"),
    ("nvme", "nvme"),
    ("host", "scsi"),
];

/// The attachment of a device. `disk` is the directory of the whole disk in /sys/class/block,
/// `real` that of the device itself in /sys/devices.
pub(super) fn attachment(host: &Host, kind: &DeviceKind, disk: &Path, real: &Path) -> Attachment {
    let virtual_on = |what: &str| Attachment { transport: Some(what.to_owned()), is_virtual: true };
    match kind {
        DeviceKind::Zram | DeviceKind::Ram => return virtual_on("memory"),
        DeviceKind::Loop { .. } => return virtual_on("file"),
        DeviceKind::Network => {
            return Attachment { transport: Some("network".into()), is_virtual: false };
        }
        DeviceKind::DeviceMapper { .. } | DeviceKind::Md { .. } => return Attachment::default(),
        DeviceKind::Disk | DeviceKind::Partition => {}
    }
    let disk_name = disk.file_name().unwrap_or_default().to_string_lossy();
    if IN_MEMORY.iter().any(|driver| disk_name.starts_with(driver)) {
        return virtual_on("memory");
    }
    let text = |file: &str| host.text(disk.join(file)).unwrap_or_default().trim().to_owned();
    let mut transport = bus(real).map(str::to_owned);
    if transport.as_deref() == Some("nvme") {
        transport = Some(nvme(host, disk));
    }
    // A SATA disk on a SAS controller has this vendor.
    if transport.as_deref() == Some("sas") && text("device/vendor") == "ATA" {
        transport = Some("sata".to_owned());
    }
    let by_bus = matches!(transport.as_deref(), Some("virtio" | "hyperv" | "xen" | "memory"));
    let of_hypervisor = |file: &str| {
        let value = text(file);
        VIRTUAL_MODELS.iter().any(|model| value.starts_with(model))
    };
    let is_virtual = by_bus || of_hypervisor("device/vendor") || of_hypervisor("device/model");
    Attachment { transport, is_virtual }
}

fn bus(real: &Path) -> Option<&'static str> {
    let names: Vec<_> = real.iter().map(|c| c.to_string_lossy()).collect();
    let is = |name: &str, bus: &str| {
        let ends = |c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | '_');
        let after = name.strip_prefix(bus).map(|rest| rest.chars().next().is_none_or(ends));
        // Named by address and function ("1d84000.ufshc").
        after.unwrap_or(bus == "ufshc" && name.ends_with(".ufshc"))
    };
    let found = BUSES.iter().find(|(bus, _)| names.iter().any(|name| is(name, bus)));
    found.map(|(_, transport)| *transport)
}

/// "nvme" on PCI, "nvme-tcp", "nvme-rdma" … over a fabric. With multipath the disk belongs to a
/// subsystem, which links its controllers.
fn nvme(host: &Host, disk: &Path) -> String {
    let device = disk.join("device");
    let own = host.text(device.join("transport"));
    let transport = own.or_else(|| {
        let names = host.names(&device);
        let mut controllers = names.iter().filter(|n| n.starts_with("nvme"));
        controllers.find_map(|n| host.text(device.join(n).join("transport")))
    });
    match transport.as_deref() {
        None | Some("pcie" | "apple-nvme") => "nvme".to_owned(),
        Some(fabric) => format!("nvme-{fabric}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_path(path: &str) -> Option<&'static str> {
        bus(Path::new(&format!("/sys/devices/{path}")))
    }

    #[test]
    fn paths_tell_the_bus() {
        let pci = "pci0000:00/0000:00:1f.2";
        let target = "host0/target0:0:0/0:0:0:0/block/sda";
        assert_eq!(of_path(&format!("{pci}/ata1/{target}")), Some("sata"));
        assert_eq!(of_path(&format!("{pci}/{target}/sda1")), Some("scsi"));
        assert_eq!(of_path(&format!("{pci}/usb2/2-1/2-1:1.0/{target}")), Some("usb"));
        let sas = "host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sda";
        assert_eq!(of_path(&format!("{pci}/{sas}")), Some("sas"));
        assert_eq!(of_path("platform/host2/session1/target2:0:0/2:0:0:1/block/sdb"), Some("iscsi"));
        assert_eq!(of_path(&format!("{pci}/host1/rport-1:0-2/{target}")), Some("fc"));
        assert_eq!(
            of_path("pseudo_0/adapter0/host3/target3:0:0/3:0:0:0/block/sdc"),
            Some("memory")
        );
        assert_eq!(of_path(&format!("{pci}/virtio1/block/vda")), Some("virtio"));
        assert_eq!(of_path(&format!("{pci}/virtio2/{target}")), Some("virtio"));
        assert_eq!(of_path("vbd-51712/block/xvda"), Some("xen"));
        assert_eq!(of_path(&format!("{pci}/nvme/nvme0/nvme0n1")), Some("nvme"));
        assert_eq!(of_path("virtual/nvme-subsystem/nvme-subsys0/nvme0n1"), Some("nvme"));
        assert_eq!(
            of_path("LNXSYSTM:00/ACPI0012:00/ndbus0/region0/namespace0.0/block/pmem0"),
            Some("nvdimm")
        );
        assert_eq!(
            of_path("pci0000:00/0000:00:1a.0/mmc_host/mmc0/mmc0:0001/block/mmcblk0"),
            Some("mmc")
        );
        assert_eq!(of_path("virtual/block/dm-0"), None);
    }
}
