//! NVMe commands through io_uring (`io_uring_cmd`), on the character devices of namespaces
//! (/dev/ng0n1).

mod namespace;
mod placement;
mod protection;
mod status;

use super::io_uring::{Features, open_ring};
use super::priority::IoPriorities;
use super::{Completion, Queued, Ring, RingSetup, borrow};
use crate::hot::op::{Op, OpKind};
use crate::sources::verified::ExpectedBlocks;
use crate::sys::nvme::{Command, DataForm};
use crate::sys::uring::{Uring, sqe};
use namespace::Namespace;
use placement::Directives;
use plan::{NvmeOptions, NvmeWriteMode};
use protection::Protection;
use status::{describe, errno_of};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// Opcodes of the NVM command set.
const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const WRITE_UNCORRECTABLE: u8 = 0x04;
const COMPARE: u8 = 0x05;
const WRITE_ZEROES: u8 = 0x08;
const DATASET_MANAGEMENT: u8 = 0x09;
const VERIFY: u8 = 0x0c;
const ZONE_MANAGEMENT_SEND: u8 = 0x79;
const ZONE_APPEND: u8 = 0x7d;
/// Zone send action: reset.
const RESET_ZONE: u32 = 4;
/// Bits of dword 12.
const FUA: u32 = 1 << 30;
const PRACT: u32 = 1 << 29;
const CHECK_GUARD: u32 = 1 << 28;
const CHECK_TAG: u32 = 1 << 27;
const CHECK_REFERENCE: u32 = 1 << 26;
const DEALLOCATE_ZEROES: u32 = 1 << 25;
/// Dataset management: deallocate.
const DEALLOCATE: u32 = 1 << 2;
/// Most ranges of a dataset management command.
const RANGES_MAX: usize = 256;

/// The `io_uring_cmd` engine.
pub struct IoUringCmd {
    priorities: Option<IoPriorities>,
    ring: Uring<true>,
    files: Vec<Target>,
    /// Bytes of a zone of each file whose writes are appended to zones.
    zones: Vec<u64>,
    /// Must not move: vectored commands point into it.
    vectors: Box<[libc::iovec]>,
    fixed: bool,
    vectored: bool,
    force_async: u64,
    issued: u64,
    options: NvmeOptions,
    /// What the device compares its blocks with.
    expected: Option<ExpectedBlocks>,
    protection: Protection,
    read_fua: bool,
    write_fua: bool,
    /// Separate metadata of each slot.
    metadata: Box<[Box<[u8]>]>,
    ops: Box<[Op]>,
    /// Trims that share one command with the slot: its followers.
    followers: Box<[Vec<u32>]>,
    /// Ranges of each slot's dataset management command.
    ranges: Box<[Vec<[u8; 16]>]>,
    /// The slot whose trim takes more ranges before it is pushed.
    collecting: Option<u32>,
    /// Completions of followers, and of I/Os that ended within `queue`.
    completions: Vec<Completion>,
    returned: usize,
    failed: Option<(String, u64)>,
    /// I/Os that share a command and were not counted by `submit`.
    uncounted: u32,
}

struct Target {
    fd: RawFd,
    namespace: Namespace,
    directives: Option<Directives>,
    /// Bytes of a zone; 0 unless writes are appended to zones.
    zone: u64,
}

impl Target {
    fn closed() -> Target {
        Target { fd: -1, namespace: Namespace::default(), directives: None, zone: 0 }
    }
}

// SAFETY: the vectors are addresses of slots, which do not move with the ring.
unsafe impl Send for IoUringCmd {}

