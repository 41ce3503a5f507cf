//! `fathom app` from end to end: files, compilers, SQLite. Database servers are in app_servers.rs.

use crate::common::*;
use record::{CacheState, RecordSet};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// `fathom app ARGUMENTS` in a directory.
#[track_caller]
fn app(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("app").args(arguments).current_dir(directory))
}

fn set_of(file: &Path) -> RecordSet {
    formats::load_set(file).unwrap()
}

#[test]
fn archives_and_copies_are_timed_cold_and_synchronised() {
    let directory = scratch();
    let at = directory.path();
    let options =
        ["--size=3m", "--files=60", "--repeat=2", "--cold", "--sync", "--record=set.json"];
    let ran = app(at, &[&["gzip,gunzip,copy"], &options[..]].concat()).expect(0);
    assert_eq!(names(at), ["set.json"], "nothing else is left");
    assert!(ran.err.is_empty(), "{}", ran.err);
    let wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("Record: ");
    assert_eq!(ran.out.lines().find(wide), None);
    for phase in ["gzip ", "gunzip ", "copy ", "TOTAL "] {
        assert!(ran.out.lines().any(|line| line.starts_with(phase)), "{phase}: {}", ran.out);
    }
    let set = set_of(&at.join("set.json"));
    assert_eq!((set.kind.as_str(), set.runs.len()), ("app", 6));
    for run in &set.runs {
        let work = run.work.as_ref().unwrap();
        assert_eq!((work.failure.as_deref(), work.cache), (None, CacheState::Dropped));
        let parts: Vec<_> = work.parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(parts, [run.cell.as_ref().unwrap().name.as_str(), "sync"]);
        let whole = run.jobs[0].results.read.latency.clat.as_ref().unwrap().max();
        // The engine reads the processor's counter, which it calibrates for 2 ms: busy machines disturb that.
        let whole = whole + whole / 1000;
        assert!(work.length().0 > 0 && work.window().unwrap().1.0 <= whole, "{work:?} {whole}");
        assert!(!run.timeline.samples.is_empty() && !run.facts.targets.is_empty());
    }
    let again = report::suite::app(&suite::app::conclude(&set, None), &Default::default());
    assert!(ran.out.starts_with(&again), "a kept set shows the same again: {again}");
    let found = suite::app::conclude(&set, None);
    assert_eq!(found.limited.iter().map(|limited| limited.cells.len()).sum::<usize>(), 3);
    let nonsense = ["too-short", "too-few-samples", "noisy-neighbour", "never-written"];
    assert!(!found.findings.iter().any(|f| nonsense.contains(&f.check)), "{:?}", found.findings);
    // The same work again, compared with the first measurement.
    let options = ["--size=3m", "--files=60", "--repeat=2", "--cold", "--no-record", "--json"];
    let with = ["gzip,gunzip,copy", "--sync", "--reference=set.json"];
    let value = app(at, &[&with, &options[..]].concat()).expect(0).json();
    assert!(value["phases"][2]["gain"]["percent"]["value"].is_f64(), "{value}");
    assert!(value["total_gain"]["reference_seconds"]["value"].as_f64().unwrap() > 0.0);
    let with = ["gzip,copy", "--reference=set.json"];
    let value = app(at, &[&with, &options[..]].concat()).expect(0).json();
    assert_eq!(value["phases"][0]["not_compared"], "gzip here, gzip + sync there");
    assert!(value["total_gain"].is_null());
    let value = app(at, &[&["gzip,copy", "--percent-of=copy"], &options[..]].concat());
    let value = value.expect(0).json();
    assert_eq!(
        (&value["share_of"], &value["phases"][1]["share"]["value"]),
        (&"copy".into(), &1.0.into())
    );
    let refused =
        app(at, &[&["gzip,copy", "--percent-of=gunzip"], &options[..]].concat()).expect(2);
    assert!(joined(&refused.err).contains("one of the phases gzip and copy"), "{}", refused.err);
}

#[test]
fn a_generated_project_is_configured_and_made() {
    let directory = scratch();
    let at = directory.path();
    let value =
        app(at, &["compile", "--files=4", "--repeat=2", "--jobs=2", "--json", "--no-record"])
            .expect(0)
            .json();
    let phases = value["phases"].as_array().unwrap();
    let told: Vec<_> = phases.iter().map(|p| (p["phase"].as_str(), p["unit"].as_str())).collect();
    assert_eq!(told, [(Some("configure"), Some("checks")), (Some("make"), Some("files"))]);
    assert!(phases.iter().all(|p| p["rounds"] == 2 && p["caches"] == "warm"), "{value}");
    assert_eq!(phases[1]["amount"], 4);
    assert_eq!(names(at), Vec::<String>::new());
}

