//! Bytes for buffers, at memory speed.

use crate::random::mix;

/// Fills a buffer with random bytes; the same for the same seed, whatever the length.
///
/// A counter goes through a 64×64-bit multiplication that is folded, as in wyrand (Wang Yi, public
/// domain); its lower half, moved by the counter, gives a second word. Pairs of words do not depend
/// on each other, so the processor makes several at once.
#[inline]
pub(crate) fn random(buffer: &mut [u8], seed: u64) {
    const STEP: u64 = 0xa076_1d64_78bd_642f;
    const TWIST: u64 = 0xe703_7ed1_a0b4_28db;
    let mut counter = mix(seed);
    let mut pair = || {
        counter = counter.wrapping_add(STEP);
        let product = u128::from(counter) * u128::from(counter ^ TWIST);
        let (high, low) = ((product >> 64) as u64, product as u64);
        [high ^ low, low.wrapping_add(counter.rotate_left(29))]
    };
    let mut pairs = buffer.chunks_exact_mut(16);
    for place in &mut pairs {
        let [first, second] = pair();
        place[..8].copy_from_slice(&first.to_ne_bytes());
        place[8..].copy_from_slice(&second.to_ne_bytes());
    }
    let rest = pairs.into_remainder();
    let words = pair().map(u64::to_ne_bytes);
    let length = rest.len();
    rest.copy_from_slice(&words.as_flattened()[..length]);
}

/// Fills a buffer with the random bytes that belong at `position`: whatever part of a range is
/// filled at a time, each of its bytes is the same for the same seed.
pub(crate) fn random_at(buffer: &mut [u8], seed: u64, position: u64) {
    const STEP: u64 = 0xa076_1d64_78bd_642f;
    const TWIST: u64 = 0xe703_7ed1_a0b4_28db;
    const WORD: u64 = 16;
    let base = mix(seed);
    let word = |number: u64| {
        let counter = base.wrapping_add(STEP.wrapping_mul(number + 1));
        let product = u128::from(counter) * u128::from(counter ^ TWIST);
        let (high, low) = ((product >> 64) as u64, product as u64);
        [(high ^ low).to_ne_bytes(), low.wrapping_add(counter.rotate_left(29)).to_ne_bytes()]
    };
    let before = ((WORD - position % WORD) % WORD).min(buffer.len() as u64) as usize;
    let (head, rest) = buffer.split_at_mut(before);
    if !head.is_empty() {
        let from = (position % WORD) as usize;
        head.copy_from_slice(&word(position / WORD).as_flattened()[from..from + before]);
    }
    let mut number = position.div_ceil(WORD);
    let mut words = rest.chunks_exact_mut(WORD as usize);
    for place in &mut words {
        place.copy_from_slice(word(number).as_flattened());
        number += 1;
    }
    let tail = words.into_remainder();
    let length = tail.len();
    tail.copy_from_slice(&word(number).as_flattened()[..length]);
}

/// Fills a buffer with a pattern, repeated from its beginning; zeros for an empty pattern.
pub(crate) fn pattern(buffer: &mut [u8], pattern: &[u8]) {
    match pattern {
        [] => buffer.fill(0),
        [byte] => buffer.fill(*byte),
        _ => {
            let first = pattern.len().min(buffer.len());
            buffer[..first].copy_from_slice(&pattern[..first]);
            let mut filled = first;
            // Doubling keeps the copies long, and whole patterns keep the phase.
            while filled < buffer.len() {
                let more = filled.min(buffer.len() - filled);
                buffer.copy_within(..more, filled);
                filled += more;
            }
        }
    }
}

/// Makes every sector of 512 bytes differ from all others and from what it was before: 16 bytes at
/// its end tell where it goes and how many buffers were stamped before.
#[inline]
pub(crate) fn scramble(buffer: &mut [u8], offset: u64, count: u64) {
    let mut place = mix(offset ^ count.rotate_left(32));
    for sector in buffer.chunks_mut(512) {
        place = place.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let end = sector.len();
        if let Some(stamp) = sector.get_mut(end.wrapping_sub(16)..end) {
            stamp[..8].copy_from_slice(&place.to_ne_bytes());
            stamp[8..].copy_from_slice(&count.wrapping_mul(place | 1).to_ne_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_are_even_and_repeat_by_seed() {
        let mut buffer = vec![0; 1 << 20];
        random(&mut buffer, 1);
        let ones: u64 = buffer.iter().map(|b| u64::from(b.count_ones())).sum();
        assert!((ones as f64 / (8 << 20) as f64 - 0.5).abs() < 0.001);
        let mut counts = [0u32; 256];
        buffer.iter().for_each(|b| counts[usize::from(*b)] += 1);
        assert!(counts.iter().all(|c| (3_700..4_500).contains(c)));
        let bits: [u64; 128] = std::array::from_fn(|bit| {
            buffer.chunks(16).map(|c| u64::from(c[bit / 8] >> (bit % 8) & 1)).sum()
        });
        assert!(bits.iter().all(|ones| (32_000..33_600).contains(ones)), "{bits:?}");
        let mut short = vec![0; 1003];
        random(&mut short, 1);
        assert_eq!(short, buffer[..1003]);
        random(&mut short, 2);
        assert_ne!(short, buffer[..1003]);
    }

    #[test]
    fn bytes_of_a_place_are_the_same_however_they_are_filled() {
        let mut whole = [0; 300];
        random_at(&mut whole, 7, 1000);
        for (from, to) in [(0, 1), (1, 9), (8, 40), (24, 300), (299, 300), (5, 5)] {
            let mut part = vec![0; to - from];
            random_at(&mut part, 7, 1000 + from as u64);
            assert_eq!(part, whole[from..to]);
        }
        let ones: u32 = whole.iter().map(|b| b.count_ones()).sum();
        assert!((1000..1400).contains(&ones), "{ones} of 2400 bits");
    }

    #[test]
    fn patterns_keep_their_phase() {
        let mut buffer = [0; 11];
        pattern(&mut buffer, b"abc");
        assert_eq!(&buffer, b"abcabcabcab");
        pattern(&mut buffer, b"0123456789abcdef");
        assert_eq!(&buffer, b"0123456789a");
        pattern(&mut buffer, b"");
        assert_eq!(buffer, [0; 11]);
    }

    #[test]
    fn scrambled_sectors_all_differ() {
        let mut seen = std::collections::HashSet::new();
        for count in 0..50 {
            for offset in [0, 4096, 8192] {
                let mut buffer = [7; 4096];
                scramble(&mut buffer, offset, count);
                for sector in buffer.chunks(512) {
                    assert!(seen.insert(sector.to_vec()), "{offset} {count}");
                }
            }
        }
        scramble(&mut [0; 7], 0, 0);
    }
}
