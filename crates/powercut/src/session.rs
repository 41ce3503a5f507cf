//! A session: the writes of one run, up to one cut. Every write follows from the seed, so the checker
//! knows what was written from the number of acknowledged batches alone.

use crate::class::Class;
use crate::sector::{Block, SECTOR};
use record::{DeviceFacts, Facts, FilesystemFacts, SplitMix64, TargetFacts};
use serde::{Deserialize, Serialize};

/// The version of the rules by which writes follow from a seed. A checker of another version would
/// expect other writes.
pub const RULES: u32 = 1;

/// Lengths of writes, in bytes. All are multiples of 4 KiB, which every direct I/O accepts.
const LENGTHS: [u64; 6] = [4 << 10, 4 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10];

/// What was written, where and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its number, drawn at random.
    pub run: u64,
    /// The version of the rules.
    pub rules: u32,
    /// The seed of all writes.
    pub seed: u64,
    /// The target.
    pub target: TargetIdentity,
    /// One for each thread.
    pub streams: Vec<Stream>,
    /// When it began, in milliseconds since 1970 by the clock of the tester. It orders nothing.
    pub started_unix_ms: u64,
}

/// What the target was when it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetIdentity {
    /// Name of the machine.
    pub host: String,
    /// The kernel's name of this start of the machine.
    pub boot: String,
    /// Its path.
    pub path: String,
    /// What it is.
    pub kind: TargetShape,
    /// The size of the file or device, in bytes; 0 for a directory.
    pub size: u64,
    /// The filesystem that holds it: type, mount point, mount options.
    pub filesystem: Option<Filesystem>,
    /// The block devices below it.
    pub devices: Vec<Device>,
}

impl TargetIdentity {
    /// The identity of a target as it is now. `boot`: the kernel's name of this start of the machine.
    pub fn from_facts(
        path: &str,
        kind: TargetShape,
        boot: String,
        target: &TargetFacts,
        machine: &Facts,
    ) -> TargetIdentity {
        let below = match (&target.filesystem, &target.device) {
            (Some(filesystem), _) if !filesystem.devices.is_empty() => filesystem.devices.clone(),
            (_, device) => device.iter().cloned().collect(),
        };
        let devices = below.iter().filter_map(|name| machine.devices.get(name));
        TargetIdentity {
            host: machine.hostname.clone(),
            boot,
            path: path.to_owned(),
            kind,
            size: if kind == TargetShape::Directory { 0 } else { target.size.0 },
            filesystem: target.filesystem.as_ref().map(Filesystem::from_facts),
            devices: devices.map(Device::from_facts).collect(),
        }
    }

    /// The same, with the size that a file gets.
    pub fn sized(&self, size: u64) -> TargetIdentity {
        let size = if self.kind == TargetShape::File { size } else { self.size };
        TargetIdentity { size, ..self.clone() }
    }
}

/// The shape of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetShape {
    /// One file.
    #[default]
    File,
    /// A directory with a file for each thread.
    Directory,
    /// A block device.
    Device,
}

impl TargetShape {
    /// Why a class cannot be tested on such a target; `None` if it can.
    pub fn obstacle(self, class: Class, takes_direct: bool) -> Option<&'static str> {
        match class {
            _ if self == TargetShape::Device && !class.works_on_devices() => {
                Some("needs a filesystem; name a directory")
            }
            Class::Rename if self == TargetShape::File => Some("makes files; name a directory"),
            _ if class.is_direct() && !takes_direct => {
                Some("needs O_DIRECT, which the filesystem does not support")
            }
            _ => None,
        }
    }
}

/// A mounted filesystem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// "ext4".
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Mount options.
    pub options: Vec<String>,
}

impl Filesystem {
    fn from_facts(facts: &FilesystemFacts) -> Filesystem {
        Filesystem {
            kind: facts.kind.clone(),
            mount_point: facts.mount_point.clone(),
            options: facts.options.clone(),
        }
    }
}

/// A block device below the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The kernel's name.
    pub name: String,
    /// Vendor and model.
    pub model: Option<String>,
    /// "write back" or "write through", as the kernel has it.
    pub write_cache: Option<String>,
    /// Whether it is a hypervisor's disk.
    pub is_virtual: bool,
    /// Logical block, in bytes.
    pub logical_block: u64,
}

impl Device {
    fn from_facts(facts: &DeviceFacts) -> Device {
        Device {
            name: facts.name.clone(),
            model: facts.model.clone(),
            write_cache: facts.write_cache.clone(),
            is_virtual: facts.is_virtual,
            logical_block: facts.logical_block.0,
        }
    }
}

/// The writes of one thread, in its own area.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Its number, counted from 0.
    pub id: u16,
    /// Its class.
    pub class: Class,
    /// Where its area starts in the file or device; 0 in a file of its own.
    pub start: u64,
    /// The length of its area, in bytes.
    pub length: u64,
}

/// A place that is always written whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its offset in the area, in bytes.
    pub offset: u64,
    /// The most sectors that a write to it has.
    pub sectors: u16,
}

