//! Held against fio itself (Debian's, /usr/bin/fio): for generated job files both accept or both
//! reject, and what both accept they show alike. Without fio these tests fail.

mod common;

use common::Texts;
use job::{Action, Dialect, Keywords, parse};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use testbed::Seeded;

const FIO: &str = "/usr/bin/fio";

/// Files generated; enough for every pair of an option and a value below to occur several times.
const FILES: u64 = 300;

/// Options that work in both, with values both take and values both refuse.
const POOL: &[(&str, &[&str])] = &[
    ("rw", &["read", "write", "randread", "randrw", "trim", "randread:8", "write:4k", "reed"]),
    ("readwrite", &["randwrite", "rw", "readwrite", "trimwrite"]),
    ("bs", &["4k", "8k,16k", ",8k", "4k,8k,16k", "512", "1M", "0x1000", "4kb", "0", "none"]),
    ("blocksize", &["4KiB", "64k"]),
    ("bsrange", &["1k-4k", "1k-4k,8k-32k", "1k:4k"]),
    ("size", &["1m", "64k", "20%", "1g", "2T", "1048576", "100%"]),
    ("io_size", &["1m", "50%"]),
    ("io_limit", &["3m"]),
    ("offset", &["4k", "10%"]),
    ("filesize", &["1m", "1m-2m", "512k"]),
    ("iodepth", &["1", "8", "256", "four"]),
    ("iodepth_batch_submit", &["2", "0"]),
    ("iodepth_batch_complete_min", &["1", "4"]),
    ("iodepth_low", &["2"]),
    ("numjobs", &["1", "4", "16"]),
    ("nrfiles", &["1", "5"]),
    ("openfiles", &["3"]),
    ("runtime", &["10", "10s", "1m", "500ms", "2h"]),
    ("timeout", &["5"]),
    ("ramp_time", &["2", "2s"]),
    ("startdelay", &["1", "1-3"]),
    ("time_based", &["", "1", "0"]),
    // fio takes any number for a switch; here only 0 and 1 are taken, so no other is tried.
    ("thread", &["", "1", "0"]),
    ("stonewall", &[""]),
    ("wait_for_previous", &[""]),
    ("new_group", &[""]),
    ("group_reporting", &["", "1"]),
    ("norandommap", &["", "1"]),
    ("direct", &["0", "1", "2", ""]),
    ("invalidate", &["0", "1"]),
    ("loops", &["1", "3"]),
    ("ioengine", &["psync", "sync", "libaio", "io_uring", "null", "mmap", "posixaio"]),
    ("fsync", &["0", "32"]),
    ("fdatasync", &["8"]),
    ("end_fsync", &["1"]),
    ("sync", &["0", "1", "none", "dsync"]),
    ("rwmixread", &["70", "0", "100", "101"]),
    ("rwmixwrite", &["30"]),
    ("filename", &["/tmp/fathom-x", "a:b", "/tmp/with space"]),
    ("filename_format", &["$jobname.$jobnum.$filenum", "f.$jobnum"]),
    ("description", &["a job", "it's; cut", "x=y"]),
    ("file_service_type", &["roundrobin", "sequential", "random:4"]),
    ("lockfile", &["none", "exclusive"]),
    ("unlink", &["0"]),
    ("fallocate", &["none", "native", "keep"]),
    ("refill_buffers", &["", "1"]),
    ("scramble_buffers", &["0"]),
    ("zero_buffers", &[""]),
    ("kb_base", &["1024", "1000", "1"]),
    ("unit_base", &["0", "8"]),
    ("cpus_allowed_policy", &["shared", "split"]),
    ("randrepeat", &["0", "1"]),
    ("rate", &["1m", "1m,2m", "500k,"]),
    ("rate_iops", &["100", "100,200"]),
    ("thinktime", &["100", "1ms"]),
    ("percentile_list", &["50:99:99.9"]),
    ("bssplit", &["4k/50:8k/50", "4k/10:64k/50:32k/40"]),
    ("userspace_reap", &["", "1"]),
    ("fixedbufs", &["", "1"]),
    ("sqthread_poll", &["1"]),
    ("iodeph", &["1"]),
    ("no such option", &["1", ""]),
];

