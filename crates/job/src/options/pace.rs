//! Mix, priorities, think time, rates and latency targets.

use super::Group::{Buffer, Pattern, Process, Rate};
use super::field::field;
use super::row::{
    MICROSECOND, MILLISECOND, NO_MAX, SECOND, boolean, choice, floats, int, ints, text, time,
    times, value,
};
use super::{Choice, OptionDef};

const COUNTED: &[Choice] =
    &[value("complete", "when it completes"), value("issue", "when it is submitted")];

const PROCESSES: &[Choice] =
    &[value("linear", "evenly spaced"), value("poisson", "exponentially distributed gaps")];

pub(super) const ROWS: &[OptionDef] = &[
    int(Buffer, "lockmem", 0, NO_MAX, "Memory to lock for each worker, in bytes")
        .default("0")
        .long("Locked memory leaves less for the page cache. Limited by RLIMIT_MEMLOCK.")
        .sets(field!(buffers.lockmem)),
    int(Pattern, "rwmixread", 0, 100, "Percentage of reads in a mixed load")
        .default("50")
        .long("The later of rwmixread and rwmixwrite wins.")
        .sets(field!(pattern.mix_read)),
    int(Pattern, "rwmixwrite", 0, 100, "Percentage of writes in a mixed load")
        .default("50")
        .long("The later of rwmixread and rwmixwrite wins.")
        .sets_with(|job, v| {
            job.pattern.mix_read = Some(100 - v.small().min(100));
            Ok(())
        }),
    text(Process, "comm", "Name of the worker's thread")
        .long(
            "Shown by ps and top, cut to 15 bytes. By default the name of the job. Newer than \
             fio 3.33.",
        )
        .sets(field!(process.comm)),
    int(Process, "nice", -20, 19, "Niceness of the workers")
        .default("0")
        .long("Below 0 needs CAP_SYS_NICE.")
        .sets(field!(process.nice)),
    int(Process, "prio", 0, 7, "I/O priority within its class")
        .long(
            "0 is the highest. Without prioclass the class is best effort. Used by the \
             schedulers bfq and mq-deadline and by devices that support priorities.",
        )
        .sets(field!(process.prio)),
    int(Process, "prioclass", 0, 3, "I/O priority class")
        .long("1 is real time (needs CAP_SYS_ADMIN), 2 best effort, 3 idle.")
        .sets(field!(process.prioclass)),
    int(Process, "priohint", 0, 1023, "I/O priority hint (command duration limit)")
        .long(
            "Passed with prio and prioclass to devices that support hints; needs Linux 6.5. \
             Newer than fio 3.33.",
        )
        .sets(field!(process.priohint)),
    time(Rate, "thinktime", MICROSECOND, "Pause between I/Os")
        .default("0")
        .long(
            "In microseconds without a unit. The worker pauses after every thinktime_blocks \
             I/Os, or after thinktime_iotime. It first waits for I/O in flight, so the queue \
             never gets deeper than thinktime_blocks.",
        )
        .sets(field!(rate.think.time or none))
        .recorded_as("thinktime_ns", |job| Some(job.rate.think.time?.0.to_string())),
    time(
        Rate,
        "thinktime_spin",
        MICROSECOND,
        "Part of thinktime that is spent busy instead of asleep",
    )
    .default("0")
    .long("In microseconds without a unit.")
    .sets(field!(rate.think.spin)),
    int(Rate, "thinkcycles", 0, NO_MAX, "CPU cycles spent after each completion")
        .default("0")
        .long(
            "The worker is busy for this many ticks of the time-stamp counter before it issues \
             more I/O. Not part of thinktime. Newer than fio 3.33.",
        )
        .sets(field!(rate.think.cycles))
        .recorded(),
    int(Rate, "thinktime_blocks", 0, NO_MAX, "I/Os between two pauses")
        .long("Only used with thinktime.")
        .default("1")
        .sets(field!(rate.think.blocks)),
    choice(Rate, "thinktime_blocks_type", COUNTED, "When an I/O counts towards thinktime_blocks")
        .long(
            "complete counts completed I/Os; issue counts submitted I/Os, so the queue fills \
             before the pause.",
        )
        .default("complete")
        .sets(field!(rate.think.count_issued = "issue")),
    time(Rate, "thinktime_iotime", SECOND, "Time of I/O between two pauses")
        .default("0")
        .long(
            "In seconds without a unit. With thinktime_blocks, whichever comes first starts the \
             pause.",
        )
        .sets(field!(rate.think.iotime or none)),
    ints(Rate, "rate", 0, NO_MAX, "Bandwidth limit, in bytes per second")
        .long(
            "For each worker; up to three values for reads, writes and trims: rate=1m,500k, or \
             rate=,500k for writes and trims only. Each I/O then has a scheduled start, and \
             response latency is measured from it, so delays of a slow device are not hidden \
             (coordinated omission).",
        )
        .sets(field!(rate.bandwidth or none)),
    ints(Rate, "rate_min", 0, NO_MAX, "Minimum bandwidth, in bytes per second")
        .alias(&["ratemin"])
        .long("The job fails if it is slower over one rate_cycle.")
        .sets(field!(rate.bandwidth_min or none)),
    choice(Rate, "rate_process", PROCESSES, "Arrival process of I/Os with a rate")
        .default("linear")
        .long(
            "poisson models independent clients: queues form even at rates that the device can \
             sustain. Arrivals never depend on completions.",
        )
        .sets(field!(rate.process))
        .recorded(),
    int(Rate, "rate_cycle", 0, NO_MAX, "Interval for checking rate_min, in milliseconds")
        .alias(&["ratecycle"])
        .default("1000")
        .long("A plain number of milliseconds; it takes no unit of time.")
        .sets(field!(rate.cycle in MILLISECOND)),
    boolean(Rate, "rate_ignore_thinktime", "Do not catch up after thinktime")
        .long("By default a job with a rate catches up after thinktime.")
        .sets(field!(rate.ignore_thinktime)),
    ints(Rate, "rate_iops", 0, NO_MAX, "IOPS limit")
        .long(
            "For each worker; up to three values for reads, writes and trims. As with rate, \
             response latency is measured from the scheduled start.",
        )
        .sets(field!(rate.iops or none)),
    ints(Rate, "rate_iops_min", 0, NO_MAX, "Minimum IOPS")
        .long("The job fails if it is slower over one rate_cycle.")
        .sets(field!(rate.iops_min or none)),
    times(
        Rate,
        "max_latency",
        MICROSECOND,
        "Maximum latency; a longer I/O ends the job with an error",
    )
    .long(
        "In microseconds without a unit; up to three values, for reads, writes and trims; 0 \
             means no limit. An I/O with a longer total latency ends the job with ETIMEDOUT.",
    )
    .sets(field!(rate.max_latency or none)),
    time(
        Rate,
        "latency_target",
        MICROSECOND,
        "Latency target: find the greatest depth that meets it",
    )
    .long(
        "In microseconds without a unit. The job searches the greatest depth up to iodepth \
             at which latency_percentile per cent of the I/Os in a latency_window meet the \
             target, then measures one more window at that depth and ends. If latency_percentile \
             is 100 and a depth of 1 misses the target, the job ends with ETIMEDOUT.",
    )
    .sets(field!(rate.latency.target or none))
    .recorded_as("latency_target_ns", |job| Some(job.rate.latency.target?.0.to_string())),
    time(Rate, "latency_window", MICROSECOND, "Time each depth is tried for")
        .long("In microseconds without a unit. With latency_target; 1 s when it is not given.")
        .sets(field!(rate.latency.window or none)),
    floats(Rate, "latency_percentile", 0.0, 100.0, "Share of I/Os that must meet latency_target")
        .long("100 lets a single slow I/O fail a depth.")
        .default("100")
        .sets(field!(rate.latency.percentile))
        .recorded_as("latency_percentile", |job| {
            job.rate.latency.target?;
            Some(job.rate.latency.percentile.unwrap_or(100.0).to_string())
        }),
    boolean(Rate, "latency_run", "Keep running at the depth that was found")
        .long(
            "The job goes on and keeps the depth at the greatest that meets latency_target. \
             Otherwise it ends as soon as that depth is known.",
        )
        .sets(field!(rate.latency.run)),
];
