//! Placement: accepted and refused options, and reports. The offsets themselves are tested beside
//! the code that draws them.

use crate::common::{Mounted, fathom, recorded, scratch};
use std::os::unix::fs::FileExt;
use std::path::Path;

const BLOCK: usize = 4096;

/// Options of a job over the file `f` that writes zeros.
const ZEROS: [&str; 5] =
    ["--name=j", "--filename=f", "--ioengine=psync", "--zero_buffers=1", "--bs=4k"];

/// Creates a file of so many blocks without a zero byte.
fn full(directory: &Path, name: &str, blocks: usize) {
    std::fs::write(directory.join(name), vec![0xff; blocks * BLOCK]).unwrap();
}

/// The numbers of the blocks that hold only zeros.
fn zeroed(file: &Path) -> Vec<usize> {
    let file = std::fs::File::open(file).unwrap();
    let blocks = file.metadata().unwrap().len() as usize / BLOCK;
    let mut buffer = [0; BLOCK];
    (0..blocks)
        .filter(|block| {
            file.read_exact_at(&mut buffer, (block * BLOCK) as u64).unwrap();
            buffer == [0; BLOCK]
        })
        .collect()
}

/// The numbers of the blocks that a program writes with a job, in a file of so many blocks.
fn written(program: &[&str], blocks: usize, arguments: &[&str]) -> Vec<usize> {
    let directory = scratch();
    full(directory.path(), "f", blocks);
    let mut command = std::process::Command::new("timeout");
    command.arg("60").args(program).args(ZEROS).args(arguments).current_dir(directory.path());
    crate::common::run(&mut command).expect(0);
    zeroed(&directory.path().join("f"))
}

fn ours(blocks: usize, arguments: &[&str]) -> Vec<usize> {
    written(&[crate::common::FATHOM, "run"], blocks, arguments)
}

fn oracle(blocks: usize, arguments: &[&str]) -> Vec<usize> {
    written(&[crate::common::FIO], blocks, arguments)
}

/// Sequential strides write the same blocks as in the oracle, and so do random writes that cover
/// their zones completely.
#[test]
fn strides_touch_what_they_touch_with_the_oracle() {
    let cases: [&[&str]; 12] = [
        &["--rw=write", "--size=64k", "--zonesize=8k", "--zoneskip=8k"],
        &["--rw=write", "--size=64k", "--zonesize=4k", "--zonerange=16k", "--zoneskip=8k"],
        &["--rw=write", "--size=64k", "--zonesize=16k", "--zonerange=8k", "--zoneskip=20k"],
        &["--rw=write", "--size=32k", "--offset=64k", "--zonesize=4k", "--zoneskip=28k"],
        &["--rw=write", "--size=32k", "--io_size=96k", "--zonesize=8k", "--zoneskip=12k"],
        &["--rw=write", "--size=4z", "--zonesize=8k", "--zoneskip=1z"],
        &["--rw=write", "--size=4z", "--offset=2z", "--zonesize=8k", "--zoneskip=2z"],
        &["--rw=write", "--size=32k", "--loops=2", "--zonesize=8k", "--zoneskip=24k"],
        &["--rw=write:4k", "--size=64k", "--zonesize=8k", "--zoneskip=8k"],
        &["--rw=write", "--size=64k", "--number_ios=5", "--zonesize=8k", "--zoneskip=8k"],
        &["--rw=randwrite", "--size=64k", "--zonesize=16k", "--zoneskip=16k"],
        &["--rw=randwrite", "--size=128k", "--zonesize=32k", "--zonerange=16k", "--zoneskip=16k"],
    ];
    for case in cases {
        let arguments = [case, &["--zonemode=strided"]].concat();
        assert_eq!(ours(64, &arguments), oracle(64, &arguments), "{case:?}");
    }
}

#[test]
fn a_share_of_none_at_random_is_in_sequence() {
    let arguments = ["--rw=randwrite", "--size=256k", "--percentage_random=0", "--number_ios=9"];
    assert_eq!(ours(64, &arguments), (0..9).collect::<Vec<_>>());
    assert_eq!(oracle(64, &arguments), (0..9).collect::<Vec<_>>());
}

