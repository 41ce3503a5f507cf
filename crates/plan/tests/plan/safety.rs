use crate::support::*;
use job::{Engine, Job, LockFile, ReadWrite, ZoneMode};
use plan::{Policy, Problem, ProblemKind::*};
use record::{Bytes, DeviceKind, DirectLimits, Facts, TargetKind, Use};

fn used(uses: &[Use]) -> Facts {
    let mut facts = machine();
    disk(&mut facts, "sdb", 4 * MIB);
    facts.targets.get_mut("/dev/sdb").expect("made above").uses = uses.to_vec();
    facts
}

fn mounted() -> Use {
    Use::Mounted { device: "sdb1".into(), mount_point: "/srv".into() }
}

fn busy() -> Use {
    Use::Busy { device: "sdb".into() }
}

fn signature() -> Use {
    Use::Signature { device: "sdb".into(), what: "ext4".into(), offset: 1080 }
}

fn write() -> Job {
    on("/dev/sdb", ReadWrite::Write, 4096)
}

fn as_fio() -> Policy {
    Policy { as_fio: true, ..Policy::default() }
}

#[track_caller]
fn refused(job: &Job, uses: &[Use], policy: &Policy) -> Problem {
    let problems = problems(std::slice::from_ref(job), &used(uses), policy);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!((problems[0].kind, problems[0].option.as_str()), (Refusal, "filename"));
    problems[0].clone()
}

fn allowed(job: &Job, uses: &[Use], policy: &Policy) -> plan::Plan {
    resolve_with(std::slice::from_ref(job), &used(uses), policy).expect("a plan")
}

#[test]
fn every_use_keeps_a_device_from_being_written() {
    let all = [
        mounted(),
        Use::Swap { device: "sdb2".into() },
        Use::Partitions { names: vec!["sdb1".into(), "sdb2".into()] },
        Use::Holders { names: vec!["dm-0".into()] },
        signature(),
        busy(),
    ];
    for reason in &all {
        for rw in [ReadWrite::Write, ReadWrite::RandRw, ReadWrite::Trim, ReadWrite::RandTrimWrite] {
            let problem = refused(
                &on("/dev/sdb", rw, 4096),
                std::slice::from_ref(reason),
                &Policy::default(),
            );
            assert!(problem.remedy.to_string().contains("--allow-destroy=/dev/sdb"), "{problem}");
        }
        for rw in [ReadWrite::Read, ReadWrite::RandRead] {
            allowed(&on("/dev/sdb", rw, 4096), std::slice::from_ref(reason), &Policy::default());
        }
    }
    let found = refused(&write(), &all, &Policy::default()).found;
    let says = ["/dev/sdb ", "/srv", "sdb2", "sdb1, sdb2", "dm-0", "ext4 at byte 1080", "exclusiv"];
    assert!(says.iter().all(|s| found.contains(s)), "{found}");
}

#[test]
fn a_named_device_may_be_destroyed() {
    let mut facts = used(&[mounted(), busy()]);
    let target = facts.targets["/dev/sdb"].clone();
    facts.targets.insert("/dev/disk/by-id/x".into(), target);
    let job = on("/dev/disk/by-id/x", ReadWrite::Write, 4096);
    for name in ["/dev/sdb", "/dev/disk/by-id/x"] {
        let policy = Policy { allow_destroy: vec![name.into()], ..Policy::default() };
        assert!(resolve_with(std::slice::from_ref(&job), &facts, &policy).is_ok(), "{name}");
    }
    for name in ["/dev/sda", "sdb", ""] {
        let policy = Policy { allow_destroy: vec![name.into()], ..Policy::default() };
        assert!(resolve_with(std::slice::from_ref(&job), &facts, &policy).is_err(), "{name}");
    }
}

#[test]
fn allow_mounted_write_counts_under_the_name_fio_only() {
    let mut job = write();
    let cure = refused(&job, &[mounted()], &as_fio()).remedy.to_string();
    assert!(cure.contains("allow_mounted_write=1"), "{cure}");
    job.target.allow_mounted_write = true;
    let plan = allowed(&job, &[mounted(), busy()], &as_fio());
    assert!(says(&plan, "overwritten although it is mounted at /srv"));
    refused(&job, &[mounted()], &Policy::default());
    refused(&job, &[busy()], &as_fio());
    refused(&job, &[mounted(), Use::Swap { device: "sdb".into() }], &as_fio());
    refused(&job, &[Use::Partitions { names: vec!["sdb1".into()] }], &as_fio());
    refused(&job, &[Use::Holders { names: vec!["dm-0".into()] }], &as_fio());
}

#[test]
fn a_signature_warns_under_the_name_fio() {
    let plan = allowed(&write(), &[signature()], &as_fio());
    assert!(says(&plan, "signature of ext4"));
    refused(&write(), &[signature()], &Policy::default());
    let problem = refused(&write(), &[signature(), mounted()], &as_fio());
    assert!(!problem.found.contains("ext4"), "{problem}");
}

