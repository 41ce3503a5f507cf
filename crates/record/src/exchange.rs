//! Requests to an object store, and its answers.

use crate::{Bytes, Histogram, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The kinds of requests by their names in [`RequestResult::request`].
pub const REQUESTS: [&str; 11] = [
    "PUT",
    "GET",
    "HEAD",
    "DELETE",
    "LIST",
    "CreateMultipartUpload",
    "UploadPart",
    "CompleteMultipartUpload",
    "AbortMultipartUpload",
    "CreateBucket",
    "HeadBucket",
];

/// The requests of one worker. Requests that belong to one I/O (the parts of an upload, repeats
/// after a failure) are each counted here. The result of the direction counts the I/O once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The protocol: "s3", "webdav", "swift".
    pub protocol: String,
    /// Hosts with their ports, in the order they were used in turn.
    pub endpoints: Vec<String>,
    /// How the content is protected in transit: "signed" (its SHA-256 is in the signature),
    /// "unsigned" (only headers are), "none".
    pub content: String,
    /// TLS: "off", "verified", "insecure".
    pub tls: String,
    /// Connections that were made.
    pub connections: u64,
    /// One for each kind of request that was sent.
    pub requests: Vec<RequestResult>,
    /// Times to connect.
    pub connect: Histogram,
    /// Times of TLS handshakes; empty without TLS.
    pub handshake: Histogram,
    /// The first failure of each kind, in words: answers that count as errors, and other failures.
    pub failures: Vec<String>,
    /// The requests by endpoint, in the order of the endpoints; empty if there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostResult>,
}

/// The requests to one of several endpoints in the measured window, of all kinds and with repeats,
/// each counted where it was sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostResult {
    /// Host and port.
    pub endpoint: String,
    /// Number of requests with a good answer.
    pub good: u64,
    /// Number of the other requests, whether they were repeated or not.
    pub failed: u64,
    /// Bytes of content that good requests sent or received.
    pub bytes: Bytes,
    /// From the start to the end of a request, for good requests.
    pub whole: Histogram,
}

impl HostResult {
    fn merge(&mut self, other: &HostResult) {
        self.good += other.good;
        self.failed += other.failed;
        self.bytes.0 += other.bytes.0;
        self.whole.merge(&other.whole);
    }
}

/// The requests of one kind, of the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestResult {
    /// Its name in S3's API; one of [`REQUESTS`].
    pub request: String,
    /// Number of sent requests, repeats included.
    pub sent: u64,
    /// Number of requests with a good answer.
    pub good: u64,
    /// Number of repeats of failed requests. The failures before repeats are counted only in
    /// `repeated_statuses` and `repeated_failures`.
    pub retries: u64,
    /// Number of requests that were sent again because a reused connection closed before the first
    /// byte of the answer. Servers close idle connections, but a server that drops requests looks
    /// the same. `sent` counts each of them once.
    #[serde(default)]
    pub resent: u64,
    /// Bytes of content that good requests sent or received.
    pub bytes: Bytes,
    /// Number of keys in listings.
    pub keys: u64,
    /// Answers by status, errors included.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures without a status, by kind: "timeout", "connect", "reset", "short body", …
    pub failures: BTreeMap<String, u64>,
    /// Answers after which the request was repeated, by status.
    #[serde(default)]
    pub repeated_statuses: BTreeMap<u16, u64>,
    /// Failures without a status after which the request was repeated, by kind. With the above they
    /// add up to `retries`, except in records that have neither.
    #[serde(default)]
    pub repeated_failures: BTreeMap<String, u64>,
    /// Number of requests without an answer when the user ended the run.
    #[serde(default)]
    pub unfinished: u64,
    /// From handing the request to the kernel until the first byte of the answer, for good
    /// requests.
    pub first_byte: Histogram,
    /// From the start of the request (signing and waiting for its connection included) to its end,
    /// for good requests.
    pub whole: Histogram,
    /// Good answers, bytes and keys in each second of the window.
    pub seconds: Vec<Second>,
}

/// One second of a kind of request. It counts what ends in it; bytes are spread evenly over the
/// seconds that a request took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Requests that ended.
    pub requests: u64,
    /// Bytes of content.
    pub bytes: f64,
    /// Keys.
    pub keys: u64,
}

impl Exchange {
    /// The requests of a kind; `None` if there were none.
    pub fn of_kind(&self, request: &str) -> Option<&RequestResult> {
        self.requests.iter().find(|result| result.request == request)
    }

    /// Whether a host is this machine, as its address says.
    pub fn is_local(&self) -> bool {
        let local = |endpoint: &String| {
            let host = endpoint.rsplit_once(':').map_or(&**endpoint, |(host, _)| host);
            let host = host.trim_matches(['[', ']']);
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        };
        self.endpoints.iter().any(local)
    }

