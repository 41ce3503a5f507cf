//! What a path is made of and what that means for a benchmark, before any I/O.
//!
//! Fourteen questions, each answered by what was found, one sentence on what it means here, and
//! what to decide. Nothing is measured: what only a run shows (how busy CPUs and devices are, what a
//! cache served) becomes what can be told beforehand.

mod cache;
mod cpu;
mod device;
mod filesystem;
mod health;
mod queue;
mod view;
mod words;

use crate::durability::{Durability, durability, durability_reason};
use record::Facts;
use view::View;

/// How a row is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Nothing to do.
    #[default]
    Ok,
    /// Worth knowing before a figure is believed.
    Look,
    /// Makes a figure wrong, or worthless for most questions.
    Problem,
}

impl Mark {
    /// As it is written: "ok", "look", "problem".
    pub fn name(self) -> &'static str {
        match self {
            Mark::Ok => "ok",
            Mark::Look => "look",
            Mark::Problem => "problem",
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is about ("vda", "temperature").
    pub label: String,
    /// What was found.
    pub value: String,
    /// How to read it.
    pub mark: Mark,
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its number, 1 to 14.
    pub number: u32,
    /// One word for programs ("scheduler").
    pub id: &'static str,
    /// A heading.
    pub title: &'static str,
    /// What was found.
    pub rows: Vec<Row>,
    /// What that means for a benchmark, in a sentence.
    pub means: String,
    /// What to decide or do, in a sentence.
    pub decide: String,
}

impl Section {
    /// The gravest mark of its rows.
    pub fn mark(&self) -> Mark {
        self.rows.iter().map(|row| row.mark).max().unwrap_or_default()
    }
}

/// Everything there is to say of a path before a benchmark.
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
    /// What could not be found out.
    pub unknown: Vec<String>,
    /// What root would be told besides.
    pub as_root: Vec<String>,
}

/// What the facts say of a target, by the path they know it by.
pub fn inspect(facts: &Facts, target: &str) -> Inspection {
    let view = View::of(facts, target);
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

/// Whether something is unknown because only root may know it.
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
