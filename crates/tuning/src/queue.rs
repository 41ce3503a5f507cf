//! Settings of the queues of block devices: files in /sys with one value each.

use crate::journal::{Entry, Journal};
use crate::{Error, Setting};
use host::{Host, TargetQuery, bracketed};
use record::{DeviceKind, Facts, TargetFacts};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const SCHEDULER: &str = "scheduler";

/// The files of a setting for all devices under a target.
///
/// The scheduler and its requests belong to the topmost devices with requests of their own: a loop
/// device, not the disk under its file; each member of a RAID or volume, not the RAID itself.
/// Read-ahead belongs to the device of the filesystem or target: the volume itself, or btrfs.
pub(crate) fn files(host: &Host, setting: Setting, target: &str) -> Result<Vec<PathBuf>, Error> {
    let facts = survey(host, target);
    let fact = facts.targets.get(target).cloned().unwrap_or_default();
    let mut disks = BTreeSet::new();
    for name in devices(&fact) {
        match setting {
            Setting::ReadAhead => disks.extend(whole_disk(&facts, name)),
            _ => with_requests(&facts, name, &mut disks),
        }
    }
    let filesystem = fact.filesystem.as_ref().map_or("", |filesystem| &filesystem.kind);
    let file = |directory: String| PathBuf::from(directory).join(setting.name());
    let files: Vec<PathBuf> = match (setting, disks.first()) {
        (_, None) => Vec::new(),
        (Setting::ReadAhead, Some(disk)) if filesystem == "btrfs" => {
            host.btrfs_bdi_directory(disk).into_iter().map(file).collect()
        }
        _ => disks.iter().map(|disk| file(format!("/sys/class/block/{disk}/queue"))).collect(),
    };
    match files.iter().all(|file| host.exists(file)) && !files.is_empty() {
        true => Ok(files),
        false => Err(Error::refused(missing_setting_text(setting, target, &fact))),
    }
}

fn survey(host: &Host, target: &str) -> Facts {
    let query = TargetQuery { path: target.to_owned(), will_write: false };
    host.survey(Facts::default(), &[query])
}

/// Kernel names of the devices a target is or lies on.
fn devices(target: &TargetFacts) -> BTreeSet<&str> {
    let filesystem = target.filesystem.iter().flat_map(|filesystem| &filesystem.devices);
    target.device.iter().chain(filesystem).map(String::as_str).collect()
}

/// The disk of a partition, otherwise the device itself.
fn whole_disk(facts: &Facts, name: &str) -> Vec<String> {
    match facts.devices.get(name) {
        Some(device) if device.kind == DeviceKind::Partition => device.below.clone(),
        _ => vec![name.to_owned()],
    }
}

fn with_requests(facts: &Facts, name: &str, found: &mut BTreeSet<String>) {
    let Some(device) = facts.devices.get(name) else { return };
    let is_partition = device.kind == DeviceKind::Partition;
    if device.hardware_queues.is_some() && !is_partition {
        found.insert(name.to_owned());
        return;
    }
    for below in &device.below {
        with_requests(facts, below, found);
    }
}

fn missing_setting_text(setting: Setting, target: &str, fact: &TargetFacts) -> String {
    let name = setting.name();
    match (&fact.device, &fact.filesystem) {
        (Some(device), _) => {
            format!("{name}: {target} is on {device}, which has no {name} that could be set")
        }
        (None, Some(filesystem)) => format!(
            "{name}: {target} is on no block device but on {} at {}; name a place on a disk",
            filesystem.kind, filesystem.mount_point
        ),
        (None, None) => format!("{name}: {target} is on no block device; name a place on a disk"),
    }
}

/// Sets a file after recording its old value, and verifies it. Returns a message if the kernel
/// chose another value.
pub(crate) fn set(
    host: &Host,
    journal: &mut Journal,
    file: &Path,
    value: &str,
) -> Result<Option<String>, Error> {
    let current = read(host, file).ok_or_else(|| unreadable(file))?;
    if current == value {
        return Ok(None);
    }
    let original = original(journal, file).unwrap_or_else(|| current.clone());
    journal.record(entries_before_change(host, file, current))?;
    if original == value {
        return restore_file(host, journal, file).map(|()| None);
    }
    write(host, file, value).map_err(|error| write_error(host, file, value, &error))?;
    let became = read(host, file).ok_or_else(|| unreadable(file))?;
    match became == value {
        true => Ok(None),
        false if is_scheduler(file) => {
            Err(Error::failed(format!("{}: the kernel kept {became}", display_name(file))))
        }
        false => {
            Ok(Some(format!("{}: the kernel set {became} instead of {value}", display_name(file))))
        }
    }
}

/// The value of a file before this session changed it.
fn original(journal: &Journal, file: &Path) -> Option<String> {
    journal.entries().iter().find_map(|entry| match entry {
        Entry::Value { file: noted, old } if noted == file => Some(old.clone()),
        _ => None,
    })
}

