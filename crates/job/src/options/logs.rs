//! Log files, and how they are averaged.

use super::Group::Measure;
use super::field::field;
use super::row::{
    MILLISECOND, NO_MAX, boolean, choice, flag, int, same, text, text_or_none, value,
};
use super::{Choice, OptionDef};

const WINDOWS: &[Choice] = &[
    value("avg", "the mean"),
    value("max", "the maximum"),
    value("both", "mean and maximum, in two columns"),
    same("0", "avg"),
    same("1", "max"),
];

pub(super) const ROWS: &[OptionDef] = &[
    boolean(Measure, "per_job_logs", "Write a separate log file for each job")
        .long(
            "With 0 the file name has no job number, and jobs with the same prefix write one \
             file, one job after the other. Each run overwrites the file.",
        )
        .default("1")
        .sets(field!(measure.logs.per_job)),
    text_or_none(Measure, "write_bw_log", "Prefix of the bandwidth log")
        .long(
            "Writes PREFIX_bw.N.log, where N is the number of the worker from 1; without a value \
             PREFIX is the name of the job. One line for each I/O or, with log_avg_msec, for \
             each interval and direction: time in milliseconds since the start of measuring, \
             value (here KiB/s), direction (0 read, 1 write, 2 trim), block size in bytes (0 for \
             intervals), priority. An interval without I/O has the value 0; the last interval \
             may be shorter.",
        )
        .sets(field!(measure.logs.bandwidth)),
    int(Measure, "bwavgtime", 0, NO_MAX, "Interval of bandwidth samples, in milliseconds")
        .default("500")
        .long(
            "A plain number of milliseconds. The report computes minimum, maximum, mean and \
             standard deviation of bandwidth from these samples. With write_bw_log a smaller \
             log_avg_msec applies instead. All jobs of a run use the shortest interval of any \
             job.",
        )
        .sets(field!(measure.bwavgtime in MILLISECOND)),
    text_or_none(Measure, "write_lat_log", "Prefix of the latency logs")
        .long(
            "Writes PREFIX_slat.N.log, PREFIX_clat.N.log and PREFIX_lat.N.log, in nanoseconds, \
             in the format of write_bw_log. An interval without I/O has no line.",
        )
        .sets(field!(measure.logs.latency)),
    text_or_none(Measure, "write_iops_log", "Prefix of the IOPS log")
        .long(
            "Writes PREFIX_iops.N.log in the format of write_bw_log. Use it with log_avg_msec: \
             the value of a single I/O is always 1.",
        )
        .sets(field!(measure.logs.iops)),
    int(Measure, "iopsavgtime", 0, NO_MAX, "Interval of IOPS samples, in milliseconds")
        .default("500")
        .long(
            "A plain number of milliseconds. With write_iops_log a smaller log_avg_msec applies \
             instead.",
        )
        .sets(field!(measure.iopsavgtime in MILLISECOND)),
    int(
        Measure,
        "log_entries",
        1024,
        1 << 20,
        "Entries that a worker buffers before it hands them over",
    )
    .long(
        "The worker hands over its entries to a log thread in batches of this size; larger \
             batches disturb it less often. Files are written after the run.",
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
    int(Measure, "log_hist_coarseness", 0, 6, "Coarseness of histogram log bins")
        .long("0 means 1856 bins; each step halves the number of bins.")
        .default("0")
        .sets(field!(measure.logs.coarseness)),
    text_or_none(Measure, "write_hist_log", "Prefix of the histogram log")
        .long(
            "Writes PREFIX_clat_hist.N.log; needs log_hist_msec. One line for each interval and \
             direction with I/O: time, direction, block size, then the number of completion \
             latencies in each bin; 64 bins for each power of two, starting at 1 ns.",
        )
        .sets(field!(measure.logs.histogram)),
    choice(Measure, "log_window_value", WINDOWS, "Value logged for an interval")
        .alias(&["log_max_value"])
        .default("avg")
        .long(
            "The older name log_max_value takes 0 or 1. The maximum rate is that of the fastest \
             bwavgtime (or iopsavgtime) in the interval. Only latency logs have two columns; \
             with both, the other logs hold the mean.",
        )
        .sets(field!(measure.logs.value)),
    boolean(Measure, "log_offset", "Log the offset of each I/O")
        .long("Adds a column with the offset in the file, in bytes; 0 for intervals.")
        .sets(field!(measure.logs.offset)),
    boolean(Measure, "log_prio", "Log the priority of each I/O")
        .long(
            "The priority column then holds the kernel's encoding; by default 1 for the realtime \
             class and 0 otherwise.",
        )
        .sets(field!(measure.logs.priority)),
    boolean(Measure, "log_issue_time", "Log when each I/O was issued")
        .long(
            "Adds a column in nanoseconds; 0 for intervals and in logs other than slat and clat. \
             Needs log_offset and write_lat_log. Newer than fio 3.33.",
        )
        .sets(field!(measure.logs.issue_time)),
    int(Measure, "log_compression", 1024, 512 << 20, "Bytes of log to compress at a time")
        .long(
            "Compression uses CPU time during the run. Without it, entries are kept uncompressed \
             in memory and, above 64 MiB, in a temporary file beside the log.",
        )
        .sets(field!(measure.logs.compression)),
    text(Measure, "log_compression_cpus", "CPUs that compress logs")
        .long("Same syntax as cpus_allowed.")
        .sets(field!(measure.logs.compression_cpus)),
    boolean(Measure, "log_store_compressed", "Leave log files compressed")
        .long("The files end in .fz; --inflate-log of fathom and fio decompresses them.")
        .sets(field!(measure.logs.store_compressed)),
    boolean(Measure, "log_unix_epoch", "Log times since 1970, not since the start")
        .long("In milliseconds, by the wall clock or that of log_alternate_epoch_clock_id.")
        .sets(field!(measure.logs.unix_epoch)),
    boolean(Measure, "log_alternate_epoch", "Log times of another clock")
        .long("The clock is log_alternate_epoch_clock_id.")
        .sets(field!(measure.logs.other_epoch)),
    int(Measure, "log_alternate_epoch_clock_id", 0, NO_MAX, "Clock of log_alternate_epoch")
        .long("Clock id of clock_gettime; 0 is CLOCK_REALTIME.")
        .default("0")
        .sets(field!(measure.logs.clock)),
    boolean(Measure, "block_error_percentiles", "Count trims until a block fails")
        .long(
            "For endurance tests: the state of each block of the smallest trim size, and the \
             number of trims before a block failed. Needs four bytes of memory for each block.",
        )
        .sets(field!(measure.block_errors)),
    flag(Measure, "group_reporting", "Report the jobs of a group as one")
        .long(
            "A group ends at stonewall or new_group. Histograms are merged, so percentiles of a \
             group are not averages.",
        )
        .sets(field!(identity.group_reporting)),
    boolean(Measure, "stats", "Report this job")
        .default("1")
        .long("With 0 the job runs but is not reported.")
        .sets(field!(measure.stats)),
];
