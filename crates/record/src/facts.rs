//! Facts about the machine before the run.

use crate::{Bytes, Environment, Health, InterruptFacts, distinct};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts about the machine and the targets, read before a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Host name.
    pub hostname: String,
    /// Kernel release, as `uname -r`.
    pub kernel: String,
    /// Machine type, as `uname -m`.
    pub architecture: String,
    /// The processors.
    pub cpu: CpuFacts,
    /// Main memory.
    pub memory: Bytes,
    /// Size of a memory page.
    pub page_size: Bytes,
    /// Targets, by the path in the job.
    pub targets: BTreeMap<String, TargetFacts>,
    /// All block devices in the stacks under the targets, by kernel name.
    pub devices: BTreeMap<String, DeviceFacts>,
    /// The system around the run.
    #[serde(default)]
    pub environment: Environment,
    /// What could not be read, and why (for example a lack of privilege).
    pub unknown: Vec<String>,
}

/// Facts about the processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuFacts {
    /// Model name.
    pub model: String,
    /// Logical CPUs online.
    pub online: u32,
    /// CPUs this process may run on.
    pub allowed: Vec<u32>,
    /// NUMA node → its CPUs.
    pub nodes: BTreeMap<u32, Vec<u32>>,
    /// The place of each online CPU, if the kernel reports it.
    #[serde(default)]
    pub places: BTreeMap<u32, CpuPlace>,
    /// Frequency governor of CPU 0, if it has one.
    pub governor: Option<String>,
    /// Whether the time-stamp counter runs at one rate in every power state.
    pub invariant_tsc: bool,
    /// Hypervisor, when this is a virtual machine.
    pub hypervisor: Option<String>,
}

/// The place of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuPlace {
    /// Its socket.
    pub socket: u32,
    /// The lowest CPU of its core, which identifies the core.
    pub core: u32,
    /// Its capacity; 1024 is that of the fastest CPU. `None` if the kernel does not report it.
    pub capacity: Option<u32>,
}

/// The kind of file at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// Nothing exists yet.
    #[default]
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A block device.
    Block,
    /// A character device.
    Char,
    /// A named pipe.
    Fifo,
    /// Anything else.
    Other,
}

/// Facts about one path of a job, or about a directory in which it creates files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// What the path is.
    pub kind: TargetKind,
    /// Size of the file or device; 0 for others.
    pub size: Bytes,
    /// Whether this process may read it (for a missing path: may create it).
    pub readable: bool,
    /// Whether this process may write it (for a missing path: may create it).
    pub writable: bool,
    /// For a missing path: whether its directory exists.
    pub parent_exists: bool,
    /// The path with links resolved.
    pub canonical: String,
    /// Filesystem that holds it; `None` for devices.
    pub filesystem: Option<FilesystemFacts>,
    /// Kernel name of the block device that it is or is stored on ("sda1"); `None` for tmpfs,
    /// network, null.
    pub device: Option<String>,
    /// Alignment that O_DIRECT needs, if the kernel reports it (statx since 6.1) or the device
    /// implies it.
    pub direct: Option<DirectLimits>,
    /// Reasons why writing to this block device would destroy something; empty if it is free.
    pub uses: Vec<Use>,
    /// Holes and unwritten blocks of the file; `None` if the filesystem does not report them.
    pub extents: Option<Extents>,
}

/// Alignment that O_DIRECT needs, in bytes; both are 0 if the file does not support O_DIRECT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectLimits {
    /// Of memory buffers.
    pub memory: u32,
    /// Of offsets and lengths.
    pub offset: u32,
}

impl TargetFacts {
    /// Whether it does not support O_DIRECT.
    pub fn refuses_direct(&self) -> bool {
        self.direct.is_some_and(|limits| limits.memory == 0 && limits.offset == 0)
    }

