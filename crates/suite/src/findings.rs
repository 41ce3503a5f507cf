//! Findings of several runs, merged.

use judge::Finding;
use record::{Sentence, distinct};
use std::cmp::Reverse;

/// Merges findings of the same check: the text of the most severe one, and the jobs of all. Returns the
/// most severe first.
pub(crate) fn merge_by_check(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
    let mut groups: Vec<Vec<Finding>> = Vec::new();
    for finding in findings {
        match groups.iter_mut().find(|group| group[0].check == finding.check) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    let mut merged: Vec<Finding> = groups.into_iter().filter_map(merge).collect();
    // The sort is stable: findings of one severity stay in order.
    merged.sort_by_key(|finding| Reverse(finding.severity));
    merged
}

/// Merges findings of one check.
fn merge(group: Vec<Finding>) -> Option<Finding> {
    let jobs = distinct(group.iter().flat_map(|finding| finding.jobs.clone()));
    let alike = group.iter().all(|finding| finding.text == group[0].text);
    // The first one of the highest severity.
    let mut first = group.into_iter().rev().max_by_key(|finding| finding.severity)?;
    let named = first.jobs.iter().any(|job| first.text.starts_with(job.as_str()));
    if !alike && !first.jobs.is_empty() && !named {
        let jobs = format!("of {}: ", first.jobs.join(", "));
        first.text = Sentence::from(jobs).sentence(&first.text);
    }
    Some(Finding { jobs, ..first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Severity;

    fn finding(check: &'static str, severity: Severity, job: &str, text: &str) -> Finding {
        Finding {
            check,
            severity,
            jobs: vec![job.into()],
            text: text.to_owned().into(),
            figures: Vec::new(),
            cause: "".into(),
            remedy: "".into(),
        }
    }

    #[test]
    fn findings_of_a_check_merge_into_the_most_severe_one() {
        let all = merge_by_check([
            finding("a", Severity::Note, "x", "mild"),
            finding("b", Severity::Note, "x", "other"),
            finding("a", Severity::Error, "y", "grave"),
            finding("a", Severity::Error, "z", "as grave"),
            finding("b", Severity::Note, "y", "other"),
        ]);
        let merged: Vec<_> =
            all.iter().map(|f| (f.check, f.text.as_str(), f.jobs.join(" "))).collect();
        assert_eq!(
            merged,
            [("a", "of y: grave", "x y z".to_owned()), ("b", "other", "x y".to_owned())]
        );
    }
}
