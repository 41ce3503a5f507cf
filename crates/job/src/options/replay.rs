//! Recorded I/O, and commands run beside a job.

use super::Group::{Process, Replay, Target};
use super::OptionDef;
use super::row::{NO_MAX, boolean, floats, int, text};

pub(super) const ROWS: &[OptionDef] = &[
    text(Replay, "write_iolog", "Write each I/O issued to a file").long(
        "One line for each I/O with kind, offset and length, in the text form that \
             read_iolog reads back.",
    ),
    text(Replay, "read_iolog", "Do the I/O that a file lists")
        .long("A log of write_iolog or of blktrace; several, split by colons, go to the clones."),
    boolean(Replay, "read_iolog_chunked", "Read the list piece by piece")
        .long("For lists that do not fit into memory."),
    boolean(Replay, "replay_no_stall", "Ignore the times of the list")
        .long("The I/O of the list is done as fast as it can be, in its order."),
    text(Replay, "replay_redirect", "Device that gets all I/O of the list")
        .long("Without it each I/O goes to the file or device it was recorded on."),
    int(Replay, "replay_scale", 0, NO_MAX, "Divide the offsets of the list by this")
        .long("For a target smaller than the one recorded; use replay_align with it.")
        .default("1"),
    int(Replay, "replay_align", 0, NO_MAX, "Round the offsets of the list to this power of two")
        .long("Offsets of the list are rounded down to a multiple of this."),
    int(Replay, "replay_time_scale", 1, NO_MAX, "Speed of the replay, per cent of the recorded")
        .long("50 takes twice as long as recorded, 200 half as long.")
        .default("100"),
    text(Replay, "replay_skip", "Kinds of I/O left out: read, write, trim, sync")
        .long("A list split by commas."),
    text(Replay, "merge_blktrace_file", "Where several traces are merged to before the replay")
        .long(
            "The traces of read_iolog are merged into this one file in order of time, and \
             that is replayed.",
        ),
    floats(
        Replay,
        "merge_blktrace_scalars",
        f64::MIN,
        f64::MAX,
        "Time scale of each trace merged, per cent",
    )
    .long("One number for each trace, split by colons."),
    floats(Replay, "merge_blktrace_iters", f64::MIN, f64::MAX, "Times each trace merged is run")
        .long("One number for each trace, split by colons."),
    text(Process, "exec_prerun", "Shell command run before the job")
        .long("Its output goes to a file named after the job."),
    text(Process, "exec_postrun", "Shell command run after the job")
        .long("Its output goes to a file named after the job."),
    text(Target, "ioscheduler", "I/O scheduler to switch the device to")
        .long("Written to the queue of the device below the target, and put back after the run."),
];
