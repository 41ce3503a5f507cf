//! Verification: what was written is found, and what happened to it is told, by us and by fio.

use crate::common::{FATHOM, FIO, Ran, at_once, run, scratch};
use serde_json::Value;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

const METHODS: [&str; 18] = [
    "md5",
    "crc64",
    "crc32",
    "crc32c",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "meta",
    "null",
    "crc32c-intel",
    "pattern",
];

#[track_caller]
fn ours(directory: &Path, arguments: &[&str]) -> Ran {
    let fixed = ["fio", "--name=j", "--filename=data", "--size=64k"];
    run(Command::new(FATHOM).args(fixed).args(arguments).current_dir(directory))
}

#[track_caller]
fn theirs(directory: &Path, arguments: &[&str]) -> Ran {
    let fixed = ["120", FIO, "--name=j", "--filename=data", "--size=64k"];
    run(Command::new("timeout").args(fixed).args(arguments).current_dir(directory))
}

/// The job's figures, run with JSON output.
#[track_caller]
fn job(directory: &Path, code: i32, arguments: &[&str]) -> Value {
    let json = [arguments, &["--output-format=json"]].concat();
    ours(directory, &json).expect(code).json()["jobs"][0].clone()
}

fn ios(job: &Value, direction: &str) -> u64 {
    job[direction]["total_ios"].as_u64().unwrap()
}

fn change(directory: &Path, act: impl FnOnce(&std::fs::File)) {
    let file = OpenOptions::new().read(true).write(true).open(directory.join("data")).unwrap();
    act(&file);
}

fn block(file: &std::fs::File, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, offset).unwrap();
    bytes
}

#[test]
fn every_method_is_read_by_both_programs_whoever_wrote() {
    at_once(&METHODS, |&method| {
        let dir = scratch();
        for extra in [&["--verify_pattern=0xdeadbeef%o\"abc\"-12"][..], &["--verify_interval=1k"]] {
            if extra[0].contains("interval") && method == "pattern" {
                continue;
            }
            let verify = format!("--verify={method}");
            let write = [&["--rw=write", "--do_verify=0", &verify], extra].concat();
            let read = [&["--rw=read", &verify], extra].concat();
            theirs(dir.path(), &write).expect(0);
            ours(dir.path(), &read).expect(0);
            ours(dir.path(), &write).expect(0);
            theirs(dir.path(), &read).expect(0);
        }
    });
}

#[test]
fn headers_stand_where_the_offset_says() {
    let dir = scratch();
    let options = ["--verify=md5", "--verify_interval=2k", "--verify_offset=512"];
    theirs(dir.path(), &[&options[..], &["--rw=write", "--do_verify=0"]].concat()).expect(0);
    ours(dir.path(), &[&options[..], &["--rw=read"]].concat()).expect(0);
    ours(dir.path(), &[&options[..], &["--rw=randwrite"]].concat()).expect(0);
    theirs(dir.path(), &[&options[..], &["--rw=read"]].concat()).expect(0);
}

#[test]
fn what_was_written_is_read_back_as_often_as_fio_does() {
    let dir = scratch();
    let cases: [(&[&str], u64, u64); 8] = [
        (&["--rw=write", "--verify=crc32c"], 16, 16),
        (&["--rw=randwrite", "--verify=md5", "--loops=3"], 48, 48),
        (&["--rw=write", "--verify=md5", "--do_verify=0"], 0, 16),
        (&["--rw=write", "--verify=md5", "--verify_backlog=4"], 16, 16),
        (&["--rw=write", "--verify=md5", "--verify_backlog=4", "--verify_backlog_batch=2"], 16, 16),
        (&["--rw=randread", "--verify=md5"], 16, 0),
        (&["--rw=write", "--verify=null", "--ioengine=null"], 16, 16),
        (&["--rw=randwrite", "--verify=md5", "--ioengine=libaio", "--iodepth=8"], 16, 16),
    ];
    for (arguments, reads, writes) in cases {
        let found = job(dir.path(), 0, arguments);
        assert_eq!((ios(&found, "read"), ios(&found, "write")), (reads, writes), "{arguments:?}");
        let json = [arguments, &["--output-format=json"]].concat();
        let fio: Value = theirs(dir.path(), &json).expect(0).json();
        let fio = &fio["jobs"][0];
        assert_eq!((ios(fio, "read"), ios(fio, "write")), (reads, writes), "fio: {arguments:?}");
    }
}

