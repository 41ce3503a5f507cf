//! What workers change around themselves, resolved: devices to switch, groups to join.

use crate::disks::disk_of;
use crate::machine::device;
use crate::model::{Cgroup, ProcessContext, Worker};
use crate::problem::Diagnostics;
use job::Job;
use record::{CgroupPlace, Facts};

/// What the workers of a job change, but for the schedulers, which depend on the files.
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

/// The disks below a worker's files, which are to be switched.
///
/// As documented, what lies on no disk is passed over.
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

/// In version 2 the threads of a process have their I/O accounted to one group.
pub(crate) fn one_group(jobs: &[Job], workers: &[Worker], diagnostics: &mut Diagnostics) {
    let unified =
        |worker: &&Worker| worker.context.cgroup.as_ref().is_some_and(|group| group.version == 2);
    let Some(first) = workers.iter().find(unified) else { return };
    let group = |worker: &Worker| worker.context.cgroup.as_ref().map(|g| g.directory.clone());
    if let Some(other) = workers.iter().find(|worker| group(worker) != group(first)) {
        let what = format!(
            "job '{}' is to be in another control group than '{}', and the threads of one process \
             cannot be apart in this version of the hierarchy",
            other.name, first.name
        );
        let cure = "give all jobs the same cgroup, or run them by several calls";
        diagnostics.refuse(&jobs[other.job as usize], "cgroup", what, cure);
    }
}
