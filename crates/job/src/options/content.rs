//! What write buffers hold.

use super::Group::Buffer;
use super::field::field;
use super::row::{NO_MAX, boolean, choice, flag, int, text, value};
use super::{Choice, OptionDef, set};
use crate::model::{BufferContent, Job, ReadUse};

const DEDUPE: &[Choice] = &[
    value("repeat", "an earlier block again"),
    value("working_set", "a block drawn from a working set"),
];

fn has_pattern(job: &Job) -> bool {
    matches!(job.buffers.content, BufferContent::Pattern(_))
}

fn on(is_on: bool) -> Option<String> {
    is_on.then(|| "1".to_owned())
}

pub(super) const ROWS: &[OptionDef] = &[
    flag(Buffer, "zero_buffers", "Write zeros")
        .long(
            "Many devices and filesystems do not store zeros, so the results say nothing about \
             other data.",
        )
        .sets_with(|job, v| {
            match (v.flag(), &job.buffers.content) {
                (true, _) => job.buffers.content = BufferContent::Zero,
                (false, BufferContent::Zero) => job.buffers.content = BufferContent::Random,
                (false, _) => {}
            }
            Ok(())
        })
        .recorded_as("zero_buffers", |job| on(job.buffers.content == BufferContent::Zero)),
    flag(Buffer, "refill_buffers", "New content for each write")
        .long("Buffers are filled outside the measured latency.")
        .sets(field!(buffers.refill))
        .recorded_as("refill_buffers", |job| {
            // What is always the same costs next to nothing to make again.
            let same = job.buffers.content == BufferContent::Zero || has_pattern(job);
            on(job.buffers.refill && !same)
        }),
    boolean(Buffer, "scramble_buffers", "Change each buffer a little before each write")
        .default("1")
        .long("Defeats simple deduplication at less cost than refill_buffers.")
        .sets(field!(buffers.scramble))
        .recorded(),
    text(Buffer, "buffer_pattern", "Bytes that buffers are filled with")
        .long(
            "Any sequence of: \"text\" in double quotes; the content of a file, 'path' in single \
             quotes; hexadecimal bytes in the order written, 0xdeadbeef; a decimal number as \
             little-endian bytes without leading zeros, negative numbers in four bytes. Example \
             of all but a file: 0xdead\"abc\"-12.",
        )
        .sets_with(set::buffer_pattern)
        .recorded_as("buffer_pattern", |job| on(has_pattern(job))),
    int(Buffer, "buffer_compress_percentage", 0, 100, "Compressible share of buffers, per cent")
        .long(
            "Each chunk ends with this percentage of zeros or of buffer_pattern; the rest is \
             random data. 0 means incompressible.",
        )
        .sets(field!(buffers.compress_percentage))
        .recorded(),
    int(Buffer, "buffer_compress_chunk", 0, NO_MAX, "Chunk size for compressible data, in bytes")
        .default("512")
        .long("0 means the block size.")
        .sets(field!(buffers.compress_chunk)),
    int(Buffer, "dedupe_percentage", 0, 100, "Percentage of duplicate blocks among writes")
        .long("All other blocks are unique because buffers are refilled for each write.")
        .sets(field!(buffers.dedupe_percentage))
        .recorded(),
    choice(Buffer, "dedupe_mode", DEDUPE, "Source of duplicate blocks")
        .long("repeat keeps the percentage at all times, working_set on average.")
        .default("repeat")
        .sets(field!(buffers.dedupe_mode)),
    int(
        Buffer,
        "dedupe_working_set_percentage",
        0,
        100,
        "Size of the deduplication working set, per cent",
    )
    .long("As a percentage of size; for dedupe_mode=working_set.")
    .default("5")
    .sets(field!(buffers.dedupe_working_set_percentage)),
    boolean(Buffer, "dedupe_global", "One working set for all jobs that ask for it")
        .long("Jobs then also share duplicate blocks; for dedupe_mode=working_set.")
        .sets(field!(buffers.dedupe_global)),
    int(Buffer, "touch_read", 0, NO_MAX, "Access one byte of every N bytes read")
        .default("0")
        .long(
            "Not an option of fio. Loads data into the CPU cache after each read, as an \
             application does: 64 accesses every cache line on most CPUs, hdparm uses 512, 0 \
             disables it. The access happens between I/Os: throughput includes it, latencies do \
             not.",
        )
        .sets(field!(buffers.read_use))
        .recorded_as("touch_read", |job| match job.buffers.read_use {
            ReadUse::Touch(every) => Some(every.to_string()),
            ReadUse::Nothing | ReadUse::NullDevice => None,
        }),
];
