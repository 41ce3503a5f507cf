use super::*;
use judge::stats::{Estimate, Standing, Summary};
use judge::{Confidence, Limit, Measure, Verdict};
use record::Coordinate;
use suite::grid::{Measured, Reading};
use suite::sweep::{Baseline, Column, Row, Scaling, Table};

fn row(value: &str, mean: f64, standing: Standing) -> Row {
    let summary = Summary {
        count: 3,
        mean: Estimate { value: mean, low: mean * 0.9, high: mean * 1.1 },
        ..Summary::default()
    };
    let values = vec![mean * 0.99, mean, mean * 1.01];
    Row {
        value: value.into(),
        reading: Reading::Measured(Measured { values, summary, failed: 0 }),
        share: Some(Estimated { value: mean / 120_000.0, interval: None }),
        standing: Some(standing),
    }
}

fn column(value: &str) -> Column {
    let rows = vec![
        row("1", 9_530.0, Standing::Behind),
        row("16", 119_000.0, Standing::Tied),
        row("64", 120_000.0, Standing::Best),
    ];
    Column { value: value.into(), rows, total_share: None }
}

fn table(name: &str, across: Option<&str>, columns: Vec<Column>) -> Table {
    Table {
        measure: Measure::parse(name).unwrap(),
        at: Vec::new(),
        compared: "iodepth".into(),
        across: across.map(str::to_owned),
        columns,
        comparisons: 2,
        baseline: Baseline::Best,
    }
}

/// A sweep that has something of everything.
pub(crate) fn swept() -> Conclusion {
    let mut holed = column("16k");
    holed.rows[0] = Row { value: "1".into(), ..Row::default() };
    holed.rows[1] =
        Row { value: "16".into(), reading: Reading::Failed("no space".into()), ..Row::default() };
    let across = table("iops", Some("bs"), vec![column("4k"), holed]);
    let at = vec![Coordinate { dimension: "rw".into(), value: "randread".into() }];
    let verdict = Verdict {
        job: "iodepth=1 bs=4k".into(),
        limit: Limit::Device,
        confidence: Confidence::High,
        because: "the worker waited".into(),
        figures: Vec::new(),
        valid_for: "valid for: this disk".into(),
    };
    let finding = Finding {
        check: "virtual-device",
        severity: Severity::Note,
        jobs: vec!["a".into(), "b".into()],
        text: "the disk is virtual".into(),
        figures: Vec::new(),
        cause: "".into(),
        remedy: "".into(),
    };
    Conclusion {
        tables: vec![Table { at, ..across }, table("p99", None, vec![column("")])],
        cells: 6,
        made: 15,
        planned: 18,
        limited: vec![LimitGroup { verdict, cells: (0..6).map(|n| format!("cell {n}")).collect() }],
        scaling: vec![scaling()],
        findings: vec![finding],
        failures: vec![FailureGroup {
            text: "no space".into(),
            cells: vec!["x".into(), "x".into()],
        }],
        interrupted_by: Some(2),
        ..Conclusion::default()
    }
}

fn scaling() -> Scaling {
    let bounded = |value: f64, low, high| Estimated { value, interval: Some((low, high)) };
    Scaling {
        dimension: "ranks".into(),
        at: "bs=4k".into(),
        figure: "iops".into(),
        one: bounded(1000.0, 950.0, 1050.0),
        contention: bounded(0.05, 0.04, 0.06),
        coherency: bounded(0.001, 0.0, 0.002),
        peak: Some(bounded(30.8, 21.0, f64::INFINITY)),
        most: Some(bounded(9038.0, 8000.0, 10_000.0)),
        largest: 64.0,
        efficiency: 0.122,
        deviation: 0.03,
    }
}

#[test]
fn scaling_is_told_with_its_intervals() {
    let line = scaling_line(&scaling());
    let expected = [
        "bs=4k, iops: 64 ranks reach 12 % of 64 times one (1 k (950 to 1.05 k)).",
        "Contention 5 % (4 % to 6 %), coherency 0.1 % (0 % to 0.2 %).",
        "The most is at ranks=31 (21 to any number): 9.04 k (8 k to 10 k).",
        "The law is within 3 % of every cell.",
    ];
    assert_eq!(line, expected.join(" "));
    let endless = Scaling { peak: None, most: None, deviation: 0.2, ..scaling() };
    let line = scaling_line(&endless);
    assert!(
        line.ends_with("No limit is seen. The cells do not follow the law: one is off by 20 %.")
    );
}

