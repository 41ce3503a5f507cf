//! zonemode=zbd on files and devices without zones of their own, beside the oracle. Real zones are
//! in the lab (`cargo xtask lab`).

use crate::common::*;
use std::path::Path;

const ZONE: u64 = 64 << 10;
const ZONES: [&str; 3] = ["--zonemode=zbd", "--zonesize=64k", "--zonecapacity=48k"];

/// A file of zeros, sixteen zones long.
fn file(directory: &Path) {
    std::fs::write(directory.join("f"), vec![0; 16 * ZONE as usize]).unwrap();
}

fn job<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&["--name=a", "--filename=f", "--bs=4k"], &ZONES[..], options].concat()
}

/// I/Os read and written, and zones reset, as a report of normal text says.
fn counts(text: &str) -> (u64, u64, u64) {
    let number = |rest: &str| -> u64 {
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
    };
    let issued = text.split("issued rwts: total=").nth(1).unwrap();
    let resets = text.split("; ").find(|part| part.contains(" zone resets"));
    let writes = issued.split(',').nth(1).unwrap();
    (number(issued), number(writes), resets.map_or(0, number))
}

#[test]
fn as_much_is_written_and_reset_as_by_the_oracle() {
    let directory = scratch();
    let path = directory.path();
    let sequential: [&[&str]; 6] = [
        &["--rw=write"],
        &["--rw=write", "--size=4z"],
        &["--rw=write", "--size=256k", "--io_size=512k"],
        &["--rw=write", "--offset=2z", "--size=3z", "--loops=3"],
        &["--rw=write", "--offset=10k", "--size=500k"],
        &["--rw=write", "--size=512k", "--bs=16k"],
    ];
    let random: [&[&str]; 6] = [
        &["--rw=randwrite", "--size=512k"],
        &["--rw=randwrite", "--size=512k", "--max_open_zones=1"],
        &["--rw=randwrite", "--size=512k", "--max_open_zones=3", "--io_size=1m"],
        &["--rw=randwrite", "--size=512k", "--max_open_zones=3", "--job_max_open_zones=2"],
        &["--rw=randread", "--size=512k", "--read_beyond_wp=1"],
        &["--rw=read", "--size=512k", "--read_beyond_wp=1"],
    ];
    for options in sequential.iter().chain(&random) {
        file(path);
        let theirs = counts(&run(timed(FIO).args(job(options)).current_dir(path)).expect(0).out);
        file(path);
        let ours = counts(&fathom(path, &job(options)).expect(0).out);
        assert_eq!((ours.0, ours.1), (theirs.0, theirs.1), "{options:?}");
        if sequential.contains(options) {
            assert_eq!(ours.2, theirs.2, "zone resets of {options:?}");
        }
    }
}

/// A program that ends after a while whatever it does.
fn timed(program: &str) -> std::process::Command {
    let mut command = std::process::Command::new("timeout");
    command.args(["60", program]);
    command
}

#[test]
fn nothing_is_written_behind_the_capacity_of_a_zone() {
    let directory = scratch();
    file(directory.path());
    fathom(directory.path(), &job(&["--rw=randwrite", "--io_size=3m", "--norandommap"])).expect(0);
    let bytes = std::fs::read(directory.path().join("f")).unwrap();
    for (zone, bytes) in bytes.chunks(ZONE as usize).enumerate() {
        let (used, unused) = bytes.split_at(48 << 10);
        assert!(used[..4096].iter().any(|b| *b != 0), "zone {zone} was not written");
        assert!(unused.iter().all(|b| *b == 0), "zone {zone} was written behind its capacity");
    }
}

#[test]
fn a_mix_reads_what_it_wrote_where_fio_ends_at_once() {
    let directory = scratch();
    file(directory.path());
    let ran = fathom(directory.path(), &job(&["--rw=rw", "--size=4z"])).expect(0);
    let (reads, writes, _) = counts(&ran.out);
    assert!(reads > 10 && writes > 10, "{reads} reads and {writes} writes");
}

