//! Bad input: every mistake ends with its exit code and a message that says where, what, what was
//! expected and what to do. None panics.

use crate::common::*;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Bad input ends with a message, never with a panic.
#[track_caller]
fn refused(ran: Ran, code: i32, words: &[&str]) {
    let ran = ran.expect(code);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "'{word}' is missing in: {}", ran.err);
    }
    assert_eq!(ran.out, "", "a refusal leaves standard output empty");
}

/// Refused under both names: with `code` as fathom, with fio's only code as fio.
#[track_caller]
fn refused_by_both(directory: &Path, arguments: &[&str], code: i32, words: &[&str]) {
    refused(fathom(directory, arguments), code, words);
    refused(as_fio(directory, arguments), 1, words);
}

/// Refused as fathom; as fio the job alone fails, before it does anything, and is reported.
#[track_caller]
fn left_out_as_fio(directory: &Path, arguments: &[&str], code: i32, errno: i32, words: &[&str]) {
    refused(fathom(directory, arguments), code, words);
    let ran = as_fio(directory, &[arguments, &["--output-format=json"]].concat()).expect(1);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "'{word}' is missing in: {}", ran.err);
    }
    let job = &ran.json()["jobs"][0];
    assert_eq!(job["error"], errno, "{}", ran.err);
    for direction in ["read", "write", "trim"] {
        assert_eq!(job[direction]["total_ios"], 0, "{}", ran.err);
    }
}

fn write(directory: &Path, name: &str, content: impl AsRef<[u8]>) {
    fs::write(directory.join(name), content).unwrap();
}

/// An error of an option in a job of the command line.
#[track_caller]
fn bad_option(arguments: &str, words: &[&str]) {
    not_run(arguments, 2, words);
}

/// A wrong job of the command line, of which fio makes something else.
#[track_caller]
fn bad_here(arguments: &str, words: &[&str]) {
    let directory = scratch();
    let mut all = vec!["--name=a", "--size=64k", "--ioengine=psync"];
    all.extend(arguments.split(' '));
    refused(fathom(directory.path(), &all), 2, words);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing may be made");
}

/// A job of the command line that this machine is not fit for.
#[track_caller]
fn bad_option_refused(arguments: &str, words: &[&str]) {
    not_run(arguments, 3, words);
}

#[track_caller]
fn not_run(arguments: &str, code: i32, words: &[&str]) {
    let directory = scratch();
    let mut all = vec!["--name=a", "--size=64k", "--ioengine=psync"];
    all.extend(arguments.split(' '));
    refused_by_both(directory.path(), &all, code, words);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing may be made");
}

#[test]
fn every_mistake_of_a_file_is_told_at_once_with_its_line() {
    let directory = scratch();
    let text = "; a comment\n[global]\nioengine=psync\nsize=1m\n[job1]\niodeph=4\nbs=4q\n\
                rw=randred\n[job2]\nnumjobs=4\nrwmixread=200\nbs=-1\niodepth\n";
    write(directory.path(), "quick.fio", text);
    let words = [
        "quick.fio:6: unknown option 'iodeph' in [job1]; did you mean 'iodepth'?\n",
        "quick.fio:8: in [job1]: rw: expected one of read, write,",
        "got 'randred'; did you mean 'randread'?\n",
        "quick.fio:11: in [job2]: rwmixread: value out of range: must be at most 100, got '200'\n",
        "quick.fio:12: in [job2]: bs: value out of range: must be at least 1, got '-1'\n",
        "quick.fio:13: in [job2]: iodepth:",
    ];
    refused_by_both(directory.path(), &["quick.fio"], 2, &words);
    let told = fathom(directory.path(), &["quick.fio"]).err;
    assert_eq!(told.lines().count(), 6, "one line a mistake: {told}");
    // fio reads the number and goes on.
    let says = "quick.fio:7: in [job1]: bs: expected a number with an optional suffix";
    let line = told.lines().find(|line| line.starts_with(says));
    assert!(line.is_some_and(|line| line.ends_with("got '4q'; fio reads it as 4")), "{told}");
}