#[test]
fn tables_have_repeats_totals_means_shares_and_marks() {
    let text = text(&swept(), 3, &Style::default());
    for expected in [
        "iops, I/Os a second, by iodepth and bs, where rw=randread (more is better)\n",
        "iodepth \\ bs         4k          16k\n",
        "1                 9.53 k            -\n",
        "             8.58-10.5\n",
        "16                 119 k=      failed\n",
        "64                 120 k*       120 k*\n",
        "iodepth        1       2       3   TOTAL    mean 95 % interval  of best\n",
        "bs=4k\n",
        "  1        9.43 k   9.53 k   9.63 k   28.6 k   9.53 k   8.58-10.5    7.9 %\n",
        "  16        118 k    119 k    120 k    357 k    119 k     107-131   99.2 % tie\n",
        "  TOTAL     246 k    249 k    251 k    746 k\n",
        "p99, latency, by iodepth (less is better)\n",
        "119 µs     107-131   99.2 % tie\n",
        "15 of 18 runs are done; the others are missing above.\n",
        "2 runs failed (x): no space\n",
        "  limited by: device, confidence: high (in 6 of 6 cells): cell 0, cell 1, cell\n",
        "[virtual-device] the disk is virtual (in 2 of 6 cells)\n",
        "    Valid for: this disk.\n",
        "Ended early by signal 2",
        "in 95 of 100 sweeps (comparisons: 2)",
    ] {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat(&text).contains(&flat(expected)), "{expected}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text.matches("TOTAL").count(), 2, "none of latencies, none with holes: {text}");
}

#[test]
fn many_repeats_have_no_columns_and_a_single_run_has_no_ties() {
    let many = text(&swept(), 12, &Style::default());
    assert!(many.contains("iodepth     TOTAL    mean"), "{many}");
    assert!(many.lines().all(|line| line.chars().count() <= 80), "{many}");
    let one = text(&swept(), 1, &Style::default());
    assert!(one.contains("use --repeat") && !one.contains("TOTAL"), "{one}");
    assert_eq!(
        text(&Conclusion::default(), 3, &Style::default()).lines().next(),
        Some("Nothing was measured.")
    );
}

#[test]
fn the_time_of_mkfs_is_a_line() {
    let time = |value: f64| Estimated { value, interval: Some((value * 0.9, value * 1.1)) };
    let mkfs = vec![("xfs".to_owned(), time(0.2)), ("ext4".to_owned(), time(1.0))];
    let shown = text(&Conclusion { mkfs, ..swept() }, 3, &Style::default());
    let line = "Time of mkfs: xfs 200 ms (180 ms to 220 ms), ext4 1 s (900 ms to 1.1 s).\n";
    assert!(shown.contains(line), "{shown}");
}

#[test]
fn the_cost_of_a_layer_has_its_interval() {
    let cost = |interval| suite::sweep::LayerCost {
        at: "iodepth=1".into(),
        layer: "/dev/dm-0".into(),
        below: "/dev/sda".into(),
        added_ns: Estimated { value: 12_300.0, interval },
        ratio: Some(Estimated { value: 1.123, interval: None }),
    };
    let costs = [cost(Some((9_000.0, 15_000.0))), cost(Some((-2_000.0, 26_000.0))), cost(None)];
    let layered = Conclusion { layers: costs.into(), ..swept() };
    let shown = text(&layered, 3, &Style::default());
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "iodepth=1: /dev/dm-0 over /dev/sda: +12.3 µs, x 1.123 (95 % interval +9 µs to +15 µs)",
        "(95 % interval -2 µs to +26 µs, none shown)",
        "(one run: not known how sure)",
    ] {
        assert!(flat.contains(expected), "{expected}\n{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn a_share_can_be_relative_to_the_first_value() {
    let mut first = swept();
    first.tables[0].baseline = Baseline::First;
    let shown = text(&first, 3, &Style::default());
    assert!(shown.contains("of first") && !shown.contains('~'), "{shown}");
}

#[test]
fn a_ratio_to_a_named_row_says_where_no_difference_is_shown() {
    let mut named = swept();
    let table = &mut named.tables[0];
    table.baseline = Baseline::Value("64".into());
    let rows = &mut table.columns[0].rows;
    rows[0].share = Some(Estimated { value: 0.079, interval: Some((0.07, 0.09)) });
    rows[1].share = Some(Estimated { value: 0.992, interval: Some((0.95, 1.04)) });
    table.columns[0].total_share = Some(Estimated { value: 0.691, interval: Some((0.6, 0.7)) });
    let shown = text(&named, 3, &Style::default());
    for expected in
        ["interval    ratio", "   7.9 %\n", " ~99.2 % tie\n", "69.1 %\n", "share of that"]
    {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("Ratio: the mean as a share of that of 64. ~: the 95 %"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn long_names_are_cut_and_columns_go_side_by_side() {
    let mut wide = swept();
    let long = "/a/very/long/path/of/a/directory/somewhere";
    wide.tables[0].columns = (0..12).map(|n| column(&format!("{long}{n}"))).collect();
    for column in &mut wide.tables[0].columns {
        column.rows[0].value = format!("{long}\u{7}");
    }
    let text = text(&wide, 3, &Style::default());
    let rows = text
        .lines()
        .filter(|line| line.starts_with("/a/very/long/path/of/a/…") && !line.contains('%'));
    assert!(rows.count() >= 2, "{text}");
    assert!(!text.contains('\u{7}'), "{text}");
}
