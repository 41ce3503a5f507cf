//! When the next I/O may start: at once, or when its schedule, a pause or a lock allows.

mod flow;
mod in_flight;
mod paced;
mod schedule;

pub use flow::Flows;
pub use paced::{GateContext, PacedGate, is_steered};
pub use schedule::Schedule;

use crate::hot::op::Op;
use record::Direction;

/// What a gate says to an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Issue it now. `intended` is when it was due, `None` without a schedule.
    Now {
        /// From the run's origin, in nanoseconds.
        intended: Option<u64>,
    },
    /// Not before `until`; completions may be taken meanwhile.
    Wait {
        /// From the run's origin, in nanoseconds.
        until: u64,
    },
    /// Wait until something that is in flight has ended, then ask again.
    Busy,
    /// Wait until nothing is in flight, then ask again.
    Drain,
}

/// Decides when I/O may start.
pub trait Gate {
    /// Which way the next I/O of a mix has to go; `None`: as the mix draws.
    #[inline(always)]
    fn turn(&self, now: u64) -> Option<Direction> {
        let _ = now;
        None
    }

    /// Asked until it answers [`Admit::Now`] for an I/O; only then the next is asked about.
    fn admit(&mut self, op: &Op, in_flight: u32, now: u64) -> Admit;

    /// The ring had no room for the I/O that was just admitted: it will be asked about again.
    fn take_back(&mut self, op: &Op, intended: Option<u64>);

    /// An I/O ended, as a whole, in part or with an error.
    fn completed(&mut self, op: &Op);
}

/// Always open.
pub struct OpenGate;

impl Gate for OpenGate {
    #[inline(always)]
    fn admit(&mut self, _: &Op, _: u32, _: u64) -> Admit {
        Admit::Now { intended: None }
    }

    #[inline(always)]
    fn take_back(&mut self, _: &Op, _: Option<u64>) {}

    #[inline(always)]
    fn completed(&mut self, _: &Op) {}
}
