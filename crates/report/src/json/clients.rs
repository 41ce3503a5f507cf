//! fio's document about several servers: the jobs of all under "client_stats", each with its host.
//! Keys and their order are observed from fio 3.33.

use super::tree::{Json, object};
use super::{fathom, fio};
use crate::clients::{ClientReport, Clients};
use crate::options::RenderOptions;
use record::date::asctime;
use record::{FioVersion, RunRecord};

/// Keys of a job in the document of a run that fio leaves out here.
const NOT_OF_CLIENTS: [&str; 2] = ["eta", "elapsed"];

/// Keys of a single job, which the sum over all servers does not have.
const NOT_OF_ALL: [&str; 6] = [
    "job options",
    "latency_depth",
    "latency_target",
    "latency_percentile",
    "latency_window",
    "desc",
];

/// The whole document.
pub(super) fn document(clients: &Clients, bins: bool, options: &RenderOptions) -> Json {
    let invocations = || clients.reports.iter().map(|report| &report.record.invocation);
    let ended = invocations().map(|invocation| invocation.ended_unix_ms).max().unwrap_or(0);
    let offset = invocations().next().map_or(0, |invocation| invocation.utc_offset_seconds);
    let mut out = object! {
        "fio version" => options.version_line(),
        "timestamp" => ended / 1000,
        "timestamp_ms" => ended,
        "time" => asctime(ended, offset),
    };
    out.push("global options", globals(clients, options));
    out.push("client_stats", Json::Array(stats(clients, bins, options)));
    let disks = clients.reports.iter().flat_map(|report| disks(report, options));
    out.push("disk_util", Json::Array(disks.collect()));
    let about = clients.reports.iter().map(|report| {
        let mut about = object! { "hostname" => &report.host, "port" => u32::from(report.port) };
        if let Some(idleness) = &report.judged.idleness {
            about.push("cpu_idleness", fio::idle(idleness));
        }
        about.extend(fathom::run_part(&report.record, &report.judged));
        about
    });
    out.push("fathom", object! { "clients" => Json::Array(about.collect()) });
    out
}

/// Global options of the jobs. With several servers they are a list, with the server of each that has
/// some. fio's document has them, and the list of disks, even when they are empty.
fn globals(clients: &Clients, options: &RenderOptions) -> Json {
    let list = |record: &RunRecord| fio::option_list(&record.global_options, options);
    match clients.reports.as_slice() {
        [] => Json::Object(Vec::new()),
        [only] => list(&only.record),
        reports if options.compat == FioVersion::V3_33 => {
            let all = reports.iter().flat_map(|report| report.record.global_options.clone());
            fio::option_list(&all.collect::<Vec<_>>(), options)
        }
        reports => {
            let some = reports.iter().filter(|report| !report.record.global_options.is_empty());
            let entry = |report: &ClientReport| {
                let mut entry = object! {
                    "hostname" => &report.host,
                    "port" => u32::from(report.port),
                };
                entry.extend(list(&report.record));
                entry
            };
            Json::Array(some.map(entry).collect())
        }
    }
}

/// The jobs of every server, then all of them as one.
fn stats(clients: &Clients, bins: bool, options: &RenderOptions) -> Vec<Json> {
    let mut stats = Vec::new();
    for report in &clients.reports {
        for unit in &report.judged.units {
            let mut job = fio::job(&report.record, unit, &fio::Times::UNKNOWN, bins, options);
            job.remove(&NOT_OF_CLIENTS);
            stats.push(hosted(job, report));
        }
    }
    if let (Some(all), Some(last)) = (&clients.all, clients.reports.last()) {
        for unit in &all.judged.units {
            let mut job = fio::job(&all.record, unit, &fio::Times::UNKNOWN, bins, options);
            job.remove(&NOT_OF_CLIENTS);
            job.remove(&NOT_OF_ALL);
            stats.push(hosted(job, last));
        }
    }
    stats
}

fn disks(report: &ClientReport, options: &RenderOptions) -> Vec<Json> {
    report.judged.disks.iter().map(|disk| hosted(fio::disk(disk, options), report)).collect()
}

/// Adds the server to an entry.
fn hosted(mut entry: Json, report: &ClientReport) -> Json {
    let ours = entry.take("fathom");
    entry.push("hostname", &report.host);
    entry.push("port", u32::from(report.port));
    if let Some(ours) = ours {
        entry.push("fathom", ours);
    }
    entry
}
