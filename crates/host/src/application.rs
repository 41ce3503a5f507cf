//! Looks at an application from outside, without tracing it: states and system calls of its threads
//! (proc_pid_stat(5), proc_pid_syscall(5)), its rings of io_uring (proc_pid_fdinfo(5)), its counters
//! (proc_pid_io(5)) and those of its control group.

use crate::Host;
use record::{ApplicationIo, ApplicationSample, GroupIo, Wait, WaitCount};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Names of threads in which the kernel serves I/Os of a ring, which are counted in the ring.
const RING_WORKER: &str = "iou-";
/// What a look cannot see.
const CALLS_UNSEEN: &str = "the calls that threads wait in: run as root, or as the same user";
const AIO_UNSEEN: &str =
    "I/Os submitted with libaio: the kernel shows no count; the queue of the device has them";

/// The processes to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplicationQuery {
    /// A process and all its descendants.
    Process(u32),
    /// A control group and all below it, by its directory.
    Group(PathBuf),
}

/// Watches an application.
pub struct ApplicationReader {
    host: Host,
    query: ApplicationQuery,
    pids: Vec<u32>,
    /// Processes whose file descriptors hold rings, with these descriptors.
    rings: BTreeMap<u32, Vec<String>>,
    /// The last counters of each process; one that ends takes its counters away.
    counters: BTreeMap<u32, ApplicationIo>,
    waits: BTreeMap<(Wait, Option<u64>), u64>,
    unseen: BTreeSet<&'static str>,
    sample: ApplicationSample,
}

impl ApplicationReader {
    /// Finds the processes.
    ///
    /// # Errors
    /// There are none, and what to do.
    pub fn open(host: Host, query: ApplicationQuery) -> Result<ApplicationReader, String> {
        let mut reader = ApplicationReader {
            host,
            query,
            pids: Vec::new(),
            rings: BTreeMap::new(),
            counters: BTreeMap::new(),
            waits: BTreeMap::new(),
            unseen: BTreeSet::new(),
            sample: ApplicationSample::default(),
        };
        reader.find();
        match (&reader.query, reader.pids.is_empty()) {
            (_, false) => {
                reader.count();
                // What was done before is none of what is watched.
                reader.sample.io = ApplicationIo::default();
                Ok(reader)
            }
            (ApplicationQuery::Process(pid), true) => {
                Err(format!("process {pid} does not exist; check its id"))
            }
            (ApplicationQuery::Group(path), true) => Err(format!(
                "{}: no process is in this control group, or it does not exist; name its directory",
                path.display()
            )),
        }
    }

    /// Counts once what is in flight.
    pub fn count_in_flight(&mut self) {
        let mut in_flight = 0;
        for pid in self.pids.clone() {
            in_flight += self.threads_waiting(pid);
            let rings = self.rings.get(&pid).into_iter().flatten();
            let infos = rings.filter_map(|fd| self.host.text(format!("/proc/{pid}/fdinfo/{fd}")));
            let held: u32 = infos.filter_map(|info| in_ring(&info)).sum();
            self.sample.in_rings += u64::from(held);
            in_flight += held;
        }
        self.sample.looks += 1;
        *self.sample.in_flight.entry(in_flight).or_default() += 1;
    }

    /// The counts so far, with the processes as they are now.
    pub fn sample(&mut self) -> ApplicationSample {
        self.find();
        self.count();
        let waits = self.waits.iter();
        self.sample.waits = waits
            .map(|((what, bytes), found)| WaitCount { what: *what, bytes: *bytes, found: *found })
            .collect();
        self.sample.unseen = self.unseen.iter().map(|text| (*text).to_owned()).collect();
        self.sample.clone()
    }

    /// Finds processes, threads and rings as they are now.
    fn find(&mut self) {
        self.pids = match &self.query {
            ApplicationQuery::Process(pid) => self.host.descendants(*pid),
            ApplicationQuery::Group(path) => self.host.group_processes(path),
        };
        let threads = |pid: &u32| self.host.names(format!("/proc/{pid}/task")).len() as u32;
        self.sample.processes = self.pids.len() as u32;
        self.sample.threads = self.pids.iter().map(threads).sum();
        self.rings = self.pids.iter().map(|pid| (*pid, self.host.rings(*pid))).collect();
        if self.pids.iter().any(|pid| self.host.uses_aio(*pid)) {
            self.unseen.insert(AIO_UNSEEN);
        }
    }

