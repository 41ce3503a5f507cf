//! Words for what was asked of an object store.

use judge::RequestMetrics;
use std::collections::BTreeMap;

/// What protects the content of objects on their way.
pub(crate) fn content(kind: &str) -> &str {
    match kind {
        "signed" => "signed (SHA-256)",
        "unsigned" => "unsigned (only heads are signed)",
        "none" => "not signed",
        other => other,
    }
}

/// "200 x 7, 404 x 2, timeout x 1": every answer by its status, every failure without one by its
/// kind, but for those that were followed by a repeat.
pub(crate) fn answers(request: &RequestMetrics) -> String {
    counts(&request.statuses, &request.failures)
}

/// The same of those that were followed by a repeat.
pub(crate) fn repeated(request: &RequestMetrics) -> String {
    counts(&request.repeated_statuses, &request.repeated_failures)
}

fn counts(statuses: &BTreeMap<u16, u64>, failures: &BTreeMap<String, u64>) -> String {
    let statuses = statuses.iter().map(|(status, count)| format!("{status} x {count}"));
    let failures = failures.iter().map(|(kind, count)| format!("{kind} x {count}"));
    statuses.chain(failures).collect::<Vec<_>>().join(", ")
}