impl Ring for IoUringCmd {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let depth = setup.depth.max(1) as usize;
        let options = setup.options;
        let nvme = options.nvme.clone();
        let ring = open_ring::<true>(setup, Features::ALL)?;
        let vectors: Box<[libc::iovec]> = setup.buffers.iovecs().into();
        if options.fixedbufs {
            // SAFETY: the worker keeps its BufferArea until after it drops the ring.
            unsafe { ring.register_buffers(&vectors)? };
        }
        let priorities = IoPriorities::new(options, setup.io.io_priority);
        let none = Op { kind: OpKind::Stat, file: 0, offset: 0, length: 0, tag: 0 };
        let mut engine = IoUringCmd {
            priorities: (!priorities.is_none()).then_some(priorities),
            ring,
            files: setup.files.iter().map(|_| Target::closed()).collect(),
            zones: zones(setup),
            expected: ExpectedBlocks::new(setup.worker),
            vectors,
            fixed: options.fixedbufs,
            vectored: options.nonvectored == Some(false),
            force_async: options.force_async.unwrap_or(0),
            issued: 0,
            protection: Protection { checks: nvme.checks, tag: (nvme.tag, nvme.tag_mask) },
            read_fua: options.readfua,
            write_fua: options.writefua,
            metadata: vec![vec![0; nvme.metadata_bytes as usize].into(); depth].into(),
            options: nvme,
            ops: vec![none; depth].into(),
            followers: vec![Vec::new(); depth].into(),
            ranges: vec![Vec::new(); depth].into(),
            collecting: None,
            completions: Vec::with_capacity(depth),
            returned: 0,
            failed: None,
            uncounted: 0,
        };
        for (index, file) in setup.files.iter().enumerate().filter(|(_, file)| file.fd >= 0) {
            engine.file_changed(index as u32, file.fd)?;
            engine.check(setup, index, &file.path)?;
        }
        Ok(engine)
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.files[file as usize] = match fd {
            0.. => Target {
                fd,
                namespace: Namespace::identify(borrow(fd))?,
                directives: Directives::new(&self.options.placement, fd)?,
                zone: self.zones.get(file as usize).copied().unwrap_or(0),
            },
            _ => Target::closed(),
        };
        Ok(())
    }

    fn end(&mut self) -> Vec<String> {
        let text = |(first, count): (String, u64)| match count {
            1 => format!("the device refused a command: {first}"),
            _ => format!("the device refused {count} commands; the first: {first}"),
        };
        self.failed.take().map(text).into_iter().collect()
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let target = &mut self.files[op.file as usize];
        let unit = u64::from(target.namespace.unit(self.options.pi_act)).max(1);
        let counts = op.offset.is_multiple_of(unit) && op.length.is_multiple_of(unit);
        self.ops[slot as usize] = *op;
        match op.kind {
            OpKind::SyncFileRange(_) | OpKind::Stat => Queued::Done(-i64::from(libc::EOPNOTSUPP)),
            OpKind::ResetZone => {
                let first = op.offset / unit;
                let command = Command {
                    opcode: ZONE_MANAGEMENT_SEND,
                    namespace: target.namespace.id,
                    words: [first as u32, (first >> 32) as u32, 0, RESET_ZONE, 0, 0],
                    ..Command::default()
                };
                self.push(slot, command, false)
            }
            _ if !counts => Queued::Done(-i64::from(libc::EINVAL)),
            OpKind::Trim => self.trim(slot, op, unit),
            OpKind::Fsync | OpKind::Fdatasync => {
                let namespace = target.namespace.id;
                self.push(slot, Command { opcode: FLUSH, namespace, ..Command::default() }, false)
            }
            OpKind::Read | OpKind::Write => {
                let (command, has_data) = self.transfer(slot, op, unit);
                self.push(slot, command, has_data)
            }
        }
    }

    fn submit(&mut self) -> io::Result<u32> {
        self.drop_returned();
        let has_room = self.push_trim();
        let mut submitted = self.ring.submit()?;
        if !has_room && self.push_trim() {
            submitted += self.ring.submit()?;
        }
        Ok(submitted + std::mem::take(&mut self.uncounted))
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.drop_returned();
        if self.completions.len() < max as usize {
            let mut ready = self.ring.ready();
            let missing = min.saturating_sub(self.completions.len() as u32);
            if ready < missing.max(1) && (missing > 0 || self.ring.has_deferred_work()) {
                // One command may end many I/Os.
                let many = if self.options.ranges > 1 { missing.min(1) } else { missing };
                self.ring.wait(many, timeout)?;
                ready = self.ring.ready();
            }
            for index in 0..ready {
                let entry = self.ring.peek(index);
                let placed = self.ring.peek_result(index);
                self.complete(entry.user_data as u32, entry.result, placed);
            }
            self.ring.advance(ready);
        }
        self.returned = self.completions.len().min(max as usize);
        Ok(self.returned as u32)
    }

    fn completion(&self, index: u32) -> Completion {
        self.completions[index as usize]
    }
}

