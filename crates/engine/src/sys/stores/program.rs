//! An engine that is a program of the user's. It and fathom share memory that holds two rings and the
//! data; docs/CUSTOM-ENGINES.md describes the protocol.

use super::contract::{Ended, Store, StoreIo, StoreSetup};
use super::library::c_string;
use crate::hot::op::OpKind;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::{Errno, read, write};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const MAGIC: &[u8; 8] = b"FATHOMIO";
const VERSION: u32 = 1;

/// Places in the shared memory.
mod place {
    pub const VERSION: usize = 8;
    pub const DEPTH: usize = 12;
    pub const SLOT_BYTES: usize = 16;
    pub const BUFFERS: usize = 24;
    pub const SUBMISSIONS: usize = 32;
    pub const COMPLETIONS: usize = 40;
    pub const ENTRIES: usize = 48;
    pub const FILES: usize = 52;
    pub const SETUP: usize = 56;
    pub const SETUP_BYTES: usize = 64;
    pub const SIZES: usize = 72;
    pub const SUBMISSION_TAIL: usize = 128;
    pub const COMPLETION_TAIL: usize = 256;
    pub const COMPLETION_HEAD: usize = 320;
    pub const STATE: usize = 384;
    pub const END: usize = 4096;
}

const SUBMISSION_BYTES: usize = 32;
const COMPLETION_BYTES: usize = 16;
const PAGE: usize = 4096;
/// The state of a program that is ready.
const READY: u32 = 1;
/// The operation that ends the program.
const END: u32 = 4;
/// Descriptors that the program gets: shared memory, doorbell of submissions, doorbell of completions.
const FIRST_DESCRIPTOR: i32 = 3;
/// How long a program may take until it is ready.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a program may take to end before it is killed.
const END_LIMIT: Duration = Duration::from_secs(2);

/// Memory that both sides have mapped.
struct Shared {
    address: *mut u8,
    length: usize,
}

// SAFETY: whoever has the value may use the mapping, from any thread.
unsafe impl Send for Shared {}

impl Shared {
    fn map(file: BorrowedFd<'_>, length: usize) -> io::Result<Shared> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file that is as long.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match address {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            _ => Ok(Shared { address: address.cast(), length }),
        }
    }

    /// The address of a range, which must be within the mapping.
    fn at(&self, place: usize, length: usize) -> *mut u8 {
        assert!(place.checked_add(length).is_some_and(|end| end <= self.length));
        // SAFETY: the range is within the mapping.
        unsafe { self.address.add(place) }
    }

    fn word(&self, place: usize) -> &AtomicU32 {
        // SAFETY: the place is within the mapping and aligned to 4 bytes. The program changes it only
        // as atomics change.
        unsafe { AtomicU32::from_ptr(self.at(place, 4).cast()) }
    }

    fn long(&self, place: usize) -> &AtomicU64 {
        // SAFETY: as above, aligned to 8 bytes.
        unsafe { AtomicU64::from_ptr(self.at(place, 8).cast()) }
    }

    fn put(&self, place: usize, bytes: &[u8]) {
        // SAFETY: both ranges are that long, and they do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(place, bytes.len()), bytes.len())
        };
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is not used any more.
        unsafe { libc::munmap(self.address.cast(), self.length) };
    }
}

/// Where things are.
#[derive(Clone, Copy)]
struct Plan {
    entries: usize,
    submissions: usize,
    completions: usize,
    sizes: usize,
    setup: usize,
    buffers: usize,
    slot: usize,
    length: usize,
}

impl Plan {
    fn new(depth: usize, files: usize, setup_bytes: usize, block: usize) -> Plan {
        let up = |place: usize| place.next_multiple_of(PAGE);
        let entries = depth.next_power_of_two();
        let submissions = place::END;
        let completions = up(submissions + entries * SUBMISSION_BYTES);
        let sizes = up(completions + entries * COMPLETION_BYTES);
        let setup = up(sizes + files * 8);
        let (buffers, slot) = (up(setup + setup_bytes), up(block.max(1)));
        let length = buffers + depth * slot;
        Plan { entries, submissions, completions, sizes, setup, buffers, slot, length }
    }
}

