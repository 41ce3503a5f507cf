//! One entry of fio's list of jobs.

use super::options::{Options, pairs};
use super::reader::{Reader, text, wrong};
use super::{ImportError, latency, steady};
use record::{
    Bytes, CpuUse, DepthUse, Direction, DirectionResult, ErrorCount, GroupKey, JobRecord,
    LatencyDepth, LatencyResult, Nanos, PerDirection, PriorityResult, Show, SizeMap, SyncResult,
    Workload,
};
use serde_json::Value;
use std::io;

/// What fio shows where nothing else was asked for.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// What is said once for all jobs.
pub(super) struct Surroundings<'a> {
    pub(super) globals: &'a [(String, String)],
    pub(super) hosts: Vec<String>,
}

/// The worker that an entry is of; the end of its window is counted from its start.
pub(super) fn read(
    reader: &Reader,
    around: &Surroundings,
    entry: &Value,
    index: u32,
) -> Result<JobRecord, ImportError> {
    let name = named(around, entry);
    let own = pairs(&entry["job options"]);
    let options = Options { own: &own, globals: around.globals };
    let rw = options.rw();
    let parts = parts(entry, &name, &rw)?;
    let mut results = PerDirection::from_fn(|_| DirectionResult::default());
    for (direction, part) in parts {
        results[direction] = of_direction(reader, &name, part)?;
    }
    let window = results.iter().map(|(_, result)| result.runtime.0).max().unwrap_or(0);
    let elapsed = reader.count(&name, entry, "elapsed")?.saturating_mul(Nanos::SECOND.0);
    let sync = SyncResult {
        count: reader.count(&name, &entry["sync"], "total_ios")?,
        latency: latency::read(reader, &name, &entry["sync"]["lat_ns"])?.unwrap_or_default(),
    };
    let workload = workload(&options, rw, &results);
    let group = reader.count(&name, entry, "groupid")? as u32;
    Ok(JobRecord {
        description: text(&entry["desc"]).to_owned(),
        job: index,
        worker: index + 1,
        group: GroupKey { group, report: index },
        ended: Nanos(window),
        // A job that ended at once has none of fio's whole seconds.
        elapsed: Nanos(elapsed.max(window)),
        start_clock_ms: reader.count(&name, entry, "job_start")?,
        sync,
        depth: depth(reader, &name, entry, &workload, &results)?,
        cpu: cpu(reader, &name, entry)?,
        error: errno(&name, entry, "error")?,
        errors: errors(reader, &name, entry)?,
        latency_depth: latency_depth(reader, &name, entry)?,
        percentiles: match latency::percentiles(entry) {
            none if none.is_empty() => PERCENTILES.into(),
            shown => shown,
        },
        show: show(entry),
        steady: steady::read(reader, &name, entry)?,
        options: own,
        workload,
        results,
        name,
        ..JobRecord::default()
    })
}

/// Its name; of jobs on several servers with the server's.
fn named(around: &Surroundings, entry: &Value) -> String {
    let name = text(&entry["jobname"]);
    match entry["hostname"].as_str() {
        Some(host) if around.hosts.len() > 1 => format!("{name} on {host}"),
        _ => name.to_owned(),
    }
}

/// What stands for each direction. Where all are mixed, it is of the only direction that the pattern
/// has, or nothing can be told.
fn parts<'a>(
    entry: &'a Value,
    name: &str,
    rw: &str,
) -> Result<Vec<(Direction, &'a Value)>, ImportError> {
    let of = |direction: Direction| Some((direction, entry.get(direction.name())?));
    let apart: Vec<_> = Direction::ALL.into_iter().filter_map(of).collect();
    match entry.get("mixed") {
        Some(mixed) if apart.is_empty() => {
            let only =
                Direction::ALL.into_iter().find(|d| rw.trim_start_matches("rand") == d.name());
            match only {
                Some(direction) => Ok(vec![(direction, mixed)]),
                None => Err(ImportError::Mixed(name.to_owned())),
            }
        }
        _ => Ok(apart),
    }
}

