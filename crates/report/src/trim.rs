//! The report of `fathom trim`, as text and as JSON.

use crate::compare::factor;
use crate::style::Style;
use crate::suite::parts::{failures, interruption};
use judge::compare::{Change, Comparison, JobComparison};
use judge::stats::Estimate;
use judge::{Discards, Layer, Obstacle};
use record::{Bytes, FilesystemFacts, FreeSpace, Nanos, SavedTo, Use, human};
use serde_json::{Value, json};
use suite::trim::Conclusion;

/// A trim, wanted or made.
pub struct Trim<'a> {
    /// The path that the user named.
    pub path: &'a str,
    /// The storage under it.
    pub discards: &'a Discards,
    /// The free ranges; `None` without a filesystem, or when the filesystem does not report them.
    pub free: Option<FreeSpace>,
    /// The smallest free range that is discarded.
    pub minimum: Bytes,
    /// Why it cannot be made.
    pub obstacle: Option<&'a Obstacle>,
    /// The result; `None` for a dry run.
    pub done: Option<TrimDone>,
    /// The measurements before and after it.
    pub conclusion: &'a Conclusion,
}

/// A trim that was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrimDone {
    /// Bytes discarded.
    pub bytes: Bytes,
    /// How long it took.
    pub took: Nanos,
    /// The discards that each layer received: its name, their number and bytes.
    pub sent: Vec<(String, u64, Bytes)>,
}

impl TrimDone {
    fn bytes_per_second(&self) -> f64 {
        if self.took.0 == 0 { 0.0 } else { self.bytes.0 as f64 / self.took.seconds() }
    }
}

/// As text.
pub fn text(trim: &Trim, style: &Style) -> String {
    let mut out = match (&trim.discards.filesystem, &trim.discards.device) {
        (Some(filesystem), _) => filesystem_text(trim, filesystem, style),
        (None, Some((name, bytes))) => device_text(trim, name, *bytes, style),
        (None, None) => String::new(),
    };
    out.extend(trim.discards.layers.iter().map(|layer| self::layer(layer, style)));
    for remark in trim.discards.remarks() {
        out += &style.paragraph(&remark, 2);
    }
    out.push('\n');
    out += &result(trim, style);
    if let Some(comparison) = &trim.conclusion.comparison {
        out += &style.heading("Writes before the trim (A) and after it (B)");
        out += &crate::compare::text(comparison, style);
        let lines = comparison.jobs.iter().filter_map(|job| changed_text(job, comparison));
        out.extend(lines.map(|line| style.wrap(&line, 2) + "\n"));
    }
    out += &failures(&trim.conclusion.failures, style);
    out + &interruption(trim.conclusion.interrupted_by, "the results so far are saved")
}

fn filesystem_text(trim: &Trim, filesystem: &FilesystemFacts, style: &Style) -> String {
    let heading = format!("{} at {}", filesystem.kind, filesystem.mount_point);
    let free = match trim.free {
        Some(free) => {
            let all = format!(
                "free: {} in {} ranges, the largest {}",
                free.bytes, free.ranges, free.largest
            );
            match trim.minimum.0 {
                0 => all,
                _ => format!(
                    "{all}; {} of them, {} in total, have {} or more",
                    free.ranges_enough, free.bytes_enough, trim.minimum
                ),
            }
        }
        None => format!(
            "free: {} of {}; {} does not report its free ranges",
            filesystem.unused, filesystem.total, filesystem.kind
        ),
    };
    format!("{}\n{}\n", style.bold(&style.wrap(&heading, 0)), style.wrap(&free, 2))
}

fn device_text(trim: &Trim, name: &str, bytes: Bytes, style: &Style) -> String {
    let heading = format!("{name}, {}", bytes);
    let mut out = style.bold(&heading) + "\n";
    for reason in &trim.discards.uses {
        out += &style.paragraph(&use_text(reason), 2);
    }
    out
}

/// Why a device is not free.
fn use_text(reason: &Use) -> String {
    match reason {
        Use::Mounted { device, mount_point } => format!(
            "{device} is mounted at {mount_point}: to trim its free space, use fathom trim {mount_point}"
        ),
        Use::Swap { device } => format!("{device} is used for swap"),
        Use::Partitions { names } => format!("holds partitions: {}", names.join(", ")),
        Use::Holders { names } => format!("is held by {}", names.join(", ")),
        Use::Signature { what, .. } => format!("holds {what}"),
        Use::Busy { device } => format!("{device} is open exclusively in another process"),
    }
}

