//! Change points: the segmentation of windows that costs least, by dynamic programming (B. Jackson et al.,
//! "An Algorithm for Optimal Partitioning of Data on an Interval", 2005). The cost of a segment is the
//! variation of its windows around their mean, in units of the noise between neighbours.

/// The shortest phase, in windows.
const SHORTEST: usize = 4;
/// The most phases.
const MOST: usize = 8;

/// Starts of the segments of `rows`, whose columns are comparable; the first is 0.
pub fn change_points(rows: &[Vec<f64>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    if rows.len() < 2 * SHORTEST || columns == 0 {
        return vec![0];
    }
    let noise: Vec<f64> = (0..columns).map(|column| noise_of(rows, column)).collect();
    let sums = prefix_sums(rows, &noise);
    let mut penalty = 4.0 * columns as f64 * (rows.len() as f64).ln();
    loop {
        let starts = cheapest(rows.len(), &sums, penalty);
        if starts.len() <= MOST {
            return starts;
        }
        penalty *= 2.0;
    }
}

/// Standard deviation of the noise of a column: from the median of the differences between neighbours,
/// which a few changes do not move; at least 5 % of a factor.
fn noise_of(rows: &[Vec<f64>], column: usize) -> f64 {
    let mut steps: Vec<f64> =
        rows.windows(2).map(|pair| (pair[1][column] - pair[0][column]).abs()).collect();
    steps.sort_unstable_by(f64::total_cmp);
    // The median of |x - y| of two normal variables is 0.954 standard deviations.
    (steps[steps.len() / 2] / 0.954).max(0.05)
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

fn cheapest(count: usize, sums: &[Vec<(f64, f64)>], penalty: f64) -> Vec<usize> {
    let cost = |from: usize, to: usize| -> f64 {
        let n = (to - from) as f64;
        let columns = sums[from].iter().zip(&sums[to]);
        columns.map(|(a, b)| (b.1 - a.1) - (b.0 - a.0).powi(2) / n).sum()
    };
    let mut best = vec![(f64::INFINITY, 0); count + 1];
    best[0] = (-penalty, 0);
    for to in SHORTEST..=count {
        for from in (0..=to - SHORTEST).filter(|from| *from == 0 || *from >= SHORTEST) {
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
        assert_eq!(change_points(&rows), [0, 40, 70]);
        let same: Vec<Vec<f64>> = (0..100).map(|_| vec![5.0 + noise(), noise()]).collect();
        assert_eq!(change_points(&same), [0]);
        assert_eq!(change_points(&rows[..3]), [0]);
        assert_eq!(change_points(&[]), [0]);
    }
}