impl IoUringCmd {
    /// Whether the job's blocks and metadata fit the namespace.
    fn check(&self, setup: &RingSetup<'_>, index: usize, path: &str) -> io::Result<()> {
        let namespace = &self.files[index].namespace;
        let unit = namespace.unit(self.options.pi_act);
        let (smallest, largest) = (setup.worker.min_block(), setup.worker.max_block());
        if !smallest.is_multiple_of(unit.into()) {
            let text = format!("{path} has blocks of {unit} bytes: give a bs that is a multiple");
            return Err(io::Error::other(text));
        }
        let separate = namespace.separate(self.options.pi_act);
        let needed = largest / u64::from(unit) * u64::from(separate);
        if needed > self.options.metadata_bytes {
            let text = format!("{path} has separate metadata: give md_per_io_size={needed}");
            return Err(io::Error::other(text));
        }
        if namespace.protection > 0 && self.expected.is_some() && self.options.pi_act {
            let text = format!(
                "{path} has protection information, which the device does not make for a compare: \
                 give pi_act=0"
            );
            return Err(io::Error::other(text));
        }
        if namespace.protection > 0 && self.options.zone_append {
            let text = format!(
                "{path} has protection information, whose reference tags need the place of a write \
                 beforehand: leave zone_append out"
            );
            return Err(io::Error::other(text));
        }
        Ok(())
    }

    /// The command of a read or write, and whether data goes with it.
    fn transfer(&mut self, slot: u32, op: &Op, unit: u64) -> (Command, bool) {
        let compares = self.expect(slot, op);
        let options = &self.options;
        let target = &mut self.files[op.file as usize];
        let namespace = &target.namespace;
        let count = op.length / unit;
        let mut flags = 0;
        let mut directive = 0;
        let (opcode, has_data) = match (op.kind, options.write_mode) {
            (OpKind::Read, _) if compares => (COMPARE, true),
            (OpKind::Read, _) => (READ, true),
            (_, NvmeWriteMode::Write) if target.zone > 0 => (ZONE_APPEND, true),
            (_, NvmeWriteMode::Write) => (WRITE, true),
            (_, NvmeWriteMode::Zeroes) => (WRITE_ZEROES, false),
            (_, NvmeWriteMode::Uncor) => (WRITE_UNCORRECTABLE, false),
            (_, NvmeWriteMode::Verify) => (VERIFY, false),
        };
        match opcode {
            READ | COMPARE if self.read_fua => flags |= FUA,
            WRITE | ZONE_APPEND if self.write_fua => flags |= FUA,
            WRITE_ZEROES if options.deallocates => flags |= DEALLOCATE_ZEROES,
            _ => {}
        }
        if matches!(opcode, WRITE | ZONE_APPEND)
            && let Some(directives) = &mut target.directives
        {
            let (kind, identifier) = directives.words(op.offset);
            flags |= kind;
            directive = identifier;
        }
        // An append names the zone alone.
        let first = match opcode {
            ZONE_APPEND => op.offset / target.zone * target.zone / unit,
            _ => op.offset / unit,
        };
        let mut words = [first as u32, (first >> 32) as u32, 0, directive, 0, 0];
        if namespace.protection > 0 && opcode != WRITE_UNCORRECTABLE {
            flags |= self.protect(slot, op, opcode, &mut words);
        }
        words[2] = flags | (count.saturating_sub(1) as u32 & 0xffff);
        let namespace = &self.files[op.file as usize].namespace;
        let separate = u64::from(namespace.separate(self.options.pi_act)) * count;
        let metadata = match has_data && separate > 0 {
            true => (self.metadata[slot as usize].as_mut_ptr() as u64, separate as u32),
            false => (0, 0),
        };
        let data = match has_data {
            true => (self.vectors[slot as usize].iov_base as u64, op.length as u32),
            false => (0, 0),
        };
        (Command { opcode, namespace: namespace.id, metadata, data, words }, has_data)
    }

    /// Puts what the device should hold into the buffer, if the device is to compare it.
    fn expect(&mut self, slot: u32, op: &Op) -> bool {
        let Some(expected) = self.expected.as_mut().filter(|expected| expected.compares(op)) else {
            return false;
        };
        let buffer = self.vectors[slot as usize].iov_base.cast::<u8>();
        // SAFETY: the slot's buffer is as long as the largest block, lives as long as the ring, and
        // belongs to this I/O until it is done (contract of `Ring`).
        let data = unsafe { std::slice::from_raw_parts_mut(buffer, op.length as usize) };
        expected.fill(data, op.offset);
        true
    }

