//! What is measured and reported, errors, and steady state.

use super::Group::{Buffer, Error, Job, Measure, Process, Rate, Steady};
use super::field::field;
use super::row::{
    MICROSECOND, NO_MAX, SECOND, boolean, choice, choice_with, floats, int, rows, same, text, time,
    value,
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

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Report percentiles of completion latency
    ///
    /// From submission to completion.
    "clat_percentiles" => boolean(Measure).default("1").sets(field!(measure.clat_percentiles)),

    /// Report percentiles of total latency
    ///
    /// From the preparation of an I/O to its completion.
    "lat_percentiles" => boolean(Measure).sets(field!(measure.lat_percentiles)),

    /// Report percentiles of submission latency
    ///
    /// From the preparation of an I/O until the kernel has accepted it. Synchronous engines have
    /// none.
    "slat_percentiles" => boolean(Measure).sets(field!(measure.slat_percentiles)),

    /// Percentiles to report
    ///
    /// At most 20 numbers above 0 and up to 100, separated by colons. The record holds the whole
    /// histogram (precise to 0.4 %), so other percentiles are available later.
    "percentile_list" => floats(Measure, 0.0, 100.0)
        .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99")
        .sets_with(set::percentiles),

    /// Significant digits in the normal report
    ///
    /// Applies to rates and sizes; JSON always holds all digits.
    "significant_figures" => int(Measure, 1, 10)
        .default("4")
        .sets(field!(measure.significant_figures)),

    /// Report disk statistics
    ///
    /// One line for each device in the stack below the targets.
    "disk_util" => boolean(Measure).default("1").sets(field!(measure.disk_util)),

    /// Minimize clock reads
    ///
    /// Disables all latency and bandwidth samples. A clock read takes a few nanoseconds in fathom,
    /// so the gain is small.
    "gtod_reduce" => boolean(Measure).sets_with(|job, v| {
        job.measure.disable_lat = v.flag();
        job.measure.disable_clat = v.flag();
        job.measure.disable_slat = v.flag();
        job.measure.disable_bw = v.flag();
        Ok(())
    }),

    /// Leave total latency out
    ///
    /// Removes the figures from the report. The cost of measuring them is negligible in fathom.
    "disable_lat" => boolean(Measure).sets(field!(measure.disable_lat)),

    /// Leave completion latency out
    ///
    /// Removes the figures and their percentiles from the report. The gain is small in fathom.
    "disable_clat" => boolean(Measure).sets(field!(measure.disable_clat)),

    /// Leave submission latency out
    ///
    /// Removes the figures from the report. The gain is small in fathom.
    "disable_slat" => boolean(Measure).sets(field!(measure.disable_slat)),

    /// Leave bandwidth samples out
    ///
    /// Removes minimum, maximum, mean and standard deviation of bandwidth from the report; totals
    /// remain.
    "disable_bw_measurement" => boolean(Measure)
        .alias(&["disable_bw"])
        .sets(field!(measure.disable_bw)),

    /// CPU reserved for reading the clock
    ///
    /// In fio one thread can read the clock for all others.
    "gtod_cpu" => int(Measure, 0, NO_MAX)
        .accepted("each worker reads the time-stamp counter itself, which is cheaper"),

    /// Clock of job_start in JSON
    ///
    /// Clock id of clock_gettime; 0 is CLOCK_REALTIME. job_start is the time of the first I/O in
    /// milliseconds. Newer than fio 3.33.
    "job_start_clock_id" => int(Measure, 0, NO_MAX)
        .default("0")
        .sets(field!(measure.job_start_clock)),

    /// Whether to report directions together
    ///
    /// mixed hides the difference between reads and writes; prefer both.
    "unified_rw_reporting" => choice(Measure, UNIFIED).default("none").sets_with(|job, v| {
        job.measure.unified = match v.text() {
            "mixed" => 1,
            "both" => 2,
            _ => 0,
        };
        Ok(())
    }),

    /// Which errors do not end the job
    ///
    /// Errors are still counted and reported, and the exit code is not 0. ignore_error selects
    /// single errors.
    "continue_on_error" => choice(Error, GO_ON).default("none").sets_with(set::continue_on_error),

    /// Print each error, also ignored ones
    ///
    /// One line for each error on standard error.
    "error_dump" => boolean(Error).sets(field!(errors.dump)),

    /// Run a predefined workload
    ///
    /// Use --profile=NAME on the command line; fathom run --profile=NAME --cmdhelp lists the
    /// options of a profile. In a job the option has no effect, as in fio; fathom warns.
    "profile" => choice_with(Job, PROFILES)
        .warned("only the command line runs a profile: --profile=NAME"),

    /// Control group the job runs in
    ///
    /// A name below the mount point of the blkio controller (version 1) or of cgroup2. A missing
    /// group is created, and removed after the run. With version 2 all jobs of a run must be in one
    /// group.
    "cgroup" => text(Process).sets(field!(context.cgroup)),

    /// Keep the control group after the run
    ///
    /// Its counters can then be read after the run.
    "cgroup_nodelete" => boolean(Process).sets(field!(context.cgroup_nodelete)),

    /// Weight of the control group
    ///
    /// I/O weight relative to other groups, 100 to 1000. Needs the bfq scheduler or, with version
    /// 2, iocost.
    "cgroup_weight" => int(Process, 100, 1000).sets(field!(context.cgroup_weight)),

    /// User id the workers run as
    ///
    /// Needs the privilege to change user ids. Files are created before by the calling user and
    /// opened with this id.
    "uid" => int(Process, 0, NO_MAX).sets(field!(context.uid)),

    /// Group id the workers run as
    ///
    /// Needs the privilege to change group ids. See uid.
    "gid" => int(Process, 0, NO_MAX).sets(field!(context.gid)),

    /// What k, kb and kib mean
    ///
    /// Applies to all sizes of its job, wherever it is placed. With 1024, for compatibility with
    /// fio, 1kib is 1000 bytes. Reports always use standard units; the option selects the first of
    /// the two units shown.
    "kb_base" => choice(Measure, KB_BASES).default("1024").sets(field!(measure.kb_base)),

    /// Report rates in bytes or bits
    ///
    /// Applies to the normal report.
    "unit_base" => choice(Measure, UNIT_BASES).default("0").sets(field!(measure.unit_base)),

    /// Size of a huge page, in bytes
    ///
    /// For shmhuge and mmaphuge; must be a size listed in /sys/kernel/mm/hugepages.
    "hugepage-size" => int(Buffer, 0, NO_MAX)
        .default("2097152")
        .sets(field!(buffers.hugepage_size)),

    /// Group of jobs that share a flow
    ///
    /// Jobs with the same id share one flow.
    "flow_id" => int(Rate, 0, NO_MAX).default("0").sets(field!(rate.flow.id)),

    /// Weight of this job in its flow
    ///
    /// Jobs with weights 3, 2 and 1 do I/O in the ratio 3:2:1; a job that is ahead waits. A job
    /// that starts later catches up; a job that has ended no longer counts. 0 disables flow
    /// control.
    "flow" => int(Rate, 0, 1000)
        .default("0")
        .sets(field!(rate.flow.weight))
        .recorded_as("flow", |job| {
            let flow = &job.rate.flow;
            (flow.weight > 0).then(|| format!("{}:{}", flow.id, flow.weight))
        }),

    /// Pause of a job that is ahead, in microseconds
    ///
    /// With 0 the job retries at once.
    "flow_sleep" => int(Rate, 0, NO_MAX).default("0").sets(field!(rate.flow.sleep in MICROSECOND)),

    /// Criterion for steady state, which ends the job
    ///
    /// CRITERION:LIMIT, where the limit is a number or a percentage of the mean: iops_slope:0.1%. A
    /// slope is the slope of the least-squares line through the samples, per sample. Limits of bw
    /// take suffixes of sizes; limits of lat are times, in microseconds without a unit. With
    /// group_reporting the criterion applies to the group. Needs steadystate_duration.
    "steadystate" => choice_with(Steady, CRITERIA)
        .alias(&["ss"])
        .default("iops_slope:0.01%")
        .sets_with(set::steadystate)
        .recorded_as("steadystate", |job| {
            job.steady.duration.filter(|duration| duration.0 > 0)?;
            Some(job.steady.criterion.name().to_owned())
        }),

    /// Length of the window that must be steady
    ///
    /// In seconds without a unit. The job ends after a whole steady window. Set runtime and
    /// time_based so that it does not run out of I/O first. 0 disables the detection.
    "steadystate_duration" => time(Steady, SECOND)
        .alias(&["ss_dur"])
        .default("0")
        .sets(field!(steady.duration)),

    /// Time before steady-state detection begins
    ///
    /// In seconds without a unit.
    "steadystate_ramp_time" => time(Steady, SECOND)
        .alias(&["ss_ramp"])
        .default("0")
        .sets(field!(steady.ramp)),

    /// Sample interval of steady-state detection
    ///
    /// In seconds without a unit. Newer than fio 3.33.
    "steadystate_check_interval" => time(Steady, SECOND)
        .alias(&["ss_interval"])
        .default("1")
        .sets(field!(steady.interval)),
};
