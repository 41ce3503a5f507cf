//! Does one CPU serve all interrupts of a device?

use super::prelude::*;
use record::Sample;

/// Share of a device's interrupts on one CPU.
const ON_ONE: f64 = 0.9;
/// Interrupts a second below which any CPU serves them with ease.
const RATE_MIN: f64 = 10_000.0;
/// Share of its time that CPU must be busy to hold the device back.
const BUSY: f64 = 0.8;

pub(super) const CHECK: Check = Check {
    id: "interrupts-on-one-cpu",
    question: "Does one CPU serve all interrupts of a device?",
    evidence: "interrupts of the queues of the job's devices during the run (/proc/interrupts), and the states of the CPUs",
    threshold: "note when one CPU serves at least 90 % of at least 10 000 interrupts a second, if the device has several queues and the job several workers; warning when that CPU is also busy 80 % of the time",
    reason: "any CPU serves a lower rate easily; the interrupts of a single worker belong on its CPU",
    cause: "the interrupts of the device's queues are bound to one CPU, or its driver uses one interrupt for all queues",
    remedy: || {
        let queues = "stop irqbalance, then give the interrupt of each queue its own CPU in \
                      /proc/irq/N/smp_affinity_list";
        Remedy::from(queues).or(own_cpus().ending("to spread the workers"))
    },
    proof: Proof::recorded(
        "a_busy_cpu_with_all_interrupts_is_named",
        "interrupts_that_spread_or_are_few_are_fine",
    ),
    function: CheckFunction::Part(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    case.disks_of(part).into_iter().find_map(|disk| disk_of(case, part, disk))
}

fn disk_of(case: &Case, part: &Part, disk: &DeviceFacts) -> Option<Finding> {
    let queues = disk.interrupts.len().max(disk.hardware_queues.unwrap_or(1) as usize);
    if queues < 2 || part.workers.len() < 2 || case.record.facts.cpu.online < 2 {
        return None;
    }
    let (counts, seconds) = served(case, part, disk)?;
    let all: u64 = counts.iter().sum();
    let (cpu, most) = counts.iter().copied().enumerate().max_by_key(|(_, count)| *count)?;
    let (rate, share) = (all as f64 / seconds, most as f64 / all.max(1) as f64);
    if rate < RATE_MIN || share < ON_ONE {
        return None;
    }
    let busy = case.cpu_use(part.from, part.to).into_iter().find(|(number, _)| *number == cpu);
    let busy = busy.map_or(0.0, |(_, share)| 1.0 - share.idle);
    let severity = if busy < BUSY { Severity::Note } else { Severity::Warning };
    let text = format!(
        "CPU {cpu} served {} of the {} interrupts a second of {} ({queues} queues) and was busy {} of the time",
        percent(share),
        count(rate),
        disk.name,
        percent(busy),
    );
    let figures = [
        Figure::new("interrupts a second", rate, "per second"),
        Figure::new("of them on one CPU", share * 100.0, "percent"),
        Figure::new("that CPU busy", busy * 100.0, "percent"),
    ];
    Some(CHECK.finding_for(part, severity, text).figures(figures))
}

/// Interrupts of a disk on each CPU between the samples around the part that looked at them, and
/// the seconds between those.
fn served(case: &Case, part: &Part, disk: &DeviceFacts) -> Option<(Vec<u64>, f64)> {
    let looked: Vec<&Sample> =
        case.record.timeline.samples.iter().filter(|s| s.slow.is_some()).collect();
    let first = looked.iter().rev().find(|s| s.at <= part.from)?;
    let last = looked.iter().find(|s| s.at >= part.to).or(looked.last())?;
    let mut counts = Vec::new();
    for interrupt in &disk.interrupts {
        let counts_in = |s: &Sample| s.slow.as_ref()?.interrupts.get(&interrupt.name).cloned();
        let (Some(before), Some(after)) = (counts_in(first), counts_in(last)) else { continue };
        counts.resize(counts.len().max(after.len()), 0);
        for (cpu, (before, after)) in before.iter().zip(&after).enumerate() {
            counts[cpu] += after.saturating_sub(*before);
        }
    }
    let window = last.at - first.at;
    (window.0 > 0).then(|| (counts, window.seconds()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::{Direction, InterruptFacts, RunRecord, SlowSample};

    /// Two workers on an NVMe-like disk of two queues, with so many interrupts a second of each on
    /// CPUs 0 and 1.
    fn interrupted(rates: [u64; 2], busy: bool) -> RunRecord {
        let mut jobs = vec![job("read", Direction::Read, 5); 2];
        jobs[1].clone = 1;
        let mut record = record(jobs);
        record.jobs[1].job = 0;
        let name = |queue: u32| format!("sda-q{queue}");
        let disk = record.facts.devices.get_mut("sda").unwrap();
        disk.interrupts = (0..2)
            .map(|queue| InterruptFacts { number: 30 + queue, name: name(queue), cpus: vec![0] })
            .collect();
        at_each(&mut record, |at, sample| {
            let counts = rates.map(|rate| (rate as f64 * at / 2.0) as u64).to_vec();
            let interrupts = (0..2).map(|queue| (name(queue), counts.clone())).collect();
            sample.slow = Some(SlowSample { interrupts, ..SlowSample::default() });
            if busy {
                sample.cpus[0].idle_ms = 0;
                sample.cpus[0].softirq_ms = (at * 1000.0) as u64;
            }
        });
        record
    }

    #[test]
    fn a_busy_cpu_with_all_interrupts_is_named() {
        let found = the_finding(&interrupted([50_000, 1000], true), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.starts_with("CPU 0 served 98 % of the 51 k"), "{}", found.text);
        let found = the_finding(&interrupted([50_000, 1000], false), CHECK.id);
        assert_eq!(found.severity, Severity::Note);
    }

    #[test]
    fn interrupts_that_spread_or_are_few_are_fine() {
        assert!(findings(&interrupted([30_000, 20_000], true), CHECK.id).is_empty());
        assert!(findings(&interrupted([5000, 0], true), CHECK.id).is_empty());
    }
}
