//! What was asked of an object store, by kind of request.

use super::latency::{self, LatencyStats};
use record::{
    Exchange, Histogram, HostResult, JobRecord, Nanos, RequestResult, Second, SyncResult, distinct,
};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Percentiles of requests: those that people quote of object stores, whatever the job asks for.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// The requests of a report unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExchangeMetrics {
    /// What was spoken: "s3", "webdav", "swift".
    pub protocol: String,
    /// Hosts with their ports.
    pub endpoints: Vec<String>,
    /// What protects the content: "signed", "unsigned", "none".
    pub content: String,
    /// "off", "verified", "insecure".
    pub tls: String,
    /// Connections that were made.
    pub connections: u64,
    /// How long they took to be made; `None` when none was.
    pub connect: Option<LatencyStats>,
    /// How long agreeing on keys took.
    pub handshake: Option<LatencyStats>,
    /// By kind, in the order in which they were first sent.
    pub requests: Vec<RequestMetrics>,
    /// The first failure of each kind, in words.
    pub failures: Vec<String>,
    /// By endpoint; empty where there is one only.
    pub hosts: Vec<HostMetrics>,
}

/// What one of several endpoints was asked, see [`HostResult`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostMetrics {
    /// Host and port.
    pub endpoint: String,
    /// How many requests were answered as they should be.
    pub good: u64,
    /// How many were not, whether they were repeated or not.
    pub failed: u64,
    /// Bytes of content of good ones.
    pub bytes: u64,
    /// From beginning to end, of good ones.
    pub whole: Option<LatencyStats>,
}

/// The requests of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestMetrics {
    /// Its name ("GET").
    pub request: String,
    /// How many were sent, repeats included.
    pub sent: u64,
    /// How many were answered as they should be.
    pub good: u64,
    /// How many failed and were not repeated, see [`RequestResult::failed`].
    pub failed: u64,
    /// How many repeated a failed one.
    pub retries: u64,
    /// How many were sent once more, see [`RequestResult::resent`].
    pub resent: u64,
    /// Bytes of content.
    pub bytes: u64,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures without a status, by kind.
    pub failures: BTreeMap<String, u64>,
    /// Answers after which the request was repeated, by status.
    pub repeated_statuses: BTreeMap<u16, u64>,
    /// Failures without a status after which it was repeated, by kind.
    pub repeated_failures: BTreeMap<String, u64>,
    /// How many had no answer when the run was ended by its user.
    pub unfinished: u64,
    /// Until the first byte of the answer.
    pub first_byte: Option<LatencyStats>,
    /// From beginning to end.
    pub whole: Option<LatencyStats>,
    /// What was done in each second of the window.
    pub seconds: Vec<Second>,
}

impl ExchangeMetrics {
    /// Whether a host is this machine, as its address says.
    pub fn is_local(&self) -> bool {
        let host = |endpoint: &str| {
            let host = endpoint.rsplit_once(':').map_or(endpoint, |(host, _)| host);
            host.trim_matches(['[', ']']).to_owned()
        };
        let local = |host: String| {
            let address = host.parse::<IpAddr>();
            host == "localhost" || address.is_ok_and(|address| address.is_loopback())
        };
        self.endpoints.iter().any(|endpoint| local(host(endpoint)))
    }
}

/// The requests of some workers together; `None` when they had no object store.
pub(crate) fn measure(jobs: &[&JobRecord]) -> Option<ExchangeMetrics> {
    Some(metrics(&merged(jobs)?))
}

/// What some workers asked, their seconds counted from the first window's beginning.
pub fn merged(jobs: &[&JobRecord]) -> Option<Exchange> {
    let asked = || jobs.iter().filter_map(|job| Some((job.started, job.exchange.as_ref()?)));
    let first = asked().map(|(started, _)| started).min()?;
    let (_, some) = asked().next()?;
    let mut all = Exchange {
        protocol: some.protocol.clone(),
        content: some.content.clone(),
        tls: some.tls.clone(),
        ..Exchange::default()
    };
    asked().for_each(|(started, exchange)| all.merge(exchange, Nanos(started.0 - first.0)));
    Some(all)
}