    /// The unit of offsets and lengths with O_DIRECT, in bytes: its own limit, or else the logical
    /// block of the `device` below it. `None` if there is no limit.
    pub fn direct_unit(&self, device: Option<&DeviceFacts>) -> Option<u64> {
        let own = self.direct.map(|limits| u64::from(limits.offset)).filter(|unit| *unit > 0);
        own.or(device.map(|device| device.logical_block.0)).filter(|unit| *unit > 1)
    }
}

/// The amount of a file, or of a region of it, that was never written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// Bytes that were looked at; 0 is the whole file, in records of earlier versions.
    #[serde(default)]
    pub length: Bytes,
    /// Bytes in holes.
    pub holes: Bytes,
    /// Bytes allocated but never written: they read as zeros without reaching the device.
    pub unwritten: Bytes,
}

/// The free space of a filesystem, as ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeSpace {
    /// Number of ranges.
    pub ranges: u64,
    /// Total size.
    pub bytes: Bytes,
    /// The largest range.
    pub largest: Bytes,
    /// Number of ranges of at least the requested size.
    pub ranges_enough: u64,
    /// Their total size.
    pub bytes_enough: Bytes,
}

/// A filesystem under a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesystemFacts {
    /// Type, as /proc/self/mountinfo names it ("ext4").
    pub kind: String,
    /// Mount point.
    pub mount_point: String,
    /// What is mounted ("/dev/sda1", "host:/export", "tmpfs").
    pub source: String,
    /// Mount options, of the mount and of the filesystem.
    pub options: Vec<String>,
    /// Mounted read-only.
    pub read_only: bool,
    /// Capacity.
    pub total: Bytes,
    /// Free for this user.
    pub free: Bytes,
    /// Free, including what is reserved for root.
    #[serde(default)]
    pub unused: Bytes,
    /// Block size.
    pub block_size: Bytes,
    /// Kernel names of the block devices under it, that of the mount first; several for btrfs, none
    /// for tmpfs and network.
    #[serde(default)]
    pub devices: Vec<String>,
}

/// Why a block device is not free to be overwritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Use {
    /// The device, a partition of it, or something stacked on it is mounted.
    Mounted {
        /// The mounted device.
        device: String,
        /// The mount point.
        mount_point: String,
    },
    /// It is swap.
    Swap {
        /// The swap device.
        device: String,
    },
    /// It has partitions.
    Partitions {
        /// Their kernel names.
        names: Vec<String>,
    },
    /// Something is stacked on it (device mapper, md, bcache …).
    Holders {
        /// Kernel names of the holders.
        names: Vec<String>,
    },
    /// It carries the signature of a filesystem, partition table, LVM, md, swap …
    Signature {
        /// The device with the signature.
        device: String,
        /// The kind of signature ("ext4", "LVM2 member", "GPT").
        what: String,
        /// Byte offset of the magic.
        offset: u64,
    },
    /// The kernel has it opened exclusively (O_EXCL failed with EBUSY).
    Busy {
        /// The device.
        device: String,
    },
}

/// The kind of a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum DeviceKind {
    /// A whole disk.
    #[default]
    Disk,
    /// A partition.
    Partition,
    /// Device mapper.
    DeviceMapper {
        /// Name under /dev/mapper.
        name: String,
        /// Subsystem that made it, from its UUID ("LVM", "CRYPT", "mpath"); empty when unknown.
        subsystem: String,
    },
    /// Software RAID.
    Md {
        /// Its level ("raid1").
        level: String,
    },
    /// A loop device.
    Loop {
        /// The file behind it.
        backing_file: String,
    },
    /// Compressed memory.
    Zram,
    /// A RAM disk.
    Ram,
    /// A network block device (nbd, rbd).
    Network,
}

