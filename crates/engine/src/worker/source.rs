//! The source of workers that need more than a plain workload.

use crate::hot::op::{Fault, LoopSource, Next, Op, QueuePolicy, Source};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use crate::observers::IoObserver;
use crate::observers::blocks::BlockFailures;
use crate::observers::ftr::TraceWriter;
use crate::observers::iolog::IologWriter;
use crate::observers::latency::{DepthSearch, MaxLatency};
use crate::observers::logs::IoLogs;
use crate::observers::priorities::PriorityLatency;
use crate::observers::read_consumer::ReadConsumer;
use crate::observers::stamp_sums::StampSummer;
use crate::observers::steady_latency::SteadyLatency;
use crate::observers::tracer::IoTracer;
use crate::run_shared::RunShared;
use crate::sources::RecordSource;
use crate::sources::cycles::Cycles;
use crate::sources::drawn::DrawnIo;
use crate::sources::numbered::NumberedObjects;
use crate::sources::replayed::Replayed;
use crate::sources::shared_cursor::SharedCursor;
use crate::sources::verified::Verified;
use crate::sources::workload::Workload;
use crate::zones::ZonedWork;
use plan::Medium;
use record::Direction;
use trace::Held;

/// Any source, with the observers of its I/O. This costs some indirect calls per I/O; workers that need
/// only a [`Workload`] run loops without it.
pub(super) struct ObservedSource {
    source: Box<dyn RecordSource>,
    observers: Vec<Box<dyn IoObserver>>,
    consumer: Option<ReadConsumer>,
}

impl ObservedSource {
    /// The source of worker `index`. `queued`: its ring is asynchronous.
    pub fn new(shared: &RunShared, index: usize, queued: bool) -> ObservedSource {
        ObservedSource::if_needed(shared, index, queued).unwrap_or_else(|| ObservedSource {
            source: Box::new(Workload::new(&shared.plan.workers[index])),
            observers: Vec::new(),
            consumer: None,
        })
    }

    /// The same; `None` if a plain workload is enough for the worker.
    pub fn if_needed(shared: &RunShared, index: usize, queued: bool) -> Option<ObservedSource> {
        let worker = &shared.plan.workers[index];
        let source = special_source(shared, index);
        let observers = observers(shared, index, queued);
        let consumer = ReadConsumer::new(worker);
        let needed = source.is_some() || !observers.is_empty() || consumer.is_some();
        needed.then(|| ObservedSource {
            source: source.unwrap_or_else(|| Box::new(Workload::new(worker))),
            observers,
            consumer,
        })
    }
}

/// The source of a worker whose I/O is more than a plain workload.
fn special_source(shared: &RunShared, index: usize) -> Option<Box<dyn RecordSource>> {
    let worker = &shared.plan.workers[index];
    if let Some(replay) = &worker.replay {
        if let Held::Drawn(drawn) = &replay.recording.held {
            return Some(Box::new(DrawnIo::new(worker, drawn)));
        }
        return Some(Box::new(Replayed::new(replay)));
    }
    if let Some(set) = &worker.numbered {
        return Some(Box::new(NumberedObjects::new(worker, set)));
    }
    if worker.queue.engine.medium() == Medium::Time {
        return Some(Box::new(Cycles::new(worker)));
    }
    match (&worker.zbd, &worker.verify) {
        (Some(zbd), None) => Some(Box::new(ZonedWork::new(worker, zbd, &shared.zones))),
        _ if worker.pattern.shared_cursor => {
            Some(Box::new(SharedCursor::new(worker, shared.cursor(worker.job))))
        }
        (_, Some(verify)) => {
            let aux_path = &shared.plan.aux_path;
            Some(Box::new(Verified::new(worker, verify, aux_path, &shared.zones)))
        }
        (None, None) => None,
    }
}

