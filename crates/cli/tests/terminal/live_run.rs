//! The live view of `fathom run` on a terminal made by script(1): pictures, keys, and the state of the
//! terminal after each kind of end.

use crate::common::tty::{GIVEN_BACK, SEEN_RUNNING, TAKEN, Tty};
use crate::common::{system, wait_until};
use rustix::process::Signal;

/// A run that would take a minute.
const LONG: &str = "--name=reader --ioengine=null --rw=randread --bs=4k --size=1g --iodepth=4 \
                    --time_based --runtime=60";

#[track_caller]
fn run(rows: u16, columns: u16, arguments: &str) -> Tty {
    Tty::with("run", rows, columns, arguments)
}

/// What is on the normal screen after the last picture.
fn after_the_picture(tty: &Tty) -> String {
    let out = tty.out();
    let end = out.rfind(GIVEN_BACK[0]).expect("the terminal was given back");
    out[end..].to_owned()
}

#[test]
fn a_long_run_is_drawn_and_a_key_ends_it_with_its_report() {
    let mut tty = run(30, 110, LONG);
    tty.shows(TAKEN);
    for part in ["fathom run", "reader", SEEN_RUNNING, "p99.9", "IO/s", "q"] {
        tty.shows(part);
    }
    tty.press("?\x0c");
    tty.shows("docs/LIVE.md");
    tty.press("?");
    let before = tty.out().len();
    system("stty", &["-F", &tty.told("name"), "rows", "10", "cols", "40"]);
    wait_until("the smaller picture", || tty.out()[before..].contains("\x1b[10;"));
    system("stty", &["-F", &tty.told("name"), "rows", "1", "cols", "1"]);
    system("stty", &["-F", &tty.told("name"), "rows", "30", "cols", "110"]);
    tty.press("q");
    tty.ended("130");
    let report = after_the_picture(&tty);
    for part in ["terminating on signal 2", "reader: (groupid=0", "read: IOPS="] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(!report.contains(TAKEN));
}

#[test]
fn a_terminal_that_does_not_know_its_size_shows_the_run() {
    let mut tty = run(0, 0, LONG);
    tty.shows(SEEN_RUNNING);
    tty.press("q");
    tty.ended("130");
}

#[test]
fn every_end_puts_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, "143"), (Signal::HUP, "129"), (Signal::INT, "130")] {
        let tty = run(24, 80, LONG);
        tty.shows(SEEN_RUNNING);
        tty.signal(signal);
        tty.ended(code);
        assert!(after_the_picture(&tty).contains("read: IOPS="), "{signal:?}");
    }
    let tty = run(
        24,
        80,
        "--live --name=short --ioengine=null --rw=read --size=1g --time_based --runtime=2",
    );
    tty.shows(SEEN_RUNNING);
    tty.ended("0");
}

#[test]
fn a_second_signal_ends_it_at_once_and_puts_the_terminal_back() {
    // The command of the job ignores the first signal.
    let tty = run(
        24,
        80,
        "--live --name=stuck --ioengine=null --rw=read --size=1m --exec_prerun='sleep 1000'",
    );
    tty.shows(TAKEN);
    tty.signal(Signal::TERM);
    tty.shows("terminating on signal 15");
    // A signal that follows sooner counts as the same one.
    wait_until("the end", || {
        tty.signal_if_there(Signal::TERM);
        tty.file("code").exists()
    });
    tty.ended("143");
}

#[test]
fn where_no_picture_suits_there_is_none() {
    let short = "--name=short --ioengine=null --rw=read --size=1m --runtime=1 --time_based";
    for (dressing, arguments) in [
        ("", short.to_owned()),
        ("", format!("{short} --runtime=6 --no-live")),
        ("", format!("{short} --eta=never")),
        ("", format!("{short} --eta=always")),
        ("", format!("{short} --output-format=json")),
        ("", format!("{short} --status-interval=500ms")),
        ("TERM=dumb ", short.to_owned()),
    ] {
        let arguments = arguments.replace("--runtime=6", "--runtime=1");
        let tty = Tty::dressed(dressing, "run", 24, 80, &arguments);
        assert_eq!(tty.told("code"), "0", "{}", tty.out());
        assert!(!tty.out().contains(TAKEN), "{arguments}");
    }
    let tty = Tty::with("fio", 24, 80, LONG);
    tty.shows("Jobs: 1");
    assert!(!tty.out().contains(TAKEN));
}

#[test]
fn suspended_it_gives_the_terminal_back_and_takes_it_again() {
    let mut tty = run(24, 80, LONG);
    tty.shows(SEEN_RUNNING);
    tty.suspended("fathom run");
    tty.press("\x03");
    tty.ended("130");
}

#[test]
fn what_is_said_meanwhile_is_shown_in_the_picture_and_said_again_after_it() {
    let mut tty = run(40, 110, LONG);
    tty.shows(SEEN_RUNNING);
    // SIGUSR1 prints a report. While there is a picture, the report is held until after it.
    tty.signal(Signal::USR1);
    tty.shows("Found so far");
    tty.press("q");
    tty.ended("130");
    let after = after_the_picture(&tty);
    assert_eq!(after.matches("reader: (groupid=0").count(), 2, "{after}");
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let ran = crate::common::fathom(
        crate::common::scratch().path(),
        &["--live", "--name=a", "--ioengine=null", "--size=1m"],
    );
    assert!(ran.err.contains("--live: standard output is not a terminal"), "{}", ran.err);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let elsewhere = ["--live", "--client=localhost", "--name=a"];
    assert_eq!(
        crate::common::fathom(crate::common::scratch().path(), &elsewhere).expect(2).out,
        ""
    );
}
