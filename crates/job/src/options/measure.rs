//! What is measured and reported, errors, and steady state.

use super::Group::{Buffer, Error, Job, Measure, Process, Rate, Steady};
use super::field::field;
use super::row::{
    MICROSECOND, NO_MAX, SECOND, boolean, choice, choice_with, floats, int, same, text, time, value,
};
use super::{Choice, OptionDef, set};

const UNIFIED: &[Choice] = &[
    value("none", "by direction"),
    value("mixed", "all directions together"),
    value("both", "by direction, then all together"),
    same("0", "none"),
    same("1", "mixed"),
    same("2", "both"),
];

const GO_ON: &[Choice] = &[
    value("none", "end the job"),
    value("read", "continue after read errors"),
    value("write", "continue after write errors"),
    value("io", "continue after read and write errors"),
    value("verify", "continue after verification errors"),
    value("all", "continue after all errors"),
    same("0", "none"),
    same("1", "all"),
];

const PROFILES: &[Choice] =
    &[value("tiobench", "the load of tiobench"), value("act", "the load of Aerospike's ACT")];

const KB_BASES: &[Choice] = &[
    value("1024", "k and kb are 1024, kib is 1000"),
    value("1000", "k and kb are 1000, kib is 1024"),
];

const UNIT_BASES: &[Choice] = &[
    value("0", "bytes, or bits where the engine counts bits"),
    value("8", "bytes"),
    value("1", "bits"),
];

const CRITERIA: &[Choice] = &[
    value("iops", "all samples of IOPS lie this close to their mean"),
    value("iops_slope", "the slope of IOPS is below this"),
    value("bw", "all samples of bandwidth lie this close to their mean"),
    value("bw_slope", "the slope of bandwidth is below this"),
    value("lat", "all samples of latency lie this close to their mean"),
    value("lat_slope", "the slope of latency is below this"),
];