/// A program that is running.
pub(super) struct Program {
    name: String,
    child: Child,
    /// Readable once the program has ended.
    ended: OwnedFd,
    shared: Shared,
    plan: Plan,
    /// Rung when there is something to do.
    submitted: OwnedFd,
    /// Rung by the program.
    completed: OwnedFd,
    /// The I/O of each slot.
    in_flight: Vec<Option<StoreIo>>,
    files: usize,
    /// Submissions that the program has not been told of.
    untold: bool,
}

impl Program {
    pub fn open(setup: &StoreSetup<'_>) -> Result<Program, String> {
        let name = setup.options.custom.program.clone().unwrap_or_default();
        let fail = |what: &str, why: io::Error| format!("custom_program={name}: {what}: {why}");
        let text = described(setup);
        let (depth, files) = (setup.depth.max(1) as usize, setup.names.len());
        let plan = Plan::new(depth, files, text.len(), setup.block_bytes as usize);
        let memory = memfd_create(c"fathom-engine", MemfdFlags::CLOEXEC)
            .and_then(|memory| ftruncate(&memory, plan.length as u64).map(|()| memory))
            .map_err(|why| fail("no shared memory", why.into()))?;
        let shared =
            Shared::map(memory.as_fd(), plan.length).map_err(|why| fail("no mapping", why))?;
        write_header(&shared, &plan, depth, files, &text);
        let bell =
            || eventfd(0, EventfdFlags::CLOEXEC).map_err(|why| fail("no eventfd", why.into()));
        let (submitted, completed) = (bell()?, bell()?);
        let descriptors = [memory.as_fd(), submitted.as_fd(), completed.as_fd()];
        let mut child = start(&name, &setup.options.custom.arguments, &descriptors)
            .map_err(|why| fail("it cannot be started", why))?;
        let ended = Pid::from_raw(child.id() as i32)
            .ok_or(Errno::SRCH)
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
        let ended = ended.map_err(|why| {
            let _ = child.kill();
            fail("it cannot be watched", why.into())
        })?;
        let in_flight = vec![None; depth];
        let mut program = Program {
            name,
            child,
            ended,
            shared,
            plan,
            submitted,
            completed,
            in_flight,
            files,
            untold: false,
        };
        program.wait_until_ready()?;
        Ok(program)
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + START_LIMIT;
        while self.shared.word(place::STATE).load(Ordering::Acquire) != READY {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let seconds = START_LIMIT.as_secs();
                return Err(format!("custom_program={} is not ready after {seconds} s", self.name));
            }
            self.wait(left)?;
        }
        Ok(())
    }

    /// Waits until the program rings, ends (an error), or time is over.
    fn wait(&mut self, wait: Duration) -> Result<(), String> {
        let mut watched =
            [PollFd::new(&self.completed, PollFlags::IN), PollFd::new(&self.ended, PollFlags::IN)];
        let time = wait.try_into().map_err(|_| "the time to wait is too long".to_owned())?;
        match poll(&mut watched, Some(&time)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(why.to_string()),
        }
        let [rung, ended] = watched.map(|fd| fd.revents().contains(PollFlags::IN));
        if rung {
            let _ = read(&self.completed, &mut [0; 8]);
        } else if ended {
            let status = self.child.wait().map_err(|why| why.to_string())?;
            let left = self.in_flight.iter().flatten().count();
            let state = self.shared.word(place::STATE).load(Ordering::Acquire);
            let when = match state {
                READY => format!("with {left} I/Os in flight"),
                _ => "before it was ready".to_owned(),
            };
            return Err(format!("custom_program={} ended ({status}) {when}", self.name));
        }
        Ok(())
    }

    /// Puts an entry into the submission ring, which has room for one of each slot.
    fn submit(&mut self, slot: u32, operation: u32, file: u32, offset: u64, length: u64) {
        let tail = self.shared.word(place::SUBMISSION_TAIL);
        let number = tail.load(Ordering::Relaxed);
        let index = number as usize & (self.plan.entries - 1);
        let at = self.plan.submissions + index * SUBMISSION_BYTES;
        for (word, value) in [slot, operation, file, 0].into_iter().enumerate() {
            self.shared.word(at + 4 * word).store(value, Ordering::Relaxed);
        }
        self.shared.long(at + 16).store(offset, Ordering::Relaxed);
        self.shared.long(at + 24).store(length, Ordering::Relaxed);
        tail.store(number.wrapping_add(1), Ordering::Release);
        self.untold = true;
    }

    fn ring(&mut self) {
        if std::mem::take(&mut self.untold) {
            let _ = write(&self.submitted, &1u64.to_ne_bytes());
        }
    }

    fn take_completions(&mut self, ended: &mut Vec<Ended>) -> Result<(), String> {
        let head = self.shared.word(place::COMPLETION_HEAD);
        let (mut number, tail) = (
            head.load(Ordering::Relaxed),
            self.shared.word(place::COMPLETION_TAIL).load(Ordering::Acquire),
        );
        if tail.wrapping_sub(number) as usize > self.plan.entries {
            return Err(format!("custom_program={} has damaged its completion ring", self.name));
        }
        while number != tail {
            let index = number as usize & (self.plan.entries - 1);
            let at = self.plan.completions + index * COMPLETION_BYTES;
            let slot = self.shared.word(at).load(Ordering::Relaxed);
            let result = self.shared.long(at + 8).load(Ordering::Relaxed) as i64;
            let known = self.in_flight.get_mut(slot as usize).and_then(Option::take);
            let Some(io) = known else {
                let what = format!("completed slot {slot}, which has no I/O in flight");
                return Err(format!("custom_program={} {what}", self.name));
            };
            ended.push((slot, self.finish(&io, result)));
            number = number.wrapping_add(1);
        }
        self.shared.word(place::COMPLETION_HEAD).store(number, Ordering::Release);
        Ok(())
    }

    /// Copies what was read; the result that the loop gets.
    fn finish(&self, io: &StoreIo, result: i64) -> i64 {
        let most = if io.kind.direction().is_some() { io.length as i64 } else { 0 };
        if result > most || result < -4095 {
            return -i64::from(libc::EPROTO);
        }
        if io.kind == OpKind::Read && result > 0 {
            let place = self.plan.buffers + io.slot as usize * self.plan.slot;
            // SAFETY: the buffer belongs to this I/O and is at least `length` long (contract of
            // `start`); the program has given the shared one back.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    self.shared.at(place, result as usize),
                    io.buffer,
                    result as usize,
                );
            }
        }
        result
    }
}

