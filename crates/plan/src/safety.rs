//! Checks of targets: protection of data, and what a target supports.

use crate::blocks::{Blocks, misaligned};
use crate::machine::{device, directory_above, filesystem};
use crate::policy::Policy;
use crate::problem::{Diagnostics, Errno};
use crate::sizes::human;
use crate::verify;
use job::{Engine, Job, Medium, ReadWrite, ZoneMode};
use record::Remedy;
use record::remedy::{drop, set};
use record::{Facts, TargetFacts, TargetKind, Use};

/// Whether a job changes its targets.
pub(crate) fn changes(job: &Job) -> bool {
    let only_looks = job.verify.only && verify::method(job).is_some();
    match job.queue.engine.name_use() {
        Some(names) => names.changes,
        None => !only_looks && (job.pattern.rw.writes() || job.pattern.rw.trims()),
    }
}

/// The option that names a job's targets.
pub(crate) fn named_by(job: &Job) -> &'static str {
    match (job.replay.is_on(), &job.replay.redirect) {
        (false, _) => "filename",
        (true, None) => "read_iolog",
        (true, Some(_)) => "replay_redirect",
    }
}

/// The directories of `directory` must exist. Oracle: missing directories within a file name are
/// created.
pub(crate) fn check_directories(job: &Job, facts: &Facts, diagnostics: &mut Diagnostics) {
    for directory in crate::names::directories(job) {
        let cure = "make it or name another one";
        match facts.targets.get(directory).map_or(TargetKind::Missing, |t| t.kind) {
            TargetKind::Directory => {}
            TargetKind::Missing => {
                diagnostics.refuse(job, "directory", format!("{directory} is not there"), cure);
            }
            _ => diagnostics.refuse(job, "directory", format!("{directory} is no directory"), cure),
        }
    }
}

/// `--readonly` refuses jobs that write or trim.
pub(crate) fn check_readonly(job: &Job, policy: &Policy, diagnostics: &mut Diagnostics) {
    if policy.readonly && changes(job) {
        if job.replay.is_on() {
            let cure = "--readonly is given: take it back, or set replay_skip=write,trim";
            diagnostics.refuse(job, named_by(job), "the log writes or trims", cure);
            return;
        }
        let what = format!("rw={} changes its targets", job.pattern.rw.name());
        diagnostics.refuse(job, "rw", what, "--readonly is given: take it back or only read");
    } else if policy.readonly && job.verify.trim_percentage > 0 {
        let what = "trim_percentage trims blocks";
        diagnostics.refuse(
            job,
            "trim_percentage",
            what,
            "--readonly is given: take one of them back",
        );
    }
}

