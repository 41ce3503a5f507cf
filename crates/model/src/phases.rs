//! Change points: the segmentation of windows that costs least, by dynamic programming (B. Jackson et al.,
//! "An Algorithm for Optimal Partitioning of Data on an Interval", 2005). The cost of a segment is the
//! variation of its windows around their mean, in units of the noise between neighbours.

/// The shortest phase, in rows.
const SHORTEST: usize = 4;
/// The most phases.
const MOST: usize = 8;
/// Neighbours whose means are closer than this in every column are one phase: a quarter of a rate.
const SAME: f64 = 0.25;

/// Starts of the segments of `rows`, whose columns are comparable; the first is 0. No segment has fewer
/// than `shortest` rows.
pub fn change_points(rows: &[Vec<f64>], shortest: usize) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    // Shorter than a sixteenth, it is a disturbance.
    let shortest = SHORTEST.max(rows.len() / 16).max(shortest);
    if rows.len() < 2 * shortest || columns == 0 {
        return vec![0];
    }
    let noise: Vec<f64> = (0..columns).map(|column| noise_of(rows, column)).collect();
    let sums = prefix_sums(rows, &noise);
    let mut penalty = 4.0 * columns as f64 * (rows.len() as f64).ln();
    loop {
        let mut starts = cheapest(rows.len(), &sums, penalty, shortest);
        join_alike(&mut starts, rows);
        if starts.len() <= MOST {
            return starts;
        }
        penalty *= 2.0;
    }
}

/// Removes the starts of segments that are like those before them, the most alike first.
fn join_alike(starts: &mut Vec<usize>, rows: &[Vec<f64>]) {
    let mean = |from: usize, to: usize, column: usize| {
        rows[from..to].iter().map(|row| row[column]).sum::<f64>() / (to - from) as f64
    };
    loop {
        let end = |at: usize| starts.get(at + 1).copied().unwrap_or(rows.len());
        let apart = |at: usize| {
            let columns = 0..rows[0].len();
            let (before, here, to) = (starts[at - 1], starts[at], end(at));
            let differences = columns.map(|c| (mean(before, here, c) - mean(here, to, c)).abs());
            differences.fold(0.0, f64::max)
        };
        let closest =
            (1..starts.len()).map(|at| (apart(at), at)).min_by(|a, b| a.0.total_cmp(&b.0));
        match closest.filter(|(apart, _)| *apart < SAME) {
            Some((_, at)) => starts.remove(at),
            None => return,
        };
    }
}

/// Standard deviation of the noise of a column: from the median of the differences between neighbours,
/// which a few changes do not move; at least a tenth of a factor.
fn noise_of(rows: &[Vec<f64>], column: usize) -> f64 {
    let mut steps: Vec<f64> =
        rows.windows(2).map(|pair| (pair[1][column] - pair[0][column]).abs()).collect();
    steps.sort_unstable_by(f64::total_cmp);
    // The median of |x - y| of two normal variables is 0.954 standard deviations.
    (steps[steps.len() / 2] / 0.954).max(0.1)
}

/// Sums and sums of squares of each column up to each row.
fn prefix_sums(rows: &[Vec<f64>], noise: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let mut sums = vec![vec![(0.0, 0.0); noise.len()]];
    for row in rows {
        let before = &sums[sums.len() - 1];
        let add = |((sum, squares), (value, noise)): (&(f64, f64), (&f64, &f64))| {
            let value = value / noise;
            (sum + value, squares + value * value)
        };
        let next = before.iter().zip(row.iter().zip(noise)).map(add).collect();
        sums.push(next);
    }
    sums
}

fn cheapest(count: usize, sums: &[Vec<(f64, f64)>], penalty: f64, shortest: usize) -> Vec<usize> {
    let cost = |from: usize, to: usize| -> f64 {
        let n = (to - from) as f64;
        let columns = sums[from].iter().zip(&sums[to]);
        columns.map(|(a, b)| (b.1 - a.1) - (b.0 - a.0).powi(2) / n).sum()
    };
    let mut best = vec![(f64::INFINITY, 0); count + 1];
    best[0] = (-penalty, 0);
    for to in shortest..=count {
        for from in (0..=to - shortest).filter(|from| *from == 0 || *from >= shortest) {
            let total = best[from].0 + cost(from, to) + penalty;
            if total < best[to].0 {
                best[to] = (total, from);
            }
        }
    }
    let (mut starts, mut at) = (Vec::new(), count);
    while at > 0 {
        at = best[at].1;
        starts.push(at);
    }
    starts.reverse();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::SplitMix64;

    #[test]
    fn a_change_of_the_level_is_found_where_it_is() {
        let mut random = SplitMix64::new(3);
        let mut noise = || random.bits() as f64 / u64::MAX as f64 - 0.5;
        let rows: Vec<Vec<f64>> = (0..100)
            .map(|n| vec![if (40..70).contains(&n) { 9.0 } else { 5.0 } + noise(), noise()])
            .collect();
        assert_eq!(change_points(&rows, 1), [0, 40, 70]);
        let same: Vec<Vec<f64>> = (0..100).map(|_| vec![5.0 + noise(), noise()]).collect();
        assert_eq!(change_points(&same, 1), [0]);
        assert_eq!(change_points(&rows[..3], 1), [0]);
        assert_eq!(change_points(&[], 1), [0]);
    }
}
