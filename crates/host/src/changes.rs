//! Changes of the machine that a run makes and restores: I/O schedulers and control groups.

use crate::{Host, bracketed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

/// Changes made for a run. All are restored on drop, however the run ended. [`Changes::put_back`]
/// reports failures.
pub struct Changes {
    host: Host,
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    /// Devices with their original schedulers.
    schedulers: BTreeMap<String, String>,
    /// Groups that were made and do not stay, parents first.
    groups: Vec<PathBuf>,
    /// The original group of this process, if the whole process was moved.
    original_group: Option<PathBuf>,
}

/// A control group to join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupToJoin<'a> {
    /// Its directory.
    pub directory: &'a str,
    /// Version of the hierarchy, 1 or 2.
    pub version: u8,
    /// The group of this process in that hierarchy.
    pub own: &'a str,
    /// The weight to set.
    pub weight: Option<u64>,
    /// It stays after the run.
    pub stays: bool,
}

/// Attempts to remove a group that still holds an ending thread, and the pause between them.
const ATTEMPTS: u32 = 50;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

fn invalid_input(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

impl Changes {
    /// No change yet.
    pub fn new(host: Host) -> Changes {
        Changes { host, made: Mutex::default() }
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the scheduler of a device and checks it.
    ///
    /// # Errors
    /// The device has no such scheduler, the file cannot be written, or the kernel did not follow.
    pub fn set_scheduler(&self, device: &str, wanted: &str) -> io::Result<()> {
        let mut made = self.made();
        let active = self.scheduler(device)?;
        if active == wanted {
            return Ok(());
        }
        self.write_scheduler(device, wanted)?;
        made.schedulers.entry(device.to_owned()).or_insert(active);
        Ok(())
    }

    /// The active scheduler of a device.
    fn scheduler(&self, device: &str) -> io::Result<String> {
        let text = fs::read_to_string(self.scheduler_file(device))?;
        // A device with a single scheduler does not bracket it.
        Ok(bracketed(&text).unwrap_or(text.trim()).to_owned())
    }

    fn scheduler_file(&self, device: &str) -> PathBuf {
        self.host.real(format!("/sys/block/{device}/queue/scheduler"))
    }

    fn write_scheduler(&self, device: &str, wanted: &str) -> io::Result<()> {
        let file = self.scheduler_file(device);
        let known = fs::read_to_string(&file)?;
        let mut names = known.split_whitespace().map(|name| name.trim_matches(['[', ']']));
        if !names.clone().any(|name| name == wanted) {
            let list: Vec<&str> = names.by_ref().collect();
            let text = format!("{device} has no scheduler '{wanted}', only {}", list.join(", "));
            return Err(invalid_input(text));
        }
        fs::write(&file, wanted)?;
        match self.scheduler(device)? {
            active if active == wanted || !self.host.is_live() => Ok(()),
            active => Err(invalid_input(format!("{device}: the scheduler is still {active}"))),
        }
    }

    /// Moves a thread into a control group, which is made if it does not exist. In version 2,
    /// threads of a process cannot be in different groups with I/O control: the whole process
    /// moves.
    ///
    /// # Errors
    /// The group cannot be made, has no weight, or may not be joined.
    pub fn join(&self, group: &GroupToJoin<'_>, thread: u32) -> io::Result<()> {
        let mut made = self.made();
        let directory = self.host.real(group.directory);
        self.make(&directory, group.stays, &mut made)?;
        if let Some(weight) = group.weight {
            set_weight(&directory, group.version, weight)?;
        }
        if group.version == 1 {
            return fs::write(directory.join("tasks"), thread.to_string());
        }
        fs::write(directory.join("cgroup.procs"), std::process::id().to_string())?;
        made.original_group.get_or_insert(self.host.real(group.own));
        Ok(())
    }

    fn make(&self, directory: &Path, stays: bool, made: &mut Made) -> io::Result<()> {
        let missing: Vec<&Path> = directory.ancestors().take_while(|d| !d.exists()).collect();
        for directory in missing.into_iter().rev() {
            fs::create_dir(directory)?;
            if !stays {
                made.groups.push(directory.to_path_buf());
            }
        }
        Ok(())
    }

    /// Restores everything. Returns the failures.
    pub fn put_back(&self) -> Vec<String> {
        let made = std::mem::take(&mut *self.made());
        let mut failed = Vec::new();
        for (device, scheduler) in made.schedulers {
            if let Err(error) = self.write_scheduler(&device, &scheduler) {
                failed.push(format!(
                    "{device}: the I/O scheduler {scheduler} could not be restored: {error}"
                ));
            }
        }
        if let Some(own) = made.original_group
            && let Err(error) = fs::write(own.join("cgroup.procs"), std::process::id().to_string())
        {
            failed.push(format!(
                "this process could not return to the control group {}: {error}",
                own.display()
            ));
        }
        for group in made.groups.into_iter().rev() {
            if let Err(error) = remove(&group) {
                failed.push(format!(
                    "the control group {} could not be removed: {error}",
                    group.display()
                ));
            }
        }
        failed
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        // Failures are reported by an explicit call of put_back.
        self.put_back();
    }
}

fn remove(group: &Path) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        match fs::remove_dir(group) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
    fs::remove_dir(group)
}

/// Documentation/admin-guide/cgroup-v1/blkio-controller.rst and cgroup-v2.rst: the weights of bfq
/// have files of their own.
fn set_weight(directory: &Path, version: u8, weight: u64) -> io::Result<()> {
    let files: [(&str, String); 2] = match version {
        1 => [("blkio.weight", weight.to_string()), ("blkio.bfq.weight", weight.to_string())],
        _ => [("io.weight", format!("default {weight}")), ("io.bfq.weight", weight.to_string())],
    };
    let there = files.iter().find(|(file, _)| directory.join(file).exists());
    let Some((file, value)) = there else {
        let [(a, _), (b, _)] = files;
        let place = directory.display();
        return Err(invalid_input(format!(
            "{place} has neither {a} nor {b}: this kernel gives groups a weight only with the bfq \
             scheduler or iocost"
        )));
    };
    fs::write(directory.join(file), value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn tree(files: &[(&str, &str)]) -> (TempDir, Changes) {
        let root = TempDir::new().unwrap();
        files.iter().for_each(|(path, text)| testbed::put(root.path(), path, text));
        let host = Host::at(root.path());
        (root, Changes::new(host))
    }

    fn text(root: &TempDir, file: &str) -> String {
        fs::read_to_string(root.path().join(file)).unwrap()
    }

    const SCHEDULER: &str = "sys/block/sda/queue/scheduler";

    #[test]
    fn an_unknown_scheduler_is_refused_and_the_known_ones_are_listed() {
        let (root, changes) = tree(&[(SCHEDULER, "none [mq-deadline] bfq\n")]);
        let error = changes.set_scheduler("sda", "cfq").unwrap_err().to_string();
        assert_eq!(error, "sda has no scheduler 'cfq', only none, mq-deadline, bfq");
        changes.set_scheduler("sda", "mq-deadline").unwrap();
        assert!(changes.put_back().is_empty());
        assert_eq!(text(&root, SCHEDULER), "none [mq-deadline] bfq\n", "nothing was changed");
        assert!(changes.set_scheduler("sdb", "none").is_err());
    }

    /// A file keeps what is written to it and adds no brackets, so restoring the old scheduler
    /// fails with a message.
    #[test]
    fn a_changed_scheduler_is_restored() {
        let (root, changes) = tree(&[(SCHEDULER, "none [mq-deadline] bfq\n")]);
        changes.set_scheduler("sda", "bfq").unwrap();
        assert_eq!(text(&root, SCHEDULER), "bfq");
        let failed = changes.put_back();
        assert!(failed[0].contains("sda: the I/O scheduler mq-deadline could not"), "{failed:?}");
        fs::write(root.path().join(SCHEDULER), "none [mq-deadline] bfq\n").unwrap();
        changes.set_scheduler("sda", "none").unwrap();
        fs::write(root.path().join(SCHEDULER), "[none] mq-deadline bfq\n").unwrap();
        drop(changes);
        assert_eq!(text(&root, SCHEDULER), "mq-deadline");
    }

    fn group(version: u8) -> GroupToJoin<'static> {
        GroupToJoin {
            directory: "/sys/fs/cgroup/job/deeper",
            version,
            own: "/sys/fs/cgroup/user",
            weight: None,
            stays: false,
        }
    }

    #[test]
    fn threads_join_a_group_of_version_1() {
        let (root, changes) = tree(&[("sys/fs/cgroup/tasks", "")]);
        changes.join(&group(1), 42).unwrap();
        assert_eq!(text(&root, "sys/fs/cgroup/job/deeper/tasks"), "42");
        let weighted = GroupToJoin { weight: Some(500), ..group(1) };
        let error = changes.join(&weighted, 42).unwrap_err().to_string();
        assert!(error.contains("neither blkio.weight nor blkio.bfq.weight"), "{error}");
        fs::write(root.path().join("sys/fs/cgroup/job/deeper/blkio.bfq.weight"), "100").unwrap();
        changes.join(&weighted, 43).unwrap();
        assert_eq!(text(&root, "sys/fs/cgroup/job/deeper/blkio.bfq.weight"), "500");
    }

    #[test]
    fn the_process_joins_a_group_of_version_2_and_goes_back() {
        let (root, changes) = tree(&[("sys/fs/cgroup/user/cgroup.procs", "")]);
        fs::create_dir_all(root.path().join("sys/fs/cgroup/job/deeper")).unwrap();
        fs::write(root.path().join("sys/fs/cgroup/job/deeper/io.weight"), "").unwrap();
        changes.join(&GroupToJoin { weight: Some(200), ..group(2) }, 42).unwrap();
        let pid = std::process::id().to_string();
        assert_eq!(text(&root, "sys/fs/cgroup/job/deeper/cgroup.procs"), pid);
        assert_eq!(text(&root, "sys/fs/cgroup/job/deeper/io.weight"), "default 200");
        assert!(changes.put_back().is_empty());
        assert_eq!(text(&root, "sys/fs/cgroup/user/cgroup.procs"), pid);
        assert!(root.path().join("sys/fs/cgroup/job").exists(), "it was there before");
    }

    #[test]
    fn groups_that_were_made_are_removed_unless_they_stay() {
        for (stays, version) in [(false, 1), (true, 1)] {
            let (root, changes) = tree(&[("sys/fs/cgroup/tasks", "")]);
            changes.join(&GroupToJoin { stays, ..group(version) }, 1).unwrap();
            // The files of a real group are removed with it.
            fs::remove_file(root.path().join("sys/fs/cgroup/job/deeper/tasks")).unwrap();
            assert!(changes.put_back().is_empty());
            assert_eq!(root.path().join("sys/fs/cgroup/job").exists(), stays);
        }
    }
}
