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
    value("fsynced", "writes completed before the last successful fsync began"),
];

pub(super) const ROWS: &[OptionDef] = &[
    choice(Verify, "verify", METHODS, "Checksum written into each block and checked on reading")
        .long(
            "A header in each block holds its offset, its sequence number and a checksum of its \
             data. Blocks are read back after writing unless verify_backlog is given.",
        )
        .default("0")
        .sets_with(set::verify),
    boolean(Verify, "do_verify", "Read back and check after writing")
        .long(
            "With 0, blocks are written with headers for a later run to check. Only used with \
             verify.",
        )
        .default("1")
        .sets(field!(verify.read_back)),
    choice(Verify, "verify_policy", POLICIES, "Which writes an offline check expects to find")
        .default("completed")
        .long("Newer than fio 3.33.")
        .sets(field!(verify.only_fsynced = "fsynced")),
    int(Verify, "verify_interval", 96, NO_MAX, "Bytes between two headers; must divide bs")
        .long(
            "Several headers in a block show which part of it is wrong. By default, and if the \
             interval does not divide the block size, each block has one header.",
        )
        .sets(field!(verify.interval)),
    int(Verify, "verify_offset", 48, NO_MAX, "Place of the header within its interval, in bytes")
        .long(
            "The header is swapped with the data at this position before writing, and back \
             before checking.",
        )
        .sets(field!(verify.offset)),
    text(Verify, "verify_pattern", "Bytes that blocks are filled with and checked for")
        .long("Same syntax as buffer_pattern; %o stands for the offset of the block.")
        .sets_with(set::verify_pattern),
    int(Verify, "verify_pattern_interval", 0, NO_MAX, "Bytes after which the pattern restarts")
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
            "Checksums are then computed by other threads and do not delay the worker's I/O. \
             With 0 the worker checks.",
        )
        .default("0")
        .sets(field!(verify.threads)),
    text(Verify, "verify_async_cpus", "CPUs of the checking threads")
        .long("Same syntax as cpus_allowed.")
        .sets(field!(verify.cpus)),
    int(
        Verify,
        "verify_backlog",
        0,
        NO_MAX,
        "Number of written blocks after which they are checked",
    )
    .long(
        "Limits the memory needed and finds corruption early; the load becomes a mix of \
             writes and reads.",
    )
    .sets(field!(verify.backlog)),
    int(Verify, "verify_backlog_batch", 0, NO_MAX, "Blocks checked at a time")
        .long("The default is verify_backlog. The rest is checked at the end.")
        .sets(field!(verify.backlog_batch)),
    boolean(Verify, "experimental_verify", "Replay the generator instead of keeping a list")
        .long("fio then replays its random generator to read back, without a list of writes.")
        .accepted_as(
            "offsets are regenerated wherever no block is written twice; four bytes are kept for \
             each write to tell which came last",
            field!(verify.experimental),
        ),
    boolean(Verify, "verify_state_load", "Use the state saved by an interrupted run")
        .long("Blocks that the run never wrote are then not checked.")
        .sets(field!(verify.state_load)),
    boolean(Verify, "verify_state_save", "Save the state when a verified write job is cut short")
        .long("A later check then knows which blocks were written.")
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
    int(
        Verify,
        "trim_backlog",
        0,
        NO_MAX,
        "Number of written blocks after which blocks are trimmed",
    )
    .long("Spreads trims over the run instead of doing them at its end.")
    .sets(field!(verify.trim_backlog)),
    int(Verify, "trim_backlog_batch", 0, NO_MAX, "Blocks trimmed at a time")
        .long("By default all of the backlog.")
        .sets(field!(verify.trim_backlog_batch)),
];
