//! What was asked of an object store, and what it answered.

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
/// after a failure) are each counted here; the I/O is counted once in its direction's result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What was spoken: "s3", "webdav", "swift".
    pub protocol: String,
    /// Hosts with their ports, in the order they were used in turn.
    pub endpoints: Vec<String>,
    /// What protects the content on its way: "signed" (its SHA-256 is in the signature),
    /// "unsigned" (only headers are), "none".
    pub content: String,
    /// "off", "verified", "insecure".
    pub tls: String,
    /// Connections that were made.
    pub connections: u64,
    /// One for each kind of request that was sent.
    pub requests: Vec<RequestResult>,
    /// How long connections took to be made.
    pub connect: Histogram,
    /// How long agreeing on keys took; empty without TLS.
    pub handshake: Histogram,
    /// The answers that counted as errors, and what else went wrong, in words: the first of each
    /// kind.
    pub failures: Vec<String>,
    /// What each endpoint was asked, in their order; empty where there is one only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostResult>,
}

/// What one of several endpoints was asked in the measured window: requests of all kinds, repeats
/// included, each where it went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostResult {
    /// Host and port.
    pub endpoint: String,
    /// How many were answered as they should be.
    pub good: u64,
    /// How many were not, whether they were repeated or not.
    pub failed: u64,
    /// Bytes of content that were sent or received by good ones.
    pub bytes: Bytes,
    /// From the request's beginning until its end, of good ones.
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
    /// Its name, after S3's API; one of [`REQUESTS`].
    pub request: String,
    /// How many were sent, repeats included.
    pub sent: u64,
    /// How many were answered as they should be.
    pub good: u64,
    /// How many repeated a failed one. What failed before a repeat is in `repeated_statuses` and
    /// `repeated_failures` and nowhere else.
    pub retries: u64,
    /// How many were sent once more, for their connection, which had served others, was closed
    /// before a byte of the answer came. Servers close idle connections so, but one that drops
    /// requests looks the same. `sent` counts each of them once.
    #[serde(default)]
    pub resent: u64,
    /// Bytes of content that were sent or received by good ones.
    pub bytes: Bytes,
    /// Keys that lists named.
    pub keys: u64,
    /// Answers by status, also those that are errors.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures without a status, by kind: "timeout", "connect", "reset", "short body", …
    pub failures: BTreeMap<String, u64>,
    /// Answers after which the request was repeated, by status.
    #[serde(default)]
    pub repeated_statuses: BTreeMap<u16, u64>,
    /// Failures without a status after which it was repeated, by kind. With the above they are as
    /// many as `retries`, but in records that have neither.
    #[serde(default)]
    pub repeated_failures: BTreeMap<String, u64>,
    /// How many had no answer when the run was ended by its user, and were given up.
    #[serde(default)]
    pub unfinished: u64,
    /// From handing the request to the kernel until the first byte of the answer, of good ones.
    pub first_byte: Histogram,
    /// From the request's beginning (signing and waiting for its connection included) until its
    /// end, of good ones.
    pub whole: Histogram,
    /// Good answers, bytes and keys in each second of the window.
    pub seconds: Vec<Second>,
}

/// One second of a kind of request. What ends in it is counted in it; bytes are spread evenly over
/// the seconds that a request took.
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
    /// The requests of a kind; `None`: there were none.
    pub fn of(&self, request: &str) -> Option<&RequestResult> {
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

    /// Adds what another worker asked, whose window began so much `later`: its seconds are moved by
    /// as many whole ones.
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
        let get = all.of("GET").expect("it was asked");
        assert_eq!((get.sent, get.good, get.failed(), get.bytes.0), (10, 2, 2, 30));
        assert_eq!((get.statuses[&200], get.statuses[&206], get.whole.count()), (1, 1, 2));
        assert_eq!((get.retries, get.unfinished), (4, 2));
        assert_eq!((get.repeated_statuses[&503], get.repeated_failures["reset"]), (2, 2));
        let bytes: Vec<f64> = get.seconds.iter().map(|second| second.bytes).collect();
        assert_eq!(bytes, [10.0, 20.0]);
        assert_eq!(all.of("PUT").map(|put| put.sent), Some(5));
    }
}
