//! What ends a worker by its figures, or steers it: flow, latency, steadiness.

use crate::model::Worker;
use crate::problem::Findings;
use job::{Job, SteadyCriterion, SteadyLimit};
use record::{Nanos, PerDirection};

/// What ends a worker by its figures, or steers it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Its part in a flow, if it has one.
    pub flow: Option<FlowPart>,
    /// An I/O that takes longer ends it, per direction.
    pub max_latency: PerDirection<Option<Nanos>>,
    /// The latency its depth is to keep.
    pub latency: Option<LatencySearch>,
    /// When it is steady.
    pub steady: Option<SteadyWatch>,
}

/// A part in a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowPart {
    /// Workers of one id share a flow.
    pub id: u64,
    /// Its share against theirs; at least 1.
    pub weight: u64,
    /// Pause when it is ahead; 0: it tries again at once.
    pub sleep: Nanos,
}

/// The search for the greatest depth that keeps a latency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencySearch {
    /// The latency to keep.
    pub target: Nanos,
    /// Time each depth is tried for.
    pub window: Nanos,
    /// Share of I/Os that must keep it, in per cent.
    pub percentile: f64,
    /// Goes on at the depth found, rather than ending.
    pub run: bool,
}

/// When workers of a report count as steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyWatch {
    /// What is watched, and how.
    pub criterion: SteadyCriterion,
    /// How far it may be off.
    pub limit: SteadyLimit,
    /// Samples in a window; at least 2.
    pub samples: usize,
    /// Time of a sample.
    pub interval: Nanos,
    /// Time before the first window.
    pub ramp: Nanos,
}

impl SteadyWatch {
    /// Length of the window.
    pub fn duration(&self) -> Nanos {
        Nanos(self.interval.0.saturating_mul(self.samples as u64))
    }
}

/// The window a search has when none is given.
const LATENCY_WINDOW: Nanos = Nanos::SECOND;

/// The limits of a job.
pub(crate) fn limits(job: &Job, found: &mut Findings) -> Limits {
    let (rate, flow) = (&job.rate, &job.rate.flow);
    Limits {
        flow: (flow.weight > 0).then_some(FlowPart {
            id: flow.id,
            weight: flow.weight,
            sleep: flow.sleep,
        }),
        max_latency: rate.max_latency,
        latency: latency(job, found),
        steady: steady(job, found),
    }
}

fn latency(job: &Job, found: &mut Findings) -> Option<LatencySearch> {
    let goal = &job.rate.latency;
    let Some(target) = goal.target else {
        if goal.window.is_some() || goal.run {
            found.warn(job, "latency_window and latency_run do nothing without latency_target");
        }
        return None;
    };
    if goal.window.is_none() {
        found.warn(job, "latency_target without latency_window: each depth is tried for 1 s");
    }
    let window = goal.window.unwrap_or(LATENCY_WINDOW);
    Some(LatencySearch {
        target,
        window,
        percentile: goal.percentile.unwrap_or(100.0),
        run: goal.run,
    })
}

fn steady(job: &Job, found: &mut Findings) -> Option<SteadyWatch> {
    let given = &job.steady;
    let duration = given.duration.filter(|duration| duration.0 > 0)?;
    let interval = given.interval.filter(|i| i.0 > 0).unwrap_or(Nanos::SECOND);
    let samples = duration.0 / interval.0;
    if samples < 2 {
        let what = format!(
            "a window of {:.3} s with a sample each {:.3} s, one sample shows neither slope nor \
             spread",
            duration.seconds(),
            interval.seconds()
        );
        let cure = "give a window of at least two steadystate_check_intervals";
        found.usage(job, "steadystate_duration", what, cure);
        return None;
    }
    if samples > 1_000_000 {
        let what = format!("{samples} samples in a window");
        let cure = "lower it or raise steadystate_check_interval";
        found.usage(job, "steadystate_duration", what, cure);
        return None;
    }
    Some(SteadyWatch {
        criterion: given.criterion,
        limit: given.limit,
        samples: samples as usize,
        interval,
        ramp: given.ramp,
    })
}

/// Workers of one report are watched together, so they must be watched for the same; and latencies
/// by priority are of one kind for all of them.
///
/// Oracle: of steadystate the options of the first job count, those of the others are passed over;
/// different `lat_percentiles` are refused.
pub(crate) fn agree(jobs: &[Job], workers: &[Worker], found: &mut Findings) {
    for pair in workers.windows(2).filter(|pair| pair[0].group == pair[1].group) {
        let [first, second] = pair else { continue };
        let steady = first.limits.steady != second.limits.steady;
        let total = first.show.lat_percentiles != second.show.lat_percentiles;
        for (_, option) in
            [(steady, "steadystate"), (total, "lat_percentiles")].iter().filter(|d| d.0)
        {
            let job = &jobs[second.job as usize];
            let what = format!("jobs '{}' and '{}' of one report differ", first.name, second.name);
            found.usage(job, option, what, "give both the same, or leave group_reporting");
        }
    }
}