/// Checks that the job may and can do its I/O on an existing target.
pub(crate) fn check_target(
    job: &Job,
    path: &str,
    target: &TargetFacts,
    facts: &Facts,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> bool {
    if target.kind == TargetKind::Missing && is_missing_device(path, facts) {
        let what = format!("there is no device {path}");
        diagnostics.ending(Errno::NotThere).refuse(job, named_by(job), what, "check its name");
        return false;
    }
    if let Some((errno, what, cure)) = unsuitable(job, target.kind).or(unspoken(job, target)) {
        diagnostics.ending(errno).refuse(job, named_by(job), format!("{path} {what}"), cure);
        return false;
    }
    if job.queue.engine.name_use().is_some() {
        return true;
    }
    check_trim(job, path, target, facts, diagnostics);
    check_permission(job, path, target, facts, diagnostics);
    // A device that takes commands may have a block device for the same disk.
    let is_disk = target.kind == TargetKind::Char && target.device.is_some();
    if (target.kind == TargetKind::Block || is_disk) && changes(job) {
        check_uses(job, path, target, facts, policy, diagnostics);
    }
    true
}

/// The error, reason and remedy if the job's engine cannot use this kind of target.
fn unsuitable(job: &Job, kind: TargetKind) -> Option<(Errno, &'static str, &'static str)> {
    let file = "name a file, or set directory= for files to be made there";
    let device = matches!(kind, TargetKind::Block | TargetKind::Char | TargetKind::Fifo);
    let engine = job.queue.engine;
    let on_directories = engine.name_use().is_some_and(|names| names.directories);
    match kind {
        TargetKind::Missing => None,
        TargetKind::Directory if on_directories => None,
        _ if on_directories => {
            let cure = "name a directory, or one to be made";
            Some((Errno::NotADirectory, "is no directory", cure))
        }
        TargetKind::Directory => Some((
            Errno::IsADirectory,
            "is a directory",
            "name a file or a device, or set directory= for files to be made there",
        )),
        _ if device && engine.medium() == Medium::Metadata => {
            let what = "is no regular file, and the engine works on nothing else";
            Some((Errno::Invalid, what, file))
        }
        // Oracle: "failed to get file size" for any I/O.
        TargetKind::Fifo => {
            Some((Errno::NoOffsets, "is a pipe, which has no size and no offsets", file))
        }
        TargetKind::Other => Some((Errno::Invalid, "is neither a file nor a device", file)),
        _ => None,
    }
}

/// The error, reason and remedy if the job's engine and a target do not speak the same language:
/// commands or reads and writes.
fn unspoken(job: &Job, target: &TargetFacts) -> Option<(Errno, &'static str, &'static str)> {
    let commands = job.queue.engine.sends_commands();
    match target.kind {
        TargetKind::File | TargetKind::Missing if commands => {
            let what = "is no device, and the engine speaks to devices";
            Some((Errno::Invalid, what, character_device(job)))
        }
        TargetKind::Block
            if commands && !matches!(job.queue.engine, Engine::Sg | Engine::Libzbc) =>
        {
            let what = "is a block device, and the engine speaks to character devices";
            Some((Errno::Invalid, what, character_device(job)))
        }
        TargetKind::Char if !commands && target.device.is_some() => {
            let what = "takes commands only, no reads and writes";
            let cure =
                "set ioengine=sg for SCSI or io_uring_cmd for NVMe, or name its block device";
            Some((Errno::Invalid, what, cure))
        }
        _ => None,
    }
}

fn character_device(job: &Job) -> &'static str {
    match job.queue.engine {
        Engine::IoUringCmd => "name a namespace, such as /dev/ng0n1",
        Engine::Mtd => "name a flash device, such as /dev/mtd0",
        Engine::DevDax => "name a DAX device, such as /dev/dax0.0",
        _ => "name a SCSI device, such as /dev/sg0",
    }
}

/// Oracle: a trim of anything but a block device fails at the first I/O.
fn check_trim(
    job: &Job,
    path: &str,
    target: &TargetFacts,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    let verified = job.verify.trim_percentage > 0 && verify::method(job).is_some();
    let trims = job.pattern.rw.trims() || (verified && changes(job));
    if !trims || job.queue.engine == Engine::Falloc || job.queue.engine.sends_commands() {
        return;
    }
    let is_zbd = job.zones.mode == ZoneMode::Zbd && !job.replay.is_on();
    if is_zbd && matches!(target.kind, TargetKind::Missing | TargetKind::File | TargetKind::Block) {
        // Zones are reset. Oracle: those that are invented take every trim.
        return;
    }
    if target.kind != TargetKind::Block && job.replay.is_on() {
        let cure = "set replay_skip=trim, or replay onto a block device";
        let what = format!("the log trims, and {path} is no block device");
        diagnostics.ending(Errno::NoSuchCall).refuse(job, named_by(job), what, cure);
    } else if target.kind != TargetKind::Block {
        let cure = "only block devices can be trimmed: name one";
        let what = format!("{path} is no block device");
        diagnostics.ending(Errno::NoSuchCall).refuse(job, "rw", what, cure);
    } else if device(facts, path).is_some_and(|d| d.discard_max.0 == 0) {
        let what = format!("{path} takes no discards");
        let cure = "name a device that can be trimmed";
        diagnostics.ending(Errno::Unsupported).refuse(job, "rw", what, cure);
    }
}

fn check_permission(
    job: &Job,
    path: &str,
    target: &TargetFacts,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    if target.kind == TargetKind::Missing {
        return;
    }
    let cure = "ask for access to it or name another one";
    if job.pattern.rw.reads() && !target.readable {
        let what = format!("{path} may not be read");
        diagnostics.ending(Errno::Access).refuse(job, named_by(job), what, cure);
    }
    if !changes(job) {
        return;
    }
    let kernel = device(facts, path).filter(|d| target.kind == TargetKind::Block && d.read_only);
    let (errno, what) = if kernel.is_some() {
        (Errno::NotPermitted, format!("{path} is set read-only"))
    } else if let Some(fs) = target.filesystem.as_ref().filter(|fs| fs.read_only) {
        (Errno::ReadOnly, on_read_only(path, &fs.mount_point))
    } else if !target.writable {
        (Errno::Access, format!("{path} may not be written"))
    } else {
        return;
    };
    diagnostics.ending(errno).refuse(job, named_by(job), what, cure);
}

