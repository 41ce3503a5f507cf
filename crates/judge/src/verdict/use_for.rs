//! What a figure may be used for, in one sentence.

use super::Limit;
use crate::case::{Case, Part};
use crate::checks::words::{count, list, number};
use crate::durability::{Durability, durability};
use crate::finding::Finding;
use crate::metrics::RequestMetrics;
use record::{Bytes, Direction, Engine, Medium, PerDirection, Severity};

/// What a finding takes away from a figure. Ids of checks that the limit itself says are not here.
const CAVEATS: &[(&str, &str)] = &[
    ("errors", "anything, before its errors are gone"),
    ("never-written", "blocks that hold data"),
    ("direct-not-direct", "direct I/O"),
    ("served-from-cache", "data that is not in memory"),
    ("smaller-than-memory", "more data than fits into memory"),
    ("repeated-offsets", "blocks that were not just read"),
    ("compressible-data", "data that does not compress"),
    ("depth-not-reached", "the queue depth that was asked for"),
    ("not-steady", "sustained load"),
    ("too-short", "sustained load"),
    ("too-few-samples", "its rare latencies"),
    ("coordinated-omission", "what users wait: that is the response latency"),
    ("noisy-neighbour", "comparison, before it was repeated on a quiet machine"),
    ("background-work", "comparison, before it was repeated on a quiet machine"),
    ("cpu-starved", "latency on an idle machine"),
    ("stolen-time", "latency on an idle machine"),
    ("throttled-hot", "a machine that stays cool"),
    ("misaligned", "aligned I/O"),
    ("overlapping-jobs", "jobs that have blocks of their own"),
    ("server-on-this-host", "the server on a machine of its own"),
    ("connection-bound", "clients that keep their connections"),
    ("unhealthy-device", "a healthy device"),
    ("fsync-implausible", "writes that must survive a power cut"),
];

/// More is not read.
const CAVEATS_MAX: usize = 3;

/// "Use it for: …; not for …", fitted to the limit, the findings and what completed writes are
/// worth. Without a full stop.
pub(super) fn sentence(case: &Case, part: &Part, limit: Limit, findings: &[&Finding]) -> String {
    if part.workers.iter().all(|job| job.did_nothing()) {
        return "use it for: nothing; nothing was measured".into();
    }
    let what = what(case, part);
    let (good, bad) = match limit {
        Limit::Device | Limit::Server => (what, None),
        Limit::Cache => (format!("{what}, answered by memory"), Some("the storage below")),
        Limit::Cpu if part.medium() == Medium::Time => (what, Some("other storage below it")),
        Limit::Cpu => {
            let good = format!("what these CPUs can drive: {what}");
            (good, Some("the most the storage can do"))
        }
        Limit::Client => {
            ("what this load generator can drive with these settings".into(), Some("the storage"))
        }
        Limit::Throttle => (format!("{what}, under this limit"), Some("the storage without it")),
        Limit::Rate => {
            (format!("the latency at this rate of {what}"), Some("the most the storage can do"))
        }
        Limit::Unknown => {
            let good = format!("comparison with the same run on this machine: {what}");
            (good, Some("a figure of the storage itself"))
        }
    };
    let mut not_for: Vec<&str> = bad.into_iter().collect();
    not_for.extend(volatile(case, part));
    not_for.extend(caveats(findings, limit));
    let mut seen = Vec::new();
    not_for.retain(|text| {
        let new = !seen.contains(text);
        seen.push(*text);
        new
    });
    not_for.truncate(CAVEATS_MAX);
    match not_for.is_empty() {
        true => format!("use it for: {good}"),
        false => format!("use it for: {good}; not for {}", not_for.join(", nor for ")),
    }
}

fn caveats(findings: &[&Finding], limit: Limit) -> Vec<&'static str> {
    let said = |id: &str| findings.iter().any(|f| f.check == id && f.severity > Severity::Note);
    let implied = |id: &str| limit == Limit::Cache && id == "served-from-cache";
    CAVEATS.iter().filter(|(id, _)| said(id) && !implied(id)).map(|(_, text)| *text).collect()
}

