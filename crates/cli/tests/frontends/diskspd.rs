//! `fathom diskspd`, from end to end.

use crate::common::*;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// `fathom diskspd ARGUMENTS` in a directory; no record is kept.
#[track_caller]
fn diskspd(directory: &Path, line: &str) -> Ran {
    let mut command = Command::new(FATHOM);
    command.arg("diskspd").arg("--no-record").args(line.split_whitespace());
    run(command.current_dir(directory))
}

/// The figures of the last row of a table: bytes, I/Os, MiB/s, I/O per s.
#[track_caller]
fn total(text: &str, table: &str) -> Vec<f64> {
    let behind = text.split_once(&format!("\n{table}\n")).unwrap_or_else(|| panic!("{text}")).1;
    let line = behind.lines().find_map(|line| line.strip_prefix("total:")).unwrap();
    line.split('|').map(|cell| cell.trim().parse().unwrap()).collect()
}

/// The text of the first element of this name.
#[track_caller]
fn element<'a>(xml: &'a str, name: &str) -> &'a str {
    let behind = xml.split_once(&format!("<{name}>")).unwrap_or_else(|| panic!("{name}: {xml}")).1;
    behind.split_once('<').unwrap().0
}

#[test]
fn the_seed_s_lines_run_and_report_the_seed_s_figures() {
    let directory = scratch();
    let at = directory.path();
    for (line, table, other) in [
        ("-c16M -w100 -b8K -F4 -r -o8 -W0 -d1 -Sh sub/testfile.dat", "Write IO", "Read IO"),
        ("-c16M -b4K -F4 -r -o8 -W0 -d1 -Sh sub/testfile.dat", "Read IO", "Write IO"),
    ] {
        let ran = diskspd(at, line).expect(0);
        let all = total(&ran.out, "Total IO");
        let [bytes, ios, mib, iops] = all[..] else { panic!("{all:?}") };
        let block = if line.contains("-b8K") { 8192.0 } else { 4096.0 };
        assert_eq!(bytes, ios * block, "{}", ran.out);
        assert!(ios > 0.0 && (mib - iops * block / 1_048_576.0).abs() < 0.02, "{all:?}");
        assert_eq!(total(&ran.out, table), all);
        assert_eq!(total(&ran.out, other), [0.0; 4]);
        assert!(ran.out.starts_with("\nCommand Line: diskspd --no-record -c16M"), "{}", ran.out);
        assert!(ran.out.contains("\nthread count:\t\t4\n"), "{}", ran.out);
        assert!(ran.out.contains("| sub/testfile.dat (16MiB)\n"), "{}", ran.out);
        assert!(ran.out.contains("\nVerdict\n"), "{}", ran.out);
        assert_eq!(fs::metadata(at.join("sub/testfile.dat")).unwrap().len(), 16 << 20);
    }
}

#[test]
fn called_by_its_own_name_it_is_diskspd() {
    let directory = scratch();
    let name = directory.path().join("diskspd");
    symlink(FATHOM, &name).unwrap();
    let ran = run(&mut Command::new(&name)).expect(3);
    assert!(ran.out.starts_with("Usage: diskspd"), "{}", ran.out);
    run(Command::new(&name).arg("-?")).expect(0);
    let ran = run(Command::new(&name)
        .args(["-c1M", "-d1", "-W0", "--no-record", "t.dat"])
        .current_dir(directory.path()))
    .expect(0);
    assert!(total(&ran.out, "Read IO")[1] > 0.0);
}

