//! Engines that speak to devices, as far as this machine has any. The rest is in the lab's guest
//! (`cargo xtask lab`).

use crate::common::*;
use std::fs;
use std::path::Path;

/// Where the blocks of a file begin on its device.
fn physical(file: &Path) -> Vec<u64> {
    let shown = system("filefrag", &["-v", file.to_str().unwrap()]);
    let extents = shown.lines().filter(|line| line.trim_start().starts_with(char::is_numeric));
    extents
        .map(|line| {
            let places = line.split(':').nth(2).unwrap();
            places.split("..").next().unwrap().trim().parse().unwrap()
        })
        .collect()
}

#[test]
fn e4defrag_gives_a_file_the_blocks_of_the_donor_and_keeps_its_data() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 64 << 20, &[]);
    system("mkfs.ext4", &["-q", "-b", "4096", &device.device]);
    let mounted = Mounted::new(&[], &device.device, directory.path().join("mounted"));
    let file = mounted.path().join("file");
    let data: Vec<u8> = (0..4 << 20).map(|at: u32| (at >> 9) as u8).collect();
    fs::write(&file, &data).unwrap();
    for (in_place, donor) in [("0", "donor"), ("1", "other")] {
        rustix::fs::sync();
        let before = physical(&file);
        let donor = mounted.path().join(donor);
        let options = [
            format!("--filename={}", file.display()),
            format!("--donorname={}", donor.display()),
            format!("--inplace={in_place}"),
        ];
        let job = ["--name=a", "--ioengine=e4defrag", "--rw=write", "--bs=1m", "--size=4m"];
        let options = options.iter().map(String::as_str);
        let arguments: Vec<&str> = job.into_iter().chain(options).collect();
        let record = recorded(directory.path(), 0, &arguments);
        assert_eq!(record.jobs[0].results.write.bytes.0, 4 << 20);
        assert_eq!(fs::read(&file).unwrap(), data);
        rustix::fs::sync();
        assert_ne!(physical(&file), before, "inplace={in_place}");
    }
}

#[test]
fn e4defrag_says_what_it_needs() {
    let directory = scratch();
    let job = ["--name=a", "--ioengine=e4defrag", "--filename=f", "--size=1m", "--rw=write"];
    let ran = fathom(directory.path(), &job).expect(2);
    assert!(ran.err.contains("donorname"), "{}", ran.err);
    let read = ["--name=a", "--ioengine=e4defrag", "--size=1m", "--rw=read", "--donorname=d"];
    let ran = fathom(directory.path(), &read).expect(2);
    assert!(ran.err.contains("e4defrag cannot answer rw=read"), "{}", ran.err);
}

#[test]
fn engines_of_devices_refuse_files_and_name_the_device_they_want() {
    let directory = scratch();
    for (engine, device) in [
        ("sg", "/dev/sg0"),
        ("libzbc", "/dev/sg0"),
        ("io_uring_cmd", "/dev/ng0n1"),
        ("mtd", "/dev/mtd0"),
        ("dev-dax", "/dev/dax0.0"),
    ] {
        let engine = format!("--ioengine={engine}");
        let job = ["--name=a", &engine, "--filename=f", "--size=1m", "--rw=write"];
        let ran = fathom(directory.path(), &job).expect(3);
        assert!(ran.err.contains(device), "{engine}: {}", ran.err);
        assert!(!directory.path().join("f").exists());
    }
    let disk = loop_device(directory.path(), 8 << 20, &[]);
    let name = format!("--filename={}", disk.device);
    let ran = fathom(directory.path(), &["--name=a", "--ioengine=io_uring_cmd", &name]).expect(3);
    assert!(ran.err.contains("speaks to character devices"), "{}", ran.err);
    // A block device that is no SCSI disk.
    let ran = fathom(directory.path(), &["--name=a", "--ioengine=sg", &name]).expect(1);
    assert!(ran.err.contains("I/O engine"), "{}", ran.err);
}

#[test]
fn a_file_that_is_not_on_persistent_memory_is_synchronised_and_said_to_be_none() {
    let directory = scratch();
    let job = ["--name=a", "--ioengine=libpmem", "--filename=f", "--size=1m", "--rw=randwrite"];
    let verified = [&job[..], &["--verify=crc32c"]].concat();
    let ran = fathom(directory.path(), &verified).expect(0);
    assert!(ran.err.contains("not on persistent memory"), "{}", ran.err);
    let plain = [&job[..5], &["--rw=read", "--ioengine=mmap"]].concat();
    let ran = fathom(directory.path(), &plain).expect(0);
    assert!(!ran.err.contains("persistent memory"), "{}", ran.err);
}

#[test]
fn ranges_of_trims_are_of_trims_only() {
    let directory = scratch();
    let job = ["--name=a", "--ioengine=io_uring_cmd", "--size=1m", "--num_range=4", "--rw=write"];
    let ran = fathom(directory.path(), &job).expect(2);
    assert!(ran.err.contains("only trims have ranges"), "{}", ran.err);
    let checks = ["--name=a", "--ioengine=io_uring_cmd", "--size=1m", "--pi_chk=CRC"];
    let ran = fathom(directory.path(), &checks).expect(2);
    assert!(ran.err.contains("none of GUARD, REFTAG, APPTAG"), "{}", ran.err);
}
