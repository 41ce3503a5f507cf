//! Loads the programs, tells them which threads and devices to watch, and reads what they added up.

use crate::cell::{self, BYTES_MAX, Cell, DIRECTIONS, WORDS};
use crate::unavailable::Unavailable;
use aya::maps::{Array, HashMap, MapData, PerCpuArray};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfLoader, include_bytes_aligned};
use record::{Bytes, Direction, LayerPath, Nanos, OtherRequests};
use rustix::time::{ClockId, clock_gettime};

/// The compiled programs.
pub(crate) const OBJECT: &[u8] = include_bytes_aligned!("../bpf/layers.bpf.o");

/// An entry of the table of I/Os in flight, and the entries for one hash, as in `bpf/layers.bpf.c`.
const IO_WORDS: usize = 10;
const WAYS: usize = 4;
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
    /// Number of groups of threads.
    pub groups: usize,
}

/// I/Os of a group.
#[derive(Clone, Debug)]
pub struct Path {
    /// Its group.
    pub group: usize,
    /// What was measured.
    pub path: LayerPath,
    /// Sum of the times at which its I/Os entered the block layer, modulo 2^64, on CLOCK_MONOTONIC.
    pub entered: u64,
    /// The same for the times at which they left it.
    pub left: u64,
}

/// What the programs measured.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// I/Os of the groups.
    pub paths: Vec<Path>,
    /// Requests of other processes, and of threads of this program that are in no group.
    pub others: Vec<OtherRequests>,
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
    attached: bool,
}

impl Collector {
    /// Loads the programs.
    ///
    /// # Errors
    /// When the kernel does not allow that or lacks what they need.
    pub fn start(settings: Settings) -> Result<Collector, Unavailable> {
        Unavailable::check()?;
        let Settings { devices, groups } = settings;
        if devices.is_empty() {
            return Err(Unavailable::NoDevice);
        }
        if devices.len() > DEVICES_MAX {
            return Err(Unavailable::TooManyDevices(devices.len()));
        }
        let mut numbers = [0_u64; DEVICES_MAX];
        for (number, device) in numbers.iter_mut().zip(&devices) {
            *number = device_number(&device.number).ok_or(Unavailable::NoDevice)?;
        }
        let cpus = aya::util::nr_cpus().map_or(1, |cpus| cpus as u64);
        let each = devices.len() as u64 * u64::from(DIRECTIONS) * (WORDS * 8) as u64 * cpus;
        // Where the cells would need too much memory, all jobs share theirs.
        let groups = if groups as u64 * each <= BYTES_MAX { groups } else { 1 };
        let btf = Btf::from_sys_fs()?;
        let cells = (groups * devices.len()) as u32 * DIRECTIONS;
        let mut ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            .override_global("own_tgid", &std::process::id(), true)
            .override_global("devices_count", &(devices.len() as u32), true)
            .override_global("devices", &numbers, true)
            .map_max_entries("cells", cells)
            .load(OBJECT)?;
        for (name, tracepoint) in PROGRAMS {
            program(&mut ebpf, name)?.load(tracepoint, &btf)?;
        }
        Ok(Collector { ebpf, devices, groups, attached: false })
    }

