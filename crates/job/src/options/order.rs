//! Order of jobs, and threads.

use super::Group::{Error, Job, Process};
use super::field::field;
use super::row::{NO_MAX, choice, flag, int, value};
use super::{Choice, OptionDef};

const SCOPES: &[Choice] = &[
    value("group", "the jobs of its group"),
    value("stonewall", "the jobs running now"),
    value("all", "every job"),
];

pub(super) const ROWS: &[OptionDef] = &[
    flag(Job, "exitall", "End the other jobs of the group when this job ends")
        .long(
            "When the first job ends, the other jobs of its group end too, so all results cover \
             the same load. If one job sets it, it applies to all jobs.",
        )
        .sets(field!(identity.exitall)),
    choice(Job, "exit_what", SCOPES, "Which jobs exitall ends")
        .long("Only used with exitall and exitall_on_error.")
        .default("group")
        .sets(field!(identity.exit_what)),
    flag(Error, "exitall_on_error", "End all jobs when this one fails")
        .long("By default the other jobs continue. exit_what selects the jobs that end.")
        .sets(field!(errors.exitall)),
    flag(Job, "stonewall", "Start after all earlier jobs have ended")
        .alias(&["wait_for_previous"])
        .long("Also begins a new reporting group.")
        .sets(field!(identity.stonewall)),
    flag(Job, "new_group", "Begin a new reporting group with this job")
        .long("By default all jobs up to the next stonewall form one group.")
        .sets(field!(identity.new_group)),
    flag(Process, "thread", "Run workers as threads")
        .long(
            "fio runs each worker as a process by default. fathom's workers are always threads, \
             which start faster and need less memory.",
        )
        .accepted_as("workers are threads in any case", field!(process.thread)),
    int(Process, "threads", 0, NO_MAX, "Threads of fio's tiobench profile")
        .long(
            "fio accepts this undocumented option in every job and only uses it in the tiobench \
             profile. Job files often contain it by mistake for thread or numjobs.",
        )
        .warned("only fio's tiobench profile has a use for it; see thread, numjobs"),
];
