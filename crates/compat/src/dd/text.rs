//! dd's last lines, and what its figure is to be taken for.

use super::number::{general, human, rate};
use super::{DdCommand, Output, Status};
use crate::footer::{moved, seconds};
use judge::durability;
use record::{Direction, JobRecord, PerDirection, RunRecord};

/// Smaller blocks are mostly system calls.
const BLOCK_SMALL: u64 = 4096;

/// What dd says at the end, on standard error: records in and out, bytes, time and rate, as far as
/// `status=` lets it.
pub fn lines(call: &DdCommand, record: &RunRecord) -> String {
    let mut bytes = PerDirection::from_fn(|direction| moved(record, direction));
    let written =
        |job: &JobRecord| job.error != 0 && job.errors.iter().any(|e| e.operation == "write");
    if call.read().is_none() {
        // A source that only makes bytes was not read. What could not be written was taken from it.
        let lost = if record.jobs.iter().any(written) { call.obs } else { 0 };
        let most = call.limit.unwrap_or(u64::MAX);
        bytes.read = bytes.write.saturating_add(lost).min(most);
    }
    so_far(call, &bytes, seconds(record))
}

/// What dd says when SIGUSR1 asks: the same of what was moved until now.
pub fn asked(call: &DdCommand, bytes: &PerDirection<u64>, seconds: f64) -> String {
    let read = if call.read().is_some() { bytes.read } else { bytes.write };
    so_far(call, &PerDirection { read, ..*bytes }, seconds)
}

fn so_far(call: &DdCommand, bytes: &PerDirection<u64>, seconds: f64) -> String {
    // What nobody keeps was not written.
    let given = if call.output == Output::Null { bytes.read } else { bytes.write };
    let (taken, out) = (records(bytes.read, call.ibs), records(given, call.obs));
    let records = format!("{taken} records in\n{out} records out\n");
    match call.status {
        Status::None => String::new(),
        Status::Noxfer => records,
        _ => records + &transfer(given, seconds, &general(seconds)) + "\n",
    }
}

/// What dd says once a second with `status=progress`: one line without its end.
pub fn progress(bytes: u64, seconds: f64) -> String {
    transfer(bytes, seconds, &format!("{seconds:.0}"))
}

/// "2048+0": whole blocks and the rest.
fn records(bytes: u64, block: u64) -> String {
    format!("{}+{}", bytes / block, u8::from(!bytes.is_multiple_of(block)))
}

fn transfer(bytes: u64, seconds: f64, shown: &str) -> String {
    let (decimal, binary) = (human(bytes, false), human(bytes, true));
    let brackets = match bytes {
        0..1000 => String::new(),
        1000..1024 => format!(" ({decimal}B)"),
        _ => format!(" ({decimal}B, {binary}B)"),
    };
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    let rate = match seconds > 0.0 {
        true => rate(bytes as f64 / seconds),
        false => "Infinity ".to_owned(),
    };
    format!("{bytes} {unit}{brackets} copied, {shown} s, {rate}B/s")
}

/// What dd's figure is easily taken for and is not: the trap's name and a sentence or two each.
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

/// Where writes ended before the disk had them for good.
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

/// What of the input was in memory before, where that was a part worth naming.
fn cached_reads(call: &DdCommand, record: &RunRecord, job: &JobRecord) -> Option<String> {
    if job.workload.is_direct_in(Direction::Read) {
        return None;
    }
    let path = call.read().filter(|_| !call.forget_in)?;
    let cached = record.evidence.files.get(path)?.before.as_ref()?.cached?.0;
    let read = moved(record, Direction::Read);
    // A hundredth is met by chance: metadata, read-ahead of others.
    (cached > 0 && cached >= read / 100).then(|| {
        let size = record::human::size(cached as f64);
        format!(
            "{size} of {path} were in memory before it was read, and reading those asks no disk. \
             Say iflag=nocache or iflag=direct."
        )
    })
}
