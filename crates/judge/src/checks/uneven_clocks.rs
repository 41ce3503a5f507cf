//! Are the times of all ranks known on one clock?

use super::prelude::*;
use crate::fleet::named;
use record::{Fleet, RankRecord};

pub(super) const CHECK: Check = Check {
    id: "uneven-clocks",
    question: "Are the times of all ranks known on one clock?",
    evidence: "the clock of each host against that of rank 0, before and after the run, by the shortest of 24 round trips",
    threshold: "warning when a clock gained or lost more than 1000 ppm of the time between both comparisons and the error of both, or when a rank did not answer",
    reason: "Linux slews a clock by at most 500 ppm, so two clocks do not gain more on each other; a larger step is a jump, and nothing tells when in the run it came. Windows in which all ranks ran, and series over time, are as wrong as the clock",
    cause: "a virtual machine that was paused or moved to another host, or a counter that is not the same on all CPUs; a rank that does not answer is busy, or its network is",
    remedy: || {
        "read rates of the fleet in the common window with care, and repeat the run; see the kernel's log and \
         /sys/devices/system/clocksource/clocksource0/current_clocksource of that host"
            .into()
    },
    proof: Proof::recorded(
        "a_clock_that_jumped_and_one_that_did_not_answer_are_said",
        "a_clock_that_jumped_and_one_that_did_not_answer_are_said",
    ),
    function: CheckFunction::Fleet(check),
};

fn check(fleet: &Fleet) -> Vec<Finding> {
    let jumped = fleet.ranks.iter().filter_map(|rank| Some((rank, rank.clock.jump()?)));
    let unknown: Vec<&RankRecord> = fleet
        .ranks
        .iter()
        .filter(|rank| !rank.clock.is_known() && rank.groups.iter().any(|group| !group.in_window))
        .collect();
    let mut findings = Vec::new();
    if let Some((rank, jump)) = jumped.clone().max_by_key(|(_, jump)| jump.unsigned_abs()) {
        let ranks: Vec<&RankRecord> = jumped.map(|(rank, _)| rank).collect();
        let direction = if jump < 0 { "back" } else { "ahead" };
        let by = time(jump.unsigned_abs() as f64);
        let most = match ranks.len() {
            1 => String::new(),
            _ => format!(" at most, that of {},", rank.label()),
        };
        let text = format!(
            "the clock of {} jumped during the run, by {by}{most} {direction}; times of these ranks are off \
             by as much after it",
            named(&ranks)
        );
        let figure = Figure::new("jump", jump as f64, "ns");
        findings.push(CHECK.finding(Severity::Warning, Vec::new(), text).figures([figure]));
    }
    if !unknown.is_empty() {
        let text = format!(
            "the clock of {} could not be compared: no answer came; it started at once, and is not in the common \
             window",
            named(&unknown)
        );
        findings.push(CHECK.finding(Severity::Warning, Vec::new(), text));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, the_finding};
    use super::*;
    use crate::fleet::tests::fleet;
    use record::ClockOffset;

    #[test]
    fn a_clock_that_jumped_and_one_that_did_not_answer_are_said() {
        let offset = |at, ahead| Some(ClockOffset { at, ahead, bound: 1000 });
        let mut record = fleet(&[10; 4]);
        let second = 1_000_000_000;
        for rank in &mut record.fleet.as_mut().unwrap().ranks {
            (rank.clock.before, rank.clock.after) =
                (offset(0, 7), offset(24 * second, 7 + 100_000));
        }
        assert!(findings(&record, CHECK.id).is_empty(), "4 ppm");
        record.fleet.as_mut().unwrap().ranks[2].clock.after = offset(24 * second, -5_000_000_000);
        let text = the_finding(&record, CHECK.id).text.to_string();
        assert!(
            text.starts_with("the clock of rank 2 on node2 jumped during the run, by 5 s back;"),
            "{text}"
        );
        let rank = &mut record.fleet.as_mut().unwrap().ranks[2];
        (rank.clock.before, rank.clock.after, rank.groups[0].in_window) = (None, None, false);
        let text = the_finding(&record, CHECK.id).text.to_string();
        assert!(text.starts_with("the clock of rank 2 on node2 could not be compared"), "{text}");
    }
}
