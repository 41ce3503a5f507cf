//! What runs do now as metrics for Prometheus (its text format, version 0.0.4).
//!
//! Units are base units: seconds, bytes, ratios from 0 to 1. Counters count from the start of each
//! run, and begin at 0 again with the next one of a process, which Prometheus takes for a restart.

use crate::run::{DirectionNow, JobNow, Moment, RunInfo};
use crate::{CpuShares, DiskRates};
use record::Severity;
use std::fmt::Write;

/// The content type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics of runs under way, each with its latest moment where there is one.
pub fn text(runs: &[(&RunInfo, Option<&Moment>)]) -> String {
    let mut text = Text::default();
    text.family("fathom_runs", GAUGE, "Runs under way.");
    text.sample(&[], runs.len() as f64);
    write_runs(&mut text, runs);
    write_jobs(&mut text, runs);
    write_machine(&mut text, runs);
    text.0
}

const GAUGE: &str = "gauge";
const COUNTER: &str = "counter";

type Runs<'a> = [(&'a RunInfo, Option<&'a Moment>)];
type Labels<'a> = &'a [(&'a str, &'a str)];

/// The text so far, and which metric its next samples are of.
#[derive(Default)]
struct Text(String, &'static str);

impl Text {
    fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        self.1 = name;
        // Writing to text does not fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, labels: Labels<'_>, value: f64) {
        self.0 += self.1;
        for (at, (name, value)) in labels.iter().enumerate() {
            let _ =
                write!(self.0, "{}{name}=\"{}\"", if at == 0 { '{' } else { ',' }, escaped(value));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = match value {
            v if v.is_nan() => writeln!(self.0, "{end} NaN"),
            v if v.is_infinite() => {
                writeln!(self.0, "{end} {}Inf", if v > 0.0 { '+' } else { '-' })
            }
            v => writeln!(self.0, "{end} {v}"),
        };
    }
}

/// A label's value: backslash, quote and end of line are escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn write_runs(text: &mut Text, runs: &Runs<'_>) {
    text.family("fathom_run_info", GAUGE, "What is run, by process.");
    for (info, _) in runs {
        let (pid, run) = (info.pid.to_string(), info.run.to_string());
        let labels = [
            ("pid", pid.as_str()),
            ("run", &run),
            ("name", &info.name),
            ("host", &info.hostname),
            ("version", &info.fathom_version),
        ];
        text.sample(&labels, 1.0);
    }
    let mut each = |name, kind, help, value: fn(&RunInfo, &Moment) -> Option<f64>| {
        text.family(name, kind, help);
        for (info, moment) in moments(runs) {
            if let Some(value) = value(info, moment) {
                text.sample(&[("pid", &info.pid.to_string())], value);
            }
        }
    };
    each(
        "fathom_run_start_time_seconds",
        GAUGE,
        "When the run began, in seconds since 1970.",
        |info, _| Some(info.started_unix_ms as f64 / 1000.0),
    );
    each("fathom_run_elapsed_seconds", GAUGE, "Time since the run began.", |_, moment| {
        Some(moment.elapsed_seconds)
    });
    each(
        "fathom_run_remaining_seconds",
        GAUGE,
        "Time until the run will probably have ended; absent where it cannot be told.",
        |_, moment| moment.remaining_seconds,
    );
    each(
        "fathom_run_layout_bytes",
        GAUGE,
        "Bytes of the files being made before the run; absent while none are.",
        |_, moment| Some(moment.layout.as_ref()?.total as f64),
    );
    each("fathom_run_layout_done_bytes", GAUGE, "Bytes of them that are written.", |_, moment| {
        Some(moment.layout.as_ref()?.done as f64)
    });
    each(
        "fathom_process_cpu_seconds_total",
        COUNTER,
        "CPU time of the program that runs it, all its threads.",
        |_, moment| moment.own_cpu_seconds,
    );
    text.family("fathom_run_findings", GAUGE, "Findings about the figures so far, by severity.");
    for (info, moment) in moments(runs) {
        for (severity, name) in
            [(Severity::Note, "note"), (Severity::Warning, "warning"), (Severity::Error, "error")]
        {
            let count = moment.findings.iter().filter(|one| one.severity == severity).count();
            let labels = [("pid", info.pid.to_string()), ("severity", name.into())];
            text.sample(&borrowed(&labels), count as f64);
        }
    }
}