/// What some workers asked of a kind, each worker's by itself; `None`: of every kind.
fn results<'a>(
    jobs: &'a [&JobRecord],
    request: Option<&'a str>,
) -> impl Iterator<Item = &'a RequestResult> {
    let all = jobs.iter().filter_map(|job| job.exchange.as_ref()).flat_map(|asked| &asked.requests);
    all.filter(move |result| request.is_none_or(|request| result.request == request))
}

/// The synchronisations of some workers. Of those that ask object stores HEADs among other requests
/// are in their place, which are told as what they are.
pub(crate) fn syncs<'a>(jobs: &[&'a JobRecord]) -> impl Iterator<Item = &'a SyncResult> {
    jobs.iter().filter(|job| job.exchange.is_none()).map(|job| &job.sync)
}

/// The kinds of requests that some workers sent, in the order in which they were first sent.
pub(crate) fn kinds(jobs: &[&JobRecord]) -> Vec<String> {
    let sent = results(jobs, None).filter(|result| result.sent > 0);
    distinct(sent.map(|result| result.request.clone()))
}

/// How long requests of a kind took, by `part`: to the first byte, or as a whole. `None` when none
/// was answered as it should be.
pub(crate) fn times(
    jobs: &[&JobRecord],
    request: Option<&str>,
    part: fn(&RequestResult) -> &Histogram,
) -> Option<Histogram> {
    latency::merged(results(jobs, request).map(part))
}

/// Requests of a kind that came to an end, each counted once however often it was repeated: how many
/// failed, and how many there were.
pub(crate) fn failed(jobs: &[&JobRecord], request: &str) -> (u64, u64) {
    let each = results(jobs, Some(request)).map(|one| (one.failed(), one.failed() + one.good));
    each.fold((0, 0), |sum, (failed, ended)| (sum.0 + failed, sum.1 + ended))
}

fn metrics(exchange: &Exchange) -> ExchangeMetrics {
    ExchangeMetrics {
        protocol: exchange.protocol.clone(),
        endpoints: exchange.endpoints.clone(),
        content: exchange.content.clone(),
        tls: exchange.tls.clone(),
        connections: exchange.connections,
        connect: stats(&exchange.connect),
        handshake: stats(&exchange.handshake),
        requests: exchange.requests.iter().map(request).collect(),
        failures: exchange.failures.clone(),
        hosts: exchange.hosts.iter().map(host).collect(),
    }
}

fn host(result: &HostResult) -> HostMetrics {
    HostMetrics {
        endpoint: result.endpoint.clone(),
        good: result.good,
        failed: result.failed,
        bytes: result.bytes.0,
        whole: stats(&result.whole),
    }
}

fn request(result: &RequestResult) -> RequestMetrics {
    RequestMetrics {
        request: result.request.clone(),
        sent: result.sent,
        good: result.good,
        failed: result.failed(),
        retries: result.retries,
        resent: result.resent,
        bytes: result.bytes.0,
        statuses: result.statuses.clone(),
        failures: result.failures.clone(),
        repeated_statuses: result.repeated_statuses.clone(),
        repeated_failures: result.repeated_failures.clone(),
        unfinished: result.unfinished,
        first_byte: stats(&result.first_byte),
        whole: stats(&result.whole),
        seconds: result.seconds.clone(),
    }
}

fn stats(histogram: &Histogram) -> Option<LatencyStats> {
    (!histogram.is_empty()).then(|| LatencyStats::of(histogram, &PERCENTILES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine_are_known_by_their_address() {
        let local = |endpoint: &str| {
            let endpoints = vec!["store.example:80".into(), endpoint.into()];
            ExchangeMetrics { endpoints, ..ExchangeMetrics::default() }.is_local()
        };
        assert!(
            ["127.0.0.1:9000", "[::1]:80", "localhost:80", "127.9.9.9:1"].map(local) == [true; 4]
        );
        assert!(!local("10.0.0.1:9000") && !local("[fe80::1]:80"));
    }

    #[test]
    fn workers_that_asked_nothing_have_no_part_in_it() {
        let job = JobRecord { started: Nanos(5), ..JobRecord::default() };
        assert_eq!(measure(&[&job]), None);
        let exchange = Exchange { connections: 2, ..Exchange::default() };
        let asking = JobRecord { exchange: Some(exchange), ..job.clone() };
        let metrics = measure(&[&job, &asking, &asking]).expect("two asked");
        assert_eq!((metrics.connections, metrics.connect), (4, None));
    }
}
