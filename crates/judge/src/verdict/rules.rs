//! The rules of verdicts, in order: the first rule that finds a limit decides. Rules about the request
//! come before rules about the response of the storage.

use super::cap;
use super::limit::{Confidence, Limit};
use super::rule::{CPU_BOUND, HALF, MOST, RuleInput, RuleOutcome};
use super::storage;
use crate::checks::server_on_this_host;
use crate::finding::Figure;
use crate::metrics::rates::Rates;
use record::human::{percent, time};
use record::{
    DeviceFacts, Direction, DiskSample, Engine, InterfaceUse, Medium, Sentence, Severity,
};

type Rule = fn(&RuleInput) -> Option<RuleOutcome>;

/// What was asked for, and limits that somebody set.
const REQUEST_RULES: &[Rule] = &[
    nothing_done,
    limited_by_rate,
    limited_by_pauses,
    limited_by_cgroup_io,
    limited_by_cpu_quota,
    limited_by_heat,
    limited_by_overload,
    limited_by_logs,
    limited_by_client,
];
/// Memory that answers in place of the storage.
const DATA_RULES: &[Rule] = &[
    storage::limited_by_memory_filesystem,
    storage::limited_by_holes,
    storage::limited_by_buffered_loop,
    limited_by_cache,
    limited_by_cached_files,
    storage::limited_by_write_cache,
];
/// CPUs, servers and storage.
const STORAGE_RULES: &[Rule] = &[
    limited_by_cpu,
    limited_by_network,
    limited_by_server,
    storage::limited_by_neighbour,
    storage::limited_by_ram_disk,
    cap::limited_by_cap,
    storage::limited_by_device,
    storage::limited_by_full_queue,
    storage::limited_by_filesystem,
    storage::limited_by_writeback,
    storage::limited_by_memory_device,
    storage::limited_by_synchronisation,
    limited_by_cpu_wait,
];

/// A rate is kept when this share of it was reached: the edges of a short window take the rest.
const RATE_KEPT: f64 = 0.98;
const RATE_NEARLY_KEPT: f64 = 0.95;
/// A limit explains a figure that comes this close to it; bursts are let through above it.
const AT_LIMIT: std::ops::RangeInclusive<f64> = 0.85..=1.25;
/// Share of the requested bytes that the device moved, below which the cache made the figure …
const CACHED_CLEARLY: f64 = 0.1;
/// … and so little that it had a share in it.
const CACHED_PARTLY: f64 = 0.5;
/// Less data than this is lost among what else the machine does.
const CACHED_BYTES_MIN: u64 = 4 << 20;
const CPU_BOUND_CLEARLY: f64 = 0.97;
/// Share of the time that workers wait for their logs, from which logs are their limit.
const LOG_WAIT_MIN: f64 = 0.05;
/// Share of a link's speed from which it limits. Frames and headers count as bytes of the interface, gaps
/// between frames do not, and the edges of the window are below the mean.
const LINK_BUSY: f64 = 0.8;
const LINK_FULL: f64 = 0.9;
/// In less time, the few ticks that part user mode from the kernel meet either by chance.
const USER_TIME_NS_MIN: u64 = 100_000_000;

/// The limit of a part.
pub(super) fn decide(input: &RuleInput) -> RuleOutcome {
    // Calls that move no data are not answered by the page cache.
    let moves_data = input.part.medium() != Medium::Metadata;
    let about_data = if moves_data { DATA_RULES } else { &[] };
    let mut rules = REQUEST_RULES.iter().chain(about_data).chain(STORAGE_RULES);
    rules.find_map(|rule| rule(input)).unwrap_or_else(|| unknown(input))
}

fn nothing_done(input: &RuleInput) -> Option<RuleOutcome> {
    let is_rejected = input.found("server-throttles", Severity::Warning).is_some();
    (input.indicators.ios == 0 && input.indicators.syncing == 0.0 && !is_rejected)
        .then(|| RuleOutcome::new(Limit::Unknown, Confidence::Low, "no I/O completed", []))
}

