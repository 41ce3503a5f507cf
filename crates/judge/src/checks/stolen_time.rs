//! Did the hypervisor take CPU time from this machine?

use super::prelude::*;

const NOTE: f64 = 0.02;
const WARNING: f64 = 0.10;
/// /proc/stat counts in hundredths of a second.
const WINDOW_MIN_NS: u64 = 500_000_000;

pub(super) const CHECK: Check = Check {
    id: "stolen-time",
    question: "Did the hypervisor take CPU time from this machine?",
    evidence: "steal time of the CPUs during the run (/proc/stat)",
    threshold: "note from 2 % of the CPUs' time, warning from 10 %",
    reason: "stolen time delays submission, completion and the reading of clocks, and no figure inside the machine shows where it went; 10 % changes a ranking",
    cause: "the host's CPUs are oversubscribed, or this machine used up its CPU credit",
    remedy: || {
        "measure on a host that is not oversubscribed or on an instance with dedicated CPUs, or repeat at another time and compare".into()
    },
    proof: Proof::recorded("steal_is_told_by_its_share", "a_machine_of_its_own_loses_nothing"),
    function: CheckFunction::Part(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    let cpus = case.cpu_use(part.from, part.to);
    if part.length().0 < WINDOW_MIN_NS || cpus.is_empty() {
        return None;
    }
    let mean = cpus.iter().map(|(_, share)| share.steal).sum::<f64>() / cpus.len() as f64;
    if mean < NOTE {
        return None;
    }
    let (worst, most) = cpus.iter().max_by(|a, b| a.1.steal.total_cmp(&b.1.steal))?;
    let severity = if mean < WARNING { Severity::Note } else { Severity::Warning };
    let text = format!(
        "the hypervisor took {} of the CPU time of this machine; CPU {worst} lost the most, {}",
        percent(mean),
        percent(most.steal),
    );
    let figures = [
        Figure::new("stolen from all CPUs", mean * 100.0, "percent"),
        Figure::new("stolen from the worst CPU", most.steal * 100.0, "percent"),
    ];
    Some(CHECK.finding_for(part, severity, text).figures(figures))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::{Direction, RunRecord};

    fn stolen(share: f64) -> RunRecord {
        let mut record = record(vec![job("read", Direction::Read, 5)]);
        at_each(&mut record, |at, sample| {
            for cpu in &mut sample.cpus {
                cpu.steal_ms = (at * 1000.0 * share) as u64;
                cpu.idle_ms = cpu.idle_ms.saturating_sub(cpu.steal_ms);
            }
        });
        record
    }

    #[test]
    fn steal_is_told_by_its_share() {
        let found = the_finding(&stolen(0.05), CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        let found = the_finding(&stolen(0.30), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("took 30 % of the CPU time"), "{}", found.text);
    }

    #[test]
    fn a_machine_of_its_own_loses_nothing() {
        assert!(findings(&stolen(0.0), CHECK.id).is_empty());
    }
}
