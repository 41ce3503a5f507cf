//! Working by the rules of zoned block devices (`zonemode=zbd`).

use crate::machine::device;
use crate::model::{BlockPlan, File, Worker, Zbd, ZonedFile};
use crate::names::file_names;
use crate::problem::Diagnostics;
use crate::sizes::human;
use job::{FileSizeRange, Job, Medium, ReadWrite, Size, ZoneMode};
use record::{Bytes, Direction, Facts, TargetFacts, TargetKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Smallest zone that can be invented.
const ZONE_MIN: u64 = 512;
/// All zones of a target are in memory; the largest devices have some hundred thousand.
const ZONES_MAX: u64 = 1 << 24;

/// What the facts say of a target's zones.
struct Zones {
    size: u64,
    /// Zones that may be open at once; 0: any number.
    limit: u64,
    /// Closed zones count towards the limit.
    counts_closed: bool,
}

fn zones_of(facts: &Facts, path: &str) -> Option<Zones> {
    let is_disk = |kind| matches!(kind, TargetKind::Block | TargetKind::Char);
    let target = facts.targets.get(path).filter(|target| is_disk(target.kind))?;
    let device = device(facts, path).filter(|_| target.device.is_some())?;
    device.zoned.as_deref().filter(|zoned| *zoned != "none")?;
    let limits = [device.max_open_zones, device.max_active_zones];
    let limit = limits.into_iter().filter(|limit| *limit > 0).min().unwrap_or(0);
    Some(Zones { size: device.zone_size.0, limit, counts_closed: device.max_active_zones > 0 })
}

/// The jobs with their sizes in zones (suffix `z`) as bytes, where the size of a zone is known: by
/// `zonesize`, else by the device.
pub(crate) fn in_bytes<'j>(jobs: &'j [Job], facts: &Facts) -> Cow<'j, [Job]> {
    let mut converted = Cow::Borrowed(jobs);
    for (index, job) in jobs.iter().enumerate() {
        let own = || file_names(job, 0).iter().find_map(|path| zones_of(facts, path));
        let zone = match (job.zones.mode, job.zones.size.0) {
            (ZoneMode::None, _) => 0,
            (ZoneMode::Zbd, 0) => own().map_or(0, |zones| zones.size),
            (_, given) => given,
        };
        if zone == 0 {
            continue;
        }
        let bytes = |size: &mut Size| {
            if let Size::Zones(count) = *size {
                *size = Size::Bytes(Bytes(count.saturating_mul(zone)));
            }
        };
        let job = &mut converted.to_mut()[index];
        let target = &mut job.target;
        let plain = [
            &mut target.size,
            &mut target.io_size,
            &mut target.offset,
            &mut target.offset_increment,
            &mut job.zones.skip,
        ];
        plain.into_iter().flatten().for_each(bytes);
        if let Some(FileSizeRange { low, high }) = &mut target.filesize {
            bytes(low);
            bytes(high);
        }
    }
    converted
}

/// Checks of a job that do not depend on its targets.
pub(crate) fn check(job: &Job, diagnostics: &mut Diagnostics) {
    let zones = &job.zones;
    check_zones_known(job, diagnostics);
    if zones.mode != ZoneMode::Zbd {
        return;
    }
    if job.replay.is_on() {
        return diagnostics
            .warn(job, "zonemode=zbd has no part in a replay: the log says where I/O goes");
    }
    if !matches!(job.queue.engine.medium(), Medium::Data | Medium::Memory) {
        let what = format!("the {} engine moves no data in zones", job.queue.engine.name());
        diagnostics.usage(job, "zonemode", what, "leave it out or use another engine");
    }
    if job.verify.experimental {
        let what = "--zonemode=zbd does not support experimental verify";
        diagnostics.usage(job, "experimental_verify", what, "leave one of them out");
    }
    if zones.recover && job.verify.threads > 0 {
        let what = "recover_zbd_write_error does not support verify_async";
        diagnostics.usage(job, "recover_zbd_write_error", what, "leave one of them out");
    }
    if zones.capacity.0 > 0 && zones.size.0 > 0 && zones.capacity.0 > zones.size.0 {
        let (capacity, size) = (human(zones.capacity.0), human(zones.size.0));
        let what = format!("{capacity} of a zone of {size} cannot be used");
        diagnostics.usage(job, "zonecapacity", what, "give no more than zonesize");
    }
    if zones.reset_frequency == 0.0 && zones.reset_threshold > 0.0 {
        diagnostics.warn(job, "zone_reset_threshold does nothing without zone_reset_frequency");
    }
    if job.pattern.rw == ReadWrite::Write && job.queue.iodepth.unwrap_or(1) > 1 {
        let text = "writes to a zone go one after the other: a sequential job has one in flight, \
                    whatever iodepth says";
        diagnostics.note(job, text);
    }
}

