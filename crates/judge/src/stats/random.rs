//! Random numbers for resampling: the same from the same seed, everywhere.

/// SplitMix64 (Steele, Lea and Flood 2014): small, and good enough to draw indexes with.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Uniform in 0 to `count` - 1; `count` above 0.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
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
