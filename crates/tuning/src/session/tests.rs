use super::*;
use crate::Kind;
use record::Bytes;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use testbed::{Loop, Mounted, alone, scratch, system};

const SIZE: u64 = 400 << 20;

fn session(state: &Path, mkfs_target: Option<MkfsTarget>) -> Session {
    Session::begin(Host::at("/"), state, mkfs_target, Box::new(|| false)).unwrap().0
}

fn mkfs_target(directory: &TempDir) -> Option<MkfsTarget> {
    Some(MkfsTarget::Scratch { directory: directory.path().into(), size: Bytes(SIZE) })
}

fn values(values: &[(Setting, &str)]) -> Vec<(Setting, String)> {
    values.iter().map(|(setting, value)| (*setting, value.to_string())).collect()
}

fn queue(device: &Loop, file: &str) -> String {
    let path = format!("/sys/block/{}/queue/{file}", device.name());
    fs::read_to_string(path).unwrap().trim().to_owned()
}

fn write(device: &Loop, file: &str, value: &str) {
    fs::write(format!("/sys/block/{}/queue/{file}", device.name()), value).unwrap();
}

fn mount_of(point: &Path) -> Option<host::Mount> {
    Host::at("/").mounts().into_iter().rfind(|mount| mount.point == point)
}

fn has(point: &Path, option: &str) -> bool {
    mount_of(point).unwrap().options.iter().any(|held| held == option)
}

/// A process with a mount namespace of its own, which keeps what was mounted when it was made.
struct MountNamespace(Child);

impl MountNamespace {
    /// A namespace that holds the mount at `point`.
    fn new(point: &Path) -> MountNamespace {
        let script = "echo; exec sleep infinity";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).stdout(Stdio::piped());
        let mut namespace = MountNamespace(command.spawn().unwrap());
        let mut line = [0];
        namespace.0.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
        let mounts = format!("/proc/{}/mountinfo", namespace.0.id());
        assert!(fs::read_to_string(mounts).unwrap().contains(point.to_str().unwrap()));
        namespace
    }
}

