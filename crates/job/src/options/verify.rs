//! Verification of what was written.

use super::Group::Verify;
use super::field::field;
use super::row::{NO_MAX, boolean, choice, int, rows, same, text, value};
use super::{Choice, OptionDef, set};

const METHODS: &[Choice] = &[
    value("0", "no verification"),
    value("md5", "MD5"),
    value("crc64", "CRC of 64 bits"),
    value("crc32", "CRC of 32 bits"),
    same("crc32c-intel", "crc32c"),
    value("crc32c", "CRC of 32 bits (Castagnoli)"),
    value("crc16", "CRC of 16 bits"),
    value("crc7", "CRC of 7 bits"),
    value("sha1", "SHA-1"),
    value("sha256", "SHA-256"),
    value("sha512", "SHA-512"),
    value("sha3-224", "SHA3-224"),
    value("sha3-256", "SHA3-256"),
    value("sha3-384", "SHA3-384"),
    value("sha3-512", "SHA3-512"),
    value("xxhash", "xxHash"),
    value("meta", "the header alone"),
    value("pattern", "verify_pattern, without a header"),
    value("pattern_hdr", "verify_pattern behind a header"),
    value("null", "pretend to verify"),
];

const POLICIES: &[Choice] = &[
    value("completed", "all completed writes"),
    value("fsynced", "writes completed before the last successful fsync began"),
];

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Checksum written into each block and checked on reading
    ///
    /// A header in each block holds its offset, its sequence number and a checksum of its data.
    /// Blocks are read back after writing unless verify_backlog is given.
    "verify" => choice(Verify, METHODS).default("0").sets_with(set::verify),

    /// Read back and check after writing
    ///
    /// With 0, blocks are written with headers for a later run to check. Only used with verify.
    "do_verify" => boolean(Verify).default("1").sets(field!(verify.read_back)),

    /// Which writes an offline check expects to find
    ///
    /// Newer than fio 3.33.
    "verify_policy" => choice(Verify, POLICIES)
        .default("completed")
        .sets(field!(verify.only_fsynced = "fsynced")),

    /// Bytes between two headers; must divide bs
    ///
    /// Several headers in a block show which part of it is wrong. By default, and if the interval
    /// does not divide the block size, each block has one header.
    "verify_interval" => int(Verify, 96, NO_MAX).sets(field!(verify.interval)),

    /// Place of the header within its interval, in bytes
    ///
    /// The header is swapped with the data at this position before writing, and back before
    /// checking.
    "verify_offset" => int(Verify, 48, NO_MAX).sets(field!(verify.offset)),

    /// Bytes that blocks are filled with and checked for
    ///
    /// Same syntax as buffer_pattern; %o stands for the offset of the block.
    "verify_pattern" => text(Verify).sets_with(set::verify_pattern),

    /// Bytes after which the pattern restarts
    ///
    /// Newer than fio 3.33.
    "verify_pattern_interval" => int(Verify, 0, NO_MAX)
        .default("0")
        .sets(field!(verify.pattern_interval)),

    /// End at the first block that does not match
    ///
    /// By default all blocks are checked and mismatches counted.
    "verify_fatal" => boolean(Verify).sets(field!(verify.fatal)),

    /// Write expected and found blocks to files
    ///
    /// Two files for each bad block, named by its file and offset.
    "verify_dump" => boolean(Verify).sets(field!(verify.dump)),

    /// Threads that check blocks beside the worker
    ///
    /// Checksums are then computed by other threads and do not delay the worker's I/O. With 0 the
    /// worker checks.
    "verify_async" => int(Verify, 0, NO_MAX).default("0").sets(field!(verify.threads)),

    /// CPUs of the checking threads
    ///
    /// Same syntax as cpus_allowed.
    "verify_async_cpus" => text(Verify).sets(field!(verify.cpus)),

    /// Number of written blocks after which they are checked
    ///
    /// Limits the memory needed and finds corruption early; the load becomes a mix of writes and
    /// reads.
    "verify_backlog" => int(Verify, 0, NO_MAX).sets(field!(verify.backlog)),

    /// Blocks checked at a time
    ///
    /// The default is verify_backlog. The rest is checked at the end.
    "verify_backlog_batch" => int(Verify, 0, NO_MAX).sets(field!(verify.backlog_batch)),

    /// Replay the generator instead of keeping a list
    ///
    /// fio then replays its random generator to read back, without a list of writes.
    "experimental_verify" => boolean(Verify)
        .accepted_as(
            "offsets are regenerated wherever no block is written twice; four bytes are kept for \
             each write to tell which came last",
            field!(verify.experimental),
        ),

    /// Use the state saved by an interrupted run
    ///
    /// Blocks that the run never wrote are then not checked.
    "verify_state_load" => boolean(Verify).sets(field!(verify.state_load)),

    /// Save the state when a verified write job is cut short
    ///
    /// A later check then knows which blocks were written.
    "verify_state_save" => boolean(Verify).default("1").sets(field!(verify.state_save)),

    /// Check the sequence number in headers
    ///
    /// Newer than fio 3.33.
    "verify_write_sequence" => boolean(Verify).default("1").sets(field!(verify.write_sequence)),

    /// Check the seed in headers
    ///
    /// A job that only reads checks it only if this is set: the seed must be one of the same job with
    /// the same `randseed`. Newer than fio 3.33.
    "verify_header_seed" => boolean(Verify).default("1").sets(field!(verify.header_seed)),

    /// Verified blocks that are trimmed, per cent
    ///
    /// A share of the blocks that would be verified is trimmed instead.
    "trim_percentage" => int(Verify, 0, 100).default("0").sets(field!(verify.trim_percentage)),

    /// Trimmed blocks must read as zeros
    ///
    /// Only devices that promise zeros after a trim pass this.
    "trim_verify_zero" => boolean(Verify).default("1").sets(field!(verify.trim_zero)),

    /// Number of written blocks after which blocks are trimmed
    ///
    /// Spreads trims over the run instead of doing them at its end.
    "trim_backlog" => int(Verify, 0, NO_MAX).sets(field!(verify.trim_backlog)),

    /// Blocks trimmed at a time
    ///
    /// By default all of the backlog.
    "trim_backlog_batch" => int(Verify, 0, NO_MAX).sets(field!(verify.trim_backlog_batch)),
};
