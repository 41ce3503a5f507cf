//! How close a run comes to a trace: a distance for each property, from 0 (the same) to 1, with an interval
//! from a bootstrap (B. Efron, "Bootstrap Methods", 1979): the distance is computed again from resampled
//! traces, and the interval holds the middle 95 % of the results and the distance itself. Resampling adds
//! noise, so the results lie above a small distance.
//!
//! Rates and outstanding I/Os are resampled by stretches of time. Of the other properties, each count is
//! drawn anew from a Poisson distribution. I/Os of a burst are alike, so that n of them tell less than n
//! independent ones would: counts are drawn as if there were n divided by the index of dispersion of the
//! arrivals.

use crate::counts::{Counts, LogHistogram};
use crate::depth::ks_distance;
use crate::locality::hits;
use crate::model::{Model, Parts, Window};
use record::SplitMix64;
use serde::Serialize;
use std::collections::BTreeMap;

const ROUNDS: usize = 200;
/// Reads, or writes, that are a smaller share of the I/Os of both are not scored.
const RARE: f64 = 0.005;

/// How close a run comes to a trace in one property.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// What it is about. Properties of one subject weigh as much together as those of another.
    pub subject: Subject,
    /// The property.
    pub property: &'static str,
    /// The distance, from 0 to 1.
    pub distance: f64,
    /// The lower end of its interval (95 %).
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// 100 for a distance of 0, 0 for 1.
    pub mark: f64,
    /// The property in the trace.
    pub traced: String,
    /// The property in the run.
    pub run: String,
    /// What would bring them closer; empty for a good mark.
    pub advice: &'static str,
}

/// What properties are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// Sizes and mix.
    Operations,
    /// Order and reuse.
    Places,
    /// Pauses, outstanding I/Os, syncs.
    Times,
    /// What the application and the devices achieve, and what the page cache keeps from the devices.
    Rates,
    /// How long operations take.
    Latency,
}

/// Marks from here on need no advice.
pub const GOOD: f64 = 80.0;

/// The scores of a run, whose trace has the model `run`, against the trace with the model `traced`. Properties that
/// neither has are left out. `devices` says that both traces have the device level.
pub fn scores(traced: &Model, run: &Model, devices: bool, seed: u64) -> Vec<Score> {
    let random = SplitMix64::new(seed);
    let subject = Subject::Operations;
    let mut scorer = Scorer { traced, run, random, subject, scores: Vec::new() };
    scorer.all(devices);
    scorer.scores
}

/// The mark of all: the mean over the subjects of the mean mark of each. Sizes and mix, which every job can
/// set, are one subject of five.
pub fn mark(scores: &[Score]) -> f64 {
    let mut subjects: BTreeMap<Subject, (f64, f64)> = BTreeMap::new();
    for score in scores {
        let (sum, count) = subjects.entry(score.subject).or_default();
        (*sum, *count) = (*sum + score.mark, *count + 1.0);
    }
    let sum: f64 = subjects.values().map(|(sum, count)| sum / count).sum();
    sum / subjects.len().max(1) as f64
}

/// The property with the lowest mark.
pub fn worst(scores: &[Score]) -> Option<&Score> {
    scores.iter().min_by(|a, b| a.mark.total_cmp(&b.mark))
}

struct Scorer<'a> {
    traced: &'a Model,
    run: &'a Model,
    random: SplitMix64,
    subject: Subject,
    scores: Vec<Score>,
}

