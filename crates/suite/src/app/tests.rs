use super::*;
use crate::Estimated;
use record::{Amount, CacheState, JobRecord, RecordSet, Work, WorkPart, WorkUnit};

fn phase(name: &str, work: &str) -> Phase {
    Phase {
        name: name.into(),
        label: format!("label of {name}"),
        work: work.into(),
        duration: Nanos::SECOND,
    }
}

fn app() -> App {
    App::new(Setting {
        phases: vec![phase("gzip", "gzip"), phase("db-fetch", "db"), phase("db-index", "db")],
        rounds: 2,
        program: "/proc/self/exe".into(),
        arguments: "app-step x".into(),
        directory: "/mnt/a:b".into(),
    })
}

/// A run of a phase that took so long, its work `seconds` of it.
fn run(name: &str, round: u32, seconds: f64) -> RunRecord {
    let part = |name: &str, from: f64, length: f64| WorkPart {
        name: name.into(),
        from: Nanos((from * 1e9) as u64),
        length: Nanos((length * 1e9) as u64),
        ..WorkPart::default()
    };
    let mut job = JobRecord { description: format!("label of {name}"), ..JobRecord::default() };
    job.name = name.into();
    job.workload.ioengine = "exec".into();
    job.workload.settings.insert("directory".into(), "/mnt".into());
    let mut run = RunRecord {
        cell: Some(Cell { name: name.into(), round, ..Cell::default() }),
        jobs: vec![job],
        work: Some(Work {
            amount: Some(Amount { count: 1000, unit: WorkUnit::Rows }),
            cache: CacheState::Dropped,
            parts: vec![part("work", 1.0, seconds * 0.75), part("sync", 9.0, seconds * 0.25)],
            failure: None,
        }),
        ..RunRecord::default()
    };
    run.invocation.ended_unix_ms = (seconds * 1000.0) as u64;
    run
}

fn set(runs: Vec<RunRecord>) -> RecordSet {
    RecordSet { runs, kind: "app".into(), seed: 1, ..RecordSet::default() }
}

#[test]
fn phases_come_in_order_round_by_round() {
    let mut app = app();
    let mut seen = Vec::new();
    while let Some(step) = app.next() {
        let name = step.cell.name.clone();
        seen.push(format!("{name} {}", step.cell.round));
        app.completed(&run(&name, step.cell.round, 2.0));
    }
    let round = |n| ["gzip", "db-fetch", "db-index"].map(|name| format!("{name} {n}"));
    assert_eq!(seen, [round(0), round(1)].concat());
}

#[test]
fn a_phase_is_a_job_that_runs_a_program() {
    let arguments = app().next().unwrap().arguments.join(" ");
    assert_eq!(
        arguments,
        "--name=gzip --description=label of gzip --ioengine=exec --program=/proc/self/exe \
         --arguments=app-step x --std_redirect=0 --grace_time=10 --directory=/mnt/a\\:b"
    );
}

#[test]
fn the_expected_time_follows_from_measured_phases() {
    let mut app = app();
    assert_eq!(app.expected().left, Nanos(6 * Nanos::SECOND.0));
    app.next();
    app.completed(&run("gzip", 0, 3.0));
    let expected = app.expected();
    assert_eq!((expected.left, expected.whole), (Nanos(7_000_000_000), Nanos(10_000_000_000)));
}

#[test]
fn a_failed_benchmark_is_skipped_and_a_signal_ends_all() {
    let mut app = app();
    app.completed(&run("gzip", 0, 1.0));
    assert_eq!(app.current().unwrap().name, "db-fetch");
    app.give_up("db");
    assert_eq!(app.next().unwrap().cell, Cell { name: "gzip".into(), round: 1, ..Cell::default() });
    app.completed(&RunRecord { interrupted_by: Some(2), ..RunRecord::default() });
    assert_eq!(app.next(), None);
    assert_eq!(app.current(), None);
}

#[test]
fn a_row_holds_time_rate_parts_and_cache() {
    let mut warm = run("a", 1, 2.2);
    warm.work.as_mut().unwrap().cache = CacheState::Warm;
    let set = set(vec![run("a", 0, 2.0), run("b", 0, 1.0), warm, run("b", 1, 1.1)]);
    let shown = conclude(&set, None);
    let row = &shown.rows[0];
    assert_eq!((row.phase.as_str(), row.label.as_str(), row.rounds), ("a", "label of a", 2));
    assert!((row.seconds.value - 2.1).abs() < 1e-6 && row.seconds.interval.is_some());
    assert!((row.rate.unwrap().value - 477.27).abs() < 0.1);
    assert_eq!(row.parts[1].0, "sync");
    assert!((row.parts[1].1 - 0.525).abs() < 1e-6);
    assert_eq!(row.cache, CacheState::Warm, "one warm round makes the figure warm");
    assert!((shown.total.unwrap().value - 3.15).abs() < 1e-6);
    assert_eq!((shown.rounds, shown.directory.as_str()), (2, "/mnt"));
    assert!(!shown.is_compared && row.gain.is_none());
}

