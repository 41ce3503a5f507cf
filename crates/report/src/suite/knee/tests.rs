use super::*;
use record::Bytes;
use suite::curve::{Access, Bound, Figure};
use suite::knee::{Knee, Point};

fn estimated(value: f64) -> Estimated {
    Estimated { value, interval: Some((value * 0.97, value * 1.04)) }
}

/// A disk that serves 16 at once, made up.
pub(crate) fn curved() -> Conclusion {
    let row = |depth: u32| {
        let iops = f64::from(depth.min(16)) * 6_000.0;
        let mean = f64::from(depth) / iops * 1e9;
        let percentiles = [(50.0, 0.9), (99.0, 2.0), (99.9, 8.0)];
        Row {
            depth,
            rounds: 3,
            iops: estimated(iops),
            bytes_per_second: estimated(iops * 4096.0),
            mean: estimated(mean),
            percentiles: percentiles.map(|(p, times)| (p, estimated(mean * times))).to_vec(),
            power: f64::from(depth.min(16)) / f64::from(depth.max(16)),
        }
    };
    let rows: Vec<Row> = [1, 2, 4, 8, 16, 32].map(row).to_vec();
    let point = |depth| Point { depth, iops: 96_000.0, latency_ns: 166_667.0 };
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Conclusion {
        path: "/srv/fathom-knee-1.tmp".into(),
        size: Bytes(1 << 30),
        is_scratch: true,
        access: Access::named("randread"),
        block: Bytes(4096),
        direct: true,
        engine: "io_uring".into(),
        threads: 1,
        ranks: 1,
        stack: vec!["ext4".into(), "vda".into()],
        rows,
        knee: Some(Knee { at: point(16), most: point(16), curve: Vec::new() }),
        knees: Some((8, 16)),
        saturated: Some(16),
        choice: Some(DepthChoice { depth: 16, why: ChoiceReason::Knee }),
        options: vec![
            option("filename", "/srv/a\\:b/fathom-knee-1.tmp"),
            option("rw", "randread"),
            option("iodepth", "16"),
            option("randseed", "7"),
            option("runtime", "1500ms"),
        ],
        elapsed: record::Nanos(61_000_000_000),
        ..Conclusion::default()
    }
}

fn with_bound(limit_ns: f64, deepest: Option<u32>) -> Conclusion {
    let bound = Bound { figure: Figure::Percentile(99.0), limit_ns };
    let held = BoundResult { bound, deepest, is_sure: deepest.is_none(), is_uneven: false };
    let choice = deepest.map(|depth| DepthChoice { depth, why: ChoiceReason::Bounds });
    Conclusion { held: vec![held], choice, ..curved() }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_curve_is_a_table_with_its_knee_and_one_sentence() {
    let out = text(&curved(), &Style::default());
    let expected = "\
ext4 > vda
random reads of 4 KiB in one file of 1 GiB, O_DIRECT, io_uring, 1 min 01 s

depth       IOPS       mean        p50        p99      p99.9 power
    1        6 k     167 µs     150 µs     333 µs    1.33 ms    6%
       5.82-6.24    162-173    146-156    323-347  1.29-1.39
";
    assert!(out.starts_with(expected), "{out}");
    assert!(out.contains("  100% knee full use\n"), "{out}");
    let said = flat(&out);
    for part in [
        "Knee: depth 16 (96 k IOPS at 167 µs); depth 32 brings +0 % throughput for +100 % latency.",
        "In single rounds it is between 8 and 16.",
        "Use iodepth=16: beyond it latency grows faster than throughput. It gives 96 k IOPS",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let large = Conclusion { block: Bytes(1 << 20), threads: 2, ..curved() };
    let out = text(&large, &Style::default());
    assert!(out.contains("MiB/s") && flat(&out).contains("in each of 2 threads"), "{out}");
}

#[test]
fn intervals_that_say_nothing_run_into_no_neighbour_and_have_units() {
    let mut wild = curved();
    for row in &mut wild.rows {
        let [low, high] = [9.0, 301.080_475e9];
        row.iops.interval = Some((0.0, 59_300.0));
        row.mean.interval = Some((low, high));
        row.percentiles.iter_mut().for_each(|(_, time)| time.interval = Some((low, high)));
    }
    let out = text(&wild, &Style::default());
    let intervals: Vec<&str> = out.lines().filter(|line| line.contains("0-59.3 ")).collect();
    assert_eq!(intervals.len(), 6, "{out}");
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let cut = ["0-59.3", "0->9999", "0->9999", "0->9999"];
    assert_eq!(cells(intervals[0])[..4], cut);
    assert!(intervals.iter().all(|line| cells(line).len() == 5), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let bound = Bound { figure: Figure::Percentile(99.0), limit_ns: 700_000.0 };
    let held = BoundResult { bound, deepest: Some(32), is_sure: false, is_uneven: false };
    wild.held = vec![held];
    let said = "p99 <= 700 µs holds to depth 32: 667 µs (9 ns-301 s) there";
    assert!(flat(&text(&wild, &Style::default())).contains(said));
    assert!(job_file(&wild).unwrap().contains(said), "the job file says the same");
}

#[test]
fn a_bound_names_its_deepest_depth_or_that_no_depth_meets_it() {
    let said = flat(&text(&with_bound(700_000.0, Some(32)), &Style::default()));
    for part in [
        "p99 <= 700 µs holds to depth 32: 667 µs (647-693) there, but its interval reaches",
        "Deeper ones were not measured.",
        "Use iodepth=32: the deepest with p99 <= 700 µs.",
        "Depth 16 gives as much with less latency.",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let unmet = with_bound(100_000.0, None);
    assert!(unmet.is_unmet());
    let said = flat(&text(&unmet, &Style::default()));
    assert!(said.contains("at depth 1 it is 333 µs"), "{said}");
    assert!(said.contains("No depth keeps to p99 <= 100 µs."), "{said}");
    assert_eq!(job_file(&unmet), None);
}

#[test]
fn the_job_file_repeats_the_measurement_in_a_permanent_file() {
    let file = job_file(&curved()).unwrap();
    let (comments, job): (Vec<&str>, Vec<&str>) = file.lines().partition(|l| l.starts_with('#'));
    assert_eq!(
        job,
        [
            "[randread-d16]",
            "filename=/srv/a\\:b/fathom-knee.data",
            "rw=randread",
            "iodepth=16",
            "ramp_time=2s",
            "runtime=30s"
        ]
    );
    assert!(comments.iter().any(|line| line.contains("Use iodepth=16")), "{file}");
    let device = Conclusion {
        is_scratch: false,
        access: Access::named("randwrite"),
        options: vec![("filename".into(), "/dev/sdb".into())],
        ..curved()
    };
    let file = job_file(&device).unwrap();
    assert!(file.contains("\n# It overwrites") && file.contains("\nfilename=/dev/sdb\n"), "{file}");
    for (path, fits) in [("/a b/c", true), ("/a#b", false), ("/a;b", false), ("/a\nb", false)] {
        assert_eq!(fits_job_file(path), fits, "{path:?}");
    }
}

#[test]
fn a_measurement_without_runs_is_reported() {
    let out =
        text(&Conclusion { interrupted_by: Some(2), ..Conclusion::default() }, &Style::default());
    assert!(out.contains("Nothing was measured.") && out.contains("Ended early by signal 2"));
}