fn layer(layer: &Layer, style: &Style) -> String {
    let takes = match (layer.is_reached, layer.takes(), layer.granularity.0) {
        (false, ..) => "is not reached".to_owned(),
        (true, false, _) => "does not support discards".to_owned(),
        (true, true, 0) => format!("accepts discards of up to {}", layer.most),
        (true, true, _) => {
            format!("accepts discards in units of {}, up to {} each", layer.granularity, layer.most)
        }
    };
    style.wrap(&format!("{} ({}) {takes}", layer.name, layer.what), 2) + "\n"
}

fn result(trim: &Trim, style: &Style) -> String {
    let line = match (&trim.done, trim.obstacle) {
        (Some(done), _) => return done_text(trim, done, style),
        (None, Some(obstacle)) => {
            format!("It cannot be trimmed: {}. What to do: {}.", obstacle.reason, obstacle.cure)
        }
        (None, None) if trim.conclusion.interrupted_by.is_some() => "Nothing was trimmed.".into(),
        (None, None) if !trim.conclusion.failures.is_empty() => "Nothing was trimmed.".into(),
        (None, None) if trim.discards.device.is_some() => dry_run_of_device(trim),
        (None, None) => {
            let most = trim.free.map(|free| free.bytes_enough);
            let most = most.or(trim.discards.filesystem.as_ref().map(|f| f.unused));
            let unknown = match trim.discards.is_known_to_trim() {
                true => "",
                false => " Only an attempt shows whether this filesystem supports it.",
            };
            format!(
                "Dry run: nothing was discarded. --commit would discard up to {} of free space, as \
                 fstrim does; files are not changed. It is less if parts were trimmed before and \
                 have not been used since.{unknown}",
                most.unwrap_or_default()
            )
        }
    };
    style.bold(&style.wrap(&line, 0)) + "\n"
}

/// What a commit would do to a device, and what prevents it.
fn dry_run_of_device(trim: &Trim) -> String {
    let path = trim.path;
    let gone = format!("--commit --allow-destroy={path} destroys all data on it.");
    match trim.discards.uses.iter().find_map(|reason| in_use(path, reason)) {
        Some(reason) => format!(
            "Dry run: nothing was discarded, and --commit is refused while it is in use: {reason}. \
             After that, {gone}"
        ),
        None => format!("Dry run: nothing was discarded. {gone}"),
    }
}

/// Why a device in use is never emptied, and what to do first; `None` when it holds data but is not in
/// use.
pub fn in_use(path: &str, reason: &Use) -> Option<String> {
    match reason {
        Use::Mounted { device, mount_point } => Some(format!(
            "{device} is mounted at {mount_point}: unmount it first, or trim its free space with \
             fathom trim {mount_point}"
        )),
        Use::Swap { device } => Some(format!("{device} is used for swap: run swapoff first")),
        Use::Holders { names } => {
            Some(format!("{path} is held by {}: stop that first", names.join(", ")))
        }
        Use::Busy { device } => {
            Some(format!("{device} is open exclusively in another process: stop that first"))
        }
        Use::Partitions { .. } | Use::Signature { .. } => None,
    }
}

fn done_text(trim: &Trim, done: &TrimDone, style: &Style) -> String {
    let mut line = format!("Trimmed {} ({} bytes) in {}", done.bytes, done.bytes.0, done.took);
    line += &match done.bytes.0 {
        0 => ": all free space was trimmed before and not used since, or is in ranges that are too small."
            .to_owned(),
        _ => format!(", {}.", human::rate(done.bytes_per_second())),
    };
    let mut out = style.bold(&style.wrap(&line, 0)) + "\n";
    for (name, discards, bytes) in &done.sent {
        let line = format!("{name} received {discards} discards of {} in total", *bytes);
        out += &style.paragraph(&line, 2);
    }
    if trim.discards.device.is_some() && done.bytes.0 > 0 {
        out += "  Its data is destroyed.\n";
    }
    out
}

