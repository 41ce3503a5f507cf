//! Requests to an object store.

use super::latency::latency;
use super::tree::{Json, array, object, texts};
use judge::request_times;
use record::{Exchange, Histogram, HostResult, RequestResult, Second};
use std::collections::BTreeMap;

/// About the requests of one unit.
pub(super) fn json(exchange: &Exchange, bins: bool) -> Json {
    object! {
        "protocol" => &exchange.protocol,
        "endpoints" => texts(&exchange.endpoints),
        "content" => &exchange.content,
        "tls" => &exchange.tls,
        "connections" => exchange.connections,
        "connect_ns" => times(&exchange.connect, bins),
        "tls_ns" => times(&exchange.handshake, bins),
        "requests" => array(&exchange.requests, |request| request_object(request, bins)),
        "failures" => texts(&exchange.failures),
        "hosts" => array(&exchange.hosts, |host| host_object(host, bins)),
    }
}

fn host_object(host: &HostResult, bins: bool) -> Json {
    object! {
        "endpoint" => &host.endpoint,
        "good" => host.good,
        "failed" => host.failed,
        "bytes" => host.bytes.0,
        "whole_ns" => times(&host.whole, bins),
    }
}

fn request_object(request: &RequestResult, bins: bool) -> Json {
    object! {
        "request" => &request.request,
        "sent" => request.sent,
        "good" => request.good,
        "failed" => request.failed(),
        "retries" => request.retries,
        "resent" => request.resent,
        "bytes" => request.bytes.0,
        "unfinished" => request.unfinished,
        "statuses" => counts(&request.statuses),
        "failures" => counts(&request.failures),
        "repeated_statuses" => counts(&request.repeated_statuses),
        "repeated_failures" => counts(&request.repeated_failures),
        "first_byte_ns" => times(&request.first_byte, bins),
        "whole_ns" => times(&request.whole, bins),
        "seconds" => array(&request.seconds, second),
    }
}

fn times(times: &Histogram, bins: bool) -> Option<Json> {
    request_times(times).map(|stats| latency(Some(&stats), true, bins))
}

fn counts<K: ToString>(counts: &BTreeMap<K, u64>) -> Json {
    Json::Object(counts.iter().map(|(key, count)| (key.to_string(), (*count).into())).collect())
}

fn second(second: &Second) -> Json {
    object! { "requests" => second.requests, "bytes" => second.bytes, "keys" => second.keys }
}
