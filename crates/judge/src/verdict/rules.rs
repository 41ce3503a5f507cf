//! The rules, in the order in which they are asked: the first that knows decides. What was asked of
//! the storage and by whom comes before what the storage did with it.

use super::signs::Signs;
use super::{Confidence, Limit};
use crate::case::{Case, Part};
use crate::checks::server_on_this_host;
use crate::checks::words::{number, percent, size, time};
use crate::finding::{Figure, Finding};
use record::{DeviceFacts, Direction, DiskSample, Medium, Sentence, Severity};

/// What a rule says.
pub(super) struct Ruling {
    pub(super) limit: Limit,
    pub(super) confidence: Confidence,
    pub(super) because: Sentence,
    pub(super) figures: Vec<Figure>,
}

/// What the rules look at.
pub(super) struct Matter<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) part: &'a Part<'a>,
    pub(super) findings: &'a [&'a Finding],
    pub(super) signs: Signs,
}

type Rule = fn(&Matter) -> Option<Ruling>;

const RULES: &[Rule] = &[
    nothing_done,
    by_rate,
    by_pauses,
    by_device_limit,
    by_cpu_quota,
    by_heat,
    by_slow_down,
    by_client,
    by_memory,
    by_cache,
    by_residency,
    by_write_behind,
    by_cpu,
    by_server,
    by_device,
    by_want_of_cpu,
];

/// A rate is kept when this share of it was reached: the edges of a short window take the rest.
const RATE_KEPT: f64 = 0.98;
const RATE_NEARLY_KEPT: f64 = 0.95;
/// A limit explains a figure that comes this close to it; bursts are let through above it.
const AT_LIMIT: std::ops::RangeInclusive<f64> = 0.85..=1.25;
/// Of what was asked for, so little moved by the device that the cache made the figure …
const CACHED_CLEARLY: f64 = 0.1;
/// … and so little that it had a share in it.
const CACHED_PARTLY: f64 = 0.5;
/// Less data than this is lost among what else the machine does.
const CACHED_BYTES_MIN: u64 = 4 << 20;
/// A worker that needs a CPU all the time, edges of the window apart.
const CPU_BOUND: f64 = 0.9;
const CPU_BOUND_CLEARLY: f64 = 0.97;
/// Most of the time.
const MOST: f64 = 0.7;
/// The same of an I/O's time: getting it to the device and back takes some of it.
const MOST_OF_IO: f64 = 0.6;
/// Half of the time.
const HALF: f64 = 0.5;

/// The limit of a part.
pub(super) fn decide(matter: &Matter) -> Ruling {
    RULES.iter().find_map(|rule| rule(matter)).unwrap_or_else(|| unknown(matter))
}

impl Matter<'_> {
    fn found(&self, check: &str, least: Severity) -> Option<&Finding> {
        let said = |f: &&&Finding| f.check == check && f.severity >= least;
        self.findings.iter().find(said).copied()
    }

    /// Polling keeps a worker on its CPU whatever limits it.
    fn polls(&self) -> bool {
        ["hipri", "sqthread_poll"].iter().any(|name| self.part.setting(name).is_some())
    }

    /// Settings that make the load generator work for each I/O.
    fn own_work(&self) -> Option<&'static str> {
        ["thinktime_ns", "refill_buffers", "buffer_compress_percentage", "dedupe_percentage"]
            .into_iter()
            .find(|name| self.part.setting(name).is_some())
    }

    /// A CPU figure for the rulings that show one.
    fn cpu_figure(&self) -> Figure {
        Figure::new("workers' time on a CPU", self.signs.on_cpu * 100.0, "percent")
    }

    fn latency_figure(&self) -> Figure {
        Figure::new("mean latency", self.signs.latency_ns, "ns")
    }
}

fn nothing_done(m: &Matter) -> Option<Ruling> {
    (m.signs.ios == 0 && m.signs.syncing == 0.0).then(|| Ruling {
        limit: Limit::Unknown,
        confidence: Confidence::Low,
        because: "no I/O completed".into(),
        figures: Vec::new(),
    })
}

