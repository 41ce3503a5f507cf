//! Did workers wait for a CPU?

use super::prelude::*;

/// Shares of the latency from which waiting for a CPU is a note, and a warning.
const NOTE: f64 = 0.02;
const WARNING: f64 = 0.10;
/// Share of the time in which workers ran or waited for a CPU from where on waiting lowers their rate: a worker
/// that sleeps more makes up for it.
const WANTED: f64 = 0.5;
/// Share of the time a CPU the workers may use was idle: they were not short of CPUs then.
const IDLE: f64 = 0.5;
/// A delay of one scheduler slice would weigh too much in less.
const WINDOW_MIN_NS: u64 = 100_000_000;

pub(super) const CHECK: Check = Check {
    id: "cpu-starved",
    question: "Did workers wait for a CPU?",
    evidence: "time each worker was runnable but not running (schedstat), compared with its window and with the mean latency of its I/Os and synchronisations",
    threshold: "note from 2 % of the window or of the mean latency; warning from 10 % of the mean latency, or from 10 % of the window if the workers ran or waited for a CPU half of the time; no warning if a CPU that the workers may use was idle half of the time",
    reason: "while a worker waits for a CPU, its completed I/Os wait to be reaped: that share of the latency belongs to the machine, not to the device. Other effects explain less than 2 %, and 10 % changes a ranking. A worker that mostly sleeps makes up for short waits. If a usable CPU was idle, the scheduler caused the wait, which is how this machine works",
    cause: "more runnable threads than CPUs",
    remedy: || "stop the other load, or run fewer workers with deeper queues".into(),
    proof: Proof::real(
        "checks/cpu.rs::a_job_that_shares_its_cpu_is_starved",
        "checks/cpu.rs::a_job_that_waits_for_its_disk_is_not_starved",
    ),
    function: CheckFunction::Part(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    let counted = || part.workers.iter().filter(|job| job.cpu.run_delay.is_some());
    let delay = counted().filter_map(|job| job.cpu.run_delay).map(|d| d.0).sum::<u64>() as f64;
    let window = counted().map(|job| (job.ended - job.started).0).sum::<u64>();
    // A worker that runs a program only waits for it.
    if window < WINDOW_MIN_NS || part.has_engine(Engine::runs_program) {
        return None;
    }
    let of_window = delay / window as f64;
    // A worker also waits for a CPU while it synchronises, so the delay is shared by both.
    let syncs: u64 = counted().map(|job| job.sync.latency.count()).sum();
    let waits = counted().map(|job| job.ios()).sum::<u64>() + syncs;
    let each = delay / waits.max(1) as f64;
    let latency = part.mean_wait().filter(|_| !part.devices.is_empty());
    // A worker that pauses wakes once to issue and once to reap; only the second wait is in the latency.
    let pauses = part.setting("thinktime_ns").is_some() || part.has_rate();
    let in_latency = if pauses { each / 2.0 } else { each };
    // Waits that are longer than the latency were outside it.
    let of_latency =
        latency.map(|mean| in_latency / mean).filter(|share| *share <= 1.0).unwrap_or(0.0);
    let share = of_window.max(of_latency);
    if share < NOTE {
        return None;
    }
    let spare = spare_cpu(case, part);
    let ran: u64 = counted().map(|job| job.cpu.user.0 + job.cpu.system.0).sum();
    let wanted = of_window + ran as f64 / window as f64;
    let matters = of_latency >= WARNING || (of_window >= WARNING && wanted >= WANTED);
    let grave = matters && spare.is_none();
    let severity = if grave { Severity::Warning } else { Severity::Note };
    let mean = latency.map_or(String::new(), |mean| {
        match of_latency >= of_window / 2.0 {
            _ if in_latency > mean => {
                format!(", most of it outside I/Os, whose mean latency is {}", time(mean))
            }
            true => format!(", {} of the mean latency of {}", percent(of_latency), time(mean)),
            // One wait delays everything in flight.
            false => format!("; I/Os in flight meanwhile (mean latency {}) end late", time(mean)),
        }
    });
    let text = format!(
        "{} waited for a CPU {} of the time, {} for each {}{mean}",
        if part.workers.len() == 1 { "the worker" } else { "the workers" },
        percent(of_window),
        time(each),
        match (syncs, &part.metrics.exchange) {
            (0, _) => "I/O",
            (_, None) => "I/O and synchronisation",
            // HEADs among other requests are in the place of synchronisations.
            (_, Some(_)) => "request",
        },
    );
    let (cause, remedy) = reason(case, part, spare);
    let figures = [
        Figure::new("waiting for a CPU", of_window * 100.0, "percent"),
        Figure::new("waiting for a CPU an I/O", each, "ns"),
        Figure::new("share of the mean latency", of_latency * 100.0, "percent"),
    ];
    Some(CHECK.finding_for(part, severity, text).figures(figures).cause(cause).remedy(remedy))
}

/// What kept the workers off the CPUs, and what to do about that.
fn reason(case: &Case, part: &Part, spare: Option<(usize, f64)>) -> (Sentence, Remedy) {
    if let Some(throttled) = throttled_us(case, part).filter(|us| *us > 0) {
        let quota = case.record.facts.environment.cgroup.cpu_quota;
        let quota = quota.map_or(String::new(), |cpus| format!(" of {cpus:.2} CPUs"));
        let throttled = time(throttled as f64 * 1e3);
        return (
            format!("the control group's CPU quota{quota} throttled it for {throttled}").into(),
            "raise the quota (cpu.max, or cpu.cfs_quota_us) or measure outside the group".into(),
        );
    }
    if let Some((cpu, idle)) = spare {
        return (
            format!(
                "the scheduler left them waiting for a busy CPU while CPU {cpu} was idle {} of the time",
                percent(idle)
            )
            .into(),
            own_cpus().ending("to give each worker a CPU of its own"),
        );
    }
    let cpus = cpus(case, part).len();
    let workers = case
        .record
        .jobs
        .iter()
        .filter(|job| job.started < part.to && job.ended > part.from && job.elapsed.0 > 0);
    let workers = workers.count();
    if workers > cpus {
        let deeper = match part.medium() {
            Medium::Objects => raise(["iodepth"]),
            _ => raise(["iodepth"]).and(set("ioengine", "io_uring")),
        };
        return (
            format!("{} share {}", counted(workers, "worker"), counted(cpus, "CPU")).into(),
            lower(["numjobs"])
                .ending(format!("to {} or fewer", counted(cpus, "worker")))
                .also(deeper.ending("to keep as many I/Os in flight"))
                .or(raise(["cpus_allowed"]).ending("to allow more CPUs")),
        );
    }
    let others = match used_by_others(case, part) {
        Some(share) => format!("other processes used {} of the CPU time", percent(share)),
        None => "other processes ran on the workers' CPUs".into(),
    };
    let apart =
        choose(["cpus_allowed"]).ending("to give the workers CPUs that no other process uses");
    (others.into(), Remedy::from("stop the other load").or(apart))
}

/// Time the control group was held back while the part ran.
fn throttled_us(case: &Case, part: &Part) -> Option<u64> {
    let slow = |s: &record::Sample| s.slow.as_ref().map(|slow| slow.cgroup_throttled_us);
    let before = case.record.timeline.samples.iter().filter(|s| s.at <= part.from);
    let first = before.filter_map(slow).next_back()?;
    let last = case.record.timeline.samples.iter().rev().find_map(slow)?;
    Some(last.saturating_sub(first))
}

/// CPUs the workers may run on.
fn cpus(case: &Case, part: &Part) -> Vec<usize> {
    let allowed = case.record.facts.cpu.allowed.iter().map(|cpu| *cpu as usize);
    let bound = |chosen: &str, cpu: &usize| chosen.split(',').any(|one| one.parse() == Ok(*cpu));
    let open =
        |cpu: &usize| bindings(part).any(|chosen| chosen.is_none_or(|list| bound(list, cpu)));
    allowed.filter(open).collect()
}

/// The CPUs each worker was bound to, where it was.
fn bindings<'a>(part: &Part<'a>) -> impl Iterator<Item = Option<&'a str>> {
    let workers = part.workers.iter();
    workers.map(|job| job.workload.settings.get("cpus_allowed").map(String::as_str))
}