#[test]
fn unknown_options_name_the_nearest() {
    bad_option(
        "--iodeph=4",
        &["command line: unknown option '--iodeph'; did you mean '--iodepth'?"],
    );
    bad_option("--blocksiez=4k", &["unknown option '--blocksiez'; did you mean '--blocksize'?"]);
    let directory = scratch();
    let words = ["unknown option '--nmae'; did you mean '--name'?"];
    refused_by_both(directory.path(), &["--nmae=a", "--rw=read"], 2, &words);
}

#[test]
fn bad_units_and_values_out_of_range() {
    bad_here("--bs=4x", &["in [a]: bs: expected a number with an optional suffix", "'4x'"]);
    bad_option("--runtime=5parsecs", &["in [a]: runtime:", "(d, h, m, s, ms, us, ns)"]);
    bad_option(
        "--rwmixread=101",
        &["in [a]: rwmixread: value out of range: must be at most 100, got '101'"],
    );
    bad_option(
        "--iodepth=0",
        &["in [a]: iodepth: value out of range: must be at least 1, got '0'"],
    );
    bad_option("--iodepth=99999999999", &["iodepth: a depth of 99999999999", "give 1 to"]);
    bad_option("--size=99999999999999999999", &["in [a]: size:", "99999999999999999999"]);
    bad_option("--size=101%", &["in [a]: size: expected a percentage from 0% to 100%"]);
    bad_option("--ioengine=psnc", &["ioengine: expected one of", "did you mean 'psync'?"]);
    bad_option("--bssplit=4k/x", &["in [a]: bssplit:", "'x'"]);
}

#[test]
fn options_of_other_engines_and_those_that_do_not_work_yet_are_named() {
    let words = ["option 'hipri' in [a] belongs to ioengine", "io_uring", "this job's is psync"];
    bad_option("--hipri=1", &words);
    bad_option("--ioengine=libhdfs", &["[a] ioengine: 'libhdfs' does not work here: it needs"]);
}

#[test]
fn what_is_written_spares_the_job_files() {
    let directory = scratch();
    let at = directory.path();
    let text = "[a]\nioengine=null\nsize=4k\n";
    write(at, "a.fio", text);
    write(at, "b.fio", text);
    for option in ["record", "junit", "output"] {
        let option = format!("--{option}=./a.fio");
        refused_by_both(
            at,
            &["a.fio", &option],
            2,
            &["./a.fio: would overwrite a job file of this call"],
        );
    }
    let arguments = ["a.fio", "--interleave=b.fio", "--repeat=1", "--record=b.fio"];
    let told = fathom(at, &arguments).expect(2).err;
    assert!(told.contains("b.fio: would overwrite a job file of this call"), "{told}");
    for file in ["a.fio", "b.fio"] {
        assert_eq!(fs::read_to_string(at.join(file)).unwrap(), text);
    }
    write(at, "r.json", "of an earlier call");
    fathom(at, &["a.fio", "--record=r.json"]).expect(0);
}

#[test]
fn a_section_that_no_job_is_called_is_named() {
    let directory = scratch();
    let arguments = ["--name=a", "--ioengine=null", "--size=4k", "--section=zz"];
    let told = fathom(directory.path(), &arguments).expect(2).err;
    assert!(told.contains("no job: none is called zz, as --section asks"), "{told}");
    let ran = as_fio(directory.path(), &arguments).expect(0);
    assert!(ran.out.contains("a: (g=0)"), "as there it chooses in job files only: {}", ran.out);
}

