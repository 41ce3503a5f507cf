//! What holds data is not overwritten: every reason, on devices made for it, with the bytes of the
//! device compared before and after.

use crate::common::*;
use rustix::fs::{Mode, OFlags, open};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const SIZE: u64 = 8 << 20;

/// A device of its own for each case, with the options of a job that writes it.
struct Case {
    directory: TempDir,
    device: Loop,
}

impl Case {
    fn new(options: &[&str]) -> Case {
        let directory = scratch();
        let device = loop_device(directory.path(), SIZE, options);
        Case { directory, device }
    }

    fn at(&self) -> &Path {
        self.directory.path()
    }

    fn bytes(&self) -> Vec<u8> {
        // Under a mounted filesystem, flushing the device's buffers only syncs that filesystem.
        system("sync", &[&self.device.device]);
        fs::read(&self.device.file).unwrap()
    }

    fn put(&self, offset: u64, bytes: &[u8]) {
        let device = fs::OpenOptions::new().write(true).open(&self.device.device).unwrap();
        device.write_all_at(bytes, offset).unwrap();
        device.sync_all().unwrap();
    }

    fn arguments(&self, more: &[&str]) -> Vec<String> {
        let filename = format!("--filename={}", self.device.device);
        let job = ["--name=a", &filename, "--size=64k", "--bs=4k", "--ioengine=psync"];
        [&job[..], more].concat().into_iter().map(Into::into).collect()
    }

    #[track_caller]
    fn run(&self, verb: &str, more: &[&str]) -> Ran {
        let arguments = self.arguments(more);
        run(Command::new(FATHOM).arg(verb).args(arguments).current_dir(self.at()))
    }

    /// Refused with `reason`, whatever it would do to the device, which is not touched.
    #[track_caller]
    fn is_refused(&self, verb: &str, more: &[&str], reason: &str) {
        let before = self.bytes();
        let code = if verb == "fio" { 1 } else { 3 };
        for rw in ["--rw=write", "--rw=randrw", "--rw=trim", "--rw=randtrimwrite"] {
            let ran = self.run(verb, &[&[rw], more].concat()).expect(code);
            let place = format!("[a] filename: {} ", self.device.device);
            assert!(ran.err.contains(&place) && ran.err.contains(reason), "{}", ran.err);
            assert_eq!(ran.out, "");
        }
        assert!(before == self.bytes(), "{} was touched", self.device.device);
        self.run(verb, &["--rw=read"]).expect(0);
        self.run(verb, &["--rw=randread", "--readonly"]).expect(0);
        assert!(before == self.bytes(), "{} was touched by reading", self.device.device);
    }

    /// Refused under both names, unless this device is named.
    #[track_caller]
    fn needs_its_name(&self, reason: &str) {
        let own = format!("--allow-destroy={}", self.device.device);
        for verb in ["run", "fio"] {
            self.is_refused(verb, &[], reason);
            self.is_refused(verb, &["--allow-destroy=/dev/loop"], &own);
        }
        self.is_written("run", &[&own]);
        self.is_written("fio", &[&own]);
    }

    /// Written all over the region.
    #[track_caller]
    fn is_written(&self, verb: &str, more: &[&str]) -> Ran {
        let before = self.bytes();
        let seed = format!("--randseed={}", before.iter().map(|b| u64::from(*b)).sum::<u64>());
        let ran = self.run(verb, &[&["--rw=write", &seed], more].concat()).expect(0);
        let after = self.bytes();
        assert!(before[..65536] != after[..65536], "nothing was written");
        assert!(before[65536..] == after[65536..], "more than the region was written");
        ran
    }

    /// Refused as fathom, warned of as fio.
    #[track_caller]
    fn only_warns_as_fio(&self, what: &str) {
        self.is_refused("run", &[], &format!("carries the signature of {what} at byte "));
        let ran = self.is_written("fio", &[]);
        let words = format!("is overwritten although it carries the signature of {what}");
        assert!(ran.out.contains(&words), "{}", ran.out);
    }
}

