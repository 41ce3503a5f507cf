//! The health that disks report (heat, wear, errors), and preconditioning.

use super::section::{Mark, Row, Section};
use super::view::{View, has_health, row};
use record::human::size;
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
        rows.push(row("health", "no disk here", Mark::Ok));
    }
    let worst = rows.iter().map(|row| row.mark).max().unwrap_or_default();
    let known = view.disks.iter().any(|disk| disk.health.is_some());
    let (means, decide) = match (known, worst) {
        (true, Mark::Problem) => (
            "A disk with health warnings may slow down, retry or fail.",
            "Save its data and measure another disk.",
        ),
        (true, Mark::Look) => (
            "Hot disks throttle during a run; worn disks write unevenly.",
            "Cool it and watch its temperature during a long run.",
        ),
        (true, Mark::Ok) => (
            "The disk reports no health problem.",
            "Check again after a long run: load heats the disk.",
        ),
        (false, _) if view.any(has_health) => (
            "Heat and wear do not show here: they would look like a slow disk.",
            match view.facts.environment.is_root {
                false => "Read its health as root before you believe a slow result.",
                true => "Ask its controller or vendor before you believe a slow result.",
            },
        ),
        (false, _) if view.disks.is_empty() || view.any(DeviceFacts::is_memory) => {
            ("No medium here can be hot or worn.", "Nothing to decide.")
        }
        (false, _) => (
            "The real disk is hidden: heat or wear may be what slows it.",
            "Ask its operator when results change without a reason here.",
        ),
    };
    Section::new((6, "health", "Health"), rows, means, decide)
}

fn silence(view: &View, disk: &DeviceFacts) -> &'static str {
    match () {
        () if !has_health(disk) => "no health data: not a real disk",
        () if !view.facts.environment.is_root => "not read: needs root",
        () => "reports no health data",
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
    rows.extend(commands(health));
    rows
}

/// The optional commands of an NVMe disk.
fn commands(health: &Health) -> Option<Row> {
    let commands = health.optional_commands.as_ref()?;
    let text = if commands.is_empty() { "none".to_owned() } else { commands.join(", ") };
    Some(row("commands", text, Mark::Ok))
}

fn verdict(name: &str, health: &Health) -> Row {
    let failing = health.passed == Some(false) || !health.warnings.is_empty();
    let value = match (health.passed, health.warnings.is_empty()) {
        (Some(true), true) => "reports that it is healthy".to_owned(),
        (Some(false), true) => "predicts failure".to_owned(),
        (None, true) => "no warnings".to_owned(),
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
        text += &format!(", throttled by heat {} times so far", count);
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
        rows.push(row("firmware", "unknown", Mark::Ok));
    }
    let means = match () {
        () if failing => "Medium errors cause retries: rare, very slow I/Os.",
        () if looked => "No medium error explains a slow I/O so far.",
        () if has_firmware => "The same model with other firmware may perform differently.",
        () => "The disk below may change unnoticed.",
    };
    let decide = match () {
        () if failing => "Stop: save the data, replace the disk, test again.",
        () if has_firmware || looked => "Note the version with the result; records keep it.",
        () => "Repeat an old run before comparing with its result.",
    };
    Section::new((12, "errors", "Firmware"), rows, means, decide)
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
        rows.push(row(name, format!("{} media errors", errors), mark));
    }
    if let Some(entries) = health.error_log_entries {
        let mark = if entries > 0 { Mark::Look } else { Mark::Ok };
        rows.push(row(name, format!("{} entries in its error log", entries), mark));
    }
    rows
}

/// Task 13: the state to measure in.
pub(super) fn state(view: &View) -> Section {
    let spins = view.any(|disk| disk.rotational == Some(true) && !disk.is_virtual);
    let flash = view.any(|disk| disk.rotational == Some(false) && !disk.is_virtual);
    let hosted = view.any(|disk| disk.is_virtual && !disk.is_memory());
    let (medium, means, decide) = match () {
        () if view.disks.is_empty() || view.any(DeviceFacts::is_memory) => (
            "no medium",
            "No medium here changes its state under writes.",
            "Nothing to precondition.",
        ),
        () if hosted => (
            "virtual",
            "Reads of unwritten blocks may skip the medium; bursts may end.",
            "Write data before reading it; only long writes are sustained.",
        ),
        () if flash => (
            "flash",
            "Empty flash writes faster than full flash.",
            "Run fathom precondition first, or report a burst figure.",
        ),
        () if spins => (
            "spinning",
            "The first blocks are up to twice as fast as the last.",
            "Test the whole disk, or say which part was tested.",
        ),
        () => (
            "unknown",
            "The medium is unknown, and so is its behaviour under writes.",
            "Run long enough to see whether writes slow down.",
        ),
    };
    let bytes: u64 = view.disks.iter().map(|disk| disk.size.0).sum();
    let mut rows = vec![row("medium", medium, Mark::Ok)];
    if bytes > 0 {
        let mark = if flash && !hosted { Mark::Look } else { Mark::Ok };
        rows.push(row("to fill", size(bytes as f64), mark));
    }
    Section::new((13, "state", "State"), rows, means, decide)
}