impl Scorer<'_> {
    fn all(&mut self, devices: bool) {
        let (a, b) = (&self.traced.parts, &self.run.parts);
        let is_rare = |direction: usize| {
            let share = |parts: &Parts| {
                let all = parts.sizes.each_ref().map(Counts::total);
                all[direction] as f64 / (all[0] + all[1]).max(1) as f64
            };
            share(a).max(share(b)) < RARE
        };
        for (direction, name) in ["read sizes", "write sizes"].into_iter().enumerate() {
            if !is_rare(direction) {
                self.counts(name, &a.sizes[direction], &b.sizes[direction], SIZES);
            }
        }
        let mix = |model: &Model| [model.totals.reads, model.totals.writes];
        self.share("reads among I/Os", mix, "give each stream its own share of reads (rwmixread)");
        self.subject = Subject::Places;
        self.share(
            "sequential I/Os",
            sequential,
            "set the length of runs (rw=randread:N), or use the model file",
        );
        self.locality();
        self.subject = Subject::Times;
        self.times(
            "pauses",
            &a.gaps,
            &b.gaps,
            "use the model file: it draws pauses as they were seen",
        );
        self.outstanding();
        self.syncs();
        self.subject = Subject::Rates;
        let windows = [&*self.traced.windows, &self.run.windows];
        self.rate("IOPS", windows, ios, human_rate, RATE);
        self.rate("bandwidth", windows, |window| window.bytes, record::human::rate, RATE);
        if devices {
            let windows = [&*a.device_windows, &b.device_windows];
            self.rate("device IOPS", windows, ios, human_rate, DEVICE);
            let bytes = |window: &Window| window.bytes;
            self.rate("device bandwidth", windows, bytes, record::human::rate, DEVICE);
            self.cache_hits();
        }
        self.subject = Subject::Latency;
        for (kind, name) in
            ["read latency", "write latency", "sync latency"].into_iter().enumerate()
        {
            if kind == SYNCS || !is_rare(kind) {
                self.times(name, &a.latency[kind], &b.latency[kind], LATENCY);
            }
        }
    }

    fn push(
        &mut self,
        property: &'static str,
        distance: f64,
        ends: (f64, f64),
        said: [String; 2],
        advice: &'static str,
    ) {
        let distance = distance.clamp(0.0, 1.0);
        let mark = 100.0 * (1.0 - distance);
        let [traced, run] = said;
        self.scores.push(Score {
            subject: self.subject,
            property,
            distance,
            low: ends.0.clamp(0.0, distance),
            high: ends.1.clamp(distance, 1.0),
            mark,
            traced,
            run,
            advice: if mark < GOOD { advice } else { "" },
        });
    }

    /// Dispersed counts are resampled as fewer.
    fn weight(model: &Model) -> f64 {
        1.0 / model.parts.dispersion.max(1.0)
    }

    fn counts(&mut self, property: &'static str, a: &Counts, b: &Counts, advice: &'static str) {
        let shown = [a, b].map(|counts| {
            counts.mode().map_or("none".into(), |(size, share)| {
                format!("{} ({})", record::human::size(size as f64), record::human::percent(share))
            })
        });
        let (fa, fb) = (Self::weight(self.traced), Self::weight(self.run));
        let random = &mut self.random;
        let ends = interval(|| {
            let (a, b) = (resampled(a, fa, random), resampled(b, fb, random));
            total_variation(&a, &b)
        });
        self.push(property, total_variation(a, b), ends, shown, advice);
    }

    fn times(
        &mut self,
        property: &'static str,
        a: &LogHistogram,
        b: &LogHistogram,
        advice: &'static str,
    ) {
        if a.count() + b.count() == 0 {
            return;
        }
        // Between two I/Os a benchmark needs some microseconds itself.
        let same = if property == "pauses" { 10_000.0 } else { 1000.0 };
        let shown = [a, b].map(|times| {
            format!(
                "{} (p99 {})",
                record::human::time(times.quantile(0.5)),
                record::human::time(times.quantile(0.99))
            )
        });
        let (fa, fb) = (Self::weight(self.traced), Self::weight(self.run));
        let random = &mut self.random;
        let ends = interval(|| {
            let a = a.recounted(|n| poisson(n as f64 * fa, random));
            let b = b.recounted(|n| poisson(n as f64 * fb, random));
            quantile_distance(&a, &b, same)
        });
        self.push(property, quantile_distance(a, b, same), ends, shown, advice);
    }

    /// `of` counts the I/Os that are meant and the others.
    fn share(&mut self, property: &'static str, of: fn(&Model) -> [u64; 2], advice: &'static str) {
        let counts = [of(self.traced), of(self.run)];
        let share = |[meant, others]: [u64; 2]| meant as f64 / (meant + others).max(1) as f64;
        let [a, b] = counts.map(share);
        let weights = [self.traced, self.run].map(Self::weight);
        let random = &mut self.random;
        let ends = interval(|| {
            let mut again =
                |at: usize| share(counts[at].map(|n| poisson(n as f64 * weights[at], random)));
            (again(0) - again(1)).abs()
        });
        let shown = [a, b].map(record::human::percent);
        self.push(property, (a - b).abs(), ends, shown, advice);
    }

    fn locality(&mut self) {
        let sizes = || (0..20_usize).map(|power| (64_u64 << power) as f64);
        let curve = |reuse: &LogHistogram, cold: u64| -> Vec<f64> {
            sizes().map(|blocks| hits(reuse, cold, blocks)).collect()
        };
        let apart = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect()
        };
        let largest = |apart: &[f64]| apart.iter().copied().fold(0.0, f64::max);
        let models = [self.traced, self.run];
        let [a, b] = models.map(|model| curve(&model.parts.reuse, model.parts.cold));
        let distances = apart(&a, &b);
        let distance = largest(&distances);
        // Of equal differences the smallest cache is stated.
        let at = distances.iter().position(|one| *one >= distance).unwrap_or(0);
        let shown = [a[at], b[at]].map(|hits| {
            let cache = record::human::size((crate::builder::BLOCK << (at + 6)) as f64);
            format!("{} hits in {cache}", record::human::percent(hits))
        });
        let random = &mut self.random;
        let mut again = |model: &Model| {
            let Parts { reuse, cold, .. } = &model.parts;
            // Blocks of one I/O are used together, and one block stands for those that are not followed.
            let all = (reuse.count() + cold).max(1) as f64;
            let ios = (model.totals.reads + model.totals.writes) as f64;
            let sampled = f64::min(model.locality.sampled, ios / all);
            let weight = Self::weight(model) * sampled;
            let reuse = reuse.recounted(|n| poisson(n as f64 * weight, random));
            curve(&reuse, poisson(*cold as f64 * weight, random))
        };
        let ends = interval(|| largest(&apart(&again(models[0]), &again(models[1]))));
        let advice = "use the model file: it draws reuse as it was seen; or make the files as large as they were";
        self.push("locality", distance, ends, shown, advice);
    }

    /// The largest difference of the shares of time up to each number of outstanding I/Os.
    fn outstanding(&mut self) {
        let [a, b] = [self.traced, self.run].map(|model| &model.parts.depth_segments);
        if self.traced.outstanding.len().max(self.run.outstanding.len()) < 2 {
            return;
        }
        let random = &mut self.random;
        let mut again = |segments: &[Vec<u64>]| -> Vec<Vec<u64>> {
            let count = segments.len() as u64;
            (0..count).map(|_| segments[random.below(count) as usize].clone()).collect()
        };
        let ends = interval(|| ks_distance(&again(a), &again(b)));
        let distance = ks_distance(a, b);
        let shown = [self.traced, self.run]
            .map(|model| format!("{:.2} while busy", model.outstanding_mean));
        let advice =
            "threads wait for other things than storage: use the model file, or more or fewer jobs";
        self.push("outstanding I/Os", distance, ends, shown, advice);
    }

    fn syncs(&mut self) {
        let calls = |model: &Model| {
            let syncs = &model.syncs;
            syncs.fsync + syncs.fdatasync + syncs.range + syncs.all + syncs.durable_writes
        };
        let counts = [self.traced, self.run].map(|model| [calls(model), model.totals.writes]);
        let cadence = |[syncs, writes]: [u64; 2]| syncs as f64 / writes.max(1) as f64;
        let [a, b] = counts.map(cadence);
        if a + b == 0.0 || self.traced.totals.writes + self.run.totals.writes == 0 {
            return;
        }
        let weights = [self.traced, self.run].map(Self::weight);
        let random = &mut self.random;
        let ends = interval(|| {
            let mut again =
                |at: usize| cadence(counts[at].map(|n| poisson(n as f64 * weights[at], random)));
            lacking(again(0), again(1))
        });
        let shown = [a, b].map(|each| format!("{each:.3} for each write"));
        let advice = "set fsync, fdatasync or sync=dsync as the trace has it";
        self.push("durability", lacking(a, b), ends, shown, advice);
    }

    /// The share of the bytes read that no device read, from windows of both levels, which are resampled.
    fn cache_hits(&mut self) {
        let bytes = |windows: &[Window]| -> Vec<f64> {
            windows.iter().map(|window| window.read_bytes * window.seconds).collect()
        };
        let read = [self.traced, self.run]
            .map(|model| [bytes(&model.windows), bytes(&model.parts.device_windows)]);
        let sum = |bytes: &Vec<f64>| bytes.iter().sum::<f64>();
        if read.iter().any(|[asked, _]| sum(asked) == 0.0) {
            return;
        }
        let share = |[asked, device]: [f64; 2]| {
            if asked > 0.0 { (1.0 - device / asked).max(0.0) } else { 0.0 }
        };
        let [a, b] = read.each_ref().map(|levels| share(levels.each_ref().map(sum)));
        let random = &mut self.random;
        let ends = interval(|| {
            let mut drawn = |bytes: &Vec<f64>| -> f64 {
                let count = bytes.len() as u64;
                (0..count).map(|_| bytes[random.below(count) as usize]).sum()
            };
            let [a, b] = read.each_ref().map(|levels| share(levels.each_ref().map(&mut drawn)));
            (a - b).abs()
        });
        let shown = [a, b].map(record::human::percent);
        self.push("page cache hits", (a - b).abs(), ends, shown, CACHE);
    }

    /// Rates by windows, which are resampled.
    fn rate(
        &mut self,
        property: &'static str,
        windows: [&[Window]; 2],
        of: fn(&Window) -> f64,
        human: fn(f64) -> String,
        advice: &'static str,
    ) {
        let [a, b] = windows.map(|windows| -> Vec<(f64, f64)> {
            windows.iter().map(|window| (of(window) * window.seconds, window.seconds)).collect()
        });
        let mean = |windows: &mut dyn Iterator<Item = (f64, f64)>| {
            let (sum, time) = windows.fold((0.0, 0.0), |(s, t), (sum, time)| (s + sum, t + time));
            if time > 0.0 { sum / time } else { 0.0 }
        };
        let (x, y) = (mean(&mut a.iter().copied()), mean(&mut b.iter().copied()));
        if x + y == 0.0 {
            return;
        }
        let random = &mut self.random;
        let mut again = |windows: &[(f64, f64)]| {
            let count = windows.len() as u64;
            let mut drawn = (0..count).map(|_| windows[random.below(count) as usize]);
            mean(&mut drawn)
        };
        let ends = interval(|| lacking(again(&a), again(&b)));
        self.push(property, lacking(x, y), ends, [human(x), human(y)], advice);
    }
}