#[test]
fn later_jobs_of_a_run_find_what_earlier_ones_wrote() {
    let directory = scratch();
    file(directory.path());
    let mut jobs = job(&["--rw=write", "--size=3z"]);
    jobs.extend(["--name=b", "--stonewall", "--filename=f", "--bs=4k", "--rw=read"]);
    jobs.extend(ZONES);
    let record = recorded(directory.path(), 0, &jobs);
    assert_eq!(record.jobs[1].results.read.ios, 36);
}

#[test]
fn clones_share_pointers_and_limits() {
    let directory = scratch();
    file(directory.path());
    let options = ["--rw=randwrite", "--numjobs=3", "--max_open_zones=2", "--ioengine=libaio"];
    let more = ["--direct=1", "--iodepth=4", "--io_size=512k", "--group_reporting"];
    let ran = fathom(directory.path(), &job(&[&options[..], &more].concat())).expect(0);
    assert_eq!(counts(&ran.out).1, 3 * 128);
}

#[test]
fn a_read_of_nothing_says_so_and_ends() {
    let directory = scratch();
    file(directory.path());
    for rw in ["--rw=read", "--rw=randread"] {
        let endless = ["--time_based", "--runtime=60"];
        let ran = fathom(directory.path(), &job(&[&[rw], &endless[..]].concat())).expect(1);
        assert!(ran.err.contains("no zone is left for its I/O"), "{}", ran.err);
    }
}

#[test]
fn a_device_without_zones_is_trimmed_by_zones() {
    let directory = scratch();
    let device = loop_device(directory.path(), 1 << 20, &[]);
    let target = format!("--filename={}", device.device);
    let own = ["--name=a", &target, "--zonemode=zbd", "--zonesize=64k", "--direct=1"];
    let mut jobs = [&own[..], &["--rw=write", "--bs=4k"]].concat();
    let trim = ["--name=b", "--stonewall", &target, "--zonemode=zbd", "--zonesize=64k"];
    jobs.extend(trim);
    jobs.extend(["--rw=trim", "--bs=64k"]);
    let record = recorded(directory.path(), 0, &jobs);
    assert_eq!(record.jobs[1].results.trim.ios, 16);
    let image = std::fs::read(directory.path().join("loop.img")).unwrap();
    assert!(image.iter().all(|byte| *byte == 0), "the trims did not reach the device");
}

/// I/Os written and trimmed by all jobs of a report in JSON.
fn written_and_trimmed(text: &str) -> Vec<(u64, u64)> {
    let report: serde_json::Value = serde_json::from_str(text).unwrap();
    let number = |job: &serde_json::Value, key: &str| job[key]["total_ios"].as_u64().unwrap();
    let jobs = report["jobs"].as_array().unwrap();
    jobs.iter().map(|job| (number(job, "write"), number(job, "trim"))).collect()
}

#[test]
fn trims_of_a_file_are_counted_as_by_the_oracle_and_said_to_discard_nothing() {
    let directory = scratch();
    let path = directory.path();
    let zbd = ["--zonemode=zbd", "--zonesize=64k"];
    let trims = |rw| [&["--name=a", "--filename=f", "--bs=64k", rw], &zbd[..]].concat();
    let fills = [&["--name=w", "--filename=f", "--bs=4k", "--rw=write"], &zbd[..]].concat();
    for line in [
        trims("--rw=trim"),
        trims("--rw=trimwrite"),
        trims("--rw=randtrim"),
        [fills, trims("--rw=randtrim"), vec!["--stonewall"]].concat(),
    ] {
        let line = [&["--output-format=json"], &line[..]].concat();
        file(path);
        let theirs = written_and_trimmed(&fio(path, &line).expect(0).out);
        file(path);
        let ours = as_fio(path, &line).expect(0).out;
        assert_eq!(written_and_trimmed(&ours), theirs, "{line:?}");
        assert!(ours.contains("trims of f are counted and discard nothing"), "{ours}");
    }
    // Data stays, for nothing discards it.
    std::fs::write(path.join("f"), vec![7; 16 * ZONE as usize]).unwrap();
    for engine in ["psync", "vsync", "libaio", "io_uring", "posixaio", "mmap", "splice"] {
        let engine = format!("--ioengine={engine}");
        let line = [&trims("--rw=trim")[..], &[engine.as_str()]].concat();
        assert_eq!(recorded(path, 0, &line).jobs[0].results.trim.ios, 16, "{engine}");
        let bytes = std::fs::read(path.join("f")).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 7), "{engine}");
    }
}

