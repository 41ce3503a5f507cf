//! Loads the programs, tells them which threads and devices to watch, and reads what they added up.

use crate::cell::{self, BYTES_MAX, Cell, CellBySize, DIRECTIONS, Path};
use crate::unavailable::Unavailable;
use aya::maps::{Array, HashMap, MapData, PerCpuArray};
use aya::programs::BtfTracePoint;
use aya::sys::{Stats, enable_stats};
use aya::{Btf, Ebpf, EbpfLoader, include_bytes_aligned};
use record::{Bytes, DeviceEvents, Direction, Nanos, OtherRequests};
use rustix::time::{ClockId, clock_gettime};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The compiled programs.
pub(crate) const OBJECT: &[u8] = include_bytes_aligned!("../bpf/layers.bpf.o");

/// An entry of the table of I/Os in flight, and the entries for one hash, as in `bpf/layers.bpf.c`.
const IO_WORDS: usize = 13;
const WAYS: usize = 4;
/// An entry of the table of workers: thread and group in one word, then the end of its ramp.
const WORKER_WORDS: usize = 2;
/// Whose a request is: name, cgroup, then process, device, own and a number that is not used.
const OWNER_BYTES: usize = 40;
/// Disks that the programs can tell apart.
const DEVICES_MAX: usize = 64;

/// Programs, and the tracepoints that they are attached to.
const PROGRAMS: &[(&str, &str)] = &[
    // What ends an I/O comes first: no I/O may begin that nothing would end.
    ("rq_complete", "block_rq_complete"),
    ("bio_complete", "block_bio_complete"),
    ("rq_requeue", "block_rq_requeue"),
    ("rq_issue", "block_rq_issue"),
    ("rq_insert", "block_rq_insert"),
    ("getrq", "block_getrq"),
    ("bio_split", "block_split"),
    ("bio_queue", "block_bio_queue"),
];

/// Programs for tracepoints that a kernel without ext4 lacks, the last event first.
const JOURNAL_PROGRAMS: &[(&str, &str)] =
    &[("end_commit", "jbd2_end_commit"), ("start_commit", "jbd2_start_commit")];
/// The program that each I/O calls once.
const ENTRY: &str = "bio_queue";

/// What the programs have cost.
#[derive(Clone, Copy, Debug)]
pub struct ProgramCost {
    /// CPU time.
    pub time: Duration,
    /// I/Os of the machine.
    pub ios: u64,
}

/// Makes the kernel measure what BPF programs cost, until the value is dropped; `None` if it does not allow
/// that. Measuring takes time itself.
pub fn measure_cost() -> Option<OwnedFd> {
    enable_stats(Stats::RunTime).ok()
}

/// A disk whose I/Os are timed.
#[derive(Clone, Debug)]
pub struct WatchedDevice {
    /// Kernel name.
    pub name: String,
    /// "major:minor".
    pub number: String,
}

/// What is to be watched.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The disks.
    pub devices: Vec<WatchedDevice>,
    /// The processes whose I/Os are timed.
    pub scope: Scope,
    /// Whether I/Os are also counted by their size.
    pub sizes_apart: bool,
}

/// The processes whose I/Os are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// So many groups of threads of this process ([`Collector::add_worker`]).
    Groups(usize),
    /// Every process, all as one group. Each one is also among the others.
    AllProcesses,
}

/// Requests of a process, or of threads of this program that are in no group.
#[derive(Clone, Debug)]
pub struct Others {
    /// Number of the cgroup that they are charged to, which is the inode of its directory; 0 if to none.
    pub cgroup: u64,
    /// What was counted, without the cgroup's path.
    pub requests: OtherRequests,
}

impl Others {
    /// The requests with the path of their cgroup, of the paths by their numbers.
    pub fn with_cgroup(self, paths: &BTreeMap<u64, String>) -> OtherRequests {
        OtherRequests { cgroup: paths.get(&self.cgroup).cloned(), ..self.requests }
    }
}

