//! Verification of what was written.

use super::Group::Verify;
use super::field::field;
use super::row::{NO_MAX, boolean, choice, int, same, text, value};
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
    value("fsynced", "those completed before the last good fsync began"),
];

pub(super) const ROWS: &[OptionDef] = &[
    choice(Verify, "verify", METHODS, "Checksum written into each block and checked on reading")
        .long(
            "A header in each block names its offset, its number and a checksum of its data. \
             Reading happens after writing unless verify_backlog says otherwise.",
        )
        .default("0")
        .sets_with(set::verify),
    boolean(Verify, "do_verify", "Read back and check after writing")
        .long(
            "With 0 blocks are written with headers and checked by a later run. Has a meaning \
             only with verify.",
        )
        .default("1")
        .sets(field!(verify.read_back)),
    choice(Verify, "verify_policy", POLICIES, "Which writes an offline check expects to find")
        .default("completed")
        .long("Newer than fio 3.33.")
        .sets(field!(verify.only_fsynced = "fsynced")),
    int(Verify, "verify_interval", 96, NO_MAX, "Bytes between two headers; must divide bs")
        .long(
            "Several headers in each block find out which part of it is wrong. By default, and \
             where it does not divide the blocks, one for each block.",
        )
        .sets(field!(verify.interval)),
    int(Verify, "verify_offset", 48, NO_MAX, "Place of the header within its interval, in bytes")
        .long(
            "The header is swapped with the data at that place before writing, and back \
             before checking.",
        )
        .sets(field!(verify.offset)),
    text(Verify, "verify_pattern", "Bytes that blocks are filled with and checked for")
        .long("Written as buffer_pattern is; %o stands for the offset of the block.")
        .sets_with(set::verify_pattern),
    int(Verify, "verify_pattern_interval", 0, NO_MAX, "Bytes after which the pattern begins anew")
        .default("0")
        .long("Newer than fio 3.33.")
        .sets(field!(verify.pattern_interval)),
    boolean(Verify, "verify_fatal", "End at the first block that does not match")
        .long("By default all blocks are checked and mismatches counted.")
        .sets(field!(verify.fatal)),
    boolean(Verify, "verify_dump", "Write expected and found blocks to files")
        .long("Two files for each bad block, named by its file and offset.")
        .sets(field!(verify.dump)),
    int(Verify, "verify_async", 0, NO_MAX, "Threads that check blocks beside the worker")
        .long(
            "Checksums are then no longer computed between the worker's I/Os, so they delay \
             none. 0 lets the worker check.",
        )
        .default("0")
        .sets(field!(verify.threads)),
    text(Verify, "verify_async_cpus", "CPUs of the checking threads")
        .long("Written as cpus_allowed is.")
        .sets(field!(verify.cpus)),
    int(Verify, "verify_backlog", 0, NO_MAX, "Check after every so many written blocks")
        .long(
            "Bounds how much must be remembered and finds corruption early; the load is then \
             a mix of writes and reads.",
        )
        .sets(field!(verify.backlog)),
    int(Verify, "verify_backlog_batch", 0, NO_MAX, "Blocks checked at a time")
        .long("What fewer than verify_backlog leave over is checked at the end. By default all of it.")
        .sets(field!(verify.backlog_batch)),
    boolean(Verify, "experimental_verify", "Replay the generator instead of keeping a list")
        .long("fio then goes through the writes again, to read them back, without a list of them.")
        .accepted_as(
            "offsets are generated again wherever no block is written twice; what is kept of a \
             write are the four bytes that tell which one came last",
            field!(verify.experimental),
        ),
    boolean(Verify, "verify_state_load", "Go by the state an interrupted run has saved")
        .long("Blocks that were never written are then not expected to be there.")
        .sets(field!(verify.state_load)),
    boolean(Verify, "verify_state_save", "Save the state when a verified write job is cut short")
        .long("So that a later check knows how far writing had come.")
        .default("1")
        .sets(field!(verify.state_save)),
    boolean(Verify, "verify_write_sequence", "Check the sequence number in headers")
        .default("1")
        .long("Newer than fio 3.33.")
        .sets(field!(verify.write_sequence)),
    boolean(Verify, "verify_header_seed", "Check the seed in headers")
        .default("1")
        .long("Newer than fio 3.33.")
        .sets(field!(verify.header_seed)),
    int(Verify, "trim_percentage", 0, 100, "Verified blocks that are trimmed, per cent")
        .long("A share of the blocks that would be verified is trimmed instead.")
        .default("0")
        .sets(field!(verify.trim_percentage)),
    boolean(Verify, "trim_verify_zero", "Trimmed blocks must read as zeros")
        .long("Only devices that promise zeros after a trim pass this.")
        .default("1")
        .sets(field!(verify.trim_zero)),
    int(Verify, "trim_backlog", 0, NO_MAX, "Trim after every so many written blocks")
        .long("Spreads trims over the run instead of leaving them to its end.")
        .sets(field!(verify.trim_backlog)),
    int(Verify, "trim_backlog_batch", 0, NO_MAX, "Blocks trimmed at a time")
        .long("By default all of the backlog.")
        .sets(field!(verify.trim_backlog_batch)),
];
