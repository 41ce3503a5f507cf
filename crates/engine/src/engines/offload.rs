//! `io_submit_mode=offload`: threads submit for the worker, so that a blocking call delays no later
//! I/O. Each slot has its own thread with a ring of depth 1, opened in that thread. A slot is reused
//! only after its completion was taken, so a thread never gets a second I/O. The slot that became
//! free last is used first, because its thread is warm.
//!
//! The thread takes the times of issue and end. The time until the thread has received the I/O counts
//! as submission latency; the time until the worker has received the completion does not count.

use super::helpers::HelperThreads;
use super::overlap::{OverlapQueue, Ticket};
use super::{
    Completion, IoSettings, IoTimes, Queued, Ring, RingFile, RingSetup, RingVisitor, visit_ring,
};
use crate::clock::{Clock, RunClock};
use crate::files::OpenFlags;
use crate::hot::op::Op;
use crate::sys::buffers::BufferArea;
use plan::{Engine, EngineOptions, Queue, Worker};
use std::any::Any;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Submission threads need little stack, and there may be thousands of them.
const STACK_BYTES: usize = 256 << 10;
/// An idle thread publishes its CPU use, at most this often.
const CPU_PUBLISH_INTERVAL_NS: u64 = 10_000_000;
/// Pause before a submission is tried again for which the kernel had no resources.
const SUBMIT_RETRY_PAUSE: Duration = Duration::from_millis(1);
const SUBMIT_ATTEMPTS_MAX: u32 = 1000;

/// The ring of a worker whose threads submit.
pub struct Offload {
    threads: Vec<SubmitThread>,
    replies: Receiver<Reply>,
    queued: Vec<(u32, Op)>,
    /// Submitted and not reaped.
    in_flight: u32,
    completions: Vec<TimedCompletion>,
    overlaps: Option<Arc<OverlapQueue>>,
    /// The number of each of the worker's files in `overlaps`.
    overlap_files: Vec<u32>,
    helpers: Arc<HelperThreads>,
    failure: Option<io::Error>,
}

/// The worker's handle of a thread. The thread ends when the sender is dropped.
struct SubmitThread {
    requests: Option<SyncSender<ThreadRequest>>,
    handle: Option<JoinHandle<()>>,
}

/// A request to a thread.
enum ThreadRequest {
    Io(Op, Option<Ticket>),
    /// A file was opened, or is about to be closed (-1).
    FileChanged(u32, RawFd),
}

/// A message from a thread.
enum Reply {
    Completed(TimedCompletion),
    /// The ring was opened, or has handled a change of a file.
    Answered(io::Result<()>),
    /// The thread's ring is unusable, and its I/O in flight is lost.
    Failed(io::Error),
}

#[derive(Clone, Copy)]
struct TimedCompletion {
    completion: Completion,
    times: IoTimes,
}

impl Ring for Offload {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let depth = setup.depth.max(1);
        // Each thread has at most one completion and one failure unread, so sending never blocks.
        let (sender, replies) = sync_channel(2 * depth as usize);
        let helpers = Arc::new(HelperThreads::new(depth));
        let worker = Arc::new(setup.worker.clone());
        let number =
            |file: &RingFile| setup.overlaps.map_or(0, |queue| queue.file_number(&file.path));
        let mut ring = Offload {
            threads: Vec::with_capacity(depth as usize),
            replies,
            queued: Vec::with_capacity(depth as usize),
            in_flight: 0,
            completions: Vec::with_capacity(depth as usize),
            overlaps: setup.overlaps.map(Arc::clone),
            overlap_files: setup.files.iter().map(number).collect(),
            helpers: Arc::clone(&helpers),
            failure: None,
        };
        let main = visit_ring(&Queue { depth: 1, ..setup.worker.queue.clone() }, ThreadMain);
        for slot in 0..depth {
            let (requests, receiver) = sync_channel(2);
            let channels = Channels {
                requests: receiver,
                replies: sender.clone(),
                helpers: Arc::clone(&helpers),
            };
            let context = ThreadContext::new(setup, slot, &worker);
            let handle =
                Builder::new().stack_size(STACK_BYTES).spawn(move || main(context, &channels))?;
            ring.threads.push(SubmitThread { requests: Some(requests), handle: Some(handle) });
        }
        ring.await_answers()?;
        Ok(ring)
    }

    fn helpers(&self) -> Option<Arc<HelperThreads>> {
        Some(Arc::clone(&self.helpers))
    }

    fn end(&mut self) -> Vec<String> {
        self.join_threads();
        Vec::new()
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        if let Some(failure) = &self.failure {
            return Err(copy_error(failure));
        }
        self.threads.iter().for_each(|thread| thread.send(ThreadRequest::FileChanged(file, fd)));
        self.await_answers()
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        self.queued.push((slot, *op));
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        let count = self.queued.len() as u32;
        for (slot, op) in self.queued.drain(..) {
            let moves_data = op.kind.direction().is_some();
            let overlaps = self.overlaps.as_ref().filter(|_| moves_data);
            let ticket =
                overlaps.map(|queue| queue.enter(self.overlap_files[op.file as usize], &op));
            self.threads[slot as usize].send(ThreadRequest::Io(op, ticket));
        }
        self.in_flight += count;
        Ok(count)
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.completions.clear();
        let deadline = timeout.map(|t| Instant::now() + t);
        let max = max.min(self.in_flight) as usize;
        let min = (min as usize).min(max);
        while self.failure.is_none() && self.completions.len() < max {
            match self.receive(self.completions.len() < min, deadline) {
                Some(Reply::Completed(completion)) => self.completions.push(completion),
                Some(Reply::Failed(error)) => self.failure = Some(error),
                Some(Reply::Answered(_)) => {}
                None => break,
            }
        }
        match &self.failure {
            // Completions are returned before the failure.
            Some(failure) if self.completions.is_empty() => Err(copy_error(failure)),
            _ => {
                self.in_flight -= self.completions.len() as u32;
                Ok(self.completions.len() as u32)
            }
        }
    }

    fn completion(&self, index: u32) -> Completion {
        self.completions[index as usize].completion
    }

    fn io_times(&self, index: u32) -> Option<IoTimes> {
        Some(self.completions[index as usize].times)
    }
}

