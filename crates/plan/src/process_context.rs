//! The environment that workers set up: I/O schedulers, control groups, users.

use crate::disks::disk_of;
use crate::machine::device;
use crate::model::{Cgroup, ProcessContext, Worker};
use crate::problem::Diagnostics;
use job::Job;
use record::{CgroupPlace, Facts};

/// The environment of a job's workers, without I/O schedulers, which depend on the files.
pub(crate) fn resolve(job: &Job, facts: &Facts, diagnostics: &mut Diagnostics) -> ProcessContext {
    let given = &job.context;
    ProcessContext {
        uid: given.uid,
        gid: given.gid,
        cgroup: cgroup(job, facts, diagnostics),
        schedulers: Vec::new(),
        prerun: given.exec_prerun.clone(),
        postrun: given.exec_postrun.clone(),
    }
}

fn cgroup(job: &Job, facts: &Facts, diagnostics: &mut Diagnostics) -> Option<Cgroup> {
    let given = &job.context;
    let Some(name) = &given.cgroup else {
        if given.cgroup_weight.is_some() {
            diagnostics.warn(job, "cgroup_weight does nothing without cgroup");
        }
        return None;
    };
    let Some(CgroupPlace { version, mount, own }) = &facts.environment.cgroup.place else {
        let what = "no hierarchy of control groups for I/O is mounted";
        diagnostics.refuse(job, "cgroup", what, "mount one (mount -t cgroup2 none /sys/fs/cgroup)");
        return None;
    };
    let name = name.trim_matches('/');
    if name.split('/').any(|part| part.is_empty() || part == "..") {
        let what = format!("'{name}' names no group below {mount}");
        diagnostics.usage(job, "cgroup", what, "give a name such as jobs/fast");
        return None;
    }
    Some(Cgroup {
        directory: format!("{mount}/{name}"),
        version: *version,
        own: own.clone(),
        weight: given.cgroup_weight,
        stays: given.cgroup_nodelete,
    })
}

/// Adds the I/O schedulers of the disks below a worker's files. Files on no disk are skipped, as documented.
pub(crate) fn schedulers(
    job: &Job,
    worker: &mut Worker,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    let Some(wanted) = &job.context.ioscheduler else { return };
    let mut disks: Vec<String> = Vec::new();
    for file in worker.files.iter().filter(|_| worker.queue.engine.has_targets()) {
        let disk = device(facts, &file.path).map(|device| disk_of(&device.name, facts));
        disks.extend(disk.filter(|disk| !disks.contains(disk)));
    }
    if disks.is_empty() {
        diagnostics.warn(job, "ioscheduler does nothing: no file of the job lies on a disk");
    }
    for disk in disks {
        let known = facts.devices.get(&disk).map_or(&[][..], |device| &device.schedulers);
        if !known.contains(wanted) {
            let what = format!("{disk} has no I/O scheduler '{wanted}'");
            let cure = format!("choose among {}", known.join(", "));
            diagnostics.refuse(job, "ioscheduler", what, cure);
        }
        worker.context.schedulers.push((disk, wanted.clone()));
    }
}

/// Refuses several control groups of version 2, which accounts the I/O of all threads of a process to one group.
pub(crate) fn check_one_group(jobs: &[Job], workers: &[Worker], diagnostics: &mut Diagnostics) {
    let unified =
        |worker: &&Worker| worker.context.cgroup.as_ref().is_some_and(|group| group.version == 2);
    let Some(first) = workers.iter().find(unified) else { return };
    let group = |worker: &Worker| worker.context.cgroup.as_ref().map(|g| g.directory.clone());
    if let Some(other) = workers.iter().find(|worker| group(worker) != group(first)) {
        let what = format!(
            "jobs '{}' and '{}' name different control groups; in version 2 all threads of a process are \
             in one group",
            other.name, first.name
        );
        let cure = "give all jobs the same cgroup, or run them by several calls";
        diagnostics.refuse(&jobs[other.job as usize], "cgroup", what, cure);
    }
}
