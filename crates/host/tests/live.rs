//! Facts and samples of the machine the tests run on: loop devices over scratch files, which need
//! root.

use host::{Host, Sampler, SamplerConfig, TargetQuery};
use record::{DeviceKind, Facts, TargetKind, Use};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testbed::{Loop, Mounted, system};

/// A directory for one test. The tests that make loop devices run one at a time: their numbers are
/// reused at once, and one test's remains would be another's findings.
struct Scratch {
    directory: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Scratch {
    fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn scratch() -> Scratch {
    Scratch { directory: testbed::scratch(), _alone: testbed::alone() }
}

/// A loop device of 16 MiB. The kernel takes partitions that it reads away again with it.
fn disk(file: &Path) -> Loop {
    Loop::over(file, 16 << 20, &["--partscan"])
}

fn facts(path: &str) -> Facts {
    Host::at("/").facts(&[TargetQuery { path: path.to_owned(), will_write: true }])
}

#[test]
fn a_file_lies_in_a_filesystem_and_may_be_sized_and_opened() {
    let directory = scratch();
    let path = directory.path().join("data");
    fs::write(&path, vec![1; 10_000]).unwrap();
    let path = path.to_str().unwrap();
    let facts = facts(path);
    let target = &facts.targets[path];
    assert_eq!((target.kind, target.size.0), (TargetKind::File, 10_000));
    assert!(target.readable && target.writable && target.parent_exists);
    let filesystem = target.filesystem.as_ref().unwrap();
    assert!(Path::new(path).starts_with(&filesystem.mount_point));
    assert!(filesystem.total >= filesystem.free && filesystem.block_size.0 > 0);
    assert!(target.uses.is_empty());
    for device in facts.stack_under(path) {
        assert!(facts.devices[device].logical_block.0 >= 512);
    }
}

#[test]
fn a_missing_path_has_the_facts_of_its_directory() {
    let directory = scratch();
    let base = directory.path().to_str().unwrap();
    let query = |path: &str| {
        let path = format!("{base}/{path}");
        facts(&path).targets[&path].clone()
    };
    let here = query("new");
    assert_eq!(here.kind, TargetKind::Missing);
    assert!(here.parent_exists && here.writable);
    assert!(here.canonical.ends_with("/new") && here.filesystem.is_some());
    let deeper = query("no/where");
    assert!(!deeper.parent_exists && deeper.canonical.ends_with("/no/where"));
    std::os::unix::fs::symlink(directory.path().join("aim"), directory.path().join("link"))
        .unwrap();
    assert!(query("link").canonical.ends_with("/aim"));
    fs::write(directory.path().join("file"), "").unwrap();
    assert!(!query("file/below").parent_exists);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "looking left nothing behind");
}

#[test]
fn special_files_are_told_apart() {
    let kind = |path: &str| facts(path).targets[path].kind;
    assert_eq!(kind("/dev/null"), TargetKind::Char);
    assert_eq!(kind("/"), TargetKind::Directory);
    assert!(facts("/proc/version").targets["/proc/version"].device.is_none());
}

#[test]
fn a_relative_path_is_looked_up_from_the_working_directory() {
    let target = &facts("Cargo.toml").targets["Cargo.toml"];
    assert_eq!(target.kind, TargetKind::File);
    assert!(target.canonical.starts_with('/') && target.filesystem.is_some());
    assert!(facts("no-such-file").targets["no-such-file"].parent_exists);
}

#[test]
fn a_loop_device_is_free_until_it_holds_data() {
    let directory = scratch();
    let disk = disk(&directory.path().join("image"));
    let before = facts(&disk.device);
    let target = &before.targets[&disk.device];
    assert_eq!((target.kind, target.size.0), (TargetKind::Block, 16 << 20));
    assert!(target.readable && target.writable);
    assert_eq!(target.uses, []);
    assert_eq!(target.direct.unwrap().offset, 512);
    let device = &before.devices[disk.name()];
    assert!(device.is_virtual);
    let backing_file = fs::canonicalize(&disk.file).unwrap().to_string_lossy().into_owned();
    assert_eq!(device.kind, DeviceKind::Loop { backing_file });
    // What holds the file is below the loop device.
    let path = disk.file.to_str().unwrap();
    assert_eq!(before.stack_under(&disk.device)[1..], facts(path).stack_under(path));

    let image = OpenOptions::new().write(true).open(&disk.device).unwrap();
    image.write_all_at(b"SWAPSPACE2", 4086).unwrap();
    let uses = &facts(&disk.device).targets[&disk.device].uses;
    let signature =
        Use::Signature { device: disk.name().into(), what: "swap".into(), offset: 4086 };
    assert_eq!(*uses, [signature]);
}

#[test]
fn a_mounted_loop_device_is_in_use_and_its_files_lie_on_it() {
    let directory = scratch();
    let disk = disk(&directory.path().join("image"));
    system("mkfs.ext4", &["-q", &disk.device]);
    let mounted = Mounted::new(&["-onoatime"], &disk.device, directory.path().join("point"));
    let point = mounted.path().to_str().unwrap().to_owned();

    let uses = facts(&disk.device).targets[&disk.device].uses.clone();
    let device = disk.name().to_owned();
    let mount = Use::Mounted { device: device.clone(), mount_point: point.clone() };
    let signature = Use::Signature { device: device.clone(), what: "ext4".into(), offset: 1080 };
    assert_eq!(uses, [mount.clone(), signature, Use::Busy { device: device.clone() }]);

    let path = format!("{point}/file");
    let facts_of_file = facts(&path);
    let target = &facts_of_file.targets[&path];
    assert_eq!(target.device.as_deref(), Some(disk.name()));
    let filesystem = target.filesystem.as_ref().unwrap();
    assert_eq!((filesystem.kind.as_str(), filesystem.mount_point.as_str()), ("ext4", &*point));
    assert_eq!(filesystem.source, disk.device);
    assert!(filesystem.options.iter().any(|o| o == "noatime"));
    assert_eq!(facts_of_file.stack_under(&path)[0], disk.name());

    // A second loop device over the same file, and one over the first device, reach the same data.
    let file = disk.file.to_str().unwrap().to_owned();
    for shown in [file, disk.device.clone()] {
        let second = Loop::showing(Path::new(&shown), &[]);
        let uses = facts(&second.device).targets[&second.device].uses.clone();
        assert!(uses.contains(&mount), "{shown}: {uses:?}");
        let first = facts(&disk.device).targets[&disk.device].uses.clone();
        assert!(
            first.iter().any(|u| matches!(u, Use::Holders { names } if names == &[second.name()]))
        );
    }
}

#[test]
fn a_partition_table_and_its_partitions_speak_against_writing() {
    let directory = scratch();
    let file = directory.path().join("image");
    let mut sector = [0; 512];
    sector[446..462].copy_from_slice(&[0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0]);
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    fs::write(&file, sector).unwrap();
    let disk = disk(&file);
    let partition = format!("{}p1", disk.name());
    // A kernel that does not know this kind of table has to be told.
    if !Path::new("/sys/class/block").join(&partition).exists() {
        system("partx", &["--add", &disk.device]);
    }
    let uses = facts(&disk.device).targets[&disk.device].uses.clone();
    assert!(uses.contains(&Use::Partitions { names: vec![partition.clone()] }), "{uses:?}");
    let path = format!("/dev/{partition}");
    let facts = facts(&path);
    assert_eq!(facts.targets[&path].uses, []);
    assert_eq!(facts.targets[&path].size.0, 1 << 20);
    assert_eq!(facts.stack_under(&path)[..2], [&*partition, disk.name()]);
    assert_eq!(facts.devices[&partition].kind, DeviceKind::Partition);
    assert_eq!(facts.devices[&partition].logical_block.0, 512);
}

#[test]
fn a_device_that_sys_does_not_list_is_checked_as_far_as_it_goes() {
    let directory = scratch();
    let disk = disk(&directory.path().join("image"));
    let root = directory.path().join("root");
    fs::create_dir_all(root.join("dev")).unwrap();
    fs::create_dir_all(root.join("proc/self")).unwrap();
    let number = fs::metadata(&disk.device).unwrap().rdev();
    let (major, minor) = ((number >> 8 & 0xfff).to_string(), (number & 0xff).to_string());
    let node = root.join("dev/disk");
    system("mknod", &[node.to_str().unwrap(), "b", &major, &minor]);
    let mounts = format!("40 1 {major}:{minor} / /point rw - xfs /dev/other rw\n");
    fs::write(root.join("proc/self/mountinfo"), mounts).unwrap();
    let image = OpenOptions::new().write(true).open(&disk.device).unwrap();
    image.write_all_at(b"XFSB", 0).unwrap();

    let query = TargetQuery { path: "/dev/disk".into(), will_write: true };
    let facts = Host::at(&root).facts(&[query]);
    let target = &facts.targets["/dev/disk"];
    assert_eq!((target.kind, target.size.0, &target.device), (TargetKind::Block, 16 << 20, &None));
    let device = || "/dev/disk".to_owned();
    let mounted = Use::Mounted { device: device(), mount_point: "/point".into() };
    let signature = Use::Signature { device: device(), what: "xfs".into(), offset: 0 };
    assert_eq!(target.uses, [mounted, signature]);
    assert!(facts.unknown.iter().any(|note| note.contains("/sys does not list")));
}

#[test]
fn one_path_named_twice_counts_as_written_when_one_job_writes_it() {
    let directory = scratch();
    let disk = disk(&directory.path().join("image"));
    system("mkfs.ext4", &["-q", &disk.device]);
    let _mounted = Mounted::new(&["-onoatime"], &disk.device, directory.path().join("point"));
    let query = |will_write| TargetQuery { path: disk.device.clone(), will_write };
    let busy = |queries: &[TargetQuery]| {
        let facts = Host::at("/").facts(queries);
        facts.targets[&disk.device].uses.iter().any(|u| matches!(u, Use::Busy { .. }))
    };
    assert!(busy(&[query(true), query(false)]));
    assert!(!busy(&[query(false)]), "a reader does not claim the device even for a moment");
}

#[test]
fn the_sampler_sees_what_a_device_does() {
    let directory = scratch();
    let disk = disk(&directory.path().join("image"));
    let watched = SamplerConfig {
        devices: vec![disk.name().to_owned()],
        period: Some(Duration::from_millis(100)),
        ..SamplerConfig::default()
    };
    let origin = Instant::now();
    let sampler = Sampler::start(Host::at("/"), watched, origin, Vec::new).unwrap();
    let image = OpenOptions::new().write(true).open(&disk.device).unwrap();
    image.write_all_at(&vec![7; 1 << 20], 0).unwrap();
    image.sync_all().unwrap();
    // Past the first beats, so that there are samples between the ends.
    std::thread::sleep(Duration::from_millis(1300));
    let samples = sampler.finish().samples;
    // One a beat at most, and both ends; on a machine that is busy some beats are missed.
    let beats: Vec<u64> =
        samples[1..samples.len() - 1].iter().map(|s| s.at.0 / 100_000_000).collect();
    assert!(beats.len() >= 3 && beats.windows(2).all(|two| two[0] < two[1]), "{beats:?}");
    let seconds = samples[samples.len() - 1].at.0 / 1_000_000_000;
    let slow = samples.iter().filter(|sample| sample.slow.is_some()).count() as u64;
    assert!((3..=seconds + 3).contains(&slow), "both ends and once a second: {slow}");
    let [first, .., last] = &samples[..] else { unreachable!() };
    assert!(last.own.unwrap().write_bytes - first.own.unwrap().write_bytes >= 1 << 20);
    let (first, last) = (first.disks[disk.name()], last.disks[disk.name()]);
    assert_eq!(last.write_bytes - first.write_bytes, 1 << 20);
    assert!(samples.is_sorted_by_key(|s| s.at));
    assert_eq!(Host::at("/").disk_sample(disk.name()), Some(last));
}
