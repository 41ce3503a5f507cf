//! What orders, holds back and bounds requests on their way to the disk.

use super::view::{View, row};
use super::words::{grouped, size};
use super::{Mark, Row, Section};
use crate::checks::words::list;
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
        [one] => (by_name(one, view), keep(view)),
        _ => (
            format!("The disks do not agree ({}): the slowest decides.", list(&active)),
            "Give all disks of the stack one scheduler first.".to_owned(),
        ),
    };
    let rows = match rows.is_empty() {
        true => vec![row("scheduler", "none on this path", Mark::Ok)],
        false => rows,
    };
    Section { number: 2, id: "scheduler", title: "Scheduler", rows, means, decide }
}

fn scheduler_row(disk: &DeviceFacts) -> Option<Row> {
    let active = disk.scheduler.as_deref()?;
    let others: Vec<&str> =
        disk.schedulers.iter().map(String::as_str).filter(|name| *name != active).collect();
    let value = match others.is_empty() {
        true => format!("{active}, no other to choose"),
        false => format!("{active}; could be {}", others.join(", ")),
    };
    let spins = disk.rotational == Some(true) && !disk.is_virtual;
    let odd = (active == "bfq" && !spins) || (active == "none" && spins);
    Some(row(disk.name.clone(), value, if odd { Mark::Look } else { Mark::Ok }))
}

fn by_name(name: &str, view: &View) -> String {
    let spins = view.any(|disk| disk.rotational == Some(true) && !disk.is_virtual);
    let text = match name {
        "none" if spins => "Requests go out unsorted: only the disk itself can save seeks.",
        "none" => "Requests go to the device as they come, at the least cost in CPU.",
        "mq-deadline" => "Requests are sorted and get deadlines; writes wait for reads.",
        "bfq" => "Processes share the disk fairly, at a price in CPU and IOPS.",
        "kyber" => "Requests are held back for latency: depth may not reach the disk.",
        other => return format!("{other} decides in which order requests go out."),
    };
    text.to_owned()
}

fn keep(view: &View) -> String {
    let text = match view.any(|disk| disk.schedulers.len() > 1) {
        true => "Keep it as in production, and the same between runs.",
        false => "Nothing to choose; note it with the result.",
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
            "A control group caps this: figures at the cap say nothing of disks.".to_owned(),
            "Lift the cap, or call the figure that of the cap.",
        ),
        _ if !busy.is_empty() => (
            format!("{} has work of its own, which is part of every figure.", busy[0].label),
            "Wait until it is done, unless that is the question.",
        ),
        Some((depth, disk)) => (
            format!(
                "No more than {} requests are under way in {disk}; others wait.",
                grouped(depth)
            ),
            "Use the program's depth; go no deeper than IOPS still grow.",
        ),
        None => (
            "No queue here has a bound that can be read.".to_owned(),
            "Try at which depth IOPS stop growing.",
        ),
    };
    rows.extend(caps);
    rows.extend(busy);
    if rows.is_empty() {
        rows.push(row("queue", "none that can be seen", Mark::Ok));
    }
    let decide = decide.to_owned();
    Section { number: 11, id: "queue", title: "Queue", rows, means, decide }
}

/// Requests the queues of a disk hold together.
fn room(disk: &DeviceFacts) -> Option<u64> {
    Some(disk.nr_requests? * u64::from(disk.hardware_queues.unwrap_or(1)))
}

fn queue_row(disk: &DeviceFacts) -> Option<Row> {
    let requests = disk.nr_requests?;
    let mut value = match disk.hardware_queues {
        Some(queues) if queues > 1 => {
            format!("{} requests in each of {queues} queues", grouped(requests))
        }
        _ => format!("{} requests in one queue", grouped(requests)),
    };
    if disk.max_request.0 > 0 {
        value += &format!(", up to {} each", size(disk.max_request.0));
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
        "rbps" => format!("reads {}/s", size(*limit)),
        "wbps" => format!("writes {}/s", size(*limit)),
        "riops" => format!("{} reads/s", grouped(*limit)),
        "wiops" => format!("{} writes/s", grouped(*limit)),
        other => format!("{other} {limit}"),
    };
    let caps: Vec<String> = caps.iter().map(text).collect();
    Some(row(&*device.name, format!("capped at {}", caps.join(", ")), Mark::Problem))
}

fn busy_row(device: &DeviceFacts) -> Option<Row> {
    Some(row(&*device.name, format!("busy with {}", device.activity.as_ref()?), Mark::Problem))
}
