//! What was asked of an object store.

use super::fio::latency;
use super::tree::{Json, object};
use judge::{ExchangeMetrics, HostMetrics, LatencyStats, RequestMetrics};
use record::Second;
use std::collections::BTreeMap;

/// About the requests of one unit.
pub(super) fn json(exchange: &ExchangeMetrics, bins: bool) -> Json {
    let texts = |texts: &[String]| Json::Array(texts.iter().map(Into::into).collect());
    let requests = exchange.requests.iter().map(|request| of_kind(request, bins));
    object! {
        "protocol" => &exchange.protocol,
        "endpoints" => texts(&exchange.endpoints),
        "content" => &exchange.content,
        "tls" => &exchange.tls,
        "connections" => exchange.connections,
        "connect_ns" => times(&exchange.connect, bins),
        "tls_ns" => times(&exchange.handshake, bins),
        "requests" => Json::Array(requests.collect()),
        "failures" => texts(&exchange.failures),
        "hosts" => Json::Array(exchange.hosts.iter().map(|host| of_host(host, bins)).collect()),
    }
}

fn of_host(host: &HostMetrics, bins: bool) -> Json {
    object! {
        "endpoint" => &host.endpoint,
        "good" => host.good,
        "failed" => host.failed,
        "bytes" => host.bytes,
        "whole_ns" => times(&host.whole, bins),
    }
}

fn of_kind(request: &RequestMetrics, bins: bool) -> Json {
    object! {
        "request" => &request.request,
        "sent" => request.sent,
        "good" => request.good,
        "failed" => request.failed,
        "retries" => request.retries,
        "resent" => request.resent,
        "bytes" => request.bytes,
        "unfinished" => request.unfinished,
        "statuses" => counts(&request.statuses),
        "failures" => counts(&request.failures),
        "repeated_statuses" => counts(&request.repeated_statuses),
        "repeated_failures" => counts(&request.repeated_failures),
        "first_byte_ns" => times(&request.first_byte, bins),
        "whole_ns" => times(&request.whole, bins),
        "seconds" => Json::Array(request.seconds.iter().map(second).collect()),
    }
}

fn times(stats: &Option<LatencyStats>, bins: bool) -> Option<Json> {
    stats.as_ref().map(|stats| latency(Some(stats), true, bins))
}

fn counts<K: ToString>(counts: &BTreeMap<K, u64>) -> Json {
    Json::Object(counts.iter().map(|(key, count)| (key.to_string(), (*count).into())).collect())
}

fn second(second: &Second) -> Json {
    object! { "requests" => second.requests, "bytes" => second.bytes, "keys" => second.keys }
}
