//! Streams. A stream joins steps of the same threads on the same file, or on files with similar I/O.

use crate::builder::{Builder, Side};
use crate::counts::{Counts, LogHistogram};
use crate::model::{Share, Stream, Think};
use crate::steps::{Step, StepKind};
use crate::threads::ThreadClass;
use std::collections::BTreeMap;

/// The most streams of a model.
const STREAMS: usize = 8;
/// Streams with a smaller share of the I/Os are left out.
const RARE: f64 = 0.005;
/// Parts into which the files of a stream are divided.
const ZONES: usize = 16;

/// Steps of a class of threads on one or several classes of files.
#[derive(Clone, Debug)]
struct Group {
    threads: u32,
    files: Vec<u32>,
    steps: Vec<usize>,
    ios: u64,
    profile: Profile,
}

/// By what groups are compared.
#[derive(Clone, Copy, Debug, Default)]
struct Profile {
    reads: f64,
    size: f64,
    sequential: f64,
    direct: f64,
    dsync: f64,
}

impl Profile {
    fn from_steps(steps: &[&Step]) -> Profile {
        let moving =
            steps.iter().filter(|step| step.key.kind != StepKind::Trim && step.key.kind.moves());
        let mut profile = Profile::default();
        let (mut ios, mut writes) = (0.0, 0.0);
        for step in moving {
            let n = step.ios as f64;
            ios += n;
            profile.size += step.bytes as f64;
            profile.sequential += step.sequential as f64;
            profile.direct += step.direct as f64;
            if step.key.kind == StepKind::Read {
                profile.reads += n;
            } else {
                writes += n;
                profile.dsync += step.dsync as f64;
            }
        }
        let all = f64::max(ios, 1.0);
        Profile {
            reads: profile.reads / all,
            size: profile.size / all,
            sequential: profile.sequential / all,
            direct: profile.direct / all,
            dsync: profile.dsync / f64::max(writes, 1.0),
        }
    }

    fn is_like(&self, other: &Profile) -> bool {
        let near = |a: f64, b: f64, most: f64| (a - b).abs() <= most;
        near(self.reads, other.reads, 0.1)
            && near(self.sequential, other.sequential, 0.25)
            && near(self.direct, other.direct, 0.5)
            && near(self.dsync, other.dsync, 0.5)
            && near((self.size + 1.0).log2(), (other.size + 1.0).log2(), 1.0)
    }
}

/// The streams of one level, those with most I/Os first, and the share of I/Os left out.
pub fn streams(builder: &Builder, side: &Side) -> (Vec<Stream>, f64) {
    let mut groups = grouped(side);
    groups.sort_by_key(|group| std::cmp::Reverse(group.ios));
    let mut joined: Vec<Group> = Vec::new();
    for group in groups {
        let has_data = group.ios > 0;
        let like = |one: &&mut Group| {
            one.threads == group.threads && (!has_data || one.profile.is_like(&group.profile))
        };
        match joined.iter_mut().find(like) {
            Some(one) => {
                one.files.extend(&group.files);
                one.steps.extend(&group.steps);
                one.ios += group.ios;
            }
            None if has_data => joined.push(group),
            None => {}
        }
    }
    joined.sort_by_key(|group| std::cmp::Reverse(group.ios));
    let all: u64 = joined.iter().map(|group| group.ios).sum();
    joined.truncate(STREAMS);
    joined.retain(|group| group.ios as f64 >= RARE * all as f64);
    let kept: u64 = joined.iter().map(|group| group.ios).sum();
    let streams = joined.iter().map(|group| stream(builder, side, group)).collect();
    (streams, (all - kept) as f64 / all.max(1) as f64)
}

fn grouped(side: &Side) -> Vec<Group> {
    let mut by_key: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (index, step) in side.steps.iter().enumerate() {
        by_key.entry((step.key.threads, step.key.files)).or_default().push(index);
    }
    let group = |((threads, files), steps): ((u32, u32), Vec<usize>)| {
        let all: Vec<&Step> = steps.iter().map(|step| &side.steps[*step]).collect();
        let moving = all.iter().filter(|step| step.key.kind.moves());
        let ios = moving.map(|step| step.ios).sum();
        Group { threads, files: vec![files], ios, profile: Profile::from_steps(&all), steps }
    };
    by_key.into_iter().map(group).collect()
}

