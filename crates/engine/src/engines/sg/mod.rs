//! SCSI commands through the sg driver: queued on sg devices (/dev/sg0), one at a time on block
//! devices.

mod command;

use super::{Completion, Queued, Ring, RingSetup, borrow, negative_errno};
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use crate::sys::poll;
use crate::sys::scsi::{self, Answer, QUEUE_MAX, Request};
use crate::sys::zones;
use command::{Command, Range, UNMAP_BYTES};
use plan::{EngineOptions, SgWriteMode};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// The `sg` engine.
pub struct Sg {
    slots: Slots,
    files: Vec<Device>,
    options: Options,
    requests: Box<[Request]>,
    /// The lists that go with UNMAP.
    lists: Box<[[u8; UNMAP_BYTES]]>,
    ops: Box<[InFlight]>,
    /// Slots to submit.
    queued: Vec<u32>,
    done: Vec<Completion>,
    /// How many of `done` the last `reap` returned.
    returned: usize,
    polled: Vec<libc::pollfd>,
    /// The first command that a device refused, and how many there were.
    refused: Option<(String, u64)>,
}

/// What the job asks of the engine.
#[derive(Clone, Copy)]
struct Options {
    write_mode: SgWriteMode,
    stream: u16,
    read_fua: bool,
    write_fua: bool,
    hipri: bool,
}

impl Options {
    fn new(options: &EngineOptions) -> Options {
        Options {
            write_mode: options.sg_write_mode,
            stream: options.stream,
            read_fua: options.readfua,
            write_fua: options.writefua,
            hipri: options.hipri,
        }
    }
}

/// The I/O of a slot.
#[derive(Clone, Copy, Default)]
struct InFlight {
    file: u32,
    length: u64,
    /// All its bytes go with the command, so that the device says how many were moved.
    moves_all: bool,
}

/// A file of the engine.
#[derive(Clone, Copy, Default)]
struct Device {
    fd: RawFd,
    /// It has a queue.
    is_character: bool,
    /// Bytes of a logical block.
    block: u32,
    /// Stream that was opened for it.
    stream: Option<u16>,
    in_flight: usize,
}

const CLOSED: Device =
    Device { fd: -1, is_character: false, block: 512, stream: None, in_flight: 0 };

