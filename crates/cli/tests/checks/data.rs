//! The checks about what is stored, on real runs.

use crate::common::{Mounted, alone, loop_device, recorded, scratch, silent, system, the_finding};
use record::Severity;
use std::fs::File;

const READ: [&str; 7] = [
    "--name=job",
    "--rw=randread",
    "--direct=1",
    "--ioengine=io_uring",
    "--iodepth=4",
    "--runtime=1",
    "--time_based",
];

#[test]
fn holes_and_blank_devices_were_never_written() {
    let _alone = alone();
    let directory = scratch();
    // Of the size asked for, so it is taken as it is; fallocated, not written.
    let blank = directory.path().join("blank");
    File::create(&blank).unwrap();
    system("fallocate", &["--length", "16M", blank.to_str().unwrap()]);
    let arguments =
        [&READ[..], &["--filename=blank", "--size=16m", "--allow_file_create=0"]].concat();
    let record = recorded(directory.path(), 0, &arguments);
    // What fathom lays out itself is written: only a file it must not touch stays blank.
    let laid_out = judge::judge(&record).findings.iter().all(|f| f.check != "never-written");
    assert!(laid_out, "the layout writes what was not written");
    // Of a larger file, what the job does not read may stay blank.
    let sparse = File::create(directory.path().join("sparse")).unwrap();
    sparse.set_len(256 << 20).unwrap();
    let part = [&READ[..], &["--filename=sparse", "--size=16m"]].concat();
    silent(&recorded(directory.path(), 0, &part), "never-written");
    let beyond = [&part[..], &["--offset=64m", "--readonly"]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &beyond), "never-written");
    assert!(found.text.starts_with("16 MiB") && found.text.contains("(100 %)"), "{found:?}");
    // An earlier job of the same run wrote what the next one reads.
    let both = "--name=w --filename=new --size=16m --rw=write --bs=1m --end_fsync=1 --name=job \
                --filename=new --size=16m --rw=read --bs=128k --stonewall";
    let both: Vec<&str> = both.split_whitespace().collect();
    silent(&recorded(directory.path(), 0, &both), "never-written");
    let disk = loop_device(directory.path(), 64 << 20, &[]);
    let arguments = [&READ[..], &["--filename", &disk.device]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &arguments), "never-written");
    assert!(found.text.contains("64 of 64"), "{found:?}");
    let fill = ["--name=fill", "--rw=write", "--bs=1m", "--direct=1", "--refill_buffers"];
    recorded(directory.path(), 0, &[&fill[..], &["--filename", &disk.device]].concat());
    silent(&recorded(directory.path(), 0, &arguments), "never-written");
}

/// A filesystem that compresses, on a loop device.
fn compressing(directory: &std::path::Path) -> (Mounted, crate::common::Loop) {
    let disk = loop_device(directory, 256 << 20, &[]);
    system("mkfs.btrfs", &["-q", "-f", &disk.device]);
    let options = ["-o", "compress=zstd"];
    (Mounted::new(&options, &disk.device, directory.join("mounted")), disk)
}

#[test]
fn zeros_on_a_layer_that_compresses_are_found() {
    let _alone = alone();
    let directory = scratch();
    let (mounted, _disk) = compressing(directory.path());
    let write = ["--name=job", "--filename=zeros", "--size=16m", "--rw=write", "--bs=128k"];
    let zeros = [&write[..], &["--zero_buffers", "--end_fsync=1"]].concat();
    let found = the_finding(&recorded(mounted.path(), 0, &zeros), "compressible-data");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.text.contains("zero_buffers"), "{found:?}");
    let read = [&READ[..], &["--filename=zeros", "--size=16m"]].concat();
    let found = the_finding(&recorded(mounted.path(), 0, &read), "compressible-data");
    assert!(found.text.contains("compresses to"), "{found:?}");
}

#[test]
fn random_content_on_a_layer_that_compresses_is_clean() {
    let _alone = alone();
    let directory = scratch();
    let (mounted, _disk) = compressing(directory.path());
    let write = ["--name=job", "--filename=noise", "--size=16m", "--rw=write", "--bs=128k"];
    let noise = [&write[..], &["--refill_buffers", "--end_fsync=1"]].concat();
    silent(&recorded(mounted.path(), 0, &noise), "compressible-data");
    let read = [&READ[..], &["--filename=noise", "--size=16m"]].concat();
    silent(&recorded(mounted.path(), 0, &read), "compressible-data");
}

#[test]
fn a_loop_device_is_named_as_what_it_is() {
    let _alone = alone();
    let directory = scratch();
    let disk = loop_device(directory.path(), 16 << 20, &[]);
    let arguments = [&READ[..], &["--filename", &disk.device]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &arguments), "virtual-device");
    assert!(found.text.contains("is the file"), "{found:?}");
    assert_eq!(found.severity, Severity::Note);
}
