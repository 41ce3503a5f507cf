//! Was a rank slower than the others?

use super::prelude::*;
use crate::fleet::{Straggler, fleet_figures};
use record::Fleet;

/// Stragglers that are named; more are counted.
const NAMED: usize = 4;

pub(super) const CHECK: Check = Check {
    id: "straggler",
    question: "Was a rank slower than the others?",
    evidence: "I/Os of each rank in 24 equal parts of the window in which all ranks ran",
    threshold: "warning when a rank reaches less than 80 % of the median of the other ranks whose jobs have the same names and workloads, and is slower than their median in so many parts that chance would make any rank so slow in at most 1 % of such runs",
    reason: "the work of a parallel program ends with its slowest rank, and a sum over ranks hides it; hosts that are alike differ by less than 20 %, and a pause of one rank is not a slow rank",
    cause: "the host, its network port, the path to the storage or the CPU of that rank is slower, or something else uses it",
    remedy: || {
        "compare that host with the others: 'fathom run' with the same jobs on it alone and on another".into()
    },
    proof: Proof::real(
        "fleet/mpi.rs::a_rank_that_a_control_group_throttles_is_named",
        "fleet/mpi.rs::ranks_make_one_measurement",
    ),
    function: CheckFunction::Fleet(check),
};

fn check(fleet: &Fleet) -> Vec<Finding> {
    let figures = fleet_figures(fleet).into_iter();
    let stragglers: Vec<Straggler> = figures.flat_map(|figures| figures.stragglers).collect();
    let Some(first) = stragglers.first() else { return Vec::new() };
    let each = |slow: &Straggler| {
        format!(
            "rank {} on {} made {} IOPS, the median of the others is {}",
            slow.rank,
            slow.host,
            count(slow.iops),
            count(slow.others),
        )
    };
    let mut text = stragglers.iter().take(NAMED).map(each).collect::<Vec<_>>().join("; ");
    if stragglers.len() > NAMED {
        text += &format!("; and {} more", stragglers.len() - NAMED);
    }
    text += &format!(
        "; it was slower in {} of {} parts of the common window (p < {})",
        first.slower_in,
        first.parts,
        probability(first.probability),
    );
    let figures = [
        Figure::new("IOPS of the slowest rank", first.iops, "IOPS"),
        Figure::new("median of the others", first.others, "IOPS"),
        Figure::new("probability by chance", first.probability, "ratio"),
    ];
    vec![CHECK.finding(Severity::Warning, Vec::new(), text).figures(figures)]
}

/// The next power of ten that is not below.
fn probability(value: f64) -> String {
    let digits = (-value.max(1e-12).log10()).floor().max(0.0) as usize;
    format!("{:.*}", digits, 10_f64.powi(-(digits as i32)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, the_finding};
    use super::*;
    use crate::fleet::tests::fleet;

    #[test]
    fn the_slowest_rank_is_named_with_its_host() {
        let found = the_finding(&fleet(&[10, 10, 4, 10]), CHECK.id);
        assert!(found.text.starts_with("rank 2 on node2 made "), "{}", found.text);
        assert!(found.text.ends_with("(p < 0.000001)"), "{}", found.text);
        assert!(findings(&fleet(&[10; 8]), CHECK.id).is_empty());
    }
}
