//! `fathom s3 --json`.

use super::parts::{document, findings};
use crate::json::cpu_profile::cpu_profile;
use crate::json::tree::{Json, array, object, texts};
use crate::suite::objects::PERCENTILES;
use record::{Histogram, HostResult, SavedTo, ServerProcess};
use std::collections::BTreeMap;
use suite::objects::{Conclusion, Operation, Rate, Seconds};

/// `fathom s3 --json`; `saved`: where the record is.
pub fn objects(conclusion: &Conclusion, saved: &SavedTo) -> String {
    let rest = object! {
        "endpoints" => texts(&conclusion.exchange.endpoints),
        "hosts" => array(&conclusion.exchange.hosts, host),
        "content" => &conclusion.exchange.content,
        "tls" => &conclusion.exchange.tls,
        "concurrent" => conclusion.concurrent,
        "connections" => conclusion.exchange.connections,
        "took_ns" => conclusion.elapsed.0,
        "cpu_seconds" => conclusion.cpu_seconds,
        "servers" => array(&conclusion.servers, server),
        "cpu_profile" => conclusion.cpu_profile.as_ref().map(cpu_profile),
        "interrupted_by" => conclusion.interrupted_by,
        "operations" => array(&conclusion.operations, operation),
        "failures" => texts(&conclusion.exchange.failures),
        "findings" => findings(&conclusion.findings),
    };
    document("s3", None, saved, rest)
}

fn host(host: &HostResult) -> Json {
    object! {
        "endpoint" => &host.endpoint,
        "good" => host.good,
        "failed" => host.failed,
        "bytes" => host.bytes.0,
        "latency_ns" => latency(&host.whole),
    }
}

fn server(server: &ServerProcess) -> Json {
    object! {
        "pid" => server.pid,
        "name" => &server.name,
        "cpu_seconds" => server.cpu.seconds(),
        "seconds" => server.window.seconds(),
    }
}

fn operation(operation: &Operation) -> Json {
    object! {
        "operation" => &operation.requests.request,
        "unit" => operation.unit,
        "sent" => operation.requests.sent,
        "good" => operation.requests.good,
        "failed" => operation.requests.failed(),
        "retries" => operation.requests.retries,
        "resent" => operation.requests.resent,
        "bytes" => operation.requests.bytes.0,
        "average" => rate(&operation.average),
        "seconds" => operation.seconds.as_ref().map_or(Json::Null, seconds),
        "latency_ns" => latency(&operation.requests.whole),
        "first_byte_ns" => latency(&operation.requests.first_byte),
        "response_ns" => operation.response.as_ref().map_or(Json::Null, latency),
        "errors" => counts(&operation.errors()),
        "repeated" => counts(&operation.repeated()),
        "unfinished" => operation.requests.unfinished,
    }
}

fn counts(counts: &BTreeMap<String, u64>) -> Json {
    let count = |(kind, count): (&String, &u64)| object! { "kind" => kind, "count" => *count };
    Json::Array(counts.iter().map(count).collect())
}

fn rate(rate: &Rate) -> Json {
    object! { "bytes_per_second" => rate.bytes, "per_second" => rate.count }
}

fn seconds(seconds: &Seconds) -> Json {
    object! {
        "count" => seconds.count as u64,
        "fastest" => rate(&seconds.fastest),
        "median" => rate(&seconds.median),
        "slowest" => rate(&seconds.slowest),
    }
}

fn latency(histogram: &Histogram) -> Json {
    if histogram.is_empty() {
        return Json::Null;
    }
    let percentiles = PERCENTILES.iter().map(|percentile| {
        object! { "percentile" => *percentile, "ns" => histogram.percentile(*percentile) }
    });
    object! {
        "count" => histogram.count(),
        "mean" => histogram.mean(),
        "min" => histogram.min(),
        "max" => histogram.max(),
        "percentiles" => Json::Array(percentiles.collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_document_holds_the_figures_of_the_lines() {
        let text = objects(&crate::suite::objects::tests::done(), &SavedTo::default());
        let value: Value = serde_json::from_str(&text).unwrap();
        let host = &value["hosts"][1];
        assert_eq!((&host["endpoint"], &host["failed"]), (&"127.0.0.1:9001".into(), &12.into()));
        let put = &value["operations"][0];
        assert_eq!((&put["operation"], &put["good"]), (&"PUT".into(), &100.into()));
        assert_eq!(put["seconds"]["slowest"]["per_second"], 180.0);
        assert_eq!(put["errors"][0]["kind"], "503");
        assert_eq!((&put["failed"], &put["unfinished"]), (&12.into(), &4.into()));
        assert_eq!(
            (&put["repeated"][0]["kind"], &put["repeated"][0]["count"]),
            (&"503".into(), &3.into())
        );
        assert_eq!(put["latency_ns"]["percentiles"][3]["percentile"], 99.9);
        assert!(value["operations"][1]["seconds"].is_null());
    }
}
