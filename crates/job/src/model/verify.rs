//! Options of verification.

use super::named::named;
use record::{Bytes, with_defaults};

with_defaults! {
    /// Verification, as typed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Verify {
        /// `verify`; `None`: nothing is verified.
        pub method: Option<VerifyMethod>,
        /// `do_verify`: read back after writing.
        pub read_back: bool = true,
        /// `verify_only`: check the data of an earlier run and write nothing.
        pub only: bool,
        /// `verify_policy`: the saved state lists only writes that an fsync covered.
        pub only_fsynced: bool,
        /// `verify_interval`: bytes between two headers.
        pub interval: Option<Bytes>,
        /// `verify_offset`: place of the header in its interval.
        pub offset: Option<Bytes>,
        /// `verify_pattern`.
        pub pattern: Option<BlockPattern>,
        /// `verify_pattern_interval`: bytes after which the pattern begins anew; 0: never.
        pub pattern_interval: Bytes,
        /// `verify_fatal`: the first mismatch ends the job.
        pub fatal: bool,
        /// `verify_dump`: expected and received blocks go to files.
        pub dump: bool,
        /// `verify_async`: threads that check.
        pub threads: u64,
        /// `verify_async_cpus`: their CPUs; empty: all.
        pub cpus: Vec<u32>,
        /// `verify_backlog`: check after so many writes.
        pub backlog: Option<u64>,
        /// `verify_backlog_batch`.
        pub backlog_batch: Option<u64>,
        /// `experimental_verify`.
        pub experimental: bool,
        /// `verify_state_load`.
        pub state_load: bool,
        /// `verify_state_save`.
        pub state_save: bool = true,
        /// `verify_write_sequence`: the number in headers is checked.
        pub write_sequence: bool = true,
        /// `verify_header_seed`: whether the seed in headers is checked; `None`: if the job writes.
        pub header_seed: Option<bool>,
        /// `trim_percentage`: share of written blocks that is trimmed before it is verified.
        pub trim_percentage: u8,
        /// `trim_verify_zero`.
        pub trim_zero: bool = true,
        /// `trim_backlog`: trim after so many writes.
        pub trim_backlog: Option<u64>,
        /// `trim_backlog_batch`.
        pub trim_backlog_batch: Option<u64>,
    }
}

/// The check of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMethod {
    /// MD5.
    Md5,
    /// CRC-64 of the Jones polynomial.
    Crc64,
    /// CRC-32 of Ethernet's polynomial, unreflected.
    Crc32,
    /// CRC-32 of Castagnoli's polynomial.
    Crc32c,
    /// CRC-16/ARC.
    Crc16,
    /// CRC-7/MMC.
    Crc7,
    /// SHA-1.
    Sha1,
    /// SHA-256 as fio keeps it: one byte of each word of its state.
    Sha256,
    /// SHA-512 as fio keeps it: parts of the data.
    Sha512,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// xxHash of 32 bits.
    Xxhash,
    /// Only the header.
    Meta,
    /// The pattern, without a header.
    Pattern,
    /// The pattern behind a header.
    PatternHeader,
    /// Nothing: blocks are only read.
    Null,
}

impl VerifyMethod {
    /// Whether blocks carry a header.
    pub const fn has_header(self) -> bool {
        !matches!(self, VerifyMethod::Pattern | VerifyMethod::Null)
    }

    /// Bytes a header takes at the beginning of its interval; 0 without one.
    pub const fn header_size(self) -> u64 {
        let digest = match self {
            VerifyMethod::Pattern | VerifyMethod::Null => return 0,
            VerifyMethod::Meta | VerifyMethod::PatternHeader => 0,
            VerifyMethod::Crc7 => 1,
            VerifyMethod::Crc16 => 2,
            VerifyMethod::Crc32 | VerifyMethod::Crc32c | VerifyMethod::Xxhash => 4,
            VerifyMethod::Crc64 => 8,
            VerifyMethod::Md5 => 16,
            VerifyMethod::Sha1 => 20,
            VerifyMethod::Sha3_224 => 28,
            VerifyMethod::Sha3_256 => 32,
            VerifyMethod::Sha3_384 => 48,
            VerifyMethod::Sha256 | VerifyMethod::Sha3_512 => 64,
            VerifyMethod::Sha512 => 128,
        };
        40 + digest
    }
}

/// Bytes repeated over a block, with places for the block's offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPattern {
    /// The pattern; zeros where an offset goes.
    pub bytes: Vec<u8>,
    /// Where in it the block's offset goes: eight bytes, the least significant first.
    pub offsets: Vec<usize>,
}

named!(VerifyMethod: Md5 "md5", Crc64 "crc64", Crc32 "crc32", Crc32c "crc32c", Crc16 "crc16", Crc7 "crc7", Sha1 "sha1", Sha256 "sha256", Sha512 "sha512", Sha3_224 "sha3-224", Sha3_256 "sha3-256", Sha3_384 "sha3-384", Sha3_512 "sha3-512", Xxhash "xxhash", Meta "meta", Pattern "pattern", PatternHeader "pattern_hdr", Null "null");
