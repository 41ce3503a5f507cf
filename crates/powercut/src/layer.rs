//! The layer that most likely broke the promises. What is known of the storage comes before what the
//! pattern of the losses suggests.

use crate::check::{Checked, ClassResult};
use crate::class::Class;
use crate::session::{Device, TargetIdentity};

/// Sentences on the likely layers, the most likely first. None if nothing is broken.
pub fn likely(checked: &Checked, target: &TargetIdentity) -> Vec<String> {
    let broken: Vec<&ClassResult> =
        checked.classes.iter().filter(|c| c.class.promises() && c.broken() > 0).collect();
    let mut layers = Vec::new();
    if broken.is_empty() {
        return layers;
    }
    if broken.iter().any(|class| class.misplaced > 0) {
        layers.push(
            "Mapping: data is at an address where it was not written. Suspects are the firmware of \
             the disk or controller, a RAID or dm layer, and the format of a virtual disk."
                .to_owned(),
        );
    }
    if broken.iter().any(|class| class.class == Class::Rename)
        && broken.iter().all(|class| class.class == Class::Rename)
        && checked.classes.iter().any(|class| class.class != Class::Rename && class.kept > 0)
    {
        layers.push(
            "Filesystem: only renames are broken; it does not make a directory durable when the \
             directory is synchronised."
                .to_owned(),
        );
    }
    layers.extend(of_settings(target));
    layers.extend(of_pattern(checked, &broken));
    layers
}

/// Settings that are known to break promises.
fn of_settings(target: &TargetIdentity) -> Vec<String> {
    let mut layers = Vec::new();
    if let Some(filesystem) = &target.filesystem {
        let is_off = |option: &&String| matches!(option.as_str(), "nobarrier" | "barrier=0");
        if let Some(option) = filesystem.options.iter().find(is_off) {
            layers.push(format!(
                "Mount option: {} at {} is mounted with {option}, so it sends no flush to the device.",
                filesystem.kind, filesystem.mount_point
            ));
        }
    }
    let through = |device: &&Device| device.write_cache.as_deref() == Some("write through");
    if let Some(Device { name, .. }) = target.devices.iter().find(through) {
        layers.push(format!(
            "Kernel setting: the kernel sends {name} no flush, because /sys/block/{name}/queue/\
             write_cache is 'write through'. The device or what is below it has a volatile cache all \
             the same."
        ));
    }
    if let Some(device) = target.devices.iter().find(|device| device.is_virtual) {
        layers.push(format!(
            "Hypervisor: {} is a virtual disk. QEMU's cache=unsafe ignores flushes, and other \
             hypervisors have the like.",
            device.name
        ));
    }
    layers
}

/// What the classes that lost and those that did not suggest.
fn of_pattern(checked: &Checked, broken: &[&ClassResult]) -> Option<String> {
    let is_kept = |through: bool| {
        let mut classes = checked.classes.iter().filter(|c| {
            c.class.promises() && c.class.is_write_through() == through && c.checked() > 0
        });
        let first = classes.next();
        first.is_some_and(|class| class.broken() == 0) && classes.all(|class| class.broken() == 0)
    };
    let sum = |count: fn(&ClassResult) -> u64| broken.iter().map(|class| count(class)).sum::<u64>();
    let text = match () {
        () if sum(|c| c.broken()) == sum(|c| c.misplaced) => return None,
        () if sum(|c| c.torn) * 2 > sum(|c| c.broken()) => {
            "Device or controller: writes are torn. It acknowledges a write of which it has stored only \
             some sectors."
        }
        () if is_kept(true) => {
            "Device or controller: a volatile write cache that ignores flushes; writes with force unit \
             access were kept."
        }
        () if is_kept(false) => {
            "Device or controller: force unit access (O_DSYNC) is ignored; flushes were honoured."
        }
        () => {
            "Device or controller: a volatile write cache whose content is acknowledged as durable. \
             Suspects are cheap disks, USB bridges, and controllers in write-back mode without a \
             working battery."
        }
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Filesystem;

    fn class(class: Class, old: u64, torn: u64, misplaced: u64) -> ClassResult {
        ClassResult {
            class,
            made: 100,
            replaced: 0,
            kept: 100 - old - torn - misplaced,
            lost: 0,
            old,
            torn,
            misplaced,
            reordered: 0,
        }
    }

    fn layers(classes: Vec<ClassResult>, target: &TargetIdentity) -> String {
        likely(&Checked { run: 1, classes, is_cut: true }, target).join("\n")
    }

    #[test]
    fn the_pattern_tells_flush_from_force_unit_access() {
        let plain = TargetIdentity::default();
        let text = layers(vec![class(Class::Dsync, 0, 0, 0), class(Class::Fsync, 9, 0, 0)], &plain);
        assert!(text.contains("ignores flushes"), "{text}");
        let text = layers(vec![class(Class::Dsync, 9, 0, 0), class(Class::Fsync, 0, 0, 0)], &plain);
        assert!(text.contains("force unit access (O_DSYNC) is ignored"), "{text}");
        let text = layers(vec![class(Class::Dsync, 9, 0, 0), class(Class::Fsync, 9, 0, 0)], &plain);
        assert!(text.contains("acknowledged as durable"), "{text}");
        assert!(layers(vec![class(Class::Fsync, 1, 9, 0)], &plain).contains("torn"));
        let text = layers(vec![class(Class::Fsync, 0, 0, 1)], &plain);
        assert!(text.starts_with("Mapping") && text.lines().count() == 1, "{text}");
    }

    #[test]
    fn settings_that_break_promises_are_named() {
        let device = |write_cache: &str, is_virtual| Device {
            name: "sda".into(),
            write_cache: Some(write_cache.into()),
            is_virtual,
            ..Device::default()
        };
        let lost = || vec![class(Class::Fsync, 9, 0, 0)];
        let mounted = Filesystem { options: vec!["nobarrier".into()], ..Filesystem::default() };
        let target = TargetIdentity { filesystem: Some(mounted), ..TargetIdentity::default() };
        assert!(layers(lost(), &target).starts_with("Mount option"));
        let target =
            TargetIdentity { devices: vec![device("write through", false)], ..Default::default() };
        assert!(layers(lost(), &target).starts_with("Kernel setting"));
        let target =
            TargetIdentity { devices: vec![device("write back", true)], ..Default::default() };
        assert!(layers(lost(), &target).starts_with("Hypervisor"));
        assert_eq!(layers(vec![class(Class::Fsync, 0, 0, 0)], &target), "");
    }

    #[test]
    fn renames_alone_accuse_the_filesystem() {
        let classes = vec![class(Class::Fsync, 0, 0, 0), class(Class::Rename, 9, 0, 0)];
        assert!(layers(classes, &TargetIdentity::default()).starts_with("Filesystem"));
    }
}
