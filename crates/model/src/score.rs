//! How close a run comes to a trace: a distance for each property, from 0 (the same) to 1, with an interval
//! from a bootstrap (B. Efron, "Bootstrap Methods", 1979).
//!
//! I/Os of a burst are alike, so that n of them tell less than n independent ones would. Counts are
//! resampled as if there were n divided by the index of dispersion of the arrivals.

use crate::counts::{Counts, LogHistogram};
use crate::model::{Model, Window};
use record::SplitMix64;
use serde::Serialize;

const ROUNDS: usize = 200;

/// How close a run comes to a trace in one property.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
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

/// Marks from here on need no advice.
pub const GOOD: f64 = 80.0;

/// The scores of a run, whose trace has the model `run`, against the trace with the model `traced`. Properties that
/// neither has are left out.
pub fn scores(traced: &Model, run: &Model, seed: u64) -> Vec<Score> {
    let mut scorer = Scorer { traced, run, random: SplitMix64::new(seed), scores: Vec::new() };
    scorer.all();
    scorer.scores
}

/// The mark of all: the mean of the marks.
pub fn mark(scores: &[Score]) -> f64 {
    scores.iter().map(|score| score.mark).sum::<f64>() / scores.len().max(1) as f64
}

struct Scorer<'a> {
    traced: &'a Model,
    run: &'a Model,
    random: SplitMix64,
    scores: Vec<Score>,
}

