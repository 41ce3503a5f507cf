//! Identities of boots, processes and loop devices, to find again what was changed.

use crate::Host;
use crate::counters::stat_fields;
use std::path::Path;

impl Host {
    /// The id of this boot (random(4)).
    pub fn boot_id(&self) -> Option<String> {
        self.text("/proc/sys/kernel/random/boot_id").filter(|id| !id.is_empty())
    }

    /// Identifies the monotonic clock of this process: equal texts mean the same clock. A time namespace
    /// has its own (time_namespaces(7)). Empty if the boot has no id.
    pub fn clock_id(&self) -> String {
        let Some(boot) = self.boot_id() else { return String::new() };
        let namespace = std::fs::read_link(self.real("/proc/self/ns/time")).unwrap_or_default();
        format!("{boot} {}", namespace.display())
    }

    /// Identifies the process ids that this process sees: equal texts mean that equal ids are of the same
    /// process (pid_namespaces(7)). Empty if the boot has no id.
    pub fn process_space(&self) -> String {
        let Some(boot) = self.boot_id() else { return String::new() };
        let namespace = std::fs::read_link(self.real("/proc/self/ns/pid")).unwrap_or_default();
        format!("{boot} {}", namespace.display())
    }

    /// Start time of a process in clock ticks since boot (proc_pid_stat(5), field 22). With the
    /// process id it identifies a process. `None` if there is no such process, or only a zombie.
    pub fn process_start(&self, pid: u32) -> Option<u64> {
        let stat = self.text(format!("/proc/{pid}/stat"))?;
        let mut fields = stat_fields(&stat)?;
        let state = fields.next()?;
        if matches!(state, "Z" | "X") {
            return None;
        }
        fields.nth(18)?.parse().ok()
    }

    /// Kernel names of the loop devices over a file; `file` is a path without links.
    pub fn loop_devices_over(&self, file: &Path) -> Vec<String> {
        let mut loops = self.names("/sys/class/block");
        loops.retain(|name| name.starts_with("loop"));
        loops.retain(|name| self.backing_file(name).is_some_and(|shown| Path::new(&shown) == file));
        loops
    }

    /// Directory of the backing device information of a mounted btrfs, which sets its read-ahead
    /// instead of its devices. `device` is the kernel name of one of them.
    pub fn btrfs_bdi_directory(&self, device: &str) -> Option<String> {
        let directory = self.canonical(format!("{}/bdi", self.btrfs_directory(device)?)).ok()?;
        Some(directory.display().to_string())
    }

    /// Directory in /sys of the mounted btrfs that a device belongs to.
    pub(crate) fn btrfs_directory(&self, device: &str) -> Option<String> {
        const BTRFS: &str = "/sys/fs/btrfs";
        let mut directories = self.names(BTRFS).into_iter().map(|id| format!("{BTRFS}/{id}"));
        directories.find(|directory| self.exists(format!("{directory}/devices/{device}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
        let root = tempfile::tempdir().unwrap();
        files.iter().for_each(|(path, text)| testbed::put(root.path(), path, text));
        let host = Host::at(root.path());
        (root, host)
    }

    #[test]
    fn the_start_time_is_parsed_for_any_name_and_a_zombie_has_none() {
        let rest = "1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 2 3";
        let (_root, host) = tree(&[
            ("proc/7/stat", &format!("7 (a) S (b) S {rest}")),
            ("proc/8/stat", &format!("8 (gone) Z {rest}")),
        ]);
        assert_eq!(host.process_start(7), Some(4711));
        assert_eq!(host.process_start(8), None);
        assert_eq!(host.process_start(9), None);
        let live = Host::at("/");
        assert!(live.process_start(std::process::id()).is_some() && live.boot_id().is_some());
    }

    #[test]
    fn loops_are_found_by_their_file_also_when_it_is_unlinked() {
        let (_root, host) = tree(&[
            ("sys/class/block/loop0/loop/backing_file", "/a/x (deleted)\n"),
            ("sys/class/block/loop1/loop/backing_file", "/a/xy\n"),
            ("sys/class/block/loop2/size", "0\n"),
            ("sys/class/block/loop3/loop/backing_file", "/a/x\n"),
        ]);
        assert_eq!(host.loop_devices_over(Path::new("/a/x")), ["loop0", "loop3"]);
        assert!(host.loop_devices_over(Path::new("/a")).is_empty());
    }
}
