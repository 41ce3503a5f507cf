//! What the tests of the program share: running it and the oracle, and the devices for it. What a
//! test needs and does not find makes it fail.

#![allow(dead_code, unused_imports, reason = "each test program uses its own part")]

pub mod browser;
pub mod objects;
pub mod pages;
pub mod replay;
pub mod s3;
pub mod schedule;
pub mod served;
pub mod stores;
pub mod tty;

pub use testbed::{Frozen, Loop, Mounted, Seeded, alone, scratch, system};

use judge::Finding;
use record::RunRecord;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Debian's fio, the oracle.
pub const FIO: &str = "/usr/bin/fio";
/// The program under test.
pub const FATHOM: &str = env!("CARGO_BIN_EXE_fathom");

/// What a program did.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; below 0 the signal that ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// The document within what a launcher printed.
pub fn document(ran: &Ran) -> Value {
    let (from, to) = (ran.out.find('{'), ran.out.rfind('}'));
    let text = from.zip(to).map(|(from, to)| &ran.out[from..=to]).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {}\n{}", ran.out, ran.err))
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(0))
}

impl Ran {
    fn from_output(output: Output) -> Ran {
        Ran {
            code: code(output.status),
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

/// The variable that names the archive.
pub const ARCHIVE: &str = "FATHOM_ARCHIVE";

/// Nothing goes into the archive of whoever runs the tests: those that need one name it, or take the
/// variable away.
fn without_archive(command: &mut Command) {
    if !command.get_envs().any(|(name, _)| name == ARCHIVE) {
        command.env(ARCHIVE, "off");
    }
}

/// Runs a command to its end.
#[track_caller]
pub fn run(command: &mut Command) -> Ran {
    without_archive(command);
    Ran::from_output(command.output().unwrap_or_else(|e| panic!("{command:?}: {e}")))
}

/// Tried at a time: most of what programs do in tests is waiting.
const AT_ONCE: usize = 4;

/// What `of` makes of each, in order, several at a time: for what is not about how long it takes.
pub fn at_once<T: Sync, R: Send>(all: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = std::iter::from_fn(|| {
            let index = next.fetch_add(1, Ordering::Relaxed);
            all.get(index).map(|one| (index, of(one)))
        });
        mine.collect::<Vec<_>>()
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.flat_map(|done| done.unwrap_or_else(|why| std::panic::resume_unwind(why))).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Names in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What was said with its lines joined: where they break depends on the length of paths.
pub fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `fathom run ARGUMENTS` in a directory.
#[track_caller]
pub fn fathom(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("run").args(arguments).current_dir(directory))
}

/// The record of `fathom run ARGUMENTS` in a directory, where it ends with `code`.
#[track_caller]
pub fn recorded(directory: &Path, code: i32, arguments: &[&str]) -> RunRecord {
    recorded_by(&[], directory, code, arguments)
}

/// The same, started by another program with its arguments (taskset, chrt, sh -c 'exec "$0" "$@"').
#[track_caller]
pub fn recorded_by(starter: &[&str], directory: &Path, code: i32, arguments: &[&str]) -> RunRecord {
    let kept = scratch();
    let file = kept.path().join("record.json");
    let option = format!("--record={}", file.display());
    let line = [starter, &[FATHOM, "run", &option], arguments].concat();
    run(Command::new(line[0]).args(&line[1..]).current_dir(directory)).expect(code);
    formats::load(&file).unwrap()
}

/// What one check finds in a record.
pub fn findings(record: &RunRecord, check: &str) -> Vec<Finding> {
    judge::judge(record).findings.into_iter().filter(|finding| finding.check == check).collect()
}

/// The only finding of a check.
#[track_caller]
pub fn the_finding(record: &RunRecord, check: &str) -> Finding {
    let all = judge::judge(record).findings;
    let found: Vec<_> = all.iter().filter(|finding| finding.check == check).collect();
    assert_eq!(found.len(), 1, "{check} among {all:#?}");
    found[0].clone()
}

/// The record of a run whose workers had the processors to themselves, of at most ten runs. Panics
/// when others disturbed all of them: they prove nothing.
#[track_caller]
pub fn undisturbed(run: impl Fn() -> RunRecord) -> RunRecord {
    let found = (0..10).map(|_| run()).find(is_undisturbed);
    found.expect("something else kept the processors busy during each of 10 runs")
}

/// Whether neither other threads nor the hypervisor kept the workers of a run off the processors for
/// a hundredth of their time.
fn is_undisturbed(record: &RunRecord) -> bool {
    let delayed = record.jobs.iter().map(|job| {
        let waited = job.cpu.run_delay.unwrap_or_default().seconds();
        waited / (job.ended - job.started).seconds()
    });
    let [first, .., last] = &record.timeline.samples[..] else { return false };
    let seconds = (last.at - first.at).seconds();
    let stolen = first.cpus.iter().zip(&last.cpus);
    let stolen = stolen.map(|(a, b)| (b.steal_ms - a.steal_ms) as f64 / 1000.0 / seconds);
    delayed.chain(stolen).all(|share| share < 0.01)
}

/// Panics when a check finds anything.
#[track_caller]
pub fn silent(record: &RunRecord, check: &str) {
    let found = findings(record, check);
    assert!(found.is_empty(), "{found:#?}");
}

/// Ours under the name fio.
#[track_caller]
pub fn as_fio(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("fio").args(arguments).current_dir(directory))
}

/// Seconds after which a call of the oracle hangs. fio 3.33 does so now and then when it compresses
/// logs (`log_compression`).
const ORACLE_HANGS: &str = "60";

/// The oracle. A call that hangs is ended with all its processes and made again, three times at most.
#[track_caller]
pub fn fio(directory: &Path, arguments: &[&str]) -> Ran {
    let call = || {
        // The processes of its jobs are sessions of their own, which only the end of their PID namespace
        // ends.
        let limit =
            ["--signal=KILL", ORACLE_HANGS, "unshare", "--pid", "--fork", "--kill-child", FIO];
        run(Command::new("timeout").args(limit).args(arguments).current_dir(directory))
    };
    let mut calls = std::iter::repeat_with(call).take(3);
    calls.find(|ran| ran.code != -9 && ran.code != 137).expect("the oracle hangs in three calls")
}

/// A loop device with direct I/O over a new file of so many bytes in `directory`; further arguments
/// go to losetup.
#[track_caller]
pub fn loop_device(directory: &Path, bytes: u64, arguments: &[&str]) -> Loop {
    let arguments = [&["--direct-io=on"], arguments].concat();
    Loop::over(&directory.join("loop.img"), bytes, &arguments)
}

/// A port that nobody uses, and the next one neither, for TCP and UDP. It is none of those that the
/// kernel gives to whoever asks for any: a connection of another test cannot take it meanwhile.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const LOWEST: u16 = 10_240;
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
    let given: u16 = range.split_whitespace().next().unwrap().parse().unwrap();
    let pairs = u32::from(given.max(LOWEST + 2_000) - LOWEST) / 2;
    let free = |port| {
        TcpListener::bind(("0.0.0.0", port)).is_ok() && UdpSocket::bind(("0.0.0.0", port)).is_ok()
    };
    loop {
        let turn = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let pair = (std::process::id().wrapping_mul(7919) + turn) % pairs;
        let port = LOWEST + 2 * pair as u16;
        if free(port) && free(port + 1) {
            return port;
        }
    }
}

/// Whether somebody receives at a port, by the kernel's own list: to try would be to take it.
pub fn is_served(protocol: &str, port: u16) -> bool {
    // Of a TCP socket that listens, and of a UDP socket without a peer.
    let state = if protocol == "tcp" { "0A" } else { "07" };
    let served = |table: &str| {
        let table = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        table.lines().skip(1).any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields[1].ends_with(&format!(":{port:04X}")) && fields[3] == state
        })
    };
    served(protocol) || served(&format!("{protocol}6"))
}