/// Facts about one block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Kernel name ("sda1", "dm-0").
    pub name: String,
    /// "major:minor".
    pub dev: String,
    /// Its kind.
    #[serde(flatten)]
    pub kind: DeviceKind,
    /// The devices directly below it: the disk of a partition, the members of a dm or md device,
    /// the devices that hold a loop's file.
    pub below: Vec<String>,
    /// Whether a loop device reads and writes its file with direct I/O; `None` for other devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_direct_io: Option<bool>,
    /// Vendor and model, as the device reports them.
    pub model: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Size.
    pub size: Bytes,
    /// Whether it rotates; `None` if the kernel does not report it.
    pub rotational: Option<bool>,
    /// How it is attached: "nvme", "sata", "sas", "usb", "virtio", "scsi", "memory" …
    pub transport: Option<String>,
    /// Whether it is a hypervisor's disk, or one of memory or files.
    pub is_virtual: bool,
    /// Active I/O scheduler.
    pub scheduler: Option<String>,
    /// Available schedulers.
    pub schedulers: Vec<String>,
    /// Logical block: the smallest addressable unit.
    pub logical_block: Bytes,
    /// Physical block: the smallest unit that is written without read-modify-write.
    pub physical_block: Bytes,
    /// Preferred unit for random I/O.
    pub io_min: Bytes,
    /// Preferred unit for streaming.
    pub io_opt: Bytes,
    /// Distance from a physical block boundary. Other than 0: misaligned; `u64::MAX`: misaligned by
    /// no single distance (stacked devices).
    pub alignment_offset: Option<u64>,
    /// Size of the queue, in requests.
    pub nr_requests: Option<u64>,
    /// Read-ahead.
    pub read_ahead: Bytes,
    /// Largest request the kernel sends.
    pub max_request: Bytes,
    /// "write back" or "write through"; `None` if the device has no cache setting.
    pub write_cache: Option<String>,
    /// Whether it supports writes with force unit access.
    pub fua: Option<bool>,
    /// Largest discard; 0 if it supports no TRIM.
    pub discard_max: Bytes,
    /// Largest discard that the device itself supports; a larger value than the above means that
    /// the limit was lowered.
    #[serde(default)]
    pub discard_max_hardware: Bytes,
    /// Unit of discards.
    pub discard_granularity: Bytes,
    /// "none", "host-aware" or "host-managed".
    pub zoned: Option<String>,
    /// Distance between the starts of two zones; 0 without zones.
    #[serde(default)]
    pub zone_size: Bytes,
    /// Maximum number of open zones; 0 if there is none.
    #[serde(default)]
    pub max_open_zones: u64,
    /// Maximum number of partly written zones; 0 if there is none.
    #[serde(default)]
    pub max_active_zones: u64,
    /// Whether it is read-only.
    pub read_only: bool,
    /// NUMA node of the device.
    pub numa_node: Option<i32>,
    /// Settings that let it save power, by name: "runtime" ("auto", "on"), "link" (SATA).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub power: BTreeMap<String, String>,
    /// Start of a partition on its disk.
    #[serde(default)]
    pub partition_start: Option<Bytes>,
    /// Hardware queues of its driver.
    #[serde(default)]
    pub hardware_queues: Option<u32>,
    /// Its interrupts, if they are known.
    #[serde(default)]
    pub interrupts: Vec<InterruptFacts>,
    /// Its reported health; `None` if it reports none, or reading it is not permitted.
    #[serde(default)]
    pub health: Option<Health>,
    /// Other activity in it: "resync 12.5 %", "check" (md), "scrub" (btrfs).
    #[serde(default)]
    pub activity: Option<String>,
    /// Whether a filesystem on it is mounted with discard, and discards the blocks of deleted files.
    #[serde(default)]
    pub mounted_with_discard: bool,
}

impl FilesystemFacts {
    /// Whether its files are only in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(&*self.kind, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs")
    }

    /// Whether its files are on another machine.
    pub fn is_remote(&self) -> bool {
        let network = matches!(&*self.kind, "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs");
        network || matches!(&*self.kind, "afs" | "ceph" | "glusterfs" | "lustre" | "beegfs")
    }
}

