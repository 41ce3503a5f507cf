//! The archive from the command line: listing, showing, labelling, carrying out and in, removing.

use crate::common::{FATHOM, Ran, fio, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// `fathom ARGUMENTS` in a directory, with an archive there.
fn call(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM)
        .args(arguments)
        .env("FATHOM_ARCHIVE", directory.join("archive.db"))
        .env("COLUMNS", "100")
        .current_dir(directory))
}

/// A record in a file: of a run without I/O to any device.
fn record(directory: &Path, file: &str, arguments: &[&str]) {
    let option = format!("--record={file}");
    let line = [&["run", "--ioengine=null", "--size=1m", "--bs=4k", &option], arguments].concat();
    let line: Vec<&str> = line.into_iter().collect();
    run(Command::new(FATHOM).args(line).env("FATHOM_ARCHIVE", "off").current_dir(directory))
        .expect(0);
}

/// The runs of an archive, what ran last first.
fn listed(directory: &Path, words: &[&str]) -> Vec<Value> {
    let line = [&["runs", "--json"], words].concat();
    call(directory, &line).expect(0).json().as_array().unwrap().clone()
}

fn id(row: &Value) -> String {
    row["id"].as_str().unwrap().to_owned()
}

#[test]
fn runs_are_brought_in_once_and_found_by_their_names() {
    let directory = scratch();
    let path = directory.path();
    record(path, "a.json", &["--name=first", "--rw=randread", "--iodepth=4"]);
    record(path, "b.json", &["--name=second", "--rw=write"]);
    let none = call(path, &["runs"]).expect(0);
    assert!(none.out.contains("No runs.") && none.err.contains("no archive yet"), "{none:?}");
    let added = call(path, &["runs", "import", "a.json", "b.json", "--tag=base"]).expect(0);
    assert_eq!(added.err.matches("1 run added").count(), 2, "{}", added.err);
    let again = call(path, &["runs", "import", "a.json"]).expect(0);
    assert!(again.err.contains("nothing new, 1 run there already"), "{}", again.err);
    let rows = listed(path, &[]);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["job"], "second", "what ran last comes first");
    assert_eq!(listed(path, &["job=first"]).len(), 1);
    assert_eq!(listed(path, &["tag=base", "rw=write"]).len(), 1);
    let text = call(path, &["runs"]).expect(0).out;
    assert!(text.lines().count() == 3 && text.lines().all(|l| l.chars().count() <= 100), "{text}");
    assert!(text.contains("randread 4k, depth 4"), "{text}");
    for name in [&id(&rows[0]), &id(&rows[0])[..6], "latest"] {
        let shown = call(path, &["runs", "show", name]).expect(0).out;
        assert!(
            shown.contains("second: (groupid=0, jobs=1)") && shown.contains("tags: base"),
            "{shown}"
        );
    }
    let earlier = call(path, &["runs", "show", "latest~1"]).expect(0).out;
    assert!(earlier.contains("first: (groupid=0") && earlier.contains("Verdict"), "{earlier}");
    let compared = call(path, &["compare", "latest", "latest", "--json"]).expect(4);
    let nothing = compared.json()["nothing_compared"].clone();
    assert!(nothing.as_str().unwrap().starts_with("too short"), "{nothing}");
    assert_eq!(compared.json()["environment"].as_array().map(Vec::len), Some(0));
}

#[test]
fn labels_are_put_on_and_taken_off() {
    let directory = scratch();
    let path = directory.path();
    record(path, "a.json", &["--name=a", "--rw=read"]);
    call(path, &["runs", "import", "a.json"]).expect(0);
    call(path, &["runs", "tag", "latest", "golden", "v2"]).expect(0);
    call(path, &["runs", "note", "golden", "before", "the", "new", "firmware"]).expect(0);
    let rows = listed(path, &[]);
    assert_eq!(rows[0]["tags"].to_string(), "[\"golden\",\"v2\"]");
    assert_eq!(rows[0]["note"], "before the new firmware");
    let shown = call(path, &["runs", "show", "v2"]).expect(0).out;
    assert!(shown.contains("note: before the new firmware"), "{shown}");
    call(path, &["runs", "tag", "--remove", "latest", "v2"]).expect(0);
    assert_eq!(listed(path, &[])[0]["tags"].to_string(), "[\"golden\"]");
    let wrong = call(path, &["runs", "tag", "latest", "two words"]).expect(2);
    assert!(wrong.err.contains("'two words' cannot be a tag"), "{}", wrong.err);
}