/// Writes that overlap, on several engines: the last one of each place counts.
#[test]
fn the_last_of_overlapping_writes_is_expected() {
    let dir = scratch();
    let common = ["--rw=randwrite", "--norandommap", "--io_size=1m", "--verify=crc32c"];
    let sizes: [&[&str]; 4] = [
        &["--bs=4k"],
        &["--bsrange=1k-16k"],
        &["--bssplit=512/30:3k/30:8k/40", "--verify_interval=512"],
        &["--bsrange=777-5000", "--bs_unaligned"],
    ];
    for engine in ["psync", "io_uring", "libaio", "posixaio", "mmap", "vsync", "pvsync2"] {
        for size in sizes {
            let engine = format!("--ioengine={engine}");
            let arguments = [&common[..], size, &[&engine, "--iodepth=16"]].concat();
            let found = job(dir.path(), 0, &arguments);
            assert!(ios(&found, "read") > 10, "{arguments:?}");
        }
    }
    let backlog = [&common[..], &["--verify_backlog=7", "--ioengine=libaio", "--iodepth=8"]];
    let found = job(dir.path(), 0, &backlog.concat());
    assert!(ios(&found, "read") > 100);
}

/// Later writes cut headers and intervals anywhere, regions end within a header, and what is read
/// back while writing goes on needs files that are not open just then.
#[test]
fn cut_headers_short_blocks_and_closed_files_are_no_faults() {
    let dir = scratch();
    let unaligned = ["--bsrange=777-5000", "--bs_unaligned"];
    let anywhere = ["--rw=randwrite", "--norandommap", "--io_size=512k"];
    let cases: [&[&str]; 7] = [
        &[&anywhere[..], &unaligned, &["--verify=sha3-512"]].concat(),
        &[&anywhere[..], &["--verify=md5", "--verify_interval=1k", "--blockalign=512"]].concat(),
        &[&anywhere[..], &["--verify=md5", "--verify_offset=256", "--blockalign=512"]].concat(),
        &[&["--rw=write", "--verify=sha512", "--loops=2"], &unaligned[..]].concat(),
        &["--rw=write:-16k", "--bs=6k", "--verify=crc64", "--verify_interval=1k", "--io_size=600k"],
        &["--rw=write", "--verify=md5", "--nrfiles=5", "--openfiles=1", "--verify_backlog=3"],
        &["--rw=randrw", "--verify=md5", "--nrfiles=5", "--openfiles=2", "--verify_backlog=1"],
    ];
    for case in cases {
        let seeds = ["--randseed=1", "--randseed=2", "--randseed=3"];
        for seed in seeds {
            let shape = ["--size=61k", "--ioengine=libaio", "--iodepth=4", seed];
            let found = job(dir.path(), 0, &[case, &shape].concat());
            assert!(ios(&found, "read") > 2, "{case:?}: {found}");
            std::fs::read_dir(dir.path())
                .unwrap()
                .for_each(|file| std::fs::remove_file(file.unwrap().path()).unwrap());
        }
    }
}

