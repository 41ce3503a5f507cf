//! The options of a job for fathom.

use super::layout::{Clones, Unsuitable, files};
use crate::diskspd::profile::{
    Access, Affinity, Cache, Content, Profile, Spread, Target, Throughput, TimeSpan,
};
use record::{Facts, TargetFacts, TargetKind};
use std::fmt::{Display, Write};

/// The region of a thread in a target: (offset, length).
fn region(target: &Target, facts: &Facts, place: u64) -> Result<(u64, u64), Unsuitable> {
    let Target { path, block, base, .. } = target;
    let whole = match (target.create, facts.targets.get(path)) {
        (create, Some(found)) => size_of(path, found, create)?,
        (Some(create), None) => create,
        (None, None) => return Err(missing(path)),
    };
    let end = if target.max_size > 0 { whole.min(target.max_size) } else { whole };
    let length = end.saturating_sub(*base);
    if length < *block {
        return Err(Unsuitable(format!(
            "{path}: there are {length} bytes to work in (it has {whole}, -B and -f taken into \
             account), and a block (-b) has {block}: make it larger with -c, or lower -b or -B"
        )));
    }
    let step = target.thread_stride.saturating_mul(place);
    match length.checked_sub(step).filter(|left| left >= block) {
        Some(left) => Ok((base + step, left)),
        None => Err(Unsuitable(format!(
            "{path}: thread {place} would begin {step} bytes behind the first (-T) and have no block \
             before the end: lower -T or the number of threads"
        ))),
    }
}

fn missing(path: &str) -> Unsuitable {
    Unsuitable(format!("{path}: there is no such file; make it with -c<size>"))
}

fn size_of(path: &str, found: &TargetFacts, create: Option<u64>) -> Result<u64, Unsuitable> {
    match (found.kind, create) {
        (TargetKind::Missing | TargetKind::File, Some(create)) => Ok(create),
        // `-c` has no effect on devices.
        (TargetKind::File | TargetKind::Block, _) => Ok(found.size.0),
        (TargetKind::Missing, None) => Err(missing(path)),
        (TargetKind::Directory, _) => {
            Err(Unsuitable(format!("{path} is a directory: name a file in it")))
        }
        _ => Err(Unsuitable(format!("{path} is neither a file nor a block device"))),
    }
}

/// Files that are created, each with its size. Devices are not created.
pub(super) fn made(profile: &Profile, facts: &Facts) -> impl Iterator<Item = (String, u64)> {
    let is_device =
        |path: &str| facts.targets.get(path).is_some_and(|target| target.kind == TargetKind::Block);
    let sizes = files(profile).into_iter().filter_map(|(path, size)| Some((path, size?.0)));
    sizes.filter(move |(path, _)| !is_device(path))
}

/// The job that only lays out a file.
pub(super) fn creation((path, size): (String, u64)) -> Vec<String> {
    vec![
        option("name", &path),
        option("filename", escaped(&path)),
        option("size", size),
        "--bs=1".into(),
        "--rw=read".into(),
        "--create_only=1".into(),
    ]
}

/// Escapes the colons of a path.
fn escaped(path: &str) -> String {
    path.replace(':', "\\:")
}

/// The inputs for the options of a job.
pub(super) struct JobWriter<'a> {
    pub span: &'a TimeSpan,
    pub facts: &'a Facts,
    pub engine: &'static str,
    /// Whether this is the cool-down after the measured run.
    pub cool_down: bool,
}

fn option(name: &str, value: impl Display) -> String {
    format!("--{name}={value}")
}