#[test]
fn a_pass_with_zoneskip_wraps_and_fill_device_ends_with_the_file() {
    let directory = scratch();
    let path = directory.path();
    let zbd = ["--name=a", "--filename=f", "--rw=write", "--bs=4k", ZONES[0], ZONES[1]];
    for options in [
        &["--zoneskip=64k", "--size=1m"][..],
        &["--zoneskip=128k", "--size=1m"],
        &["--zoneskip=64k", "--size=1m", "--loops=2"],
        &["--zoneskip=64k", "--size=1m", "--verify=md5"],
        &["--fill_device=1"],
    ] {
        let line = [&zbd[..], options].concat();
        file(path);
        let theirs = counts(&fio(path, &line).expect(0).out);
        file(path);
        assert_eq!(counts(&as_fio(path, &line).expect(0).out), theirs, "{options:?}");
    }
    let missing = ["--name=a", "--filename=none", "--rw=write", "--fill_device=1"];
    let ran = fathom(path, &[&missing[..], &ZONES[..2]].concat()).expect(2);
    assert!(
        ran.err.contains("size: fill_device without it, and none holds no zone"),
        "{}",
        ran.err
    );
    let verified = ["--verify=md5", "--verify_async=2", "--recover_zbd_write_error=1"];
    let ran = as_fio(path, &[&zbd[..], &verified].concat()).expect(1);
    assert!(ran.err.contains("does not support verify_async"), "{}", ran.err);
}

#[test]
fn zones_that_cannot_be_are_errors_that_say_what_to_do() {
    let directory = scratch();
    file(directory.path());
    let zbd = "--zonemode=zbd";
    for (options, code, says) in [
        (&[zbd][..], 2, "zonesize: f has no zones of its own"),
        (&[zbd, "--zonesize=100"], 2, "zonesize: a zone of 100 bytes is too small"),
        (&[zbd, "--zonesize=64k", "--zonecapacity=128k"], 2, "zonecapacity: 128 KiB of a zone"),
        (&[zbd, "--zonesize=64k", "--bs=128k"], 2, "bs: a block of 128 KiB in a zone of 64 KiB"),
        (&[zbd, "--zonesize=64k", "--rw=write", "--zoneskip=3k"], 2, "zoneskip: 3 KiB are no"),
        (&[zbd, "--zonesize=64k", "--size=32k"], 3, "size: 32 KiB from byte 0 of f hold no zone"),
        (&[zbd, "--zonesize=64k", "--zone_reset_threshold=2"], 2, "zone_reset_threshold"),
        (&[zbd, "--zonesize=64k", "--max_open_zones=5000"], 2, "max_open_zones"),
        (&[zbd, "--zonesize=64k", "--job_max_open_zones=2"], 2, "set max_open_zones too"),
        (&["--zonesize=64k"], 2, "zonesize: it is given without a zonemode"),
        (&["--size=2z"], 2, "size: 2 zones, and the size of a zone is not known"),
        (
            &[zbd, "--zonesize=64k", "--name=b", "--filename=f", "--zonesize=32k", zbd],
            2,
            "zonesize",
        ),
    ] {
        let first = ["--name=a", "--filename=f", "--rw=randwrite"];
        let ran = fathom(directory.path(), &[&first[..], options].concat()).expect(code);
        assert!(ran.err.contains(says), "{options:?}: {}", ran.err);
    }
    let bytes = std::fs::read(directory.path().join("f")).unwrap();
    assert!(bytes.iter().all(|b| *b == 0), "something was written");
}

