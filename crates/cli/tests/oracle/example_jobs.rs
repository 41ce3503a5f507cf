//! fio's example job files parse here as they parse there, and engines of fio's that fathom does not
//! run say what they need.

use crate::common::{FATHOM, FIO, as_fio, fathom, run, scratch};
use record::UNBUILT_ENGINES;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian's package fio-examples has them.
const EXAMPLES: &str = "/usr/share/doc/fio/examples";

/// Values of the variables that the examples read from their surroundings.
const VARIABLES: &[(&str, &str)] = &[
    ("SIZE", "1g"),
    ("POOL", "pool"),
    ("CONT", "container"),
    ("FIO_DIR", "/tmp"),
    ("GPU_DEV_IDS", "0"),
    ("FIO_RW", "read"),
    ("FIO_IODEPTH", "1"),
    ("FIO_BS", "4k"),
    ("S3_KEY", "key"),
    ("S3_ID", "id"),
    ("SSE_KEY", "01234567890123456789012345678901"),
    ("STORAGE_CLASS", "STANDARD"),
    ("SWIFT_id", "token"),
    ("DISK", "/dev/null"),
];

fn examples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(EXAMPLES).expect("install the package fio-examples");
    let all = entries.map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|end| end == "fio")).collect()
}

/// Exit code and messages of a program that only parses a file.
fn parsed(program: &[&str], file: &Path) -> (i32, String) {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).envs(VARIABLES.iter().copied());
    let ran = run(command.arg("--parse-only").arg(file));
    (ran.code, ran.err)
}

#[test]
fn every_example_of_fio_parses_as_there() {
    let files = examples();
    assert!(files.len() > 80, "{} examples", files.len());
    let mut without_engine = 0;
    for file in &files {
        let (theirs, why) = parsed(&[FIO], file);
        // Debian's fio lacks some engines; their options are then unknown to it.
        let lacks_engine = why.contains("not loadable");
        without_engine += usize::from(lacks_engine);
        let (ours, said) = parsed(&[FATHOM, "fio"], file);
        let expected = if lacks_engine { 0 } else { theirs };
        assert_eq!(ours, expected, "{}: {said}\nfio: {why}", file.display());
    }
    assert!(without_engine < 20, "{without_engine} examples with engines that fio does not have");
}

#[test]
fn engines_that_are_not_built_say_what_they_need() {
    let directory = scratch();
    for engine in UNBUILT_ENGINES {
        let name = match engine.name {
            "external" => "external:/tmp/engine.so",
            name => name,
        };
        let engine_option = format!("--ioengine={name}");
        let options = ["--name=a", &engine_option, "--size=4k", "--filename=f"];
        as_fio(directory.path(), &[&options[..], &["--parse-only"]].concat()).expect(0);
        for ran in [
            as_fio(directory.path(), &options).expect(1),
            fathom(directory.path(), &options).expect(2),
        ] {
            for word in [engine.name, engine.needs, engine.instead] {
                assert!(ran.err.contains(word), "{name}: {word}: {}", ran.err);
            }
        }
        assert!(!directory.path().join("f").exists(), "{name} made a file");
    }
}

#[test]
fn options_of_engines_that_are_not_built_belong_to_them() {
    let directory = scratch();
    let hdfs = ["--name=a", "--ioengine=libhdfs", "--size=4k"];
    let with = |option: &str| as_fio(directory.path(), &[&hdfs[..], &[option]].concat());
    for known in ["--namenode=h", "--port=9000", "--hdfsdirectory=/d", "--chunk_size=1m"] {
        let said = with(known).expect(1).err;
        assert!(said.contains("needs an HDFS") && !said.contains("belongs"), "{known}: {said}");
        assert!(said.lines().count() <= 2, "{known}: {said}");
    }
    let said = with("--rbdname=x").expect(1).err;
    assert!(said.contains("belongs to ioengine rbd"), "{said}");
    // The manual names io_uring_cmd and xnvme for them.
    let xnvme =
        ["--name=a", "--ioengine=xnvme", "--size=4k", "--parse-only", "--md_per_io_size=64"];
    let protection =
        ["--pi_act=0", "--pi_chk=GUARD,APPTAG", "--apptag=0x234", "--apptag_mask=0xffff"];
    as_fio(directory.path(), &[&xnvme[..], &protection].concat()).expect(0);
}
