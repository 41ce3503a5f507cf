//! Which device is under the path, and its blocks.

use super::section::{Mark, Row, Section};
use super::view::{View, is_remote, row};
use record::human::{list, size};
use record::{DeviceFacts, DeviceKind, TargetKind, Use};

/// Task 1: the measured device.
pub(super) fn device(view: &View) -> Section {
    let mut rows = vec![row("path", describe_path(view), Mark::Ok)];
    for device in &view.stack {
        rows.push(row(device.name.clone(), describe_device(device), device_mark(device)));
    }
    if view.stack.is_empty() {
        rows.push(row("device", "none is visible below it", Mark::Look));
    }
    if !view.target.uses.is_empty() {
        rows.push(row("in use", uses(&view.target.uses), Mark::Look));
    }
    Section::new((1, "device", "Device"), rows, meaning(view), decision(view))
}

fn describe_path(view: &View) -> String {
    let kind = match view.target.kind {
        TargetKind::Missing => "does not exist yet",
        TargetKind::File => "a file",
        TargetKind::Directory => "a directory",
        TargetKind::Block => "a block device",
        TargetKind::Char => "a character device",
        TargetKind::Fifo => "a pipe",
        TargetKind::Other => "not a file",
    };
    let path = &view.target.canonical;
    match view.filesystem() {
        Some(filesystem) => format!("{path}, {kind} on {}", filesystem.kind),
        None => format!("{path}, {kind}"),
    }
}

/// "Samsung SSD 980, 931.5 GiB, nvme, does not spin".
fn describe_device(device: &DeviceFacts) -> String {
    let mut words = vec![match &device.kind {
        DeviceKind::Disk => device.model.clone().unwrap_or_else(|| "disk".to_owned()),
        DeviceKind::Partition => "partition".to_owned(),
        DeviceKind::DeviceMapper { name, subsystem } => match subsystem.as_str() {
            "LVM" => format!("LVM volume {name}"),
            "CRYPT" => format!("dm-crypt {name}"),
            "" => format!("device mapper {name}"),
            other => format!("device mapper {name} ({other})"),
        },
        DeviceKind::Md { level } => format!("software {level}"),
        DeviceKind::Loop { backing_file } => format!("loop over {backing_file}"),
        DeviceKind::Zram => "compressed memory".to_owned(),
        DeviceKind::Ram => "RAM disk".to_owned(),
        DeviceKind::Network => "network block device".to_owned(),
    }];
    words.push(size(device.size.0 as f64));
    if device.kind == DeviceKind::Disk {
        words.extend(device.transport.clone());
        if device.is_virtual {
            words.push("virtual".to_owned());
        }
        // Hypervisors let their disks claim to spin.
        let spins = device.rotational.filter(|_| !device.is_virtual);
        words.extend(spins.map(|yes| if yes { "spins" } else { "SSD" }.to_owned()));
    }
    words.join(", ")
}

fn device_mark(device: &DeviceFacts) -> Mark {
    match () {
        () if device.is_memory() => Mark::Problem,
        () if matches!(device.kind, DeviceKind::Loop { .. }) || is_remote(device) => Mark::Look,
        () if device.kind == DeviceKind::Disk && device.is_virtual => Mark::Look,
        () => Mark::Ok,
    }
}

fn uses(uses: &[Use]) -> String {
    let text = |used: &Use| match used {
        Use::Mounted { device, mount_point } => format!("{device} is mounted at {mount_point}"),
        Use::Swap { device } => format!("{device} is swap"),
        Use::Partitions { names } => format!("has partitions {}", list(names)),
        Use::Holders { names } => format!("used by {}", list(names)),
        Use::Signature { what, .. } => format!("holds a signature of {what}"),
        Use::Busy { .. } => "opened exclusively".to_owned(),
    };
    uses.iter().map(text).collect::<Vec<_>>().join("; ")
}

fn meaning(view: &View) -> String {
    if view.stack.is_empty() {
        return without_device(view);
    }
    let disks = view.disk_names();
    if view.any(DeviceFacts::is_memory) {
        return format!("{disks} is memory: figures show the CPU and memory.");
    }
    if let Some(device) =
        view.stack.iter().find(|device| matches!(device.kind, DeviceKind::Loop { .. }))
    {
        return format!(
            "I/O to {} becomes file I/O: figures include both and a cache.",
            device.name
        );
    }
    let layers = layers(view);
    let through = if layers.is_empty() { String::new() } else { format!(" and {}", list(&layers)) };
    if view.any(is_remote) {
        let remote = view.disks.iter().filter(|disk| is_remote(disk));
        let remote: Vec<&str> = remote.map(|disk| disk.name.as_str()).collect();
        let remote = list(&remote);
        return format!("Figures include the network path to {remote}{through}.");
    }
    if view.any(|disk| disk.is_virtual) {
        return format!("Figures include the hypervisor's caches, limits and neighbours{through}.");
    }
    let above = view.filesystem().map(|f| f.kind.clone());
    let above: Vec<String> = above.into_iter().chain(layers).collect();
    match above.is_empty() {
        true => format!("I/O goes straight to {disks}, with no filesystem in between."),
        false => format!("Figures show {disks} through {}.", list(&above)),
    }
}

/// What stands between the path and its disks, without partitions.
fn layers(view: &View) -> Vec<String> {
    let name = |device: &&DeviceFacts| match &device.kind {
        DeviceKind::DeviceMapper { subsystem, .. } => Some(match subsystem.as_str() {
            "LVM" => "LVM".to_owned(),
            "CRYPT" => "encryption".to_owned(),
            _ => format!("device mapper ({})", device.name),
        }),
        DeviceKind::Md { level } => Some(format!("software {level}")),
        _ => None,
    };
    view.stack.iter().filter_map(name).collect()
}

