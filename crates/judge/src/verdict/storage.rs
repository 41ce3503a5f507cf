//! The rules about storage: the device, its neighbours, and what answers in its place.

use super::limit::{Confidence, Limit};
use super::rule::{CPU_BOUND, HALF, MOST, RuleInput, RuleOutcome};
use crate::checks::{depth_beyond_knee, never_written, noisy_neighbour};
use crate::finding::Figure;
use record::human::{list, percent, time};
use record::{DeviceFacts, Direction, Severity};

/// The same of an I/O's time: getting it to the device and back takes some of it.
const MOST_OF_IO: f64 = 0.6;
/// Others have most of the device: their share of its queue or of its traffic.
const MOSTLY_OTHERS: f64 = 2.0 / 3.0;
const CLEARLY_OTHERS: f64 = 0.85;
/// Others named in a verdict.
const NAMED: usize = 2;
/// A file without data, apart from what is at its edges.
const ALL_UNWRITTEN: f64 = 0.995;
/// Share of the time in which writers wait for written pages.
const WAITS: f64 = 0.3;
/// Share of the time in which I/Os waited above idle devices from which that counts: longer than two
/// samples of a run of some seconds.
const HELD_MIN: f64 = 0.05;
/// Share of the time that makes the storage the limit.
const STORAGE_MIN: f64 = 0.4;

/// Files that are memory.
pub(super) fn limited_by_memory_filesystem(input: &RuleInput) -> Option<RuleOutcome> {
    let filesystems = input.case.filesystems_of(input.part);
    let memory = filesystems.iter().find(|f| f.is_in_memory())?;
    Some(RuleOutcome::new(
        Limit::Cache,
        Confidence::High,
        format!("{} keeps its files in memory, not on a device", memory.kind),
        [input.cpu_figure(), input.latency_figure()],
    ))
}

/// Blocks that were never written are answered by the filesystem.
pub(super) fn limited_by_holes(input: &RuleInput) -> Option<RuleOutcome> {
    let unwritten = never_written::unwritten_share(input.case, input.part);
    let only_reads = input.part.ios(Direction::Read) == input.indicators.ios;
    // Of a sparse file, the part that the job reads may hold data all the same.
    let by_device = unwritten < ALL_UNWRITTEN
        && input.indicators.moved_by_device().is_some_and(|moved| moved >= HALF);
    (only_reads && unwritten >= MOST && !by_device).then(|| {
        RuleOutcome::new(
            Limit::Cache,
            if unwritten >= 0.95 { Confidence::High } else { Confidence::Medium },
            format!(
                "{} of the data was never written: the filesystem answers such reads with zeros \
                 from memory",
                percent(unwritten)
            ),
            [
                Figure::new("data never written", unwritten * 100.0, "percent"),
                input.latency_figure(),
            ],
        )
    })
}

/// A loop device without direct I/O, of which the device below saw little.
pub(super) fn limited_by_buffered_loop(input: &RuleInput) -> Option<RuleOutcome> {
    let name = input.case.buffered_loop_under(input.part)?;
    let moved = input.indicators.moved_by_device()?;
    (moved < HALF && input.indicators.syncing < HALF).then(|| {
        RuleOutcome::new(
            Limit::Cache,
            if moved < 0.1 { Confidence::High } else { Confidence::Medium },
            format!(
                "{name} passes I/O through the page cache of its file: the device below moved {} of \
                 the bytes",
                percent(moved)
            ),
            [
                Figure::new("bytes moved by the device below", moved * 100.0, "percent"),
                input.latency_figure(),
            ],
        )
    })
}

/// Writes that the page cache took without making the worker wait, whatever it wrote back later.
pub(super) fn limited_by_write_cache(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    let written =
        indicators.direction == Direction::Write && input.part.is_buffered_in(Direction::Write);
    if !written || input.part.setting("sync").is_some() || input.part.devices.is_empty() {
        return None;
    }
    if indicators.waiting() >= 0.3 || indicators.syncing >= 0.1 {
        return None;
    }
    let because = format!(
        "the page cache absorbed the writes: workers waited {} of the time for anything but a \
             CPU",
        percent(indicators.waiting())
    );
    let figures = [input.cpu_figure(), input.latency_figure()];
    Some(RuleOutcome::new(Limit::Cache, Confidence::Medium, because, figures))
}

