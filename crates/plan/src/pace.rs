//! Queue depth and batches, rates, CPUs and priorities.

use crate::blocks::{self, Blocks};
use crate::model::{BlockPlan, Pacing, Placement, Queue, RateLimit};
use crate::names::directories;
use crate::problem::Diagnostics;
use job::{CpuSplit, Engine, Job, NumaMemory};
use record::{Direction, Facts, Nanos, PerDirection};

/// Maximum entries of a kernel ring.
const IO_URING_DEPTH_MAX: u64 = 32768;
/// With `io_submit_mode=offload` each I/O in flight has a thread.
const OFFLOAD_DEPTH_MAX: u64 = 4096;
/// Maximum connections, because each needs a local port.
const HTTP_DEPTH_MAX: u64 = 65535;
/// A depth above this is probably a typing error.
const DEPTH_MAX: u64 = 1 << 24;

/// Engine, depth and batches of a job.
///
/// Oracle: batches and the low mark are limited to the depth, and a completion minimum above the
/// maximum raises the maximum, all without a message. Only a changed depth of a synchronous engine
/// causes a message.
pub(crate) fn queue(job: &Job, diagnostics: &mut Diagnostics) -> Queue {
    let given = &job.queue;
    let requested = checked_depth(job, diagnostics);
    let one_by_one = given.engine.is_synchronous() && !given.offload;
    // Each range of a trim is an I/O, and iodepth counts commands.
    let ranges =
        if given.engine == Engine::IoUringCmd { given.options.nvme.ranges.max(1) } else { 1 };
    let requested = requested.saturating_mul(ranges as u32);
    let depth = if one_by_one { 1 } else { requested };
    if depth < requested {
        let name = given.engine.name();
        let text =
            format!("the {name} engine does one I/O at a time: iodepth={requested} acts as 1");
        diagnostics.note(job, text);
    }
    if given.engine.queues_direct_only() && !given.direct && depth > 1 && !given.offload {
        let text = "libaio without direct=1 waits inside the submission: few I/Os are in flight \
                    whatever iodepth says";
        diagnostics.warn(job, text);
    }
    let cut = |value: u64| value.min(u64::from(depth)) as u32;
    let complete_min = cut(given.batch_complete_min.unwrap_or(1));
    let complete_max = match (given.batch_complete_min, given.batch_complete_max) {
        (None, None) => None,
        (_, max) => Some(cut(max.unwrap_or(0)).max(complete_min).max(1)),
    };
    Queue {
        engine: given.engine,
        options: given.options.clone(),
        offload: given.offload,
        direct: given.direct || given.engine.sends_commands() || given.engine == Engine::Nbd,
        atomic: atomic(job, diagnostics),
        depth,
        program_at: program_at(job),
        depth_requested: requested,
        batch_submit: given.batch_submit.map(|b| if b == 0 { depth } else { cut(b) }),
        complete_min,
        complete_max,
        low: given.low.filter(|l| *l > 0).map_or(depth, cut),
    }
}

fn program_at(job: &Job) -> Option<String> {
    let runs = job.queue.engine.runs_program();
    directories(job).next().filter(|_| runs).map(str::to_owned)
}

/// Whether writes are atomic. Oracle: it is an error if the engine does not support this.
fn atomic(job: &Job, diagnostics: &mut Diagnostics) -> bool {
    let given = &job.queue;
    if given.atomic && !given.direct {
        let what = "atomic writes bypass the page cache, which this job uses";
        diagnostics.usage(job, "atomic", what, "leave out buffered=1 or direct=0");
    }
    let is_supported = matches!(given.engine, Engine::Pvsync2 | Engine::Libaio | Engine::IoUring);
    if given.atomic && !is_supported {
        let what = format!("the {} engine cannot ask for atomic writes", given.engine.name());
        diagnostics.usage(job, "atomic", what, "use ioengine=pvsync2, libaio or io_uring");
    }
    given.atomic
}

