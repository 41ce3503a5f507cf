//! A gate with a schedule, pauses, locks or an eye on what is in flight.

use super::flow::Flow;
use super::in_flight::InFlight;
use super::schedule::Schedule;
use super::{Admit, Flows, Gate};
use crate::files::FileLocks;
use crate::hot::op::{Op, UNPACED};
use plan::{ThinkTime, Worker};
use record::Direction;

/// What a gate needs to know beside its worker.
pub struct GateContext<'a> {
    /// The flows of the run.
    pub flows: &'a Flows,
    /// Length of a CPU cycle, for `thinkcycles`.
    pub cycle_ns: f64,
}

/// Holds I/O back for rate, thinktime, thinkcycles, flow, lockfile and serialize_overlap.
pub struct PacedGate {
    schedule: Option<Schedule>,
    think: Option<Think>,
    work: Option<Work>,
    flow: Option<Flow>,
    locks: Option<FileLocks>,
    in_flight: Option<InFlight>,
    // The first I/O is due when it is first asked about: the schedule counts from there.
    origin: Option<u64>,
    // What the schedule said of the I/O that is held back: it is asked once an I/O.
    due: Option<Option<u64>>,
    mixed: bool,
}

impl PacedGate {
    /// The gate `worker` needs; `None` when nothing holds its I/O back.
    pub fn new(worker: &Worker, around: &GateContext<'_>) -> Option<PacedGate> {
        let gate = PacedGate::always(worker, around);
        let paces = gate.schedule.is_some() || gate.think.is_some() || gate.work.is_some();
        let waits = gate.locks.is_some() || gate.in_flight.is_some();
        (paces || waits || gate.flow.is_some()).then_some(gate)
    }

    /// The same, also where nothing holds anything back.
    pub fn always(worker: &Worker, around: &GateContext<'_>) -> PacedGate {
        let schedule = Schedule::new(&worker.pacing, worker.pattern.seed);
        let think = Think::new(&worker.pacing.think, worker.pacing.ignore_thinktime);
        let work = Work::new(worker.pacing.think.cycles, around.cycle_ns);
        let flow = around.flows.join(worker);
        let locks = FileLocks::new(worker);
        let mixed = is_steered(worker);
        // One at a time cannot overlap; what is offloaded waits in its thread, for other workers too.
        let alone = worker.queue.depth == 1 || worker.queue.offload;
        let serializes = worker.placing.serialize_overlap && !alone;
        let in_flight = serializes.then(|| InFlight::new(worker.queue.depth));
        PacedGate { schedule, think, work, flow, locks, in_flight, origin: None, due: None, mixed }
    }

    /// Whether I/O has an intended start.
    pub fn is_scheduled(&self) -> bool {
        self.schedule.is_some()
    }
}

impl PacedGate {
    /// Takes the place in flight and the lock of the file; what to do where another has them.
    fn lock(&mut self, op: &Op) -> Option<Admit> {
        if let Some(others) = &mut self.in_flight
            && !others.enter(op)
        {
            return Some(Admit::Busy);
        }
        if let Some(locks) = &mut self.locks
            && !locks.acquire(op)
        {
            if let Some(others) = &mut self.in_flight {
                others.leave(op);
            }
            return Some(Admit::Drain);
        }
        None
    }

    /// What was held for an I/O is free again.
    fn unlock(&mut self, op: &Op) {
        if let Some(others) = &mut self.in_flight {
            others.leave(op);
        }
        if let Some(locks) = &mut self.locks {
            locks.release(op);
        }
    }
}

/// Whether the rates of a mix of reads and writes decide which comes next.
pub fn is_steered(worker: &Worker) -> bool {
    let (rw, limit) = (worker.pattern.rw, &worker.pacing.limit);
    let mixes = rw.reads() && rw.writes() && (1..100).contains(&worker.pattern.mix_read);
    mixes && (limit.read.is_some() || limit.write.is_some())
}

