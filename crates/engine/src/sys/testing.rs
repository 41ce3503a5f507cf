//! What tests need of the machine: a directory on a disk, a loop device, a small filesystem. All of
//! it is ours and goes away again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Runs a command that has to succeed, most likely because it needs root; its output.
fn system(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} (tests need root): {error}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A directory where the test was built: most likely on a disk, where /tmp may be in memory.
pub fn scratch() -> TempDir {
    let program = std::env::current_exe().unwrap();
    tempfile::tempdir_in(program.parent().unwrap()).unwrap()
}

/// A loop device over a file of its own; detached when dropped.
pub struct Loop {
    /// Such as /dev/loop0.
    pub device: String,
    /// The file under it.
    pub backing: PathBuf,
    _directory: TempDir,
}

impl Loop {
    /// One of `size` bytes.
    pub fn new(size: u64) -> Loop {
        let directory = scratch();
        let backing = directory.path().join("backing");
        File::create(&backing).unwrap().set_len(size).unwrap();
        let device = system(Command::new("losetup").args(["--find", "--show"]).arg(&backing));
        Loop { device, backing, _directory: directory }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

/// A tmpfs; unmounted when dropped.
pub struct Tmpfs {
    directory: TempDir,
}

impl Tmpfs {
    /// One of `size` bytes.
    pub fn new(size: u64) -> Tmpfs {
        let directory = scratch();
        let options = ["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"];
        system(Command::new("mount").args(options).arg(directory.path()));
        Tmpfs { directory }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.directory.path()).status();
    }
}

/// A filesystem (ext4) on a loop device; unmounted when dropped.
pub struct SmallDisk {
    directory: TempDir,
    _device: Loop,
}

impl SmallDisk {
    /// One on a device of `size` bytes.
    pub fn new(size: u64) -> SmallDisk {
        let device = Loop::new(size);
        system(Command::new("mkfs.ext4").args(["-q", "-m0", &device.device]));
        let directory = scratch();
        system(Command::new("mount").arg(&device.device).arg(directory.path()));
        SmallDisk { directory, _device: device }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.directory.path()).status();
    }
}
