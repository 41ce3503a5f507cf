//! Dropping the page cache.

use crate::Host;
use std::{fs, io};

impl Host {
    /// Drops the page cache, dentries and inodes (/proc/sys/vm/drop_caches, 3). Dirty pages stay:
    /// sync first.
    ///
    /// # Errors
    /// When the user is not root, or a container forbids it.
    pub fn drop_caches(&self) -> io::Result<()> {
        fs::write(self.real("/proc/sys/vm/drop_caches"), "3")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_asked_for_everything() {
        let tree = tempfile::tempdir().unwrap();
        let vm = tree.path().join("proc/sys/vm");
        fs::create_dir_all(&vm).unwrap();
        fs::write(vm.join("drop_caches"), "0").unwrap();
        Host::at(tree.path()).drop_caches().unwrap();
        assert_eq!(fs::read_to_string(vm.join("drop_caches")).unwrap(), "3");
        fs::remove_dir_all(&vm).unwrap();
        assert!(Host::at(tree.path()).drop_caches().is_err());
    }
}
