//! The gate of workers with a rate, pauses, a flow, locks or serialised overlaps.

use super::flow::Flow;
use super::in_flight::InFlight;
use super::schedule::Schedule;
use super::think::{Pause, ThinkCycles, ThinkTime};
use super::{Admit, Flows, Gate};
use crate::files::FileLocks;
use crate::hot::op::{Op, UNPACED};
use plan::Worker;
use record::Direction;

/// What a gate needs besides its worker.
pub struct GateContext<'a> {
    /// The flows of the run.
    pub flows: &'a Flows,
    /// Length of a CPU cycle, for `thinkcycles`.
    pub cycle_ns: f64,
}

/// Holds I/O back for rate, thinktime, thinkcycles, flow, lockfile and serialize_overlap.
pub struct PacedGate {
    schedule: Option<Schedule>,
    think_time: Option<ThinkTime>,
    think_cycles: Option<ThinkCycles>,
    flow: Option<Flow>,
    locks: Option<FileLocks>,
    in_flight: Option<InFlight>,
    /// When the first I/O was requested; the schedule counts from there.
    origin: Option<u64>,
    /// The due time of the I/O being held back. The schedule is advanced once per I/O.
    due: Option<Option<u64>>,
    is_steered: bool,
}

impl PacedGate {
    /// The gate of `worker`; `None` if nothing holds its I/O back.
    pub fn new(worker: &Worker, context: &GateContext<'_>) -> Option<PacedGate> {
        let gate = PacedGate::always(worker, context);
        let paces =
            gate.schedule.is_some() || gate.think_time.is_some() || gate.think_cycles.is_some();
        let waits = gate.locks.is_some() || gate.in_flight.is_some();
        (paces || waits || gate.flow.is_some()).then_some(gate)
    }

    /// The gate of `worker`, even if nothing holds its I/O back.
    pub fn always(worker: &Worker, context: &GateContext<'_>) -> PacedGate {
        // At depth 1 nothing overlaps; offloaded I/O waits in its thread, for other workers too.
        let can_overlap = worker.queue.depth > 1 && !worker.queue.offload;
        let serializes = worker.placing.serialize_overlap && can_overlap;
        PacedGate {
            schedule: Schedule::new(&worker.pacing, worker.pattern.seed),
            think_time: ThinkTime::new(&worker.pacing.think, worker.pacing.ignore_thinktime),
            think_cycles: ThinkCycles::new(worker.pacing.think.cycles, context.cycle_ns),
            flow: context.flows.join(worker),
            locks: FileLocks::new(worker),
            in_flight: serializes.then(|| InFlight::new(worker.queue.depth)),
            origin: None,
            due: None,
            is_steered: is_steered(worker),
        }
    }

    /// Whether I/O has an intended start.
    pub fn is_scheduled(&self) -> bool {
        self.schedule.is_some()
    }

    /// Takes the range and the lock of the file; `Some` if another I/O has them.
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

    /// Releases the range and the lock.
    fn unlock(&mut self, op: &Op) {
        if let Some(others) = &mut self.in_flight {
            others.leave(op);
        }
        if let Some(locks) = &mut self.locks {
            locks.release(op);
        }
    }
}

/// Whether the rates of a mix of reads and writes decide the direction of the next I/O.
pub fn is_steered(worker: &Worker) -> bool {
    let (rw, limit) = (worker.pattern.rw, &worker.pacing.limit);
    let mixes = rw.reads() && rw.writes() && (1..100).contains(&worker.pattern.mix_read);
    mixes && (limit.read.is_some() || limit.write.is_some())
}

impl Gate for PacedGate {
    /// If only one direction is due, it is next; if neither is, the one that is due first. A direction
    /// without a rate is always due.
    fn turn(&self, now: u64) -> Option<Direction> {
        let (origin, schedule) =
            (self.origin?, self.schedule.as_ref().filter(|_| self.is_steered)?);
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
        if let Some(cycles) = &mut self.think_cycles
            && cycles.are_due(now)
        {
            return Admit::Wait { until: now };
        }
        if let Some(think) = &mut self.think_time {
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
        if let Some(think) = &mut self.think_time {
            think.issued += 1;
        }
        if let Some(flow) = &mut self.flow {
            flow.count();
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
            flow.uncount();
        }
        if let Some(think) = &mut self.think_time {
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
        if let Some(think) = &mut self.think_time {
            think.completed += 1;
        }
        if let Some(cycles) = &mut self.think_cycles {
            cycles.add();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::op::OpKind;
    use plan::ThinkTime;
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
    fn a_worker_without_limits_has_no_gate() {
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

    /// I/Os in flight when a pause becomes due count for the next one.
    #[test]
    fn pauses_after_each_block_leave_one_io_in_flight() {
        let mut gate = think(ThinkTime { time: Some(Nanos(1000)), ..ThinkTime::default() });
        for in_flight in 0..8 {
            assert_eq!(gate.admit(&OP, in_flight, 0), Admit::Now { intended: None });
        }
        gate.completed(&OP);
        assert_eq!(gate.admit(&OP, 7, 10), Admit::Drain);
        (0..7).for_each(|_| gate.completed(&OP));
        for begin in [20, 2000] {
            assert_eq!(gate.admit(&OP, 0, begin), Admit::Wait { until: begin + 1000 });
            assert_eq!(gate.admit(&OP, 0, begin + 1000), Admit::Now { intended: None });
            assert_eq!(gate.admit(&OP, 1, begin + 1001), Admit::Drain);
            gate.completed(&OP);
        }
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
    fn cycles_are_spent_after_each_completion_in_addition_to_pauses() {
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
    fn pauses_are_not_caught_up_if_the_schedule_shifts() {
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
    fn io_that_was_not_accepted_keeps_its_place_in_the_schedule() {
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
    fn io_waits_for_overlapping_io_in_flight() {
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
