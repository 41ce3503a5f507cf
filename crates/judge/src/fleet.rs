//! What the ranks of a fleet show together. The jobs of its record are sums; what a rank saw of its host
//! it judged itself, and this puts that together.

use crate::metrics::window::per_second;
use crate::verdict::{Confidence, Limit, Verdict};
use record::human::list_up_to;
use record::{Direction, Fleet, FleetWindow, PerDirection, RankGroup, RankRecord, RankVerdict};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::collections::BTreeMap;

/// A rank that reaches less than this share of the others' median may be a straggler.
const SLOW: f64 = 0.8;
/// The highest probability of an observation so one-sided, were all ranks alike; for all ranks together.
const PROBABILITY_MAX: f64 = 0.01;
/// Ranks named one by one.
const NAMED: usize = 4;

/// One group of jobs in the window in which all ranks ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetFigures {
    /// Number of the group.
    pub group: u32,
    /// Ranks that ran during the whole window.
    pub ranks: u32,
    /// Length of the window, in nanoseconds; 0 if the ranks had no time in common.
    pub window_ns: u64,
    /// From the first rank's start to the last one's end, in nanoseconds.
    pub span_ns: u64,
    /// From the first rank's start to the last one's, in nanoseconds, of the ranks in the window.
    pub skew_ns: u64,
    /// The skew is at most this far off, in nanoseconds: the bounds of two clocks.
    pub skew_bound_ns: u64,
    /// (I/Os a second, bytes a second) of all ranks in the window.
    pub rates: PerDirection<(f64, f64)>,
    /// I/Os a second of each rank in the window: (its number, its rate), in order.
    pub by_rank: Vec<(u32, f64)>,
    /// Ranks that are slower than the others, the slowest first.
    pub stragglers: Vec<Straggler>,
    /// Ranks that did not run during the whole window.
    pub outside: Vec<u32>,
}

/// A rank that is slower than the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Straggler {
    /// Its number.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// I/Os a second in the window.
    pub iops: f64,
    /// The median of the others that did the same work.
    pub others: f64,
    /// The parts of the window in which it made fewer I/Os than the median of the others did.
    pub slower_in: u32,
    /// The parts of the window.
    pub parts: u32,
    /// The probability that any rank is slower in so many parts by chance (binomial test, one side,
    /// Bonferroni's correction for the number of ranks).
    pub probability: f64,
}

/// The figures of each group of jobs.
pub fn fleet_figures(fleet: &Fleet) -> Vec<FleetFigures> {
    fleet.windows.iter().map(|window| figures(fleet, window)).collect()
}

fn figures(fleet: &Fleet, window: &FleetWindow) -> FleetFigures {
    let all = fleet.ranks.iter().filter_map(|rank| Some((rank, rank.group(window.group)?)));
    let (within, outside): (Vec<_>, Vec<_>) = all.partition(|(_, g)| g.in_window);
    let window_ns = (window.end - window.start).0;
    let starts = || within.iter().map(|(_, group)| group.started.0);
    let mut bounds: Vec<u64> = within.iter().filter_map(|(rank, _)| rank.clock.bound()).collect();
    bounds.sort_unstable();
    let sum = |d: Direction| {
        let each = within.iter().map(|(_, group)| group.within[d]);
        each.fold((0, 0), |sum, (ios, bytes)| (sum.0 + ios, sum.1 + bytes.0))
    };
    FleetFigures {
        group: window.group,
        ranks: within.len() as u32,
        window_ns,
        span_ns: window.span.0,
        skew_ns: starts().max().unwrap_or(0) - starts().min().unwrap_or(0),
        skew_bound_ns: bounds.iter().rev().take(2).sum(),
        rates: PerDirection::from_fn(|d| {
            let (ios, bytes) = sum(d);
            (per_second(ios, window_ns), per_second(bytes, window_ns))
        }),
        by_rank: within.iter().map(|(r, g)| (r.rank, per_second(g.ios(), window_ns))).collect(),
        stragglers: if window_ns == 0 { Vec::new() } else { stragglers(&within, window_ns) },
        outside: outside.iter().map(|(rank, _)| rank.rank).collect(),
    }
}

/// Stragglers among the ranks that did the same work. Writers beside readers, or ranks with rates of their own,
/// are not slow.
fn stragglers(ranks: &[(&RankRecord, &RankGroup)], window_ns: u64) -> Vec<Straggler> {
    let mut by_work: BTreeMap<u64, Vec<(&RankRecord, &RankGroup)>> = BTreeMap::new();
    for (rank, group) in ranks {
        by_work.entry(group.work).or_default().push((*rank, *group));
    }
    let of_work = |alike: &Vec<_>| stragglers_among(alike, ranks.len(), window_ns);
    let mut found: Vec<Straggler> = by_work.values().flat_map(of_work).collect();
    found.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    found
}

