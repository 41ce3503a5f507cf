//! Are the hosts of the ranks alike?

use super::prelude::*;
use crate::fleet::named;
use record::{Fleet, RankRecord, RankState};
use std::collections::BTreeMap;

/// Values that are shown of one difference.
const SHOWN: usize = 3;

pub(super) const CHECK: Check = Check {
    id: "hosts-differ",
    question: "Are the hosts of the ranks alike?",
    evidence: "version of fathom, kernel and filesystems of the targets, from every rank",
    threshold: "warning when versions, kernels or filesystems differ",
    reason: "ranks of different software or mounts measure different things, and one of them may be the slow one",
    cause: "hosts that were installed or mounted at different times",
    remedy: || "use hosts that are alike, or measure them apart".into(),
    proof: Proof::recorded(
        "other_kernels_and_mounts_are_told",
        "other_kernels_and_mounts_are_told",
    ),
    function: CheckFunction::Fleet(check),
};

/// What is compared, as text.
type Property = fn(&RankRecord) -> String;

fn check(fleet: &Fleet) -> Vec<Finding> {
    let ranks: Vec<&RankRecord> =
        fleet.ranks.iter().filter(|rank| rank.state == RankState::Ran).collect();
    let properties: [(&str, Property); 3] = [
        ("versions of fathom", |rank| rank.version.clone()),
        ("kernels", |rank| rank.kernel.clone()),
        ("filesystems", |rank| rank.mounts.join(", ")),
    ];
    let difference = |(name, value): (&str, Property)| {
        let mut values: BTreeMap<String, Vec<&RankRecord>> = BTreeMap::new();
        ranks.iter().for_each(|rank| values.entry(value(rank)).or_default().push(rank));
        if values.len() < 2 {
            return None;
        }
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort_by_key(|(_, ranks)| std::cmp::Reverse(ranks.len()));
        let more = values.len().saturating_sub(SHOWN);
        let shown = values.iter().take(SHOWN).map(|(value, ranks)| {
            let value = if value.is_empty() { "none" } else { value };
            format!("{value} ({})", named(ranks))
        });
        let shown = shown.collect::<Vec<_>>().join("; ");
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        Some(format!("{name} differ: {shown}{more}"))
    };
    let found = properties.into_iter().filter_map(difference);
    found.map(|text| CHECK.finding(Severity::Warning, Vec::new(), text)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, the_finding};
    use super::*;
    use crate::fleet::tests::fleet;

    #[test]
    fn other_kernels_and_mounts_are_told() {
        let mut record = fleet(&[10; 4]);
        assert!(findings(&record, CHECK.id).is_empty());
        let ranks = &mut record.fleet.as_mut().unwrap().ranks;
        ranks[3].kernel = "5.10.0".into();
        let text = the_finding(&record, CHECK.id).text.to_string();
        assert_eq!(text, "kernels differ: 6.1.0 (ranks 0, 1 and 2); 5.10.0 (rank 3 on node3)");
    }
}
