//! `fathom capture`: what it records of programs whose calls are known, against strace, fio's iolog and
//! the counts of the programs themselves. The programs of the kernel need root.

use crate::common::{
    FATHOM, Ran, Running, alone, fio, loop_device, run, scratch, system, wait_until,
};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace::ftr::{AnyTrace, Entry, Event, Flags, Level, Operation};

/// Runs a subcommand.
fn fathom(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).args(arguments).current_dir(directory))
}

/// What a trace holds.
#[derive(Debug, Default)]
struct Held {
    files: Vec<trace::ftr::File>,
    threads: Vec<trace::ftr::Thread>,
    events: Vec<Event>,
    lost: u64,
    contents: Vec<trace::ftr::Contents>,
    truncated: bool,
}

fn held(path: &Path) -> Held {
    let mut trace = AnyTrace::open(BufReader::new(File::open(path).unwrap())).unwrap();
    let mut held = Held::default();
    for entry in trace.by_ref() {
        match entry.unwrap() {
            Entry::File(file) => held.files.push(file),
            Entry::Thread(thread) => held.threads.push(thread),
            Entry::Event(event) => held.events.push(event),
            Entry::Lost(events) => held.lost += events,
            Entry::Contents(contents) => held.contents.push(contents),
        }
    }
    held.truncated = trace.is_truncated();
    held
}

impl Held {
    fn name(&self, event: &Event) -> &str {
        &self.files[event.file as usize].name
    }

    /// Events of the application on files whose name ends so, in the order of their beginnings.
    fn on(&self, end: &str) -> Vec<Event> {
        let is_wanted =
            |it: &&Event| it.level == Level::Application && self.name(it).ends_with(end);
        let mut all: Vec<Event> = self.events.iter().filter(is_wanted).copied().collect();
        all.sort_by_key(|event| event.at_ns);
        all
    }

    /// The same of one operation: offsets and lengths, in order.
    fn ranges(&self, end: &str, operation: Operation) -> Vec<(u64, u64)> {
        let all = self.on(end).into_iter().filter(|event| event.operation == operation);
        let mut ranges: Vec<(u64, u64)> = all.map(|event| (event.offset, event.length)).collect();
        ranges.sort_unstable();
        ranges
    }
}

/// Captures a command; the trace is `t.ftr`.
fn capture(directory: &Path, options: &[&str], command: &[&str]) -> (Ran, Held) {
    let arguments = [&["capture", "-o", "t.ftr"], options, &["--"], command].concat();
    let ran = run(Command::new(FATHOM).args(&arguments).current_dir(directory));
    assert!(directory.join("t.ftr").exists(), "{} {}", ran.out, ran.err);
    let held = held(&directory.join("t.ftr"));
    assert_eq!(held.lost, 0, "{}", ran.err);
    (ran, held)
}

/// Programs of the kernel that are loaded, by bpftool's name for them.
fn loaded() -> usize {
    let list = system("bpftool", &["prog", "list"]);
    list.lines().filter(|line| line.contains(" name call_begins ")).count()
}

const PYTHON: &str = "/usr/bin/python3";

/// Every call that is seen, on one file.
const CALLS: &str = "
import os, sys
x = sys.argv[1]
fd = os.open(x, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DSYNC, 0o644)
os.pwrite(fd, b'a' * 5000, 100)
os.pread(fd, 4096, 0)
os.lseek(fd, 7, 0)
os.read(fd, 10)
os.write(fd, b'abc')
os.writev(fd, [b'aa', b'bbb'])
os.readv(fd, [bytearray(10), bytearray(20)])
os.preadv(fd, [bytearray(10), bytearray(20)], 40)
os.pwritev(fd, [b'aa', b'bbb'], 77, os.RWF_DSYNC)
os.fsync(fd)
os.fdatasync(fd)
os.ftruncate(fd, 9999)
os.posix_fallocate(fd, 4096, 65536)
os.dup2(fd, 50)
os.pread(50, 5, 1)
os.read(50, 3)
os.close(fd)
os.close(50)
a = os.open(x, os.O_WRONLY | os.O_APPEND)
os.write(a, b'at the end')
os.close(a)
os.truncate(x, 5)
try:
    os.pread(os.open(x, os.O_WRONLY), 1, 0)