fn checked_depth(job: &Job, diagnostics: &mut Diagnostics) -> u32 {
    let depth = job.queue.iodepth.unwrap_or(1);
    let most = match job.queue.engine {
        _ if job.queue.offload => OFFLOAD_DEPTH_MAX,
        Engine::IoUring | Engine::IoUringCmd => IO_URING_DEPTH_MAX,
        Engine::Http => HTTP_DEPTH_MAX,
        _ => DEPTH_MAX,
    };
    if depth == 0 || depth > most {
        let what = format!("a depth of {depth} with {}", job.queue.engine.name());
        diagnostics.usage(job, "iodepth", what, format!("give 1 to {most}"));
        return 1;
    }
    depth as u32
}

/// Rates of a job. Oracle: `rate` and `rate_iops` exclude each other even in different directions,
/// so do their minima; a minimum above its rate is an error, a minimum without a rate is not.
pub(crate) fn pacing(job: &Job, blocks: &Blocks, diagnostics: &mut Diagnostics) -> Pacing {
    let rate = &job.rate;
    let bytes = rate.bandwidth.map(|_, b| b.map(|b| b.0).filter(|b| *b > 0));
    let iops = rate.iops.map(|_, i| i.filter(|i| *i > 0));
    let min_bytes = rate.bandwidth_min.map(|_, b| b.map(|b| b.0).filter(|b| *b > 0));
    let min_iops = rate.iops_min.map(|_, i| i.filter(|i| *i > 0));
    // One value applies to all directions. Directions that the job does not use cannot be too slow.
    let is_used = |d: Direction| blocks::directions(job).any(|used| used == d);
    check_exclusive(job, ("rate", &bytes), ("rate_iops", &iops), diagnostics);
    check_exclusive(job, ("rate_min", &min_bytes), ("rate_iops_min", &min_iops), diagnostics);
    let min_bytes = min_bytes.map(|d, floor| floor.filter(|_| is_used(d)));
    let min_iops = min_iops.map(|d, floor| floor.filter(|_| is_used(d)));
    check_minimum(job, ("rate_min", &min_bytes), ("rate", &bytes), diagnostics);
    check_minimum(job, ("rate_iops_min", &min_iops), ("rate_iops", &iops), diagnostics);
    if rate.think.time.is_none() && (rate.think.spin.0 > 0 || rate.think.iotime.is_some()) {
        diagnostics.warn(job, "thinktime_spin and thinktime_iotime do nothing without thinktime");
    }
    Pacing {
        limit: PerDirection::from_fn(|d| {
            let by_iops = |iops| limit_of_iops(job, d, iops, &blocks.sizes[d], diagnostics);
            bytes[d].map(RateLimit::Bytes).or(iops[d].map(by_iops))
        }),
        process: rate.process,
        min_bytes,
        min_iops,
        cycle: rate.cycle.filter(|c| c.0 > 0).unwrap_or(Nanos::SECOND),
        think: rate.think.clone(),
        ignore_thinktime: rate.ignore_thinktime,
    }
}

/// `rate_iops`. Oracle: with blocks of several sizes it is a bandwidth, that of so many of the smallest.
fn limit_of_iops(
    job: &Job,
    direction: Direction,
    iops: u64,
    sizes: &BlockPlan,
    diagnostics: &mut Diagnostics,
) -> RateLimit {
    if sizes.min() == sizes.max() || sizes.min() == 0 {
        return RateLimit::Iops(iops);
    }
    let bytes = iops.saturating_mul(sizes.min());
    if blocks::directions(job).any(|used| used == direction) {
        diagnostics.note(
            job,
            format!(
                "rate_iops={iops} limits {}s to {}/s: that many of the smallest blocks, as in fio",
                direction.name(),
                record::human::size(bytes as f64)
            ),
        );
    }
    RateLimit::Bytes(bytes)
}

type NamedValues<'a> = (&'a str, &'a PerDirection<Option<u64>>);

fn check_exclusive(
    job: &Job,
    a: NamedValues<'_>,
    b: NamedValues<'_>,
    diagnostics: &mut Diagnostics,
) {
    let any = |values: NamedValues<'_>| values.1.iter().any(|(_, v)| v.is_some());
    if any(a) && any(b) {
        let what = format!("{} and {} are both given", a.0, b.0);
        diagnostics.usage(job, b.0, what, "keep one of the two");
    }
}

