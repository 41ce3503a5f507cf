//! The work whose content is checked: anywhere, or where zones allow.

use crate::ops::{Next, Op, Source};
use crate::source::Workload;
use crate::worker::Builder;
use crate::zones::{ZonedTargets, ZonedWork};
use plan::Worker;
use record::Direction;

/// I/O as it is drawn.
pub(super) enum Drawn {
    /// It goes where it was drawn.
    Anywhere(Box<Workload>),
    /// It goes where its zone goes on.
    InZones(Box<ZonedWork>),
}

impl Drawn {
    pub fn new(worker: &Worker, zones: &ZonedTargets) -> Drawn {
        match &worker.zbd {
            None => Drawn::Anywhere(Box::new(Workload::new(worker))),
            Some(plan) => Drawn::InZones(Box::new(ZonedWork::new(worker, plan, zones))),
        }
    }

    /// The work as it is, to go through it again; `None` where it depends on more than itself.
    pub fn again(&self) -> Option<Box<Workload>> {
        match self {
            Drawn::Anywhere(work) => Some(work.clone()),
            Drawn::InZones(_) => None,
        }
    }

    pub fn next(&mut self) -> Next {
        match self {
            Drawn::Anywhere(work) => work.next(),
            Drawn::InZones(work) => work.next(),
        }
    }

    /// A zone that was emptied on the way to the last step; asked until there is none.
    pub fn emptied(&mut self) -> Option<Op> {
        match self {
            Drawn::Anywhere(_) => None,
            Drawn::InZones(work) => work.emptied(),
        }
    }

    pub fn steer(&mut self, direction: Direction) {
        match self {
            Drawn::Anywhere(work) => work.steer(direction),
            Drawn::InZones(work) => work.steer(direction),
        }
    }

    pub fn completed(&mut self, op: &Op, moved: u64) {
        match self {
            Drawn::Anywhere(work) => work.completed(op, moved),
            Drawn::InZones(work) => work.completed(op, moved),
        }
    }

    pub fn window_begins(&mut self, now: u64) {
        if let Drawn::InZones(work) = self {
            work.window_begins(now);
        }
    }

    pub fn gather(&self, builder: &mut Builder<'_>) {
        if let Drawn::InZones(work) = self {
            work.gather(builder);
        }
    }
}
