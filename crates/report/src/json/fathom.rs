//! Our additions to fio's document, under the key "fathom".

use super::cpu_profile::cpu_profile;
use super::exchange;
use super::fleet::fleet;
use super::latency::latency;
use super::layers::layers;
use super::tree::{Json, array, object, texts};
use crate::fio_numbers::millis;
use crate::messages;
use judge::gate::{GateResult, Gated};
use judge::{
    Delta, DirectionDelta, Figure, Finding, Judged, Operation, Repeated, RepeatedFigure, Tail,
    TailDevice, TailShare, TailStep, UnitMetrics, Verdict, WorkerDelta,
};
use record::{BlockStates, Direction, ErrorCount, Message, RecordSet, RunRecord, Severity};

/// The part for a whole run.
pub(super) fn run_part(record: &RunRecord, judged: &Judged) -> Json {
    let of = |severity: Severity| -> Json {
        let chosen = record.messages.iter().filter(|message| message.severity == severity);
        Json::Array(chosen.map(message).collect())
    };
    object! {
        "version" => &record.fathom_version,
        "record_schema" => record.schema,
        "command_line" => texts(&record.invocation.arguments),
        "why" => Some(record.intent()).filter(|intent| !intent.is_empty()),
        "started_unix_ms" => record.invocation.started_unix_ms,
        "ended_unix_ms" => record.invocation.ended_unix_ms,
        "interrupted_by" => record.interrupted_by,
        "clock" => object! {
            "source" => &record.clock.source,
            "hertz" => record.clock.hertz,
            "drift_ppm" => record.clock.drift_ppm,
            "stamp_ns" => record.clock.stamp.0,
        },
        "errors" => of(Severity::Error),
        "warnings" => of(Severity::Warning),
        "notes" => of(Severity::Note),
        "cpu_profile" => record.evidence.cpu_profile.as_ref().map(cpu_profile),
        "layers" => judged.layers.as_ref().map(layers),
        "layers_not_timed" => record.evidence.layers_not_timed.as_deref(),
        "fleet" => record.fleet.as_ref().map(|it| fleet(it, &judged.fleet)),
        "verdicts" => array(&judged.verdicts, verdict),
        "findings" => array(&judged.findings, finding),
        "tails" => array(&judged.tails, tail),
        "tail_shares" => array(&judged.tail_shares, tail_share),
        "gate" => judged.gate.as_ref().map(gate),
        "interval" => judged.delta.as_ref().map(since),
    }
}

/// Where the slowest I/Os of a job come from.
fn tail(tail: &Tail) -> Json {
    let step = |step: &TailStep| {
        object! {
            "start_ns" => step.start_ns,
            "share" => step.share,
            "ios_share" => step.ios_share,
        }
    };
    let device = |device: &TailDevice| {
        object! {
            "name" => &device.name,
            "latency_ns" => device.latency_ns,
            "latency_otherwise_ns" => device.latency_otherwise_ns,
            "others_bytes_per_second" => device.others,
            "others_otherwise_bytes_per_second" => device.others_otherwise,
        }
    };
    object! {
        "job" => &tail.job,
        "direction" => tail.direction.name(),
        "from_ns" => tail.from_ns,
        "ios" => tail.ios,
        "steps" => tail.steps as u64,
        "step_ns" => tail.step_ns,
        "half_in_steps" => tail.half_in as u64,
        "worst_steps" => array(&tail.worst, step),
        "devices" => array(&tail.devices, device),
    }
}

fn tail_share(share: &TailShare) -> Json {
    object! {
        "job" => &share.job,
        "block_size" => &share.sizes,
        "devices" => texts(&share.devices),
        "direction" => share.direction.name(),
        "share" => share.share,
        "ios_share" => share.ios_share,
    }
}