pub(super) const ROWS: &[OptionDef] = &[
    boolean(Measure, "clat_percentiles", "Report percentiles of completion latency")
        .default("1")
        .long("From submission to completion.")
        .sets(field!(measure.clat_percentiles)),
    boolean(Measure, "lat_percentiles", "Report percentiles of total latency")
        .long("From the preparation of an I/O to its completion.")
        .sets(field!(measure.lat_percentiles)),
    boolean(Measure, "slat_percentiles", "Report percentiles of submission latency")
        .long(
            "From the preparation of an I/O until the kernel has accepted it. Synchronous \
             engines have none.",
        )
        .sets(field!(measure.slat_percentiles)),
    floats(Measure, "percentile_list", 0.0, 100.0, "Percentiles to report")
        .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99")
        .long(
            "At most 20 numbers above 0 and up to 100, separated by colons. The record holds the \
             whole histogram (precise to 0.4 %), so other percentiles are available later.",
        )
        .sets_with(set::percentiles),
    int(Measure, "significant_figures", 1, 10, "Significant digits in the normal report")
        .long("Applies to rates and sizes; JSON always holds all digits.")
        .default("4")
        .sets(field!(measure.significant_figures)),
    boolean(Measure, "disk_util", "Report disk statistics")
        .long("One line for each device in the stack below the targets.")
        .default("1")
        .sets(field!(measure.disk_util)),
    boolean(Measure, "gtod_reduce", "Minimize clock reads")
        .long(
            "Disables all latency and bandwidth samples. A clock read takes a few nanoseconds in \
             fathom, so the gain is small.",
        )
        .sets_with(|job, v| {
            job.measure.disable_lat = v.flag();
            job.measure.disable_clat = v.flag();
            job.measure.disable_slat = v.flag();
            job.measure.disable_bw = v.flag();
            Ok(())
        }),
    boolean(Measure, "disable_lat", "Leave total latency out")
        .long(
            "Removes the figures from the report. The cost of measuring them is negligible in \
             fathom.",
        )
        .sets(field!(measure.disable_lat)),
    boolean(Measure, "disable_clat", "Leave completion latency out")
        .long(
            "Removes the figures and their percentiles from the report. The gain is small in \
             fathom.",
        )
        .sets(field!(measure.disable_clat)),
    boolean(Measure, "disable_slat", "Leave submission latency out")
        .long("Removes the figures from the report. The gain is small in fathom.")
        .sets(field!(measure.disable_slat)),
    boolean(Measure, "disable_bw_measurement", "Leave bandwidth samples out")
        .long(
            "Removes minimum, maximum, mean and standard deviation of bandwidth from the report; \
             totals remain.",
        )
        .alias(&["disable_bw"])
        .sets(field!(measure.disable_bw)),
    int(Measure, "gtod_cpu", 0, NO_MAX, "CPU reserved for reading the clock")
        .long("In fio one thread can read the clock for all others.")
        .accepted("each worker reads the time-stamp counter itself, which is cheaper"),
    int(Measure, "job_start_clock_id", 0, NO_MAX, "Clock of job_start in JSON")
        .default("0")
        .long(
            "Clock id of clock_gettime; 0 is CLOCK_REALTIME. job_start is the time of the first \
             I/O in milliseconds. Newer than fio 3.33.",
        )
        .sets(field!(measure.job_start_clock)),
    choice(Measure, "unified_rw_reporting", UNIFIED, "Whether to report directions together")
        .long("mixed hides the difference between reads and writes; prefer both.")
        .default("none")
        .sets_with(|job, v| {
            job.measure.unified = match v.text() {
                "mixed" => 1,
                "both" => 2,
                _ => 0,
            };
            Ok(())
        }),
    choice(Error, "continue_on_error", GO_ON, "Which errors do not end the job")
        .default("none")
        .long(
            "Errors are still counted and reported, and the exit code is not 0. ignore_error \
             selects single errors.",
        )
        .sets_with(set::continue_on_error),
    boolean(Error, "error_dump", "Print each error, also ignored ones")
        .long("One line for each error on standard error.")
        .sets(field!(errors.dump)),
    choice_with(Job, "profile", PROFILES, "Run a predefined workload")
        .long(
            "Use --profile=NAME on the command line; fathom run --profile=NAME --cmdhelp lists \
             the options of a profile. In a job the option has no effect, as in fio; fathom \
             warns.",
        )
        .warned("only the command line runs a profile: --profile=NAME"),
    text(Process, "cgroup", "Control group the job runs in")
        .long(
            "A name below the mount point of the blkio controller (version 1) or of cgroup2. A \
             missing group is created, and removed after the run. With version 2 all jobs of a \
             run must be in one group.",
        )
        .sets(field!(context.cgroup)),
    boolean(Process, "cgroup_nodelete", "Keep the control group after the run")
        .long("Its counters can then be read after the run.")
        .sets(field!(context.cgroup_nodelete)),
    int(Process, "cgroup_weight", 100, 1000, "Weight of the control group")
        .long(
            "I/O weight relative to other groups, 100 to 1000. Needs the bfq scheduler or, with \
             version 2, iocost.",
        )
        .sets(field!(context.cgroup_weight)),
    int(Process, "uid", 0, NO_MAX, "User id the workers run as")
        .long(
            "Needs the privilege to change user ids. Files are created before by the calling \
             user and opened with this id.",
        )
        .sets(field!(context.uid)),
    int(Process, "gid", 0, NO_MAX, "Group id the workers run as")
        .long("Needs the privilege to change group ids. See uid.")
        .sets(field!(context.gid)),
    choice(Measure, "kb_base", KB_BASES, "What k, kb and kib mean")
        .default("1024")
        .long(
            "Applies to all sizes of its job, wherever it is placed. With 1024, for \
             compatibility with fio, 1kib is 1000 bytes. Reports always use standard units; the \
             option selects the first of the two units shown.",
        )
        .sets(field!(measure.kb_base)),
    choice(Measure, "unit_base", UNIT_BASES, "Report rates in bytes or bits")
        .long("Applies to the normal report.")
        .default("0")
        .sets(field!(measure.unit_base)),
    int(Buffer, "hugepage-size", 0, NO_MAX, "Size of a huge page, in bytes")
        .long("For shmhuge and mmaphuge; must be a size listed in /sys/kernel/mm/hugepages.")
        .default("2097152")
        .sets(field!(buffers.hugepage_size)),
    int(Rate, "flow_id", 0, NO_MAX, "Group of jobs that share a flow")
        .long("Jobs with the same id share one flow.")
        .default("0")
        .sets(field!(rate.flow.id)),
    int(Rate, "flow", 0, 1000, "Weight of this job in its flow")
        .long(
            "Jobs with weights 3, 2 and 1 do I/O in the ratio 3:2:1; a job that is ahead waits. \
             A job that starts later catches up; a job that has ended no longer counts. 0 \
             disables flow control.",
        )
        .default("0")
        .sets(field!(rate.flow.weight))
        .recorded_as("flow", |job| {
            let flow = &job.rate.flow;
            (flow.weight > 0).then(|| format!("{}:{}", flow.id, flow.weight))
        }),
    int(Rate, "flow_sleep", 0, NO_MAX, "Pause of a job that is ahead, in microseconds")
        .long("With 0 the job retries at once.")
        .default("0")
        .sets(field!(rate.flow.sleep in MICROSECOND)),
    choice_with(Steady, "steadystate", CRITERIA, "Criterion for steady state, which ends the job")
        .long(
            "CRITERION:LIMIT, where the limit is a number or a percentage of the mean: \
             iops_slope:0.1%. A slope is the slope of the least-squares line through the \
             samples, per sample. Limits of bw take suffixes of sizes; limits of lat are times, \
             in microseconds without a unit. With group_reporting the criterion applies to the \
             group. Needs steadystate_duration.",
        )
        .alias(&["ss"])
        .default("iops_slope:0.01%")
        .sets_with(set::steadystate)
        .recorded_as("steadystate", |job| {
            job.steady.duration.filter(|duration| duration.0 > 0)?;
            Some(job.steady.criterion.name().to_owned())
        }),
    time(Steady, "steadystate_duration", SECOND, "Length of the window that must be steady")
        .alias(&["ss_dur"])
        .default("0")
        .long(
            "In seconds without a unit. The job ends after a whole steady window. Set runtime \
             and time_based so that it does not run out of I/O first. 0 disables the detection.",
        )
        .sets(field!(steady.duration)),
    time(Steady, "steadystate_ramp_time", SECOND, "Time before steady-state detection begins")
        .alias(&["ss_ramp"])
        .default("0")
        .long("In seconds without a unit.")
        .sets(field!(steady.ramp)),
    time(Steady, "steadystate_check_interval", SECOND, "Sample interval of steady-state detection")
        .alias(&["ss_interval"])
        .default("1")
        .long("In seconds without a unit. Newer than fio 3.33.")
        .sets(field!(steady.interval)),
];