fn of_direction(reader: &Reader, job: &str, of: &Value) -> Result<DirectionResult, ImportError> {
    let count = |key| reader.count(job, of, key);
    let latency = |kind: &str| latency::read(reader, job, &of[kind]);
    let (ios, short_ios, dropped_ios) =
        (count("total_ios")?, count("short_ios")?, count("drop_ios")?);
    let [slat, clat, lat] = latency::KINDS;
    let runtime = count("runtime")?.saturating_mul(1_000_000);
    reader.spend(runtime as f64)?;
    Ok(DirectionResult {
        ios_issued: ios,
        ios,
        bytes: Bytes(count("io_bytes")?),
        short_ios,
        dropped_ios,
        runtime: Nanos(runtime),
        latency: LatencyResult {
            slat: latency(slat)?,
            clat: latency(clat)?,
            lat: latency(lat)?,
            response: None,
        },
        prios: priorities(reader, job, &of["prios"])?,
    })
}

/// The latencies of each I/O priority, where fio tells them apart: total latency where it shows
/// percentiles of that, else completion latency.
fn priorities(
    reader: &Reader,
    job: &str,
    list: &Value,
) -> Result<Vec<PriorityResult>, ImportError> {
    let one = |entry: &Value| {
        let part = |key: &str, bits: u32| {
            let number = reader.count(job, entry, key)?;
            let fits = u16::try_from(number).ok().filter(|number| *number < 1 << bits);
            fits.ok_or_else(|| wrong(job, key, &entry[key], "what ioprio_set(2) knows"))
        };
        let (class, hint, level) = (part("prioclass", 3)?, part("priohint", 10)?, part("prio", 3)?);
        let table = ["lat_ns", "clat_ns"].into_iter().find(|kind| entry[*kind].is_object());
        let latency = latency::read(reader, job, &entry[table.unwrap_or("clat_ns")])?;
        Ok(PriorityResult {
            priority: class << 13 | hint << 3 | level,
            latency: latency.unwrap_or_default(),
        })
    };
    list.as_array().into_iter().flatten().map(one).collect()
}

fn workload(options: &Options, rw: String, results: &PerDirection<DirectionResult>) -> Workload {
    let files = options
        .get(&["filename"])
        .map_or(Vec::new(), |names| names.split(':').map(str::to_owned).collect());
    Workload {
        rw,
        block_size: options.blocks().unwrap_or_else(|| results.map(|_, result| mean_block(result))),
        ioengine: options.get(&["ioengine"]).unwrap_or("psync").to_owned(),
        iodepth: options.get(&["iodepth"]).and_then(|depth| depth.parse().ok()).unwrap_or(1),
        direct: options.is_on(&["direct"]),
        region: options.size(&["size"]).unwrap_or_default(),
        io_size: options.size(&["io_size", "io_limit"]),
        runtime: options.time(&["runtime", "timeout"]),
        ramp: options.time(&["ramp_time"]).unwrap_or_default(),
        files,
        ..Workload::default()
    }
}

/// The block size that the figures show, where the options do not say it; 4 KiB is fio's own.
fn mean_block(result: &DirectionResult) -> (Bytes, Bytes) {
    let size = result.bytes.0.checked_div(result.ios).unwrap_or(4096);
    (Bytes(size), Bytes(size))
}

/// I/Os in flight: by Little's law the sum of their latencies over the time. The classes are fio's
/// shares of the I/Os.
fn depth(
    reader: &Reader,
    job: &str,
    entry: &Value,
    workload: &Workload,
    results: &PerDirection<DirectionResult>,
) -> Result<DepthUse, ImportError> {
    let ios: u64 = results.iter().map(|(_, result)| result.ios).sum();
    let waited: u64 = results.iter().filter_map(|(_, result)| result.lat()).map(|h| h.sum()).sum();
    let runtime = Nanos::from_millis(reader.count(job, entry, "job_runtime")?);
    let map = |key: &str, classes: [&str; 7]| -> Result<SizeMap, ImportError> {
        let mut counts = [0; 7];
        for (count, class) in counts.iter_mut().zip(classes) {
            let percent = reader.real(job, &entry[key], class)?.min(100.0);
            *count = (percent / 100.0 * ios as f64).round() as u64;
        }
        Ok(SizeMap(counts))
    };
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    Ok(DepthUse {
        requested: workload.iodepth,
        achieved_mean: if runtime.0 == 0 { 0.0 } else { waited as f64 / runtime.0 as f64 },
        at_issue: map("iodepth_level", ["1", "2", "4", "8", "16", "32", ">=64"])?,
        submit: map("iodepth_submit", batches)?,
        complete: map("iodepth_complete", batches)?,
    })
}