/// A partition table as the old MBR has it: one entry of type Linux from sector 64 on.
fn partition_table() -> Vec<u8> {
    let mut sector = vec![0; 512];
    sector[446..462].copy_from_slice(&[0, 0, 0, 0, 0x83, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0]);
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

/// The label of an LVM2 physical volume, without a valid checksum.
fn lvm_label() -> Vec<u8> {
    let mut sector = vec![0; 512];
    sector[..8].copy_from_slice(b"LABELONE");
    sector[8] = 1;
    sector[20] = 32;
    sector[24..32].copy_from_slice(b"LVM2 001");
    sector
}

#[test]
fn an_empty_device_is_free() {
    let _turn = alone();
    let case = Case::new(&[]);
    case.is_written("run", &[]);
    case.is_written("fio", &[]);
}

#[test]
fn signatures() {
    let _turn = alone();
    let case = Case::new(&[]);
    system("mkfs.ext4", &["-q", &case.device.device]);
    case.only_warns_as_fio("ext4");
    let case = Case::new(&[]);
    system("mkswap", &[&case.device.device]);
    case.only_warns_as_fio("swap");
    let case = Case::new(&[]);
    case.put(512, &lvm_label());
    case.only_warns_as_fio("LVM2 member");
    let case = Case::new(&[]);
    case.put(0, &partition_table());
    case.only_warns_as_fio("MBR partition table");
}

#[test]
fn the_name_lifts_the_refusal_of_that_device_alone() {
    let _turn = alone();
    let (case, other) = (Case::new(&[]), Case::new(&[]));
    for case in [&case, &other] {
        system("mkfs.ext4", &["-q", &case.device.device]);
    }
    let name = format!("--allow-destroy={}", case.device.device);
    other.is_refused("run", &[&name], "carries the signature of ext4");
    case.is_written("run", &[&name]);
}

#[test]
fn a_link_to_a_device_is_that_device() {
    let _turn = alone();
    let case = Case::new(&[]);
    system("mkfs.ext4", &["-q", &case.device.device]);
    std::os::unix::fs::symlink(&case.device.device, case.at().join("link")).unwrap();
    let before = case.bytes();
    let job = ["--name=a", "--filename=link", "--rw=write", "--size=64k", "--ioengine=psync"];
    let ran = fathom(case.at(), &job).expect(3);
    assert!(ran.err.contains("carries the signature of ext4"), "{}", ran.err);
    assert!(before == case.bytes());
    let name = format!("--allow-destroy={}", case.device.device);
    fathom(case.at(), &[&job[..], &[&name]].concat()).expect(0);
}

#[test]
fn mounted_filesystems() {
    let _turn = alone();
    let case = Case::new(&[]);
    system("mkfs.ext4", &["-q", &case.device.device]);
    let mounted = Mounted::new(&["-oro,noload"], &case.device.device, case.at().join("mnt"));
    case.is_refused("run", &[], "is mounted at ");
    case.is_refused("run", &["--allow_mounted_write=1"], "is mounted at ");
    case.is_refused("fio", &[], "set allow_mounted_write=1");
    let ran = case.is_written("fio", &["--allow_mounted_write=1"]);
    assert!(ran.out.contains("is overwritten although it is mounted at "), "{}", ran.out);
    case.is_written("run", &[&format!("--allow-destroy={}", case.device.device)]);
    drop(mounted);
}

#[test]
fn a_file_on_a_mounted_filesystem_is_no_device() {
    let _turn = alone();
    let case = Case::new(&[]);
    system("mkfs.ext4", &["-q", &case.device.device]);
    let mounted = Mounted::new(&[], &case.device.device, case.at().join("mnt"));
    let job = ["--name=a", "--directory=mnt", "--rw=write", "--size=64k", "--ioengine=psync"];
    fathom(case.at(), &job).expect(0);
    assert_eq!(fs::metadata(mounted.path().join("a.0.0")).unwrap().len(), 65536);
}

/// The first partition of a device: it would outlive the device's detaching.
struct Partition<'a>(&'a str);

