//! What orders, holds back and bounds requests on their way to the disk.

use super::view::{View, row};
use super::words::{grouped, listed, many, size};
use super::{Mark, Row, Section};
use record::{DeviceFacts, DeviceKind};

/// Task 2: the I/O scheduler.
pub(super) fn scheduler(view: &View) -> Section {
    let rows: Vec<Row> = view.disks.iter().filter_map(|disk| scheduler_row(disk)).collect();
    let mut active: Vec<&str> =
        view.disks.iter().filter_map(|disk| disk.scheduler.as_deref()).collect();
    active.sort_unstable();
    active.dedup();
    let (means, decide) = match active[..] {
        [] => (
            "No scheduler orders I/O here: there is no queue of requests.".to_owned(),
            "Nothing to decide.".to_owned(),
        ),
        [one] => (by_name(one, view), keep(view)),
        _ => (
            format!("The disks do not agree ({}), so the slowest way decides.", listed(&active)),
            "Give all disks of the stack one scheduler before measuring.".to_owned(),
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
        "none" if spins => {
            "Requests reach a spinning disk in the order they were made: it alone \
                            can save seeks."
        }
        "none" => "Requests go to the device as they are issued, at the least cost in CPU.",
        "mq-deadline" => {
            "Requests are merged, sorted and given deadlines, reads first: writes may \
                          wait for reads."
        }
        "bfq" => "The disk is shared fairly between processes, at a price in CPU and IOPS.",
        "kyber" => {
            "Requests are held back to keep latencies at a target: depth may not reach the \
                    device."
        }
        other => return format!("{other} decides in which order requests reach the device."),
    };
    text.to_owned()
}

fn keep(view: &View) -> String {
    let Some(disk) = view.disks.iter().find(|disk| disk.schedulers.len() > 1) else {
        return "Nothing to choose; note it beside the result.".to_owned();
    };
    format!(
        "Keep it as in production and the same between runs (/sys/block/{}/queue/scheduler).",
        disk.name
    )
}

/// Task 11: how much may be under way, and what holds it back.
pub(super) fn limits(view: &View) -> Section {
    let mut rows: Vec<Row> = view.disks.iter().filter_map(|disk| queue_row(disk)).collect();
    let caps: Vec<Row> = view.stack.iter().filter_map(|device| cap_row(view, device)).collect();
    let busy: Vec<Row> = view.stack.iter().filter_map(|device| busy_row(device)).collect();
    let depth = view.disks.iter().filter_map(|disk| room(disk)).min();
    let (means, decide) = match depth {
        _ if !caps.is_empty() => (
            "The control group caps this I/O: a figure at the cap says nothing of the device."
                .to_owned(),
            "Lift the cap for the benchmark, or call the figure that of the cap.",
        ),
        _ if !busy.is_empty() => (
            format!("{} has work of its own, which shares every figure.", busy[0].label),
            "Wait until it is done, unless life under it is the question.",
        ),
        Some(depth) => (
            format!(
                "Up to {} requests are under way at once; deeper queues only wait in front of it.",
                grouped(depth)
            ),
            "Start with the depth the program has; raise it until IOPS stop growing, not further.",
        ),
        None => (
            "No queue here has a bound that can be read.".to_owned(),
            "Find the depth at which IOPS stop growing by trying.",
        ),
    };
    rows.extend(caps);
    rows.extend(busy);
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
            format!("{requests} requests in each of {}", many(queues as usize, "queue"))
        }
        _ => format!("{requests} requests in one queue"),
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