/// The figures since the previous document, with the bins of json+. Those of all documents add up to
/// the figures of the last one.
fn since(since: &Delta) -> Json {
    let worker = |worker: &WorkerDelta| {
        let mut out = object! {
            "jobname" => &worker.name,
            "worker" => worker.worker,
            "from_ns" => worker.from_ns,
            "to_ns" => worker.to_ns,
        };
        for (direction, done) in worker.directions.iter() {
            out.push(direction.name(), done_since(done));
        }
        out
    };
    object! {
        "number" => since.number,
        "workers" => array(&since.workers, worker),
    }
}

fn done_since(done: &DirectionDelta) -> Json {
    object! {
        "io_bytes" => done.bytes,
        "total_ios" => done.ios,
        "short_ios" => done.short_ios,
        "drop_ios" => done.dropped_ios,
        "bw_bytes" => done.bytes_per_second as u64,
        "iops" => done.iops,
        "slat_ns" => latency(done.slat.as_ref(), true, true),
        "clat_ns" => latency(done.clat.as_ref(), true, true),
        "lat_ns" => latency(done.lat.as_ref(), true, true),
    }
}

/// The part for runs made together.
pub(super) fn set_part(set: &RecordSet, together: &Judged) -> Json {
    object! {
        "version" => &set.fathom_version,
        "record_schema" => set.schema,
        "kind" => &set.kind,
        "why" => Some(set.intent()).filter(|intent| !intent.is_empty()),
        "seed" => set.seed,
        "verdicts" => array(&together.verdicts, verdict),
        "findings" => array(&together.findings, finding),
        "gate" => together.gate.as_ref().map(gate),
        "repeats" => Json::Array(judge::repeats(set).iter().map(repeated).collect()),
    }
}

/// The repeats of one job.
fn repeated(repeated: &Repeated) -> Json {
    // An interval of one run has no end.
    let end = |value: f64| value.is_finite().then_some(value);
    let figure = |figure: &RepeatedFigure| {
        let summary = &figure.summary;
        object! {
            "name" => figure.name,
            "unit" => figure.unit,
            "runs" => summary.count as u64,
            "mean" => summary.mean.value,
            "low" => end(summary.mean.low),
            "high" => end(summary.mean.high),
            "median" => summary.median,
            "stddev" => summary.stddev,
            "cv" => summary.cv,
            "min" => summary.min,
            "max" => summary.max,
        }
    };
    object! {
        "cell" => &repeated.cell,
        "job" => &repeated.job,
        "direction" => repeated.operation.direction().map(Direction::name),
        "request" => repeated.operation.request(),
        "latency_is" => repeated.latency,
        "figures" => array(&repeated.figures, figure),
    }
}

/// The results of the conditions.
fn gate(gated: &Gated) -> Json {
    let condition = |result: &GateResult| {
        // An interval of too few data has no end.
        let end = |value: f64| value.is_finite().then_some(value);
        let operation = result.operation.as_ref();
        object! {
            "condition" => &result.condition,
            "job" => &result.job,
            "direction" => operation.and_then(Operation::direction).map(Direction::name),
            "request" => operation.and_then(Operation::request),
            "outcome" => result.outcome.name(),
            "measured" => result.measured.map(|m| m.value),
            "low" => result.measured.and_then(|m| end(m.low)),
            "high" => result.measured.and_then(|m| end(m.high)),
            "unit" => result.unit,
            "reason" => result.reason.as_ref(),
        }
    };
    object! {
        "passed" => gated.passed(),
        "undecided_passes" => gated.undecided_passes,
        "conditions" => array(&gated.results, condition),
    }
}

pub(super) fn verdict(verdict: &Verdict) -> Json {
    object! {
        "job" => &verdict.job,
        "limit" => verdict.limit.name(),
        "confidence" => verdict.confidence.name(),
        "because" => &verdict.because,
        "figures" => figures(&verdict.figures),
        "use_for" => &verdict.valid_for,
    }
}

