//! How far the blocks that an application writes can be compressed, and how many are equal: two numbers
//! for each file, from a sample that is read back at the end. The contents themselves are kept nowhere.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::FileExt;
use trace::ftr::{Contents, Entry, Event, Level, Operation};

/// Bytes of a block.
const BLOCK: u64 = 4096;
/// Blocks of a file, and files.
const BLOCKS_MAX: usize = 64;
const FILES_MAX: usize = 4096;

/// Blocks of a file that were chosen, out of all that were written.
#[derive(Default)]
struct Written {
    blocks: Vec<u64>,
    count: u64,
}

/// Chooses blocks at random while the application writes.
#[derive(Default)]
pub(crate) struct Samples {
    files: HashMap<u32, Written>,
    state: u64,
}

impl Samples {
    /// Takes note of a write.
    pub fn event(&mut self, event: &Event) {
        let moved = event.result.and_then(|result| u64::try_from(result).ok()).unwrap_or(0);
        if (event.level, event.operation) != (Level::Application, Operation::Write) || moved == 0 {
            return;
        }
        if self.files.len() >= FILES_MAX && !self.files.contains_key(&event.file) {
            return;
        }
        let random = self.random();
        let again = self.random();
        let written = self.files.entry(event.file).or_default();
        // One block of each write: a reservoir.
        let block = (event.offset + random % moved) / BLOCK;
        written.count += 1;
        if written.blocks.len() < BLOCKS_MAX {
            written.blocks.push(block);
        } else if let Some(place) = written.blocks.get_mut((again % written.count) as usize) {
            *place = block;
        }
    }

    /// A number by chance (SplitMix64).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Reads the blocks back. Files that are gone have no entry.
    pub fn contents<'a>(&self, place: impl Fn(u32) -> Option<&'a str>) -> Vec<Entry> {
        let mut known = HashSet::new();
        let mut numbers: Vec<&u32> = self.files.keys().collect();
        numbers.sort();
        let entry = |number: &u32| {
            let blocks: HashSet<u64> = self.files.get(number)?.blocks.iter().copied().collect();
            let file = File::open(place(*number)?).ok()?;
            sample(*number, &file, &blocks, &mut known).map(Entry::Contents)
        };
        numbers.into_iter().filter_map(entry).collect()
    }
}

fn sample(
    number: u32,
    file: &File,
    blocks: &HashSet<u64>,
    known: &mut HashSet<u64>,
) -> Option<Contents> {
    let (mut read, mut packed, mut count, mut equal) = (0_u64, 0_u64, 0_u32, 0_u32);
    let mut bytes = [0; BLOCK as usize];
    for block in blocks {
        let Ok(length) = file.read_at(&mut bytes, block * BLOCK) else { continue };
        if length == 0 {
            continue;
        }
        let block = &bytes[..length];
        let mut hasher = DefaultHasher::new();
        block.hash(&mut hasher);
        count += 1;
        equal += u32::from(!known.insert(hasher.finish()));
        read += length as u64;
        packed += (lz4_flex::block::compress(block).len() as u64).min(length as u64);
    }
    (count > 0).then(|| Contents {
        file: number,
        blocks: count,
        compressible: ((read - packed) * 1000 / read) as u16,
        duplicate: (u64::from(equal) * 1000 / u64::from(count)) as u16,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn contents_become_two_numbers() {
        let mut file = tempfile::tempfile().unwrap();
        let mut samples = Samples::default();
        // Eight blocks of noise, eight of one letter.
        let mut noise = Vec::new();
        while noise.len() < 8 * 4096 {
            noise.extend(samples.random().to_ne_bytes());
        }
        file.write_all(&noise).unwrap();
        file.write_all(&[b'x'; 8 * 4096]).unwrap();
        let mut known = HashSet::new();
        let found = sample(3, &file, &(0..16).collect(), &mut known).unwrap();
        assert_eq!((found.file, found.blocks, found.duplicate), (3, 16, 7 * 1000 / 16));
        assert!((480..500).contains(&found.compressible), "{found:?}");
        assert_eq!(sample(3, &file, &(90..99).collect(), &mut known), None);
    }
}
