//! `fathom ior`, from end to end.

use crate::common::*;
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

#[track_caller]
fn ior(directory: &Path, line: &str) -> Ran {
    let mut command = Command::new(FATHOM);
    command.arg("ior").args(line.split_whitespace()).current_dir(directory);
    run(&mut command)
}

/// The cells of the rows of an access.
fn rows<'a>(ran: &'a Ran, access: &str) -> Vec<Vec<&'a str>> {
    let results = ran.out.split("\nResults:").nth(1).expect(&ran.out);
    let table = results.split("\nSummary of all tests:").next().unwrap();
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.first() == Some(&access)).collect()
}

/// The stamps of a file that was written with `-G 255`, each with its place.
fn stamps(path: &Path, transfer: usize) -> Vec<u64> {
    let content = fs::read(path).unwrap();
    let stamp = |transfer: &[u8]| {
        assert_eq!(transfer[..4], [0, 0, 0, 255]);
        u64::from_le_bytes(transfer[4..12].try_into().unwrap())
    };
    content.chunks(transfer).map(stamp).collect()
}

#[test]
fn a_shared_file_is_written_and_read_whole_and_removed() {
    let directory = scratch();
    let at = directory.path();
    let line = "-N 2 -b 64k -t 16k -s 3 -e -i 2 -v --record=r.json";
    let ran = ior(at, line).expect(0);
    for access in ["write", "read", "remove"] {
        assert_eq!(rows(&ran, access).len(), 2, "{access}: {}", ran.out);
    }
    let row = &rows(&ran, "write")[1];
    assert_eq!((row.len(), row[4], row[5], row[10]), (11, "64.00", "16.00", "1"), "{row:?}");
    let number = |index: usize| row[index].parse::<f64>().unwrap();
    let sum = number(6) + number(7) + number(8);
    assert!((sum - number(9)).abs() < 1e-5, "{row:?}");
    let bandwidth = 384.0 / 1024.0 / number(9);
    assert!((number(1) / bandwidth - 1.0).abs() < 0.01, "{row:?}");
    for text in
        ["\ntasks               : 2\n", "aggregate filesize  : 393216 bytes\n", "\nMax Write: "]
    {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    assert_eq!(names(at), ["r.json"], "the file is gone");
    let set = formats::load_set(&at.join("r.json")).unwrap();
    assert_eq!((set.kind.as_str(), set.runs.len()), ("ior", 4));
    for run in &set.runs {
        let moved = |job: &record::JobRecord| job.results.read.bytes.0 + job.results.write.bytes.0;
        assert_eq!(run.jobs.iter().map(moved).collect::<Vec<_>>(), [192 << 10; 2]);
        assert!(run.jobs.iter().all(|job| job.opening.is_some() && job.closing.is_some()));
    }
}

#[test]
fn transfers_lie_where_iors_do() {
    let directory = scratch();
    let at = directory.path();
    ior(at, "-w -k -G 255 -N 3 -b 8k -t 4k -s 2 -o shared --no-archive").expect(0);
    assert_eq!(stamps(&at.join("shared"), 4096), (0..12).map(|n| n * 4096).collect::<Vec<_>>());
    ior(at, "-w -k -G 255 -N 2 -F -z -b 16k -t 4k -s 2 -o own --no-archive").expect(0);
    for name in ["own.00000000", "own.00000001"] {
        assert_eq!(stamps(&at.join(name), 4096), (0..8).map(|n| n * 4096).collect::<Vec<_>>());
    }
    ior(at, "-w -k -G 255 -N 3 -z -b 16k -t 4k -s 2 -o dealt --no-archive").expect(0);
    assert_eq!(stamps(&at.join("dealt"), 4096), (0..24).map(|n| n * 4096).collect::<Vec<_>>());
}

/// Offsets of the calls on a file, by task, as strace saw them.
fn traced(directory: &Path, line: &str, call: &str) -> Vec<Vec<u64>> {
    let mut command = Command::new("strace");
    let calls = format!("trace={call}");
    command.args(["-ff", "-y", "-qq", "-e", &calls, "-o", "trace", FATHOM, "ior"]);
    run(command.args(line.split_whitespace()).current_dir(directory)).expect(0);
    let mut tasks = Vec::new();
    for name in names(directory).iter().filter(|name| name.starts_with("trace.")) {
        let text = fs::read_to_string(directory.join(name)).unwrap();
        let ours =
            text.lines().filter(|line| line.contains("/target>") && line.ends_with("= 4096"));
        let offset = |line: &str| line.rsplit_once(')')?.0.rsplit(", ").next()?.parse().ok();
        let offsets: Vec<u64> = ours.filter_map(offset).collect();
        tasks.extend((!offsets.is_empty()).then_some(offsets));
        fs::remove_file(directory.join(name)).unwrap();
    }
    tasks.sort();
    tasks
}

#[test]
fn each_task_makes_the_calls_of_its_blocks_in_order() {
    let directory = scratch();
    let at = directory.path();
    let line = "-w -k -N 2 -b 8k -t 4k -s 3 -o target --no-archive";
    let expected =
        [[0, 4096, 16384, 20480, 32768, 36864], [8192, 12288, 24576, 28672, 40960, 45056]];
    assert_eq!(traced(at, line, "pwrite64"), expected);
    assert_eq!(traced(at, &line.replace("-w -k", "-r"), "pread64"), expected);
}

#[test]
fn wrong_data_is_found_and_counted_as_an_error() {
    let directory = scratch();
    let at = directory.path();
    let sizes = "-N 2 -b 8k -t 4k -o data --no-archive -G 255";
    ior(at, &format!("-w -W -k {sizes}")).expect(0);
    ior(at, &format!("-r -R {sizes}")).expect(0);
    let path = at.join("data");
    let mut content = fs::read(&path).unwrap();
    content[9000] ^= 1;
    fs::write(&path, content).unwrap();
    let ran = ior(at, &format!("-r -R {sizes}")).expect(1);
    assert!(ran.err.contains("read-0"), "{}", ran.err);
    assert_eq!(names(at), ["data"], "a file that is only read stays");
}

#[test]
fn a_deadline_ends_writes_and_reads_take_what_was_written() {
    for order in ["-F", "-s 2", "-F -z", "-z -w -R"] {
        let directory = scratch();
        let at = directory.path();
        let line = "-N 2 -b 4m -t 64k -D 1 -O interIODelay=100000 --record=r.json --no-archive";
        let ran = ior(at, &format!("{line} {order}")).expect(0);
        let set = formats::load_set(&at.join("r.json")).unwrap();
        let [write, read] = &set.runs[..] else { panic!("{order}: {}", set.runs.len()) };
        for (written, read) in write.jobs.iter().zip(&read.jobs) {
            let (written, read) = (written.results.write.ios, read.results.read.ios);
            assert!(written > 0 && written < 20 && read <= written, "{order}: {written} {read}");
        }
        assert!(ran.out.contains("stonewallingTime    : 1\n"), "{}", ran.out);
        assert!(ran.out.contains("  stonewall "), "{}", ran.out);
        assert_eq!(names(at), ["r.json"], "{order}");
    }
}

#[test]
fn wear_out_brings_a_slow_task_to_the_count_of_the_fast_one_and_a_later_read_takes_it() {
    let directory = scratch();
    let at = directory.path();
    let fast = Mounted::new(&["-t", "tmpfs"], "tmpfs", at.join("memory"));
    // Each write is synchronised, which costs nothing in memory.
    let files = format!("-N 2 -F -b 4m -t 4k -G 255 -o {}/own@own", fast.path().display());
    let ended = "-D 1 -O interIODelay=2000,stoneWallingWearOut=1,stoneWallingStatusFile=count";
    let ran = ior(at, &format!("{files} -w -k -Y {ended} --record=r.json --no-archive")).expect(0);
    let set = formats::load_set(&at.join("r.json")).unwrap();
    let [write, rest] = &set.runs[..] else { panic!("{} runs: {}", set.runs.len(), ran.out) };
    let written = |run: &record::RunRecord| -> Vec<(String, u64)> {
        run.jobs.iter().map(|job| (job.name.clone(), job.results.write.ios)).collect()
    };
    let [(_, fastest), (_, slowest)] = &written(write)[..] else { panic!("{:?}", written(write)) };
    assert!(*slowest > 0 && slowest < fastest && *fastest < 1024, "{slowest} {fastest}");
    assert_eq!(written(rest), [("task.1".to_owned(), fastest - slowest)]);
    assert_eq!(fs::read_to_string(at.join("count")).unwrap(), format!("{fastest}\n"));
    let expected: Vec<u64> = (0..*fastest).map(|transfer| transfer * 4096).collect();
    for path in [fast.path().join("own.00000000"), at.join("own.00000001")] {
        assert_eq!(stamps(&path, 4096), expected);
    }
    let [row] = &rows(&ran, "write")[..] else { panic!("one row for both runs: {}", ran.out) };
    let number = |index: usize| row[index].parse::<f64>().unwrap();
    let seconds = |run: &record::RunRecord| {
        let began = run.jobs.iter().map(|job| job.started).min().unwrap();
        (run.jobs.iter().map(|job| job.ended).max().unwrap() - began).seconds()
    };
    assert!((number(7) - seconds(write) - seconds(rest)).abs() < 0.01, "{row:?}");
    let mebibytes = *fastest as f64 * 2.0 / 256.0;
    assert!((number(1) * number(9) / mebibytes - 1.0).abs() < 0.01, "{row:?}");
    assert!(ran.out.contains("stoneWallingWearOut : 1\n"), "{}", ran.out);
    assert!(joined(&ran.out).contains("the tasks behind the fastest took"), "{}", ran.out);
    let read =
        format!("{files} -r -R -O stoneWallingStatusFile=count --record=r2.json --no-archive");
    ior(at, &read).expect(0);
    let set = formats::load_set(&at.join("r2.json")).unwrap();
    let read = set.runs[0].jobs.iter().map(|job| job.results.read.ios);
    assert_eq!(read.collect::<Vec<_>>(), [*fastest; 2]);
    fs::write(at.join("count"), "many").unwrap();
    let line = format!("{files} -r -O stoneWallingStatusFile=count --no-archive");
    assert!(ior(at, &line).expect(2).err.contains("count holds no number"));
    let line = line.replace("=count", "=nothing");
    assert!(ior(at, &line).expect(2).err.contains("nothing: cannot be read"));
}

#[test]
fn every_way_of_access_runs() {
    let directory = scratch();
    let at = directory.path();
    for line in [
        "-a MMAP -w -R -G 7 -b 64k -t 4k",
        "-B -q -x -j 3 -b 64k -t 4k -l o -A 7 -X -1",
        "-a AIO --aio.max-pending=4 --posix.odirect -b 64k -t 4k -N 2",
        "-N 3 -F -u -m -i 2 -ZZ -b 64k -t 4k -o d",
        "-N 2 -F -zz -Y -l r -b 64k -t 4k",
        "-N 4 -C -Q 2 -g -E -b 64k -t 16k -K -T 1",
    ] {
        let ran = ior(at, &format!("{line} --no-archive")).expect(0);
        assert!(!rows(&ran, "write").is_empty() && !rows(&ran, "read").is_empty(), "{}", ran.out);
        assert!(names(at).is_empty(), "{line}: {:?}", names(at));
    }
}

#[test]
fn cached_reads_and_a_shift_without_effect_are_said() {
    let directory = scratch();
    let ran = ior(directory.path(), "-N 2 -C -b 1m --no-archive").expect(0);
    assert!(ran.err.contains("-C: all tasks are on one host"), "{}", ran.err);
    let below = ran.out.split("What these figures leave out").nth(1).expect(&ran.out);
    let below = below.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(below.contains("1 of 1 read phases were answered by the page cache"), "{below}");
    assert!(below.contains("Nothing was synchronised"), "{below}");
    assert!(below.contains("all transfers write the same bytes"), "{below}");
}

#[test]
fn json_and_csv_are_alone_on_standard_output() {
    let directory = scratch();
    let at = directory.path();
    let ran = ior(at, "-b 64k -t 16k -O summaryFormat=JSON --no-archive").expect(0);
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(all["tests"][0]["Results"].as_array().unwrap().len(), 2);
    assert_eq!(all["summary"][1]["operation"], "read");
    let ran =
        ior(at, "-b 64k -t 16k -O summaryFormat=CSV,summaryFile=out.csv --no-archive").expect(0);
    assert_eq!(ran.out, "");
    let csv = fs::read_to_string(at.join("out.csv")).unwrap();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.starts_with("access,bw(MiB/s),IOPS,"), "{csv}");
}

