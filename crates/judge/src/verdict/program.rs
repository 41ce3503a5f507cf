//! The rules for programs: their I/Os are not counted, so the rules use how busy CPUs and disks were.

use super::limit::{Confidence, Limit};
use super::rule::{RuleInput, RuleOutcome};
use super::rules;
use super::storage;
use crate::case::{CpuShare, Part};
use crate::finding::Figure;
use record::human::{count, percent};

/// All processors together, edges of the window apart.
const ALL_BUSY: f64 = 0.85;
/// What takes one processor at a time gets no further than this many of them.
const ONE_BUSY: f64 = 0.8;
/// A program that uses less of a CPU than this does not compete for it.
const OWN_MIN: f64 = 0.4;
/// A disk that had I/O under way most of the time …
const DISK_MOST: f64 = 0.7;
/// … half of it …
const DISK_HALF: f64 = 0.4;
/// … and so seldom that the program cannot have waited for it.
const DISK_SELDOM: f64 = 0.25;

/// What other programs use is told apart from this much on.
const OTHERS_MIN: f64 = 0.1;

/// Whether it is known where a program worked, so that there is something to look at.
pub(super) fn has_directory(part: &Part) -> bool {
    part.setting("directory").is_some()
}

/// What the machine did while a program ran.
struct Busy {
    /// CPUs that were busy, all their shares together.
    cpus: f64,
    /// CPUs that the program and its children used; `None` where that was not measured.
    own: Option<f64>,
    /// Processors there are.
    count: f64,
    /// Share of the time in which the busiest of the lowest devices had I/O under way; `None` where
    /// none was sampled.
    disk: Option<(String, f64)>,
}

/// The limit of a program.
pub(super) fn decide(input: &RuleInput) -> RuleOutcome {
    let set = [rules::limited_by_cgroup_io, rules::limited_by_cpu_quota, rules::limited_by_heat];
    set.iter().find_map(|rule| rule(input)).unwrap_or_else(|| limited_by_busy_time(input))
}

fn busy(input: &RuleInput) -> Option<Busy> {
    let cpus = input.case.cpu_use(input.part.from, input.part.to);
    if cpus.is_empty() {
        return None;
    }
    let busy = |share: &CpuShare| share.user + share.system + share.interrupts + share.steal;
    let disks = input.case.disks_of(input.part).into_iter().filter_map(|disk| {
        let used = input.case.device_use(input.part, &disk.name)?;
        let share = used.counters.busy_ms as f64 * 1e6 / used.window.0.max(1) as f64;
        Some((disk.name.clone(), share.min(1.0)))
    });
    Some(Busy {
        cpus: cpus.iter().map(|(_, share)| busy(share)).sum(),
        own: own_cpus(input),
        count: cpus.len() as f64,
        disk: disks.max_by(|a, b| a.1.total_cmp(&b.1)),
    })
}

fn own_cpus(input: &RuleInput) -> Option<f64> {
    let work = input.case.record.work.as_ref()?;
    Some(work.cpu()?.0 as f64 / work.length().0.max(1) as f64)
}

fn limited_by_busy_time(input: &RuleInput) -> RuleOutcome {
    let Some(busy) = busy(input) else {
        return RuleOutcome {
            limit: Limit::Unknown,
            confidence: Confidence::Low,
            because: "the machine was not sampled while the program ran".into(),
            figures: Vec::new(),
        };
    };
    let disk = busy.disk.as_ref().map_or(0.0, |(_, share)| *share);
    let (limit, confidence) = limit(&busy, disk);
    let mut figures = vec![Figure::new("CPUs busy, mean", busy.cpus, "count")];
    figures.extend(busy.own.map(|own| Figure::new("CPUs used by the work, mean", own, "count")));
    if busy.disk.is_some() {
        figures.push(Figure::new("disk busy", disk * 100.0, "percent"));
    }
    RuleOutcome::new(limit, confidence, because(input, &busy, limit), figures)
}

fn limit(busy: &Busy, disk: f64) -> (Limit, Confidence) {
    let own = busy.own.unwrap_or(busy.cpus);
    let all = busy.cpus >= ALL_BUSY * busy.count && own >= OWN_MIN;
    let one = own >= ONE_BUSY;
    match (all || one, disk) {
        (true, disk) if disk < DISK_SELDOM => (Limit::Cpu, Confidence::High),
        // Writing back goes on beside work that does not wait for it.
        (true, _) if all => (Limit::Cpu, Confidence::Medium),
        (true, disk) if disk < DISK_HALF => (Limit::Cpu, Confidence::Medium),
        (true, _) => (Limit::Unknown, Confidence::Low),
        (false, disk) if disk >= DISK_MOST => (Limit::Device, Confidence::High),
        (false, disk) if disk >= DISK_HALF => (Limit::Device, Confidence::Medium),
        (false, _) => (Limit::Unknown, Confidence::Low),
    }
}

