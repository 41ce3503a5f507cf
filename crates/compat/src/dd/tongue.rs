//! What findings name, as operands of dd.

use super::Call;
use crate::Tongue;
use crate::tongue::{EVERYWHERE, ONE_AT_A_TIME, Words};

/// Operands that are alike for whatever is copied.
const FLAGS: &[Words] = &[
    // What makes the I/O of a copy: the option at fault, where a target is refused by its name.
    ("--read_iolog", "dd"),
    ("end_fsync=1", "conv=fsync"),
    ("refill_buffers=1", "if=/dev/urandom"),
    ("refill_buffers", "if=/dev/urandom"),
    ("zero_buffers=1", "if=/dev/zero"),
    ("--bs", "bs="),
    ("--size", "count="),
    ("--offset", "skip= or seek="),
];

const PHRASES: &[Words] = &[
    (
        "add --fsync=1, --fdatasync=1 or --sync=dsync as the program does; --end_fsync=1 for a copy \
         that is made durable once",
        "say oflag=dsync as a program does that synchronises each write; conv=fdatasync for a copy \
         that is made durable once",
    ),
    ("drop --invalidate=0, add --direct=1", "add iflag=nocache or iflag=direct"),
    (
        "add --direct=1, or a --size above the memory",
        "add --direct=1, or copy more than the memory",
    ),
    ("work on more than", "copy more than"),
    ("to measure the storage; leave it out when", "to measure the storage; leave it away when"),
    (
        "drop zero_buffers, buffer_pattern, buffer_compress_percentage and dedupe_percentage; add \
         refill_buffers=1",
        "say if=/dev/urandom",
    ),
    ("(rw=write, refill_buffers=1) before", "(if=/dev/urandom) before"),
    ("a job with rw=write,", "a copy of /dev/zero to it,"),
    (
        "leave refill_buffers out: buffers are made different for each write anyhow \
         (scramble_buffers); or",
        "copy a file, or",
    ),
    ("refill_buffers fills every buffer anew before", "bytes are made anew before"),
    ("make room, or lower size, numjobs or nrfiles", "make room, or lower count="),
    ("lower size", "lower count="),
    ("Lower size= (or nrfiles=)", "Lower count="),
    ("make bs, offset and size multiples", "make bs=, skip=, seek= and what is copied multiples"),
    ("or leave direct=1 out", "or leave direct out of iflag= and oflag="),
    ("or set direct=0", "or leave direct out of iflag= and oflag="),
    ("use direct=0", "leave direct out of iflag= and oflag="),
    ("lower iodepth, bs or numjobs", "lower bs="),
    ("use --bs and --offset in multiples", "use bs=, skip= and seek= in multiples"),
    ("or let the job create it", "or make it"),
    ("raise the block", "raise bs="),
];

/// Operands for what a call does: what passes the page cache by depends on who reads and writes.
pub(super) fn of(call: &Call) -> Tongue {
    const PHRASEBOOK: &[&[Words]] = &[PHRASES, ONE_AT_A_TIME, EVERYWHERE];
    let flags: &'static [&'static [Words]] = match (call.read(), call.written()) {
        (Some(_), Some(_)) => &[&[("direct=1", "iflag=direct oflag=direct")], FLAGS],
        (None, Some(_)) => &[&[("direct=1", "oflag=direct")], FLAGS],
        (_, None) => &[&[("direct=1", "iflag=direct")], FLAGS],
    };
    Tongue { phrases: PHRASEBOOK, flags, elsewhere: Some("fathom run") }
}