impl DeviceFacts {
    /// Whether it is a RAM disk: a CPU that copies or compresses does each of its I/Os.
    pub fn is_ram_disk(&self) -> bool {
        matches!(self.kind, DeviceKind::Zram | DeviceKind::Ram)
    }

    /// Whether it is a disk in memory: a RAM disk, or a driver that simulates a disk, with its delays
    /// maybe.
    pub fn is_memory(&self) -> bool {
        self.is_ram_disk() || self.transport.as_deref() == Some("memory")
    }
}

impl Facts {
    /// The words that mark an entry of [`Facts::unknown`] that root could read.
    pub const ROOT_ONLY: &'static str = "only root may";

    /// All block devices under a target (the path in the job), each once and before those below it;
    /// empty if there is none.
    pub fn stack_under(&self, target: &str) -> Vec<&str> {
        let mut lower_first = Vec::new();
        for top in self.tops_of(target).into_iter().rev() {
            self.collect_below(top, &mut lower_first);
        }
        lower_first.reverse();
        lower_first
    }

    /// The block devices that a target (the path in the job) is or is directly stored on, each
    /// once: several for filesystems that span devices, none for those without a device.
    pub fn tops_of(&self, target: &str) -> Vec<&str> {
        let Some(target) = self.targets.get(target) else { return Vec::new() };
        let filesystem = target.filesystem.iter().flat_map(|f| &f.devices);
        distinct(target.device.iter().chain(filesystem).map(String::as_str))
    }

    /// Removes what identifies a single piece of hardware.
    pub fn forget_serials(&mut self) {
        self.devices.values_mut().for_each(|device| device.serial = None);
    }

    fn collect_below<'a>(&'a self, device: &'a str, lower_first: &mut Vec<&'a str>) {
        if lower_first.contains(&device) {
            return;
        }
        for below in self.devices.get(device).iter().flat_map(|d| d.below.iter().rev()) {
            self.collect_below(below, lower_first);
        }
        lower_first.push(device);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(stacks: &[(&str, &[&str])]) -> Facts {
        let device = |(name, below): &(&str, &[&str])| {
            let below = below.iter().map(|b| (*b).to_owned()).collect();
            let name = (*name).to_owned();
            (name.clone(), DeviceFacts { name, below, ..DeviceFacts::default() })
        };
        Facts { devices: stacks.iter().map(device).collect(), ..Facts::default() }
    }

    #[test]
    fn a_stack_is_walked_from_the_top_and_a_shared_disk_comes_once_after_all_on_it() {
        let mut facts = facts(&[
            ("dm-1", &["sda", "dm-0"]),
            ("dm-0", &["sda1", "sdb"]),
            ("sda1", &["sda"]),
            ("sda", &[]),
            ("sdb", &[]),
        ]);
        for device in ["dm-1", "gone"] {
            let target = TargetFacts { device: Some(device.to_owned()), ..TargetFacts::default() };
            facts.targets.insert(device.to_owned(), target);
        }
        assert_eq!(facts.stack_under("dm-1"), ["dm-1", "dm-0", "sda1", "sda", "sdb"]);
        assert_eq!(facts.stack_under("gone"), ["gone"]);
    }

    #[test]
    fn a_target_stands_on_all_devices_of_its_filesystem() {
        let mut facts = facts(&[("sda1", &["sda"]), ("sda", &[]), ("sdb", &[])]);
        let devices = vec!["sda1".to_owned(), "sdb".to_owned()];
        let filesystem = FilesystemFacts { devices, ..FilesystemFacts::default() };
        let target = TargetFacts {
            device: Some("sda1".to_owned()),
            filesystem: Some(filesystem),
            ..TargetFacts::default()
        };
        facts.targets.insert("/pool/file".to_owned(), target);
        assert_eq!(facts.stack_under("/pool/file"), ["sda1", "sda", "sdb"]);
        assert!(facts.stack_under("/elsewhere").is_empty());
    }
}