/// "After the trim seqwrite is faster: 1.230 of the IOPS before (1.100 to 1.400)."
fn changed_text(job: &JobComparison, comparison: &Comparison) -> Option<String> {
    let iops = job.directions.first()?.metrics.iter().find(|metric| metric.name == "iops")?;
    let ratio = iops.ratio?;
    let range = ratio_text(&ratio);
    let what = match iops.change {
        Change::Faster => "is faster",
        Change::Slower => "is slower",
        Change::NoDifference => "shows no difference",
        Change::Inconclusive => "is inconclusive, with too few or too different runs to tell",
        Change::NotComparable => return None,
    };
    let assumed = if comparison.is_spread_assumed { ", by an assumed spread" } else { "" };
    Some(format!("After the trim {} {what}: {range}{assumed}.", job.name))
}

/// "1.230 of the IOPS before (1.100 to 1.400)".
fn ratio_text(ratio: &Estimate) -> String {
    let [value, low, high] = [ratio.value, ratio.low, ratio.high].map(factor);
    format!("{value} of the IOPS before ({low} to {high})")
}

/// As JSON; times in nanoseconds. `saved`: where the records of its runs are.
///
/// # Panics
/// Never: a JSON value can always be written.
pub fn json(trim: &Trim, saved: &SavedTo) -> String {
    let layers: Vec<Value> = trim.discards.layers.iter().map(layer_json).collect();
    let filesystem = trim.discards.filesystem.as_ref().map(|filesystem| {
        json!({
            "kind": filesystem.kind,
            "mount_point": filesystem.mount_point,
            "read_only": filesystem.read_only,
            "unused_bytes": filesystem.unused.0,
            "free": trim.free,
        })
    });
    let device = trim.discards.device.as_ref();
    let value = json!({
        "kind": "trim",
        "fathom_version": env!("CARGO_PKG_VERSION"),
        "record": saved.record,
        "archived_as": saved.archived_as,
        "path": trim.path,
        "dry_run": trim.done.is_none(),
        "filesystem": filesystem,
        "device": device.map(|(name, bytes)| json!({ "name": name, "size_bytes": bytes.0,
            "uses": trim.discards.uses })),
        "minimum_bytes": trim.minimum.0,
        "layers": layers,
        "remarks": trim.discards.remarks(),
        "obstacle": trim.obstacle.map(|o| json!({ "reason": o.reason, "cure": o.cure })),
        "done": trim.done.as_ref().map(done_json),
        "comparison": trim.conclusion.comparison.as_ref().map(crate::compare::value),
        "failures": trim.conclusion.failures.iter()
            .map(|failure| json!({ "cell": failure.cell, "text": failure.text }))
            .collect::<Vec<_>>(),
        "interrupted_by": trim.conclusion.interrupted_by,
    });
    format!("{value:#}\n")
}

fn layer_json(layer: &Layer) -> Value {
    json!({
        "name": layer.name,
        "what": layer.what,
        "discard_max_bytes": layer.most.0,
        "discard_granularity_bytes": layer.granularity.0,
        "is_reached": layer.is_reached,
        "cure": (!layer.cure.is_empty()).then_some(&layer.cure),
    })
}

