use super::*;
use crate::sweep::{Dimension, RunSlot};
use crate::testing::{self, SimulatedDisk};
use judge::{Confidence, Limit};
use record::Severity;

fn dimension(name: &str, values: &[&str]) -> Dimension {
    Dimension { name: name.into(), values: values.iter().map(|v| (*v).into()).collect() }
}

fn design(dimensions: Vec<Dimension>) -> Design {
    Design { dimensions, repeats: 3, seed: 1, ..Design::default() }
}

/// All runs of a sweep over depths and blocks, on a disk that serves eight at a time; rounds differ
/// by a thousandth.
fn made(design: &Design) -> RecordSet {
    let run = |place: RunSlot| {
        let cell = design.cell(place);
        let value = |name: &str, default: u64| {
            let found = cell.at.iter().find(|one| one.dimension == name);
            found.map_or(default, |one| one.value.parse().unwrap())
        };
        let step = testing::step("randread", value("bs", 4096), value("iodepth", 1) as u32, 1000);
        let slower = 1.0 + f64::from(place.round) / 1000.0;
        let disk = SimulatedDisk {
            read_ns: SimulatedDisk::fast().read_ns * slower,
            ..SimulatedDisk::fast()
        };
        let mut run = disk.run(&step);
        run.cell = Some(cell);
        run
    };
    let runs = design.order().into_iter().map(run).collect();
    RecordSet { kind: crate::sweep::KIND.into(), runs, seed: 1, ..RecordSet::default() }
}

fn standings_of(column: &Column) -> Vec<Option<Standing>> {
    column.rows.iter().map(|row| row.standing).collect()
}

#[test]
fn the_best_is_marked_among_the_values_of_the_first_dimension() {
    use Standing::{Behind, Best, Tied};
    let design = design(vec![
        dimension("iodepth", &["1", "4", "8", "16"]),
        dimension("bs", &["4096", "8192"]),
    ]);
    let conclusion = conclude(&made(&design), &design, &TableOptions::default());
    let names: Vec<String> = conclusion.tables.iter().map(|t| t.measure.name()).collect();
    assert_eq!(names, ["iops", "p99"]);
    let iops = &conclusion.tables[0];
    assert_eq!((iops.compared.as_str(), iops.across.as_deref()), ("iodepth", Some("bs")));
    assert_eq!((iops.columns.len(), iops.comparisons), (2, 6));
    for column in &iops.columns {
        let standings = standings_of(column);
        assert_eq!(standings[..2], [Some(Behind), Some(Behind)]);
        assert!(matches!(standings[2..], [Some(Best), Some(Tied)] | [Some(Tied), Some(Best)]));
        let share = column.rows[0].share.unwrap().value;
        assert!((share - 0.125).abs() < 0.01, "{share}");
        let totals = column.totals(3).unwrap();
        let first: f64 = column.rows.iter().map(|row| row.values()[0]).sum();
        assert_eq!((totals.len(), totals[0]), (3, first));
    }
    let p99 = &conclusion.tables[1];
    assert_eq!(p99.columns[0].rows[3].standing, Some(Behind), "less is better");
    assert_eq!((conclusion.cells, conclusion.made, conclusion.planned), (8, 24, 24));
    assert!(conclusion.failures.is_empty());
    let first =
        TableOptions { baseline: Baseline::First, measures: vec![Measure::parse("mean").unwrap()] };
    let conclusion = conclude(&made(&design), &design, &first);
    assert_eq!(conclusion.tables.len(), 1);
    assert_eq!(
        conclusion.tables[0].columns[1].rows[0].share,
        Some(Estimated { value: 1.0, interval: None })
    );
}

