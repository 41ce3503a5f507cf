//! What workers change around themselves, resolved: devices to switch, groups to join.

use crate::disks::disk_of;
use crate::machine::device;
use crate::model::Worker;
use crate::problem::Findings;
use job::Job;
use record::{CgroupPlace, Facts};

/// What a worker changes around itself before its first I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// User to become.
    pub uid: Option<u32>,
    /// Group to become.
    pub gid: Option<u32>,
    /// Control group to join.
    pub cgroup: Option<Cgroup>,
    /// (disk, I/O scheduler to switch it to).
    pub schedulers: Vec<(String, String)>,
    /// Command before its first I/O.
    pub prerun: Option<String>,
    /// Command after its last.
    pub postrun: Option<String>,
}

/// A control group to join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cgroup {
    /// Its directory.
    pub directory: String,
    /// Version of the hierarchy, 1 or 2.
    pub version: u8,
    /// Where this process is in it.
    pub own: String,
    /// Its weight, if it is to have one.
    pub weight: Option<u64>,
    /// It stays after the run.
    pub stays: bool,
}

/// What the workers of a job change, but for the schedulers, which depend on the files.
pub(crate) fn surroundings(job: &Job, facts: &Facts, found: &mut Findings) -> Surroundings {
    let given = &job.surroundings;
    Surroundings {
        uid: given.uid,
        gid: given.gid,
        cgroup: cgroup(job, facts, found),
        schedulers: Vec::new(),
        prerun: given.exec_prerun.clone(),
        postrun: given.exec_postrun.clone(),
    }
}

fn cgroup(job: &Job, facts: &Facts, found: &mut Findings) -> Option<Cgroup> {
    let given = &job.surroundings;
    let Some(name) = &given.cgroup else {
        if given.cgroup_weight.is_some() {
            found.warn(job, "cgroup_weight does nothing without cgroup");
        }
        return None;
    };
    let Some(CgroupPlace { version, mount, own }) = &facts.environment.cgroup.place else {
        let what = "no hierarchy of control groups for I/O is mounted";
        found.refuse(job, "cgroup", what, "mount one (mount -t cgroup2 none /sys/fs/cgroup)");
        return None;
    };
    let name = name.trim_matches('/');
    if name.split('/').any(|part| part.is_empty() || part == "..") {
        let what = format!("'{name}' names no group below {mount}");
        found.usage(job, "cgroup", what, "give a name such as jobs/fast");
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
pub(crate) fn schedulers(job: &Job, worker: &mut Worker, facts: &Facts, found: &mut Findings) {
    let Some(wanted) = &job.surroundings.ioscheduler else { return };
    let mut disks: Vec<String> = Vec::new();
    for file in worker.files.iter().filter(|_| worker.queue.engine.has_targets()) {
        let disk = device(facts, &file.path).map(|device| disk_of(&device.name, facts));
        disks.extend(disk.filter(|disk| !disks.contains(disk)));
    }
    if disks.is_empty() {
        found.warn(job, "ioscheduler does nothing: no file of the job lies on a disk");
    }
    for disk in disks {
        let known = facts.devices.get(&disk).map_or(&[][..], |device| &device.schedulers);
        if !known.contains(wanted) {
            let what = format!("{disk} has no I/O scheduler '{wanted}'");
            let cure = format!("choose among {}", known.join(", "));
            found.refuse(job, "ioscheduler", what, cure);
        }
        worker.surroundings.schedulers.push((disk, wanted.clone()));
    }
}

/// In version 2 the threads of a process have their I/O accounted to one group.
pub(crate) fn one_group(jobs: &[Job], workers: &[Worker], found: &mut Findings) {
    let unified = |worker: &&Worker| {
        worker.surroundings.cgroup.as_ref().is_some_and(|group| group.version == 2)
    };
    let Some(first) = workers.iter().find(unified) else { return };
    let group = |worker: &Worker| worker.surroundings.cgroup.as_ref().map(|g| g.directory.clone());
    if let Some(other) = workers.iter().find(|worker| group(worker) != group(first)) {
        let what = format!(
            "job '{}' is to be in another control group than '{}', and the threads of one process \
             cannot be apart in this version of the hierarchy",
            other.name, first.name
        );
        let cure = "give all jobs the same cgroup, or run them by several calls";
        found.refuse(&jobs[other.job as usize], "cgroup", what, cure);
    }
}
