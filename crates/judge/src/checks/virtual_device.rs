//! Is the device a physical disk?

use super::prelude::*;
use record::DeviceKind;

pub(super) const CHECK: Check = Check {
    id: "virtual-device",
    question: "Is the device a physical disk?",
    evidence: "the kinds of the devices in the stack, the hypervisor, and filesystems without a device",
    threshold: "note when anything other than a physical disk serves the I/O",
    reason: "such a figure is valid for programs on the same stack, but not for a disk",
    cause: "the stack below the files ends in software",
    remedy: || {
        "name the device with the figure; to measure the disk, run on the host or on the disk itself".into()
    },
    proof: Proof::real(
        "checks/data.rs::a_loop_device_is_named_as_what_it_is",
        "a_real_disk_is_silent",
    ),
    function: CheckFunction::Part(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    let devices = part.devices.iter().filter_map(|name| case.device(name));
    let mut what: Vec<String> = devices.filter_map(|device| describe(case, device)).collect();
    what.extend(case.filesystems_of(part).into_iter().filter_map(|filesystem| {
        let network = filesystem.is_remote() || filesystem.kind.starts_with("fuse");
        network.then(|| {
            format!("{} is {} from {}", filesystem.mount_point, filesystem.kind, filesystem.source)
        })
    }));
    (!what.is_empty()).then(|| {
        let text = list(&what);
        CHECK.finding_for(part, Severity::Note, text)
    })
}

/// What a device is, when it is not a real disk.
fn describe(case: &Case, device: &DeviceFacts) -> Option<String> {
    let name = &device.name;
    Some(match &device.kind {
        DeviceKind::Loop { backing_file } => format!("{name} is the file {backing_file}"),
        DeviceKind::Zram => format!("{name} is compressed memory"),
        DeviceKind::Ram => format!("{name} is memory"),
        DeviceKind::Network => format!("{name} is a network block device"),
        // The device below a partition or a stack decides.
        _ if !device.below.is_empty() || !device.is_virtual => return None,
        _ => match &case.record.facts.cpu.hypervisor {
            Some(hypervisor) => format!("{name} is a virtual disk of {hypervisor}"),
            None => format!("{name} is a virtual device"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FILE, findings, job, record, the_finding};
    use super::*;
    use record::Direction;

    #[test]
    fn a_real_disk_is_silent() {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        assert!(findings(&record, CHECK.id).is_empty());
        record.facts.cpu.hypervisor = Some("KVM".into());
        record.facts.devices.get_mut("sda").unwrap().is_virtual = true;
        assert_eq!(the_finding(&record, CHECK.id).text, "sda is a virtual disk of KVM");
        let filesystem = record.facts.targets.get_mut(FILE).unwrap().filesystem.as_mut().unwrap();
        (filesystem.kind, filesystem.source) = ("nfs4".into(), "server:/export".into());
        assert!(the_finding(&record, CHECK.id).text.ends_with("/data is nfs4 from server:/export"));
    }
}
