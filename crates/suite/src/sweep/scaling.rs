//! How throughput scales with the number of ranks or of jobs.
//!
//! The Universal Scalability Law (N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007, chapters 4
//! to 6): of N workers, X(N) = λN / (1 + σ(N − 1) + κN(N − 1)). λ is the throughput of one, σ the share that
//! is done one after the other (contention), κ the share that each pair costs (coherency). With κ above 0
//! the throughput has a maximum, at N = √((1 − σ) / κ).
//!
//! N / X(N) is linear in N − 1 and N(N − 1). The three coefficients are fitted to it by least squares of
//! relative errors, none of them below 0. Intervals come from a bootstrap of the residuals, so that they
//! include what the law does not explain.

use crate::estimate::Estimated;
use crate::grid::{self, Dimension, Grid};
use judge::Measure;
use judge::stats::Random;
use record::RecordSet;

/// Fewest numbers of workers that a curve is fitted to: one more than it has coefficients.
const NUMBERS_MIN: usize = 4;
/// Fewest runs that intervals come from.
const RUNS_MIN: usize = 6;
const RESAMPLES: usize = 1000;
/// The law is not followed where it is off by more than this share.
const DEVIATION_MAX: f64 = 0.15;

/// How throughput scales.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scaling {
    /// The dimension: "ranks" or "numjobs".
    pub dimension: String,
    /// Values of the other dimensions ("bs=4k"); empty where there are none.
    pub at: String,
    /// The figure ("iops").
    pub figure: String,
    /// Throughput of one (λ).
    pub one: Estimated,
    /// Contention (σ).
    pub contention: Estimated,
    /// Coherency (κ).
    pub coherency: Estimated,
    /// The number with the most throughput; `None` if more workers always have more.
    pub peak: Option<Estimated>,
    /// The most throughput that any number of workers has by the law; `None` if it has no limit.
    pub most: Option<Estimated>,
    /// The largest number measured.
    pub largest: f64,
    /// What the largest number reaches of the throughput of one, multiplied by it.
    pub efficiency: f64,
    /// The largest deviation of a cell from the law, as a share.
    pub deviation: f64,
}

impl Scaling {
    /// Whether the law describes the cells.
    pub fn is_followed(&self) -> bool {
        self.deviation <= DEVIATION_MAX
    }
}

/// The law with its coefficients, as 1/λ, σ/λ and κ/λ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Law([f64; 3]);

impl Law {
    /// The terms that the coefficients multiply.
    fn terms(number: f64) -> [f64; 3] {
        [1.0, number - 1.0, number * (number - 1.0)]
    }

    fn throughput(self, number: f64) -> f64 {
        let time: f64 = self.0.iter().zip(Law::terms(number)).map(|(c, term)| c * term).sum();
        number / time
    }

    fn rate_of_one(self) -> f64 {
        1.0 / self.0[0]
    }

    fn contention(self) -> f64 {
        self.0[1] / self.0[0]
    }

    fn coherency(self) -> f64 {
        self.0[2] / self.0[0]
    }

    /// The number with the most throughput; infinite without one.
    fn peak(self) -> f64 {
        ((1.0 - self.contention()).max(0.0) / self.coherency()).sqrt().max(1.0)
    }

    /// The most throughput; infinite without a limit.
    fn rate_max(self) -> f64 {
        match self.peak() {
            peak if peak.is_finite() => self.throughput(peak),
            _ => self.rate_of_one() / self.contention(),
        }
    }

    /// Fits the law to (number of workers, throughput).
    fn fit(points: &[(f64, f64)]) -> Option<Law> {
        // Of the coefficients that may be 0, any may be: the best of all choices counts.
        let choices = [&[0, 1, 2][..], &[0, 1], &[0, 2], &[0]];
        let fits = choices.iter().filter_map(|free| Law::fit_some(points, free));
        let allowed = fits.filter(|law| law.0[0] > 0.0 && law.0.iter().all(|c| *c >= 0.0));
        let error = |law: &Law| -> f64 {
            points.iter().map(|(n, x)| (x / law.throughput(*n) - 1.0).powi(2)).sum()
        };
        allowed.min_by(|a, b| error(a).total_cmp(&error(b)))
    }

