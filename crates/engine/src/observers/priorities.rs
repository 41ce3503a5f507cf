//! Latency by I/O priority, for workers that use several.

use super::IoObserver;
use crate::engines::priority::IoPriorities;
use crate::hot::op::{Fault, Op, OpKind};
use crate::job_record::{JobRecordBuilder, default_priority};
use crate::meter::Stamps;
use plan::{Engine, Worker};
use record::{Direction, PerDirection, PriorityResult};

/// Draws the same priorities as the ring and keeps each until its I/O ends.
pub(crate) struct PriorityLatency {
    draw: IoPriorities,
    /// I/Os in flight: ready stamp and offset, which identify them, and priority.
    in_flight: Vec<(u64, u64, u16)>,
    in_flight_max: usize,
    /// Record lat instead of clat.
    total: bool,
    results: PerDirection<Vec<PriorityResult>>,
}

impl PriorityLatency {
    /// `None` if all I/Os have the same priority, or the engine supports none.
    pub fn new(worker: &Worker) -> Option<PriorityLatency> {
        let queue = &worker.queue;
        let draw = IoPriorities::new(&queue.options, default_priority(worker));
        let supported = matches!(queue.engine, Engine::Libaio | Engine::IoUring);
        (supported && draw.differ()).then(|| PriorityLatency {
            draw,
            in_flight: Vec::new(),
            in_flight_max: 2 * queue.depth as usize,
            total: worker.show.lat_percentiles,
            results: PerDirection::default(),
        })
    }

    fn add(&mut self, direction: Direction, priority: u16, latency: u64) {
        let results = &mut self.results[direction];
        match results.iter_mut().find(|result| result.priority == priority) {
            Some(result) => result.latency.record(latency),
            None => {
                let mut result = PriorityResult { priority, ..PriorityResult::default() };
                result.latency.record(latency);
                results.push(result);
            }
        }
    }
}

impl IoObserver for PriorityLatency {
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        if let OpKind::Read | OpKind::Write = op.kind {
            if self.in_flight.len() >= self.in_flight_max {
                // The oldest one failed: it cannot outlast twice the depth.
                self.in_flight.remove(0);
            }
            let priority = self.draw.next(op.kind, op.length);
            self.in_flight.push((stamps.ready, op.offset, priority));
        }
    }

    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        let Some(direction) = op.kind.direction() else { return Ok(()) };
        let this = |io: &(u64, u64, u16)| (io.0, io.1) == (stamps.ready, op.offset);
        if let Some(place) = self.in_flight.iter().position(this) {
            let (_, _, priority) = self.in_flight.remove(place);
            let begun = if self.total { stamps.ready } else { stamps.issued };
            self.add(direction, priority, now.saturating_sub(begun));
        }
        Ok(())
    }

    fn window_started(&mut self, _: u64) {
        self.results = PerDirection::default();
    }

    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        for direction in Direction::ALL {
            let prios = std::mem::take(&mut self.results[direction]);
            builder.job.results[direction].prios = prios;
        }
    }
}
