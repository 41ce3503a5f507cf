//! Recorded I/O, and commands run beside a job.

use super::Group::{Process, Replay, Target};
use super::OptionDef;
use super::row::{NO_MAX, boolean, floats, int, text};

pub(super) const ROWS: &[OptionDef] = &[
    text(Replay, "write_iolog", "Write each I/O issued to a file"),
    text(Replay, "read_iolog", "Do the I/O that a file lists")
        .long("A log of write_iolog or of blktrace; several, split by colons, go to the clones."),
    boolean(Replay, "read_iolog_chunked", "Read the list piece by piece"),
    boolean(Replay, "replay_no_stall", "Ignore the times of the list"),
    text(Replay, "replay_redirect", "Device that gets all I/O of the list"),
    int(Replay, "replay_scale", 0, NO_MAX, "Divide the offsets of the list by this").default("1"),
    int(Replay, "replay_align", 0, NO_MAX, "Round the offsets of the list to this power of two"),
    int(Replay, "replay_time_scale", 1, NO_MAX, "Speed of the replay, per cent of the recorded")
        .default("100"),
    text(Replay, "replay_skip", "Kinds of I/O left out: read, write, trim, sync"),
    text(Replay, "merge_blktrace_file", "Where several traces are merged to before the replay"),
    floats(
        Replay,
        "merge_blktrace_scalars",
        f64::MIN,
        f64::MAX,
        "Time scale of each trace merged, per cent",
    ),
    floats(Replay, "merge_blktrace_iters", f64::MIN, f64::MAX, "Times each trace merged is run"),
    text(Process, "exec_prerun", "Shell command run before the job"),
    text(Process, "exec_postrun", "Shell command run after the job"),
    text(Target, "ioscheduler", "I/O scheduler to switch the device to"),
];