#[test]
fn a_shift_register_covers_every_block_without_a_map() {
    let arguments = ["--rw=randwrite", "--random_generator=lfsr", "--norandommap"];
    assert_eq!(ours(64, &arguments).len(), 64);
    assert_eq!(oracle(64, &arguments).len(), 64);
    assert!(ours(64, &["--rw=randwrite", "--random_generator=tausworthe64"]).len() == 64);
    assert!(ours(64, &["--rw=randwrite", "--norandommap"]).len() < 64);
}

#[test]
fn zones_and_sequences_stay_where_they_belong() {
    let spread = |spread: &str| ours(64, &["--rw=randwrite", "--io_size=2m", spread]);
    let zones = "--random_distribution=zoned:50/25:0/25:50/25:0/25";
    assert_eq!(spread(zones), [(0..16), (32..48)].into_iter().flatten().collect::<Vec<_>>());
    let zones = "--random_distribution=zoned_abs:0/8k:100/8k";
    assert_eq!(spread(zones), [2, 3]);
    assert_eq!(spread("--random_distribution=sequence:7:3:20"), [3, 7, 20]);
}

#[test]
fn the_ends_of_what_is_drawn_are_told_in_the_workload() {
    let directory = scratch();
    let record = recorded(
        directory.path(),
        0,
        &[
            "--name=j",
            "--ioengine=null",
            "--size=1m",
            "--rw=randread",
            "--random_distribution=zipf:1.1",
            "--percentage_random=80",
        ],
    );
    let settings = &record.jobs[0].workload.settings;
    assert!(settings["random_distribution_read"].contains("1.1"), "{settings:?}");
    assert_eq!(settings["percentage_random_read"], "80");
}