impl Gate for PacedGate {
    /// While one direction is ahead of its rate and the other is not, the other goes; while both
    /// are ahead, the one that is due first. A direction without a rate is always due.
    fn turn(&self, now: u64) -> Option<Direction> {
        let (origin, schedule) = (self.origin?, self.schedule.as_ref().filter(|_| self.mixed)?);
        let due = |d| schedule.due(d).map_or(0, |due| origin + due);
        let (read, write) = (due(Direction::Read), due(Direction::Write));
        match (read <= now, write <= now) {
            (true, true) => None,
            _ if read <= write => Some(Direction::Read),
            _ => Some(Direction::Write),
        }
    }

    fn admit(&mut self, op: &Op, in_flight: u32, now: u64) -> Admit {
        let Some(direction) = op.kind.direction() else {
            return Admit::Now { intended: None };
        };
        if op.tag == UNPACED {
            return self.lock(op).unwrap_or(Admit::Now { intended: None });
        }
        let origin = *self.origin.get_or_insert(now);
        if let Some(work) = &mut self.work
            && work.goes_on(now)
        {
            return Admit::Wait { until: now };
        }
        if let Some(think) = &mut self.think {
            match think.hold(in_flight, now) {
                Pause::None => {}
                Pause::Drain => return Admit::Drain,
                Pause::Until(until) => return Admit::Wait { until },
                Pause::Over(lasted) => {
                    if think.shifts_schedule
                        && let Some(schedule) = &mut self.schedule
                    {
                        schedule.shift(lasted);
                    }
                }
            }
        }
        if let Some(flow) = &mut self.flow
            && let Err(rest) = flow.may_go()
        {
            return Admit::Wait { until: now.saturating_add(rest) };
        }
        let schedule = &mut self.schedule;
        let due = *self.due.get_or_insert_with(|| {
            schedule.as_mut().and_then(|s| s.next(direction, op.length)).map(|t| origin + t)
        });
        if let Some(until) = due.filter(|due| *due > now) {
            return Admit::Wait { until };
        }
        if let Some(held) = self.lock(op) {
            return held;
        }
        self.due = None;
        if let Some(think) = &mut self.think {
            think.issued += 1;
        }
        if let Some(flow) = &mut self.flow {
            flow.goes();
        }
        Admit::Now { intended: due }
    }

    fn take_back(&mut self, op: &Op, intended: Option<u64>) {
        if op.kind.direction().is_none() {
            return;
        }
        self.unlock(op);
        if op.tag == UNPACED {
            return;
        }
        self.due = Some(intended);
        if let Some(flow) = &mut self.flow {
            flow.takes_back();
        }
        if let Some(think) = &mut self.think {
            think.issued -= 1;
        }
    }

    fn completed(&mut self, op: &Op) {
        if op.kind.direction().is_none() {
            return;
        }
        self.unlock(op);
        if op.tag == UNPACED {
            return;
        }
        if let Some(think) = &mut self.think {
            think.completed += 1;
        }
        if let Some(work) = &mut self.work {
            work.owed = work.owed.saturating_add(work.each);
        }
    }
}

/// The computing that `thinkcycles` asks for after each completion. The loop is asked to come back at
/// once all the while, so that it sees the end of the run.
struct Work {
    each: u64,
    owed: u64,
    until: u64,
}

impl Work {
    fn new(cycles: u64, cycle_ns: f64) -> Option<Work> {
        let each = (cycles as f64 * cycle_ns).round() as u64;
        (each > 0).then_some(Work { each, owed: 0, until: 0 })
    }

    fn goes_on(&mut self, now: u64) -> bool {
        let owed = std::mem::take(&mut self.owed);
        if owed > 0 {
            self.until = self.until.max(now).saturating_add(owed);
        }
        now < self.until
    }
}

/// What thinktime says to an I/O.
enum Pause {
    None,
    Drain,
    Until(u64),
    /// A pause that lasted so many nanoseconds is over.
    Over(u64),
}

/// Pauses between I/Os.
struct Think {
    settings: ThinkTime,
    time: u64,
    blocks: u64,
    issued: u64,
    completed: u64,
    counted_at_pause: u64,
    // End of the last pause, or the first I/O: thinktime_iotime counts from there.
    working_since: Option<u64>,
    pause: Option<(u64, u64)>,
    shifts_schedule: bool,
}

