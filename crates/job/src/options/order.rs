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
    flag(Job, "exitall", "End the other jobs of a group when one of it is done")
        .long(
            "The first job that ends takes the others of its group with it, so all figures \
             cover the same load. Given for one job it holds for all of them.",
        )
        .sets(field!(identity.exitall)),
    choice(Job, "exit_what", SCOPES, "Which jobs exitall ends")
        .long("Has a meaning only with exitall and exitall_on_error.")
        .default("group")
        .sets(field!(identity.exit_what)),
    flag(Error, "exitall_on_error", "End all jobs when this one fails")
        .long("Otherwise the other jobs run to their regular end. exit_what says which end.")
        .sets(field!(errors.exitall)),
    flag(Job, "stonewall", "Start when the jobs before this one are done")
        .alias(&["wait_for_previous"])
        .long("Begins a new reporting group as well.")
        .sets(field!(identity.stonewall)),
    flag(Job, "new_group", "Begin a new reporting group with this job")
        .long("By default all jobs up to the next stonewall make one group.")
        .sets(field!(identity.new_group)),
    flag(Process, "thread", "Run workers as threads")
        .long(
            "fio runs each worker as a process unless told otherwise. fathom's workers are always \
             threads: they start faster, need less memory and share no state in the hot path.",
        )
        .accepted_as("workers are threads in any case", field!(process.thread)),
    int(Process, "threads", 0, NO_MAX, "Threads of fio's tiobench profile")
        .long(
            "Not listed by fio, which takes it of any job and passes over it unless the profile \
             runs; job files have it where thread or numjobs is meant.",
        )
        .warned("only fio's tiobench profile has a use for it; see thread, numjobs"),
];