impl Offload {
    /// The next message of a thread. If `blocks`, waits for it until `deadline`.
    fn receive(&self, blocks: bool, deadline: Option<Instant>) -> Option<Reply> {
        let disconnected =
            || Some(Reply::Failed(io::Error::other("all submission threads have ended")));
        if !blocks {
            return match self.replies.try_recv() {
                Ok(reply) => Some(reply),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => disconnected(),
            };
        }
        let Some(deadline) = deadline else {
            return self.replies.recv().ok().or_else(disconnected);
        };
        match self.replies.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(reply) => Some(reply),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => disconnected(),
        }
    }

    /// Waits for the answer of every thread while nothing is in flight. Returns the first error.
    fn await_answers(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        for _ in 0..self.threads.len() {
            match self.receive(true, None) {
                Some(Reply::Answered(answer)) => result = result.and(answer),
                Some(Reply::Failed(error)) => {
                    result = result.and(Err(copy_error(&error)));
                    self.failure = Some(error);
                    break;
                }
                Some(Reply::Completed(_)) | None => {}
            }
        }
        result
    }

    /// Ends the threads and waits for them. A thread finishes its I/O in flight first.
    fn join_threads(&mut self) {
        self.threads.iter_mut().for_each(|thread| thread.requests = None);
        for thread in &mut self.threads {
            // A thread that panicked has sent the error already.
            let _ = thread.handle.take().map(JoinHandle::join);
        }
    }
}

impl Drop for Offload {
    fn drop(&mut self) {
        self.join_threads();
    }
}

impl SubmitThread {
    fn send(&self, request: ThreadRequest) {
        // Sending fails only if the thread has ended. The worker then receives the error that the
        // thread sent.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
    }
}

fn copy_error(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(errno) => io::Error::from_raw_os_error(errno),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// A thread's ends of the channels to the worker.
struct Channels {
    requests: Receiver<ThreadRequest>,
    replies: SyncSender<Reply>,
    helpers: Arc<HelperThreads>,
}

impl Channels {
    fn reply(&self, reply: Reply) {
        // The receiver is gone only while the ring is dropped.
        let _ = self.replies.send(reply);
    }
}

/// The owned data of a thread's [`RingSetup`], for one slot.
struct ThreadContext {
    slot: u32,
    worker: Arc<Worker>,
    options: EngineOptions,
    files: Vec<RingFile>,
    buffer: BufferArea,
    io: IoSettings,
}

impl ThreadContext {
    fn new(setup: &RingSetup<'_>, slot: u32, worker: &Arc<Worker>) -> ThreadContext {
        ThreadContext {
            slot,
            worker: Arc::clone(worker),
            options: setup.options.clone(),
            files: setup.files.to_vec(),
            // SAFETY: the area outlives the ring (contract of `RingSetup`), and the ring its
            // threads; the slot's buffer belongs to its thread as long as its I/O is in flight
            // (contract of `Ring`).
            buffer: unsafe { setup.buffers.part(slot) },
            io: setup.io,
        }
    }

    fn setup(&self) -> RingSetup<'_> {
        RingSetup {
            worker: &self.worker,
            depth: 1,
            buffers: &self.buffer,
            options: &self.options,
            files: &self.files,
            io: self.io,
            overlaps: None,
        }
    }
}

