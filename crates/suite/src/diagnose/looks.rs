//! The five looks at a diagnosis: what each ran, saw and concludes.

use super::{DEEP, MODERATE};
use judge::{Case, Judged, durability, durability_reason, inspect, judge};
use record::{Direction, RecordSet, RunRecord};

/// One step of a diagnosis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Its question.
    pub title: &'static str,
    /// What was run.
    pub ran: String,
    /// What was seen, a line each.
    pub saw: Vec<String>,
    /// What follows.
    pub concluded: String,
}

/// The figures of one run.
pub(super) struct Probed<'a> {
    pub run: &'a RunRecord,
    pub judged: Judged,
    pub iops: f64,
    pub mean_ns: f64,
    pub p50_ns: f64,
    pub p999_ns: f64,
    /// Share of the window the busiest disk had something to do, and mean time of an I/O in it.
    pub disk: Option<DiskLook>,
    /// Share of a CPU that the worker used.
    pub worker: f64,
    /// Share of the window that the busiest CPU spent in kernel and interrupts.
    pub kernel: Option<f64>,
}

/// What the disk under a run did meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DiskLook {
    pub busy: f64,
    pub await_ns: f64,
    /// Bytes it moved over bytes the run asked for.
    pub moved: f64,
}

impl<'a> Probed<'a> {
    pub(super) fn of(set: &'a RecordSet, name: &str, direction: Direction) -> Option<Probed<'a>> {
        let named = |run: &&RunRecord| run.cell.as_ref().is_some_and(|cell| cell.name == name);
        let run = set.runs.iter().find(named)?;
        let judged = judge(run);
        let unit = judged.units.first()?;
        let (figures, cpu) = (&unit.directions[direction], unit.cpu);
        let clat = figures.clat.as_ref()?;
        let histogram = run.jobs.first()?.results[direction].latency.clat.as_ref()?;
        let (iops, mean_ns) = (figures.iops, clat.mean);
        let case = Case::of(run);
        let part = case.parts.first()?;
        let cpus = case.cpu_use(part.from, part.to);
        let kernel = cpus.iter().map(|(_, share)| share.system + share.interrupts);
        Some(Probed {
            run,
            iops,
            mean_ns,
            p50_ns: histogram.percentile(50.0) as f64,
            p999_ns: histogram.percentile(99.9) as f64,
            disk: disk(&case, direction),
            worker: (cpu.user + cpu.system) / 100.0,
            kernel: kernel.reduce(f64::max),
            judged,
        })
    }
}

/// The busiest of the lowest devices under a run.
fn disk(case: &Case, direction: Direction) -> Option<DiskLook> {
    let part = case.parts.first()?;
    let looks = case.disks_of(part).into_iter().filter_map(|device| {
        let used = case.device_use(part, &device.name)?;
        let counters = used.counters;
        let (ios, ticks, moved, asked) = match direction {
            Direction::Read => {
                (counters.read_ios, counters.read_ticks_ms, counters.read_bytes, used.read_asked)
            }
            _ => (
                counters.write_ios,
                counters.write_ticks_ms,
                counters.write_bytes,
                used.write_asked,
            ),
        };
        Some(DiskLook {
            busy: counters.busy_ms as f64 * 1e6 / used.window.0.max(1) as f64,
            await_ns: ticks as f64 * 1e6 / ios.max(1) as f64,
            moved: moved as f64 / asked.max(1) as f64,
        })
    });
    looks.reduce(|a, b| if b.busy > a.busy { b } else { a })
}

/// A duration in nanoseconds as people read it.
pub(super) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e4 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e6 => format!("{:.0} us", ns / 1e3),
        ns if ns < 1e7 => format!("{:.1} ms", ns / 1e6),
        ns if ns < 1e9 => format!("{:.0} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn nothing(title: &'static str, ran: String) -> Look {
    let concluded = "nothing: its runs failed or were not made".into();
    Look { title, ran, saw: Vec::new(), concluded }
}

/// First: which path is tested.
pub(super) fn path(set: &RecordSet) -> Look {
    let title = "Which path is tested?";
    let ran = "random reads of 4 KiB at depth 4, against what the devices count".to_owned();
    let Some(probed) = Probed::of(set, "path", Direction::Read) else {
        return nothing(title, ran);
    };
    let facts = &probed.run.facts;
    let workload = probed.run.jobs.first().map(|job| &job.workload);
    let file = workload.and_then(|w| w.files.first()).map_or("", String::as_str);
    let layers = inspect(facts, file).stack;
    let mut saw = vec![match layers.is_empty() {
        true => "nothing is known of what lies below".to_owned(),
        false => layers.join(" > "),
    }];
    let direct = workload.is_some_and(|workload| workload.direct);
    let way = if direct { "O_DIRECT" } else { "the page cache: O_DIRECT is not taken here" };
    saw.push(format!("through {way}: {:.0} IOPS, {} each", probed.iops, time(probed.mean_ns)));
    let concluded = match probed.disk {
        None => "no device can be seen below: this is memory, a network, or a hidden disk".into(),
        Some(disk) => {
            saw.push(format!("the device moved {} of what was asked for", percent(disk.moved)));
            match disk.moved {
                moved if moved < 0.9 => "much of it never reached the device: a cache answered",
                moved if moved > 1.2 => "others use the device too, or reads are amplified",
                _ => "the device itself answers, nothing else uses it to speak of",
            }
            .to_owned()
        }
    };
    Look { title, ran, saw, concluded }
}

/// How the device answers more I/Os in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Time is lost above the device.
    Above,
    /// Some I/Os take far longer than most.
    Stalls,
    /// More in flight brings waiting and nothing else.
    Saturated,
    /// More in flight brings more.
    Room,
    Unknown,
}