/// What the programs measured.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// I/Os of the groups.
    pub paths: Vec<Path>,
    /// Requests of other processes, and of threads of this program that are in no group; the one that
    /// used most device time first.
    pub others: Vec<Others>,
    /// Commits of the journals on the disks, where the kernel tells of them.
    pub journals: Vec<DeviceEvents>,
    /// Flushes of the disks' caches, whoever asked for them.
    pub flushes: Vec<DeviceEvents>,
    /// I/Os that were not timed because too many were in flight, or an event is missing.
    pub lost: u64,
    /// Requests that began before the programs were loaded, or that no bio began.
    pub unseen: u64,
    /// I/Os of the groups for the filesystem's own data.
    pub metadata: u64,
    /// Requests of processes for which there was no room.
    pub unnamed: u64,
}

/// The loaded programs. They end with this process, however that ends.
pub struct Collector {
    ebpf: Ebpf,
    devices: Vec<WatchedDevice>,
    groups: usize,
    sizes_apart: bool,
    /// Whether commits of journals are timed.
    has_journals: bool,
    attached: bool,
}

impl Collector {
    /// Loads the programs.
    ///
    /// # Errors
    /// When the kernel does not allow that or lacks what they need.
    pub fn start(settings: Settings) -> Result<Collector, Unavailable> {
        Unavailable::check()?;
        let Settings { devices, scope, sizes_apart } = settings;
        let (groups, all_processes) = match scope {
            Scope::Groups(groups) => (groups, 0_u32),
            Scope::AllProcesses => (1, 1),
        };
        if devices.is_empty() {
            return Err(Unavailable::NoDevice);
        }
        if devices.len() > DEVICES_MAX {
            return Err(Unavailable::TooManyDevices(devices.len()));
        }
        let by_size = if sizes_apart { size_of::<CellBySize>() } else { 0 };
        let cpus = aya::util::nr_cpus().unwrap_or(1);
        let each = devices.len() * DIRECTIONS as usize * (size_of::<Cell>() + by_size) * cpus;
        // Where the cells would need too much memory, all jobs share theirs.
        let groups = if groups * each <= BYTES_MAX { groups } else { 1 };
        let cells = (groups * devices.len()) as u32 * DIRECTIONS;
        let btf = Btf::from_sys_fs()?;
        let mut ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            .override_global("own_tgid", &std::process::id(), true)
            .override_global("all_processes", &all_processes, true)
            .override_global("sizes_apart", &u32::from(sizes_apart), true)
            .override_global("devices_count", &(devices.len() as u32), true)
            .override_global("devices", &device_numbers(&devices)?, true)
            .map_max_entries("cells", cells)
            .map_max_entries("cells_by_size", if sizes_apart { cells } else { 1 })
            .load(OBJECT)?;
        for (name, tracepoint) in PROGRAMS {
            program(&mut ebpf, name)?.load(tracepoint, &btf)?;
        }
        let mut load = |(name, tracepoint): &(&str, &str)| {
            program(&mut ebpf, name).is_ok_and(|it| it.load(tracepoint, &btf).is_ok())
        };
        let has_journals = JOURNAL_PROGRAMS.iter().all(&mut load);
        Ok(Collector { ebpf, devices, groups, sizes_apart, has_journals, attached: false })
    }

    /// Attaches the programs; a second call changes nothing.
    pub fn attach(&mut self) -> Result<(), Unavailable> {
        if !std::mem::replace(&mut self.attached, true) {
            for name in self.programs() {
                program(&mut self.ebpf, name)?.attach()?;
            }
        }
        Ok(())
    }

