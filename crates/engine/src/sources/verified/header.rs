//! The header of a block, in fio's layout (taken from blocks that Debian's fio 3.33 wrote):
//!
//! | bytes | field |
//! |---|---|
//! | 0–1 | 0xacca |
//! | 2–3 | number of the method |
//! | 4–7 | length of the interval |
//! | 8–15 | seed the content was made from |
//! | 16–23 | offset in the file |
//! | 24–31 | seconds and nanoseconds of the job's clock |
//! | 32–33 | number of the worker |
//! | 34–35 | number of the write within the worker, lowest 16 bits |
//! | 36–39 | CRC-32C of the bytes before, without the final inversion |
//!
//! All numbers are little-endian. The checksum of the data follows.

pub(super) use crate::checksum::HEADER_SIZE as SIZE;
use crate::checksum::crc32c;
use plan::VerifyMethod;

const MAGIC: u16 = 0xacca;

/// The fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub method: u16,
    pub length: u32,
    pub seed: u64,
    pub offset: u64,
    pub time: (u32, u32),
    pub worker: u16,
    pub sequence: u16,
}

/// Why a header is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    Magic(u16),
    Crc { found: u32, computed: u32 },
}

/// fio's number for a method.
pub(super) fn number(method: VerifyMethod) -> u16 {
    match method {
        VerifyMethod::Meta => 1,
        VerifyMethod::Md5 => 2,
        VerifyMethod::Crc64 => 3,
        VerifyMethod::Crc32 => 4,
        VerifyMethod::Crc32c => 5,
        VerifyMethod::Crc16 => 7,
        VerifyMethod::Crc7 => 8,
        VerifyMethod::Sha256 => 9,
        VerifyMethod::Sha512 => 10,
        VerifyMethod::Sha3_224 => 11,
        VerifyMethod::Sha3_256 => 12,
        VerifyMethod::Sha3_384 => 13,
        VerifyMethod::Sha3_512 => 14,
        VerifyMethod::Xxhash => 15,
        VerifyMethod::Sha1 => 16,
        VerifyMethod::PatternHeader => 17,
        VerifyMethod::Pattern => 18,
        VerifyMethod::Null => 19,
    }
}

fn bytes<const N: usize>(block: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&block[at..at + N]);
    bytes
}

impl Header {
    /// Writes the header to the start of an interval.
    pub fn write(&self, interval: &mut [u8]) {
        let mut put = |at: usize, bytes: &[u8]| {
            interval[at..at + bytes.len()].copy_from_slice(bytes);
        };
        put(0, &MAGIC.to_le_bytes());
        put(2, &self.method.to_le_bytes());
        put(4, &self.length.to_le_bytes());
        put(8, &self.seed.to_le_bytes());
        put(16, &self.offset.to_le_bytes());
        put(24, &self.time.0.to_le_bytes());
        put(28, &self.time.1.to_le_bytes());
        put(32, &self.worker.to_le_bytes());
        put(34, &self.sequence.to_le_bytes());
        let crc = crc32c(&interval[..36]);
        interval[36..SIZE].copy_from_slice(&crc.to_le_bytes());
    }

    /// Reads the header at the start of an interval of at least [`SIZE`] bytes.
    pub fn read(interval: &[u8]) -> Result<Header, Malformed> {
        let magic = u16::from_le_bytes(bytes(interval, 0));
        if magic != MAGIC {
            return Err(Malformed::Magic(magic));
        }
        let found = u32::from_le_bytes(bytes(interval, 36));
        let computed = crc32c(&interval[..36]);
        if found != computed {
            return Err(Malformed::Crc { found, computed });
        }
        Ok(Header {
            method: u16::from_le_bytes(bytes(interval, 2)),
            length: u32::from_le_bytes(bytes(interval, 4)),
            seed: u64::from_le_bytes(bytes(interval, 8)),
            offset: u64::from_le_bytes(bytes(interval, 16)),
            time: (
                u32::from_le_bytes(bytes(interval, 24)),
                u32::from_le_bytes(bytes(interval, 28)),
            ),
            worker: u16::from_le_bytes(bytes(interval, 32)),
            sequence: u16::from_le_bytes(bytes(interval, 34)),
        })
    }
}

/// The bit that was flipped, if flipping it back makes the header valid.
pub(super) fn flipped_bit(interval: &[u8]) -> Option<usize> {
    let mut header: [u8; SIZE] = bytes(interval, 0);
    (0..SIZE * 8).find(|bit| {
        header[bit / 8] ^= 1 << (bit % 8);
        let valid = Header::read(&header).is_ok();
        header[bit / 8] ^= 1 << (bit % 8);
        valid
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first 40 bytes of a block that Debian's fio 3.33 wrote.
    const OF_FIO: [u8; 40] = [
        0xca, 0xac, 0x05, 0x00, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0x74, 0xc0, 0x7f, 0x06, 0x01, 0, 0, 0, 0x15, 0xec, 0x17, 0x70,
    ];

    #[test]
    fn a_header_of_fio_is_read_and_written_back_alike() {
        let header = Header::read(&OF_FIO).unwrap();
        assert_eq!((header.method, header.length, header.worker), (5, 4096, 1));
        let mut again = [0; 40];
        header.write(&mut again);
        assert_eq!(again, OF_FIO);
    }

    #[test]
    fn a_damaged_header_differs_from_a_missing_one() {
        let mut damaged = OF_FIO;
        damaged[17] ^= 4;
        assert!(matches!(Header::read(&damaged), Err(Malformed::Crc { .. })));
        assert_eq!(flipped_bit(&damaged), Some(17 * 8 + 2));
        assert_eq!(Header::read(&[0; 40]), Err(Malformed::Magic(0)));
        assert_eq!(flipped_bit(&[0; 40]), None);
    }
}
