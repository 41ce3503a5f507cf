//! Did all objects have the same content?

use super::compressible_data::compressible_content;
use super::prelude::*;

pub(super) const CHECK: Check = Check {
    id: "same-content",
    question: "Did all objects have the same content?",
    evidence: "content options of jobs that put objects: zero_buffers, buffer_pattern, scramble_buffers=0 without refill_buffers, buffer_compress_percentage, dedupe_percentage",
    threshold: "note when objects contain zeros, a pattern or the same content, or when more than 10 % of the content compresses or repeats",
    reason: "a store that compresses or deduplicates writes less than it receives, which the client cannot see",
    cause: "the job's options make the content of its objects zero or repeating",
    remedy: || "drop the option; each object then has different content".into(),
    proof: Proof::recorded(
        "content_that_repeats_is_told_by_its_option",
        "objects_of_their_own_content_are_silent",
    ),
    function: CheckFunction::Part(check),
};

fn check(_: &Case, part: &Part) -> Option<Finding> {
    part.metrics.exchange.as_ref()?;
    let refilled = part.setting("refill_buffers").is_some();
    let scrambled = part.setting("scramble_buffers").filter(|_| !refilled);
    let same = scrambled.map(|value| Sentence::default().setting("scramble_buffers", value));
    let option = compressible_content(part).or(same)?;
    let puts = part.ios(Direction::Write) > 0;
    let text = option.text(" gives objects content that repeats or compresses");
    puts.then(|| CHECK.finding_for(part, Severity::Note, text))
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