    fn count(&mut self) {
        let now: BTreeMap<u32, ApplicationIo> = self
            .pids
            .iter()
            .filter_map(|pid| Some((*pid, self.host.application_io(*pid)?)))
            .collect();
        let io = &mut self.sample.io;
        for (pid, now) in &now {
            let before = self.counters.get(pid).copied().unwrap_or_default();
            io.read_bytes += now.read_bytes.saturating_sub(before.read_bytes);
            io.write_bytes += now.write_bytes.saturating_sub(before.write_bytes);
            io.read_calls += now.read_calls.saturating_sub(before.read_calls);
            io.write_calls += now.write_calls.saturating_sub(before.write_calls);
        }
        self.counters = now;
        if let ApplicationQuery::Group(path) = &self.query {
            self.sample.group = self.host.group_io(path);
        }
    }

    /// The number of threads of a process that wait for storage, each counted by its call.
    fn threads_waiting(&mut self, pid: u32) -> u32 {
        let mut waiting = 0;
        for tid in self.host.names(format!("/proc/{pid}/task")) {
            let task = format!("/proc/{pid}/task/{tid}");
            let Some(stat) = self.host.text(format!("{task}/stat")) else { continue };
            // Without an uninterruptible wait there is no wait for storage.
            if !state_of(&stat)
                .is_some_and(|(name, state)| state == "D" && !name.starts_with(RING_WORKER))
            {
                continue;
            }
            let call = self.host.text(format!("{task}/syscall"));
            if call.is_none() {
                self.unseen.insert(CALLS_UNSEEN);
            }
            let key = call.and_then(|call| wait_of(&call)).unwrap_or((Wait::Other, None));
            *self.waits.entry(key).or_default() += 1;
            waiting += 1;
        }
        waiting
    }
}

