//! Metrics of the runs under way, in the text format of Prometheus (version 0.0.4).
//!
//! Units are base units: seconds, bytes, ratios from 0 to 1. Counters start at 0 with each run of a
//! process, which Prometheus takes for a restart.

use crate::run::{DirectionNow, JobNow, LayersNow, Moment, RunInfo};
use crate::{CpuShares, DiskRates};
use record::Severity;
use std::fmt::Write;

/// The content type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Vec<(&'static str, String)>;
/// What has samples of a metric, each with its labels.
type Labelled<T> = Vec<(Labels, T)>;
type RunNow<'a> = (&'a RunInfo, &'a Moment);

/// The metrics of runs under way, each with its latest moment if it has one.
pub fn text(runs: &[(&RunInfo, Option<&Moment>)]) -> String {
    let mut text = Text::default();
    text.gauge("fathom_runs", "Runs under way.", &vec![(Vec::new(), runs.len())], |runs| {
        Some(*runs as f64)
    });
    let infos = runs.iter().map(|(info, _)| (info_labels(info), ())).collect();
    text.gauge("fathom_run_info", "What is run, by process.", &infos, |()| Some(1.0));
    let with_moment = runs.iter().filter_map(|(info, moment)| Some((*info, (*moment)?)));
    let runs = with_moment.map(|run| (vec![("pid", run.0.pid.to_string())], run)).collect();
    write_runs(&mut text, &runs);
    write_jobs(&mut text, &runs);
    write_directions(&mut text, &directions(&runs));
    write_layers(&mut text, &runs);
    write_machine(&mut text, &runs);
    text.0
}

/// The text so far.
#[derive(Default)]
struct Text(String);

impl Text {
    fn gauge<T>(
        &mut self,
        name: &str,
        help: &str,
        items: &Labelled<T>,
        value: impl Fn(&T) -> Option<f64>,
    ) {
        self.family((name, "gauge", help), items, value);
    }

    /// Quantiles, each with a label `quantile`.
    fn summary<T>(
        &mut self,
        name: &str,
        help: &str,
        items: &Labelled<T>,
        value: impl Fn(&T) -> Option<f64>,
    ) {
        self.family((name, "summary", help), items, value);
    }

    /// A metric that counts from the start of the run; its name ends with `_total`.
    fn counter<T>(
        &mut self,
        name: &str,
        help: &str,
        items: &Labelled<T>,
        value: impl Fn(&T) -> Option<f64>,
    ) {
        self.family((name, "counter", help), items, value);
    }

    fn family<T>(
        &mut self,
        (name, kind, help): (&str, &str, &str),
        items: &Labelled<T>,
        value: impl Fn(&T) -> Option<f64>,
    ) {
        // Writing to a String cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (labels, item) in items {
            let Some(value) = value(item) else { continue };
            let labels: Vec<String> = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
                .collect();
            let _ = match labels.is_empty() {
                true => writeln!(self.0, "{name} {value}"),
                false => writeln!(self.0, "{name}{{{}}} {value}", labels.join(",")),
            };
        }
    }
}

/// A label's value with backslash, quote and end of line escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// `labels` and one more.
fn with(labels: &Labels, name: &'static str, value: impl Into<String>) -> Labels {
    let mut labels = labels.clone();
    labels.push((name, value.into()));
    labels
}

fn info_labels(info: &RunInfo) -> Labels {
    vec![
        ("pid", info.pid.to_string()),
        ("run", info.run.to_string()),
        ("name", info.name.clone()),
        ("host", info.hostname.clone()),
        ("version", info.fathom_version.clone()),
    ]
}