impl JobWriter<'_> {
    /// The options of the job of some clones.
    pub fn job(&self, clones: &Clones) -> Result<Vec<String>, Unsuitable> {
        let Self { span, .. } = self;
        let first = &span.targets[clones.target.unwrap_or(0)];
        let paths = match clones.target {
            Some(_) => first.path.clone(),
            None => path_list(&span.targets),
        };
        let all = match clones.target {
            Some(_) => std::slice::from_ref(first),
            None => &span.targets,
        };
        let escaped: Vec<String> = all.iter().map(|target| escaped(&target.path)).collect();
        let mut words = vec![option("name", paths), option("filename", escaped.join(":"))];
        words.extend(self.region(clones, first)?);
        words.extend(access(first, self.length(clones, first)?));
        words.extend(self.queue(clones, first));
        if first.write_percent > 0 {
            words.extend(content(first));
        }
        words.extend(pace(first));
        words.extend(self.placing(first));
        words.extend(self.time());
        Ok(words)
    }

    fn length(&self, clones: &Clones, target: &Target) -> Result<u64, Unsuitable> {
        Ok(region(target, self.facts, clones.place)?.1)
    }

    fn region(&self, clones: &Clones, first: &Target) -> Result<Vec<String>, Unsuitable> {
        let mut words = Vec::new();
        let (offset, length) = region(first, self.facts, clones.place)?;
        if clones.target.is_none() {
            words.extend(self.pool(first, (offset, length))?);
        } else {
            words.push(option("offset", offset));
            words.push(option("size", length));
        }
        Ok(words)
    }

    /// The region of threads that use all targets, which must have the same size.
    fn pool(&self, first: &Target, common: (u64, u64)) -> Result<Vec<String>, Unsuitable> {
        for target in &self.span.targets {
            if region(target, self.facts, 0)? != common {
                return Err(Unsuitable(format!(
                    "-O: {} and {} differ in size, and a thread's I/Os go to all its targets alike: \
                     limit both with -f",
                    first.path, target.path
                )));
            }
        }
        let total = common.1.saturating_mul(self.span.targets.len() as u64);
        Ok(vec![
            option("offset", common.0),
            option("size", total),
            "--file_service_type=random".into(),
        ])
    }

    fn queue(&self, clones: &Clones, target: &Target) -> Vec<String> {
        // Copies to and from a mapping are synchronous.
        let one = target.parallel || target.mapped;
        let depth = match (one, self.span.requests) {
            (true, _) => 1,
            (false, 0) => target.depth,
            (false, requests) => requests,
        };
        let engine = match (target.mapped, depth) {
            (true, _) => "mmap",
            (false, 1) => "psync",
            _ => self.engine,
        };
        let mut words = vec![
            option("bs", target.block),
            option("ioengine", engine),
            option("iodepth", depth),
            option("numjobs", clones.threads * clones.streams),
            option("direct", u8::from(target.cache == Cache::None)),
            // The page cache is not changed.
            "--invalidate=0".into(),
            option("fadvise_hint", hint(target)),
        ];
        // Writes to a mapping ignore the flags of the file.
        let flushed = target.flush || target.mapped && target.write_through;
        if target.write_through && !target.mapped {
            words.push("--sync=dsync".into());
        }
        if flushed && target.write_percent > 0 {
            words.push("--fsync=1".into());
        }
        if target.large_pages {
            words.push("--iomem=mmaphuge".into());
        }
        words
    }

    fn placing(&self, target: &Target) -> Vec<String> {
        let list = |cpus: &[u64]| {
            let cpus: Vec<String> = cpus.iter().map(u64::to_string).collect();
            vec![option("cpus_allowed", cpus.join(",")), "--cpus_allowed_policy=split".into()]
        };
        let allowed = &self.facts.cpu.allowed;
        let mut words = match &self.span.affinity {
            Affinity::Cpus(cpus) => list(&cpus.iter().map(|(_, cpu)| *cpu).collect::<Vec<_>>()),
            Affinity::RoundRobin if !allowed.is_empty() => {
                list(&allowed.iter().map(|cpu| u64::from(*cpu)).collect::<Vec<_>>())
            }
            Affinity::RoundRobin | Affinity::Off => Vec::new(),
        };
        match target.priority {
            1 => words.push("--prioclass=3".into()),
            2 => words.extend(["--prioclass=2".into(), "--prio=7".into()]),
            _ => {}
        }
        words
    }

    fn time(&self) -> Vec<String> {
        let mut words = vec![option("randseed", self.span.seed), "--time_based=1".into()];
        match self.cool_down {
            true => words.push(option("runtime", format!("{}s", self.span.cooldown_s))),
            false => {
                words.push(option("runtime", format!("{}s", self.span.duration_s)));
                if self.span.warmup_s > 0 {
                    words.push(option("ramp_time", format!("{}s", self.span.warmup_s)));
                }
            }
        }
        if self.span.iops_deviation {
            words.push(option("bwavgtime", self.span.bucket_ms));
            words.push(option("iopsavgtime", self.span.bucket_ms));
        }
        words
    }
}

/// Paths for messages.
pub(in crate::diskspd) fn path_list(targets: &[Target]) -> String {
    targets.iter().map(|target| target.path.as_str()).collect::<Vec<_>>().join(", ")
}

/// The advice for posix_fadvise(2), if the command line has hints.
fn hint(target: &Target) -> &'static str {
    match (target.hint_random, target.hint_sequential) {
        (true, _) => "random",
        (false, true) => "sequential",
        (false, false) => "0",
    }
}