#[test]
fn what_was_written_in_zones_is_read_back() {
    let directory = scratch();
    let path = directory.path();
    let jobs: [&[&str]; 5] = [
        &["--rw=write", "--size=512k", "--loops=2"],
        &["--rw=randwrite", "--size=512k", "--io_size=1m"],
        &["--rw=randrw", "--size=512k", "--verify_backlog=8", "--ioengine=libaio", "--iodepth=4"],
        &["--rw=randwrite", "--size=512k", "--max_open_zones=2", "--loops=2", "--numjobs=1"],
        &["--rw=write", "--size=4z", "--io_submit_mode=offload", "--iodepth=4"],
    ];
    for (number, options) in jobs.iter().enumerate() {
        let checked = [options, &["--verify=crc32c"][..]].concat();
        file(path);
        let ours = counts(&fathom(path, &job(&checked)).expect(0).out);
        assert!(ours.0 > 0 && ours.1 > 0, "{options:?}: {ours:?}");
        if number == 0 {
            file(path);
            let line = job(&checked);
            let theirs = counts(&run(timed(FIO).args(line).current_dir(path)).expect(0).out);
            assert_eq!(ours, theirs, "{options:?}");
        }
    }
    // What another wrote in between is found.
    file(path);
    fathom(path, &job(&["--rw=write", "--size=512k", "--verify=crc32c"])).expect(0);
    fathom(path, &job(&["--rw=read", "--size=512k", "--verify=crc32c", "--read_beyond_wp=1"]))
        .expect(1);
    let harm = std::fs::OpenOptions::new().write(true).open(path.join("f")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&harm, &[7; 100], 8192 + 1000).unwrap();
    let read =
        ["--rw=read", "--size=64k", "--io_size=48k", "--verify=crc32c", "--read_beyond_wp=1"];
    let ran = fathom(path, &job(&read)).expect(1);
    assert!(ran.err.contains("8192"), "{}", ran.err);
    for (option, options) in [
        ("verify_only", &["--verify_only=1"][..]),
        ("verify_state_load", &["--verify_state_load=1"]),
        ("trim_percentage", &["--trim_percentage=10", "--trim_backlog=4"]),
    ] {
        let line = [&["--rw=write", "--size=512k", "--verify=crc32c"], options].concat();
        let ran = fathom(path, &job(&line)).expect(2);
        assert!(ran.err.contains(option), "{options:?}: {}", ran.err);
    }
}