    /// Least squares of relative errors, with these coefficients; the others are 0.
    fn fit_some(points: &[(f64, f64)], free: &[usize]) -> Option<Law> {
        let size = free.len();
        let mut equations = vec![vec![0.0; size + 1]; size];
        for (number, throughput) in points {
            // The weight of an error is that of N / X in 1.
            let scale = throughput / number;
            let terms = Law::terms(*number).map(|term| term * scale);
            for (row, i) in equations.iter_mut().zip(free) {
                for (place, j) in row.iter_mut().zip(free) {
                    *place += terms[*i] * terms[*j];
                }
                row[size] += terms[*i];
            }
        }
        let mut law = Law::default();
        for (value, index) in solve(equations)?.into_iter().zip(free) {
            law.0[*index] = value;
        }
        Some(law)
    }
}

/// Solves linear equations, each with its right side at the end; `None` if they have no single solution.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let first = rows[column].clone();
        if first[column].abs() <= f64::EPSILON * first.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
        {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != column) {
            let factor = row[column] / first[column];
            row.iter_mut().zip(&first).for_each(|(value, other)| *value -= factor * other);
        }
    }
    Some((0..size).map(|row| rows[row][size] / rows[row][row]).collect())
}

/// Scaling over each dimension of numbers of ranks or jobs, for each combination of the others.
pub(super) fn conclude(set: &RecordSet, measures: &[Measure], axes: &[Dimension]) -> Vec<Scaling> {
    let is_number_of_workers = |dimension: &Dimension| {
        let option = dimension.name.rsplit('/').next();
        matches!(option, Some("ranks" | "numjobs"))
    };
    let mut found = Vec::new();
    for (index, axis) in axes.iter().enumerate().filter(|(_, axis)| is_number_of_workers(axis)) {
        for measure in measures.iter().filter(|measure| measure.is_rate()) {
            let grid = Grid::over(set, measure, axes.to_vec());
            for place in grid::places_of_others(axes, index) {
                let curve = curve(&grid, index, &place);
                found.extend(scaling(&curve, set.seed).map(|scaling| Scaling {
                    dimension: axis.name.clone(),
                    at: grid::name_of_others(axes, index, &place),
                    figure: measure.name(),
                    ..scaling
                }));
            }
        }
    }
    found
}

/// The throughput of each run, with its number of workers.
fn curve(grid: &Grid, index: usize, place: &[usize]) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for (value, at) in grid.dimensions[index].values.iter().zip(0..) {
        let mut place = place.to_vec();
        place[index] = at;
        if let (Some(number), Some(measured)) = (value.number, grid.at(&place).measured()) {
            points.extend(measured.values.iter().filter(|x| **x > 0.0).map(|x| (number, *x)));
        }
    }
    points
}

fn scaling(points: &[(f64, f64)], seed: u64) -> Option<Scaling> {
    let mut numbers: Vec<f64> = points.iter().map(|(number, _)| *number).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    if numbers.len() < NUMBERS_MIN {
        return None;
    }
    let law = Law::fit(points)?;
    let resampled = resampled(law, points, seed);
    let estimated = |figure: fn(Law) -> f64| {
        let interval = resampled.as_ref().map(|laws| {
            let mut values: Vec<f64> = laws.iter().map(|law| figure(*law)).collect();
            values.sort_by(f64::total_cmp);
            let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
            (at(0.025), at(0.975))
        });
        Estimated { value: figure(law), interval }
    };
    let if_finite = |figure: fn(Law) -> f64| {
        Some(estimated(figure)).filter(|estimated| estimated.value.is_finite())
    };
    let mean = |number: f64| {
        let here: Vec<f64> = points.iter().filter(|(n, _)| *n == number).map(|(_, x)| *x).collect();
        here.iter().sum::<f64>() / here.len() as f64
    };
    let off = |number: &f64| (mean(*number) / law.throughput(*number) - 1.0).abs();
    let largest = numbers[numbers.len() - 1];
    Some(Scaling {
        one: estimated(Law::rate_of_one),
        contention: estimated(Law::contention),
        coherency: estimated(Law::coherency),
        peak: if_finite(Law::peak),
        most: if_finite(Law::rate_max),
        largest,
        efficiency: mean(largest) / (law.rate_of_one() * largest),
        deviation: numbers.iter().map(off).fold(0.0, f64::max),
        ..Scaling::default()
    })
}