#[test]
fn runs_are_made_with_tags() {
    let directory = scratch();
    let path = directory.path();
    let job = ["--name=a", "--ioengine=null", "--size=1m", "--rw=read"];
    let run = |more: &[&str]| call(path, &[&["run"], &job[..], more].concat());
    run(&["--tag=new", "--tag=v3"]).expect(0);
    run(&["--tag=old", "--repeat=2"]).expect(0);
    call(
        path,
        &["sweep", "--vary=bs=4k,8k", "--tag=sweep", "--name=a", "--ioengine=null", "--size=1m"],
    )
    .expect(0);
    assert_eq!(listed(path, &["tag=new"])[0]["tags"].to_string(), "[\"new\",\"v3\"]");
    assert_eq!(listed(path, &["tag=old"]).len(), 2);
    assert!(listed(path, &["tag=sweep"]).len() >= 2);
    for (option, said) in [("--tag=a b", "'a b' cannot be a tag"), ("--no-archive", "contradicts")]
    {
        let wrong = run(&["--tag=x", option]).expect(2);
        assert!(wrong.err.contains(said), "{}", wrong.err);
    }
    assert_eq!(listed(path, &["tag=x"]).len(), 0);
}

#[test]
fn several_runs_are_removed_only_when_that_is_confirmed() {
    let directory = scratch();
    let path = directory.path();
    record(path, "set.json", &["--name=a", "--rw=read", "--repeat=3"]);
    record(path, "one.json", &["--name=b", "--rw=read"]);
    call(path, &["runs", "import", "set.json", "one.json"]).expect(0);
    let rows = listed(path, &["job=a"]);
    let set = rows[0]["set"].as_str().unwrap().to_owned();
    assert!(rows.len() == 3 && rows.iter().all(|row| row["set"] == set.as_str()), "{rows:?}");
    let text = call(path, &["runs"]).expect(0).out;
    assert!(text.contains("repeat x3") && text.lines().count() == 3, "{text}");
    assert_eq!(call(path, &["runs", "--all"]).expect(0).out.lines().count(), 5);
    let shown = call(path, &["runs", "show", &set[..8]]).expect(0).out;
    assert!(shown.contains("3 runs of fathom repeat"), "{shown}");
    let refused = call(path, &["runs", "rm", &set]).expect(3);
    assert!(
        refused.err.contains("3 runs match") && refused.err.contains("--yes"),
        "{}",
        refused.err
    );
    assert_eq!(listed(path, &[]).len(), 4);
    call(path, &["runs", "rm", "latest"]).expect(0);
    call(path, &["runs", "rm", "--yes", &set]).expect(0);
    assert!(listed(path, &[]).is_empty());
    let gone = call(path, &["runs", "rm", &set]).expect(2);
    assert!(gone.err.contains("no run is called"), "{}", gone.err);
}

#[test]
fn a_set_is_shown_as_the_command_that_made_it_shows_it() {
    let directory = scratch();
    let path = directory.path();
    let knee = ["knee", "--size=8m", "--time=20ms", "--repeat=1", "--depths=1,2"];
    let told = call(path, &knee).expect(0).out;
    let rows = listed(path, &["kind=knee"]);
    let shown = call(path, &["runs", "show", rows[0]["set"].as_str().unwrap()]).expect(0).out;
    let head = told.lines().find(|line| line.contains("power")).expect("a table of depths");
    assert!(shown.contains(head) && shown.contains("fill, round 1"), "{shown}");
    assert!(!shown.contains("Repeats"), "{shown}");
    let use_it = told.lines().find(|line| line.starts_with("Use iodepth=")).expect("a sentence");
    assert!(shown.contains(use_it), "{shown}");
}