/// `tried`: the ranks of all kinds of work, each of which may be slow by chance.
fn stragglers_among(
    ranks: &[(&RankRecord, &RankGroup)],
    tried: usize,
    window_ns: u64,
) -> Vec<Straggler> {
    if ranks.len() < 2 {
        return Vec::new();
    }
    let parts = ranks.iter().map(|(_, group)| group.parts.len()).min().unwrap_or(0);
    // Sorted once: the median without one of them follows from its place.
    let sorted = |pick: &dyn Fn(&RankGroup) -> u64| {
        let mut all: Vec<u64> = ranks.iter().map(|(_, group)| pick(group)).collect();
        all.sort_unstable();
        all
    };
    let by_part: Vec<Vec<u64>> = (0..parts).map(|part| sorted(&|g| g.parts[part])).collect();
    let whole = sorted(&RankGroup::ios);
    let slow = |(rank, group): &(&RankRecord, &RankGroup)| {
        let own = group.ios();
        let others = median_without(&whole, own);
        if own as f64 >= SLOW * others {
            return None;
        }
        let is_slower = |part: &usize| {
            (group.parts[*part] as f64) < median_without(&by_part[*part], group.parts[*part])
        };
        let slower_in = (0..parts).filter(is_slower).count() as u64;
        let by_chance = Binomial::new(0.5, parts as u64).ok()?;
        let one = if slower_in == 0 { 1.0 } else { by_chance.sf(slower_in - 1) };
        let probability = (one * tried as f64).min(1.0);
        (probability <= PROBABILITY_MAX).then(|| Straggler {
            rank: rank.rank,
            host: rank.host.clone(),
            iops: per_second(own, window_ns),
            others: others * 1e9 / window_ns as f64,
            slower_in: slower_in as u32,
            parts: parts as u32,
            probability,
        })
    };
    ranks.iter().filter_map(slow).collect()
}

/// The median of sorted values without one of them.
fn median_without(sorted: &[u64], value: u64) -> f64 {
    let place = sorted.partition_point(|other| *other < value);
    let at = |index: usize| sorted[if index < place { index } else { index + 1 }] as f64;
    let count = sorted.len() - 1;
    if count % 2 == 1 { at(count / 2) } else { (at(count / 2 - 1) + at(count / 2)) / 2.0 }
}

/// "rank 3 on a", "ranks 1, 2 and 7": with the host where there is one rank.
pub(crate) fn named(ranks: &[&RankRecord]) -> String {
    match ranks {
        [one] => one.label(),
        _ => {
            let numbers: Vec<String> = ranks.iter().map(|rank| rank.rank.to_string()).collect();
            format!("ranks {}", list_up_to(&numbers, NAMED))
        }
    }
}

/// What limited each job, by what the ranks say: the limit of most of them.
pub(crate) fn verdicts(fleet: &Fleet) -> Vec<Verdict> {
    let mut jobs: Vec<(&str, Vec<(&RankRecord, &RankVerdict)>)> = Vec::new();
    for rank in &fleet.ranks {
        for verdict in &rank.verdicts {
            match jobs.iter_mut().find(|(job, _)| *job == verdict.job) {
                Some((_, all)) => all.push((rank, verdict)),
                None => jobs.push((&verdict.job, vec![(rank, verdict)])),
            }
        }
    }
    jobs.into_iter().filter_map(|(job, all)| verdict_of(job, &all)).collect()
}