fn moments<'a>(runs: &'a Runs<'a>) -> impl Iterator<Item = (&'a RunInfo, &'a Moment)> {
    runs.iter().filter_map(|(info, moment)| Some((*info, (*moment)?)))
}

fn borrowed<'a>(labels: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    labels.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// The labels of a job; its group is among them only where two jobs of a run have one name.
fn job_labels(info: &RunInfo, moment: &Moment, job: &JobNow) -> Vec<(&'static str, String)> {
    let mut labels = vec![("pid", info.pid.to_string()), ("job", job.name.clone())];
    if moment.jobs.iter().filter(|other| other.name == job.name).count() > 1 {
        labels.push(("group", job.group.to_string()));
    }
    labels
}

fn write_jobs(text: &mut Text, runs: &Runs<'_>) {
    let mut each = |name, kind, help, value: fn(&JobNow) -> Option<f64>| {
        text.family(name, kind, help);
        for (info, moment) in moments(runs) {
            for job in &moment.jobs {
                if let Some(value) = value(job) {
                    text.sample(&borrowed(&job_labels(info, moment, job)), value);
                }
            }
        }
    };
    each("fathom_job_workers", GAUGE, "Workers of the job.", |job| Some(job.workers.into()));
    each("fathom_job_queue_depth", GAUGE, "I/Os in flight, mean over the last second.", |job| {
        Some(job.depth?.now)
    });
    each("fathom_job_queue_depth_requested", GAUGE, "I/Os in flight as asked for.", |job| {
        Some(job.depth?.requested.into())
    });
    each("fathom_job_errors_total", COUNTER, "I/O errors and failed verifications.", |job| {
        Some(job.errors as f64)
    });
    text.family("fathom_job_state", GAUGE, "1 for the state that the job is in.");
    for (info, moment) in moments(runs) {
        for job in &moment.jobs {
            let mut labels = job_labels(info, moment, job);
            labels.push(("state", job.state.name().into()));
            text.sample(&borrowed(&labels), 1.0);
        }
    }
    write_directions(text, runs);
}

fn write_directions(text: &mut Text, runs: &Runs<'_>) {
    let mut each = |name, kind, help, value: fn(&DirectionNow) -> f64| {
        text.family(name, kind, help);
        for_each_direction(runs, |labels, now| text.sample(&borrowed(&labels), value(now)));
    };
    each("fathom_job_ios_total", COUNTER, "I/Os completed, ramp included.", |now| now.ios as f64);
    each("fathom_job_bytes_total", COUNTER, "Bytes moved, ramp included.", |now| now.bytes as f64);
    each("fathom_job_iops", GAUGE, "I/Os completed a second, over the last second.", |now| {
        now.iops
    });
    each(
        "fathom_job_bytes_per_second",
        GAUGE,
        "Bytes moved a second, over the last second.",
        |now| now.bytes_per_second,
    );
    text.family(
        "fathom_job_latency_seconds",
        GAUGE,
        "Completion latency of the last seconds; absent where nothing completed.",
    );
    for_each_direction(runs, |labels, now| {
        for (share, ns) in now.latency.iter().flat_map(|latency| latency.quantiles()) {
            let mut labels = labels.clone();
            labels.push(("quantile", share.to_string()));
            text.sample(&borrowed(&labels), ns as f64 / 1e9);
        }
    });
}

