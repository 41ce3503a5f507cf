//! Records from the output of real fio: JSON and JSON+ (`--output-format=json+`) of fio 3.
//!
//! What the output tells is taken as it is printed; what it does not tell is absent, and said in a
//! message of the record. Keys and their meaning are observed from fio 3.33.

mod job;
mod latency;
mod options;
mod reader;
mod steady;

use job::Surroundings;
use reader::{Reader, text};
use record::{
    DiskCounters, DiskResult, DiskSample, Facts, Invocation, JobRecord, Message, Nanos, Origin,
    RunRecord, SCHEMA_VERSION,
};
use serde_json::Value;

/// Why a text is no output that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// There is no document of fio in it.
    #[error(
        "no JSON of fio in it; fio writes one with --output-format=json, or json+ for whole latency \
         distributions"
    )]
    NotFio,
    /// The document ends before its end, or is not JSON.
    #[error("the JSON of fio in it is broken: {0}")]
    Broken(String),
    /// The document is of a fio with other units.
    #[error("{0} printed latencies in microseconds and without bins; only JSON of fio 3 is read")]
    TooOld(String),
    /// A value is not what fio prints there.
    #[error("job '{job}': {key} is {found}, which fio does not print: expected {expected}")]
    Value {
        /// The job.
        job: String,
        /// The key.
        key: String,
        /// What stands there.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The numbers add up to more than can be.
    #[error("the numbers in it add up to more than any run can do; is the file damaged?")]
    TooLarge,
    /// Reads and writes are not told apart.
    #[error(
        "job '{0}' was reported with unified_rw_reporting=mixed, so its reads and writes are not told \
         apart; run it with unified_rw_reporting=both or none to import it"
    )]
    Mixed(String),
    /// It holds no jobs.
    #[error("the document of fio holds no jobs")]
    NoJobs,
}

/// Whether a text looks like the output of fio with a JSON document in it. Cheap: for choosing what to
/// read it as.
pub fn is_fio(text: &str) -> bool {
    text.contains("\"fio version\"")
}

/// The record of the run that the JSON of fio in `text` is of. Lines before and after the document are
/// passed over; of several documents (`--status-interval`) the last one counts.
///
/// # Errors
/// When there is no such document, or it holds what fio does not print.
pub fn fio(text: &str) -> Result<RunRecord, ImportError> {
    let documents = documents(text)?;
    let interim = documents.len() - 1;
    let Some(document) = documents.into_iter().last() else { return Err(ImportError::NotFio) };
    let mut record = record_of(&document)?;
    if interim > 0 {
        let plural = if interim == 1 { "" } else { "s" };
        let text = format!(
            "{interim} earlier document{plural} in the same output, of the run while it went on, \
             left out"
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

/// Where the next line begins that begins with a brace.
fn document_start(text: &str) -> Option<usize> {
    let at_begin = text.starts_with('{').then_some(0);
    at_begin.or_else(|| text.find("\n{").map(|at| at + 1))
}

fn record_of(document: &Value) -> Result<RunRecord, ImportError> {
    let program = text(&document["fio version"]).to_owned();
    if ["fio-1.", "fio-2."].iter().any(|old| program.starts_with(old)) {
        return Err(ImportError::TooOld(program));
    }
    let is_clients = document.get("client_stats").is_some();
    let key = if is_clients { "client_stats" } else { "jobs" };
    let entries: Vec<&Value> = document[key].as_array().into_iter().flatten().collect();
    let globals = options::pairs(&document["global options"]);
    let reader = Reader::default();
    let around = Surroundings { globals: &globals, hosts: hosts(&entries) };
    // The sum of all servers stands beside what it is the sum of.
    let is_sum = |entry: &Value| is_clients && text(&entry["jobname"]) == "All clients";
    let mut jobs: Vec<JobRecord> = Vec::new();
    for entry in entries.iter().filter(|entry| !is_sum(entry)) {
        jobs.push(job::read(&reader, &around, entry, jobs.len() as u32)?);
    }
    if jobs.is_empty() {
        return Err(ImportError::NoJobs);
    }
    in_turn(&mut jobs);
    let has_bins = entries.iter().any(|entry| latency::has_bins(entry));
    let format = if has_bins { "JSON+" } else { "JSON" };
    let window = jobs.iter().map(|job| job.elapsed.0).max().unwrap_or(0);
    Ok(RunRecord {
        schema: SCHEMA_VERSION,
        fathom_version: env!("CARGO_PKG_VERSION").into(),
        invocation: Invocation {
            arguments: command(&globals, &jobs),
            ..invocation(&reader, document, window)?
        },
        global_options: globals.clone(),
        facts: Facts { hostname: around.hosts.join(", "), ..Facts::default() },
        disks: disks(&reader, &document["disk_util"], window)?,
        messages: messages(&program, format, &jobs, &entries),
        jobs,
        origin: Some(Origin { program, format: format.into() }),
        ..RunRecord::default()
    })
}

/// The servers that jobs ran on, each once.
fn hosts(entries: &[&Value]) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for host in entries.iter().filter_map(|entry| entry["hostname"].as_str()) {
        if !hosts.iter().any(|known| known == host) {
            hosts.push(host.to_owned());
        }
    }
    hosts
}

/// Groups are taken to have run one after the other, for a stonewall is what makes groups; when they
/// began is not told.
fn in_turn(jobs: &mut [JobRecord]) {
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

/// A command line that asks for the same, as far as fio repeats the options: flags without a value it
/// does not repeat.
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

fn invocation(reader: &Reader, document: &Value, window: u64) -> Result<Invocation, ImportError> {
    let seconds = reader.count("", document, "timestamp")?;
    let ended = match reader.count("", document, "timestamp_ms")? {
        0 => seconds.saturating_mul(1000),
        exact => exact,
    };
    Ok(Invocation {
        as_fio: true,
        ended_unix_ms: ended,
        started_unix_ms: ended.saturating_sub(Nanos(window).millis()),
        utc_offset_seconds: utc_offset(text(&document["time"]), ended),
        ..Invocation::default()
    })
}

/// How far the clock of the text was ahead of UTC: zones differ by quarters of an hour.
fn utc_offset(local: &str, unix_ms: u64) -> i32 {
    const QUARTER: i64 = 900;
    let Some(local) = crate::when::from_asctime(local) else { return 0 };
    let ahead = local - (unix_ms / 1000) as i64;
    let rounded = (ahead as f64 / QUARTER as f64).round() as i64 * QUARTER;
    // Nowhere are clocks further from UTC.
    if rounded.abs() <= 14 * 3600 { rounded as i32 } else { 0 }
}

/// Devices, as far as they are told: requests, times and the share of the time they were busy.
fn disks(reader: &Reader, list: &Value, window: u64) -> Result<Vec<DiskResult>, ImportError> {
    let disk = |entry: &Value| {
        let name = text(&entry["name"]).to_owned();
        let count = |key| reader.count(&name, entry, key);
        let util = reader.real(&name, entry, "util")?.clamp(0.0, 100.0);
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
        Ok(DiskResult { name, members: Vec::new(), counters })
    };
    list.as_array().into_iter().flatten().map(disk).collect()
}

/// What the reader of the figures should know of where they come from.
fn messages(program: &str, format: &str, jobs: &[JobRecord], entries: &[&Value]) -> Vec<Message> {
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
        let workers = job::workers_in(job, entry);
        if workers > 1 {
            let text = format!("{workers} workers reported as one by fio are one worker here");
            messages.push(Message::note(Some(&job.name), text));
        }
    }
    messages
}

#[cfg(test)]
mod tests;
