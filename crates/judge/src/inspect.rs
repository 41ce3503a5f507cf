//! The storage stack below a path and what it means for a benchmark, before any I/O.
//!
//! Fourteen questions, each answered by what was found, one sentence on what it means here, and
//! what to decide. Nothing is measured: what only a run shows (how busy CPUs and devices are, what a
//! cache served) is replaced by what is known beforehand.

mod cache;
mod cpu;
mod device;
mod filesystem;
mod health;
mod queue;
mod section;
mod view;

pub use section::{Mark, Row, Section};

use crate::durability::{Durability, durability, durability_reason};
use record::Facts;
use view::View;

/// The inspection of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The path as it was named.
    pub target: String,
    /// Filesystem and devices from the top to the bottom: "ext4", "dm-0", "nvme0n1p2", "nvme0n1".
    pub stack: Vec<String>,
    /// What a completed write is worth.
    pub durability: Durability,
    /// Why.
    pub durability_reason: String,
    /// The fourteen sections, by number.
    pub sections: Vec<Section>,
    /// What is unknown.
    pub unknown: Vec<String>,
    /// What root can see in addition.
    pub as_root: Vec<String>,
}

/// What the facts say of a target, by the path they know it by.
pub fn inspect(facts: &Facts, target: &str) -> Inspection {
    let view = View::new(facts, target);
    let mut stack: Vec<String> = view.filesystem().map(|f| f.kind.clone()).into_iter().collect();
    stack.extend(view.stack.iter().map(|device| device.name.clone()));
    Inspection {
        target: target.to_owned(),
        stack,
        durability: durability(facts, target),
        durability_reason: durability_reason(facts, target),
        sections: vec![
            device::device(&view),
            queue::scheduler(&view),
            device::blocks(&view),
            filesystem::mount(&view),
            filesystem::write_cache(&view),
            health::temperature(&view),
            cache::direct(&view),
            cache::buffered(&view),
            cpu::percentiles(&view),
            cpu::processors(&view),
            queue::limits(&view),
            health::errors(&view),
            health::state(&view),
            filesystem::discard(&view),
        ],
        unknown: facts.unknown.iter().filter(|text| !for_root(text)).cloned().collect(),
        as_root: as_root(&view),
    }
}

/// Whether something is unknown because only root may read it.
fn for_root(unknown: &str) -> bool {
    unknown.contains(Facts::ROOT_ONLY)
}

fn as_root(view: &View) -> Vec<String> {
    let mut more: Vec<String> =
        view.facts.unknown.iter().filter(|text| for_root(text)).cloned().collect();
    if view.is_device() && !view.target.readable && !view.facts.environment.is_root {
        more.push(format!("{}: {} read what it holds", view.path, Facts::ROOT_ONLY));
    }
    more
}
