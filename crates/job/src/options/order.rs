//! Order of jobs, and threads.

use super::Group::{Error, Job, Process};
use super::field::field;
use super::row::{NO_MAX, choice, flag, int, rows, value};
use super::{Choice, OptionDef};

const SCOPES: &[Choice] = &[
    value("group", "the jobs of its group"),
    value("stonewall", "the jobs running now"),
    value("all", "every job"),
];

pub(super) const ROWS: &[OptionDef] = rows! {
    /// End the other jobs of the group when this job ends
    ///
    /// When the first job ends, the other jobs of its group end too, so all results cover the same
    /// load. If one job sets it, it applies to all jobs.
    "exitall" => flag(Job).sets(field!(identity.exitall)),

    /// Which jobs exitall ends
    ///
    /// Only used with exitall and exitall_on_error.
    "exit_what" => choice(Job, SCOPES).default("group").sets(field!(identity.exit_what)),

    /// End all jobs when this one fails
    ///
    /// By default the other jobs continue. exit_what selects the jobs that end.
    "exitall_on_error" => flag(Error).sets(field!(errors.exitall)),

    /// Start after all earlier jobs have ended
    ///
    /// Also begins a new reporting group.
    "stonewall" => flag(Job).alias(&["wait_for_previous"]).sets(field!(identity.stonewall)),

    /// Begin a new reporting group with this job
    ///
    /// By default all jobs up to the next stonewall form one group.
    "new_group" => flag(Job).sets(field!(identity.new_group)),

    /// Run workers as threads
    ///
    /// fio runs each worker as a process by default. fathom's workers are always threads, which
    /// start faster and need less memory.
    "thread" => flag(Process)
        .accepted_as("workers are threads in any case", field!(process.thread)),

    /// Threads of fio's tiobench profile
    ///
    /// fio accepts this undocumented option in every job and only uses it in the tiobench profile.
    /// Job files often contain it by mistake for thread or numjobs.
    "threads" => int(Process, 0, NO_MAX)
        .warned("only fio's tiobench profile has a use for it; see thread, numjobs"),
};