/// Second: saturation or stall.
pub(super) fn load(set: &RecordSet) -> (Look, Load) {
    let title = "Saturated, or stalled?";
    let ran = format!("random reads of 4 KiB at depth 1, {MODERATE} and {DEEP}");
    let probed = |name| Probed::of(set, name, Direction::Read);
    let (Some(one), Some(some), Some(deep)) =
        (probed("depth-1"), probed("depth-16"), probed("depth-64"))
    else {
        return (nothing(title, ran), Load::Unknown);
    };
    let line = |depth: u32, probed: &Probed| {
        let disk = probed.disk.map_or(String::new(), |disk| {
            format!(", device {} busy, {} in it", percent(disk.busy), time(disk.await_ns))
        });
        format!(
            "depth {depth}: {:.0} IOPS, mean {}, p99.9 {}{disk}",
            probed.iops,
            time(probed.mean_ns),
            time(probed.p999_ns)
        )
    };
    let saw = vec![line(1, &one), line(MODERATE, &some), line(DEEP, &deep)];
    let found = classify(&one, &some, &deep);
    let growth = deep.iops / some.iops.max(1.0);
    let concluded = match found {
        Load::Above => {
            let inside = one.disk.map_or(0.0, |disk| disk.await_ns);
            format!(
                "stalled above the device: of {} an I/O takes, the device has it for {}",
                time(one.mean_ns),
                time(inside)
            )
        }
        Load::Stalls => format!(
            "stalls: one in a thousand takes {}, half of them less than {}",
            time(some.p999_ns),
            time(some.p50_ns)
        ),
        Load::Saturated => format!(
            "saturated: four times as many in flight give {growth:.1} × the IOPS and {:.1} × the \
             latency",
            deep.mean_ns / some.mean_ns.max(1.0)
        ),
        Load::Room => format!("neither: depth {DEEP} still gives {growth:.1} × the IOPS"),
        Load::Unknown => "nothing: the figures do not add up".into(),
    };
    (Look { title, ran, saw, concluded }, found)
}

fn classify(one: &Probed, some: &Probed, deep: &Probed) -> Load {
    // Half of the time, and more than what system calls and interrupts cost anywhere.
    let outside = one.disk.map_or(0.0, |disk| one.mean_ns - disk.await_ns);
    if one.disk.is_some_and(|disk| disk.await_ns > 0.0)
        && outside > one.mean_ns / 2.0
        && outside > 200_000.0
    {
        return Load::Above;
    }
    if some.p999_ns > 20.0 * some.p50_ns && some.p999_ns > 1e7 {
        return Load::Stalls;
    }
    match deep.iops / some.iops.max(1.0) {
        growth if growth < 1.2 => Load::Saturated,
        growth if growth.is_finite() => Load::Room,
        _ => Load::Unknown,
    }
}

