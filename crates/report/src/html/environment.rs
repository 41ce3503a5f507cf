//! The environment of the runs: traffic of the devices, machine, job file.

use crate::judged_set::JudgedSet;
use judge::{DeviceTraffic, device_traffic};
use maud::{Markup, html};
use record::{Bytes, DeviceFacts, DeviceKind, FilesystemFacts, RunRecord, distinct, human};

/// The most messages shown.
const MESSAGES_MAX: usize = 40;

/// Everything around the first run of a judged set: of runs made together it is the same for all.
pub(super) fn section(judged_set: &JudgedSet, is_named: bool) -> Markup {
    let Some(run) = judged_set.first() else { return html! {} };
    html! {
        section class="around" {
            h2 { @if is_named { (judged_set.name) ": " } "Environment of the runs" }
            (traffic_table(&device_traffic(run)))
            h3 { "Environment" }
            (pairs(&environment(run)))
            h3 { "The job" }
            (job(run))
            (messages(run))
        }
    }
}

/// The bytes that the jobs asked of each device, and the bytes that it moved.
fn traffic_table(all: &[DeviceTraffic]) -> Markup {
    let used: Vec<&DeviceTraffic> =
        all.iter().filter(|t| t.read + t.written + t.read_asked + t.write_asked > 0).collect();
    html! {
        @if !used.is_empty() {
            h3 { "Traffic of the devices" }
            div class="table-room" tabindex="0" role="group" aria-label="Bytes of the devices" {
                table {
                    thead { tr {
                        th scope="col" { "device" }
                        th scope="col" class="number" { "jobs read" }
                        th scope="col" class="number" { "it read" }
                        th scope="col" class="number" { "jobs wrote" }
                        th scope="col" class="number" { "it wrote" }
                    } }
                    tbody {
                        @for one in used {
                            tr {
                                th scope="row" { (one.device) }
                                td class="number" { (Bytes(one.read_asked)) }
                                td class="number" { (Bytes(one.read)) (share(one.read, one.read_asked)) }
                                td class="number" { (Bytes(one.write_asked)) }
                                td class="number" {
                                    (Bytes(one.written)) (share(one.written, one.write_asked))
                                }
                            }
                        }
                    }
                }
            }
            p class="aside" {
                "Much less than the jobs asked for: memory answered. Much more: something else used the \
                 device, or a layer above it amplifies writes."
            }
        }
    }
}

fn share(moved: u64, asked: u64) -> Markup {
    html! {
        @if asked > 0 {
            span class="interval" { (format!("{:.0} %", moved as f64 * 100.0 / asked as f64)) }
        }
    }
}

fn pairs(all: &[(String, String)]) -> Markup {
    html! {
        dl class="pairs" {
            @for (what, value) in all.iter().filter(|(_, value)| !value.is_empty()) {
                dt { (what) } dd { (value) }
            }
        }
    }
}

