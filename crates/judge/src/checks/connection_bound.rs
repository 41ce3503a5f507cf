//! Did requests wait for new connections?

use super::prelude::*;
use crate::request_times;
use record::Histogram;

/// New connections over requests.
const NOTE: f64 = 0.1;
const WARNING: f64 = 0.5;
/// Fewer requests do not show whether connections are kept.
const REQUESTS_MIN: u64 = 20;

pub(super) const CHECK: Check = Check {
    id: "connection-bound",
    question: "Did requests wait for new connections?",
    evidence: "connections beyond one for each request in flight, compared with the requests to the object store",
    threshold: "note when 10 % of the requests needed a new connection, warning from 50 %",
    reason: "a new connection takes a round trip, with TLS several and a signature by the server: the latency of such a request includes them",
    cause: "the server, or a proxy in front of it, closes connections after each response (no keep-alive), or the connections broke",
    remedy: || {
        "enable keep-alive in the server or proxy, or raise its limit of requests for each connection; otherwise read the latency as that of clients that reconnect".into()
    },
    proof: Proof::recorded("connections_for_every_request_are_told", "kept_connections_are_silent"),
    function: CheckFunction::Part(check),
};

fn check(_: &Case, part: &Part) -> Option<Finding> {
    let exchange = part.metrics.exchange.as_ref()?;
    let sent: u64 = exchange.requests.iter().map(|request| request.sent).sum();
    let in_flight = u64::from(part.metrics.depth.requested.max(1)) * part.workers.len() as u64;
    let again = exchange.connections.saturating_sub(in_flight);
    let share = again as f64 / sent.max(1) as f64;
    if sent < REQUESTS_MIN || share < NOTE {
        return None;
    }
    let severity = if share < WARNING { Severity::Note } else { Severity::Warning };
    let half = |times: &Histogram| request_times(times).map(|stats| stats.percentiles[0].1 as f64);
    let made = half(&exchange.connect).map_or(String::new(), |connect| {
        let tls = half(&exchange.handshake).unwrap_or(0.0);
        format!(", in {} at the median", time(connect + tls))
    });
    let text = format!(
        "{} connections were made for {} requests{made}: {} of the requests needed a new one",
        count(exchange.connections as f64),
        count(sent as f64),
        percent(share.min(1.0)),
    );
    let figures = [
        Figure::new("connections made", exchange.connections as f64, "count"),
        Figure::new("requests", sent as f64, "count"),
    ];
    Some(CHECK.finding_for(part, severity, text).figures(figures))
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
        assert!(found.text.contains("990 connections were made for 1 k requests"));
        record.jobs[0].exchange.as_mut().expect("it asks").connections = 200;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
    }

    #[test]
    fn kept_connections_are_silent() {
        assert!(findings(&asking("GET", 1000, 0), CHECK.id).is_empty());
    }
}
