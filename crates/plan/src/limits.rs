//! Limits on the results of workers: flow, latency, steady state.

use crate::model::{FlowPart, LatencySearch, Limits, SteadyWatch, Worker};
use crate::problem::Diagnostics;
use job::Job;
use record::Nanos;

/// The default window of a search.
const LATENCY_WINDOW: Nanos = Nanos::SECOND;

/// The limits of a job.
pub(crate) fn limits(job: &Job, diagnostics: &mut Diagnostics) -> Limits {
    let (rate, flow) = (&job.rate, &job.rate.flow);
    Limits {
        flow: (flow.weight > 0).then_some(FlowPart {
            id: flow.id,
            weight: flow.weight,
            sleep: flow.sleep,
        }),
        max_latency: rate.max_latency,
        latency: latency(job, diagnostics),
        steady: steady(job, diagnostics),
    }
}

fn latency(job: &Job, diagnostics: &mut Diagnostics) -> Option<LatencySearch> {
    let goal = &job.rate.latency;
    let Some(target) = goal.target else {
        if goal.window.is_some() || goal.run {
            diagnostics
                .warn(job, "latency_window and latency_run do nothing without latency_target");
        }
        return None;
    };
    if goal.window.is_none() {
        diagnostics.warn(job, "latency_target without latency_window: each depth is tried for 1 s");
    }
    let window = goal.window.unwrap_or(LATENCY_WINDOW);
    Some(LatencySearch {
        target,
        window,
        percentile: goal.percentile.unwrap_or(100.0),
        run: goal.run,
    })
}

fn steady(job: &Job, diagnostics: &mut Diagnostics) -> Option<SteadyWatch> {
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
        diagnostics.usage(job, "steadystate_duration", what, cure);
        return None;
    }
    if samples > 1_000_000 {
        let what = format!("{samples} samples in a window");
        let cure = "lower it or raise steadystate_check_interval";
        diagnostics.usage(job, "steadystate_duration", what, cure);
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

/// Checks that workers of one report have the same steady-state condition, because they are
/// evaluated together, and the same kind of latencies by priority.
///
/// Oracle: the steadystate options of the first job apply, the options of the others are ignored;
/// different `lat_percentiles` are refused.
pub(crate) fn agree(jobs: &[Job], workers: &[Worker], diagnostics: &mut Diagnostics) {
    for pair in workers.windows(2).filter(|pair| pair[0].group == pair[1].group) {
        let [first, second] = pair else { continue };
        let steady = first.limits.steady != second.limits.steady;
        let total = first.show.lat_percentiles != second.show.lat_percentiles;
        for (_, option) in
            [(steady, "steadystate"), (total, "lat_percentiles")].iter().filter(|d| d.0)
        {
            let job = &jobs[second.job as usize];
            let what = format!("jobs '{}' and '{}' of one report differ", first.name, second.name);
            diagnostics.usage(job, option, what, "give both the same, or leave group_reporting");
        }
    }
}
