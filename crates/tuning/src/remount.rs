//! Mounting a filesystem of the user with other options, and restoring it.
//!
//! It is unmounted and mounted again. A remount in place cannot change or restore many options
//! (journalling modes, options without an opposite). So each cell also starts with an empty cache.

use crate::Error;
use crate::filesystem::must_be_root;
use crate::journal::{Journal, Remounted};
use crate::programs::{run, text, wait_until};
use host::{Host, Mount, TargetQuery};
use record::Facts;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Options of every mount that mountinfo always shows when they are set (proc_pid_mountinfo(5)).
const ALWAYS_SHOWN: &[&str] =
    &["ro", "rw", "noatime", "nodiratime", "relatime", "nosuid", "nodev", "noexec", "sync"];
/// Protective options with their opposites. They stay unless the value changes them.
const PROTECTIVE: &[(&str, &str)] =
    &[("ro", "rw"), ("nosuid", "suid"), ("nodev", "dev"), ("noexec", "exec")];
/// Shown by kernels with SELinux, but not accepted by mount.
const NOT_MOUNTABLE: &str = "seclabel";

/// The current mount at the mount point of a filesystem of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MountState {
    /// The filesystem with its old options.
    Unchanged,
    /// The filesystem with other options.
    Changed,
    /// No mount.
    Unmounted,
    /// Another filesystem.
    Covered,
}

/// The current mount.
pub(crate) fn state(host: &Host, before: &Remounted) -> MountState {
    let Some(now) = host.mounts().into_iter().rfind(|mount| mount.point == before.point) else {
        return MountState::Unmounted;
    };
    let place = |path: &str| fs::canonicalize(path).unwrap_or_else(|_| path.into());
    if place(&now.source) != place(&before.source) {
        return MountState::Covered;
    }
    let set = |options: &[String]| options.iter().cloned().collect::<BTreeSet<String>>();
    match set(&mountable_options(&now)) == set(&before.options) {
        true => MountState::Unchanged,
        false => MountState::Changed,
    }
}

/// The options of a mount that mount accepts.
fn mountable_options(mount: &Mount) -> Vec<String> {
    mount.options.iter().filter(|option| *option != NOT_MOUNTABLE).cloned().collect()
}

/// The filesystem of a target, if it may be unmounted.
pub(crate) fn find_mounted(host: &Host, target: &str) -> Result<Remounted, Error> {
    must_be_root("mount")?;
    let query = TargetQuery { path: target.to_owned(), will_write: false };
    let facts = host.survey(Facts::default(), &[query]);
    let held = facts.targets.get(target).and_then(|target| target.filesystem.clone());
    let Some(held) = held else {
        return Err(Error::refused(format!("mount: {target} is not in a filesystem; name a file")));
    };
    let mounts = host.mounts();
    let point = PathBuf::from(&held.mount_point);
    let Some(own) = mounts.iter().rfind(|mount| mount.point == point) else {
        return Err(Error::failed(format!("mount: {} is not mounted any more", point.display())));
    };
    let device = held.devices.first().cloned();
    if let Some(why) = reason_to_refuse(host, own, device.as_deref(), &mounts) {
        return Err(Error::refused(format!(
            "mount: {target} is on the filesystem at {}, which {why}; name a path on another \
             filesystem, or have one made with fs=",
            point.display()
        )));
    }
    let named = own.source.starts_with("/dev/") && Path::new(&own.source).exists();
    let by_name = device.map(|name| format!("/dev/{}", name.replace('!', "/")));
    let source = if named { own.source.clone() } else { by_name.unwrap_or_default() };
    Ok(Remounted { point, source, kind: own.kind.clone(), options: mountable_options(own) })
}

/// The reason not to unmount a mount, if any.
fn reason_to_refuse(
    host: &Host,
    own: &Mount,
    device: Option<&str>,
    mounts: &[Mount],
) -> Option<String> {
    let Some(device) = device else {
        return Some(format!("is not on a disk ({}) and would lose its data", own.kind));
    };
    if own.point == Path::new("/") {
        return Some("is the system's own".into());
    }
    let is_part = own.root != "/" && own.kind != "btrfs";
    let elsewhere = mounts.iter().find(|other| other.id != own.id && other.dev == own.dev);
    if let Some(other) = elsewhere {
        return Some(format!("is mounted at {} as well", other.point.display()));
    }
    if is_part {
        return Some(format!("shows only {} of its filesystem", own.root));
    }
    let below = |other: &&Mount| other.id != own.id && other.point.starts_with(&own.point);
    if let Some(other) = mounts.iter().find(below) {
        return Some(format!("has another mounted on it, at {}", other.point.display()));
    }
    let detaches = host.text(format!("/sys/class/block/{device}/loop/autoclear"));
    (detaches.as_deref() == Some("1")).then(|| "would lose its loop device when unmounted".into())
}

/// Whether nobody has the device's filesystem mounted, in any mount namespace (open(2), O_EXCL).
fn is_free(source: &str) -> bool {
    let exclusive = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::open(source, exclusive, Mode::empty()).err() != Some(Errno::BUSY)
}