/// Third: CPU or medium. Whether the CPU is the limit.
pub(super) fn processor(set: &RecordSet) -> (Look, bool) {
    let title = "CPU, or medium?";
    let ran = format!("the run at depth {MODERATE} again by another engine; the CPUs meanwhile");
    let probed = |name| Probed::of(set, name, Direction::Read);
    let (Some(usual), other) = (probed("depth-16"), probed("engine")) else {
        return (nothing(title, ran), false);
    };
    let engine = |p: &Probed| p.run.jobs.first().map_or("", |j| &j.workload.ioengine).to_owned();
    let line = |p: &Probed| {
        let kernel = p.kernel.map_or(String::new(), |share| {
            format!(", the busiest CPU {} in the kernel", percent(share))
        });
        format!("{}: {:.0} IOPS, worker {} of a CPU{kernel}", engine(p), p.iops, percent(p.worker))
    };
    let mut saw = vec![line(&usual)];
    saw.extend(other.as_ref().map(line));
    // The thresholds of the check cpu-bound.
    let bound = usual.worker > 0.95 || usual.kernel.is_some_and(|share| share > 0.95);
    let change = other.as_ref().map(|other| other.iops / usual.iops.max(1.0));
    let concluded = match (bound, change) {
        (true, _) => "the CPU: one has nothing left to give".to_owned(),
        (false, Some(change)) if !(0.8..1.25).contains(&change) => format!(
            "the way matters: {} gives {change:.1} × the IOPS of {}, and no CPU is full",
            other.as_ref().map(engine).unwrap_or_default(),
            engine(&usual)
        ),
        (false, Some(_)) => "the medium: no CPU is full, and another engine changes little".into(),
        (false, None) => "the medium, most likely: no CPU is full".into(),
    };
    (Look { title, ran, saw, concluded }, bound)
}

/// Fourth: what is left under sustained load. IOPS of the last quarter over those of the first.
pub(super) fn sustained(set: &RecordSet) -> (Look, Option<f64>) {
    let title = "Does it last?";
    let ran = format!("random writes of 4 KiB at depth {MODERATE} for 12 s");
    let Some(probed) = Probed::of(set, "sustained", Direction::Write) else {
        return (nothing(title, ran), None);
    };
    let intervals = probed.run.jobs.first().map_or(&[][..], |job| &job.intervals);
    let rates: Vec<f64> = intervals
        .iter()
        .filter(|interval| interval.length.0 > 0)
        .map(|i| i.ios[Direction::Write] as f64 / i.length.seconds())
        .collect();
    let quarter = rates.len() / 4;
    let mut saw = vec![format!("{:.0} IOPS, p99.9 {}", probed.iops, time(probed.p999_ns))];
    if quarter == 0 {
        let concluded = "nothing: there are too few figures over time".into();
        return (Look { title, ran, saw, concluded }, None);
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&rates[..quarter]), mean(&rates[rates.len() - quarter..]));
    saw.push(format!("first quarter {first:.0} IOPS, last quarter {last:.0}"));
    saw.extend(heat(probed.run));
    let kept = last / first.max(1.0);
    let concluded = if kept < 0.8 {
        format!("no: {} is left after 12 s; fathom precondition shows where it ends", percent(kept))
    } else {
        "yes, for these seconds; what a disk does after hours shows fathom precondition".into()
    };
    (Look { title, ran, saw, concluded }, Some(kept))
}

/// The hottest sensor at the end of a run.
fn heat(run: &RunRecord) -> Option<String> {
    let last = run.timeline.samples.iter().rev().find_map(|sample| sample.slow.as_ref())?;
    let (name, millis) = last.temperature_mc.iter().max_by_key(|(_, millis)| **millis)?;
    Some(format!("hottest sensor: {name}, {:.0} °C", *millis as f64 / 1e3))
}

/// Fifth: what durability costs. Time of a write, and of a write that lasts.
pub(super) fn durable(set: &RecordSet) -> (Look, Option<(f64, f64)>) {
    let title = "What does a durable write cost?";
    let ran = "single writes of 4 KiB, then the same with fsync after each".to_owned();
    let probed = |name| Probed::of(set, name, Direction::Write);
    let (Some(write), Some(synced)) = (probed("write"), probed("write-fsync")) else {
        return (nothing(title, ran), None);
    };
    let file = synced.run.jobs.first().and_then(|job| job.workload.files.first());
    let file = file.map_or("", String::as_str);
    let facts = &synced.run.facts;
    let class = durability(facts, file);
    let (plain, whole) = (write.mean_ns, 1e9 / synced.iops.max(f64::MIN_POSITIVE));
    let saw = vec![
        format!("a write: {}; a write and its fsync: {}", time(plain), time(whole)),
        format!("{}: {}", class.name(), durability_reason(facts, file)),
    ];
    let concluded = format!("{:.1} × a plain write; {}", whole / plain.max(1.0), class.meaning());
    (Look { title, ran, saw, concluded }, Some((plain, whole)))
}