fn on_read_only(path: &str, mount_point: &str) -> String {
    format!("{path} lies on the filesystem at {mount_point}, which is mounted read-only")
}

/// A missing name below /dev is a missing device. A file there would fill memory.
fn is_missing_device(path: &str, facts: &Facts) -> bool {
    path.starts_with("/dev/") && filesystem(facts, path).is_none_or(|fs| fs.kind == "devtmpfs")
}

/// Checks that a file can be created at an unused path.
pub(crate) fn check_create(job: &Job, path: &str, facts: &Facts, diagnostics: &mut Diagnostics) {
    let above = directory_above(facts, path);
    let allowed = facts.targets.get(path).is_some_and(|t| t.writable)
        || above.is_some_and(|(_, d)| d.kind == TargetKind::Directory && d.writable);
    match (filesystem(facts, path), above) {
        (Some(fs), _) if fs.read_only => {
            let cure = "name a place that can be written";
            let what = on_read_only(path, &fs.mount_point);
            diagnostics.ending(Errno::ReadOnly).refuse(job, named_by(job), what, cure);
        }
        _ if allowed => {}
        (_, Some((directory, there))) => {
            let is_directory = there.kind == TargetKind::Directory;
            let errno = if is_directory { Errno::Access } else { Errno::NotADirectory };
            let what = format!("{path} cannot be made: no permission to write in {directory}");
            let cure = "name a place that can be written";
            diagnostics.ending(errno).refuse(job, named_by(job), what, cure);
        }
        (_, None) => {
            let what = format!("{path} cannot be made: its directory is not there");
            let cure = "make the directory or name another one";
            diagnostics.ending(Errno::NotThere).refuse(job, named_by(job), what, cure);
        }
    }
}

/// Refuses to write a block device that is in use, unless the caller named it.
///
/// Called as fio, `allow_mounted_write=1` permits writes to a mounted device, and a signature
/// causes only a warning. Partitions, holders, swap and exclusively opened devices are still
/// refused.
fn check_uses(
    job: &Job,
    path: &str,
    target: &TargetFacts,
    facts: &Facts,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) {
    if target.uses.is_empty() || is_named(path, target, policy) {
        return;
    }
    let mounted_allowed = policy.as_fio && job.target.allow_mounted_write;
    let mounted = target.uses.iter().any(|u| matches!(u, Use::Mounted { .. }));
    let lifted = |reason: &&Use| match reason {
        Use::Mounted { .. } => mounted_allowed,
        Use::Busy { .. } => mounted_allowed && mounted,
        Use::Signature { .. } => policy.as_fio,
        Use::Swap { .. } | Use::Partitions { .. } | Use::Holders { .. } => false,
    };
    let (lifted, standing): (Vec<&Use>, Vec<&Use>) = target.uses.iter().partition(lifted);
    if !lifted.is_empty() && standing.is_empty() {
        diagnostics.warn(job, format!("{path} is overwritten although it {}", reasons(&lifted)));
    }
    if standing.is_empty() {
        return;
    }
    let name = target.device.as_ref().filter(|d| facts.devices.contains_key(*d));
    let device = name.map_or_else(|| path.to_owned(), |d| format!("/dev/{d}"));
    let only_mounted = standing.iter().all(|u| matches!(u, Use::Mounted { .. } | Use::Busy { .. }));
    let cure = match policy.as_fio && only_mounted && mounted {
        true => "choose a free device, or set allow_mounted_write=1 to destroy its data".into(),
        false => {
            format!("choose a free device, or give --allow-destroy={device} to destroy its data")
        }
    };
    diagnostics.refuse(job, named_by(job), format!("{path} {}", reasons(&standing)), cure);
}

fn is_named(path: &str, target: &TargetFacts, policy: &Policy) -> bool {
    policy.allow_destroy.iter().any(|named| {
        named == path
            || (!target.canonical.is_empty() && *named == target.canonical)
            || target.device.as_ref().is_some_and(|d| *named == format!("/dev/{d}"))
    })
}