/// Mounts a recorded filesystem with other options.
///
/// # Errors
/// It is in use, or the options are refused.
pub(crate) fn change(
    host: &Host,
    journal: &Journal,
    before: &Remounted,
    value: &str,
) -> Result<Vec<String>, Error> {
    let point = text(&before.point)?;
    let mut unmounted = Ok(());
    wait_until(|| {
        unmounted = run("umount", &[point], journal);
        unmounted.is_ok()
    });
    unmounted.map_err(|error| {
        Error::refused(format!(
            "mount={value}: {point} cannot be unmounted, probably because it is in use \
             (fuser -vm {point} shows by whom): {}",
            error.text
        ))
    })?;
    // The kernel would mount a filesystem that is still mounted elsewhere with its old options.
    if !wait_until(|| is_free(&before.source)) {
        return Err(Error::refused(format!(
            "mount={value}: {point} stays mounted in another mount namespace, such as that of a container \
             or a service (grep -l {point} /proc/[0-9]*/mountinfo shows by whom), and would keep its options"
        )));
    }
    let options = options(&before.options, value);
    let refused = |error: Error| Error::refused(format!("mount={value}: {}", error.text));
    mount(before, &options, journal).map_err(refused)?;
    let mount = host.mounts().into_iter().rfind(|mount| mount.point == before.point);
    let holds = mount.map(|mount| mount.options).unwrap_or_default();
    verify(point, value, &holds)
}

/// The value, with the protective ones of the old options.
fn options(before: &[String], value: &str) -> String {
    let given: Vec<&str> = value.split(',').collect();
    let kept = PROTECTIVE.iter().filter(|(option, opposite)| {
        before.iter().any(|b| b == option) && !given.contains(opposite) && !given.contains(option)
    });
    kept.map(|(option, _)| *option).chain(given.iter().copied()).collect::<Vec<_>>().join(",")
}

/// Compares the options that the kernel shows with the given ones. Returns a note for each that is
/// not shown, probably because it is the default.
fn verify(point: &str, value: &str, holds: &[String]) -> Result<Vec<String>, Error> {
    let missing = |option: &&str| !holds.iter().any(|held| held == option);
    let missing: Vec<&str> = value.split(',').filter(missing).collect();
    if let Some(option) = missing.iter().find(|option| ALWAYS_SHOWN.contains(option)) {
        return Err(Error::failed(format!(
            "mount={value}: {point} is mounted without {option} ({})",
            holds.join(",")
        )));
    }
    let note = |option: &str| {
        format!(
            "mount={value}: the kernel does not show {option} of {point}; it may be the default"
        )
    };
    let refused = missing.into_iter().filter(|option| *option != "defaults");
    Ok(refused.map(note).collect())
}

/// Mounts a filesystem of the user with its old options. If mount refuses them, it is mounted with
/// the common ones, and an error is returned. So it is where another mount namespace keeps it mounted
/// with other options.
///
/// # Errors
/// It could not be mounted, or not with all its options.
pub(crate) fn restore(host: &Host, before: &Remounted, journal: &Journal) -> Result<(), Error> {
    let all = before.options.join(",");
    let is_free = wait_until(|| is_free(&before.source));
    let point = before.point.display();
    let Err(error) = mount(before, &all, journal) else {
        if is_free || matches!(state(host, before), MountState::Unchanged) {
            return Ok(());
        }
        return Err(Error::failed(format!(
            "{point} is mounted again, but another mount namespace keeps it mounted and so keeps its options \
             from being those of before ({all}); when that is gone, restore again"
        )));
    };
    let common: Vec<&str> =
        before.options.iter().map(String::as_str).filter(|o| ALWAYS_SHOWN.contains(o)).collect();
    mount(before, &common.join(","), journal)?;
    Err(Error::failed(format!(
        "{point} is mounted again, but not with all its options ({all}): {}",
        error.text
    )))
}

fn mount(before: &Remounted, options: &str, journal: &Journal) -> Result<(), Error> {
    let point = text(&before.point)?;
    run("mount", &["-t", &before.kind, "-o", options, &before.source, point], journal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(options: &[&str]) -> Vec<String> {
        options.iter().map(|option| option.to_string()).collect()
    }

    #[test]
    fn protective_options_stay_unless_they_are_changed() {
        let before = strings(&["rw", "nosuid", "nodev", "relatime", "commit=30"]);
        assert_eq!(options(&before, "noatime"), "nosuid,nodev,noatime");
        assert_eq!(options(&before, "suid,nodev"), "suid,nodev");
        assert_eq!(options(&strings(&["ro"]), "rw,noatime"), "rw,noatime");
    }

    #[test]
    fn options_always_shown_must_be_there_and_others_are_noted() {
        let holds = strings(&["rw", "noatime", "data=writeback"]);
        assert!(verify("/m", "noatime,data=writeback,defaults", &holds).unwrap().is_empty());
        let told = verify("/m", "barrier", &holds).unwrap();
        assert!(told[0].contains("does not show barrier"), "{told:?}");
        let error = verify("/m", "relatime", &holds).unwrap_err().text;
        assert!(error.contains("without relatime"), "{error}");
    }

    #[test]
    fn mounts_that_others_need_are_left_alone() {
        let host = Host::at(tempfile::tempdir().unwrap().path());
        let mount = |id, dev: &str, root: &str, point: &str| Mount {
            id,
            dev: dev.into(),
            root: root.into(),
            point: point.into(),
            kind: "ext4".into(),
            ..Mount::default()
        };
        let own = mount(1, "8:1", "/", "/data");
        let why = |own: &Mount, others: &[Mount]| {
            let all = [std::slice::from_ref(own), others].concat();
            reason_to_refuse(&host, own, Some("sda1"), &all)
        };
        assert_eq!(why(&own, &[mount(2, "8:2", "/", "/database")]), None);
        assert!(why(&own, &[mount(2, "8:1", "/", "/other")]).unwrap().contains("/other as well"));
        assert!(why(&own, &[mount(2, "8:2", "/", "/data/b")]).unwrap().contains("at /data/b"));
        assert!(why(&mount(1, "8:1", "/", "/"), &[]).unwrap().contains("system's own"));
        assert!(why(&mount(1, "8:1", "/sub", "/data"), &[]).unwrap().contains("only /sub"));
        assert!(reason_to_refuse(&host, &own, None, &[]).unwrap().contains("not on a disk"));
    }
}