fn setting(dice: &mut Seeded) -> String {
    let (name, values) = POOL[dice.below(POOL.len())];
    // The last value of a list is often the wrong one; most files have to be right.
    let last = if dice.below(4) == 0 { values.len() } else { values.len().max(2) - 1 };
    let value = values[dice.below(last)];
    let indent = ["", "", "  ", "\t"][dice.below(4)];
    let equals = if dice.below(12) == 0 { " =" } else { "=" };
    let tail = ["", "", "", " ; c", "  ", "\t# c=d [x]", ";c"][dice.below(7)];
    match value {
        "" => format!("{indent}{name}{tail}"),
        value => format!("{indent}{name}{equals}{value}{tail}"),
    }
}

fn job_file(seed: u64) -> String {
    let mut dice = Seeded::new(seed);
    let newline = if dice.below(8) == 0 { "\r\n" } else { "\n" };
    let mut text = String::new();
    if dice.below(40) == 0 {
        let _ = write!(text, "{}{newline}", setting(&mut dice));
    }
    for section in 0..=dice.below(4) {
        let name = match dice.below(12) {
            0..4 => "global".to_string(),
            4 => "global_more".to_string(),
            5 => "with space ".to_string(),
            6 => "a]b".to_string(),
            _ => format!("job{section}"),
        };
        let _ = write!(text, "[{name}]{newline}");
        for _ in 0..dice.below(5) {
            let _ = write!(text, "{}{newline}", setting(&mut dice));
            if dice.below(8) == 0 {
                let _ = write!(text, "; between{newline}{newline}");
            }
        }
    }
    text
}

fn fio(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(FIO);
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command.output().unwrap_or_else(|error| panic!("{FIO} is needed for this test: {error}"))
}

fn ours(arguments: &[&str], texts: &Texts) -> Result<Action, String> {
    let arguments: Vec<String> = arguments.iter().map(|word| word.to_string()).collect();
    match parse(&arguments, Dialect::Fio, texts) {
        Ok(invocation) => Ok(invocation.action),
        Err(errors) => Err(errors.to_string()),
    }
}

#[test]
fn generated_files_are_accepted_and_shown_as_fio_does() {
    compare(0..FILES / 2);
}

#[test]
fn more_generated_files_are_accepted_and_shown_as_fio_does() {
    compare(FILES / 2..FILES);
}

