//! `fathom iozone`, from end to end.

use crate::common::*;
use compat::iozone::{IozoneCommand, Operation, Source, conclude};
use rustix::process::Signal;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

#[track_caller]
fn iozone(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(FATHOM);
    run(command.arg("iozone").args(arguments).current_dir(directory))
}

/// The numbers of the first table's rows.
fn rows(ran: &Ran) -> Vec<Vec<u64>> {
    let end = ran.out.find("iozone test complete.").expect(&ran.out);
    let rows = ran.out[..end].lines().map(|line| {
        line.split_whitespace().map(|field| field.parse().ok()).collect::<Option<Vec<u64>>>()
    });
    rows.flatten().filter(|row| !row.is_empty()).collect()
}

#[test]
fn the_seeds_line_has_the_thirteen_figures_and_leaves_nothing() {
    let directory = scratch();
    let at = directory.path();
    let line = ["-s", "1024", "-r", "32", "-f", "testio", "-I", "-o", "-M", "--record=r.json"];
    let ran = iozone(at, &line).expect(0);
    let [row] = &rows(&ran)[..] else { panic!("{}", ran.out) };
    assert_eq!((row.len(), row[0], row[1]), (15, 1024, 32), "{}", ran.out);
    assert!(row.iter().all(|figure| *figure > 0), "{row:?}");
    assert!(ran.out.contains("\tMachine = Linux "), "{}", ran.out);
    assert!(ran.out.contains("\tCommand line used: iozone -s 1024 -r 32"), "{}", ran.out);
    assert_eq!(names(at), ["r.json"], "the file is gone");
    let set = formats::load_set(&at.join("r.json")).unwrap();
    assert_eq!((set.kind.as_str(), set.runs.len()), ("iozone", 13));
    let moved = |run: &record::RunRecord| {
        let job = &run.jobs[0];
        job.results.read.bytes.0 + job.results.write.bytes.0
    };
    assert!(set.runs.iter().all(|run| moved(run) == 1 << 20), "each moved the whole file");
    let conclusion = conclude(&IozoneCommand::default(), &set);
    let source = |operation| {
        let figure = conclusion.figures.iter().find(|figure| figure.operation == operation);
        figure.unwrap().source
    };
    assert_eq!(source(Operation::Rewrite), Source::Storage);
    assert_eq!(source(Operation::Freread), Source::Memory, "stdio knows no O_DIRECT");
    assert!(ran.out.contains("of 13 figures are of memory"), "{}", ran.out);
}

#[test]
fn direct_figures_of_a_small_file_are_not_those_of_a_cache() {
    for _ in 0..3 {
        let directory = scratch();
        let line = ["-i", "0", "-i", "1", "-s", "4096", "-r", "32", "-I", "--no-record"];
        let ran = iozone(directory.path(), &line).expect(0);
        assert!(ran.out.contains("limited by: "), "{}", ran.out);
        for wrong in ["limited by: cache", "[served-from-cache]", "are of memory"] {
            assert!(!ran.out.contains(wrong), "{}", ran.out);
        }
    }
}

#[test]
fn buffered_figures_are_marked_as_those_of_memory() {
    let directory = scratch();
    let ran =
        iozone(directory.path(), &["-i", "0", "-i", "1", "-s", "512", "--no-record"]).expect(0);
    assert_eq!(rows(&ran)[0].len(), 6, "{}", ran.out);
    let worth = ran.out.split("What answered").nth(1).unwrap();
    // Data that was just written is read from memory, even if it has been written back.
    for name in ["read ", "reread "] {
        let line = worth.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains(" 512       4   mem "), "{line}");
    }
    assert!(ran.out.ends_with("\nRecord: not kept\n"), "{}", ran.out);
}

#[test]
fn fsync_in_the_time_makes_writes_those_of_storage() {
    let directory = scratch();
    let ran =
        iozone(directory.path(), &["-i", "0", "-e", "-s", "512", "--record=r.json"]).expect(0);
    let set = formats::load_set(&directory.path().join("r.json")).unwrap();
    let sources: Vec<Source> = conclude(&IozoneCommand::default(), &set)
        .figures
        .iter()
        .map(|figure| figure.source)
        .collect();
    assert_eq!(sources, [Source::Storage, Source::Storage], "{}", ran.out);
}

