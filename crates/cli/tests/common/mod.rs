//! What the tests of the program share: running it and the oracle, scratch directories and devices.
//! What a test needs and does not find makes it fail.

#![allow(dead_code, reason = "each test program uses its own part")]

pub mod seeded;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Debian's fio, the oracle.
pub const FIO: &str = "/usr/bin/fio";
/// The program under test.
pub const FATHOM: &str = env!("CARGO_BIN_EXE_fathom");

/// What a program did.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Its standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("no JSON ({e}): {}\n{}", self.out, self.err))
    }

    /// Panics unless it ended with `code`.
    #[track_caller]
    pub fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }
}

/// Runs a command to its end.
#[track_caller]
pub fn run(command: &mut Command) -> Ran {
    Ran::of(command.output().unwrap_or_else(|e| panic!("{command:?}: {e}")))
}

/// `fathom run ARGUMENTS` in a directory.
#[track_caller]
pub fn fathom(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("run").args(arguments).current_dir(directory))
}

/// Ours under the name fio.
#[track_caller]
pub fn as_fio(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("fio").args(arguments).current_dir(directory))
}

/// The oracle.
#[track_caller]
pub fn fio(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FIO).args(arguments).current_dir(directory))
}

/// A directory on the disk the build is on, gone with the value.
pub fn scratch() -> TempDir {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tempfile::Builder::new().prefix("fathom-").tempdir_in(base).unwrap()
}

/// Output of a system command that has to succeed.
#[track_caller]
pub fn system(program: &str, arguments: &[&str]) -> String {
    let path = format!("{}:/sbin:/usr/sbin", std::env::var("PATH").unwrap_or_default());
    let ran = run(Command::new(program).args(arguments).env("PATH", path));
    ran.expect(0).out.trim().to_owned()
}

fn quietly(program: &str, arguments: &[&str]) {
    let path = format!("{}:/sbin:/usr/sbin", std::env::var("PATH").unwrap_or_default());
    // Clean-up after a test that may have failed half-way: there may be nothing left to do.
    let _ = Command::new(program).args(arguments).env("PATH", path).output();
}

/// Devices are shared by the whole machine: tests that make some take turns.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A loop device with direct I/O over a scratch file, detached with the value.
pub struct Loop {
    /// "/dev/loopN".
    pub device: String,
    /// The file behind it.
    pub file: PathBuf,
}

impl Loop {
    /// Over a new file of so many bytes in `directory`; further arguments go to losetup.
    pub fn new(directory: &Path, bytes: u64, extra: &[&str]) -> Loop {
        let file = directory.join("loop.img");
        std::fs::File::create(&file).unwrap().set_len(bytes).unwrap();
        let name = file.to_str().unwrap();
        let arguments = [&["--find", "--show", "--direct-io=on"], extra, &[name]].concat();
        let device = system("losetup", &arguments);
        Loop { device, file }
    }

    /// "loopN".
    pub fn name(&self) -> &str {
        self.device.strip_prefix("/dev/").unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        quietly("losetup", &["--detach", &self.device]);
    }
}

/// A mounted filesystem, unmounted with the value.
pub struct Mounted(pub PathBuf);

impl Mounted {
    /// Mounts `device` (or a type such as tmpfs, by `options`) at `point`, which is made.
    pub fn new(options: &[&str], device: &str, point: PathBuf) -> Mounted {
        std::fs::create_dir_all(&point).unwrap();
        system("mount", &[options, &[device, point.to_str().unwrap()]].concat());
        Mounted(point)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        quietly("umount", &["-l", self.0.to_str().unwrap()]);
    }
}

/// Polls until `condition` holds; panics with `what` after half a minute.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < patience, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A program under way in a process group of its own, its words in files; killed with the value.
pub struct Running {
    child: Child,
    words: TempDir,
}

impl Running {
    /// Starts it.
    #[track_caller]
    pub fn start(command: &mut Command) -> Running {
        let words = scratch();
        let file = |name: &str| std::fs::File::create(words.path().join(name)).unwrap();
        let (out, err) = (file("out"), file("err"));
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0).spawn();
        Running { child: child.unwrap_or_else(|e| panic!("{command:?}: {e}")), words }
    }

    /// `fathom VERB ARGUMENTS` in a directory.
    #[track_caller]
    pub fn fathom(verb: &str, directory: &Path, arguments: &[&str]) -> Running {
        Running::start(Command::new(FATHOM).arg(verb).args(arguments).current_dir(directory))
    }

    /// What it wrote to "out" or "err" until now.
    pub fn said(&self, stream: &str) -> String {
        let bytes = std::fs::read(self.words.path().join(stream)).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until it has said `text` on "out" or "err".
    #[track_caller]
    pub fn says(&mut self, stream: &str, text: &str) {
        wait_until(text, || {
            let said = self.said(stream).contains(text);
            let ended = !said && self.child.try_wait().unwrap().is_some();
            assert!(!ended, "ended without '{text}': {} {}", self.said("out"), self.said("err"));
            said
        });
    }

    /// Sends a signal.
    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end.
    #[track_caller]
    pub fn end(mut self) -> Ran {
        let mut status = None;
        wait_until("the end of the program", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let code = status.and_then(|s| s.code()).unwrap_or(-1);
        Ran { code, out: self.said("out"), err: self.said("err") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