fn cpu(reader: &Reader, job: &str, entry: &Value) -> Result<CpuUse, ImportError> {
    let runtime = Nanos::from_millis(reader.count(job, entry, "job_runtime")?);
    let share = |key: &str| -> Result<Nanos, ImportError> {
        let percent = reader.real(job, entry, key)?;
        reader.spend(percent / 100.0 * runtime.0 as f64)?;
        Ok(Nanos((percent / 100.0 * runtime.0 as f64).round() as u64))
    };
    Ok(CpuUse {
        user: share("usr_cpu")?,
        system: share("sys_cpu")?,
        run_delay: None,
        context_switches: reader.count(job, entry, "ctx")?,
        major_faults: reader.count(job, entry, "majf")?,
        minor_faults: reader.count(job, entry, "minf")?,
    })
}

fn errno(job: &str, entry: &Value, key: &str) -> Result<i32, ImportError> {
    match &entry[key] {
        Value::Null => Ok(0),
        value => value
            .as_i64()
            .and_then(|number| i32::try_from(number).ok())
            .ok_or_else(|| wrong(job, key, value, "an errno")),
    }
}

/// The error that ended a job, or those it tolerated: fio tells the first of them and how many.
fn errors(reader: &Reader, job: &str, entry: &Value) -> Result<Vec<ErrorCount>, ImportError> {
    let total = reader.count(job, entry, "total_err")?;
    let (ended, first) = (errno(job, entry, "error")?, errno(job, entry, "first_error")?);
    let errno = if total > 0 && first != 0 { first } else { ended };
    if errno == 0 {
        return Ok(Vec::new());
    }
    let text = io::Error::from_raw_os_error(errno).to_string();
    Ok(vec![ErrorCount {
        errno,
        text: text.split(" (os error ").next().unwrap_or_default().to_owned(),
        operation: "I/O".into(),
        count: total.max(1),
        first_file: String::new(),
        first_offset: None,
        first_length: None,
    }])
}

fn latency_depth(
    reader: &Reader,
    job: &str,
    entry: &Value,
) -> Result<Option<LatencyDepth>, ImportError> {
    let target = reader.count(job, entry, "latency_target")?;
    Ok((target > 0).then_some(LatencyDepth {
        target: Nanos(target),
        // fio has the target in nanoseconds, the window in microseconds.
        window: Nanos(reader.count(job, entry, "latency_window")?.saturating_mul(1000)),
        percentile: reader.real(job, entry, "latency_percentile")?,
        depth: u32::try_from(reader.count(job, entry, "latency_depth")?).unwrap_or(u32::MAX),
        met: false,
    }))
}

fn show(entry: &Value) -> Show {
    let is_mixed = entry.get("mixed").is_some();
    Show {
        clat_percentiles: latency::shows(entry, "clat_ns"),
        lat_percentiles: latency::shows(entry, "lat_ns"),
        slat_percentiles: latency::shows(entry, "slat_ns"),
        unified: match (is_mixed, entry.get("read").is_some()) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        },
        errors: entry.get("total_err").is_some(),
        ..Show::default()
    }
}

/// How many workers were reported as one (`group_reporting`): their runtimes add up to so many times
/// that of all.
pub(super) fn workers_in(job: &JobRecord, entry: &Value) -> u64 {
    let clones = job.options.iter().find(|(name, _)| name == "numjobs");
    let clones = clones.and_then(|(_, number)| number.parse::<u64>().ok()).unwrap_or(1);
    let window = job.results.iter().map(|(_, result)| result.runtime.millis()).max().unwrap_or(0);
    let all = entry["job_runtime"].as_u64().unwrap_or(0);
    if clones > 1 && window > 0 && all * 2 >= window * 3 { clones } else { 1 }
}