#[test]
fn automatic_mode_goes_through_the_grid() {
    let directory = scratch();
    let line = ["-Ra", "-n", "64", "-g", "128", "-q", "8", "-i0", "-i1", "-+n", "--no-record"];
    let ran = iozone(directory.path(), &line).expect(0);
    let sizes: Vec<(u64, u64)> = rows(&ran).iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(sizes, [(64, 4), (64, 8), (128, 4), (128, 8)], "{}", ran.out);
    assert!(ran.out.contains("\"Reader report\"\n        \"4\"  \"8\" \n\"64\" "), "{}", ran.out);
    assert!(names(directory.path()).is_empty());
}

#[test]
fn every_test_and_every_way_runs() {
    let directory = scratch();
    for line in [
        "-i 0 -i 9 -i 10 -i 11 -i 12 -s 64",
        "-i 0 -i 1 -B -G -s 64",
        "-i 0 -i 1 -i 2 -k 4 -s 64",
        "-i 0 -i 1 -i 2 -i 4 -V 170 -s 64",
        "-i 0 -W -J 1 -s 64 -+q 1 -+n",
        "-i 0 -i 5 -j 3 -s 100 -r 4 -U /",
        "-i 3 -i 0 -s 4 -r 4 -+D -O",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--no-record"]).collect();
        let ran = iozone(directory.path(), &words).expect(0);
        assert!(rows(&ran).len() == 1, "{line}: {}", ran.out);
        assert!(names(directory.path()).is_empty(), "{line}");
    }
}

#[test]
fn throughput_mode_shows_all_processes_together() {
    let directory = scratch();
    let line = ["-t", "2", "-i", "0", "-i", "1", "-i", "8", "-s", "256", "-C", "--no-record"];
    let ran = iozone(directory.path(), &line).expect(0);
    for phase in ["initial writers", "rewriters", "readers", "re-readers", "mixed workload"] {
        let line = format!("\tChildren see throughput for  2 {phase} ");
        assert!(ran.out.contains(&line), "{phase}: {}", ran.out);
    }
    assert_eq!(ran.out.matches("\tChild[1] xfer count = ").count(), 5, "{}", ran.out);
    assert!(names(directory.path()).is_empty());
    let whole = ["-t", "2", "-i", "0", "-x", "-s", "64", "-F", "a", "b", "-w", "--no-record"];
    let ran = iozone(directory.path(), &whole).expect(0);
    assert!(ran.out.contains("=      64.00 kB\n"), "nobody was stopped: {}", ran.out);
    assert_eq!(names(directory.path()), ["a", "b"], "-w keeps them");
}

#[test]
fn kept_files_serve_the_next_call() {
    let directory = scratch();
    let at = directory.path();
    let keep = ["-w", "-s", "64", "-f", "f", "--no-record"];
    iozone(at, &[&["-i", "0"][..], &keep].concat()).expect(0);
    assert_eq!(fs::metadata(at.join("f")).unwrap().len(), 64 << 10);
    let ran = iozone(at, &[&["-i", "1"][..], &keep].concat()).expect(0);
    assert_eq!(rows(&ran)[0].len(), 4, "{}", ran.out);
    iozone(at, &[&["-i", "2"][..], &keep].concat()).expect(0);
    let ran = iozone(at, &["-i", "1", "-s", "128", "-f", "f", "--no-record"]).expect(2);
    assert!(ran.err.contains("holds 64 kB, and the tests need 128 kB"), "{}", ran.err);
    assert_eq!(fs::metadata(at.join("f")).unwrap().len(), 64 << 10, "untouched");
}

