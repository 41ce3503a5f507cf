//! The figures as JSON.

use super::conclusion::{Conclusion, Figure};
use record::SavedTo;
use serde_json::{Value, json};

/// All figures and the end of the call. Rates are in bytes and operations per second, latencies in
/// nanoseconds, CPU use in percent of one CPU. `kept` holds the places of the records.
pub fn json(conclusion: &Conclusion, kept: &SavedTo) -> String {
    let all = json!({
        "figures": conclusion.figures.iter().map(figure).collect::<Vec<Value>>(),
        "durability": conclusion.durability.map(|durability| durability.name()),
        "failure": conclusion.failure.as_ref().map(|failure| &failure.text),
        "interrupted_by": conclusion.interrupted_by,
        "record": kept.record,
        "archived_as": kept.archived_as,
    });
    format!("{all:#}\n")
}

fn figure(figure: &Figure) -> Value {
    let [p50, p99, p999, most] = figure.latency_ns.map_or([None; 4], |all| all.map(Some));
    json!({
        "operation": figure.operation.kind().name,
        "file_kb": figure.size_kb,
        "record_kb": figure.record_kb,
        "threads": figure.processes,
        "bytes_per_second": figure.bytes_per_second,
        "ops_per_second": figure.ops_per_second,
        "latency_ns": { "p50": p50, "p99": p99, "p99.9": p999, "max": most },
        "cpu_percent": figure.cpu,
        "source": figure.source.name(),
    })
}
