//! `fathom s3`: throughput, seconds and latencies of each kind of request.

use super::parts::interruption;
use crate::cpu_profile;
use crate::style::{Style, printable};
use record::{Histogram, HostResult, human};
use std::collections::BTreeMap;
use suite::objects::{Conclusion, Operation, Rate};

/// Percentiles that are shown.
pub(crate) const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// `fathom s3`, without the verdict.
pub fn objects(conclusion: &Conclusion, style: &Style) -> String {
    let mut out = String::new();
    for operation in &conclusion.operations {
        out += &self::operation(operation, conclusion, style);
    }
    out += &hosts(conclusion, style);
    if conclusion.operations.is_empty() {
        out += "Nothing was measured.\n\n";
    }
    out += &style.paragraph(&connection(conclusion), 0);
    out += &cpu(conclusion, style);
    out.extend(conclusion.cpu_profile.as_ref().map(|profile| cpu_profile::text(profile, style)));
    for failure in &conclusion.exchange.failures {
        out += &style.paragraph(&format!("Failed: {failure}"), 0);
    }
    out + &interruption(conclusion.interrupted_by, "the figures are of what was done before")
}

fn operation(operation: &Operation, conclusion: &Conclusion, style: &Style) -> String {
    let (name, unit, average) = (&operation.requests.request, operation.unit, &operation.average);
    let amount = match operation.requests.bytes.0 {
        // Keys come many in an answer, so their rate is none of I/Os.
        0 if unit == "keys" => format!("{name}: {:.0} keys/s", average.count),
        0 => format!("{name}: IOPS {:.0} {unit}/s", average.count),
        _ => format!(
            "{name}: THROUGHPUT {}/s, IOPS {:.0} {unit}/s",
            human::size(average.bytes),
            average.count
        ),
    };
    let concurrent = conclusion.concurrent;
    let took = format!("{:.1} s", conclusion.elapsed.0 as f64 / 1e9);
    let done = operation.requests.good;
    let mut out = style.bold(&amount) + "\n";
    let mut line = |label: &str, text: String| out += &format!(" * {label:<11} {text}\n");
    line("Requests:", format!("{done} in {took}, concurrency {concurrent}"));
    let rate = |rate: &Rate| self::rate(rate, operation);
    line("Average:", rate(average));
    if let Some(seconds) = &operation.seconds {
        line("Fastest:", rate(&seconds.fastest));
        line("50% Median:", rate(&seconds.median));
        line("Slowest:", rate(&seconds.slowest));
        let noun = if seconds.count == 1 { "second" } else { "seconds" };
        let left = "the first and the last are left out";
        line("", format!("(of {} whole {noun}; {left})", seconds.count));
    }
    line("Latency:", latency(&operation.requests.whole));
    if !operation.requests.first_byte.is_empty() {
        line("TTFB:", latency(&operation.requests.first_byte));
    }
    if let Some(response) = &operation.response {
        line("Response:", latency(response) + "  (from when each was due)");
    }
    line("Errors:", errors(operation));
    out + "\n"
}

/// The requests by endpoint, if there are several.
fn hosts(conclusion: &Conclusion, style: &Style) -> String {
    if conclusion.exchange.hosts.is_empty() {
        return String::new();
    }
    let seconds = conclusion.elapsed.0 as f64 / 1e9;
    let line = |host: &HostResult| {
        let bytes = match host.bytes.0 {
            0 => String::new(),
            bytes => format!(", {}/s", human::size(bytes as f64 / seconds)),
        };
        let (endpoint, good, failed) = (&host.endpoint, host.good, host.failed);
        let (count, latency) = (good as f64 / seconds, latency(&host.whole));
        format!(
            " * {endpoint}: {good} requests{bytes}, {count:.0}/s, {failed} failed\n   Latency: {latency}\n"
        )
    };
    let lines: String = conclusion.exchange.hosts.iter().map(line).collect();
    format!("{}\n{lines}\n", style.bold("By endpoint"))
}

/// "1198.20 MiB/s, 239.64 obj/s".
fn rate(rate: &Rate, operation: &Operation) -> String {
    let count = format!("{:.2} {}/s", rate.count, operation.unit);
    match operation.requests.bytes.0 {
        0 => count,
        _ => format!("{:.2} MiB/s, {count}", rate.bytes / f64::from(1 << 20)),
    }
}