pub(super) fn finding(finding: &Finding) -> Json {
    object! {
        "check" => finding.check,
        "severity" => messages::severity(finding.severity),
        "jobs" => texts(&finding.jobs),
        "text" => &finding.text,
        "figures" => figures(&finding.figures),
        "cause" => &finding.cause,
        "cure" => &finding.remedy.to_string(),
    }
}

fn figures(figures: &[Figure]) -> Json {
    let figure = |figure: &Figure| {
        object! { "name" => figure.name, "value" => figure.value, "unit" => figure.unit }
    };
    array(figures, figure)
}

fn message(message: &Message) -> Json {
    object! { "job" => message.job.as_ref(), "text" => &message.text }
}

/// The part for one worker, or for several that are reported together.
pub(super) fn unit_part(unit: &UnitMetrics, bins: bool) -> Json {
    let merged = unit.merged.iter().map(|(name, workers)| {
        object! { "jobname" => name, "workers" => *workers }
    });
    let mut out = object! {
        "workers" => unit.workers,
        "job_start_ms" => unit.start_clock_ms,
        "merged_jobs" => Json::Array(merged.collect()),
        "busy_ns" => unit.busy_ns,
        "common_ns" => unit.common_ns,
        "iodepth_requested" => unit.depth.requested,
        "iodepth_achieved" => unit.depth.achieved_mean,
        "stamps_shared" => unit.shared_stamps.shared,
        "stamps_between_ns" => unit.shared_stamps.between.as_ref().map(|between| object! {
            "N" => between.count(),
            "median" => between.percentile(50.0),
            "max" => between.max(),
        }),
        "run_delay_cpu" => unit.cpu.run_delay,
        "errors" => array(&unit.errors, error),
    };
    if unit.workers > 1 {
        out.push("over_longest_job", over_longest(unit));
    }
    if let Some(blocks) = &unit.blocks {
        out.push("blocks", states(blocks));
    }
    if let Some(asked) = &unit.exchange {
        out.push("exchange", exchange::json(asked, bins));
    }
    let rated = |direction: &Direction| unit.directions[*direction].response.is_some();
    if Direction::ALL.iter().any(rated) {
        let pairs = Direction::ALL.into_iter().filter(rated).map(|direction| {
            let response = unit.directions[direction].response.as_ref();
            (direction.name().to_string(), latency(response, true, bins))
        });
        out.push("response_ns", Json::Object(pairs.collect()));
    }
    out
}

/// Bandwidth and IOPS of several workers over the run time of the longest, as fio computes them.
fn over_longest(unit: &UnitMetrics) -> Json {
    let busy = unit.directions.iter().filter(|(_, metrics)| !metrics.is_idle());
    let pairs = busy.map(|(direction, metrics)| {
        let (bytes, ios) = metrics.over_longest();
        let runtime = millis(metrics.longest_ns);
        let figures = object! { "runtime" => runtime, "bw_bytes" => bytes as u64, "iops" => ios };
        (direction.name().to_string(), figures)
    });
    Json::Object(pairs.collect())
}

/// The states of the blocks with counted trims.
fn states(blocks: &BlockStates) -> Json {
    let survived = &blocks.trims_survived;
    let bins = survived.bins().map(|(low, _, count)| (low.to_string(), count.into()));
    object! {
        "block_bytes" => blocks.size,
        "untouched" => blocks.untouched,
        "trimmed" => blocks.trimmed,
        "written" => blocks.written,
        "trim_failed" => blocks.trim_failed,
        "write_failed" => blocks.write_failed,
        "trims_survived" => Json::Object(bins.collect()),
    }
}

fn error(error: &ErrorCount) -> Json {
    object! {
        "errno" => error.errno,
        "text" => &error.text,
        "operation" => &error.operation,
        "count" => error.count,
        "first_file" => &error.first_file,
        "first_offset" => error.first_offset,
        "first_length" => error.first_length,
    }
}
