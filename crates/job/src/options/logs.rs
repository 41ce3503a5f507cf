//! Log files, and how they are averaged.

use super::Group::Measure;
use super::row::{NO_MAX, boolean, choice, flag, int, same, text, to, value};
use super::{Choice, OptionDef, set};

const WINDOWS: &[Choice] = &[
    value("avg", "the mean"),
    value("max", "the greatest"),
    value("both", "mean and greatest, two columns"),
    same("0", "avg"),
    same("1", "max"),
];

pub(super) const ROWS: &[OptionDef] = &[
    boolean(Measure, "per_job_logs", "A log file of its own for each job")
        .long("With 0 jobs of the same name share a log.")
        .default("1"),
    text(Measure, "write_bw_log", "Write a log of bandwidth; its name begins with this").long(
        "PREFIX_bw.N.log, N counting the jobs from 1: time, bandwidth, direction, block \
             size.",
    ),
    int(Measure, "bwavgtime", 0, NO_MAX, "Interval of bandwidth samples, in milliseconds")
        .default("500")
        .long(
            "A plain number of milliseconds. Minimum, maximum, mean and deviation of bandwidth \
             are taken over these samples.",
        )
        .sets(|job, v| {
            job.measure.bwavgtime = set::millis(v.count());
            Ok(())
        }),
    text(Measure, "write_lat_log", "Write logs of latency; their names begin with this")
        .long("PREFIX_slat.N.log, PREFIX_clat.N.log and PREFIX_lat.N.log."),
    text(Measure, "write_iops_log", "Write a log of I/Os; its name begins with this")
        .long("PREFIX_iops.N.log. Makes sense with log_avg_msec."),
    int(Measure, "iopsavgtime", 0, NO_MAX, "Interval of IOPS samples, in milliseconds")
        .default("500")
        .long("A plain number of milliseconds.")
        .sets(|job, v| {
            job.measure.iopsavgtime = set::millis(v.count());
            Ok(())
        }),
    int(Measure, "log_entries", 1024, 1 << 20, "Lines a log has room for at first")
        .long("A log that grows during the run may delay I/O.")
        .default("1024"),
    int(Measure, "log_avg_msec", 0, NO_MAX, "Interval of log lines, in milliseconds")
        .long("0 writes one line for each I/O.")
        .default("0"),
    int(Measure, "log_hist_msec", 0, NO_MAX, "Interval of histogram log lines, in milliseconds")
        .long("0 switches histogram logs off.")
        .default("0"),
    int(Measure, "log_hist_coarseness", 0, 6, "Times the bins of a histogram log are halved")
        .long("Each step halves the number of columns.")
        .default("0"),
    text(Measure, "write_hist_log", "Write a log of histograms; its name begins with this")
        .long("PREFIX_clat_hist.N.log. Needs log_hist_msec."),
    choice(Measure, "log_window_value", WINDOWS, "What a line of an interval holds")
        .alias(&["log_max_value"])
        .default("avg")
        .long("Under its older name log_max_value it is 0 or 1."),
    boolean(Measure, "log_offset", "Log the offset of each I/O")
        .long("Adds a column to each log line: the offset in the file, in bytes.")
        .default("0"),
    boolean(Measure, "log_prio", "Log the priority of each I/O")
        .long("One more column, which tells high priority from low without it.")
        .default("0"),
    boolean(Measure, "log_issue_time", "Log when each I/O was issued")
        .default("0")
        .long("Newer than fio 3.33."),
    int(Measure, "log_compression", 1024, 512 << 20, "Bytes of log to compress at a time")
        .long("Saves memory in long runs and takes CPU time beside them."),
    text(Measure, "log_compression_cpus", "CPUs that compress logs")
        .long("Written as cpus_allowed is."),
    boolean(Measure, "log_store_compressed", "Leave log files compressed")
        .long("They end in .fz and are unpacked by --inflate-log."),
    boolean(Measure, "log_unix_epoch", "Log times since 1970, not since the start")
        .long("In milliseconds, by the wall clock."),
    boolean(Measure, "log_alternate_epoch", "Log times of another clock")
        .long("The clock is log_alternate_epoch_clock_id."),
    int(Measure, "log_alternate_epoch_clock_id", 0, NO_MAX, "Clock of log_alternate_epoch")
        .long("As clock_gettime numbers its clocks; 0 is CLOCK_REALTIME.")
        .default("0"),
    boolean(Measure, "block_error_percentiles", "Count trims until a block fails")
        .long("For wearing a device down: a histogram of how many trims blocks survive.")
        .default("0"),
    flag(Measure, "group_reporting", "Report the jobs of a group as one")
        .long(
            "A group ends at stonewall or new_group. Histograms are added, so percentiles of the \
             group are exact, not averages of percentiles.",
        )
        .sets(to!(identity.group_reporting = flag)),
    boolean(Measure, "stats", "Report this job")
        .default("1")
        .long("With 0 it runs and is left out of the report.")
        .sets(to!(measure.stats = flag)),
];