fn limited_by_rate(input: &RuleInput) -> Option<RuleOutcome> {
    let Rates { asked, reached, unit } = Rates::from_part(input.part)?;
    let kept = reached / asked;
    // Arrivals at random are fewer or more than asked for.
    let chance = if input.part.has_random_arrivals() {
        3.0 / (input.indicators.ios.max(1) as f64).sqrt()
    } else {
        0.0
    };
    // Nothing in flight most of the time: the job waited for its schedule, not for storage.
    let waits = input.indicators.in_flight < HALF * input.part.workers.len() as f64;
    let is_kept = kept >= RATE_NEARLY_KEPT - chance || (kept >= HALF && waits);
    let is_clear = kept >= RATE_KEPT - chance || (kept >= RATE_NEARLY_KEPT - chance && waits);
    is_kept.then(|| {
        RuleOutcome::new(
            Limit::Rate,
            if is_clear { Confidence::High } else { Confidence::Medium },
            format!(
                "the job limits its rate to {} and reached {} of it",
                Rates::text(asked, unit),
                percent(kept.min(1.0))
            ),
            [
                Figure::new("requested rate", asked, unit),
                Figure::new("rate reached", reached, unit),
            ],
        )
    })
}

/// A job that rests between its I/Os sets its own pace.
fn limited_by_pauses(input: &RuleInput) -> Option<RuleOutcome> {
    let pause: f64 = input.part.setting("thinktime_ns")?.parse().ok()?;
    let idle = input.indicators.waiting()
        - input.indicators.in_flight / input.part.workers.len().max(1) as f64;
    (idle >= HALF).then(|| {
        RuleOutcome::new(
            Limit::Rate,
            if idle >= MOST { Confidence::High } else { Confidence::Medium },
            Sentence::from(format!("the job pauses {} between I/Os (", time(pause)))
                .option("thinktime")
                .text(format!("): no I/O was in flight {} of the time", percent(idle))),
            [
                Figure::new("pause", pause, "ns"),
                Figure::new("time with no I/O in flight", idle * 100.0, "percent"),
            ],
        )
    })
}

/// What a device did a second of what a limit of that name counts.
fn per_second(counters: &DiskSample, name: &str, seconds: f64) -> Option<f64> {
    let count = match name {
        "rbps" => counters.read_bytes,
        "wbps" => counters.write_bytes,
        // I/Os are counted before they are merged.
        "riops" => counters.read_ios + counters.read_merges,
        "wiops" => counters.write_ios + counters.write_merges,
        _ => return None,
    };
    Some(count as f64 / seconds.max(1e-9))
}

/// A control group's limit on a device of the stack, where the device ran right at it.
pub(super) fn limited_by_cgroup_io(input: &RuleInput) -> Option<RuleOutcome> {
    let limits = &input.case.record.facts.environment.cgroup.io_max;
    let devices = input.part.devices.iter().filter_map(|name| input.case.device(name));
    devices
        .filter_map(|device| cgroup_limit_reached(input, device, limits.get(&device.dev)?))
        .next()
}

fn cgroup_limit_reached(
    input: &RuleInput,
    device: &DeviceFacts,
    limits: &std::collections::BTreeMap<String, u64>,
) -> Option<RuleOutcome> {
    let used = input.case.device_use(input.part, &device.name)?;
    // I/O that waits above an idle device waits for the limit, also where the limit wastes some of it.
    let indicators = &input.indicators;
    let waits_above =
        indicators.waiting() >= HALF && indicators.at_device().is_some_and(|share| share < HALF);
    let at = |(name, limit): (&String, &u64)| {
        let done = per_second(&used.counters, name, used.window.seconds())?;
        let share = done / *limit as f64;
        let is_near = AT_LIMIT.contains(&share);
        let is_held = is_near || (waits_above && share >= HALF && share <= *AT_LIMIT.end());
        is_held.then_some((name.clone(), *limit as f64, done, is_near))
    };
    let (name, limit, done, is_near) = limits.iter().filter_map(at).next()?;
    let unit = if name.ends_with("iops") { "IOPS" } else { "bytes/s" };
    Some(RuleOutcome::new(
        Limit::Throttle,
        if is_near { Confidence::High } else { Confidence::Medium },
        format!(
            "the control group limits {} to {} ({name}); it reached {}",
            device.name,
            Rates::text(limit, unit),
            Rates::text(done, unit)
        ),
        [
            Figure::new("limit of the control group", limit, unit),
            Figure::new("rate reached", done, unit),
        ],
    ))
}

