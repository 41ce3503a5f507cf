//! Where mkfs makes filesystems: on a loop device over a scratch file, or on a block device.

use crate::Error;
use crate::journal::{Entry, Journal};
use crate::programs::{run, text};
use host::{Host, TargetQuery};
use record::{Bytes, Facts, SplitMix64, TargetKind, Use};
use rustix::fs::{Advice, fadvise};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where filesystems are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MkfsTarget {
    /// A loop device with direct I/O over a temporary file.
    Scratch {
        /// The file's directory.
        directory: PathBuf,
        /// Its size.
        size: Bytes,
    },
    /// A block device. All data on it is lost.
    Device {
        /// Its path.
        path: String,
        /// Devices that the user allows to be overwritten.
        allow_destroy: Vec<String>,
    },
}

/// Size of each write that fills a scratch file, in bytes.
const FILL_BLOCK: usize = 4 << 20;

/// A device that is ready for mkfs.
pub(crate) struct AttachedDevice {
    /// Its path.
    pub device: String,
    /// Messages for the user.
    pub notes: Vec<String>,
}

impl MkfsTarget {
    /// Checks without a change that filesystems can be made there.
    pub(crate) fn check(&self, host: &Host) -> Result<(), Error> {
        match self {
            MkfsTarget::Scratch { directory, size } => check_room(directory, *size),
            MkfsTarget::Device { path, allow_destroy } => {
                check_overwritable(host, path, allow_destroy)
            }
        }
    }

    /// Creates and fills the scratch file, if it does not exist. Its blocks are allocated once, so that
    /// no cell measures their allocation.
    pub(crate) fn create_file(
        &self,
        journal: &mut Journal,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let MkfsTarget::Scratch { directory, size } = self else { return Ok(()) };
        let file = scratch_file(directory, journal)?;
        if file.exists() {
            return Ok(());
        }
        check_room(directory, *size)?;
        journal.record(vec![Entry::File { path: file.clone() }])?;
        fill(&file, *size, stop).map_err(|error| Error::io(&file, "cannot be filled", &error))
    }

    /// The block device for mkfs. A scratch file is attached to a loop device.
    pub(crate) fn attach(
        &self,
        host: &Host,
        journal: &mut Journal,
    ) -> Result<AttachedDevice, Error> {
        match self {
            MkfsTarget::Device { path, .. } => {
                self.check(host)?;
                Ok(AttachedDevice { device: path.clone(), notes: Vec::new() })
            }
            MkfsTarget::Scratch { directory, .. } => {
                let file = scratch_file(directory, journal)?;
                attach_loop(host, journal, &file)
            }
        }
    }
}

/// Path of the scratch file in `directory`, without symbolic links: the kernel reports the files of
/// loop devices in this form.
fn scratch_file(directory: &Path, journal: &Journal) -> Result<PathBuf, Error> {
    let directory = fs::canonicalize(directory)
        .map_err(|error| Error::io(directory, "cannot hold a scratch file", &error))?;
    Ok(directory.join(format!("fathom-scratch-{}.img", journal.name())))
}

fn attach_loop(host: &Host, journal: &mut Journal, file: &Path) -> Result<AttachedDevice, Error> {
    journal.record(vec![Entry::Loop { file: file.to_owned() }])?;
    run("losetup", &["--find", "--direct-io=on", text(file)?], journal)?;
    let Some(name) = host.loop_devices_over(file).into_iter().next() else {
        return Err(Error::failed(format!("{}: no loop device shows it", file.display())));
    };
    let is_direct =
        host.text(format!("/sys/class/block/{name}/loop/dio")).is_some_and(|dio| dio == "1");
    let note = format!(
        "{}: O_DIRECT is not available there, so I/O to the scratch filesystem passes the page cache \
         twice; name a directory on a filesystem of a disk",
        file.display()
    );
    let notes = if is_direct { Vec::new() } else { vec![note] };
    Ok(AttachedDevice { device: format!("/dev/{name}"), notes })
}

fn check_room(directory: &Path, size: Bytes) -> Result<(), Error> {
    let path = directory.display();
    let space = rustix::fs::statvfs(directory)
        .map_err(|e| Error::io(directory, "cannot hold a scratch file", &e.into()))?;
    if !directory.is_dir() {
        return Err(Error::usage(format!("{path} is no directory; name one for scratch files")));
    }
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if free < size.0 {
        return Err(Error::refused(format!(
            "{path}: a scratch file of {} bytes is needed for filesystems, and {free} are free: \
             name another directory or a smaller size",
            size.0
        )));
    }
    Ok(())
}

/// Refuses a device that is mounted, swap, part of another device or in use, and every device that
/// the user did not allow to be overwritten.
fn check_overwritable(host: &Host, path: &str, allowed: &[String]) -> Result<(), Error> {
    let query = TargetQuery { path: path.to_owned(), will_write: true };
    let facts = host.survey(Facts::default(), &[query]);
    let target = facts.targets.get(path).cloned().unwrap_or_default();
    if target.kind != TargetKind::Block {
        return Err(Error::refused(format!("{path} is not a block device")));
    }
    let name = target.device.map(|device| format!("/dev/{device}"));
    let names = [Some(path), Some(target.canonical.as_str()), name.as_deref()];
    if !allowed.iter().any(|allowed| names.contains(&Some(allowed.as_str()))) {
        return Err(Error::refused(format!(
            "{path}: making filesystems destroys all data on it; give --allow-destroy={path} to allow \
             that"
        )));
    }
    let in_use = target.uses.iter().find_map(|used| match used {
        Use::Mounted { mount_point, .. } => Some(format!("is mounted at {mount_point}")),
        Use::Swap { .. } => Some("is swapped to".to_owned()),
        Use::Holders { names } => Some(format!("is held by {}", names.join(", "))),
        Use::Busy { .. } => Some("is in use".to_owned()),
        Use::Partitions { .. } | Use::Signature { .. } => None,
    });
    match in_use {
        Some(why) => Err(Error::refused(format!("{path} {why}: end that first"))),
        None => Ok(()),
    }
}

/// Fills a new file with random data, so that all its blocks are allocated.
fn fill(path: &Path, size: Bytes, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    let mut block = vec![0; FILL_BLOCK];
    let (mut left, mut random) = (size.0, SplitMix64::new(0));
    while left > 0 {
        if stop() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "ended by a signal"));
        }
        block
            .chunks_exact_mut(8)
            .for_each(|word| word.copy_from_slice(&random.bits().to_le_bytes()));
        let length = left.min(FILL_BLOCK as u64);
        file.write_all(&block[..length as usize])?;
        left -= length;
    }
    file.sync_all()?;
    drop_from_cache(&file)
}

/// Drops the file from the page cache, which the loop device bypasses with direct I/O.
fn drop_from_cache(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}
