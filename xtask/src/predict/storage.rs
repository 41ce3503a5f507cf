//! Storage that differs: a disk, a disk whose I/Os are limited, a RAM disk, each with a new ext4; disks
//! with other filesystems.

use crate::bench::Zram;
use crate::truth::Group;
use anyhow::{Context, Result, anyhow};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use testbed::{Loop, Mounted};

const DISK_BYTES: u64 = 1 << 30;
const ZRAM_BYTES: u64 = 512 << 20;
/// Reads, and writes, a second of the limited disk.
const LIMIT: u64 = 400;

/// Storage that programs run on. What it is made of goes with it.
pub struct Storage {
    pub name: &'static str,
    /// What it is, for the table.
    pub what: String,
    device: String,
    point: PathBuf,
    group: Option<Group>,
    _held: Held,
}

enum Held {
    _Loop(Loop),
    _Zram(Zram),
}

/// The storage that applications are captured on, and the others after it.
pub fn set_up(directory: &Path) -> Result<Vec<Storage>> {
    let disk = Loop::over(&directory.join("disk.img"), DISK_BYTES, &["--direct-io=on"]);
    let limited = Loop::over(&directory.join("limited.img"), DISK_BYTES, &["--direct-io=on"]);
    let group = Group::throttling(&limited, "iops", &["read", "write"], LIMIT)?;
    let (zram0, control) = (Path::new("/dev/zram0"), Path::new("/sys/block/zram0"));
    let zram = Zram::claim(zram0, control, ZRAM_BYTES).map_err(|reason| anyhow!(reason))?;
    let xfs = Loop::over(&directory.join("xfs.img"), DISK_BYTES, &["--direct-io=on"]);
    let btrfs = Loop::over(&directory.join("btrfs.img"), DISK_BYTES, &["--direct-io=on"]);
    let over = "ext4 on a loop device with direct I/O, over the disk of this machine";
    let storage = |name: &'static str, what: String, filesystem, group, held: Held| {
        let device = match &held {
            Held::_Loop(device) => device.device.clone(),
            Held::_Zram(zram) => zram.device.display().to_string(),
        };
        make_filesystem(filesystem, &device);
        Storage { name, what, device, point: directory.join(name), group, _held: held }
    };
    Ok(vec![
        storage("disk", over.to_owned(), "ext4", None, Held::_Loop(disk)),
        storage(
            "limited",
            format!(
                "the same, with at most {LIMIT} reads and {LIMIT} writes a second by a control group"
            ),
            "ext4",
            Some(group),
            Held::_Loop(limited),
        ),
        storage("zram", "ext4 on a compressed RAM disk".into(), "ext4", None, Held::_Zram(zram)),
        storage("xfs", "as *disk*, with XFS".into(), "xfs", None, Held::_Loop(xfs)),
        storage("btrfs", "as *disk*, with Btrfs".into(), "btrfs", None, Held::_Loop(btrfs)),
    ])
}

fn make_filesystem(kind: &str, device: &str) {
    let options: &[&str] = match kind {
        "ext4" => &["-q", "-F", "-E", "lazy_itable_init=0"],
        _ => &["-q", "-f"],
    };
    testbed::system(&format!("mkfs.{kind}"), &[options, &[device]].concat());
}

impl Storage {
    /// Mounts its filesystem.
    pub fn mount(&self) -> Mounted {
        Mounted::new(&[], &self.device, self.point.clone())
    }

    /// The words that start a program on it.
    pub fn starter(&self) -> Vec<String> {
        self.group.as_ref().map(Group::starter).unwrap_or_default()
    }
}

/// The directory that loads run in.
pub fn directory(mounted: &Mounted) -> PathBuf {
    mounted.path().join("load")
}

/// Makes that directory again, with nothing in it.
pub fn new_directory(mounted: &Mounted) -> Result<PathBuf> {
    let path = directory(mounted);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::create_dir(&path),
    }
    .with_context(|| path.display().to_string())?;
    Ok(path)
}
