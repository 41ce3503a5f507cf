//! Protection information that the host makes and checks (`pi_act=0`): a guard over each block, an
//! application tag, and a reference tag.

use super::namespace::Namespace;
use crc::{CRC_16_T10_DIF, CRC_64_NVME, Crc};
use plan::ProtectionChecks;

const GUARD_16: Crc<u16> = Crc::<u16>::new(&CRC_16_T10_DIF);
const GUARD_64: Crc<u64> = Crc::<u64>::new(&CRC_64_NVME);

/// What tags to make, and which to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// Checked of blocks that are read.
    pub checks: ProtectionChecks,
    /// Application tag, and the bits of it that count.
    pub tag: (u16, u16),
}

/// Where the parts of a block are.
struct Block<'a> {
    data: &'a [u8],
    metadata: &'a [u8],
}

impl Protection {
    /// The tuple of a block.
    fn tuple(&self, namespace: &Namespace, number: u64, block: &Block<'_>, out: &mut [u8; 16]) {
        // A tuple at the end of the metadata guards what is before it, too.
        let before = match namespace.protection_first {
            true => 0,
            false => block.metadata.len() - namespace.tuple as usize,
        };
        let guarded = [block.data, &block.metadata[..before]];
        let reference = if namespace.protection == 3 { 0 } else { number };
        if namespace.tuple == 8 {
            let mut guard = GUARD_16.digest();
            guarded.iter().for_each(|part| guard.update(part));
            out[..2].copy_from_slice(&guard.finalize().to_be_bytes());
            out[2..4].copy_from_slice(&self.tag.0.to_be_bytes());
            out[4..8].copy_from_slice(&(reference as u32).to_be_bytes());
        } else {
            let mut guard = GUARD_64.digest();
            guarded.iter().for_each(|part| guard.update(part));
            out[..8].copy_from_slice(&guard.finalize().to_be_bytes());
            out[8..10].copy_from_slice(&self.tag.0.to_be_bytes());
            out[10..16].copy_from_slice(&reference.to_be_bytes()[2..]);
        }
    }

    /// Writes the tuples of the blocks from `first` on. `separate` is empty if metadata lies in `data`.
    pub fn make(&self, namespace: &Namespace, first: u64, data: &mut [u8], separate: &mut [u8]) {
        let mut tuple = [0; 16];
        for index in 0..count(namespace, data) {
            let (block, range) = at(namespace, index, data, separate);
            self.tuple(namespace, first + index as u64, &block, &mut tuple);
            let place = if separate.is_empty() { &mut *data } else { &mut *separate };
            place[range].copy_from_slice(&tuple[..namespace.tuple as usize]);
        }
    }

    /// Whether the tuples of blocks that were read are right; otherwise the first block that is not.
    pub fn check(
        &self,
        namespace: &Namespace,
        first: u64,
        data: &[u8],
        separate: &[u8],
    ) -> Result<(), u64> {
        let mut tuple = [0; 16];
        for index in 0..count(namespace, data) {
            let number = first + index as u64;
            let (block, range) = at(namespace, index, data, separate);
            self.tuple(namespace, number, &block, &mut tuple);
            let found = if separate.is_empty() { &data[range] } else { &separate[range] };
            let length = namespace.tuple as usize;
            let (guard, reference) = if length == 8 { (0..2, 4..8) } else { (0..8, 10..16) };
            let tag = |tuple: &[u8]| {
                u16::from_be_bytes([tuple[guard.end], tuple[guard.end + 1]]) & self.tag.1
            };
            let is_wrong = self.checks.guard && found[guard.clone()] != tuple[guard.clone()]
                || self.checks.tag && tag(found) != tag(&tuple)
                || self.checks.reference && found[reference.clone()] != tuple[reference];
            if is_wrong {
                return Err(number);
            }
        }
        Ok(())
    }
}

fn count(namespace: &Namespace, data: &[u8]) -> usize {
    data.len() / namespace.unit(false) as usize
}

/// A block, and where its tuple is in the buffer of metadata.
fn at<'a>(
    namespace: &Namespace,
    index: usize,
    data: &'a [u8],
    separate: &'a [u8],
) -> (Block<'a>, std::ops::Range<usize>) {
    let (bytes, metadata) = (namespace.data as usize, namespace.metadata as usize);
    let begin = index * namespace.unit(false) as usize;
    let block = &data[begin..begin + bytes];
    let (place, buffer) = match separate.is_empty() {
        true => (begin + bytes, data),
        false => (index * metadata, separate),
    };
    let tuple = namespace.tuple as usize;
    let skip = if namespace.protection_first { 0 } else { metadata - tuple };
    let metadata = &buffer[place..place + metadata];
    (Block { data: block, metadata }, place + skip..place + skip + tuple)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: ProtectionChecks = ProtectionChecks { guard: true, tag: true, reference: true };

    fn namespace(extended: bool, tuple: u32) -> Namespace {
        Namespace {
            data: 512,
            metadata: tuple + 8,
            extended,
            protection: 1,
            tuple,
            ..Namespace::default()
        }
    }

    #[test]
    fn what_is_made_is_right_until_a_byte_changes() {
        for (extended, tuple, first) in
            [(true, 8, false), (false, 8, true), (true, 16, true), (false, 16, false)]
        {
            let namespace = Namespace { protection_first: first, ..namespace(extended, tuple) };
            let protection = Protection { checks: ALL, tag: (0x1234, 0xffff) };
            let unit = namespace.unit(false) as usize;
            let mut data = vec![7; 4 * unit];
            let mut separate = vec![9; 4 * namespace.separate(false) as usize];
            protection.make(&namespace, 100, &mut data, &mut separate);
            assert_eq!(protection.check(&namespace, 100, &data, &separate), Ok(()));
            assert_eq!(protection.check(&namespace, 101, &data, &separate), Err(101));
            let other = Protection { tag: (0x1235, 0xffff), ..protection };
            assert_eq!(other.check(&namespace, 100, &data, &separate), Err(100));
            let masked = Protection { tag: (0x1235, 0xfff0), ..protection };
            assert_eq!(masked.check(&namespace, 100, &data, &separate), Ok(()));
            data[2 * unit] ^= 1;
            assert_eq!(protection.check(&namespace, 100, &data, &separate), Err(102));
            let unchecked = Protection { checks: ProtectionChecks::default(), ..protection };
            assert_eq!(unchecked.check(&namespace, 100, &data, &separate), Ok(()));
        }
    }

    #[test]
    fn a_guard_is_the_t10_crc() {
        // The check value of CRC-16/T10-DIF.
        assert_eq!(GUARD_16.checksum(b"123456789"), 0xd0db);
    }
}