impl Drop for MountNamespace {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A device whose scheduler has settings of its own, as an administrator may have made them.
fn tuned() -> Loop {
    let device = Loop::new(64 << 20);
    write(&device, "scheduler", "mq-deadline");
    write(&device, "iosched/writes_starved", "7");
    write(&device, "nr_requests", "33");
    write(&device, "read_ahead_kb", "64");
    device
}

fn assert_tuned(device: &Loop) {
    assert!(queue(device, "scheduler").contains("[mq-deadline]"));
    let files = ["iosched/writes_starved", "nr_requests", "read_ahead_kb"];
    assert_eq!(files.map(|file| queue(device, file)), ["7", "33", "64"]);
}

#[test]
fn queues_are_set_and_put_back_with_all_that_depends_on_them() {
    let _alone = alone();
    let (state, device) = (scratch(), tuned());
    let mut session = session(state.path(), None);
    let targets = [device.device.clone()];
    let wanted =
        [(Setting::ReadAhead, "256"), (Setting::NrRequests, "40"), (Setting::Scheduler, "bfq")];
    assert_eq!(session.set_up(&values(&wanted), &targets).unwrap(), CellSetup::default());
    assert!(queue(&device, "scheduler").contains("[bfq]"));
    assert_eq!(
        (queue(&device, "nr_requests"), queue(&device, "read_ahead_kb")),
        ("40".into(), "256".into())
    );
    // The scheduler it had is that of the administrator, not one of the same name with defaults.
    session.set_up(&values(&[(Setting::Scheduler, "mq-deadline")]), &targets).unwrap();
    assert_eq!(queue(&device, "iosched/writes_starved"), "7");
    session.set_up(&values(&[(Setting::Scheduler, "none")]), &targets).unwrap();
    let put_back = session.put_back();
    assert!(put_back.failed.is_empty() && !put_back.done.is_empty(), "{put_back:?}");
    assert_tuned(&device);
    assert_eq!(session.put_back(), RestoreReport::default(), "twice does no harm");
    session.set_up(&values(&[(Setting::Scheduler, "kyber")]), &targets).unwrap();
    drop(session);
    assert_tuned(&device);
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn changed_values_are_noted_and_refused_values_are_errors() {
    let _alone = alone();
    let (state, device) = (scratch(), tuned());
    let mut session = session(state.path(), None);
    let targets = [device.device.clone()];
    let mut set_up = |setting, value| session.set_up(&values(&[(setting, value)]), &targets);
    let page = rustix::param::page_size() / 1024;
    let odd = (3 * page + 1).to_string();
    let notes = set_up(Setting::ReadAhead, &odd).unwrap().notes;
    assert!(
        notes[0].contains(&format!("the kernel set {} instead of {odd}", 3 * page)),
        "{notes:?}"
    );
    let notes = set_up(Setting::NrRequests, "1").unwrap().notes;
    assert!(notes[0].contains("nr_requests: the kernel set 4 instead of 1"), "{notes:?}");
    let error = set_up(Setting::Scheduler, "cfq").unwrap_err();
    assert!(
        error.text.contains("no such scheduler") && error.text.contains("mq-deadline"),
        "{error}"
    );
    assert_eq!(error.kind, Kind::Refused);
    let error = set_up(Setting::NrRequests, "4000000000").unwrap_err();
    assert!(error.text.contains("nr_requests cannot be set to 4000000000"), "{error}");
    assert_eq!(set_up(Setting::ReadAhead, "64k").unwrap_err().kind, Kind::Usage);
    let memory = Mounted::new(&["-t", "tmpfs"], "tmpfs", state.path().join("memory"));
    let targets = [memory.path().display().to_string()];
    let error = session.set_up(&values(&[(Setting::Scheduler, "none")]), &targets).unwrap_err();
    assert!(error.text.contains("no block device but on tmpfs"), "{error}");
    assert!(session.set_up(&values(&[(Setting::Scheduler, "none")]), &[]).is_err());
    drop(session);
    assert_tuned(&device);
}

#[test]
fn filesystems_are_made_on_a_scratch_file_and_removed_completely() {
    let _alone = alone();
    let (state, place) = (scratch(), scratch());
    let mut session = session(state.path(), mkfs_target(&place));
    let wanted = |kind| values(&[(Setting::Fs, kind), (Setting::ReadAhead, "32")]);
    let mut files = Vec::new();
    for kind in ["ext4", "xfs", "btrfs", "ext4"] {
        let setup = session.set_up(&wanted(kind), &[]).unwrap();
        let [argument] = &setup.arguments[..] else { panic!("{setup:?}") };
        let point = PathBuf::from(argument.strip_prefix("--directory=").unwrap());
        assert_eq!(mount_of(&point).unwrap().kind, kind);
        fs::write(point.join("file"), "x").unwrap();
        files = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "one file for all cells");
        let loops = Host::at("/").loop_devices_over(&fs::canonicalize(&files[0]).unwrap());
        assert_eq!(loops.len(), 1, "{loops:?}");
        if kind != "btrfs" {
            let file = format!("/sys/block/{}/queue/read_ahead_kb", loops[0]);
            assert_eq!(fs::read_to_string(file).unwrap().trim(), "32");
        }
    }
    let put_back = session.put_back();
    assert!(put_back.failed.is_empty(), "{put_back:?}");
    assert!(Host::at("/").loop_devices_over(&files[0]).is_empty());
    drop(session);
    for directory in [&state, &place] {
        assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
    }
}

#[test]
fn a_scratch_filesystem_takes_mount_options_and_must_be_large_enough() {
    let _alone = alone();
    let (state, place) = (scratch(), scratch());
    let mut session = session(state.path(), mkfs_target(&place));
    let wanted = values(&[(Setting::Mount, "noatime,data=writeback"), (Setting::Fs, "ext4")]);
    let setup = session.set_up(&wanted, &[]).unwrap();
    let point = PathBuf::from(setup.arguments[0].strip_prefix("--directory=").unwrap());
    assert!(has(&point, "noatime") && has(&point, "data=writeback"));
    let error = session.set_up(&values(&[(Setting::Fs, "nonesuchfs")]), &[]).unwrap_err();
    assert!(error.text.contains("there is no mkfs.nonesuchfs"), "{error}");
    let wrong = values(&[(Setting::Fs, "ext4"), (Setting::Mount, "no_such_option")]);
    let error = session.set_up(&wrong, &[]).unwrap_err();
    assert!(error.text.contains("no_such_option"), "{error}");
    drop(session);
    let small = Some(MkfsTarget::Scratch { directory: place.path().into(), size: Bytes(32 << 20) });
    let mut session = super::tests::session(state.path(), small);
    let error = session.set_up(&values(&[(Setting::Fs, "xfs")]), &[]).unwrap_err();
    assert!(error.text.contains("mkfs.xfs") && error.text.contains("300MB"), "{error}");
    assert!(error.text.ends_with("--fs-size is 32 MiB; give more"), "{error}");
    drop(session);
    // Of a size this small its own message is followed by all its options.
    let small = Some(MkfsTarget::Scratch { directory: place.path().into(), size: Bytes(10 << 20) });
    let mut session = super::tests::session(state.path(), small);
    let error = session.set_up(&values(&[(Setting::Fs, "xfs")]), &[]).unwrap_err();
    assert!(error.text.contains("too small") && !error.text.contains("blocksize"), "{error}");
    drop(session);
    let huge = Some(MkfsTarget::Scratch { directory: place.path().into(), size: Bytes(1 << 60) });
    let mut session = super::tests::session(state.path(), huge);
    let error = session.set_up(&values(&[(Setting::Fs, "ext4")]), &[]).unwrap_err();
    assert!(error.text.contains("are free"), "{error}");
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn a_device_must_be_named_to_be_destroyed_and_must_not_be_in_use() {
    let _alone = alone();
    let (state, device) = (scratch(), Loop::new(64 << 20));
    let path = device.device.clone();
    let mkfs_target = |allowed: &[&str]| {
        let allow_destroy = allowed.iter().map(|allowed| allowed.to_string()).collect();
        Some(MkfsTarget::Device { path: path.clone(), allow_destroy })
    };
    let ext4 = values(&[(Setting::Fs, "ext4")]);
    let mut not_named = session(state.path(), mkfs_target(&["/dev/null"]));
    let error = not_named.rehearse(std::slice::from_ref(&ext4), &[]).unwrap_err();
    assert!(error.text.contains(&format!("--allow-destroy={path}")), "{error}");
    drop(not_named);
    let mut named = session(state.path(), mkfs_target(&[&path]));
    named.rehearse(std::slice::from_ref(&ext4), &[]).unwrap();
    assert!(fs::read(&device.file).unwrap().iter().all(|byte| *byte == 0), "only looked at");
    named.set_up(&ext4, &[]).unwrap();
    named.set_up(&ext4, &[]).unwrap();
    assert!(named.put_back().failed.is_empty());
    let mounted = Mounted::new(&[], &path, state.path().join("mounted"));
    let error = named.set_up(&ext4, &[]).unwrap_err();
    assert!(error.text.contains("is mounted at"), "{error}");
    assert!(mount_of(mounted.path()).is_some());
}

#[test]
fn a_filesystem_of_the_user_is_remounted_and_restored() {
    let _alone = alone();
    let (state, device) = (scratch(), Loop::new(64 << 20));
    system("mkfs.ext4", &["-q", &device.device]);
    let options = ["-o", "nodev,relatime,commit=77"];
    let mounted = Mounted::new(&options, &device.device, state.path().join("mounted"));
    let point = mounted.path();
    let before = mount_of(point).unwrap().options;
    fs::create_dir(point.join("work")).unwrap();
    let targets = [point.join("work/file").display().to_string()];
    let journals = state.path().join("journals");
    let mut session = session(&journals, None);
    let noatime = values(&[(Setting::Mount, "noatime")]);
    let namespace = MountNamespace::new(point);
    let error = session.set_up(&noatime, &targets).unwrap_err();
    assert!(error.text.contains("stays mounted in another mount namespace"), "{error}");
    let put_back = session.put_back();
    assert!(put_back.failed.is_empty(), "{put_back:?}");
    assert_eq!(mount_of(point).unwrap().options, before);
    drop(namespace);
    for option in ["noatime", "data=writeback", "nobarrier"] {
        session.set_up(&values(&[(Setting::Mount, option)]), &targets).unwrap();
        assert!(has(point, option) && has(point, "nodev") && !has(point, "commit=77"), "{option}");
    }
    let open = fs::File::create(point.join("work/file")).unwrap();
    let error = session.set_up(&noatime, &targets).unwrap_err();
    assert!(error.text.contains("cannot be") || error.text.contains("umount"), "{error}");
    drop(open);
    let namespace = MountNamespace::new(point);
    let error = session.set_up(&noatime, &targets).unwrap_err();
    assert!(error.text.contains("another mount namespace keeps it mounted"), "{error}");
    drop(namespace);
    let put_back = session.put_back();
    assert!(put_back.failed.is_empty(), "{put_back:?}");
    assert_eq!(mount_of(point).unwrap().options, before);
    let error =
        session.set_up(&values(&[(Setting::Mount, "no_such_option")]), &targets).unwrap_err();
    assert!(error.text.contains("no_such_option"), "{error}");
    let above = Mounted::new(&["-t", "tmpfs"], "tmpfs", state.path().join("above"));
    drop(session);
    assert_eq!(mount_of(point).unwrap().options, before);
    let mut session = super::tests::session(&journals, None);
    let memory = [above.path().display().to_string()];
    let error = session.set_up(&noatime, &memory).unwrap_err();
    assert!(error.text.contains("not on a disk (tmpfs)"), "{error}");
}

/// A journal that is let go with something in it is what a killed sweep leaves.
#[test]
fn leftovers_are_restored_before_another_session_begins() {
    let _alone = alone();
    let (state, device) = (scratch(), tuned());
    let host = Host::at("/");
    let file = PathBuf::from(format!("/sys/class/block/{}/queue/scheduler", device.name()));
    let mut journal = Journal::begin(&host, state.path()).unwrap();
    queue::set(&host, &mut journal, &file, "bfq").unwrap();
    let live = restore_leftovers(&host, state.path()).unwrap();
    assert!(live.done.is_empty() && live.left.len() == 1, "{live:?}");
    // Nor may another session take for granted what this one changed.
    let mut other = session(state.path(), None);
    let targets = [device.device.clone()];
    let error = other.set_up(&values(&[(Setting::Scheduler, "kyber")]), &targets).unwrap_err();
    assert!(error.text.contains("is changed by another sweep"), "{error}");
    drop(other);
    journal.simulate_crash();
    assert!(queue(&device, "scheduler").contains("[bfq]"));
    let begun = Session::begin(host, state.path(), None, Box::new(|| false)).unwrap();
    assert!(begun.1.done.iter().any(|line| line.contains("scheduler is mq-deadline again")));
    assert_tuned(&device);
}
