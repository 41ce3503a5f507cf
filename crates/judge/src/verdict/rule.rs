//! What the rules of verdicts share: their evidence, their outcome, and thresholds.

use super::indicators::Indicators;
use super::limit::{Confidence, Limit};
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::{DeviceFacts, Sentence, Severity};

/// A worker that needs a CPU all the time, edges of the window apart.
pub(super) const CPU_BOUND: f64 = 0.9;
/// Most of the time.
pub(super) const MOST: f64 = 0.7;
/// Half of the time.
pub(super) const HALF: f64 = 0.5;

/// The limit that a rule found.
pub(super) struct RuleOutcome {
    pub(super) limit: Limit,
    pub(super) confidence: Confidence,
    pub(super) because: Sentence,
    pub(super) figures: Vec<Figure>,
}

impl RuleOutcome {
    pub(super) fn new(
        limit: Limit,
        confidence: Confidence,
        because: impl Into<Sentence>,
        figures: impl Into<Vec<Figure>>,
    ) -> RuleOutcome {
        RuleOutcome { limit, confidence, because: because.into(), figures: figures.into() }
    }
}

/// The evidence that rules use.
pub(super) struct RuleInput<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) part: &'a Part<'a>,
    pub(super) findings: &'a [&'a Finding],
    pub(super) indicators: Indicators,
}

impl RuleInput<'_> {
    pub(super) fn found(&self, check: &str, least: Severity) -> Option<&Finding> {
        let is_wanted = |f: &&&Finding| f.check == check && f.severity >= least;
        self.findings.iter().find(is_wanted).copied()
    }

    /// Polling keeps a worker on its CPU whatever limits it.
    pub(super) fn polls(&self) -> bool {
        ["hipri", "sqthread_poll"].iter().any(|name| self.part.setting(name).is_some())
    }

    /// Settings that make the load generator work for each I/O.
    pub(super) fn own_work(&self) -> Option<&'static str> {
        const WORK: [&str; 5] = [
            "thinktime_ns",
            "refill_buffers",
            "buffer_compress_percentage",
            "dedupe_percentage",
            "verify",
        ];
        WORK.into_iter().find(|name| self.part.setting(name).is_some())
    }

    /// A CPU figure for the outcomes that show one.
    pub(super) fn cpu_figure(&self) -> Figure {
        Figure::new("workers' time on a CPU", self.indicators.on_cpu * 100.0, "percent")
    }

    pub(super) fn latency_figure(&self) -> Figure {
        Figure::new("mean latency", self.indicators.latency_ns, "ns")
    }

    /// Whether all of the lowest devices are memory.
    pub(super) fn device_is_memory(&self) -> bool {
        self.all_devices(DeviceFacts::is_memory)
    }

    /// Whether all of the lowest devices have a property.
    pub(super) fn all_devices(&self, is: impl Fn(&DeviceFacts) -> bool) -> bool {
        let disks = self.case.disks_of(self.part);
        !disks.is_empty() && disks.iter().all(|disk| is(disk))
    }
}