#[test]
fn shares_are_of_the_total_or_of_a_named_row_or_column() {
    let design =
        design(vec![dimension("iodepth", &["1", "2", "4"]), dimension("bs", &["4096", "8192"])]);
    let of = |name: &str, baseline: Baseline| {
        let measures = vec![Measure::parse(name).unwrap()];
        conclude(&made(&design), &design, &TableOptions { measures, baseline }).tables.remove(0)
    };
    let share =
        |table: &Table, column: usize, row: usize| table.columns[column].rows[row].share.unwrap();
    let total = of("iops", Baseline::Total);
    let shares: Vec<f64> = (0..3).map(|row| share(&total, 0, row).value).collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    assert!((shares[0] - 1.0 / 7.0).abs() < 0.01 && (shares[2] - 4.0 / 7.0).abs() < 0.01);
    let whole: f64 = total.columns.iter().map(|column| column.total_share.unwrap().value).sum();
    assert!((whole - 1.0).abs() < 1e-9, "totals are shares of all totals: {whole}");
    assert_eq!(of("p99", Baseline::Total).baseline, Baseline::Best, "latencies have no sum");

    let row = of("iops", Baseline::Value("2".into()));
    let half = share(&row, 0, 0);
    assert!((half.value - 0.5).abs() < 0.01, "{half:?}");
    assert!(half.interval.is_some_and(|(low, high)| low > 0.45 && high < 0.55), "{half:?}");
    assert_eq!(share(&row, 1, 1), Estimated { value: 1.0, interval: None });
    assert_eq!(row.columns[0].total_share, None, "a row is no column");

    let column = of("iops", Baseline::Value("4096".into()));
    assert_eq!(share(&column, 0, 2).value, 1.0);
    let other = share(&column, 1, 2).value;
    let totals = column.columns[1].total_share.unwrap().value;
    assert!((other - totals).abs() < 0.05, "{other} {totals}");

    let named = |value: &str| TableOptions {
        baseline: Baseline::Value(value.into()),
        ..TableOptions::default()
    };
    assert_eq!(named("8192").check(&design), Ok(()));
    let why = named("32").check(&design).unwrap_err();
    assert!(why.contains("'32' is neither") && why.contains("4096"), "{why}");
}

#[test]
fn the_time_of_mkfs_is_the_mean_of_its_runs() {
    let design = design(vec![dimension("fs", &["ext4", "xfs"])]);
    let mut set = made(&design);
    for run in &mut set.runs {
        let (cell, second) = (run.cell.clone().unwrap(), 1_000_000_000.0);
        let slow = if cell.at[0].value == "ext4" { 3.0 } else { 1.0 };
        let time = (slow + f64::from(cell.round) / 10.0) * second;
        run.evidence.mkfs_time = Some(record::Nanos(time as u64));
    }
    let mkfs = conclude(&set, &design, &TableOptions::default()).mkfs;
    let kinds: Vec<&str> = mkfs.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["xfs", "ext4"], "the fastest first");
    assert!((mkfs[1].1.value - 3.1).abs() < 1e-9 && mkfs[1].1.interval.is_some(), "{mkfs:?}");
}

#[test]
fn dimensions_beyond_the_second_make_a_table_each() {
    let three = design(vec![
        dimension("iodepth", &["1", "8"]),
        dimension("bs", &["4096", "8192", "16384"]),
        dimension("numjobs", &["1", "2"]),
    ]);
    let wanted =
        TableOptions { measures: vec![Measure::parse("iops").unwrap()], ..TableOptions::default() };
    let tables = conclude(&made(&three), &three, &wanted).tables;
    let at: Vec<&str> = tables.iter().map(|table| table.at[0].value.as_str()).collect();
    assert_eq!(at, ["1", "2"]);
    assert!(tables.iter().all(|table| table.columns.len() == 3 && table.comparisons == 6));
    let one = design(vec![dimension("iodepth", &["1", "8"])]);
    let tables = conclude(&made(&one), &one, &wanted).tables;
    assert_eq!((tables.len(), tables[0].columns.len(), tables[0].comparisons), (1, 1, 1));
    let paired = Design {
        paired: true,
        ..design(vec![dimension("iodepth", &["1", "8"]), dimension("bs", &["4096", "8192"])])
    };
    let tables = conclude(&made(&paired), &paired, &wanted).tables;
    assert_eq!((tables.len(), tables[0].compared.as_str()), (1, "iodepth bs"));
    let values: Vec<&str> = tables[0].columns[0].rows.iter().map(|r| r.value.as_str()).collect();
    assert_eq!(values, ["1 4096", "8 8192"]);
}

