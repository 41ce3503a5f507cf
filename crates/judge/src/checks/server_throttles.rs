//! Did the object store throttle requests?

use super::prelude::*;
use record::RequestResult;
use std::collections::BTreeMap;

/// Share of rejected requests from which the limit determines the figure.
const WARNING: f64 = 0.01;
/// "Too Many Requests" and "Service Unavailable", S3's SlowDown.
const STATUSES: [u16; 2] = [429, 503];

pub(super) const CHECK: Check = Check {
    id: "server-throttles",
    question: "Did the object store throttle requests?",
    evidence: "responses with status 429 or 503 (S3: SlowDown), including those that a retry overcame",
    threshold: "note from the first such response, warning from 1 % of the requests",
    reason: "the server is at its own limit, or at one set for this user, bucket or prefix; retries hide that in the latency",
    cause: "more requests a second than the server, or its quota for this user or prefix, allows",
    remedy: || {
        let until = "until no request is rejected; that rate is the limit";
        lower(["iodepth", "numjobs", "rate_iops"])
            .ending(until)
            .also("spread objects over more prefixes if the limit applies to a prefix")
    },
    proof: Proof::recorded("slow_down_is_told_with_its_share", "other_answers_are_silent"),
    function: CheckFunction::Part(check),
};

fn check(_: &Case, part: &Part) -> Option<Finding> {
    let requests = &part.metrics.exchange.as_ref()?.requests;
    let sent: u64 = requests.iter().map(|request| request.sent).sum();
    let [many, unavailable] =
        STATUSES.map(|status| requests.iter().map(|kind| with(kind, status)).sum::<u64>());
    let turned_away = many + unavailable;
    if turned_away == 0 {
        return None;
    }
    let share = turned_away as f64 / sent.max(1) as f64;
    let severity = if share < WARNING { Severity::Note } else { Severity::Warning };
    let repeated = |kind: &RequestResult| -> u64 {
        STATUSES.iter().filter_map(|status| kind.repeated_statuses.get(status)).sum()
    };
    let hidden = match requests.iter().map(repeated).sum::<u64>() {
        0 => String::new(),
        all if all == turned_away => "; each was retried, so the latency includes it".into(),
        some => format!("; {} were retried, so the latency includes them", count(some as f64)),
    };
    let text = format!(
        "the server rejected {} of {} requests ({}): {} with status 429, {} with 503{hidden}",
        count(turned_away as f64),
        count(sent as f64),
        percent(share),
        count(many as f64),
        count(unavailable as f64),
    );
    let figures = [Figure::new("requests rejected", share * 100.0, "percent")];
    Some(CHECK.finding_for(part, severity, text).figures(figures))
}

/// Answers of this status, of requests that were repeated as well.
fn with(kind: &RequestResult, status: u16) -> u64 {
    let answers_with_status =
        |answers: &BTreeMap<u16, u64>| answers.get(&status).copied().unwrap_or(0);
    answers_with_status(&kind.statuses) + answers_with_status(&kind.repeated_statuses)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asking, findings, the_finding};
    use super::*;

    #[test]
    fn slow_down_is_told_with_its_share() {
        let found = the_finding(&asking("PUT", 1000, 503), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("rejected 100 of 1 k requests (10 %)"), "{}", found.text);
    }

    #[test]
    fn what_a_repeat_overcame_is_told_as_well() {
        let mut record = asking("PUT", 1000, 0);
        let exchange = record.jobs[0].exchange.as_mut().expect("it asks");
        let put = &mut exchange.requests[0];
        (put.sent, put.retries) = (1500, 500);
        put.repeated_statuses = [(503, 400), (500, 100)].into();
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        for part in ["rejected 400 of 1.5 k requests", "each was retried"] {
            assert!(found.text.contains(part), "{}", found.text);
        }
        let exchange = record.jobs[0].exchange.as_mut().expect("it asks");
        exchange.requests[0].statuses.insert(429, 10);
        let text = the_finding(&record, CHECK.id).text;
        assert!(
            text.contains("10 with status 429") && text.contains("; 400 were retried"),
            "{text}"
        );
    }

    #[test]
    fn other_answers_are_silent() {
        assert!(findings(&asking("PUT", 1000, 404), CHECK.id).is_empty());
        assert!(findings(&asking("PUT", 1000, 0), CHECK.id).is_empty());
    }
}