#[test]
fn mixes_files_loops_and_wrapping_sizes_are_verified() {
    let dir = scratch();
    let strided = job(dir.path(), 0, &["--rw=write:4k", "--verify=md5"]);
    assert!(ios(&strided, "read") > 0, "{strided}");
    let cases: [&[&str]; 6] = [
        &["--rw=randrw", "--verify=md5", "--loops=2"],
        &["--rw=rw", "--verify=md5", "--io_size=200k"],
        &["--rw=write", "--verify=md5", "--io_size=200k"],
        &["--rw=write", "--verify=md5", "--nrfiles=4", "--openfiles=2"],
        &["--rw=randwrite", "--verify=md5", "--nrfiles=4", "--file_service_type=random"],
        &[
            "--rw=randwrite",
            "--verify=md5",
            "--buffer_compress_percentage=50",
            "--numjobs=2",
            "--offset_increment=64k",
        ],
    ];
    for case in cases {
        let found = job(dir.path(), 0, case);
        // Writes in sequence go over their file until they have io_size, before it is read back.
        let (wraps, blocks) =
            (case.contains(&"--rw=write") && case.contains(&"--io_size=200k"), 16);
        let least = if wraps { blocks } else { ios(&found, "write") };
        assert!(ios(&found, "read") >= least, "{case:?}: {found}");
    }
}

#[test]
fn going_through_the_job_again_finds_what_it_left() {
    let dir = scratch();
    let cases: [&[&str]; 6] = [
        &["--rw=randwrite", "--verify=md5", "--loops=3"],
        &["--rw=write", "--verify=crc32c", "--io_size=200k"],
        &["--rw=randwrite", "--norandommap", "--verify=crc7", "--io_size=300k", "--loops=2"],
        &["--rw=randrw", "--verify=xxhash", "--bsrange=512-8k"],
        &["--rw=write:6k", "--verify=pattern", "--verify_pattern=%o\"abc\"", "--loops=2"],
        &["--rw=randwrite", "--verify=md5", "--nrfiles=3", "--openfiles=1", "--numjobs=2"],
    ];
    for case in cases {
        let case = [case, &["--directory=."]].concat();
        let fixed = ["fio", "--name=j", "--size=64k"];
        let call = |more: &[&str]| {
            let all = [&fixed[..], &case, more].concat();
            run(Command::new(FATHOM).args(all).current_dir(dir.path()))
        };
        call(&["--do_verify=0"]).expect(0);
        call(&["--verify_only"]).expect(0);
    }
}

#[test]
fn sequence_and_seed_are_checked_unless_told_otherwise() {
    let dir = scratch();
    // Two workers on the same blocks: each finds what the other wrote.
    let both = ["--rw=write", "--verify=md5", "--numjobs=2", "--verify_state_save=0"];
    let blind = ["--verify_write_sequence=0", "--verify_header_seed=0"];
    let apart = ["--thread", "--stonewall"];
    let told = ours(dir.path(), &[&both[..], &blind, &apart].concat()).expect(0).out;
    assert!(told.contains("verify takes what another wrote for a fault"), "{told}");
    let write = |seed| ["--rw=write", "--verify=md5", seed, "--do_verify=0"];
    let check = ["--rw=write", "--verify=md5", "--randseed=5", "--verify_only"];
    ours(dir.path(), &write("--randseed=5")).expect(0);
    let mine = std::fs::read(dir.path().join("data")).unwrap();
    ours(dir.path(), &write("--randseed=6")).expect(0);
    change(dir.path(), |file| file.write_all_at(&mine[..32768], 0).unwrap());
    let mixed = ours(dir.path(), &check).expect(1);
    assert_eq!(mixed.err.matches("stale block").count(), 8, "{}", mixed.err);
    ours(dir.path(), &[&check[..], &["--verify_header_seed=0"]].concat()).expect(0);
}

#[test]
fn the_pattern_begins_anew_at_its_interval() {
    let dir = scratch();
    let pattern = ["--verify=pattern", "--verify_pattern=%o0xff", "--verify_pattern_interval=512"];
    ours(dir.path(), &[&["--rw=write"], &pattern[..]].concat()).expect(0);
    change(dir.path(), |file| {
        for at in [0_u64, 512, 4096 + 1024] {
            let mut expected = at.to_le_bytes().to_vec();
            expected.push(0xff);
            assert_eq!(block(file, at, 9), expected);
        }
    });
    ours(dir.path(), &[&["--rw=randread"], &pattern[..]].concat()).expect(0);
}

