//! I/O schedulers, throttles and queue limits on the way to the disk.

use super::section::{Mark, Row, Section};
use super::view::{View, row};
use record::human::{count, list, rate, size};
use record::{DeviceFacts, DeviceKind};

/// Task 2: the I/O scheduler.
pub(super) fn scheduler(view: &View) -> Section {
    let rows: Vec<Row> = view.disks.iter().filter_map(|disk| scheduler_row(disk)).collect();
    let mut active: Vec<&str> =
        view.disks.iter().filter_map(|disk| disk.scheduler.as_deref()).collect();
    active.sort_unstable();
    active.dedup();
    let (means, decide) = match active[..] {
        [] => ("No scheduler orders I/O here.".to_owned(), "Nothing to decide.".to_owned()),
        [one] => (describe_scheduler(one, view), keep(view)),
        _ => (
            format!("The disks differ ({}): the slowest one decides.", list(&active)),
            "Set one scheduler for all disks of the stack first.".to_owned(),
        ),
    };
    let rows = match rows.is_empty() {
        true => vec![row("scheduler", "none on this path", Mark::Ok)],
        false => rows,
    };
    Section::new((2, "scheduler", "Scheduler"), rows, means, decide)
}

fn scheduler_row(disk: &DeviceFacts) -> Option<Row> {
    let active = disk.scheduler.as_deref()?;
    let others: Vec<&str> =
        disk.schedulers.iter().map(String::as_str).filter(|name| *name != active).collect();
    let value = match others.is_empty() {
        true => format!("{active}, no alternative"),
        false => format!("{active}; available: {}", others.join(", ")),
    };
    let spins = disk.rotational == Some(true) && !disk.is_virtual;
    let odd = (active == "bfq" && !spins) || (active == "none" && spins);
    Some(row(disk.name.clone(), value, if odd { Mark::Look } else { Mark::Ok }))
}

fn describe_scheduler(name: &str, view: &View) -> String {
    let spins = view.any(|disk| disk.rotational == Some(true) && !disk.is_virtual);
    let text = match name {
        "none" if spins => "Requests are not sorted: only the disk itself can reduce seeks.",
        "none" => "Requests go to the device as they arrive, at the least CPU cost.",
        "mq-deadline" => "Requests are sorted and have deadlines; reads go first.",
        "bfq" => "Processes share the disk fairly, at a cost in CPU and IOPS.",
        "kyber" => "Requests are held back to limit latency: the disk may see less depth.",
        other => return format!("{other} decides in which order requests go out."),
    };
    text.to_owned()
}

fn keep(view: &View) -> String {
    let text = match view.any(|disk| disk.schedulers.len() > 1) {
        true => "Use production's scheduler, the same in all runs.",
        false => "There is no choice; note it with the result.",
    };
    text.to_owned()
}

/// Task 11: how much may be under way, and what holds it back.
pub(super) fn limits(view: &View) -> Section {
    let mut rows: Vec<Row> = view.disks.iter().filter_map(|disk| queue_row(disk)).collect();
    let caps: Vec<Row> = view.stack.iter().filter_map(|device| cap_row(view, device)).collect();
    let busy: Vec<Row> = view.stack.iter().filter_map(|device| busy_row(device)).collect();
    let depth = view.disks.iter().filter_map(|disk| Some((room(disk)?, &disk.name))).min();
    let (means, decide) = match depth {
        _ if !caps.is_empty() => (
            "A control group caps this: figures show the cap, not the disk.".to_owned(),
            "Lift the cap, or report the figure as the cap's.",
        ),
        _ if !busy.is_empty() => (
            format!("{} does background work, which affects every figure.", busy[0].label),
            "Wait until it is done.",
        ),
        Some((depth, disk)) => (
            format!("At most {} requests are in flight in {disk}; others wait.", depth),
            "Use the program's depth, but not beyond where IOPS stop growing.",
        ),
        None => (
            "No queue limit is known here.".to_owned(),
            "Find the depth at which IOPS stop growing (fathom knee).",
        ),
    };
    rows.extend(caps);
    rows.extend(busy);
    if rows.is_empty() {
        rows.push(row("queue", "none visible", Mark::Ok));
    }
    let decide = decide.to_owned();
    Section::new((11, "queue", "Queue"), rows, means, decide)
}

/// Requests the queues of a disk hold together.
fn room(disk: &DeviceFacts) -> Option<u64> {
    Some(disk.nr_requests? * u64::from(disk.hardware_queues.unwrap_or(1)))
}

fn queue_row(disk: &DeviceFacts) -> Option<Row> {
    let requests = disk.nr_requests?;
    let mut value = match disk.hardware_queues {
        Some(queues) if queues > 1 => {
            format!("{} requests in each of {queues} queues", requests)
        }
        _ => format!("{} requests in one queue", requests),
    };
    if disk.max_request.0 > 0 {
        value += &format!(", up to {} each", size(disk.max_request.0 as f64));
    }
    // USB bridges without UAS and some emulated controllers take one or two at a time.
    let shallow = room(disk).is_some_and(|room| room < 32);
    Some(row(disk.name.clone(), value, if shallow { Mark::Look } else { Mark::Ok }))
}

fn cap_row(view: &View, device: &DeviceFacts) -> Option<Row> {
    if device.kind == DeviceKind::Partition {
        return None;
    }
    let caps = view.facts.environment.cgroup.io_max.get(&device.dev)?;
    let text = |(name, limit): (&String, &u64)| match name.as_str() {
        "rbps" => format!("reads {}", rate(*limit as f64)),
        "wbps" => format!("writes {}", rate(*limit as f64)),
        "riops" => format!("{} reads/s", count(*limit as f64)),
        "wiops" => format!("{} writes/s", count(*limit as f64)),
        other => format!("{other} {limit}"),
    };
    let caps: Vec<String> = caps.iter().map(text).collect();
    Some(row(&*device.name, format!("capped at {}", caps.join(", ")), Mark::Problem))
}

fn busy_row(device: &DeviceFacts) -> Option<Row> {
    Some(row(&*device.name, format!("busy with {}", device.activity.as_ref()?), Mark::Problem))
}