    /// Flags of protection information; makes it where the host does.
    fn protect(&mut self, slot: u32, op: &Op, opcode: u8, words: &mut [u32; 6]) -> u32 {
        let namespace = &self.files[op.file as usize].namespace;
        let first = u64::from(words[0]) | u64::from(words[1]) << 32;
        let checks = self.options.checks;
        let mut flags = if self.options.pi_act { PRACT } else { 0 };
        flags |= if checks.guard { CHECK_GUARD } else { 0 };
        flags |= if checks.tag { CHECK_TAG } else { 0 };
        // Type 3 has no reference tag that could be checked.
        flags |= if checks.reference && namespace.protection != 3 { CHECK_REFERENCE } else { 0 };
        if namespace.protection != 3 {
            words[4] = first as u32;
            if namespace.tuple == 16 {
                words[3] |= (first >> 32) as u32 & 0xffff;
            }
        }
        words[5] = u32::from(self.options.tag_mask) << 16 | u32::from(self.options.tag);
        if !self.options.pi_act && matches!(opcode, WRITE | COMPARE) && self.holds_tuples(op, slot)
        {
            let buffer = self.vectors[slot as usize].iov_base.cast::<u8>();
            // SAFETY: the slot's buffer is as long as the largest block, lives as long as the ring,
            // and belongs to this I/O until it is done (contract of `Ring`).
            let data = unsafe { std::slice::from_raw_parts_mut(buffer, op.length as usize) };
            let namespace = &self.files[op.file as usize].namespace;
            let separate = separate(namespace, &mut self.metadata[slot as usize]);
            self.protection.make(namespace, first, data, separate);
        }
        flags
    }

    /// Whether data and metadata of an I/O have room for its tuples.
    fn holds_tuples(&self, op: &Op, slot: u32) -> bool {
        let namespace = &self.files[op.file as usize].namespace;
        let blocks = op.length / u64::from(namespace.unit(false)).max(1);
        let needed = blocks * u64::from(namespace.separate(false));
        namespace.metadata >= namespace.tuple && needed <= self.metadata[slot as usize].len() as u64
    }

    /// Adds a trim to the command that collects ranges, and pushes the command if it is full.
    fn trim(&mut self, slot: u32, op: &Op, unit: u64) -> Queued {
        let Ok(blocks) = u32::try_from(op.length / unit) else {
            return Queued::Done(-i64::from(libc::EINVAL));
        };
        let same_file = |slot: &u32| self.ops[*slot as usize].file == op.file;
        if self.collecting.is_some_and(|slot| !same_file(&slot)) && !self.push_trim() {
            return Queued::Full;
        }
        let first = op.offset / unit;
        let mut range = [0; 16];
        range[4..8].copy_from_slice(&blocks.to_le_bytes());
        range[8..].copy_from_slice(&first.to_le_bytes());
        let leader = *self.collecting.get_or_insert(slot);
        if leader == slot {
            self.ranges[slot as usize].clear();
            self.followers[slot as usize].clear();
        } else {
            self.followers[leader as usize].push(slot);
        }
        self.ranges[leader as usize].push(range);
        let most = (self.options.ranges as usize).clamp(1, RANGES_MAX);
        if self.ranges[leader as usize].len() >= most {
            // If there is no room now, `submit` pushes it.
            self.push_trim();
        }
        Queued::Pending
    }

    /// Pushes the command that collects ranges; false if the ring has no room.
    fn push_trim(&mut self) -> bool {
        let Some(slot) = self.collecting else { return true };
        let ranges = &self.ranges[slot as usize];
        let file = self.ops[slot as usize].file as usize;
        let command = Command {
            opcode: DATASET_MANAGEMENT,
            namespace: self.files[file].namespace.id,
            data: (ranges.as_ptr() as u64, (ranges.len() * 16) as u32),
            words: [ranges.len() as u32 - 1, DEALLOCATE, 0, 0, 0, 0],
            ..Command::default()
        };
        let followers = ranges.len() as u32 - 1;
        let pushed = self.push_form(slot, command, DataForm::Address) == Queued::Pending;
        if pushed {
            self.collecting = None;
            self.uncounted += followers;
        }
        pushed
    }

    fn push(&mut self, slot: u32, mut command: Command, has_data: bool) -> Queued {
        let form = match has_data {
            true if self.vectored => DataForm::Vectored,
            true if self.fixed => DataForm::Fixed(slot as u16),
            _ => DataForm::Address,
        };
        if form == DataForm::Vectored {
            let vector = &mut self.vectors[slot as usize];
            vector.iov_len = command.data.1 as usize;
            command.data = (std::ptr::from_ref(vector) as u64, 1);
        }
        self.push_form(slot, command, form)
    }