/// (asked for, reached) a second over all workers and directions with a rate, in I/Os or bytes.
fn rates(part: &Part) -> Option<(f64, f64, &'static str)> {
    let (mut asked, mut reached, mut unit) = (0.0, 0.0, "IOPS");
    for job in &part.workers {
        for (direction, result) in job.results.iter().filter(|(_, r)| r.runtime.0 > 0) {
            let seconds = result.runtime.seconds();
            if let Some(iops) = job.workload.rate_iops[direction] {
                asked += iops as f64;
                reached += result.ios as f64 / seconds;
            } else if let Some(bytes) = job.workload.rate[direction] {
                unit = "bytes/s";
                asked += bytes as f64;
                reached += result.bytes.0 as f64 / seconds;
            }
        }
    }
    (asked > 0.0).then_some((asked, reached, unit))
}

fn rate_text(value: f64, unit: &str) -> String {
    if unit == "IOPS" { format!("{} IOPS", number(value)) } else { format!("{}/s", size(value)) }
}

fn by_rate(m: &Matter) -> Option<Ruling> {
    let (asked, reached, unit) = rates(m.part)?;
    let kept = reached / asked;
    (kept >= RATE_NEARLY_KEPT).then(|| Ruling {
        limit: Limit::Rate,
        confidence: if kept >= RATE_KEPT { Confidence::High } else { Confidence::Medium },
        because: format!(
            "the job asks for {} and got {} of it",
            rate_text(asked, unit),
            percent(kept.min(1.0))
        )
        .into(),
        figures: vec![
            Figure::new("rate asked for", asked, unit),
            Figure::new("rate reached", reached, unit),
        ],
    })
}

/// A job that rests between its I/Os sets its own pace.
fn by_pauses(m: &Matter) -> Option<Ruling> {
    let pause: f64 = m.part.setting("thinktime_ns")?.parse().ok()?;
    let idle = m.signs.waiting() - m.signs.in_flight / m.part.workers.len().max(1) as f64;
    (idle >= HALF).then(|| Ruling {
        limit: Limit::Rate,
        confidence: Confidence::Medium,
        because: Sentence::from(format!("the job pauses for {} (", time(pause)))
            .option("thinktime")
            .text(format!("): {} of the time nothing was under way", percent(idle))),
        figures: vec![
            Figure::new("pause", pause, "ns"),
            Figure::new("time with nothing under way", idle * 100.0, "percent"),
        ],
    })
}

/// What a device did a second of what a limit of that name counts.
fn per_second(counters: &DiskSample, name: &str, seconds: f64) -> Option<f64> {
    let count = match name {
        "rbps" => counters.read_bytes,
        "wbps" => counters.write_bytes,
        "riops" => counters.read_ios,
        "wiops" => counters.write_ios,
        _ => return None,
    };
    Some(count as f64 / seconds.max(1e-9))
}

/// A control group's limit on a device of the stack, where the device ran right at it.
pub(super) fn by_device_limit(m: &Matter) -> Option<Ruling> {
    let limits = &m.case.record.facts.environment.cgroup.io_max;
    let devices = m.part.devices.iter().filter_map(|name| m.case.device(name));
    devices.filter_map(|device| limit_of(m, device, limits.get(&device.dev)?)).next()
}

fn limit_of(
    m: &Matter,
    device: &DeviceFacts,
    limits: &std::collections::BTreeMap<String, u64>,
) -> Option<Ruling> {
    let used = m.case.device_use(m.part, &device.name)?;
    let at = |(name, limit): (&String, &u64)| {
        let done = per_second(&used.counters, name, used.window.seconds())?;
        AT_LIMIT.contains(&(done / *limit as f64)).then_some((name.clone(), *limit as f64, done))
    };
    let (name, limit, done) = limits.iter().filter_map(at).next()?;
    let unit = if name.ends_with("iops") { "IOPS" } else { "bytes/s" };
    Some(Ruling {
        limit: Limit::Throttle,
        confidence: Confidence::High,
        because: format!(
            "the control group may have {} on {} ({name}), and got {}",
            rate_text(limit, unit),
            device.name,
            rate_text(done, unit)
        )
        .into(),
        figures: vec![
            Figure::new("limit of the control group", limit, unit),
            Figure::new("rate reached", done, unit),
        ],
    })
}

