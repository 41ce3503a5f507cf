use super::*;
use tempfile::TempDir;

const MOUNTINFO: &str = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                     22 21 0:40 / /tmp rw - tmpfs tmpfs rw\n";

/// A machine with a disk sda, its partition, and a RAID md0 of sdb and sdc.
fn machine() -> (TempDir, TempDir, Host, Journal) {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let write = |path: &str, text: &str| fs::write(at(path), text).unwrap();
    let link = |path: &str, to: &str| std::os::unix::fs::symlink(to, at(path)).unwrap();
    for (name, number) in [("sda", "8:0"), ("sdb", "8:16"), ("sdc", "8:32")] {
        write(&format!("sys/devices/{name}/queue/scheduler"), "[mq-deadline] bfq none\n");
        write(&format!("sys/devices/{name}/queue/nr_requests"), "64\n");
        write(&format!("sys/devices/{name}/queue/iosched/read_expire"), "77\n");
        write(&format!("sys/devices/{name}/queue/read_ahead_kb"), "128\n");
        write(&format!("sys/devices/{name}/mq/0/cpu_list"), "0\n");
        link(&format!("sys/class/block/{name}"), &format!("../../devices/{name}"));
        link(&format!("sys/dev/block/{number}"), &format!("../../devices/{name}"));
        write(&format!("dev/{name}"), "");
    }
    write("sys/devices/sda/sda1/partition", "1\n");
    link("sys/class/block/sda1", "../../devices/sda/sda1");
    link("sys/dev/block/8:1", "../../devices/sda/sda1");
    write("sys/devices/md0/md/level", "raid1\n");
    write("sys/devices/md0/queue/read_ahead_kb", "256\n");
    for member in ["sdb", "sdc"] {
        link(&format!("sys/devices/md0/slaves/{member}"), &format!("../../{member}"));
    }
    link("sys/class/block/md0", "../../devices/md0");
    write("dev/md0", "");
    write("proc/self/mountinfo", MOUNTINFO);
    fs::create_dir_all(root.path().join("tmp")).unwrap();
    fs::create_dir_all(root.path().join("data")).unwrap();
    let host = Host::at(root.path());
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::begin(&host, state.path()).unwrap();
    (root, state, host, journal)
}

fn queue(disk: &str, name: &str) -> PathBuf {
    format!("/sys/class/block/{disk}/queue/{name}").into()
}

#[test]
fn an_array_has_read_ahead_and_its_members_have_requests() {
    let (_root, _state, host, _journal) = machine();
    let found = |setting, target| files(&host, setting, target).unwrap();
    assert_eq!(found(Setting::Scheduler, "/data/x"), [queue("sda", "scheduler")]);
    assert_eq!(found(Setting::ReadAhead, "/data"), [queue("sda", "read_ahead_kb")]);
    let members = [queue("sdb", "nr_requests"), queue("sdc", "nr_requests")];
    assert_eq!(found(Setting::NrRequests, "/dev/md0"), members);
    assert_eq!(found(Setting::ReadAhead, "/dev/md0"), [queue("md0", "read_ahead_kb")]);
    let memory = files(&host, Setting::Scheduler, "/tmp").unwrap_err().text;
    assert!(memory.contains("no block device but on tmpfs"), "{memory}");
}

/// Unlike in sysfs, the scheduler file of this test returns the written text without brackets.
#[test]
fn a_scheduler_is_restored_with_its_own_settings() {
    let (root, _state, host, mut journal) = machine();
    let file = queue("sda", "scheduler");
    let real = |name: &str| root.path().join("sys/devices/sda/queue").join(name);
    set(&host, &mut journal, &file, "bfq").unwrap();
    assert_eq!(fs::read_to_string(real("scheduler")).unwrap(), "bfq");
    let entries: Vec<_> = journal.entries().iter().map(|entry| format!("{entry:?}")).collect();
    assert!(entries[0].contains("nr_requests") && entries[0].contains("64"), "{entries:?}");
    assert!(entries[1].contains("read_expire") && entries[1].contains("77"), "{entries:?}");
    assert!(entries[2].contains("mq-deadline") && entries.len() == 3, "{entries:?}");
    // The kernel resets the number of requests and the tunables when the scheduler changes.
    fs::write(real("nr_requests"), "256").unwrap();
    fs::write(real("iosched/read_expire"), "500").unwrap();
    set(&host, &mut journal, &file, "mq-deadline").unwrap();
    assert_eq!(fs::read_to_string(real("nr_requests")).unwrap(), "64");
    assert_eq!(fs::read_to_string(real("iosched/read_expire")).unwrap(), "77");
    assert_eq!(journal.entries().len(), 3, "the entries are kept");
}

#[test]
fn queues_that_a_cell_does_not_use_are_restored() {
    let (root, _state, host, mut journal) = machine();
    let (a, b) = (queue("sda", "nr_requests"), queue("sdb", "nr_requests"));
    let value = |disk: &str| {
        fs::read_to_string(root.path().join(format!("sys/devices/{disk}/queue/nr_requests")))
    };
    set(&host, &mut journal, &a, "8").unwrap();
    set(&host, &mut journal, &b, "8").unwrap();
    restore_other_files(&host, &journal, &[b]).unwrap();
    assert_eq!((value("sda").unwrap(), value("sdb").unwrap()), ("64".into(), "8".into()));
}

#[test]
fn a_value_outside_of_sys_is_not_restored() {
    let (root, _state, host, _journal) = machine();
    fs::create_dir_all(root.path().join("etc")).unwrap();
    fs::write(root.path().join("etc/passwd"), "root").unwrap();
    for file in ["/etc/passwd", "/sys/../etc/passwd"] {
        assert!(restore_value(&host, Path::new(file), "x").is_err(), "{file}");
    }
    assert_eq!(restore_value(&host, Path::new("/sys/gone"), "x").unwrap(), None);
}

#[test]
fn a_refused_value_is_reported_with_the_supported_values() {
    let (_root, _state, host, _journal) = machine();
    let invalid = io::Error::from(ErrorKind::InvalidInput);
    let text = write_error(&host, &queue("sda", "scheduler"), "cfq", &invalid).text;
    assert!(text.ends_with("only mq-deadline, bfq, none"), "{text}");
    let denied = io::Error::from(ErrorKind::PermissionDenied);
    let text = write_error(&host, &queue("sda", "nr_requests"), "9", &denied).text;
    assert!(text.contains("only root may write /sys/class/block/sda/queue/nr_requests"), "{text}");
}
