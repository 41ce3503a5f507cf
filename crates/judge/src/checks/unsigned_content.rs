//! Did the content of objects travel without anything that guards it?

use super::check::{Check, How, Look, Proof};
use crate::case::{Case, Part};
use crate::finding::Finding;
use record::remedy::set;
use record::{Direction, Remedy, Severity};

pub(super) const CHECK: Check = Check {
    id: "unsigned-content",
    question: "Did the content of objects travel without anything that guards it?",
    evidence: "whether PUTs of S3 were signed with the SHA-256 of their content (http_s3_payload), and TLS",
    threshold: "note when content was put unsigned over plain HTTP",
    reason: "hashing the content costs the client CPU for every byte: a figure without it is not comparable with one of a client that signs, and the server cannot see what a fault on the way changed",
    cause: "`http_s3_payload=unsigned` without https",
    remedy: || {
        Remedy::from("compare with runs that leave content unsigned as well")
            .or(set("https", "on").ending("to guard the content"))
    },
    proof: Proof {
        how: How::Recorded,
        fires: "crates/judge/src/checks/unsigned_content.rs::unsigned_content_over_plain_http_is_told",
        silent: "crates/judge/src/checks/unsigned_content.rs::guarded_content_is_silent",
    },
    look: Look::Run(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(about).collect()
}

fn about(part: &Part) -> Option<Finding> {
    let exchange = part.metrics.exchange.as_ref()?;
    let bare = exchange.content == "unsigned" && exchange.tls == "off";
    let text = "content was put without its SHA-256 in the signature, over plain HTTP";
    (bare && part.ios(Direction::Write) > 0).then(|| CHECK.about(part, Severity::Note, text))
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
