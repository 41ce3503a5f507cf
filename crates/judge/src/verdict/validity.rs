//! For what a figure is valid, in one sentence.

use super::limit::Limit;
use crate::case::{Case, Part};
use crate::durability::{Durability, durability};
use crate::finding::Finding;
use record::human::{count, counted, list, percent, size};
use record::{Bytes, Direction, Engine, Medium, PerDirection, RequestResult, Severity};

/// (check, what a figure is not valid for when the check fired). Checks that only restate a limit are
/// not listed.
const CAVEATS: &[(&str, &str)] = &[
    ("errors", "any conclusion until its errors are fixed"),
    ("never-written", "blocks that hold data"),
    ("direct-not-direct", "direct I/O"),
    ("served-from-cache", "data that is not in memory"),
    ("smaller-than-memory", "data larger than memory"),
    ("repeated-offsets", "blocks that were not just read"),
    ("compressible-data", "incompressible data"),
    ("depth-not-reached", "the requested queue depth"),
    ("not-steady", "sustained load"),
    ("too-short", "sustained load"),
    ("too-few-samples", "tail latency"),
    ("coordinated-omission", "user-visible latency (see the response latency)"),
    ("noisy-neighbour", "comparison until repeated on a quiet machine"),
    ("background-work", "comparison until repeated on a quiet machine"),
    ("cpu-starved", "latency on an idle machine"),
    ("stolen-time", "latency on an idle machine"),
    ("throttled-hot", "a cool machine"),
    ("misaligned", "aligned I/O"),
    ("overlapping-jobs", "jobs with separate blocks"),
    ("server-on-this-host", "a server on its own machine"),
    ("connection-bound", "clients that keep connections open"),
    ("unhealthy-device", "a healthy device"),
    ("fsync-implausible", "writes that must survive power loss"),
];

/// Nobody reads more.
const CAVEATS_MAX: usize = 3;

/// "valid for: …; not valid for: …", from the limit, the findings and the durability of writes. Has
/// no full stop.
pub(super) fn sentence(case: &Case, part: &Part, limit: Limit, findings: &[&Finding]) -> String {
    if part.workers.iter().all(|job| job.did_nothing()) {
        return "valid for: nothing; no I/O was measured".into();
    }
    let what = describe_workload(case, part);
    let (good, bad) = match limit {
        Limit::Device | Limit::Server | Limit::Network => (what, None),
        Limit::Neighbour => {
            (format!("{what}, beside these other programs"), Some("the storage on its own"))
        }
        Limit::Cache => {
            (format!("{what}, served from memory"), Some("the storage below the cache"))
        }
        Limit::Cpu if part.medium() == Medium::Time => (what, Some("other storage")),
        Limit::Cpu => {
            let good = format!("{what}, as fast as these CPUs allow");
            (good, Some("the maximum of the storage"))
        }
        Limit::Client => ("this load generator with these settings".into(), Some("the storage")),
        Limit::Throttle => {
            (format!("{what}, under this limit"), Some("the storage without the limit"))
        }
        Limit::Rate => {
            (format!("latency of {what} at this rate"), Some("the maximum of the storage"))
        }
        Limit::Unknown => {
            let good = format!("comparison with the same run on this machine: {what}");
            (good, Some("the storage itself"))
        }
    };
    let mut not_for: Vec<&str> = bad.into_iter().collect();
    not_for.extend(not_durable(case, part));
    not_for.extend(caveats(findings, limit));
    let mut seen = Vec::new();
    not_for.retain(|text| {
        let new = !seen.contains(text);
        seen.push(*text);
        new
    });
    not_for.truncate(CAVEATS_MAX);
    match not_for.is_empty() {
        true => format!("valid for: {good}"),
        false => format!("valid for: {good}; not valid for: {}", not_for.join(", ")),
    }
}

fn caveats(findings: &[&Finding], limit: Limit) -> Vec<&'static str> {
    let has_finding =
        |id: &str| findings.iter().any(|f| f.check == id && f.severity > Severity::Note);
    let implied = |id: &str| limit == Limit::Cache && id == "served-from-cache";
    CAVEATS
        .iter()
        .filter(|(id, _)| has_finding(id) && !implied(id))
        .map(|(_, text)| *text)
        .collect()
}

