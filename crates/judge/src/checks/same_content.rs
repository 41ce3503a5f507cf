//! Were objects put that all have the same content?

use super::check::{Check, How, Look, Proof};
use crate::case::{Case, Part};
use crate::finding::Finding;
use record::{Direction, Severity};

/// Share that may compress or repeat before it matters, per cent.
const PERCENT_MAX: f64 = 10.0;

pub(super) const CHECK: Check = Check {
    id: "same-content",
    question: "Were objects put that all have the same content?",
    evidence: "what the job puts into an object store: zero_buffers, buffer_pattern, scramble_buffers=0 without refill_buffers, buffer_compress_percentage, dedupe_percentage",
    threshold: "note when the content of objects is zero, a pattern or not changed between them, or more than a tenth of it compresses or repeats",
    reason: "stores that compress or deduplicate write less of it than they are given, which cannot be seen from here",
    cause: "the job's options make the content of its objects zero or repeating",
    remedy: || "drop the option: content is different in each object then".into(),
    proof: Proof {
        how: How::Recorded,
        fires: "crates/judge/src/checks/same_content.rs::content_that_repeats_is_told_by_its_option",
        silent: "crates/judge/src/checks/same_content.rs::objects_of_their_own_content_are_silent",
    },
    look: Look::Run(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(about).collect()
}

fn about(part: &Part) -> Option<Finding> {
    part.metrics.exchange.as_ref()?;
    let set = |name: &str| part.setting(name).map(|value| format!("{name}={value}"));
    let above = |name: &str| {
        let value: f64 = part.setting(name)?.parse().ok()?;
        (value > PERCENT_MAX).then(|| format!("{name}={value}"))
    };
    let refilled = part.setting("refill_buffers").is_some();
    let option = set("zero_buffers")
        .or_else(|| set("buffer_pattern"))
        .or_else(|| set("scramble_buffers").filter(|_| !refilled))
        .or_else(|| above("buffer_compress_percentage"))
        .or_else(|| above("dedupe_percentage"))?;
    let puts = part.ios(Direction::Write) > 0;
    let text = format!("{option} gives objects content that repeats or compresses");
    puts.then(|| CHECK.about(part, Severity::Note, text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asking, findings, the_finding};
    use super::*;

    #[test]
    fn content_that_repeats_is_told_by_its_option() {
        let mut record = asking("PUT", 1000, 0);
        let settings = &mut record.jobs[0].workload.settings;
        settings.insert("scramble_buffers".into(), "0".into());
        assert!(the_finding(&record, CHECK.id).text.starts_with("scramble_buffers=0 "));
        let settings = &mut record.jobs[0].workload.settings;
        settings.insert("zero_buffers".into(), "1".into());
        assert!(the_finding(&record, CHECK.id).text.starts_with("zero_buffers=1 "));
    }

    #[test]
    fn objects_of_their_own_content_are_silent() {
        let mut record = asking("PUT", 1000, 0);
        assert!(findings(&record, CHECK.id).is_empty());
        let settings = &mut record.jobs[0].workload.settings;
        settings.insert("scramble_buffers".into(), "0".into());
        settings.insert("refill_buffers".into(), "1".into());
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
