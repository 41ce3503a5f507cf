//! Checksums of verified blocks, byte for byte as fio writes them (observed in blocks that Debian's
//! fio 3.33 wrote).

use crc::{Algorithm, Crc};
use plan::VerifyMethod;
use sha2::digest::generic_array::GenericArray;

/// Bytes of a block's header before the checksum.
pub(crate) const HEADER_SIZE: usize = 40;
/// fio's CRC-64: Jones' polynomial, reflected, without initial value or final inversion.
const CRC_64: Algorithm<u64> = Algorithm {
    width: 64,
    poly: 0xad93_d235_94c9_35a9,
    init: 0,
    refin: true,
    refout: true,
    xorout: 0,
    check: 0xe9c6_d914_c4b8_d9ca,
    residue: 0,
};
/// fio's CRC-32: Ethernet's polynomial, not reflected, without initial value or final inversion.
const CRC_32: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};
const CRC64: Crc<u64> = Crc::<u64>::new(&CRC_64);
const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32);
const CRC16: Crc<u16> = Crc::<u16>::new(&crc::CRC_16_ARC);
const CRC7: Crc<u8> = Crc::<u8>::new(&crc::CRC_7_MMC);
/// The seed of fio's xxHash.
const XXHASH_SEED: u32 = 1;

/// fio's CRC-32C: Castagnoli's, without the final inversion.
pub(crate) fn crc32c(data: &[u8]) -> u32 {
    !crc32c::crc32c(data)
}

/// The checksum of `data` as in the header of a verified block; empty for a method without one.
pub fn checksum(method: VerifyMethod, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; (method.header_size() as usize).saturating_sub(HEADER_SIZE)];
    digest(method, data, &mut bytes);
    bytes
}

/// Writes the checksum of `data` into `digest`, which must be as long as the method's checksum.
pub(crate) fn digest(method: VerifyMethod, data: &[u8], digest: &mut [u8]) {
    use md5::Digest as _;
    match method {
        VerifyMethod::Md5 => digest.copy_from_slice(&md5::Md5::digest(data)),
        VerifyMethod::Crc64 => digest.copy_from_slice(&CRC64.checksum(data).to_le_bytes()),
        VerifyMethod::Crc32 => digest.copy_from_slice(&CRC32.checksum(data).to_le_bytes()),
        VerifyMethod::Crc32c => digest.copy_from_slice(&crc32c(data).to_le_bytes()),
        VerifyMethod::Crc16 => digest.copy_from_slice(&CRC16.checksum(data).to_le_bytes()),
        VerifyMethod::Crc7 => digest.copy_from_slice(&[CRC7.checksum(data)]),
        VerifyMethod::Sha1 => {
            // fio writes the digest as 32-bit little-endian numbers.
            digest.copy_from_slice(&sha1::Sha1::digest(data));
            digest.chunks_exact_mut(4).for_each(<[u8]>::reverse);
        }
        VerifyMethod::Sha256 => sha256(data, digest),
        VerifyMethod::Sha512 => sha512(data, digest),
        VerifyMethod::Sha3_224 => digest.copy_from_slice(&sha3::Sha3_224::digest(data)),
        VerifyMethod::Sha3_256 => digest.copy_from_slice(&sha3::Sha3_256::digest(data)),
        VerifyMethod::Sha3_384 => digest.copy_from_slice(&sha3::Sha3_384::digest(data)),
        VerifyMethod::Sha3_512 => digest.copy_from_slice(&sha3::Sha3_512::digest(data)),
        VerifyMethod::Xxhash => {
            let hash = xxhash_rust::xxh32::xxh32(data, XXHASH_SEED);
            digest.copy_from_slice(&hash.to_le_bytes());
        }
        VerifyMethod::Meta
        | VerifyMethod::Pattern
        | VerifyMethod::PatternHeader
        | VerifyMethod::Null => {}
    }
}

/// fio's SHA-256 pads the data with its length in little-endian order. fio writes the last block of the
/// padded data, with its first eight bytes replaced by the lowest byte of each word of the state.
fn sha256(data: &[u8], digest: &mut [u8]) {
    let mut state: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let whole = data.len() / 64 * 64;
    let mut compress = |blocks: &[u8]| {
        for block in blocks.chunks_exact(64) {
            sha2::compress256(&mut state, &[*GenericArray::from_slice(block)]);
        }
    };
    compress(&data[..whole]);
    let mut rest = data[whole..].to_vec();
    rest.push(0x80);
    rest.resize((rest.len() + 8).next_multiple_of(64) - 8, 0);
    rest.extend_from_slice(&(data.len() as u64 * 8).to_le_bytes());
    compress(&rest);
    digest.copy_from_slice(&rest[rest.len() - 64..]);
    for (byte, word) in digest.iter_mut().zip(state) {
        *byte = word as u8;
    }
}

/// For SHA-512, fio writes the buffer of a hash that it never finishes: the first 128 bytes of the
/// data, overwritten from the start by the bytes after the last whole block of 128 bytes.
fn sha512(data: &[u8], digest: &mut [u8]) {
    let first = data.len().min(128);
    digest[..first].copy_from_slice(&data[..first]);
    if first == 128 {
        let rest = &data[data.len() / 128 * 128..];
        digest[..rest.len()].copy_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(method: VerifyMethod, data: &[u8]) -> String {
        checksum(method, data).iter().map(|b| format!("{b:02x}")).collect()
    }

    /// The expected checksums are from blocks of 4 KiB that Debian's fio 3.33 wrote with
    /// `--verify_pattern=0xdeadbeef --verify=METHOD`.
    #[test]
    fn checksums_match_those_that_fio_writes() {
        use VerifyMethod::*;
        let checksum_in_block = |method: VerifyMethod| {
            let header = method.header_size() as usize;
            let block: Vec<u8> = [0xde, 0xad, 0xbe, 0xef].repeat(1024);
            hex(method, &block[header..])
        };
        assert_eq!(checksum_in_block(Md5), "86f321f4317f1affcef25b056c377dde");
        assert_eq!(checksum_in_block(Crc64), "987137a39ed45ce1");
        assert_eq!(checksum_in_block(Crc32), "5aca10d4");
        assert_eq!(checksum_in_block(Crc32c), "c10dd61a");
        assert_eq!(checksum_in_block(Crc16), "2ffc");
        assert_eq!(checksum_in_block(Crc7), "0c");
        assert_eq!(checksum_in_block(Sha1), "02399e9fe76fb2be33c319bc70ec7ea8b410be85");
        assert!(checksum_in_block(Sha256).starts_with("f9063f9b5d0344aedeadbeef"));
        assert!(checksum_in_block(Sha256).ends_with("c07c000000000000"));
        assert_eq!(checksum_in_block(Sha512), "deadbeef".repeat(32));
        assert_eq!(
            checksum_in_block(Sha3_224),
            "5af34c9b2dc31730356242626419f9dbfaabf73d36b4a9cdc60405ec"
        );
        assert!(checksum_in_block(Sha3_256).starts_with("d59cc0ee2df3f366f0b9295c"));
        assert!(checksum_in_block(Sha3_384).starts_with("a6a06bd2da07d15859747129"));
        assert!(checksum_in_block(Sha3_512).starts_with("e16f0ae6f9302328919698ef"));
        assert_eq!(checksum_in_block(Xxhash), "2dd6b400");
        assert_eq!(checksum_in_block(Meta), "");
    }
}
