//! Did threads other than the workers use CPU time for the jobs?

use super::prelude::*;
use record::Nanos;

/// Share of this process's CPU time from which the check reports a note.
const NOTE: f64 = 0.2;
/// Sampling ten times a second leaves out up to a tenth of a second of each worker.
const LEAST_NS: u64 = 300_000_000;

pub(super) const CHECK: Check = Check {
    id: "cpu-elsewhere",
    question: "Did threads other than the workers use CPU time for the jobs?",
    evidence: "CPU time of this process, including its kernel threads, compared with the CPU time of its workers",
    threshold: "note when the other threads used at least 20 % of the process's CPU time and 0.3 s; warning when they used more than the workers",
    reason: "usr_cpu, sys_cpu and ctx count only the threads that run the jobs, as in fio. Sampling and the status line use less than 20 %",
    cause: "threads of the kernel or of the engine submit or perform the I/O",
    remedy: || {
        "compare efficiency by the CPU time of the process, not by usr_cpu and sys_cpu".into()
    },
    proof: Proof::real(
        "checks/cpu.rs::what_helpers_use_is_told_and_agrees_with_the_system",
        "checks/cpu.rs::what_workers_use_agrees_with_the_system",
    ),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    finding(case).into_iter().collect()
}

fn finding(case: &Case) -> Option<Finding> {
    let jobs: Vec<&JobRecord> = case.record.jobs.iter().filter(|job| job.elapsed.0 > 0).collect();
    let from = jobs.iter().map(|job| job.started).min()?;
    let to = jobs.iter().map(|job| job.ended).max()?;
    let (first, last) = case.ends(from, to)?;
    let process = last.own_cpu_ns()?.saturating_sub(first.own_cpu_ns()?);
    let workers: u64 = jobs.iter().map(|job| used(case, job, from, to)).sum();
    let others = process.saturating_sub(workers);
    let share = others as f64 / process.max(1) as f64;
    if others < LEAST_NS || share < NOTE {
        return None;
    }
    let severity = if others > workers { Severity::Warning } else { Severity::Note };
    let text = format!(
        "threads other than the workers used {}, {} of this process's CPU time; usr_cpu, sys_cpu and ctx \
         do not include it",
        time(others as f64),
        percent(share)
    );
    let mut names: Vec<String> = jobs.iter().map(|job| job.name.clone()).collect();
    names.dedup();
    let figures = [
        Figure::new("CPU time of the process", process as f64, "ns"),
        Figure::new("CPU time of the workers", workers as f64, "ns"),
    ];
    let cause = cause(&jobs).unwrap_or(CHECK.cause.into());
    Some(CHECK.finding(severity, names, text).figures(figures).cause(cause))
}

/// CPU time of a worker within a window: as sampled, and at least what its own window cost.
fn used(case: &Case, job: &JobRecord, from: Nanos, to: Nanos) -> u64 {
    let mut sampled = case.samples(from, to).filter_map(|sample| sample.workers.get(&job.tid));
    let first = sampled.next().map_or(0, |sample| sample.run_ns);
    let last = sampled.last().map_or(first, |sample| sample.run_ns);
    let began_within = job.started > from;
    let run = last - if began_within { 0 } else { first };
    run.max(job.cpu.user.0 + job.cpu.system.0)
}

/// What the jobs' settings say of who does their work.
fn cause(jobs: &[&JobRecord]) -> Option<Sentence> {
    let has = |name: &str| jobs.iter().any(|job| job.workload.settings.contains_key(name));
    let engine = |has_trait: fn(Engine) -> bool| {
        jobs.iter().filter_map(|job| Engine::named(&job.workload.ioengine)).any(has_trait)
    };
    let who = match () {
        () if has("sqthread_poll") => "a kernel thread submits the I/O (`sqthread_poll`)",
        () if engine(Engine::uses_library_threads) => {
            "threads of the C library perform the I/O of posixaio"
        }
        () if engine(Engine::uses_kernel_threads) => {
            "kernel threads (io-wq) perform I/O that would block"
        }
        () if has("verify") => "threads verify the data that was read (`verify_async`)",
        () => return None,
    };
    Some(who.into())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SECOND, at_each, findings, job, record, the_finding};
    use super::*;
    use record::Direction;

    #[test]
    fn what_the_workers_did_not_use_was_used_by_others() {
        let mut record = record(vec![job("a", Direction::Read, 10)]);
        // A worker runs for a fifteenth of the time.
        at_each(&mut record, |at, sample| sample.own_cpu_ms = Some((at * 75.0) as u64));
        assert!(findings(&record, CHECK.id).is_empty());
        at_each(&mut record, |at, sample| sample.own_cpu_ms = Some((at * 110.0) as u64));
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
        at_each(&mut record, |at, sample| sample.own_cpu_ms = Some((at * 1000.0) as u64));
        record.jobs[0].workload.settings.insert("sqthread_poll".into(), "1".into());
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.cause.contains("sqthread_poll"), "{found:?}");
        assert_eq!(found.figures[0].value, 10.0 * SECOND as f64);
    }
}