/// Index of the latency of syncs, after those of reads and writes.
const SYNCS: usize = 2;
const SIZES: &str = "a job has at most a few sizes (bssplit): use the model file, which keeps all";
const RATE: &str =
    "pauses or dependencies between streams differ: use the model file, and the same storage";
const DEVICE: &str = "other I/O reaches the devices: give the files the size, fill and filesystem they had, the page \
                      cache the memory, and let as much time pass for writeback";
const CACHE: &str = "the page cache is in another state: start both with a cold cache, with files as large as they \
                     were and as much free memory";
const LATENCY: &str = "the storage, its cache or the load beside it differs: run where the trace was taken, with \
                       files as large and as full";

fn human_rate(value: f64) -> String {
    format!("{} IOPS", record::human::count(value))
}

fn ios(window: &Window) -> f64 {
    window.reads + window.writes
}

/// What the smaller of two figures lacks of the larger, as a share.
fn lacking(a: f64, b: f64) -> f64 {
    if a.max(b) > 0.0 { 1.0 - a.min(b) / a.max(b) } else { 0.0 }
}

fn sequential(model: &Model) -> [u64; 2] {
    let moving = model.parts.steps.iter().filter(|step| step.key.kind.moves());
    let (all, following) = moving.fold((0, 0), |(a, s), step| (a + step.ios, s + step.sequential));
    [following, all - following]
}