fn for_each_direction(
    runs: &Runs<'_>,
    mut call: impl FnMut(Vec<(&'static str, String)>, &DirectionNow),
) {
    for (info, moment) in moments(runs) {
        for job in &moment.jobs {
            for (direction, now) in job.directions.iter() {
                let Some(now) = now else { continue };
                let mut labels = job_labels(info, moment, job);
                labels.push(("direction", direction.name().into()));
                call(labels, now);
            }
        }
    }
}

fn write_machine(text: &mut Text, runs: &Runs<'_>) {
    let mut each = |name, help, value: fn(&DiskRates) -> f64| {
        text.family(name, GAUGE, help);
        for (info, moment) in moments(runs) {
            for (device, rates) in moment.machine.iter().flat_map(|machine| &machine.disks) {
                let labels = [("pid", info.pid.to_string()), ("device", device.clone())];
                text.sample(&borrowed(&labels), value(rates));
            }
        }
    };
    each("fathom_device_busy_ratio", "Share of the time with I/O in flight.", |disk| {
        disk.busy_percent / 100.0
    });
    each(
        "fathom_device_queue_depth",
        "I/Os waiting or served, mean over the last second.",
        |disk| disk.queue,
    );
    each("fathom_device_reads_per_second", "Reads completed a second.", |disk| {
        disk.reads_per_second
    });
    each("fathom_device_read_bytes_per_second", "Bytes read a second.", |disk| {
        disk.read_bytes_per_second
    });
    each("fathom_device_writes_per_second", "Writes completed a second.", |disk| {
        disk.writes_per_second
    });
    each("fathom_device_write_bytes_per_second", "Bytes written a second.", |disk| {
        disk.write_bytes_per_second
    });
    text.family(
        "fathom_cpu_busy_ratio",
        GAUGE,
        "Share of the time in which the CPUs did something.",
    );
    for (info, moment) in moments(runs) {
        if let Some(cpu) = moment.machine.as_ref().and_then(|machine| machine.cpu) {
            text.sample(&[("pid", &info.pid.to_string())], CpuShares::busy(&cpu) / 100.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rates;
    use crate::run::{LatencyNow, State};
    use record::PerDirection;
    use std::collections::{BTreeMap, BTreeSet};

    fn run() -> (RunInfo, Moment) {
        let latency = LatencyNow { p50_ns: 80_000, p99_ns: 1_500_000, ..LatencyNow::default() };
        let read = DirectionNow {
            ios: 12_345_678,
            bytes: 1 << 40,
            iops: 50_000.5,
            latency: Some(latency),
            ..DirectionNow::default()
        };
        let directions = PerDirection { read: Some(read), ..PerDirection::default() };
        let job = |name: &str, group| JobNow {
            name: name.into(),
            group,
            state: State::PreReading,
            directions: directions.clone(),
            ..JobNow::default()
        };
        let disk = DiskRates { busy_percent: 95.0, ..DiskRates::default() };
        let disks = BTreeMap::from([("sda".to_owned(), disk)]);
        let moment = Moment {
            elapsed_seconds: 2.5,
            jobs: vec![job("a\"b\\c\nd", 0), job("twin", 0), job("twin", 1)],
            machine: Some(Rates { disks, ..Rates::default() }),
            ..Moment::default()
        };
        (RunInfo { pid: 7, run: 2, ..RunInfo::default() }, moment)
    }

    #[test]
    fn samples_have_their_units_and_labels() {
        let (info, moment) = run();
        let text = text(&[(&info, Some(&moment))]);
        for line in [
            "fathom_runs 1",
            "fathom_job_ios_total{pid=\"7\",job=\"a\\\"b\\\\c\\nd\",direction=\"read\"} 12345678",
            "fathom_job_bytes_total{pid=\"7\",job=\"twin\",group=\"1\",direction=\"read\"} 1099511627776",
            "fathom_job_latency_seconds{pid=\"7\",job=\"twin\",group=\"0\",direction=\"read\",\
             quantile=\"0.99\"} 0.0015",
            "fathom_job_state{pid=\"7\",job=\"twin\",group=\"0\",state=\"pre-reading\"} 1",
            "fathom_device_busy_ratio{pid=\"7\",device=\"sda\"} 0.95",
            "fathom_run_elapsed_seconds{pid=\"7\"} 2.5",
            "# TYPE fathom_job_ios_total counter",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
        assert!(!text.contains("direction=\"write\"") && !text.contains("remaining_seconds{"));
    }

    #[test]
    fn every_metric_is_described_once_and_no_sample_is_there_twice() {
        let (info, moment) = run();
        let other = RunInfo { pid: 8, ..info.clone() };
        let begun = RunInfo { pid: 9, ..info.clone() };
        let text = text(&[(&info, Some(&moment)), (&other, Some(&moment)), (&begun, None)]);
        let (mut described, mut seen, mut family) = (BTreeSet::new(), BTreeSet::new(), "");
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                family = rest.split(' ').next().unwrap();
                assert!(described.insert(family), "{line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                assert_eq!(rest.split(' ').next(), Some(family));
                assert_eq!(rest.ends_with(" counter"), family.ends_with("_total"), "{line}");
            } else {
                let (series, value) = line.rsplit_once(' ').unwrap();
                assert_eq!(series.split('{').next(), Some(family), "{line}");
                assert!(value.parse::<f64>().is_ok(), "{line}");
                assert!(seen.insert(series), "{line}");
            }
        }
    }

    #[test]
    fn nothing_that_runs_is_a_text_as_well() {
        assert!(text(&[]).starts_with("# HELP fathom_runs "));
        assert!(text(&[]).contains("\nfathom_runs 0\n"));
    }
}