/// Polls until `condition` holds; panics with `what` after two minutes.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(120);
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
        without_archive(command);
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0).spawn();
        Running { child: child.unwrap_or_else(|e| panic!("{command:?}: {e}")), words }
    }

    /// `fathom VERB ARGUMENTS` in a directory.
    #[track_caller]
    pub fn fathom(verb: &str, directory: &Path, arguments: &[&str]) -> Running {
        // Who runs the tests may ignore hang-ups (nohup), and would pass that on.
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP", FATHOM, verb]).args(arguments);
        Running::start(command.current_dir(directory))
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

    /// Whether it has not ended.
    pub fn goes_on(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
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
        Ran { code: status.map_or(0, code), out: self.said("out"), err: self.said("err") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A disk in memory, for which nobody else of this machine has a use: a loop device over a file in
/// a tmpfs. Gone with the value.
pub struct MemoryDisk {
    /// The device.
    pub device: Loop,
    _memory: Mounted,
    /// A directory for what else a test needs, not on it.
    pub directory: TempDir,
}

impl MemoryDisk {
    /// Of so many bytes, which take memory only where written.
    #[track_caller]
    pub fn new(bytes: u64) -> MemoryDisk {
        let directory = scratch();
        let memory = Mounted::new(&["-t", "tmpfs"], "tmpfs", directory.path().join("memory"));
        let device = Loop::over(&memory.path().join("disk.img"), bytes, &[]);
        MemoryDisk { device, _memory: memory, directory }
    }

    /// Writes it has completed.
    pub fn writes(&self) -> u64 {
        self.counter(4)
    }

    /// Reads it has completed.
    pub fn reads(&self) -> u64 {
        self.counter(0)
    }

    /// A field of the kernel's statistics of it (Documentation/admin-guide/iostats).
    fn counter(&self, field: usize) -> u64 {
        let stat = format!("/sys/block/{}/stat", self.device.name());
        let stat = std::fs::read_to_string(stat).unwrap();
        stat.split_whitespace().nth(field).unwrap().parse().unwrap()
    }

    /// "major:minor".
    pub fn number(&self) -> String {
        let file = format!("/sys/block/{}/dev", self.device.name());
        std::fs::read_to_string(file).unwrap().trim().to_owned()
    }
}

/// An ext4 on a disk in memory.
pub struct MemoryFilesystem {
    mounted: Mounted,
    /// The disk.
    pub disk: MemoryDisk,
}

impl MemoryFilesystem {
    /// On a disk of so many bytes.
    #[track_caller]
    pub fn new(bytes: u64) -> MemoryFilesystem {
        let disk = MemoryDisk::new(bytes);
        let device = &disk.device.device;
        system("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device]);
        let mounted = Mounted::new(&[], device, disk.directory.path().join("mounted"));
        MemoryFilesystem { mounted, disk }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }
}

/// A group of the blkio controller (cgroup v1), removed with the value.
pub struct Throttle(PathBuf);

impl Throttle {
    /// One without a limit.
    #[track_caller]
    pub fn new() -> Throttle {
        let name = format!("fathom-{}", std::process::id());
        let path = Path::new("/sys/fs/cgroup/blkio").join(name);
        std::fs::create_dir(&path).unwrap();
        Throttle(path)
    }

    /// A starter (see [`recorded_by`]) that puts what it starts into the group.
    pub fn starter(&self) -> [String; 3] {
        let join = format!("echo $$ > {}/cgroup.procs; exec \"$0\" \"$@\"", self.0.display());
        ["sh".into(), "-c".into(), join]
    }

    /// Lets processes in it do so many reads a second of a device ("major:minor").
    #[track_caller]
    pub fn limit(&self, device: &str, reads: u64) {
        let file = self.0.join("blkio.throttle.read_iops_device");
        std::fs::write(file, format!("{device} {reads}")).unwrap();
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // A process that is just ending may still be in it.
        for _ in 0..100 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
