//! What write buffers hold.

use super::Group::Buffer;
use super::field::field;
use super::row::{NO_MAX, boolean, choice, flag, int, rows, text, value};
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

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Write zeros
    ///
    /// Many devices and filesystems do not store zeros, so the results say nothing about other
    /// data.
    "zero_buffers" => flag(Buffer)
        .sets_with(|job, v| {
            match (v.flag(), &job.buffers.content) {
                (true, _) => job.buffers.content = BufferContent::Zero,
                (false, BufferContent::Zero) => job.buffers.content = BufferContent::Random,
                (false, _) => {}
            }
            Ok(())
        })
        .recorded_as("zero_buffers", |job| on(job.buffers.content == BufferContent::Zero)),

    /// New content for each write
    ///
    /// Buffers are filled outside the measured latency.
    "refill_buffers" => flag(Buffer)
        .sets(field!(buffers.refill))
        .recorded_as("refill_buffers", |job| {
            // Refilling with constant content costs almost nothing.
            let same = job.buffers.content == BufferContent::Zero || has_pattern(job);
            on(job.buffers.refill && !same)
        }),

    /// Change each buffer a little before each write
    ///
    /// Defeats simple deduplication at less cost than refill_buffers.
    "scramble_buffers" => boolean(Buffer).default("1").sets(field!(buffers.scramble)).recorded(),

    /// Bytes that buffers are filled with
    ///
    /// Any sequence of: "text" in double quotes; the content of a file, 'path' in single quotes;
    /// hexadecimal bytes in the order written, 0xdeadbeef; a decimal number as little-endian bytes
    /// without leading zeros, negative numbers in four bytes. Example of all but a file:
    /// 0xdead"abc"-12.
    "buffer_pattern" => text(Buffer)
        .sets_with(set::buffer_pattern)
        .recorded_as("buffer_pattern", |job| on(has_pattern(job))),

    /// Compressible share of buffers, per cent
    ///
    /// Each chunk ends with this percentage of zeros or of buffer_pattern; the rest is random data.
    /// 0 means incompressible.
    "buffer_compress_percentage" => int(Buffer, 0, 100)
        .sets(field!(buffers.compress_percentage))
        .recorded(),

    /// Chunk size for compressible data, in bytes
    ///
    /// 0 means the block size.
    "buffer_compress_chunk" => int(Buffer, 0, NO_MAX)
        .default("512")
        .sets(field!(buffers.compress_chunk)),

    /// Percentage of duplicate blocks among writes
    ///
    /// All other blocks are unique because buffers are refilled for each write.
    "dedupe_percentage" => int(Buffer, 0, 100).sets(field!(buffers.dedupe_percentage)).recorded(),

    /// Source of duplicate blocks
    ///
    /// repeat keeps the percentage at all times, working_set on average.
    "dedupe_mode" => choice(Buffer, DEDUPE).default("repeat").sets(field!(buffers.dedupe_mode)),

    /// Size of the deduplication working set, per cent
    ///
    /// As a percentage of size; for dedupe_mode=working_set.
    "dedupe_working_set_percentage" => int(Buffer, 0, 100)
        .default("5")
        .sets(field!(buffers.dedupe_working_set_percentage)),

    /// One working set for all jobs that ask for it
    ///
    /// Jobs then also share duplicate blocks; for dedupe_mode=working_set.
    "dedupe_global" => boolean(Buffer).sets(field!(buffers.dedupe_global)),

    /// Access one byte of every N bytes read
    ///
    /// Not an option of fio. Loads data into the CPU cache after each read, as an application does:
    /// 64 accesses every cache line on most CPUs, hdparm uses 512, 0 disables it. The access
    /// happens between I/Os: throughput includes it, latencies do not.
    "touch_read" => int(Buffer, 0, NO_MAX)
        .default("0")
        .sets(field!(buffers.read_use))
        .recorded_as("touch_read", |job| match job.buffers.read_use {
            ReadUse::Touch(every) => Some(every.to_string()),
            ReadUse::Nothing | ReadUse::NullDevice => None,
        }),
};
