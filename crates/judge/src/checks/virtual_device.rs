//! What is it that was measured?

use super::check::{Check, How, Look, Proof};
use super::words::list;
use crate::case::{Case, Part};
use crate::finding::Finding;
use record::{DeviceFacts, DeviceKind, Severity};

pub(super) const CHECK: Check = Check {
    id: "virtual-device",
    question: "What is it that was measured?",
    evidence: "the kinds of the devices in the stack, the hypervisor, and filesystems without a device",
    threshold: "note whenever something other than a real disk answers",
    reason: "such a figure is right for programs that run on the same stack and says nothing of a disk",
    cause: "the stack under the files ends in something made by software",
    remedy: || {
        "name it with the figure; measure the host, or the disk itself, where the disk is the question".into()
    },
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks/data.rs::a_loop_device_is_named_as_what_it_is",
        silent: "crates/judge/src/checks/virtual_device.rs::a_real_disk_is_silent",
    },
    look: Look::Run(look),
};

const NETWORK: [&str; 9] =
    ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "glusterfs", "lustre"];

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(|part| about(case, part)).collect()
}

fn about(case: &Case, part: &Part) -> Option<Finding> {
    let devices = part.devices.iter().filter_map(|name| case.device(name));
    let mut what: Vec<String> = devices.filter_map(|device| describe(case, device)).collect();
    what.extend(case.filesystems_of(part).into_iter().filter_map(|filesystem| {
        let kind = filesystem.kind.trim_start_matches("fuse.");
        let network = NETWORK.contains(&kind) || filesystem.kind.starts_with("fuse");
        network.then(|| {
            format!("{} is {} from {}", filesystem.mount_point, filesystem.kind, filesystem.source)
        })
    }));
    (!what.is_empty()).then(|| {
        let text = list(&what);
        CHECK.finding(Severity::Note, vec![part.name.to_owned()], text)
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
        // A partition is what its disk is, and so is what is stacked.
        _ if !device.below.is_empty() || !device.is_virtual => return None,
        _ => match &case.record.facts.cpu.hypervisor {
            Some(hypervisor) => format!("{name} is a disk that {hypervisor} provides"),
            None => format!("{name} is made by software"),
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
        assert_eq!(the_finding(&record, CHECK.id).text, "sda is a disk that KVM provides");
        let filesystem = record.facts.targets.get_mut(FILE).unwrap().filesystem.as_mut().unwrap();
        (filesystem.kind, filesystem.source) = ("nfs4".into(), "server:/export".into());
        assert!(the_finding(&record, CHECK.id).text.ends_with("/data is nfs4 from server:/export"));
    }
}