/// Every file of these seeds through both programs.
fn compare(seeds: Range<u64>) {
    let directory = tempfile::tempdir().unwrap();
    let (mut accepted, mut rejected, mut wrong) = (0, 0, String::new());
    for seed in seeds {
        let text = job_file(seed);
        std::fs::write(directory.path().join("quick.fio"), &text).unwrap();
        let texts = Texts::one(text.clone());
        // fio exits alike with --parse-only and --showcmd; every tenth file shows that it does.
        let theirs = fio(&["--showcmd", "quick.fio"], directory.path());
        if seed % 10 == 0 {
            let parsed = fio(&["--parse-only", "quick.fio"], directory.path());
            assert_eq!(parsed.status, theirs.status, "{text}");
        }
        let mine = ours(&["--parse-only", "quick.fio"], &texts);
        let said = String::from_utf8_lossy(&theirs.stderr);
        match (theirs.status.success(), &mine) {
            (false, Err(_)) => rejected += 1,
            (true, Ok(_)) => {
                accepted += 1;
                let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
                let mine = ours(&["--showcmd", "quick.fio"], &texts);
                if mine != Ok(Action::ShowCmd(theirs.clone())) {
                    let _ = writeln!(wrong, "--- {seed}\n{text}fio: {theirs}\nfathom: {mine:?}");
                }
            }
            _ => {
                let _ = writeln!(wrong, "--- {seed}\n{text}fio: {said}\nfathom: {mine:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(accepted > 50 && rejected > 25, "the files say little: {accepted} and {rejected}");
}

#[test]
fn several_files_and_sections_are_shown_as_fio_does() {
    let directory = tempfile::tempdir().unwrap();
    let mut texts = Texts::default();
    for (name, text) in [
        ("a.fio", "[global]\nbs=8k\n[a]\nsize=1m\n[b]\nsize=2m\ninclude i.fio\n"),
        ("c.fio", "[c]\nsize=64k\n[b]\nrw=write\n"),
        ("i.fio", "thread=1\nsize=3m ; x\n"),
        ("g.fio", "[global]\n"),
        ("e.fio", ""),
    ] {
        std::fs::write(directory.path().join(name), text).unwrap();
        texts = texts.file(name, text);
    }
    for line in [
        "--showcmd a.fio c.fio",
        "a.fio --showcmd --bs=2k c.fio",
        "--bs=2k --showcmd c.fio a.fio",
        "--showcmd --bs=2k --numjobs=2 a.fio",
        // With several files fio forgets --section after the first; here it holds for all.
        "--section=b --showcmd c.fio",
        "--showcmd --section b a.fio e.fio g.fio",
        "--name=x --bs=1k --showcmd a.fio",
        "--showcmd -- a.fio",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let theirs = fio(&words, directory.path());
        let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
        assert_eq!(ours(&words, &texts), Ok(Action::ShowCmd(theirs)), "{line}");
    }
}

#[test]
fn command_lines_are_accepted_as_fio_does() {
    let directory = tempfile::tempdir().unwrap();
    let texts = Texts::default().file("a.fio", "[a]\nsize=1m\n");
    std::fs::write(directory.path().join("a.fio"), "[a]\nsize=1m\n").unwrap();
    for line in [
        "--name=x --size=1m",
        "-name x -size 1m -rw=randread",
        "--name=x --size=",
        "--name=x --thread a.fio",
        "--name=x --thread 1",
        "--name=x --iodep=4",
        "--name=x --numj=4",
        "--name=x --iodeph=4",
        "--name=x --bs=zz",
        "--output-format=json,normal --name=x",
        "--output-format=json,bogus",
        "--output-f json",
        "--terse-version=9",
        "--eta-newline=x",
        "--eta=always a.fio",
        "--readonly=1",
        "--name=x --hipri --ioengine=io_uring",
        "--name=x --ioengine=io_uring --hipri",
        "--name=x --ioengine=libaio --userspace_reap --name=y --userspace_reap",
        "-- --name=x",
        "missing.fio",
        "a.fio bs=4k",
        "--name=",
        "--runtime=5 a.fio",
        "a.fio --runtime 5",
        "--max-jobs=5 -r -m a.fio",
    ] {
        let words: Vec<&str> = ["--parse-only"].into_iter().chain(line.split(' ')).collect();
        let theirs = fio(&words, directory.path());
        let mine = ours(&words, &texts);
        let said = String::from_utf8_lossy(&theirs.stderr).into_owned();
        assert_eq!(mine.is_ok(), theirs.status.success(), "{line}: {mine:?}; fio: {said}");
    }
}

#[test]
fn keywords_and_variables_expand_as_in_fio() {
    let directory = tempfile::tempdir().unwrap();
    let shown = |text: &str| {
        std::fs::write(directory.path().join("k.fio"), text).unwrap();
        let mut command = Command::new(FIO);
        command.args(["--showcmd", "k.fio"]).current_dir(directory.path()).env("FATHOM_K", "4k");
        let output = command.output().unwrap_or_else(|error| panic!("{FIO} is needed: {error}"));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // fio itself says what the keywords stand for on this machine.
    let number = |keyword: &str| -> u64 {
        let text = shown(&format!("[a]\nname={keyword}\n"));
        text.rsplit_once('=').unwrap().1.trim().parse().unwrap()
    };
    let keywords = Keywords {
        page_size: number("$pagesize"),
        memory_mib: number("$mb_memory"),
        cpus: number("$ncpus"),
        place: None,
    };
    for value in [
        "$pagesize",
        "8*$pagesize",
        "(8*$pagesize)",
        "$ncpus*4",
        "2*$mb_memory",
        "$mb_memoryk",
        "$pagesize/3",
        "$pagesize-4",
        "($ncpus+1)*2",
        "2^$ncpus",
        "$pagesize%7",
        "x$pagesize.$ncpus",
        "8*1024",
        "$jobname",
        "${FATHOM_K}x",
        "${FATHOM_NONE}x",
        "a${FATHOM_K}${FATHOM_K}",
        "$ {x}",
        "${FATHOM_K",
        "-$ncpus+5",
        "2*(3+$ncpus)*4-1",
    ] {
        let theirs = shown(&format!("[a]\nname={value}\n"));
        let mut texts = Texts::one(format!("[a]\nname={value}\n"));
        texts.variables.insert("FATHOM_K".into(), "4k".into());
        texts.keywords = keywords.clone();
        assert_eq!(
            ours(&["--showcmd", "quick.fio"], &texts),
            Ok(Action::ShowCmd(theirs)),
            "{value}"
        );
    }
}

/// The lists of options in fio's JSON whose key is `key`, in order.
fn listed(json: &str, key: &str) -> Vec<Vec<(String, String)>> {
    let mut lists = Vec::new();
    let mut lines = json.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with(&format!("\"{key}\" : {{")) {
            let inside = lines.by_ref().take_while(|line| !line.trim_start().starts_with('}'));
            let pair = |line: &str| {
                let words: Vec<&str> = line.split('"').collect();
                (words[1].to_string(), words[3].to_string())
            };
            lists.push(inside.filter(|line| line.contains('"')).map(pair).collect());
        }
    }
    lists
}

#[test]
fn options_as_typed_are_those_of_fios_json() {
    let directory = tempfile::tempdir().unwrap();
    let mut texts = Texts::default();
    for (name, text) in [
        (
            "a.fio",
            "[global]\nioengine=null\nblocksize=8k\nsize=16k\nthread\n[a]\nreadwrite=read\n\
             filename=xx\nstonewall\nkb_base=1024\nthread=1\n[global]\nbs=4k\n[b]\ntime_based=0\n",
        ),
        ("c.fio", "[c]\nioengine=null\nsize=8k\nlockfile=none\n"),
    ] {
        std::fs::write(directory.path().join(name), text).unwrap();
        texts = texts.file(name, text);
    }
    for line in [
        "a.fio",
        "--bs=2k a.fio c.fio",
        "c.fio a.fio --numjobs=1",
        "--ioengine=null --size=4k --name=x --thread --description=y --name=global --bs=1k --name=z",
        "--name=x --ioengine=null --blocksize=1k --size=4k c.fio",
    ] {
        let words: Vec<&str> =
            ["--output-format=json"].into_iter().chain(line.split(' ')).collect();
        let json = fio(&words, directory.path());
        let json = String::from_utf8_lossy(&json.stdout).into_owned();
        let words: Vec<String> = line.split(' ').map(Into::into).collect();
        let ours = parse(&words, Dialect::Fio, &texts).unwrap();
        // The oracle's version leaves out options without a value; 3.42 does not.
        let with_value = |options: &[(String, String)]| -> Vec<_> {
            options.iter().filter(|(_, value)| !value.is_empty()).cloned().collect()
        };
        let own: Vec<_> = ours.jobs.iter().map(|job| with_value(&job.options.own)).collect();
        assert_eq!(own, listed(&json, "job options"), "{line}");
        let global = listed(&json, "global options").pop().unwrap_or_default();
        assert_eq!(with_value(&ours.global_options), global, "{line}");
    }
}