#[test]
fn what_failed_or_is_missing_is_known_and_nothing_else_is_made_of_it() {
    let design = design(vec![dimension("iodepth", &["1", "4", "8"])]);
    let mut set = made(&design);
    for run in &mut set.runs {
        let cell = run.cell.clone();
        if cell.as_ref().is_some_and(|cell| cell.name == "iodepth=4") {
            *run = RunRecord { cell, ..testing::failed("x", "read", 5) };
        }
    }
    set.runs.retain(|run| run.cell.as_ref().is_none_or(|cell| cell.name != "iodepth=8"));
    let conclusion = conclude(&set, &design, &TableOptions::default());
    let rows = &conclusion.tables[0].columns[0].rows;
    assert!(matches!(&rows[1].reading, Reading::Failed(why) if why.contains("errno 5")));
    assert_eq!(
        (&rows[2].reading, rows[2].standing, rows[2].share),
        (&Reading::Missing, None, None)
    );
    assert_eq!(rows[0].standing, Some(Standing::Best));
    assert_eq!(conclusion.tables[0].columns[0].totals(3), None);
    assert_eq!((conclusion.failures.len(), conclusion.failures[0].cells.len()), (1, 3));
    assert_eq!((conclusion.made, conclusion.planned), (6, 9));
    let nothing = conclude(&RecordSet::default(), &design, &TableOptions::default());
    assert_eq!(nothing.made, 0);
}

#[test]
fn figures_follow_the_work() {
    let named = |design: &Design| {
        let names: Vec<String> = usual(&made(design), design).iter().map(Measure::name).collect();
        names.join(" ")
    };
    let usual_of = |blocks: &[&str]| named(&design(vec![dimension("bs", blocks)]));
    assert_eq!(usual_of(&["4096", "8192"]), "iops p99");
    assert_eq!(usual_of(&["65536", "1048576"]), "bandwidth");
    assert_eq!(usual_of(&["4096", "1048576"]), "iops bandwidth p99");
    let columns =
        design(vec![dimension("iodepth", &["1", "2"]), dimension("bs", &["4096", "1048576"])]);
    assert_eq!(named(&columns), "iops p99", "blocks of a column are alike");
    assert_eq!(named(&Design { paired: true, ..columns }), "iops bandwidth p99");
    let mut mixed = RecordSet::default();
    mixed.runs.push(SimulatedDisk::fast().run(&testing::step("randrw", 4096, 4, 1000)));
    let none = Design::default();
    let mut synced = made(&design(vec![dimension("bs", &["4096"])]));
    for run in &mut synced.runs {
        run.jobs[0].results[Direction::Write] = run.jobs[0].results[Direction::Read].clone();
        run.jobs[0].results[Direction::Read] = Default::default();
        run.jobs[0].sync.latency.record(1_000_000);
    }
    let names_of =
        |set: &RecordSet| -> Vec<String> { usual(set, &none).iter().map(Measure::name).collect() };
    assert_eq!(names_of(&synced), ["iops", "sync.p99"], "memory takes the writes");
    for run in &mut synced.runs {
        run.jobs[0].workload.direct = true;
    }
    assert_eq!(names_of(&synced), ["iops", "p99", "sync.p99"]);
    let names: Vec<String> = usual(&mixed, &none).iter().map(Measure::name).collect();
    assert_eq!(names, ["read.iops", "write.iops", "read.p99", "write.p99"]);
}

#[test]
fn what_is_common_to_cells_is_said_once_with_the_cells() {
    let cells: Vec<String> = ["a=1", "a=10", "a=2"].map(str::to_owned).into();
    let verdict = |job: &str, limit| Verdict {
        job: job.into(),
        limit,
        confidence: Confidence::High,
        because: "".into(),
        figures: Vec::new(),
        valid_for: String::new(),
    };
    let found = group_by_limit(about_cells(
        vec![
            verdict("a=1: x", Limit::Cpu),
            verdict("a=10: x", Limit::Device),
            verdict("a=2: x", Limit::Device),
        ],
        &cells,
    ));
    assert_eq!(found[0].cells, ["a=10", "a=2"]);
    assert_eq!((found[1].verdict.limit, found[1].cells.len()), (Limit::Cpu, 1));
    let two = group_by_limit(about_cells(
        vec![verdict("a=1: x", Limit::Cpu), verdict("a=1: y", Limit::Cpu)],
        &cells,
    ));
    assert_eq!(two[0].cells, ["a=1: x", "a=1: y"], "several jobs are named");
    let finding = |job: &str| Finding {
        check: "c",
        severity: Severity::Note,
        jobs: vec![job.into()],
        text: "same".into(),
        figures: Vec::new(),
        cause: "".into(),
        remedy: "".into(),
    };
    let all = findings(vec![finding("a=1: x"), finding("a=1: y"), finding("a=2")], &cells);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].jobs, ["a=1", "a=2"]);
    let only = ["a=1".to_owned()];
    assert_eq!(split("x", &only), ("a=1", "x"));
}
