//! What was asked of an object store.

use super::fio::latency;
use super::tree::{Json, object};
use judge::{ExchangeMetrics, RequestMetrics};
use record::Second;

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
        "connect_ns" => exchange.connect.as_ref().map(|l| latency(Some(l), true, bins)),
        "tls_ns" => exchange.handshake.as_ref().map(|l| latency(Some(l), true, bins)),
        "requests" => Json::Array(requests.collect()),
        "failures" => texts(&exchange.failures),
    }
}

fn of_kind(request: &RequestMetrics, bins: bool) -> Json {
    let statuses = request.statuses.iter().map(|(status, n)| (status.to_string(), (*n).into()));
    let failures = request.failures.iter().map(|(kind, n)| (kind.clone(), (*n).into()));
    object! {
        "request" => &request.request,
        "sent" => request.sent,
        "good" => request.good,
        "failed" => request.failed,
        "retries" => request.retries,
        "resent" => request.resent,
        "bytes" => request.bytes,
        "statuses" => Json::Object(statuses.collect()),
        "failures" => Json::Object(failures.collect()),
        "first_byte_ns" => request.first_byte.as_ref().map(|l| latency(Some(l), true, bins)),
        "whole_ns" => request.whole.as_ref().map(|l| latency(Some(l), true, bins)),
        "seconds" => Json::Array(request.seconds.iter().map(second).collect()),
    }
}

fn second(second: &Second) -> Json {
    object! { "requests" => second.requests, "bytes" => second.bytes, "keys" => second.keys }
}
