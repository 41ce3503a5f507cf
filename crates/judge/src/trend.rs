//! A figure over many runs: where its level changed, whether it drifts, and what changed on the machine
//! at that time.
//!
//! Levels are found by cutting the series in two where the ranks before and after differ most, and
//! each part again (Vostrikova 1981), over seeded intervals, so that a change which is taken back
//! is not hidden by that (Kovács, Bühlmann, Li and Munk, Biometrika 110, 2023). Whether a cut is more
//! than chance is asked of permutations of the values (as Matteson and James, Journal of the American
//! Statistical Association 109, 2014, do), which assumes nothing of how runs vary; ranks, because one
//! wild run is to count as one.

use crate::Measure;
use crate::checks::{Difference, environment_differences};
use crate::stats::{Random, median, trend};
use record::{RunRecord, Severity};

/// Runs that make a level: fewer are outliers.
pub const LEVEL_MIN: usize = 3;

/// False alarm rate: the share of series without a change in which one is found.
pub const CHANCE_MAX: f64 = 0.01;

/// Parts of a series are held to their share of that, for there are several; no less than this, which
/// permutations can just show.
const CHANCE_MIN: f64 = 0.002;

/// Smallest difference of levels that is reported, as a share.
const CHANGE_MIN: f64 = 0.01;

/// Number of permutations that test a cut.
const PERMUTATIONS: u32 = 999;

/// Runs that are looked at, the last ones.
pub const RUNS_MAX: usize = 2000;

/// The levels of a figure over many runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// Stretches of one level, in order; one when nothing changed, none without values.
    pub levels: Vec<Level>,
    /// Where one level ended and the next began.
    pub changes: Vec<Change>,
    /// It rises or falls steadily, which levels would describe worse; the change from the first run
    /// to the last as a share of the median. `changes` is empty then.
    pub drift: Option<f64>,
}

/// A stretch of runs that differ by chance only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// Its first run.
    pub from: usize,
    /// The first run after it.
    pub to: usize,
    /// The median of its runs.
    pub median: f64,
}

/// A change of level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// The first run of the new level.
    pub at: usize,
    /// The level before.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// Share of permutations of the runs that show as large a difference somewhere.
    pub chance: f64,
}

impl Change {
    /// New level over old; infinite where that was 0.
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// Finds the levels of a figure of runs in the order of time. The same values give the same result. Of
/// more than [`RUNS_MAX`] values, pass only the last.
pub fn find_levels(values: &[f64]) -> Levels {
    let mut cuts: Vec<(usize, f64)> = Vec::new();
    let mut random = Random::new(values.len() as u64);
    let mut pending = vec![(0, values.len())];
    while let Some((from, to)) = pending.pop() {
        let share = (to - from) as f64 / values.len().max(1) as f64;
        let chance_max = (CHANCE_MAX * share).max(CHANCE_MIN);
        if let Some((at, chance)) = cut(&values[from..to], chance_max, &mut random) {
            cuts.push((from + at, chance));
            pending.extend([(from, from + at), (from + at, to)]);
        }
    }
    cuts.sort_unstable_by_key(|cut| cut.0);
    let levels = levels(values, &cuts);
    let line = trend(values);
    if line.significant && line_fits_better(values, &levels) {
        let whole = Level { from: 0, to: values.len(), median: median(values) };
        return Levels { levels: vec![whole], changes: Vec::new(), drift: Some(line.total_change) };
    }
    without_small_changes(values, cuts)
}

/// Levels and changes, without changes that are too small.
fn without_small_changes(values: &[f64], mut cuts: Vec<(usize, f64)>) -> Levels {
    loop {
        let levels = levels(values, &cuts);
        let is_small = |pair: &[Level]| {
            let (before, after) = (pair[0].median, pair[1].median);
            (after - before).abs() < CHANGE_MIN * before.abs().max(after.abs())
        };
        match levels.windows(2).position(is_small) {
            Some(at) => drop(cuts.remove(at)),
            None => {
                let change = |(pair, cut): (&[Level], &(usize, f64))| Change {
                    at: cut.0,
                    before: pair[0].median,
                    after: pair[1].median,
                    chance: cut.1,
                };
                let changes = levels.windows(2).zip(&cuts).map(change).collect();
                return Levels { levels, changes, drift: None };
            }
        }
    }
}

fn levels(values: &[f64], cuts: &[(usize, f64)]) -> Vec<Level> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.0).collect();
    ends.push(values.len());
    let mut from = 0;
    let mut levels = Vec::new();
    for to in ends.into_iter().filter(|_| !values.is_empty()) {
        levels.push(Level { from, to, median: median(&values[from..to]) });
        from = to;
    }
    levels
}