/// The options for offsets in a region of `length` bytes.
fn access(target: &Target, length: u64) -> Vec<String> {
    let mixed = (1..100).contains(&target.write_percent);
    let kind = |read: &'static str, write, mix| match target.write_percent {
        0 => read,
        100 => write,
        _ => mix,
    };
    let mut words = Vec::new();
    match &target.access {
        Access::Sequential { stride, interlocked } => {
            let rw = kind("read", "write", "rw");
            match i128::from(*stride) - i128::from(target.block) {
                0 => words.push(option("rw", rw)),
                skip => words.push(option("rw", format!("{rw}:{skip}"))),
            }
            if *interlocked {
                words.push("--shared_cursor=1".into());
            }
        }
        Access::Random { align, percent, spread } => {
            words.push(option("rw", kind("randread", "randwrite", "randrw")));
            words.push("--norandommap=1".into());
            words.push(option("blockalign", align));
            if *percent < 100 {
                words.push(option("percentage_random", percent));
            }
            let ranges = spread.as_ref().map(|spread| effective(spread, length));
            words.extend(ranges.map(|ranges| zones(&ranges)));
        }
    }
    if mixed {
        words.push(option("rwmixwrite", target.write_percent));
    }
    words
}

/// A spread over a target of `length` bytes. The rest of the I/O goes to the rest of the target.
/// Sizes beyond its end are cut off, and the other shares scaled up. Shares of I/O add up to 100.
pub(in crate::diskspd) fn effective(spread: &Spread, length: u64) -> Spread {
    let whole = if spread.absolute { length } else { 100 };
    let mut ranges = Vec::new();
    let mut covered = 0;
    for (io, part) in &spread.ranges {
        let part = (*part).min(whole - covered);
        if part > 0 {
            ranges.push((*io, part));
        }
        covered += part;
    }
    let io: u64 = ranges.iter().map(|range| range.0).sum();
    if covered < whole {
        ranges.push((100 - io.min(100), whole - covered));
    } else if io < 100 {
        scale(&mut ranges, io);
    }
    Spread { absolute: spread.absolute, ranges }
}

/// Scales shares that add up to `sum` so that they add up to 100. The rounding error is added to
/// the largest share.
fn scale(ranges: &mut [(u64, u64)], sum: u64) {
    let mut left = 100;
    for range in ranges.iter_mut() {
        // If only parts without I/O are left of the target, the I/O is spread over all of it.
        range.0 = (range.0 * 100).checked_div(sum).unwrap_or(0);
        left -= range.0;
    }
    if let Some(largest) = ranges.iter_mut().max_by_key(|range| range.0) {
        largest.0 += left;
    }
}

fn zones(spread: &Spread) -> String {
    let mut text = String::from(if spread.absolute { "zoned_abs" } else { "zoned" });
    for (io, part) in &spread.ranges {
        // Writing to a String cannot fail.
        let _ = write!(text, ":{io}/{part}");
    }
    option("random_distribution", text)
}

/// The content of writes.
fn content(target: &Target) -> Vec<String> {
    match &target.content {
        Content::Zero => vec!["--zero_buffers=1".into(), "--scramble_buffers=0".into()],
        Content::Random | Content::Buffer { file: None, .. } => vec!["--refill_buffers=1".into()],
        Content::Buffer { file: Some(file), .. } => {
            vec![option("buffer_pattern", format!("'{file}'")), "--scramble_buffers=0".into()]
        }
        Content::Sequence => {
            let mut pattern = String::from("0x");
            for byte in 0..=255_u8 {
                let _ = write!(pattern, "{byte:02x}");
            }
            vec![option("buffer_pattern", pattern), "--scramble_buffers=0".into()]
        }
    }
}

fn pace(target: &Target) -> Vec<String> {
    let mut words = Vec::new();
    let rate = |name, total: u64| {
        let writes = (u128::from(total) * u128::from(target.write_percent) / 100) as u64;
        match target.write_percent {
            0 => option(name, total),
            100 => option(name, format!(",{total}")),
            _ => option(name, format!("{},{}", (total - writes).max(1), writes.max(1))),
        }
    };
    match target.throughput {
        Some(Throughput::BytesPerMs(bytes)) => words.push(rate("rate", bytes.saturating_mul(1000))),
        Some(Throughput::Iops(iops)) => words.push(rate("rate_iops", iops)),
        None => {}
    }
    if let (Some(ios), Some(pause)) = (target.burst, target.think_ms) {
        words.push(option("thinktime", format!("{pause}ms")));
        words.push(option("thinktime_blocks", ios));
        words.push("--thinktime_blocks_type=issue".into());
    }
    words
}
