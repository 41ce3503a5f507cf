//! Distinct blocks in a kilobyte: HyperLogLog (Flajolet, Fusy, Gandouet and Meunier, 2007), with linear
//! counting for small sets. Its error is some 3 %; two of them merge into that of the union.

/// Registers; a power of two.
const REGISTERS: usize = 1024;

/// A count of distinct hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distinct(Vec<u8>);

impl Distinct {
    /// Counts a well mixed hash.
    pub fn add(&mut self, hash: u64) {
        if self.0.is_empty() {
            self.0 = vec![0; REGISTERS];
        }
        let index = hash as usize % REGISTERS;
        let rank = ((hash >> 10) | 1 << 54).trailing_zeros() as u8 + 1;
        self.0[index] = self.0[index].max(rank);
    }

    /// Adds those of `other`.
    pub fn merge(&mut self, other: &Distinct) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        self.0.iter_mut().zip(&other.0).for_each(|(one, more)| *one = (*one).max(*more));
    }

    /// The estimated number of distinct hashes.
    pub fn estimate(&self) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        let m = REGISTERS as f64;
        let sum: f64 = self.0.iter().map(|rank| 0.5_f64.powi(i32::from(*rank))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        let empty = self.0.iter().filter(|rank| **rank == 0).count() as f64;
        if raw <= 2.5 * m && empty > 0.0 { m * (m / empty).ln() } else { raw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::SplitMix64;

    #[test]
    fn distinct_blocks_are_counted_within_a_tenth() {
        for count in [1_u64, 50, 1000, 5000, 1_000_000] {
            let (mut one, mut two) = (Distinct::default(), Distinct::default());
            for n in 0..count {
                let half = if n % 2 == 0 { &mut one } else { &mut two };
                (0..2).for_each(|_| half.add(SplitMix64::nth(9, n)));
            }
            one.merge(&two);
            let error = one.estimate() / count as f64 - 1.0;
            assert!(error.abs() < 0.1, "{count}: {error}");
        }
    }
}
