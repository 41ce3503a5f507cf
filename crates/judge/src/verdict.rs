//! What limited a job, how sure that is, and what its number may be used for.

use crate::case::Case;
use crate::finding::{Figure, Finding};

/// What a job could not go beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// The storage device, its queue or its medium.
    Device,
    /// The processors.
    Cpu,
    /// Memory: the device was not asked.
    Cache,
    /// The load generator itself: filling buffers, verifying, keeping a schedule.
    Client,
    /// A limit that somebody set: control group, cloud quota, heat.
    Throttle,
    /// The rate the job asks for.
    Rate,
    /// Nothing in the evidence decides it.
    Unknown,
}

impl Limit {
    /// As it is printed: "device", "CPU" …
    pub fn name(self) -> &'static str {
        match self {
            Limit::Device => "device",
            Limit::Cpu => "CPU",
            Limit::Cache => "cache",
            Limit::Client => "client",
            Limit::Throttle => "throttle",
            Limit::Rate => "rate",
            Limit::Unknown => "unknown",
        }
    }
}

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// One sign, or signs that disagree.
    Low,
    /// The signs agree, but one that would decide is missing.
    Medium,
    /// The deciding figures are there and clear.
    High,
}

impl Confidence {
    /// As it is printed: "low", "medium", "high".
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// The verdict on one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The job.
    pub job: String,
    /// What limited it.
    pub limit: Limit,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why, in one sentence with the deciding figures.
    pub because: String,
    /// The two or three figures that decide it.
    pub figures: Vec<Figure>,
    /// What the number may be used for, in one sentence.
    pub use_for: String,
}

/// The verdict on every part of a run.
pub(crate) fn of(_case: &Case, _findings: &[Finding]) -> Vec<Verdict> {
    Vec::new()
}
