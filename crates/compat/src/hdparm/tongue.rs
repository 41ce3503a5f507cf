//! What findings name, as flags of hdparm.

use crate::Tongue;
use crate::tongue::{EVERYWHERE, ONE_AT_A_TIME, Words};

const PHRASES: &[Words] = &[
    ("drop --invalidate=0, add --direct=1", "add --direct=1"),
    (", or read more than the machine's memory once", ""),
    (", or read more than the machine's memory", ""),
    (", or work on more than the machine's memory", ""),
    (", or a --size above the memory", ""),
    ("(rw=write, refill_buffers=1) before", "(fathom precondition) before"),
    ("a job with rw=write, or fathom precondition", "fathom precondition does"),
    (
        "make bs, offset and size multiples of the device's logical block (fathom inspect shows it), \
         or leave direct=1 out",
        "leave --direct out",
    ),
    ("lower size, numjobs or nrfiles", "name a smaller target"),
    ("or let the job create it", "or name another target"),
    ("use --bs and --offset in multiples of the largest block below", "name the whole disk"),
    ("or set direct=0", "or leave --direct out"),
    ("use direct=0", "leave --direct out"),
    ("lower iodepth, bs or numjobs; with iomem=mmaphuge or shmhuge set", "free memory, or set"),
    ("lower iodepth, bs or numjobs", "leave --direct out"),
];

/// hdparm's flags for fathom's options. Its offset is in GiB: none that a cure names is taken over.
pub(super) const TONGUE: Tongue = Tongue {
    phrases: &[PHRASES, ONE_AT_A_TIME, EVERYWHERE],
    flags: &[&[("direct=1", "--direct"), ("--direct", "--direct"), ("--offset", "--offset")]],
    elsewhere: Some("fathom run"),
};