fn without_device(view: &View) -> String {
    let Some(filesystem) = view.filesystem() else {
        return "There is no storage behind this path.".to_owned();
    };
    match filesystem.kind.as_str() {
        "tmpfs" | "ramfs" | "devtmpfs" => {
            format!("{} is memory: figures from here say nothing about a disk.", filesystem.kind)
        }
        "overlay" => "A container's filesystem: the device below is not visible.".to_owned(),
        kind => {
            format!("{kind} from {}: no device here can confirm its figures.", filesystem.source)
        }
    }
}

fn decision(view: &View) -> String {
    if view.stack.is_empty() || view.any(DeviceFacts::is_memory) {
        return "Choose a path on the disk in question.".to_owned();
    }
    if view.is_device() {
        return match view.target.uses.is_empty() {
            true => "Test the device to compare devices, files to predict programs.".to_owned(),
            false => "Only read it: writing would destroy its data.".to_owned(),
        };
    }
    let disk = view.disks.first().map_or("", |disk| disk.name.as_str());
    format!("Test files here for programs, /dev/{disk} (reads) for the device.")
}

/// A partition should begin at a multiple of this, which every known medium divides.
const GOOD_START: u64 = 1 << 20;

/// Task 3: blocks and alignment.
pub(super) fn blocks(view: &View) -> Section {
    let mut rows: Vec<Row> = view.disks.iter().map(|disk| block_row(disk)).collect();
    rows.extend(view.stack.iter().filter_map(|device| start_row(view, device)));
    rows.extend(view.stack.iter().filter_map(|device| stripe_row(device)));
    rows.extend(view.stack.iter().filter_map(|device| offset_row(device)));
    let filesystem = view.filesystem().filter(|f| !f.devices.is_empty() && f.block_size.0 > 0);
    rows.extend(filesystem.map(|f| row("filesystem", size(f.block_size.0 as f64), Mark::Ok)));
    let mark = rows.iter().map(|row| row.mark).max().unwrap_or_default();
    let block = unit(view);
    let (means, decide) = match mark {
        _ if rows.is_empty() => (
            "No block size applies here.".to_owned(),
            "Use the block size of the program you model.".to_owned(),
        ),
        Mark::Problem => (
            "Each write that looks aligned touches two blocks.".to_owned(),
            "Align it first: start partitions at multiples of 1 MiB.".to_owned(),
        ),
        Mark::Look if view.any(|disk| disk.physical_block > disk.logical_block) => (
            format!("Writes that are not multiples of {} cost an extra read.", size(block as f64)),
            format!("Use bs and offsets in multiples of {}.", size(block as f64)),
        ),
        _ if block == 0 => (
            "The physical block size is unknown.".to_owned(),
            "Use the block size of the program you model.".to_owned(),
        ),
        _ => (
            format!("I/O in multiples of {} is aligned at every level.", size(block as f64)),
            "Use the block size of the program you model.".to_owned(),
        ),
    };
    if rows.is_empty() {
        rows.push(row("blocks", "none visible", Mark::Ok));
    }
    Section::new((3, "blocks", "Blocks"), rows, means, decide)
}

/// The largest block of any level that must be written whole.
fn unit(view: &View) -> u64 {
    let physical = view.disks.iter().map(|disk| disk.physical_block.0).max().unwrap_or(0);
    physical.max(view.filesystem().map_or(0, |f| f.block_size.0))
}

fn block_row(disk: &DeviceFacts) -> Row {
    let (logical, physical) = (disk.logical_block, disk.physical_block);
    if logical.0 == 0 {
        return row(disk.name.clone(), "block size unknown", Mark::Look);
    }
    let mark = if physical > logical { Mark::Look } else { Mark::Ok };
    let value = format!("{} logical, {} physical", size(logical.0 as f64), size(physical.0 as f64));
    row(disk.name.clone(), value, mark)
}

fn start_row(view: &View, device: &DeviceFacts) -> Option<Row> {
    let start = device.partition_start?.0;
    let disk = view.facts.devices.get(device.below.first()?)?;
    let whole = |unit: u64| unit == 0 || start.is_multiple_of(unit);
    let (mark, how) = match () {
        () if !whole(disk.physical_block.0) => (Mark::Problem, "not a multiple of its block"),
        () if !whole(disk.io_opt.0) && disk.io_opt.0 > disk.physical_block.0 => {
            (Mark::Look, "not a multiple of its optimal I/O size")
        }
        () if whole(GOOD_START) => (Mark::Ok, "aligned"),
        () => (Mark::Look, "not a multiple of 1 MiB"),
    };
    Some(row(device.name.clone(), format!("starts at {}, {how}", size(start as f64)), mark))
}

fn stripe_row(device: &DeviceFacts) -> Option<Row> {
    let DeviceKind::Md { level } = &device.kind else { return None };
    let stripe = device.io_opt.0 > device.io_min.0 && device.io_min.0 > device.physical_block.0;
    let parity = matches!(level.as_str(), "raid4" | "raid5" | "raid6");
    let value = format!(
        "chunks of {}, stripes of {}",
        size(device.io_min.0 as f64),
        size(device.io_opt.0 as f64)
    );
    stripe.then(|| row(&*device.name, value, if parity { Mark::Look } else { Mark::Ok }))
}

fn offset_row(device: &DeviceFacts) -> Option<Row> {
    let offset = device.alignment_offset.filter(|offset| *offset != 0)?;
    let value = match offset {
        u64::MAX => "misaligned: the layers below disagree".to_owned(),
        offset => format!("misaligned by {}", size(offset as f64)),
    };
    Some(row(&*device.name, value, Mark::Problem))
}
