//! Text about requests to an object store.

use record::RequestResult;
use std::collections::BTreeMap;

/// How the content of objects is protected in transit.
pub(crate) fn content_protection(kind: &str) -> &str {
    match kind {
        "signed" => "signed (SHA-256)",
        "unsigned" => "unsigned (only heads are signed)",
        "none" => "not signed",
        other => other,
    }
}

/// "200 x 7, 404 x 2, timeout x 1": answers by status, and failures without an answer by kind.
/// Requests that were repeated are not counted.
pub(crate) fn answers(request: &RequestResult) -> String {
    counts(&request.statuses, &request.failures)
}

/// The same for requests that were repeated.
pub(crate) fn repeated_answers(request: &RequestResult) -> String {
    counts(&request.repeated_statuses, &request.repeated_failures)
}

fn counts(statuses: &BTreeMap<u16, u64>, failures: &BTreeMap<String, u64>) -> String {
    let statuses = statuses.iter().map(|(status, count)| format!("{status} x {count}"));
    let failures = failures.iter().map(|(kind, count)| format!("{kind} x {count}"));
    statuses.chain(failures).collect::<Vec<_>>().join(", ")
}