#[test]
fn xml_is_all_there_is_on_standard_output_and_runs_again() {
    let directory = scratch();
    let at = directory.path();
    let ran = diskspd(at, "-c4M -b4K -t2 -o4 -r -w50 -d1 -W0 -L -D200 -Rxml t.dat").expect(0);
    assert!(ran.out.starts_with("<Results>\n") && ran.out.ends_with("</Results>"), "{}", ran.out);
    assert!(ran.err.contains("Verdict"), "{}", ran.err);
    let number = |name: &str| element(&ran.out, name).parse::<u64>().unwrap();
    assert_eq!(number("BytesCount"), number("ReadBytes") + number("WriteBytes"));
    assert_eq!(number("BytesCount"), 4096 * number("IOCount"));
    assert_eq!(ran.out.matches("<Percentile>").count(), 108);
    assert_eq!(ran.out.matches("<Thread>").count(), 2);
    assert!(ran.out.contains("<Bucket SampleMillisecond=\"200\" Read=\""), "{}", ran.out);
    // The result holds the profile, and is one for the next run.
    fs::write(at.join("result.xml"), &ran.out).unwrap();
    let again = diskspd(at, "-Xresult.xml -d1 -Rtext").expect(0);
    assert!(again.out.contains("performing mix test (read/write ratio: 50/50)"), "{}", again.out);
    assert!(again.out.contains("\nTotal latency distribution:\n"), "{}", again.out);
}

#[test]
fn timespans_and_targets_of_a_profile_run() {
    let directory = scratch();
    let at = directory.path();
    let span = "<TimeSpan><Duration>1</Duration><Warmup>0</Warmup><Targets>\
                <Target><Path>*1</Path><FileSize>1048576</FileSize></Target>\
                <Target><Path>*2</Path><FileSize>1048576</FileSize><WriteRatio>100</WriteRatio>\
                <ThreadsPerFile>2</ThreadsPerFile></Target></Targets></TimeSpan>";
    let text = format!("<Profile><TimeSpans>{span}{span}</TimeSpans></Profile>");
    fs::write(at.join("p.xml"), text).unwrap();
    let ran = diskspd(at, "-Xp.xml a.dat b.dat").expect(0);
    assert!(ran.out.contains("Results for timespan 2:"), "{}", ran.out);
    assert!(ran.out.contains("\nTotals:\n"), "{}", ran.out);
    for row in ["     0 |", "     1 |", "     2 |"] {
        let rows = ran.out.lines().filter(|line| line.starts_with(row)).count();
        assert_eq!(rows, 6, "{row} {}", ran.out);
    }
    assert!(ran.out.contains("| a.dat (1MiB)\n") && ran.out.contains("| b.dat (1MiB)\n"));
}

#[test]
fn every_kind_of_offset_and_pace_runs() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("f.bin"), [7; 4096]).unwrap();
    for line in [
        "-o1 -Sm -Nv -w50 -r t.dat",
        "-b8K -s16K -B64K -f1M t.dat",
        "-b8K -s4K t.dat",
        "-si -t2 -n t.dat",
        "-p -o4 t.dat",
        "-T256K -t3 -w100 t.dat",
        "-r -rs30 -rdpct90/10:0/10 -b4K t.dat",
        "-r -rdabs90/256K -b4K -F2 -O4 t.dat",
        "-r4K -b8K -g100i -w30 t.dat",
        "-g64 -w100 -Zr t.dat",
        "-i8 -j20 -I1 -fr t.dat",
        "-b4K -Z8K,f.bin -w100 -Sw -a0 t.dat",
    ] {
        let ran = diskspd(at, &format!("-c2M -W0 -d1 {line}")).expect(0);
        assert!(total(&ran.out, "Total IO")[1] > 0.0, "{line}: {}", ran.out);
        assert_eq!(fs::metadata(at.join("t.dat")).unwrap().len(), 2 << 20, "{line}");
    }
}

#[test]
fn rates_are_kept() {
    let directory = scratch();
    let ran = diskspd(directory.path(), "-c2M -b4K -r -g50i -t2 -W0 -d2 t.dat").expect(0);
    let iops = total(&ran.out, "Total IO")[3];
    assert!((80.0..=110.0).contains(&iops), "two threads at 50: {iops}");
}

