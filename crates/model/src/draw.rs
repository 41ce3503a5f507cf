//! The model file: what a job file cannot say. Threads go from step to step, with the distributions of
//! each step as they were seen.

use crate::counts::LogHistogram;
use crate::fit::Skew;
use crate::model::Model;
use crate::steps::{Step, StepKind};
use crate::threads::{Loop, ThreadClass};
use std::collections::BTreeMap;
use trace::{Drawing, DrawnFiles, DrawnOperation, DrawnStep, DrawnThreads};

/// The most files of a class that a model keeps apart.
const FILES: u64 = 256;
/// Steps with a smaller share of the I/Os of their threads are left out.
const RARE: f64 = 0.0005;
/// A fit that is further off is not used; the zones and distances that were seen are.
const FIT_DISTANCE_MAX: f64 = 0.1;
/// What O_DIRECT reads or writes on any device is a multiple of this.
const BLOCK: u64 = 4096;
/// The longest distance between two runs at the same place, in runs.
const AGAIN_MAX: u64 = 1 << 14;

/// The model file of a model and, if it has several, of its phases. Names of files begin with `prefix`.
pub fn drawing(model: &Model, phases: &[Model], prefix: &str) -> Drawing {
    let mut drawing = Drawing {
        milliseconds: (model.totals.seconds * 1000.0).ceil() as u64,
        ..Drawing::default()
    };
    let spans = model.parts.threads.iter().filter_map(|class| class.span);
    let start = spans.map(|(from, _)| from).min().unwrap_or(0);
    let mut places = BTreeMap::new();
    if phases.is_empty() {
        add(&mut drawing, model, &mut places, prefix, start);
    }
    for (number, phase) in phases.iter().enumerate() {
        let first = drawing.threads.len();
        add(&mut drawing, phase, &mut places, prefix, start);
        for threads in &mut drawing.threads[first..] {
            threads.name = format!("phase{}-{}", number + 1, threads.name);
        }
    }
    hold_largest(&mut drawing);
    unique(&mut drawing);
    drawing
}

/// Adds the threads of a phase, and the files that no phase before it has. `places` has the number of the files
/// of each class by its name.
fn add(
    drawing: &mut Drawing,
    model: &Model,
    places: &mut BTreeMap<String, usize>,
    prefix: &str,
    start: u64,
) {
    let parts = &model.parts;
    let name = |step: &Step| {
        let class = parts.files.get(step.key.files as usize);
        class.map_or_else(String::new, |class| class.name.clone())
    };
    let all: u64 = parts.steps.iter().map(|step| step.ios).sum();
    for (class, threads) in parts.threads.iter().enumerate() {
        let of_class = |step: &&Step| step.key.threads as usize == class;
        let ios: u64 = parts.steps.iter().filter(of_class).map(|step| step.ios).sum();
        if (ios as f64) < RARE * all as f64 || ios == 0 {
            continue;
        }
        let limit = RARE * ios as f64;
        let kept: Vec<usize> = (0..parts.steps.len())
            .filter(|at| of_class(&&parts.steps[*at]) && parts.steps[*at].ios as f64 >= limit)
            .collect();
        for step in kept.iter().map(|at| &parts.steps[*at]) {
            let mut files = files(model, step.key.files as usize);
            let number = *places.entry(name(step)).or_insert(drawing.files.len());
            match drawing.files.get_mut(number) {
                Some(known) => join(known, &files),
                None => {
                    files.name = format!("{prefix}model.{number}");
                    drawing.files.push(files);
                }
            }
        }
        let place = |step: &Step| places.get(&name(step)).copied().unwrap_or(0);
        drawing.threads.push(threads_of(model, threads, &kept, &place, start));
    }
}

/// Files of one name that two phases used. A phase that used few of them knows only their size, so what all of them
/// hold together is kept, not the mean.
fn join(known: &mut DrawnFiles, other: &DrawnFiles) {
    let all = |files: &DrawnFiles, bytes: u64| bytes.saturating_mul(u64::from(files.count));
    let count = known.count.max(other.count);
    let mean = |a: u64, b: u64| a.max(b).div_ceil(u64::from(count.max(1)));
    let bytes = mean(all(known, known.bytes), all(other, other.bytes)).next_multiple_of(4096);
    let filled = mean(all(known, known.filled), all(other, other.filled)).min(bytes);
    (known.count, known.bytes, known.filled) = (count, bytes, filled);
}

