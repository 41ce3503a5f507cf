//! The five steps of a diagnosis: their runs, observations and conclusions.

use super::probes::{DEEP, MODERATE};
use judge::{Case, Judged, durability, durability_reason, inspect, judge};
use record::human::{percent, time};
use record::{Direction, RecordSet, RunRecord};

/// One step of a diagnosis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiagnosisStep {
    /// Its question.
    pub title: &'static str,
    /// Its runs.
    pub ran: String,
    /// Its observations, one per line.
    pub observed: Vec<String>,
    /// The conclusion.
    pub conclusion: String,
}

/// The figures of one run.
pub(super) struct ProbeResult<'a> {
    pub run: &'a RunRecord,
    pub judged: Judged,
    pub iops: f64,
    pub mean_ns: f64,
    pub p50_ns: f64,
    pub p999_ns: f64,
    /// Share of the window in which the busiest disk was busy, and mean time of an I/O in it.
    pub disk: Option<DiskIndicators>,
    /// Share of a CPU that the worker used.
    pub worker: f64,
    /// Share of the window that the busiest CPU spent in kernel and interrupts.
    pub kernel: Option<f64>,
}

/// The I/O of the disk during a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DiskIndicators {
    pub busy: f64,
    /// Its counters have steps of 1 ms and include requests of other programs, so this can exceed the mean
    /// latency of the run.
    pub await_ns: f64,
    /// Bytes it moved over bytes the run requested.
    pub moved: f64,
}

impl<'a> ProbeResult<'a> {
    pub(super) fn find(
        set: &'a RecordSet,
        name: &str,
        direction: Direction,
    ) -> Option<ProbeResult<'a>> {
        let named = |run: &&RunRecord| run.cell.as_ref().is_some_and(|cell| cell.name == name);
        let run = set.runs.iter().find(named)?;
        let judged = judge(run);
        let unit = judged.units.first()?;
        let (figures, cpu) = (&unit.directions[direction], unit.cpu);
        let clat = figures.clat.as_ref()?;
        let histogram = run.jobs.first()?.results[direction].latency.clat.as_ref()?;
        let (iops, mean_ns) = (figures.iops, clat.mean);
        let case = Case::from_record(run);
        let part = case.parts.first()?;
        let cpus = case.cpu_use(part.from, part.to);
        let kernel = cpus.iter().map(|(_, share)| share.system + share.interrupts);
        Some(ProbeResult {
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
fn disk(case: &Case, direction: Direction) -> Option<DiskIndicators> {
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
        Some(DiskIndicators {
            busy: counters.busy_ms as f64 * 1e6 / used.window.0.max(1) as f64,
            await_ns: ticks as f64 * 1e6 / ios.max(1) as f64,
            moved: moved as f64 / asked.max(1) as f64,
        })
    });
    looks.reduce(|a, b| if b.busy > a.busy { b } else { a })
}

fn nothing(title: &'static str, ran: String) -> DiagnosisStep {
    let conclusion = "no result: its runs failed or were not made".into();
    DiagnosisStep { title, ran, observed: Vec::new(), conclusion }
}

/// First: which path is tested.
pub(super) fn path(set: &RecordSet) -> DiagnosisStep {
    let title = "Which path is tested?";
    let ran = "random reads of 4 KiB at depth 4, compared with the device counters".to_owned();
    let Some(probed) = ProbeResult::find(set, "path", Direction::Read) else {
        return nothing(title, ran);
    };
    let facts = &probed.run.facts;
    let workload = probed.run.jobs.first().map(|job| &job.workload);
    let file = workload.and_then(|w| w.files.first()).map_or("", String::as_str);
    let layers = inspect(facts, file).stack;
    let mut observed = vec![match layers.is_empty() {
        true => "the layers below are unknown".to_owned(),
        false => layers.join(" > "),
    }];
    let direct = workload.is_some_and(|workload| workload.direct);
    let way = if direct { "O_DIRECT" } else { "the page cache: O_DIRECT is not supported here" };
    observed.push(format!(
        "through {way}: {:.0} IOPS, mean latency {}",
        probed.iops,
        time(probed.mean_ns)
    ));
    let conclusion = match probed.disk {
        None => "no device is visible below: memory, a network, or a hidden disk".into(),
        Some(disk) => {
            observed
                .push(format!("the device moved {} of the requested bytes", percent(disk.moved)));
            match disk.moved {
                moved if moved < 0.9 => "a cache served much of it: it never reached the device",
                moved if moved > 1.2 => "other programs use the device, or reads are amplified",
                _ => "the device serves the I/O, with little other use",
            }
            .to_owned()
        }
    };
    DiagnosisStep { title, ran, observed, conclusion }
}

/// How the device answers more I/Os in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Whether time is lost above the device.
    Above,
    /// Whether some I/Os take far longer than most.
    Stalls,
    /// Whether more I/Os in flight only wait.
    Saturated,
    /// Whether more I/Os in flight increase throughput.
    Room,
    Unknown,
}