/// The observers of a worker, in the order in which they are called.
fn observers(shared: &RunShared, index: usize, queued: bool) -> Vec<Box<dyn IoObserver>> {
    fn add<O: IoObserver + 'static>(all: &mut Vec<Box<dyn IoObserver>>, observer: Option<O>) {
        all.extend(observer.map(|observer| Box::new(observer) as Box<dyn IoObserver>));
    }
    let worker = &shared.plan.workers[index];
    let logs = |logs| IoLogs::new(worker, logs, &shared.logs, index, queued);
    let mut all = Vec::new();
    add(&mut all, worker.logs.as_ref().map(logs));
    add(&mut all, PriorityLatency::new(worker));
    add(&mut all, worker.counted_blocks.map(|size| BlockFailures::new(worker, size)));
    add(&mut all, StampSummer::new(worker));
    add(&mut all, MaxLatency::new(worker));
    add(&mut all, DepthSearch::new(worker, &shared.trace));
    add(&mut all, SteadyLatency::new(worker, &shared.live, index));
    add(&mut all, IologWriter::new(worker));
    add(&mut all, TraceWriter::new(worker));
    add(&mut all, IoTracer::new(worker, &shared.trace));
    all
}

impl LoopSource for ObservedSource {
    const EXTENDED: bool = true;
}

impl Source for ObservedSource {
    #[inline(always)]
    fn next_ready(&mut self) -> Option<Op> {
        self.source.next_ready()
    }

    fn next(&mut self) -> Next {
        let next = self.source.next();
        if let Next::Open(_) | Next::Close(_) | Next::LoopEnd = next {
            self.observers.iter_mut().for_each(|observer| observer.file_step(next));
        }
        next
    }

    fn steer(&mut self, direction: Direction) {
        self.source.steer(direction);
    }

    fn completed(&mut self, op: &Op, moved: u64) {
        self.source.completed(op, moved);
    }

    fn due(&self, op: &Op) -> Option<u64> {
        self.source.due(op)
    }

    fn fill(&mut self, op: &Op, buffer: &mut [u8]) -> bool {
        self.source.fill(op, buffer)
    }

    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        self.source.issued(op, stamps);
        self.observers.iter_mut().for_each(|observer| observer.issued(op, stamps));
    }

    fn ended(
        &mut self,
        op: &Op,
        buffer: &mut [u8],
        stamps: &Stamps,
        now: u64,
    ) -> Result<(), Fault> {
        if let Some(consumer) = &self.consumer {
            consumer.ended(op, buffer);
        }
        let of_source = self.source.ended(op, buffer, stamps, now);
        let observers = &mut self.observers;
        let of_observers = observers.iter_mut().try_for_each(|o| o.ended(op, stamps, now));
        of_source.and(of_observers)
    }

    fn part_ended(&mut self, op: &Op, buffer: &mut [u8]) -> Result<(), Fault> {
        self.source.part_ended(op, buffer)
    }

    fn read_past_end(&mut self, op: &Op) -> Option<Fault> {
        self.source.read_past_end(op)
    }

    fn resumes_after_end(&mut self) -> bool {
        self.source.resumes_after_end()
    }

    fn started(&mut self, now: u64) {
        self.source.started(now);
        self.observers.iter_mut().for_each(|observer| observer.started(now));
    }

    fn short(&mut self, op: &Op, moved: u64) {
        self.source.short(op, moved);
        self.observers.iter_mut().for_each(|observer| observer.short(op, moved));
    }

    fn window_started(&mut self, now: u64) {
        self.source.window_started(now);
        self.observers.iter_mut().for_each(|observer| observer.window_started(now));
    }

    fn tick(&mut self, policy: &mut QueuePolicy, now: u64) -> Result<u64, Fault> {
        let mut next = self.source.tick(policy, now)?;
        for observer in &mut self.observers {
            next = next.min(observer.tick(policy, now)?);
        }
        Ok(next)
    }
}

impl RecordSource for ObservedSource {
    fn record(&mut self, now: u64, builder: &mut JobRecordBuilder<'_>) {
        self.source.record(now, builder);
        self.observers.iter_mut().for_each(|observer| observer.record(now, builder));
    }
}
