//! Was object content sent unsigned over plain HTTP?

use super::prelude::*;

pub(super) const CHECK: Check = Check {
    id: "unsigned-content",
    question: "Was object content sent unsigned over plain HTTP?",
    evidence: "whether S3 PUTs were signed with the SHA-256 of their content (http_s3_payload), and whether TLS was used",
    threshold: "note when content was sent unsigned over plain HTTP",
    reason: "hashing costs client CPU time for every byte, so the figure is not comparable with that of a client that signs content, and the server cannot detect corruption on the way",
    cause: "`http_s3_payload=unsigned` without https",
    remedy: || {
        Remedy::from("compare only with runs that also leave content unsigned")
            .or(set("https", "on").ending("to protect the content"))
    },
    proof: Proof::recorded("unsigned_content_over_plain_http_is_told", "guarded_content_is_silent"),
    function: CheckFunction::Part(check),
};

fn check(_: &Case, part: &Part) -> Option<Finding> {
    let exchange = part.metrics.exchange.as_ref()?;
    let bare = exchange.content == "unsigned" && exchange.tls == "off";
    let text =
        "PUTs were sent over plain HTTP without the SHA-256 of their content in the signature";
    (bare && part.ios(Direction::Write) > 0).then(|| CHECK.finding_for(part, Severity::Note, text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asking, findings, the_finding};
    use super::*;

    #[test]
    fn unsigned_content_over_plain_http_is_told() {
        let mut record = asking("PUT", 1000, 0);
        record.jobs[0].exchange.as_mut().expect("it asks").content = "unsigned".into();
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
    }

    #[test]
    fn guarded_content_is_silent() {
        let mut record = asking("PUT", 1000, 0);
        assert!(findings(&record, CHECK.id).is_empty());
        let exchange = record.jobs[0].exchange.as_mut().expect("it asks");
        (exchange.content, exchange.tls) = ("unsigned".into(), "verified".into());
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
