//! Did the workers that are reported together run at the same time?

use super::prelude::*;
use crate::metrics::report_units;
use crate::metrics::window::{busy, common_ns, longest_ns, union_ns};

pub(super) const CHECK: Check = Check {
    id: "not-together",
    question: "Did the workers that are reported together run at the same time?",
    evidence: "start and end of the measured window of each worker of a report",
    threshold: "warning when all workers ran together for less than half of the time in which any of them ran, or when that time is at least 10 % longer than the time of the longest worker",
    reason: "workers never start and end at the same instant, but less than half of the time shows that they were not meant to run together. Bytes divided by the time of the longest worker, as in fio, exceed what moved in any second",
    cause: "a start delay, `wait_for`, or run times that differ",
    remedy: || {
        let apart =
            set("new_group", 1).and(drop(["group_reporting"])).ending("to report the jobs apart");
        Remedy::from("read bandwidth and IOPS as means over the time in which any worker ran")
            .or(apart)
    },
    proof: Proof::real(
        "oracle/aggregates.rs::chained_jobs_of_one_report_have_the_bandwidth_they_had",
        "oracle/aggregates.rs::extremes_of_a_report_come_from_what_all_did_at_one_time",
    ),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    report_units(case.record).iter().filter_map(|workers| check_job(workers)).collect()
}

fn check_job(workers: &[&JobRecord]) -> Option<Finding> {
    let windows = busy(workers, &Direction::ALL);
    let (any, all, longest) = (union_ns(&windows), common_ns(&windows), longest_ns(&windows));
    let chained = longest * 11 < any * 10;
    if windows.len() < 2 || !(all * 2 < any || chained) {
        return None;
    }
    let mut text = format!(
        "the {} workers reported together ran at the same time for {} of the {} in which any of \
         them ran; bandwidth and IOPS are over the latter",
        windows.len(),
        time(all as f64),
        time(any as f64),
    );
    if chained {
        let times = any as f64 / longest.max(1) as f64;
        text += &format!(" (over the longest worker's time they would be {times:.1} times that)");
    }
    let mut jobs: Vec<String> = workers.iter().map(|job| job.name.clone()).collect();
    jobs.dedup();
    let figures = vec![
        Figure::new("time in which any worker ran", any as f64, "ns"),
        Figure::new("time in which all workers ran", all as f64, "ns"),
        Figure::new("time of the longest worker", longest as f64, "ns"),
    ];
    Some(CHECK.finding(Severity::Warning, jobs, text).figures(figures))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SECOND, findings, job, record, the_finding};
    use super::*;
    use record::{GroupKey, Nanos};

    #[test]
    fn workers_one_behind_the_other_did_not_run_together() {
        let mut record = record((0..6).map(|_| job("part", Direction::Read, 10)).collect());
        record.jobs.iter_mut().for_each(|job| job.group = GroupKey::default());
        assert!(findings(&record, CHECK.id).is_empty());
        for (begin, job) in (0_u64..).step_by(10).zip(&mut record.jobs) {
            job.started = Nanos(begin * SECOND);
            job.ended = Nanos((begin + 10) * SECOND);
            job.results.read.runtime = Nanos(10 * SECOND);
        }
        let found = the_finding(&record, CHECK.id);
        assert!(found.text.contains("for 0 ns of the 60 s"), "{}", found.text);
        assert!(found.text.contains("6.0 times that"), "{}", found.text);
    }
}
