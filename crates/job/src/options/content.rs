//! What write buffers hold.

use super::Group::Buffer;
use super::row::{NO_MAX, boolean, choice, flag, int, text, to, value};
use super::{Choice, OptionDef, set};
use crate::model::{BufferContent, DedupeMode, ReadUse};

const DEDUPE: &[Choice] = &[
    value("repeat", "an earlier block again"),
    value("working_set", "a block drawn from a working set"),
];

pub(super) const ROWS: &[OptionDef] = &[
    flag(Buffer, "zero_buffers", "Write zeros")
        .long(
            "Many devices and filesystems store zeros without writing them: figures of such a run \
             say nothing about other data.",
        )
        .sets(|job, v| {
            match (v.flag(), &job.buffers.content) {
                (true, _) => job.buffers.content = BufferContent::Zero,
                (false, BufferContent::Zero) => job.buffers.content = BufferContent::Random,
                (false, _) => {}
            }
            Ok(())
        }),
    flag(Buffer, "refill_buffers", "New content for each write")
        .long("Filling happens outside the time that is measured.")
        .sets(to!(buffers.refill = flag)),
    boolean(Buffer, "scramble_buffers", "Change each buffer a little before each write")
        .default("1")
        .long("Enough against plain deduplication, cheaper than refill_buffers.")
        .sets(to!(buffers.scramble = flag)),
    text(Buffer, "buffer_pattern", "Bytes that buffers are filled with")
        .long(
            "Any sequence of: \"text\" in double quotes; 'path' in single quotes, the content of \
             that file; hexadecimal bytes in the order written, 0xdeadbeef; a decimal number, \
             least significant byte first and no longer than needed, negative ones in four bytes. \
             0xdead\"abc\"-12 joins three.",
        )
        .sets(set::buffer_pattern),
    int(Buffer, "buffer_compress_percentage", 0, 100, "How far buffers compress, per cent")
        .long(
            "Each chunk gets this share of zeros, or of buffer_pattern, behind random data. 0 is \
             incompressible.",
        )
        .sets(to!(buffers.compress_percentage = Some(small))),
    int(Buffer, "buffer_compress_chunk", 0, NO_MAX, "Length of a chunk that compresses, in bytes")
        .default("512")
        .long("0 stands for the block size.")
        .sets(to!(buffers.compress_chunk = bytes)),
    int(Buffer, "dedupe_percentage", 0, 100, "Share of writes that repeat a block, per cent")
        .long(
            "Content is then refilled for each write, so that blocks not repeated are unique. \
             A device that deduplicates stores correspondingly less.",
        )
        .sets(to!(buffers.dedupe_percentage = Some(small))),
    choice(Buffer, "dedupe_mode", DEDUPE, "Which block is repeated")
        .long("repeat holds the share at all times, working_set in the long run.")
        .default("repeat")
        .sets(|job, v| {
            job.buffers.dedupe_mode = match v.text() {
                "working_set" => DedupeMode::WorkingSet,
                _ => DedupeMode::Repeat,
            };
            Ok(())
        }),
    int(Buffer, "dedupe_working_set_percentage", 0, 100, "Size of the working set, per cent")
        .long("In per cent of size; for dedupe_mode=working_set.")
        .default("5")
        .sets(to!(buffers.dedupe_working_set_percentage = small)),
    boolean(Buffer, "dedupe_global", "One working set for all jobs that ask for it")
        .long("Blocks then repeat between jobs as well; for dedupe_mode=working_set.")
        .default("0")
        .sets(to!(buffers.dedupe_global = flag)),
    int(Buffer, "touch_read", 0, NO_MAX, "Take and put back one byte of every so many that a read brought")
        .default("0")
        .long(
            "fathom's own. Reads bring data to memory; a program that uses it also brings it to the \
             processor. This does as much after each read: 64 takes a byte of every cache line of \
             most processors, 512 is what hdparm does; 0 does nothing. It is done between I/Os: the \
             rate has it, latencies have not.",
        )
        .sets(|job, v| {
            job.buffers.read_use = match v.bytes().0 {
                0 => ReadUse::Nothing,
                every => ReadUse::Touch(every),
            };
            Ok(())
        }),
];
