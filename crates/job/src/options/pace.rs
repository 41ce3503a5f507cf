//! Mix, priorities, think time, rates and latency targets.

use super::Group::{Buffer, Pattern, Process, Rate};
use super::field::field;
use super::row::{
    MICROSECOND, MILLISECOND, NO_MAX, SECOND, boolean, choice, floats, int, ints, rows, text, time,
    times, value,
};
use super::{Choice, OptionDef};

const COUNTED: &[Choice] =
    &[value("complete", "when it completes"), value("issue", "when it is submitted")];

const PROCESSES: &[Choice] =
    &[value("linear", "evenly spaced"), value("poisson", "exponentially distributed gaps")];

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Memory to lock for each worker, in bytes
    ///
    /// Locked memory leaves less for the page cache. Limited by RLIMIT_MEMLOCK.
    "lockmem" => int(Buffer, 0, NO_MAX).default("0").sets(field!(buffers.lockmem)),

    /// Percentage of reads in a mixed load
    ///
    /// The later of rwmixread and rwmixwrite wins.
    "rwmixread" => int(Pattern, 0, 100).default("50").sets(field!(pattern.mix_read)),

    /// Percentage of writes in a mixed load
    ///
    /// The later of rwmixread and rwmixwrite wins.
    "rwmixwrite" => int(Pattern, 0, 100).default("50").sets_with(|job, v| {
        job.pattern.mix_read = Some(100 - v.small().min(100));
        Ok(())
    }),

    /// Name of the worker's thread
    ///
    /// Shown by ps and top, cut to 15 bytes. By default the name of the job. Newer than fio 3.33.
    "comm" => text(Process).sets(field!(process.comm)),

    /// Niceness of the workers
    ///
    /// Below 0 needs CAP_SYS_NICE.
    "nice" => int(Process, -20, 19).default("0").sets(field!(process.nice)),

    /// I/O priority within its class
    ///
    /// 0 is the highest. Without prioclass the class is best effort. Used by the schedulers bfq and
    /// mq-deadline and by devices that support priorities.
    "prio" => int(Process, 0, 7).sets(field!(process.prio)),

    /// I/O priority class
    ///
    /// 1 is real time (needs CAP_SYS_ADMIN), 2 best effort, 3 idle.
    "prioclass" => int(Process, 0, 3).sets(field!(process.prioclass)),

    /// I/O priority hint (command duration limit)
    ///
    /// Passed with prio and prioclass to devices that support hints; needs Linux 6.5. Newer than
    /// fio 3.33.
    "priohint" => int(Process, 0, 1023).sets(field!(process.priohint)),

    /// Pause between I/Os
    ///
    /// In microseconds without a unit. The worker pauses after every thinktime_blocks I/Os, or
    /// after thinktime_iotime. It first waits for I/O in flight, so the queue never gets deeper
    /// than thinktime_blocks.
    "thinktime" => time(Rate, MICROSECOND)
        .default("0")
        .sets(field!(rate.think.time or none))
        .recorded_as("thinktime_ns", |job| Some(job.rate.think.time?.0.to_string())),

    /// Part of thinktime that is spent busy instead of asleep
    ///
    /// In microseconds without a unit.
    "thinktime_spin" => time(Rate, MICROSECOND).default("0").sets(field!(rate.think.spin)),

    /// CPU cycles spent after each completion
    ///
    /// The worker is busy for this many ticks of the time-stamp counter before it issues more I/O.
    /// Not part of thinktime. Newer than fio 3.33.
    "thinkcycles" => int(Rate, 0, NO_MAX).default("0").sets(field!(rate.think.cycles)).recorded(),

    /// I/Os between two pauses
    ///
    /// Only used with thinktime.
    "thinktime_blocks" => int(Rate, 0, NO_MAX).default("1").sets(field!(rate.think.blocks)),

    /// When an I/O counts towards thinktime_blocks
    ///
    /// complete counts completed I/Os; issue counts submitted I/Os, so the queue fills before the
    /// pause.
    "thinktime_blocks_type" => choice(Rate, COUNTED)
        .default("complete")
        .sets(field!(rate.think.count_issued = "issue")),

    /// Time of I/O between two pauses
    ///
    /// In seconds without a unit. With thinktime_blocks, whichever comes first starts the pause.
    "thinktime_iotime" => time(Rate, SECOND).default("0").sets(field!(rate.think.iotime or none)),

    /// Bandwidth limit, in bytes per second
    ///
    /// For each worker; up to three values for reads, writes and trims: rate=1m,500k, or rate=,500k
    /// for writes and trims only. Each I/O then has a scheduled start, and response latency is
    /// measured from it, so delays of a slow device are not hidden (coordinated omission).
    "rate" => ints(Rate, 0, NO_MAX).sets(field!(rate.bandwidth or none)),

    /// Minimum bandwidth, in bytes per second
    ///
    /// The job fails if it is slower over one rate_cycle.
    "rate_min" => ints(Rate, 0, NO_MAX)
        .alias(&["ratemin"])
        .sets(field!(rate.bandwidth_min or none)),

    /// Arrival process of I/Os with a rate
    ///
    /// poisson models independent clients: queues form even at rates that the device can sustain.
    /// Arrivals never depend on completions.
    "rate_process" => choice(Rate, PROCESSES)
        .default("linear")
        .sets(field!(rate.process))
        .recorded(),

    /// Interval for checking rate_min, in milliseconds
    ///
    /// A plain number of milliseconds; it takes no unit of time.
    "rate_cycle" => int(Rate, 0, NO_MAX)
        .alias(&["ratecycle"])
        .default("1000")
        .sets(field!(rate.cycle in MILLISECOND)),

    /// Do not catch up after thinktime
    ///
    /// By default a job with a rate catches up after thinktime.
    "rate_ignore_thinktime" => boolean(Rate).sets(field!(rate.ignore_thinktime)),

    /// IOPS limit
    ///
    /// For each worker; up to three values for reads, writes and trims. As with rate, response
    /// latency is measured from the scheduled start.
    "rate_iops" => ints(Rate, 0, NO_MAX).sets(field!(rate.iops or none)),

    /// Minimum IOPS
    ///
    /// The job fails if it is slower over one rate_cycle.
    "rate_iops_min" => ints(Rate, 0, NO_MAX).sets(field!(rate.iops_min or none)),

    /// Maximum latency; a longer I/O ends the job with an error
    ///
    /// In microseconds without a unit; up to three values, for reads, writes and trims; 0 means no
    /// limit. An I/O with a longer total latency ends the job with ETIMEDOUT.
    "max_latency" => times(Rate, MICROSECOND).sets(field!(rate.max_latency or none)),

    /// Latency target: find the greatest depth that meets it
    ///
    /// In microseconds without a unit. The job searches the greatest depth up to iodepth at which
    /// latency_percentile per cent of the I/Os in a latency_window meet the target, then measures
    /// one more window at that depth and ends. If latency_percentile is 100 and a depth of 1 misses
    /// the target, the job ends with ETIMEDOUT.
    "latency_target" => time(Rate, MICROSECOND)
        .sets(field!(rate.latency.target or none))
        .recorded_as("latency_target_ns", |job| Some(job.rate.latency.target?.0.to_string())),

    /// Time each depth is tried for
    ///
    /// In microseconds without a unit. With latency_target; 1 s when it is not given.
    "latency_window" => time(Rate, MICROSECOND).sets(field!(rate.latency.window or none)),

    /// Share of I/Os that must meet latency_target
    ///
    /// 100 lets a single slow I/O fail a depth.
    "latency_percentile" => floats(Rate, 0.0, 100.0)
        .default("100")
        .sets(field!(rate.latency.percentile))
        .recorded_as("latency_percentile", |job| {
            job.rate.latency.target?;
            Some(job.rate.latency.percentile.unwrap_or(100.0).to_string())
        }),

    /// Keep running at the depth that was found
    ///
    /// The job goes on and keeps the depth at the greatest that meets latency_target. Otherwise it
    /// ends as soon as that depth is known.
    "latency_run" => boolean(Rate).sets(field!(rate.latency.run)),
};
