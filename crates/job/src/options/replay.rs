//! Recorded I/O, and commands run beside a job.

use super::Group::{Process, Replay, Target};
use super::field::{field, paths};
use super::row::{NO_MAX, boolean, floats, int, rows, text};
use super::{OptionDef, Value};
use crate::model::Job;

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Write each I/O issued to a file
    ///
    /// One line for each I/O: time in microseconds, file, operation, offset and length, in the text
    /// format (version 3) that read_iolog reads. Lines are appended to an existing file. Use a
    /// separate file for each job: clones that share a file append their logs one after the other,
    /// and such a file must be split before it can be replayed. With a name that ends in ".ftr", each
    /// worker writes a trace with latencies for `fathom model`, with its number before the end of the
    /// name.
    "write_iolog" => text(Replay).sets(field!(replay.write)),

    /// Replay the I/O listed in a file
    ///
    /// An iolog (version 2 or 3), a binary trace of blktrace, put in order by blkparse -d, or a model file.
    /// Several logs, separated by colons, are assigned to clones round robin. '\:' is a colon in a
    /// name, '-' is standard input; a socket is connected to. The log sets files, offsets, lengths
    /// and times; rw, bs, size and filename have no effect. The whole log is read and checked
    /// before the run.
    "read_iolog" => text(Replay).sets_with(|job, v| {
        job.replay.logs = paths(v.text());
        if job.replay.logs.is_empty() { Err("expected the name of a log".into()) } else { Ok(()) }
    }),

    /// Threads of a model file to draw
    ///
    /// A model file, as `fathom model --toml` writes it, describes several kinds of threads. A job
    /// with read_iolog=FILE draws the I/O of one of them; by default that of the first. Use numjobs for the
    /// number of threads.
    "model_threads" => text(Replay).sets(field!(replay.model_threads)),

    /// Read the log in chunks
    ///
    /// For logs that do not fit into memory: a log is read once before the run for checks, and
    /// again during the replay. Input from standard input or a socket cannot be read twice and is
    /// kept in memory.
    "read_iolog_chunked" => boolean(Replay).sets(field!(replay.chunked)),

    /// Ignore the times in the log
    ///
    /// The I/O is replayed in order as fast as iodepth allows.
    "replay_no_stall" => boolean(Replay).sets(field!(replay.no_stall)),

    /// Device or file for all I/O of the log
    ///
    /// By default each I/O goes to the file or device it was recorded on. Opens and closes in the
    /// log are then ignored.
    "replay_redirect" => text(Replay).sets(field!(replay.redirect)),

    /// Divisor for the offsets in the log
    ///
    /// For a target smaller than the one recorded; use replay_align with it.
    "replay_scale" => int(Replay, 0, NO_MAX).default("1").sets_with(|job, v| {
        job.replay.scale = v.count().max(1);
        Ok(())
    }),

    /// Alignment of the offsets in the log, a power of two
    ///
    /// Offsets are rounded down to a multiple of this.
    "replay_align" => int(Replay, 0, NO_MAX).sets_with(align),

    /// Speed of the replay, per cent of the recorded
    ///
    /// 50 takes twice as long as recorded, 200 half as long.
    "replay_time_scale" => int(Replay, 1, NO_MAX).default("100").sets_with(|job, v| {
        job.replay.time_scale = v.count().max(1);
        Ok(())
    }),

    /// Kinds of I/O left out: read, write, trim, sync
    ///
    /// A list split by commas. Works on iologs and on block traces.
    "replay_skip" => text(Replay).sets_with(skip),

    /// File for the merged traces
    ///
    /// The traces of read_iolog are merged in order of time into this file, which is then replayed.
    /// With --merge-blktrace-only nothing is replayed.
    "merge_blktrace_file" => text(Replay).sets(field!(replay.merge.file)),

    /// Time scale of each trace merged, per cent
    ///
    /// One number for each trace, split by colons: 50 runs it in half the time.
    "merge_blktrace_scalars" => floats(Replay, f64::MIN, f64::MAX).sets_with(|job, v| {
        let percents = v.floats();
        if let Some(bad) = percents.iter().find(|p| !p.is_finite() || **p <= 0.0) {
            return Err(format!("expected per cents above 0, got '{bad}'"));
        }
        job.replay.merge.percents = percents;
        Ok(())
    }),

    /// Times each trace merged is run
    ///
    /// One whole number for each trace, split by colons: 2 runs it twice in a row.
    "merge_blktrace_iters" => floats(Replay, f64::MIN, f64::MAX).sets_with(runs),

    /// Shell command run before the job
    ///
    /// Each worker runs the command before its first I/O. Its output goes to JOB.prerun.txt in the
    /// working directory. If the command fails, the job fails.
    "exec_prerun" => text(Process).sets(field!(context.exec_prerun)),

    /// Shell command run after the job
    ///
    /// Each worker runs it after its last I/O. Its output goes to JOB.postrun.txt in the working
    /// directory. A failing command is reported and does not change the results.
    "exec_postrun" => text(Process).sets(field!(context.exec_postrun)),

    /// I/O scheduler to switch the device to
    ///
    /// Every disk below the files is switched before the first I/O and restored after the run.
    /// Files that are on no disk are ignored.
    "ioscheduler" => text(Target).sets(field!(context.ioscheduler)),
};

fn align(job: &mut Job, v: &Value) -> Result<(), String> {
    let align = v.count();
    if !align.is_power_of_two() {
        return Err(format!("expected a power of two, got '{align}'"));
    }
    job.replay.align = align;
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