#[test]
fn the_null_engine_touches_nothing() {
    let mut job = write();
    (job.queue.engine, job.target.size) = (Engine::Null, bytes(MIB));
    allowed(&job, &[mounted()], &Policy::default());
}

#[test]
fn readonly_takes_no_writer() {
    let policy = Policy { readonly: true, ..Policy::default() };
    for rw in [ReadWrite::Write, ReadWrite::RandRw, ReadWrite::Trim, ReadWrite::TrimWrite] {
        let problems = problems(&[on("/dev/sdb", rw, 4096)], &used(&[]), &policy);
        assert_problem(&problems, Refusal, "rw", "--readonly");
    }
    allowed(&on("/dev/sdb", ReadWrite::Read, 4096), &[], &policy);
}

#[test]
fn targets_of_the_wrong_kind() {
    let mut facts = used(&[]);
    let directory = on("d1", ReadWrite::Write, 4096);
    one_problem(&[directory], &facts, Refusal, "filename", "d1 is a directory");
    file(&mut facts, "x", MIB);
    one_problem(&[on("x", ReadWrite::Trim, 4096)], &facts, Refusal, "rw", "x is no block device");
    facts.targets.get_mut("x").expect("made above").kind = TargetKind::Other;
    one_problem(&[on("x", ReadWrite::Read, 4096)], &facts, Refusal, "filename", "neither a file");
    facts.targets.get_mut("x").expect("made above").kind = TargetKind::Fifo;
    for rw in [ReadWrite::Read, ReadWrite::Write] {
        one_problem(&[on("x", rw, 4096)], &facts, Refusal, "filename", "x is a pipe");
    }
    facts.devices.get_mut("sdb").expect("made above").discard_max = Bytes(0);
    let trim = on("/dev/sdb", ReadWrite::RandTrim, 4096);
    one_problem(&[trim], &facts, Refusal, "rw", "/dev/sdb takes no discards");
    let mut missing = on("/dev/sdz", ReadWrite::Write, 4096);
    missing.target.size = bytes(MIB);
    one_problem(&[missing], &facts, Refusal, "filename", "there is no device /dev/sdz");
}

#[test]
fn permissions() {
    let mut facts = used(&[]);
    file(&mut facts, "x", MIB);
    let x = facts.targets.get_mut("x").expect("made above");
    (x.readable, x.writable) = (false, false);
    let read = on("x", ReadWrite::Read, 4096);
    one_problem(&[read], &facts, Refusal, "filename", "x may not be read");
    let write_x = on("x", ReadWrite::Write, 4096);
    one_problem(
        std::slice::from_ref(&write_x),
        &facts,
        Refusal,
        "filename",
        "x may not be written",
    );
    let x = facts.targets.get_mut("x").expect("made above");
    x.filesystem.as_mut().expect("on ext4").read_only = true;
    one_problem(&[write_x], &facts, Refusal, "filename", "at /, which is mounted read-only");
    facts.devices.get_mut("sdb").expect("made above").read_only = true;
    one_problem(&[write()], &facts, Refusal, "filename", "/dev/sdb is set read-only");

    let make = |facts: &Facts| {
        let mut facts = complete(facts, &[sized("a", MIB)]);
        facts.targets.get_mut("a.0.0").expect("completed").writable = false;
        problems(&[sized("a", MIB)], &facts, &Policy::default())
    };
    let mut facts = machine();
    facts.targets.get_mut(".").expect("there").writable = false;
    assert_problem(&make(&facts), Refusal, "filename", "no permission to write in .");
    let here = facts.targets.get_mut(".").expect("there");
    here.filesystem.as_mut().expect("on ext4").read_only = true;
    assert_problem(&make(&facts), Refusal, "filename", "mounted read-only");
}

#[test]
fn what_nobody_looked_at_is_refused() {
    let error = plan::resolve(&[sized("a", MIB)], &Facts::default(), &Policy::default());
    let problems = error.expect_err("no facts").problems;
    assert_problem(&problems, Refusal, "filename", "nothing is known of a.0.0");
}

#[test]
fn direct_needs_whole_logical_blocks() {
    let mut job = on("/dev/sdb", ReadWrite::RandRead, 1000);
    job.queue.direct = true;
    let both = "1000 is not a multiple of 512, the logical block of sdb";
    one_problem(&[job.clone()], &used(&[]), Refusal, "bs", both);
    job.blocks.size.read = Some(Bytes(4096));
    job.target.offset = bytes(1000);
    one_problem(&[job.clone()], &used(&[]), Refusal, "offset", "1000 is not a multiple of 512");
    job.target.offset = None;
    job.blocks.align.read = Some(Bytes(100));
    one_problem(&[job.clone()], &used(&[]), Refusal, "blockalign", "100 is not");
    job.blocks.align.read = None;
    job.blocks.range.read = Some((Bytes(4096), Bytes(5000)));
    one_problem(&[job.clone()], &used(&[]), Refusal, "bsrange", "5000 is not");
    job.blocks.range.read = None;
    job.pattern.rw = ReadWrite::Read;
    job.pattern.skip = Some(-100);
    one_problem(&[job.clone()], &used(&[]), Refusal, "rw", "100 is not");
    job.pattern.skip = None;
    job.blocks.size.write = Some(Bytes(1));
    allowed(&job, &[], &Policy::default());
    (job.queue.direct, job.blocks.size.read) = (false, Some(Bytes(1000)));
    allowed(&job, &[], &Policy::default());
}

