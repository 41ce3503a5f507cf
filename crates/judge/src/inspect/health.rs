//! What disks say of themselves: heat, wear, errors; and what they must be brought to before.

use super::view::{View, has_health, is_memory, row};
use super::words::{grouped, size};
use super::{Mark, Row, Section};
use record::{DeviceFacts, Health};

/// Degrees below the disk's own limit from which a run is likely to reach it.
const NEAR_C: i32 = 8;

/// Where a disk names no limit: that of most consumer SSDs is 70 °C and above.
const WARM_C: i32 = 62;

/// Percent of its endurance from which a disk may behave as a worn one.
const WORN: u32 = 80;

/// Task 6: health, temperature, wear.
pub(super) fn temperature(view: &View) -> Section {
    let mut rows = Vec::new();
    for disk in &view.disks {
        match &disk.health {
            Some(health) => rows.extend(health_rows(&disk.name, health)),
            None => rows.push(row(disk.name.clone(), silence(view, disk), silent_mark(disk))),
        }
    }
    if rows.is_empty() {
        rows.push(row("health", "no disk here to ask", Mark::Ok));
    }
    let worst = rows.iter().map(|row| row.mark).max().unwrap_or_default();
    let known = view.disks.iter().any(|disk| disk.health.is_some());
    let (means, decide) = match (known, worst) {
        (true, Mark::Problem) => (
            "A disk that warns of itself may slow down, retry or fail.",
            "Save what is on it, and measure another.",
        ),
        (true, Mark::Look) => (
            "Hot disks slow themselves down mid-run; worn ones write unevenly.",
            "Cool it, and watch the temperature through a long run.",
        ),
        (true, Mark::Ok) => (
            "Nothing in the disk's own account speaks against a run.",
            "Look again after a long one: heat comes with load.",
        ),
        (false, _) if view.any(has_health) => (
            "A hot or worn disk would not show here, but seem a slow one.",
            match view.facts.environment.is_root {
                false => "Ask it as root before a slow result is believed.",
                true => "Ask its controller or maker before a slow result is believed.",
            },
        ),
        (false, _) if view.disks.is_empty() || view.any(is_memory) => {
            ("There is no medium here that could be hot or worn.", "Nothing to decide.")
        }
        (false, _) => (
            "The real disk is out of sight: its heat or wear seems slowness.",
            "Ask whoever runs it when results change without a reason here.",
        ),
    };
    Section {
        number: 6,
        id: "health",
        title: "Health",
        rows,
        means: means.to_owned(),
        decide: decide.to_owned(),
    }
}

fn silence(view: &View, disk: &DeviceFacts) -> &'static str {
    match () {
        () if !has_health(disk) => "tells no health, being no real disk",
        () if !view.facts.environment.is_root => "not read: needs root",
        () => "tells no health",
    }
}

fn silent_mark(disk: &DeviceFacts) -> Mark {
    if has_health(disk) { Mark::Look } else { Mark::Ok }
}

fn health_rows(name: &str, health: &Health) -> Vec<Row> {
    let mut rows = vec![verdict(name, health)];
    if let Some(degrees) = health.temperature_c {
        rows.push(row("temperature", heat(degrees, health), heat_mark(degrees, health)));
    }
    if let Some(used) = health.used_percent {
        let mark = if used >= WORN { Mark::Look } else { Mark::Ok };
        rows.push(row("wear", format!("{used} % of its endurance used"), mark));
    }
    if let Some(spare) = health.spare_percent {
        // The threshold is the least that is still well (NVMe: "below the threshold").
        let low = health.spare_threshold_percent.is_some_and(|least| spare < least);
        let mark = if low { Mark::Problem } else { Mark::Ok };
        rows.push(row("spare", format!("{spare} % left"), mark));
    }
    rows
}

fn verdict(name: &str, health: &Health) -> Row {
    let failing = health.passed == Some(false) || !health.warnings.is_empty();
    let value = match (health.passed, health.warnings.is_empty()) {
        (Some(true), true) => "says it is well".to_owned(),
        (Some(false), true) => "predicts its failure".to_owned(),
        (None, true) => "warns of nothing".to_owned(),
        (_, false) => format!("warns: {}", health.warnings.join(", ")),
    };
    row(name, value, if failing { Mark::Problem } else { Mark::Ok })
}

fn heat(degrees: i32, health: &Health) -> String {
    let throttled = health.throttle_count.filter(|count| *count > 0);
    let mut text = format!("{degrees} °C");
    if let Some(limit) = health.temperature_warning_c {
        text += &format!(", warns at {limit} °C");
    }
    if let Some(count) = throttled {
        text += &format!(", slowed down by heat {} times so far", grouped(count));
    }
    text
}

