//! Did requests wait for connections instead of using them again?

use super::check::{Check, How, Look, Proof};
use super::words::{number, percent, time};
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::Severity;

/// New connections over requests.
const NOTE: f64 = 0.1;
const WARNING: f64 = 0.5;
/// Fewer requests than this tell nothing of whether connections are kept.
const REQUESTS_MIN: u64 = 20;

pub(super) const CHECK: Check = Check {
    id: "connection-bound",
    question: "Did requests wait for connections instead of using them again?",
    evidence: "connections that were made, beyond one for each request in flight, against requests to the object store",
    threshold: "note when a tenth of the requests needed a new connection, warning from half of them",
    reason: "making a connection takes a round trip, with TLS several and a signature of the server's: a request that needs one measures that",
    cause: "the server, or a proxy before it, closes connections after their answers (no keep-alive), or they broke",
    remedy: || {
        "turn keep-alive on in the server or proxy, or raise how many requests it lets a connection have; read the latency as that of clients that connect anew".into()
    },
    proof: Proof {
        how: How::Recorded,
        fires: "crates/judge/src/checks/connection_bound.rs::connections_for_every_request_are_told",
        silent: "crates/judge/src/checks/connection_bound.rs::kept_connections_are_silent",
    },
    look: Look::Run(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(about).collect()
}

fn about(part: &Part) -> Option<Finding> {
    let exchange = part.metrics.exchange.as_ref()?;
    let sent: u64 = exchange.requests.iter().map(|request| request.sent).sum();
    let in_flight = u64::from(part.metrics.depth.requested.max(1)) * part.workers.len() as u64;
    let again = exchange.connections.saturating_sub(in_flight);
    let share = again as f64 / sent.max(1) as f64;
    if sent < REQUESTS_MIN || share < NOTE {
        return None;
    }
    let severity = if share < WARNING { Severity::Note } else { Severity::Warning };
    let half = |stats: &Option<crate::LatencyStats>| {
        stats.as_ref().and_then(|stats| stats.percentiles.first()).map(|(_, ns)| *ns as f64)
    };
    let made = half(&exchange.connect).map_or(String::new(), |connect| {
        let tls = half(&exchange.handshake).unwrap_or(0.0);
        format!(", half of them in {} or more", time(connect + tls))
    });
    let text = format!(
        "{} connections were made for {} requests{made}: {} of the requests needed a new one",
        number(exchange.connections as f64),
        number(sent as f64),
        percent(share.min(1.0)),
    );
    Some(Finding {
        figures: vec![
            Figure::new("connections made", exchange.connections as f64, "count"),
            Figure::new("requests", sent as f64, "count"),
        ],
        ..CHECK.about(part, severity, text)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asking, findings, the_finding};
    use super::*;

    #[test]
    fn connections_for_every_request_are_told() {
        let mut record = asking("GET", 1000, 0);
        record.jobs[0].exchange.as_mut().expect("it asks").connections = 990;
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("990 connections were made for 1.0 k requests"));
        record.jobs[0].exchange.as_mut().expect("it asks").connections = 200;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
    }

    #[test]
    fn kept_connections_are_silent() {
        assert!(findings(&asking("GET", 1000, 0), CHECK.id).is_empty());
    }
}
