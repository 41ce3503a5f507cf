//! `io_submit_mode=offload`: threads that submit for the worker, so that a call which blocks holds
//! back no later I/O. Each slot has a thread of its own with a ring of depth 1, made in that thread:
//! a slot is given again only after its completion was taken, so no thread is ever handed a second
//! I/O, and the slot that was free last, whose thread is warm, is used first.
//!
//! The moments of issue and end are those the thread saw: the way back to the worker is no part of
//! an I/O's latency, the way to the thread is its submission latency.

use super::overlap::{Overlaps, Ticket};
use super::{Completion, Moments, Queued, Ring, RingFile, Setup};
use crate::clock::{Clock, RunClock};
use crate::files::OpenFlags;
use crate::mutex::lock;
use crate::ops::Op;
use crate::sys::buffers::BufferArea;
use crate::sys::files::Advice;
use crate::sys::thread;
use plan::{Engine, EngineOptions, Worker};
use record::CpuUse;
use std::any::Any;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Threads of submission need little stack, and there may be thousands.
const STACK_BYTES: usize = 256 << 10;
/// What a thread has used is laid out when it rests, but not more often than this.
const COST_STEP_NS: u64 = 10_000_000;
/// How long a submission the kernel had no resources for rests before it is tried again, and how
/// often.
const STARVED: Duration = Duration::from_millis(1);
const MOST_ATTEMPTS: u32 = 1000;

/// What the threads of a ring have used so far.
#[derive(Default)]
pub struct Helpers(Mutex<Vec<CpuUse>>);

impl Helpers {
    /// All of them together.
    pub fn usage(&self) -> CpuUse {
        let each = lock(&self.0);
        each.iter().fold(CpuUse::default(), |sum, one| sum.and(one))
    }

    fn lay_out(&self, thread: usize) {
        lock(&self.0)[thread] = thread::usage();
    }
}

/// The ring.
pub struct Offload {
    lanes: Vec<Lane>,
    words: Receiver<Word>,
    queued: Vec<(u32, Op)>,
    /// Handed over and not reaped.
    out: u32,
    given: Vec<Ended>,
    overlaps: Option<Arc<Overlaps>>,
    /// Numbers of the worker's files among those of all workers.
    numbers: Vec<u32>,
    helpers: Arc<Helpers>,
    failure: Option<io::Error>,
}

/// The worker's side of a thread. Without the sender the thread ends.
struct Lane {
    orders: Option<SyncSender<Order>>,
    thread: Option<JoinHandle<()>>,
}

/// What a thread is told to do.
enum Order {
    Io(Op, Option<Ticket>),
    File(u32, RawFd),
}

/// What a thread says.
enum Word {
    Ended(Ended),
    /// The ring was made, or has taken a change of a file.
    Answer(io::Result<()>),
    /// Its ring cannot be used any more, and what it had in flight is lost.
    Failed(io::Error),
}

#[derive(Clone, Copy)]
struct Ended {
    done: Completion,
    moments: Moments,
}

impl Ring for Offload {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &Setup<'_>) -> io::Result<Self> {
        let depth = setup.depth.max(1);
        // A thread has at most its I/O and its own end to tell of: it never waits to be heard.
        let (speaker, words) = sync_channel(2 * depth as usize);
        let helpers = Arc::new(Helpers(Mutex::new(vec![CpuUse::default(); depth as usize])));
        let worker = Arc::new(setup.worker.clone());
        let number = |file: &RingFile| setup.overlaps.map_or(0, |all| all.number(&file.path));
        let mut ring = Offload {
            lanes: Vec::with_capacity(depth as usize),
            words,
            queued: Vec::with_capacity(depth as usize),
            out: 0,
            given: Vec::with_capacity(depth as usize),
            overlaps: setup.overlaps.map(Arc::clone),
            numbers: setup.files.iter().map(number).collect(),
            helpers: Arc::clone(&helpers),
            failure: None,
        };
        let serve = server(setup.worker.queue.engine);
        for slot in 0..depth {
            let (orders, theirs) = sync_channel(2);
            let post = Post { orders: theirs, words: speaker.clone(), helpers: helpers.clone() };
            let start = Start::new(setup, slot, &worker);
            let thread =
                Builder::new().stack_size(STACK_BYTES).spawn(move || serve(start, &post))?;
            ring.lanes.push(Lane { orders: Some(orders), thread: Some(thread) });
        }
        ring.hear_all()?;
        Ok(ring)
    }

    fn helpers(&self) -> Option<Arc<Helpers>> {
        Some(Arc::clone(&self.helpers))
    }

    fn end(&mut self) -> Vec<String> {
        self.dismiss();
        Vec::new()
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        if let Some(failure) = &self.failure {
            return Err(again(failure));
        }
        self.lanes.iter().for_each(|lane| lane.tell(Order::File(file, fd)));
        self.hear_all()
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        self.queued.push((slot, *op));
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        let count = self.queued.len() as u32;
        for (slot, op) in self.queued.drain(..) {
            let moves = op.kind.direction().is_some();
            let overlaps = self.overlaps.as_ref().filter(|_| moves);
            let ticket = overlaps.map(|all| all.enter(self.numbers[op.file as usize], &op));
            self.lanes[slot as usize].tell(Order::Io(op, ticket));
        }
        self.out += count;
        Ok(count)
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.given.clear();
        let deadline = timeout.map(|t| Instant::now() + t);
        let max = max.min(self.out) as usize;
        let min = (min as usize).min(max);
        while self.failure.is_none() && self.given.len() < max {
            match self.hear(self.given.len() < min, deadline) {
                Some(Word::Ended(ended)) => self.given.push(ended),
                Some(Word::Failed(error)) => self.failure = Some(error),
                Some(Word::Answer(_)) => {}
                None => break,
            }
        }
        match &self.failure {
            // What has ended is given first; then there is nothing more to be had.
            Some(failure) if self.given.is_empty() => Err(again(failure)),
            _ => {
                self.out -= self.given.len() as u32;
                Ok(self.given.len() as u32)
            }
        }
    }

    fn completion(&self, index: u32) -> Completion {
        self.given[index as usize].done
    }

    fn moments(&self, index: u32) -> Option<Moments> {
        Some(self.given[index as usize].moments)
    }
}