/// Half the sum of the differences between shares; 1 if one has none.
fn total_variation(a: &Counts, b: &Counts) -> f64 {
    if a.total() == 0 || b.total() == 0 {
        return 1.0;
    }
    let shares = |counts: &Counts| -> BTreeMap<u64, f64> {
        let all = counts.total().max(1) as f64;
        counts.iter().map(|(value, count)| (value, count as f64 / all)).collect()
    };
    let (a, mut b) = (shares(a), shares(b));
    let mut sum: f64 =
        a.iter().map(|(value, share)| (share - b.remove(value).unwrap_or(0.0)).abs()).sum();
    sum += b.values().sum::<f64>();
    (sum / 2.0).min(1.0)
}

/// From the mean factor between the quantiles of two distributions of times. Times below `same`, in
/// nanoseconds, count as the same.
fn quantile_distance(a: &LogHistogram, b: &LogHistogram, same: f64) -> f64 {
    if a.count() == 0 || b.count() == 0 {
        return 1.0;
    }
    let quantiles = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
    let factors =
        quantiles.iter().map(|q| ((a.quantile(*q) + same) / (b.quantile(*q) + same)).ln().abs());
    1.0 - (-factors.sum::<f64>() / quantiles.len() as f64).exp()
}

fn resampled(counts: &Counts, weight: f64, random: &mut SplitMix64) -> Counts {
    counts.recounted(|n| poisson(n as f64 * weight, random))
}

/// The 2.5 and 97.5 per cent points of a resampled figure.
fn interval(mut figure: impl FnMut() -> f64) -> (f64, f64) {
    let mut all: Vec<f64> = (0..ROUNDS).map(|_| figure()).collect();
    all.sort_unstable_by(f64::total_cmp);
    (all[ROUNDS / 40], all[ROUNDS - 1 - ROUNDS / 40])
}

/// A Poisson number: products of uniform numbers for small means (Knuth), else the normal one.
fn poisson(mean: f64, random: &mut SplitMix64) -> u64 {
    let mut unit = || ((random.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    if mean > 30.0 {
        let normal = (-2.0 * unit().ln()).sqrt() * (2.0 * std::f64::consts::PI * unit()).cos();
        return (mean + mean.sqrt() * normal).round().max(0.0) as u64;
    }
    let (limit, mut product, mut count) = ((-mean).exp(), unit(), 0);
    while product > limit {
        product *= unit();
        count += 1;
    }
    count
}
