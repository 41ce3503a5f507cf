//! Engines whose I/O goes to a server through a library: against real servers on loopback.

use crate::common::stores::{IscsiTarget, NfsServer, allocated};
use crate::common::{FATHOM, Ran, fathom, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs a job of so many options, separated by spaces, and returns it.
#[track_caller]
fn job(directory: &Path, fixed: &[&str], options: &str) -> Value {
    let ran = ran(directory, fixed, options).expect(0);
    ran.json()["jobs"][0].clone()
}

fn ran(directory: &Path, fixed: &[&str], options: &str) -> Ran {
    let options: Vec<String> = options.split(' ').map(|option| format!("--{option}")).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let output = ["--output-format=json", "--name=a"];
    fathom(directory, &[&output[..], fixed, &options].concat())
}

/// I/Os of reads, writes and trims.
fn ios(job: &Value) -> [u64; 3] {
    ["read", "write", "trim"].map(|direction| job[direction]["total_ios"].as_u64().unwrap())
}

fn bytes(job: &Value) -> [u64; 3] {
    ["read", "write", "trim"].map(|direction| job[direction]["io_bytes"].as_u64().unwrap())
}

/// A job in the network of an NFS server.
fn over_nfs(server: &NfsServer, at: &Path, version: u32, options: &str) -> Ran {
    let mut command = server.inside(FATHOM);
    command.args(["run", "--output-format=json", "--name=a", "--ioengine=nfs"]).current_dir(at);
    command.arg(format!("--nfs_url={}", server.url(version)));
    run(command.args(options.split(' ').map(|option| format!("--{option}"))))
}

#[track_caller]
fn done_over_nfs(server: &NfsServer, at: &Path, options: &str) -> Value {
    over_nfs(server, at, 3, options).expect(0).json()["jobs"][0].clone()
}

#[test]
fn nfs_writes_and_reads_files_of_a_real_server() {
    let (server, directory) = (NfsServer::start(), scratch());
    let at = directory.path();

    let work = "rw=randwrite bs=4k size=1m iodepth=8 verify=crc32c fsync=16";
    let done = done_over_nfs(&server, at, work);
    assert_eq!(ios(&done), [256, 256, 0]);
    let local = job(at, &["--ioengine=io_uring"], work);
    assert_eq!(done["sync"]["total_ios"], local["sync"]["total_ios"]);
    let written = std::fs::metadata(server.data().join("a.0.0")).unwrap();
    assert_eq!(written.len(), 1 << 20);

    // What another program wrote is what comes back.
    std::fs::write(server.data().join("known"), [0x5a; 300_000]).unwrap();
    let known =
        "filename=known rw=read bs=64k iodepth=4 verify=pattern verify_pattern=0x5a size=256k";
    assert_eq!(bytes(&done_over_nfs(&server, at, known))[0], 256 << 10);
    // Without a size, the file's own; with the other version of the protocol too.
    for version in [3, 4] {
        let whole = over_nfs(&server, at, version, "filename=known rw=read bs=100000").expect(0);
        assert_eq!(bytes(&whole.json()["jobs"][0]), [300_000, 0, 0]);
    }
    std::fs::write(server.data().join("known"), [0x5b; 300_000]).unwrap();
    let wrong = over_nfs(&server, at, 3, known).expect(1);
    assert!(wrong.err.contains("verify"), "{}", wrong.err);

    let many = "rw=rw bs=4k size=1m nrfiles=4 numjobs=2 group_reporting iodepth=16";
    let many = done_over_nfs(&server, at, many);
    assert_eq!(bytes(&many)[..2].iter().sum::<u64>(), 2 << 20);
    let missing = over_nfs(&server, at, 3, "filename=none rw=read size=4k").expect(1);
    assert!(missing.err.contains("none cannot be opened"), "{}", missing.err);
}

#[test]
fn what_nfs_cannot_do_is_said_before_the_run() {
    let directory = scratch();
    let at = directory.path();
    let none = ran(at, &["--ioengine=nfs"], "size=4k rw=trim").expect(2);
    assert!(none.err.contains("nfs_url: ioengine=nfs needs it; give the URL"), "{}", none.err);
    assert!(none.err.contains("rw: libnfs cannot answer rw=trim"), "{}", none.err);
    let closed = "--nfs_url=nfs://127.0.0.1/x?version=4&nfsport=1";
    let gone = ran(at, &["--ioengine=nfs", closed], "size=4k").expect(3);
    assert!(gone.err.contains("cannot be mounted"), "{}", gone.err);
}

#[test]
fn an_nfs_server_that_dies_ends_the_run() {
    let (mut server, directory) = (NfsServer::start(), scratch());
    let mut command = server.inside(FATHOM);
    command.args(["run", "--output-format=json", "--name=a", "--ioengine=nfs", "--rw=write"]);
    command.args(["--bs=4k", "--size=4m", "--time_based", "--runtime=30", "--iodepth=4"]);
    command.arg(format!("--nfs_url={}", server.url(3))).current_dir(directory.path());
    let begun = Instant::now();
    let under_way = std::thread::spawn(move || run(&mut command));
    std::thread::sleep(Duration::from_secs(2));
    server.kill();
    let ran = under_way.join().unwrap().expect(1);
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    assert_ne!(ran.json()["jobs"][0]["error"], 0);
    assert!(ran.json()["jobs"][0]["write"]["total_ios"].as_u64() > Some(0));
}

#[test]
fn libiscsi_works_on_a_logical_unit_of_a_real_target() {
    const SIZE: u64 = 16 << 20;
    let (target, directory) = (IscsiTarget::start(SIZE), scratch());
    let name = format!("--filename={}", target.url());
    let fixed = ["--ioengine=libiscsi", &name];
    let at = directory.path();

    let work = "rw=randwrite bs=4k size=1m iodepth=8 verify=crc32c fsync=32";
    let done = job(at, &fixed, work);
    assert_eq!(ios(&done), [256, 256, 0]);
    let local = job(at, &["--ioengine=io_uring"], work);
    assert_eq!(done["sync"]["total_ios"], local["sync"]["total_ios"]);
    // Without a size, the disk's own.
    assert_eq!(bytes(&job(at, &fixed, "rw=read bs=1m iodepth=2")), [SIZE, 0, 0]);
    // The bytes are where they belong.
    job(at, &fixed, "rw=write bs=64k offset=2m size=128k buffer_pattern=0xa5");
    let disk = std::fs::read(target.disk()).unwrap();
    assert!(disk[2 << 20..(2 << 20) + (128 << 10)].iter().all(|byte| *byte == 0xa5));
    assert_ne!(disk[(2 << 20) + (128 << 10)], 0xa5);

    let before = allocated(&target.disk());
    let trimmed = job(at, &fixed, "rw=trim bs=64k offset=2m size=128k");
    assert_eq!(bytes(&trimmed), [0, 0, 128 << 10]);
    assert!(allocated(&target.disk()) < before);

    let odd = ran(at, &fixed, "rw=read bs=1000 size=10000").expect(1);
    assert!(odd.err.contains("Invalid argument"), "{}", odd.err);
}

#[test]
fn an_iscsi_target_that_is_not_there_or_dies_is_an_error() {
    let (mut target, directory) = (IscsiTarget::start(16 << 20), scratch());
    let name = format!("--filename={}", target.url());
    let at = directory.path().to_path_buf();
    let no_url = ran(&at, &["--ioengine=libiscsi"], "size=4k").expect(2);
    assert!(no_url.err.contains("filename: ioengine=libiscsi needs it"), "{}", no_url.err);
    let wrong = ran(&at, &["--ioengine=libiscsi", "--filename=disk"], "size=4k").expect(3);
    assert!(wrong.err.contains("is no URL of a logical unit"), "{}", wrong.err);
    let begun = Instant::now();
    let job = "rw=randread bs=4k iodepth=4 time_based runtime=30";
    let under_way = std::thread::spawn({
        let (at, name) = (at.clone(), name.clone());
        move || ran(&at, &["--ioengine=libiscsi", &name], job)
    });
    std::thread::sleep(Duration::from_secs(2));
    target.kill();
    let ended = under_way.join().unwrap().expect(1);
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    assert_ne!(ended.json()["jobs"][0]["error"], 0);
    let gone = ran(&at, &["--ioengine=libiscsi", &name], "rw=read").expect(3);
    assert!(gone.err.contains("check the URL in filename and the target"), "{}", gone.err);
}