#[test]
fn files_with_data_and_ranks_without_a_launcher_are_refused() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("precious"), "data").unwrap();
    let ran = ior(at, "-o precious --no-archive").expect(3);
    assert!(ran.err.contains("--allow-destroy=precious"), "{}", ran.err);
    assert_eq!(fs::read(at.join("precious")).unwrap(), b"data");
    ior(at, "-o precious --allow-destroy=precious --no-archive").expect(0);
    assert!(names(at).is_empty());
    ior(at, "-r -o missing --no-archive").expect(2);
    ior(at, "-o no/such/file --no-archive").expect(2);
    ior(at, "-F -u -o no/file --no-archive").expect(2);
    let mut command = Command::new(FATHOM);
    command.args(["ior", "--no-archive"]).env("OMPI_COMM_WORLD_SIZE", "4").current_dir(at);
    // Ranks without a launcher are none.
    let ran = run(&mut command).expect(1);
    assert!(ran.err.contains("it is not the library of this launcher"), "{}", ran.err);
    assert!(names(at).is_empty());
}

#[test]
fn a_link_named_ior_is_ior() {
    let directory = scratch();
    let ran =
        run(Command::new(FATHOM).arg0("ior").arg("-h").current_dir(directory.path())).expect(0);
    assert!(ran.out.starts_with("Usage: fathom ior "), "{}", ran.out);
}