impl Scorer<'_> {
    fn all(&mut self) {
        let (a, b) = (&self.traced.parts, &self.run.parts);
        self.counts("read sizes", &a.sizes[0], &b.sizes[0], SIZES);
        self.counts("write sizes", &a.sizes[1], &b.sizes[1], SIZES);
        let mix = |model: &Model| {
            model.totals.reads as f64 / (model.totals.reads + model.totals.writes).max(1) as f64
        };
        self.share("reads among I/Os", mix, "give each stream its own share of reads (rwmixread)");
        self.share(
            "sequential I/Os",
            sequential,
            "set the length of runs (rw=randread:N), or use the model file",
        );
        self.times(
            "pauses",
            &a.gaps,
            &b.gaps,
            "use the model file: it draws pauses as they were seen",
        );
        self.locality();
        self.outstanding();
        self.syncs();
        self.rate("IOPS", |window| window.reads + window.writes, human_rate, RATE);
        self.rate("bandwidth", |window| window.bytes, record::human::rate, RATE);
        for (kind, name) in
            ["read latency", "write latency", "sync latency"].into_iter().enumerate()
        {
            self.times(name, &a.latency[kind], &b.latency[kind], LATENCY);
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
        if a.total() + b.total() == 0 {
            return;
        }
        let said = [a, b].map(|counts| {
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
        self.push(property, total_variation(a, b), ends, said, advice);
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
        let said = [a, b].map(|times| {
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
        self.push(property, quantile_distance(a, b, same), ends, said, advice);
    }

    fn share(&mut self, property: &'static str, of: fn(&Model) -> f64, advice: &'static str) {
        let (a, b) = (of(self.traced), of(self.run));
        let distance = (a - b).abs();
        let variance = |share: f64, model: &Model| {
            let n = (model.totals.reads + model.totals.writes) as f64 * Self::weight(model);
            share * (1.0 - share) / f64::max(n, 1.0)
        };
        let error = 1.96 * (variance(a, self.traced) + variance(b, self.run)).sqrt();
        let said = [record::human::percent(a), record::human::percent(b)];
        self.push(property, distance, (distance - error, distance + error), said, advice);
    }

    fn locality(&mut self) {
        let (a, b) = (&self.traced.parts.hits, &self.run.parts.hits);
        // Of equal differences the smallest cache is stated.
        let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect();
        let distance = apart.iter().copied().fold(0.0, f64::max);
        let Some(at) = apart.iter().position(|one| *one >= distance) else { return };
        let said = [a[at], b[at]].map(|hits| {
            let cache = record::human::size((crate::builder::BLOCK << (at + 6)) as f64);
            format!("{} hits in {cache}", record::human::percent(hits))
        });
        let n = (self.traced.totals.reads + self.traced.totals.writes) as f64
            * Self::weight(self.traced);
        let error = 1.96 * (0.5 / n.max(1.0)).sqrt();
        let advice = "use the model file: it draws reuse as it was seen; or make the files as large as they were";
        self.push("locality", distance, (distance - error, distance + error), said, advice);
    }

    /// The largest difference of the shares of time up to each number of outstanding I/Os.
    fn outstanding(&mut self) {
        let (a, b) = (&self.traced.outstanding, &self.run.outstanding);
        if a.len().max(b.len()) < 2 {
            return;
        }
        let (mut upto, mut distance) = ((0.0, 0.0), 0.0_f64);
        for depth in 0..a.len().max(b.len()) {
            upto.0 += a.get(depth).unwrap_or(&0.0);
            upto.1 += b.get(depth).unwrap_or(&0.0);
            distance = distance.max((upto.0 - upto.1).abs());
        }
        let windows = self.traced.windows.len().min(self.run.windows.len()).max(1) as f64;
        let error = 1.96 * (0.5 / windows).sqrt() * distance;
        let said = [self.traced, self.run]
            .map(|model| format!("{:.2} while busy", model.outstanding_mean));
        let advice =
            "threads wait for other things than storage: use the model file, or more or fewer jobs";
        self.push("outstanding I/Os", distance, (distance - error, distance + error), said, advice);
    }

    fn syncs(&mut self) {
        let cadence = |model: &Model| {
            let syncs = &model.syncs;
            let calls =
                syncs.fsync + syncs.fdatasync + syncs.range + syncs.all + syncs.durable_writes;
            calls as f64 / model.totals.writes.max(1) as f64
        };
        let (a, b) = (cadence(self.traced), cadence(self.run));
        if a + b == 0.0 || self.traced.totals.writes + self.run.totals.writes == 0 {
            return;
        }
        let distance = 1.0 - a.min(b) / a.max(b);
        let error = 1.96 * (1.0 / (1.0 + self.traced.totals.writes as f64 * a.min(1.0))).sqrt();
        let said = [a, b].map(|each| format!("{each:.3} for each write"));
        let advice = "set fsync, fdatasync or sync=dsync as the trace has it";
        self.push("durability", distance, (distance - error, distance + error), said, advice);
    }

    /// Rates by windows, which are resampled.
    fn rate(
        &mut self,
        property: &'static str,
        of: fn(&Window) -> f64,
        human: fn(f64) -> String,
        advice: &'static str,
    ) {
        let rates = |model: &Model| -> Vec<(f64, f64)> {
            model
                .windows
                .iter()
                .map(|window| (of(window) * window.seconds, window.seconds))
                .collect()
        };
        let (a, b) = (rates(self.traced), rates(self.run));
        let mean = |windows: &mut dyn Iterator<Item = (f64, f64)>| {
            let (sum, time) = windows.fold((0.0, 0.0), |(s, t), (sum, time)| (s + sum, t + time));
            if time > 0.0 { sum / time } else { 0.0 }
        };
        let apart = |a: f64, b: f64| if a.max(b) > 0.0 { 1.0 - a.min(b) / a.max(b) } else { 0.0 };
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
        let ends = interval(|| apart(again(&a), again(&b)));
        self.push(property, apart(x, y), ends, [human(x), human(y)], advice);
    }
}

const SIZES: &str = "a job has at most a few sizes (bssplit): use the model file, which keeps all";
const RATE: &str =
    "pauses or dependencies between streams differ: use the model file, and the same storage";
const LATENCY: &str = "the storage, its cache or the load beside it differs: run where the trace was taken, with \
                       files as large and as full";

fn human_rate(value: f64) -> String {
    format!("{} IOPS", record::human::count(value))
}

fn sequential(model: &Model) -> f64 {
    let moving = model.parts.steps.iter().filter(|step| step.key.kind.moves());
    let (all, following) = moving.fold((0, 0), |(a, s), step| (a + step.ios, s + step.sequential));
    following as f64 / all.max(1) as f64
}

/// Half the sum of the differences between shares.
fn total_variation(a: &Counts, b: &Counts) -> f64 {
    let shares = |counts: &Counts| -> std::collections::BTreeMap<u64, f64> {
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