/// Each file holds the largest I/O of its steps.
fn hold_largest(drawing: &mut Drawing) {
    for step in drawing.threads.iter().flat_map(|threads| &threads.steps) {
        let largest = step.sizes.iter().map(|(size, _)| *size).max().unwrap_or(0);
        if let Some(files) = drawing.files.get_mut(step.file) {
            files.bytes = files.bytes.max(largest.next_multiple_of(4096));
        }
    }
}

/// Names of threads are made different from each other.
fn unique(drawing: &mut Drawing) {
    for at in 1..drawing.threads.len() {
        let (before, rest) = drawing.threads.split_at_mut(at);
        if before.iter().any(|one| one.name == rest[0].name) {
            rest[0].name = format!("{}-{at}", rest[0].name);
        }
    }
}

/// The files of a class, without their name.
fn files(model: &Model, class: usize) -> DrawnFiles {
    let known = model.parts.files.get(class).cloned().unwrap_or_default();
    let count = known.count.clamp(1, FILES);
    let largest = model
        .parts
        .steps
        .iter()
        .filter(|step| step.key.files as usize == class)
        .flat_map(|step| step.sizes.iter().map(|(size, _)| size))
        .max();
    let bytes =
        (known.bytes / count).max(largest.unwrap_or(0)).clamp(4096, 1 << 50).next_multiple_of(4096);
    let filled = match known.existing >= known.bytes {
        true => bytes,
        false => known.existing / count,
    };
    DrawnFiles { name: String::new(), count: count as u32, bytes, filled }
}

fn threads_of(
    model: &Model,
    threads: &ThreadClass,
    kept: &[usize],
    place: &dyn Fn(&Step) -> usize,
    start: u64,
) -> DrawnThreads {
    let steps: Vec<&Step> = kept.iter().map(|at| &model.parts.steps[*at]).collect();
    let moving: u64 = steps.iter().filter(|s| s.key.kind.moves()).map(|s| s.ios).sum();
    let writes: u64 = steps.iter().filter(|s| s.key.kind == StepKind::Write).map(|s| s.ios).sum();
    let direct: u64 = steps.iter().map(|step| step.direct).sum();
    let dsync: u64 = steps.iter().map(|step| step.dsync).sum();
    let (from, to) = threads.span.unwrap_or((start, start));
    let count = threads.concurrency();
    let depth =
        if threads.is_queued() { threads.depth.quantile_busy(0.95).div_ceil(count) } else { 1 };
    let open_loop = threads.pacing().0 == Loop::Open;
    let is_direct = direct * 2 > moving;
    DrawnThreads {
        name: section_name(&threads.name),
        count,
        depth: depth.max(1),
        direct: is_direct,
        dsync: dsync * 2 > writes && writes > 0,
        open_loop,
        from: (from - start) / 1_000_000,
        to: ((to - start) / 1_000_000).max((from - start) / 1_000_000 + 1),
        steps: steps
            .iter()
            .map(|step| DrawnStep {
                file: place(step),
                gaps: gaps(
                    if open_loop && step.key.kind.moves() {
                        threads.depth.arrivals.gaps()
                    } else {
                        &step.gaps
                    },
                    if open_loop { u64::from(count) } else { 1 },
                ),
                next: next(step, kept),
                ..in_blocks(is_direct, drawn_step(model, step, count))
            })
            .collect(),
    }
}

/// The step in whole blocks if its threads use O_DIRECT. Such a thread may also keep a log through the
/// page cache, with sizes that O_DIRECT does not take.
fn in_blocks(is_direct: bool, step: DrawnStep) -> DrawnStep {
    let is_whole = |bytes: u64| bytes.is_multiple_of(BLOCK);
    let is_whole = is_whole(step.align) && step.sizes.iter().all(|(size, _)| is_whole(*size));
    if !is_direct || is_whole || step.sizes.is_empty() {
        return step;
    }
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for (size, weight) in step.sizes {
        *sizes.entry(size.next_multiple_of(BLOCK)).or_default() += weight;
    }
    DrawnStep { align: BLOCK, sizes: sizes.into_iter().collect(), ..step }
}

