//! `io_submit_mode=offload`: as documented, and as the oracle has it.

use crate::common::{
    FIO, MemoryDisk, Ran, Running, Throttle, alone, as_fio, fathom, recorded, recorded_by, run,
    scratch,
};
use record::RunRecord;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const OFFLOAD: [&str; 4] = ["--name=j", "--io_submit_mode=offload", "--iodepth=8", "--bs=4k"];

fn offloaded(directory: &Path, code: i32, more: &[&str]) -> RunRecord {
    recorded(directory, code, &[&OFFLOAD, more].concat())
}

fn ios(record: &RunRecord) -> [u64; 3] {
    let results = &record.jobs[0].results;
    [results.read.ios, results.write.ios, results.trim.ios]
}

#[test]
fn every_engine_moves_what_it_would_move_itself() {
    for engine in
        ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "libaio", "posixaio", "io_uring"]
    {
        let directory = scratch();
        let engine = format!("--ioengine={engine}");
        // Several files that are not all open at once, each block once, read back and compared.
        let job = [&engine[..], "--rw=randwrite", "--size=1m", "--nrfiles=4", "--openfiles=2"];
        let more = ["--verify=crc32c", "--fsync=50", "--loops=2"];
        let record = offloaded(directory.path(), 0, &[&job[..], &more].concat());
        assert_eq!(ios(&record), [512, 512, 0], "{engine}");
        let depth = &record.jobs[0].depth;
        assert_eq!(depth.requested, 8, "{engine}");
        assert!(depth.at_issue.0[1..].iter().sum::<u64>() > 0, "{engine}: {depth:?}");
        let latency = &record.jobs[0].results.write.latency;
        let (Some(slat), Some(clat), Some(lat)) = (&latency.slat, &latency.clat, &latency.lat)
        else {
            panic!("{engine}: {latency:?}")
        };
        assert_eq!((slat.count(), clat.count(), lat.count()), (512, 512, 512), "{engine}");
        let means = (slat.mean(), clat.mean(), lat.mean());
        assert!((means.0 + means.1 - means.2).abs() < 0.01 * means.2 + 1.0, "{engine}: {means:?}");
        let files = std::fs::read_dir(directory.path()).unwrap();
        let files = files.filter(|file| {
            file.as_ref().unwrap().file_name().to_str().unwrap().starts_with("j.0.")
        });
        assert_eq!(files.count(), 4, "{engine}");
    }
    for engine in ["null", "splice", "falloc", "ftruncate"] {
        let directory = scratch();
        let engine = format!("--ioengine={engine}");
        let record = offloaded(directory.path(), 0, &[&engine, "--rw=write", "--size=1m"]);
        assert_eq!(ios(&record), [0, 256, 0], "{engine}");
    }
    let directory = scratch();
    let job = ["--ioengine=filecreate", "--rw=write", "--nrfiles=40"];
    let record = offloaded(directory.path(), 0, &[&job[..], &["--filesize=4k"]].concat());
    assert_eq!(ios(&record), [0, 40, 0]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 40);
}

/// The figures that do not depend on time, and which latencies there are.
fn told(json: &Value) -> Value {
    let job = &json["jobs"][0];
    let of = |direction: &str| {
        let one = &job[direction];
        let counts = ["io_bytes", "total_ios", "short_ios", "drop_ios"].map(|key| one[key].clone());
        (counts, one["clat_ns"]["N"].clone(), one["lat_ns"]["N"].clone())
    };
    let all = (of("read"), of("write"), of("trim"));
    serde_json::json!([job["error"], format!("{all:?}"), job["latency_depth"]])
}

/// The oracle comes to no end with most depths above 1, and now and then with 1.
fn oracle(directory: &Path, arguments: &[&str]) -> Ran {
    for _ in 0..20 {
        let mut command = Command::new("timeout");
        let line = [&["-s", "KILL", "5", FIO, "--thread"], arguments].concat();
        let ran = run(command.args(line).current_dir(directory));
        if ran.out.contains("\n{\n") || ran.out.starts_with("{\n") {
            return ran;
        }
    }
    panic!("the oracle never came to an end: {arguments:?}");
}

#[test]
fn figures_are_those_of_the_oracle() {
    let jobs: [&[&str]; 5] = [
        &["--rw=randread", "--size=256k"],
        &["--rw=write", "--size=256k", "--rate_iops=400"],
        &["--rw=randrw", "--size=256k", "--rwmixread=50", "--ioengine=sync"],
        &["--rw=randwrite", "--size=256k", "--rate_iops=400", "--rate_process=poisson"],
        &["--rw=read", "--size=256k", "--ioengine=pvsync2", "--thinktime=200"],
    ];
    for job in jobs {
        let always = ["--name=j", "--io_submit_mode=offload", "--bs=4k", "--output-format=json"];
        let arguments = [&always, job].concat();
        let (ours, theirs) = (scratch(), scratch());
        let (ours, theirs) = (as_fio(ours.path(), &arguments), oracle(theirs.path(), &arguments));
        assert_eq!(ours.code, theirs.code, "{job:?}: {}", ours.err);
        let start = theirs.out.find("{\n").unwrap_or(0);
        let theirs: Value = serde_json::from_str(&theirs.out[start..]).unwrap();
        // A mix is drawn by other numbers.
        let mixed = job[0] == "--rw=randrw";
        let total = |json: &Value| {
            let ios = |d: &str| json["jobs"][0][d]["total_ios"].as_u64().unwrap();
            ios("read") + ios("write")
        };
        assert_eq!(total(&ours.json()), total(&theirs), "{job:?}");
        if !mixed {
            assert_eq!(told(&ours.json()), told(&theirs), "{job:?}");
        }
    }
}

