//! Background activity of a device: resync, balance and the like.

use crate::Host;

impl Host {
    /// Background activity of an md array, or of the btrfs on a device; `None` if there is none or
    /// it is unknown.
    pub(crate) fn activity(&self, device: &str) -> Option<String> {
        self.array_activity(device).or_else(|| self.btrfs_activity(device))
    }

    /// The current operation of md on an array: "resync 12.5 %"; `None` without one, or for other
    /// devices (the kernel's Documentation/admin-guide/md.rst).
    fn array_activity(&self, device: &str) -> Option<String> {
        let md = format!("/sys/class/block/{device}/md");
        let action = self
            .text(format!("{md}/sync_action"))
            .filter(|action| !matches!(action.as_str(), "idle" | "frozen"))?;
        let done = self.text(format!("{md}/sync_completed")).and_then(|text| progress(&text));
        Some(match done {
            Some(percent) => format!("{action} {percent:.1} %"),
            None => action,
        })
    }

    /// The exclusive operation of a btrfs ("balance", "device remove"), also if paused. No file
    /// shows a scrub.
    fn btrfs_activity(&self, device: &str) -> Option<String> {
        let directory = self.btrfs_directory(device)?;
        let operation = self.text(format!("{directory}/exclusive_operation"))?;
        (operation != "none").then(|| format!("btrfs {operation}"))
    }
}

/// "done / total" as percent.
fn progress(text: &str) -> Option<f64> {
    let (done, whole) = text.split_once('/')?;
    let (done, whole): (f64, f64) = (done.trim().parse().ok()?, whole.trim().parse().ok()?);
    (whole > 0.0).then(|| done * 100.0 / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_of_a_resync_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let md = root.path().join("sys/class/block/md0/md");
        std::fs::create_dir_all(&md).unwrap();
        let host = Host::at(root.path());
        for (action, completed, expected) in [
            ("idle\n", "none\n", None),
            ("resync\n", "1000 / 8000\n", Some("resync 12.5 %")),
            ("check\n", "delayed\n", Some("check")),
        ] {
            std::fs::write(md.join("sync_action"), action).unwrap();
            std::fs::write(md.join("sync_completed"), completed).unwrap();
            assert_eq!(host.activity("md0").as_deref(), expected);
        }
        assert_eq!(host.activity("sda"), None);
    }
    #[test]
    fn a_device_of_btrfs_shows_its_exclusive_operation() {
        let root = tempfile::tempdir().unwrap();
        let filesystem = root.path().join("sys/fs/btrfs/5a34");
        std::fs::create_dir_all(filesystem.join("devices/sdd")).unwrap();
        let host = Host::at(root.path());
        assert_eq!(host.activity("sdd"), None);
        for (operation, expected) in [("none\n", None), ("balance\n", Some("btrfs balance"))] {
            std::fs::write(filesystem.join("exclusive_operation"), operation).unwrap();
            assert_eq!(host.activity("sdd").as_deref(), expected);
        }
        assert_eq!(host.activity("sde"), None);
    }
}
