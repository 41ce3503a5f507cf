//! Verification of what was written.

use super::Group::Verify;
use super::row::{NO_MAX, boolean, choice, int, same, text, value};
use super::{Choice, OptionDef};

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
    value("fsynced", "those completed before the last good fsync began"),
];

pub(super) const ROWS: &[OptionDef] = &[
    choice(Verify, "verify", METHODS, "Checksum written into each block and checked on reading")
        .default("0"),
    boolean(Verify, "do_verify", "Read back and check after writing").default("1"),
    choice(Verify, "verify_policy", POLICIES, "Which writes an offline check expects to find")
        .default("completed")
        .long("Newer than fio 3.33."),
    int(Verify, "verify_interval", 96, NO_MAX, "Bytes between two headers; must divide bs"),
    int(Verify, "verify_offset", 48, NO_MAX, "Place of the header within its interval, in bytes"),
    text(Verify, "verify_pattern", "Bytes that blocks are filled with and checked for")
        .long("Written as buffer_pattern is; %o stands for the offset of the block."),
    int(Verify, "verify_pattern_interval", 0, NO_MAX, "Bytes after which the pattern begins anew")
        .default("0")
        .long("Newer than fio 3.33."),
    boolean(Verify, "verify_fatal", "End at the first block that does not match"),
    boolean(Verify, "verify_dump", "Write expected and found blocks to files"),
    int(Verify, "verify_async", 0, NO_MAX, "Threads that check blocks beside the worker")
        .default("0"),
    text(Verify, "verify_async_cpus", "CPUs of the checking threads")
        .long("Written as cpus_allowed is."),
    text(Verify, "verify_backlog", "Check after every so many written blocks"),
    int(Verify, "verify_backlog_batch", 0, NO_MAX, "Blocks checked at a time"),
    boolean(Verify, "experimental_verify", "Replay the generator instead of keeping a list"),
    boolean(Verify, "verify_state_load", "Go by the state an interrupted run has saved"),
    boolean(Verify, "verify_state_save", "Save the state when a verified write job is cut short")
        .default("1"),
    boolean(Verify, "verify_write_sequence", "Check the sequence number in headers")
        .default("1")
        .long("Newer than fio 3.33."),
    boolean(Verify, "verify_header_seed", "Check the seed in headers")
        .default("1")
        .long("Newer than fio 3.33."),
    int(Verify, "trim_percentage", 0, 100, "Verified blocks that are trimmed, per cent")
        .default("0"),
    boolean(Verify, "trim_verify_zero", "Trimmed blocks must read as zeros").default("1"),
    text(Verify, "trim_backlog", "Trim after every so many written blocks"),
    int(Verify, "trim_backlog_batch", 0, NO_MAX, "Blocks trimmed at a time"),
];