#[test]
fn a_phase_has_its_share_of_the_total_or_its_ratio_to_another() {
    let set = set(vec![run("a", 0, 3.0), run("b", 0, 1.0), run("a", 1, 3.1), run("b", 1, 1.1)]);
    let mut shown = conclude(&set, None);
    let shares = |shown: &Conclusion| -> Vec<f64> {
        shown.rows.iter().map(|row| row.share.unwrap().value).collect()
    };
    let of_total = shares(&shown);
    assert!((of_total[0] - 6.1 / 8.2).abs() < 1e-6, "{of_total:?}");
    assert!((of_total.iter().sum::<f64>() - 1.0).abs() < 1e-6);
    shown.relate_to("b", &set);
    assert!((shares(&shown)[0] - 6.1 / 2.1).abs() < 1e-6, "{:?}", shares(&shown));
    assert!(shown.rows[0].share.unwrap().interval.is_some());
    assert_eq!(shown.rows[1].share, Some(Estimated { value: 1.0, interval: None }));
    assert_eq!(shown.share_of.as_deref(), Some("b"));
    let alone = conclude(&self::set(vec![run("a", 0, 3.0)]), None);
    assert_eq!(alone.rows[0].share, None, "one phase is all of it");
}

#[test]
fn a_reference_is_compared_only_with_the_same_work() {
    let old = set(vec![run("a", 0, 4.0), run("a", 1, 4.1), run("b", 0, 1.0), run("b", 1, 1.0)]);
    let new = |change: fn(&mut Work)| {
        let mut runs =
            vec![run("a", 0, 2.0), run("a", 1, 2.05), run("b", 0, 1.0), run("b", 1, 1.0)];
        runs.iter_mut().take(2).for_each(|run| change(run.work.as_mut().unwrap()));
        conclude(&set(runs), Some(&old))
    };
    let same = new(|_| {});
    let Some(Ok(gain)) = &same.rows[0].gain else { panic!("{:?}", same.rows[0].gain) };
    assert!((gain.percent.value - 50.0).abs() < 0.1 && gain.is_shown());
    assert!((same.total_gain.unwrap().percent.value - 40.1).abs() < 0.2);
    let words = |shown: &Conclusion| match &shown.rows[0].gain {
        Some(Err(Incomparable::Other(text))) => text.clone(),
        other => panic!("{other:?}"),
    };
    let larger = new(|work| work.amount = Some(Amount { count: 7, unit: WorkUnit::Rows }));
    assert_eq!(words(&larger), "7 rows here, 1000 rows there");
    assert_eq!(larger.total_gain, None);
    let warm = new(|work| work.cache = CacheState::Warm);
    assert_eq!(words(&warm), "caches warm here, dropped there");
    let unsynced = new(|work| work.parts.truncate(1));
    assert_eq!(words(&unsynced), "work here, work + sync there");
    let other = conclude(&set(vec![run("c", 0, 1.0)]), Some(&old));
    assert_eq!(other.rows[0].gain, Some(Err(Incomparable::Missing)));
}

#[test]
fn failed_phases_are_reported_and_not_in_figures() {
    let mut broken = run("a", 1, 9.0);
    broken.work.as_mut().unwrap().failure = Some("gzip: no space".into());
    let mut cut = run("a", 2, 9.0);
    cut.interrupted_by = Some(15);
    let silent = RunRecord { work: None, ..run("b", 0, 1.0) };
    let shown = conclude(&set(vec![run("a", 0, 2.0), broken, silent, cut]), None);
    assert_eq!(shown.rows.len(), 1);
    assert_eq!((shown.rows[0].rounds, shown.rows[0].seconds.value), (1, 2.0));
    assert_eq!(shown.rows[0].seconds.interval, None, "one round bounds nothing");
    let told: Vec<_> = shown.failures.iter().map(|f| (f.cell.as_str(), f.text.as_str())).collect();
    assert_eq!(told, [("a", "gzip: no space"), ("b", "no I/O completed in the run time")]);
    assert_eq!(shown.interrupted_by, Some(15));
}