#[test]
fn what_contradicts_itself_is_refused_before_anything_is_touched() {
    for (option, arguments) in [
        ("random_distribution", &["--random_distribution=zipf:1"][..]),
        ("random_distribution", &["--random_distribution=pareto:1.5"]),
        ("random_distribution", &["--random_distribution=normal:100"]),
        ("random_distribution", &["--random_distribution=zoned:50/50"]),
        ("random_distribution", &["--random_distribution=zoned:60/80:40/80"]),
        ("random_distribution", &["--random_distribution=zoned_abs:50/512k:50/800k"]),
        ("random_distribution", &["--random_distribution=sequence:0:256"]),
        ("percentage_random", &["--percentage_random=101"]),
        ("zonesize", &["--zonemode=strided"]),
        ("zonesize", &["--zonesize=4k"]),
        ("zonerange", &["--zonemode=strided", "--zonesize=8k", "--zonerange=2k"]),
        ("file_service_type", &["--file_service_type=zipf:x"]),
        ("filetype", &["--filetype=block"]),
        ("opendir", &["--opendir=nowhere"]),
        ("opendir", &["--opendir=."]),
        ("sprandom", &["--sprandom=1", "--random_generator=tausworthe64"]),
        ("sprandom", &["--sprandom=1", "--bsrange=4k-8k"]),
        ("sprandom requires norandommap=1", &["--sprandom=1", "--norandommap=0"]),
        ("spr_op", &["--sprandom=1", "--spr_op=1.1"]),
        ("spr_op", &["--sprandom=1", "--spr_op=0"]),
        ("spr_num_regions", &["--sprandom=1", "--spr_num_regions=0"]),
        ("spr_num_regions", &["--sprandom=1", "--spr_num_regions=300"]),
        // The device has 294 blocks of flash, so a region of 100 has 12042 bytes.
        ("spr_num_regions to at most 99", &["--sprandom=1", "--spr_cs=12043"]),
        ("spr_cs: the device has 1204224 bytes", &["--sprandom=1", "--spr_cs=2m"]),
        ("sprandom", &["--sprandom=1", "--random_distribution=zipf:1.2"]),
    ] {
        let directory = scratch();
        let job = ["--name=j", "--rw=randwrite", "--size=1m", "--bs=4k", "--norandommap=1"];
        let ran = fathom(directory.path(), &[&job, arguments].concat());
        assert!(matches!(ran.code, 2 | 3), "{arguments:?}: {} {}", ran.code, ran.err);
        assert!(ran.err.contains(option), "{arguments:?}: {}", ran.err);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn every_file_below_a_directory_is_worked_on() {
    let directory = scratch();
    std::fs::create_dir_all(directory.path().join("d/deep")).unwrap();
    for name in ["d/a", "d/deep/b"] {
        full(directory.path(), name, 16);
    }
    std::os::unix::fs::symlink("../f", directory.path().join("d/link")).unwrap();
    full(directory.path(), "f", 16);
    fathom(directory.path(), &["--name=j", "--opendir=d", "--rw=write", "--zero_buffers=1"])
        .expect(0);
    for (name, blocks) in [("d/a", 16), ("d/deep/b", 16), ("f", 0)] {
        assert_eq!(zeroed(&directory.path().join(name)).len(), blocks, "{name}");
    }
    full(directory.path(), "d/a", 16);
    full(directory.path(), "d/deep/b", 16);
    // As in the oracle, the size is divided among the files.
    let arguments = ["--name=j", "--opendir=d", "--rw=write", "--zero_buffers=1", "--size=32k"];
    fathom(directory.path(), &arguments).expect(0);
    for name in ["d/a", "d/deep/b"] {
        assert_eq!(zeroed(&directory.path().join(name)), [0, 1, 2, 3], "{name}");
    }
}

#[test]
fn appending_begins_behind_the_end() {
    let directory = scratch();
    full(directory.path(), "f", 4);
    let arguments = [&ZEROS[..], &["--rw=write", "--size=16k", "--file_append=1"]].concat();
    fathom(directory.path(), &arguments).expect(0);
    assert_eq!(zeroed(&directory.path().join("f")), [4, 5, 6, 7]);
}

#[test]
fn a_full_filesystem_is_the_regular_end_of_filling_it() {
    let directory = scratch();
    let mounted =
        Mounted::new(&["-t", "tmpfs", "-o", "size=2m"], "none", directory.path().join("m"));
    for program in [&[crate::common::FATHOM, "run"][..], &[crate::common::FIO]] {
        let mut command = std::process::Command::new("timeout");
        command.arg("60").args(program).current_dir(mounted.path());
        let arguments = ["--name=j", "--filename=f", "--rw=write", "--bs=64k", "--fill_fs=1"];
        crate::common::run(command.args(arguments)).expect(0);
        let size = std::fs::metadata(mounted.path().join("f")).unwrap().len();
        assert!(size > 1_900_000, "{program:?}: {size}");
        std::fs::remove_file(mounted.path().join("f")).unwrap();
    }
    // The others read and write everything that exists, once.
    for rw in ["read", "randread", "randrw", "randwrite"] {
        let rw = format!("--rw={rw}");
        let job = ["--name=j", "--filename=f", &rw, "--bs=64k", "--fill_fs=1"];
        let record = recorded(mounted.path(), 0, &job);
        let results = &record.jobs[0].results;
        assert_eq!(results.read.ios + results.write.ios, 31, "{rw}");
        std::fs::remove_file(mounted.path().join("f")).unwrap();
    }
    // A job for more than exists ends when nothing is left. A job for less ends after that amount,
    // even if blocks were written twice or not at all.
    for (size, fits) in [("--size=4m", false), ("--size=1m", true)] {
        let job = ["--name=j", "--filename=f", "--rw=randwrite", "--bs=64k", "--fill_fs=1", size];
        let record = recorded(mounted.path(), 0, &[&job[..], &["--norandommap"]].concat());
        let ios = record.jobs[0].results.write.ios;
        assert!(if fits { ios == 16 } else { (20..64).contains(&ios) }, "{size}: {ios}");
        std::fs::remove_file(mounted.path().join("f")).unwrap();
    }
}

#[test]
fn a_ramp_by_size_keeps_its_bytes_out_of_the_figures() {
    let directory = scratch();
    let arguments = [
        "--name=j",
        "--ioengine=null",
        "--rw=read",
        "--size=64m",
        "--time_based",
        "--runtime=300ms",
        "--rate=64m",
        "--bs=64k",
    ];
    let bytes = |more: &[&str]| {
        let record = recorded(directory.path(), 0, &[&arguments, more].concat());
        (record.jobs[0].results.read.bytes.0, record.jobs[0].elapsed.0)
    };
    let (plain, short) = bytes(&[]);
    let (ramped, long) = bytes(&["--ramp_size=16m"]);
    // 16 MiB at 64 MiB/s take 250 ms more, but the measured time is the runtime.
    assert!(long > short + 200_000_000, "{short} {long}");
    assert!(ramped < plain * 5 / 4 && ramped > plain / 4, "{plain} {ramped}");
}

#[test]
fn a_preconditioned_device_was_written_once_over_with_its_spare_capacity() {
    let directory = scratch();
    full(directory.path(), "f", 1000);
    let arguments = [&ZEROS[..], &["--rw=randwrite", "--sprandom=1", "--norandommap=1"]].concat();
    let record = recorded(directory.path(), 0, &arguments);
    let ios = record.jobs[0].results.write.ios;
    assert!((1140..=1160).contains(&ios), "{ios}");
    assert_eq!(zeroed(&directory.path().join("f")).len(), 1000);
    let ios = |more: &[&str]| {
        let record = recorded(directory.path(), 0, &[&arguments[..], more].concat());
        record.jobs[0].results.write.ios
    };
    for (spare, all) in [
        ("--spr_op=0.07", 1060..=1080),
        ("--spr_op=0.5", 1490..=1510),
        ("--spr_op=1.0", 1980..=2020),
    ] {
        let ios = ios(&[spare, "--spr_num_regions=250"]);
        assert!(all.contains(&ios), "{spare}: {ios}");
    }
    // Blocks are not rewritten while they are in the cache, so some are never rewritten.
    assert!((1110..1140).contains(&ios(&["--spr_cs=900k", "--spr_num_regions=5"])));
}

#[test]
fn overlapping_io_is_never_in_flight_together() {
    let directory = scratch();
    full(directory.path(), "f", 4);
    let depth = |more: &[&str]| {
        let arguments = [
            &ZEROS[..],
            &["--ioengine=libaio", "--iodepth=16", "--rw=randwrite", "--norandommap", "--direct=1"],
            &["--size=4k", "--io_size=2m"],
            more,
        ]
        .concat();
        let record = recorded(directory.path(), 0, &arguments);
        assert_eq!(record.jobs[0].results.write.ios, 512);
        record.jobs[0].depth.at_issue.0
    };
    // All I/O goes to one block, so only one is in flight at a time and the depth is always 1.
    assert_eq!(depth(&["--serialize_overlap=1"]), [512, 0, 0, 0, 0, 0, 0]);
    assert!(depth(&[])[1..].iter().sum::<u64>() > 256);
}

/// With `size`, `fill_device` ends at that size, for sequential and for random writes.
#[test]
fn a_filling_with_a_size_does_as_much_as_the_oracle_s() {
    let moved = |program: &[&str], job: &str| {
        let directory = scratch();
        let mut command = std::process::Command::new("timeout");
        command.arg("20").args(program).args(["--name=a", "--size=100k", "--fill_device=1"]);
        command.args(job.split(' ')).arg("--output-format=json").current_dir(directory.path());
        let ran = crate::common::run(&mut command).expect(0);
        let jobs = ran.json()["jobs"][0].clone();
        ["read", "write"].map(|direction| jobs[direction]["io_bytes"].as_u64().unwrap())
    };
    let io_size = "--rw=write --io_size=300k";
    for job in
        ["--rw=write", "--rw=write:4k", "--rw=write:-4k", "--rw=randwrite", "--rw=read", io_size]
    {
        let ours = moved(&[crate::common::FATHOM, "fio"], job);
        assert_eq!(ours, moved(&[crate::common::FIO], job), "{job}");
    }
    assert_eq!(
        moved(&[crate::common::FATHOM, "fio"], "--rw=randrw").iter().sum::<u64>(),
        100 << 10
    );
}