/// The sizes of files that the program tells.
pub(super) fn sizes(setup: &StoreSetup<'_>) -> Result<Vec<Option<u64>>, String> {
    let program = Program::open(setup)?;
    let size = |file| program.shared.long(program.plan.sizes + 8 * file).load(Ordering::Acquire);
    Ok((0..program.files).map(|file| Some(size(file)).filter(|size| *size > 0)).collect())
}

fn write_header(shared: &Shared, plan: &Plan, depth: usize, files: usize, text: &str) {
    shared.put(0, MAGIC);
    let words = [
        (place::VERSION, VERSION),
        (place::DEPTH, depth as u32),
        (place::ENTRIES, plan.entries as u32),
        (place::FILES, files as u32),
    ];
    for (at, value) in words {
        shared.word(at).store(value, Ordering::Relaxed);
    }
    let longs = [
        (place::SLOT_BYTES, plan.slot),
        (place::BUFFERS, plan.buffers),
        (place::SUBMISSIONS, plan.submissions),
        (place::COMPLETIONS, plan.completions),
        (place::SETUP, plan.setup),
        (place::SETUP_BYTES, text.len()),
        (place::SIZES, plan.sizes),
    ];
    for (at, value) in longs {
        shared.long(at).store(value as u64, Ordering::Relaxed);
    }
    shared.put(plan.setup, text.as_bytes());
}

