//! Filesystems made for a cell.

use crate::Error;
use crate::journal::{Entry, Journal};
use crate::mkfs_target::MkfsTarget;
use crate::programs::{find, run, text};
use host::Host;
use record::Nanos;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Instant;

/// A new filesystem.
pub(crate) struct Filesystem {
    /// Mount point.
    pub point: PathBuf,
    /// Messages for the user.
    pub notes: Vec<String>,
    /// How long mkfs took.
    pub mkfs_time: Nanos,
}

/// Options of mkfs: quiet and without questions; on a scratch file without discards, which would
/// free its blocks; for ext4 without lazy initialization, which would run during the measurement.
fn arguments(kind: &str, keeps_blocks: bool) -> Vec<&'static str> {
    let (always, whole): (&[&str], &[&str]) = match kind {
        "ext2" | "ext3" | "ext4" if keeps_blocks => {
            return vec!["-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"];
        }
        "ext2" | "ext3" | "ext4" => {
            (&["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"], &[])
        }
        "xfs" | "btrfs" | "nilfs2" => (&["-q", "-f"], &["-K"]),
        "f2fs" => (&["-q", "-f"], &["-t", "0"]),
        "bcachefs" => (&["-q", "-f"], &[]),
        "ntfs" => (&["-q", "-Q", "-F"], &[]),
        "jfs" => (&["-q"], &[]),
        "fat" | "msdos" | "vfat" => (&["-I"], &[]),
        _ => (&[], &[]),
    };
    [always, if keeps_blocks { whole } else { &[] }].concat()
}

/// Checks that a type of filesystem can be made here.
///
/// # Errors
/// Its mkfs is missing, or the user is not root.
pub(crate) fn check(kind: &str) -> Result<(), Error> {
    let missing = |error: Error| Error { text: format!("fs={kind}: {}", error.text), ..error };
    for program in [&format!("mkfs.{kind}"), "wipefs", "mount", "umount", "losetup"] {
        find(program).map_err(missing)?;
    }
    must_be_root("fs")
}

/// # Errors
/// The user is not root.
pub(crate) fn must_be_root(setting: &str) -> Result<(), Error> {
    match rustix::process::geteuid().is_root() {
        true => Ok(()),
        false => Err(Error::refused(format!(
            "{setting}: only root may mount filesystems; run it with sudo"
        ))),
    }
}

/// Makes a filesystem on the target and mounts it in a directory of its own.
pub(crate) fn make(
    host: &Host,
    journal: &mut Journal,
    mkfs_target: &MkfsTarget,
    kind: &str,
    options: Option<&str>,
) -> Result<Filesystem, Error> {
    check(kind)?;
    let attached = mkfs_target.attach(host, journal)?;
    let device = attached.device.as_str();
    // Signatures of an earlier filesystem may be where the new one does not write.
    run("wipefs", &["--all", "--quiet", device], journal)?;
    let keeps_blocks = matches!(mkfs_target, MkfsTarget::Scratch { .. });
    let line = [arguments(kind, keeps_blocks), vec![device]].concat();
    let began = Instant::now();
    run(&format!("mkfs.{kind}"), &line, journal).map_err(|error| too_small(error, mkfs_target))?;
    let mkfs_time = Nanos(began.elapsed().as_nanos() as u64);
    let point = journal.sibling_path("mnt");
    let directory = Entry::Directory { path: point.clone() };
    journal.record(vec![directory, Entry::Mounted { point: point.clone() }])?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&point);
    made.map_err(|error| Error::io(&point, "cannot be made", &error))?;
    let mut line = vec!["-t", if kind == "fat" { "vfat" } else { kind }];
    line.extend(options.iter().flat_map(|options| ["-o", options]));
    line.extend([device, text(&point)?]);
    run("mount", &line, journal)?;
    Ok(Filesystem { point, notes: attached.notes, mkfs_time })
}

/// On a scratch file, mkfs fails because the file is too small.
fn too_small(error: Error, mkfs_target: &MkfsTarget) -> Error {
    match mkfs_target {
        MkfsTarget::Scratch { size, .. } => {
            let mib = size.0 >> 20;
            let cure = format!("--fs-size is {mib} MiB; give more");
            Error::refused(format!("{}; {cure}", error.text))
        }
        MkfsTarget::Device { .. } => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mkfs_initialises_everything_and_discards_nothing() {
        assert_eq!(arguments("xfs", true), ["-q", "-f", "-K"]);
        assert_eq!(arguments("xfs", false), ["-q", "-f"]);
        assert!(arguments("ext4", false).contains(&"lazy_itable_init=0,lazy_journal_init=0"));
        assert!(arguments("ext4", true)[3].contains("nodiscard"));
        assert!(arguments("minix", true).is_empty());
    }

    #[test]
    fn an_unknown_filesystem_is_refused() {
        let error = check("nonesuchfs").unwrap_err().text;
        assert!(error.starts_with("fs=nonesuchfs: there is no mkfs.nonesuchfs"), "{error}");
    }
}
