use super::*;
use crate::testing::{self, SimulatedDisk};

fn setting(length: Length) -> Setting {
    Setting {
        target: Target::new("/mnt/x", true),
        size: Bytes(1 << 30),
        length,
        seed: 1,
        disks: Vec::new(),
        is_on_several_disks: false,
    }
}

fn count(names: &[&str], name: &str) -> usize {
    names.iter().filter(|n| **n == name).count()
}

#[test]
fn a_test_fills_finds_knees_and_runs_interleaved_rounds() {
    let mut test = Test::new(setting(Length::Normal));
    let driven = SimulatedDisk::fast().drive(&mut test, 1000);
    let names = driven.names();
    assert_eq!(names[0], "fill");
    assert!(names[1..17].iter().all(|name| name.starts_with("sweep-")));
    assert_eq!(names.len(), 1 + 16 + 40);
    let rounds: Vec<&[&str]> = names[17..].chunks(8).collect();
    for cell in Cells::default().all() {
        assert!(rounds.iter().all(|round| count(round, cell.name) == 1), "{}", cell.name);
    }
    assert!(rounds[0] != rounds[1] || rounds[1] != rounds[2], "one order for all rounds");
    let knee = driven.steps.iter().find(|s| s.cell.name == "randread-knee").unwrap();
    assert!(knee.arguments.contains(&"--iodepth=8".to_owned()));
    assert!(driven.lines.is_empty(), "{:?}", driven.lines);
    assert_eq!((test.expected().left, test.failed()), (Nanos(0), None));
}

#[test]
fn the_same_seed_gives_the_same_runs() {
    let steps = |seed| {
        let mut test = Test::new(Setting { seed, ..setting(Length::Normal) });
        SimulatedDisk::fast().drive(&mut test, 1000).steps
    };
    assert_eq!(steps(5), steps(5));
    assert_ne!(steps(5), steps(6));
}

#[test]
fn tests_take_the_time_they_promise() {
    for (length, disk, most) in [
        (Length::Quick, SimulatedDisk::fast(), 32),
        (Length::Normal, SimulatedDisk::fast(), 125),
        (Length::Quick, SimulatedDisk::slow(), 34),
        (Length::Normal, SimulatedDisk::slow(), 130),
    ] {
        let mut test = Test::new(setting(length));
        let expected = test.expected().whole;
        let driven = { disk }.drive(&mut test, 1000);
        let took: f64 = driven.steps.iter().map(|step| step.duration.seconds()).sum();
        assert!(took < f64::from(most), "{length:?} {took}");
        assert!((expected.seconds() / took - 1.0).abs() < 0.3, "{length:?}: {expected:?}, {took}");
    }
}

#[test]
fn what_is_left_only_shrinks() {
    let (mut test, disk) = (Test::new(setting(Length::Normal)), SimulatedDisk::fast());
    let mut left = test.expected().left;
    while let Some(step) = test.next() {
        test.completed(&disk.run(&step));
        let now = test.expected().left;
        // The search for the knee may need more or fewer cells.
        assert!(now <= left, "{now:?} after {left:?}");
        left = now;
    }
    assert_eq!(left, Nanos(0));
}

#[test]
fn a_slow_disk_is_tested_in_what_could_be_filled() {
    let mut test = Test::new(setting(Length::Normal));
    let driven = SimulatedDisk::slow().drive(&mut test, 1000);
    assert!(driven.lines[0].starts_with("filled 57 MiB of 1024 MiB within the limit of 20 s"));
    let sizes: Vec<&String> = driven.steps[1..].iter().map(|s| &s.arguments[4]).collect();
    assert!(sizes.iter().all(|size| *size == "--size=59768832"), "{sizes:?}");
    let names = driven.names();
    assert!(!names.contains(&"randread-knee") && count(&names, "mix-knee") == 5);
    let mut test = Test::new(setting(Length::Quick));
    let driven = SimulatedDisk { bandwidth: 1e6, ..SimulatedDisk::slow() }.drive(&mut test, 1000);
    assert_eq!(driven.names(), ["fill"]);
    assert!(test.failed().is_some_and(|f| f.text.contains("too slow")), "{:?}", test.failed());
}