fn stream(builder: &Builder, side: &Side, group: &Group) -> Stream {
    let steps: Vec<&Step> = group.steps.iter().map(|step| &side.steps[*step]).collect();
    let of_kind = |kind: StepKind| steps.iter().copied().filter(move |step| step.key.kind == kind);
    let sum = |kind: StepKind, what: fn(&Step) -> u64| of_kind(kind).map(what).sum::<u64>();
    let (reads, writes) = (sum(StepKind::Read, |s| s.ios), sum(StepKind::Write, |s| s.ios));
    let bytes = sum(StepKind::Read, |s| s.bytes) + sum(StepKind::Write, |s| s.bytes);
    let class = &side.threads.classes[group.threads as usize];
    let files: Vec<_> =
        group.files.iter().filter_map(|class| builder.file_classes.get(*class as usize)).collect();
    let file_bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
    let moving: Vec<&Step> = steps.iter().copied().filter(|step| step.key.kind.moves()).collect();
    let ios = moving.iter().map(|step| step.ios).sum::<u64>().max(1) as f64;
    let share = |what: fn(&Step) -> u64| moving.iter().map(|s| what(s)).sum::<u64>() as f64 / ios;
    let starts: u64 = moving.iter().map(|step| step.starts).sum();
    let main = moving.iter().max_by_key(|step| step.starts);
    let syncs = sum(StepKind::Fsync, |s| s.ios) + sum(StepKind::Fdatasync, |s| s.ios);
    let writes_per = |calls: u64| (calls > 0 && writes > 0).then(|| writes as f64 / calls as f64);
    let (pacing, reason) = class.pacing();
    let seconds = side.length() as f64 / 1e9;
    Stream {
        name: name_of(&class.name, files.first().map_or("", |file| &file.name)),
        threads: class.name.clone(),
        files: files.iter().map(|file| file.name.clone()).collect(),
        file_count: files.iter().map(|file| file.count).sum(),
        file_bytes,
        file_existing: files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.existing)),
        concurrency: class.concurrency(),
        reads,
        writes,
        bytes,
        iops: (reads + writes) as f64 / seconds.max(1e-9),
        share: (reads + writes) as f64 / side.ios().max(1) as f64,
        read_sizes: sizes(of_kind(StepKind::Read)),
        write_sizes: sizes(of_kind(StepKind::Write)),
        sequential: share(|step| step.sequential),
        run_mean: ios / starts.max(1) as f64,
        stride: main.and_then(|step| step.stride()),
        skew: main.and_then(|step| {
            let class = builder.file_classes.get(step.key.files as usize);
            step.skew(class.map_or(0, |class| class.bytes))
        }),
        zones: zones(builder, &moving),
        pacing,
        reason,
        think: think(&moving, class.cpu_known),
        depth: depth_of_one(class),
        direct: share(|step| step.direct),
        dsync: of_kind(StepKind::Write).map(|step| step.dsync).sum::<u64>() as f64
            / writes.max(1) as f64,
        read_latency_ns: latency(of_kind(StepKind::Read)).mean(),
        write_latency_ns: latency(of_kind(StepKind::Write)).mean(),
        writes_per_sync: writes_per(syncs),
        datasync: sum(StepKind::Fdatasync, |s| s.ios) * 2 > syncs,
        writes_per_range_sync: writes_per(sum(StepKind::SyncRange, |s| s.ios)),
        parts: group.steps.clone(),
        class: group.threads,
    }
}

/// I/Os that one thread of a class has in flight.
fn depth_of_one(class: &ThreadClass) -> u32 {
    match class.is_queued() {
        true => class.depth.quantile_busy(0.95).div_ceil(class.concurrency()).max(1),
        false => 1,
    }
}

/// A name that a section of a job can have: threads and the last part of a file's name.
fn name_of(threads: &str, files: &str) -> String {
    let last = files.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let plain = |text: &str| -> String {
        let text = text.replace('#', "N");
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    };
    let name = format!("{}-{}", plain(threads), plain(last));
    name.trim_matches('-').chars().take(48).collect()
}

/// The commonest sizes, up to eight that together make most of the I/Os.
fn sizes<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<Share> {
    let mut all = Counts::default();
    steps.for_each(|step| all.merge(&step.sizes));
    let mut sizes: Vec<(u64, u64)> = all.iter().collect();
    sizes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let total = all.total().max(1) as f64;
    let share = |(value, count): (u64, u64)| Share { value, share: count as f64 / total };
    sizes.into_iter().take(8).map(share).filter(|size| size.share >= 0.005).collect()
}

fn latency<'a>(steps: impl Iterator<Item = &'a Step>) -> LogHistogram {
    let mut all = LogHistogram::default();
    steps.for_each(|step| all.merge(&step.latency));
    all
}

/// The share of run starts in each sixteenth of the files.
fn zones(builder: &Builder, steps: &[&Step]) -> Vec<f64> {
    let (mut zones, mut all) = (vec![0.0; ZONES], 0.0);
    for step in steps {
        let weight = step.starts as f64 / step.positions.len().max(1) as f64;
        for (file, offset) in &step.positions {
            let place = builder.place(*file, *offset) * ZONES as f64;
            zones[(place as usize).min(ZONES - 1)] += weight;
            all += weight;
        }
    }
    zones.iter_mut().for_each(|zone| *zone /= f64::max(all, 1.0));
    zones
}

/// The pauses between I/Os. The I/O comes in bursts if pauses of at least ten times the median make
/// up half of the time of all pauses.
fn think(steps: &[&Step], (known, computed, _): (u64, u64, u64)) -> Think {
    let mut gaps = LogHistogram::default();
    steps.iter().for_each(|step| gaps.merge(&step.gaps));
    let mean_ns = gaps.mean();
    let limit = (10.0 * gaps.quantile(0.5)).max(20_000.0);
    let (count, sum) = gaps.above(limit);
    let bursts = count > 0 && sum > 0.5 * gaps.sum() && count * 3 < gaps.count();
    Think {
        mean_ns,
        compute_ns: (known > 0).then(|| (computed as f64 / known as f64).min(mean_ns)),
        burst: if bursts { gaps.count() as f64 / count as f64 } else { 1.0 },
        pause_ns: if bursts { sum / count as f64 } else { mean_ns },
    }
}
