//! An entry of fio's list of jobs.

use super::error::ImportError;
use super::options::{Options, pairs};
use super::reader::Object;
use super::{latency, steady};
use record::{
    Bytes, CpuUse, DepthUse, Direction, DirectionResult, ErrorCount, GroupKey, JobRecord,
    LatencyDepth, LatencyResult, Nanos, PerDirection, PriorityResult, Show, SizeMap, SyncResult,
    Workload,
};
use serde_json::Value;
use std::io;

/// The percentiles that fio prints by default.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// The parts of a document that concern all jobs.
pub(super) struct SharedByJobs<'a> {
    pub(super) globals: &'a [(String, String)],
    pub(super) hosts: Vec<String>,
}

/// Reads an entry as a worker. The end of its window counts from its start.
pub(super) fn read(
    entry: Object,
    shared: &SharedByJobs,
    index: u32,
) -> Result<JobRecord, ImportError> {
    let name = name(entry, shared);
    let entry = entry.of_job(&name);
    let own = pairs(&entry.value["job options"]);
    let options = Options { own: &own, globals: shared.globals };
    let rw = options.rw();
    let mut results = PerDirection::from_fn(|_| DirectionResult::default());
    for (direction, object) in directions(entry, &rw)? {
        results[direction] = direction_result(object)?;
    }
    let window = results.iter().map(|(_, result)| result.runtime.0).max().unwrap_or(0);
    let elapsed = entry.count("elapsed")?.saturating_mul(Nanos::SECOND.0);
    let sync = SyncResult {
        count: entry.at("sync").count("total_ios")?,
        latency: latency::read(entry.at("sync").at("lat_ns"))?.unwrap_or_default(),
    };
    let workload = workload(&options, rw, &results);
    let group = entry.count("groupid")? as u32;
    Ok(JobRecord {
        description: entry.text("desc").to_owned(),
        job: index,
        worker: index + 1,
        group: GroupKey { group, report: index },
        ended: Nanos(window),
        // fio counts whole seconds: 0 for a short job.
        elapsed: Nanos(elapsed.max(window)),
        start_clock_ms: entry.count("job_start")?,
        sync,
        depth: depth(entry, &workload, &results)?,
        cpu: cpu(entry)?,
        error: entry.errno("error")?,
        errors: errors(entry)?,
        latency_depth: latency_depth(entry)?,
        percentiles: match latency::percentiles(entry.value) {
            none if none.is_empty() => PERCENTILES.into(),
            shown => shown,
        },
        show: show(entry.value),
        steady: steady::read(entry)?,
        options: own,
        workload,
        results,
        name: name.clone(),
        ..JobRecord::default()
    })
}

/// The name of a job, with its server where there are several.
fn name(entry: Object, shared: &SharedByJobs) -> String {
    let name = entry.text("jobname");
    match entry.value["hostname"].as_str() {
        Some(host) if shared.hosts.len() > 1 => format!("{name} on {host}"),
        _ => name.to_owned(),
    }
}

/// The object of each direction. An object of all directions together is that of the only direction
/// of the pattern; of several, it cannot be imported.
fn directions<'a>(
    entry: Object<'a>,
    rw: &str,
) -> Result<Vec<(Direction, Object<'a>)>, ImportError> {
    let has = |direction: &Direction| entry.value.get(direction.name()).is_some();
    let separate = Direction::ALL.into_iter().filter(has);
    let separate: Vec<_> = separate.map(|d| (d, entry.at(d.name()))).collect();
    match entry.value.get("mixed") {
        Some(_) if separate.is_empty() => {
            let only =
                Direction::ALL.into_iter().find(|d| rw.trim_start_matches("rand") == d.name());
            match only {
                Some(direction) => Ok(vec![(direction, entry.at("mixed"))]),
                None => Err(ImportError::Mixed(entry.job.to_owned())),
            }
        }
        _ => Ok(separate),
    }
}

fn direction_result(object: Object) -> Result<DirectionResult, ImportError> {
    let count = |key| object.count(key);
    let latency = |kind: &str| latency::read(object.at(kind));
    let ios = count("total_ios")?;
    let [slat, clat, lat] = latency::KINDS;
    let runtime = count("runtime")?.saturating_mul(1_000_000);
    object.add_to_sum(runtime as f64)?;
    Ok(DirectionResult {
        ios_issued: ios,
        ios,
        bytes: Bytes(count("io_bytes")?),
        short_ios: count("short_ios")?,
        dropped_ios: count("drop_ios")?,
        runtime: Nanos(runtime),
        latency: LatencyResult {
            slat: latency(slat)?,
            clat: latency(clat)?,
            lat: latency(lat)?,
            response: None,
        },
        prios: object.list("prios").map(priority).collect::<Result<_, _>>()?,
    })
}