impl Ring for Sg {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let depth = setup.depth.max(1) as usize;
        let mut ring = Sg {
            slots: setup.buffers.slots(),
            files: vec![CLOSED; setup.files.len()],
            options: Options::new(setup.options),
            requests: (0..depth).map(|_| Request::default()).collect(),
            lists: vec![[0; UNMAP_BYTES]; depth].into(),
            ops: vec![InFlight::default(); depth].into(),
            queued: Vec::with_capacity(depth),
            done: Vec::with_capacity(depth),
            returned: 0,
            polled: Vec::with_capacity(setup.files.len()),
            refused: None,
        };
        for (index, file) in setup.files.iter().enumerate().filter(|(_, file)| file.fd >= 0) {
            ring.file_changed(index as u32, file.fd)?;
        }
        Ok(ring)
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        let device = &mut self.files[file as usize];
        if let Some(stream) = device.stream.take() {
            // A stream that stays open costs the device a resource and the run nothing.
            let _ = ask(device.fd, Command::close_stream(stream), &mut [0; 8]);
        }
        *device = CLOSED;
        if fd < 0 {
            return Ok(());
        }
        let mut capacity = [0; 32];
        ask(fd, Command::read_capacity(), &mut capacity)?;
        let block = u32::from_be_bytes([capacity[8], capacity[9], capacity[10], capacity[11]]);
        let is_character = scsi::is_character(borrow(fd));
        *device = Device { fd, is_character, block: block.max(1), ..CLOSED };
        if self.options.write_mode == SgWriteMode::WriteStream && self.options.stream == 0 {
            let mut answer = [0; 8];
            ask(fd, Command::open_stream(), &mut answer)?;
            device.stream = Some(u16::from_be_bytes([answer[4], answer[5]]));
        }
        Ok(())
    }

    fn end(&mut self) -> Vec<String> {
        (0..self.files.len() as u32).for_each(|file| _ = self.file_changed(file, -1));
        let text = |(first, count): (String, u64)| match count {
            1 => format!("the device refused a command: {first}"),
            _ => format!("the device refused {count} commands; the first: {first}"),
        };
        self.refused.take().map(text).into_iter().collect()
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let device = self.files[op.file as usize];
        let waiting = self.queued.iter().filter(|slot| self.ops[**slot as usize].file == op.file);
        if device.is_character && device.in_flight + waiting.count() >= QUEUE_MAX {
            return Queued::Full;
        }
        let index = slot as usize;
        let Some(command) = self.command(index, &device, op) else {
            return Queued::Done(match op.kind {
                OpKind::ResetZone => zones::reset(device.fd, op.offset, op.length),
                _ => -i64::from(libc::EINVAL),
            });
        };
        let data = match op.kind {
            OpKind::Trim => self.lists[index].as_mut_ptr(),
            _ => self.slots.slot(slot),
        };
        let request = &mut self.requests[index];
        request.set(command.bytes(), command.transfer, data, command.data);
        if self.options.hipri && matches!(op.kind, OpKind::Read | OpKind::Write) {
            request.poll_for_completion();
        }
        let moved = if op.kind.direction().is_some() { op.length } else { 0 };
        self.ops[index] =
            InFlight { file: op.file, length: moved, moves_all: u64::from(command.data) == moved };
        if device.is_character {
            self.queued.push(slot);
            return Queued::Pending;
        }
        // SAFETY: the slot's buffer is as long as the largest block, lives as long as the ring, and
        // belongs to this I/O until it is done (contract of `Ring`); a list belongs to its slot.
        let answer = unsafe { self.requests[index].run(device.fd) };
        Queued::Done(match answer {
            Ok(answer) => self.result(index, &answer),
            Err(error) => negative_errno(&error),
        })
    }

    fn submit(&mut self) -> io::Result<u32> {
        self.drop_returned();
        let submitted = self.queued.len() as u32;
        for slot in std::mem::take(&mut self.queued) {
            let index = slot as usize;
            let device = &mut self.files[self.ops[index].file as usize];
            // SAFETY: requests, lists and buffers do not move, and belong to their slot until its
            // completion was taken (contract of `Ring`).
            match unsafe { self.requests[index].submit(device.fd, slot) } {
                Ok(()) => device.in_flight += 1,
                Err(error) => self.done.push(Completion { slot, result: negative_errno(&error) }),
            }
        }
        Ok(submitted)
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.drop_returned();
        let (min, max) = (min as usize, max as usize);
        loop {
            let wait = if self.done.len() < min { timeout } else { Some(Duration::ZERO) };
            let busy = self.files.iter().filter(|device| device.in_flight > 0);
            let events = libc::POLLIN;
            self.polled.clear();
            self.polled.extend(busy.map(|d| libc::pollfd { fd: d.fd, events, revents: 0 }));
            if self.done.len() >= max
                || self.polled.is_empty()
                || !poll::wait(&mut self.polled, wait)?
            {
                break;
            }
            self.take_answers()?;
        }
        self.returned = self.done.len().min(max);
        Ok(self.returned as u32)
    }

    fn completion(&self, index: u32) -> Completion {
        self.done[index as usize]
    }
}