/// Second: saturation or stall.
pub(super) fn load(set: &RecordSet) -> (DiagnosisStep, Load) {
    let title = "Saturated, or stalled?";
    let ran = format!("random reads of 4 KiB at depth 1, {MODERATE} and {DEEP}");
    let probed = |name| ProbeResult::find(set, name, Direction::Read);
    let (Some(one), Some(some), Some(deep)) =
        (probed("depth-1"), probed("depth-16"), probed("depth-64"))
    else {
        return (nothing(title, ran), Load::Unknown);
    };
    let line = |depth: u32, probed: &ProbeResult| {
        let disk = probed.disk.map_or(String::new(), |disk| {
            format!(
                ", device {} busy, {}",
                percent(disk.busy),
                in_the_device(&disk, probed.mean_ns)
            )
        });
        format!(
            "depth {depth}: {:.0} IOPS, mean {}, p99.9 {}{disk}",
            probed.iops,
            time(probed.mean_ns),
            time(probed.p999_ns)
        )
    };
    let observed = vec![line(1, &one), line(MODERATE, &some), line(DEEP, &deep)];
    let found = classify(&one, &some, &deep);
    let growth = deep.iops / some.iops.max(1.0);
    let conclusion = match found {
        Load::Above => {
            let inside = one.disk.map_or(0.0, |disk| disk.await_ns);
            format!(
                "delayed above the device: mean latency {}, of which {} in the device",
                time(one.mean_ns),
                time(inside)
            )
        }
        Load::Stalls => {
            format!("stalls: p99.9 is {}, the median {}", time(some.p999_ns), time(some.p50_ns))
        }
        Load::Saturated => format!(
            "saturated: four times the depth gives {growth:.1} × the IOPS and {:.1} × the latency",
            deep.mean_ns / some.mean_ns.max(1.0)
        ),
        Load::Room => format!("neither: depth {DEEP} still gives {growth:.1} × the IOPS"),
        Load::Unknown => "no result: the figures are inconsistent".into(),
    };
    (DiagnosisStep { title, ran, observed, conclusion }, found)
}

/// The time of a request in the device, and why it exceeds the mean latency of the job's I/Os if it does.
fn in_the_device(disk: &DiskIndicators, mean_ns: f64) -> String {
    let inside = time(disk.await_ns);
    match disk.await_ns > mean_ns {
        false => format!("{inside} in the device"),
        true => format!(
            "{inside} in the device by its counters, more than the mean: they have steps of 1 ms and \
             include requests of other programs"
        ),
    }
}