fn write_runs(text: &mut Text, runs: &Labelled<RunNow<'_>>) {
    let start = "When the run began, in seconds since 1970.";
    text.gauge("fathom_run_start_time_seconds", start, runs, |(info, _)| {
        Some(info.started_unix_ms as f64 / 1000.0)
    });
    text.gauge("fathom_run_elapsed_seconds", "Time since the run began.", runs, |(_, now)| {
        Some(now.elapsed_seconds)
    });
    let remaining = "Expected time until the run ends; absent while it is unknown.";
    text.gauge("fathom_run_remaining_seconds", remaining, runs, |(_, now)| now.remaining_seconds);
    let layout = "Bytes of the files being made before the run; absent while none are.";
    text.gauge("fathom_run_layout_bytes", layout, runs, |(_, now)| {
        Some(now.layout.as_ref()?.total as f64)
    });
    let done = "Bytes of them that are written.";
    text.gauge("fathom_run_layout_done_bytes", done, runs, |(_, now)| {
        Some(now.layout.as_ref()?.done as f64)
    });
    let cpu = "CPU time of the program that runs it, all its threads.";
    text.counter("fathom_process_cpu_seconds_total", cpu, runs, |(_, now)| now.own_cpu_seconds);
    let severities =
        [(Severity::Note, "note"), (Severity::Warning, "warning"), (Severity::Error, "error")];
    let findings = runs.iter().flat_map(|(labels, (_, now))| {
        severities.map(|(severity, name)| {
            let count = now.findings.iter().filter(|one| one.severity == severity).count();
            (with(labels, "severity", name), count)
        })
    });
    let help = "Findings about the figures so far, by severity.";
    text.gauge("fathom_run_findings", help, &findings.collect(), |count| Some(*count as f64));
}

/// The jobs of all runs. The group is a label only if two jobs of a run have the same name.
fn jobs<'a>(runs: &Labelled<RunNow<'a>>) -> Labelled<&'a JobNow> {
    let of_run = |(labels, (_, now)): &(Labels, RunNow<'a>)| {
        let jobs = now.jobs.iter().map(|job| {
            let labels = with(labels, "job", &job.name);
            match now.jobs.iter().filter(|other| other.name == job.name).count() {
                1 => (labels, job),
                _ => (with(&labels, "group", job.group.to_string()), job),
            }
        });
        jobs.collect::<Vec<_>>()
    };
    runs.iter().flat_map(of_run).collect()
}

fn write_jobs(text: &mut Text, runs: &Labelled<RunNow<'_>>) {
    let jobs = jobs(runs);
    text.gauge("fathom_job_workers", "Workers of the job.", &jobs, |job| Some(job.workers.into()));
    let depth = "I/Os in flight, mean over the last second.";
    text.gauge("fathom_job_queue_depth", depth, &jobs, |job| Some(job.depth?.now));
    let requested = "I/Os in flight as asked for.";
    text.gauge("fathom_job_queue_depth_requested", requested, &jobs, |job| {
        Some(job.depth?.requested.into())
    });
    let errors = "I/O errors and failed verifications.";
    text.counter("fathom_job_errors_total", errors, &jobs, |job| Some(job.errors as f64));
    let states = jobs.iter().map(|(labels, job)| (with(labels, "state", job.state.name()), ()));
    let help = "1 for the state that the job is in.";
    text.gauge("fathom_job_state", help, &states.collect(), |()| Some(1.0));
}

fn directions<'a>(runs: &Labelled<RunNow<'a>>) -> Labelled<&'a DirectionNow> {
    let of_job = |(labels, job): (Labels, &'a JobNow)| {
        let directions = job.directions.iter().filter_map(|(direction, now)| {
            Some((with(&labels, "direction", direction.name()), now.as_ref()?))
        });
        directions.collect::<Vec<_>>()
    };
    jobs(runs).into_iter().flat_map(of_job).collect()
}

fn write_directions(text: &mut Text, all: &Labelled<&DirectionNow>) {
    let ios = "I/Os completed, ramp included.";
    text.counter("fathom_job_ios_total", ios, all, |now| Some(now.ios as f64));
    let bytes = "Bytes moved, ramp included.";
    text.counter("fathom_job_bytes_total", bytes, all, |now| Some(now.bytes as f64));
    let iops = "I/Os completed a second, over the last second.";
    text.gauge("fathom_job_iops", iops, all, |now| Some(now.iops));
    let rate = "Bytes moved a second, over the last second.";
    text.gauge("fathom_job_bytes_per_second", rate, all, |now| Some(now.bytes_per_second));
    let quantiles = all.iter().flat_map(|(labels, now)| {
        let latency = now.latency.iter().flat_map(|latency| latency.quantiles());
        latency.map(|(share, ns)| (with(labels, "quantile", share.to_string()), ns))
    });
    let help = "Completion latency of the last seconds; absent where nothing completed.";
    text.summary("fathom_job_latency_seconds", help, &quantiles.collect(), |ns| {
        Some(*ns as f64 / 1e9)
    });
}