except OSError:
    pass
os.rename(x, x + '.new')
os.unlink(x + '.new')
";

/// Operation, offset, length and result, of events whose file is `x` or had that name first.
fn calls(held: &Held) -> Vec<(Operation, u64, u64, Option<i64>)> {
    let whole = |event: &Event| (event.operation, event.offset, event.length, event.result);
    held.on("/x").iter().map(whole).collect()
}

#[test]
fn every_call_is_seen_as_strace_sees_it() {
    let _alone = alone();
    let directory = scratch();
    let (program, file) = (directory.path().join("calls.py"), directory.path().join("x"));
    fs::write(&program, CALLS).unwrap();
    let (program, file) = (program.to_str().unwrap(), file.to_str().unwrap());
    let (ran, captured) =
        capture(directory.path(), &["--level=application"], &[PYTHON, program, file]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = directory.path().join("strace.txt");
    for options in [&["-ttt", "-T", "-yy"][..], &["-ttt", "-T"], &["-tt", "-y"], &["-r"]] {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-o", text.to_str().unwrap()]).args(options);
        run(strace.args([PYTHON, program, file])).expect(0);
        let told = held(&text);
        let seen = calls(&captured);
        assert!(seen.len() >= 25, "{seen:?}");
        assert_eq!(seen, calls(&told), "strace {options:?}");
        let flags = |held: &Held| {
            let transfers = held
                .on("/x")
                .into_iter()
                .filter(|event| matches!(event.operation, Operation::Read | Operation::Write));
            transfers.map(|event| event.flags).collect::<Vec<Flags>>()
        };
        assert_eq!(flags(&captured), flags(&told), "strace {options:?}");
    }
    let opened = captured.on("/x")[0];
    assert!(opened.flags.has(Flags::CREATED), "{opened:?}");
    let known = |event: &Event| event.duration_ns.is_some() && event.cpu_before_ns.is_some();
    assert!(captured.on("/x").iter().skip(1).all(known));
    // Written with -f to the terminal: numbers of threads in brackets, or none.
    let converted = fathom(directory.path(), &["capture", "convert", "strace.txt", "-o", "s.ftr"]);
    converted.expect(0);
    let shown = fathom(directory.path(), &["capture", "show", "s.ftr"]).expect(0);
    assert_eq!(shown.out.lines().next(), Some("strace"), "{}", shown.out);
    assert_eq!(calls(&held(&directory.path().join("s.ftr"))), calls(&captured));
    wait_until("the programs are gone", || loaded() == 0);
}

/// Offsets and lengths of an iolog of fio.
fn logged(path: &Path, operation: Operation) -> Vec<(u64, u64)> {
    let held = held(path);
    let all = held.events.iter().filter(|event| event.operation == operation);
    let mut ranges: Vec<(u64, u64)> = all.map(|event| (event.offset, event.length)).collect();
    ranges.sort_unstable();
    ranges
}

#[test]
fn io_of_each_engine_is_that_of_fios_iolog() {
    let _alone = alone();
    let directory = scratch();
    let size = ["--size=2m", "--bs=4k", "--name=t", "--filename=data", "--allow_file_create=1"];
    fio(directory.path(), &[&size[..], &["--rw=write", "--end_fsync=1"]].concat()).expect(0);
    for (options, flags) in [
        (["--ioengine=psync", "--direct=1", "--rw=randread"], Flags::DIRECT),
        (["--ioengine=psync", "--fsync=16", "--rw=randwrite"], Flags(0)),
        (["--ioengine=libaio", "--iodepth=8", "--rw=randrw"], Flags::ASYNC),
        (["--ioengine=io_uring", "--iodepth=8", "--rw=randrw"], Flags::ASYNC),
        (["--ioengine=pvsync2", "--direct=1", "--rw=randrw"], Flags::DIRECT),
    ] {
        let log = directory.path().join("iolog");
        let _ = fs::remove_file(&log);
        let more = ["--thread", "--write_iolog=iolog"];
        let command = [&["/usr/bin/fio"], &size[..], &options, &more].concat();
        let (ran, held) = capture(directory.path(), &[], &command);
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        for operation in [Operation::Read, Operation::Write, Operation::Fsync] {
            let wanted = logged(&log, operation);
            let seen = held.ranges("/data", operation);
            if operation == Operation::Fsync {
                assert!(seen.len() >= wanted.len(), "{options:?}: {seen:?}");
                continue;
            }
            assert_eq!(seen, wanted, "{options:?}: {operation:?}");
        }
        let transfers = held.on("/data");
        let transfers = transfers.iter().filter(|event| event.length == 4096);
        assert!(transfers.clone().count() > 0, "{options:?}");
        for event in transfers {
            assert!(event.flags.has(flags), "{options:?}: {event:?}");
            assert_eq!(event.result, Some(4096), "{options:?}: {event:?}");
            assert!(event.duration_ns.is_some(), "{options:?}: {event:?}");
        }
    }
    wait_until("the programs are gone", || loaded() == 0);
}

#[test]
fn io_uring_of_our_own_runs_is_seen() {
    let _alone = alone();
    let directory = scratch();
    let job = ["--name=t", "--filename=data", "--size=4m", "--bs=8k", "--rw=randwrite"];
    for more in [&["--iodepth=4"][..], &["--iodepth=4", "--sqthread_poll=1"], &["--fixedbufs=1"]] {
        let engine = ["run", "--ioengine=io_uring", "--direct=1"];
        let command = [&[FATHOM], &engine[..], &job, more].concat();
        let (ran, held) = capture(directory.path(), &["--level=application"], &command);
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        let writes = held.on("/data").into_iter().filter(|event| {
            event.operation == Operation::Write && event.flags.has(Flags::ASYNC.with(Flags::DIRECT))
        });
        let mut offsets: Vec<u64> = writes.map(|event| event.offset).collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..512).map(|block| block * 8192).collect::<Vec<_>>(), "{more:?}");
    }
}

