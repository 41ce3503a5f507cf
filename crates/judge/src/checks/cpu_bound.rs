//! Were the CPUs the limit?

use super::prelude::*;

/// Share of its window that a worker, or a CPU in the kernel, must have been busy.
const BUSY: f64 = 0.95;
/// Another CPU idle for this share shows that one CPU, not the machine, was the limit.
const IDLE: f64 = 0.5;
/// Times of threads are kept by the tick on some kernels; below this a share says nothing.
const WORKER_WINDOW_MIN_NS: u64 = 50_000_000;
/// /proc/stat counts in hundredths of a second.
const CPU_WINDOW_MIN_NS: u64 = 500_000_000;

pub(super) const CHECK: Check = Check {
    id: "cpu-bound",
    question: "Were the CPUs the limit?",
    evidence: "CPU time of each worker over its window (getrusage), the time it waited for a CPU (schedstat), the time stolen from it, and the states of each CPU (/proc/stat)",
    threshold: "warning when a worker ran on a CPU or waited for one during 95 % of its window, or when one CPU spent 95 % in the kernel and in interrupts while another was idle half of the time; note when the workload implies it (engine null, devices in memory, polling)",
    reason: "a worker sleeps while it waits for a device; if it never sleeps, the device waits for the worker. 5 % is a margin for the edges of the window",
    cause: "the CPU work for each I/O takes longer than the device",
    remedy: || {
        let cheaper =
            set("ioengine", "io_uring").and(set("fixedbufs", 1)).and(set("registerfiles", 1));
        raise(["numjobs"]).or(cheaper.ending("to use less CPU for each I/O")).or(raise(["bs"]))
    },
    proof: Proof::real(
        "checks/cpu.rs::a_job_that_never_waits_is_cpu_bound",
        "checks/cpu.rs::a_job_that_waits_for_its_disk_is_not_cpu_bound",
    ),
    function: CheckFunction::Part(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    // A job that only computes has no other limit.
    let does_io = part.medium() != Medium::Time;
    does_io.then(|| worker(case, part).or_else(|| kernel(case, part))).flatten()
}

/// Share of its window in which a worker was on a CPU or waited for one: it did not wait for I/O.
/// What the hypervisor takes while it runs is in neither.
fn share(job: &JobRecord, stolen_per_run: f64) -> f64 {
    let window = (job.ended - job.started).0;
    if window < WORKER_WINDOW_MIN_NS {
        return 0.0;
    }
    let delay = job.cpu.run_delay.unwrap_or_default();
    let ran = (job.cpu.user.0 + job.cpu.system.0) as f64;
    (ran * (1.0 + stolen_per_run) + delay.0 as f64) / window as f64
}

fn worker(case: &Case, part: &Part) -> Option<Finding> {
    let stolen = case.stolen_per_run(part.from, part.to);
    let share = |job: &JobRecord| share(job, stolen);
    let busiest = *part.workers.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let busy = share(busiest);
    if busy < BUSY {
        return None;
    }
    let window = (busiest.ended - busiest.started).0 as f64;
    let (user, system) = (busiest.cpu.user.0 as f64, busiest.cpu.system.0 as f64);
    let each = (user + system) / busiest.ios().max(1) as f64;
    let among = part.workers.iter().filter(|job| share(job) >= BUSY).count();
    let who = match part.workers.len() {
        1 => "the worker".to_owned(),
        all => format!("{among} of {}", counted(all, "worker")),
    };
    let waited = busy - (user + system) / window;
    let waited = match waited >= 0.01 {
        true => format!(" and waited for one {}", percent(waited)),
        false => String::new(),
    };
    let text = format!(
        "{who} ran on a CPU {} of the time (user {}, kernel {}){waited}: each I/O takes {} of CPU time",
        percent(((user + system) / window).min(1.0)),
        percent(user / window),
        percent(system / window),
        time(each),
    );
    let inherent_cause = inherent_cause(case, part);
    let severity = if inherent_cause.is_some() { Severity::Note } else { Severity::Warning };
    let figures = [
        Figure::new("busiest worker on a CPU or waiting for one", busy * 100.0, "percent"),
        Figure::new("CPU time an I/O", each, "ns"),
    ];
    let cause = inherent_cause.map_or_else(|| cause(part, user > system), Sentence::from);
    let remedy = inherent_cause.map_or_else(|| remedy(part), |_| inherent_remedy(part));
    Some(CHECK.finding_for(part, severity, text).figures(figures).cause(cause).remedy(remedy))
}

/// Why the workload implies a busy CPU; `None` if it does not.
fn inherent_cause(case: &Case, part: &Part) -> Option<&'static str> {
    if part.has_engine(Engine::moves_nothing) {
        return Some("no device is involved: the engine null measures the load generator itself");
    }
    match part.medium() {
        Medium::Metadata => return Some("no data moves: the run measures the kernel"),
        Medium::Memory => return Some("the run measures memory and the CPU that accesses it"),
        Medium::Data | Medium::Socket | Medium::Objects | Medium::Store | Medium::Time => {}
    }
    if ["hipri", "sqthread_poll"].iter().any(|name| part.setting(name).is_some()) {
        return Some("the job polls for completions instead of sleeping");
    }
    let disks = case.disks_of(part);
    (!disks.is_empty() && disks.iter().all(|disk| disk.is_memory()))
        .then_some("the device is memory, so the CPU also does the work of the device")
}

