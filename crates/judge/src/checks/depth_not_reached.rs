//! Were as many I/Os in flight as iodepth asks for?

use super::prelude::*;

/// Share of the depth that must have been in flight, mean over time.
const REACHED: f64 = 0.9;
/// Share of the latency spent in the submitting call from where on it was blocked there.
const BLOCKED: f64 = 0.5;
/// Fewer I/Os do not fill a queue for long enough.
const IOS_PER_DEPTH: u64 = 20;

pub(super) const CHECK: Check = Check {
    id: "depth-not-reached",
    question: "Were as many I/Os in flight as iodepth asks for?",
    evidence: "mean number of I/Os in flight over the measured time (Little's law), compared with iodepth; share of the latency spent in submission",
    threshold: "warning when fewer than 90 % of iodepth were in flight, unless the job has a rate or a latency target, which need no deeper queue",
    reason: "a full queue lacks an I/O only between a completion and the next submission; 10 % is more than batching explains",
    cause: "something kept the job from submitting",
    remedy: || "find what the job waits for between its I/Os".into(),
    proof: Proof::real(
        "checks/depth.rs::a_synchronous_engine_reaches_no_depth",
        "checks/depth.rs::an_asynchronous_engine_reaches_its_depth",
    ),
    function: CheckFunction::Data(check),
};

fn check(_: &Case, part: &Part) -> Option<Finding> {
    let depth = &part.metrics.depth;
    let requested = f64::from(depth.requested);
    let filled =
        part.all_ios() >= IOS_PER_DEPTH * u64::from(depth.requested) * part.workers.len() as u64;
    // Without a medium there is no queue: whatever is submitted has completed.
    // A job with a target for its latency chooses its depth.
    let chooses = part.setting("latency_target_ns").is_some();
    if depth.requested < 2 || part.has_engine(Engine::moves_nothing) || chooses || !filled {
        return None;
    }
    if part.submits_one_by_one() {
        return Some(one_by_one(part));
    }
    // A rate keeps the queue as deep as it needs, unless the engine has none.
    let paces = part.has_rate() && !part.has_engine(Engine::blocks);
    if depth.achieved_mean >= REACHED * requested || paces {
        return None;
    }
    let text = Sentence::from(format!(
        "{:.1} I/Os were in flight on average, {} of ",
        depth.achieved_mean,
        percent(depth.achieved_mean / requested)
    ))
    .setting("iodepth", depth.requested);
    let (cause, remedy) = cause_and_remedy(part);
    let figures = vec![
        Figure::new("I/Os in flight", depth.achieved_mean, "count"),
        Figure::new("iodepth", requested, "count"),
    ];
    Some(
        CHECK
            .finding_for(part, Severity::Warning, text)
            .figures(figures)
            .cause(cause)
            .remedy(remedy),
    )
}

fn one_by_one(part: &Part) -> Finding {
    let text = Sentence::default().setting("iodepth", part.metrics.depth.requested).text(
        " has no effect: libaio performs buffered I/O inside the submitting call, one at a time",
    );
    let figures = [Figure::new("iodepth", f64::from(part.metrics.depth.requested), "count")];
    let remedy = set("direct", 1).or(set("ioengine", "io_uring"));
    let cause = "libaio is asynchronous only with O_DIRECT";
    CHECK.finding_for(part, Severity::Warning, text).figures(figures).cause(cause).remedy(remedy)
}

fn cause_and_remedy(part: &Part) -> (Sentence, Remedy) {
    let engine = part.first().workload.ioengine.as_str();
    let outcome = |cause: String, remedy: Remedy| (cause.into(), remedy);
    if part.has_engine(Engine::blocks) {
        return outcome(
            format!("{engine} is a synchronous engine: it performs one I/O at a time at any depth"),
            set("ioengine", "io_uring")
                .or(set("ioengine", "libaio"))
                .or(raise(["numjobs"]).ending("to the number of I/Os wanted in flight")),
        );
    }
    if part.setting("thinktime_ns").is_some() {
        let cause = "the job pauses between I/Os (`thinktime`)".into();
        return (cause, drop(["thinktime"]));
    }
    if part.is_buffered() {
        return outcome(
            format!("{engine} performs buffered I/O inside the submitting call, one at a time"),
            set("direct", 1),
        );
    }
    if blocked(part) >= BLOCKED {
        return outcome(
            format!(
                "the submitting call blocked for {} of the latency because the device queue or the filesystem was full",
                percent(blocked(part))
            ),
            Remedy::from("raise nr_requests of the device")
                .or(lower(["iodepth"]).ending("to what the queue holds")),
        );
    }
    if part.metrics.sync.count > 0 || part.setting("sync").is_some() {
        return outcome(
            "every synchronisation drains the queue".into(),
            "report this depth as the one such a program reaches, or remove the synchronisation"
                .into(),
        );
    }
    let busy = part.metrics.cpu.user + part.metrics.cpu.system;
    if busy >= 80.0 {
        return outcome(
            format!(
                "the worker used {busy:.0} % of a CPU: the device completes I/Os as fast as the worker submits them"
            ),
            raise(["numjobs"]).ending("to spread the depth over more workers"),
        );
    }
    outcome(CHECK.cause.into(), (CHECK.remedy)())
}

/// Share of the whole latency that passed before the kernel had the I/O.
fn blocked(part: &Part) -> f64 {
    let (mut submitting, mut whole) = (0.0, 0.0);
    for result in part.workers.iter().flat_map(|job| job.results.iter().map(|(_, r)| r)) {
        submitting += result.latency.slat.as_ref().map_or(0.0, |slat| slat.sum() as f64);
        whole += result.lat().map_or(0.0, |lat| lat.sum() as f64);
    }
    if whole > 0.0 { submitting / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, job, record, the_finding};
    use super::*;

    #[test]
    fn the_reason_fits_the_job() {
        let mut record = record(vec![job("deep", Direction::Read, 10)]);
        record.jobs[0].depth.requested = 32;
        record.jobs[0].depth.achieved_mean = 1.0;
        record.jobs[0].workload.ioengine = "psync".into();
        assert!(the_finding(&record, CHECK.id).cause.contains("synchronous engine"));
        record.jobs[0].workload.ioengine = "libaio".into();
        record.jobs[0].workload.direct = false;
        assert!(the_finding(&record, CHECK.id).remedy.to_string().contains("--direct=1"));
        record.jobs[0].depth.achieved_mean = 31.0;
        assert_eq!(
            findings(&record, CHECK.id).len(),
            1,
            "what waits to be submitted is not in flight"
        );
        record.jobs[0].workload.ioengine = "io_uring".into();
        record.jobs[0].depth.achieved_mean = 1.0;
        record.jobs[0].workload.rate_iops[Direction::Read] = Some(1000);
        assert!(findings(&record, CHECK.id).is_empty(), "the rate needs no deeper queue");
        record.jobs[0].workload.ioengine = "psync".into();
        assert!(the_finding(&record, CHECK.id).cause.contains("synchronous engine"));
        record.jobs[0].workload.ioengine = "io_uring".into();
        record.jobs[0].workload.settings.insert("latency_target_ns".into(), "2000000".into());
        assert!(findings(&record, CHECK.id).is_empty(), "the job lowers its depth");
        record.jobs[0].workload.settings.clear();
        record.jobs[0].depth.achieved_mean = 29.5;
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