/// Chooses the main function of a thread by its ring.
struct ThreadMain;

impl RingVisitor for ThreadMain {
    type Output = fn(ThreadContext, &Channels);

    fn visit<R: Ring + 'static, const QUEUED: bool>(self) -> Self::Output {
        run_thread::<R>
    }

    fn visit_general<R: Ring + 'static, const QUEUED: bool>(self) -> Self::Output {
        run_thread::<R>
    }
}

/// Serves requests. If that fails or panics, sends the error to the worker.
fn run_thread<R: Ring>(context: ThreadContext, channels: &Channels) {
    let slot = context.slot;
    let served = catch_unwind(AssertUnwindSafe(|| serve::<R>(context, channels)))
        .unwrap_or_else(|panic| Err(panic_error(&*panic)));
    channels.helpers.publish(slot);
    if let Err(error) = served {
        channels.reply(Reply::Failed(error));
    }
}

fn panic_error(panic: &(dyn Any + Send)) -> io::Error {
    let text = panic.downcast_ref::<&str>().copied().unwrap_or("no reason given");
    io::Error::other(format!("internal error: a submission thread panicked: {text}"))
}

/// Opens the ring and serves requests until the worker drops the channel.
fn serve<R: Ring>(mut context: ThreadContext, channels: &Channels) -> io::Result<()> {
    let mut descriptors = Descriptors::new(&context.worker);
    for file in 0..context.files.len() {
        context.files[file].fd = descriptors.open(file, context.files[file].fd)?;
    }
    let mut ring = R::open(&context.setup())?;
    channels.reply(Reply::Answered(Ok(())));
    let clock = context.io.clock;
    let mut published = clock.now();
    loop {
        let request = channels.requests.try_recv().or_else(|_| {
            let now = clock.now();
            if now - published > CPU_PUBLISH_INTERVAL_NS {
                channels.helpers.publish(context.slot);
                published = now;
            }
            channels.requests.recv()
        });
        match request {
            Ok(ThreadRequest::Io(op, ticket)) => {
                ticket.as_ref().inspect(|ticket| ticket.wait());
                let (result, times) = perform(&mut ring, &op, clock)?;
                drop(ticket);
                let completion = Completion { slot: context.slot, result };
                channels.reply(Reply::Completed(TimedCompletion { completion, times }));
            }
            Ok(ThreadRequest::FileChanged(file, fd)) => {
                channels.reply(Reply::Answered(descriptors.change(&mut ring, file, fd)));
            }
            Err(_) => return Ok(()),
        }
    }
}

/// Does one I/O and waits for its end.
fn perform<R: Ring>(ring: &mut R, op: &Op, clock: RunClock) -> io::Result<(i64, IoTimes)> {
    let mut issued = clock.now();
    let result = match ring.queue(0, op) {
        Queued::Done(result) => result,
        // Nothing else is in flight, so trying again would not make room.
        Queued::Full => -i64::from(libc::EAGAIN),
        Queued::Pending => {
            submit_one(ring)?;
            issued = clock.now();
            while ring.reap(1, 1, None)? == 0 {}
            ring.completion(0).result
        }
    };
    Ok((result, IoTimes { issued, ended: clock.now() }))
}

fn submit_one<R: Ring>(ring: &mut R) -> io::Result<()> {
    for _ in 0..SUBMIT_ATTEMPTS_MAX {
        if ring.submit()? > 0 {
            return Ok(());
        }
        std::thread::sleep(SUBMIT_RETRY_PAUSE);
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// A thread's own descriptors, for engines that use the file position: with a shared descriptor,
/// another thread would move the position between the seek and the transfer.
struct Descriptors {
    worker: Arc<Worker>,
    flags: OpenFlags,
    own: Vec<Option<File>>,
}

impl Descriptors {
    fn new(worker: &Arc<Worker>) -> Descriptors {
        let uses_position = matches!(worker.queue.engine, Engine::Sync | Engine::Vsync);
        let files = if uses_position { worker.files.len() } else { 0 };
        Descriptors {
            worker: Arc::clone(worker),
            flags: OpenFlags::for_worker(worker),
            own: (0..files).map(|_| None).collect(),
        }
    }

    /// The descriptor to use in place of the worker's `fd`.
    fn open(&mut self, file: usize, fd: RawFd) -> io::Result<RawFd> {
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
            // The ring must not use the descriptor after it is closed.
            ring.file_changed(file, -1)?;
            *own = None;
        }
        let fd = self.open(index, fd)?;
        ring.file_changed(file, fd)
    }
}
