//! Words for what was asked of an object store.

use judge::RequestMetrics;

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
/// kind.
pub(crate) fn answers(request: &RequestMetrics) -> String {
    let statuses = request.statuses.iter().map(|(status, count)| format!("{status} x {count}"));
    let failures = request.failures.iter().map(|(kind, count)| format!("{kind} x {count}"));
    statuses.chain(failures).collect::<Vec<_>>().join(", ")
}
