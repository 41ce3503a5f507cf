//! Does the queue depth add throughput, or only latency?

use super::prelude::*;
use crate::metrics::latency::merged;

/// Depth over the knee from which it is a note, and a warning.
const NOTE_FROM: f64 = 4.0;
const WARN_FROM: f64 = 8.0;
/// Smallest total depth for a warning.
const DEPTH_MIN: f64 = 32.0;
/// Smallest number of I/Os whose lowest latencies show an idle device.
const IOS_MIN: u64 = 2_000;
/// Two jobs give the same when their IOPS are this close …
const SAME_IOPS: f64 = 0.05;
/// … and one of them only waits when its latency is this much longer.
const WAITS: f64 = 1.5;

pub(super) const CHECK: Check = Check {
    id: "depth-beyond-knee",
    question: "Does the queue depth add throughput, or only latency?",
    evidence: "the knee, which is the depth that keeps the device busy: IOPS times the latency of an idle device (1st percentile); the number of requests that the device queues hold; jobs that differ only in depth",
    threshold: "note when the depth is at least 4 times the knee; warning when it is at least 8 times the knee and at least 32, when the device queues hold fewer requests, or when a job with a smaller depth reached the same IOPS within 5 % at two thirds of the latency or less",
    reason: "by the asymptotic bounds of operational analysis (Denning and Buzen 1978), I/Os in flight beyond throughput times unloaded latency only queue; the latency of an idle device is estimated from the low end of the distribution, so small factors prove nothing",
    cause: "the device is already busy at a lower depth, so further I/Os wait in a queue",
    remedy: || lower(["iodepth"]).ending("to the depth of the application, or to the knee"),
    proof: Proof::real(
        "checks/depth.rs::depth_beyond_the_knee_only_queues",
        "checks/depth.rs::an_asynchronous_engine_reaches_its_depth",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    against_others(case, part)
        .or_else(|| beyond_the_queue(case, part))
        .or_else(|| beyond_the_knee(case, part))
}

/// The requested I/Os in flight of all workers.
fn depth(part: &Part) -> f64 {
    f64::from(part.metrics.depth.requested) * part.workers.len() as f64
}

fn is_queued(case: &Case, part: &Part) -> bool {
    let reached = part.metrics.depth.achieved_mean >= 0.5 * f64::from(part.metrics.depth.requested);
    !case.disks_of(part).is_empty() && !part.is_buffered() && !part.has_rate() && reached
}

fn latency(part: &Part) -> Option<Histogram> {
    let results = part.workers.iter().flat_map(|job| job.results.iter().map(|(_, r)| r));
    merged(results.filter_map(|result| result.lat()))
}

/// Requests that the queues of these disks hold, so many queues of each at most; `None` where that is
/// unknown.
pub fn queue_room(disks: &[&DeviceFacts], queues_max: u32) -> Option<f64> {
    let room = |disk: &&DeviceFacts| {
        let queues = disk.hardware_queues.unwrap_or(1).clamp(1, queues_max.max(1));
        disk.nr_requests.map(|requests| requests as f64 * f64::from(queues))
    };
    disks.iter().map(room).sum()
}

/// More I/Os than the queues of the disks hold: the rest waits in front of them.
fn beyond_the_queue(case: &Case, part: &Part) -> Option<Finding> {
    if !is_queued(case, part) {
        return None;
    }
    let disks = case.disks_of(part);
    let room = queue_room(&disks, u32::MAX)?;
    let depth = depth(part);
    (room > 0.0 && depth > room).then(|| {
        let names: Vec<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
        let text = format!(
            "{depth:.0} I/Os were in flight, but {} accepts {room:.0} at a time: the rest waited in front of it",
            list(&names)
        );
        let figures = [
            Figure::new("depth", depth, "count"),
            Figure::new("requests the queue holds", room, "count"),
        ];
        let ending = format!("to the depth of the application, {room:.0} or less");
        let remedy = lower(["iodepth"]).ending(ending);
        CHECK.finding_for(part, Severity::Warning, text).figures(figures).remedy(remedy)
    })
}

fn beyond_the_knee(case: &Case, part: &Part) -> Option<Finding> {
    let latency = latency(part).filter(|latency| latency.count() >= IOS_MIN)?;
    // The lowest latencies of large blocks may come from a cache in the device.
    let small = part.first().workload.block_size.iter().all(|(_, (_, max))| max.0 <= 64 << 10);
    if !is_queued(case, part) || !small {
        return None;
    }
    let idle = latency.percentile(1.0) as f64 / 1e9;
    let knee = (part.iops() * idle).max(1.0);
    let factor = depth(part) / knee;
    let severity = match factor {
        much if much >= WARN_FROM && depth(part) >= DEPTH_MIN => Severity::Warning,
        some if some >= NOTE_FROM => Severity::Note,
        _ => return None,
    };
    let median = latency.percentile(50.0) as f64;
    let text = format!(
        "queue depth {:.0} is {factor:.0} times the depth that keeps the device busy: the median latency is {}, but {} on an idle device",
        depth(part),
        time(median),
        time(idle * 1e9)
    );
    let figures = [
        Figure::new("depth", depth(part), "count"),
        Figure::new("depth at the knee", knee, "count"),
        Figure::new("median latency", median, "ns"),
    ];
    let remedy = lower(["iodepth"]).ending(format!(
        "to the depth of the application; a depth of about {:.0} keeps this device busy",
        knee.round()
    ));
    Some(CHECK.finding_for(part, severity, text).figures(figures).remedy(remedy))
}

/// A job that differs from this one in a smaller depth only, and gave as much with less waiting.
fn against_others(case: &Case, part: &Part) -> Option<Finding> {
    if !is_queued(case, part) {
        return None;
    }
    let (own, waited) = (part.iops(), latency(part)?.percentile(50.0) as f64);
    let shallower = case.parts.iter().filter(|other| {
        depth(other) < depth(part) && same_but_depth(part, other) && other.iops() > 0.0
    });
    let (other, theirs) = shallower
        .filter(|other| other.iops() >= own * (1.0 - SAME_IOPS))
        .filter_map(|other| Some((other, latency(other)?.percentile(50.0) as f64)))
        .filter(|(_, theirs)| waited >= WAITS * theirs)
        .min_by(|a, b| depth(a.0).total_cmp(&depth(b.0)))?;
    let text = format!(
        "depth {:.0} reaches {} IOPS at a median latency of {}; depth {:.0} (job '{}') reached {} IOPS ({}) at {}",
        depth(part),
        count(own),
        time(waited),
        depth(other),
        other.name,
        count(other.iops()),
        percent(other.iops() / own),
        time(theirs)
    );
    let figures = [
        Figure::new("IOPS", own, "IOPS"),
        Figure::new("IOPS at the smaller depth", other.iops(), "IOPS"),
        Figure::new("median latency", waited, "ns"),
    ];
    let remedy = set("iodepth", other.metrics.depth.requested);
    Some(CHECK.finding_for(part, Severity::Warning, text).figures(figures).remedy(remedy))
}

fn same_but_depth(one: &Part, other: &Part) -> bool {
    let (a, b) = (&one.first().workload, &other.first().workload);
    (&a.rw, &a.block_size, &a.ioengine, a.direct) == (&b.rw, &b.block_size, &b.ioengine, b.direct)
        && one.devices == other.devices
        // Jobs that ran at the same time share the device.
        && (one.from >= other.to || other.from >= one.to)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SECOND, findings, job, record, the_finding};
    use super::*;
    use record::Nanos;

    /// A job whose I/Os take `median`, a few of them `idle`.
    fn queued(name: &str, depth: u32, idle: u64, median: u64) -> record::JobRecord {
        let mut job = job(name, Direction::Read, 10);
        (job.depth.requested, job.depth.achieved_mean) = (depth, f64::from(depth));
        let mut latency = Histogram::new();
        latency.record_n(idle, 200);
        latency.record_n(median, 9_800);
        let result = &mut job.results[Direction::Read];
        (result.latency.lat, result.latency.clat) = (Some(latency.clone()), Some(latency));
        job
    }

    #[test]
    fn waiting_beyond_the_knee_is_told_by_its_factor() {
        // 1000 I/Os a second of 2 ms each: two in flight keep the device busy.
        let at = |depth| record(vec![queued("deep", depth, 2_000_000, 30_000_000)]);
        assert!(findings(&at(4), CHECK.id).is_empty());
        assert_eq!(the_finding(&at(9), CHECK.id).severity, Severity::Note);
        let found = the_finding(&at(64), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.remedy.to_string().contains("about 2 "), "{found:?}");
    }

    #[test]
    fn a_job_of_less_depth_that_gave_the_same_is_named() {
        let mut deep = queued("deep", 16, 8_000_000, 16_000_000);
        deep.started = Nanos(20 * SECOND);
        deep.ended = Nanos(30 * SECOND);
        let record = record(vec![queued("shallow", 4, 4_000_000, 4_000_000), deep]);
        let found = the_finding(&record, CHECK.id);
        assert!(
            found.text.contains("'shallow'") && found.remedy.to_string().contains("--iodepth=4"),
            "{found:?}"
        );
    }
}
