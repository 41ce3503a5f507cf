//! Did the object store turn requests away because there were too many?

use super::words::{number, percent};
use super::{Check, How, Look, Proof};
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::Severity;

/// Share of the requests that was turned away from which the figure is the limit's.
const WARNING: f64 = 0.01;
/// "Too Many Requests" and "Service Unavailable", S3's SlowDown.
const STATUSES: [u16; 2] = [429, 503];

pub(super) const CHECK: Check = Check {
    id: "server-throttles",
    question: "Did the object store turn requests away because there were too many?",
    evidence: "answers with status 429 or 503 (S3: SlowDown) among the requests",
    threshold: "note from the first one on, warning from one in a hundred",
    reason: "a server that says so is at a limit of its own, or at one that was set for this user, bucket or prefix; repeating the requests hides it in the latency",
    cause: "more requests a second than the server, or its quota for this user or prefix, allows",
    cure: "lower iodepth, numjobs or rate_iops until they are gone, and read that as the limit; spread objects over more prefixes where the limit is by prefix",
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
    let of = |status: &u16| requests.iter().filter_map(|r| r.statuses.get(status)).sum::<u64>();
    let [many, unavailable] = [of(&STATUSES[0]), of(&STATUSES[1])];
    let turned_away = many + unavailable;
    if turned_away == 0 {
        return None;
    }
    let share = turned_away as f64 / sent.max(1) as f64;
    let severity = if share < WARNING { Severity::Note } else { Severity::Warning };
    let text = format!(
        "the server turned {} of {} requests away ({}): {} with status 429, {} with 503",
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
    fn other_answers_are_silent() {
        assert!(findings(&asking("PUT", 1000, 404), CHECK.id).is_empty());
        assert!(findings(&asking("PUT", 1000, 0), CHECK.id).is_empty());
    }
}