/// The entries to record before a file is changed. A new scheduler starts with its own defaults,
/// drops the settings of the old one, and changes nr_requests and writeback throttling (wbt). These
/// are restored after the scheduler, so they are recorded before it.
fn entries_before_change(host: &Host, file: &Path, current: String) -> Vec<Entry> {
    let mut files = Vec::new();
    if is_scheduler(file) {
        let queue = file.parent().unwrap_or(file);
        let own = queue.join("iosched");
        files.extend(["nr_requests", "wbt_lat_usec"].map(|name| queue.join(name)));
        files.extend(host.names(&own).into_iter().map(|name| own.join(name)));
        files.retain(|file| is_writable(&host.real(file)));
    }
    let entry = |file: PathBuf| read(host, &file).map(|old| Entry::Value { file, old });
    let mut entries: Vec<Entry> = files.into_iter().filter_map(entry).collect();
    entries.push(Entry::Value { file: file.to_owned(), old: current });
    entries
}

fn is_writable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o200 != 0)
}

/// Restores a file, and for a scheduler the settings that depend on it. The entries stay recorded.
fn restore_file(host: &Host, journal: &Journal, file: &Path) -> Result<(), Error> {
    let queue = file.parent().unwrap_or(file);
    for entry in journal.entries().iter().rev() {
        let Entry::Value { file: noted, old } = entry else { continue };
        if noted == file || (is_scheduler(file) && noted.starts_with(queue)) {
            restore_value(host, noted, old)?;
        }
    }
    Ok(())
}

/// Restores all changed files, except those of the queues of `in_use`.
pub(crate) fn restore_other_files(
    host: &Host,
    journal: &Journal,
    in_use: &[PathBuf],
) -> Result<(), Error> {
    let used: Vec<&Path> = in_use.iter().filter_map(|file| file.parent()).collect();
    for entry in journal.entries().iter().rev() {
        if let Entry::Value { file, old } = entry
            && !used.iter().any(|queue| file.starts_with(queue))
        {
            restore_value(host, file, old)?;
        }
    }
    Ok(())
}

/// Restores the old value of a file. Returns what was done, if anything.
pub(crate) fn restore_value(host: &Host, file: &Path, old: &str) -> Result<Option<String>, Error> {
    if !file.starts_with("/sys") || file.components().any(|part| part.as_os_str() == "..") {
        return Err(Error::failed(format!("{}: not a file of /sys, left alone", file.display())));
    }
    // The settings of a removed device are gone.
    let Some(current) = read(host, file) else { return Ok(None) };
    if current == old {
        return Ok(None);
    }
    let what = format!("cannot be put back to {old}");
    write(host, file, old).map_err(|error| Error::io(file, &what, &error))?;
    match read(host, file) {
        Some(now) if now != old && host.is_live() => {
            Err(Error::failed(format!("{}: {what}, it is now {now}", display_name(file))))
        }
        _ => Ok(Some(format!("{} is {old} again", display_name(file)))),
    }
}

fn is_scheduler(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == SCHEDULER)
}

/// The value of a file; of a list of schedulers the active one.
fn read(host: &Host, file: &Path) -> Option<String> {
    let text = host.text(file)?;
    if !is_scheduler(file) {
        return Some(text);
    }
    Some(bracketed(&text).unwrap_or(text.trim()).to_owned())
}

fn write(host: &Host, file: &Path, value: &str) -> io::Result<()> {
    fs::write(host.real(file), value)
}

fn unreadable(file: &Path) -> Error {
    Error::refused(format!("{}: cannot be read", file.display()))
}

/// "sda: scheduler" for a file of a queue.
fn display_name(file: &Path) -> String {
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    match &parts[..] {
        [_, _, class, block, disk, queue, rest @ ..]
            if class == "class" && block == "block" && queue == "queue" =>
        {
            format!("{disk}: {}", rest.join("/"))
        }
        _ => file.display().to_string(),
    }
}

/// The error for a value that the kernel refused.
fn write_error(host: &Host, file: &Path, value: &str, error: &io::Error) -> Error {
    let (place, name) = (display_name(file), file.display());
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::refused(format!(
            "{place} cannot be set to {value}: only root may write {name}, and not in most containers \
             ({error})"
        )),
        ErrorKind::InvalidInput | ErrorKind::NotFound if is_scheduler(file) => {
            let offered = host.text(file).unwrap_or_default();
            let offered: Vec<&str> =
                offered.split_whitespace().map(|n| n.trim_matches(['[', ']'])).collect();
            Error::refused(format!(
                "{place} cannot be set to {value}: the kernel has no such scheduler for it, only {}",
                offered.join(", ")
            ))
        }
        ErrorKind::InvalidInput if name.to_string().ends_with("nr_requests") => {
            let scheduler = read(host, &file.with_file_name(SCHEDULER)).unwrap_or_default();
            Error::refused(format!(
                "{place} cannot be set to {value}: the kernel does not take it (with the scheduler \
                 none there can be no more than the driver has; it is now {scheduler})"
            ))
        }
        _ => Error::failed(format!("{place} cannot be set to {value}: {name}: {error}")),
    }
}

#[cfg(test)]
mod tests;