fn classify(one: &ProbeResult, some: &ProbeResult, deep: &ProbeResult) -> Load {
    // Half of the time, and more than the usual cost of system calls and interrupts.
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
pub(super) fn processor(set: &RecordSet) -> (DiagnosisStep, bool) {
    let title = "CPU, or device?";
    let ran = format!("the run at depth {MODERATE} again with another engine, and CPU use");
    let probed = |name| ProbeResult::find(set, name, Direction::Read);
    let (Some(usual), other) = (probed("depth-16"), probed("engine")) else {
        return (nothing(title, ran), false);
    };
    let engine =
        |p: &ProbeResult| p.run.jobs.first().map_or("", |j| &j.workload.ioengine).to_owned();
    let line = |p: &ProbeResult| {
        let kernel = p.kernel.map_or(String::new(), |share| {
            format!(", the busiest CPU {} in the kernel", percent(share))
        });
        format!("{}: {:.0} IOPS, worker {} of a CPU{kernel}", engine(p), p.iops, percent(p.worker))
    };
    let mut observed = vec![line(&usual)];
    observed.extend(other.as_ref().map(line));
    // The thresholds of the check cpu-bound.
    let bound = usual.worker > 0.95 || usual.kernel.is_some_and(|share| share > 0.95);
    let change = other.as_ref().map(|other| other.iops / usual.iops.max(1.0));
    let conclusion = match (bound, change) {
        (true, _) => "the CPU: one is fully used".to_owned(),
        (false, Some(change)) if !(0.8..1.25).contains(&change) => format!(
            "the engine: {} gives {change:.1} × the IOPS of {}, and no CPU is full",
            other.as_ref().map(engine).unwrap_or_default(),
            engine(&usual)
        ),
        (false, Some(_)) => "the device: no CPU is full, and another engine changes little".into(),
        (false, None) => "the device, most likely: no CPU is full".into(),
    };
    (DiagnosisStep { title, ran, observed, conclusion }, bound)
}

/// Fourth: sustained load. IOPS of the last quarter over those of the first.
pub(super) fn sustained(set: &RecordSet) -> (DiagnosisStep, Option<f64>) {
    let title = "Does it last?";
    let ran = format!("random writes of 4 KiB at depth {MODERATE} for 12 s");
    let Some(probed) = ProbeResult::find(set, "sustained", Direction::Write) else {
        return (nothing(title, ran), None);
    };
    let intervals = probed.run.jobs.first().map_or(&[][..], |job| &job.intervals);
    let rates: Vec<f64> = intervals
        .iter()
        .filter(|interval| interval.length.0 > 0)
        .map(|i| i.ios[Direction::Write] as f64 / i.length.seconds())
        .collect();
    let quarter = rates.len() / 4;
    let mut observed = vec![format!("{:.0} IOPS, p99.9 {}", probed.iops, time(probed.p999_ns))];
    if quarter == 0 {
        let conclusion = "no result: too few intervals".into();
        return (DiagnosisStep { title, ran, observed, conclusion }, None);
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&rates[..quarter]), mean(&rates[rates.len() - quarter..]));
    observed.push(format!("first quarter {first:.0} IOPS, last quarter {last:.0} IOPS"));
    observed.extend(heat(probed.run));
    let kept = last / first.max(1.0);
    let conclusion = if kept < 0.8 {
        format!(
            "no: {} of the IOPS is left after 12 s; fathom precondition shows the steady \
                 state",
            percent(kept)
        )
    } else {
        "yes, for 12 s; fathom precondition shows how the disk behaves after hours of writes".into()
    };
    (DiagnosisStep { title, ran, observed, conclusion }, Some(kept))
}

/// The hottest sensor at the end of a run.
fn heat(run: &RunRecord) -> Option<String> {
    let last = run.timeline.samples.iter().rev().find_map(|sample| sample.slow.as_ref())?;
    let (name, millis) = last.temperature_mc.iter().max_by_key(|(_, millis)| **millis)?;
    Some(format!("hottest sensor: {name}, {:.0} °C", *millis as f64 / 1e3))
}

/// Fifth: the cost of durability. Time of a write, and of a durable write.
pub(super) fn durable(set: &RecordSet) -> (DiagnosisStep, Option<(f64, f64)>) {
    let title = "What does a durable write cost?";
    let ran = "single writes of 4 KiB, then the same with fsync after each".to_owned();
    let probed = |name| ProbeResult::find(set, name, Direction::Write);
    let (Some(write), Some(synced)) = (probed("write"), probed("write-fsync")) else {
        return (nothing(title, ran), None);
    };
    let file = synced.run.jobs.first().and_then(|job| job.workload.files.first());
    let file = file.map_or("", String::as_str);
    let facts = &synced.run.facts;
    let class = durability(facts, file);
    let (plain, whole) = (write.mean_ns, 1e9 / synced.iops.max(f64::MIN_POSITIVE));
    let observed = vec![
        format!("write: {}; write and fsync: {}", time(plain), time(whole)),
        format!("{}: {}", class.name(), durability_reason(facts, file)),
    ];
    let conclusion =
        format!("{:.1} × a write without fsync; {}", whole / plain.max(1.0), class.meaning());
    (DiagnosisStep { title, ran, observed, conclusion }, Some((plain, whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_below_the_time_in_the_device_is_explained() {
        let disk = |await_ns| DiskIndicators { busy: 1.0, await_ns, moved: 1.0 };
        assert_eq!(in_the_device(&disk(80_000.0), 100_000.0), "80 µs in the device");
        let longer = in_the_device(&disk(120_000.0), 100_000.0);
        assert!(longer.starts_with("120 µs in the device by its counters, more than the mean"));
        assert!(longer.contains("requests of other programs"), "{longer}");
    }
}