/// Times of `--layers`. The mean of a layer is the rate of its seconds by the rate of its I/Os.
fn write_layers(text: &mut Text, runs: &Labelled<RunNow<'_>>) {
    let of_run = |(labels, (_, now)): &(Labels, RunNow<'_>)| {
        let path = |layers: &LayersNow| {
            let labels = with(labels, "job", &layers.sums.job);
            let labels = with(&labels, "device", &layers.sums.device);
            (with(&labels, "direction", layers.operation()), layers.clone())
        };
        now.layers.iter().map(path).collect::<Vec<_>>()
    };
    let paths: Labelled<LayersNow> = runs.iter().flat_map(of_run).collect();
    let ios = "I/Os that entered the block layer and are complete, without the ramp (--layers).";
    text.counter("fathom_layer_ios_total", ios, &paths, |path| Some(path.sums.ios as f64));
    let spans = paths.iter().flat_map(|(labels, path)| {
        let named = LayersNow::NAMES.into_iter().zip(path.sums.spans.all());
        named.map(|(layer, time)| (with(labels, "layer", layer), time.seconds()))
    });
    let seconds = "Time that these I/Os spent in each layer.";
    text.counter("fathom_layer_seconds_total", seconds, &spans.collect(), |time| Some(*time));
}

fn write_machine(text: &mut Text, runs: &Labelled<RunNow<'_>>) {
    let disks: Labelled<&DiskRates> = runs
        .iter()
        .flat_map(|(labels, (_, now))| now.machine.iter().map(move |machine| (labels, machine)))
        .flat_map(|(labels, machine)| {
            machine.disks.iter().map(move |(name, disk)| (with(labels, "device", name), disk))
        })
        .collect();
    let mut gauge = |name, help, value: fn(&DiskRates) -> f64| {
        text.gauge(name, help, &disks, |disk| Some(value(disk)));
    };
    gauge("fathom_device_busy_ratio", "Share of the time with I/O in flight.", |disk| {
        disk.busy_percent / 100.0
    });
    let queue = "I/Os waiting or served, mean over the last second.";
    gauge("fathom_device_queue_depth", queue, |disk| disk.queue);
    let reads = "Reads completed a second.";
    gauge("fathom_device_reads_per_second", reads, |disk| disk.reads_per_second);
    let read = "Bytes read a second.";
    gauge("fathom_device_read_bytes_per_second", read, |disk| disk.read_bytes_per_second);
    let writes = "Writes completed a second.";
    gauge("fathom_device_writes_per_second", writes, |disk| disk.writes_per_second);
    let written = "Bytes written a second.";
    gauge("fathom_device_write_bytes_per_second", written, |disk| disk.write_bytes_per_second);
    let help = "Share of the time in which the CPUs did something.";
    text.gauge("fathom_cpu_busy_ratio", help, runs, |(_, now)| {
        let cpu = now.machine.as_ref()?.cpu.as_ref()?;
        Some(CpuShares::busy(cpu) / 100.0)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rates;
    use crate::run::{LatencyNow, State};
    use record::LayerSums;
    use record::{LayerSpans, Nanos, PerDirection};
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
        let spans = LayerSpans { device: Nanos(1_500_000_000), ..LayerSpans::default() };
        let (job_name, device) = ("twin".into(), "sda".into());
        let sums = LayerSums { job: job_name, device, direction: None, ios: 42, spans };
        let layers = vec![LayersNow { sums, ..LayersNow::default() }];
        let moment = Moment {
            elapsed_seconds: 2.5,
            layers,
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
            "fathom_layer_ios_total{pid=\"7\",job=\"twin\",device=\"sda\",direction=\"flush\"} 42",
            "fathom_layer_seconds_total{pid=\"7\",job=\"twin\",device=\"sda\",direction=\"flush\",\
             layer=\"device\"} 1.5",
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
    fn without_runs_the_count_is_zero() {
        assert!(text(&[]).starts_with("# HELP fathom_runs "));
        assert!(text(&[]).contains("\nfathom_runs 0\n"));
    }

    #[test]
    fn the_dashboard_asks_for_figures_that_there_are() {
        let dashboard = include_str!("../../../packaging/grafana/dashboard.json");
        let source = include_str!("metrics.rs");
        let names = dashboard.split("fathom_").skip(1).map(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
            format!("\"fathom_{}\"", &rest[..end.unwrap_or(rest.len())])
        });
        let names: Vec<String> = names.collect();
        assert!(names.len() > 15, "{names:?}");
        for name in names {
            assert!(source.contains(&name), "{name}");
        }
    }
}
