use crate::testing::{HOUR_MS, START_MS, add, archive, connection, record};
use crate::{Archive, Filter, FindingCounts, Lineage, Now, RunId, RunOrSet, SetId, SetInfo};
use judge::Measure;
use record::{Cell, Coordinate, RunRecord};
use std::time::Instant;

const NOW: Now = Now { unix_ms: START_MS + 10 * HOUR_MS, utc_offset_seconds: 0 };

fn jobs(archive: &Archive, filter: &str) -> Vec<String> {
    let filter = Filter::parse(filter, NOW).unwrap();
    archive.list(&filter).unwrap().into_iter().map(|row| row.job).collect()
}

#[test]
fn added_runs_are_listed_loaded_and_counted() {
    let (_directory, mut archive) = archive();
    let run = record("web", 1);
    let id = archive.add(&run, &Lineage::alone("run")).unwrap();
    let row = archive.row(&id).unwrap();
    assert_eq!((row.job.as_str(), row.device.as_str()), ("web", "nvme0n1p1, nvme0n1"));
    assert_eq!((row.iops, row.verdict, row.found), (None, None, None), "not judged yet");
    assert_eq!(archive.load(&id).unwrap(), run);
    assert_eq!(archive.find_same(&run).unwrap(), Some(id.clone()));
    assert_eq!(archive.find_same(&record("web", 2)).unwrap(), None);
    let judged = judge::judge(&run);
    archive.save_summary(&id, &crate::Summary::new(&run, &judged)).unwrap();
    let row = archive.row(&id).unwrap();
    assert_eq!(row.iops, Some(2000.0));
    assert_eq!(row.max_ns, Some(101_999.0));
    assert!(row.verdict.is_some_and(|verdict| verdict.contains('(')));
    let notes = judged.findings.iter().filter(|f| f.severity == record::Severity::Note).count();
    assert_eq!(row.found.map(|found: FindingCounts| found.notes as usize), Some(notes));
    assert_eq!(archive.count(&Filter::all()).unwrap(), 1);
    assert_eq!(archive.list(&Filter::all()).unwrap(), [archive.row(&id).unwrap()]);
}

#[test]
fn a_finding_is_found_by_the_former_and_the_new_id_of_its_check() {
    let (_directory, mut archive) = archive();
    for (job, check) in [("old", "depth-costume"), ("new", "depth-beyond-knee"), ("calm", "errors")]
    {
        let run = record(job, 1);
        let id = archive.add(&run, &Lineage::alone("run")).unwrap();
        let summary = crate::Summary { findings: vec![check], ..crate::Summary::default() };
        archive.save_summary(&id, &summary).unwrap();
    }
    for id in ["depth-costume", "depth-beyond-knee", "not-steady,depth-costume"] {
        let mut found = jobs(&archive, &format!("finding={id}"));
        found.sort();
        assert_eq!(found, ["new", "old"], "{id}");
        assert_eq!(jobs(&archive, &format!("finding!={id}")), ["calm"], "{id}");
    }
}

#[test]
fn jobs_in_turn_have_the_figures_of_one() {
    let (_directory, mut archive) = archive();
    let mut run = record("first", 1);
    let mut second = record("second", 4).jobs.remove(0);
    second.job = 1;
    (second.started, second.ended) =
        (::record::Nanos(2_000_000_000), ::record::Nanos(3_000_000_000));
    run.jobs.push(second);
    let id = add(&mut archive, &run);
    let row = archive.row(&id).unwrap();
    assert_eq!(row.iops, Some(5000.0), "not the 3500 of both");
    let expected = "randread 4k, depth 32 of second, 2 of 2 in turn";
    assert_eq!((row.figures_of.as_deref(), row.measured().as_str()), (Some(expected), expected));
    let alone = add(&mut archive, &record("web", 1));
    let row = archive.row(&alone).unwrap();
    assert_eq!((row.figures_of.clone(), row.measured()), (None, row.access_pattern()));
    // An earlier summary leaves nothing behind.
    archive.save_summary(&id, &crate::Summary::default()).unwrap();
    assert_eq!(archive.row(&id).unwrap().figures_of, None);
}