/// The cut with the largest difference of ranks and its p-value; `None` when that is not small enough.
fn cut(values: &[f64], chance_max: f64, random: &mut Random) -> Option<(usize, f64)> {
    let ranks = ranks(values);
    let intervals = seeded(values.len());
    let (found, at) = furthest(&ranks, &intervals)?;
    let mut shuffled = ranks;
    let as_far_max = (chance_max * f64::from(PERMUTATIONS + 1)) as u32;
    let mut as_far = 1;
    for _ in 0..PERMUTATIONS {
        for place in (1..shuffled.len()).rev() {
            shuffled.swap(place, random.below(place + 1));
        }
        // Rounding must not make equal values differ.
        as_far += u32::from(furthest(&shuffled, &intervals)?.0 >= found - 1e-9);
        if as_far > as_far_max {
            return None;
        }
    }
    Some((at, f64::from(as_far) / f64::from(PERMUTATIONS + 1)))
}

/// Ranks from 1; equal values share the middle of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for same in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let below = order.partition_point(|other| values[*other] < values[same[0]]);
        let rank = below as f64 + (same.len() + 1) as f64 / 2.0;
        same.iter().for_each(|at| ranks[*at] = rank);
    }
    ranks
}

/// Intervals (from, to) of every scale: all of it, then shorter by the square root of two each time,
/// each half over the one before.
fn seeded(count: usize) -> Vec<(usize, usize)> {
    let mut found = vec![(0, count)];
    let mut length = count as f64;
    loop {
        length /= std::f64::consts::SQRT_2;
        let whole = length.ceil() as usize;
        if whole < 4 * LEVEL_MIN {
            return found;
        }
        let places = (2.0 * (count as f64 / length).ceil()) as usize - 1;
        let step = (count - whole) as f64 / (places - 1).max(1) as f64;
        found.extend((0..places).map(|place| {
            let from = (place as f64 * step).floor() as usize;
            (from, (from + whole).min(count))
        }));
    }
}

/// The largest difference of the mean ranks before and after a cut, in units of what it varies by, over
/// all cuts of all intervals; and where. `None` when nothing can be cut.
fn furthest(ranks: &[f64], intervals: &[(usize, usize)]) -> Option<(f64, usize)> {
    let mut sums = Vec::with_capacity(ranks.len() + 1);
    let mut sum = 0.0;
    sums.push(0.0);
    for rank in ranks {
        sum += rank;
        sums.push(sum);
    }
    let mut best: Option<(f64, usize)> = None;
    for (from, to) in intervals.iter().filter(|(from, to)| to - from >= 2 * LEVEL_MIN) {
        for at in from + LEVEL_MIN..=to - LEVEL_MIN {
            let (before, after) = ((at - from) as f64, (to - at) as f64);
            let means = ((sums[at] - sums[*from]) / before, (sums[*to] - sums[at]) / after);
            let apart = (means.0 - means.1).abs() * (before * after / (before + after)).sqrt();
            if best.is_none_or(|(most, _)| apart > most) {
                best = Some((apart, at));
            }
        }
    }
    best
}