#[test]
fn runs_go_out_as_records_and_tables_and_come_back() {
    let directory = scratch();
    let path = directory.path();
    record(
        path,
        "a.json",
        &["--name=a", "--rw=randrw", "--runtime=2", "--time_based", "--rate_iops=100"],
    );
    record(path, "b.json", &["--name=b", "--rw=read"]);
    call(path, &["runs", "import", "a.json", "b.json"]).expect(0);
    call(path, &["runs", "export", "latest~1", "-o", "out.json"]).expect(0);
    let (before, after) = (path.join("a.json"), path.join("out.json"));
    assert_eq!(formats::load(&after).unwrap(), formats::load(&before).unwrap());
    call(path, &["runs", "export", "latest", "latest~1", "-o", "both.json"]).expect(0);
    let other = path.join("other.db");
    let other = ["runs", "--archive", other.to_str().unwrap()];
    let line = [&other[..], &["import", "both.json"]].concat();
    assert!(call(path, &line).expect(0).err.contains("2 runs added"));
    let rows = call(path, &[&other[..], &["--json"]].concat()).expect(0).json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["set"].is_null()), "{rows}");
    call(path, &["runs", "export", "latest~1", "-o", "t.csv"]).expect(0);
    let csv = std::fs::read_to_string(path.join("t.csv")).unwrap();
    let short = &id(&listed(path, &[])[1])[..8];
    assert!(csv.lines().nth(1).unwrap().starts_with(&format!("{short},")), "{csv}");
    let table = ["runs", "export", "a.json", "latest", "-o", "t.parquet", "--what=percentiles"];
    let told = call(path, &table).expect(0).err;
    assert!(told.contains("rows of 2 runs"), "{told}");
    let bytes = std::fs::read(path.join("t.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let wrong = call(path, &["runs", "export", "latest", "-o", "x.txt"]).expect(2);
    assert!(wrong.err.contains(".json, .csv or .parquet"), "{}", wrong.err);
    let full = call(path, &["runs", "export", "latest", "-o", "none/x.csv"]).expect(1);
    assert!(full.err.contains("none/x.csv: cannot write: No such file"), "{}", full.err);
}

#[test]
fn results_of_fio_are_runs_like_others() {
    let directory = scratch();
    let path = directory.path();
    let line =
        ["--name=theirs", "--rw=randread", "--size=2m", "--output-format=json+", "--output=f.json"];
    fio(path, &line).expect(0);
    std::fs::write(path.join("broken.json"), "{\"fio version\": \"fio-3.33\", \"jobs\": [{")
        .unwrap();
    let imported = call(path, &["runs", "import", "f.json", "broken.json", "none.json"]).expect(2);
    let told = crate::common::joined(&imported.err);
    assert!(told.contains("1 run added") && told.contains("imported from fio-3."), "{told}");
    assert!(
        told.contains("broken.json: not a fathom record: the JSON of fio in it is broken"),
        "{told}"
    );
    assert!(told.contains("2 of 3 files not imported"), "{told}");
    let rows = listed(path, &["kind=fio"]);
    assert_eq!((rows.len(), rows[0]["job"].as_str()), (1, Some("theirs")));
    assert!(rows[0]["p99_ns"].as_f64().unwrap() > 0.0, "{}", rows[0]);
    let again = call(path, &["runs", "import", "f.json"]).expect(0);
    assert!(again.err.contains("nothing new"), "{}", again.err);
}

#[test]
fn judging_again_tells_what_changed() {
    let directory = scratch();
    let path = directory.path();
    record(path, "a.json", &["--name=a", "--rw=read"]);
    call(path, &["runs", "import", "a.json"]).expect(0);
    let same = call(path, &["runs", "rejudge", "--all"]).expect(0).out;
    assert!(same.contains("1 run judged by fathom") && same.contains("0 changed"), "{same}");
    let archive = path.join("archive.db");
    let changed = Command::new("sqlite3")
        .arg(&archive)
        .arg("UPDATE runs SET verdict = 'device (high)', found_errors = 7")
        .status();
    assert!(changed.unwrap().success());
    let shown = call(path, &["runs", "show", "latest"]).expect(0).out;
    assert!(crate::common::joined(&shown).contains("judged it: device (high)"), "{shown}");
    let told = call(path, &["runs", "rejudge", "latest"]).expect(0).out;
    assert!(told.contains("device (high) → ") && told.contains("errors 7 → 0"), "{told}");
    assert!(told.contains("1 changed"), "{told}");
}

#[test]
fn a_trend_tells_what_changed_with_it() {
    let directory = scratch();
    let path = directory.path();
    record(path, "a.json", &["--name=scan", "--rw=randread"]);
    let usual = formats::load(&path.join("a.json")).unwrap();
    let mut files = Vec::new();
    for day in 0..14_u64 {
        let mut run = usual.clone();
        run.invocation.started_unix_ms += day * 86_400_000;
        run.invocation.ended_unix_ms += day * 86_400_000;
        let factor = if day < 8 { 100 } else { 140 } + day % 3;
        for job in &mut run.jobs {
            job.results.read.runtime.0 = job.results.read.runtime.0 * factor / 100;
        }
        run.facts.kernel = if day < 8 { "6.1.0" } else { "6.12.0" }.into();
        let file = format!("day{day}.json");
        formats::save(&run, &path.join(&file)).unwrap();
        files.push(file);
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    call(path, &[&["runs", "import"], &files[..]].concat()).expect(0);
    let text = call(path, &["trend", "--job=scan", "-o", "t.svg"]).expect(0).out;
    assert!(text.contains("14 runs") && text.contains("(worse)"), "{text}");
    assert!(text.contains("then changed: kernel (6.1.0 → 6.12.0)"), "{text}");
    assert!(std::fs::read_to_string(path.join("t.svg")).unwrap().contains("</svg>"));
    let machine =
        call(path, &["trend", "rw=randread", "--metric=bandwidth", "--json"]).expect(0).json();
    assert_eq!(machine[0]["changes"][0]["first_run"], 8, "{machine}");
    let none = call(path, &["trend", "job=other"]).expect(2);
    assert!(none.err.contains("no run matches the filter"), "{}", none.err);
    let none = call(path, &["trend", "job=scan", "--metric=GET.ttfb.p99"]).expect(2);
    assert!(none.err.contains("no run that matches has a figure 'GET.ttfb.p99'"), "{}", none.err);
}

#[test]
fn mistakes_are_answered_and_nothing_is_harmed() {
    let directory = scratch();
    let path = directory.path();
    record(path, "a.json", &["--name=a", "--rw=read"]);
    call(path, &["runs", "import", "a.json"]).expect(0);
    let unknown = call(path, &["runs", "show", "0000beef"]).expect(2);
    assert!(unknown.err.contains("no run is called '0000beef'"), "{}", unknown.err);
    let word = call(path, &["runs", "hots=web"]).expect(2);
    assert!(word.err.contains("did you mean host?"), "{}", word.err);
    let before = call(path, &["runs", "--json", "show", "latest"]).expect(2);
    assert!(before.err.contains("apply to the list only"), "{}", before.err);
    let verb = call(path, &["runs", "host=web", "show", "latest"]).expect(2);
    assert!(verb.err.contains("show must come first: fathom runs show"), "{}", verb.err);
    let foreign = call(path, &["runs", "--archive=a.json"]).expect(2);
    assert!(foreign.err.contains("not an archive of fathom"), "{}", foreign.err);
    let off = run(Command::new(FATHOM).arg("runs").env("FATHOM_ARCHIVE", "off")).expect(2);
    assert!(off.err.contains("--archive=PATH"), "{}", off.err);
    assert_eq!(listed(path, &[]).len(), 1);
}