/// Writers that wait until the device has written earlier pages.
pub(super) fn limited_by_writeback(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    let disks = indicators.disks.as_ref()?;
    let is_buffered =
        indicators.direction == Direction::Write && input.part.is_buffered_in(Direction::Write);
    (is_buffered && indicators.waiting() >= WAITS && disks.moved >= HALF).then(|| {
        RuleOutcome::new(
            Limit::Device,
            Confidence::Medium,
            format!(
                "writers waited {} of the time, and the device wrote {} of the bytes meanwhile: the \
                 page cache takes no more than the device writes back",
                percent(indicators.waiting()),
                percent(disks.moved.min(1.0))
            ),
            [
                Figure::new("bytes written by the device", disks.moved * 100.0, "percent"),
                Figure::new("device busy", disks.busy * 100.0, "percent"),
                input.cpu_figure(),
            ],
        )
    })
}

/// The device is where the time goes, and most of what it does is for other processes.
pub(super) fn limited_by_neighbour(input: &RuleInput) -> Option<RuleOutcome> {
    let disks = input.indicators.disks.as_ref()?;
    let finding = input.found("noisy-neighbour", Severity::Note)?;
    if disks.share() < HALF || input.indicators.wanted_cpu() >= CPU_BOUND {
        return None;
    }
    let traffic = finding.figures.iter().find(|figure| figure.unit == "percent");
    let traffic = traffic.map_or(0.0, |figure| figure.value / 100.0);
    // Readahead and writing back keep a queue of their own.
    let queue = if input.part.is_buffered() { 0.0 } else { disks.foreign_share() };
    let share = traffic.max(queue);
    if share < MOSTLY_OTHERS {
        return None;
    }
    let who = neighbours(input);
    let what = match queue >= traffic {
        true => format!("{} of the I/O in flight at the device was for {who}", percent(queue)),
        false => format!("{} of the device's traffic was for {who}", percent(traffic)),
    };
    Some(RuleOutcome::new(
        Limit::Neighbour,
        if share >= CLEARLY_OTHERS { Confidence::High } else { Confidence::Medium },
        format!("mean latency {}; {what}", time(input.indicators.latency_ns)),
        [
            Figure::new("device's traffic for others", traffic * 100.0, "percent"),
            Figure::new("I/Os in flight in the device, mean", disks.in_flight, "count"),
            Figure::new("of them of this run", disks.asked_in_flight, "count"),
        ],
    ))
}

/// "fio (process 4711) and dd (process 4712)".
fn neighbours(input: &RuleInput) -> String {
    let busiest = noisy_neighbour::processes(input.case);
    let named: Vec<String> = busiest
        .iter()
        .take(NAMED)
        .map(|other| format!("{} (process {})", other.name, other.pid))
        .collect();
    if named.is_empty() { "other programs".into() } else { list(&named) }
}

/// The workers sleep, and what they sleep for is at the device.
pub(super) fn limited_by_device(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    let disks = indicators.disks.as_ref()?;
    let at_device = disks.share();
    if at_device < STORAGE_MIN || indicators.wanted_cpu() >= CPU_BOUND && !input.polls() {
        return None;
    }
    let clear = at_device >= MOST_OF_IO
        && (indicators.wanted_cpu() <= MOST || input.polls())
        && !disks.shared;
    let what = match indicators.syncing >= HALF {
        true => format!("{} of the waiting was for fsync", percent(indicators.syncing)),
        false => format!("mean latency {}", time(indicators.latency_ns)),
    };
    let timed = if disks.timed.is_some() { ", timed in the kernel" } else { "" };
    Some(RuleOutcome::new(
        Limit::Device,
        if clear { Confidence::High } else { Confidence::Medium },
        format!(
            "{what}: {} in the device{timed}; workers used {} of a CPU",
            percent(at_device),
            percent(indicators.wanted_cpu())
        ),
        [
            Figure::new("I/O time in the device", at_device * 100.0, "percent"),
            Figure::new("I/Os in flight in the device, mean", disks.in_flight, "count"),
            input.cpu_figure(),
        ],
    ))
}

