//! What only some workers need beside their I/O: content that is checked, logs, replayed I/O,
//! limits on latency.
//!
//! A worker that needs any of it runs the same loop with an [`Extended`] source: the work itself,
//! and chores, one file each, which look at every I/O as it is issued and as it ends. Choosing among
//! them costs a few indirect calls an I/O; workers without chores run loops that have none of this.

mod blocks;
mod cycles;
mod iolog;
mod latency;
mod logs;
mod numbered;
mod priorities;
mod reads;
mod replay;
mod shared;
mod steady;
mod tracer;
mod verify;

use crate::meter::Stamps;
use crate::ops::{Fault, Next, Op, Source};
use crate::run::Shared;
use crate::source::Workload;
use crate::steps::Policy;
use crate::worker::Builder;
use crate::zones::ZonedWork;
use blocks::Blocks;
use cycles::Cycles;
use iolog::Iolog;
use latency::{DepthSearch, MaxLatency};
use logs::Logging;
use numbered::Numbered;
use plan::{Medium, Worker};
use priorities::ByPriority;
use reads::Consumer;
use record::Direction;
use replay::Replayed;
use shared::SharedCursor;
use steady::SteadyLatency;
use tracer::Tracer;
use verify::Verified;
pub(crate) use verify::digest;

/// Something done beside the I/O of a worker. Called once an I/O, so it neither locks nor calls the
/// system where it can be helped; what it does is within the I/O's pause, not within its latency.
pub(crate) trait Chore: Send {
    /// An I/O is handed to the ring.
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        let _ = (op, stamps);
    }

    /// A file is about to be opened or closed, or a loop has ended.
    fn file_step(&mut self, step: Next) {
        let _ = step;
    }

    /// An I/O ended well and as a whole, or a synchronisation did.
    ///
    /// # Errors
    /// What is wrong with it.
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        let _ = (op, stamps, now);
        Ok(())
    }

    /// The worker begins: nothing was issued yet.
    fn begins(&mut self, now: u64) {
        let _ = now;
    }

    /// An I/O moved only a part, or nothing.
    fn fell_short(&mut self, op: &Op, moved: u64) {
        let _ = (op, moved);
    }

    /// The ramp is over: what was seen before does not count.
    fn window_begins(&mut self, now: u64) {
        let _ = now;
    }

    /// The moment it asked for has come, or another one. Returns when it wants to be called again,
    /// from the run's origin. The first call comes before the first I/O.
    ///
    /// # Errors
    /// Why the worker is to end.
    fn tick(&mut self, policy: &mut Policy, now: u64) -> Result<u64, Fault> {
        let _ = (policy, now);
        Ok(u64::MAX)
    }

    /// The worker ended at `now`: what was gathered goes into its record.
    fn gather(self: Box<Self>, now: u64, builder: &mut Builder<'_>);
}

/// What gives a worker its I/O.
enum Work {
    /// Cycles of something that has neither place nor length.
    Cycles(Cycles),
    /// Drawn from the job's options.
    Drawn(Box<Workload>),
    /// The next block that no clone of the job has taken.
    Shared(SharedCursor),
    /// What a log lists.
    Replayed(Box<Replayed>),
    /// Drawn likewise, on numbered objects.
    Numbered(Box<Numbered>),
    /// Drawn from the job's options, with content that is checked.
    Verified(Box<Verified>),
    /// Drawn likewise, and placed as zones allow.
    Zoned(Box<ZonedWork>),
}

impl Work {
    fn new(worker: &Worker, shared: &Shared) -> Work {
        if let Some(replay) = &worker.replay {
            return Work::Replayed(Box::new(Replayed::new(replay)));
        }
        if let Some(set) = &worker.numbered {
            return Work::Numbered(Box::new(Numbered::new(worker, set)));
        }
        match (worker.queue.engine.medium(), &worker.zbd) {
            (Medium::Time, _) => Work::Cycles(Cycles::new(worker)),
            (_, Some(zbd)) if worker.verify.is_none() => {
                Work::Zoned(Box::new(ZonedWork::new(worker, zbd, &shared.zones)))
            }
            _ if worker.pattern.shared_cursor => {
                Work::Shared(SharedCursor::new(worker, shared.cursor(worker.job)))
            }
            _ => match Verified::new(worker, &shared.plan.aux_path, &shared.zones) {
                Some(verified) => Work::Verified(Box::new(verified)),
                None => Work::Drawn(Box::new(Workload::new(worker))),
            },
        }
    }
}

