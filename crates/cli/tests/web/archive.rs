//! Every run goes into the archive, quietly; and nothing that is wrong with it costs a run.

use crate::common::*;
use archive::{Archive, Filter, Location, Row};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A run that is over at once.
const TINY: [&str; 4] = ["--name=tiny", "--ioengine=null", "--size=1m", "--rw=read"];

/// `fathom ARGUMENTS` in a directory, with an archive there.
#[track_caller]
fn archiving(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(FATHOM);
    command.args(arguments).current_dir(directory);
    run(command.env(ARCHIVE, directory.join("archive.db")))
}

fn open(path: &Path) -> Archive {
    Archive::open_existing(&Location::explicit(path)).unwrap()
}

/// What is in an archive, what ran last first.
fn rows(path: &Path) -> Vec<Row> {
    open(path).list(&Filter::all()).unwrap()
}

#[test]
fn a_run_is_archived_and_named_below_its_report() {
    let directory = scratch();
    let at = directory.path();
    let ran = archiving(at, &[&["run", "--record=run.json"][..], &TINY].concat()).expect(0);
    let found = rows(&at.join("archive.db"));
    let [row] = &found[..] else { panic!("{found:#?}") };
    let last = format!("\nRun:    {0} (fathom runs show {0})\n", row.id.short());
    assert!(ran.out.ends_with(&last), "{}", ran.out);
    assert_eq!((row.job.as_str(), row.kind.as_str(), row.engine.as_str()), ("tiny", "run", "null"));
    assert!(row.iops.is_some_and(|iops| iops > 0.0) && row.found.is_some());
    let record = formats::load(&at.join("run.json")).unwrap();
    assert_eq!(open(&at.join("archive.db")).load(&row.id).unwrap(), record);
    assert_eq!(names(at), ["archive.db", "run.json"]);
    let json = ["run", "--output-format=json"];
    let ran = archiving(at, &[&json[..], &TINY].concat()).expect(0);
    let newest = rows(&at.join("archive.db"))[0].id.clone();
    assert_eq!(ran.json()["fathom"]["archived_as"], newest.as_str());
}

#[test]
fn what_a_run_is_for_is_kept_shown_and_asked_for() {
    let directory = scratch();
    let at = directory.path();
    fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["run"][..], more, &TINY].concat()
    }
    let ran = archiving(at, &words(&["--why=is the new disk as fast"])).expect(0);
    assert!(ran.out.contains("\nWhy:    is the new disk as fast\nRun:    "), "{}", ran.out);
    let row = &rows(&at.join("archive.db"))[0];
    assert_eq!(row.note, "is the new disk as fast");
    let record = open(&at.join("archive.db")).load(&row.id).unwrap();
    assert_eq!(record.invocation.why, "is the new disk as fast");
    let listed = archiving(at, &["runs", "new disk"]).expect(0);
    assert!(listed.out.contains(row.id.short()), "{}", listed.out);
    let ran = archiving(at, &words(&["--description=as the shop reads"])).expect(0);
    assert!(ran.out.contains("\nWhy:    as the shop reads\n"), "{}", ran.out);
    let ran = archiving(at, &words(&[])).expect(0);
    assert!(ran.out.contains("\nWhy:    not given; --why=TEXT keeps"), "{}", ran.out);
    let ran = archiving(at, &words(&["--output-format=json", "--why=x"])).expect(0);
    assert_eq!(ran.json()["fathom"]["why"], "x");
    let ran = archiving(at, &words(&["--output-format=json"])).expect(0);
    assert!(ran.json()["fathom"]["why"].is_null() && !ran.out.contains("--why=TEXT"));
    // Of so little, which of the two is faster is chance.
    let ran = archiving(at, &["compare", "latest~4", "latest"]);
    assert!(ran.out.starts_with("A is for: is the new disk as fast\n"), "{}", ran.out);
}