#[test]
fn faults_on_mapped_files_are_those_that_read() {
    let _alone = alone();
    let directory = scratch();
    let program = "
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
m.madvise(mmap.MADV_RANDOM)
for page in (3, 90, 17, 90):
    m[page * 4096]
";
    fs::write(directory.path().join("faults.py"), program).unwrap();
    fs::write(directory.path().join("mapped"), vec![7; 1 << 20]).unwrap();
    system("sync", &[]);
    let (ran, held) = capture(directory.path(), &[], &[PYTHON, "faults.py", "mapped"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let faults = held.on("/mapped").into_iter().filter(|it| it.operation == Operation::Fault);
    let pages: Vec<u64> = faults.map(|event| event.offset / 4096).collect();
    assert_eq!(pages, [3, 90, 17]);
}

#[test]
fn programs_that_fork_and_exec_are_followed_and_the_exit_code_returns() {
    let _alone = alone();
    let directory = scratch();
    let script = "dd if=/dev/zero of=a bs=4k count=7 2>/dev/null & \
                  (dd if=/dev/zero of=b bs=512 count=11 oflag=dsync 2>/dev/null; \
                   sh -c 'dd if=a of=/dev/null bs=8k 2>/dev/null'); wait; exit 7";
    let (ran, held) = capture(directory.path(), &["--level=application"], &["sh", "-c", script]);
    assert_eq!(ran.code, 7, "{}", ran.err);
    let writes = |name: &str| held.ranges(name, Operation::Write);
    assert_eq!(writes("/a"), (0..7).map(|n| (n * 4096, 4096)).collect::<Vec<_>>());
    assert_eq!(writes("/b"), (0..11).map(|n| (n * 512, 512)).collect::<Vec<_>>());
    let synced = held.on("/b").into_iter().filter(|it| it.operation == Operation::Write);
    assert!(synced.into_iter().all(|event| event.flags.has(Flags::DSYNC)));
    assert!(!held.ranges("/a", Operation::Read).is_empty());
    let names: Vec<&str> = held.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert!(names.iter().filter(|name| **name == "dd").count() >= 3, "{names:?}");
    let (ran, _) = capture(directory.path(), &[], &["sh", "-c", "kill -9 $$"]);
    assert_eq!(ran.code, 137, "{}", ran.err);
    let missing = run(Command::new(FATHOM)
        .args(["capture", "-o", "t.ftr", "--", "/no/such/program"])
        .current_dir(directory.path()));
    assert_eq!(missing.code, 127, "{}", missing.err);
}

#[test]
fn thousands_of_files_that_vanish_keep_their_names() {
    let _alone = alone();
    let directory = scratch();
    let program = "
import os
for number in range(3000):
    fd = os.open(f'f{number}', os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.unlink(f'f{number}')
    os.pwrite(fd, b'x' * 100, number)
    os.close(fd)
";
    fs::write(directory.path().join("many.py"), program).unwrap();
    let (ran, held) = capture(directory.path(), &["--level=application"], &[PYTHON, "many.py"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut writes: BTreeMap<&str, u64> = BTreeMap::new();
    for event in held.events.iter().filter(|event| event.operation == Operation::Write) {
        if event.length == 100 {
            let name = held.name(event).rsplit('/').next().unwrap();
            assert_eq!(name, format!("f{}", event.offset));
            *writes.entry(name).or_default() += 1;
        }
    }
    assert_eq!(writes.len(), 3000);
    assert_eq!(held.events.iter().filter(|it| it.operation == Operation::Unlink).count(), 3000);
}

#[test]
fn a_capture_that_is_killed_leaves_what_it_had_seen() {
    let _alone = alone();
    let directory = scratch();
    let script = "while :; do dd if=/dev/zero of=k bs=4k count=10 2>/dev/null; sleep 0.05; done";
    let mut command = Command::new(FATHOM);
    command.args(["capture", "-o", "t.ftr", "--level=application", "--", "sh", "-c", script]);
    let mut running = Running::start(command.current_dir(directory.path()));
    let trace = directory.path().join("t.ftr");
    wait_until("two blocks", || fs::metadata(&trace).is_ok_and(|it| it.len() > 4000));
    assert!(running.goes_on() && loaded() == 1);
    running.signal(Signal::KILL);
    running.end();
    system("pkill", &["-f", "of=k bs=4k count=10"]);
    wait_until("the programs are gone", || loaded() == 0);
    let held = held(&trace);
    assert!(held.truncated && held.ranges("/k", Operation::Write).len() >= 10);
    let shown = fathom(directory.path(), &["capture", "show", "t.ftr"]).expect(0);
    assert!(shown.out.contains("truncated"), "{}", shown.out);
}

/// A control group of version 2, removed with the value.
struct Group {
    directory: PathBuf,
    name: String,
}

impl Group {
    fn new() -> Group {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let root = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
        let root = root.expect("cgroup2 is mounted").split(' ').nth(1).unwrap();
        let name = format!("fathom-test-{}", std::process::id());
        let directory = Path::new(root).join(&name);
        fs::create_dir_all(directory.join("below")).unwrap();
        Group { directory, name }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group is free some moments after its last process has ended.
        wait_until("the group is removed", || {
            let _ = fs::remove_dir(self.directory.join("below"));
            fs::remove_dir(&self.directory).is_ok()
        });
    }
}

#[test]
fn paths_processes_and_groups_are_chosen() {
    let _alone = alone();
    let directory = scratch();
    fs::create_dir_all(directory.path().join("in")).unwrap();
    let group = Group::new();
    let start = |script: &str| {
        let mut writer = Command::new("sh");
        Running::start(writer.args(["-c", script]).current_dir(directory.path()))
    };
    // Its children are in a group below the one that is captured.
    let below = group.directory.join("below/cgroup.procs");
    let writer = start(&format!(
        "echo $$ >{}; while :; do dd if=/dev/zero of=in/a bs=4k count=2 2>/dev/null; \
         dd if=/dev/zero of=out bs=4k count=2 2>/dev/null; sleep 0.02; done",
        below.display()
    ));
    let stranger =
        start("while :; do dd if=/dev/zero of=apart bs=4k count=2 2>/dev/null; sleep 0.02; done");
    let pid = writer.pid().to_string();
    for (options, other, apart) in [
        (&["in"][..], false, false),
        (&["--pid", &pid], true, false),
        (&["in", "--pid", &pid], false, false),
        (&["--cgroup", &group.name], true, false),
        (&["in", "--cgroup", &group.name], false, false),
        (&["--level=application"], true, true),
    ] {
        let arguments = [&["capture", "-o", "t.ftr", "--seconds=1"], options].concat();
        fathom(directory.path(), &arguments).expect(0);
        let held = held(&directory.path().join("t.ftr"));
        assert!(held.ranges("/in/a", Operation::Write).len() >= 4, "{options:?}");
        let has = |name: &str| !held.ranges(name, Operation::Write).is_empty();
        assert_eq!((has("/out"), has("/apart")), (other, apart), "{options:?}");
    }
    let shown = fathom(directory.path(), &["capture", "show", "t.ftr", "--json"]).expect(0).json();
    assert_eq!(shown["lost"], 0);
    assert!(shown["application"]["operations"]["write"].as_u64() > Some(3), "{shown}");
    for running in [writer, stranger] {
        running.signal(Signal::TERM);
        running.end();
    }
    wait_until("the programs are gone", || loaded() == 0);
}

#[test]
fn requests_of_a_device_are_those_that_were_made() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 16 << 20, &[]);
    let file = format!("--filename={}", device.device);
    let options = ["--name=t", "--rw=randread", "--bs=4k", "--direct=1", "--number_ios=500"];
    let command = [&["/usr/bin/fio"], &options[..], &[&file]].concat();
    let (ran, held) = capture(directory.path(), &[&device.device], &command);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let asked = held.ranges(&device.device, Operation::Read);
    let of = |level| {
        let is = move |event: &&Event| event.level == level && event.length == 4096;
        let is_of_device = |event: &&Event| held.name(event) == device.device;
        let is_read = |event: &&Event| event.operation == Operation::Read;
        let all = held.events.iter().filter(is).filter(is_of_device).filter(is_read);
        let mut offsets: Vec<u64> = all.map(|event| event.offset).collect();
        offsets.sort_unstable();
        offsets
    };
    assert!(asked.len() >= 500, "{}", asked.len());
    assert_eq!(of(Level::Application), of(Level::Device));
}

#[test]
fn calls_that_copy_read_one_file_and_write_another() {
    let _alone = alone();
    let directory = scratch();
    let program = "
import os
a = os.open('a', os.O_RDWR | os.O_CREAT)
b = os.open('b', os.O_RDWR | os.O_CREAT)
os.pwrite(a, b'x' * 20000, 0)
# With offsets of its own, and at the positions of the files.
assert os.copy_file_range(a, b, 4096, offset_src=8192, offset_dst=0) == 4096
os.lseek(a, 1000, os.SEEK_SET)
os.lseek(b, 4096, os.SEEK_SET)
assert os.sendfile(b, a, None, 3000) == 3000
assert os.sendfile(b, a, 12288, 1000) == 1000
out, into = os.pipe()
assert os.splice(a, into, 512, offset_src=16384) == 512
assert os.splice(out, b, 512, offset_dst=10000) == 512
";
    fs::write(directory.path().join("c.py"), program).unwrap();
    let (ran, held) = capture(directory.path(), &["--level=application"], &[PYTHON, "c.py"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let read = [(1000, 3000), (8192, 4096), (12288, 1000), (16384, 512)];
    assert_eq!(held.ranges("/a", Operation::Read), read);
    let written = [(0, 4096), (4096, 3000), (7096, 1000), (10000, 512)];
    assert_eq!(held.ranges("/b", Operation::Write), written);
    let at_position = |event: &&Event| event.flags.has(Flags::POSITION);
    assert_eq!(held.on("/b").iter().filter(at_position).count(), 2);
}

#[test]
fn names_are_hashed_contents_sampled_and_sizes_bounded() {
    let _alone = alone();
    let directory = scratch();
    let program = "
import os
fd = os.open('secret', os.O_RDWR | os.O_CREAT)
for block in range(64):
    os.pwrite(fd, os.urandom(4096) if block % 2 else b'x' * 4096, block * 4096)
os.close(fd)
";
    fs::write(directory.path().join("w.py"), program).unwrap();
    let options = ["--anonymous", "--sample-contents", "--level=application"];
    let (ran, held) = capture(directory.path(), &options, &[PYTHON, "w.py"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let bytes = fs::read(directory.path().join("t.ftr")).unwrap();
    assert!(!bytes.windows(6).any(|six| six == b"secret"), "a name is in the trace");
    assert!(held.files.iter().all(|file| !file.name.contains('/')), "{:?}", held.files);
    let [contents] = held.contents[..] else { panic!("{:?}", held.contents) };
    assert!((400..550).contains(&contents.compressible), "{contents:?}");
    assert!((350..520).contains(&contents.duplicate), "{contents:?}");
    let job = ["--name=t", "--filename=d", "--size=4m", "--bs=512", "--rw=randread"];
    let more = ["--loops=60", "--ioengine=psync", "--thread"];
    let command = [&["/usr/bin/fio"], &job[..], &more].concat();
    let bound = ["--max-size=2m", "--level=application"];
    let (ran, _) = capture(directory.path(), &bound, &command);
    let size = |name: &str| fs::metadata(directory.path().join(name)).unwrap().len();
    assert!(size("t.ftr") + size("t.ftr.1") < 5 << 19, "{}", ran.err);
    assert!(ran.err.contains("the part before it: t.ftr.1"), "{}", ran.err);
}

#[test]
fn what_cannot_be_captured_is_refused_with_its_reason() {
    let _alone = alone();
    let directory = scratch();
    fs::write(directory.path().join("notes.txt"), "not a trace").unwrap();
    let refused = |arguments: &[&str], code: i32, text: &str| {
        let ran = fathom(directory.path(), &[&["capture"], arguments].concat()).expect(code);
        assert!(ran.err.contains(text), "{arguments:?}: {}", ran.err);
    };
    refused(&["-o", "notes.txt", "--seconds=1"], 3, "holds something else than a trace");
    refused(&["-o", "/dev/null", "--seconds=1"], 3, "is no regular file");
    refused(&["--pid=4194305"], 2, "--pid: there is no process 4194305");
    refused(&["--cgroup=no/such"], 2, "--cgroup: there is no group 'no/such'");
    refused(&["--max-size=1k"], 2, "--max-size: expected 2m or more");
    refused(&["/no/such/place"], 2, "/no/such/place");
    refused(&["show", "notes.txt"], 2, "notes.txt: it is no trace");
    refused(&["convert", "nothing", "-o", "x.ftr"], 2, "nothing: No such file");
    assert_eq!(fs::read(directory.path().join("notes.txt")).unwrap(), b"not a trace");
    let other = "capture -o t.ftr --seconds=1";
    let mut user = Command::new("setpriv");
    user.args(["--reuid=65534", "--regid=65534", "--clear-groups", FATHOM]);
    user.args(other.split(' ')).current_dir("/tmp");
    let ran = run(&mut user);
    assert_ne!(ran.code, 0, "{}", ran.err);
}

#[test]
fn a_run_is_validated_at_the_devices_as_it_was_captured() {
    let _alone = alone();
    let directory = scratch();
    std::fs::create_dir(directory.path().join("files")).unwrap();
    let job = "[a]\nrw=randread\nbs=4k\nsize=16m\nioengine=psync\ndirect=1\nthinktime=500us\n\
               runtime=2\ntime_based\n";
    std::fs::write(directory.path().join("app.fio"), job).unwrap();
    let run = ["run", "--no-archive", "--output=report.txt", "--directory=files"];
    fathom(directory.path(), &[&run[..], &["--create_only=1", "app.fio"]].concat()).expect(0);
    // Else the file is written back while the run is captured.
    rustix::fs::sync();
    let capture = ["capture", "-o", "app.ftr", "files", "--", FATHOM];
    fathom(directory.path(), &[&capture[..], &run, &["app.fio"]].concat()).expect(0);
    let validate = ["validate", "app.ftr", "app.fio", "--json"];
    let ran = fathom(directory.path(), &validate).expect(0);
    assert!(!ran.err.contains("cannot be captured"), "{}", ran.err);
    let scores = ran.json()["scores"].clone();
    let mark = |name: &str| {
        let score = scores.as_array().unwrap().iter().find(|score| score["property"] == name);
        score.unwrap_or_else(|| panic!("no {name} in {scores:#}"))["mark"].as_f64().unwrap()
    };
    assert!(mark("read sizes") > 99.0 && mark("reads among I/Os") > 99.0, "{scores:#}");
    assert!(mark("page cache hits") > 80.0, "{scores:#}");
    assert!(mark("device IOPS") > 30.0 && mark("device bandwidth") > 30.0, "{scores:#}");
}
