//! What an NVMe namespace says of its blocks (NVM command set specification, 4.1.5).

use crate::sys::device::nvme_admin;
use crate::sys::nvme::{namespace_id, reclaim_unit_handles};
use std::io;
use std::os::fd::BorrowedFd;

/// A namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Its number.
    pub id: u32,
    /// Number of blocks.
    pub blocks: u64,
    /// Bytes of data of a block.
    pub data: u32,
    /// Bytes of metadata of a block.
    pub metadata: u32,
    /// Whether metadata follows the data of each block in one buffer.
    pub extended: bool,
    /// Type of protection information, 0 for none.
    pub protection: u8,
    /// Whether protection information is in the first bytes of the metadata.
    pub protection_first: bool,
    /// Bytes of protection information: 8 with guards of 16 bits, 16 with guards of 64 bits.
    pub tuple: u32,
}

/// Identify: CNS of a namespace, and of its NVM command set.
const NAMESPACE: u32 = 0;
const NVM_NAMESPACE: u32 = 5;
const IDENTIFY: u8 = 0x06;

impl Namespace {
    /// Asks a device.
    pub fn identify(device: BorrowedFd<'_>) -> io::Result<Namespace> {
        let id = namespace_id(device)?;
        let mut page = [0; 4096];
        nvme_admin(device, IDENTIFY, id, [NAMESPACE, 0, 0, 0, 0, 0], &mut page)?;
        let mut formats = [0; 4096];
        // Older controllers do not know it, and have guards of 16 bits only.
        let known =
            nvme_admin(device, IDENTIFY, id, [NVM_NAMESPACE, 0, 0, 0, 0, 0], &mut formats).is_ok();
        Namespace::read(id, &page, known.then_some(&formats))
    }

    fn read(id: u32, page: &[u8; 4096], formats: Option<&[u8; 4096]>) -> io::Result<Namespace> {
        let number = |at: usize, bytes: usize| {
            let bytes = page[at..at + bytes].iter().rev();
            bytes.fold(0u64, |number, byte| number << 8 | u64::from(*byte))
        };
        let flbas = page[26];
        let index = usize::from(flbas & 0x0f | (flbas & 0x60) >> 1);
        let format = 128 + 4 * index;
        let data = 1u32.checked_shl(u32::from(page[format + 2])).unwrap_or(0);
        if data < 512 {
            return Err(io::Error::other("the namespace has no format of blocks"));
        }
        // Bits 7 and 8 of its word.
        let entry = 12 + 4 * index;
        let guards = formats.map_or(0, |known| known[entry] >> 7 | (known[entry + 1] & 1) << 1);
        let tuple = match guards {
            0 => 8,
            2 => 16,
            _ => return Err(io::Error::other("guards of 32 bits are not supported")),
        };
        let protection = page[29] & 0x07;
        Ok(Namespace {
            id,
            blocks: number(0, 8),
            data,
            metadata: number(format, 2) as u32,
            extended: flbas & 0x10 != 0,
            protection,
            protection_first: page[29] & 0x08 != 0,
            tuple,
        })
    }

    /// Whether the controller puts protection information in and takes it out by itself: with
    /// `pi_act`, and if the metadata holds nothing else.
    pub fn inserts(&self, pi_act: bool) -> bool {
        pi_act && self.protection > 0 && self.metadata == self.tuple
    }

    /// Bytes of a block in the buffer of an I/O.
    pub fn unit(&self, pi_act: bool) -> u32 {
        let in_buffer = self.extended && !self.inserts(pi_act);
        self.data + if in_buffer { self.metadata } else { 0 }
    }

    /// Bytes of separate metadata of a block.
    pub fn separate(&self, pi_act: bool) -> u32 {
        if self.extended || self.inserts(pi_act) { 0 } else { self.metadata }
    }
}

/// Placement identifiers of the reclaim unit handles of a namespace (NVMe base specification 2.1,
/// figure on Reclaim Unit Handle Status).
pub fn placement_identifiers(device: BorrowedFd<'_>) -> io::Result<Vec<u16>> {
    let mut page = vec![0; 16 + 32 * 128];
    reclaim_unit_handles(device, &mut page)?;
    Ok(identifiers(&page))
}

/// Those in a page of Reclaim Unit Handle Status.
fn identifiers(page: &[u8]) -> Vec<u16> {
    let count = usize::from(u16::from_le_bytes([page[14], page[15]])).min(128);
    let one = |index: usize| {
        let at = 16 + 32 * index;
        u16::from_le_bytes([page[at], page[at + 1]])
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(flbas: u8, dps: u8) -> [u8; 4096] {
        let mut page = [0; 4096];
        page[..8].copy_from_slice(&1000u64.to_le_bytes());
        (page[26], page[29]) = (flbas, dps);
        // Format 1: 4096 bytes and 8 of metadata.
        page[132..136].copy_from_slice(&[8, 0, 12, 0]);
        // Format 0: 512 bytes.
        page[130] = 9;
        page
    }

    #[test]
    fn the_format_in_use_decides() {
        let plain = Namespace::read(1, &page(0, 0), None).unwrap();
        assert_eq!(
            (plain.blocks, plain.data, plain.metadata, plain.unit(true)),
            (1000, 512, 0, 512)
        );
        let separate = Namespace::read(1, &page(1, 1), None).unwrap();
        assert_eq!((separate.data, separate.metadata, separate.protection), (4096, 8, 1));
        assert_eq!((separate.unit(false), separate.separate(false)), (4096, 8));
        assert_eq!(separate.separate(true), 0);
        let extended = Namespace::read(1, &page(0x11, 9), None).unwrap();
        assert!(extended.extended && extended.protection_first);
        assert_eq!((extended.unit(false), extended.separate(false)), (4104, 0));
        assert_eq!(extended.unit(true), 4096);
    }

    #[test]
    fn placement_identifiers_are_read_from_their_descriptors() {
        let mut page = vec![0; 16 + 32 * 128];
        assert!(identifiers(&page).is_empty());
        page[14] = 3;
        for (index, identifier) in [0x0100u16, 2, 0x0203].into_iter().enumerate() {
            page[16 + 32 * index..][..2].copy_from_slice(&identifier.to_le_bytes());
        }
        assert_eq!(identifiers(&page), [0x0100, 2, 0x0203]);
    }

    #[test]
    fn guards_of_64_bits_have_tuples_of_16_bytes() {
        let mut formats = [0; 4096];
        // Format 1: bits 7 and 8 of its word are 2.
        formats[16..20].copy_from_slice(&(2u32 << 7).to_le_bytes());
        let long = Namespace::read(1, &page(1, 1), Some(&formats)).unwrap();
        assert_eq!(long.tuple, 16);
        assert!(!long.inserts(true), "8 bytes of metadata do not hold a tuple of 16");
        formats[16..20].copy_from_slice(&(1u32 << 7).to_le_bytes());
        assert!(Namespace::read(1, &page(1, 1), Some(&formats)).is_err());
    }
}
