//! The content of verified blocks: headers, and data that can be generated again for any offset.

use super::header::{self, Header};
use super::write_map::WriteNumber;
use crate::checksum;
use crate::payload::content;
use crate::random::mix;
use plan::{BlockPattern, Verify, VerifyMethod, Worker};
use std::ops::Range;

/// Generates the blocks of a worker.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub method: VerifyMethod,
    /// Bytes between two headers; 0: one header per block.
    pub interval: u64,
    pub offset: usize,
    pattern: Option<BlockPattern>,
    pattern_interval: u64,
    /// Percentage of zeros, and the size of the chunks it applies to (0: the block).
    compress: (u64, usize),
    seed: u64,
    worker: u16,
    /// The pattern with the block's offset inserted.
    scratch: Vec<u8>,
}

impl Content {
    pub fn new(worker: &Worker, verify: &Verify) -> Content {
        let buffers = &worker.buffers;
        Content {
            method: verify.method,
            interval: verify.interval,
            offset: if verify.method.has_header() { verify.offset as usize } else { 0 },
            pattern: verify.pattern.clone(),
            pattern_interval: verify.pattern_interval,
            compress: (
                buffers.compress_percentage.map_or(0, |p| u64::from(p.min(100))),
                usize::try_from(buffers.compress_chunk.0).unwrap_or(0),
            ),
            seed: mix(worker.pattern.seed ^ 0x76_65_72_69_66_79),
            worker: worker.number as u16,
            scratch: Vec::new(),
        }
    }

    /// The seed of a write's data.
    pub fn seed_of(&self, write: WriteNumber) -> u64 {
        mix(self.seed ^ u64::from(write))
    }

    /// The number of the write with this header, among the first `last`.
    pub fn write_of(&self, header: &Header, last: WriteNumber) -> Option<WriteNumber> {
        let mut write = u32::from(header.sequence) + 1;
        while write <= last {
            if self.seed_of(write) == header.seed {
                return Some(write);
            }
            write += 1 << 16;
        }
        None
    }

    /// Bytes of the header at the start of an interval.
    pub fn header_size(&self) -> usize {
        self.method.header_size() as usize
    }

    /// Whether the data does not depend on the start of the block.
    pub fn is_placeless(&self) -> bool {
        self.pattern.is_none() && self.compress.0 == 0
    }

    /// Generates the block of a write at `offset`; `now` is the time in its headers.
    pub fn make(&mut self, block: &mut [u8], offset: u64, write: WriteNumber, now: u64) {
        let seed = self.seed_of(write);
        self.data(block, offset, offset, seed);
        if !self.method.has_header() {
            return;
        }
        let interval = if self.interval > 0 { self.interval as usize } else { block.len() };
        let size = self.header_size();
        for (index, part) in block.chunks_mut(interval).enumerate() {
            // The end of a region may be too short for a header.
            if part.len() < size {
                continue;
            }
            let header = Header {
                method: header::number(self.method),
                length: part.len() as u32,
                seed,
                offset: offset + (index * interval) as u64,
                time: ((now / 1_000_000_000) as u32, (now % 1_000_000_000) as u32),
                worker: self.worker,
                sequence: (write - 1) as u16,
            };
            let (front, data) = part.split_at_mut(size);
            checksum::digest(self.method, data, &mut front[header::SIZE..]);
            header.write(front);
            self.swap_header(part);
        }
    }

    /// The interval with this data, the header of `found` and a matching checksum, in the layout on disk.
    pub fn like(&self, mut data: Vec<u8>, found: &[u8]) -> Vec<u8> {
        let size = self.header_size();
        if self.method.has_header() && found.len() >= size && data.len() >= size {
            let (front, rest) = data.split_at_mut(size);
            front.copy_from_slice(&found[..size]);
            checksum::digest(self.method, rest, &mut front[header::SIZE..]);
            self.swap_header(&mut data);
        }
        data
    }

    /// Swaps the header with the data at `verify_offset`.
    pub fn swap_header(&self, interval: &mut [u8]) {
        if self.offset > 0 && self.offset + self.header_size() <= interval.len() {
            let (front, back) = interval.split_at_mut(self.offset);
            let size = self.header_size();
            front[..size].swap_with_slice(&mut back[..size]);
        }
    }

    /// The data without headers of a block that starts at `block`, from offset `at` on.
    pub fn data(&mut self, buffer: &mut [u8], at: u64, block: u64, seed: u64) {
        if self.pattern.is_some() {
            return self.patterned(buffer, at, block);
        }
        content::random_at(buffer, seed, at);
        let (percent, chunk) = self.compress;
        if percent == 0 {
            return;
        }
        for range in compressed(buffer.len(), at - block, percent, chunk) {
            buffer[range].fill(0);
        }
    }