#[test]
fn a_tree_of_ones_own_is_left_as_it_is() {
    let directory = scratch();
    let at = directory.path();
    fs::create_dir_all(at.join("own/sub")).unwrap();
    fs::write(at.join("own/sub/text"), "some text\n".repeat(5000)).unwrap();
    fs::create_dir(at.join("work")).unwrap();
    let tree = ["work", "--tree=own", "--repeat=1", "--no-record"];
    let command = "--command=test -s sub/text && echo x > made && rm -r sub";
    let ran = app(at, &[&["gunzip,gzip,copy,compile", command], &tree[..]].concat()).expect(0);
    assert!(ran.out.contains("copy 1 files, 48 KiB"), "{}", ran.out);
    assert_eq!((names(&at.join("own")), names(&at.join("work"))), (vec!["sub".into()], Vec::new()));
    // The message about a failed command includes its output, and the other work continues.
    let failing = "--command=echo 'no rule to make it' >&2; exit 2";
    let ran = app(at, &[&["compile,copy", failing], &tree[..]].concat()).expect(1);
    let said = joined(&ran.out);
    assert!(
        said.contains("compile failed: 'sh' ended with exit status: 2: no rule to make it"),
        "{said}"
    );
    assert!(ran.out.lines().any(|line| line.starts_with("copy ")), "{}", ran.out);
    let ran = app(at, &["copy", "own", "--tree=own", "--no-record"]).expect(2);
    assert!(ran.err.contains("contains the directory for its copy"), "{}", ran.err);
    assert_eq!(names(&at.join("own")), ["sub"]);
}

#[test]
fn sqlite_is_filled_counted_and_indexed() {
    let directory = scratch();
    let at = directory.path();
    let options = ["--rows=3000", "--repeat=2", "--sync", "--json", "--record=set.json"];
    let value = app(at, &[&["sqlite"], &options[..]].concat()).expect(0).json();
    let phases = value["phases"].as_array().unwrap();
    let told: Vec<_> = phases.iter().map(|p| p["phase"].as_str().unwrap()).collect();
    let expected = ["fetch", "insert", "count-cold", "count-warm", "index"];
    assert_eq!(told, expected.map(|name| format!("sqlite-{name}")));
    assert!(phases.iter().all(|p| p["amount"] == 3000 && p["unit"] == "rows"), "{value}");
    let caches: Vec<_> = phases.iter().map(|p| p["caches"].as_str().unwrap()).collect();
    assert_eq!(caches, ["warm", "warm", "dropped", "warm", "warm"]);
    assert_eq!(phases[1]["parts"][1]["name"], "sync");
    assert_eq!(names(at), ["set.json"]);
}

#[test]
fn who_may_not_empty_all_caches_empties_those_of_the_files() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::set_permissions(at, fs::Permissions::from_mode(0o777)).unwrap();
    // Other users may not be able to read the build directory.
    let program = at.join("fathom");
    fs::copy(FATHOM, &program).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    command.args(["app", "copy", "--size=1m", "--files=9", "--repeat=1", "--cold", "--no-record"]);
    let ran = run(command.current_dir(at)).expect(0);
    assert!(ran.out.contains(" files advised "), "{}", ran.out);
    assert!(joined(&ran.out).contains("because emptying all caches is for root"), "{}", ran.out);
}

#[test]
fn a_disk_that_is_full_is_told_and_costs_nothing_else() {
    let directory = scratch();
    let at = directory.path();
    let small = Mounted::new(&["-t", "tmpfs", "-o", "size=16m"], "tmpfs", at.join("small"));
    let ran = app(at, &["gzip", "small", "--size=10m", "--no-record"]).expect(3);
    assert!(
        ran.err.contains("the benchmark needs about 25 MiB, and 16 MiB are free"),
        "{}",
        ran.err
    );
    fs::create_dir(at.join("own")).unwrap();
    fs::write(at.join("own/file"), "x").unwrap();
    let fill = "--command=head -c 50m /dev/zero > large";
    let tree = ["small", "--tree=own", "--repeat=1", "--record=set.json", fill];
    let ran = app(at, &[&["copy,compile"], &tree[..]].concat()).expect(1);
    assert!(joined(&ran.out).contains("No space left on device"), "{}", ran.out);
    assert!(joined(&ran.out).contains("keeps its files in memory"), "{}", ran.out);
    assert_eq!(set_of(&at.join("set.json")).runs.len(), 2);
    assert_eq!(names(small.path()), Vec::<String>::new());
}

#[test]
fn a_signal_ends_what_is_under_way_and_leaves_nothing() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let directory = scratch();
        let at = directory.path();
        for name in ["own", "work"] {
            fs::create_dir(at.join(name)).unwrap();
        }
        fs::write(at.join("own/file"), "x").unwrap();
        let fifo = at.join("own/running");
        run(Command::new("mkfifo").arg(&fifo)).expect(0);
        // Only a signal ends it.
        let command = "--command=sleep 1000 & touch begun; wait";
        let options = ["compile", "work", "--tree=own", "--no-record", command];
        let running = Running::fathom("app", at, &options);
        let begun = || {
            names(&at.join("work"))
                .iter()
                .any(|name| at.join("work").join(name).join("build/begun").exists())
        };
        wait_until("the command", begun);
        running.signal(signal);
        let ran = running.end().expect(code);
        assert!(ran.out.contains("Nothing was measured."), "{}", ran.out);
        assert!(ran.out.contains("Ended early by signal"), "{}", ran.out);
        assert_eq!(names(&at.join("work")), Vec::<String>::new());
        let sleeping = run(Command::new("pgrep").args(["-f", "^sleep 1000$"])).out;
        for pid in sleeping.lines() {
            let directory = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            assert!(!directory.starts_with(at), "{pid} still runs in {directory:?}");
        }
    }
}