fn verdict_of(job: &str, all: &[(&RankRecord, &RankVerdict)]) -> Option<Verdict> {
    let mut limits: BTreeMap<Limit, Vec<(&RankRecord, &RankVerdict)>> = BTreeMap::new();
    for (rank, verdict) in all {
        limits.entry(Limit::of_name(&verdict.limit)).or_default().push((rank, verdict));
    }
    let (limit, most) = limits.iter().max_by_key(|(_, ranks)| ranks.len())?;
    let confidence = most.iter().map(|(_, verdict)| Confidence::of_name(&verdict.confidence)).min();
    let confidence = match most.len() == all.len() {
        true => confidence?,
        // Ranks that disagree are not all limited by it.
        false => confidence?.min(Confidence::Medium),
    };
    let (first, words) = most[0];
    let say = match most.len() == all.len() {
        true => "all ranks say so".to_owned(),
        false => format!("{} of {} ranks say so", most.len(), all.len()),
    };
    let mut because = format!("{say}; rank {}: {}", first.rank, words.because);
    for (other, ranks) in limits.iter().filter(|(other, _)| *other != limit) {
        let ranks: Vec<&RankRecord> = ranks.iter().map(|(rank, _)| *rank).collect();
        because += &format!("; {}: {}", named(&ranks), other.name());
    }
    Some(Verdict {
        job: job.to_owned(),
        limit: *limit,
        confidence,
        because: because.into(),
        figures: Vec::new(),
        valid_for: words.valid_for.clone(),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use record::{Bytes, Nanos, RunRecord, WINDOW_PARTS};

    /// Ranks that made so many I/Os in each part of a window of 24 s, with some noise.
    pub fn fleet(rates: &[u64]) -> RunRecord {
        let rank = |(number, rate): (usize, &u64)| {
            let noise = |part: usize| (part * 7 + number * 5) as u64 % 11;
            let parts: Vec<u64> = (0..WINDOW_PARTS).map(|part| rate * 100 + noise(part)).collect();
            // Shares of I/Os that a part cuts are rounded down in each, so the parts have fewer than the window.
            let ios = parts.iter().sum::<u64>() + 5;
            let mut within = PerDirection::all((0, Bytes(0)));
            within.read = (ios, Bytes(ios * 4096));
            RankRecord {
                rank: number as u32,
                host: format!("node{number}"),
                kernel: "6.1.0".into(),
                version: "1".into(),
                groups: vec![RankGroup {
                    started: Nanos(number as u64 * 1000),
                    ended: Nanos(25_000_000_000),
                    in_window: true,
                    within,
                    parts,
                    ..RankGroup::default()
                }],
                ..RankRecord::default()
            }
        };
        let ranks: Vec<RankRecord> = rates.iter().enumerate().map(rank).collect();
        let window = FleetWindow {
            start: Nanos(1_000_000_000),
            end: Nanos(25_000_000_000),
            span: Nanos(26_000_000_000),
            ..FleetWindow::default()
        };
        let fleet = Fleet { ranks, windows: vec![window], ..Fleet::default() };
        RunRecord { fleet: Some(fleet), ..RunRecord::default() }
    }

    fn figures_of(rates: &[u64]) -> FleetFigures {
        fleet_figures(fleet(rates).fleet.as_ref().unwrap()).remove(0)
    }

    #[test]
    fn rates_of_ranks_are_added_over_the_common_window() {
        let figures = figures_of(&[10, 10, 10]);
        let ios: f64 = figures.by_rank.iter().map(|(_, rate)| rate).sum();
        assert!((figures.rates.read.0 - ios).abs() < 1e-6 && ios > 3000.0, "{figures:?}");
        assert!((figures.rates.read.1 - ios * 4096.0).abs() < 1e-3);
        assert_eq!((figures.skew_ns, figures.window_ns), (2000, 24_000_000_000));
        assert!(figures.stragglers.is_empty());
    }

    #[test]
    fn a_straggler_is_named_and_one_that_varies_is_not() {
        let figures = figures_of(&[10, 10, 6, 10, 10]);
        let [found] = &figures.stragglers[..] else { panic!("{figures:?}") };
        assert_eq!((found.rank, found.host.as_str(), found.slower_in), (2, "node2", 24));
        assert!(found.probability < 1e-5 && found.iops < 0.7 * found.others);
        assert!(
            figures_of(&[10, 10, 9, 10]).stragglers.is_empty(),
            "10 % are within what hosts differ by"
        );
        let mut burst = fleet(&[10, 10, 10, 10]);
        let group = &mut burst.fleet.as_mut().unwrap().ranks[1].groups[0];
        group.parts[..8].fill(0);
        group.within.read.0 = group.parts.iter().sum();
        let figures = fleet_figures(burst.fleet.as_ref().unwrap()).remove(0);
        assert!(figures.stragglers.is_empty(), "one pause makes no straggler: {figures:?}");
        assert_eq!(figures_of(&[3, 10]).stragglers.len(), 1);
    }

    #[test]
    fn ranks_are_compared_with_those_that_did_the_same_work() {
        let of_work = |rates: &[u64], works: &[u64]| {
            let mut record = fleet(rates);
            let ranks = &mut record.fleet.as_mut().unwrap().ranks;
            ranks.iter_mut().zip(works).for_each(|(rank, work)| rank.groups[0].work = *work);
            let figures = fleet_figures(record.fleet.as_ref().unwrap()).remove(0);
            figures.stragglers.iter().map(|slow| slow.rank).collect::<Vec<_>>()
        };
        // Writers beside readers, and rates of the ranks' own.
        assert_eq!(of_work(&[10, 10, 3, 3], &[1, 1, 2, 2]), [0; 0]);
        assert_eq!(of_work(&[1, 2, 3, 4], &[1, 2, 3, 4]), [0; 0]);
        let mut alike = of_work(&[10, 10, 3, 3], &[1; 4]);
        alike.sort_unstable();
        assert_eq!(alike, [2, 3]);
        // A slow reader among readers that are slower than the writers.
        assert_eq!(of_work(&[30, 30, 10, 5, 10, 10], &[1, 1, 2, 2, 2, 2]), [3]);
        assert_eq!(of_work(&[30, 10, 10, 5, 10], &[0; 5]), [3], "records of earlier versions");
    }

    #[test]
    fn the_verdict_is_that_of_most_ranks() {
        let mut record = fleet(&[10, 10, 10]);
        let ranks = &mut record.fleet.as_mut().unwrap().ranks;
        for (rank, limit) in ranks.iter_mut().zip(["device", "device", "CPU"]) {
            rank.verdicts = vec![RankVerdict {
                job: "j".into(),
                limit: limit.into(),
                confidence: "high".into(),
                because: format!("{limit} was busy"),
                valid_for: "x".into(),
            }];
        }
        let verdict = verdicts(record.fleet.as_ref().unwrap()).remove(0);
        assert_eq!((verdict.limit, verdict.confidence), (Limit::Device, Confidence::Medium));
        let text = verdict.because.to_string();
        assert_eq!(text, "2 of 3 ranks say so; rank 0: device was busy; rank 2 on node2: CPU");
    }
}