/// "4 KiB random reads on this filesystem (ext4) at depth 32, direct, by 4 workers".
pub(super) fn describe_workload(case: &Case, part: &Part) -> String {
    let workload = &part.first().workload;
    if part.medium() == Medium::Time {
        return format!(
            "this work on this machine{}",
            place(case, part).replacen(" on ", " and ", 1)
        );
    }
    let mut out = match part.medium() {
        Medium::Memory if part.has_engine(Engine::moves_nothing) => {
            format!("{}{}", blocks(part), pattern(part))
        }
        Medium::Data | Medium::Objects | Medium::Store => {
            format!("{}{}", blocks(part), pattern(part))
        }
        _ => format!("{} calls", workload.ioengine),
    };
    out += &place(case, part);
    let offloads = workload.settings.contains_key("io_submit_mode");
    if workload.iodepth > 1 && (offloads || !part.has_engine(Engine::blocks)) {
        out += &format!(" at depth {}", count(f64::from(workload.iodepth)));
    } else {
        out += " at depth 1";
    }
    if !workload.files.is_empty() && part.medium() == Medium::Data {
        out += match [Direction::Read, Direction::Write].map(|way| workload.is_direct_in(way)) {
            [true, true] => ", direct",
            [true, false] => ", reads direct",
            [false, true] => ", writes direct",
            [false, false] => ", buffered",
        };
    }
    match part.workers.len() {
        1 => out,
        workers => out + &format!(", by {}", counted(workers, "worker")),
    }
}

fn active_directions(part: &Part) -> Vec<Direction> {
    Direction::ALL.into_iter().filter(|direction| part.ios(*direction) > 0).collect()
}

fn blocks(part: &Part) -> String {
    // Requests without content have no size.
    let has_content = |one: &RequestResult| !["HEAD", "DELETE", "LIST"].contains(&&*one.request);
    let asked = part.metrics.exchange.as_ref().map(|exchange| exchange.requests.as_slice());
    if asked.is_some_and(|requests| !requests.is_empty() && !requests.iter().any(has_content)) {
        return String::new();
    }
    let sizes: &PerDirection<(Bytes, Bytes)> = &part.first().workload.block_size;
    let mut ranges: Vec<(Bytes, Bytes)> =
        active_directions(part).into_iter().map(|d| sizes[d]).collect();
    ranges.dedup();
    match ranges.as_slice() {
        [(min, max)] if min == max => format!("{} ", size(min.0 as f64)),
        [(min, max)] => format!("{} to {} ", size(min.0 as f64), size(max.0 as f64)),
        _ => String::new(),
    }
}

fn pattern(part: &Part) -> String {
    let order = match part.setting("replay_order") {
        Some(order) => order,
        None if part.is_random() => "random",
        None => "sequential",
    };
    let total = part.all_ios();
    let of_objects = part.metrics.exchange.is_some();
    let named = |direction: Direction| match direction {
        // Objects are deleted, not trimmed.
        Direction::Trim if of_objects => "deletes".to_owned(),
        _ => format!("{}s", direction.name()),
    };
    if let Some(mix) = request_mix(part) {
        return mix;
    }
    let kinds: Vec<String> = match active_directions(part).as_slice() {
        [] => vec!["synchronisations".into()],
        [one] => vec![named(*one)],
        several => several
            .iter()
            .map(|d| format!("{} ({})", named(*d), percent(part.ios(*d) as f64 / total as f64)))
            .collect(),
    };
    format!("{order} {}", list(&kinds))
}

/// "GETs (45 %), HEADs (30 %) and PUTs (25 %)": the requests of a job on an object store, if each is an
/// I/O; the parts of an upload are not.
fn request_mix(part: &Part) -> Option<String> {
    let requests = &part.metrics.exchange.as_ref()?.requests;
    let are_ios =
        |one: &RequestResult| ["GET", "HEAD", "PUT", "DELETE", "LIST"].contains(&&*one.request);
    let total: u64 = requests.iter().map(|one| one.sent).sum();
    match requests.as_slice() {
        [] => None,
        [one] => are_ios(one).then(|| format!("{}s", one.request)),
        several => several.iter().all(are_ios).then(|| {
            let share = |one: &RequestResult| {
                let share = one.sent as f64 / total.max(1) as f64;
                format!("{}s ({})", one.request, percent(share))
            };
            list(&several.iter().map(share).collect::<Vec<_>>())
        }),
    }
}

fn place(case: &Case, part: &Part) -> String {
    if part.has_engine(Engine::moves_nothing) {
        return " with engine null (no storage)".into();
    }
    if let Some(asked) = &part.metrics.exchange {
        return format!(" of objects at {} ({})", asked.endpoints.join(", "), asked.protocol);
    }
    let filesystems = case.filesystems_of(part);
    match (filesystems.as_slice(), part.devices.first()) {
        ([one], _) => format!(" on this filesystem ({})", one.kind),
        ([_, ..], _) => " on these filesystems".into(),
        ([], Some(device)) => format!(" on {device}"),
        ([], None) => String::new(),
    }
}

/// Whether completed writes may be lost.
fn not_durable(case: &Case, part: &Part) -> Option<&'static str> {
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
        .then_some("writes that must survive power loss")
}