#[test]
fn job_files_that_cannot_be_read() {
    let directory = scratch();
    let at = directory.path();
    fs::create_dir(at.join("sub")).unwrap();
    let gone = ["command line: cannot read job file 'gone.fio': there is no such file"];
    refused_by_both(at, &["gone.fio"], 2, &gone);
    refused_by_both(at, &["sub"], 2, &["cannot read job file 'sub': it is a directory"]);
    let endless = ["cannot read job file '/dev/zero': it is larger than 64 MiB"];
    refused_by_both(at, &["/dev/zero"], 2, &endless);
    write(at, "include.fio", "[global]\nrw=read\ninclude gone.inc\n[a]\nsize=1m\n");
    refused_by_both(at, &["include.fio"], 2, &["include.fio:3:", "gone.inc"]);
    write(at, "empty.fio", "");
    refused_by_both(at, &["empty.fio"], 2, &["no job: empty.fio has no section to run"]);
    write(at, "one.fio", "[one]\nsize=1m\n");
    let section = ["--section=two", "one.fio"];
    let words = ["--section=two: no job file has such a section; they have one"];
    refused(fathom(at, &section), 2, &words);
    refused(as_fio(at, &section), 1, &["no job: one.fio has no section two"]);
    let none = ["no job: name a job file, or describe a job with --name"];
    refused(fathom(at, &[]), 2, &none);
    // As fio it prints its help.
    let ran = as_fio(at, &[]).expect(1);
    assert!(ran.err.contains("No job(s) defined") && ran.out.contains("--help"), "{ran:?}");
    refused_by_both(at, &["--rw=read"], 2, &none);
}

#[test]
fn a_mebibyte_of_noise_is_no_job_file() {
    let directory = scratch();
    write(directory.path(), "noise.fio", Seeded::new(1).bytes(1 << 20));
    let words = ["noise.fio:1: this line ", "is this a job file", "… and ", " more"];
    refused_by_both(directory.path(), &["noise.fio"], 2, &words);
    let told = fathom(directory.path(), &["noise.fio"]).err;
    assert!(told.lines().count() <= 101 && !told.contains('\u{1b}'), "{told}");
    let words = ["utf16.fio:1:", "is this a job file"];
    write(directory.path(), "utf16.fio", b"\xff\xfe[\0a\0]\0\n\0");
    refused_by_both(directory.path(), &["utf16.fio"], 2, &words);
}

#[test]
fn carriage_returns_and_a_byte_order_mark_are_no_mistakes() {
    let directory = scratch();
    let text = "[global]\nioengine=null\nsize=1m\n[one]\nrw=write\nbs=64k\n";
    write(directory.path(), "crlf.fio", text.replace('\n', "\r\n"));
    write(directory.path(), "bom.fio", format!("\u{feff}{text}"));
    for name in ["crlf.fio", "bom.fio"] {
        for run in [fathom, as_fio] {
            let json = run(directory.path(), &[name, "--output-format=json"]).expect(0).json();
            assert_eq!(json["jobs"][0]["jobname"], "one", "{name}");
            assert_eq!(json["jobs"][0]["write"]["total_ios"], 16, "{name}");
        }
    }
}