fn check_minimum(
    job: &Job,
    min: NamedValues<'_>,
    rate: NamedValues<'_>,
    diagnostics: &mut Diagnostics,
) {
    for d in Direction::ALL {
        if let (Some(least), Some(limit)) = (min.1[d], rate.1[d])
            && least > limit
        {
            let what = format!("{least} for {}s is above {}={limit}", d.name(), rate.0);
            diagnostics.usage(job, min.0, what, "lower the minimum or raise the rate");
        }
    }
}

/// CPUs and priorities of worker `number` (from 1). Oracle: `split` distributes the CPUs by the
/// worker's number over the whole run, not by clone. A priority without a class is in the
/// best-effort class.
pub(crate) fn placement(job: &Job, cpus: &[u32], number: u32) -> Placement {
    let process = &job.process;
    let cpus = match process.cpus_policy {
        CpuSplit::Split if !cpus.is_empty() => vec![cpus[(number as usize - 1) % cpus.len()]],
        _ => cpus.to_vec(),
    };
    let prioritised =
        process.prio.is_some() || process.prioclass.is_some() || process.priohint.is_some();
    Placement {
        cpus,
        memory: process.numa_memory.clone(),
        nice: process.nice,
        io_priority: prioritised.then(|| {
            (
                process.prioclass.unwrap_or(2),
                process.prio.unwrap_or(0),
                process.priohint.unwrap_or(0),
            )
        }),
        comm: process.comm.clone(),
    }
}

/// CPUs that `cpus_allowed` and `numa_cpu_nodes` allow; empty for all.
pub(crate) fn cpus(job: &Job, facts: &Facts, diagnostics: &mut Diagnostics) -> Vec<u32> {
    let process = &job.process;
    let allowed = &facts.cpu.allowed;
    let cure = format!("choose among {}", list(allowed));
    for cpu in process.cpus_allowed.iter().filter(|c| !allowed.is_empty() && !allowed.contains(c)) {
        diagnostics.usage(
            job,
            "cpus_allowed",
            format!("CPU {cpu} is not available to this process"),
            cure.clone(),
        );
    }
    check_memory_nodes(job, facts, diagnostics);
    if process.numa_cpu_nodes.is_empty() {
        return process.cpus_allowed.clone();
    }
    let mut cpus = Vec::new();
    for node in &process.numa_cpu_nodes {
        match facts.cpu.nodes.get(node) {
            Some(of_node) => cpus.extend(of_node),
            None => unknown_node(job, "numa_cpu_nodes", *node, facts, diagnostics),
        }
    }
    let chosen = |cpu: &u32| process.cpus_allowed.is_empty() || process.cpus_allowed.contains(cpu);
    let usable = |cpu: &u32| allowed.is_empty() || allowed.contains(cpu);
    let nodes = process.numa_cpu_nodes.iter().all(|n| facts.cpu.nodes.contains_key(n));
    cpus.retain(|c| chosen(c) && usable(c));
    if cpus.is_empty() && nodes {
        let what = "no CPU of these nodes is among those allowed";
        diagnostics.usage(job, "numa_cpu_nodes", what, cure);
    }
    cpus
}

fn check_memory_nodes(job: &Job, facts: &Facts, diagnostics: &mut Diagnostics) {
    let nodes: &[u32] = match &job.process.numa_memory {
        Some(NumaMemory::Prefer(node)) => std::slice::from_ref(node),
        Some(NumaMemory::Bind(nodes) | NumaMemory::Interleave(nodes)) => nodes,
        _ => &[],
    };
    for node in nodes.iter().filter(|n| !facts.cpu.nodes.contains_key(n)) {
        unknown_node(job, "numa_mem_policy", *node, facts, diagnostics);
    }
}

fn unknown_node(job: &Job, option: &str, node: u32, facts: &Facts, diagnostics: &mut Diagnostics) {
    let known: Vec<u32> = facts.cpu.nodes.keys().copied().collect();
    let what = format!("there is no NUMA node {node}");
    diagnostics.usage(job, option, what, format!("choose among {}", list(&known)));
}

/// Numbers in the format of `cpus_allowed`: "0-3,8".
fn list(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &n in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(n) => *last = n,
            _ => runs.push((n, n)),
        }
    }
    let text: Vec<String> =
        runs.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    if text.is_empty() { "none".into() } else { text.join(",") }
}