fn heat_mark(degrees: i32, health: &Health) -> Mark {
    let limit = health.temperature_warning_c;
    match limit {
        Some(limit) if degrees >= limit => Mark::Problem,
        Some(limit) if degrees >= limit - NEAR_C => Mark::Look,
        None if degrees >= WARM_C => Mark::Look,
        _ => Mark::Ok,
    }
}

/// Task 12: firmware and error log.
pub(super) fn errors(view: &View) -> Section {
    let mut rows = Vec::new();
    for disk in &view.disks {
        rows.extend(firmware_row(disk));
        rows.extend(disk.health.iter().flat_map(|health| error_rows(&disk.name, health)));
    }
    let looked = view.disks.iter().any(|disk| {
        disk.health.as_ref().is_some_and(|h| h.media_errors.or(h.error_log_entries).is_some())
    });
    let failing = rows.iter().any(|row: &Row| row.mark == Mark::Problem);
    let has_firmware = view.any(|disk| disk.firmware.is_some());
    if rows.is_empty() {
        rows.push(row("firmware", "not told", Mark::Ok));
    }
    let means = match () {
        () if failing => "Errors of the medium cost retries: rare, very long I/Os.",
        () if looked => "No error of the medium is behind a slow I/O so far.",
        () if has_firmware => "One model with different firmware is two different disks.",
        () => "The disk below may change without a trace here.",
    };
    let decide = match () {
        () if failing => "Stop: save the data, replace the disk, test again.",
        () if has_firmware || looked => "Keep the version with the result; records do.",
        () => "Repeat an old run before comparing with its result.",
    };
    Section {
        number: 12,
        id: "errors",
        title: "Firmware",
        rows,
        means: means.to_owned(),
        decide: decide.to_owned(),
    }
}

fn firmware_row(disk: &DeviceFacts) -> Option<Row> {
    let firmware = disk.firmware.iter().map(|firmware| format!("firmware {firmware}"));
    let serial = disk.serial.iter().map(|serial| format!("serial number {serial}"));
    let words: Vec<String> = firmware.chain(serial).collect();
    (!words.is_empty()).then(|| row(disk.name.clone(), words.join(", "), Mark::Ok))
}

fn error_rows(name: &str, health: &Health) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(errors) = health.media_errors {
        let mark = if errors > 0 { Mark::Problem } else { Mark::Ok };
        rows.push(row(name, format!("{} media errors", grouped(errors)), mark));
    }
    if let Some(entries) = health.error_log_entries {
        let mark = if entries > 0 { Mark::Look } else { Mark::Ok };
        rows.push(row(name, format!("{} entries ever in its error log", grouped(entries)), mark));
    }
    rows
}

/// Task 13: the state to measure in.
pub(super) fn state(view: &View) -> Section {
    let spins = view.any(|disk| disk.rotational == Some(true) && !disk.is_virtual);
    let flash = view.any(|disk| disk.rotational == Some(false) && !disk.is_virtual);
    let hosted = view.any(|disk| disk.is_virtual && !is_memory(disk));
    let (medium, means, decide) = match () {
        () if view.disks.is_empty() || view.any(is_memory) => (
            "no medium",
            "There is no medium whose state could change under writes.",
            "Nothing to precondition.",
        ),
        () if hosted => (
            "virtual",
            "Unwritten blocks may be answered by nobody; bursts may end.",
            "Fill what will be read; call only long writes sustained.",
        ),
        () if flash => (
            "flash",
            "Empty flash writes faster than it ever will when full.",
            "Run fathom precondition first, or call the figure a burst.",
        ),
        () if spins => (
            "spinning",
            "The first blocks are up to twice as fast as the last.",
            "Spread the test over all of it, or say which part it used.",
        ),
        () => (
            "not told",
            "The medium is not known, nor how it changes under writes.",
            "Run long enough to see whether writes slow down.",
        ),
    };
    let bytes: u64 = view.disks.iter().map(|disk| disk.size.0).sum();
    let mut rows = vec![row("medium", medium, Mark::Ok)];
    if bytes > 0 {
        let mark = if flash && !hosted { Mark::Look } else { Mark::Ok };
        rows.push(row("to fill", size(bytes), mark));
    }
    Section {
        number: 13,
        id: "state",
        title: "State",
        rows,
        means: means.to_owned(),
        decide: decide.to_owned(),
    }
}