/// What the program is told of the job, as JSON.
fn described(setup: &StoreSetup<'_>) -> String {
    let quoted = |text: &String| {
        let escape = |c: char| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c < ' ' => format!("\\u{:04x}", c as u32),
            c => c.to_string(),
        };
        format!("\"{}\"", text.chars().map(escape).collect::<String>())
    };
    let files: Vec<String> = setup.names.iter().map(quoted).collect();
    format!(
        "{{\"files\":[{}],\"writes\":{},\"depth\":{},\"block_bytes_max\":{}}}",
        files.join(","),
        setup.writes,
        setup.depth.max(1),
        setup.block_bytes
    )
}

/// Starts the program with the descriptors from [`FIRST_DESCRIPTOR`] on. Its output goes to standard
/// error, because standard output is the report's.
fn start(name: &str, arguments: &str, descriptors: &[BorrowedFd<'_>]) -> io::Result<Child> {
    c_string(name).map_err(io::Error::other)?;
    // Numbers that the program's own cannot collide with.
    let high = |fd: &BorrowedFd<'_>| {
        // SAFETY: the call makes a new descriptor, which the value then owns.
        unsafe {
            match libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 16) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(OwnedFd::from_raw_fd(fd)),
            }
        }
    };
    let given: Vec<OwnedFd> = descriptors.iter().map(high).collect::<io::Result<_>>()?;
    let numbers: Vec<i32> = given.iter().map(AsRawFd::as_raw_fd).collect();
    let mut command = Command::new(name);
    command.args(arguments.split(' ').filter(|word| !word.is_empty()));
    command.stdin(Stdio::null()).stdout(io::stderr());
    let in_child = move || {
        for (number, fd) in numbers.iter().enumerate() {
            // SAFETY: both are numbers of descriptors.
            if unsafe { libc::dup2(*fd, FIRST_DESCRIPTOR + number as i32) } == -1 {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: the call takes plain numbers. A program whose fathom was killed ends too.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made that are safe there.
    unsafe { command.pre_exec(in_child) };
    command.spawn()
}

impl Store for Program {
    unsafe fn start(&mut self, io: &StoreIo) -> Result<(), i64> {
        let operation = match io.kind {
            OpKind::Read => 0,
            OpKind::Write => 1,
            OpKind::Trim | OpKind::ResetZone => 2,
            OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange(_) => 3,
            OpKind::Stat => return Err(-i64::from(libc::EOPNOTSUPP)),
        };
        if io.kind == OpKind::Write {
            let place = self.plan.buffers + io.slot as usize * self.plan.slot;
            let length = io.length as usize;
            // SAFETY: the buffer belongs to this I/O and is that long (contract); the slot's shared one
            // is free.
            unsafe {
                std::ptr::copy_nonoverlapping(io.buffer, self.shared.at(place, length), length);
            }
        }
        self.in_flight[io.slot as usize] = Some(*io);
        self.submit(io.slot, operation, io.file, io.offset, io.length);
        Ok(())
    }

    fn flush(&mut self) {
        self.ring();
    }

    fn poll(&mut self, wait: Duration, ended: &mut Vec<Ended>) -> Result<(), String> {
        self.ring();
        self.take_completions(ended)?;
        if ended.is_empty() && !wait.is_zero() {
            self.wait(wait)?;
            self.take_completions(ended)?;
        }
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.submit(0, END, 0, 0, 0);
        self.ring();
        let deadline = Instant::now() + END_LIMIT;
        while let Ok(None) = self.child.try_wait()
            && Instant::now() < deadline
        {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut watched = [PollFd::new(&self.ended, PollFlags::IN)];
            let _ = left.try_into().map(|left| poll(&mut watched, Some(&left)));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
