//! Concludes from the records of a call what its runs show.

use super::operation::Operation;
use super::source::{self, Source};
use super::terminology::TERMINOLOGY;
use super::{IoCalls, IozoneCommand, Unit, runs};
use judge::{Durability, Finding, Judged, UnitMetrics, Verdict};
use record::{Direction, RecordSet, RunRecord};
use suite::Failure;

/// The conclusion from all runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The figures of each run that did I/O, in order.
    pub figures: Vec<Figure>,
    /// Main memory in bytes; 0 if nothing ran.
    pub memory: u64,
    /// The durability of writes.
    pub durability: Option<Durability>,
    /// The bottleneck of each job.
    pub verdicts: Vec<Verdict>,
    /// Findings, except those shown with the figures.
    pub findings: Vec<Finding>,
    /// The failure that ended the call.
    pub failure: Option<Failure>,
    /// The signal that ended the call.
    pub interrupted_by: Option<i32>,
}

/// One operation with one file size and one record size.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The operation.
    pub operation: Operation,
    /// Size of a file, in kB.
    pub size_kb: u64,
    /// Size of a record, in kB.
    pub record_kb: u64,
    /// Processes, in throughput mode.
    pub processes: Option<u32>,
    /// All bytes divided by the time, in bytes per second. The time of several processes is that
    /// from the start of the first to the end of the last.
    pub bytes_per_second: f64,
    /// The same for operations.
    pub ops_per_second: f64,
    /// 50th, 99th and 99.9th percentile and maximum of the latencies, in nanoseconds; `None`: not
    /// measured. Percentiles of several processes cannot be averaged, so these are those of the
    /// slowest process.
    pub latency_ns: Option<[u64; 4]>,
    /// CPU use, user and system, in percent of one CPU.
    pub cpu: f64,
    /// What served the I/O.
    pub source: Source,
    /// The figures of each process.
    pub each: Vec<Process>,
}

/// The figures of one process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Process {
    /// Bytes moved.
    pub bytes: u64,
    /// Bytes a second over its own time.
    pub bytes_per_second: f64,
    /// Operations a second over its own time.
    pub ops_per_second: f64,
}

/// The conclusion from the records of a call.
pub fn conclude(call: &IozoneCommand, set: &RecordSet) -> Conclusion {
    let mut conclusion = Conclusion::default();
    set.runs.iter().for_each(|run| conclusion.add(call, run));
    conclusion
}

/// Checks whose findings are shown beside the figures: what served them, and how durable writes
/// are.
const SHOWN_WITH_FIGURES: [&str; 3] = ["served-from-cache", "smaller-than-memory", "not-durable"];

impl Conclusion {
    /// Adds a run.
    pub(super) fn add(&mut self, call: &IozoneCommand, run: &RunRecord) {
        if self.memory == 0 {
            self.memory = run.facts.memory.0;
            self.durability = durability(run);
        }
        self.failure = self.failure.take().or_else(|| runs::failed(run));
        self.interrupted_by = self.interrupted_by.or(run.interrupted_by);
        let judged = judge::judge(run);
        self.figures.extend(figure(call, run, &judged));
        let judged = judged.in_terms(&TERMINOLOGY);
        self.verdicts.extend(judged.verdicts);
        let findings = judged.findings.into_iter();
        self.findings
            .extend(findings.filter(|finding| !SHOWN_WITH_FIGURES.contains(&finding.check)));
    }
}

fn durability(run: &RunRecord) -> Option<Durability> {
    let file = run.jobs.first()?.workload.files.first()?;
    Some(judge::durability(&run.facts, file))
}

fn figure(call: &IozoneCommand, run: &RunRecord, judged: &Judged) -> Option<Figure> {
    let (operation, size_kb, record_kb, processes) = runs::key(run.cell.as_ref()?)?;
    if runs::failed(run).is_some() || run.jobs.iter().all(|job| job.did_nothing()) {
        return None;
    }
    let units = &judged.units;
    let timing = Timing::from_command(call);
    // Each process is a separate job and report unit.
    let end_syncs = run.jobs.iter().map(|job| job.end_sync.map_or(0, |took| took.0));
    let seconds: Vec<f64> = units
        .iter()
        .zip(end_syncs)
        .map(|(unit, end_sync)| timing.seconds(unit, end_sync))
        .collect();
    let each: Vec<Process> =
        units.iter().zip(&seconds).map(|(unit, seconds)| process(unit, *seconds)).collect();
    let bytes: u64 = each.iter().map(|process| process.bytes).sum();
    let ios: u64 = units.iter().flat_map(directions).map(|metrics| metrics.ios).sum();
    let seconds = match seconds.as_slice() {
        [alone] => *alone,
        _ => busy_seconds(run),
    };
    Some(Figure {
        operation,
        size_kb,
        record_kb,
        processes,
        bytes_per_second: rate(bytes, seconds),
        ops_per_second: rate(ios, seconds),
        latency_ns: units.iter().filter_map(latency).reduce(slower),
        cpu: units.iter().map(|unit| unit.cpu.user + unit.cpu.system).sum(),
        source: source::source_of(run, judged),
        each,
    })
}

/// From the start of the first process to the end of the last.
fn busy_seconds(run: &RunRecord) -> f64 {
    let began = run.jobs.iter().map(|job| job.started.0).min().unwrap_or(0);
    let ended = run.jobs.iter().map(|job| job.ended.0).max().unwrap_or(0);
    ended.saturating_sub(began) as f64 / 1e9
}

