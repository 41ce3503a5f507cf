//! Invented machines and jobs.

use job::{Engine, Job, ReadWrite, Size};
use plan::{Plan, PlanError, Policy, Problem, ProblemKind};
use record::{
    Bytes, DeviceFacts, DeviceKind, DirectLimits, Facts, FilesystemFacts, TargetFacts, TargetKind,
};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// A job of this name reading 4 KiB blocks with psync.
pub fn job(name: &str) -> Job {
    let mut job = Job::default();
    job.identity.name = name.into();
    job.identity.origin = format!("{name}.fio:1");
    job
}

/// The same with a size.
pub fn sized(name: &str, size: u64) -> Job {
    let mut job = job(name);
    job.target.size = bytes(size);
    job
}

/// Reads `size` bytes of the null engine.
pub fn null(name: &str, size: u64) -> Job {
    let mut job = sized(name, size);
    job.queue.engine = Engine::Null;
    job
}

/// Does `rw` to the file or device `path`, with `block` bytes an I/O.
pub fn on(path: &str, rw: ReadWrite, block: u64) -> Job {
    let mut job = job("a");
    job.target.filenames = path.split(':').map(Into::into).collect();
    job.pattern.rw = rw;
    block_size(&mut job, block);
    job
}

pub fn block_size(job: &mut Job, block: u64) {
    job.blocks.size = record::PerDirection::all(Some(Bytes(block)));
}

pub fn bytes(size: u64) -> Option<Size> {
    Some(Size::Bytes(Bytes(size)))
}

pub fn percent(percent: f64) -> Option<Size> {
    Some(Size::Percent(percent))
}

/// Two CPUs in two nodes, 1 GiB, the working directory on an ext4 of sda1.
pub fn machine() -> Facts {
    let mut facts = Facts { memory: Bytes(1 << 30), ..Facts::default() };
    facts.cpu.online = 2;
    facts.cpu.allowed = vec![0, 1];
    facts.cpu.nodes = [(0, vec![0]), (1, vec![1])].into();
    device(&mut facts, "sda", DeviceKind::Disk, &[]);
    device(&mut facts, "sda1", DeviceKind::Partition, &["sda"]);
    for directory in [".", "d1", "d2", "/dev"] {
        let mut target = on_ext4(TargetKind::Directory, 4096);
        target.canonical = format!("/srv/{directory}");
        if directory == "/dev" {
            target.filesystem = Some(FilesystemFacts {
                kind: "devtmpfs".into(),
                mount_point: "/dev".into(),
                ..FilesystemFacts::default()
            });
            target.device = None;
        }
        facts.targets.insert(directory.into(), target);
    }
    facts
}

pub fn device(facts: &mut Facts, name: &str, kind: DeviceKind, below: &[&str]) {
    let device = DeviceFacts {
        name: name.into(),
        kind,
        below: below.iter().map(|b| (*b).into()).collect(),
        size: Bytes(4 * MIB),
        logical_block: Bytes(512),
        discard_max: Bytes(1 << 30),
        ..DeviceFacts::default()
    };
    facts.devices.insert(name.into(), device);
}

fn on_ext4(kind: TargetKind, size: u64) -> TargetFacts {
    TargetFacts {
        kind,
        size: Bytes(size),
        readable: true,
        writable: true,
        parent_exists: true,
        device: Some("sda1".into()),
        filesystem: Some(FilesystemFacts {
            kind: "ext4".into(),
            mount_point: "/".into(),
            total: Bytes(1 << 41),
            free: Bytes(1 << 40),
            ..FilesystemFacts::default()
        }),
        ..TargetFacts::default()
    }
}

/// A regular file of this size.
pub fn file(facts: &mut Facts, path: &str, size: u64) {
    facts.targets.insert(path.into(), on_ext4(TargetKind::File, size));
}

/// A block device /dev/NAME, writable and free.
pub fn disk(facts: &mut Facts, name: &str, size: u64) {
    device(facts, name, DeviceKind::Disk, &[]);
    let path = format!("/dev/{name}");
    let target = TargetFacts {
        kind: TargetKind::Block,
        size: Bytes(size),
        readable: true,
        writable: true,
        parent_exists: true,
        canonical: path.clone(),
        device: Some(name.into()),
        direct: Some(DirectLimits { memory: 512, offset: 512 }),
        ..TargetFacts::default()
    };
    facts.targets.insert(path, target);
}

/// Adds "nothing there" for every wanted path that the machine does not know.
pub fn complete(facts: &Facts, jobs: &[Job]) -> Facts {
    let mut facts = facts.clone();
    for wanted in plan::targets(jobs) {
        let missing = || {
            let mut target = on_ext4(TargetKind::Missing, 0);
            (target.readable, target.filesystem, target.device) = (false, None, None);
            target
        };
        facts.targets.entry(wanted.path).or_insert_with(missing);
    }
    facts
}

pub fn resolve_with(jobs: &[Job], facts: &Facts, policy: &Policy) -> Result<Plan, PlanError> {
    plan::resolve(jobs, &complete(facts, jobs), policy)
}

/// The plan, which there has to be.
#[track_caller]
pub fn plan(jobs: &[Job], facts: &Facts) -> Plan {
    match resolve_with(jobs, facts, &Policy::default()) {
        Ok(plan) => plan,
        Err(error) => panic!("no plan: {error}"),
    }
}

/// The problems, which there have to be.
#[track_caller]
pub fn problems(jobs: &[Job], facts: &Facts, policy: &Policy) -> Vec<Problem> {
    match resolve_with(jobs, facts, policy) {
        Ok(_) => panic!("a plan where problems were expected"),
        Err(error) => error.problems,
    }
}

/// Its only problem is of this kind, about this option, and says this.
#[track_caller]
pub fn one_problem(jobs: &[Job], facts: &Facts, kind: ProblemKind, option: &str, says: &str) {
    let problems = problems(jobs, facts, &Policy::default());
    assert_problem(&problems, kind, option, says);
}

#[track_caller]
pub fn assert_problem(problems: &[Problem], kind: ProblemKind, option: &str, says: &str) {
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let problem = &problems[0];
    assert_eq!((problem.kind, problem.option.as_str()), (kind, option), "{problem}");
    assert!(problem.to_string().contains(says), "{problem} does not say {says}");
    assert!(!problem.remedy.is_empty());
}

/// (path, start, length) of the first worker's files.
pub fn regions(plan: &Plan, worker: usize) -> Vec<(&str, u64, u64)> {
    plan.workers[worker].files.iter().map(|f| (f.path.as_str(), f.start, f.length)).collect()
}

/// Whether some message contains the text.
pub fn says(plan: &Plan, text: &str) -> bool {
    plan.messages.iter().any(|m| m.text.contains(text))
}
