//! What a newcomer meets: `fathom` alone, and a result to show to others.

use crate::common::tty::Tty;
use crate::common::*;
use rustix::process::Signal;
use std::fs;
use std::process::Command;

#[test]
fn fathom_alone_says_what_can_be_done_here() {
    let directory = scratch();
    fs::write(directory.path().join("mine.fio"), "[a]\nrw=read\nsize=1m\n").unwrap();
    let ran = run(Command::new(FATHOM).current_dir(directory.path())).expect(0);
    for part in ["Here: ", " free\n", "  fathom test .", "  fathom run mine.fio", "fathom --help"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.err.is_empty() && !ran.out.contains('\x1b'), "{}{}", ran.err, ran.out);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "it left something");
}

#[test]
fn fathom_alone_where_nothing_can_be_written_says_so() {
    let ran = run(Command::new(FATHOM).current_dir("/proc")).expect(0);
    assert!(ran.out.contains("A test is not possible here: "), "{}", ran.out);
    assert!(ran.out.contains("fathom test DIRECTORY"), "{}", ran.out);
}

#[test]
fn a_shared_report_names_no_machine_and_no_path() {
    let directory = scratch();
    let secret = directory.path().join("customer-acme");
    fs::create_dir(&secret).unwrap();
    let record = directory.path().join("run.json").display().to_string();
    let job =
        ["--name=a", "--rw=randread", "--bs=4k", "--size=1m", "--runtime=200ms", "--time_based=1"];
    let ran =
        fathom(&secret, &[&job[..], &["--filename=secret-file", "--record", &record]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = directory.path().join("page.html");
    let report = |more: &[&str]| {
        run(Command::new(FATHOM).arg("report").arg(&record).arg("-o").arg(&page).args(more))
            .expect(0);
        fs::read_to_string(&page).unwrap()
    };
    let hostname = hostname_cell();
    let names = ["customer-acme", "secret-file"];
    let recorded = fs::read_to_string(&record).unwrap();
    assert!(names.iter().all(|name| recorded.contains(name)), "the record names them");
    assert!(report(&[]).contains(&hostname), "the plain report names the machine");
    let shared = report(&["--share"]);
    for name in names.iter().copied().chain([directory.path().to_str().unwrap(), &hostname]) {
        assert!(!shared.contains(name), "{name} is in the shared report");
    }
    assert!(shared.contains("IOPS"), "the figures are gone");
}

#[test]
fn a_test_says_what_each_part_is_for_and_ends_in_one_screen() {
    const ROWS: u16 = 24;
    let directory = scratch();
    let at = directory.path().display();
    let tty =
        Tty::with("test", ROWS, 80, &format!("--quick --size=64m --archive={at}/archive.db {at}"));
    for part in ["Fill a file: ", "Find the knee of random reads: ", "Measure each kind of work, "]
    {
        tty.shows(part);
    }
    // Most of it is measured: the whole report would be longer than the screen.
    tty.shows("  0:05 left  ");
    tty.signal(Signal::INT);
    tty.shows("Runs:   ");
    let out = tty.out();
    let report = &out[out.rfind("\r\x1b[K").unwrap()..];
    assert!(report.lines().count() < usize::from(ROWS), "{report}");
    assert!(report.contains("fathom runs show ") && report.contains("Ended early"), "{report}");
}

#[test]
fn the_progress_of_a_test_does_not_wrap_on_a_narrow_terminal() {
    let directory = scratch();
    let tty = Tty::with(
        "test",
        24,
        60,
        &format!("--size=64m --no-archive {}", directory.path().display()),
    );
    tty.shows("Find the knee");
    tty.shows("random read");
    tty.signal(Signal::INT);
    tty.told("code");
    let out = tty.out();
    let drawn = out.split(['\r', '\n']).filter(|line| line.contains(" left  "));
    let widest = drawn.map(|line| line.trim_end_matches("\x1b[K").chars().count()).max().unwrap();
    assert!((50..60).contains(&widest), "{widest}: {out}");
}

/// This machine's name as the kernel tells it, in a form that no other word has.
fn hostname_cell() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    format!(">{}<", name.trim())
}

/// What bash offers after these words; the last one is begun.
fn completed(archive: &str, words: &[&str]) -> Vec<String> {
    let directory = scratch();
    let script = directory.path().join("completions");
    fs::write(&script, run(Command::new(FATHOM).args(["completions", "bash"])).expect(0).out)
        .unwrap();
    let script = script.display();
    let last = words.len();
    let quoted = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let before = if last > 1 { words[last - 2] } else { FATHOM };
    let ask = format!(
        "source '{script}'\nCOMP_WORDS=('{FATHOM}' {quoted}); COMP_CWORD={last}\n\
         _fathom_with_names '{FATHOM}' '{}' '{before}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words[last - 1]
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &ask]).env("FATHOM_ARCHIVE", archive);
    let ran = run(&mut bash);
    assert!(ran.err.is_empty(), "{}", ran.err);
    ran.out.lines().map(str::to_owned).collect()
}

#[test]
fn a_path_in_place_of_a_command_is_answered_with_the_command() {
    let directory = scratch();
    std::fs::write(directory.path().join("job.fio"), "[a]\n").unwrap();
    for (word, tip) in [(".", "try 'fathom test .'"), ("job.fio", "try 'fathom run job.fio'")] {
        let ran = run(Command::new(FATHOM).arg(word).current_dir(directory.path())).expect(2);
        assert!(ran.err.contains(tip), "{}", ran.err);
    }
}

#[test]
fn completions_know_options_of_jobs_tags_ids_and_examples() {
    let directory = scratch();
    let archive = directory.path().join("archive.db").display().to_string();
    let fathom = |arguments: &[&str]| {
        let mut command = Command::new(FATHOM);
        command.args(arguments).env("FATHOM_ARCHIVE", &archive).current_dir(directory.path());
        run(&mut command).expect(0)
    };
    fathom(&["run", "--name=a", "--ioengine=null", "--size=1m", "--rw=read"]);
    fathom(&["runs", "tag", "latest", "before-update"]);
    let id = fathom(&["names", "runs"]).out.lines().last().unwrap().to_owned();
    let has = |words: &[&str], one: &str| completed(&archive, words).contains(&one.to_owned());
    assert!(has(&["run", "--iodepth_b"], "--iodepth_batch"));
    assert!(has(&["report", "bef"], "before-update"));
    assert!(has(&["runs", "show", &id[..4]], &id) && id.len() == 8, "{id}");
    assert!(has(&["compare", "latest", "lat"], "latest~1"));
    assert!(has(&["run", "--example", "etcd"], "etcd-fsync"));
    assert!(has(&["examples", "etcd"], "etcd-fsync"));
    assert!(!has(&["inspect", "bef"], "before-update"));
}