/// Whether a straight line describes the values better than the levels do: by the Bayesian criterion
/// for errors whose absolute values count (Laplace), a level being a height and a place.
fn line_fits_better(values: &[f64], levels: &[Level]) -> bool {
    let count = values.len() as f64;
    let slope = trend(values).slope_per_step;
    let rest: Vec<f64> =
        (0_u32..).zip(values).map(|(n, value)| value - slope * f64::from(n)).collect();
    let start = median(&rest);
    let off_line: f64 = rest.iter().map(|value| (value - start).abs()).sum();
    let off = |level: &Level| -> f64 {
        values[level.from..level.to].iter().map(|value| (value - level.median).abs()).sum()
    };
    let off_levels: f64 = levels.iter().map(off).sum();
    let cost = |off: f64, parameters: f64| {
        2.0 * count * off.max(f64::MIN_POSITIVE).ln() + parameters * count.ln()
    };
    levels.len() > 1 && cost(off_line, 2.0) < cost(off_levels, 2.0 * levels.len() as f64 - 1.0)
}

/// Something of the machine that changed at or next to a change of level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coincidence {
    /// The first run in the new environment, of all runs.
    pub at: usize,
    /// What changed.
    pub difference: Difference,
}

/// Runs before and after a change where environments are compared: ranks cannot place a change closer
/// when a run beside it is unlike its level.
pub const AROUND: usize = 2;

/// The runs to be had for [`coincidences`] of a change, of `count` runs.
pub fn around(change: &Change, count: usize) -> std::ops::Range<usize> {
    change.at.saturating_sub(AROUND)..(change.at + AROUND).min(count)
}

/// The changes of the environment within the runs [`around`] a change, those at the change itself
/// first, grave ones before light ones; `first` is the number of the first of the runs.
pub fn coincidences(change: &Change, first: usize, runs: &[&RunRecord]) -> Vec<Coincidence> {
    let mut found: Vec<Coincidence> = Vec::new();
    for (index, pair) in runs.windows(2).enumerate() {
        let at = first + index + 1;
        let differences = environment_differences(pair[0], pair[1]);
        found.extend(differences.into_iter().map(|difference| Coincidence { at, difference }));
    }
    found.sort_by_key(|one| (one.at.abs_diff(change.at), !one.difference.is_grave));
    found
}

/// A run with its figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Its short id.
    pub id: String,
    /// Start of the run, in milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// Offset of local time from UTC, in seconds.
    pub utc_offset_seconds: i32,
    /// The figure, in the unit of its measure.
    pub value: f64,
}

/// A figure of the runs of one workload over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// The workload ("randread: randread 4k, libaio, depth 32, on web1").
    pub workload: String,
    /// The figure.
    pub measure: Measure,
    /// The runs, in the order of time.
    pub runs: Vec<Run>,
    /// The levels of the figure and their changes.
    pub course: Levels,
    /// For each change of the course, what changed on the machine at that time.
    pub coincidences: Vec<Vec<Coincidence>>,
}

impl Trend {
    /// Finds the changes of a figure. `load` reads the record of the run at a position; it is called
    /// only for runs next to a change.
    pub fn new<E>(
        workload: String,
        measure: Measure,
        runs: Vec<Run>,
        load: impl Fn(usize) -> Result<RunRecord, E>,
    ) -> Result<Trend, E> {
        let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
        let course = find_levels(&values);
        let coincidences = course.changes.iter().map(|change| {
            let range = around(change, runs.len());
            let records: Vec<RunRecord> = range.clone().map(&load).collect::<Result<_, E>>()?;
            Ok(coincidences(change, range.start, &records.iter().collect::<Vec<_>>()))
        });
        let coincidences = coincidences.collect::<Result<_, E>>()?;
        Ok(Trend { workload, measure, runs, course, coincidences })
    }

    /// Whether a change is "better" or "worse", and its severity. A higher latency is worse.
    pub fn assess(&self, change: &Change) -> (&'static str, Severity) {
        match (change.after > change.before) == self.measure.is_rate() {
            true => ("better", Severity::Note),
            false => ("worse", Severity::Warning),
        }
    }
}

#[cfg(test)]
mod tests;