    /// Names of the loaded programs, in the order in which they are attached.
    fn programs(&self) -> Vec<&'static str> {
        let journal = if self.has_journals { JOURNAL_PROGRAMS } else { &[] };
        journal.iter().chain(PROGRAMS).map(|(name, _)| *name).collect()
    }

    /// Counts I/Os of this thread, and of io_uring's threads behind it, as those of `group`, from the
    /// time `since` on CLOCK_MONOTONIC on.
    ///
    /// # Errors
    /// When there are too many threads.
    pub fn add_worker(&mut self, tid: u32, group: usize, since: u64) -> Result<(), Unavailable> {
        let group = if group < self.groups { group as u64 } else { 0 };
        let map = self.ebpf.map_mut("workers").ok_or_else(|| no_map("workers"))?;
        let mut workers: Array<&mut MapData, [[u64; WORKER_WORDS]; WAYS]> = Array::try_from(map)?;
        let set = tid % workers.len();
        let mut entries = workers.get(&set, 0)?;
        let is_usable = |entry: &&mut [u64; WORKER_WORDS]| entry[0] == 0 || entry[0] as u32 == tid;
        let entry = entries.iter_mut().find(is_usable).ok_or(Unavailable::TooManyThreads)?;
        *entry = [group << 32 | u64::from(tid), since];
        Ok(workers.set(set, entries, 0)?)
    }

    /// What the programs have cost while the kernel measured it ([`measure_cost`]); `None` if it does not
    /// say.
    pub fn cost(&self) -> Option<ProgramCost> {
        let mut sum = ProgramCost { time: Duration::ZERO, ios: 0 };
        for (name, _) in PROGRAMS {
            let program: &BtfTracePoint = self.ebpf.program(name)?.try_into().ok()?;
            let info = program.info().ok()?;
            sum.time += info.run_time();
            sum.ios += if *name == ENTRY { info.run_count() } else { 0 };
        }
        Some(sum)
    }

    /// Whether each group is counted by itself.
    pub fn keeps_groups_apart(&self, groups: usize) -> bool {
        self.groups >= groups
    }

    /// Ends the programs and reads what they added up.
    ///
    /// # Errors
    /// When the kernel does not return its sums.
    pub fn finish(mut self) -> Result<Collected, Unavailable> {
        for name in self.programs() {
            program(&mut self.ebpf, name)?.unload()?;
        }
        let tallies: Array<_, u64> = Array::try_from(self.map("tallies")?)?;
        let [lost, unseen, metadata, unnamed] =
            [0, 1, 2, 3].map(|index| tallies.get(&index, 0).unwrap_or_default());
        Ok(Collected {
            paths: self.paths_by_size()?,
            others: self.others()?,
            journals: self.events("journals")?,
            flushes: self.events("flushes")?,
            lost: lost + self.unfinished()?,
            unseen,
            metadata,
            unnamed,
        })
    }

    /// I/Os of the groups whose completion was not seen, although all are complete by now: the kernel
    /// skips a program that would interrupt itself.
    fn unfinished(&self) -> Result<u64, Unavailable> {
        let in_flight: Array<_, [[u64; IO_WORDS]; WAYS]> = Array::try_from(self.map("in_flight")?)?;
        // The first word is zero in a free entry. The upper half of the seventh is the cell; all ones: of
        // another process.
        let is_ours = |io: &[u64; IO_WORDS]| io[0] != 0 && io[6] >> 32 != u64::from(u32::MAX);
        let buckets = in_flight.iter().filter_map(Result::ok);
        Ok(buckets.map(|ios| ios.into_iter().filter(is_ours).count() as u64).sum())
    }

    fn map(&self, name: &str) -> Result<&aya::maps::Map, Unavailable> {
        self.ebpf.map(name).ok_or_else(|| no_map(name))
    }

    /// Begins a step of the run: the slowest I/O of each of the last four is kept, from the first one that
    /// was begun.
    ///
    /// # Errors
    /// When the kernel does not take the number.
    pub fn begin_step(&mut self, number: u64) -> Result<(), Unavailable> {
        let map = self.ebpf.map_mut("step_number").ok_or_else(|| no_map("step_number"))?;
        Ok(Array::<&mut MapData, u64>::try_from(map)?.set(0, number, 0)?)
    }

    /// I/Os of the groups so far. The kernel goes on adding while it is read: a sum may have an I/O more
    /// than another one.
    ///
    /// # Errors
    /// When the kernel does not return its sums.
    pub fn paths(&self) -> Result<Vec<Path>, Unavailable> {
        Ok(self.paths_by_cell()?.into_iter().map(|(_, path)| path).collect())
    }

    /// The same at the end, with the I/Os of each size class.
    fn paths_by_size(&self) -> Result<Vec<Path>, Unavailable> {
        if !self.sizes_apart {
            return self.paths();
        }
        let by_size: PerCpuArray<_, CellBySize> =
            PerCpuArray::try_from(self.map("cells_by_size")?)?;
        let with_sizes = |(cell, mut found): (u32, Path)| {
            found.path.sizes = cell::sizes(&by_size.get(&cell, 0)?);
            Ok(found)
        };
        self.paths_by_cell()?.into_iter().map(with_sizes).collect()
    }

    /// The I/Os of each cell that has some, with its number.
    fn paths_by_cell(&self) -> Result<Vec<(u32, Path)>, Unavailable> {
        let cells: PerCpuArray<_, Cell> = PerCpuArray::try_from(self.map("cells")?)?;
        let mut paths = Vec::new();
        for index in 0..cells.len() {
            let Some(mut found) = cell::gather(&cells.get(&index, 0)?) else { continue };
            let device = (index / DIRECTIONS) as usize;
            let path = &mut found.path;
            path.device_name.clone_from(&self.devices[device % self.devices.len()].name);
            // The fourth kind are flushes.
            path.direction = Direction::ALL.get((index % DIRECTIONS) as usize).copied();
            found.group = device / self.devices.len();
            paths.push((index, found));
        }
        Ok(paths)
    }

    /// Events of a kind on each device that had some.
    fn events(&self, map: &str) -> Result<Vec<DeviceEvents>, Unavailable> {
        let events: Array<_, [u64; 3]> = Array::try_from(self.map(map)?)?;
        let mut found = Vec::new();
        for (index, device) in (0..).zip(&self.devices) {
            let [count, time, longest] = events.get(&index, 0)?;
            if count > 0 {
                let (device, time, longest) = (device.name.clone(), Nanos(time), Nanos(longest));
                found.push(DeviceEvents { device, count, time, longest });
            }
        }
        Ok(found)
    }

    /// Requests of processes so far.
    ///
    /// # Errors
    /// When the kernel does not return its sums.
    pub fn others(&self) -> Result<Vec<Others>, Unavailable> {
        let others: HashMap<_, [u8; OWNER_BYTES], [u64; 3]> =
            HashMap::try_from(self.map("others")?)?;
        let mut found: Vec<Others> = Vec::new();
        for entry in others.iter() {
            let (key, [requests, bytes, device_ns]) = entry?;
            let number = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| key[at + byte]));
            let cgroup = u64::from(number(20)) << 32 | u64::from(number(16));
            let device = self.devices.get(number(28) as usize);
            let requests = OtherRequests {
                name: process_name(&key[..16]),
                pid: number(24),
                cgroup: None,
                device: device.map(|device| device.name.clone()).unwrap_or_default(),
                own: number(32) == 1,
                requests,
                bytes: Bytes(bytes),
                device_time: Nanos(device_ns),
            };
            found.push(Others { cgroup, requests });
        }
        let key = |other: &Others| (Reverse(other.requests.device_time), other.requests.pid);
        found.sort_by_key(key);
        Ok(found)
    }
}