/// I/Os that wait for a place in the device's queue, which is full.
pub(super) fn limited_by_full_queue(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    let below = indicators.disks.as_ref()?;
    let disks = input.case.disks_of(input.part);
    // A worker uses the queue of the CPU that it runs on.
    let queues = u32::try_from(input.part.workers.len()).unwrap_or(u32::MAX);
    let room = depth_beyond_knee::queue_room(&disks, queues)?;
    // A worker that waits for a free request starts the next I/Os in batches, so the queue runs half empty
    // in between.
    let (used, asked) = (below.in_flight / room, indicators.in_flight / room);
    let is_full = (used >= MOST && asked > 1.0) || (used >= HALF && asked >= 2.0);
    (is_full && indicators.wanted_cpu() < CPU_BOUND).then(|| {
        let names: Vec<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
        RuleOutcome::new(
            Limit::Device,
            Confidence::Medium,
            format!(
                "the queue of {} is full: {:.1} of its {room:.0} requests were in use, while the job had \
                 {:.0} I/Os in flight",
                list(&names),
                below.in_flight,
                indicators.in_flight
            ),
            [
                Figure::new("I/Os in flight in the device, mean", below.in_flight, "count"),
                Figure::new("requests the queue holds", room, "count"),
                input.cpu_figure(),
            ],
        )
    })
}

/// I/Os that wait above idle devices, in a filesystem that is frozen or waits for its journal, as well as
/// in the devices.
pub(super) fn limited_by_filesystem(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    let disks = indicators.disks.as_ref()?;
    if disks.held < HELD_MIN || disks.share() + disks.held < STORAGE_MIN {
        return None;
    }
    (indicators.wanted_cpu() < CPU_BOUND).then(|| {
        RuleOutcome::new(
            Limit::Device,
            Confidence::Medium,
            format!(
                "mean latency {}: {} in the device; for {} of the time I/Os waited above the idle \
                 device, in the filesystem or its queue",
                time(indicators.latency_ns),
                percent(disks.share()),
                percent(disks.held)
            ),
            [
                Figure::new("I/O time in the device", disks.share() * 100.0, "percent"),
                Figure::new(
                    "time in which I/Os waited above idle devices",
                    disks.held * 100.0,
                    "percent",
                ),
                input.cpu_figure(),
            ],
        )
    })
}

/// Workers that wait for synchronisations, each of them several I/Os of the filesystem and flushes one
/// after another, while the device is busy: many of them are in flight, few at the device.
pub(super) fn limited_by_synchronisation(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    let disks = indicators.disks.as_ref()?;
    if indicators.syncing < HALF || disks.busy < HALF || indicators.wanted_cpu() >= CPU_BOUND {
        return None;
    }
    Some(RuleOutcome::new(
        Limit::Device,
        if disks.busy >= MOST { Confidence::Medium } else { Confidence::Low },
        format!(
            "{} of the waiting was for fsync, and the device was busy {} of the time",
            percent(indicators.syncing),
            percent(disks.busy)
        ),
        [
            Figure::new("waiting that was for fsync", indicators.syncing * 100.0, "percent"),
            Figure::new("device busy", disks.busy * 100.0, "percent"),
            input.cpu_figure(),
        ],
    ))
}

/// A RAM disk: the time in it is time of CPUs.
pub(super) fn limited_by_ram_disk(input: &RuleInput) -> Option<RuleOutcome> {
    let outcome = limited_by_memory_device(input)?;
    let confidence = Confidence::High;
    input.all_devices(DeviceFacts::is_ram_disk).then_some(RuleOutcome { confidence, ..outcome })
}

/// A device that is memory: CPUs do its work, in the workers or in threads of the kernel.
pub(super) fn limited_by_memory_device(input: &RuleInput) -> Option<RuleOutcome> {
    input.device_is_memory().then(|| {
        RuleOutcome::new(
            Limit::Cpu,
            Confidence::Medium,
            format!(
                "the device is memory, so CPUs do its work; workers used {} of a CPU",
                percent(input.indicators.wanted_cpu())
            ),
            [input.cpu_figure(), input.latency_figure()],
        )
    })
}