#[test]
fn what_others_wrote_is_not_overwritten_unasked() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("f"), "of somebody").unwrap();
    let line = ["-i", "0", "-s", "64", "-f", "f", "--no-record"];
    let ran = iozone(at, &line).expect(3);
    assert!(ran.err.contains("--allow-destroy=f") && ran.out.is_empty(), "{ran:?}");
    assert_eq!(fs::read_to_string(at.join("f")).unwrap(), "of somebody");
    iozone(at, &[&line[..], &["--allow-destroy=f"]].concat()).expect(0);
    assert!(names(at).is_empty());
    fs::write(at.join("iozone.tmp"), "left by a call that was killed").unwrap();
    iozone(at, &["-i", "0", "-s", "64", "--no-record"]).expect(0);
    assert!(names(at).is_empty(), "IOzone's usual name is nobody's");
}

/// Offsets in records of 4 kB, in the order of the I/O, from the log of an operation.
fn order(at: &Path, operation: &str) -> Vec<u64> {
    let log = fs::read_to_string(at.join(format!("{operation}-64k-4k_lat.1.log"))).unwrap();
    let offset = |line: &str| line.split(", ").nth(4).unwrap().parse::<u64>().unwrap() / 4096;
    log.lines().map(offset).collect()
}

/// Oracle: strace of IOzone 3.489.
#[test]
fn records_are_read_in_iozones_order() {
    let directory = scratch();
    let at = directory.path();
    let line = ["-i", "0", "-i", "3", "-i", "5", "-j", "6", "-s", "64", "-r", "4", "-Q", "-+n"];
    iozone(at, &[&line[..], &["--no-record"]].concat()).expect(0);
    assert_eq!(order(at, "write"), (0..16).collect::<Vec<u64>>());
    assert_eq!(order(at, "bkwdread"), (0..16).rev().collect::<Vec<u64>>());
    assert_eq!(order(at, "strideread"), [0, 6, 12, 1, 7, 13, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12]);
}