fn inherent_remedy(part: &Part) -> Remedy {
    match part.has_engine(Engine::moves_nothing) {
        true => "read the figure as the largest load this machine can generate, not as that of the storage".into(),
        false => Remedy::from("read the figure as that of the CPUs")
            .also(raise(["numjobs"]).ending("to see whether it scales")),
    }
}

fn cause(part: &Part, generator: bool) -> Sentence {
    if part.is_buffered() {
        return "buffered I/O copies every byte through the page cache on the worker's CPU".into();
    }
    if part.medium() == Medium::Objects {
        let signed = part.metrics.exchange.as_ref().is_some_and(|asked| asked.content == "signed");
        return match generator && signed {
            true => {
                "hashing content for signatures and building requests take the client's CPU time"
            }
            false => {
                "building requests and moving their bytes through sockets take the client's CPU time"
            }
        }
        .into();
    }
    if part.medium() == Medium::Store {
        return "the library of the engine takes CPU time for each I/O".into();
    }
    match generator {
        true => "most of the CPU time went into the load generator's own work for each I/O".into(),
        false => "most of the CPU time went into the kernel's path to the device".into(),
    }
}

fn remedy(part: &Part) -> Remedy {
    if part.medium() == Medium::Objects {
        let unhashed = set("https", "on").or(set("http_s3_payload", "unsigned"));
        return raise(["numjobs"])
            .ending("and the number of machines to spread the requests")
            .or(unhashed.ending("so that content is not hashed"));
    }
    match part.is_buffered() {
        true => set("direct", 1)
            .ending("to measure the storage")
            .or("read the figure as that of the page cache"),
        false => (CHECK.remedy)(),
    }
}

