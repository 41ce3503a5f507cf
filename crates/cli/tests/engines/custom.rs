//! Engines of the user's own: the examples in C, Python and Rust, and programs that fail.

use crate::common::{Ran, fathom, run, scratch};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An example's source.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/engines").join(name)
}

/// An example built by its compiler in `directory`.
fn built(directory: &Path, compiler: &[&str], name: &str) -> String {
    let program = directory.join("engine");
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).arg("-o").arg(&program).arg(example(name));
    run(&mut command).expect(0);
    program.display().to_string()
}

/// A job on the custom engine, with options separated by spaces.
fn ran(directory: &Path, program: &str, options: &str) -> Ran {
    let program = format!("--custom_program={program}");
    let fixed = ["--output-format=json", "--name=a", "--ioengine=custom", &program];
    let options: Vec<String> = options.split(' ').map(|option| format!("--{option}")).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    fathom(directory, &[&fixed[..], &options].concat())
}

#[track_caller]
fn job(directory: &Path, program: &str, options: &str) -> Value {
    ran(directory, program, options).expect(0).json()["jobs"][0].clone()
}

fn bytes(job: &Value) -> [u64; 3] {
    ["read", "write", "trim"].map(|direction| job[direction]["io_bytes"].as_u64().unwrap())
}

#[test]
fn the_example_in_c_is_a_disk() {
    let directory = scratch();
    let at = directory.path();
    let engine = built(at, &["cc", "-O2", "-Wall", "-Wextra", "-Werror"], "memory.c");
    let work = "custom_arguments=4 rw=randwrite bs=4k iodepth=8 verify=crc32c fsync=64";
    let done = job(at, &engine, work);
    assert_eq!(bytes(&done), [4 << 20, 4 << 20, 0], "without a size, all of the disk");
    assert!(done["sync"]["total_ios"].as_u64() > Some(10));
    assert_eq!(
        bytes(&job(at, &engine, "rw=trim bs=64k size=1m numjobs=2 group_reporting"))[2],
        2 << 20
    );
    // The disk is the process's own memory: what another wrote is not there.
    let empty = "custom_arguments=1 rw=read bs=4k verify=pattern verify_pattern=0x5a";
    assert!(ran(at, &engine, empty).expect(1).err.contains("verify"));
    // Nothing is left running.
    let left = run(Command::new("pgrep").args(["-f", &engine]));
    assert_eq!(left.out, "");
}

#[test]
fn the_example_in_python_reads_and_writes_files() {
    let directory = scratch();
    let at = directory.path();
    let engine = at.join("file.py");
    std::fs::copy(example("file.py"), &engine).unwrap();
    std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).unwrap();
    let engine = engine.display().to_string();
    let work = "filename=data rw=randwrite bs=4k size=256k iodepth=4 verify=md5 end_fsync=1";
    assert_eq!(bytes(&job(at, &engine, work)), [256 << 10, 256 << 10, 0]);
    assert_eq!(std::fs::metadata(at.join("data")).unwrap().len(), 256 << 10);
    std::fs::write(at.join("data"), [0x5a; 100_000]).unwrap();
    let known = "filename=data rw=read bs=10000 verify=pattern verify_pattern=0x5a";
    assert_eq!(bytes(&job(at, &engine, known)), [100_000, 0, 0]);
    let trim = ran(at, &engine, "filename=data rw=trim bs=4k size=8k").expect(1);
    assert!(trim.err.contains("not supported"), "{}", trim.err);
}

#[test]
fn the_example_in_rust_moves_nothing() {
    let directory = scratch();
    let engine = built(directory.path(), &["rustc", "--edition=2021"], "nothing.rs");
    let done =
        job(directory.path(), &engine, "rw=randrw bs=4k size=1m iodepth=16 numjobs=2 thread");
    assert_eq!(bytes(&done)[..2].iter().sum::<u64>(), 1 << 20);
}

/// A shell script as an engine.
fn script(directory: &Path, text: &str) -> String {
    let path = directory.join("script");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn programs_that_fail_are_told_apart() {
    let directory = scratch();
    let at = directory.path();
    let refused = |program: &str, code, words: &[&str]| {
        let ran = ran(at, program, "rw=read size=4k").expect(code);
        for word in words {
            assert!(ran.err.contains(word), "'{word}' is missing in: {}", ran.err);
        }
    };
    let none = ["--name=a", "--ioengine=custom", "--size=4k"];
    let none = fathom(at, &none).expect(2);
    assert!(none.err.contains("custom_program: ioengine=custom needs it"), "{}", none.err);
    refused("/nowhere/engine", 3, &["/nowhere/engine: it cannot be started: No such file"]);
    let early = script(at, "echo no disk >&2; exit 7");
    refused(&early, 3, &["no disk", "ended (exit status: 7) before it was ready"]);

    // It is ready at the first start, where sizes are asked, and dies with I/O in flight at the second.
    let python = at.join("dies.py");
    let text = std::fs::read_to_string(example("file.py")).unwrap();
    let dying = text.replace(
        "            result = carry_out(",
        "            os._exit(9)\n            result = carry_out(",
    );
    assert_ne!(text, dying);
    std::fs::write(&python, dying).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let python = python.display().to_string();
    let died = ran(at, &python, "rw=write bs=4k size=64k iodepth=4").expect(1);
    let words = "ended (exit status: 9) with ";
    assert!(format!("{}{}", died.out, died.err).contains(words), "{}\n{}", died.out, died.err);
    assert_ne!(died.json()["jobs"][0]["error"], 0);

    let wrong = text.replace(
        "memory, completions + tail % entries * 16, slot, 0",
        "memory, completions + tail % entries * 16, 77, 0",
    );
    assert_ne!(text, wrong);
    std::fs::write(at.join("dies.py"), wrong).unwrap();
    let died = ran(at, &python, "rw=write bs=4k size=64k").expect(1);
    let words = "completed slot 77, which has no I/O in flight";
    assert!(format!("{}{}", died.out, died.err).contains(words), "{}\n{}", died.out, died.err);
}
