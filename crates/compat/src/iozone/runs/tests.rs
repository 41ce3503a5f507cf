use super::super::{Request, parse};
use super::*;
use job::{Dialect, Inputs, Keywords};

struct Nothing;

impl Inputs for Nothing {
    fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        Err(std::io::Error::other(path.to_owned()))
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
    fn keywords(&self) -> Keywords {
        Keywords { page_size: 4096, memory_mib: 1024, cpus: 2, place: None }
    }
}

const CONTEXT: RunContext = RunContext { cpus: 2, seed: 7 };

#[track_caller]
fn call(line: &str) -> IozoneCommand {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    match parse(&words) {
        Ok(Request::Run(call)) => *call,
        other => panic!("{line}: {other:?}"),
    }
}

fn steps_of(line: &str) -> Vec<Step> {
    let call = call(line);
    tasks(&call).iter().enumerate().map(|(index, task)| step(&call, CONTEXT, task, index)).collect()
}

/// Options that begin with one of these, of a step.
fn only(step: &Step, names: &[&str]) -> String {
    let wanted = |argument: &&String| {
        let name = argument.trim_start_matches("--").split('=').next().unwrap();
        names.contains(&name)
    };
    step.arguments
        .iter()
        .filter(wanted)
        .map(|a| a.trim_start_matches("--"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_seeds_line_as_jobs() {
    let steps = steps_of("-s 4096 -r 32 -f /t/testio -I -o");
    assert_eq!(steps.len(), 13);
    assert_eq!(
        steps[0].arguments.join(" "),
        "--name=write-4096k-32k --filename=/t/testio --rw=write --bs=32768 --size=4194304 \
         --ioengine=sync --iodepth=1 --direct=1 --sync=sync --invalidate=0 --fadvise_hint=0 \
         --fallocate=none --randseed=3 --percentile_list=50:99:99.9"
    );
    let shown =
        ["rw", "bs", "sequential_order", "ioengine", "direct", "sync", "random_distribution"];
    let all: Vec<String> = steps.iter().map(|step| only(step, &shown)).collect();
    assert_eq!(
        all,
        [
            "rw=write bs=32768 ioengine=sync direct=1 sync=sync",
            "rw=write bs=32768 ioengine=sync direct=1 sync=sync",
            "rw=read bs=32768 ioengine=sync direct=1",
            "rw=read bs=32768 ioengine=sync direct=1",
            "rw=randread bs=32768 ioengine=sync direct=1",
            "rw=randwrite bs=32768 ioengine=sync direct=1 sync=sync",
            "rw=read bs=32768 sequential_order=descending ioengine=sync direct=1",
            "rw=randwrite bs=32768 random_distribution=sequence:0 ioengine=sync direct=1 sync=sync",
            "rw=read bs=32768 sequential_order=interleaved:17 ioengine=sync direct=1",
            "rw=write bs=32768 ioengine=sync direct=0",
            "rw=write bs=32768 ioengine=sync direct=0",
            "rw=read bs=32768 ioengine=sync direct=0",
            "rw=read bs=32768 ioengine=sync direct=0",
        ]
    );
    let removing: Vec<&str> = steps
        .iter()
        .filter(|step| step.arguments.contains(&"--unlink=1".to_owned()))
        .map(|step| step.cell.name.as_str())
        .collect();
    assert_eq!(removing, ["freread-4096k-32k"], "fwrite writes what is there again");
}

#[test]
fn every_job_is_one_that_can_be_read() {
    for line in [
        "-a -g 128 -q 16 -e",
        "-t 2 -d 5 -P 1 -C",
        "-i 0 -i 9 -i 10 -i 11 -i 12 -+D",
        "-i 0 -B -+A 1",
        "-i 0 -i 1 -i 2 -k 4 -I",
        "-i 0 -i 1 -V 170 -W -J 1 -+q 2 -Q -U /mnt",
        "-i 0 -+w 30",
        "-t 2 -i 0 -i 8 -+B -+p 70 -+V -+k",
    ] {
        for step in steps_of(line) {
            let parsed = job::parse(&step.arguments, Dialect::Fathom, &Nothing);
            let invocation = parsed.unwrap_or_else(|errors| panic!("{line}: {errors}"));
            let processes = if line.starts_with("-t") { 2 } else { 1 };
            assert_eq!(invocation.jobs.len(), processes, "{line}");
            assert!(invocation.warnings.is_empty(), "{line}: {:?}", invocation.warnings);
        }
    }
}

#[test]
fn files_of_others_are_neither_made_nor_removed() {
    let steps = steps_of("-i 1 -i 2");
    assert_eq!(call("-i 1 -i 2").needs(), Some(512));
    for step in &steps {
        assert!(step.arguments.contains(&"--allow_file_create=0".to_owned()), "{step:?}");
        assert!(!step.arguments.contains(&"--unlink=1".to_owned()), "{step:?}");
    }
    assert_eq!(call("-i 0 -i 1").needs(), None);
    assert!(call("-i 2").writes() && !call("-i 1").writes());
}

#[test]
fn kept_files_are_not_removed_at_the_end() {
    let last = |line: &str| steps_of(line).pop().unwrap();
    assert_eq!(only(&last("-i 0"), &["unlink"]), "unlink=1");
    assert_eq!(only(&last("-i 0 -w"), &["unlink"]), "");
    let two = steps_of("-i 0 -r 4 -r 8 -w -+n");
    assert_eq!(only(&two[0], &["unlink"]), "unlink=1", "the next file is a new one");
    let untruncated = steps_of("-i 0 -r 4 -r 8 -w -+n -+N");
    assert_eq!(only(&untruncated[0], &["unlink"]), "");
    let cells = steps_of("-i 6 -r 4 -r 8 -+n");
    assert_eq!(only(&cells[0], &["unlink", "overwrite"]), "unlink=1", "a file for each pair");
}

#[test]
fn processes_have_their_files_and_end_together() {
    let steps = steps_of("-t 2 -i 0 -s 64 -d 5 -P 1");
    assert_eq!(steps.len(), 2, "initial writers and rewriters");
    let shown = ["name", "filename", "exitall", "startdelay", "cpus_allowed", "overwrite"];
    assert_eq!(
        only(&steps[1], &shown),
        "name=rewrite-64k-4k-2p.0 filename=iozone.DUMMY.0 overwrite=1 exitall cpus_allowed=1 \
         name=rewrite-64k-4k-2p.1 filename=iozone.DUMMY.1 overwrite=1 exitall startdelay=5us cpus_allowed=0"
    );
    assert_eq!(only(&steps_of("-t 2 -i 0 -x")[0], &["exitall"]), "");
    let counts = steps_of("-l 1 -u 3 -i 0 -+n");
    assert_eq!(
        counts.iter().map(|s| only(s, &["filename"]).split(' ').count()).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    let divided = steps_of("-t 2 -i 0 -+n -s 64 -+k");
    assert_eq!(only(&divided[0], &["size"]), "size=32768 size=32768");
}

#[test]
fn one_of_those_that_share_a_file_removes_it() {
    let steps = steps_of("-t 2 -i 0 -+n -+V");
    assert_eq!(
        only(&steps[0], &["filename", "unlink"]),
        "filename=iozone.DUMMY.0 unlink=1 filename=iozone.DUMMY.0"
    );
}

#[test]
fn stdio_has_a_buffer_of_a_record_and_files_are_whole_records() {
    let of = |line: &str| only(&steps_of(line)[0], &["bs", "size"]);
    assert_eq!(of("-i 6 -r 1 -s 64"), "bs=1024 size=65536");
    assert_eq!(of("-i 0 -r 3 -s 64"), "bs=3072 size=64512", "whole records only");
}

#[test]
fn cells_say_where_in_the_grid_they_are() {
    let of = |line: &str| steps_of(line).pop().unwrap().cell;
    let cell = of("-i 0 -+n -s 4096 -r 32");
    let at: Vec<(&str, &str)> =
        cell.at.iter().map(|at| (at.dimension.as_str(), at.value.as_str())).collect();
    assert_eq!(at, [("file_kb", "4096"), ("record_kb", "32"), ("operation", "write")]);
    assert_eq!(key(&cell), Some((Operation::Write, 4096, 32, None)));
    let processes = of("-i 0 -+n -s 64 -t 12");
    assert_eq!(processes.at[3].dimension, "threads");
    assert_eq!(key(&processes), Some((Operation::Write, 64, 4, Some(12))));
    assert_eq!(key(&Cell::default()), None);
    let mut odd = cell;
    odd.at[0].value = "x".into();
    assert_eq!(key(&odd), None);
}

#[test]
fn a_run_that_fails_or_is_interrupted_is_the_last() {
    let mut suite = Iozone::new(&call("-i 0 -i 1"), CONTEXT);
    assert!(suite.expected().left > Nanos::from_millis(200));
    assert!(suite.next().is_some());
    suite.completed(&RunRecord { interrupted_by: Some(2), ..RunRecord::default() });
    assert!(suite.next().is_none() && suite.failed().is_none());
    let mut suite = Iozone::new(&call("-i 0 -i 1"), CONTEXT);
    suite.completed(&RunRecord::default());
    assert!(suite.next().is_none() && suite.failed().is_some(), "nothing ran");
}
