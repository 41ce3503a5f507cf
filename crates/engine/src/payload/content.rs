//! Content of buffers, at memory speed.

use crate::random::mix;

const STEP: u64 = 0xa076_1d64_78bd_642f;
const TWIST: u64 = 0xe703_7ed1_a0b4_28db;
/// Bytes per random word.
const WORD: usize = 16;

/// The random word of a counter: its 64×64-bit multiplication, folded as in wyrand (Wang Yi, public
/// domain), and the lower half of the product plus the rotated counter. Words are independent of each
/// other, so the processor computes several in parallel.
#[inline(always)]
fn word(counter: u64) -> [u8; WORD] {
    let product = u128::from(counter) * u128::from(counter ^ TWIST);
    let (high, low) = ((product >> 64) as u64, product as u64);
    let mut word = [0; WORD];
    word[..8].copy_from_slice(&(high ^ low).to_ne_bytes());
    word[8..].copy_from_slice(&low.wrapping_add(counter.rotate_left(29)).to_ne_bytes());
    word
}

/// Fills a buffer with random bytes. The same seed gives the same bytes.
#[inline]
pub(crate) fn random(buffer: &mut [u8], seed: u64) {
    random_from(buffer, mix(seed));
}

/// Fills a buffer with the words after `counter`.
#[inline]
fn random_from(buffer: &mut [u8], mut counter: u64) {
    let mut next = || {
        counter = counter.wrapping_add(STEP);
        word(counter)
    };
    let mut chunks = buffer.chunks_exact_mut(WORD);
    for chunk in &mut chunks {
        chunk.copy_from_slice(&next());
    }
    let rest = chunks.into_remainder();
    let length = rest.len();
    rest.copy_from_slice(&next()[..length]);
}

/// Fills a buffer with the random bytes at `position` of an endless sequence: the parts of a range may
/// be filled separately.
pub(crate) fn random_at(buffer: &mut [u8], seed: u64, position: u64) {
    let first = position / WORD as u64;
    let skipped = (position % WORD as u64) as usize;
    let length = buffer.len();
    let head = if skipped == 0 { 0 } else { (WORD - skipped).min(length) };
    let counter = mix(seed).wrapping_add(STEP.wrapping_mul(first));
    let (start, rest) = buffer.split_at_mut(head);
    start.copy_from_slice(&word(counter.wrapping_add(STEP))[skipped..skipped + head]);
    random_from(rest, if head == 0 { counter } else { counter.wrapping_add(STEP) });
}

/// Fills a buffer with a repeated pattern; zeros for an empty pattern.
pub(crate) fn pattern(buffer: &mut [u8], pattern: &[u8]) {
    match pattern {
        [] => buffer.fill(0),
        [byte] => buffer.fill(*byte),
        _ => {
            let first = pattern.len().min(buffer.len());
            buffer[..first].copy_from_slice(&pattern[..first]);
            let mut filled = first;
            // Doubling keeps the copies long, and copying whole patterns keeps their phase.
            while filled < buffer.len() {
                let more = filled.min(buffer.len() - filled);
                buffer.copy_within(..more, filled);
                filled += more;
            }
        }
    }
}

/// Makes every sector of 512 bytes unique: its last 16 bytes depend on its offset and on the number of
/// buffers scrambled before.
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
    fn bytes_at_a_position_are_the_same_for_any_split_of_a_range() {
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