#[test]
fn under_other_names_it_is_archived_without_a_word() {
    let directory = scratch();
    let at = directory.path();
    let place = at.join("archive.db");
    let words = [&["fio"][..], &TINY].concat();
    let with = archiving(at, &words).expect(0);
    let without = run(Command::new(FATHOM).args(&words).current_dir(at)).expect(0);
    assert_eq!(with.out.lines().count(), without.out.lines().count());
    let names = |text: &str| text.contains("archive") || text.contains("Run: ");
    assert!(!names(&with.out) && !names(&with.err), "{with:?}");
    fs::write(at.join("file"), vec![7; 1 << 20]).unwrap();
    archiving(at, &["dd", "if=file", "of=/dev/null", "bs=64k"]).expect(0);
    let kinds: Vec<String> = rows(&place).into_iter().map(|row| row.kind).collect();
    assert_eq!(kinds, ["dd", "fio"]);
}

#[test]
fn what_runs_nothing_or_is_told_not_to_archives_nothing() {
    let directory = scratch();
    let at = directory.path();
    for more in [&["--parse-only"][..], &["--showcmd"], &["--no-archive"], &["--size=x"]] {
        archiving(at, &[&["run"][..], &TINY, more].concat());
        assert_eq!(names(at), [""; 0], "{more:?}");
    }
    for off in ["off", ""] {
        let mut command = Command::new(FATHOM);
        run(command.arg("run").args(TINY).current_dir(at).env(ARCHIVE, off)).expect(0);
        assert_eq!(names(at), [""; 0]);
    }
    let both = [&["run", "--archive=b.db", "--no-archive"][..], &TINY].concat();
    assert!(archiving(at, &both).expect(2).err.contains("leave one of them out"));
    archiving(at, &[&["run", "--archive=b.db"][..], &TINY].concat()).expect(0);
    assert_eq!(names(at), ["b.db"], "the option comes before the variable");
}

#[test]
fn repeats_are_a_set_and_sets_are_compared_by_name() {
    let directory = scratch();
    let at = directory.path();
    let repeated = [&["run", "--repeat=3"][..], &TINY].concat();
    archiving(at, &repeated).expect(0);
    let ran = archiving(at, &repeated).expect(0);
    let found = rows(&at.join("archive.db"));
    assert_eq!(found.len(), 6);
    let set = found[0].set.clone().unwrap();
    assert!(ran.out.ends_with(&format!("\nRuns:   {0} (fathom runs show {0})\n", set.short())));
    let rounds: Vec<_> = found.iter().map(|row| row.round).collect();
    assert_eq!(rounds, [2, 1, 0, 2, 1, 0].map(Some));
    let loaded = open(&at.join("archive.db")).load_named(set.as_str()).unwrap();
    assert_eq!((loaded.kind.as_str(), loaded.runs.len()), ("repeat", 3));
    let names = ["compare", "latest~1", set.short(), "--tolerance=99%"];
    let ran = archiving(at, &names).expect(0);
    assert!(ran.out.contains("3 runs") || ran.out.contains("tiny"), "{}", ran.out);
    let ran = archiving(at, &["compare", "lastest", "latest"]).expect(2);
    let said = joined(&ran.err);
    assert!(said.contains("No such file") && said.contains("no run is called 'lastest'"), "{said}");
}

#[test]
fn a_kill_costs_the_run_under_way_and_no_other() {
    let directory = scratch();
    let place = directory.path().join("archive.db");
    let mut command = Command::new(FATHOM);
    command.args(["run", "--repeat=10000"]).args(TINY).env(ARCHIVE, &place);
    let mut running = Running::start(command.current_dir(directory.path()));
    running.says("out", "3/10000");
    running.signal(Signal::KILL);
    running.end();
    let found = rows(&place);
    assert!(found.len() >= 3, "{}", found.len());
    let archive = open(&place);
    assert!(found.iter().all(|row| archive.load(&row.id).is_ok()));
}

