//! Small filesystems for tests.

use std::path::Path;
use tempfile::TempDir;
pub use testbed::{Loop, scratch};
use testbed::{Mounted, system};

/// A tmpfs; unmounted when dropped.
pub struct Tmpfs {
    mounted: Mounted,
    _directory: TempDir,
}

impl Tmpfs {
    /// Mounts one of `size` bytes.
    pub fn new(size: u64) -> Tmpfs {
        let directory = scratch();
        let options = ["-t", "tmpfs", "-o", &format!("size={size}")];
        let mounted = Mounted::new(&options, "tmpfs", directory.path().join("tmpfs"));
        Tmpfs { mounted, _directory: directory }
    }

    /// Its mount point.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }
}

/// A filesystem (ext4) on a loop device; unmounted when dropped.
pub struct SmallDisk {
    mounted: Mounted,
    _device: Loop,
    _directory: TempDir,
}

impl SmallDisk {
    /// Mounts one on a device of `size` bytes.
    pub fn new(size: u64) -> SmallDisk {
        let device = Loop::new(size);
        system("mkfs.ext4", &["-q", "-m0", &device.device]);
        let directory = scratch();
        let mounted = Mounted::new(&[], &device.device, directory.path().join("disk"));
        SmallDisk { mounted, _device: device, _directory: directory }
    }

    /// Its mount point.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }
}