#[test]
fn figures_go_to_spreadsheets_and_programs() {
    let directory = scratch();
    let at = directory.path();
    let line = ["-Rab", "f.xls", "-n", "64", "-g", "64", "-i", "0", "--json", "--no-record"];
    let ran = iozone(at, &line).expect(0);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let figures = json["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 10, "five records, written and written again");
    assert!(figures.iter().all(|figure| figure["bytes_per_second"].as_f64().unwrap() > 0.0));
    let book = fs::read(at.join("f.xls")).unwrap();
    assert!(book.starts_with(&[9, 0, 4, 0, 2, 0, 16, 0]) && book.ends_with(&[10, 0, 0, 0]));
    assert_eq!(names(at), ["f.xls"]);
    let ran = iozone(at, &["-b", "no/f.xls", "-i", "0", "--no-record"]).expect(2);
    assert!(ran.err.contains("-b no/f.xls") && ran.out.is_empty(), "{}", ran.err);
}

#[test]
fn a_full_disk_keeps_what_was_measured() {
    let filesystem = MemoryFilesystem::new(16 << 20);
    let at = filesystem.path();
    // Allocated blocks count as room, and this sparse file has none.
    fs::File::create(at.join("iozone.tmp")).unwrap().set_len(64 << 20).unwrap();
    let line = ["-s", "1m", "-s", "64m", "-r", "64", "-i", "0", "-+n", "-I", "--no-record"];
    let ran = iozone(at, &line).expect(1);
    assert!(ran.out.contains("\n            1024      64 "), "{}", ran.out);
    assert!(ran.out.contains("write-65536k-64k failed: "), "{}", ran.out);
    assert!((ran.out.clone() + &ran.err).contains("No space left on device"), "{ran:?}");
    assert!(!at.join("iozone.tmp").exists());
}

#[test]
fn files_that_do_not_fit_are_refused_before_anything_is_written() {
    let filesystem = MemoryFilesystem::new(16 << 20);
    let at = filesystem.path();
    let before = names(at);
    for line in [&["-s", "1m", "-s", "64m", "-i", "0"][..], &["-t", "4", "-s", "6m", "-i", "0"]] {
        let ran = iozone(at, line).expect(3);
        assert!(ran.err.contains("more kB on ") && ran.out.is_empty(), "{ran:?}");
    }
    assert_eq!(names(at), before);
}

#[test]
fn mistakes_touch_nothing_and_say_what_to_do() {
    let directory = scratch();
    let at = directory.path();
    fs::create_dir(at.join("d")).unwrap();
    for (line, code, words) in [
        ("-s x", 2, "-s: 'x'"),
        ("-i 1", 2, "iozone.tmp is not there"),
        ("-f d", 3, "d is a directory"),
        ("-f no/where", 2, "its directory is not there"),
        ("-K", 2, "--percentage_random"),
        ("--record=no/where.json", 2, "its directory is not there"),
        ("-f /dev/null", 3, "neither a file nor a block device"),
    ] {
        let words_of: Vec<&str> = line.split(' ').collect();
        let ran = iozone(at, &words_of).expect(code);
        assert!(ran.err.contains(words) && ran.err.starts_with("fathom: error: "), "{}", ran.err);
        assert!(ran.out.is_empty(), "{line}: {}", ran.out);
        assert_eq!(names(at), ["d"], "{line}");
    }
}

#[test]
fn a_device_in_use_is_refused() {
    let disk = MemoryFilesystem::new(16 << 20);
    let device = disk.disk.device.device.as_str();
    let directory = scratch();
    let line = ["-i", "0", "-s", "64", "-f", device, "--no-record"];
    let ran = iozone(directory.path(), &line).expect(3);
    assert!(ran.err.contains("--allow-destroy"), "{}", ran.err);
}

#[test]
fn a_signal_ends_it_and_what_was_measured_is_shown_and_kept() {
    for (signal, code) in [(Signal::INT, 130), (Signal::HUP, 129)] {
        let directory = scratch();
        let at = directory.path();
        let sizes = ["-s", "64", "-s", "8192"];
        let line = [&["-i", "0", "-J", "10", "-+n", "-f", "f", "--record=r"][..], &sizes].concat();
        let mut running = Running::fathom("iozone", at, &line);
        running.says("out", "\n              64       4 ");
        running.signal(signal);
        let ran = running.end().expect(code);
        let early = format!("Ended early by signal {}", signal.as_raw());
        assert!(ran.out.contains(&early), "{}", ran.out);
        assert!(ran.out.contains("\nwrite                     64       4 "), "{}", ran.out);
        assert_eq!(names(at), ["r"], "the file is gone, the records are not");
        let kept = formats::load_set(&at.join("r")).unwrap();
        assert_eq!(kept.runs[0].cell.as_ref().unwrap().name, "write-64k-4k");
        assert_eq!(kept.runs[0].interrupted_by, None);
    }
}

#[test]
fn findings_name_iozones_flags() {
    let directory = scratch();
    let line = ["-i", "0", "-s", "1m", "-r", "4", "-J", "5", "-+n", "-f", "f", "--no-record"];
    let ran = iozone(directory.path(), &line).expect(0);
    let said = joined(&ran.out);
    assert!(said.contains("(-J)") && !said.contains("(thinktime)"), "{}", ran.out);
}

#[test]
fn a_directory_that_cannot_be_written_is_refused_before_the_table_begins() {
    let directory = scratch();
    let at = directory.path();
    let read_only = Mounted::new(&["-t", "tmpfs", "-o", "ro"], "tmpfs", at.join("memory"));
    let file = read_only.path().join("f");
    let line = ["-i", "0", "-s", "64", "-f", file.to_str().unwrap(), "--no-record"];
    let ran = iozone(at, &line);
    assert!([2, 3].contains(&ran.code) && ran.out.is_empty(), "{ran:?}");
    assert!(ran.err.contains("read-only"), "{}", ran.err);
}

#[test]
fn called_as_iozone_it_is_iozone() {
    let directory = scratch();
    let mut command = Command::new(FATHOM);
    let ran = run(command.arg0("iozone").arg("-v").current_dir(directory.path())).expect(0);
    assert!(ran.out.starts_with("fathom ") && ran.out.contains("IOzone"), "{}", ran.out);
    let ran = iozone(directory.path(), &["-h"]).expect(0);
    assert!(ran.out.contains("\n  -i NUMBER"), "{}", ran.out);
}
