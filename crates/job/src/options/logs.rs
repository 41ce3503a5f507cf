//! Log files, and how they are averaged.

use super::Group::Measure;
use super::field::field;
use super::row::{
    MILLISECOND, NO_MAX, boolean, choice, flag, int, rows, same, text, text_or_none, value,
};
use super::{Choice, OptionDef};

const WINDOWS: &[Choice] = &[
    value("avg", "the mean"),
    value("max", "the maximum"),
    value("both", "mean and maximum, in two columns"),
    same("0", "avg"),
    same("1", "max"),
];

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Write a separate log file for each job
    ///
    /// With 0 the file name has no job number, and jobs with the same prefix write one file, one
    /// job after the other. Each run overwrites the file.
    "per_job_logs" => boolean(Measure).default("1").sets(field!(measure.logs.per_job)),

    /// Prefix of the bandwidth log
    ///
    /// Writes PREFIX_bw.N.log, where N is the number of the worker from 1; without a value PREFIX
    /// is the name of the job. One line for each I/O or, with log_avg_msec, for each interval and
    /// direction: time in milliseconds since the start of measuring, value (here KiB/s), direction
    /// (0 read, 1 write, 2 trim), block size in bytes (0 for intervals), priority. An interval
    /// without I/O has the value 0; the last interval may be shorter.
    "write_bw_log" => text_or_none(Measure).sets(field!(measure.logs.bandwidth)),

    /// Interval of bandwidth samples, in milliseconds
    ///
    /// A plain number of milliseconds. The report computes minimum, maximum, mean and standard
    /// deviation of bandwidth from these samples. With write_bw_log a smaller log_avg_msec applies
    /// instead. All jobs of a run use the shortest interval of any job.
    "bwavgtime" => int(Measure, 0, NO_MAX)
        .default("500")
        .sets(field!(measure.bwavgtime in MILLISECOND)),

    /// Prefix of the latency logs
    ///
    /// Writes PREFIX_slat.N.log, PREFIX_clat.N.log and PREFIX_lat.N.log, in nanoseconds, in the
    /// format of write_bw_log. An interval without I/O has no line.
    "write_lat_log" => text_or_none(Measure).sets(field!(measure.logs.latency)),

    /// Prefix of the IOPS log
    ///
    /// Writes PREFIX_iops.N.log in the format of write_bw_log. Use it with log_avg_msec: the value
    /// of a single I/O is always 1.
    "write_iops_log" => text_or_none(Measure).sets(field!(measure.logs.iops)),

    /// Interval of IOPS samples, in milliseconds
    ///
    /// A plain number of milliseconds. With write_iops_log a smaller log_avg_msec applies instead.
    "iopsavgtime" => int(Measure, 0, NO_MAX)
        .default("500")
        .sets(field!(measure.iopsavgtime in MILLISECOND)),

    /// Entries that a worker buffers before it hands them over
    ///
    /// The worker hands over its entries to a log thread in batches of this size; larger batches
    /// disturb it less often. Files are written after the run.
    "log_entries" => int(Measure, 1024, 1 << 20).default("1024").sets(field!(measure.logs.entries)),

    /// Interval of log lines, in milliseconds
    ///
    /// 0 writes one line for each I/O.
    "log_avg_msec" => int(Measure, 0, NO_MAX)
        .default("0")
        .sets(field!(measure.logs.window in MILLISECOND)),

    /// Interval of histogram log lines, in milliseconds
    ///
    /// 0 switches histogram logs off.
    "log_hist_msec" => int(Measure, 0, NO_MAX)
        .default("0")
        .sets(field!(measure.logs.histogram_window in MILLISECOND)),

    /// Coarseness of histogram log bins
    ///
    /// 0 means 1856 bins; each step halves the number of bins.
    "log_hist_coarseness" => int(Measure, 0, 6).default("0").sets(field!(measure.logs.coarseness)),

    /// Prefix of the histogram log
    ///
    /// Writes PREFIX_clat_hist.N.log; needs log_hist_msec. One line for each interval and direction
    /// with I/O: time, direction, block size, then the number of completion latencies in each bin;
    /// 64 bins for each power of two, starting at 1 ns.
    "write_hist_log" => text_or_none(Measure).sets(field!(measure.logs.histogram)),

    /// Value logged for an interval
    ///
    /// The older name log_max_value takes 0 or 1. The maximum rate is that of the fastest bwavgtime
    /// (or iopsavgtime) in the interval. Only latency logs have two columns; with both, the other
    /// logs hold the mean.
    "log_window_value" => choice(Measure, WINDOWS)
        .alias(&["log_max_value"])
        .default("avg")
        .sets(field!(measure.logs.value)),

    /// Log the offset of each I/O
    ///
    /// Adds a column with the offset in the file, in bytes; 0 for intervals.
    "log_offset" => boolean(Measure).sets(field!(measure.logs.offset)),

    /// Log the priority of each I/O
    ///
    /// The priority column then holds the kernel's encoding; by default 1 for the realtime class
    /// and 0 otherwise.
    "log_prio" => boolean(Measure).sets(field!(measure.logs.priority)),

    /// Log when each I/O was issued
    ///
    /// Adds a column in nanoseconds; 0 for intervals and in logs other than slat and clat. Needs
    /// log_offset and write_lat_log. Newer than fio 3.33.
    "log_issue_time" => boolean(Measure).sets(field!(measure.logs.issue_time)),

    /// Bytes of log to compress at a time
    ///
    /// Compression uses CPU time during the run. Without it, entries are kept uncompressed in
    /// memory and, above 64 MiB, in a temporary file beside the log.
    "log_compression" => int(Measure, 1024, 512 << 20).sets(field!(measure.logs.compression)),

    /// CPUs that compress logs
    ///
    /// Same syntax as cpus_allowed.
    "log_compression_cpus" => text(Measure).sets(field!(measure.logs.compression_cpus)),

    /// Leave log files compressed
    ///
    /// The files end in .fz; --inflate-log of fathom and fio decompresses them.
    "log_store_compressed" => boolean(Measure).sets(field!(measure.logs.store_compressed)),

    /// Log times since 1970, not since the start
    ///
    /// In milliseconds, by the wall clock or that of log_alternate_epoch_clock_id.
    "log_alternate_epoch" => boolean(Measure)
        .alias(&["log_unix_epoch"])
        .sets(field!(measure.logs.other_epoch)),

    /// Clock of log_alternate_epoch
    ///
    /// Clock id of clock_gettime; 0 is CLOCK_REALTIME.
    "log_alternate_epoch_clock_id" => int(Measure, 0, NO_MAX)
        .default("0")
        .sets(field!(measure.logs.clock)),

    /// Count trims until a block fails
    ///
    /// For endurance tests: the state of each block of the smallest trim size, and the number of
    /// trims before a block failed. Needs four bytes of memory for each block.
    "block_error_percentiles" => boolean(Measure).sets(field!(measure.block_errors)),

    /// Report the jobs of a group as one
    ///
    /// A group ends at stonewall or new_group. Histograms are merged, so percentiles of a group are
    /// not averages.
    "group_reporting" => flag(Measure).sets(field!(identity.group_reporting)),

    /// Report this job
    ///
    /// With 0 the job runs but is not reported.
    "stats" => boolean(Measure).default("1").sets(field!(measure.stats)),
};