/// One CPU that does the kernel's work for the device, while others are idle.
fn kernel(case: &Case, part: &Part) -> Option<Finding> {
    if part.length().0 < CPU_WINDOW_MIN_NS || part.devices.is_empty() {
        return None;
    }
    let cpus = case.cpu_use(part.from, part.to);
    let in_kernel = |share: &crate::case::CpuShare| share.system + share.interrupts;
    let (cpu, busiest) = cpus.iter().max_by(|a, b| in_kernel(&a.1).total_cmp(&in_kernel(&b.1)))?;
    let idle = cpus.iter().filter(|(_, share)| share.idle >= IDLE).count();
    if in_kernel(busiest) < BUSY || idle == 0 {
        return None;
    }
    let text = format!(
        "CPU {cpu} spent {} of the time in the kernel ({} in interrupts) while {} idle, at {} IOPS",
        percent(in_kernel(busiest)),
        percent(busiest.interrupts),
        match idle {
            1 => "1 CPU was".to_owned(),
            idle => format!("{idle} CPUs were"),
        },
        count(part.iops()),
    );
    let figures = [
        Figure::new("busiest CPU in the kernel", in_kernel(busiest) * 100.0, "percent"),
        Figure::new("of it in interrupts", busiest.interrupts * 100.0, "percent"),
    ];
    let cause = format!("CPU {cpu} does all of the kernel's work for the device");
    let remedy = Remedy::from(
        "spread the device's interrupts over the CPUs (/proc/irq/N/smp_affinity_list)",
    )
    .also(raise(["numjobs"]).and(own_cpus()).ending("to spread the workers"));
    Some(
        CHECK
            .finding_for(part, Severity::Warning, text)
            .figures(figures)
            .cause(cause)
            .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::{Direction, Nanos};

    #[test]
    fn a_worker_always_on_a_cpu_is_named_with_its_cost() {
        let mut busy = job("busy", Direction::Read, 2);
        busy.cpu.user = Nanos(500_000_000);
        busy.cpu.system = Nanos(1_450_000_000);
        let found = the_finding(&record(vec![busy]), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("98 % of the time (user 25 %, kernel 72 %)"), "{}", found.text);
        assert!(found.text.contains("takes 975 µs of CPU time"), "{}", found.text);
    }

    #[test]
    fn waiting_for_a_cpu_is_not_waiting_for_the_device() {
        let mut busy = job("busy", Direction::Read, 2);
        busy.cpu.user = Nanos(1_000_000_000);
        busy.cpu.run_delay = Some(Nanos(900_000_000));
        let found = the_finding(&record(vec![busy]), CHECK.id);
        assert!(found.text.contains("kernel 5 %) and waited for one 45 %"), "{}", found.text);
    }

    #[test]
    fn what_the_hypervisor_took_was_not_spent_waiting_for_the_device() {
        let mut busy = job("busy", Direction::Read, 2);
        (busy.cpu.user, busy.cpu.system) = (Nanos(1_000_000_000), Nanos(0));
        let mut run = record(vec![busy]);
        assert!(findings(&run, CHECK.id).is_empty());
        at_each(&mut run, |at, sample| {
            let half = (at * 500.0) as u64;
            for cpu in &mut sample.cpus {
                (cpu.user_ms, cpu.system_ms, cpu.steal_ms, cpu.idle_ms) = (half, 0, half, 0);
            }
        });
        let found = the_finding(&run, CHECK.id);
        assert!(found.text.contains("and waited for one 50 %"), "{}", found.text);
    }

    #[test]
    fn the_null_engine_is_a_note() {
        let mut null = job("null", Direction::Read, 2);
        null.workload.ioengine = "null".into();
        null.cpu.user = Nanos(1_990_000_000);
        let found = the_finding(&record(vec![null]), CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        assert!(found.cause.contains("no device is involved"));
    }

    #[test]
    fn one_cpu_in_interrupts_is_a_limit_only_while_others_are_idle() {
        let with = |cpus: std::ops::Range<usize>| {
            let mut record = record(vec![job("read", Direction::Read, 2)]);
            at_each(&mut record, |at, sample| {
                for cpu in &mut sample.cpus[cpus.clone()] {
                    (cpu.user_ms, cpu.system_ms, cpu.idle_ms) = (0, 0, 0);
                    cpu.softirq_ms = (at * 1000.0) as u64;
                }
            });
            findings(&record, CHECK.id)
        };
        assert!(with(2..3)[0].text.contains("CPU 2 spent 100 %"));
        assert!(with(0..4).is_empty());
        assert!(with(0..0).is_empty());
    }
}