impl Drop for Partition<'_> {
    fn drop(&mut self) {
        system("delpart", &[self.0, "1"]);
    }
}

#[test]
fn partitions_that_the_kernel_knows() {
    let _turn = alone();
    let case = Case::new(&[]);
    // Not every kernel reads partition tables; each can be told of a partition.
    system("addpart", &[&case.device.device, "1", "64", "64"]);
    let _partition = Partition(&case.device.device);
    case.needs_its_name(&format!("holds partitions ({}p1)", case.device.name()));
}

#[test]
fn devices_that_others_stand_on() {
    let _turn = alone();
    let case = Case::new(&[]);
    let above = system("losetup", &["--find", "--show", &case.device.device]);
    let held = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let name = above.strip_prefix("/dev/").unwrap();
        case.needs_its_name(&format!("is held by {name}"));
    }));
    system("losetup", &["--detach", &above]);
    held.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn devices_that_are_opened_exclusively() {
    let _turn = alone();
    let case = Case::new(&[]);
    let device = case.device.device.as_str();
    let held = open(device, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty());
    let held = held.unwrap();
    case.needs_its_name("is opened exclusively by another");
    drop(held);
    case.is_written("run", &[]);
}

#[test]
fn readonly_refuses_every_change() {
    let _turn = alone();
    let case = Case::new(&[]);
    let before = case.bytes();
    let modes = ["write", "randwrite", "rw", "randrw", "trim", "randtrim", "trimwrite"];
    for (verb, code) in [("run", 3), ("fio", 1)] {
        for rw in modes {
            let ran = case.run(verb, &["--readonly", &format!("--rw={rw}")]).expect(code);
            let words = "changes its targets; --readonly is given: take it back or only read";
            assert!(ran.err.contains(words), "{}", ran.err);
        }
    }
    let name = format!("--allow-destroy={}", case.device.device);
    case.run("run", &["--readonly", "--rw=write", &name]).expect(3);
    assert!(before == case.bytes());
    let file = ["--name=a", "--readonly", "--rw=write", "--size=64k", "--ioengine=psync"];
    fathom(case.at(), &file).expect(3);
    assert!(!case.at().join("a.0.0").exists());
}

/// The device the root filesystem is on.
fn root_device() -> String {
    system("findmnt", &["--noheadings", "--nofsroot", "--output=SOURCE", "/"])
}

/// Paths a traced program opened so that it could change them.
fn opened_for_writing(trace: &str) -> Vec<&str> {
    let changing = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "creat("];
    trace.lines().filter(|line| changing.iter().any(|flag| line.contains(flag))).collect()
}

#[test]
fn the_disk_of_the_machine_is_refused_before_anything_is_opened() {
    let directory = scratch();
    let root = root_device();
    assert!(root.starts_with("/dev/"), "the root filesystem is on no disk: {root}");
    // --readonly as well: were the refusal of mounted disks broken, nothing would happen yet.
    for more in [&["--readonly"][..], &["--readonly", "--direct=1", "--rw=randtrim"]] {
        let filename = format!("--filename={root}");
        let job = ["run", "--name=a", &filename, "--rw=write", "--size=4k", "--ioengine=psync"];
        let trace = directory.path().join("trace");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-e", "trace=open,openat,openat2,creat", "-o"]).arg(&trace);
        let ran = run(strace.arg(FATHOM).args(job).args(more).current_dir(&directory)).expect(3);
        assert!(ran.err.contains(&format!("{root} is mounted at /")), "{}", ran.err);
        let trace = fs::read_to_string(trace).unwrap();
        assert!(trace.contains("openat("), "nothing was traced: {trace}");
        assert_eq!(opened_for_writing(&trace), Vec::<&str>::new());
    }
}