impl Sg {
    /// The command of an I/O; `None` if there is none for it.
    fn command(&mut self, index: usize, device: &Device, op: &Op) -> Option<Command> {
        let block = u64::from(device.block);
        let range = Range {
            block: op.offset / block,
            count: u32::try_from(op.length / block).ok()?,
            size: device.block,
        };
        let whole = op.offset.is_multiple_of(block) && op.length.is_multiple_of(block);
        let options = &self.options;
        Some(match op.kind {
            OpKind::Fsync | OpKind::Fdatasync => Command::synchronize(),
            OpKind::ResetZone if device.is_character => Command::reset_zone(range.block),
            _ if !whole => return None,
            OpKind::Read => Command::read(range, options.read_fua),
            OpKind::Write => {
                let stream = device.stream.unwrap_or(options.stream);
                Command::write(options.write_mode, range, options.write_fua, stream)
            }
            OpKind::Trim => {
                let (command, list) = Command::unmap(range);
                self.lists[index] = list;
                command
            }
            OpKind::ResetZone | OpKind::SyncFileRange(_) | OpKind::Stat => return None,
        })
    }

    /// Takes one answer of each device that has one.
    fn take_answers(&mut self) -> io::Result<()> {
        for index in 0..self.polled.len() {
            let polled = self.polled[index];
            if polled.revents == 0 {
                continue;
            }
            let taken = scsi::take(polled.fd)?;
            let slot = taken.id();
            let Some(request) = self.requests.get(slot as usize) else { continue };
            let answer = request.answer_of(&taken);
            let device = &mut self.files[self.ops[slot as usize].file as usize];
            device.in_flight = device.in_flight.saturating_sub(1);
            let result = self.result(slot as usize, &answer);
            self.done.push(Completion { slot, result });
        }
        Ok(())
    }

    /// Bytes moved by the I/O of a slot, or a negative errno.
    fn result(&mut self, index: usize, answer: &Answer) -> i64 {
        let op = self.ops[index];
        if answer.is_good() {
            return if op.moves_all { answer.length as i64 } else { op.length as i64 };
        }
        let refused = self.refused.get_or_insert_with(|| (describe(answer), 0));
        refused.1 += 1;
        -i64::from(errno_of(answer))
    }

    fn drop_returned(&mut self) {
        self.done.drain(..self.returned);
        self.returned = 0;
    }
}

impl Drop for Sg {
    /// Waits for what is in flight: the kernel writes into buffers that are freed next.
    fn drop(&mut self) {
        while self.files.iter().any(|device| device.in_flight > 0) {
            self.drop_returned();
            self.done.clear();
            match self.reap(1, u32::MAX, None) {
                Ok(1..) => {}
                _ => break,
            }
        }
    }
}

/// Sends a command outside the measurement.
fn ask(fd: RawFd, command: Command, data: &mut [u8]) -> io::Result<()> {
    const TIMEOUT_MS: u32 = 10_000;
    let answer = scsi::run(borrow(fd), command.bytes(), command.transfer, data, TIMEOUT_MS)?;
    if answer.is_good() {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "SCSI command {:#04x}: {}",
        command.bytes()[0],
        describe(&answer)
    )))
}

/// What the sense data says, in the words of SPC-5.
fn describe(answer: &Answer) -> String {
    const KEYS: [&str; 16] = [
        "no sense",
        "recovered error",
        "not ready",
        "medium error",
        "hardware error",
        "illegal request",
        "unit attention",
        "data protect",
        "blank check",
        "vendor specific",
        "copy aborted",
        "aborted command",
        "reserved",
        "volume overflow",
        "miscompare",
        "completed",
    ];
    let [key, code, qualifier] = answer.sense_codes();
    if !answer.delivered && answer.status == 0 {
        return "the host adapter did not deliver it".to_owned();
    }
    let name = KEYS[usize::from(key & 0x0f)];
    format!("status {:#04x}, {name}, additional sense {code:02x}h {qualifier:02x}h", answer.status)
}

fn errno_of(answer: &Answer) -> i32 {
    match answer.sense_codes() {
        _ if answer.status != 2 => libc::EIO,
        [0x05, ..] => libc::EINVAL,
        [0x07, 0x27, 0x07] => libc::ENOSPC,
        [0x07, ..] => libc::EROFS,
        [0x0e, ..] => libc::EILSEQ,
        _ => libc::EIO,
    }
}
