//! Samples of the content of a file or device.

use record::Content;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const BLOCK: usize = 4096;
/// Enough to distinguish a tenth from a half, and fast even on a rotating disk.
const BLOCKS: u64 = 64;

/// Samples [`BLOCKS`] blocks, one at a pseudo-random position in each of as many equal parts of the
/// first `size` bytes. `None` if they cannot be read with O_DIRECT.
pub(super) fn sample(path: &Path, size: u64) -> Option<Content> {
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(direct).open(path).ok()?;
    let whole = size / BLOCK as u64;
    let count = BLOCKS.min(whole);
    let places = (0..count).map(|n| {
        let share = whole / count;
        // A fixed odd multiplier spreads the positions and makes them reproducible.
        n * whole / count + n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % share.max(1)
    });
    let mut blocks = Vec::new();
    let mut room = vec![0; 2 * BLOCK];
    for place in places {
        blocks.push(read(&file, &mut room, place * BLOCK as u64)?);
    }
    (!blocks.is_empty()).then(|| describe(&blocks))
}

/// Reads one block into the part of `room` that is aligned for O_DIRECT.
fn read(file: &File, room: &mut [u8], offset: u64) -> Option<Vec<u8>> {
    let start = room.as_ptr().align_offset(BLOCK);
    let block = room.get_mut(start..start + BLOCK)?;
    file.read_exact_at(block, offset).ok()?;
    Some(block.to_vec())
}

fn describe(blocks: &[Vec<u8>]) -> Content {
    let mut seen = HashSet::new();
    let (mut zero, mut repeated, mut compressed) = (0, 0, 0);
    for block in blocks {
        compressed += lz4_flex::block::compress(block).len();
        if block.iter().all(|byte| *byte == 0) {
            zero += 1;
        } else if !seen.insert(block) {
            repeated += 1;
        }
    }
    Content {
        blocks: blocks.len() as u32,
        zero,
        repeated,
        compressed: compressed as f64 / (blocks.len() * BLOCK) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without a pattern (xorshift64, Marsaglia 2003).
    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 88_172_645_463_325_252_u64;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        std::iter::repeat_with(next).take(bytes).collect()
    }

    #[test]
    fn zeros_repeats_and_noise_are_distinguished() {
        let noise = noise(3 * BLOCK);
        let block = |n: usize| noise[n * BLOCK..(n + 1) * BLOCK].to_vec();
        let seen = describe(&[vec![0; BLOCK], block(0), block(1), block(1), vec![0; BLOCK]]);
        assert_eq!((seen.blocks, seen.zero, seen.repeated), (5, 2, 1));
        assert!((0.55..0.65).contains(&seen.compressed), "{seen:?}");
        assert!(describe(&[block(0), block(1)]).compressed > 0.99);
        assert!(describe(&[vec![b'a'; BLOCK]]).compressed < 0.02);
    }

    #[test]
    fn a_file_is_read_in_its_whole_length() {
        let directory = testbed::scratch();
        let path = directory.path().join("file");
        let size = 300 * BLOCK;
        let mut bytes = noise(size);
        bytes[..size / 2].fill(0);
        std::fs::write(&path, bytes).unwrap();
        let seen = sample(&path, size as u64).unwrap();
        assert_eq!(seen.blocks, 64);
        assert!((30..=34).contains(&seen.zero), "{seen:?}");
        assert_eq!(seen.repeated, 0, "{seen:?}");
        std::fs::write(&path, [1; 10]).unwrap();
        assert_eq!(sample(&path, 10), None, "no whole block");
    }
}
