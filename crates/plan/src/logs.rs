//! Which logs a worker writes, and where.

use crate::problem::Diagnostics;
use job::Job;
use record::{LogKind, Logs, Nanos};

/// Clocks of clock_gettime(2) that go on by themselves, all that linux/time.h has of them: not the
/// CPU time of a process (2) or thread (3), and 10 was taken away.
const CLOCKS: &[u64] = &[0, 1, 4, 5, 6, 7, 8, 9, 11];

/// Reports what of a job's log options does not go together.
pub(crate) fn check(job: &Job, diagnostics: &mut Diagnostics) {
    let logs = &job.measure.logs;
    let without =
        |missing: bool, option: &str| if missing { vec![option.to_string()] } else { vec![] };
    let missing =
        [without(logs.latency.is_none(), "write_lat_log"), without(!logs.offset, "log_offset")]
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
    if logs.unix_epoch || logs.other_epoch {
        check_clock(job, "log_alternate_epoch_clock_id", logs.clock, diagnostics);
    }
    check_clock(job, "job_start_clock_id", job.measure.job_start_clock, diagnostics);
}

fn check_clock(job: &Job, option: &str, clock: u64, diagnostics: &mut Diagnostics) {
    if !CLOCKS.contains(&clock) {
        let what = format!("{clock} is no clock that goes on by itself");
        let cure = "give 0 (real time), 1 (monotonic), 4 (raw), 7 (since boot) or 11 (TAI)";
        diagnostics.usage(job, option, what, cure);
    }
}

/// The logs of worker `number` (from 1 over the run) of a job.
///
/// Oracle: a latency that is not measured has no file; without samples of bandwidth its file stays
/// empty unless it is one of windows.
pub(crate) fn of_worker(job: &Job, number: u32) -> Option<Logs> {
    let measure = &job.measure;
    let asked = &measure.logs;
    let kinds = [
        (&asked.bandwidth, LogKind::Bandwidth, true),
        (&asked.iops, LogKind::Iops, true),
        (&asked.latency, LogKind::Slat, !measure.disable_slat),
        (&asked.latency, LogKind::Clat, !measure.disable_clat),
        (&asked.latency, LogKind::Lat, !measure.disable_lat),
        (&asked.histogram, LogKind::Histogram, !measure.disable_clat),
    ];
    let files: Vec<(LogKind, String)> = kinds
        .into_iter()
        .filter_map(|(prefix, kind, measured)| {
            Some((prefix.as_deref().filter(|_| measured)?, kind))
        })
        .map(|(prefix, kind)| (kind, file(job, prefix, kind, number)))
        .collect();
    let epoch = asked.unix_epoch || asked.other_epoch;
    let given = |time: Nanos| Some(time).filter(|time| time.0 > 0);
    (!files.is_empty()).then(|| Logs {
        files,
        shared: !asked.per_job,
        window: given(asked.window),
        part: measure
            .bwavgtime
            .min(measure.iopsavgtime)
            .min(asked.window)
            .max(Nanos::from_millis(1)),
        value: asked.value,
        histogram_window: given(asked.histogram_window),
        coarseness: asked.coarseness,
        offset: asked.offset,
        priority: asked.priority,
        issue_time: asked.issue_time,
        rates: !measure.disable_bw,
        clock: epoch.then_some(asked.clock as i32),
        zero: 0,
        store_compressed: asked.store_compressed,
        entries: asked.entries,
        compression: asked.compression,
        compression_cpus: asked.compression_cpus.clone(),
        failures: Vec::new(),
    })
}

/// PREFIX_KIND.NUMBER.log; PREFIX_KIND.log where jobs share it.
fn file(job: &Job, prefix: &str, kind: LogKind, number: u32) -> String {
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
    fn what_does_not_go_together_is_told() {
        let told = |change: fn(&mut Job)| {
            let mut job = job();
            change(&mut job);
            let mut diagnostics = Diagnostics::default();
            check(&job, &mut diagnostics);
            diagnostics.finish().map(|messages| messages.len()).map_err(|error| error.to_string())
        };
        assert_eq!(told(|_| {}), Ok(0));
        let error = told(|job| job.measure.logs.issue_time = true).unwrap_err();
        assert!(error.contains("no write_lat_log, no log_offset"), "{error}");
        let error = told(|job| {
            job.measure.logs.unix_epoch = true;
            job.measure.logs.clock = 2;
        });
        assert!(error.unwrap_err().contains("log_alternate_epoch_clock_id"));
        assert_eq!(told(|job| job.measure.logs.histogram = Some(String::new())), Ok(1));
    }
}