fn drawn_step(model: &Model, step: &Step, count: u32) -> DrawnStep {
    let operation = match step.key.kind {
        StepKind::Read => DrawnOperation::Read,
        StepKind::Write => DrawnOperation::Write,
        StepKind::Fsync => DrawnOperation::Fsync,
        StepKind::Fdatasync => DrawnOperation::Fdatasync,
        StepKind::SyncRange => DrawnOperation::SyncRange,
        StepKind::Trim => DrawnOperation::Trim,
    };
    if !step.key.kind.moves() {
        return DrawnStep { operation, align: 1, ..DrawnStep::default() };
    }
    let bytes = model.parts.files.get(step.key.files as usize).map_or(0, |class| class.bytes);
    let skew = step.skew(bytes).filter(|fit| fit.distance <= FIT_DISTANCE_MAX);
    let skew = match skew.map(|fit| fit.skew) {
        Some(Skew::Uniform) => "uniform".into(),
        Some(Skew::Zipf(theta)) => format!("zipf:{:.3}", away_from_1(theta)),
        Some(Skew::Pareto(h)) => format!("pareto:{h:.3}"),
        None => String::new(),
    };
    let follows = skew.is_empty();
    DrawnStep {
        operation,
        align: step.offsets.value().min(step.sizes.grain()).clamp(1, 1 << 20),
        sizes: step.sizes.iter().filter(|(size, _)| (1..=1 << 30).contains(size)).collect(),
        runs: step.runs.iter().filter(|(run, _)| *run > 0).collect(),
        zones: if follows { zones(step) } else { Vec::new() },
        again: if follows { reuse_distances(step, u64::from(count)) } else { Vec::new() },
        skew,
        ..DrawnStep::default()
    }
}

/// fio and fathom know no Zipf distribution with an exponent of exactly 1.
pub(crate) fn away_from_1(theta: f64) -> f64 {
    if (theta - 1.0).abs() < 0.002 { 1.002 } else { theta.max(0.001) }
}

/// Weights of 64 parts, from the sample of run starts; offsets are taken against the furthest one.
fn zones(step: &Step) -> Vec<u64> {
    const PARTS: u64 = 64;
    let last = step.positions.iter().map(|(_, offset)| *offset).max().unwrap_or(0);
    let mut zones = vec![0; PARTS as usize];
    for (_, offset) in &step.positions {
        let at = u128::from(*offset) * u128::from(PARTS) / (u128::from(last) + 1);
        zones[at as usize] += 1;
    }
    zones
}

/// Distances between runs at the same place, as one of `count` threads sees them.
fn reuse_distances(step: &Step, count: u64) -> Vec<(u64, u64, u64)> {
    let (cold, _) = step.tracker.cold();
    let (mut again, mut fresh) = (Vec::new(), cold);
    for (low, high, weight) in step.tracker.times().bins() {
        match high / count {
            0 => again.push((1, 1, weight)),
            high if high <= AGAIN_MAX => again.push(((low / count).max(1), high.max(1), weight)),
            _ => fresh += weight,
        }
    }
    again.push((0, 0, fresh.max(1)));
    again
}

/// Pauses; those of `times` threads that share a schedule are longer.
fn gaps(gaps: &LogHistogram, times: u64) -> Vec<(u64, u64, u64)> {
    gaps.bins()
        .map(|(low, high, weight)| {
            let longest = (high - 1).max(low).saturating_mul(times);
            (low.saturating_mul(times), longest, weight)
        })
        .collect()
}

fn next(step: &Step, kept: &[usize]) -> Vec<(usize, u64)> {
    let place = |to: u16| kept.iter().position(|at| *at == to as usize);
    let next: Vec<(usize, u64)> =
        step.next.iter().filter_map(|(to, weight)| Some((place(*to)?, *weight))).collect();
    if next.is_empty() { vec![(0, 1)] } else { next }
}

/// A name that a section of a job can have.
pub(crate) fn section_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.replace('#', "N").chars().map(plain).take(40).collect();
    if name.is_empty() || name == "global" { "threads".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_phase_used_in_part_are_not_all_as_large_as_its_mean() {
        let files = |count, bytes, filled| DrawnFiles { name: "f".into(), count, bytes, filled };
        let mut known = files(2, 80 << 20, 80 << 20);
        join(&mut known, &files(49, 4 << 20, 1 << 20));
        assert_eq!(known, files(49, 4 << 20, known.filled));
        assert_eq!(known.filled, (160_u64 << 20).div_ceil(49));
        join(&mut known, &files(1, 4096, 0));
        assert_eq!((known.count, known.bytes), (49, 4 << 20));
    }
}