fn done_json(done: &TrimDone) -> Value {
    let sent = done.sent.iter().map(
        |(name, discards, bytes)| json!({ "name": name, "discards": discards, "bytes": bytes.0 }),
    );
    json!({
        "trimmed_bytes": done.bytes.0,
        "took_ns": done.took.0,
        "bytes_per_second": done.bytes_per_second(),
        "sent": sent.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discards(takes: u64) -> Discards {
        Discards {
            filesystem: Some(FilesystemFacts {
                kind: "ext4".into(),
                mount_point: "/mnt".into(),
                unused: Bytes(3 << 30),
                ..FilesystemFacts::default()
            }),
            layers: vec![Layer {
                name: "sda".into(),
                what: "sata disk".into(),
                most: Bytes(takes),
                granularity: Bytes(4096),
                is_reached: true,
                cure: String::new(),
            }],
            ..Discards::default()
        }
    }

    fn trim<'a>(discards: &'a Discards, conclusion: &'a Conclusion) -> Trim<'a> {
        let free = FreeSpace {
            ranges: 8058,
            bytes: Bytes(3 << 30),
            largest: Bytes(1 << 30),
            ranges_enough: 8000,
            bytes_enough: Bytes(2 << 30),
        };
        Trim {
            path: "/mnt",
            discards,
            free: Some(free),
            minimum: Bytes(4096),
            obstacle: None,
            done: None,
            conclusion,
        }
    }

    fn flat(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_dry_run_shows_how_much_would_be_discarded() {
        let (discards, conclusion) = (discards(1 << 30), Conclusion::default());
        let trim = trim(&discards, &conclusion);
        let out = text(&trim, &Style::default());
        assert!(out.starts_with("ext4 at /mnt\n  free: 3 GiB in 8058 ranges"), "{out}");
        let said = flat(&out);
        for part in [
            "8000 of them, 2 GiB in total, have 4 KiB or more",
            "sda (sata disk) accepts discards in units of 4 KiB, up to 1 GiB each",
            "Dry run: nothing was discarded. --commit would discard up to 2 GiB of free space",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
        let value: Value = serde_json::from_str(&json(&trim, &SavedTo::default())).unwrap();
        assert_eq!((&value["dry_run"], &value["done"]), (&true.into(), &Value::Null));
        assert_eq!(value["filesystem"]["free"]["ranges"], 8058);
        assert_eq!(value["layers"][0]["discard_granularity_bytes"], 4096);
    }

    #[test]
    fn a_finished_trim_shows_bytes_time_and_rate() {
        let (discards, conclusion) = (discards(1 << 30), Conclusion::default());
        let sent = vec![("sda".to_owned(), 512, Bytes(1 << 30))];
        let done = TrimDone { bytes: Bytes(1 << 30), took: Nanos(500_000_000), sent };
        let made = Trim { done: Some(done), ..trim(&discards, &conclusion) };
        let said = flat(&text(&made, &Style::default()));
        assert!(said.contains("Trimmed 1 GiB (1073741824 bytes) in 500 ms, 2 GiB/s."), "{said}");
        assert!(said.contains("sda received 512 discards of 1 GiB in total"), "{said}");
        let value: Value = serde_json::from_str(&json(&made, &SavedTo::default())).unwrap();
        assert_eq!(value["done"]["trimmed_bytes"], 1_u64 << 30);
        assert_eq!(value["done"]["bytes_per_second"].as_f64(), Some((2_u64 << 30) as f64));
        let nothing = Trim { done: Some(TrimDone::default()), ..trim(&discards, &conclusion) };
        assert!(flat(&text(&nothing, &Style::default())).contains("was trimmed before"));
    }

    #[test]
    fn an_obstacle_is_shown_with_its_cure() {
        let (discards, conclusion) = (discards(0), Conclusion::default());
        let obstacle = Obstacle { reason: "sda takes none".into(), cure: "take another".into() };
        let refused = Trim { obstacle: Some(&obstacle), ..trim(&discards, &conclusion) };
        let said = flat(&text(&refused, &Style::default()));
        assert!(said.contains("sda (sata disk) does not support discards"), "{said}");
        assert!(said.ends_with("It cannot be trimmed: sda takes none. What to do: take another."));
    }

    #[test]
    fn a_dry_run_on_a_device_names_its_content_and_that_it_would_be_destroyed() {
        let conclusion = Conclusion::default();
        let device = Discards {
            device: Some(("sdb".into(), Bytes(1 << 30))),
            uses: vec![Use::Signature { device: "sdb".into(), what: "ext4".into(), offset: 1080 }],
            ..Discards::default()
        };
        let dry = |device: &Discards| {
            let trim = Trim { path: "/dev/sdb", free: None, ..trim(device, &conclusion) };
            flat(&text(&trim, &Style::default()))
        };
        let said = dry(&device);
        assert!(said.starts_with("sdb, 1 GiB holds ext4"), "{said}");
        assert!(said.contains("--commit --allow-destroy=/dev/sdb destroys all data"), "{said}");
        let mut mounted = device.clone();
        mounted.uses.push(Use::Mounted { device: "sdb".into(), mount_point: "/mnt".into() });
        let said = dry(&mounted);
        let first =
            "--commit is refused while it is in use: sdb is mounted at /mnt: unmount it first";
        assert!(
            said.contains(first)
                && said.contains("After that, --commit --allow-destroy=/dev/sdb destroys"),
            "{said}"
        );
    }

    #[test]
    fn changes_are_worded_as_in_comparisons() {
        let ratio = Estimate { value: 1.25, low: 1e-9, high: 973_663_856_394.05 };
        assert_eq!(ratio_text(&ratio), "1.250 of the IOPS before (<0.01 to >9999)");
    }
}