#[test]
fn writes_stay_between_their_bounds_and_carry_what_they_should() {
    let directory = scratch();
    let at = directory.path();
    let path = at.join("t.dat");
    fs::write(&path, vec![0xee; 256 << 10]).unwrap();
    diskspd(at, "-b4K -w100 -B64K:64K -W0 -d1 t.dat").expect(0);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 256 << 10);
    let (before, rest) = bytes.split_at(64 << 10);
    let (inside, behind) = rest.split_at(64 << 10);
    assert!(before.iter().chain(behind).all(|byte| *byte == 0xee), "nothing else is touched");
    assert!(inside.iter().enumerate().all(|(at, byte)| *byte == at as u8), "0, 1, … 255");
}

#[test]
fn what_is_said_names_flags_of_diskspd() {
    let directory = scratch();
    let at = directory.path();
    let quiet = diskspd(at, "-c1M -w100 -r -F2 -W0 -d1 t.dat").expect(0);
    assert_eq!(quiet.err, "", "nothing that its user has not asked for");
    assert!(quiet.out.contains("Use -Sw"), "not-durable says what to do: {}", quiet.out);
    assert!(!quiet.out.contains("--fsync") && !quiet.out.contains("numjobs"), "{}", quiet.out);
    let told = diskspd(at, "-c1M -v -x -w100 -r -F2 -W0 -d1 t.dat").expect(0);
    assert!(told.err.contains("note: -x"), "{}", told.err);
    let refused = diskspd(at, "-b1000 -Su -W0 -d1 t.dat").expect(3);
    assert!(refused.err.starts_with("diskspd: error: -b: "), "{}", refused.err);
    assert!(refused.err.contains("drop -Su"), "{}", refused.err);
    let refused = diskspd(at, "-a4095 -W0 -d1 t.dat").expect(3);
    assert!(refused.err.starts_with("diskspd: error: -a: CPU 4095"), "{}", refused.err);
}

#[test]
fn a_full_disk_leaves_neither_files_nor_results() {
    let directory = scratch();
    let small =
        Mounted::new(&["-t", "tmpfs", "-o", "size=2m"], "tmpfs", directory.path().join("m"));
    let ran = diskspd(small.path(), "-c4M -W0 -d1 t.dat").expect(1);
    assert!(ran.err.contains("Use a smaller size"), "{}", ran.err);
    assert!(ran.err.ends_with("Error generating I/O requests\n"), "{}", ran.err);
    assert_eq!(ran.out, "");
    assert!(!small.path().join("t.dat").exists());
}

#[test]
fn mistakes_touch_nothing() {
    let directory = scratch();
    let at = directory.path();
    for (line, code, reason) in [
        ("-b4K", 3, "no target"),
        ("-q t.dat", 3, "no such option"),
        ("t.dat -d1", 3, "must come before targets"),
        ("-c1M -Sr t.dat", 3, "SMB"),
        ("-c1M -F2 -t2 t.dat", 3, "-F and -t"),
        ("-Xmissing.xml", 3, "missing.xml"),
        ("t.dat", 1, "-c<size>"),
        ("-d1 .", 1, "is a directory"),
        ("-c1K t.dat", 1, "-b"),
        ("-c1M --record=nowhere/r.json t.dat", 3, "--record"),
        ("-c1M -b1000 -Su sub/more/t.dat", 3, "-b: 1000"),
    ] {
        let ran =
            run(Command::new(FATHOM).arg("diskspd").args(line.split_whitespace()).current_dir(at))
                .expect(code);
        assert!(ran.err.contains(reason), "{line}: {}", ran.err);
        assert_eq!(ran.out, "", "{line}");
        assert_eq!(fs::read_dir(at).unwrap().count(), 0, "{line}");
    }
    run(Command::new(FATHOM).arg("diskspd")).expect(3);
}