/// Time the control group was kept off the CPUs by its quota.
pub(super) fn by_cpu_quota(m: &Matter) -> Option<Ruling> {
    let slow = m.case.record.timeline.samples.iter().filter_map(|s| Some((s.at, s.slow.as_ref()?)));
    let slow: Vec<_> = slow.collect();
    let first = slow.iter().rev().find(|(at, _)| *at <= m.part.from).or(slow.first())?;
    let last = slow.iter().find(|(at, _)| *at >= m.part.to).or(slow.last())?;
    let span_us = (last.0 - first.0).0 as f64 / 1e3;
    let off_us = last.1.cgroup_throttled_us.saturating_sub(first.1.cgroup_throttled_us) as f64;
    let share = if span_us > 0.0 { off_us / span_us } else { 0.0 };
    (share >= 0.2).then(|| Ruling {
        limit: Limit::Throttle,
        confidence: if share >= HALF { Confidence::High } else { Confidence::Medium },
        because: format!(
            "the CPU quota of the control group kept it off the CPUs {} of the time",
            percent(share.min(1.0))
        )
        .into(),
        figures: vec![Figure::new("time kept off the CPUs", share.min(1.0) * 100.0, "percent")],
    })
}

pub(super) fn by_heat(m: &Matter) -> Option<Ruling> {
    let finding = m.found("throttled-hot", Severity::Warning)?;
    Some(Ruling {
        limit: Limit::Throttle,
        confidence: Confidence::Medium,
        because: finding.text.clone(),
        figures: finding.figures.clone(),
    })
}

/// A server that says it is asked too much.
fn by_slow_down(m: &Matter) -> Option<Ruling> {
    let finding = m.found("server-throttles", Severity::Warning)?;
    Some(Ruling {
        limit: Limit::Throttle,
        confidence: Confidence::High,
        because: finding.text.clone(),
        figures: finding.figures.clone(),
    })
}

/// Files that are memory.
pub(super) fn by_memory(m: &Matter) -> Option<Ruling> {
    let filesystems = m.case.filesystems_of(m.part);
    let memory = filesystems.iter().find(|f| ["tmpfs", "ramfs"].contains(&f.kind.as_str()))?;
    Some(Ruling {
        limit: Limit::Cache,
        confidence: Confidence::High,
        because: format!("{} keeps its files in memory: there is no device", memory.kind).into(),
        figures: vec![m.cpu_figure(), m.latency_figure()],
    })
}

fn by_cache(m: &Matter) -> Option<Ruling> {
    let (signs, verb) = match m.signs.direction {
        Direction::Read => (&m.signs, "read"),
        Direction::Write => (&m.signs, "wrote"),
        Direction::Trim => return None,
    };
    let moved = signs.moved_by_device()?;
    let asked = m.part.bytes(signs.direction);
    if asked < CACHED_BYTES_MIN || moved >= CACHED_PARTLY {
        return None;
    }
    // A direct write of which the device sees less was compressed on the way, not kept in memory.
    let direct = m.part.first().workload.is_direct_in(Direction::Write);
    if direct && signs.direction == Direction::Write {
        return None;
    }
    // What has to be waited for all the same is what made the figure.
    let device_waits = signs.waiting() >= HALF && signs.at_device()? >= HALF;
    if moved >= CACHED_CLEARLY && device_waits {
        return None;
    }
    // Only synchronisations make a worker wait for what the cache took.
    if signs.syncing >= HALF {
        return None;
    }
    let clear = moved < CACHED_CLEARLY && !device_waits;
    Some(Ruling {
        limit: Limit::Cache,
        confidence: if clear { Confidence::High } else { Confidence::Medium },
        because: format!(
            "the device {verb} {} of the bytes the job {verb}; memory answered the rest",
            percent(moved)
        )
        .into(),
        figures: vec![
            Figure::new("bytes of the job", asked as f64, "bytes"),
            Figure::new("of them by the device", moved * 100.0, "percent"),
            m.latency_figure(),
        ],
    })
}

/// Where several jobs share the devices, what these moved cannot be told apart; that a job's files
/// lay in memory before it read them can.
fn by_residency(m: &Matter) -> Option<Ruling> {
    let signs = &m.signs;
    let shared = signs.disks.as_ref().is_some_and(|disks| disks.shared);
    let reads = signs.direction == Direction::Read && m.part.is_buffered_in(Direction::Read);
    let cached = cached_before(m)?;
    (shared && reads && cached >= CPU_BOUND && signs.waiting() < HALF).then(|| Ruling {
        limit: Limit::Cache,
        confidence: Confidence::Medium,
        because: format!(
            "{} of its files were in the page cache before it read them, and it hardly waited",
            percent(cached)
        )
        .into(),
        figures: vec![
            Figure::new("of its files in the page cache", cached * 100.0, "percent"),
            m.latency_figure(),
        ],
    })
}

