//! Loads the programs, tells them what to watch, and attaches them.

use crate::calls;
use aya::maps::{Array, HashMap, MapData, RingBuf};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfLoader, include_bytes_aligned};
use layers::Unavailable;
use record::{DeviceFacts, DeviceKind};

/// Beginnings of the names of devices whose drivers have no requests.
const WITHOUT_REQUESTS: [&str; 8] = ["zram", "ram", "pmem", "dm-", "md", "bcache", "drbd", "nullb"];

/// The compiled programs.
const OBJECT: &[u8] = include_bytes_aligned!("../bpf/capture.bpf.o");

/// Programs, the tracepoints that they are attached to, and what is not seen without them. What ends
/// something comes before what begins it.
const PROGRAMS: &[(&str, &str, Option<Unseen>)] = &[
    ("switches", "sched_switch", None),
    ("exits", "sched_process_exit", None),
    ("execs", "sched_process_exec", None),
    ("forks", "sched_process_fork", None),
];
const APPLICATION: &[(&str, &str, Option<Unseen>)] = &[
    ("call_ends", "sys_exit", None),
    ("call_begins", "sys_enter", None),
    ("ring_ends", "io_uring_complete", Some(Unseen::IoUring)),
    ("ring_begins", "io_uring_submit_req", Some(Unseen::IoUring)),
    ("misses", "mm_filemap_add_to_page_cache", Some(Unseen::Faults)),
    ("faults", "mm_filemap_fault", Some(Unseen::Faults)),
];
const DEVICE: &[(&str, &str, Option<Unseen>)] = &[
    ("request_ends", "block_rq_complete", None),
    ("request_begins", "block_rq_issue", None),
    ("request_starts", "block_io_start", Some(Unseen::Submitters)),
    ("bio_ends", "block_bio_complete", None),
    ("bio_begins", "block_bio_queue", None),
];

/// What this kernel does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// Reads and writes by io_uring.
    IoUring,
    /// Page faults of mapped files.
    Faults,
    /// Which thread a request of a device comes from, if a thread of the kernel issues it.
    Submitters,
}

/// A disk, for the device level.
#[derive(Clone, Debug)]
pub struct Disk {
    /// Its path.
    pub path: String,
    /// Major and minor number.
    pub number: (u32, u32),
    /// Bytes.
    pub size: u64,
    /// Its driver has no requests (zram, device mapper, md), and no other disk of the list is below it.
    pub by_bios: bool,
}

impl Disk {
    /// The disk with these facts; `None` if it is a partition. `wanted`: the device that a capture is limited to.
    pub fn from_facts(facts: &DeviceFacts, wanted: Option<(u32, u32)>) -> Option<Disk> {
        if matches!(facts.kind, DeviceKind::Partition) {
            return None;
        }
        let number = parse_number(&facts.dev)?;
        let has_none = WITHOUT_REQUESTS.iter().any(|start| facts.name.starts_with(start));
        Some(Disk {
            path: format!("/dev/{}", facts.name.replace('!', "/")),
            number,
            size: facts.size.0,
            by_bios: has_none && (facts.below.is_empty() || wanted == Some(number)),
        })
    }
}

/// Major and minor number of a device, from "8:0".
pub fn parse_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whose calls are seen.
#[derive(Clone, Debug)]
pub enum Who {
    /// All threads of the machine except those of this process.
    Everyone,
    /// These threads and those that they start.
    Threads(Vec<u32>),
    /// Threads of a control group and the groups below it: its number and depth in the hierarchy.
    Group(u64, u32),
}

/// What is to be captured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whose calls.
    pub who: Who,
    /// What applications ask.
    pub application: bool,
    /// What reaches the devices.
    pub device: bool,
    /// Only files on this device, or the device itself.
    pub only_device: Option<(u32, u32)>,
    /// The disks of the machine.
    pub disks: Vec<Disk>,
    /// Requests of other disks do not count.
    pub only_these_disks: bool,
}

/// The loaded programs. They end with this process, however that ends.
pub(crate) struct Programs {
    ebpf: Ebpf,
    pub ring: RingBuf<MapData>,
    pub unseen: Vec<Unseen>,
}

