//! What is measured and reported, errors, and steady state.

use super::Group::{Buffer, Error, Job, Measure, Process, Rate, Steady};
use super::field::field;
use super::row::{
    MICROSECOND, NO_MAX, SECOND, boolean, choice, choice_with, floats, int, same, text, time, value,
};
use super::{Choice, OptionDef, set};

const UNIFIED: &[Choice] = &[
    value("none", "by direction"),
    value("mixed", "directions added up"),
    value("both", "by direction, then added up"),
    same("0", "none"),
    same("1", "mixed"),
    same("2", "both"),
];

const GO_ON: &[Choice] = &[
    value("none", "end the job"),
    value("read", "go on after read errors"),
    value("write", "go on after write errors"),
    value("io", "go on after read and write errors"),
    value("verify", "go on after verification errors"),
    value("all", "go on after all of them"),
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
        .long("From the making of an I/O to its completion.")
        .sets(field!(measure.lat_percentiles)),
    boolean(Measure, "slat_percentiles", "Report percentiles of submission latency")
        .long(
            "From the making of an I/O to the moment the kernel has taken it. Synchronous \
             engines have none.",
        )
        .sets(field!(measure.slat_percentiles)),
    floats(Measure, "percentile_list", 0.0, 100.0, "Percentiles to report")
        .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99")
        .long(
            "At most 20 numbers above 0, up to 100, split by colons. Histograms are kept to 0.4 % \
             whatever is listed here, so other percentiles can be had from the record later.",
        )
        .sets_with(set::percentiles),
    int(Measure, "significant_figures", 1, 10, "Digits of the figures in the normal report")
        .long("Applies to rates and sizes of the normal report; JSON always holds all digits.")
        .default("4")
        .sets(field!(measure.significant_figures)),
    boolean(Measure, "disk_util", "Report what the disks below did")
        .long(
            "One line for each device below the targets and below those, from their counters \
             before and after.",
        )
        .default("1")
        .sets(field!(measure.disk_util)),
    boolean(Measure, "gtod_reduce", "Read the clock as little as can be")
        .long(
            "Switches off all latency and bandwidth samples. Reading the clock costs a few \
             nanoseconds here, so there is little to gain.",
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
            "The figures vanish from the report; the cost of measuring them here is too small \
             to see.",
        )
        .sets(field!(measure.disable_lat)),
    boolean(Measure, "disable_clat", "Leave completion latency out")
        .long(
            "The figures and their percentiles vanish from the report. Little is gained by \
             that here.",
        )
        .sets(field!(measure.disable_clat)),
    boolean(Measure, "disable_slat", "Leave submission latency out")
        .long("The figures vanish from the report. Little is gained by that here.")
        .sets(field!(measure.disable_slat)),
    boolean(Measure, "disable_bw_measurement", "Leave bandwidth samples out")
        .long(
            "Minimum, maximum, mean and deviation of bandwidth vanish from the report; the \
             totals stay.",
        )
        .alias(&["disable_bw"])
        .sets(field!(measure.disable_bw)),
    int(Measure, "gtod_cpu", 0, NO_MAX, "CPU set aside for reading the clock")
        .long("fio can let one thread read the clock for all the others.")
        .accepted("each worker reads the time stamp counter itself, which costs less than sharing"),
    int(Measure, "job_start_clock_id", 0, NO_MAX, "Clock of job_start in JSON")
        .default("0")
        .long(
            "As clock_gettime numbers its clocks; 0 is CLOCK_REALTIME. The moment is that of the \
             first I/O, in milliseconds. Newer than fio 3.33.",
        )
        .sets(field!(measure.job_start_clock)),
    choice(Measure, "unified_rw_reporting", UNIFIED, "Whether directions are reported apart")
        .long("Added up, reads and writes cannot be told apart any more: prefer both.")
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
            "Errors are counted by kind, reported, and make the exit code non-zero all the same. \
             ignore_error names single errors.",
        )
        .sets_with(set::continue_on_error),
    boolean(Error, "error_dump", "Print each error, even if it is ignored")
        .long("One line for each error on standard error.")
        .sets(field!(errors.dump)),
    choice_with(Job, "profile", PROFILES, "A load made ready by name")
        .long(
            "A load that is made of jobs of its own, run with --profile=NAME on the command line; \
             fathom run --profile=NAME --cmdhelp lists its options. In a job fio takes the option and \
             passes over it, and so does fathom, with a warning.",
        )
        .warned("only the command line runs a profile: --profile=NAME"),
    text(Process, "cgroup", "Control group the job runs in")
        .long(
            "A name below the mount point of the hierarchy that accounts for I/O (blkio of version \
             1, or version 2). Made if it does not exist, and removed after the run. In version 2 \
             all jobs of a run have to be in one group.",
        )
        .sets(field!(surroundings.cgroup)),
    boolean(Process, "cgroup_nodelete", "Leave the control group behind")
        .long("For a look at its counters after the run.")
        .sets(field!(surroundings.cgroup_nodelete)),
    int(Process, "cgroup_weight", 100, 1000, "Weight of the control group")
        .long(
            "Share of I/O against other groups, 100 to 1000. The kernel heeds it with the bfq \
             scheduler, and in version 2 with iocost.",
        )
        .sets(field!(surroundings.cgroup_weight)),
    int(Process, "uid", 0, NO_MAX, "User id the workers run as")
        .long(
            "Needs the right to change it. Files are made before, by the user who called; they are \
             opened as this one.",
        )
        .sets(field!(surroundings.uid)),
    int(Process, "gid", 0, NO_MAX, "Group id the workers run as")
        .long("Needs the right to change it. See uid.")
        .sets(field!(surroundings.gid)),
    choice(Measure, "kb_base", KB_BASES, "What k, kb and kib mean")
        .default("1024")
        .long(
            "It changes how the sizes of its own job are read, wherever among them it stands: \
             with 1024, fio's habit since its beginnings, 1kib is 1000 bytes. Reports always use \
             units as the standards have them; this chooses which comes first.",
        )
        .sets(field!(measure.kb_base)),
    choice(Measure, "unit_base", UNIT_BASES, "Report rates in bytes or bits")
        .long("Applies to the normal report.")
        .default("0")
        .sets(field!(measure.unit_base)),
    int(Buffer, "hugepage-size", 0, NO_MAX, "Size of a huge page, in bytes")
        .long(
            "For shmhuge and mmaphuge; it must be a size the system has, see \
             /sys/kernel/mm/hugepages.",
        )
        .default("2097152")
        .sets(field!(buffers.hugepage_size)),
    int(Rate, "flow_id", 0, NO_MAX, "Group of jobs that share a flow")
        .long("Jobs of one id share one flow.")
        .default("0")
        .sets(field!(rate.flow.id)),
    int(Rate, "flow", 0, 1000, "Share of the flow this job gets")
        .long(
            "Jobs with 3, 2 and 1 do I/O in the ratio 3:2:1; those that are ahead wait. One that \
             starts later catches up, one that has ended holds nobody. 0 takes no part.",
        )
        .default("0")
        .sets(field!(rate.flow.weight))
        .recorded_as("flow", |job| {
            let flow = &job.rate.flow;
            (flow.weight > 0).then(|| format!("{}:{}", flow.id, flow.weight))
        }),
    int(Rate, "flow_sleep", 0, NO_MAX, "Pause of a job that is ahead, in microseconds")
        .long("0 lets it try again at once.")
        .default("0")
        .sets(field!(rate.flow.sleep in MICROSECOND)),
    choice_with(Steady, "steadystate", CRITERIA, "When the job counts as steady and ends")
        .long(
            "CRITERION:LIMIT, where the limit is a number or a percentage of the mean: \
             iops_slope:0.1%. A slope is that of the straight line through the samples, by sample. \
             Limits of bw take the suffixes of sizes, those of lat the ones of times and are \
             microseconds without. With group_reporting it is about the jobs of a report \
             together. Has a meaning with steadystate_duration.",
        )
        .alias(&["ss"])
        .default("iops_slope:0.01%")
        .sets_with(set::steadystate)
        .recorded_as("steadystate", |job| {
            job.steady.duration.filter(|duration| duration.0 > 0)?;
            Some(job.steady.criterion.name().to_owned())
        }),
    time(Steady, "steadystate_duration", SECOND, "Window in which it must be steady")
        .alias(&["ss_dur"])
        .default("0")
        .long(
            "In seconds without a unit. The job ends once a whole window of this length was \
             steady; give it runtime and time_based, so that it does not end for want of data. 0 \
             switches detection off.",
        )
        .sets(field!(steady.duration)),
    time(Steady, "steadystate_ramp_time", SECOND, "Time before the window may begin")
        .alias(&["ss_ramp"])
        .default("0")
        .long("In seconds without a unit.")
        .sets(field!(steady.ramp)),
    time(Steady, "steadystate_check_interval", SECOND, "Interval of the samples in the window")
        .alias(&["ss_interval"])
        .default("1")
        .long("In seconds without a unit. Newer than fio 3.33.")
        .sets(field!(steady.interval)),
];
