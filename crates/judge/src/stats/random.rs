//! Random numbers for resampling: the same from the same seed, everywhere.

use record::SplitMix64;

/// A seeded generator for resampling.
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Uniform in 0 to `count` - 1; `count` above 0.
    pub fn below(&mut self, count: usize) -> usize {
        self.0.below(count as u64) as usize
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// Series for the tests of the statistics.
#[cfg(test)]
pub(super) mod invented {
    use super::Random;

    /// `count` values around `level` with this coefficient of variation, each correlated to the one
    /// before by `phi` (an autoregressive process of order 1).
    pub fn series(random: &mut Random, count: usize, level: f64, cv: f64, phi: f64) -> Vec<f64> {
        let mut noise = random.normal();
        let step = (1.0 - phi * phi).sqrt();
        let next = |_| {
            noise = phi * noise + step * random.normal();
            level * (1.0 + cv * noise)
        };
        (0..count).map(next).collect()
    }
}