/// A worker's I/O with all that is done beside it.
pub(crate) struct Extended {
    work: Work,
    chores: Vec<Box<dyn Chore>>,
    /// What becomes of the data of reads.
    consumer: Option<Consumer>,
}

impl Extended {
    /// What worker `index` of a run, whose ring is asynchronous if `queued`, needs.
    ///
    /// # Errors
    /// Its I/O alone, when it needs nothing else: loops that know nothing of chores do for that.
    pub fn new(
        worker: &Worker,
        shared: &Shared,
        index: usize,
        queued: bool,
    ) -> Result<Extended, Box<Workload>> {
        match Extended::always(worker, shared, index, queued) {
            Extended { work: Work::Drawn(workload), chores, consumer: None }
                if chores.is_empty() =>
            {
                Err(workload)
            }
            extended => Ok(extended),
        }
    }

    /// The same, needed or not.
    pub fn always(worker: &Worker, shared: &Shared, index: usize, queued: bool) -> Extended {
        let work = Work::new(worker, shared);
        let chores = chores(worker, shared, index, queued);
        Extended { work, chores, consumer: Consumer::new(worker) }
    }
}

/// The chores of a worker, in the order they are done.
fn chores(worker: &Worker, shared: &Shared, index: usize, queued: bool) -> Vec<Box<dyn Chore>> {
    fn add<C: Chore + 'static>(all: &mut Vec<Box<dyn Chore>>, chore: Option<C>) {
        all.extend(chore.map(|chore| Box::new(chore) as Box<dyn Chore>));
    }
    let live = &shared.live;
    let logging = |logs| Logging::new(worker, logs, &shared.scribe, index, queued);
    let mut all = Vec::new();
    add(&mut all, worker.logs.as_ref().map(logging));
    add(&mut all, ByPriority::new(worker));
    add(&mut all, worker.counted_blocks.map(|size| Blocks::new(worker, size)));
    add(&mut all, MaxLatency::new(worker));
    let search = DepthSearch::new(worker).map(|search| search.traced(worker, &shared.trace));
    add(&mut all, search);
    add(&mut all, SteadyLatency::new(worker, live, index));
    add(&mut all, Iolog::new(worker));
    add(&mut all, Tracer::new(worker, &shared.trace));
    all
}

impl Source for Extended {
    const EXTENDED: bool = true;

    #[inline(always)]
    fn at_hand(&mut self) -> Option<Op> {
        match &mut self.work {
            Work::Replayed(replayed) => replayed.at_hand(),
            _ => None,
        }
    }

    fn next(&mut self) -> Next {
        let next = match &mut self.work {
            Work::Cycles(cycles) => cycles.next(),
            Work::Drawn(workload) => workload.next(),
            Work::Numbered(numbered) => numbered.next(),
            Work::Shared(cursor) => cursor.next(),
            Work::Zoned(work) => work.next(),
            Work::Replayed(replayed) => replayed.next(),
            Work::Verified(verified) => verified.next(),
        };
        if let Next::Open(_) | Next::Close(_) | Next::LoopEnd = next {
            self.chores.iter_mut().for_each(|chore| chore.file_step(next));
        }
        next
    }

    fn steer(&mut self, direction: Direction) {
        match &mut self.work {
            Work::Cycles(_) | Work::Numbered(_) => {}
            Work::Drawn(workload) => workload.steer(direction),
            Work::Shared(cursor) => cursor.steer(direction),
            Work::Zoned(work) => work.steer(direction),
            // The log says which way it goes.
            Work::Replayed(_) => {}
            Work::Verified(verified) => verified.steer(direction),
        }
    }