fn program<'a>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut BtfTracePoint, Unavailable> {
    let missing = || Unavailable::Failed(format!("no program {name}"));
    Ok(ebpf.program_mut(name).ok_or_else(missing)?.try_into()?)
}

fn no_map(name: &str) -> Unavailable {
    Unavailable::Failed(format!("no map {name}"))
}

/// The numbers of the devices, and zeros.
fn device_numbers(devices: &[WatchedDevice]) -> Result<[u64; DEVICES_MAX], Unavailable> {
    let mut numbers = [0; DEVICES_MAX];
    for (number, device) in numbers.iter_mut().zip(devices) {
        *number = device_number(&device.number).ok_or(Unavailable::NoDevice)?;
    }
    Ok(numbers)
}

/// Major and minor number, as the programs put them together.
fn device_number(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some(major.parse::<u64>().ok()? << 32 | minor.parse::<u64>().ok()?)
}

/// The name of a process, which zeros follow.
fn process_name(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// Now on CLOCK_MONOTONIC, in nanoseconds, as the kernel's programs read it.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_disks_and_none_are_refused() {
        let disk = WatchedDevice { name: "sda".into(), number: "8:0".into() };
        let start = |count: usize| {
            let devices = vec![disk.clone(); count];
            Collector::start(Settings { devices, scope: Scope::AllProcesses, sizes_apart: false })
                .map(|_| ())
        };
        assert!(matches!(start(DEVICES_MAX + 1), Err(Unavailable::TooManyDevices(65))));
        assert!(matches!(start(0), Err(Unavailable::NoDevice)));
    }

    #[test]
    fn names_and_numbers_are_read_as_the_programs_write_them() {
        assert_eq!(process_name(b"mariadbd\0\0\0\0\0\0\0\0"), "mariadbd");
        assert_eq!(device_number("259:7"), Some(259 << 32 | 7));
        assert_eq!(device_number("sda"), None);
    }
}