#[test]
fn thoroughness_begins_with_random_writes_until_steady() {
    let mut test = Test::new(setting(Length::Thorough));
    let driven = SimulatedDisk { wears: 0.5, ..SimulatedDisk::fast() }.drive(&mut test, 12);
    let names = driven.names();
    assert!(count(&names, "precondition") >= 5, "{names:?}");
    assert_eq!(names[1], "precondition");
    assert!(driven.lines.iter().any(|line| line.ends_with(": steady")), "{:?}", driven.lines);
    assert!(test.expected().left > Nanos::SECOND);
}

#[test]
fn a_place_without_direct_io_or_io_uring_is_tested_by_other_ways() {
    let mut test = Test::new(setting(Length::Quick));
    assert!(test.next().is_some());
    assert!(test.completed(&testing::failed("fill", "open", 22))[0].contains("O_DIRECT"));
    assert!(
        test.completed(&testing::failed("fill", "use the I/O engine", 1))[0].contains("libaio")
    );
    let driven = SimulatedDisk::fast().drive(&mut test, 1000);
    assert_eq!(driven.steps.len(), 1 + 8 + 8);
    for step in &driven.steps {
        assert!(step.arguments.contains(&"--direct=0".to_owned()));
        assert!(!step.arguments.contains(&"--ioengine=io_uring".to_owned()));
    }
}

#[test]
fn a_fill_that_fails_ends_the_test_and_a_cell_that_fails_does_not() {
    let mut test = Test::new(setting(Length::Quick));
    assert!(test.next().is_some());
    assert!(test.completed(&testing::failed("fill", "write", 28)).is_empty());
    assert_eq!(test.next(), None);
    assert_eq!(test.failed().map(|f| f.cell.as_str()), Some("fill"));
    assert_eq!(test.expected().left, Nanos(0));

    let (mut test, disk) = (Test::new(setting(Length::Quick)), SimulatedDisk::fast());
    let (mut steps, mut lines) = (0, Vec::new());
    while let Some(step) = test.next() {
        let failed = step.cell.name == "seqread" || step.cell.name.starts_with("sweep-");
        let record = match failed {
            true => testing::failed(&step.cell.name, "read", 5),
            false => disk.run(&step),
        };
        lines.extend(test.completed(&record));
        steps += 1;
    }
    assert_eq!((steps, lines.len(), test.failed()), (17, 9, None), "{lines:?}");
    assert!(lines[8].starts_with("seqread failed: ") || lines[0].contains("sweep"), "{lines:?}");
}

#[test]
fn a_signal_ends_the_test_at_once() {
    for after in [0, 4, 20] {
        let (mut test, disk) = (Test::new(setting(Length::Normal)), SimulatedDisk::fast());
        disk.clone().drive(&mut test, after);
        let step = test.next().unwrap();
        test.completed(&RunRecord { interrupted_by: Some(2), ..disk.run(&step) });
        assert_eq!(test.next(), None);
        assert_eq!(test.expected().left, Nanos(0));
        assert_eq!(test.failed(), None, "a signal is no failure");
    }
}

#[test]
fn where_the_file_is_on_several_disks_one_reader_is_compared_with_two() {
    let mut test = Test::new(Setting { is_on_several_disks: true, ..setting(Length::Quick) });
    let driven = SimulatedDisk::fast().drive(&mut test, 1000);
    let names = driven.names();
    assert_eq!((count(&names, "readers-1"), count(&names, "readers-2")), (3, 3));
    let conclusion =
        conclude(&record::RecordSet { runs: driven.records, ..record::RecordSet::default() });
    assert!(conclusion.rows.iter().all(|row| !row.cell.starts_with("readers")));
    assert_eq!(conclusion.readers.len(), 2);
}
