//! `fathom watch` on a terminal, which script(1) makes: it draws, follows the terminal's size, obeys
//! keys, and leaves the terminal as it was, however it ends.

use crate::common::tty::Tty;
use crate::common::{system, wait_until};
use rustix::process::Signal;
use std::path::PathBuf;

/// `fathom watch ARGUMENTS` on a terminal of so many rows and columns.
#[track_caller]
fn watch(rows: u16, columns: u16, arguments: &str) -> Tty {
    Tty::with("watch", rows, columns, &format!("--interval=100ms {arguments}"))
}

#[test]
fn it_draws_follows_the_size_and_quits_on_a_key() {
    let mut tty = watch(24, 100, "/proc");
    tty.shows("fathom watch");
    // The last of 24 rows, then that of 10, by the place the cursor is sent to.
    tty.shows("\x1b[24;");
    tty.shows("CPU");
    let before = tty.out().len();
    system("stty", &["-F", &tty.told("name"), "rows", "10", "cols", "40"]);
    wait_until("the smaller picture", || tty.out()[before..].contains("\x1b[10;"));
    system("stty", &["-F", &tty.told("name"), "rows", "1", "cols", "1"]);
    system("stty", &["-F", &tty.told("name"), "rows", "30", "cols", "120"]);
    tty.shows("\x1b[30;");
    // Between two pictures only what changed is written: a picture drawn anew has every word whole.
    tty.press("?\x0c");
    tty.shows("docs/WATCH.md");
    // Back to what it was, for the settings to be compared.
    system("stty", &["-F", &tty.told("name"), "rows", "24", "cols", "100"]);
    tty.press("q");
    tty.ended("0");
}

#[test]
fn every_end_puts_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, "143"), (Signal::HUP, "129"), (Signal::INT, "130")] {
        let tty = watch(24, 80, "");
        tty.shows("fathom watch");
        tty.signal(signal);
        tty.ended(code);
    }
    let mut tty = watch(24, 80, "");
    tty.shows("fathom watch");
    tty.press("\x03");
    tty.ended("0");
    watch(24, 80, "--count=2").ended("0");
}

#[test]
fn a_failure_is_told_on_the_terminal_given_back() {
    let tty = watch(24, 80, "--log=/dev/full");
    assert_eq!((tty.told("code"), tty.told("after")), ("1".into(), tty.told("before")));
    tty.shows("the log ends here: No space left");
}

#[test]
fn suspended_it_gives_the_terminal_back_and_takes_it_again() {
    let mut tty = watch(24, 80, "");
    tty.shows("fathom watch");
    tty.suspended("fathom watch");
    tty.press("q");
    tty.ended("0");
}

#[test]
fn a_terminal_that_goes_away_ends_it() {
    let mut tty = watch(24, 80, "");
    tty.shows("fathom watch");
    let stat = PathBuf::from(format!("/proc/{}/stat", tty.told("pid")));
    tty.script.kill().unwrap();
    tty.script.wait().unwrap();
    // Its parent went away with the terminal: who inherits it may take a while to notice.
    wait_until("the end of the program", || {
        std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "))
    });
}
