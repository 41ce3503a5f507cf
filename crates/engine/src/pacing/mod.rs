//! When the next I/O may start: at once, or when its schedule, a pause or a lock allows.

mod flow;
mod in_flight;
mod paced;
mod schedule;
mod think;

pub use flow::Flows;
pub use paced::{GateContext, PacedGate, is_steered};
pub use schedule::Schedule;

use crate::hot::op::Op;
use record::Direction;

/// The answer of [`Gate::admit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Issue the I/O now. `intended` is when it was due; `None` without a schedule.
    Now {
        /// From the run's origin, in nanoseconds.
        intended: Option<u64>,
    },
    /// Ask again at `until`; completions may be taken meanwhile.
    Wait {
        /// From the run's origin, in nanoseconds.
        until: u64,
    },
    /// Ask again when an I/O in flight has ended.
    Busy,
    /// Ask again when nothing is in flight.
    Drain,
}

/// Decides when I/O may start.
pub trait Gate {
    /// The direction of the next I/O of a mix; `None`: as the mix draws.
    #[inline(always)]
    fn turn(&self, now: u64) -> Option<Direction> {
        let _ = now;
        None
    }

    /// Called for one I/O until it returns [`Admit::Now`], and only then for the next.
    fn admit(&mut self, op: &Op, in_flight: u32, now: u64) -> Admit;

    /// The ring had no room for the I/O that was just admitted. `admit` will be called for it again.
    fn take_back(&mut self, op: &Op, intended: Option<u64>);

    /// An I/O ended: wholly, in part or with an error.
    fn completed(&mut self, op: &Op);
}

/// A gate that admits every I/O at once.
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