/// Time the control group was kept off the CPUs by its quota.
pub(super) fn limited_by_cpu_quota(input: &RuleInput) -> Option<RuleOutcome> {
    let slow =
        input.case.record.timeline.samples.iter().filter_map(|s| Some((s.at, s.slow.as_ref()?)));
    let slow: Vec<_> = slow.collect();
    let first = slow.iter().rev().find(|(at, _)| *at <= input.part.from).or(slow.first())?;
    let last = slow.iter().find(|(at, _)| *at >= input.part.to).or(slow.last())?;
    let span_us = (last.0 - first.0).0 as f64 / 1e3;
    let off_us = last.1.cgroup_throttled_us.saturating_sub(first.1.cgroup_throttled_us) as f64;
    let share = if span_us > 0.0 { off_us / span_us } else { 0.0 };
    (share >= 0.2).then(|| {
        RuleOutcome::new(
            Limit::Throttle,
            if share >= HALF { Confidence::High } else { Confidence::Medium },
            format!(
                "the CPU quota of the control group throttled the job {} of the time",
                percent(share.min(1.0))
            ),
            [Figure::new("time throttled", share.min(1.0) * 100.0, "percent")],
        )
    })
}

pub(super) fn limited_by_heat(input: &RuleInput) -> Option<RuleOutcome> {
    limited_by_finding(input, "throttled-hot", Limit::Throttle, Confidence::Medium)
}

/// A server that reports overload.
fn limited_by_overload(input: &RuleInput) -> Option<RuleOutcome> {
    limited_by_finding(input, "server-throttles", Limit::Throttle, Confidence::High)
}

/// A warning of a check that names the limit.
fn limited_by_finding(
    input: &RuleInput,
    check: &str,
    limit: Limit,
    confidence: Confidence,
) -> Option<RuleOutcome> {
    let finding = input.found(check, Severity::Warning)?;
    Some(RuleOutcome::new(limit, confidence, finding.text.clone(), &*finding.figures))
}

fn limited_by_cache(input: &RuleInput) -> Option<RuleOutcome> {
    let (indicators, verb) = match input.indicators.direction {
        Direction::Read => (&input.indicators, "read"),
        Direction::Write => (&input.indicators, "wrote"),
        Direction::Trim => return None,
    };
    let moved = indicators.moved_by_device()?;
    let asked = input.part.bytes(indicators.direction);
    if asked < CACHED_BYTES_MIN || moved >= CACHED_PARTLY {
        return None;
    }
    // A direct write of which the device sees less was compressed on the way, not kept in memory.
    let direct = input.part.first().workload.is_direct_in(Direction::Write);
    if direct && indicators.direction == Direction::Write {
        return None;
    }
    // What has to be waited for all the same is what made the figure.
    let device_waits = indicators.waiting() >= HALF && indicators.at_device()? >= HALF;
    if moved >= CACHED_CLEARLY && device_waits {
        return None;
    }
    // Only synchronisations make a worker wait for what the cache took.
    if indicators.syncing >= HALF {
        return None;
    }
    let clear = moved < CACHED_CLEARLY && !device_waits;
    Some(RuleOutcome::new(
        Limit::Cache,
        if clear { Confidence::High } else { Confidence::Medium },
        format!(
            "the device {verb} {} of the bytes that the job {verb}; memory served the rest",
            percent(moved)
        ),
        [
            Figure::new("bytes of the job", asked as f64, "bytes"),
            Figure::new("of them moved by the device", moved * 100.0, "percent"),
            input.latency_figure(),
        ],
    ))
}

/// With several jobs on the same devices, counters do not show which job had cache hits, but the pages
/// in the cache before the run do.
fn limited_by_cached_files(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    let shared = indicators.disks.as_ref().is_some_and(|disks| disks.shared);
    let reads =
        indicators.direction == Direction::Read && input.part.is_buffered_in(Direction::Read);
    let cached = cached_before(input)?;
    if !(shared && reads && cached >= CPU_BOUND && indicators.waiting() < HALF) {
        return None;
    }
    let because = format!(
        "{} of the files' data was in the page cache before the run, and the workers hardly \
             waited",
        percent(cached)
    );
    let figures = [
        Figure::new("files' data in the page cache", cached * 100.0, "percent"),
        input.latency_figure(),
    ];
    Some(RuleOutcome::new(Limit::Cache, Confidence::Medium, because, figures))
}

