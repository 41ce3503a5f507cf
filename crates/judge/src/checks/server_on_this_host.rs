//! Did the object store run on the same machine as the load generator?

use super::prelude::*;
use record::RequestResult;

/// Share of all CPUs in use from which client and server are in each other's way.
const BUSY: f64 = 0.85;
/// /proc/stat counts in hundredths of a second.
const WINDOW_MIN_NS: u64 = 500_000_000;

pub(super) const CHECK: Check = Check {
    id: "server-on-this-host",
    question: "Did the object store run on the same machine as the load generator?",
    evidence: "the addresses of the servers, the states of all CPUs (/proc/stat) and the CPU time of the workers",
    threshold: "note when a server runs on this machine (loopback); warning when the CPUs were also busy 85 % of the time",
    reason: "client and server compete for the same CPUs, and no network lies between them: the figures are valid for neither alone",
    cause: "client and server run on one machine",
    remedy: || {
        let apart =
            choose(["cpus_allowed"]).ending("to separate its CPUs from those of the server");
        Remedy::from("run the load generator on another machine").or(apart)
    },
    proof: Proof::recorded(
        "a_server_on_loopback_is_told_with_the_cpus",
        "a_server_elsewhere_is_silent",
    ),
    function: CheckFunction::Part(check),
};

/// How busy all CPUs together were while a part ran, 0 to 1; `None` where it was not sampled, or for
/// too short a time.
pub(crate) fn busy(case: &Case, part: &Part) -> Option<f64> {
    if part.length().0 < WINDOW_MIN_NS {
        return None;
    }
    let cpus = case.cpu_use(part.from, part.to);
    let used: f64 = cpus.iter().map(|(_, share)| 1.0 - share.idle).sum();
    (!cpus.is_empty()).then(|| used / cpus.len() as f64)
}

/// Of the time of all CPUs, what the workers of a part had.
fn of_workers(case: &Case, part: &Part) -> f64 {
    let cpus = case.cpu_use(part.from, part.to).len().max(1) as f64;
    let ran: u64 = part.workers.iter().map(|job| job.cpu.user.0 + job.cpu.system.0).sum();
    ran as f64 / (part.length().0.max(1) as f64 * cpus)
}

fn check(case: &Case, part: &Part) -> Option<Finding> {
    let exchange = part.metrics.exchange.as_ref().filter(|exchange| exchange.is_local())?;
    let is_answered = |request: &RequestResult| {
        request.good > 0 || !request.statuses.is_empty() || !request.repeated_statuses.is_empty()
    };
    if !exchange.requests.iter().any(is_answered) {
        return None;
    }
    let hosts = exchange.endpoints.join(", ");
    let Some(busy) = busy(case, part) else {
        let text = format!("the server at {hosts} runs on this machine");
        return Some(CHECK.finding_for(part, Severity::Note, text));
    };
    let own = of_workers(case, part);
    let severity = if busy < BUSY { Severity::Note } else { Severity::Warning };
    let text = format!(
        "the server at {hosts} runs on this machine; the CPUs were busy {} of the time, {} in the workers of the load generator",
        percent(busy),
        percent(own.min(1.0)),
    );
    let figures = [
        Figure::new("CPUs busy", busy * 100.0, "percent"),
        Figure::new("of them for the workers", own * 100.0, "percent"),
    ];
    Some(CHECK.finding_for(part, severity, text).figures(figures))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asking, at_each, findings, the_finding};
    use super::*;

    fn on_loopback() -> record::RunRecord {
        let mut record = asking("GET", 1000, 0);
        let exchange = record.jobs[0].exchange.as_mut().expect("it asks");
        exchange.endpoints = vec!["127.0.0.1:9000".into()];
        record
    }

    #[test]
    fn a_server_on_loopback_is_told_with_the_cpus() {
        let mut record = on_loopback();
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
        at_each(&mut record, |at, sample| {
            for cpu in &mut sample.cpus {
                (cpu.user_ms, cpu.idle_ms) = ((at * 950.0) as u64, (at * 50.0) as u64);
                cpu.system_ms = 0;
            }
        });
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("busy 95 % of the time"), "{}", found.text);
    }

    #[test]
    fn one_that_answered_nothing_has_no_part_in_it() {
        let mut record = on_loopback();
        let exchange = record.jobs[0].exchange.as_mut().expect("it asks");
        let request = &mut exchange.requests[0];
        (request.good, request.statuses) = (0, [(503, 1000)].into());
        let mut silent = record.clone();
        assert_eq!(findings(&record, CHECK.id).len(), 1, "it answered that it is too busy");
        silent.jobs[0].exchange.as_mut().expect("it asks").requests[0].statuses.clear();
        assert!(findings(&silent, CHECK.id).is_empty());
    }

    #[test]
    fn a_server_elsewhere_is_silent() {
        assert!(findings(&asking("GET", 1000, 0), CHECK.id).is_empty());
    }
}