    /// Attaches the programs; a second call changes nothing.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn attach(&mut self) -> Result<(), Unavailable> {
        if !std::mem::replace(&mut self.attached, true) {
            for (name, _) in PROGRAMS {
                program(&mut self.ebpf, name)?.attach()?;
            }
        }
        Ok(())
    }

    /// Counts I/Os of this thread, and of io_uring's threads behind it, as those of `group`, from the
    /// time `since` on CLOCK_MONOTONIC on.
    ///
    /// # Errors
    /// When there are too many threads.
    pub fn add_worker(&mut self, tid: u32, group: usize, since: u64) -> Result<(), Unavailable> {
        let group = if group < self.groups { group as u64 } else { 0 };
        let mut workers: HashMap<&mut MapData, u32, [u64; 2]> =
            hash_map(&mut self.ebpf, "workers")?;
        Ok(workers.insert(tid, [group, since], 0)?)
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
        for (name, _) in PROGRAMS {
            program(&mut self.ebpf, name)?.unload()?;
        }
        let tallies: Array<_, u64> = Array::try_from(self.map("tallies")?)?;
        let [lost, unseen, metadata, unnamed] =
            [0, 1, 2, 3].map(|index| tallies.get(&index, 0).unwrap_or_default());
        Ok(Collected {
            paths: self.paths()?,
            others: self.others()?,
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
        self.ebpf.map(name).ok_or_else(|| Unavailable::Failed(format!("no map {name}")))
    }

    /// I/Os of the groups so far. The kernel goes on adding while it is read: a sum may have an I/O more
    /// than another one.
    ///
    /// # Errors
    /// When the kernel does not return its sums.
    pub fn paths(&self) -> Result<Vec<Path>, Unavailable> {
        let cells: PerCpuArray<_, Cell> = PerCpuArray::try_from(self.map("cells")?)?;
        let mut paths = Vec::new();
        for index in 0..cells.len() {
            let Some((mut path, entered, left)) = cell::gather(&cells.get(&index, 0)?) else {
                continue;
            };
            let device = (index / DIRECTIONS) as usize;
            path.device_name.clone_from(&self.devices[device % self.devices.len()].name);
            // The fourth kind are flushes.
            path.direction = Direction::ALL.get((index % DIRECTIONS) as usize).copied();
            paths.push(Path { group: device / self.devices.len(), path, entered, left });
        }
        Ok(paths)
    }

    fn others(&self) -> Result<Vec<OtherRequests>, Unavailable> {
        let others: HashMap<_, [u8; 24], [u64; 3]> = HashMap::try_from(self.map("others")?)?;
        let mut found: Vec<OtherRequests> = Vec::new();
        for entry in others.iter() {
            let (key, [requests, bytes, device_ns]) = entry?;
            let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| key[at + byte]));
            let name = process_name(&key[..16]);
            let device = self.devices.get(word(16) as usize);
            let device = device.map(|device| device.name.clone()).unwrap_or_default();
            let own = word(20) == 1;
            let same =
                |it: &&mut OtherRequests| (&it.name, &it.device, it.own) == (&name, &device, own);
            let other = match found.iter_mut().find(same) {
                Some(other) => other,
                None => {
                    found.push(OtherRequests { name, device, own, ..OtherRequests::default() });
                    found.last_mut().ok_or(Unavailable::NoDevice)?
                }
            };
            other.requests += requests;
            other.bytes += Bytes(bytes);
            other.device_time += Nanos(device_ns);
        }
        found.sort_by(|a, b| (b.device_time, &a.name).cmp(&(a.device_time, &b.name)));
        Ok(found)
    }
}

fn program<'a>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut BtfTracePoint, Unavailable> {
    let missing = || Unavailable::Failed(format!("no program {name}"));
    Ok(ebpf.program_mut(name).ok_or_else(missing)?.try_into()?)
}

fn hash_map<'a, K: aya::Pod, V: aya::Pod>(
    ebpf: &'a mut Ebpf,
    name: &str,
) -> Result<HashMap<&'a mut MapData, K, V>, Unavailable> {
    let map = ebpf.map_mut(name).ok_or_else(|| Unavailable::Failed(format!("no map {name}")))?;
    Ok(HashMap::try_from(map)?)
}

/// Major and minor number, as the programs put them together.
fn device_number(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some(major.parse::<u64>().ok()? << 32 | minor.parse::<u64>().ok()?)
}

/// The name of a process. Threads of the kernel's work queues share one: "kworker/3:1H" is "kworker".
fn process_name(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    match text.strip_prefix("kworker/") {
        Some(_) => "kworker".to_owned(),
        None => text.into_owned(),
    }
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
    fn names_of_kernel_workers_are_put_together() {
        assert_eq!(process_name(b"kworker/u8:3\0\0\0\0"), "kworker");
        assert_eq!(process_name(b"mariadbd\0\0\0\0\0\0\0\0"), "mariadbd");
        assert_eq!(device_number("259:7"), Some(259 << 32 | 7));
        assert_eq!(device_number("sda"), None);
    }
}