/// The latency of one I/O priority: total latency where fio prints it, otherwise completion latency.
fn priority(entry: Object) -> Result<PriorityResult, ImportError> {
    let part = |key: &str, bits: u32| {
        let number = u16::try_from(entry.count(key)?).ok().filter(|number| *number < 1 << bits);
        number.ok_or_else(|| entry.wrong(key, "what ioprio_set(2) knows"))
    };
    let (class, hint, level) = (part("prioclass", 3)?, part("priohint", 10)?, part("prio", 3)?);
    let kind = if entry.value["lat_ns"].is_object() { "lat_ns" } else { "clat_ns" };
    Ok(PriorityResult {
        priority: class << 13 | hint << 3 | level,
        latency: latency::read(entry.at(kind))?.unwrap_or_default(),
    })
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

/// The mean block size of the I/Os, for options without a block size; without I/Os fio's default.
fn mean_block(result: &DirectionResult) -> (Bytes, Bytes) {
    let size = result.bytes.0.checked_div(result.ios).unwrap_or(4096);
    (Bytes(size), Bytes(size))
}

/// I/Os in flight: by Little's law the sum of their latencies over the time. The counts of depths are
/// fio's percentages of the I/Os.
fn depth(
    entry: Object,
    workload: &Workload,
    results: &PerDirection<DirectionResult>,
) -> Result<DepthUse, ImportError> {
    let ios: u64 = results.iter().map(|(_, result)| result.ios).sum();
    let waited: u64 = results.iter().filter_map(|(_, result)| result.lat()).map(|h| h.sum()).sum();
    let runtime = Nanos::from_millis(entry.count("job_runtime")?);
    let map = |key: &str, classes: [&str; 7]| -> Result<SizeMap, ImportError> {
        let mut counts = [0; 7];
        for (count, class) in counts.iter_mut().zip(classes) {
            let percent = entry.at(key).real(class)?.min(100.0);
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

fn cpu(entry: Object) -> Result<CpuUse, ImportError> {
    let runtime = Nanos::from_millis(entry.count("job_runtime")?);
    let share = |key: &str| -> Result<Nanos, ImportError> {
        let percent = entry.real(key)?;
        entry.add_to_sum(percent / 100.0 * runtime.0 as f64)?;
        Ok(Nanos((percent / 100.0 * runtime.0 as f64).round() as u64))
    };
    Ok(CpuUse {
        user: share("usr_cpu")?,
        system: share("sys_cpu")?,
        run_delay: None,
        context_switches: entry.count("ctx")?,
        major_faults: entry.count("majf")?,
        minor_faults: entry.count("minf")?,
    })
}

/// The error that ended a job, or the first and the number of those it tolerated.
fn errors(entry: Object) -> Result<Vec<ErrorCount>, ImportError> {
    let total = entry.count("total_err")?;
    let (ended, first) = (entry.errno("error")?, entry.errno("first_error")?);
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

fn latency_depth(entry: Object) -> Result<Option<LatencyDepth>, ImportError> {
    let target = entry.count("latency_target")?;
    Ok((target > 0).then_some(LatencyDepth {
        target: Nanos(target),
        // fio prints the target in nanoseconds and the window in microseconds.
        window: Nanos(entry.count("latency_window")?.saturating_mul(1000)),
        percentile: entry.real("latency_percentile")?,
        depth: u32::try_from(entry.count("latency_depth")?).unwrap_or(u32::MAX),
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

/// The number of workers that fio reported as one (`group_reporting`): the sum of their run times is
/// much longer than the window.
pub(super) fn workers_in(job: &JobRecord, entry: &Value) -> u64 {
    let clones = job.options.iter().find(|(name, _)| name == "numjobs");
    let clones = clones.and_then(|(_, number)| number.parse::<u64>().ok()).unwrap_or(1);
    let window = job.results.iter().map(|(_, result)| result.runtime.millis()).max().unwrap_or(0);
    let all = entry["job_runtime"].as_u64().unwrap_or(0);
    if clones > 1 && window > 0 && all * 2 >= window * 3 { clones } else { 1 }
}
