//! Did all ranks measure, at the same time?

use super::prelude::*;
use crate::fleet::{fleet_figures, named};
use record::{Fleet, RankRecord, RankState};

pub(super) const CHECK: Check = Check {
    id: "missing-ranks",
    question: "Did all ranks measure, at the same time?",
    evidence: "what became of each rank, and when it ran, on one clock",
    threshold: "error when a rank refused its jobs or was lost; warning when a rank did not run during the whole common window, or the ranks had no time in common",
    reason: "figures of fewer ranks are those of another load; rates of different times do not add up",
    cause: "a rank that died or hangs, a file that is not there on its host, or jobs that end at different times",
    remedy: || {
        set("time_based", "1")
            .ending("with `runtime`, so that all ranks run equally long")
            .or("look at the hosts that are named, and run again")
    },
    proof: Proof::real(
        "fleet/mpi.rs::a_rank_that_is_killed_or_refuses_is_named_and_the_rest_is_reported",
        "fleet/mpi.rs::ranks_make_one_measurement",
    ),
    function: CheckFunction::Fleet(check),
};

fn check(fleet: &Fleet) -> Vec<Finding> {
    let mut found = Vec::new();
    let in_state = |state| {
        let of_state = |rank: &&RankRecord| rank.state == state;
        fleet.ranks.iter().filter(of_state).collect::<Vec<_>>()
    };
    for state in [RankState::Refused, RankState::Lost] {
        let ranks = in_state(state);
        let Some(first) = ranks.first() else { continue };
        let text = format!(
            "{} of {}: {} {}: {}",
            ranks.len(),
            counted(fleet.ranks.len(), "rank"),
            named(&ranks),
            state.name(),
            first.why,
        );
        let remedy = "look at the hosts that are named, and run again";
        found.push(CHECK.finding(Severity::Error, Vec::new(), text).remedy(remedy));
    }
    for figures in fleet_figures(fleet) {
        let is_outside = |rank: &&RankRecord| figures.outside.contains(&rank.rank);
        let outside: Vec<&RankRecord> = fleet.ranks.iter().filter(is_outside).collect();
        let text = match (figures.window_ns, outside.is_empty()) {
            (0, _) => "the ranks ran at different times, so their rates are not added".to_owned(),
            (_, true) => continue,
            _ => format!(
                "{} did not run during the whole common window of {} and is not in its rates",
                named(&outside),
                time(figures.window_ns as f64),
            ),
        };
        found.push(CHECK.finding(Severity::Warning, Vec::new(), text));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::findings;
    use super::*;
    use crate::fleet::tests::fleet;

    #[test]
    fn ranks_that_are_lost_refuse_or_come_late_are_named() {
        let mut record = fleet(&[10; 5]);
        assert!(findings(&record, CHECK.id).is_empty());
        let ranks = &mut record.fleet.as_mut().unwrap().ranks;
        (ranks[1].state, ranks[1].why) = (RankState::Lost, "it was not heard of".into());
        ranks[1].groups.clear();
        ranks[4].groups[0].in_window = false;
        let found = findings(&record, CHECK.id);
        let texts: Vec<String> = found.iter().map(|finding| finding.text.to_string()).collect();
        assert_eq!(texts[0], "1 of 5 ranks: rank 1 on node1 lost: it was not heard of");
        assert!(texts[1].starts_with("rank 4 on node4 did not run during"), "{texts:?}");
        assert_eq!(found[0].severity, Severity::Error);
    }
}
