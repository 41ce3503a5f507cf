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
            "Many devices and filesystems store zeros without writing them: figures of such a run \
             say nothing about other data.",
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
        .long("Filling happens outside the time that is measured.")
        .sets(field!(buffers.refill))
        .recorded_as("refill_buffers", |job| {
            // What is always the same costs next to nothing to make again.
            let same = job.buffers.content == BufferContent::Zero || has_pattern(job);
            on(job.buffers.refill && !same)
        }),
    boolean(Buffer, "scramble_buffers", "Change each buffer a little before each write")
        .default("1")
        .long("Enough against plain deduplication, cheaper than refill_buffers.")
        .sets(field!(buffers.scramble))
        .recorded(),
    text(Buffer, "buffer_pattern", "Bytes that buffers are filled with")
        .long(
            "Any sequence of: \"text\" in double quotes; 'path' in single quotes, the content of \
             that file; hexadecimal bytes in the order written, 0xdeadbeef; a decimal number, \
             least significant byte first and no longer than needed, negative ones in four bytes. \
             0xdead\"abc\"-12 joins three.",
        )
        .sets_with(set::buffer_pattern)
        .recorded_as("buffer_pattern", |job| on(has_pattern(job))),
    int(Buffer, "buffer_compress_percentage", 0, 100, "How far buffers compress, per cent")
        .long(
            "Each chunk gets this share of zeros, or of buffer_pattern, behind random data. 0 is \
             incompressible.",
        )
        .sets(field!(buffers.compress_percentage))
        .recorded(),
    int(Buffer, "buffer_compress_chunk", 0, NO_MAX, "Length of a chunk that compresses, in bytes")
        .default("512")
        .long("0 stands for the block size.")
        .sets(field!(buffers.compress_chunk)),
    int(Buffer, "dedupe_percentage", 0, 100, "Share of writes that repeat a block, per cent")
        .long(
            "Content is then refilled for each write, so that blocks not repeated are unique. \
             A device that deduplicates stores correspondingly less.",
        )
        .sets(field!(buffers.dedupe_percentage))
        .recorded(),
    choice(Buffer, "dedupe_mode", DEDUPE, "Which block is repeated")
        .long("repeat holds the share at all times, working_set in the long run.")
        .default("repeat")
        .sets(field!(buffers.dedupe_mode)),
    int(Buffer, "dedupe_working_set_percentage", 0, 100, "Size of the working set, per cent")
        .long("In per cent of size; for dedupe_mode=working_set.")
        .default("5")
        .sets(field!(buffers.dedupe_working_set_percentage)),
    boolean(Buffer, "dedupe_global", "One working set for all jobs that ask for it")
        .long("Blocks then repeat between jobs as well; for dedupe_mode=working_set.")
        .sets(field!(buffers.dedupe_global)),
    int(Buffer, "touch_read", 0, NO_MAX, "Take and put back one byte of every so many that a read brought")
        .default("0")
        .long(
            "fathom's own. Reads bring data to memory; a program that uses it also brings it to the \
             processor. This does as much after each read: 64 takes a byte of every cache line of \
             most processors, 512 is what hdparm does; 0 does nothing. It is done between I/Os: the \
             rate has it, latencies have not.",
        )
        .sets(field!(buffers.read_use))
        .recorded_as("touch_read", |job| match job.buffers.read_use {
            ReadUse::Touch(every) => Some(every.to_string()),
            ReadUse::Nothing | ReadUse::NullDevice => None,
        }),
];