fn reasons(uses: &[&Use]) -> String {
    let texts: Vec<String> = uses
        .iter()
        .map(|u| match u {
            Use::Mounted { device, mount_point } => {
                format!("is mounted at {mount_point} ({device})")
            }
            Use::Swap { device } => format!("is swapped to ({device})"),
            Use::Partitions { names } => format!("holds partitions ({})", names.join(", ")),
            Use::Holders { names } => format!("is held by {}", names.join(", ")),
            Use::Signature { what, offset, .. } => {
                format!("carries the signature of {what} at byte {offset}")
            }
            Use::Busy { device } => format!("is opened exclusively by another ({device})"),
        })
        .collect();
    texts.join(" and ")
}

/// The unit of offsets and lengths that O_DIRECT requires on a path, and what requires it.
/// `None` if there is no requirement or O_DIRECT is not supported.
fn direct_unit(
    job: &Job,
    path: &str,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> Option<(u64, String)> {
    let target = facts.targets.get(path)?;
    // The engine knows the blocks of a namespace, which may have metadata in them.
    if job.queue.engine == Engine::IoUringCmd {
        return None;
    }
    if job.queue.engine.sends_commands() {
        let device = facts.devices.get(target.device.as_ref()?)?;
        return Some((device.logical_block.0, format!("the logical block of {}", device.name)));
    }
    let raw = matches!(target.kind, TargetKind::Char | TargetKind::Fifo);
    let mapped = matches!(job.queue.engine, Engine::Mmap | Engine::Libpmem);
    let cached = mapped || !job.queue.engine.moves_data();
    if !job.queue.direct || raw || cached {
        return None;
    }
    if target.refuses_direct() {
        let kind = filesystem(facts, path).map_or("its filesystem", |fs| fs.kind.as_str());
        let what = format!("{path} does not take O_DIRECT ({kind})");
        let cure = drop(["direct"]).or("name another place");
        diagnostics.ending(Errno::Invalid).refuse(job, "direct", what, cure);
        return None;
    }
    let device = device(facts, path);
    let unit = target.direct_unit(device)?;
    let owner = match device {
        Some(device) if device.logical_block.0 == unit => {
            format!("the logical block of {}", device.name)
        }
        _ => format!("what O_DIRECT on {path} needs"),
    };
    Some((unit, owner))
}

/// O_DIRECT requires whole logical blocks and a filesystem that supports it. Oracle: both fail at
/// the first I/O, with EINVAL.
pub(crate) fn check_direct(
    job: &Job,
    path: &str,
    start: u64,
    blocks: &Blocks,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    let Some((unit, owner)) = direct_unit(job, path, facts, diagnostics) else { return };
    let refuse = |diagnostics: &mut Diagnostics, option: &str, value: u64| {
        let what = format!("{value} is not a multiple of {unit}, {owner}");
        let cure = Remedy::from(format!("give a multiple of {}", human(unit))).or(drop(["direct"]));
        diagnostics.ending(Errno::Invalid).refuse(job, option, what, cure);
    };
    if let Some((option, value)) = misaligned(job, blocks, unit) {
        refuse(diagnostics, option, value);
    }
    // Regions of zones are cut to whole zones.
    let is_cut = job.zones.mode == ZoneMode::Zbd && job.pattern.rw != ReadWrite::Read;
    if !is_cut && !start.is_multiple_of(unit) {
        let file = facts.targets.get(path).is_some_and(|t| t.kind == TargetKind::File);
        let appended = job.target.file_append && file;
        refuse(diagnostics, if appended { "file_append" } else { "offset" }, start);
    }
}

/// As [`check_direct`] for a log, in which offsets and lengths are multiples of `grain`.
pub(crate) fn check_direct_grain(
    job: &Job,
    path: &str,
    grain: u64,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    let Some((unit, owner)) = direct_unit(job, path, facts, diagnostics) else { return };
    if grain < unit {
        let what = format!(
            "offsets and lengths of the log are multiples of no more than {grain}, and {unit} is \
             {owner}"
        );
        let cure =
            drop(["direct"]).or(set("replay_align", unit).ending("where only offsets are off"));
        diagnostics.ending(Errno::Invalid).refuse(job, "direct", what, cure);
    }
}