impl Think {
    fn new(settings: &ThinkTime, shifts_schedule: bool) -> Option<Think> {
        let time = settings.time?.0;
        (time > 0).then(|| Think {
            time,
            blocks: settings.blocks.unwrap_or(1).max(1),
            settings: settings.clone(),
            issued: 0,
            completed: 0,
            counted_at_pause: 0,
            working_since: None,
            pause: None,
            shifts_schedule,
        })
    }

    fn hold(&mut self, in_flight: u32, now: u64) -> Pause {
        if let Some(pause) = self.rest_of_pause(now) {
            return pause;
        }
        if let Some((from, _)) = self.pause.take() {
            self.working_since = Some(now);
            return Pause::Over(now - from);
        }
        if !self.is_due(now) {
            return Pause::None;
        }
        // As fio has it: I/O in flight ends before the pause begins.
        if in_flight > 0 {
            return Pause::Drain;
        }
        self.counted_at_pause = self.count();
        self.pause = Some((now, now.saturating_add(self.time)));
        self.rest_of_pause(now).unwrap_or(Pause::None)
    }

    /// What is left of the pause at `now`. While it has to spin, it is asked again at once, so that
    /// the end of the run is seen meanwhile.
    fn rest_of_pause(&self, now: u64) -> Option<Pause> {
        let (from, until) = self.pause.filter(|(_, until)| now < *until)?;
        let spins = now < from.saturating_add(self.settings.spin.0);
        Some(Pause::Until(if spins { now } else { until }))
    }

    fn count(&self) -> u64 {
        if self.settings.count_issued { self.issued } else { self.completed }
    }