/// A device that does 50 reads a second is asked for 200 of them.
#[test]
fn a_call_that_blocks_holds_back_no_arrival() {
    let _alone = alone();
    let (disk, throttle) = (MemoryDisk::new(8 << 20), Throttle::new());
    throttle.limit(&disk.number(), 50);
    let starter = throttle.starter();
    let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
    let file = format!("--filename={}", disk.device.device);
    let means = |mode: &str| {
        let directory = scratch();
        let mode = format!("--io_submit_mode={mode}");
        let job = "--name=j --bs=4k --rw=randread --direct=1 --ioengine=psync --iodepth=64 \
                   --rate_iops=200 --rate_process=poisson --number_ios=40";
        let job: Vec<&str> = job.split_whitespace().chain([&mode[..], &file]).collect();
        let record = recorded_by(&starter, directory.path(), 0, &job);
        assert_eq!(ios(&record), [40, 0, 0]);
        let latency = record.jobs[0].results.read.latency.clone();
        let [lat, response] =
            [latency.lat.or(latency.clat), latency.response].map(|it| it.unwrap().mean());
        (lat, response)
    };
    // Inline, an I/O that is due waits for the call before it, and lat knows nothing of that.
    let (lat, response) = means("inline");
    assert!(response > 3.0 * lat, "{response} {lat}");
    let (lat, response) = means("offload");
    assert!(response < 1.2 * lat, "{response} {lat}");
}

#[test]
fn io_on_the_same_bytes_goes_in_order_within_and_across_jobs() {
    let directory = scratch();
    // All I/O goes to four blocks: headers tell what was written last, and reading back finds it
    // only where the order was kept.
    let job = "--rw=randwrite --norandommap --size=16k --io_size=4m --verify=crc32c \
               --serialize_overlap=1 --ioengine=psync --iodepth=16";
    let job: Vec<&str> = job.split_whitespace().collect();
    let record = offloaded(directory.path(), 0, &job);
    assert_eq!(record.jobs[0].results.write.ios, 1024);
    let two = "--rw=randwrite --norandommap --size=16k --io_size=2m --filename=both \
               --serialize_overlap=1 --ioengine=psync --iodepth=16 --numjobs=3";
    let record = offloaded(directory.path(), 0, &two.split_whitespace().collect::<Vec<_>>());
    let each: Vec<u64> = record.jobs.iter().map(|job| job.results.write.ios).collect();
    assert_eq!(each, [512; 3]);
}

#[test]
fn errors_thinktime_and_time_are_as_without() {
    let directory = scratch();
    std::fs::write(directory.path().join("short"), vec![1; 64 << 10]).unwrap();
    let reads = ["--filename=short", "--rw=read", "--size=64k", "--ioengine=psync"];
    let thinking = ["--thinktime=1000", "--thinktime_blocks=4", "--thinktime_blocks_type=issue"];
    let record = offloaded(directory.path(), 0, &[&reads[..], &thinking].concat());
    assert_eq!(ios(&record), [16, 0, 0]);
    assert!(record.jobs[0].elapsed.0 >= 3_000_000, "three pauses: {}", record.jobs[0].elapsed.0);
    // A full disk is an error, here as inline, and fatal to the job alone.
    let disk = crate::common::MemoryFilesystem::new(1 << 20);
    let file = format!("--filename={}", disk.path().join("f").display());
    let writes = [&file[..], "--rw=write", "--size=4m", "--fallocate=none", "--ioengine=psync"];
    let record = offloaded(directory.path(), 1, &writes);
    assert_eq!(record.jobs[0].error, rustix::io::Errno::NOSPC.raw_os_error());
}

#[test]
fn an_interrupt_ends_it_with_what_was_measured() {
    let directory = scratch();
    let job = ["--ioengine=psync", "--rw=randread", "--size=1m", "--runtime=60", "--time_based"];
    let running = Running::fathom("run", directory.path(), &[&OFFLOAD, &job[..]].concat());
    crate::common::wait_until("the file is there", || directory.path().join("j.0.0").exists());
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.signal(Signal::INT);
    let ran = running.end();
    assert_eq!(ran.code, 130, "{}", ran.err);
    assert!(ran.out.contains("read"), "{}", ran.out);
}

#[test]
fn what_cannot_be_shared_out_is_refused() {
    for (option, arguments) in [
        ("io_submit_mode", &["--ioengine=cpuio", "--cpuload=50", "--runtime=1"][..]),
        ("io_submit_mode", &["--ioengine=exec", "--program=true"]),
        ("io_submit_mode", &["--ioengine=page_fault"]),
        ("io_submit_mode", &["--ioengine=net", "--port=9999", "--listen=1", "--rw=read"]),
        ("io_submit_mode", &["--io_submit_mode=elsewhere"]),
        ("iodepth", &["--iodepth=5000"]),
    ] {
        let directory = scratch();
        let job = [&OFFLOAD[..], &["--size=1m"], arguments].concat();
        let ran = fathom(directory.path(), &job);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(option), "{arguments:?}: {}", ran.err);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "{arguments:?}");
    }
}