    fn patterned(&mut self, buffer: &mut [u8], at: u64, block: u64) {
        let mut done = 0;
        while done < buffer.len() {
            let here = at - block + done as u64;
            let (origin, end) = match here.checked_rem(self.pattern_interval) {
                Some(within) => (here - within, self.pattern_interval - within),
                None => (0, u64::MAX),
            };
            let count = end.min((buffer.len() - done) as u64) as usize;
            self.paste(block + origin, here - origin);
            content::pattern(&mut buffer[done..done + count], &self.scratch);
            done += count;
        }
    }

    /// Prepares the pattern with `offset` inserted, rotated by `phase` bytes.
    fn paste(&mut self, offset: u64, phase: u64) {
        let Some(pattern) = &self.pattern else { return };
        self.scratch.clear();
        self.scratch.extend_from_slice(&pattern.bytes);
        for at in &pattern.offsets {
            self.scratch[*at..*at + 8].copy_from_slice(&offset.to_le_bytes());
        }
        let length = self.scratch.len() as u64;
        self.scratch.rotate_left((phase % length.max(1)) as usize);
    }
}

/// The ranges of zeros in a buffer that starts `phase` bytes into its block.
fn compressed(
    length: usize,
    phase: u64,
    percent: u64,
    chunk: usize,
) -> impl Iterator<Item = Range<usize>> {
    let chunk = if chunk == 0 { phase + length as u64 } else { chunk as u64 };
    let random = chunk * (100 - percent) / 100;
    let end = phase + length as u64;
    (phase / chunk..end.div_ceil(chunk)).filter_map(move |number| {
        let from = (number * chunk + random).clamp(phase, end) - phase;
        let to = ((number + 1) * chunk).clamp(phase, end) - phase;
        (from < to).then_some(from as usize..to as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(method: VerifyMethod, pattern: Option<(&[u8], Vec<usize>)>) -> Content {
        let pattern =
            pattern.map(|(bytes, offsets)| BlockPattern { bytes: bytes.to_vec(), offsets });
        Content {
            method,
            interval: 0,
            offset: 0,
            pattern,
            pattern_interval: 0,
            compress: (0, 512),
            seed: 1,
            worker: 1,
            scratch: Vec::new(),
        }
    }

    #[test]
    fn offsets_stand_where_the_pattern_has_them() {
        // As Debian's fio 3.33 writes verify_pattern=%o"abcd"-12 at 4096.
        let pattern = (&b"\0\0\0\0\0\0\0\0abcd\xf4\xff\xff\xff"[..], vec![0]);
        let mut content = content(VerifyMethod::Pattern, Some(pattern));
        let mut block = [0; 64];
        content.make(&mut block, 4096, 1, 0);
        let once = b"\0\x10\0\0\0\0\0\0abcd\xf4\xff\xff\xff";
        assert_eq!(block.to_vec(), once.repeat(4));
        let mut part = [0; 20];
        content.data(&mut part, 4106, 4096, 0);
        assert_eq!(part, block[10..30]);
        content.pattern_interval = 32;
        content.make(&mut block, 4096, 1, 0);
        assert_eq!(&block[32..48], b"\x20\x10\0\0\0\0\0\0abcd\xf4\xff\xff\xff");
    }

    #[test]
    fn a_part_of_a_compressible_block_has_the_bytes_of_the_whole() {
        let mut content = content(VerifyMethod::Crc32c, None);
        content.compress = (60, 100);
        let mut whole = [0; 400];
        content.data(&mut whole, 800, 800, 5);
        assert!(whole[..40].iter().any(|b| *b != 0) && whole[40..100] == [0; 60]);
        let mut part = [9; 170];
        content.data(&mut part, 830, 800, 5);
        assert_eq!(part, whole[30..200]);
    }

    #[test]
    fn the_header_changes_places_and_back() {
        let mut content = content(VerifyMethod::Md5, None);
        content.interval = 512;
        content.offset = 128;
        let mut block = [0; 1024];
        content.make(&mut block, 0, 3, 0);
        assert!(Header::read(&block[512..]).is_err());
        content.swap_header(&mut block[512..]);
        let header = Header::read(&block[512..]).unwrap();
        assert_eq!((header.offset, header.sequence), (512, 2));
        assert_eq!(content.write_of(&header, 3), Some(3));
        assert_eq!(content.write_of(&header, 2), None);
    }
}
