//! Did the object store turn requests away because there were too many?

use super::check::{Check, How, Look, Proof};
use super::words::{number, percent};
use crate::RequestMetrics;
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::Severity;
use record::remedy::lower;
use std::collections::BTreeMap;

/// Share of the requests that was turned away from which the figure is the limit's.
const WARNING: f64 = 0.01;
/// "Too Many Requests" and "Service Unavailable", S3's SlowDown.
const STATUSES: [u16; 2] = [429, 503];

pub(super) const CHECK: Check = Check {
    id: "server-throttles",
    question: "Did the object store turn requests away because there were too many?",
    evidence: "answers with status 429 or 503 (S3: SlowDown) among the requests, also those that a repeat overcame",
    threshold: "note from the first one on, warning from one in a hundred",
    reason: "a server that says so is at a limit of its own, or at one that was set for this user, bucket or prefix; repeating the requests hides it in the latency",
    cause: "more requests a second than the server, or its quota for this user or prefix, allows",
    remedy: || {
        let until = "until no request is turned away, and read that rate as the limit";
        lower(["iodepth", "numjobs", "rate_iops"])
            .ending(until)
            .also("spread objects over more prefixes where the limit is by prefix")
    },
    proof: Proof {
        how: How::Recorded,
        fires: "crates/judge/src/checks/server_throttles.rs::slow_down_is_told_with_its_share",
        silent: "crates/judge/src/checks/server_throttles.rs::other_answers_are_silent",
    },
    look: Look::Run(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(about).collect()
}

fn about(part: &Part) -> Option<Finding> {
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
    let repeated = |kind: &RequestMetrics| -> u64 {
        STATUSES.iter().filter_map(|status| kind.repeated_statuses.get(status)).sum()
    };
    let hidden = match requests.iter().map(repeated).sum::<u64>() {
        0 => String::new(),
        all if all == turned_away => "; each was repeated, and so is in the latency".into(),
        some => format!("; {} were repeated, and so are in the latency", number(some as f64)),
    };
    let text = format!(
        "the server turned {} of {} requests away ({}): {} with status 429, {} with 503{hidden}",
        number(turned_away as f64),
        number(sent as f64),
        percent(share),
        number(many as f64),
        number(unavailable as f64),
    );
    Some(Finding {
        figures: vec![Figure::new("requests turned away", share * 100.0, "percent")],
        ..CHECK.about(part, severity, text)
    })
}

/// Answers of this status, of requests that were repeated as well.
fn with(kind: &RequestMetrics, status: u16) -> u64 {
    let of = |answers: &BTreeMap<u16, u64>| answers.get(&status).copied().unwrap_or(0);
    of(&kind.statuses) + of(&kind.repeated_statuses)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asking, findings, the_finding};
    use super::*;

    #[test]
    fn slow_down_is_told_with_its_share() {
        let found = the_finding(&asking("PUT", 1000, 503), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("turned 100 of 1.0 k requests away (10 %)"), "{}", found.text);
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
        for part in ["turned 400 of 1.5 k requests away", "each was repeated"] {
            assert!(found.text.contains(part), "{}", found.text);
        }
        let exchange = record.jobs[0].exchange.as_mut().expect("it asks");
        exchange.requests[0].statuses.insert(429, 10);
        let text = the_finding(&record, CHECK.id).text;
        assert!(text.contains("10 with status 429") && text.contains("; 400 were rep"), "{text}");
    }

    #[test]
    fn other_answers_are_silent() {
        assert!(findings(&asking("PUT", 1000, 404), CHECK.id).is_empty());
        assert!(findings(&asking("PUT", 1000, 0), CHECK.id).is_empty());
    }
}