impl Programs {
    /// Loads the programs and attaches them.
    pub fn start(settings: &Settings) -> Result<Programs, Unavailable> {
        Unavailable::check()?;
        let btf = Btf::from_sys_fs()?;
        let mut ebpf = load(settings, &btf)?;
        let mut numbers: Array<&mut MapData, u32> = array(&mut ebpf, "calls")?;
        for (number, call) in calls::calls() {
            numbers.set(number, call, 0)?;
        }
        if let Who::Threads(threads) = &settings.who {
            threads.iter().try_for_each(|thread| watch(&mut ebpf, *thread))?;
        }
        let mut disks: HashMap<&mut MapData, u32, u32> = hash_map(&mut ebpf, "disks")?;
        for disk in &settings.disks {
            let (major, minor) = disk.number;
            disks.insert(major << 20 | minor, 1 + u32::from(disk.by_bios), 0)?;
        }
        let mut unseen = Vec::new();
        let levels =
            [(true, PROGRAMS), (settings.application, APPLICATION), (settings.device, DEVICE)];
        let chosen = levels.iter().filter(|(is_chosen, _)| *is_chosen).flat_map(|(_, all)| *all);
        for (name, tracepoint, otherwise) in chosen {
            match (attach(&mut ebpf, name, tracepoint, &btf), otherwise) {
                (Err(Unavailable::UnknownKernel(_)), Some(what)) if !unseen.contains(what) => {
                    unseen.push(*what);
                }
                (Err(Unavailable::UnknownKernel(_)), Some(_)) => {}
                (attached, _) => attached?,
            }
        }
        let ring = ebpf.take_map("ring").ok_or_else(|| missing("ring"))?;
        Ok(Programs { ebpf, ring: RingBuf::try_from(ring)?, unseen })
    }

    /// Watches one more thread, and those that it starts.
    pub fn watch(&mut self, thread: u32) -> Result<(), Unavailable> {
        watch(&mut self.ebpf, thread)
    }

    /// Events that were lost so far, and calls on what is no file.
    pub fn tallies(&self) -> Result<(u64, u64), Unavailable> {
        let map = self.ebpf.map("tallies").ok_or_else(|| missing("tallies"))?;
        let tallies: Array<_, u64> = Array::try_from(map)?;
        Ok((tallies.get(&0, 0)?, tallies.get(&1, 0)?))
    }

    /// Ends the programs; what they sent stays in the ring.
    pub fn stop(&mut self) -> Result<(), Unavailable> {
        for (name, _, _) in PROGRAMS.iter().chain(APPLICATION).chain(DEVICE) {
            let program = program(&mut self.ebpf, name)?;
            if program.fd().is_ok() {
                program.unload()?;
            }
        }
        Ok(())
    }
}

fn load(settings: &Settings, btf: &Btf) -> Result<Ebpf, Unavailable> {
    let (whose, group, level) = match settings.who {
        Who::Threads(_) => (0_u32, 0_u64, 0_u32),
        Who::Everyone => (1, 0, 0),
        Who::Group(group, level) => (2, group, level),
    };
    let only = settings.only_device.map_or(0, |(major, minor)| major << 20 | minor);
    let arm = u32::from(cfg!(target_arch = "aarch64"));
    let shift = rustix::param::page_size().trailing_zeros();
    Ok(EbpfLoader::new()
        .btf(Some(btf))
        .override_global("own_tgid", &std::process::id(), true)
        .override_global("whose", &whose, true)
        .override_global("group_id", &group, true)
        .override_global("group_level", &level, true)
        .override_global("only_device", &only, true)
        .override_global("is_arm", &arm, true)
        .override_global("page_shift", &shift, true)
        .override_global("flag_direct", &(libc::O_DIRECT as u32), true)
        .override_global("some_disks", &u32::from(settings.only_these_disks), true)
        .load(OBJECT)?)
}

fn watch(ebpf: &mut Ebpf, thread: u32) -> Result<(), Unavailable> {
    /// Words of a thread's state; all are 0 at first.
    const WORDS: usize = 21;
    let mut threads: HashMap<&mut MapData, u32, [u64; WORDS]> = hash_map(ebpf, "threads")?;
    Ok(threads.insert(thread, [0; WORDS], 0)?)
}

fn attach(ebpf: &mut Ebpf, name: &str, tracepoint: &str, btf: &Btf) -> Result<(), Unavailable> {
    let program = program(ebpf, name)?;
    program.load(tracepoint, btf)?;
    program.attach()?;
    Ok(())
}

fn missing(what: &str) -> Unavailable {
    Unavailable::Failed(format!("no {what}"))
}

fn program<'a>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut BtfTracePoint, Unavailable> {
    Ok(ebpf.program_mut(name).ok_or_else(|| missing(name))?.try_into()?)
}

fn hash_map<'a, K: aya::Pod, V: aya::Pod>(
    ebpf: &'a mut Ebpf,
    name: &str,
) -> Result<HashMap<&'a mut MapData, K, V>, Unavailable> {
    Ok(HashMap::try_from(ebpf.map_mut(name).ok_or_else(|| missing(name))?)?)
}

fn array<'a, V: aya::Pod>(
    ebpf: &'a mut Ebpf,
    name: &str,
) -> Result<Array<&'a mut MapData, V>, Unavailable> {
    Ok(Array::try_from(ebpf.map_mut(name).ok_or_else(|| missing(name))?)?)
}