/// "4 KiB random reads of this filesystem (ext4) at depth 32, direct, by 4 workers".
pub(super) fn what(case: &Case, part: &Part) -> String {
    let workload = &part.first().workload;
    if part.medium() == Medium::Time {
        return format!(
            "this work on this machine{}",
            place(case, part).replacen(" of ", " and ", 1)
        );
    }
    let mut out = match part.medium() {
        Medium::Memory if workload.ioengine == "null" => {
            format!("{}{}", blocks(part), pattern(part))
        }
        Medium::Data | Medium::Objects => format!("{}{}", blocks(part), pattern(part)),
        _ => format!("{} calls", workload.ioengine),
    };
    out += &place(case, part);
    let offloads = workload.settings.contains_key("io_submit_mode");
    if workload.iodepth > 1
        && (offloads || !Engine::named(&workload.ioengine).is_some_and(Engine::blocks))
    {
        out += &format!(" at depth {}", number(f64::from(workload.iodepth)));
    } else {
        out += ", one at a time";
    }
    if !workload.files.is_empty() && part.medium() == Medium::Data {
        out += match [Direction::Read, Direction::Write].map(|way| workload.is_direct_in(way)) {
            [true, true] => ", direct",
            [true, false] => ", its reads direct",
            [false, true] => ", its writes direct",
            [false, false] => ", buffered",
        };
    }
    match part.workers.len() {
        1 => out,
        workers => out + &format!(", by {}", count(workers, "worker")),
    }
}

fn moved(part: &Part) -> Vec<Direction> {
    Direction::ALL.into_iter().filter(|direction| part.ios(*direction) > 0).collect()
}

fn blocks(part: &Part) -> String {
    let sizes: &PerDirection<(Bytes, Bytes)> = &part.first().workload.block_size;
    let mut ranges: Vec<(Bytes, Bytes)> = moved(part).into_iter().map(|d| sizes[d]).collect();
    ranges.dedup();
    match ranges.as_slice() {
        [(min, max)] if min == max => format!("{} ", whole_size(min.0)),
        [(min, max)] => format!("{} to {} ", whole_size(min.0), whole_size(max.0)),
        _ => String::new(),
    }
}

/// "4 KiB", "1 MiB", "1536 B".
fn whole_size(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} B")
}

fn pattern(part: &Part) -> String {
    let workload = &part.first().workload;
    let order = if workload.rw.contains("rand") { "random" } else { "sequential" };
    let total: u64 = moved(part).into_iter().map(|d| part.ios(d)).sum();
    let named = |direction: Direction| format!("{}s", direction.name());
    if let Some(mix) = mix(part) {
        return format!("{order} {mix}");
    }
    let kinds: Vec<String> = match moved(part).as_slice() {
        [] => vec!["synchronisations".into()],
        [one] => vec![named(*one)],
        several => several
            .iter()
            .map(|d| format!("{} ({:.0} %)", named(*d), part.ios(*d) as f64 * 100.0 / total as f64))
            .collect(),
    };
    format!("{order} {}", list(&kinds))
}

/// "GETs (45 %), HEADs (30 %) and PUTs (25 %)": requests of several kinds of which each is an I/O.
fn mix(part: &Part) -> Option<String> {
    let requests = &part.metrics.exchange.as_ref()?.requests;
    let are_ios = |one: &RequestMetrics| ["GET", "HEAD", "PUT", "DELETE"].contains(&&*one.request);
    if requests.len() < 2 || !requests.iter().all(are_ios) {
        return None;
    }
    let total: u64 = requests.iter().map(|one| one.sent).sum();
    let share = |one: &RequestMetrics| {
        format!("{}s ({:.0} %)", one.request, one.sent as f64 * 100.0 / total.max(1) as f64)
    };
    Some(list(&requests.iter().map(share).collect::<Vec<_>>()))
}

fn place(case: &Case, part: &Part) -> String {
    if part.medium() == Medium::Memory && part.first().workload.ioengine == "null" {
        return " of nothing (engine null)".into();
    }
    if let Some(asked) = &part.metrics.exchange {
        return format!(" of objects at {} ({})", asked.endpoints.join(", "), asked.protocol);
    }
    let filesystems = case.filesystems_of(part);
    match (filesystems.as_slice(), part.devices.first()) {
        ([one], _) => format!(" of this filesystem ({})", one.kind),
        ([_, ..], _) => " of these filesystems".into(),
        ([], Some(device)) => format!(" of {device}"),
        ([], None) => String::new(),
    }
}

/// What writes that were not synchronised are not worth.
fn volatile(case: &Case, part: &Part) -> Option<&'static str> {
    if part.ios(Direction::Write) == 0 || part.medium() != Medium::Data {
        return None;
    }
    let facts = &case.record.facts;
    let classes: Vec<Durability> = part.files().take(64).map(|f| durability(facts, f)).collect();
    let synced = part.workers.iter().any(|job| job.sync.count > 0)
        || part.setting("sync").is_some()
        || ["fsync", "fdatasync"].iter().any(|name| part.setting(name).is_some());
    let kept = |class: &Durability| match (synced, part.is_buffered_in(Direction::Write)) {
        (true, _) => class.keeps_synced(),
        (false, true) => Some(false),
        (false, false) => class.keeps_completed(),
    };
    classes
        .iter()
        .any(|class| kept(class) == Some(false))
        .then_some("writes that must survive a power cut")
}
