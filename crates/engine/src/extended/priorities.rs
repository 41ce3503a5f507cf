//! Latency by I/O priority, where not all I/Os of a worker have the same.

use super::Chore;
use crate::engines::priority::IoPriorities;
use crate::meter::Stamps;
use crate::ops::{Fault, Op, OpKind};
use crate::worker::{Builder, usual_priority};
use plan::{Engine, Worker};
use record::{Direction, PerDirection, PriorityResult};

/// Draws beside the ring what the ring draws, and keeps it until the I/O ends.
pub(super) struct ByPriority {
    draw: IoPriorities,
    /// I/Os in flight: when they were ready and where they go, which no two share, and their
    /// priority.
    in_flight: Vec<(u64, u64, u16)>,
    most: usize,
    total: bool,
    results: PerDirection<Vec<PriorityResult>>,
}

impl ByPriority {
    /// `None` when all I/Os of the worker have the same priority, or its engine knows none.
    pub fn new(worker: &Worker) -> Option<ByPriority> {
        let queue = &worker.queue;
        let draw = IoPriorities::new(&queue.options, usual_priority(worker));
        let knows = matches!(queue.engine, Engine::Libaio | Engine::IoUring);
        (knows && draw.differ()).then(|| ByPriority {
            draw,
            in_flight: Vec::new(),
            most: 2 * queue.depth as usize,
            total: worker.show.lat_percentiles,
            results: PerDirection::default(),
        })
    }

    fn record(&mut self, direction: Direction, priority: u16, latency: u64) {
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

impl Chore for ByPriority {
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        if let OpKind::Read | OpKind::Write = op.kind {
            if self.in_flight.len() >= self.most {
                // It failed: no I/O lasts while twice the depth are begun.
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
            self.record(direction, priority, now.saturating_sub(begun));
        }
        Ok(())
    }

    fn window_begins(&mut self, _: u64) {
        self.results = PerDirection::default();
    }

    fn gather(mut self: Box<Self>, _: u64, builder: &mut Builder<'_>) {
        for direction in Direction::ALL {
            builder.by_priority(direction, std::mem::take(&mut self.results[direction]));
        }
    }
}