/// Share of a part's files that was in the page cache before the run; `None` where nobody looked.
fn cached_before(input: &RuleInput) -> Option<f64> {
    let (mut size, mut cached) = (0, 0);
    for file in input.part.files() {
        let look = input.case.record.evidence.files.get(file)?.before.as_ref()?;
        size += look.size.0;
        cached += look.cached?.0;
    }
    (size > 0).then(|| cached as f64 / size as f64)
}

/// Workers that make log entries faster than they are written.
fn limited_by_logs(input: &RuleInput) -> Option<RuleOutcome> {
    let workers = || input.part.workers.iter();
    let ran: u64 = workers().map(|job| (job.ended - job.started).0).sum();
    let waited = workers().map(|job| job.log_wait.0).sum::<u64>() as f64 / ran.max(1) as f64;
    (waited >= LOG_WAIT_MIN && waited + input.indicators.wanted_cpu() >= CPU_BOUND).then(|| {
        RuleOutcome::new(
            Limit::Client,
            Confidence::High,
            format!(
                "workers waited {} of the time until their logs were written, and used {} of a CPU",
                percent(waited),
                percent(input.indicators.wanted_cpu())
            ),
            [Figure::new("time waiting for logs", waited * 100.0, "percent"), input.cpu_figure()],
        )
    })
}

/// The load generator's own work between the I/Os.
fn limited_by_client(input: &RuleInput) -> Option<RuleOutcome> {
    if input.part.medium() != Medium::Data {
        return None;
    }
    let indicators = &input.indicators;
    let work = input.own_work();
    // Of a worker with one I/O at a time, what passes without one under way is its own.
    let outside = 1.0 - indicators.in_flight / input.part.workers.len().max(1) as f64;
    let lasted = indicators.window.0 * input.part.workers.len() as u64;
    let is_user_known = work.is_some() || lasted >= USER_TIME_NS_MIN;
    let between = is_user_known && outside >= HALF && indicators.user >= 0.4;
    let busy = indicators.wanted_cpu() >= CPU_BOUND && indicators.user >= HALF * indicators.on_cpu;
    let is_client_bound = input.found("client-bound", Severity::Note).is_some();
    if !(between || (busy && work.is_some()) || (is_client_bound && indicators.user >= 0.4)) {
        return None;
    }
    // The kernel parts user mode from its own by what each tick meets: of a run of a few ticks that is
    // chance, and user mode may seem to hold what passed within the I/Os.
    let own = if between { indicators.user.min(outside) } else { indicators.user.min(1.0) };
    let mut because = Sentence::from("the load generator itself");
    if let Some(work) = work {
        because = because.text(" (").option(work.trim_end_matches("_ns")).text(")");
    }
    let confidence = match (work.is_some() || is_client_bound, between || busy) {
        (true, true) => Confidence::High,
        _ => Confidence::Medium,
    };
    Some(RuleOutcome::new(
        Limit::Client,
        confidence,
        because.text(format!(
            " used {} of the workers' time in user mode; I/Os were in flight {} of it",
            percent(own),
            percent((1.0 - outside).clamp(0.0, 1.0))
        )),
        [
            Figure::new("workers' time in user mode", own * 100.0, "percent"),
            Figure::new("I/Os in flight, mean", indicators.in_flight, "count"),
        ],
    ))
}

fn limited_by_cpu(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    if input.polls() {
        return None;
    }
    let at_device = input.indicators.at_device().unwrap_or(0.0);
    if indicators.wanted_cpu() < CPU_BOUND {
        return limited_by_one_cpu(input);
    }
    let memory = input.device_is_memory();
    // Where the device was full as well, only a worker that never sleeps is slower than it.
    let contradicted = at_device >= MOST && !memory;
    // Nothing else can be the limit where no device took half of the time.
    let is_clear = indicators.wanted_cpu() >= CPU_BOUND_CLEARLY || at_device < HALF;
    let confidence = match is_clear {
        true if !contradicted => Confidence::High,
        false if contradicted => Confidence::Low,
        _ => Confidence::Medium,
    };
    let mut because = format!(
        "workers used {} of a CPU (user {})",
        percent(indicators.on_cpu.min(1.0)),
        percent(indicators.user.min(1.0))
    );
    if indicators.run_delay >= 0.1 {
        because += &format!(
            " and waited for a CPU {} of the time",
            percent(indicators.run_delay.min(1.0))
        );
    }
    if input.part.has_engine(Engine::moves_nothing) {
        because += "; engine null uses no device";
    } else if memory {
        because += "; the device is memory, so CPUs do its work";
    }
    let each = indicators.on_cpu * input.part.workers.len() as f64 * indicators.window.0 as f64;
    Some(RuleOutcome::new(
        Limit::Cpu,
        confidence,
        because,
        [
            input.cpu_figure(),
            Figure::new("CPU time an I/O", each / indicators.ios.max(1) as f64, "ns"),
        ],
    ))
}

