//! The reports of a run.

use super::*;

/// One of two threads, 10 s after 5 s of warm-up.
fn worker(clone: u32) -> JobRecord {
    let mut job = JobRecord {
        name: "t.dat".into(),
        worker: clone + 1,
        clone,
        started: Nanos(5 * SECOND),
        ended: Nanos(15 * SECOND),
        elapsed: Nanos(15 * SECOND),
        interval_step: Nanos(SECOND),
        ..JobRecord::default()
    };
    for (direction, ios, ns) in
        [(Direction::Read, 70_000, 300_000), (Direction::Write, 30_000, 200_000)]
    {
        let result = &mut job.results[direction];
        (result.ios_issued, result.ios, result.bytes) = (ios, ios, Bytes(ios * 4096));
        result.runtime = Nanos(10 * SECOND);
        let mut latency = Histogram::new();
        latency.record_n(ns, ios);
        result.latency.clat = Some(Histogram::new());
        result.latency.lat = Some(latency);
    }
    for second in 5..15 {
        let mut interval = Interval {
            start: Nanos(second * SECOND),
            length: Nanos(SECOND),
            ..Interval::default()
        };
        interval.ios.read = if second % 2 == 0 { 6_900 } else { 7_100 };
        interval.ios.write = 3_000;
        interval.clat_ns_sum.read = 7_000 * 300_000;
        interval.clat_ns_max.read = 2_100_000;
        job.intervals.push(interval);
    }
    job
}

/// A run of `-b4K -t2 -L -D -w30 -r`.
fn run() -> RecordSet {
    let sample = |at: u64, busy: u64| Sample {
        at: Nanos(at * SECOND),
        cpus: vec![
            CpuSample {
                user_ms: busy,
                system_ms: 3 * busy,
                idle_ms: 1000 * at - 4 * busy,
                ..CpuSample::default()
            };
            2
        ],
        ..Sample::default()
    };
    let mut record = RunRecord {
        facts: facts(&[("t.dat", 1 << 30)]),
        jobs: vec![worker(0), worker(1)],
        cell: Some(Cell { name: "timespan 1".into(), round: 0, ..Cell::default() }),
        ..RunRecord::default()
    };
    record.invocation.started_unix_ms = 1_717_409_472_000;
    record.timeline.samples =
        vec![sample(1, 0), sample(5, 100), sample(15, 1100), sample(16, 1100)];
    RecordSet { runs: vec![record], ..RecordSet::default() }
}

/// Compares with a file under tests/; every line of a report is pinned there.
#[track_caller]
fn golden(text: &str, expected: &str) {
    for (number, (found, wanted)) in (1..).zip(text.lines().zip(expected.lines())) {
        assert_eq!(found, wanted, "line {number}");
    }
    assert_eq!(text.lines().count(), expected.lines().count(), "{text}");
}

#[test]
fn text_has_the_layout_of_diskspd() {
    let line = words("diskspd -b4K -t2 -L -D -w30 -r t.dat");
    let call =
        DiskspdCommand::parse(&line[1..], &ParseContext { read: &nothing, seed: 1 }).unwrap();
    golden(&call.report(&run(), &line, "0.1.0"), include_str!("mixed.txt"));
}

#[test]
fn xml_has_the_layout_of_diskspd() {
    let line = words("diskspd -b4K -t2 -L -D -w30 -r -Rxml t.dat");
    let call =
        DiskspdCommand::parse(&line[1..], &ParseContext { read: &nothing, seed: 1 }).unwrap();
    let text = call.report(&run(), &line, "0.1.0");
    assert!(text.starts_with("<Results>\n") && text.ends_with("</Results>"));
    golden(&text, include_str!("mixed.xml"));
    let root = markup::read(&text).unwrap();
    let span = root.child("TimeSpan").unwrap();
    assert_eq!(span.child("Latency").unwrap().all("Bucket").count(), 108);
    let (profile, _) = from_xml::profile(&text).unwrap();
    assert_eq!(profile, call.profile, "it holds the profile again");
}

#[test]
fn a_run_without_measurements_says_so() {
    let line = words("diskspd t.dat");
    let call =
        DiskspdCommand::parse(&line[1..], &ParseContext { read: &nothing, seed: 1 }).unwrap();
    let set = RecordSet::default();
    let text = call.report(&set, &line, "0.1.0");
    assert!(text.contains("The test was interrupted before the measurements began."), "{text}");
    assert_eq!(verdict(&call.profile, &set, &Style::default()), "");
    let call = parse("-Rxml t.dat").unwrap();
    assert!(call.report(&set, &line, "0.1.0").contains("<Error>The test was interrupted"));
}

#[test]
fn several_timespans_are_added_up() {
    let mut call = parse("-L t.dat").unwrap();
    call.profile.spans.push(call.profile.spans[0].clone());
    let mut set = run();
    let mut second = set.runs[0].clone();
    second.cell = Some(Cell { name: "timespan 2".into(), round: 0, ..Cell::default() });
    set.runs.push(second);
    let text = call.report(&set, &words("diskspd -Xp.xml"), "0.1.0");
    assert!(text.contains("\n\nTotals:\n"), "{text}");
    assert!(text.contains("total: |      1638400000 |       400000 |"), "{text}");
    assert!(text.ends_with("total test time:\t20.00s\n"), "{text}");
}

#[test]
fn moments_are_shown_in_utc() {
    for (ms, text) in [
        (0, "1970/01/01 00:00:00 UTC"),
        (951_782_400_000, "2000/02/29 00:00:00 UTC"),
        (1_717_409_472_000, "2024/06/03 10:11:12 UTC"),
        (4_107_542_399_000, "2100/02/28 23:59:59 UTC"),
    ] {
        assert_eq!(results::utc(ms), text);
    }
}
