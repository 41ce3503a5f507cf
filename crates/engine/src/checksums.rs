//! Checksums by themselves, as verification keeps them.

use plan::VerifyMethod;

/// Bytes of a header without its checksum.
const HEADER: u64 = 40;

/// The checksum of `data` as blocks keep it; empty for a method that has none.
pub fn checksum(method: VerifyMethod, data: &[u8]) -> Vec<u8> {
    let mut digest = vec![0; method.header_size().saturating_sub(HEADER) as usize];
    crate::extended::digest(method, data, &mut digest);
    digest
}