fn latency(histogram: &Histogram) -> String {
    if histogram.is_empty() {
        return "none".into();
    }
    let time = |ns: u64| human::time(ns as f64);
    let at =
        |percentile: &f64| format!("{percentile}% {}", time(histogram.percentile(*percentile)));
    let percentiles: Vec<String> = PERCENTILES.iter().map(at).collect();
    format!(
        "avg {}, {}, best {}, worst {}",
        human::time(histogram.mean()),
        percentiles.join(", "),
        time(histogram.min()),
        time(histogram.max())
    )
}

/// "0", or the number of failures by kind.
fn errors(operation: &Operation) -> String {
    let kinds = |counts: &BTreeMap<String, u64>| {
        let kinds = counts.iter().map(|(kind, count)| format!("{kind} x{count}"));
        kinds.collect::<Vec<String>>().join(", ")
    };
    let mut text = match (operation.requests.failed(), kinds(&operation.errors())) {
        (0, _) => "0".to_owned(),
        (failed, kinds) if kinds.is_empty() => format!("{failed} of {}", operation.requests.sent),
        (failed, kinds) => format!("{failed} of {}: {kinds}", operation.requests.sent),
    };
    if operation.requests.retries > 0 {
        text += &format!("; {} requests were repeats", operation.requests.retries);
    }
    if !operation.repeated().is_empty() {
        text += &format!(", after {}", kinds(&operation.repeated()));
    }
    if operation.requests.resent > 0 {
        text += &format!(
            "; {} were sent again after their connection closed",
            operation.requests.resent
        );
    }
    if operation.requests.unfinished > 0 {
        text += &format!("; {} were under way at the early end", operation.requests.unfinished);
    }
    text
}

/// The CPU time of the client and of the server, beside each other.
fn cpu(conclusion: &Conclusion, style: &Style) -> String {
    let seconds = conclusion.elapsed.0 as f64 / 1e9;
    if seconds <= 0.0 {
        return String::new();
    }
    let done: u64 = conclusion
        .operations
        .iter()
        .filter(|operation| operation.requests.request != suite::objects::MULTIPART)
        .map(|operation| operation.requests.good)
        .sum();
    let line = |name: &str, cpu: f64, window: f64| {
        let each = match done {
            0 => String::new(),
            done => format!("{:>12}", human::time(cpu * 1e9 / done as f64)),
        };
        format!("{name:<32}{cpu:>12.2}{:>14.2}{each}\n", cpu / window.max(1e-9))
    };
    let head =
        format!("{:<32}{:>12}{:>14}{:>12}", "CPU time", "seconds", "CPUs in use", "a request");
    let mut out =
        style.bold(&head) + "\n" + &line("client (fathom)", conclusion.cpu_seconds, seconds);
    for server in &conclusion.servers {
        let name = format!("server ({}, process {})", printable(&server.name), server.pid);
        out += &line(&name, server.cpu.seconds(), server.window.seconds());
    }
    if conclusion.servers.is_empty() {
        out += &style
            .paragraph("The server is on another machine, or its process may not be seen.", 0);
    }
    out + "\n"
}

