//! Cells grouped by what limited them.

use judge::Verdict;
use std::cmp::Reverse;

/// Cells with the same limit and the same confidence.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitGroup {
    /// The verdict of the first cell.
    pub verdict: Verdict,
    /// Names of the cells.
    pub cells: Vec<String>,
}

/// Groups verdicts by limit and confidence, the largest group first. Groups of one size stay in the
/// order of their first verdicts.
pub(crate) fn group_by_limit(verdicts: impl IntoIterator<Item = Verdict>) -> Vec<LimitGroup> {
    let mut groups: Vec<LimitGroup> = Vec::new();
    for verdict in verdicts {
        let key = (verdict.limit, verdict.confidence);
        match groups.iter_mut().find(|g| (g.verdict.limit, g.verdict.confidence) == key) {
            Some(group) => group.cells.push(verdict.job),
            None => groups.push(LimitGroup { cells: vec![verdict.job.clone()], verdict }),
        }
    }
    groups.sort_by_key(|group| Reverse(group.cells.len()));
    groups
}
