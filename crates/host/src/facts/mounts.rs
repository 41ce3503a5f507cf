//! Mounts, from /proc/self/mountinfo.

use crate::Host;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use std::path::{Path, PathBuf};

/// One line of /proc/self/mountinfo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's id of the mount.
    pub id: u64,
    /// "major:minor" of the filesystem's device; anonymous ("0:35") for btrfs, tmpfs, network.
    pub dev: String,
    /// The mounted directory of the filesystem: "/", except for bind mounts and subvolumes.
    pub root: String,
    /// Mount point.
    pub point: PathBuf,
    /// Type ("ext4").
    pub kind: String,
    /// Source ("/dev/sda1").
    pub source: String,
    /// Options of the mount, then those of the filesystem.
    pub options: Vec<String>,
    /// The mount or the filesystem is read-only.
    pub read_only: bool,
}

impl Host {
    /// All mounts visible to this process, in the order they were made.
    pub fn mounts(&self) -> Vec<Mount> {
        let text = self.text("/proc/self/mountinfo").unwrap_or_default();
        text.lines().filter_map(parse).collect()
    }
}

/// `id parent dev root point options [tags…] - type source super-options`
fn parse(line: &str) -> Option<Mount> {
    let (mount, filesystem) = line.split_once(" - ")?;
    let mount: Vec<&str> = mount.split(' ').collect();
    let filesystem: Vec<&str> = filesystem.split(' ').collect();
    let (mount_options, super_options) = (mount.get(5)?, filesystem.get(2).unwrap_or(&""));
    let mut options: Vec<String> = Vec::new();
    for option in mount_options.split(',').chain(super_options.split(',')) {
        if !option.is_empty() && !options.iter().any(|o| o == option) {
            options.push(unescape(option));
        }
    }
    let read_only = options.iter().any(|o| o == "ro");
    options.retain(|o| !(read_only && o == "rw"));
    Some(Mount {
        id: mount.first()?.parse().ok()?,
        dev: mount.get(2)?.to_string(),
        root: unescape(mount.get(3)?),
        point: PathBuf::from(unescape(mount.get(4)?)),
        kind: unescape(filesystem.first()?),
        source: unescape(filesystem.get(1)?),
        options,
        read_only,
    })
}

/// The kernel writes space, tab, newline and backslash of names as `\` and three octal digits.
pub(crate) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal = tail.get(..3).filter(|_| *first == b'\\');
        let value = octal.and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 8).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mount that holds an absolute path without links: the one with `mount_id` (from statx), which
/// is right even if mounts cover each other. Without an id, the one with the longest mount point,
/// and of several on one point the last, which is on top.
pub(crate) fn covering<'a>(
    mounts: &'a [Mount],
    path: &Path,
    mount_id: Option<u64>,
) -> Option<&'a Mount> {
    let by_id = mount_id.and_then(|id| mounts.iter().find(|m| m.id == id));
    by_id.or_else(|| {
        let covers = mounts.iter().filter(|m| path.starts_with(&m.point));
        covers.max_by_key(|m| m.point.components().count())
    })
}

/// The id of the mount that holds a path (since Linux 5.8).
pub(super) fn mount_id(path: &Path) -> Option<u64> {
    let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts() -> Vec<Mount> {
        [
            "21 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw,errors=remount-ro",
            "30 21 0:35 /home /home rw,noatime - btrfs /dev/sdb ro,compress=zstd:3",
            "31 21 8:3 / /mnt/a\\040b rw - xfs /dev/sda3 rw",
            "32 21 8:4 / /mnt rw - xfs /dev/sda4 rw",
            "33 21 8:5 / /mnt rw - ext4 /dev/sda5 rw",
            "broken",
        ]
        .iter()
        .filter_map(|line| parse(line))
        .collect()
    }

    #[test]
    fn a_line_has_optional_tags_and_two_lists_of_options() {
        let mounts = mounts();
        assert_eq!(mounts.len(), 5);
        assert_eq!(mounts[0].dev, "8:2");
        assert_eq!(mounts[0].options, ["rw", "relatime", "errors=remount-ro"]);
        assert!(!mounts[0].read_only);
        assert_eq!(mounts[1].options, ["noatime", "ro", "compress=zstd:3"]);
        assert!(mounts[1].read_only);
        assert_eq!(mounts[2].point, Path::new("/mnt/a b"));
    }

    #[test]
    fn the_longest_mount_point_covers_by_components_and_the_last_is_on_top() {
        let mounts = mounts();
        let point = |path| covering(&mounts, Path::new(path), None).unwrap().source.as_str();
        assert_eq!(point("/homework/x"), "/dev/sda2");
        assert_eq!(point("/home"), "/dev/sdb");
        assert_eq!(point("/mnt/x"), "/dev/sda5");
        assert_eq!(point("/mnt/a b/x"), "/dev/sda3");
    }

    #[test]
    fn the_kernels_answer_wins() {
        let mounts = mounts();
        assert_eq!(covering(&mounts, Path::new("/mnt/x"), Some(32)).unwrap().source, "/dev/sda4");
        assert_eq!(covering(&mounts, Path::new("/mnt/x"), Some(99)).unwrap().source, "/dev/sda5");
    }

    #[test]
    fn a_backslash_that_is_no_escape_stays() {
        assert_eq!(unescape(r"a\040b\134c\9"), r"a b\c\9");
        assert_eq!(unescape(r"end\04"), r"end\04");
    }
}
