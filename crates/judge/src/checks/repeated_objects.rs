//! Were the same few objects fetched repeatedly?

use super::prelude::*;
use std::collections::BTreeSet;

/// How often each byte was fetched, on average, from where on a cache has an easy life.
const TIMES_MIN: f64 = 2.0;

pub(super) const CHECK: Check = Check {
    id: "repeated-objects",
    question: "Were the same few objects fetched repeatedly?",
    evidence: "bytes of successful GETs, compared with the bytes of the jobs' objects",
    threshold: "note when every byte was fetched at least twice on average",
    reason: "an object that was just fetched is in the server's memory or in a cache on the way, so the server does not read its disks again",
    cause: "the jobs fetch more bytes than their objects have",
    remedy: || {
        let more = raise(["size", "nrfiles", "numjobs"]);
        more.ending("to use more objects than fit into the server's memory")
            .or("read the figure as that of a warm cache")
    },
    proof: Proof::recorded("few_objects_fetched_often_are_told", "objects_fetched_once_are_silent"),
    function: CheckFunction::Part(check),
};

/// Bytes of the objects of all workers, those they share once.
fn object_bytes(part: &Part) -> u64 {
    let mut seen = BTreeSet::new();
    let mut bytes = 0u64;
    for worker in &part.workers {
        for (file, region) in worker.workload.files.iter().zip(&worker.workload.regions) {
            if seen.insert((file, region.start.0, region.length.0)) {
                bytes = bytes.saturating_add(region.length.0);
            }
        }
    }
    bytes
}

fn check(_: &Case, part: &Part) -> Option<Finding> {
    let exchange = part.metrics.exchange.as_ref()?;
    let gets = exchange.requests.iter().filter(|request| request.request == "GET");
    let fetched: u64 = gets.map(|request| request.bytes.0).sum();
    let object_bytes = object_bytes(part);
    let times = fetched as f64 / object_bytes.max(1) as f64;
    if object_bytes == 0 || times < TIMES_MIN {
        return None;
    }
    let text = format!(
        "{} were fetched from objects of {} in total, each {} times on average: caches of the server may have served the repeats",
        size(fetched as f64),
        size(object_bytes as f64),
        count(times),
    );
    let figures = [
        Figure::new("bytes fetched", fetched as f64, "bytes"),
        Figure::new("bytes of the objects", object_bytes as f64, "bytes"),
    ];
    Some(CHECK.finding_for(part, Severity::Note, text).figures(figures))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asking, findings, the_finding};
    use super::*;
    use record::{Bytes, Region};

    #[test]
    fn few_objects_fetched_often_are_told() {
        let mut record = asking("GET", 1000, 0);
        let few = Region { start: Bytes(0), length: Bytes(100 * 4096) };
        record.jobs[0].workload.regions = vec![few];
        let found = the_finding(&record, CHECK.id);
        assert!(found.text.contains("in total, each 10 times"), "{}", found.text);
    }

    #[test]
    fn objects_fetched_once_are_silent() {
        assert!(findings(&asking("GET", 1000, 0), CHECK.id).is_empty());
        assert!(findings(&asking("PUT", 1000, 0), CHECK.id).is_empty());
    }
}