/// Share of a part's files that was in the page cache before the run; `None` where nobody looked.
fn cached_before(m: &Matter) -> Option<f64> {
    let (mut size, mut cached) = (0, 0);
    for file in m.part.files() {
        let look = m.case.record.evidence.files.get(file)?.before.as_ref()?;
        size += look.size.0;
        cached += look.cached?.0;
    }
    (size > 0).then(|| cached as f64 / size as f64)
}

/// Writes that the page cache took without making the worker wait, whatever it wrote back later.
fn by_write_behind(m: &Matter) -> Option<Ruling> {
    let signs = &m.signs;
    let written = signs.direction == Direction::Write && m.part.is_buffered_in(Direction::Write);
    if !written || m.part.setting("sync").is_some() || m.part.devices.is_empty() {
        return None;
    }
    (signs.waiting() < 0.3 && signs.syncing < 0.1).then(|| Ruling {
        limit: Limit::Cache,
        confidence: Confidence::Medium,
        because: format!(
            "the page cache took the writes: the workers waited {} of the time for anything but a \
             CPU",
            percent(signs.waiting())
        )
        .into(),
        figures: vec![m.cpu_figure(), m.latency_figure()],
    })
}

/// The load generator's own work between the I/Os.
fn by_client(m: &Matter) -> Option<Ruling> {
    if m.part.medium() != Medium::Data {
        return None;
    }
    let signs = &m.signs;
    let work = m.own_work();
    // Of a worker with one I/O at a time, what passes without one under way is its own.
    let outside = 1.0 - signs.in_flight / m.part.workers.len().max(1) as f64;
    let between = outside >= HALF && signs.user >= 0.4;
    let busy = signs.wanted_cpu() >= CPU_BOUND && signs.user >= HALF * signs.on_cpu;
    let said = m.found("client-bound", Severity::Note).is_some();
    if !(between || (busy && work.is_some()) || (said && signs.user >= 0.4)) {
        return None;
    }
    // The kernel parts user mode from its own by what each tick meets: of a run of a few ticks that is
    // chance, and user mode may seem to hold what passed within the I/Os.
    let own = if between { signs.user.min(outside) } else { signs.user.min(1.0) };
    let mut because = Sentence::from("the load generator itself");
    if let Some(work) = work {
        because = because.text(" (").option(work.trim_end_matches("_ns")).text(")");
    }
    let confidence = match (work.is_some() || said, between || busy) {
        (true, true) => Confidence::High,
        _ => Confidence::Medium,
    };
    Some(Ruling {
        limit: Limit::Client,
        confidence,
        because: because.text(format!(
            " took {} of the workers' time, in user mode; I/Os were under way {} of it",
            percent(own),
            percent((1.0 - outside).clamp(0.0, 1.0))
        )),
        figures: vec![
            Figure::new("workers' time in user mode", own * 100.0, "percent"),
            Figure::new("I/Os under way, mean", signs.in_flight, "count"),
        ],
    })
}

fn by_cpu(m: &Matter) -> Option<Ruling> {
    let signs = &m.signs;
    if m.polls() {
        return None;
    }
    let at_device = m.signs.at_device().unwrap_or(0.0);
    if signs.wanted_cpu() < CPU_BOUND {
        return by_one_cpu(m);
    }
    let memory = device_is_memory(m);
    // Where the device was full as well, only a worker that never sleeps is slower than it.
    let contradicted = at_device >= MOST && !memory;
    let confidence = match signs.wanted_cpu() >= CPU_BOUND_CLEARLY {
        true if !contradicted => Confidence::High,
        false if contradicted => Confidence::Low,
        _ => Confidence::Medium,
    };
    let mut because = format!(
        "the workers were on a CPU {} of the time (user {})",
        percent(signs.on_cpu.min(1.0)),
        percent(signs.user.min(1.0))
    );
    if signs.run_delay >= 0.1 {
        because += &format!(" and waited for one {} of it", percent(signs.run_delay.min(1.0)));
    }
    if m.part.first().workload.ioengine == "null" {
        because += "; the engine null asks no device";
    } else if memory {
        because += "; the device is memory, and the CPUs do its work";
    }
    let each = signs.on_cpu * m.part.workers.len() as f64 * signs.window.0 as f64;
    Some(Ruling {
        limit: Limit::Cpu,
        confidence,
        because: because.into(),
        figures: vec![
            m.cpu_figure(),
            Figure::new("CPU time an I/O", each / signs.ios.max(1) as f64, "ns"),
        ],
    })
}