    /// Adds the requests of another worker, whose window began this much `later`: its seconds are
    /// shifted by whole seconds.
    pub fn merge(&mut self, other: &Exchange, later: Nanos) {
        self.connections += other.connections;
        self.connect.merge(&other.connect);
        self.handshake.merge(&other.handshake);
        add_new(&mut self.endpoints, &other.endpoints);
        add_new(&mut self.failures, &other.failures);
        for host in &other.hosts {
            match self.hosts.iter_mut().find(|known| known.endpoint == host.endpoint) {
                Some(known) => known.merge(host),
                None => self.hosts.push(host.clone()),
            }
        }
        for result in &other.requests {
            let known = self.requests.iter_mut().find(|known| known.request == result.request);
            let into = match known {
                Some(known) => known,
                None => {
                    let request = result.request.clone();
                    self.requests.push(RequestResult { request, ..RequestResult::default() });
                    self.requests.last_mut().unwrap_or_else(|| unreachable!("it was just added"))
                }
            };
            into.merge(result, (later.seconds() + 0.5) as usize);
        }
    }
}

impl RequestResult {
    fn merge(&mut self, other: &RequestResult, seconds_later: usize) {
        self.sent += other.sent;
        self.good += other.good;
        self.retries += other.retries;
        self.resent += other.resent;
        self.bytes.0 += other.bytes.0;
        self.keys += other.keys;
        self.unfinished += other.unfinished;
        add(&mut self.statuses, &other.statuses);
        add(&mut self.failures, &other.failures);
        add(&mut self.repeated_statuses, &other.repeated_statuses);
        add(&mut self.repeated_failures, &other.repeated_failures);
        self.first_byte.merge(&other.first_byte);
        self.whole.merge(&other.whole);
        let needed = other.seconds.len() + seconds_later;
        if !other.seconds.is_empty() && self.seconds.len() < needed {
            self.seconds.resize(needed, Second::default());
        }
        for (into, more) in self.seconds.iter_mut().skip(seconds_later).zip(&other.seconds) {
            into.requests += more.requests;
            into.bytes += more.bytes;
            into.keys += more.keys;
        }
    }

    /// Requests that failed and were not repeated: each of `sent` is good, failed, repeated or
    /// unfinished.
    pub fn failed(&self) -> u64 {
        self.sent.saturating_sub(self.good + self.retries + self.unfinished)
    }
}

fn add<K: Ord + Clone>(all: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    for (key, count) in more {
        *all.entry(key.clone()).or_default() += count;
    }
}

fn add_new(all: &mut Vec<String>, more: &[String]) {
    let new: Vec<String> = more.iter().filter(|text| !all.contains(text)).cloned().collect();
    all.extend(new);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_one(request: &str, status: u16, bytes: f64) -> Exchange {
        let mut result = RequestResult { request: request.into(), ..Default::default() };
        (result.good, result.bytes) = (1, Bytes(bytes as u64));
        result.statuses.insert(status, 1);
        (result.sent, result.retries, result.unfinished) = (5, 2, 1);
        result.repeated_statuses.insert(503, 1);
        result.repeated_failures.insert("reset".into(), 1);
        result.whole.record(1000);
        result.seconds = vec![Second { requests: 1, bytes, keys: 0 }];
        Exchange {
            endpoints: vec!["a:80".into()],
            connections: 3,
            requests: vec![result],
            failures: vec!["gone".into()],
            ..Exchange::default()
        }
    }

    #[test]
    fn hosts_of_this_machine_are_known_by_their_address() {
        let local = |endpoint: &str| {
            let endpoints = vec!["store.example:80".into(), endpoint.into()];
            Exchange { endpoints, ..Exchange::default() }.is_local()
        };
        assert!(
            ["127.0.0.1:9000", "[::1]:80", "localhost:80", "127.9.9.9:1"].map(local) == [true; 4]
        );
        assert!(!local("10.0.0.1:9000") && !local("[fe80::1]:80"));
    }

    #[test]
    fn endpoints_add_up_by_name() {
        let of = |endpoint: &str| {
            let host = HostResult {
                endpoint: endpoint.into(),
                good: 1,
                failed: 2,
                ..HostResult::default()
            };
            Exchange { hosts: vec![host], ..Exchange::default() }
        };
        let mut all = of("a:80");
        all.merge(&of("b:80"), Nanos(0));
        all.merge(&of("a:80"), Nanos(0));
        let hosts: Vec<_> =
            all.hosts.iter().map(|h| (h.endpoint.as_str(), h.good, h.failed)).collect();
        assert_eq!(hosts, [("a:80", 2, 4), ("b:80", 1, 2)]);
    }

    #[test]
    fn workers_add_up_kind_by_kind_and_second_by_second() {
        let mut all = of_one("GET", 200, 10.0);
        all.merge(&of_one("GET", 206, 20.0), Nanos(1_400_000_000));
        all.merge(&of_one("PUT", 200, 5.0), Nanos(0));
        assert_eq!((all.connections, all.endpoints.len(), all.failures.len()), (9, 1, 1));
        let get = all.of_kind("GET").expect("it was asked");
        assert_eq!((get.sent, get.good, get.failed(), get.bytes.0), (10, 2, 2, 30));
        assert_eq!((get.statuses[&200], get.statuses[&206], get.whole.count()), (1, 1, 2));
        assert_eq!((get.retries, get.unfinished), (4, 2));
        assert_eq!((get.repeated_statuses[&503], get.repeated_failures["reset"]), (2, 2));
        let bytes: Vec<f64> = get.seconds.iter().map(|second| second.bytes).collect();
        assert_eq!(bytes, [10.0, 20.0]);
        assert_eq!(all.of_kind("PUT").map(|put| put.sent), Some(5));
    }
}
