//! Log files, and how they are averaged.

use super::Group::Measure;
use super::field::field;
use super::row::{
    MILLISECOND, NO_MAX, boolean, choice, flag, int, same, text, text_or_none, value,
};
use super::{Choice, OptionDef};

const WINDOWS: &[Choice] = &[
    value("avg", "the mean"),
    value("max", "the greatest"),
    value("both", "mean and greatest, two columns"),
    same("0", "avg"),
    same("1", "max"),
];

pub(super) const ROWS: &[OptionDef] = &[
    boolean(Measure, "per_job_logs", "A log file of its own for each job")
        .long(
            "With 0 the number of the job is not part of the name, and jobs with the same prefix \
             write one file, one job after the other. Each run begins it anew.",
        )
        .default("1")
        .sets(field!(measure.logs.per_job)),
    text_or_none(Measure, "write_bw_log", "Write a log of bandwidth; its name begins with this").long(
        "PREFIX_bw.N.log, N counting the workers of the run from 1; without a value PREFIX is the \
         job's name. A line an I/O, or, with log_avg_msec, a window and direction: time in \
         milliseconds from the begin of the measured window, value (here KiB/s), direction (0 \
         read, 1 write, 2 trim), block size in bytes (0 in windows), priority. A window without \
         I/O has a line of value 0; the last one may be shorter.",
    )
    .sets(field!(measure.logs.bandwidth)),
    int(Measure, "bwavgtime", 0, NO_MAX, "Interval of bandwidth samples, in milliseconds")
        .default("500")
        .long(
            "A plain number of milliseconds. Minimum, maximum, mean and deviation of bandwidth \
             are taken over these samples. With write_bw_log, log_avg_msec counts instead where \
             it is less. All jobs of a run are sampled at the shortest interval one of them asks for.",
        )
        .sets(field!(measure.bwavgtime in MILLISECOND)),
    text_or_none(Measure, "write_lat_log", "Write logs of latency; their names begin with this")
        .long(
            "PREFIX_slat.N.log, PREFIX_clat.N.log and PREFIX_lat.N.log, in nanoseconds, else as \
             for write_bw_log. A window without I/O has no latency and no line.",
        )
        .sets(field!(measure.logs.latency)),
    text_or_none(Measure, "write_iops_log", "Write a log of I/Os; its name begins with this")
        .long(
            "PREFIX_iops.N.log, as for write_bw_log; the value of a single I/O is 1, so it makes \
             sense with log_avg_msec.",
        )
        .sets(field!(measure.logs.iops)),
    int(Measure, "iopsavgtime", 0, NO_MAX, "Interval of IOPS samples, in milliseconds")
        .default("500")
        .long(
            "A plain number of milliseconds. With write_iops_log, log_avg_msec counts instead \
             where it is less.",
        )
        .sets(field!(measure.iopsavgtime in MILLISECOND)),
    int(Measure, "log_entries", 1024, 1 << 20, "Lines a log has room for at first")
        .long(
            "That many are gathered by the worker and then handed to a thread that keeps them; \
             a greater number disturbs the worker more rarely. Files are written after the run.",
        )
        .default("1024")
        .sets(field!(measure.logs.entries)),
    int(Measure, "log_avg_msec", 0, NO_MAX, "Interval of log lines, in milliseconds")
        .long("0 writes one line for each I/O.")
        .default("0")
        .sets(field!(measure.logs.window in MILLISECOND)),
    int(Measure, "log_hist_msec", 0, NO_MAX, "Interval of histogram log lines, in milliseconds")
        .long("0 switches histogram logs off.")
        .default("0")
        .sets(field!(measure.logs.histogram_window in MILLISECOND)),
    int(Measure, "log_hist_coarseness", 0, 6, "Times the bins of a histogram log are halved")
        .long("There are 1856 bins at first; each step halves their number.")
        .default("0")
        .sets(field!(measure.logs.coarseness)),
    text_or_none(Measure, "write_hist_log", "Write a log of histograms; its name begins with this")
        .long(
            "PREFIX_clat_hist.N.log. Needs log_hist_msec. A line a window and direction with I/O: \
             time, direction, block size, then how many completion latencies fell into each bin; \
             64 bins an octave from 1 ns on.",
        )
        .sets(field!(measure.logs.histogram)),
    choice(Measure, "log_window_value", WINDOWS, "What a line of an interval holds")
        .alias(&["log_max_value"])
        .default("avg")
        .long(
            "Under its older name log_max_value it is 0 or 1. The greatest rate is that of a \
             part of the window as long as bwavgtime (or iopsavgtime). Two columns are for \
             latency logs; the others hold the mean then.",
        )
        .sets(field!(measure.logs.value)),
    boolean(Measure, "log_offset", "Log the offset of each I/O")
        .long("Adds a column to each log line: the offset in the file, in bytes; 0 in windows.")
        .sets(field!(measure.logs.offset)),
    boolean(Measure, "log_prio", "Log the priority of each I/O")
        .long(
            "The priority column then holds the priority as the kernel encodes it, else 1 for \
             the realtime class and 0 for all others.",
        )
        .sets(field!(measure.logs.priority)),
    boolean(Measure, "log_issue_time", "Log when each I/O was issued")
        .long(
            "One more column, in nanoseconds; 0 in windows and in logs other than of slat and \
             clat. Needs log_offset and write_lat_log. Newer than fio 3.33.",
        )
        .sets(field!(measure.logs.issue_time)),
    int(Measure, "log_compression", 1024, 512 << 20, "Bytes of log to compress at a time")
        .long(
            "Takes CPU time beside the run. Without it what waits to be written is kept as it is, \
             in memory and, beyond 64 MiB, in a temporary file beside the log.",
        )
        .sets(field!(measure.logs.compression)),
    text(Measure, "log_compression_cpus", "CPUs that compress logs")
        .long("Written as cpus_allowed is.")
        .sets(field!(measure.logs.compression_cpus)),
    boolean(Measure, "log_store_compressed", "Leave log files compressed")
        .long("They end in .fz and are unpacked by --inflate-log, fio's as well as fathom's.")
        .sets(field!(measure.logs.store_compressed)),
    boolean(Measure, "log_unix_epoch", "Log times since 1970, not since the start")
        .long("In milliseconds, by the wall clock or that of log_alternate_epoch_clock_id.")
        .sets(field!(measure.logs.unix_epoch)),
    boolean(Measure, "log_alternate_epoch", "Log times of another clock")
        .long("The clock is log_alternate_epoch_clock_id.")
        .sets(field!(measure.logs.other_epoch)),
    int(Measure, "log_alternate_epoch_clock_id", 0, NO_MAX, "Clock of log_alternate_epoch")
        .long("As clock_gettime numbers its clocks; 0 is CLOCK_REALTIME.")
        .default("0")
        .sets(field!(measure.logs.clock)),
    boolean(Measure, "block_error_percentiles", "Count trims until a block fails")
        .long(
            "For wearing a device down: what became of each block as large as the smallest trim, \
             and after how many trims those failed that did. Takes four bytes of memory a block.",
        )
        .sets(field!(measure.block_errors)),
    flag(Measure, "group_reporting", "Report the jobs of a group as one")
        .long(
            "A group ends at stonewall or new_group. Histograms are added, so percentiles of the \
             group are exact, not averages of percentiles.",
        )
        .sets(field!(identity.group_reporting)),
    boolean(Measure, "stats", "Report this job")
        .default("1")
        .long("With 0 it runs and is left out of the report.")
        .sets(field!(measure.stats)),
];
