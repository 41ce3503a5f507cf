//! The start condition and the report of each job.

use crate::problem::Diagnostics;
use job::Job;
use record::GroupKey;

/// Phase, group and waits of a job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot {
    pub phase: u32,
    pub group: u32,
    pub after_jobs: Vec<u32>,
}

/// Phases, groups and waits of all jobs.
///
/// Oracle: stonewall begins a phase and a group, new_group a group; on the first job both do
/// nothing; clones of a job stay together.
pub(crate) fn arrange(jobs: &[Job], diagnostics: &mut Diagnostics) -> Vec<Slot> {
    let (mut phase, mut group) = (0, 0);
    jobs.iter()
        .enumerate()
        .map(|(at, job)| {
            if at > 0 {
                phase += u32::from(job.identity.stonewall);
                group += u32::from(job.identity.stonewall || job.identity.new_group);
            }
            Slot { phase, group, after_jobs: waits(jobs, at, diagnostics) }
        })
        .collect()
}

/// The job that `wait_for` names. As in the oracle, it must be an earlier job with a unique name.
fn waits(jobs: &[Job], at: usize, diagnostics: &mut Diagnostics) -> Vec<u32> {
    let job = &jobs[at];
    let Some(name) = &job.identity.wait_for else { return Vec::new() };
    let earlier: Vec<u32> =
        (0..at as u32).filter(|i| jobs[*i as usize].identity.name == *name).collect();
    let (what, cure) = match earlier.len() {
        1 => return earlier,
        0 if job.identity.name == *name => {
            (format!("job '{name}' would wait for itself"), "name an earlier job")
        }
        0 if jobs[at + 1..].iter().any(|j| j.identity.name == *name) => {
            (format!("job '{name}' is defined later"), "move it before the job that waits for it")
        }
        0 => (format!("there is no job '{name}'"), "name an earlier job"),
        n => (format!("{n} jobs are named '{name}'"), "give each a name of its own"),
    };
    diagnostics.usage(job, "wait_for", what, cure);
    Vec::new()
}

/// Assigns report numbers, worker by worker.
///
/// Oracle: a worker with group_reporting joins the report of the previous worker if both are in the
/// same group, even if the previous one has no group_reporting. Any other worker starts a report.
#[derive(Default)]
pub(crate) struct Reports {
    last: Option<GroupKey>,
}

impl Reports {
    pub fn next(&mut self, group: u32, group_reporting: bool) -> GroupKey {
        let report = match self.last {
            None => 0,
            Some(last) if group_reporting && last.group == group => last.report,
            Some(last) => last.report + 1,
        };
        let key = GroupKey { group, report };
        self.last = Some(key);
        key
    }
}