/// One CPU that does the kernel's work for all.
fn limited_by_one_cpu(input: &RuleInput) -> Option<RuleOutcome> {
    limited_by_finding(input, "cpu-bound", Limit::Cpu, Confidence::Medium)
}

/// Workers that ask a server and do not need their CPUs wait for it, or it for a CPU of theirs.
/// The link of an interface has no room for more.
fn limited_by_network(input: &RuleInput) -> Option<RuleOutcome> {
    let network = input.case.record.evidence.network.as_ref()?;
    let load = |interface: &InterfaceUse| interface.load(network.window);
    let loads =
        network.interfaces.iter().filter_map(|interface| Some((interface, load(interface)?)));
    let (interface, load) = loads.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (load >= LINK_BUSY).then(|| {
        RuleOutcome::new(
            Limit::Network,
            if load >= LINK_FULL { Confidence::High } else { Confidence::Medium },
            format!(
                "mean latency {}; the link of {} was {} full",
                time(input.indicators.latency_ns),
                interface.name,
                percent(load.min(1.0))
            ),
            [
                Figure::new("link used", load * 100.0, "percent"),
                input.latency_figure(),
                input.cpu_figure(),
            ],
        )
    })
}

fn limited_by_server(input: &RuleInput) -> Option<RuleOutcome> {
    let asked = input.part.metrics.exchange.as_ref()?;
    let waiting = input.indicators.waiting();
    let busy = server_on_this_host::busy(input.case, input.part).filter(|_| asked.is_local());
    if let Some(busy) = busy.filter(|busy| *busy >= CPU_BOUND) {
        return Some(RuleOutcome::new(
            Limit::Cpu,
            Confidence::Medium,
            format!("the server runs on this machine, and its CPUs were {} busy", percent(busy)),
            [Figure::new("CPUs busy", busy * 100.0, "percent"), input.cpu_figure()],
        ));
    }
    let confidence = match waiting {
        clear if clear >= MOST => Confidence::High,
        half if half >= HALF => Confidence::Medium,
        _ => Confidence::Low,
    };
    Some(RuleOutcome::new(
        Limit::Server,
        confidence,
        format!(
            "mean request latency {}; workers waited for the server and the network {} of the time",
            time(input.indicators.latency_ns),
            percent(waiting)
        ),
        [input.latency_figure(), input.cpu_figure()],
    ))
}

/// Workers that were ready and had no CPU.
fn limited_by_cpu_wait(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    (indicators.run_delay >= 0.3).then(|| {
        RuleOutcome::new(
            Limit::Cpu,
            Confidence::Low,
            format!(
                "workers were runnable but waited for a CPU {} of the time",
                percent(indicators.run_delay.min(1.0))
            ),
            [
                Figure::new(
                    "workers' time waiting for a CPU",
                    indicators.run_delay * 100.0,
                    "percent",
                ),
                input.cpu_figure(),
            ],
        )
    })
}

fn unknown(input: &RuleInput) -> RuleOutcome {
    let indicators = &input.indicators;
    let cpu = format!("workers used {} of a CPU", percent(indicators.wanted_cpu()));
    let because = match (indicators.at_device(), input.part.devices.is_empty()) {
        (Some(share), _) => {
            format!("{cpu}, and {} of the I/O time was in the device", percent(share))
        }
        (None, true) => format!("{cpu}, and no device is visible below the files"),
        (None, false) => format!("{cpu}, and the devices were not sampled"),
    };
    let at_device =
        indicators.at_device().map(|s| Figure::new("I/O time in the device", s * 100.0, "percent"));
    RuleOutcome::new(
        Limit::Unknown,
        Confidence::Low,
        because,
        [input.cpu_figure()].into_iter().chain(at_device).collect::<Vec<_>>(),
    )
}
