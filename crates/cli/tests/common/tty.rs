//! A terminal, which script(1) makes, with a command in it that draws.

use super::{FATHOM, scratch, system, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The last words of a terminal given back: its own screen is left, and the cursor is shown.
pub const GIVEN_BACK: [&str; 2] = ["\x1b[?1049l", "\x1b[?25h"];

/// What a terminal is told when it is taken for a picture.
pub const TAKEN: &str = "\x1b[?1049h";

/// What is seen of "running" in any case: only letters that changed are drawn, and "waiting" ends
/// alike.
pub const SEEN_RUNNING: &str = "runn";

/// A terminal with a command of fathom in it. Ended with the value.
pub struct Tty {
    pub script: Child,
    directory: TempDir,
}

impl Tty {
    /// Of so many rows and columns, with `fathom VERB ARGUMENTS`.
    #[track_caller]
    pub fn with(verb: &str, rows: u16, columns: u16, arguments: &str) -> Tty {
        Tty::dressed("", verb, rows, columns, arguments)
    }

    /// The same, with settings of the environment before it ("TERM=dumb ").
    #[track_caller]
    pub fn dressed(settings: &str, verb: &str, rows: u16, columns: u16, arguments: &str) -> Tty {
        let directory = scratch();
        // The shell that tells its number becomes the program. Who runs the tests may ignore signals,
        // and would pass that on.
        let program = "sh -c 'echo $$ > pid.new; mv pid.new pid; \
                       exec env --default-signal=HUP,TSTP \"$0\" \"$@\"'";
        let line = format!(
            "stty rows {rows} cols {columns}; stty -g > before; tty > name.new; mv name.new name; \
             {settings}{program} {FATHOM} {verb} {arguments}; code=$?; \
             stty -g > after; echo $code > code.new; mv code.new code"
        );
        let out = std::fs::File::create(directory.path().join("out")).unwrap();
        let script = Command::new("script")
            .args(["--quiet", "--flush", "--command", &line, "/dev/null"])
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/sh")
            .env_remove("NO_COLOR")
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stdout(out)
            .spawn()
            .unwrap();
        Tty { script, directory }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What a file says once it is there.
    #[track_caller]
    pub fn told(&self, name: &str) -> String {
        wait_until(name, || self.file(name).exists());
        std::fs::read_to_string(self.file(name)).unwrap().trim().to_owned()
    }

    /// What was written to the terminal until now.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.file("out")).unwrap()).into_owned()
    }

    #[track_caller]
    pub fn shows(&self, text: &str) {
        wait_until(&format!("'{text}' on the terminal"), || self.out().contains(text));
    }

    pub fn press(&mut self, keys: &str) {
        self.script.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        let pid: i32 = self.told("pid").parse().unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Sends a signal to the program unless it has ended.
    pub fn signal_if_there(&self, signal: Signal) {
        let pid: i32 = self.told("pid").parse().unwrap();
        let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
    }

    /// The state letter of the program (proc_pid_stat(5)).
    fn state(&self) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.told("pid"))).unwrap();
        let behind_name = stat.rsplit_once(')').unwrap().1;
        behind_name.split_whitespace().next().unwrap().to_owned()
    }

    /// The terminal's settings now.
    fn settings(&self) -> String {
        system("stty", &["-F", &self.told("name"), "-g"])
    }

    /// Stops the program by signal and by key: each time the terminal is given back, and taken again
    /// when the program goes on, with `heading` drawn anew.
    #[track_caller]
    pub fn suspended(&mut self, heading: &str) {
        let raw = self.settings();
        assert_ne!(raw, self.told("before"));
        for by_key in [false, true] {
            if by_key {
                self.press("\x1a")
            } else {
                self.signal(Signal::TSTP)
            }
            wait_until("the stop", || self.state() == "T");
            assert_eq!(self.settings(), self.told("before"));
            let before = self.out().len();
            self.signal(Signal::CONT);
            wait_until("the picture again", || self.out()[before..].contains(heading));
            assert_eq!(self.settings(), raw);
        }
    }

    /// It ended with a code, and the terminal is as it was before.
    #[track_caller]
    pub fn ended(&self, code: &str) {
        assert_eq!(self.told("code"), code, "{}", self.out());
        assert_eq!(self.told("after"), self.told("before"), "settings of the terminal");
        // script(1) may still have some of it in hand; when it has ended nothing more comes
        // (proc_pid_stat(5): the state stands behind the name).
        let stat = format!("/proc/{}/stat", self.script.id());
        wait_until("the end of script(1)", || {
            std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") Z "))
        });
        let out = self.out();
        let taken = out.rfind(TAKEN).unwrap_or(0);
        for words in GIVEN_BACK {
            assert!(out[taken..].contains(words), "{words:?} after the terminal was taken");
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}