#[test]
fn the_amount_asked_for_is_written_and_no_more() {
    let directory = scratch();
    let path = directory.path();
    let zones = ["--zonemode=zbd", "--zonesize=64k", "--filename=f", "--name=a"];
    let written = |options: &[&str]| {
        file(path);
        let record = recorded(path, 0, &[&zones[..], options].concat());
        let jobs = record.jobs.iter();
        (
            jobs.clone().map(|job| job.results.write.bytes.0 >> 10).sum::<u64>(),
            jobs.filter_map(|job| job.zone_resets).sum::<u64>(),
        )
    };
    for rw in ["--rw=write", "--rw=randwrite"] {
        assert_eq!(written(&[rw, "--bsrange=4k-64k", "--size=256k"]), (256, 0), "{rw}");
    }
    assert_eq!(written(&["--rw=write", "--bs=16k", "--size=150k", "--loops=2"]).0, 256);
    // Workers that share zones lose nothing to each other.
    let shared = ["--rw=write", "--bs=16k", "--size=64k", "--numjobs=2", "--loops=2"];
    let reset = ["--zone_reset_threshold=.5", "--zone_reset_frequency=1"];
    for _ in 0..5 {
        assert_eq!(written(&[&shared[..], &reset].concat()), (256, 7));
        assert_eq!(written(&["--rw=write", "--bs=16k", "--size=256k", "--numjobs=3"]).0, 768);
    }
    // A reader that has the same options says nothing of the zones that count.
    let reader = ["--rw=read", "--size=64k", "--read_beyond_wp=1", "--name=w"];
    let writer = ["--rw=write", "--bs=16k", "--offset=64k", "--size=64k", "--loops=2"];
    let both = [&reset[..], &reader, &writer, &reset].concat();
    assert_eq!(written(&both), (128, 3));
    // With verification and a limit, full zones keep what is to be checked.
    let limited = ["--rw=randwrite", "--bs=4k", "--size=256k", "--verify=crc32c"];
    assert_eq!(written(&[&limited[..], &["--max_open_zones=2"]].concat()), (256, 0));
    // What is verified is not reset: a pass ends when all zones are full.
    let verified =
        ["--rw=randwrite", "--bs=4k", "--size=256k", "--verify=md5", "--zonecapacity=48k"];
    for (more, kib) in [(&[][..], 192), (&["--loops=2"], 384), (&["--io_size=200k"], 192)] {
        let line = [&verified[..], more].concat();
        assert_eq!(written(&line).0, kib, "{line:?}");
    }
    // A block that begins within the size does not reach over it.
    for options in [["--rw=write", "--size=60k"], ["--rw=read", "--size=60k"]] {
        file(path);
        let line = [&zones[..], &options, &["--bs=16k"]].concat();
        let refused = as_fio(path, &line).expect(1);
        assert!(refused.err.contains("io_size must be at least one zone"), "{}", refused.err);
    }
    let bytes = std::fs::read(path.join("f")).unwrap();
    assert!(bytes.iter().all(|b| *b == 0), "something was written");
}

#[test]
fn messages_that_scripts_look_for_are_there() {
    let directory = scratch();
    file(directory.path());
    let zbd = ["--zonemode=zbd", "--zonesize=64k"];
    let no_size = "Specifying the zone size is mandatory for regular file/block device with \
                   --zonemode=zbd";
    for (options, says) in [
        (&["--zonemode=zbd"][..], no_size),
        (
            &["--zonemode=zbd", "--zonesize=1"],
            "zone size must be at least 512 bytes for --zonemode=zbd",
        ),
        (&["--zonesize=64k"], "(fio: --zonemode=none and --zonesize are not compatible)"),
        (
            &["--zonemode=strided"],
            "(fio: --zonesize must be specified when using --zonemode=strided)",
        ),
        (
            &[zbd[0], zbd[1], "--rw=read", "--max_open_zones=1", "--job_max_open_zones=1"],
            "valid only for write jobs",
        ),
        (&[zbd[0], zbd[1], "--zoneskip=1"], "zoneskip 1 is not a multiple of the device zone size"),
        (&[zbd[0], zbd[1], "--bs=128k"], "buflen exceeds zone size"),
        (&[zbd[0], zbd[1], "--zone_reset_threshold=2"], "value out of range"),
        (
            &[zbd[0], zbd[1], "--verify=md5", "--experimental_verify=1"],
            "not support experimental verify",
        ),
        (
            &[
                zbd[0],
                zbd[1],
                "--zone_reset_threshold=.5",
                "--zone_reset_frequency=1",
                "--size=4z",
                "--name=b",
                "--filename=f",
                "--rw=write",
                zbd[0],
                zbd[1],
                "--size=2z",
            ],
            "different write ranges",
        ),
    ] {
        let line = [&["--name=a", "--filename=f", "--rw=write"], options].concat();
        let ran = as_fio(directory.path(), &line).expect(1);
        assert!(ran.err.lines().any(|line| line.contains(says)), "{options:?}: {}", ran.err);
    }
}