/// The CPU among those that was idle most, with its share of time, where that was long enough to
/// take what waited. Workers that are bound apart (cpus_allowed_policy=split) could not go there.
fn spare_cpu(case: &Case, part: &Part) -> Option<(usize, f64)> {
    let mut bindings = bindings(part);
    let first = bindings.next()?;
    if bindings.any(|binding| binding != first) {
        return None;
    }
    let cpus = cpus(case, part);
    let shares = case.cpu_use(part.from, part.to).into_iter();
    let idle = shares.filter(|(cpu, _)| cpus.contains(cpu)).map(|(cpu, share)| (cpu, share.idle));
    idle.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, idle)| *idle >= IDLE)
}

/// Share of all CPUs that neither was idle nor went to this process' workers.
fn used_by_others(case: &Case, part: &Part) -> Option<f64> {
    let cpus = case.cpu_use(part.from, part.to);
    let busy: f64 = cpus.iter().map(|(_, share)| share.user + share.system).sum();
    let window = part.length().0 as f64;
    let own = |job: &record::JobRecord| (job.cpu.user.0 + job.cpu.system.0) as f64 / window;
    let own: f64 = part.workers.iter().map(|job| own(job)).sum();
    (!cpus.is_empty()).then(|| ((busy - own) / cpus.len() as f64).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MS, SECOND, at_each, findings, job, record, the_finding};
    use super::*;
    use record::{Direction, Nanos};

    /// A run on CPUs that are busy, or idle as those of a calm run.
    fn run(jobs: Vec<record::JobRecord>, busy: bool) -> record::RunRecord {
        let mut record = record(jobs);
        at_each(&mut record, |at, sample| {
            for cpu in sample.cpus.iter_mut().filter(|_| busy) {
                (cpu.user_ms, cpu.idle_ms) = ((at * 1000.0) as u64, 0);
            }
        });
        record
    }

    fn delayed(delay: u64, busy: bool) -> Vec<Finding> {
        let mut job = job("read", Direction::Read, 10);
        job.cpu.run_delay = Some(Nanos(delay));
        findings(&run(vec![job], busy), CHECK.id)
    }

    #[test]
    fn the_delay_decides_the_level() {
        assert!(delayed(100 * MS, true).is_empty());
        assert_eq!(delayed(500 * MS, true)[0].severity, Severity::Note);
        let found = &delayed(4 * SECOND, true)[0];
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("40 % of the time, 400 µs for each I/O"), "{}", found.text);
        assert!(found.cause.contains("other processes used 9"), "{}", found.cause);
    }

    #[test]
    fn what_is_waited_while_synchronising_is_not_the_ios() {
        let mut job = job("write", Direction::Write, 10);
        let ios = job.ios();
        job.sync.latency = record::Histogram::new();
        job.sync.latency.record_n(MS, ios);
        job.cpu.run_delay = Some(Nanos(SECOND));
        let found = &findings(&run(vec![job], true), CHECK.id)[0];
        let part = "50 µs for each I/O and synchronisation, 5 % of the mean latency of 1 ms";
        assert!(found.text.contains(part), "{}", found.text);
        assert!(found.figures[1].value * 1.99 < SECOND as f64 / ios as f64, "{:?}", found.figures);
    }

    #[test]
    fn a_wait_longer_than_the_latency_is_not_a_share_of_it() {
        let mut job = job("paused", Direction::Read, 10);
        job.workload.settings.insert("thinktime_ns".into(), "900000".into());
        let mut latency = record::Histogram::new();
        latency.record_n(MS / 20, job.ios());
        job.results[Direction::Read].latency.clat = Some(latency);
        job.cpu.run_delay = Some(Nanos(4 * SECOND));
        let found = &findings(&run(vec![job], true), CHECK.id)[0];
        let part = "400 µs for each I/O, most of it outside I/Os, whose mean latency is 50 µs";
        assert!(found.text.contains(part), "{}", found.text);
    }

    #[test]
    fn short_waits_of_a_worker_that_sleeps_are_a_note() {
        // 64 I/Os in flight: the waits are 15 % of the time and 150 µs of the 64 ms that each takes.
        let mut job = job("deep", Direction::Read, 10);
        let mut latency = record::Histogram::new();
        latency.record_n(64 * MS, job.ios());
        job.results[Direction::Read].latency.clat = Some(latency);
        job.cpu.run_delay = Some(Nanos(1_500 * MS));
        let found =
            |job: &record::JobRecord| findings(&run(vec![job.clone()], true), CHECK.id)[0].severity;
        assert_eq!(found(&job), Severity::Note);
        // A worker that is busy besides loses that share of its rate.
        job.cpu.system = Nanos(5 * SECOND);
        assert_eq!(found(&job), Severity::Warning);
    }

    #[test]
    fn with_a_cpu_to_spare_it_is_the_scheduler() {
        let found = &delayed(4 * SECOND, false)[0];
        assert_eq!(found.severity, Severity::Note);
        assert!(found.cause.contains("was idle 93 % of the time"), "{}", found.cause);
    }

    #[test]
    fn more_workers_than_cpus_are_counted() {
        let mut jobs: Vec<_> = (0..6).map(|_| job("read", Direction::Read, 2)).collect();
        jobs.iter_mut().for_each(|job| job.cpu.run_delay = Some(Nanos(SECOND)));
        let found = the_finding(&run(jobs, true), CHECK.id);
        assert_eq!(found.cause, "6 workers share 4 CPUs");
        assert_eq!(found.jobs.len(), 6);
    }

    #[test]
    fn workers_bound_apart_share_all_their_cpus_and_have_none_to_spare() {
        let mut jobs: Vec<_> = (0..6).map(|_| job("read", Direction::Read, 2)).collect();
        for (number, job) in jobs.iter_mut().enumerate() {
            job.cpu.run_delay = Some(Nanos(SECOND));
            job.workload.settings.insert("cpus_allowed".into(), (number % 2).to_string());
        }
        let mut record = run(jobs, false);
        record.jobs.iter_mut().for_each(|job| job.job = 0);
        assert_eq!(the_finding(&record, CHECK.id).cause, "6 workers share 2 CPUs");
    }
}
