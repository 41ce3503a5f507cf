//! What a capture is about: threads, files, disks.

use crate::commands::inspect;
use anyhow::Result;
use capture::{Disk, MountPoint, Naming, Settings, Who, parse_number};
use host::{Host, TargetQuery};
use record::Facts;
use runner::Refusal;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What the user asks for.
pub struct Wanted<'a> {
    pub path: Option<&'a OsStr>,
    pub pid: Option<u32>,
    pub group: Option<&'a Path>,
    pub is_command: bool,
    pub application: bool,
    pub device: bool,
    pub anonymous: bool,
}

/// What is captured, and how files are named.
pub struct Scope {
    pub settings: Settings,
    pub naming: Naming,
}

impl Scope {
    /// Looks at the machine.
    pub fn find(wanted: &Wanted<'_>) -> Result<Scope> {
        // No kernel interface: a capture must not send commands to a disk.
        let host = Host::at("/");
        let mounts = host.mounts();
        let target = match wanted.path {
            None => None,
            Some(path) => {
                let (path, metadata) =
                    inspect::existing(path, "capture").map_err(Refusal::usage)?;
                Some((path.to_owned(), metadata))
            }
        };
        let facts = match &target {
            Some((path, _)) => {
                let query = TargetQuery { path: path.clone(), will_write: false };
                host.survey(Facts::default(), &[query])
            }
            None => Facts { devices: host.devices(&host.disks()), ..Facts::default() },
        };
        let device = target.as_ref().and_then(|(_, metadata)| device_number(metadata));
        let mut naming = Naming {
            device,
            mounts: mounts.iter().filter_map(mount_point).collect(),
            anonymous: if wanted.anonymous { Some(runner::random_bytes()?) } else { None },
            ..Naming::default()
        };
        match (&target, device) {
            (Some(_), Some(device)) => {
                let on_it = naming.mounts.iter().filter(|mount| mount.number == device);
                naming.below = on_it.map(|mount| mount.path.clone()).collect();
                // Without a filesystem, only the device itself.
                naming.below.push(PathBuf::from("/nowhere"));
            }
            (Some((path, _)), None) => naming.below = vec![fs::canonicalize(path)?],
            (None, _) => {}
        }
        let settings = Settings {
            who: captured_threads(wanted, &host)?,
            application: wanted.application,
            device: wanted.device,
            only_device: only_device(target.as_ref().map(|(_, metadata)| metadata), device),
            disks: facts
                .devices
                .values()
                .filter_map(|facts| Disk::from_facts(facts, device))
                .collect(),
            only_these_disks: target.is_some(),
        };
        Ok(Scope { settings, naming })
    }
}

fn device_number(metadata: &fs::Metadata) -> Option<(u32, u32)> {
    metadata.file_type().is_block_device().then(|| number(metadata.rdev()))
}

fn number(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// The device on which all wanted files are. Filesystems without a device of their own number, as btrfs,
/// have files with another number than the kernel shows.
fn only_device(metadata: Option<&fs::Metadata>, device: Option<(u32, u32)>) -> Option<(u32, u32)> {
    let own = device.or_else(|| metadata.map(|metadata| number(metadata.dev())));
    own.filter(|(major, _)| *major != 0)
}

fn mount_point(mount: &host::Mount) -> Option<MountPoint> {
    (mount.root == "/").then_some(())?;
    Some(MountPoint { number: parse_number(&mount.dev)?, path: mount.point.clone() })
}

fn captured_threads(wanted: &Wanted<'_>, host: &Host) -> Result<Who> {
    if let Some(pid) = wanted.pid {
        let threads = fs::read_dir(format!("/proc/{pid}/task"))
            .map_err(|_| Refusal::usage(format!("--pid: there is no process {pid}")))?;
        let numbers =
            threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        return Ok(Who::Threads(numbers.collect()));
    }
    if let Some(group) = wanted.group {
        return self::group(group, host);
    }
    match wanted.is_command {
        true => Ok(Who::Threads(Vec::new())),
        false => Ok(Who::Everyone),
    }
}

/// The number of a control group is the inode of its directory.
fn group(group: &Path, host: &Host) -> Result<Who> {
    let mounts = host.mounts();
    let Some(root) = mounts.iter().find(|mount| mount.kind == "cgroup2") else {
        let why = "--cgroup: control groups of version 2 are not mounted: expected /sys/fs/cgroup";
        return Err(Refusal::usage(why));
    };
    let shown = group.display();
    let missing = |_| {
        Refusal::usage(format!("--cgroup: there is no group '{shown}' in {}", root.point.display()))
    };
    let directory = fs::canonicalize(root.point.join(group)).map_err(missing)?;
    let Ok(below) = directory.strip_prefix(&root.point) else {
        let why = format!("--cgroup: '{shown}' is no control group in {}", root.point.display());
        return Err(Refusal::usage(why));
    };
    let level = below.components().count() as u32;
    Ok(Who::Group(fs::metadata(&directory)?.ino(), level))
}