    /// After so many blocks, or so much time, or whichever of both comes first when both are given.
    fn is_due(&mut self, now: u64) -> bool {
        let since = *self.working_since.get_or_insert(now);
        let by_time = self.settings.iotime.is_some_and(|limit| now - since >= limit.0);
        let counts_blocks = self.settings.iotime.is_none() || self.settings.blocks.is_some();
        by_time || (counts_blocks && self.count() - self.counted_at_pause >= self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::op::OpKind;
    use record::Nanos;

    fn think(settings: ThinkTime) -> PacedGate {
        let mut worker = Worker::default();
        worker.pacing.think = settings;
        gate(&worker).unwrap()
    }

    fn gate(worker: &Worker) -> Option<PacedGate> {
        PacedGate::new(worker, &GateContext { flows: &Flows::default(), cycle_ns: 0.5 })
    }

    const OP: Op = Op { kind: OpKind::Read, file: 0, offset: 0, length: 4096, tag: 0 };

    fn issue(gate: &mut PacedGate, now: u64) {
        assert_eq!(gate.admit(&OP, 0, now), Admit::Now { intended: None });
        gate.completed(&OP);
    }

    #[test]
    fn a_worker_without_limits_needs_no_gate() {
        assert!(gate(&Worker::default()).is_none());
    }

    #[test]
    fn pauses_come_after_the_number_of_blocks_and_last_their_time() {
        let settings =
            ThinkTime { time: Some(Nanos(1000)), blocks: Some(2), ..ThinkTime::default() };
        let mut gate = think(settings);
        issue(&mut gate, 0);
        issue(&mut gate, 10);
        assert_eq!(gate.admit(&OP, 1, 20), Admit::Drain);
        assert_eq!(gate.admit(&OP, 0, 30), Admit::Wait { until: 1030 });
        assert_eq!(gate.admit(&OP, 0, 1029), Admit::Wait { until: 1030 });
        issue(&mut gate, 1030);
        issue(&mut gate, 1040);
        assert_eq!(gate.admit(&OP, 0, 1050), Admit::Wait { until: 2050 });
    }

    #[test]
    fn a_pause_spins_without_keeping_the_loop_from_its_end() {
        let settings =
            ThinkTime { time: Some(Nanos(1000)), spin: Nanos(400), ..ThinkTime::default() };
        let mut gate = think(settings);
        issue(&mut gate, 0);
        assert_eq!(gate.admit(&OP, 0, 10), Admit::Wait { until: 10 });
        assert_eq!(gate.admit(&OP, 0, 409), Admit::Wait { until: 409 });
        assert_eq!(gate.admit(&OP, 0, 410), Admit::Wait { until: 1010 });
        issue(&mut gate, 1010);
    }

    #[test]
    fn cycles_are_spent_after_each_completion_and_beside_pauses() {
        let mut gate = think(ThinkTime { cycles: 600, ..ThinkTime::default() });
        issue(&mut gate, 0);
        assert_eq!(gate.admit(&OP, 0, 10), Admit::Wait { until: 10 });
        assert_eq!(gate.admit(&OP, 0, 309), Admit::Wait { until: 309 });
        issue(&mut gate, 310);
        let settings = ThinkTime { time: Some(Nanos(1000)), cycles: 600, ..ThinkTime::default() };
        let mut gate = think(settings);
        issue(&mut gate, 0);
        assert_eq!(gate.admit(&OP, 0, 10), Admit::Wait { until: 10 });
        assert_eq!(gate.admit(&OP, 0, 310), Admit::Wait { until: 1310 });
    }

    #[test]
    fn pauses_are_not_made_up_for_where_the_schedule_shifts() {
        for (ignore, due) in [(false, 2_000_000), (true, 12_000_000)] {
            let mut worker = Worker::default();
            worker.pacing.limit.read = Some(plan::RateLimit::Iops(1000));
            worker.pacing.ignore_thinktime = ignore;
            worker.pacing.think = ThinkTime {
                time: Some(Nanos(10_000_000)),
                blocks: Some(2),
                ..ThinkTime::default()
            };
            let mut gate = gate(&worker).unwrap();
            for now in [0, 1_000_000] {
                assert_eq!(gate.admit(&OP, 0, now), Admit::Now { intended: Some(now) });
                gate.completed(&OP);
            }
            assert_eq!(gate.admit(&OP, 0, 1_000_000), Admit::Wait { until: 11_000_000 });
            match gate.admit(&OP, 0, 11_000_000) {
                Admit::Now { intended } => assert_eq!((ignore, intended), (false, Some(due))),
                wait => assert_eq!((ignore, wait), (true, Admit::Wait { until: due })),
            }
        }
    }

    #[test]
    fn what_is_taken_back_keeps_its_place_in_the_schedule() {
        let mut worker = Worker::default();
        worker.pacing.limit.read = Some(plan::RateLimit::Iops(1000));
        let mut gate = gate(&worker).unwrap();
        assert_eq!(gate.admit(&OP, 0, 5), Admit::Now { intended: Some(5) });
        let second = Admit::Now { intended: Some(1_000_005) };
        assert_eq!(gate.admit(&OP, 0, 1_000_010), second);
        gate.take_back(&OP, Some(1_000_005));
        assert_eq!(gate.admit(&OP, 0, 1_000_020), second);
        assert_eq!(gate.admit(&OP, 0, 1_000_030), Admit::Wait { until: 2_000_005 });
    }

    #[test]
    fn overlapping_io_waits_for_what_is_in_flight() {
        let mut worker = Worker::default();
        worker.queue.depth = 2;
        worker.placing.serialize_overlap = true;
        let mut gate = gate(&worker).unwrap();
        assert_eq!(gate.admit(&OP, 0, 0), Admit::Now { intended: None });
        assert_eq!(gate.admit(&OP, 1, 1), Admit::Busy);
        gate.completed(&OP);
        assert_eq!(gate.admit(&OP, 0, 2), Admit::Now { intended: None });
        gate.take_back(&OP, None);
        assert_eq!(gate.admit(&OP, 0, 3), Admit::Now { intended: None });
    }

    #[test]
    fn iotime_alone_counts_no_blocks() {
        let settings =
            ThinkTime { time: Some(Nanos(1000)), iotime: Some(Nanos(500)), ..ThinkTime::default() };
        let mut gate = think(settings);
        (0..50).for_each(|i| issue(&mut gate, i * 10));
        assert_eq!(gate.admit(&OP, 0, 500), Admit::Wait { until: 1500 });
    }
}
