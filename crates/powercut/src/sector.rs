//! Sectors that describe themselves: each says which write it belongs to and where it must stand, and
//! carries a checksum. A sector is enough to tell what a power cut left, without any other knowledge.

use record::SplitMix64;

/// Bytes of a sector: the smallest unit that any disk writes whole.
pub const SECTOR: usize = 512;

const MAGIC: [u8; 8] = *b"FTHMCUT1";
const HEADER: usize = 48;

/// One write, as each of its sectors describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// The run that wrote it.
    pub run: u64,
    /// The thread of the run.
    pub stream: u16,
    /// Its length in sectors.
    pub sectors: u16,
    /// How often the thread wrote this place, this time included; the first is 1.
    pub generation: u32,
    /// Its number among the writes of the thread; the first is 1.
    pub number: u64,
    /// Its offset from the start of the thread's area, in bytes.
    pub offset: u64,
}

/// The content of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// Sector `index` of a block, whole.
    Whole {
        /// The block.
        block: Block,
        /// Its index in the block.
        index: u16,
    },
    /// It begins as one of ours, but its checksum is wrong.
    Damaged,
    /// Something else, most often zeros: never written, or not by fathom.
    Foreign,
    /// The target ends before it.
    Missing,
    /// The target returned an error for it.
    Unreadable,
}

impl Block {
    /// Writes its sectors to the buffer.
    ///
    /// # Panics
    /// If the buffer does not have the length of the block.
    pub fn encode(&self, buffer: &mut [u8]) {
        assert_eq!(buffer.len(), usize::from(self.sectors) * SECTOR, "length of a block");
        for (index, sector) in buffer.chunks_exact_mut(SECTOR).enumerate() {
            self.encode_sector(index as u16, sector);
        }
    }

    fn encode_sector(&self, index: u16, sector: &mut [u8]) {
        sector[..8].copy_from_slice(&MAGIC);
        sector[8..16].copy_from_slice(&self.run.to_le_bytes());
        sector[16..18].copy_from_slice(&self.stream.to_le_bytes());
        sector[18..20].copy_from_slice(&self.sectors.to_le_bytes());
        sector[20..22].copy_from_slice(&index.to_le_bytes());
        sector[22..24].fill(0);
        sector[24..28].copy_from_slice(&self.generation.to_le_bytes());
        sector[28..32].fill(0);
        sector[32..40].copy_from_slice(&self.number.to_le_bytes());
        sector[40..48].copy_from_slice(&self.offset.to_le_bytes());
        // Bytes that no device compresses or deduplicates.
        let mut random = SplitMix64::new(self.run ^ self.number.rotate_left(20) ^ u64::from(index));
        for word in sector[HEADER..].chunks_exact_mut(8) {
            word.copy_from_slice(&random.bits().to_le_bytes());
        }
        let checksum = crc32c::crc32c(sector);
        sector[28..32].copy_from_slice(&checksum.to_le_bytes());
    }
}

impl Sector {
    /// The content of `bytes`, which are one sector.
    pub fn decode(bytes: &[u8]) -> Sector {
        if bytes.len() < SECTOR {
            return Sector::Missing;
        }
        if bytes[..8] != MAGIC {
            return Sector::Foreign;
        }
        let claimed = u32::from_le_bytes(array(bytes, 28));
        let checksum = crc32c::crc32c_append(
            crc32c::crc32c_append(crc32c::crc32c(&bytes[..28]), &[0; 4]),
            &bytes[32..SECTOR],
        );
        if claimed != checksum {
            return Sector::Damaged;
        }
        let block = Block {
            run: u64::from_le_bytes(array(bytes, 8)),
            stream: u16::from_le_bytes(array(bytes, 16)),
            sectors: u16::from_le_bytes(array(bytes, 18)),
            generation: u32::from_le_bytes(array(bytes, 24)),
            number: u64::from_le_bytes(array(bytes, 32)),
            offset: u64::from_le_bytes(array(bytes, 40)),
        };
        Sector::Whole { block, index: u16::from_le_bytes(array(bytes, 20)) }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(number: u64) -> Block {
        Block { run: 7, stream: 2, sectors: 8, generation: 3, number, offset: 40_960 }
    }

    #[test]
    fn each_sector_says_what_it_is() {
        let mut bytes = vec![0; 8 * SECTOR];
        block(5).encode(&mut bytes);
        for (at, sector) in bytes.chunks(SECTOR).enumerate() {
            let expected = Sector::Whole { block: block(5), index: at as u16 };
            assert_eq!(Sector::decode(sector), expected);
        }
    }

    #[test]
    fn what_is_no_sector_of_ours_is_foreign_or_missing() {
        assert_eq!(Sector::decode(&[0; SECTOR]), Sector::Foreign);
        assert_eq!(Sector::decode(&[0; 100]), Sector::Missing);
        assert_eq!(Sector::decode(&[]), Sector::Missing);
    }

    proptest! {
        #[test]
        fn any_changed_byte_is_noticed(at in 0..SECTOR, change in 1..=255_u8) {
            let mut bytes = vec![0; 8 * SECTOR];
            block(5).encode(&mut bytes);
            bytes[at] ^= change;
            let expected = if at < 8 { Sector::Foreign } else { Sector::Damaged };
            prop_assert_eq!(Sector::decode(&bytes[..SECTOR]), expected);
        }

        #[test]
        fn a_sector_mixed_of_two_writes_is_damaged(cut in 41..SECTOR - 1) {
            let (mut old, mut new) = (vec![0; 8 * SECTOR], vec![0; 8 * SECTOR]);
            block(5).encode(&mut old);
            block(6).encode(&mut new);
            old[..cut].copy_from_slice(&new[..cut]);
            prop_assert_eq!(Sector::decode(&old[..SECTOR]), Sector::Damaged);
        }
    }
}