/// The first number of a list counts.
#[test]
fn numbers_behind_the_first_of_a_list_are_warned_of() {
    let directory = scratch();
    file(directory.path());
    let zbd = ["--zonemode=zbd", "--zonesize=64k"];
    for option in ["zone_reset_threshold", "zone_reset_frequency", "latency_percentile"] {
        let list = format!("--{option}=.1:.2");
        let line = ["--name=a", "--filename=f", "--rw=write", "--size=64k", zbd[0], zbd[1], &list];
        let ours = as_fio(directory.path(), &line).expect(0);
        let theirs = fio(directory.path(), &line).expect(0);
        for ran in [&ours, &theirs] {
            // A word beside text, which the oracle says on standard error.
            let told = ran.out.clone() + &ran.err;
            assert!(told.contains("the list exceeding max length 1"), "{option}: {told}");
        }
    }
}

#[test]
fn reads_for_which_no_zone_is_large_enough_are_not_done() {
    let directory = scratch();
    file(directory.path());
    for rw in ["--rw=read", "--rw=randread"] {
        let zbd = ["--zonemode=zbd", "--zonesize=64k"];
        let line = [&["--name=a", "--filename=f", rw, "--bs=128k"][..], &zbd].concat();
        as_fio(directory.path(), &line).expect(0);
    }
}

#[test]
fn reads_larger_than_a_zone_are_no_error_of_a_run() {
    let directory = scratch();
    file(directory.path());
    for rw in ["--rw=read", "--rw=randread"] {
        let line =
            ["--name=a", "--filename=f", rw, "--bs=128k", "--zonemode=zbd", "--zonesize=64k"];
        let record = recorded(directory.path(), 0, &line);
        assert_eq!(record.jobs[0].results.read.ios, 0);
        // Reads that find no data in zones that are large enough are an error.
        let small = [&line[..], &["--bs=4k"]].concat();
        fathom(directory.path(), &small).expect(1);
    }
}

#[test]
fn zone_resets_are_told_of_zones_only_and_for_reads_too() {
    let directory = scratch();
    file(directory.path());
    let read = ["--name=a", "--filename=f", "--rw=randrw", "--bs=4k"];
    let plain = as_fio(directory.path(), &read).expect(0).out;
    assert!(!plain.contains("zone resets"), "{plain}");
    let zoned = as_fio(directory.path(), &[&read[..], &ZONES].concat()).expect(0).out;
    assert_eq!(zoned.matches(" zone resets").count(), 2, "{zoned}");
    let old = as_fio(directory.path(), &[&read[..], &["--compat=3.33"]].concat()).expect(0).out;
    assert_eq!(old.matches("; 0 zone resets").count(), 1, "{old}");
}

#[test]
fn a_replay_goes_where_its_log_says() {
    let directory = scratch();
    let path = directory.path();
    file(path);
    let log = "fio version 2 iolog\nf add\nf open\nf write 8192 4096\nf write 0 4096\n\
               f write 65536 8192\nf read 8192 4096\nf write 8192 4096\nf close\n";
    std::fs::write(path.join("log"), log).unwrap();
    let line = ["--name=a", "--read_iolog=log", "--write_iolog=seen"];
    let line = [&line[..], &ZONES].concat();
    let ran = fathom(path, &line).expect(0);
    assert!(ran.err.contains("zonemode"), "{}", ran.err);
    let seen = std::fs::read_to_string(path.join("seen")).unwrap();
    let of = |text: &str| -> Vec<String> {
        let ios = text.lines().filter(|line| line.contains("read ") || line.contains("write "));
        ios.map(|line| line[line.find("f ").unwrap()..].to_owned()).collect()
    };
    assert_eq!(of(&seen), of(log));
}
