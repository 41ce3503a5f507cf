//! Records from the output of real fio: JSON and JSON+ (`--output-format=json+`) of fio 3.
//!
//! Figures are taken as fio printed them. What fio does not print is absent, and a message of the
//! record says so. Keys and their meaning are observed from fio 3.33.

mod error;
mod job;
mod latency;
mod options;
mod reader;
mod steady;

pub use error::ImportError;

use job::SharedByJobs;
use reader::Object;
use record::{
    DiskCounters, DiskResult, DiskSample, Facts, Invocation, JobRecord, Message, Nanos, Origin,
    RunRecord, SCHEMA_VERSION,
};
use serde_json::Value;
use std::cell::Cell;

/// Whether a text looks like output of fio with a JSON document in it. Cheap: it chooses a reader.
pub fn is_fio(text: &str) -> bool {
    text.contains("\"fio version\"")
}

/// Reads the record of a run from JSON of fio. Lines around the document are skipped; of several
/// documents (`--status-interval`) the last one counts.
///
/// # Errors
/// When there is no such document, or it holds a value that fio does not print.
pub fn from_fio(text: &str) -> Result<RunRecord, ImportError> {
    let documents = documents(text)?;
    let interim = documents.len() - 1;
    let Some(document) = documents.last() else { return Err(ImportError::NotFio) };
    let mut record = record(Object::new(document, &Cell::default()))?;
    if interim > 0 {
        let plural = if interim == 1 { "" } else { "s" };
        let text = format!(
            "{interim} earlier document{plural} in the same output, printed during the run, left out"
        );
        record.messages.push(Message::note(None, text));
    }
    Ok(record)
}

/// Every document of fio in the text, in order; at least one.
fn documents(text: &str) -> Result<Vec<Value>, ImportError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = document_start(rest) {
        let mut stream = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) if value.get("fio version").is_some() => found.push(value),
            Some(Err(error)) if is_fio(&rest[start..]) => {
                return Err(ImportError::Broken(error.to_string()));
            }
            _ => {}
        }
        rest = &rest[start + stream.byte_offset().max(1)..];
    }
    if found.is_empty() { Err(ImportError::NotFio) } else { Ok(found) }
}

/// The offset of the next line that begins with a brace.
fn document_start(text: &str) -> Option<usize> {
    let at_begin = text.starts_with('{').then_some(0);
    at_begin.or_else(|| text.find("\n{").map(|at| at + 1))
}

fn record(document: Object) -> Result<RunRecord, ImportError> {
    let program = document.text("fio version").to_owned();
    if ["fio-1.", "fio-2."].iter().any(|old| program.starts_with(old)) {
        return Err(ImportError::TooOld(program));
    }
    let is_clients = document.value.get("client_stats").is_some();
    let key = if is_clients { "client_stats" } else { "jobs" };
    let entries: Vec<Object> = document.list(key).collect();
    let globals = options::pairs(&document.value["global options"]);
    let shared = SharedByJobs { globals: &globals, hosts: hosts(&entries) };
    // fio adds an entry with the sum of all servers.
    let is_sum = |entry: &Object| is_clients && entry.text("jobname") == "All clients";
    let mut jobs: Vec<JobRecord> = Vec::new();
    for entry in entries.iter().filter(|entry| !is_sum(entry)) {
        jobs.push(job::read(*entry, &shared, jobs.len() as u32)?);
    }
    if jobs.is_empty() {
        return Err(ImportError::NoJobs);
    }
    run_groups_in_turn(&mut jobs);
    let has_bins = entries.iter().any(|entry| latency::has_bins(entry.value));
    let format = if has_bins { "JSON+" } else { "JSON" };
    let window = jobs.iter().map(|job| job.elapsed.0).max().unwrap_or(0);
    Ok(RunRecord {
        schema: SCHEMA_VERSION,
        fathom_version: env!("CARGO_PKG_VERSION").into(),
        invocation: Invocation {
            arguments: command(&globals, &jobs),
            ..invocation(document, window)?
        },
        global_options: globals.clone(),
        facts: Facts { hostname: shared.hosts.join(", "), ..Facts::default() },
        disks: disks(document, window)?,
        messages: messages(&program, format, &jobs, &entries),
        jobs,
        origin: Some(Origin { program, format: format.into() }),
        ..RunRecord::default()
    })
}

/// The servers that jobs ran on, each once.
fn hosts(entries: &[Object]) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for host in entries.iter().filter_map(|entry| entry.value["hostname"].as_str()) {
        if !hosts.iter().any(|known| known == host) {
            hosts.push(host.to_owned());
        }
    }
    hosts
}

