//! Seeds: everything drawn while planning comes from here, so that a plan repeats.

/// Base of every seed when a job gives none and wants repeatable runs.
pub(crate) const DEFAULT_SEED: u64 = 0x8989_8989_8989_8989;

/// Well mixed function of both (the finalizer of SplitMix64).
pub(crate) fn mix(base: u64, value: u64) -> u64 {
    let mut z = base.wrapping_add(value.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Number for a text (FNV-1a), to be mixed.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A value between both, inclusive; `low` when the range is empty.
pub(crate) fn between(seed: u64, low: u64, high: u64) -> u64 {
    let span = u128::from(high.saturating_sub(low)) + 1;
    low + ((u128::from(seed) * span) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_reaches_both_ends_and_no_further() {
        assert_eq!(between(0, 3, 9), 3);
        assert_eq!(between(u64::MAX, 3, 9), 9);
        assert_eq!(between(u64::MAX, 0, u64::MAX), u64::MAX);
        assert_eq!(between(12, 9, 3), 9);
    }

    #[test]
    fn mix_separates_neighbours() {
        assert_ne!(mix(1, 1), mix(1, 2));
        assert_ne!(mix(1, 1), mix(2, 1));
        assert_ne!(mix(0, 0), 0);
    }
}
