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
    &[value("linear", "evenly spaced"), value("poisson", "gaps drawn from an exponential law")];

pub(super) const ROWS: &[OptionDef] = &[
    int(Buffer, "lockmem", 0, NO_MAX, "Memory to take away from the system, per worker")
        .default("0")
        .long(
            "Bytes that are mapped and locked, so that less is left for the page cache. Needs the \
             right to lock that much (RLIMIT_MEMLOCK).",
        )
        .sets(field!(buffers.lockmem)),
    int(Pattern, "rwmixread", 0, 100, "Share of reads in a mixed load, per cent")
        .default("50")
        .long("The later of rwmixread and rwmixwrite wins.")
        .sets(field!(pattern.mix_read)),
    int(Pattern, "rwmixwrite", 0, 100, "Share of writes in a mixed load, per cent")
        .default("50")
        .long("The later of rwmixread and rwmixwrite wins.")
        .sets_with(|job, v| {
            job.pattern.mix_read = Some(100 - v.small().min(100));
            Ok(())
        }),
    text(Process, "comm", "Name of the worker's thread")
        .long("As ps and top show it, cut to 15 bytes; the job's name otherwise. Newer than fio 3.33.")
        .sets(field!(process.comm)),
    int(Process, "nice", -20, 19, "Niceness of the workers")
        .default("0")
        .long("Below 0 needs CAP_SYS_NICE.")
        .sets(field!(process.nice)),
    int(Process, "prio", 0, 7, "I/O priority within its class")
        .long(
            "0 is the highest. Without prioclass the class is best effort. Only the schedulers \
             bfq and mq-deadline heed it, and devices that know priorities themselves.",
        )
        .sets(field!(process.prio)),
    int(Process, "prioclass", 0, 3, "I/O priority class")
        .long("1 is real time (needs CAP_SYS_ADMIN), 2 best effort, 3 idle.")
        .sets(field!(process.prioclass)),
    int(Process, "priohint", 0, 1023, "I/O priority hint (command duration limit)")
        .long(
            "Goes with prio and prioclass to devices that know such hints, from kernel 6.5 on. Newer \
             than fio 3.33.",
        )
        .sets(field!(process.priohint)),
    time(Rate, "thinktime", MICROSECOND, "Pause between I/Os")
        .default("0")
        .long(
            "In microseconds without a unit. The pause comes after every thinktime_blocks I/Os, \
             or after thinktime_iotime. In-flight I/O is waited for first, so a queue deeper than \
             thinktime_blocks is never filled.",
        )
        .sets(field!(rate.think.time or none))
        .recorded_as("thinktime_ns", |job| Some(job.rate.think.time?.0.to_string())),
    time(Rate, "thinktime_spin", MICROSECOND, "Part of thinktime spent computing, not sleeping")
        .default("0")
        .long("In microseconds without a unit.")
        .sets(field!(rate.think.spin)),
    int(Rate, "thinkcycles", 0, NO_MAX, "CPU cycles spent after each completion")
        .default("0")
        .long(
            "The worker computes for that many ticks of the time-stamp counter before it issues \
             more. Not counted against thinktime. Newer than fio 3.33.",
        )
        .sets(field!(rate.think.cycles))
        .recorded(),
    int(Rate, "thinktime_blocks", 0, NO_MAX, "I/Os between two pauses")
        .long("Has a meaning only with thinktime.")
        .default("1")
        .sets(field!(rate.think.blocks)),
    choice(Rate, "thinktime_blocks_type", COUNTED, "When an I/O counts for thinktime_blocks")
        .long(
            "complete counts I/Os when they are done, issue when they are handed to the \
             kernel, which lets a queue fill before the pause.",
        )
        .default("complete")
        .sets(field!(rate.think.count_issued = "issue")),
    time(Rate, "thinktime_iotime", SECOND, "Time of I/O between two pauses")
        .default("0")
        .long(
            "In seconds without a unit. Together with thinktime_blocks, whichever comes first \
             begins the pause.",
        )
        .sets(field!(rate.think.iotime or none)),
    ints(Rate, "rate", 0, NO_MAX, "Bandwidth not to exceed, bytes a second")
        .long(
            "Per worker; up to three values for reads, writes and trims: rate=1m,500k, or \
             rate=,500k for writes and trims only. I/O then has a schedule, and latency is also \
             counted from the time it was due: a device that falls behind cannot hide it.",
        )
        .sets(field!(rate.bandwidth or none)),
    ints(Rate, "rate_min", 0, NO_MAX, "Bandwidth below which the job fails, bytes a second")
        .alias(&["ratemin"])
        .long("Checked over each rate_cycle.")
        .sets(field!(rate.bandwidth_min or none)),
    choice(Rate, "rate_process", PROCESSES, "How a rate is spread over time")
        .default("linear")
        .long(
            "poisson is how independent clients arrive: queues form even at rates the device can \
             keep. Arrivals are independent of completions in both.",
        )
        .sets(field!(rate.process)),
    int(Rate, "rate_cycle", 0, NO_MAX, "Time over which rate_min is judged, in milliseconds")
        .alias(&["ratecycle"])
        .default("1000")
        .long("A plain number of milliseconds; it takes no unit of time.")
        .sets(field!(rate.cycle in MILLISECOND)),
    boolean(Rate, "rate_ignore_thinktime", "Do not make up for pauses")
        .long("By default a rated job catches up after thinktime.")
        .sets(field!(rate.ignore_thinktime)),
    ints(Rate, "rate_iops", 0, NO_MAX, "I/Os a second not to exceed")
        .long(
            "Per worker; up to three values for reads, writes and trims. As for rate, latency is \
             also counted from the time an I/O was due.",
        )
        .sets(field!(rate.iops or none)),
    ints(Rate, "rate_iops_min", 0, NO_MAX, "I/Os a second below which the job fails")
        .long("Checked over each rate_cycle.")
        .sets(field!(rate.iops_min or none)),
    times(Rate, "max_latency", MICROSECOND, "Latency that ends the job with an error")
        .long(
            "In microseconds without a unit; up to three values, for reads, writes and trims; 0 is \
             no limit. An I/O that takes longer, from its making to its end, ends the job with \
             ETIMEDOUT.",
        )
        .sets(field!(rate.max_latency or none)),
    time(Rate, "latency_target", MICROSECOND, "Latency under which to find the greatest depth")
        .long(
            "In microseconds without a unit. The depth, at most iodepth, is raised and lowered \
             until the greatest is known at which latency_percentile of the I/Os of a \
             latency_window stay below this; the figures are those of one more window at that \
             depth, and the job ends. Where 100 per cent are asked for and not even a depth of 1 \
             gives them, the job ends with ETIMEDOUT.",
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
