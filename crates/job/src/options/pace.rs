//! Mix, priorities, think time, rates and latency targets.

use super::Group::{Buffer, Pattern, Process, Rate};
use super::row::{
    MICROSECOND, NO_MAX, SECOND, boolean, choice, floats, int, ints, text, time, times, to, value,
};
use super::{Choice, OptionDef, set};
use crate::model::RateProcess;

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
        .sets(to!(buffers.lockmem = bytes)),
    int(Pattern, "rwmixread", 0, 100, "Share of reads in a mixed load, per cent")
        .default("50")
        .long("The later of rwmixread and rwmixwrite wins.")
        .sets(to!(pattern.mix_read = Some(small))),
    int(Pattern, "rwmixwrite", 0, 100, "Share of writes in a mixed load, per cent")
        .default("50")
        .long("The later of rwmixread and rwmixwrite wins.")
        .sets(|job, v| {
            job.pattern.mix_read = Some(100 - v.small().min(100));
            Ok(())
        }),
    text(Process, "comm", "Name of the worker's thread")
        .long("As ps and top show it, cut to 15 bytes; the job's name otherwise. Newer than fio 3.33.")
        .sets(to!(process.comm = Some(string))),
    int(Process, "nice", -20, 19, "Niceness of the workers")
        .default("0")
        .long("Below 0 needs CAP_SYS_NICE.")
        .sets(|job, v| {
            job.process.nice = i32::try_from(v.int()).ok();
            Ok(())
        }),
    int(Process, "prio", 0, 7, "I/O priority within its class")
        .long(
            "0 is the highest. Without prioclass the class is best effort. Only the schedulers \
             bfq and mq-deadline heed it, and devices that know priorities themselves.",
        )
        .sets(to!(process.prio = Some(small))),
    int(Process, "prioclass", 0, 3, "I/O priority class")
        .long("1 is real time (needs CAP_SYS_ADMIN), 2 best effort, 3 idle.")
        .sets(to!(process.prioclass = Some(small))),
    int(Process, "priohint", 0, 1023, "I/O priority hint (command duration limit)")
        .long(
            "Goes with prio and prioclass to devices that know such hints, from kernel 6.5 on. Newer \
             than fio 3.33.",
        )
        .sets(|job, v| {
            job.process.priohint = u16::try_from(v.int()).ok();
            Ok(())
        }),
    time(Rate, "thinktime", MICROSECOND, "Pause between I/Os")
        .default("0")
        .long(
            "In microseconds without a unit. The pause comes after every thinktime_blocks I/Os, \
             or after thinktime_iotime. In-flight I/O is waited for first, so a queue deeper than \
             thinktime_blocks is never filled.",
        )
        .sets(|job, v| {
            job.rate.think.time = Some(v.time()).filter(|time| time.0 > 0);
            Ok(())
        }),
    time(Rate, "thinktime_spin", MICROSECOND, "Part of thinktime spent computing, not sleeping")
        .default("0")
        .long("In microseconds without a unit.")
        .sets(to!(rate.think.spin = time)),
    int(Rate, "thinkcycles", 0, NO_MAX, "CPU cycles spent after each completion")
        .default("0")
        .long(
            "The worker computes for that many ticks of the time-stamp counter before it issues \
             more. Not counted against thinktime. Newer than fio 3.33.",
        )
        .sets(to!(rate.think.cycles = count)),
    int(Rate, "thinktime_blocks", 0, NO_MAX, "I/Os between two pauses")
        .long("Has a meaning only with thinktime.")
        .default("1")
        .sets(to!(rate.think.blocks = Some(count))),
    choice(Rate, "thinktime_blocks_type", COUNTED, "When an I/O counts for thinktime_blocks")
        .long(
            "complete counts I/Os when they are done, issue when they are handed to the \
             kernel, which lets a queue fill before the pause.",
        )
        .default("complete")
        .sets(|job, v| {
            job.rate.think.count_issued = v.text() == "issue";
            Ok(())
        }),
    time(Rate, "thinktime_iotime", SECOND, "Time of I/O between two pauses")
        .default("0")
        .long(
            "In seconds without a unit. Together with thinktime_blocks, whichever comes first \
             begins the pause.",
        )
        .sets(|job, v| {
            job.rate.think.iotime = Some(v.time()).filter(|time| time.0 > 0);
            Ok(())
        }),
    ints(Rate, "rate", 0, NO_MAX, "Bandwidth not to exceed, bytes a second")
        .long(
            "Per worker; up to three values for reads, writes and trims: rate=1m,500k, or \
             rate=,500k for writes and trims only. I/O then has a schedule, and latency is also \
             counted from the time it was due: a device that falls behind cannot hide it.",
        )
        .sets(|job, v| {
            set::merge_rate(&mut job.rate.bandwidth, v.sizes());
            Ok(())
        }),
    ints(Rate, "rate_min", 0, NO_MAX, "Bandwidth below which the job fails, bytes a second")
        .alias(&["ratemin"])
        .long("Checked over each rate_cycle.")
        .sets(|job, v| {
            set::merge_rate(&mut job.rate.bandwidth_min, v.sizes());
            Ok(())
        }),
    choice(Rate, "rate_process", PROCESSES, "How a rate is spread over time")
        .default("linear")
        .long(
            "poisson is how independent clients arrive: queues form even at rates the device can \
             keep. Arrivals are independent of completions in both.",
        )
        .sets(|job, v| {
            job.rate.process = match v.text() {
                "poisson" => RateProcess::Poisson,
                _ => RateProcess::Linear,
            };
            Ok(())
        }),
    int(Rate, "rate_cycle", 0, NO_MAX, "Time over which rate_min is judged, in milliseconds")
        .alias(&["ratecycle"])
        .default("1000")
        .long("A plain number of milliseconds; it takes no unit of time.")
        .sets(|job, v| {
            job.rate.cycle = Some(set::millis(v.count()));
            Ok(())
        }),
    boolean(Rate, "rate_ignore_thinktime", "Do not make up for pauses")
        .long("By default a rated job catches up after thinktime.")
        .sets(to!(rate.ignore_thinktime = flag)),
    ints(Rate, "rate_iops", 0, NO_MAX, "I/Os a second not to exceed")
        .long(
            "Per worker; up to three values for reads, writes and trims. As for rate, latency is \
             also counted from the time an I/O was due.",
        )
        .sets(|job, v| {
            set::merge_rate(&mut job.rate.iops, v.counts());
            Ok(())
        }),
    ints(Rate, "rate_iops_min", 0, NO_MAX, "I/Os a second below which the job fails")
        .long("Checked over each rate_cycle.")
        .sets(|job, v| {
            set::merge_rate(&mut job.rate.iops_min, v.counts());
            Ok(())
        }),
    times(Rate, "max_latency", MICROSECOND, "Latency that ends the job with an error")
        .long(
            "In microseconds without a unit; up to three values, for reads, writes and trims; 0 is \
             no limit. An I/O that takes longer, from its making to its end, ends the job with \
             ETIMEDOUT.",
        )
        .sets(|job, v| {
            set::merge(&mut job.rate.max_latency, v.durations());
            job.rate.max_latency = job.rate.max_latency.map(|_, t| t.filter(|t| t.0 > 0));
            Ok(())
        }),
    time(Rate, "latency_target", MICROSECOND, "Latency under which to find the greatest depth")
        .long(
            "In microseconds without a unit. The depth, at most iodepth, is raised and lowered \
             until the greatest is known at which latency_percentile of the I/Os of a \
             latency_window stay below this; the figures are those of one more window at that \
             depth, and the job ends. Where 100 per cent are asked for and not even a depth of 1 \
             gives them, the job ends with ETIMEDOUT.",
        )
        .sets(|job, v| {
            job.rate.latency.target = Some(v.time()).filter(|time| time.0 > 0);
            Ok(())
        }),
    time(Rate, "latency_window", MICROSECOND, "Time each depth is tried for")
        .long("In microseconds without a unit. With latency_target; 1 s when it is not given.")
        .sets(|job, v| {
            job.rate.latency.window = Some(v.time()).filter(|time| time.0 > 0);
            Ok(())
        }),
    floats(Rate, "latency_percentile", 0.0, 100.0, "Share of I/Os that must meet latency_target")
        .long("100 lets a single slow I/O fail a depth.")
        .default("100")
        .sets(|job, v| match v.floats()[..] {
            [percentile] => {
                job.rate.latency.percentile = Some(percentile);
                Ok(())
            }
            ref list => Err(format!("takes one number, got {}", list.len())),
        }),
    boolean(Rate, "latency_run", "Keep running at the depth that was found")
        .long(
            "The job goes on and keeps the depth at the greatest that meets latency_target. \
             Otherwise it ends as soon as that depth is known.",
        )
        .default("0")
        .sets(to!(rate.latency.run = flag)),
];
