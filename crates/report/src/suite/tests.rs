use super::*;
use judge::{Confidence, Finding, Limit, Verdict};
use record::{Bytes, Nanos, Severity};
use suite::knee::{Knee, Point};
use suite::test::{Conclusion, Row};
use suite::{Estimated, Failure, LimitGroup};

fn estimated(value: f64) -> Estimated {
    Estimated { value, interval: Some((value * 0.97, value * 1.04)) }
}

fn row(cell: &str, label: &str, depth: u32, iops: f64, block: f64, p50: f64) -> Row {
    Row {
        cell: cell.into(),
        label: label.into(),
        depth,
        rounds: 3,
        iops: estimated(iops),
        bytes_per_second: estimated(iops * block),
        percentiles: vec![
            (50.0, estimated(p50)),
            (99.0, estimated(p50 * 4.0)),
            (99.9, estimated(p50 * 30.0)),
        ],
        limit: Some(Limit::Device),
        ..Row::default()
    }
}

fn finding(severity: Severity) -> Finding {
    Finding {
        check: "not-durable",
        severity,
        jobs: vec!["seqwrite".into()],
        text: "writes were acknowledged into a volatile cache".into(),
        figures: Vec::new(),
        cause: "the disk caches".into(),
        remedy: "fsync=1".into(),
    }
}

/// A test that was made up.
pub(crate) fn tested() -> Conclusion {
    let point = |depth, iops| Point { depth, iops, latency_ns: f64::from(depth) / iops * 1e9 };
    let verdict = Verdict {
        job: "seqread".into(),
        limit: Limit::Device,
        confidence: Confidence::High,
        because: "the device was busy 99 % of the time".into(),
        figures: Vec::new(),
        valid_for: "what this disk can do".into(),
    };
    Conclusion {
        file: "/srv/x".into(),
        size: Bytes(2 << 30),
        direct: true,
        engine: "io_uring".into(),
        stack: vec!["ext4".into(), "vda".into()],
        durability: Some(Durability::WriteBackFlush),
        rows: vec![
            row("seqread", "seq read 1 MiB", 8, 2134.0, 1048576.0, 3.6e6),
            row("randread-knee", "rand read 4 KiB", 128, 1.02e6, 4096.0, 99_900.0),
            Row { of_sync: true, ..row("syncwrite", "write + fsync", 1, 812.0, 4096.0, 1.2e6) },
        ],
        knees: vec![(
            Direction::Read,
            Knee { at: point(16, 60e3), most: point(64, 98e3), curve: Vec::new() },
        )],
        limited: vec![LimitGroup { verdict, cells: vec!["seqread".into(), "syncwrite".into()] }],
        valid_for: "what one program can expect".into(),
        findings: vec![finding(Severity::Note)],
        rounds: 3,
        elapsed: Nanos(118_000_000_000),
        ..Conclusion::default()
    }
}

#[test]
fn the_speed_by_position_is_a_table_of_its_own() {
    let row = |position: &str, speed: f64, share| suite::test::PositionRow {
        disk: "sda".into(),
        position: position.into(),
        start: Bytes(4 << 40),
        bytes_per_second: estimated(speed),
        share,
        rotational: Some(true),
    };
    let mut tested = tested();
    tested.positions = vec![row("start", 200e6, None), row("end", 100e6, Some(estimated(0.5)))];
    let shown = test(&tested, &Style::default());
    assert!(shown.contains("sda, end                       4 TiB      95.4"), "{shown}");
    assert!(shown.contains("      50.0 %\n") && !shown.contains("nobody wrote"), "{shown}");
    assert!(widest(&shown) <= 80, "{shown}");
    tested.positions[0].rotational = None;
    assert!(test(&tested, &Style::default()).contains("nobody wrote"));
}

