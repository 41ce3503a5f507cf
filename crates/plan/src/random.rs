//! Seeds: everything drawn while planning comes from here, so that a plan repeats.

/// Base of every seed when a job gives none and wants repeatable runs.
pub(crate) const DEFAULT_SEED: u64 = 0x8989_8989_8989_8989;

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
}