#[test]
fn the_run_before_is_the_last_that_did_the_same_without_errors() {
    let (_directory, mut archive) = archive();
    let ids: Vec<RunId> = (0..3).map(|hour| add(&mut archive, &record("web", hour))).collect();
    let mut elsewhere = record("web", 3);
    elsewhere.facts.hostname = "web2".into();
    let mut cut_short = record("web", 4);
    cut_short.interrupted_by = Some(2);
    for other in [elsewhere, cut_short, record("mail", 5)] {
        add(&mut archive, &other);
    }
    let last = add(&mut archive, &record("web", 6));
    let before = |id: &RunId| archive.previous_row(id).unwrap().map(|row| row.id);
    assert_eq!(
        [&last, &ids[2], &ids[0]].map(before),
        [Some(&ids[2]), Some(&ids[1]), None].map(Option::<&RunId>::cloned)
    );
    let (row, set) = archive.load_previous(last.as_str()).unwrap().unwrap();
    assert_eq!((row.id, set.runs), (ids[2].clone(), vec![record("web", 2)]));
}

#[test]
fn the_set_before_is_another_of_the_same() {
    let (_directory, mut archive) = archive();
    let mut sets = Vec::new();
    for begun in [0, 5] {
        let id = SetId::random();
        for round in 0..2 {
            let mut run = record("web", begun + u64::from(round));
            run.cell = Some(Cell { name: "web".into(), round, ..Cell::default() });
            let together = SetInfo { id: id.clone(), seed: 1, name: String::new() };
            let lineage = Lineage { kind: "repeat".into(), set: Some(together) };
            archive.add(&run, &lineage).unwrap();
        }
        sets.push(id);
    }
    let (row, set) = archive.load_previous(sets[1].as_str()).unwrap().unwrap();
    assert_eq!((row.set.as_ref(), set.runs.len()), (Some(&sets[0]), 2));
    assert_eq!(archive.load_previous(sets[0].as_str()).unwrap(), None);
    assert!(archive.load_previous("nobody").is_err());
}

#[test]
fn filters_select_the_matching_runs() {
    let (_directory, mut archive) = archive();
    for (hour, name) in ["alpha", "beta", "gamma"].into_iter().enumerate() {
        let mut run = record(name, hour as u64);
        run.facts.hostname = format!("web{hour}");
        add(&mut archive, &run);
    }
    let gamma = archive.find("latest").unwrap();
    archive.tag(&gamma, "before-update").unwrap();
    archive.set_note(&gamma, "with 50% load").unwrap();
    for (filter, found) in [
        ("", &["gamma", "beta", "alpha"][..]),
        ("sort=time limit=2", &["alpha", "beta"]),
        ("sort=time offset=2", &["gamma"]),
        ("sort=iops", &["alpha", "beta", "gamma"]),
        ("sort=-p99", &["gamma", "beta", "alpha"]),
        ("job=BETA", &["beta"]),
        ("job=?eta,alph*", &["beta", "alpha"]),
        ("job!=beta", &["gamma", "alpha"]),
        ("device=nvme0n1 model=\"fast ssd*\" host=web1", &["beta"]),
        ("device=nvme", &[]),
        ("rw=randread engine=io_uring fs=ext4 bs=4k kind=run sort=time limit=1", &["alpha"]),
        ("iops>1500", &["gamma", "beta"]),
        ("read.iops<=2000", &["beta", "alpha"]),
        ("write.iops>0", &[]),
        ("max<=100.999us", &["alpha"]),
        ("iodepth>32", &[]),
        ("since=9h", &["gamma", "beta"]),
        ("until=2026-11-01T00:30", &["alpha"]),
        ("tag=before*", &["gamma"]),
        ("tag!=before-update", &["beta", "alpha"]),
        ("50%", &["gamma"]),
        ("%", &["gamma"]),
        ("mnt/data/al", &["alpha"]),
        ("interrupted=no errors=0 sort=job limit=1", &["alpha"]),
        ("verdict=nothing", &[]),
    ] {
        assert_eq!(jobs(&archive, filter), found, "{filter}");
        let count = archive.count(&Filter::parse(filter, NOW).unwrap()).unwrap() as usize;
        assert!(filter.contains("limit") || filter.contains("offset") || count == found.len());
    }
    let row = archive.row(&gamma).unwrap();
    let verdict = row.verdict.unwrap();
    let (limit, rest) = verdict.split_once(" (").unwrap();
    let filter = format!("verdict={limit} confidence={} limit=1", &rest[..rest.len() - 1]);
    assert_eq!(jobs(&archive, &filter), ["gamma"]);
    let by_time = Filter::parse("sort=time", NOW).unwrap();
    let figures = archive.figures(&by_time, &Measure::parse("read.iops").unwrap()).unwrap();
    let figures: Vec<f64> = figures.into_iter().map(|(_, value)| value).collect();
    assert_eq!(figures, [1000.0, 2000.0, 3000.0]);
}