impl Host {
    /// A process and those below it.
    fn descendants(&self, pid: u32) -> Vec<u32> {
        if !self.exists(format!("/proc/{pid}/stat")) {
            return Vec::new();
        }
        let all = self.names("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
        let parents: Vec<(u32, u32)> =
            all.filter_map(|pid| Some((pid, self.parent(pid)?))).collect();
        let mut found = vec![pid];
        let mut next = 0;
        while next < found.len() {
            let parent = found[next];
            let children =
                parents.iter().filter(|(child, of)| *of == parent && !found.contains(child));
            let children: Vec<u32> = children.map(|(child, _)| *child).collect();
            found.extend(children);
            next += 1;
        }
        found
    }

    fn parent(&self, pid: u32) -> Option<u32> {
        let stat = self.text(format!("/proc/{pid}/stat"))?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    }

    /// The processes of a control group and of the groups in it.
    fn group_processes(&self, path: &Path) -> Vec<u32> {
        let own = self.text(path.join("cgroup.procs")).unwrap_or_default();
        let mut pids: Vec<u32> = own.lines().filter_map(|line| line.parse().ok()).collect();
        for name in self.names(path) {
            let below = path.join(name);
            if self.exists(below.join("cgroup.procs")) {
                pids.extend(self.group_processes(&below));
            }
        }
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    /// `io.stat` of version 2, or the counters of the blkio controller of version 1.
    fn group_io(&self, path: &Path) -> BTreeMap<String, GroupIo> {
        let mut devices: BTreeMap<String, GroupIo> = BTreeMap::new();
        for line in self.text(path.join("io.stat")).unwrap_or_default().lines() {
            let Some((number, fields)) = line.split_once(' ') else { continue };
            let value = |name: &str| -> u64 {
                let field =
                    fields.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
                field.and_then(|value| value.parse().ok()).unwrap_or(0)
            };
            let io = GroupIo {
                read_ios: value("rios"),
                read_bytes: value("rbytes"),
                write_ios: value("wios"),
                write_bytes: value("wbytes"),
            };
            devices.insert(self.device_name(number), io);
        }
        for (file, is_bytes) in [("io_serviced", false), ("io_service_bytes", true)] {
            let text = self.text(path.join(format!("blkio.throttle.{file}_recursive")));
            for line in text.unwrap_or_default().lines() {
                let words: Vec<&str> = line.split(' ').collect();
                let [number, operation, value] = words[..] else { continue };
                let (Ok(value), Some(read)) = (value.parse(), is_read(operation)) else { continue };
                let io = devices.entry(self.device_name(number)).or_default();
                *match (read, is_bytes) {
                    (true, false) => &mut io.read_ios,
                    (true, true) => &mut io.read_bytes,
                    (false, false) => &mut io.write_ios,
                    (false, true) => &mut io.write_bytes,
                } = value;
            }
        }
        devices
    }

    /// The kernel's name of a device number ("8:0").
    fn device_name(&self, number: &str) -> String {
        let link = self.canonical(format!("/sys/dev/block/{number}")).ok();
        let name = link.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        name.unwrap_or_else(|| number.to_owned())
    }

    /// The file descriptors of a process that are rings of io_uring.
    fn rings(&self, pid: u32) -> Vec<String> {
        let mut found = self.names(format!("/proc/{pid}/fd"));
        found.retain(|fd| {
            let link = std::fs::read_link(self.real(format!("/proc/{pid}/fd/{fd}")));
            link.is_ok_and(|link| link.to_string_lossy().contains("[io_uring]"))
        });
        found
    }

    /// Whether a process has set up requests of libaio, whose ring is in its memory.
    fn uses_aio(&self, pid: u32) -> bool {
        self.text(format!("/proc/{pid}/maps")).is_some_and(|maps| maps.contains("/[aio]"))
    }

    fn application_io(&self, pid: u32) -> Option<ApplicationIo> {
        let text = self.text(format!("/proc/{pid}/io"))?;
        let value = |name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
        };
        Some(ApplicationIo {
            read_bytes: value("read_bytes"),
            write_bytes: value("write_bytes"),
            read_calls: value("syscr"),
            write_calls: value("syscw"),
        })
    }
}

fn is_read(operation: &str) -> Option<bool> {
    match operation {
        "Read" => Some(true),
        "Write" => Some(false),
        _ => None,
    }
}

/// Name and state of a thread, from its stat.
fn state_of(stat: &str) -> Option<(&str, &str)> {
    let (before, after) = stat.rsplit_once(')')?;
    Some((before.split_once('(')?.1, after.split_whitespace().next()?))
}

/// What a system call waits for, and how many bytes it asks for: "17 0x3 0x7f.. 0x4000 …".
fn wait_of(call: &str) -> Option<(Wait, Option<u64>)> {
    let mut words = call.split_whitespace();
    let number: i64 = words.next()?.parse().ok()?;
    let arguments: Vec<u64> =
        words.filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
    let argument = |index: usize| arguments.get(index).copied();
    Some(match number {
        libc::SYS_read | libc::SYS_pread64 => (Wait::Read, argument(2)),
        libc::SYS_write | libc::SYS_pwrite64 => (Wait::Write, argument(2)),
        // Their sizes are in the memory of the process.
        libc::SYS_readv | libc::SYS_preadv | libc::SYS_preadv2 => (Wait::Read, None),
        libc::SYS_writev | libc::SYS_pwritev | libc::SYS_pwritev2 => (Wait::Write, None),
        libc::SYS_sendfile => (Wait::Read, argument(3)),
        libc::SYS_copy_file_range => (Wait::Read, argument(4)),
        libc::SYS_fsync
        | libc::SYS_fdatasync
        | libc::SYS_sync
        | libc::SYS_syncfs
        | libc::SYS_sync_file_range
        | libc::SYS_msync => (Wait::Sync, None),
        _ => (Wait::Other, None),
    })
}

/// I/Os that a ring took and did not complete yet, from its fdinfo. Each is counted until it posts its
/// first completion.
fn in_ring(info: &str) -> Option<u32> {
    let value = |name: &str| -> Option<u32> {
        info.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
    };
    let held = value("CachedSqHead")?.wrapping_sub(value("CachedCqTail")?);
    // The two are not read at one moment.
    Some(if held > u32::MAX / 2 { 0 } else { held })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use testbed::put;

    /// Process 10 with two threads, of which one waits in a read of 16 KiB, and its child 11 that
    /// holds a ring; 12 is another's.
    fn machine(root: &Path) {
        let stat = |pid: u32, name: &str, state: &str, parent: u32| {
            format!("{pid} ({name}) {state} {parent} 1 1 0")
        };
        let pread =
            format!("{} 0x3 0x7f00 0x4000 0x1000 0x0 0x0 0x7ffe 0x7f01\n", libc::SYS_pread64);
        for (pid, name, parent) in [(10, "db (main)", 1), (11, "db", 10), (12, "other", 1)] {
            put(root, &format!("proc/{pid}/stat"), stat(pid, name, "S", parent));
            let io =
                format!("rchar: 9\nsyscr: {pid}\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 512\n");
            put(root, &format!("proc/{pid}/io"), &io);
        }
        for (task, name, state) in
            [("10/task/10", "db", "S"), ("10/task/20", "db io", "D"), ("11/task/11", "db", "S")]
        {
            put(root, &format!("proc/{task}/stat"), stat(1, name, state, 1));
            put(root, &format!("proc/{task}/syscall"), &pread);
        }
        // A worker of the kernel for the ring.
        put(root, "proc/11/task/30/stat", stat(30, "iou-wrk-11", "D", 1));
        put(
            root,
            "proc/11/fdinfo/5",
            "SqMask:\t0x7f\nCachedSqHead:\t4\nCachedCqTail:\t4294967295\n",
        );
        fs::create_dir_all(root.join("proc/11/fd")).unwrap();
        std::os::unix::fs::symlink("anon_inode:[io_uring]", root.join("proc/11/fd/5")).unwrap();
    }

    #[test]
    fn threads_that_wait_and_rings_are_what_is_in_flight() {
        let root = tempfile::tempdir().unwrap();
        machine(root.path());
        let host = Host::at(root.path());
        let mut reader = ApplicationReader::open(host, ApplicationQuery::Process(10)).unwrap();
        reader.count_in_flight();
        reader.count_in_flight();
        put(root.path(), "proc/10/io", "syscr: 13\nsyscw: 2\nread_bytes: 8192\nwrite_bytes: 512\n");
        let sample = reader.sample();
        assert_eq!((sample.processes, sample.threads, sample.looks), (2, 4, 2));
        assert_eq!(sample.in_flight, BTreeMap::from([(6, 2)]), "one thread and five in the ring");
        assert_eq!(sample.in_rings, 10);
        assert_eq!(sample.waits, [WaitCount { what: Wait::Read, bytes: Some(16384), found: 2 }]);
        let io = ApplicationIo { read_bytes: 4096, read_calls: 3, ..ApplicationIo::default() };
        assert_eq!(sample.io, io, "only what was done since");
        assert_eq!(sample.unseen, Vec::<String>::new());
    }

    #[test]
    fn what_may_not_be_seen_is_said() {
        let root = tempfile::tempdir().unwrap();
        machine(root.path());
        fs::remove_file(root.path().join("proc/10/task/20/syscall")).unwrap();
        put(root.path(), "proc/10/maps", "7f00-7f01 rw-s 0 00:0f 1 /[aio] (deleted)\n");
        let host = Host::at(root.path());
        let mut reader =
            ApplicationReader::open(host.clone(), ApplicationQuery::Process(10)).unwrap();
        reader.count_in_flight();
        let sample = reader.sample();
        assert_eq!(sample.unseen, [AIO_UNSEEN, CALLS_UNSEEN]);
        assert_eq!(sample.waits[0].what, Wait::Other);
        let gone = ApplicationReader::open(host, ApplicationQuery::Process(99)).err().unwrap();
        assert!(gone.contains("process 99 does not exist"), "{gone}");
    }

    #[test]
    fn a_group_has_processes_below_it_and_counts_by_device() {
        let root = tempfile::tempdir().unwrap();
        machine(root.path());
        put(root.path(), "group/cgroup.procs", "");
        put(root.path(), "group/below/cgroup.procs", "10\n12\n");
        put(
            root.path(),
            "group/io.stat",
            "8:0 rbytes=8192 wbytes=512 rios=2 wios=1 dbytes=0 dios=0\n",
        );
        let host = Host::at(root.path());
        let group = |path: &str| ApplicationQuery::Group(path.into());
        let sample = ApplicationReader::open(host.clone(), group("/group")).unwrap().sample();
        assert_eq!(sample.processes, 2);
        let io = GroupIo { read_ios: 2, read_bytes: 8192, write_ios: 1, write_bytes: 512 };
        assert_eq!(sample.group, BTreeMap::from([("8:0".to_owned(), io)]));
        let file_v1 = "8:0 Read 3\n8:0 Write 4\n8:0 Sync 7\nTotal 7\n";
        put(root.path(), "old/cgroup.procs", "10\n");
        put(root.path(), "old/blkio.throttle.io_serviced_recursive", file_v1);
        let old = ApplicationReader::open(host.clone(), group("/old")).unwrap().sample();
        assert_eq!((old.group["8:0"].read_ios, old.group["8:0"].write_ios), (3, 4));
        assert!(ApplicationReader::open(host, group("/none")).is_err());
    }
}