/// Oracle: sizes in zones without zones are taken for none, without a word.
fn check_zones_known(job: &Job, diagnostics: &mut Diagnostics) {
    let target = &job.target;
    let range = target.filesize;
    for (option, size) in [
        ("size", target.size),
        ("io_size", target.io_size),
        ("offset", target.offset),
        ("offset_increment", target.offset_increment),
        ("filesize", range.map(|range| range.low)),
        ("filesize", range.map(|range| range.high)),
        ("zoneskip", job.zones.skip),
    ] {
        if let Some(Size::Zones(count)) = size {
            let what = format!("{count} zones, and the size of a zone is not known");
            diagnostics.usage(job, option, what, "set zonemode and zonesize, or give bytes");
        }
    }
}

/// Where I/O went to is known while it is done, and to none that comes later.
fn check_verify(job: &Job, worker: &Worker, diagnostics: &mut Diagnostics) {
    let Some(verify) = worker.verify.as_ref().filter(|_| job.pattern.rw.writes()) else { return };
    let what = "zones are written where they go on, which nothing can tell later";
    let refused = [(verify.only, "verify_only"), (verify.state_load, "verify_state_load")];
    for (_, option) in refused.into_iter().filter(|(given, _)| *given) {
        diagnostics.usage(job, option, what, "leave it or zonemode=zbd out, or give rw=read");
    }
    if verify.trimming.is_some() {
        let what = "a trim takes a whole zone with all that is to be checked";
        diagnostics.usage(job, "trim_percentage", what, "leave it or zonemode=zbd out");
    }
}