    fn completed(&mut self, op: &Op, moved: u64) {
        match &mut self.work {
            Work::Cycles(_) => {}
            Work::Drawn(workload) => workload.completed(op, moved),
            Work::Numbered(numbered) => numbered.completed(op, moved),
            Work::Shared(cursor) => cursor.completed(op, moved),
            Work::Zoned(work) => work.completed(op, moved),
            Work::Replayed(_) => {}
            Work::Verified(verified) => verified.completed(op, moved),
        }
    }

    fn intended(&self, op: &Op) -> Option<u64> {
        match &self.work {
            Work::Replayed(replayed) => replayed.intended(op),
            Work::Numbered(numbered) => numbered.intended(),
            _ => None,
        }
    }

    fn fill(&mut self, op: &Op, buffer: &mut [u8]) -> bool {
        match &mut self.work {
            Work::Verified(verified) => verified.fill(op, buffer),
            _ => false,
        }
    }

    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        match &mut self.work {
            Work::Replayed(replayed) => replayed.issued(stamps),
            Work::Numbered(numbered) => numbered.issued(op),
            Work::Verified(verified) => verified.issued(op, stamps),
            _ => {}
        }
        self.chores.iter_mut().for_each(|chore| chore.issued(op, stamps));
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
        let of_work = match &mut self.work {
            Work::Numbered(numbered) => {
                numbered.ended(op);
                Ok(())
            }
            Work::Verified(verified) => verified.ended(op, buffer, stamps, now),
            _ => Ok(()),
        };
        let of_chores = self.chores.iter_mut().try_for_each(|chore| chore.ended(op, stamps, now));
        of_work.and(of_chores)
    }

    fn part(&mut self, op: &Op, buffer: &mut [u8]) -> Result<(), Fault> {
        match &mut self.work {
            Work::Verified(verified) => verified.part(op, buffer),
            _ => Ok(()),
        }
    }

    fn beyond_end(&mut self, op: &Op) -> Option<Fault> {
        match &mut self.work {
            Work::Verified(verified) => verified.beyond_end(op),
            _ => None,
        }
    }

    fn goes_on(&mut self) -> bool {
        match &mut self.work {
            Work::Verified(verified) => verified.goes_on(),
            _ => false,
        }
    }

    fn begins(&mut self, now: u64) {
        if let Work::Numbered(numbered) = &mut self.work {
            numbered.begins(now);
        }
        self.chores.iter_mut().for_each(|chore| chore.begins(now));
    }

    fn fell_short(&mut self, op: &Op, moved: u64) {
        self.chores.iter_mut().for_each(|chore| chore.fell_short(op, moved));
    }

    fn window_begins(&mut self, now: u64) {
        match &mut self.work {
            Work::Verified(verified) => verified.window_begins(now),
            Work::Zoned(work) => work.window_begins(now),
            _ => {}
        }
        self.chores.iter_mut().for_each(|chore| chore.window_begins(now));
    }

    fn tick(&mut self, policy: &mut Policy, now: u64) -> Result<u64, Fault> {
        if let Work::Replayed(replayed) = &mut self.work {
            replayed.begin(now);
        }
        let mut next = u64::MAX;
        for chore in &mut self.chores {
            next = next.min(chore.tick(policy, now)?);
        }
        Ok(next)
    }
}

/// A source that may have gathered something for the record.
pub(crate) trait Gathering: Source {
    /// The worker ended at `now`.
    fn gather(self, now: u64, builder: &mut Builder<'_>);
}

impl Gathering for Workload {
    fn gather(self, _: u64, _: &mut Builder<'_>) {}
}

impl Gathering for Extended {
    fn gather(self, now: u64, builder: &mut Builder<'_>) {
        match self.work {
            Work::Replayed(replayed) => replayed.gather(builder),
            Work::Numbered(numbered) => numbered.gather(builder),
            Work::Verified(verified) => verified.gather(builder),
            Work::Zoned(work) => work.gather(builder),
            _ => {}
        }
        self.chores.into_iter().for_each(|chore| chore.gather(now, builder));
    }
}