#[test]
fn a_sweep_is_a_set_that_is_gone_on_with() {
    let directory = scratch();
    let at = directory.path();
    let words = [&["sweep", "--into=kept", "--repeat=1", "--vary=bs=4k,8k"][..], &TINY].concat();
    archiving(at, &words).expect(0);
    archiving(at, &["sweep", "--resume", "kept", "--archive", "archive.db"]).expect(0);
    let found = rows(&at.join("archive.db"));
    assert_eq!(found.len(), 2);
    let cells = names(&at.join("kept/cells"));
    fs::remove_file(at.join("kept/cells").join(&cells[0])).unwrap();
    archiving(at, &["sweep", "--resume", "kept"]).expect(0);
    let found = rows(&at.join("archive.db"));
    assert_eq!(found.len(), 3);
    let set = found[0].set.clone().unwrap();
    assert!(found.iter().all(|row| row.set.as_ref() == Some(&set)));
    let loaded = open(&at.join("archive.db")).load_named("latest").unwrap();
    assert_eq!(loaded.runs.len(), 2, "the one made again replaces the one before");
}

#[test]
fn what_is_no_archive_is_refused_before_anything_runs() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("notes.txt"), "words").unwrap();
    let words = [&["run", "--archive=notes.txt", "--record=r.json"][..], &TINY].concat();
    let ran = archiving(at, &words).expect(2);
    assert!(ran.err.contains("no SQLite file, not an archive of fathom"), "{}", ran.err);
    for verb in ["run", "test"] {
        let job = if verb == "run" { &TINY[..] } else { &[] };
        let ran = archiving(at, &[&[verb, "--archive=no/where/a.db"][..], job].concat()).expect(2);
        let said = "no/where/a.db: its directory is not there; make it first";
        assert!(joined(&ran.err).contains(said), "{}", ran.err);
    }
    let ran = archiving(at, &["test", "--archive=notes.txt"]).expect(2);
    assert!(ran.err.contains("no SQLite file"), "{}", ran.err);
    assert_eq!((fs::read(at.join("notes.txt")).unwrap(), names(at).len()), (b"words".into(), 1));
}