fn environment(run: &RunRecord) -> Vec<(String, String)> {
    let (facts, around) = (&run.facts, &run.facts.environment);
    let cpus = match facts.cpu.online {
        0 => String::new(),
        online => format!("{} ({online} online)", facts.cpu.model),
    };
    let limits: Vec<String> = [
        around.cgroup.cpu_quota.map(|cpus| format!("{cpus} CPUs")),
        around.cgroup.memory_max.map(|max| format!("{max} of memory")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut all = vec![
        pair("host", &facts.hostname),
        pair("system", &around.os),
        pair("kernel", format!("{} {}", facts.kernel, facts.architecture).trim()),
        pair("processors", &cpus),
        pair("hypervisor", facts.cpu.hypervisor.as_deref().unwrap_or_default()),
        pair("frequency governor", facts.cpu.governor.as_deref().unwrap_or_default()),
        pair("memory", &if facts.memory.0 > 0 { facts.memory.to_string() } else { String::new() }),
        pair("limits of its control group", &limits.join(", ")),
    ];
    let filesystems = facts.targets.values().filter_map(|target| target.filesystem.as_ref());
    let place = |filesystem: &FilesystemFacts| {
        format!(
            "{} on {}, from {} ({}), {} of {} free",
            filesystem.kind,
            filesystem.mount_point,
            filesystem.source,
            filesystem.options.join(","),
            filesystem.free,
            filesystem.total
        )
    };
    let places = distinct(filesystems.map(place));
    all.extend(places.into_iter().map(|place| pair("filesystem", &place)));
    all.extend(facts.devices.values().map(device));
    all.push(pair("clock", &run.clock.source));
    all.push(pair("fathom", &run.fathom_version));
    all.push(pair("unknown", &facts.unknown.join("; ")));
    all
}

fn pair(what: &str, value: &str) -> (String, String) {
    (what.to_owned(), value.to_owned())
}

fn device(device: &DeviceFacts) -> (String, String) {
    let labelled = |name: &str, value: &Option<String>| {
        value.as_deref().filter(|value| !value.is_empty()).map(|value| format!("{name} {value}"))
    };
    let parts = [
        Some(kind(device)),
        device.model.clone().filter(|model| !model.is_empty()),
        labelled("firmware", &device.firmware),
        (device.size.0 > 0).then(|| device.size.to_string()),
        labelled("attached by", &device.transport),
        device.is_virtual.then(|| "virtual".to_owned()),
        labelled("scheduler", &device.scheduler),
        device.nr_requests.map(|requests| format!("queue of {requests}")),
        labelled("cache:", &device.write_cache),
        (!device.below.is_empty()).then(|| format!("on {}", device.below.join(", "))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (device.name.clone(), parts.join(", "))
}

fn kind(device: &DeviceFacts) -> String {
    match &device.kind {
        DeviceKind::Disk => "disk".into(),
        DeviceKind::Partition => "partition".into(),
        DeviceKind::DeviceMapper { name, subsystem } => {
            format!("device mapper {name} {subsystem}").trim_end().to_owned()
        }
        DeviceKind::Md { level } => format!("software RAID ({level})"),
        DeviceKind::Loop { backing_file } => format!("loop over {backing_file}"),
        DeviceKind::Zram => "compressed memory".into(),
        DeviceKind::Ram => "RAM disk".into(),
        DeviceKind::Network => "network block device".into(),
    }
}

/// The job as typed and as resolved.
fn job(run: &RunRecord) -> Markup {
    html! {
        pre class="typed" tabindex="0" { code { (run.invocation.arguments.join(" ")) } }
        @for source in &run.sources {
            details open {
                summary { "Job file " code { (source.name) } }
                pre class="typed" tabindex="0" { code { (source.text) } }
            }
        }
        @for job in run.jobs.iter().filter(|job| job.clone == 0).take(MESSAGES_MAX) {
            details {
                summary { "Job " strong { (job.name) } " as resolved" }
                @if !job.description.is_empty() { p { (job.description) } }
                (pairs(&resolved(job)))
            }
        }
    }
}

fn resolved(job: &record::JobRecord) -> Vec<(String, String)> {
    let work = &job.workload;
    let blocks = job.directions().map(|direction| {
        let (low, high) = work.block_size[direction];
        let exact = |size: Bytes| human::exact_size(size.0);
        let sizes =
            if low == high { exact(low) } else { format!("{} to {}", exact(low), exact(high)) };
        format!("{}: {sizes}", direction.name())
    });
    let seconds = |time: record::Nanos| format!("{} s", time.0 as f64 / 1e9);
    let mut all = vec![
        pair("access", &work.rw),
        pair("block size", &blocks.collect::<Vec<_>>().join(", ")),
        pair("engine", &work.ioengine),
        pair("queue depth", &work.iodepth.to_string()),
        pair("direct", if work.direct { "yes (O_DIRECT)" } else { "no (through the page cache)" }),
        pair("region", &if work.region.0 > 0 { work.region.to_string() } else { String::new() }),
        pair("runtime", &work.runtime.map(seconds).unwrap_or_default()),
        pair("ramp", &if work.ramp.0 > 0 { seconds(work.ramp) } else { String::new() }),
        pair("files", &human::list_up_to(&work.files, 4)),
    ];
    all.extend(work.settings.iter().map(|(name, value)| pair(name, value)));
    all
}

fn messages(run: &RunRecord) -> Markup {
    html! {
        @if !run.messages.is_empty() {
            details {
                summary { "Messages of the run (" (run.messages.len()) ")" }
                ul {
                    @for message in run.messages.iter().take(MESSAGES_MAX) {
                        li {
                            (crate::messages::severity(message.severity)) ": "
                            @if let Some(job) = &message.job { (job) ": " }
                            (message.text)
                        }
                    }
                }
            }
        }
    }
}