fn cell(name: &str, hour: u64, round: u32) -> RunRecord {
    let at = vec![Coordinate { dimension: "bs".into(), value: "4k".into() }];
    RunRecord { cell: Some(Cell { name: "x".into(), round, at }), ..record(name, hour) }
}

#[test]
fn names_are_ids_their_beginnings_tags_and_latest() {
    let (_directory, mut archive) = archive();
    let first = add(&mut archive, &record("alpha", 0));
    let set = SetId::random();
    let together = SetInfo { id: set.clone(), seed: u64::MAX, name: "/sweeps/a".into() };
    let lineage = Lineage { kind: "sweep".into(), set: Some(together) };
    let runs = [cell("beta", 1, 0), cell("beta", 2, 1)];
    let [one, two] = runs.clone().map(|run| archive.add(&run, &lineage).unwrap());
    let last = add(&mut archive, &record("gamma", 3));
    let run = |id: &RunId| RunOrSet::Run(id.clone());
    assert_eq!(archive.resolve("latest").unwrap(), run(&last));
    assert_eq!(archive.resolve("latest~1").unwrap(), RunOrSet::Set(set.clone()));
    assert_eq!(archive.resolve("latest~2").unwrap(), run(&first));
    assert_eq!(archive.find("latest~1").unwrap(), two);
    assert_eq!(archive.resolve(first.as_str()).unwrap(), run(&first));
    assert_eq!(archive.resolve(&first.short().to_uppercase()).unwrap(), run(&first));
    assert_eq!(archive.resolve(set.short()).unwrap(), RunOrSet::Set(set.clone()));
    assert_eq!(archive.find_set("sweep", "/sweeps/a").unwrap(), Some(set.clone()));
    assert_eq!(archive.find_set("sweep", "/sweeps/b").unwrap(), None);
    let loaded = archive.load_named(set.as_str()).unwrap();
    assert_eq!((loaded.kind.as_str(), loaded.seed), ("sweep", u64::MAX));
    assert_eq!(loaded.runs, runs);
    assert!(archive.find(set.as_str()).unwrap_err().to_string().contains("of several"));
    assert_eq!(archive.find_all(set.as_str()).unwrap(), [one.clone(), two.clone()]);
    for unknown in ["latest~3", "latest~x", "latest~", "", "abc", "zzzz", "%", "00000000000000000"]
    {
        let error = archive.resolve(unknown).unwrap_err().to_string();
        assert!(error.contains("no run is called"), "{unknown}: {error}");
    }
    archive.tag(&one, "base").unwrap();
    assert_eq!(archive.resolve("base").unwrap(), run(&one));
    archive.tag(&two, "base").unwrap();
    assert_eq!(archive.resolve("base").unwrap(), RunOrSet::Set(set));
    archive.tag(&last, "base").unwrap();
    assert!(archive.resolve("base").unwrap_err().to_string().contains(last.short()));
    assert!(
        archive.resolve("bse").unwrap_err().to_string().contains("did you mean the tag 'base'?")
    );
    assert!(archive.untag(&last, "base").unwrap() && !archive.untag(&last, "base").unwrap());
    assert_eq!(archive.tags().unwrap(), [("base".to_owned(), 2)]);
    for wrong in ["", "two words", "latest", "latest~2", "-x", "a\nb", &"x".repeat(65)] {
        assert!(archive.tag(&last, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_repeated_cell_replaces_the_earlier_one() {
    let (_directory, mut archive) = archive();
    let together = SetInfo { id: SetId::random(), seed: 7, name: String::new() };
    let lineage = Lineage { kind: "sweep".into(), set: Some(together.clone()) };
    for run in [cell("a", 1, 0), cell("a", 1, 1), cell("a", 2, 0)] {
        archive.add(&run, &lineage).unwrap();
    }
    let loaded = archive.load_set(&together.id).unwrap();
    assert_eq!(loaded.runs, [cell("a", 1, 1), cell("a", 2, 0)]);
}

#[test]
fn removing_a_run_removes_its_record_and_labels() {
    let (_directory, mut archive) = archive();
    let together = SetInfo { id: SetId::random(), seed: 7, name: String::new() };
    let lineage = Lineage { kind: "sweep".into(), set: Some(together.clone()) };
    let gone = archive.add(&cell("a", 1, 0), &lineage).unwrap();
    archive.tag(&gone, "x").unwrap();
    let stays = add(&mut archive, &record("b", 2));
    archive.remove(std::slice::from_ref(&gone)).unwrap();
    assert!(archive.row(&gone).is_err() && archive.load(&gone).is_err());
    assert!(archive.load_set(&together.id).is_err());
    for table in ["runs", "records", "tags", "sets"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let left: i64 = connection(&archive).query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(left, i64::from(table == "runs" || table == "records"), "{table}");
    }
    assert!(archive.remove(&[stays.clone(), gone]).is_err());
    assert!(archive.row(&stays).is_ok(), "all or none");
}

/// The statement that lists, as SQLite carries it out.
fn plan(archive: &Archive, filter: &str) -> String {
    let clause = Filter::parse(filter, NOW).unwrap().clause();
    let sql = format!("EXPLAIN QUERY PLAN {}{}", super::COLUMNS, clause.sql);
    let mut statement = connection(archive).prepare(&sql).unwrap();
    let values = rusqlite::params_from_iter(clause.values);
    let lines = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
    lines.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}

#[test]
fn lists_by_time_are_read_in_order_and_records_never() {
    let (_directory, archive) = archive();
    for filter in ["", "limit=50", "limit=50 offset=9950", "since=7d", "since=7d host=web1 limit=5"]
    {
        let plan = plan(&archive, filter);
        let is_indexed = plan.contains("runs_by_time") || plan.contains("runs_by_host");
        assert!(is_indexed, "{filter}: {plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{filter}: {plan}");
        assert!(!plan.contains("records"), "{filter}: {plan}");
    }
    for filter in ["iops>5 sort=p99", "x", "tag=a sort=-iops", "job=x device=y finding=z"] {
        let plan = plan(&archive, filter);
        assert!(!plan.contains("records"), "{filter}: {plan}");
        for table in ["figures", "facts", "tags"] {
            assert!(!plan.contains(&format!("SCAN {table}")), "{filter}: {plan}");
        }
    }
}

/// Ten thousand runs, of which a hundred were added and the others copied.
fn filled(archive: &mut Archive) {
    for hour in 0..100 {
        let mut run = record(["alpha", "beta", "gamma"][hour as usize % 3], hour % 7);
        run.invocation.started_unix_ms = START_MS + hour * HOUR_MS;
        add(archive, &run);
    }
    let copy = "CREATE TEMP TABLE copy AS SELECT * FROM runs WHERE number <= 100; \
         UPDATE copy SET number = NULL, id = lower(hex(randomblob(8))), started_ms = started_ms + \
         abs(random() % 360000000); INSERT INTO runs SELECT * FROM copy; DROP TABLE copy;";
    let transaction = connection(archive).unchecked_transaction().unwrap();
    transaction.execute_batch(&copy.repeat(99)).unwrap();
    for (table, columns) in
        [("facts", "name, value"), ("figures", "name, value"), ("records", "json")]
    {
        let sql = format!(
            "INSERT INTO {table} SELECT number, {columns} FROM runs JOIN {table} ON run = (number - \
             1) % 100 + 1 WHERE number > 100"
        );
        transaction.execute(&sql, []).unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn the_time_of_a_list_grows_with_its_runs_and_no_faster() {
    let (_directory, mut archive) = archive();
    filled(&mut archive);
    let took = |filter: &str, found: Option<usize>| {
        let filter = Filter::parse(filter, NOW).unwrap();
        let began = Instant::now();
        let rows = archive.list(&filter).unwrap();
        assert!(found.is_none_or(|found| found == rows.len()), "{filter:?}: {}", rows.len());
        began.elapsed()
    };
    let tenth = took("limit=1000", Some(1000));
    for (filter, found) in [
        ("", Some(10_000)),
        ("limit=50 offset=5000", Some(50)),
        ("sort=-p99 limit=50", Some(50)),
        ("job=alpha", Some(3400)),
        ("iops>3k p99<1ms", None),
        ("beta sort=job", Some(3300)),
    ] {
        // A time that grows with the square of the runs would be a hundred of these.
        let whole = took(filter, found);
        assert!(whole < 40 * tenth, "{filter:?}: {whole:?}, {tenth:?} for a tenth of the runs");
    }
}