impl Offload {
    /// The next word of a thread, waited for until `deadline` if it is to be.
    fn hear(&self, waits: bool, deadline: Option<Instant>) -> Option<Word> {
        let gone = || Some(Word::Failed(io::Error::other("all threads of submission have ended")));
        if !waits {
            return match self.words.try_recv() {
                Ok(word) => Some(word),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => gone(),
            };
        }
        let Some(deadline) = deadline else { return self.words.recv().ok().or_else(gone) };
        match self.words.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(word) => Some(word),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => gone(),
        }
    }

    /// Hears the answer of every thread, with nothing in flight; the first error of them.
    fn hear_all(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        for _ in 0..self.lanes.len() {
            match self.hear(true, None) {
                Some(Word::Answer(answer)) => result = result.and(answer),
                Some(Word::Failed(error)) => {
                    result = result.and(Err(again(&error)));
                    self.failure = Some(error);
                    break;
                }
                Some(Word::Ended(_)) | None => {}
            }
        }
        result
    }

    /// Sends the threads home and waits for them, and so for what they have in flight.
    fn dismiss(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.orders = None);
        for lane in &mut self.lanes {
            // One that panicked has told so.
            let _ = lane.thread.take().map(JoinHandle::join);
        }
    }
}

impl Drop for Offload {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl Lane {
    fn tell(&self, order: Order) {
        // One that has ended has told why, and is heard before anything else is expected of it.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }
}

/// The same error once more.
fn again(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(errno) => io::Error::from_raw_os_error(errno),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// A thread's side of the lines to the worker.
struct Post {
    orders: Receiver<Order>,
    words: SyncSender<Word>,
    helpers: Arc<Helpers>,
}

impl Post {
    fn say(&self, word: Word) {
        // Nobody listens only when the ring is being dropped.
        let _ = self.words.send(word);
    }
}

/// What a thread makes its ring from.
struct Start {
    slot: u32,
    worker: Arc<Worker>,
    options: EngineOptions,
    files: Vec<RingFile>,
    buffer: BufferArea,
    io_priority: u16,
    direct: bool,
    writes: bool,
    write_flags: u32,
    advice: Option<Advice>,
    clock: RunClock,
}

impl Start {
    fn new(setup: &Setup<'_>, slot: u32, worker: &Arc<Worker>) -> Start {
        Start {
            slot,
            worker: Arc::clone(worker),
            options: setup.options.clone(),
            files: setup.files.to_vec(),
            // SAFETY: the area outlives the ring (contract of `Setup`), and the ring its threads;
            // the slot's buffer belongs to its thread as long as its I/O is in flight (contract of
            // `Ring`).
            buffer: unsafe { setup.buffers.part(slot) },
            io_priority: setup.io_priority,
            direct: setup.direct,
            writes: setup.writes,
            write_flags: setup.write_flags,
            advice: setup.advice,
            clock: setup.clock,
        }
    }

    fn setup(&self) -> Setup<'_> {
        Setup {
            worker: &self.worker,
            depth: 1,
            buffers: &self.buffer,
            options: &self.options,
            files: &self.files,
            io_priority: self.io_priority,
            direct: self.direct,
            writes: self.writes,
            write_flags: self.write_flags,
            advice: self.advice,
            clock: self.clock,
            overlaps: None,
        }
    }
}

/// What a thread does with the rings of an engine.
fn server(engine: Engine) -> fn(Start, &Post) {
    match engine {
        Engine::Null => serve::<super::null::NullSync>,
        Engine::Sync => serve::<super::sync::Sync>,
        Engine::Psync => serve::<super::psync::Psync>,
        Engine::Vsync => serve::<super::vsync::Vsync>,
        Engine::Pvsync => serve::<super::pvsync::Pvsync>,
        Engine::Pvsync2 => serve::<super::pvsync2::Pvsync2>,
        Engine::Mmap => serve::<super::mmap::Mmap>,
        Engine::Libaio => serve::<super::libaio::Libaio>,
        Engine::Posixaio => serve::<super::posixaio::Posixaio>,
        Engine::IoUring => serve::<super::io_uring::IoUring>,
        _ => serve::<super::plain::Plain>,
    }
}

/// The whole of a thread.
fn serve<R: Ring>(start: Start, post: &Post) {
    let slot = start.slot as usize;
    let word = match catch_unwind(AssertUnwindSafe(|| work::<R>(start, post))) {
        Ok(result) => result.err(),
        Err(panic) => Some(bug(&*panic)),
    };
    post.helpers.lay_out(slot);
    if let Some(error) = word {
        post.say(Word::Failed(error));
    }
}

fn bug(panic: &(dyn Any + Send)) -> io::Error {
    let text = panic.downcast_ref::<&str>().copied().unwrap_or("no reason given");
    io::Error::other(format!("internal error: a thread of submission panicked: {text}"))
}

/// Makes the ring and does what it is told until the worker wants no more.
fn work<R: Ring>(mut start: Start, post: &Post) -> io::Result<()> {
    let mut handles = Handles::new(&start.worker);
    for file in 0..start.files.len() {
        start.files[file].fd = handles.opened(file, start.files[file].fd)?;
    }
    let mut ring = R::open(&start.setup())?;
    post.say(Word::Answer(Ok(())));
    let mut laid_out = start.clock.now();
    loop {
        let order = post.orders.try_recv().or_else(|_| {
            let now = start.clock.now();
            if now - laid_out > COST_STEP_NS {
                post.helpers.lay_out(start.slot as usize);
                laid_out = now;
            }
            post.orders.recv()
        });
        match order {
            Ok(Order::Io(op, ticket)) => {
                ticket.as_ref().inspect(|ticket| ticket.wait());
                let (result, moments) = perform(&mut ring, &op, start.clock)?;
                drop(ticket);
                let done = Completion { slot: start.slot, result };
                post.say(Word::Ended(Ended { done, moments }));
            }
            Ok(Order::File(file, fd)) => {
                post.say(Word::Answer(handles.change(&mut ring, file, fd)));
            }
            Err(_) => return Ok(()),
        }
    }
}

/// One I/O from its issue to its end.
fn perform<R: Ring>(ring: &mut R, op: &Op, clock: RunClock) -> io::Result<(i64, Moments)> {
    let begun = clock.now();
    match ring.queue(0, op) {
        Queued::Done(result) => Ok((result, Moments { issued: begun, ended: clock.now() })),
        // With nothing else in flight there is always room; were there none, trying again would not
        // make any.
        Queued::Full => {
            Ok((-i64::from(libc::EAGAIN), Moments { issued: begun, ended: clock.now() }))
        }
        Queued::Pending => {
            hand_over(ring)?;
            let issued = clock.now();
            while ring.reap(1, 1, None)? == 0 {}
            Ok((ring.completion(0).result, Moments { issued, ended: clock.now() }))
        }
    }
}

fn hand_over<R: Ring>(ring: &mut R) -> io::Result<()> {
    for _ in 0..MOST_ATTEMPTS {
        if ring.submit()? > 0 {
            return Ok(());
        }
        std::thread::sleep(STARVED);
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Descriptors of a thread's own, for engines that move the position of theirs: one that all share
/// would be moved by another thread between the seek and the transfer.
struct Handles {
    worker: Arc<Worker>,
    flags: OpenFlags,
    own: Vec<Option<File>>,
}

impl Handles {
    fn new(worker: &Arc<Worker>) -> Handles {
        let moves = matches!(worker.queue.engine, Engine::Sync | Engine::Vsync);
        let files = if moves { worker.files.len() } else { 0 };
        Handles {
            worker: Arc::clone(worker),
            flags: OpenFlags::of(worker),
            own: (0..files).map(|_| None).collect(),
        }
    }

    /// The descriptor to use where the worker has `fd`.
    fn opened(&mut self, file: usize, fd: RawFd) -> io::Result<RawFd> {
        let Some(own) = self.own.get_mut(file).filter(|_| fd >= 0) else { return Ok(fd) };
        let planned = &self.worker.files[file];
        let opened = self.flags.open(&planned.path, planned.kind)?;
        let fd = opened.as_raw_fd();
        *own = Some(opened);
        Ok(fd)
    }

    /// The worker has opened a file, or is about to close it (-1).
    fn change<R: Ring>(&mut self, ring: &mut R, file: u32, fd: RawFd) -> io::Result<()> {
        let index = file as usize;
        if let Some(own) = self.own.get_mut(index) {
            // The ring lets go first.
            ring.file_changed(file, -1)?;
            *own = None;
        }
        let fd = self.opened(index, fd)?;
        ring.file_changed(file, fd)
    }
}
