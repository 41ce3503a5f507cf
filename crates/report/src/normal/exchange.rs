//! Our own lines on requests to an object store.

use crate::request_text;
use judge::request_times;
use record::human::{count, time};
use record::{Exchange, Histogram, HostResult, RequestResult};
use std::fmt::Write;

/// Lines for a unit's part: the store, then each kind of request.
pub(super) fn render(out: &mut String, exchange: &Exchange) {
    let _ = writeln!(
        out,
        "     store     : {} at {}, TLS {}, content {}",
        exchange.protocol,
        exchange.endpoints.join(", "),
        exchange.tls,
        request_text::content_protection(&exchange.content),
    );
    let _ = writeln!(out, "     connections: {} made", exchange.connections);
    times(out, "connect", &exchange.connect);
    times(out, "TLS", &exchange.handshake);
    exchange.requests.iter().for_each(|request| kind(out, request));
    for host in &exchange.hosts {
        let HostResult { endpoint, good, failed, whole, .. } = host;
        let _ = writeln!(out, "     endpoint  : {endpoint}: good={good}, failed={failed}");
        times(out, "whole", whole);
    }
}

fn kind(out: &mut String, request: &RequestResult) {
    let mut line =
        format!("     {:<10}: sent={}, good={}", request.request, request.sent, request.good);
    let more = [
        ("failed", request.failed()),
        ("retries", request.retries),
        ("resent", request.resent),
        ("unfinished", request.unfinished),
    ];
    for (name, count) in more.iter().filter(|(_, count)| *count > 0) {
        let _ = write!(line, ", {name}={count}");
    }
    let answers = request_text::answers(request);
    let _ = match request_text::repeated_answers(request).as_str() {
        "" => writeln!(out, "{line} ({answers})"),
        repeated => writeln!(out, "{line} ({answers}; repeated after {repeated})"),
    };
    times(out, "first byte", &request.first_byte);
    times(out, "whole", &request.whole);
}

fn times(out: &mut String, name: &str, times: &Histogram) {
    let Some(stats) = request_times(times) else { return };
    let shown = |(percentile, value): &(f64, u64)| format!("p{percentile}={}", time(*value as f64));
    let shown: Vec<String> = stats.percentiles.iter().map(shown).collect();
    let (count, max) = (count(stats.count as f64), time(stats.max as f64));
    let _ = writeln!(out, "       {name:<10}: {}, max={max} of {count}", shown.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six that took `value`, and one that took twice as long.
    fn seven(value: u64) -> Histogram {
        let mut times = Histogram::default();
        times.record_n(value, 6);
        times.record(2 * value);
        times
    }

    fn host(endpoint: &str, good: u64, failed: u64) -> HostResult {
        let whole = if good > 0 { seven(1_500_000) } else { Histogram::default() };
        HostResult { endpoint: endpoint.into(), good, failed, whole, ..HostResult::default() }
    }

    #[test]
    fn each_kind_has_its_answers_and_times() {
        let get = RequestResult {
            request: "GET".into(),
            sent: 13,
            good: 7,
            retries: 2,
            resent: 2,
            unfinished: 1,
            statuses: [(200, 7), (404, 2)].into(),
            failures: [("timeout".into(), 1)].into(),
            repeated_statuses: [(503, 1)].into(),
            repeated_failures: [("reset".into(), 1)].into(),
            first_byte: seven(1_500_000),
            whole: seven(2_000_000),
            ..RequestResult::default()
        };
        let exchange = Exchange {
            protocol: "s3".into(),
            endpoints: vec!["a:80".into(), "b:80".into()],
            content: "signed".into(),
            tls: "off".into(),
            connections: 8,
            connect: seven(100_000),
            requests: vec![get],
            hosts: vec![host("a:80", 7, 0), host("b:80", 0, 5)],
            ..Exchange::default()
        };
        let mut out = String::new();
        render(&mut out, &exchange);
        let expected = "     store     : s3 at a:80, b:80, TLS off, content signed (SHA-256)
     connections: 8 made
       connect   : p50=100 µs, p90=200 µs, p99=200 µs, p99.9=200 µs, max=200 µs of 7
     GET       : sent=13, good=7, failed=3, retries=2, resent=2, unfinished=1 (200 x 7, 404 x 2, timeout x 1; repeated after 503 x 1, reset x 1)
       first byte: p50=1.5 ms, p90=3 ms, p99=3 ms, p99.9=3 ms, max=3 ms of 7
       whole     : p50=2 ms, p90=4 ms, p99=4 ms, p99.9=4 ms, max=4 ms of 7
     endpoint  : a:80: good=7, failed=0
       whole     : p50=1.5 ms, p90=3 ms, p99=3 ms, p99.9=3 ms, max=3 ms of 7
     endpoint  : b:80: good=0, failed=5
";
        assert_eq!(out, expected);
    }
}
