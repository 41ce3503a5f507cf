//! The logs that a worker writes, and their files.

use crate::problem::Diagnostics;
use job::Job;
use record::{LogKind, Logs, Nanos};

/// The clocks of clock_gettime(2) in linux/time.h that count elapsed time. Clocks 2 and 3 count the CPU
/// time of a process and a thread; clock 10 was removed.
const CLOCKS: &[u64] = &[0, 1, 4, 5, 6, 7, 8, 9, 11];

/// Reports log options of a job that conflict or have no effect.
pub(crate) fn check(job: &Job, diagnostics: &mut Diagnostics) {
    let logs = &job.measure.logs;
    let name_if =
        |is_missing: bool, option: &str| if is_missing { vec![option.to_string()] } else { vec![] };
    let missing =
        [name_if(logs.latency.is_none(), "write_lat_log"), name_if(!logs.offset, "log_offset")]
            .concat();
    if logs.issue_time && !missing.is_empty() {
        let what =
            format!("it is a column of latency logs with offsets; no {}", missing.join(", no "));
        diagnostics.usage(
            job,
            "log_issue_time",
            what,
            "give write_lat_log and log_offset=1 as well",
        );
    }
    if logs.histogram.is_some() && logs.histogram_window.0 == 0 {
        diagnostics.warn(job, "write_hist_log without log_hist_msec leaves its file empty");
    }
    if job.measure.block_errors && !job.pattern.rw.trims() {
        diagnostics.warn(job, "block_error_percentiles counts trims, and there are none");
    }
    if logs.other_epoch {
        check_clock(job, "log_alternate_epoch_clock_id", logs.clock, diagnostics);
    }
    check_clock(job, "job_start_clock_id", job.measure.job_start_clock, diagnostics);
}

fn check_clock(job: &Job, option: &str, clock: u64, diagnostics: &mut Diagnostics) {
    if !CLOCKS.contains(&clock) {
        let what = format!("{clock} is no clock that goes on by itself");
        let remedy = "give 0 (real time), 1 (monotonic), 4 (raw), 7 (since boot) or 11 (TAI)";
        diagnostics.usage(job, option, what, remedy);
    }
}

/// The logs of worker `number` (from 1 over the run) of a job.
///
/// Oracle: a latency that is not measured has no file. With disable_bw the bandwidth file exists but
/// stays empty, unless it holds averages over windows.
pub(crate) fn of_worker(job: &Job, number: u32) -> Option<Logs> {
    let measure = &job.measure;
    let options = &measure.logs;
    let kinds = [
        (&options.bandwidth, LogKind::Bandwidth, true),
        (&options.iops, LogKind::Iops, true),
        (&options.latency, LogKind::Slat, !measure.disable_slat),
        (&options.latency, LogKind::Clat, !measure.disable_clat),
        (&options.latency, LogKind::Lat, !measure.disable_lat),
        (&options.histogram, LogKind::Histogram, !measure.disable_clat),
    ];
    let files: Vec<(LogKind, String)> = kinds
        .into_iter()
        .filter_map(|(prefix, kind, measured)| {
            Some((prefix.as_deref().filter(|_| measured)?, kind))
        })
        .map(|(prefix, kind)| (kind, file_name(job, prefix, kind, number)))
        .collect();
    let nonzero = |time: Nanos| Some(time).filter(|time| time.0 > 0);
    (!files.is_empty()).then(|| Logs {
        files,
        shared: !options.per_job,
        window: nonzero(options.window),
        bandwidth_window: shorter(job, "bwavgtime", measure.bwavgtime),
        iops_window: shorter(job, "iopsavgtime", measure.iopsavgtime),
        part: measure
            .bwavgtime
            .min(measure.iopsavgtime)
            .min(options.window)
            .max(Nanos::from_millis(1)),
        value: options.value,
        histogram_window: nonzero(options.histogram_window),
        coarseness: options.coarseness,
        offset: options.offset,
        priority: options.priority,
        issue_time: options.issue_time,
        rates: !measure.disable_bw,
        clock: options.other_epoch.then_some(options.clock as i32),
        zero: 0,
        store_compressed: options.store_compressed,
        entries: options.entries,
        compression: options.compression,
        compression_cpus: options.compression_cpus.clone(),
        failures: Vec::new(),
    })
}

/// Oracle: the period of a log of rates, if it was set and is below `log_avg_msec`.
fn shorter(job: &Job, option: &str, period: Nanos) -> Option<Nanos> {
    let mut options = job.options.global.iter().chain(&job.options.own);
    let is_set = options.any(|(name, _)| name == option);
    Some(period).filter(|period| is_set && (1..job.measure.logs.window.0).contains(&period.0))
}

/// PREFIX_KIND.NUMBER.log, or PREFIX_KIND.log if jobs share it.
fn file_name(job: &Job, prefix: &str, kind: LogKind, number: u32) -> String {
    let prefix = if prefix.is_empty() { &job.identity.name } else { prefix };
    let logs = &job.measure.logs;
    let number = if logs.per_job { format!(".{number}") } else { String::new() };
    let compressed = if logs.store_compressed { ".fz" } else { "" };
    format!("{prefix}_{}{number}.log{compressed}", kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        let mut job = Job::default();
        job.identity.name = "quick".into();
        job
    }

    fn names(job: &Job) -> Vec<String> {
        let logs = of_worker(job, 3).unwrap();
        logs.files.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn files_are_named_as_fio_names_them() {
        let mut job = job();
        assert_eq!(of_worker(&job, 1), None);
        job.measure.logs.bandwidth = Some(String::new());
        job.measure.logs.latency = Some("dir/p".into());
        job.measure.logs.histogram = Some("h".into());
        let lat = ["dir/p_slat.3.log", "dir/p_clat.3.log", "dir/p_lat.3.log", "h_clat_hist.3.log"];
        assert_eq!(names(&job), [&["quick_bw.3.log"], &lat[..]].concat());
        job.measure.logs.per_job = false;
        job.measure.logs.store_compressed = true;
        job.measure.disable_slat = true;
        let expected =
            ["quick_bw.log.fz", "dir/p_clat.log.fz", "dir/p_lat.log.fz", "h_clat_hist.log.fz"];
        assert_eq!(names(&job), expected);
    }

    #[test]
    fn conflicting_log_options_are_reported() {
        let check_with = |change: fn(&mut Job)| {
            let mut job = job();
            change(&mut job);
            let mut diagnostics = Diagnostics::default();
            check(&job, &mut diagnostics);
            diagnostics.finish().map(|messages| messages.len()).map_err(|error| error.to_string())
        };
        assert_eq!(check_with(|_| {}), Ok(0));
        let error = check_with(|job| job.measure.logs.issue_time = true).unwrap_err();
        assert!(error.contains("no write_lat_log, no log_offset"), "{error}");
        let error = check_with(|job| {
            job.measure.logs.other_epoch = true;
            job.measure.logs.clock = 2;
        });
        assert!(error.unwrap_err().contains("log_alternate_epoch_clock_id"));
        assert_eq!(check_with(|job| job.measure.logs.histogram = Some(String::new())), Ok(1));
    }
}