#[test]
fn time_that_is_up_ends_writing_and_not_reading_back() {
    let dir = scratch();
    let arguments = ["--rw=write", "--verify=md5", "--rate_iops=5", "--runtime=2", "--bs=4k"];
    let found = job(dir.path(), 0, &arguments);
    let written = ios(&found, "write");
    assert!((1..16).contains(&written), "{found}");
    assert_eq!(ios(&found, "read"), written);
    let (read, write) = (&found["read"]["runtime"], &found["write"]["runtime"]);
    // Reading back has no rate.
    assert!(write.as_u64() > Some(1000) && read.as_u64() < Some(1000), "{read} and {write}");
}

/// A way to harm the file, and the words for it.
type Harm = (&'static str, fn(&std::fs::File, &[u8]));

/// Faults done to blocks of 4 KiB: 8192 is hurt, unless said otherwise. The second argument is the
/// file as an earlier run with other data left it.
const HARMS: [Harm; 9] = [
    ("bit flip", |file, _| {
        let byte = block(file, 8192 + 3000, 1)[0];
        file.write_all_at(&[byte ^ 0x20], 8192 + 3000).unwrap();
    }),
    ("bit flip", |file, _| {
        let byte = block(file, 8192 + 17, 1)[0];
        file.write_all_at(&[byte ^ 1], 8192 + 17).unwrap();
    }),
    ("misplaced block", |file, _| {
        let (a, b) = (block(file, 8192, 4096), block(file, 16384, 4096));
        file.write_all_at(&b, 8192).unwrap();
        file.write_all_at(&a, 16384).unwrap();
    }),
    ("stale block", |file, before| file.write_all_at(&before[8192..12288], 8192).unwrap()),
    ("torn block", |file, before| file.write_all_at(&before[10240..12288], 10240).unwrap()),
    ("torn block", |file, before| file.write_all_at(&before[8192..10240], 8192).unwrap()),
    ("torn block", |file, _| file.write_all_at(&[0; 1024], 8192 + 3072).unwrap()),
    ("zeroed block", |file, _| file.write_all_at(&[0; 4096], 8192).unwrap()),
    ("short file", |file, _| file.set_len(8192).unwrap()),
];

#[test]
fn every_injected_fault_is_found_and_named() {
    let dir = scratch();
    for method in METHODS.into_iter().filter(|method| *method != "null") {
        let verify = format!("--verify={method}");
        let write = |seed: &str, more: &[&str]| {
            let fixed = ["--rw=randwrite", "--verify_pattern=%o\"x\"", &verify, seed];
            let plain = ["--rw=randwrite", &verify, seed];
            let base = if method == "pattern" { &fixed[..] } else { &plain[..] };
            [base, more].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let call = |arguments: &[String]| {
            ours(dir.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        call(&write("--randseed=1", &["--do_verify=0"])).expect(0);
        let before = std::fs::read(dir.path().join("data")).unwrap();
        for (kind, harm) in HARMS {
            call(&write("--randseed=2", &["--do_verify=0"])).expect(0);
            let blind = match method {
                // Only the header is looked at.
                "meta" => kind == "torn block" || kind == "bit flip",
                // The same pattern at the same place is the same block.
                "pattern" => kind == "stale block" || kind == "torn block",
                _ => false,
            };
            change(dir.path(), |file| harm(file, &before));
            let found = call(&write("--randseed=2", &["--verify_only"]));
            if blind && found.code == 0 {
                continue;
            }
            let found = found.expect(1);
            let named = method == "pattern" || blind || found.err.contains(kind);
            assert!(named && found.err.contains("data offset"), "{method}, {kind}: {}", found.err);
        }
    }
}

/// Many reads in flight find the end of the file at once, in any order.
#[test]
fn a_file_cut_anywhere_is_short_and_ends_the_check() {
    let dir = scratch();
    let shapes: [&[&str]; 3] = [
        &["--rw=write", "--bsrange=4k-16k"],
        &["--rw=randwrite", "--bs=1k", "--random_distribution=zipf:1.1"],
        &["--rw=randwrite", "--bs=4k", "--verify_async=2"],
    ];
    for shape in shapes {
        let deep = ["--verify=crc32c", "--ioengine=libaio", "--iodepth=8"];
        for length in [0, 1024, 30_000] {
            ours(dir.path(), &[shape, &deep, &["--do_verify=0"]].concat()).expect(0);
            change(dir.path(), |file| file.set_len(length).unwrap());
            let found = ours(dir.path(), &[shape, &deep, &["--verify_only"]].concat()).expect(1);
            assert!(found.err.contains("short file"), "{shape:?}, {length}: {}", found.err);
        }
    }
}

/// What later writes left of a block has no sound checksum: its data is compared.
#[test]
fn a_flipped_bit_in_a_cut_block_is_found_wherever_headers_stand() {
    let dir = scratch();
    let anywhere = ["--rw=randwrite", "--norandommap", "--io_size=200k", "--verify_only"];
    let pattern = ["--verify=pattern", "--verify_pattern=%o\"abc\""];
    let shapes: [&[&str]; 5] = [
        &["--verify=md5", "--bssplit=1k/50:3k/50", "--verify_offset=256"],
        &["--verify=crc64", "--bs=4k", "--blockalign=512", "--verify_interval=2k"],
        &["--verify=sha512", "--bsrange=1k-8k"],
        &["--verify=xxhash", "--bs=4k", "--blockalign=512", "--verify_offset=512"],
        &[&["--bssplit=1k/50:3k/50"], &pattern[..]].concat(),
    ];
    for shape in shapes {
        ours(dir.path(), &[shape, &anywhere[..3], &["--do_verify=0"]].concat()).expect(0);
        ours(dir.path(), &[shape, &anywhere].concat()).expect(0);
        let good = std::fs::read(dir.path().join("data")).unwrap();
        let written = |at: &usize| good[*at..*at + 256].iter().any(|byte| *byte != 0);
        // Bytes 600 to 999 of each KiB are neither header nor what stands in its place.
        let places: Vec<usize> = (700..60_000).step_by(7168).filter(written).collect();
        assert!(places.len() > 3, "{shape:?}");
        for at in places {
            change(dir.path(), |file| file.write_all_at(&[good[at] ^ 4], at as u64).unwrap());
            let found = ours(dir.path(), &[shape, &anywhere].concat()).expect(1);
            assert!(found.err.contains("bit flip"), "{shape:?}, {at}: {}", found.err);
            change(dir.path(), |file| file.write_all_at(&good[at..=at], at as u64).unwrap());
        }
    }
}

#[test]
fn a_job_that_only_reads_finds_what_headers_tell() {
    let dir = scratch();
    for method in ["md5", "crc32c", "sha512", "xxhash"] {
        let verify = format!("--verify={method}");
        ours(dir.path(), &["--rw=write", "--randseed=1", "--do_verify=0", &verify]).expect(0);
        let before = std::fs::read(dir.path().join("data")).unwrap();
        for (kind, harm) in HARMS.into_iter().filter(|(kind, _)| *kind != "stale block") {
            ours(dir.path(), &["--rw=write", "--do_verify=0", &verify]).expect(0);
            change(dir.path(), |file| harm(file, &before));
            let found = ours(dir.path(), &["--rw=read", &verify]).expect(1);
            assert!(found.err.contains(kind), "{method}, {kind}: {}", found.err);
        }
    }
}

#[test]
fn the_first_fault_ends_the_job_only_if_it_is_fatal() {
    let dir = scratch();
    ours(dir.path(), &["--rw=write", "--verify=md5", "--do_verify=0"]).expect(0);
    change(dir.path(), |file| {
        for at in [5000, 9000, 40000] {
            file.write_all_at(b"hurt", at).unwrap();
        }
    });
    let read = ["--rw=read", "--verify=md5"];
    let all = job(dir.path(), 1, &read);
    assert_eq!((all["error"].as_i64(), ios(&all, "read")), (Some(84), 16));
    let told = ours(dir.path(), &read).expect(1).err;
    assert_eq!(told.matches("verify failed").count(), 3, "{told}");
    let first = job(dir.path(), 1, &[&read[..], &["--verify_fatal=1"]].concat());
    assert_eq!((first["error"].as_i64(), ios(&first, "read")), (Some(84), 2));
    let tolerant = job(dir.path(), 0, &[&read[..], &["--continue_on_error=verify"]].concat());
    assert_eq!(ios(&tolerant, "read"), 16);
}

#[test]
fn bad_blocks_are_dumped_as_fio_names_them() {
    let dir = scratch();
    let read = ["--rw=read", "--verify=crc32c", "--verify_dump=1"];
    ours(dir.path(), &["--rw=write", "--verify=crc32c", "--do_verify=0"]).expect(0);
    let good = std::fs::read(dir.path().join("data")).unwrap();
    change(dir.path(), |file| file.write_all_at(b"hurt", 5000).unwrap());
    let bad = std::fs::read(dir.path().join("data")).unwrap();
    ours(dir.path(), &read).expect(1);
    assert_eq!(std::fs::read(dir.path().join("data.4096.received")).unwrap(), bad[4096..8192]);
    let expected = std::fs::read(dir.path().join("data.4096.expected")).unwrap();
    assert_eq!(expected, good[4096..8192]);
}

#[test]
fn contradictions_are_refused_by_name() {
    let dir = scratch();
    let cases: [(&[&str], &str); 8] = [
        (&["--verify=pattern"], "verify: pattern is given without verify_pattern"),
        (&["--verify=md4"], "verify"),
        (&["--verify=sha512", "--bs=128"], "bs: 128 bytes hold no header of sha512"),
        (&["--verify=sha512", "--verify_interval=128"], "verify_interval"),
        (&["--verify=md5", "--verify_offset=50"], "verify_offset"),
        (&["--verify=md5", "--verify_only", "--time_based", "--runtime=1"], "verify_only"),
        (&["--verify=md5", "--verify_pattern=0xzz"], "verify_pattern"),
        (&["--verify=md5", "--trim_percentage=101"], "trim_percentage"),
    ];
    for (arguments, word) in cases {
        let refused = ours(dir.path(), &[&["--rw=write"], arguments].concat());
        assert_eq!(refused.code, 1, "{arguments:?}: {}", refused.err);
        assert!(refused.err.contains(word), "{arguments:?}: {}", refused.err);
        assert!(!dir.path().join("data").exists());
    }
}

/// verify_pattern alone is verify=pattern_hdr: either program checks what the other wrote.
#[test]
fn a_pattern_without_a_method_has_headers() {
    let directory = scratch();
    let line = |rw: &'static str| [rw, "--verify_pattern=0xab"];
    theirs(directory.path(), &line("--rw=write")).expect(0);
    ours(directory.path(), &line("--rw=read")).expect(0);
    ours(directory.path(), &line("--rw=write")).expect(0);
    theirs(directory.path(), &line("--rw=read")).expect(0);
}

/// The seed in headers of a job that only reads is checked only if that is asked for.
#[test]
fn the_seed_of_another_run_is_found_when_it_is_asked_for() {
    let directory = scratch();
    let line = |more: &[&'static str]| [&["--verify=md5"], more].concat();
    ours(directory.path(), &line(&["--rw=write", "--do_verify=0", "--randseed=5"])).expect(0);
    let read = |seed: &'static str, asked: &'static str, code: i32| {
        ours(directory.path(), &line(&["--rw=read", seed, asked])).expect(code)
    };
    read("--randseed=6", "--verify_header_seed=0", 0);
    ours(directory.path(), &line(&["--rw=read", "--randseed=6"])).expect(0);
    read("--randseed=5", "--verify_header_seed=1", 0);
    let ran = read("--randseed=6", "--verify_header_seed=1", 1);
    assert!(ran.err.contains("stale block: bad header seed"), "{}", ran.err);
}