/// Fits a worker's files to their zones; the bytes that are then asked for of `asked`.
///
/// Oracle: regions of anything but sequential reads begin and end with a zone.
pub(crate) fn fit(
    job: &Job,
    worker: &mut Worker,
    asked: u64,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> u64 {
    if job.zones.mode != ZoneMode::Zbd || worker.files.is_empty() {
        return asked;
    }
    check_verify(job, worker, diagnostics);
    let (mut files, mut limit, mut cut) = (Vec::new(), 0, 0);
    for file in &mut worker.files {
        let own = zones_of(facts, &file.path);
        limit = own.as_ref().map_or(limit, |own| own.limit);
        let before = file.length;
        if let Some(zoned) = zoned_file(job, file, own, facts, diagnostics) {
            files.push(zoned);
        }
        cut += before - file.length;
    }
    let Some(first) = files.first() else { return asked };
    check_blocks(job, worker, first.size, diagnostics);
    check_direct(job, worker, &files, diagnostics);
    let verifies = worker.verify.is_some();
    let fills_once = verifies && worker.pattern.rw.is_random();
    let skip = skip(job, first.size, worker.pattern.rw.is_random(), diagnostics);
    let is_limited = job.zones.max_open > 0 || job.zones.job_max_open > 0;
    worker.zbd = Some(Zbd {
        random: worker.pattern.rw.is_random(),
        skip,
        max_open: max_open(job, limit, diagnostics),
        files,
        read_beyond: job.zones.read_beyond,
        write_remainder: job.zones.write_remainder,
        recover: job.zones.recover,
        job_max_open: job.zones.job_max_open as u32,
        keeps_full: verifies && (fills_once || is_limited || skip > 0),
        fills_once,
        reset_threshold: job.zones.reset_threshold,
        reset_every: match job.zones.reset_frequency {
            frequency if frequency > 0.0 => (1.0 / frequency).round().max(1.0) as u64,
            _ => 0,
        },
    });
    asked - cut.min(asked)
}

/// A pass that writes each zone once is the only one unless more than the region is asked for.
pub(crate) fn limit_pass(worker: &mut Worker) {
    let fills_once = worker.zbd.as_ref().is_some_and(|zbd| zbd.fills_once);
    if fills_once && worker.stop.bytes.is_some_and(|bytes| bytes <= worker.region()) {
        worker.stop.wraps = false;
    }
}

/// The size of a target's zones: the device's own, else the one that is given.
fn zone_size(
    job: &Job,
    path: &str,
    own: Option<&Zones>,
    diagnostics: &mut Diagnostics,
) -> Option<u64> {
    let given = job.zones.size.0;
    let size = own.map_or(given, |own| own.size);
    if given > 0 && size != given {
        let what = format!(
            "{} are asked for, the zones of {path} have {} (fio: job parameter zonesize {given} \
                 does not match disk zone size {size})",
            human(given),
            human(size)
        );
        diagnostics.refuse(job, "zonesize", what, "leave it out or give the device's");
        return None;
    }
    if size < ZONE_MIN {
        let what = match given {
            0 => format!(
                "{path} has no zones of its own: Specifying the zone size is mandatory for regular \
                 file/block device with --zonemode=zbd"
            ),
            _ => format!(
                "a zone of {} is too small: zone size must be at least 512 bytes for --zonemode=zbd",
                human(given)
            ),
        };
        diagnostics.usage(job, "zonesize", what, "set zonesize");
        return None;
    }
    Some(size)
}

fn zoned_file(
    job: &Job,
    file: &mut File,
    own: Option<Zones>,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> Option<ZonedFile> {
    let path = &file.path.clone();
    let size = zone_size(job, path, own.as_ref(), diagnostics)?;
    // The zones of a disk behind a character device are asked of its block device.
    let target = facts.targets.get(path);
    let disk = target.filter(|_| file.kind == TargetKind::Char).and_then(|t| t.device.as_ref());
    let pipe = matches!(file.kind, TargetKind::Fifo | TargetKind::Char | TargetKind::Other)
        && disk.is_none();
    if pipe {
        let what = format!("{path} has no places, and so no zones");
        diagnostics.refuse(job, "zonemode", what, "name a file or a block device");
        return None;
    }
    if !end_with_file(job, file, target, diagnostics) {
        return None;
    }
    let whole = file.whole.max(file.start.saturating_add(file.length));
    if whole / size > ZONES_MAX {
        let what = format!("{path} has {} zones of {}", whole / size, human(size));
        diagnostics.refuse(job, "zonesize", what, "raise it, or lower size");
        return None;
    }
    if !whole_zones(job, file, size, diagnostics) {
        return None;
    }
    let canonical = match disk {
        Some(disk) => Some(format!("/dev/{disk}")),
        None => target.map(|t| t.canonical.clone()),
    };
    Some(ZonedFile {
        name: canonical.filter(|name| !name.is_empty()).unwrap_or_else(|| file.path.clone()),
        device: own.is_some(),
        discards: discards(job, path, file.kind, own.is_some(), facts, diagnostics),
        is_changed: job.pattern.rw.writes() || job.pattern.rw.trims(),
        counts_closed: own.is_some_and(|own| own.counts_closed),
        size,
        capacity: Some(job.zones.capacity.0).filter(|c| *c > 0).unwrap_or(size),
        whole,
    })
}

/// Ends the region of a file that `fill_device` makes endless: zones are those of the file as it is.
fn end_with_file(
    job: &Job,
    file: &mut File,
    target: Option<&TargetFacts>,
    diagnostics: &mut Diagnostics,
) -> bool {
    if !job.target.fill_device || job.target.size.is_some() || file.kind != TargetKind::File {
        return true;
    }
    let real = target.map_or(0, |target| target.size.0);
    if real == 0 {
        let what = format!("fill_device without it, and {} holds no zone", file.path);
        diagnostics.usage(job, "size", what, "give the bytes of the file");
        return false;
    }
    file.length = file.length.min(real.saturating_sub(file.start));
    true
}

/// Whether trims of invented zones reach the device. Oracle: they never do, and are counted.
fn discards(
    job: &Job,
    path: &str,
    kind: TargetKind,
    is_zoned: bool,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> bool {
    let takes = kind == TargetKind::Block
        && device(facts, path).is_none_or(|device| device.discard_max.0 > 0);
    let sends = job.queue.engine.sends_commands() || job.queue.engine.moves_nothing();
    if job.pattern.rw.trims() && !is_zoned && !takes && !sends {
        let text = format!(
            "trims of {path} are counted and discard nothing: it has no zones and takes no discards"
        );
        diagnostics.warn(job, text);
        return false;
    }
    true
}

/// Lets the region begin and end with a zone, unless it is read in sequence; false when it holds none.
fn whole_zones(job: &Job, file: &mut File, size: u64, diagnostics: &mut Diagnostics) -> bool {
    if job.pattern.rw == ReadWrite::Read && file.length >= size {
        return true;
    }
    let start = file.start.div_ceil(size).saturating_mul(size);
    let end = (file.start + file.length) / size * size;
    if end <= start {
        let what = format!(
            "{} from byte {} of {} hold no zone of {}: io_size must be at least one zone",
            human(file.length),
            file.start,
            file.path,
            human(size)
        );
        diagnostics.refuse(job, "size", what, "give one zone at least, as in size=1z");
        return false;
    }
    if (start, end) != (file.start, file.start + file.length) {
        let text = format!(
            "the region in {} is cut to whole zones: {} from byte {start}",
            file.path,
            human(end - start)
        );
        diagnostics.note(job, text);
    }
    (file.start, file.length) = (start, end - start);
    true
}

/// Oracle: buffered writes to a zoned device are refused, for the kernel may reorder them.
fn check_direct(job: &Job, worker: &Worker, files: &[ZonedFile], diagnostics: &mut Diagnostics) {
    let is_cached = !job.queue.direct && !job.queue.engine.sends_commands();
    if is_cached && job.pattern.rw.writes() && files.iter().any(|file| file.device) {
        let device = &worker.files[0].path;
        let what = format!(
            "buffered writes of {device} may be reordered: Using direct I/O is mandatory for writing \
             to ZBD drives"
        );
        diagnostics.refuse(job, "direct", what, "set direct=1");
    }
}

/// Oracle: a trim is a whole zone, a write is no larger than one. Reads for which no zone holds enough
/// are not issued.
fn check_blocks(job: &Job, worker: &Worker, size: u64, diagnostics: &mut Diagnostics) {
    let trims = &worker.pattern.blocks[Direction::Trim];
    if job.pattern.rw.trims() && *trims != BlockPlan::Fixed(size) {
        let what = match trims {
            BlockPlan::Fixed(block) => {
                format!("a trim resets a zone: trim block size {block} is not the zone size {size}")
            }
            _ => format!("a trim resets a zone, and a zone has {}", human(size)),
        };
        diagnostics.usage(
            job,
            "bs",
            what,
            format!("set the block of trims to {size} bytes (bs=,,{size})"),
        );
    }
    let usable = Some(job.zones.capacity.0).filter(|c| *c > 0).unwrap_or(size);
    let writes = job.pattern.rw.writes() && !job.pattern.rw.trims();
    let largest = worker.pattern.blocks.write.max();
    if writes && largest > usable {
        let what = format!(
            "a block of {} in a zone of {}: I/O buflen exceeds zone size",
            human(largest),
            human(usable)
        );
        diagnostics.usage(job, "bs", what, "lower the block or raise zonesize");
    }
}

fn skip(job: &Job, size: u64, random: bool, diagnostics: &mut Diagnostics) -> u64 {
    let skip = match job.zones.skip {
        Some(Size::Bytes(bytes)) => bytes.0,
        _ => 0,
    };
    if !skip.is_multiple_of(size) {
        let what = format!(
            "{} are no whole zones: zoneskip {skip} is not a multiple of the device zone size {size}",
            human(skip)
        );
        diagnostics.usage(job, "zoneskip", what, "give a multiple of the zone's size");
    }
    if random && skip > 0 {
        diagnostics.warn(job, "zoneskip does nothing for random I/O in zonemode=zbd");
    }
    if random { 0 } else { skip }
}

/// The limit of open zones of a job that writes; 0: none. Oracle: the device's limit stands unless
/// `ignore_zone_limits` is given.
fn max_open(job: &Job, limit: u64, diagnostics: &mut Diagnostics) -> u32 {
    if !job.pattern.rw.writes() {
        if job.zones.job_max_open > 0 {
            let what = "only writes open zones: it is valid only for write jobs";
            diagnostics.usage(job, "job_max_open_zones", what, "leave it out");
        }
        return 0;
    }
    let given = job.zones.max_open;
    let wanted = if given == 0 { limit } else { given };
    if limit > 0 && given > limit && !job.zones.ignore_limits {
        let what = format!("{given} zones, the device takes {limit} open ones");
        let cure = "lower it, or set ignore_zone_limits=1 and see the device fail writes";
        diagnostics.refuse(job, "max_open_zones", what, cure);
    }
    let wanted = if job.zones.ignore_limits && given == 0 { 0 } else { wanted };
    // Oracle: the same. Its own limit alone would leave a job that shares a target stuck.
    if job.zones.job_max_open > 0 && wanted == 0 {
        let what = format!("{} zones for a job, any number for all", job.zones.job_max_open);
        diagnostics.usage(job, "job_max_open_zones", what, "set max_open_zones too");
    }
    u32::try_from(wanted).unwrap_or(u32::MAX)
}

/// Jobs that share a target share the limit of its open zones, the size of its zones, and with
/// `zone_reset_threshold` the range they write.
pub(crate) fn check_shared(jobs: &[Job], workers: &mut [Worker], diagnostics: &mut Diagnostics) {
    share_changes(workers);
    let mut first: BTreeMap<&str, (&ZonedFile, Option<u32>)> = BTreeMap::new();
    for worker in &*workers {
        let Some(zbd) = &worker.zbd else { continue };
        let job = &jobs[worker.job as usize];
        let limit = job.pattern.rw.writes().then_some(zbd.max_open);
        for file in &zbd.files {
            let (known, others) = first.entry(&file.name).or_insert((file, limit));
            *others = others.or(limit);
            if let (Some(limit), Some(max_open)) = (limit, *others)
                && limit != max_open
            {
                let what = format!("{limit} for {}, where another job has {max_open}", file.name);
                let cure = "give all jobs of a target the same";
                diagnostics.usage(job, "max_open_zones", what, cure);
            }
            if (known.size, known.capacity) != (file.size, file.capacity) {
                let what = format!(
                    "zones of {} in {}, where another job has {}",
                    human(file.size),
                    file.name,
                    human(known.size)
                );
                let cure = "give all jobs of a target the same zones";
                diagnostics.usage(job, "zonesize", what, cure);
            }
        }
    }
    check_write_ranges(jobs, workers, diagnostics);
}

/// The first worker that uses a target opens it for all of them.
fn share_changes(workers: &mut [Worker]) {
    let files = |worker: &Worker| worker.zbd.iter().flat_map(|zbd| zbd.files.clone()).collect();
    let all: Vec<ZonedFile> = workers.iter().flat_map::<Vec<_>, _>(files).collect();
    let changed: BTreeSet<&str> =
        all.iter().filter(|file| file.is_changed).map(|file| file.name.as_str()).collect();
    let zoned = workers.iter_mut().filter_map(|worker| worker.zbd.as_mut());
    for file in zoned.flat_map(|zbd| &mut zbd.files) {
        file.is_changed = changed.contains(file.name.as_str());
    }
}

/// What a share of data is taken of must be the same for all who write.
fn check_write_ranges(jobs: &[Job], workers: &[Worker], diagnostics: &mut Diagnostics) {
    let mut first: BTreeMap<&str, (Range<u64>, bool)> = BTreeMap::new();
    for worker in workers.iter().filter(|worker| worker.pattern.rw.writes()) {
        let Some(zbd) = &worker.zbd else { continue };
        for (zoned, file) in zbd.files.iter().zip(&worker.files) {
            let range = file.start..file.start + file.length;
            let asks = zbd.reset_threshold > 0.0;
            let (known, others_ask) =
                first.entry(&zoned.name).or_insert_with(|| (range.clone(), asks));
            *others_ask |= asks;
            if *others_ask && *known != range {
                let what = format!("jobs of {} have different write ranges", zoned.name);
                let cure = "give them the same offset and size, or leave it out";
                diagnostics.usage(&jobs[worker.job as usize], "zone_reset_threshold", what, cure);
            }
        }
    }
}