/// The laws of resamples: the fitted curve, with errors drawn from those of the runs.
fn resampled(law: Law, points: &[(f64, f64)], seed: u64) -> Option<Vec<Law>> {
    if points.len() < RUNS_MIN {
        return None;
    }
    let count = points.len() as f64;
    // Residuals of a fit are smaller than errors, by the coefficients that it has.
    let wider = (count / (count - 3.0)).sqrt();
    let error = |(number, x): &(f64, f64)| (x / law.throughput(*number) - 1.0) * wider;
    let errors: Vec<f64> = points.iter().map(error).collect();
    let mut random = Random::new(seed);
    let laws = (0..RESAMPLES).filter_map(|_| {
        let mut drawn = |(number, _): &(f64, f64)| {
            let error = errors[random.below(errors.len())];
            (*number, law.throughput(*number) * (1.0 + error).max(0.01))
        };
        Law::fit(&points.iter().map(&mut drawn).collect::<Vec<_>>())
    });
    Some(laws.collect()).filter(|laws: &Vec<Law>| laws.len() > RESAMPLES / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(one: f64, contention: f64, coherency: f64) -> Law {
        Law([1.0 / one, contention / one, coherency / one])
    }

    /// Runs of a law with errors of up to this share, `repeats` of each number.
    fn runs(law: Law, numbers: &[f64], repeats: u32, error: f64, seed: u64) -> Vec<(f64, f64)> {
        let mut random = Random::new(seed);
        let mut all = Vec::new();
        for _ in 0..repeats {
            for number in numbers {
                let drawn = random.below(20_001) as f64 / 10_000.0 - 1.0;
                all.push((*number, law.throughput(*number) * (1.0 + drawn * error)));
            }
        }
        all
    }

    const NUMBERS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    #[test]
    fn exact_figures_give_the_coefficients() {
        for (one, contention, coherency) in
            [(1000.0, 0.05, 0.001), (12.5, 0.2, 0.0), (3e6, 0.0, 0.0), (70.0, 0.0, 0.01)]
        {
            let found =
                scaling(&runs(law(one, contention, coherency), &NUMBERS, 2, 0.0, 1), 1).unwrap();
            assert!((found.one.value / one - 1.0).abs() < 1e-6, "{found:?}");
            assert!((found.contention.value - contention).abs() < 1e-6, "{found:?}");
            assert!((found.coherency.value - coherency).abs() < 1e-7, "{found:?}");
            assert!(found.deviation < 1e-6 && found.is_followed());
        }
        // √(0.95 / 0.001) = 30.82; X there is 1000 · 30.82 / (1 + 0.05 · 29.82 + 0.001 · 30.82 · 29.82).
        let found = scaling(&runs(law(1000.0, 0.05, 0.001), &NUMBERS, 1, 0.0, 1), 1).unwrap();
        assert!((found.peak.unwrap().value - 30.822).abs() < 0.01, "{found:?}");
        assert!((found.most.unwrap().value - 9038.0).abs() < 1.0, "{found:?}");
        let contended = scaling(&runs(law(10.0, 0.25, 0.0), &NUMBERS, 1, 0.0, 1), 1).unwrap();
        assert_eq!(contended.peak, None);
        assert!((contended.most.unwrap().value - 40.0).abs() < 1e-3, "{contended:?}");
        let linear = scaling(&runs(law(10.0, 0.0, 0.0), &NUMBERS, 1, 0.0, 1), 1).unwrap();
        assert!((linear.efficiency - 1.0).abs() < 1e-9);
    }

    #[test]
    fn intervals_hold_the_true_value_in_most_cases() {
        let truth = law(1000.0, 0.06, 0.0008);
        let mut held = [0; 3];
        for seed in 0..100 {
            let found = scaling(&runs(truth, &NUMBERS, 3, 0.05, seed), seed).unwrap();
            let figures =
                [(found.one, 1000.0), (found.contention, 0.06), (found.coherency, 0.0008)];
            for (count, (estimated, true_value)) in held.iter_mut().zip(figures) {
                let (low, high) = estimated.interval.unwrap();
                *count += u32::from((low..=high).contains(&true_value));
            }
        }
        assert!(held.iter().all(|held| *held >= 88), "{held:?}");
    }

    #[test]
    fn few_numbers_or_another_law_are_told() {
        assert_eq!(scaling(&runs(law(10.0, 0.1, 0.0), &[1.0, 2.0, 4.0], 5, 0.0, 1), 1), None);
        let stairs = [(1.0, 10.0), (2.0, 10.0), (3.0, 30.0), (4.0, 10.0), (5.0, 50.0)];
        let found = scaling(&stairs, 1).unwrap();
        assert!(!found.is_followed() && found.one.interval.is_none(), "{found:?}");
    }
}