/// Sets the start and end of jobs: fio does not print when a group began, and a stonewall separates
/// groups, so each begins when the one before ends.
fn run_groups_in_turn(jobs: &mut [JobRecord]) {
    let (mut began, mut reached, mut group) = (Nanos(0), Nanos(0), None);
    for job in jobs {
        if group.replace(job.group.group).is_some_and(|before| before != job.group.group) {
            began = reached;
        }
        job.started = began;
        job.ended = began + job.ended;
        reached = reached.max(job.ended);
    }
}

/// An equivalent command line. fio does not print flags without a value, so they are missing.
fn command(globals: &[(String, String)], jobs: &[JobRecord]) -> Vec<String> {
    let option = |(name, value): &(String, String)| format!("--{name}={value}");
    let mut words = vec!["fio".to_owned()];
    words.extend(globals.iter().map(option));
    for job in jobs {
        words.push(format!("--name={}", job.name));
        let own = job.options.iter().filter(|(name, _)| name != "name");
        words.extend(own.map(option));
    }
    words
}

fn invocation(document: Object, window: u64) -> Result<Invocation, ImportError> {
    let seconds = document.count("timestamp")?;
    let ended = match document.count("timestamp_ms")? {
        0 => seconds.saturating_mul(1000),
        exact => exact,
    };
    Ok(Invocation {
        as_fio: true,
        ended_unix_ms: ended,
        started_unix_ms: ended.saturating_sub(Nanos(window).millis()),
        utc_offset_seconds: utc_offset(document.text("time"), ended),
        ..Invocation::default()
    })
}

/// How far local time was ahead of UTC, in seconds, rounded to the quarters of an hour of time zones.
fn utc_offset(local: &str, unix_ms: u64) -> i32 {
    const QUARTER: i64 = 900;
    let Some(local) = record::date::parse_asctime(local) else { return 0 };
    let ahead = local - (unix_ms / 1000) as i64;
    let rounded = (ahead as f64 / QUARTER as f64).round() as i64 * QUARTER;
    // No time zone is further from UTC.
    if rounded.abs() <= 14 * 3600 { rounded as i32 } else { 0 }
}

/// The counters of devices that fio prints.
fn disks(document: Object, window: u64) -> Result<Vec<DiskResult>, ImportError> {
    let disk = |entry: Object| {
        let name = entry.text("name");
        let entry = entry.of_job(name);
        let count = |key| entry.count(key);
        let util = entry.real("util")?.clamp(0.0, 100.0);
        let after = DiskSample {
            read_ios: count("read_ios")?,
            read_merges: count("read_merges")?,
            read_ticks_ms: count("read_ticks")?,
            write_ios: count("write_ios")?,
            write_merges: count("write_merges")?,
            write_ticks_ms: count("write_ticks")?,
            queue_ms: count("in_queue")?,
            busy_ms: (util / 100.0 * window as f64 / 1e6).round() as u64,
            ..DiskSample::default()
        };
        let counters = DiskCounters { after, window: Nanos(window), ..DiskCounters::default() };
        Ok(DiskResult { name: name.to_owned(), members: Vec::new(), counters })
    };
    document.list("disk_util").map(disk).collect()
}

/// Notes on what the imported figures leave out.
fn messages(program: &str, format: &str, jobs: &[JobRecord], entries: &[Object]) -> Vec<Message> {
    let latencies = match format {
        "JSON+" => {
            "latencies are in fio's bins, 64 an octave, each put at the value fio names it by"
        }
        _ => {
            "of latencies fio's count, extremes, mean, deviation and percentiles are known, and no \
             others"
        }
    };
    let text = format!(
        "imported from {program} {format}: percentiles are those fio printed; {latencies}; the \
         machine, the course over time and what limited it are not known"
    );
    let mut messages = vec![Message::note(None, text)];
    if jobs.iter().any(|job| job.group.group != jobs[0].group.group) {
        let text =
            "groups of jobs are taken to have run one after the other, as a stonewall makes them";
        messages.push(Message::note(None, text));
    }
    for (job, entry) in jobs.iter().zip(entries) {
        let workers = job::workers_in(job, entry.value);
        if workers > 1 {
            let text = format!("{workers} workers reported as one by fio are one worker here");
            messages.push(Message::note(Some(&job.name), text));
        }
    }
    messages
}

#[cfg(test)]
mod tests;
