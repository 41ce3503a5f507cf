//! Recorded I/O, and commands run beside a job.

use super::Group::{Process, Replay, Target};
use super::field::{field, paths};
use super::row::{NO_MAX, boolean, floats, int, text};
use super::{OptionDef, Value};
use crate::model::Job;

pub(super) const ROWS: &[OptionDef] = &[
    text(Replay, "write_iolog", "Write each I/O issued to a file")
        .long(
            "A line for each I/O: time in microseconds, file, what was done, offset and length, in \
             the text form (version 3) that read_iolog reads back. Lines are added to a file that \
             is there. Give each job a file of its own: clones that share one write one log behind \
             the other into it, which has to be split before it can be replayed.",
        )
        .sets(field!(replay.write)),
    text(Replay, "read_iolog", "Do the I/O that a file lists")
        .long(
            "An iolog (version 2 or 3) or a binary trace of blktrace, put in order by blkparse -d. \
             Several, split by colons, go to the clones in turn; '\\:' is a colon of a name, '-' \
             is standard input, a socket is connected to. The log says what is done to which file \
             or device, how much and when; rw, bs, size and filename have no effect. The whole log \
             is read and checked before anything is touched.",
        )
        .sets_with(|job, v| {
            job.replay.logs = paths(v.text());
            match job.replay.logs.is_empty() {
                true => Err("expected the name of a log".into()),
                false => Ok(()),
            }
        }),
    boolean(Replay, "read_iolog_chunked", "Read the list piece by piece")
        .long(
            "For logs that do not fit into memory: they are read once before the run, to be \
             checked, and again while they are replayed. What comes from standard input or a \
             socket cannot be read twice and is kept in memory all the same.",
        )
        .sets(field!(replay.chunked)),
    boolean(Replay, "replay_no_stall", "Ignore the times of the list")
        .long("The I/O of the list is done as fast as iodepth allows, in its order.")
        .sets(field!(replay.no_stall)),
    text(Replay, "replay_redirect", "Device that gets all I/O of the list")
        .long(
            "A device or file. Without it each I/O goes to the file or device it was recorded on. \
             What the list says of opening and closing files is then left out.",
        )
        .sets(field!(replay.redirect)),
    int(Replay, "replay_scale", 0, NO_MAX, "Divide the offsets of the list by this")
        .long("For a target smaller than the one recorded; use replay_align with it.")
        .default("1")
        .sets_with(|job, v| {
            job.replay.scale = v.count().max(1);
            Ok(())
        }),
    int(Replay, "replay_align", 0, NO_MAX, "Round the offsets of the list to this power of two")
        .long("Offsets of the list are rounded down to a multiple of this.")
        .sets_with(align),
    int(Replay, "replay_time_scale", 1, NO_MAX, "Speed of the replay, per cent of the recorded")
        .long("50 takes twice as long as recorded, 200 half as long.")
        .default("100")
        .sets_with(|job, v| {
            job.replay.time_scale = v.count().max(1);
            Ok(())
        }),
    text(Replay, "replay_skip", "Kinds of I/O left out: read, write, trim, sync")
        .long("A list split by commas. Works on iologs and on block traces.")
        .sets_with(skip),
    text(Replay, "merge_blktrace_file", "Where several traces are merged to before the replay")
        .long(
            "The traces of read_iolog are merged into this one file in order of time, and \
             that is replayed. --merge-blktrace-only leaves it at that.",
        )
        .sets(field!(replay.merge.file)),
    floats(
        Replay,
        "merge_blktrace_scalars",
        f64::MIN,
        f64::MAX,
        "Time scale of each trace merged, per cent",
    )
    .long("One number for each trace, split by colons: 50 runs it in half the time.")
    .sets_with(|job, v| {
        let percents = v.floats();
        if let Some(bad) = percents.iter().find(|p| !p.is_finite() || **p <= 0.0) {
            return Err(format!("expected per cents above 0, got '{bad}'"));
        }
        job.replay.merge.percents = percents;
        Ok(())
    }),
    floats(Replay, "merge_blktrace_iters", f64::MIN, f64::MAX, "Times each trace merged is run")
        .long("One whole number for each trace, split by colons: 2 runs it twice in a row.")
        .sets_with(runs),
    text(Process, "exec_prerun", "Shell command run before the job")
        .long(
            "Each worker runs it when its turn has come, before its first I/O. Its output goes to \
             JOB.prerun.txt in the working directory. A command that fails fails the job.",
        )
        .sets(field!(surroundings.exec_prerun)),
    text(Process, "exec_postrun", "Shell command run after the job")
        .long(
            "Each worker runs it after its last I/O. Its output goes to JOB.postrun.txt in the \
             working directory. A command that fails is told of and changes no figure.",
        )
        .sets(field!(surroundings.exec_postrun)),
    text(Target, "ioscheduler", "I/O scheduler to switch the device to")
        .long(
            "Every disk below the files is switched before the first I/O and put back after the \
             run. What lies on no disk is passed over.",
        )
        .sets(field!(surroundings.ioscheduler)),
];

fn align(job: &mut Job, v: &Value) -> Result<(), String> {
    let align = v.count();
    if align > 0 && !align.is_power_of_two() {
        return Err(format!("expected a power of two, got '{align}'"));
    }
    job.replay.align = align.max(1);
    Ok(())
}

fn skip(job: &mut Job, v: &Value) -> Result<(), String> {
    let skip = &mut job.replay.skip;
    for kind in v.text().split(',').map(str::trim).filter(|kind| !kind.is_empty()) {
        let kind = match kind {
            "read" => &mut skip.read,
            "write" => &mut skip.write,
            "trim" => &mut skip.trim,
            "sync" => &mut skip.sync,
            other => return Err(format!("expected read, write, trim or sync, got '{other}'")),
        };
        *kind = true;
    }
    Ok(())
}

fn runs(job: &mut Job, v: &Value) -> Result<(), String> {
    let whole = |number: f64| match number {
        n if n.fract() == 0.0 && (1.0..=1e9).contains(&n) => Ok(n as u64),
        n => Err(format!("expected whole numbers from 1 to 1000000000, got '{n}'")),
    };
    job.replay.merge.runs = v.floats().into_iter().map(whole).collect::<Result<_, _>>()?;
    Ok(())
}