fn because(input: &RuleInput, busy: &Busy, limit: Limit) -> String {
    let busy_cpus = format!("{:.2} of {} CPUs were busy on average", busy.cpus, count(busy.count));
    let cpus = match busy.own {
        Some(own) if busy.cpus - own >= OTHERS_MIN => {
            format!("this work used {own:.2} CPUs on average; {busy_cpus} with other programs")
        }
        _ => busy_cpus,
    };
    let disk = match &busy.disk {
        Some((name, share)) => format!("{name} was busy {} of the time", percent(*share)),
        None => match storage::limited_by_memory_filesystem(input) {
            Some(outcome) => outcome.because.into(),
            None => "no device is visible below the directory".into(),
        },
    };
    let alone = match limit {
        Limit::Cpu if busy.own.unwrap_or(busy.cpus) < ALL_BUSY * busy.count => {
            " (single-threaded work uses one at most)"
        }
        Limit::Unknown => "; neither alone explains the time",
        _ => "",
    };
    match limit {
        Limit::Cpu => format!("{cpus}{alone}, and {disk}"),
        _ => format!("{disk}, and {cpus}{alone}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{FILE, MS, SECOND, at_each, job, record};
    use crate::verdict::Verdict;
    use record::{Direction, Medium, Nanos, RunRecord, Work, WorkPart};

    /// A program of five seconds on a machine of four processors.
    fn program(cpus: f64, disk: f64) -> RunRecord {
        let mut job = job("gzip", Direction::Read, 5);
        (job.workload.ioengine, job.workload.medium) = ("exec".into(), Medium::Time);
        job.workload.files.clear();
        job.workload.settings.insert("directory".into(), FILE.into());
        let mut record = record(vec![job]);
        at_each(&mut record, |at, sample| {
            let each = (at * 1000.0 * cpus / sample.cpus.len() as f64) as u64;
            for cpu in &mut sample.cpus {
                (cpu.user_ms, cpu.system_ms) = (each, 0);
                cpu.idle_ms = (at * 1000.0) as u64 - each;
            }
            for used in sample.disks.values_mut() {
                used.busy_ms = (at * 1000.0 * disk) as u64;
            }
        });
        record
    }

    fn verdict(record: &RunRecord) -> Verdict {
        let judged = crate::judge(record);
        assert_eq!(judged.verdicts.len(), 1);
        judged.verdicts[0].clone()
    }

    #[test]
    fn what_was_busy_was_the_limit() {
        for (cpus, disk, limit, confidence) in [
            (1.0, 0.05, Limit::Cpu, Confidence::High),
            (3.8, 0.6, Limit::Cpu, Confidence::Medium),
            (1.1, 0.3, Limit::Cpu, Confidence::Medium),
            (0.2, 0.9, Limit::Device, Confidence::High),
            (0.4, 0.5, Limit::Device, Confidence::Medium),
            (1.0, 0.9, Limit::Unknown, Confidence::Low),
            (0.1, 0.1, Limit::Unknown, Confidence::Low),
        ] {
            let found = verdict(&program(cpus, disk));
            assert_eq!((found.limit, found.confidence), (limit, confidence), "{cpus} {disk}");
        }
        let one = verdict(&program(1.0, 0.05));
        assert!(one.because.contains("1.00 of 4 CPUs") && one.because.contains("single-threaded"));
        assert!(one.valid_for.contains("this work on this machine"), "{}", one.valid_for);
    }

    #[test]
    fn cpu_time_of_other_programs_is_not_its_own() {
        let beside = |own: u64, cpus, disk| {
            let mut record = program(cpus, disk);
            let (from, length) = (Nanos(0), Nanos(5 * SECOND));
            let part =
                WorkPart { from, length, cpu: Some(Nanos(own * 5 * MS)), ..WorkPart::default() };
            record.work = Some(Work { parts: vec![part], ..Work::default() });
            verdict(&record)
        };
        let waits = beside(100, 1.1, 0.9);
        assert_eq!(waits.limit, Limit::Device, "{}", waits.because);
        assert!(waits.because.contains("this work used 0.10 CPUs on average; 1.10 of 4 CPUs"));
        let computes = beside(990, 1.9, 0.05);
        assert_eq!(computes.limit, Limit::Cpu);
        assert!(computes.because.contains("used 0.99 CPUs"), "{}", computes.because);
        assert!(!beside(1080, 1.1, 0.05).because.contains("other programs"));
        // Others use every CPU, and the work hardly any.
        assert_eq!(beside(100, 4.0, 0.9).limit, Limit::Device);
        assert_eq!(beside(600, 4.0, 0.1).limit, Limit::Cpu);
    }

    #[test]
    fn a_program_that_does_not_say_where_it_works_is_not_judged() {
        let mut record = program(1.0, 0.9);
        record.jobs[0].workload.settings.clear();
        assert!(crate::judge(&record).verdicts.is_empty());
    }

    #[test]
    fn only_the_work_itself_is_looked_at() {
        let mut record = program(0.2, 0.9);
        let part = WorkPart { from: Nanos(SECOND), length: Nanos(200 * MS), ..WorkPart::default() };
        record.work = Some(Work { parts: vec![part], ..Work::default() });
        let case = crate::Case::from_record(&record);
        assert_eq!(case.parts[0].length(), Nanos(200 * MS));
        assert_eq!(verdict(&record).confidence, Confidence::Medium, "a short window");
    }

    #[test]
    fn no_check_takes_a_program_for_a_worker_with_ios() {
        let mut record = program(1.0, 0.9);
        record.jobs[0].ended = record.jobs[0].started + Nanos(300 * MS);
        record.jobs[0].cpu.run_delay = Some(Nanos(100 * MS));
        let checks: Vec<_> =
            crate::judge(&record).findings.into_iter().map(|found| found.check).collect();
        assert!(checks.is_empty(), "{checks:?}");
    }
}