#[test]
fn targets_that_are_not_there() {
    let directory = scratch();
    let at = directory.path();
    let job = ["--name=a", "--rw=read", "--ioengine=psync"];
    let with = |more: &[&'static str]| [&job[..], more].concat();
    let words = ["[a] directory: nowhere is not there; make it or name another one"];
    refused_by_both(at, &with(&["--size=1m", "--directory=nowhere"]), 3, &words);
    let words = [
        "[a] size: no size is given and gone has none of its own; set --size or --filesize in bytes",
    ];
    left_out_as_fio(at, &with(&["--filename=gone"]), 2, 22, &words);
    let words = ["gone is not there", "drop --allow_file_create"];
    let arguments = with(&["--filename=gone", "--size=1m", "--allow_file_create=0"]);
    left_out_as_fio(at, &arguments, 3, 2, &words);
    let words = ["gone is not there", "--readonly"];
    refused_by_both(at, &with(&["--filename=gone", "--size=1m", "--readonly"]), 3, &words);
    let words = ["[a] filename: there is no device /dev/nosuch; check its name"];
    left_out_as_fio(at, &with(&["--filename=/dev/nosuch"]), 3, 2, &words);
    left_out_as_fio(at, &with(&["--filename=/dev/nosuch", "--size=1m"]), 3, 2, &words);
    let words = ["is a directory; name a file or a device, or set directory="];
    left_out_as_fio(at, &with(&["--filename=.", "--size=1m"]), 3, 21, &words);
    // Who opened it would wait for somebody to write, whatever signal comes.
    run(Command::new("mkfifo").arg(at.join("pipe"))).expect(0);
    let words = ["[a] filename: pipe is a pipe, which has no size", "name a file"];
    left_out_as_fio(at, &with(&["--filename=pipe", "--size=1m"]), 3, 29, &words);
}

#[test]
fn a_target_smaller_than_one_block() {
    let directory = scratch();
    write(directory.path(), "small", [1; 1024]);
    let words = ["1 KiB", "no block of 4 KiB", "smaller block"];
    let arguments = ["--name=a", "--filename=small", "--rw=read", "--bs=4k"];
    left_out_as_fio(directory.path(), &arguments, 3, 22, &words);
    let arguments = ["--name=a", "--size=1k", "--rw=write", "--bs=4k", "--filename=other"];
    let told = fathom(directory.path(), &arguments).err;
    assert_eq!(told.lines().count(), 1, "told once: {told}");
    refused_by_both(directory.path(), &arguments, 2, &words);
    assert!(!directory.path().join("other").exists());
}

#[test]
fn no_jobs_and_ten_thousand() {
    bad_option("--numjobs=0", &["numjobs=0 leaves nothing of job 'a' to run"]);
    let directory = scratch();
    let job = ["--name=a", "--ioengine=null", "--size=4k", "--numjobs=10000", "--group_reporting"];
    let words =
        ["numjobs: 10000 jobs, at most 4096 are allowed; lower --numjobs, or raise --max-jobs"];
    refused_by_both(directory.path(), &job, 2, &words);
    let allowed = [&job[..], &["--max-jobs=10000", "--output-format=json"]].concat();
    for run in [fathom, as_fio] {
        let json = run(directory.path(), &allowed).expect(0).json();
        assert_eq!(json["jobs"].as_array().unwrap().len(), 1);
        assert_eq!(json["jobs"][0]["read"]["total_ios"], 10_000);
    }
}

/// Jobs are threads and share what one process may open.
#[test]
fn many_jobs_need_no_higher_limit_on_open_files() {
    let directory = scratch();
    let job = ["--name=a", "--ioengine=psync", "--size=4k", "--filename=f", "--numjobs=200"];
    let limit = ["--nofile=64:4096", FATHOM, "run"];
    let mut command = Command::new("prlimit");
    let ran = run(command.args(limit).args(job).arg("--group_reporting").current_dir(&directory));
    ran.expect(0);
}

#[test]
fn names_that_are_no_text() {
    let directory = scratch();
    let name = std::ffi::OsStr::from_bytes(b"--filename=\xff");
    let job = ["--name=a", "--size=64k", "--rw=write", "--ioengine=psync"];
    for (verb, code) in [("run", 2), ("fio", 1)] {
        let mut command = Command::new(FATHOM);
        command.arg(verb).args(job).arg(name).current_dir(&directory);
        let words = ["command line: '--filename=\u{fffd}' is not UTF-8 text; give names in UTF-8"];
        refused(run(&mut command), code, &words);
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "no other file is made");
}

/// A directory others may enter, with the program in it: the build may lie where they may not.
struct Open {
    directory: TempDir,
    program: PathBuf,
}

impl Open {
    fn new() -> Open {
        let directory = tempfile::Builder::new().prefix("fathom-").tempdir().unwrap();
        let program = directory.path().join("fathom");
        fs::copy(FATHOM, &program).unwrap();
        let open = Open { directory, program };
        open.mode(".", "755");
        open
    }

    fn mode(&self, name: &str, mode: &str) {
        system("chmod", &[mode, self.directory.path().join(name).to_str().unwrap()]);
    }

    /// Runs the program as nobody.
    fn nobody(&self, arguments: &[&str]) -> Ran {
        let who = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let mut command = Command::new("setpriv");
        command.args(who).arg(&self.program).arg("run").args(arguments);
        run(command.current_dir(&self.directory))
    }
}

#[test]
fn no_permission() {
    let open = Open::new();
    let at = open.directory.path();
    for name in ["secret", "fixed", "secret.fio"] {
        write(at, name, [7; 65536]);
    }
    fs::create_dir(at.join("closed")).unwrap();
    open.mode("closed", "700");
    open.mode("secret", "600");
    open.mode("secret.fio", "600");
    open.mode("fixed", "444");
    let job = ["--name=a", "--size=64k", "--ioengine=psync"];
    let with = |more: &[&'static str]| open.nobody(&[&job[..], more].concat());
    let words = ["secret may not be read; ask for access to it or name another one"];
    refused(with(&["--rw=read", "--filename=secret"]), 3, &words);
    let words = ["fixed may not be written; ask for access"];
    refused(with(&["--rw=write", "--filename=fixed"]), 3, &words);
    let words = ["cannot be made: no permission to write in closed"];
    refused(with(&["--rw=write", "--directory=closed"]), 3, &words);
    let words = ["a.0.0 cannot be made: no permission to write in ."];
    refused(with(&["--rw=read"]), 3, &words);
    let words = ["cannot read job file 'secret.fio': permission to read it is missing"];
    refused(open.nobody(&["secret.fio"]), 2, &words);
    with(&["--rw=read", "--filename=fixed"]).expect(0);
}

#[test]
fn blocks_must_suit_the_device_under_o_direct() {
    let (_turn, directory) = (alone(), scratch());
    let device = loop_device(directory.path(), 4 << 20, &["--sector-size=4096"]);
    let filename = format!("--filename={}", device.device);
    let job = ["--name=a", &filename, "--direct=1", "--ioengine=psync"];
    let words = |option: &str, value: u32| {
        let name = device.name();
        format!("[a] {option}: {value} is not a multiple of 4096, the logical block of {name};")
    };
    for (more, option, value) in [
        (&["--rw=read", "--bs=512"][..], "bs", 512),
        (&["--rw=write", "--bs=6k"][..], "bs", 6144),
        (&["--rw=read", "--bs=4k", "--offset=512"][..], "offset", 512),
    ] {
        let arguments = [&job[..], more].concat();
        let cure = "give a multiple of 4 KiB, or drop --direct";
        left_out_as_fio(directory.path(), &arguments, 3, 22, &[&words(option, value), cure]);
    }
    fathom(directory.path(), &[&job[..], &["--rw=read", "--bs=4k"]].concat()).expect(0);
}

#[test]
fn o_direct_where_there_is_none() {
    let (_turn, directory) = (alone(), scratch());
    let _fs = Mounted::new(&["-t", "ramfs"], "ramfs", directory.path().join("ram"));
    let job = ["--name=a", "--size=64k", "--direct=1", "--directory=ram", "--ioengine=psync"];
    let with = |more: &'static str| [&job[..], &[more]].concat();
    let words = ["[a] direct: ram/a.0.0 does not take O_DIRECT (ramfs); drop --direct, or name"];
    left_out_as_fio(directory.path(), &with("--rw=write"), 3, 22, &words);
    // Whether it does is only known once the file is there; it is not filled in vain, nor left.
    let ran = fathom(directory.path(), &with("--rw=read")).expect(1);
    let words = "error: a: cannot open 'ram/a.0.0': Invalid argument; the filesystem seems not to \
                 support O_DIRECT: open it without";
    assert!(ran.err.contains(words), "{}", ran.err);
    assert!(!ran.err.contains("the files need"), "ramfs has no size: {}", ran.err);
    assert!(ran.out.contains("err=22 (file:ram/a.0.0:0, func=lay out, error=Invalid argument)"));
    assert_eq!(fs::read_dir(directory.path().join("ram")).unwrap().count(), 0);
}

/// A filesystem of a few MiB on a loop device.
fn small_ext4(directory: &Path, options: &[&str]) -> (Mounted, Loop) {
    let device = loop_device(directory, 8 << 20, &[]);
    system("mkfs.ext4", &["-q", "-m0", &device.device]);
    (Mounted::new(options, &device.device, directory.join("small")), device)
}

#[test]
fn read_only_filesystems() {
    let (_turn, directory) = (alone(), scratch());
    let (_fs, _device) = small_ext4(directory.path(), &["-oro,noload"]);
    let job = ["--name=a", "--size=64k", "--directory=small", "--ioengine=psync"];
    let words = ["[a] filename: small/a.0.0 lies on the filesystem at ", "mounted read-only"];
    for rw in ["--rw=read", "--rw=write"] {
        left_out_as_fio(directory.path(), &[&job[..], &[rw]].concat(), 3, 30, &words);
    }
}

#[test]
fn a_disk_that_fills_up_while_files_are_laid_out() {
    let (_turn, directory) = (alone(), scratch());
    let (_fs, _device) = small_ext4(directory.path(), &[]);
    let job = ["--name=a", "--size=64m", "--directory=small", "--rw=read", "--ioengine=psync"];
    for fallocate in ["--fallocate=native", "--fallocate=none"] {
        let arguments = [&job[..], &[fallocate, "--record=run.json"]].concat();
        let ran = fathom(directory.path(), &arguments).expect(1);
        let words = ["warning: the files need 64 MiB more on ", "error: a: cannot lay out"];
        let more = ["the filesystem is full", "MiB are free", "Use a smaller size, fewer files"];
        for word in [&words[..], &more].concat() {
            assert!(ran.err.contains(word), "{word}: {}", ran.err);
        }
        assert!(ran.out.contains("a: (groupid=0, jobs=1): err=28"), "{}", ran.out);
        assert!(!directory.path().join("small/a.0.0").exists(), "what was begun is removed");
        let record = fs::read_to_string(directory.path().join("run.json")).unwrap();
        assert!(record.contains("\"error\":28"), "{record}");
    }
}

#[test]
fn files_larger_than_the_filesystem_takes_leave_nothing_behind() {
    let directory = scratch();
    let job = ["--name=a", "--rw=write", "--ioengine=psync", "--size=9223372036854775807"];
    let ran = fathom(directory.path(), &job).expect(1);
    assert!(ran.err.contains("'a.0.0': File too large; "), "{}", ran.err);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn a_disk_that_fills_up_during_the_run() {
    let (_turn, directory) = (alone(), scratch());
    let _fs = Mounted::new(&["-t", "tmpfs", "-osize=4m"], "tmpfs", directory.path().join("small"));
    for engine in ["psync", "libaio", "io_uring"] {
        let engine = format!("--ioengine={engine}");
        let job = ["--name=a", "--size=16m", "--directory=small", "--rw=write", "--unlink=1"];
        let more = ["--fallocate=none", "--iodepth=4", "--record=run.json", &engine];
        let ran = fathom(directory.path(), &[&job[..], &more].concat()).expect(1);
        assert!(ran.err.contains("error: a: write of 4096 bytes at offset "), "{}", ran.err);
        assert!(ran.err.contains("'small/a.0.0' failed: "), "{}", ran.err);
        assert!(ran.out.contains("  write: IOPS="), "what was written is reported: {}", ran.out);
        let record: serde_json::Value =
            serde_json::from_slice(&fs::read(directory.path().join("run.json")).unwrap()).unwrap();
        let job = &record["jobs"][0];
        assert_eq!(job["error"], 28, "{engine}");
        assert_eq!(job["errors"][0]["operation"], "write");
    }
}

#[test]
fn a_device_that_disappears() {
    let _turn = alone();
    for (verb, engine) in
        [("run", "psync"), ("run", "io_uring"), ("run", "mmap"), ("fio", "libaio")]
    {
        let directory = scratch();
        // So large that mmap has not yet read it all into memory.
        let device = loop_device(directory.path(), 4 << 30, &[]);
        let filename = format!("--filename={}", device.device);
        let engine_option = format!("--ioengine={engine}");
        // Writes would make the file behind it grow again.
        let job = ["--name=a", &filename, &engine_option, "--rw=randread", "--iodepth=4"];
        let time = ["--time_based", "--runtime=25", "--eta=always", "--eta-interval=250ms"];
        let more = ["--record=run.json", "--direct=1"];
        let mut running =
            Running::fathom(verb, directory.path(), &[&job[..], &time, &more].concat());
        running.says(if verb == "fio" { "out" } else { "err" }, "[r(1)]");
        // The device stays, held by the run; what is behind it goes.
        fs::File::create(&device.file).unwrap();
        let ran = running.end().expect(1);
        assert!(ran.err.contains("'/dev/loop") && ran.err.contains("' failed: "), "{}", ran.err);
        assert!(ran.out.contains("a: (groupid=0, jobs=1): err= 5 (file:/dev/loop"), "{}", ran.out);
        let record: serde_json::Value =
            serde_json::from_slice(&fs::read(directory.path().join("run.json")).unwrap()).unwrap();
        assert_eq!(record["jobs"][0]["error"], 5, "{engine}");
    }
}

#[test]
fn what_would_not_fit_in_memory_is_refused_before_it_is_tried() {
    let blocks = "--ioengine=null --rw=randtrim --size=8000t --block_error_percentiles=1";
    bad_option_refused(blocks, &["block_error_percentiles: 8000 GiB for the states", "raise --bs"]);
    let zones = "--ioengine=null --rw=write --size=1t --zonemode=zbd --zonesize=512";
    bad_option_refused(zones, &["zonesize: a.0.0 has 2147483648 zones of 512 bytes; raise it"]);
}

#[test]
fn a_list_of_a_thousand_percentiles() {
    let list: Vec<String> = (1..=1000).map(|n| format!("{:.1}", f64::from(n) / 10.0)).collect();
    let option = format!("--rw=read --percentile_list={}", list.join(":"));
    bad_option(&option, &["percentile_list: takes at most 20 numbers, got 1000"]);
}

#[test]
fn shares_that_are_too_many_and_zones_that_do_not_cover() {
    let split = "bssplit: the shares of '4k/60:8k/60' add up to 120 per cent, more than 100";
    bad_here("--rw=write --bssplit=4k/60:8k/60", &[split]);
    for (zones, says) in [
        ("zoned:50/10:40/90", "the shares of the I/O add up to 90 per cent instead of 100"),
        ("zoned:50/60:50/60", "the zones make 120 per cent of the target, more than 100"),
        ("zoned", "expected shares such as 60/10:40/90"),
        ("zoned_abs:50/1k:50", "every zone needs a size in bytes"),
    ] {
        let option = format!("--rw=randread --random_distribution={zones}");
        bad_option(&option, &["random_distribution: ", says]);
    }
    let beyond = "--rw=randread --random_distribution=zoned_abs:50/1g:50/1g";
    bad_option_refused(beyond, &["random_distribution: its zones make 2 GiB", "raise size"]);
    bad_option("--rw=write --zonemode=strided", &["zonesize: zonemode=strided without it"]);
    bad_option("--rw=write --zonemode=zbd", &["has no zones of its own", "set zonesize"]);
}

#[test]
fn names_that_are_close_and_options_that_contradict() {
    for (arguments, says) in [
        ("--rw=write --verify=crc33", "got 'crc33'; did you mean 'crc32'?"),
        ("--rw=write --verify=pattern", "verify: pattern is given without verify_pattern; give"),
        ("--rw=read --zonemode=foo", "zonemode: expected one of none, strided, zbd, got 'foo'"),
        ("--rw=randread --random_distribution=zipf:x", "expected a number, got 'x'"),
        (
            "--rw=write --rate=1m --rate_min=2m",
            "rate_min: 2097152 for writes is above rate=1048576",
        ),
        ("--rw=write --rate=1m --rate_iops=5", "rate and rate_iops are both given; keep one"),
        ("--rw=read --status-interval=1ms", "--status-interval: '1ms' is less than 100ms"),
    ] {
        bad_option(arguments, &[says]);
    }
    let readonly = "rw=write changes its targets; --readonly is given: take it back or only read";
    bad_option_refused("--rw=write --readonly", &[readonly]);
    let (directory, trim) =
        (scratch(), ["--name=a", "--size=64k", "--ioengine=psync", "--rw=trim"]);
    let words = ["is no block device", "only block devices can be trimmed"];
    left_out_as_fio(directory.path(), &trim, 3, 25, &words);
}