/// The batches of a stream, one after the other.
#[derive(Clone, Debug)]
pub struct Writes {
    run: u64,
    stream: u16,
    class: Class,
    slots: Vec<Slot>,
    generations: Vec<u32>,
    random: SplitMix64,
    number: u64,
}

/// One write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Index of its slot.
    pub slot: usize,
    /// What it writes.
    pub block: Block,
}

impl Session {
    /// The batches of one of its streams.
    pub fn writes(&self, stream: &Stream) -> Writes {
        let mut random =
            SplitMix64::new(SplitMix64::nth(self.seed, 1000 + u64::from(stream.id)) ^ self.run);
        let slots = slots(stream, &mut random);
        Writes {
            run: self.run,
            stream: stream.id,
            class: stream.class,
            generations: vec![0; slots.len()],
            slots,
            random,
            number: 0,
        }
    }
}

/// Divides an area into slots, all of them drawn.
fn slots(stream: &Stream, random: &mut SplitMix64) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut offset = 0;
    while stream.length.saturating_sub(offset) >= LENGTHS[0] {
        let drawn = LENGTHS[random.below(LENGTHS.len() as u64) as usize];
        let length = drawn.min((stream.length - offset) / LENGTHS[0] * LENGTHS[0]);
        slots.push(Slot { offset, sectors: (length / SECTOR as u64) as u16 });
        offset += length;
    }
    slots
}

impl Writes {
    /// The slots of the area.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Adds the writes of the next batch, each to another slot. One acknowledgement covers them all.
    pub fn next_batch(&mut self, batch: &mut Vec<Write>) {
        let count = 1 + self.random.below(self.class.batch_max().min(self.slots.len() as u64));
        let first = batch.len();
        while batch.len() < first + count as usize {
            let slot = match self.class {
                Class::Append => (self.number % self.slots.len() as u64) as usize,
                _ => self.random.below(self.slots.len() as u64) as usize,
            };
            if batch[first..].iter().any(|write| write.slot == slot) {
                continue;
            }
            batch.push(self.write(slot));
        }
    }

    fn write(&mut self, slot: usize) -> Write {
        self.number += 1;
        self.generations[slot] += 1;
        let Slot { offset, sectors } = self.slots[slot];
        // The size of a file is part of the promise, so it differs from version to version.
        let sectors = match self.class.is_of_files() {
            true => 1 + self.random.below(u64::from(sectors)) as u16,
            false => sectors,
        };
        let block = Block {
            run: self.run,
            stream: self.stream,
            sectors,
            generation: self.generations[slot],
            number: self.number,
            offset,
        };
        Write { slot, block }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn session(class: Class, length: u64) -> Session {
        let stream = Stream { id: 0, class, start: 0, length };
        Session {
            run: 99,
            rules: RULES,
            seed: 5,
            target: TargetIdentity::default(),
            streams: vec![stream],
            started_unix_ms: 0,
        }
    }

    #[test]
    fn a_class_needs_a_target_that_supports_its_calls() {
        assert!(TargetShape::Device.obstacle(Class::Syncfs, true).is_some());
        assert!(TargetShape::File.obstacle(Class::Rename, true).is_some());
        assert!(TargetShape::Directory.obstacle(Class::Fua, false).is_some());
        assert_eq!(TargetShape::Directory.obstacle(Class::Rename, false), None);
        assert_eq!(TargetShape::Device.obstacle(Class::Fua, true), None);
    }

    #[test]
    fn slots_fill_the_area_without_overlap() {
        let session = session(Class::Fsync, (1 << 20) + 1000);
        let writes = session.writes(&session.streams[0]);
        let mut end = 0;
        for slot in writes.slots() {
            assert_eq!(slot.offset, end);
            end += u64::from(slot.sectors) * SECTOR as u64;
        }
        assert_eq!(end, 1 << 20);
    }

    #[test]
    fn the_same_seed_draws_the_same_writes_and_generations_count_up() {
        let session = session(Class::Fsync, 1 << 20);
        let (mut one, mut two) =
            (session.writes(&session.streams[0]), session.writes(&session.streams[0]));
        let mut last = std::collections::BTreeMap::new();
        let mut number = 0;
        for _ in 0..500 {
            let (mut batch, mut same) = (Vec::new(), Vec::new());
            one.next_batch(&mut batch);
            two.next_batch(&mut same);
            assert_eq!(batch, same);
            assert!((1..=8).contains(&batch.len()));
            for write in batch {
                number += 1;
                let before = last.insert(write.slot, write.block.generation).unwrap_or(0);
                assert_eq!((write.block.generation, write.block.number), (before + 1, number));
            }
        }
    }

    #[test]
    fn a_journal_is_written_in_order_and_begins_again_at_its_end() {
        let session = session(Class::Append, 64 << 10);
        let mut writes = session.writes(&session.streams[0]);
        let slots = writes.slots().len();
        let mut batch = Vec::new();
        (0..slots + 1).for_each(|_| writes.next_batch(&mut batch));
        let order: Vec<usize> = batch.iter().map(|write| write.slot).collect();
        assert_eq!(order, (0..slots).chain([0]).collect::<Vec<_>>());
        assert_eq!(batch[slots].block.generation, 2);
    }
}
