//! The output of dd, and hints on reading its figure.

use super::number::{general, rate, size};
use super::{DdCommand, Output, Status};
use crate::footer::{moved, seconds};
use judge::durability;
use record::{Direction, JobRecord, PerDirection, RunRecord};

/// With smaller blocks, system calls take most of the time.
const BLOCK_SMALL: u64 = 4096;

/// The last lines of dd on standard error: records in and out, bytes, time and rate, as `status=` asks.
pub fn lines(call: &DdCommand, record: &RunRecord) -> String {
    let mut bytes = PerDirection::from_fn(|direction| moved(record, direction));
    let write_failed =
        |job: &JobRecord| job.error != 0 && job.errors.iter().any(|e| e.operation == "write");
    if call.read().is_none() {
        // The engine does not read /dev/zero or /dev/urandom. dd would have read what it wrote, and the
        // block of a failed write.
        let lost = if record.jobs.iter().any(write_failed) { call.obs } else { 0 };
        let most = call.limit.unwrap_or(u64::MAX);
        bytes.read = bytes.write.saturating_add(lost).min(most);
    }
    summary(call, &bytes, seconds(record))
}

/// The lines of dd after SIGUSR1: the summary so far.
pub fn summary_so_far(call: &DdCommand, bytes: &PerDirection<u64>, seconds: f64) -> String {
    let read = if call.read().is_some() { bytes.read } else { bytes.write };
    summary(call, &PerDirection { read, ..*bytes }, seconds)
}

fn summary(call: &DdCommand, bytes: &PerDirection<u64>, seconds: f64) -> String {
    // The engine does not write to /dev/null.
    let written = if call.output == Output::Null { bytes.read } else { bytes.write };
    let (records_in, records_out) = (records(bytes.read, call.ibs), records(written, call.obs));
    let records = format!("{records_in} records in\n{records_out} records out\n");
    match call.status {
        Status::None => String::new(),
        Status::Noxfer => records,
        _ => records + &transfer(written, seconds, &general(seconds)) + "\n",
    }
}

/// The line of `status=progress`, once a second, without its line end.
pub fn progress(bytes: u64, seconds: f64) -> String {
    transfer(bytes, seconds, &format!("{seconds:.0}"))
}

/// "2048+0": the number of whole blocks, and of partial ones.
fn records(bytes: u64, block: u64) -> String {
    format!("{}+{}", bytes / block, u8::from(!bytes.is_multiple_of(block)))
}

/// The line of bytes, time and rate. `seconds_text`: the time as printed.
fn transfer(bytes: u64, seconds: f64, seconds_text: &str) -> String {
    let (decimal, binary) = (size(bytes, false), size(bytes, true));
    let brackets = match bytes {
        0..1000 => String::new(),
        1000..1024 => format!(" ({decimal}B)"),
        _ => format!(" ({decimal}B, {binary}B)"),
    };
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    let rate = if seconds > 0.0 { rate(bytes as f64 / seconds) } else { "Infinity ".to_owned() };
    format!("{bytes} {unit}{brackets} copied, {seconds_text} s, {rate}B/s")
}

/// Wrong readings of dd's figure: the name of each and an explanation.
pub fn traps(call: &DdCommand, record: &RunRecord) -> Vec<(&'static str, String)> {
    let Some(job) = record.jobs.first().filter(|job| !job.did_nothing()) else {
        return Vec::new();
    };
    let mut traps = Vec::new();
    traps.extend(cached_writes(call, record, job).map(|text| ("cache", text.to_owned())));
    traps.extend(cached_reads(call, record, job).map(|text| ("cache", text)));
    if job.workload.settings.contains_key("zero_buffers") {
        let text = "disks and filesystems that compress, find duplicates or drop zeros write less \
                    than this. Say if=/dev/urandom: making its bytes is not part of the latencies.";
        traps.push(("zeros", text.to_owned()));
    }
    let alternates = match (call.read(), call.written()) {
        (Some(_), Some(_)) => "a read waits for the write before it, and a write for its read",
        _ => "each block waits for the one before it",
    };
    let more = "A disk that serves several at once can do more: fathom test says how much.";
    traps.push(("depth 1", format!("{alternates}. {more}")));
    let block = if call.read().is_some() { call.ibs } else { call.obs };
    if block < BLOCK_SMALL {
        let text = format!(
            "{block} bytes at a time (512 where nothing is said): the figure is mostly that of \
             system calls. Say bs=1M for throughput."
        );
        traps.push(("bs", text));
    }
    traps
}

/// A hint if writes ended before they were durable.
fn cached_writes(call: &DdCommand, record: &RunRecord, job: &JobRecord) -> Option<&'static str> {
    let path = call.written()?;
    if job.workload.settings.contains_key("sync") || job.sync.count > 0 {
        return None;
    }
    if !job.workload.is_direct_in(Direction::Write) {
        return Some(
            "memory took the writes, and the disk may have seen none of them. Say conv=fdatasync \
             to wait for the disk once, oflag=dsync for each block, or oflag=direct.",
        );
    }
    let lost = durability(&record.facts, path).keeps_completed() == Some(false);
    lost.then_some(
        "O_DIRECT ends in the disk's own cache. Say conv=fdatasync to flush it within the figure.",
    )
}

/// A hint if a relevant part of the input was in the page cache before.
fn cached_reads(call: &DdCommand, record: &RunRecord, job: &JobRecord) -> Option<String> {
    if job.workload.is_direct_in(Direction::Read) {
        return None;
    }
    let path = call.read().filter(|_| !call.forget_in)?;
    let cached = record.evidence.files.get(path)?.before.as_ref()?.cached?.0;
    let read = moved(record, Direction::Read);
    // Up to a hundredth may be cached by chance: metadata, read-ahead.
    (cached > 0 && cached >= read / 100).then(|| {
        let size = record::human::size(cached as f64);
        format!(
            "{size} of {path} were in memory before it was read, and reading those asks no disk. \
             Say iflag=nocache or iflag=direct."
        )
    })
}