    fn push_form(&mut self, slot: u32, command: Command, form: DataForm) -> Queued {
        let op = self.ops[slot as usize];
        let (mut entry, second) = command.entry(self.files[op.file as usize].fd, form);
        entry.user_data = u64::from(slot);
        self.issued += 1;
        if self.force_async != 0 && self.issued.is_multiple_of(self.force_async) {
            entry.flags |= sqe::ASYNC;
        }
        if let Some(priorities) = &mut self.priorities {
            entry.ioprio = priorities.next(op.kind, op.length);
        }
        // SAFETY: buffer, vector, metadata and ranges of the slot belong to this I/O until its
        // completion was taken (contract of `Ring`), and none of them moves.
        if unsafe { self.ring.push_command(entry, second) } {
            Queued::Pending
        } else {
            Queued::Full
        }
    }

    /// A command has ended: with 0, a status of NVMe, or a negative errno. `placed` is the first block
    /// of an append.
    fn complete(&mut self, slot: u32, status: i32, placed: u64) {
        let op = self.ops[slot as usize];
        let errno = match status {
            0 => {
                let ended = self.check_read(slot, &op).and_then(|()| self.check_place(&op, placed));
                ended.err().unwrap_or(0)
            }
            1.. => {
                let failed = self.failed.get_or_insert_with(|| (describe(status as u32), 0));
                failed.1 += 1;
                errno_of(status as u32)
            }
            _ => -status,
        };
        let followers = match op.kind {
            OpKind::Trim => std::mem::take(&mut self.followers[slot as usize]),
            _ => Vec::new(),
        };
        for slot in std::iter::once(&slot).chain(&followers) {
            let op = &self.ops[*slot as usize];
            let moved = if op.kind.direction().is_some() { op.length as i64 } else { 0 };
            let result = if errno == 0 { moved } else { -i64::from(errno) };
            self.completions.push(Completion { slot: *slot, result });
        }
        self.followers[slot as usize] = followers;
        self.followers[slot as usize].clear();
    }

    /// Checks the protection information of a read, if the host does.
    fn check_read(&mut self, slot: u32, op: &Op) -> Result<(), i32> {
        let namespace = &self.files[op.file as usize].namespace;
        let checks = self.options.checks.any() && !self.options.pi_act;
        if op.kind != OpKind::Read || !checks || namespace.protection == 0 {
            return Ok(());
        }
        if !self.holds_tuples(op, slot) {
            return Ok(());
        }
        let first = op.offset / u64::from(namespace.unit(false)).max(1);
        let buffer = self.vectors[slot as usize].iov_base.cast::<u8>();
        // SAFETY: as in `protect`; the read has ended.
        let data = unsafe { std::slice::from_raw_parts(buffer, op.length as usize) };
        let separate = separate(namespace, &mut self.metadata[slot as usize]);
        self.protection.check(namespace, first, data, separate).map_err(|block| {
            let text = format!("protection information of block {block} does not match");
            self.failed.get_or_insert((text, 0)).1 += 1;
            libc::EILSEQ
        })
    }

    /// Checks that an append went to the write pointer, which the offset of the I/O is.
    fn check_place(&mut self, op: &Op, placed: u64) -> Result<(), i32> {
        let target = &self.files[op.file as usize];
        let unit = u64::from(target.namespace.unit(self.options.pi_act)).max(1);
        let appends = op.kind == OpKind::Write && target.zone > 0;
        if !appends || placed == op.offset / unit {
            return Ok(());
        }
        let text = format!(
            "an append went to block {placed}, the write pointer of the zone was at {}: another \
             program writes to it",
            op.offset / unit
        );
        self.failed.get_or_insert((text, 0)).1 += 1;
        Err(libc::EBUSY)
    }

    fn drop_returned(&mut self) {
        self.completions.drain(..self.returned);
        self.returned = 0;
    }
}

/// Bytes of a zone of each file, if writes are appended to zones.
fn zones(setup: &RingSetup<'_>) -> Vec<u64> {
    let zoned = setup.worker.zbd.as_ref().filter(|_| setup.options.nvme.zone_append);
    zoned.map_or(Vec::new(), |zbd| zbd.files.iter().map(|file| file.size).collect())
}

/// The buffer of separate metadata; empty if metadata is in the data.
fn separate<'a>(namespace: &Namespace, metadata: &'a mut [u8]) -> &'a mut [u8] {
    if namespace.extended { &mut [] } else { metadata }
}

/// Bytes of a namespace as the engine counts them, with metadata that lies in the data.
pub fn nvme_size(path: &str, pi_act: bool) -> Option<u64> {
    use std::os::fd::AsFd;
    let device = std::fs::File::open(path).ok()?;
    let namespace = Namespace::identify(device.as_fd()).ok()?;
    namespace.blocks.checked_mul(namespace.unit(pi_act).into())
}