/// A run whose archive cannot be used: it is reported, its record is found, and imported.
#[track_caller]
fn costs_nothing(ran: Ran, says: &str, at: &Path) {
    let ran = ran.expect(0);
    assert!(ran.out.contains("tiny: (groupid=0, jobs=1)"), "{}", ran.out);
    assert!(!ran.out.contains("Run: "), "{}", ran.out);
    let said = &ran.err;
    assert!(said.starts_with("fathom: not archived: ") && said.contains(says), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let name = names(at).into_iter().find(|name| name.starts_with("fathom-run-")).unwrap();
    assert!(said.contains(&format!("{name}' archives it")), "{said}");
    assert_eq!(formats::load(&at.join(&name)).unwrap().jobs[0].name, "tiny");
    fs::remove_file(at.join(name)).unwrap();
}

#[test]
fn an_archive_that_cannot_be_used_costs_no_run() {
    let directory = scratch();
    let at = directory.path();
    let tiny = || {
        let mut command = Command::new(FATHOM);
        command.arg("run").args(TINY).current_dir(at);
        command
    };
    fs::write(at.join("notes.txt"), "words").unwrap();
    costs_nothing(run(tiny().env(ARCHIVE, "notes.txt")), "left alone", at);
    assert_eq!(fs::read(at.join("notes.txt")).unwrap(), b"words");
    costs_nothing(run(tiny().env(ARCHIVE, "notes.txt/archive.db")), "notes.txt", at);
    costs_nothing(run(tiny().env(ARCHIVE, "no/where/a.db")), "its directory is not there", at);
    assert!(!at.join("no").exists());
    let full = Mounted::new(&["-t", "tmpfs", "-o", "size=4k"], "tmpfs", at.join("full"));
    costs_nothing(run(tiny().env(ARCHIVE, full.path().join("a.db"))), "no space is left", at);
    assert_eq!(names(full.path()), [""; 0], "nothing half-made is left");
    let fixed = Mounted::new(&["-t", "tmpfs", "-o", "ro"], "tmpfs", at.join("fixed"));
    costs_nothing(run(tiny().env(ARCHIVE, fixed.path().join("a.db"))), "cannot be opened", at);
}

#[test]
fn a_full_disk_keeps_what_was_archived_before() {
    let directory = scratch();
    let at = directory.path();
    let full = Mounted::new(&["-t", "tmpfs", "-o", "size=400k"], "tmpfs", at.join("full"));
    let place = full.path().join("archive.db");
    let mut command = Command::new(FATHOM);
    command.args(["run", "--repeat=60"]).args(TINY).current_dir(at).env(ARCHIVE, &place);
    let ran = run(&mut command).expect(0);
    assert_eq!(ran.err.matches("not archived").count(), 1, "{}", ran.err);
    let name = names(at).into_iter().find(|name| name.starts_with("fathom-repeat-")).unwrap();
    let beside = formats::load_set(&at.join(name)).unwrap();
    let archived = rows(&place);
    assert!(!archived.is_empty() && !beside.runs.is_empty());
    assert_eq!(archived.len() + beside.runs.len(), 60);
}

/// Neither a variable nor the system knows a home: what is archived otherwise lies where it was made.
#[test]
fn without_a_home_runs_are_kept_where_they_are_made() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::set_permissions(at, fs::Permissions::from_mode(0o777)).unwrap();
    // Where it was built may be closed to others.
    let program = at.join("fathom");
    fs::copy(FATHOM, &program).unwrap();
    let homeless = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=54321", "--regid=54321", "--clear-groups"]).arg(&program);
        command.args(arguments).current_dir(at).env("PATH", "/usr/bin:/bin");
        for variable in ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", ARCHIVE] {
            command.env_remove(variable);
        }
        run(&mut command)
    };
    let beside = |kind: &str| {
        let prefix = format!("fathom-{kind}-");
        names(at).into_iter().find(|name| name.starts_with(&prefix)).expect("a record")
    };
    let ran = homeless(&[&["run"][..], &TINY].concat()).expect(0);
    let told =
        "the location of the archive is unknown: neither XDG_DATA_HOME nor a home directory is set";
    assert!(ran.err.contains(told) && ran.err.lines().count() == 1, "{}", ran.err);
    assert!(ran.err.contains(&beside("run")), "{}", ran.err);
    assert!(!ran.out.contains("fathom runs show"), "{}", ran.out);
    assert_eq!(formats::load(&at.join(beside("run"))).unwrap().jobs[0].name, "tiny");
    let quiet = homeless(&[&["run", "--no-archive"][..], &TINY].concat()).expect(0);
    assert_eq!(quiet.err, "");
    let knee = ["knee", "--size=8m", "--time=20ms", "--repeat=1", "--depths=1,2"];
    let ran = homeless(&knee).expect(0);
    assert_eq!(ran.err.matches(told).count(), 1, "{}", ran.err);
    assert!(formats::load_set(&at.join(beside("knee"))).unwrap().runs.len() > 1);
    let none = homeless(&["runs"]).expect(2);
    assert!(none.err.contains(told) && none.err.contains("--archive"), "{}", none.err);
}

#[test]
fn a_damaged_archive_is_put_aside_for_a_new_one() {
    let directory = scratch();
    let at = directory.path();
    let place = at.join("fathom/archive.db");
    fs::create_dir(at.join("fathom")).unwrap();
    fs::write(&place, vec![0xa5; 20_000]).unwrap();
    let mut command = Command::new(FATHOM);
    command.arg("run").args(TINY).current_dir(at).env("XDG_DATA_HOME", at).env_remove(ARCHIVE);
    let ran = run(&mut command).expect(0);
    assert!(ran.err.contains("was damaged") && ran.err.lines().count() == 1, "{}", ran.err);
    assert_eq!(rows(&place).len(), 1);
    let aside = names(&at.join("fathom")).into_iter().find(|name| name.contains(".corrupt-"));
    assert_eq!(fs::read(at.join("fathom").join(aside.unwrap())).unwrap(), vec![0xa5; 20_000]);
}