fn directions(unit: &UnitMetrics) -> impl Iterator<Item = &judge::DirectionMetrics> {
    [Direction::Read, Direction::Write]
        .into_iter()
        .map(move |direction| &unit.directions[direction])
}

fn rate(amount: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount as f64 / seconds } else { 0.0 }
}

/// The time of a process. IOzone measures from the moment the file is open to the end of the last
/// I/O, or of the synchronisation after it. The engine's window also contains the opening, as fio's
/// does, and the real length of pauses.
#[derive(Clone, Copy)]
enum Timing {
    /// I/Os one at a time: the sum of their latencies, plus this many nanoseconds for each.
    Ios(u64),
    /// Several I/Os at a time: the whole window, minus this many nanoseconds for each I/O.
    Window(u64),
}

impl Timing {
    fn from_command(call: &IozoneCommand) -> Timing {
        let access = &call.access;
        let pause = access.think_ms.saturating_mul(1_000_000);
        let (counted, passed_over) = if access.think_counts { (pause, 0) } else { (0, pause) };
        match access.calls {
            IoCalls::Asynchronous(_) => Timing::Window(passed_over),
            IoCalls::Usual | IoCalls::Mapping => Timing::Ios(counted),
        }
    }

    /// The time in seconds. `end_sync_ns` is that of the synchronisation after the last I/O.
    fn seconds(self, unit: &UnitMetrics, end_sync_ns: u64) -> f64 {
        let sum = |of: fn(&judge::DirectionMetrics) -> f64| directions(unit).map(of).sum::<f64>();
        let ios = sum(|metrics| metrics.ios as f64);
        let took = sum(|metrics| {
            metrics.clat.as_ref().map_or(0.0, |stats| stats.mean * stats.count as f64)
        });
        let window = directions(unit).map(|metrics| metrics.longest_ns).max().unwrap_or(0);
        let ns = match self {
            Timing::Ios(more) => took + ios * more as f64 + end_sync_ns as f64,
            Timing::Window(less) => (window as f64 - ios * less as f64).max(took),
        };
        ns / 1e9
    }
}

fn process(unit: &UnitMetrics, seconds: f64) -> Process {
    let bytes = directions(unit).map(|metrics| metrics.bytes).sum();
    let ios = directions(unit).map(|metrics| metrics.ios).sum();
    let [bytes_per_second, ops_per_second] = [bytes, ios].map(|amount| rate(amount, seconds));
    Process { bytes, bytes_per_second, ops_per_second }
}

fn latency(unit: &UnitMetrics) -> Option<[u64; 4]> {
    let of_direction = |metrics: &judge::DirectionMetrics| {
        let stats = metrics.clat.as_ref()?;
        let at = |wanted: f64| {
            let found = stats.percentiles.iter().find(|(percentile, _)| *percentile == wanted);
            found.map(|(_, latency)| *latency)
        };
        Some([at(50.0)?, at(99.0)?, at(99.9)?, stats.max])
    };
    directions(unit).filter_map(of_direction).reduce(slower)
}

fn slower(one: [u64; 4], other: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|index| one[index].max(other[index]))
}

impl Figure {
    /// File size and record size, in kB.
    pub fn sizes(&self) -> (u64, u64) {
        (self.size_kb, self.record_kb)
    }

    /// Its throughput in a unit.
    pub fn throughput(&self, unit: Unit) -> f64 {
        unit.convert(self.bytes_per_second, self.ops_per_second)
    }

    /// The throughput as printed in a table.
    pub(super) fn shown(&self, unit: Unit) -> String {
        format!("{:.1$}", self.throughput(unit), unit.decimals())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Iozone, Request, RunContext, parse};
    use super::*;
    use record::{Bytes, Histogram, JobRecord, Nanos};
    use suite::Suite;

    /// The figure of the first run of a call: 10 writes of 4 kB, each 1 ms, in a window of 300 ms.
    fn first(line: &str, end_sync_ms: Option<u64>) -> Figure {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let Ok(Request::Run(call)) = parse(&words) else { panic!("{line}") };
        let step = Iozone::new(&call, RunContext { cpus: 1, seed: 1 }).next().unwrap();
        let mut latency = Histogram::new();
        (0..10).for_each(|_| latency.record(1_000_000));
        let mut job = JobRecord {
            ended: Nanos::from_millis(300),
            end_sync: end_sync_ms.map(Nanos::from_millis),
            ..JobRecord::default()
        };
        let write = &mut job.results.write;
        (write.ios, write.bytes, write.runtime) = (10, Bytes(40 << 10), job.ended);
        write.latency.clat = Some(latency);
        let run = RunRecord { jobs: vec![job], cell: Some(step.cell), ..RunRecord::default() };
        figure(&call, &run, &judge::judge(&run)).unwrap()
    }

    #[test]
    fn pauses_are_no_part_of_the_time_however_long_they_were() {
        let ms = |figure: Figure| (1e4 / figure.ops_per_second).round();
        assert_eq!(ms(first("-i 0 -s 40", None)), 10.0);
        // Each pause of 20 ms took 28 in truth.
        assert_eq!(ms(first("-i 0 -s 40 -J 20", None)), 10.0);
        assert_eq!(ms(first("-i 0 -s 40 -J 20 -e", Some(10))), 20.0);
        assert_eq!(ms(first("-i 0 -s 40 -J 20 -e -+J", Some(10))), 220.0);
        assert_eq!(ms(first("-i 0 -s 40 -J 20 -e -k 4", Some(10))), 100.0);
    }
}