/// The endpoints and their protection, and the CPU time of the client.
fn connection(conclusion: &Conclusion) -> String {
    let content = match conclusion.exchange.content.as_str() {
        "signed" => "content signed",
        "unsigned" => "content not signed (UNSIGNED-PAYLOAD)",
        _ => "nothing signed",
    };
    let tls = match conclusion.exchange.tls.as_str() {
        "verified" => "TLS",
        "insecure" => "TLS with a server that was not verified",
        _ => "no TLS",
    };
    let bytes =
        conclusion.operations.iter().filter(|o| o.requests.request != suite::objects::MULTIPART);
    let bytes: u64 = bytes.map(|operation| operation.requests.bytes.0).sum();
    let gib = bytes as f64 / f64::from(1 << 30);
    let cost = match gib > 0.0 {
        true => {
            format!(", {:.2} CPU-seconds of this machine per GiB", conclusion.cpu_seconds / gib)
        }
        false => String::new(),
    };
    format!(
        "To {}: {tls}, {content}, {} connections{cost}.",
        conclusion.exchange.endpoints.join(", "),
        conclusion.exchange.connections
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use record::{Bytes, Exchange, Nanos, RequestResult};
    use suite::objects::Seconds;

    /// Without the ends of lines, which depend on the width.
    fn joined(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn mib(mib: f64, count: f64) -> Rate {
        Rate { bytes: mib * 1048576.0, count }
    }

    fn host(port: u16, good: u64, failed: u64) -> HostResult {
        let mut whole = Histogram::new();
        whole.record_n(2_000_000, good);
        let (endpoint, bytes) = (format!("127.0.0.1:{port}"), Bytes(good * (3 << 20)));
        HostResult { endpoint, good, failed, bytes, whole }
    }

    /// Two kinds of requests, some of which failed.
    pub(crate) fn done() -> Conclusion {
        let mut latency = Histogram::new();
        latency.record_n(2_000_000, 100);
        let heads = RequestResult {
            request: "HEAD".into(),
            good: 100,
            sent: 100,
            whole: latency.clone(),
            first_byte: latency.clone(),
            ..RequestResult::default()
        };
        let puts = RequestResult {
            request: "PUT".into(),
            sent: 119,
            retries: 3,
            resent: 2,
            unfinished: 4,
            bytes: Bytes(500 << 20),
            statuses: [(503, 10)].into(),
            failures: [("timeout".to_owned(), 2)].into(),
            repeated_statuses: [(503, 3)].into(),
            ..heads.clone()
        };
        let stat = Operation {
            requests: heads,
            unit: "obj",
            average: Rate { bytes: 0.0, count: 240.0 },
            ..Operation::default()
        };
        let put = Operation {
            requests: puts,
            average: mib(1200.0, 240.0),
            seconds: Some(Seconds {
                count: 58,
                fastest: mib(1300.0, 260.0),
                median: mib(1210.0, 242.0),
                slowest: mib(900.0, 180.0),
            }),
            response: Some(latency),
            ..stat.clone()
        };
        let exchange = Exchange {
            endpoints: vec!["127.0.0.1:9000".into(), "127.0.0.1:9001".into()],
            hosts: vec![host(9000, 200, 0), host(9001, 0, 12)],
            content: "signed".into(),
            tls: "off".into(),
            connections: 20,
            failures: vec!["the server answered 503 SlowDown".into()],
            ..Exchange::default()
        };
        Conclusion {
            operations: vec![put, stat],
            elapsed: Nanos(60_000_000_000),
            concurrent: 20,
            exchange,
            cpu_seconds: 0.25,
            ..Conclusion::default()
        }
    }

    #[test]
    fn each_kind_of_request_has_its_lines() {
        let text = objects(&done(), &Style::default());
        for line in [
            "PUT: THROUGHPUT 1.17 GiB/s, IOPS 240 obj/s\n",
            " * Requests:   100 in 60.0 s, concurrency 20\n",
            " * Average:    1200.00 MiB/s, 240.00 obj/s",
            " * Fastest:    1300.00 MiB/s, 260.00 obj/s",
            " * 50% Median: 1210.00 MiB/s, 242.00 obj/s",
            " * Slowest:    900.00 MiB/s, 180.00 obj/s",
            "(of 58 whole seconds; the first and the last are left out)",
            " * Errors:     12 of 119: 503 x10, timeout x2; 3 requests were repeats, after 503 x3; \
             2 were sent again after their connection closed; 4 were under way at the early end",
            "HEAD: IOPS 240 obj/s\n",
            " * Errors:     0",
            "0.51 CPU-seconds of this machine per GiB",
            "Failed: the server answered 503 SlowDown",
            "By endpoint\n * 127.0.0.1:9000: 200 requests, 10 MiB/s, 3/s, 0 failed",
            " * 127.0.0.1:9001: 0 requests, 0/s, 12 failed Latency: none",
        ] {
            assert!(joined(&text).contains(&joined(line)), "{line}\n{text}");
        }
        assert!(text.contains("99.9% 2 ms"), "{text}");
        let nothing = objects(&Conclusion::default(), &Style::default());
        assert!(nothing.starts_with("Nothing was measured."), "{nothing}");
    }
}
