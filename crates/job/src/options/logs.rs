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
    boolean(Measure, "per_job_logs", "A log file of its own for each job").default("1"),
    text(Measure, "write_bw_log", "Write a log of bandwidth; its name begins with this"),
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
    text(Measure, "write_lat_log", "Write logs of latency; their names begin with this"),
    text(Measure, "write_iops_log", "Write a log of I/Os; its name begins with this"),
    int(Measure, "iopsavgtime", 0, NO_MAX, "Interval of IOPS samples, in milliseconds")
        .default("500")
        .long("A plain number of milliseconds.")
        .sets(|job, v| {
            job.measure.iopsavgtime = set::millis(v.count());
            Ok(())
        }),
    int(Measure, "log_entries", 1024, 1 << 20, "Lines a log has room for at first").default("1024"),
    int(Measure, "log_avg_msec", 0, NO_MAX, "Interval of log lines, in milliseconds").default("0"),
    int(Measure, "log_hist_msec", 0, NO_MAX, "Interval of histogram log lines, in milliseconds")
        .default("0"),
    int(Measure, "log_hist_coarseness", 0, 6, "Times the bins of a histogram log are halved")
        .default("0"),
    text(Measure, "write_hist_log", "Write a log of histograms; its name begins with this"),
    choice(Measure, "log_window_value", WINDOWS, "What a line of an interval holds")
        .alias(&["log_max_value"])
        .default("avg")
        .long("Under its older name log_max_value it is 0 or 1."),
    boolean(Measure, "log_offset", "Log the offset of each I/O").default("0"),
    boolean(Measure, "log_prio", "Log the priority of each I/O").default("0"),
    boolean(Measure, "log_issue_time", "Log when each I/O was issued")
        .default("0")
        .long("Newer than fio 3.33."),
    int(Measure, "log_compression", 1024, 512 << 20, "Bytes of log to compress at a time"),
    text(Measure, "log_compression_cpus", "CPUs that compress logs"),
    boolean(Measure, "log_store_compressed", "Leave log files compressed"),
    boolean(Measure, "log_unix_epoch", "Log times since 1970, not since the start"),
    boolean(Measure, "log_alternate_epoch", "Log times of another clock")
        .long("The clock is log_alternate_epoch_clock_id."),
    int(Measure, "log_alternate_epoch_clock_id", 0, NO_MAX, "Clock of log_alternate_epoch")
        .default("0"),
    boolean(Measure, "block_error_percentiles", "Count trims until a block fails").default("0"),
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