#[test]
fn mistakes_are_refused_before_anything_is_made() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("file"), "x").unwrap();
    fs::create_dir(at.join("empty")).unwrap();
    fs::create_dir(at.join("here")).unwrap();
    fathom(at, &["--name=x", "--ioengine=null", "--size=4k", "--record=run.json"]).expect(0);
    let read_only = Mounted::new(&["-t", "tmpfs", "-o", "ro"], "tmpfs", at.join("read-only"));
    let cases: [(&[&str], i32, &str); 19] = [
        (&[], 2, "required"),
        (&["zip"], 2, "possible values: gzip, gunzip"),
        (&["gzip,gzip"], 2, "'gzip' is given twice"),
        (&["gzip", "nowhere/at/all"], 2, "not there; make it first"),
        (&["gzip", "/dev/null"], 3, "neither a directory nor a file"),
        (&["gzip", read_only.path().to_str().unwrap()], 3, "mounted read-only"),
        (&["gzip", "here", "--repeat=0"], 2, "--repeat"),
        (
            &["gzip", "here", "--rows=5"],
            2,
            "--rows is only for mysql, postgres, sqlite; leave it out",
        ),
        (&["sqlite", "here", "--size=5m"], 2, "--size is only for gzip, gunzip, copy"),
        (&["copy", "here", "--jobs=2"], 2, "--jobs is only for compile"),
        (&["compile", "here", "--command=make"], 2, "--tree"),
        (&["copy", "here", "--tree=nowhere"], 2, "--tree=nowhere: No such file"),
        (&["copy", "here", "--tree=file"], 2, "--tree=file is not a directory"),
        (&["copy", "here", "--tree=empty"], 2, "contains no file"),
        (&["copy", "here", "--tree=empty", "--size=1m"], 2, "leave them out with --tree"),
        (&["gzip", "here", "--reference=nowhere.json"], 2, "--reference: "),
        (&["gzip", "here", "--reference=run.json"], 2, "a record of 'fathom run'"),
        (&["gzip", "here", "--record=no/where.json"], 2, "its directory is not there"),
        (&["gzip", "here", "--size=900000g"], 3, "free more space, or use less"),
    ];
    for (arguments, code, says) in cases {
        let ran = app(at, arguments).expect(code);
        assert!(ran.err.contains(says), "{arguments:?}: {}", ran.err);
        assert_eq!(names(&at.join("here")), Vec::<String>::new(), "{arguments:?}");
    }
    let without = |program: &str| {
        let path = at.join("bin");
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        for name in ["cp", "tar", "gzip"].into_iter().filter(|name| *name != program) {
            std::os::unix::fs::symlink(format!("/bin/{name}"), path.join(name)).unwrap();
        }
        let mut command = Command::new(FATHOM);
        run(command.args(["app", "gzip", "here", "--no-record"]).current_dir(at).env("PATH", path))
    };
    let ran = without("gzip").expect(3);
    assert!(
        ran.err.contains("'gzip' is needed and not installed: apt-get install gzip"),
        "{}",
        ran.err
    );
    let ran = run(Command::new(FATHOM).args(["app-step", "file"]).current_dir(at)).expect(2);
    assert!(ran.err.contains("this command is part of 'fathom app'"), "{}", ran.err);
}

#[test]
fn statements_of_ones_own_are_a_phase() {
    let directory = scratch();
    let at = directory.path();
    let sql = "CREATE TABLE sums AS SELECT kind, sum(amount) AS s FROM {table} GROUP BY kind;\n\
               SELECT * FROM sums;\nDROP TABLE sums;\n";
    fs::write(at.join("own.sql"), sql).unwrap();
    let line = ["sqlite", "--rows=2000", "--repeat=2", "--sql=own.sql", "--json", "--no-archive"];
    let value = app(at, &line).expect(0).json();
    let last = value["phases"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["phase"], &last["rounds"]), (&"sqlite-sql".into(), &2.into()));
    assert!(last["unit"].is_null() && last["io_over_time"].is_array(), "{last}");
    fs::write(at.join("bad.sql"), "SELECT * FROM nothing_here;").unwrap();
    let ran = app(at, &["sqlite", "--rows=2000", "--repeat=1", "--sql=bad.sql", "--no-archive"])
        .expect(1);
    assert!(joined(&ran.out).contains("no such table: nothing_here"), "{}", ran.out);
    let refused = app(at, &["gzip", "--sql=own.sql"]).expect(2);
    assert!(refused.err.contains("--sql is only for mysql, postgres, sqlite"), "{}", refused.err);
}