/// One CPU that does the kernel's work for all.
fn by_one_cpu(m: &Matter) -> Option<Ruling> {
    let finding = m.found("cpu-bound", Severity::Warning)?;
    Some(Ruling {
        limit: Limit::Cpu,
        confidence: Confidence::Medium,
        because: finding.text.clone(),
        figures: finding.figures.clone(),
    })
}

fn device_is_memory(m: &Matter) -> bool {
    let disks = m.case.disks_of(m.part);
    let memory = |d: &&DeviceFacts| d.transport.as_deref() == Some("memory");
    !disks.is_empty() && disks.iter().all(memory)
}

/// Workers that ask a server and do not need their CPUs wait for it, or it for a CPU of theirs.
fn by_server(m: &Matter) -> Option<Ruling> {
    let asked = m.part.metrics.exchange.as_ref()?;
    let waiting = m.signs.waiting();
    let busy = server_on_this_host::busy(m.case, m.part).filter(|_| asked.is_local());
    if let Some(busy) = busy.filter(|busy| *busy >= CPU_BOUND) {
        return Some(Ruling {
            limit: Limit::Cpu,
            confidence: Confidence::Medium,
            because: format!(
                "the server runs on this machine, whose CPUs were busy {} of the time",
                percent(busy)
            )
            .into(),
            figures: vec![Figure::new("CPUs busy", busy * 100.0, "percent"), m.cpu_figure()],
        });
    }
    let confidence = match waiting {
        clear if clear >= MOST => Confidence::High,
        half if half >= HALF => Confidence::Medium,
        _ => Confidence::Low,
    };
    Some(Ruling {
        limit: Limit::Server,
        confidence,
        because: format!(
            "each request took {}, and the workers waited {} of the time for the server and the \
             network",
            time(m.signs.latency_ns),
            percent(waiting)
        )
        .into(),
        figures: vec![m.latency_figure(), m.cpu_figure()],
    })
}

/// The workers sleep, and what they sleep for is at the device.
fn by_device(m: &Matter) -> Option<Ruling> {
    let signs = &m.signs;
    let disks = signs.disks.as_ref()?;
    let at_device = disks.share();
    if at_device < 0.4 || signs.wanted_cpu() >= CPU_BOUND && !m.polls() {
        return None;
    }
    let clear =
        at_device >= MOST_OF_IO && (signs.wanted_cpu() <= MOST || m.polls()) && !disks.shared;
    let what = match signs.syncing >= HALF {
        true => format!("{} of the waiting was for synchronisations", percent(signs.syncing)),
        false => format!("each I/O took {}", time(signs.latency_ns)),
    };
    Some(Ruling {
        limit: Limit::Device,
        confidence: if clear { Confidence::High } else { Confidence::Medium },
        because: format!(
            "{what}, {} of the time passed at the device, and the workers needed a CPU {} of theirs",
            percent(at_device),
            percent(signs.wanted_cpu())
        ).into(),
        figures: vec![
            Figure::new("I/Os' time at the device", at_device * 100.0, "percent"),
            Figure::new("I/Os under way at the device, mean", disks.in_flight, "count"),
            m.cpu_figure(),
        ],
    })
}

/// Workers that were ready and had no CPU.
fn by_want_of_cpu(m: &Matter) -> Option<Ruling> {
    let signs = &m.signs;
    (signs.run_delay >= 0.3).then(|| Ruling {
        limit: Limit::Cpu,
        confidence: Confidence::Low,
        because: format!(
            "the workers were ready and waited for a CPU {} of the time",
            percent(signs.run_delay.min(1.0))
        )
        .into(),
        figures: vec![
            Figure::new("workers' time waiting for a CPU", signs.run_delay * 100.0, "percent"),
            m.cpu_figure(),
        ],
    })
}

fn unknown(m: &Matter) -> Ruling {
    let signs = &m.signs;
    let cpu = format!("the workers needed a CPU {} of the time", percent(signs.wanted_cpu()));
    let because = match (signs.at_device(), m.part.devices.is_empty()) {
        (Some(share), _) => {
            format!("{cpu}, and {} of the I/Os' time passed at the device", percent(share))
        }
        (None, true) => format!("{cpu}, and no device can be seen below the files"),
        (None, false) => format!("{cpu}, and the devices were not sampled"),
    };
    let at_device =
        signs.at_device().map(|s| Figure::new("I/Os' time at the device", s * 100.0, "percent"));
    Ruling {
        limit: Limit::Unknown,
        confidence: Confidence::Low,
        because: because.into(),
        figures: [m.cpu_figure()].into_iter().chain(at_device).collect(),
    }
}