/// As README.md and docs/DISKSPD.md say.
#[test]
fn a_wrong_command_line_ends_with_3() {
    let directory = scratch();
    let ran = diskspd(directory.path(), "-zz -d1 t.dat").expect(3);
    assert!(ran.err.contains("-zz"), "{}", ran.err);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains("As DISKSPD it exits with 3 for a wrong command line"));
    let page = joined(&fs::read_to_string(root.join("docs/DISKSPD.md")).unwrap());
    assert!(page.contains("3 the command line or the profile is wrong"), "{page}");
}

#[test]
fn no_more_ios_are_outstanding_than_asked_for() {
    let directory = scratch();
    for line in ["-b4K -d1 -W0 -o64 -t2 -Su -r -c16M t.dat", "-b4K -d1 -W0 -o1 -t4 -r -c4M t.dat"] {
        let ran = diskspd(directory.path(), line).expect(0);
        let (_, rest) = ran.out.split_once("Outstanding I/Os: ").expect(&ran.out);
        let (reached, rest) = rest.split_once(" on average of ").expect(rest);
        let (asked, _) = rest.split_once(' ').expect(rest);
        let [reached, asked] = [reached, asked].map(|text| text.parse::<f64>().unwrap());
        assert!(reached > 0.0 && reached <= asked, "{reached} of {asked}");
    }
}

#[test]
fn a_device_in_use_is_not_overwritten() {
    let directory = scratch();
    let at = directory.path();
    let device = loop_device(at, 16 << 20, &[]);
    let path: &str = &device.device;
    system("mkfs.ext4", &["-q", path]);
    let line = format!("-w100 -Su -W0 -d1 {path}");
    let ran = diskspd(at, &line).expect(3);
    assert!(ran.err.contains("--allow-destroy"), "{}", ran.err);
    let image = at.join("loop.img");
    // The magic number of ext4, in its superblock.
    let magic = |bytes: &[u8]| bytes[1024 + 56..1024 + 58].to_vec();
    assert_eq!(magic(&fs::read(&image).unwrap()), [0x53, 0xef]);
    let ran = diskspd(at, &format!("--allow-destroy={path} {line}")).expect(0);
    assert!(total(&ran.out, "Write IO")[1] > 0.0);
    assert_ne!(magic(&fs::read(&image).unwrap()), [0x53, 0xef]);
}

/// Waits until a program has read 64 MiB, in calls that the kernel counts for the process.
fn wait_for_reads(running: &Running) {
    wait_until("reads", || {
        let io = fs::read_to_string(format!("/proc/{}/io", running.pid())).unwrap_or_default();
        let read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
        read.is_some_and(|bytes| bytes.parse::<u64>().unwrap() > 64 << 20)
    });
}

#[test]
fn what_was_done_while_it_warmed_up_is_no_result() {
    let directory = scratch();
    for (format, said) in [("-Rtext", "interrupted before the measurements"), ("-Rxml", "<Error>")]
    {
        let line = ["-c1M", "-o1", "-W60", "-d60", format, "t.dat"];
        let running = Running::fathom("diskspd", directory.path(), &line);
        wait_for_reads(&running);
        running.signal(Signal::INT);
        let ran = running.end().expect(130);
        assert!(ran.out.contains(said) && !ran.out.contains("total:"), "{}", ran.out);
    }
}

#[test]
fn a_signal_leaves_what_was_measured() {
    let directory = scratch();
    let at = directory.path();
    let line = ["-c1M", "-o1", "-W0", "-d60", "--record=r.json", "t.dat"];
    let running = Running::fathom("diskspd", at, &line);
    // 64 times the file.
    wait_for_reads(&running);
    running.signal(Signal::INT);
    let ran = running.end().expect(130);
    assert!(total(&ran.out, "Read IO")[1] > 0.0, "{}", ran.out);
    let set = formats::load_set(&at.join("r.json")).unwrap();
    assert_eq!((set.kind.as_str(), set.runs[0].interrupted_by), ("diskspd", Some(2)));
}