#[test]
fn readers_that_leave_a_disk_idle_are_told_so() {
    let row = |readers, speed, of_one, shares: [f64; 2]| suite::test::ReadersRow {
        readers,
        bytes_per_second: estimated(speed),
        of_one,
        shares: vec![("sdd".into(), shares[0]), ("sde".into(), shares[1])],
    };
    let shown = |two: [f64; 2]| {
        let readers =
            vec![row(1, 200e6, None, [0.0, 1.0]), row(2, 210e6, Some(estimated(1.05)), two)];
        test(&suite::test::Conclusion { readers, ..tested() }, &Style::default())
    };
    let idle = shown([0.0, 1.0]);
    assert!(idle.contains("1.05 ×  sdd 0 %, sde 100 %\n"), "{idle}");
    assert!(idle.replace('\n', " ").contains("Two readers do not use sdd."), "{idle}");
    assert!(widest(&idle) <= 80, "{idle}");
    assert!(!shown([0.4, 0.6]).contains("do not use"));
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn a_test_in_brief_fits_the_smallest_screen() {
    let mut tested = tested();
    let (row, knee) = (tested.rows[0].clone(), tested.knees[0].clone());
    tested.rows.extend(vec![row; 7]);
    tested.knees.push((Direction::Write, knee.1));
    tested.findings.extend(vec![finding(Severity::Warning); 5]);
    tested.findings[5].remedy = "stop the other load, or choose another time; ".repeat(9).into();
    tested.findings[5].severity = Severity::Error;
    let text = test_in_brief(&tested, &Style::default());
    // The prompt, an empty line and that with the id of the runs have room as well.
    assert!(text.lines().count() <= 24 - 3 && widest(&text) <= 80, "{text}");
    for part in [
        "seq read 1 MiB     8    2.13 k   2134     3.6 ms    14.4 ms     108 ms device\nrand",
        "Knee of random reads: depth 16 (60 k IOPS at 267 µs)\n",
        "error [not-durable] Stop the other load, or choose another time; stop the …\n",
        "warning [not-durable] Fsync=1.\nwarning",
        "and 2 more warnings\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_test_is_one_table_with_verdict_and_findings() {
    let text = test(&tested(), &Style::default());
    let expected = "\
ext4 > vda
one file of 2 GiB, O_DIRECT, io_uring, 3 rounds in 1 min 58 s; writes: write
back, flushed

               depth      IOPS  MiB/s        p50        p99      p99.9 limit
seq read 1 MiB     8    2.13 k   2134     3.6 ms    14.4 ms     108 ms device
                     2.07-2.22         3.49-3.74      14-15    105-112
rand read 4 KiB  128    1.02 M   3984    99.9 µs     400 µs       3 ms device
                    0.989-1.06          96.9-104    388-416  2.91-3.12
write + fsync      1       812   3.17     1.2 ms     4.8 ms      36 ms device
                       788-844         1.16-1.25  4.66-4.99  34.9-37.4
Below each row: 95 % intervals, by 3 rounds. Latencies of write + fsync are
those of fsync.
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains(
        "depth 16 (60 k IOPS at 267 µs); the most is 98 k IOPS at\ndepth 64, with 653 µs each.\n"
    ));
    assert!(
        text.contains(
            "  limited by: device, confidence: high: seqread, syncwrite\n    seqread: the device"
        ),
        "{text}"
    );
    assert!(text.contains("\n  Valid for: what one program can expect.\n"), "{text}");
    assert!(text.contains("[not-durable]"), "{text}");
    assert!(widest(&text) <= 80, "{text}");
}

#[test]
fn colours_change_nothing_else() {
    let plain = test(&tested(), &Style::default());
    let coloured = test(&tested(), &Style { colour: true, ..Style::default() });
    let mut stripped = String::new();
    for (index, part) in coloured.split("\x1b[").enumerate() {
        stripped += if index == 0 { part } else { part.split_once('m').unwrap().1 };
    }
    assert_ne!(coloured, plain);
    assert_eq!(stripped, plain);
}

#[test]
fn missing_runs_are_counted() {
    let nothing = Conclusion {
        failures: vec![Failure { cell: "fill".into(), text: "no space left".into() }],
        interrupted_by: Some(2),
        ..Conclusion::default()
    };
    let text = test(&nothing, &Style::default());
    for part in ["Nothing was measured.", "fill failed: no space left", "Ended early by signal 2"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let memory = Conclusion { durability: Some(Durability::Memory), ..tested() };
    assert!(test(&memory, &Style::default()).contains("This is memory, not a disk"));
}

#[test]
fn preconditioning_reports_whether_the_device_is_steady() {
    let mut conclusion = precondition::Conclusion {
        filled: Bytes(1 << 30),
        size: Bytes(1 << 30),
        bytes_per_second: 512e6,
        elapsed: Nanos(301_000_000_000),
        ..precondition::Conclusion::default()
    };
    conclusion.course.iops = vec![12_345.0, 12_000.0];
    let text = precondition(&conclusion, &Style::default());
    assert!(text.contains("2 rounds, the first 12.3 k IOPS, the last 12 k IOPS"), "{text}");
    assert!(text.contains("Not known to be steady after 5 min 01 s"), "{text}");
    assert!(widest(&text) <= 80);
}

#[test]
fn a_diagnosis_ends_with_the_likely_cause() {
    let look = diagnose::DiagnosisStep {
        title: "Saturated, or stalled?",
        ran: "random reads of 4 KiB at depth 1, 16 and 64, a line that is long enough to wrap"
            .into(),
        observed: vec!["depth 1: 12000 IOPS".into(), "depth 16: 60000 IOPS".into()],
        conclusion: "saturated".into(),
    };
    let conclusion = diagnose::Conclusion {
        steps: vec![look],
        cause: diagnose::Cause {
            text: "the device".into(),
            confidence: Some(Confidence::High),
            cure: "less I/O".into(),
        },
        findings: vec![finding(Severity::Warning)],
        ..diagnose::Conclusion::default()
    };
    let text = diagnose(&conclusion, &Style::default());
    assert!(text.starts_with("1. Saturated, or stalled?\n   ran random reads of 4 KiB"), "{text}");
    assert!(text.contains("\n   saw depth 16: 60000 IOPS\n   =>  saturated\n"), "{text}");
    let end = "\nLikely cause (confidence: high)\n  the device\n  What to do: less I/O\n";
    assert!(text.ends_with(end), "{text}");
    assert!(widest(&text) <= 80);
}