#[test]
fn direct_on_files() {
    let mut facts = machine();
    file(&mut facts, "x", MIB);
    let mut job = on("x", ReadWrite::Read, 512);
    job.queue.direct = true;
    assert_eq!(plan(&[job.clone()], &facts).workers[0].files.len(), 1);
    let x = facts.targets.get_mut("x").expect("made above");
    x.direct = Some(DirectLimits { memory: 512, offset: 4096 });
    one_problem(&[job.clone()], &facts, Refusal, "bs", "what O_DIRECT on x needs");
    let x = facts.targets.get_mut("x").expect("made above");
    x.direct = Some(DirectLimits::default());
    one_problem(&[job.clone()], &facts, Refusal, "direct", "x does not take O_DIRECT (ext4)");
    // A file that has yet to be made lies on the device of its directory.
    let mut job = sized("a", 64_000);
    block_size(&mut job, 1000);
    job.queue.direct = true;
    one_problem(&[job], &machine(), Refusal, "bs", "the logical block of sda1");
}

#[test]
fn devices_are_watched_from_the_stack_down() {
    let mut facts = machine();
    device(&mut facts, "sdc", DeviceKind::Disk, &[]);
    device(&mut facts, "sdc1", DeviceKind::Partition, &["sdc"]);
    let raid = DeviceKind::Md { level: "raid1".into() };
    device(&mut facts, "md0", raid, &["sda1", "sdc1"]);
    let loops = DeviceKind::Loop { backing_file: "/x".into() };
    disk(&mut facts, "loop0", 4 * MIB);
    device(&mut facts, "loop0", loops, &["sda1"]);
    disk(&mut facts, "md0", 4 * MIB);
    let raid = DeviceKind::Md { level: "raid1".into() };
    device(&mut facts, "md0", raid, &["sda1", "sdc1"]);
    let jobs = [
        on("/dev/md0", ReadWrite::Read, 4096),
        on("/dev/loop0", ReadWrite::Read, 4096),
        sized("a", MIB),
    ];
    let plan = plan(&jobs, &facts);
    let names: Vec<&str> = plan.disks.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["md0", "sda", "sdc", "loop0"]);
    assert_eq!(plan.disks[0].members, ["sda", "sdc"]);
    assert!(plan.disks[1..].iter().all(|d| d.members.is_empty()));
}

#[test]
fn writers_that_stride_over_each_others_zones_are_not() {
    let text = "write the same places of x at the same time";
    let mut job = on("x", ReadWrite::Write, 4096);
    (job.target.size, job.identity.numjobs) = (bytes(MIB), Some(2));
    job.zones.mode = ZoneMode::Strided;
    (job.zones.size, job.zones.range, job.zones.skip) = (Bytes(8192), Bytes(8192), bytes(8192));
    assert!(says(&plan(&[job.clone()], &machine()), text));
    job.target.offset_increment = bytes(8192);
    assert!(!says(&plan(&[job.clone()], &machine()), text));
    job.target.offset_increment = bytes(4096);
    assert!(says(&plan(&[job], &machine()), text));
}

#[test]
fn writers_on_the_same_places_are_remarked_on() {
    let text = "write the same places of x at the same time";
    let mut job = on("x", ReadWrite::Write, 4096);
    (job.target.size, job.identity.numjobs) = (bytes(MIB), Some(3));
    let overlapping = plan(&[job.clone()], &machine());
    assert!(says(&overlapping, text));
    assert_eq!(overlapping.messages.len(), 1);
    job.target.offset_increment = bytes(MIB);
    assert!(!says(&plan(&[job.clone()], &machine()), text));
    (job.target.offset_increment, job.target.lockfile) = (None, LockFile::Exclusive);
    assert!(!says(&plan(&[job.clone()], &machine()), text));
    (job.target.lockfile, job.identity.numjobs) = (LockFile::None, None);
    let mut later = job.clone();
    later.identity.name = "b".into();
    assert!(says(&plan(&[job.clone(), later.clone()], &machine()), text));
    later.identity.wait_for = Some("a".into());
    assert!(!says(&plan(&[job.clone(), later.clone()], &machine()), text));
    (later.identity.wait_for, later.identity.stonewall) = (None, true);
    assert!(!says(&plan(&[job, later], &machine()), text));
}
