use crate::support::*;
use job::{FileSizeRange, Job, ReadWrite, Size};
use plan::{Policy, Prepare, ProblemKind::*};
use record::{Bytes, Extents, TargetFacts, TargetKind};

const K64: u64 = 64 * KIB;

/// First worker's only region: (start, length).
#[track_caller]
fn region(job: &Job, facts: &record::Facts) -> (u64, u64) {
    let plan = plan(std::slice::from_ref(job), facts);
    let file = &plan.workers[0].files[0];
    (file.start, file.length)
}

fn prepare(plan: &plan::Plan, worker: usize) -> Prepare {
    plan.workers[worker].files[0].prepare
}

fn filesize(low: u64, high: u64) -> Option<FileSizeRange> {
    Some(FileSizeRange { low: Size::Bytes(Bytes(low)), high: Size::Bytes(Bytes(high)) })
}

fn with_x(size: u64) -> record::Facts {
    let mut facts = machine();
    file(&mut facts, "x", size);
    facts
}

#[test]
fn size_is_divided_by_the_files() {
    // Oracle: 1 MiB over 3 files gives 349525 bytes each.
    let mut job = sized("a", MIB);
    job.target.nrfiles = Some(3);
    let plan = plan(&[job], &machine());
    assert!(regions(&plan, 0).iter().all(|r| (r.1, r.2) == (0, 349525)));
    assert_eq!(prepare(&plan, 0), Prepare::Fill { size: 349525 });
}

#[test]
fn filesize_is_the_region_and_size_an_amount() {
    // Oracle: --size=77824 --filesize=385024 reads 77824 bytes from all over the file.
    let mut job = on("x:y", ReadWrite::RandRead, 4096);
    job.target.size = bytes(MIB);
    job.target.filesize = filesize(700 * KIB, 700 * KIB);
    let made = plan(&[job.clone()], &machine());
    assert_eq!(regions(&made, 0), [("x", 0, 700 * KIB), ("y", 0, 700 * KIB)]);
    assert_eq!(prepare(&made, 0), Prepare::Fill { size: 700 * KIB });
    assert_eq!(made.workers[0].stop.bytes, Some(MIB));
    job.target.io_size = bytes(5 * MIB);
    assert_eq!(plan(&[job.clone()], &machine()).workers[0].stop.bytes, Some(5 * MIB));
    // Oracle: with filesize=100k, nrfiles=5 and size=1m all of the files is read, not more.
    (job.target.filesize, job.target.io_size) = (filesize(100 * KIB, 100 * KIB), None);
    let all = plan(&[job.clone()], &machine());
    assert_eq!((all.workers[0].region(), all.workers[0].stop.bytes), (200 * KIB, None));
    // Oracle: the offset lies within filesize, not before it.
    job.target.filenames = vec!["x".into()];
    job.target.filesize = filesize(MIB, MIB);
    job.target.offset = bytes(256 * KIB);
    assert_eq!(region(&job, &machine()), (256 * KIB, 768 * KIB));
    job.target.size = None;
    assert_eq!(region(&job, &with_x(2 * MIB)), (256 * KIB, 768 * KIB));
}

#[test]
fn in_sequence_a_last_block_may_reach_over_the_region() {
    // Oracle: 10000 bytes of a file of 12288 or more are 3 blocks, of 10001 they are 2; at random
    // they are 2 always.
    for (rw, size, length) in [
        (ReadWrite::Read, MIB, 12288),
        (ReadWrite::Write, 12288, 12288),
        (ReadWrite::Rw, MIB, 12288),
        (ReadWrite::Read, 10001, 10000),
        (ReadWrite::RandRead, MIB, 10000),
    ] {
        let mut job = on("x", rw, 4096);
        job.target.size = bytes(10000);
        assert_eq!(region(&job, &with_x(size)), (0, length), "{rw:?} {size}");
        (job.target.size, job.target.filesize) = (None, filesize(10000, 10000));
        assert_eq!(region(&job, &with_x(size)), (0, length), "{rw:?} {size}");
    }
    // Oracle: 20000 bytes of two such files are 5 blocks, not 6.
    let mut job = on("x:y", ReadWrite::Read, 4096);
    job.target.size = bytes(20000);
    let mut facts = with_x(MIB);
    file(&mut facts, "y", MIB);
    let plan = plan(&[job], &facts);
    assert_eq!((plan.workers[0].region(), plan.workers[0].stop.bytes), (24576, Some(20000)));
}

#[test]
fn filesize_ranges_are_drawn_in_whole_blocks_and_alike_for_all_who_share() {
    let mut job = sized("a", MIB);
    job.target.size = None;
    job.target.filesize = filesize(64 * KIB, 256 * KIB);
    job.target.nrfiles = Some(20);
    job.target.filename_format = Some("shared.$filenum".into());
    job.identity.numjobs = Some(2);
    let plan = plan(&[job], &machine());
    let sizes: Vec<u64> = plan.workers[0].files.iter().map(|f| f.length).collect();
    assert!(sizes.iter().all(|s| (64 * KIB..=256 * KIB).contains(s) && s % 4096 == 0));
    assert!(sizes.iter().any(|s| *s != sizes[0]));
    assert_eq!(regions(&plan, 0), regions(&plan, 1));
}

#[test]
fn without_size_the_file_decides() {
    let mut job = on("x", ReadWrite::Read, K64);
    assert_eq!(region(&job, &with_x(MIB)), (0, MIB));
    job.target.offset = bytes(256 * KIB);
    assert_eq!(region(&job, &with_x(MIB)), (256 * KIB, 768 * KIB));
    job.target.offset = bytes(2 * MIB);
    one_problem(&[job.clone()], &with_x(MIB), Refusal, "offset", "begins at byte 2097152 of x");
    job.target.offset = None;
    one_problem(&[job], &machine(), Usage, "size", "no size is given and x has none");
}

#[test]
fn an_offset_extends_files() {
    // Oracle: --size=1m --offset=256k leaves a file of 1.25 MiB, whether or not 1 MiB was there.
    let mut job = on("x", ReadWrite::Read, K64);
    job.target.size = bytes(MIB);
    job.target.offset = bytes(256 * KIB);
    for facts in [machine(), with_x(MIB)] {
        let plan = plan(&[job.clone()], &facts);
        assert_eq!(regions(&plan, 0), [("x", 256 * KIB, MIB)]);
        assert_eq!(prepare(&plan, 0), Prepare::Fill { size: MIB + 256 * KIB });
    }
}

#[test]
fn percentages_of_a_file() {
    let mut job = on("x", ReadWrite::Read, K64);
    let at = |size, offset: Option<Size>, job: &mut Job| {
        (job.target.size, job.target.offset) = (percent(size), offset);
        region(job, &with_x(MIB))
    };
    assert_eq!(at(50.0, None, &mut job), (0, 512 * KIB));
    assert_eq!(at(33.0, None, &mut job), (0, 5 * K64), "oracle: whole blocks");
    assert_eq!(at(50.0, bytes(256 * KIB), &mut job), (256 * KIB, 512 * KIB));
    assert_eq!(at(80.0, percent(50.0), &mut job), (512 * KIB, 512 * KIB), "oracle: to the end");
    job.target.offset = None;
    one_problem(&[job.clone()], &machine(), Usage, "size", "80 per cent of x, which has no size");
    // Oracle: size=50% of filesize=1m makes a file of 512 KiB.
    job.target.size = percent(50.0);
    job.target.filesize = filesize(MIB, MIB);
    let plan = plan(&[job], &machine());
    assert_eq!(regions(&plan, 0), [("x", 0, 512 * KIB)]);
    assert_eq!(prepare(&plan, 0), Prepare::Fill { size: 512 * KIB });
}

#[test]
fn offsets_in_per_cent_are_rounded_up() {
    let mut job = on("x", ReadWrite::Read, 4096);
    job.target.offset = percent(10.0);
    assert_eq!(region(&job, &with_x(MIB)), (106496, 942080));
    job.target.offset_align = Bytes(K64);
    assert_eq!(region(&job, &with_x(MIB)), (131072, 917504));
    job.target.offset = bytes(5000);
    assert_eq!(region(&job, &with_x(MIB)).0, 5000, "oracle: bytes are not aligned");
    // Oracle: 25 per cent of a file that is not there yet is 0.
    (job.target.offset, job.target.size) = (percent(25.0), bytes(MIB));
    let plan = plan(&[job], &machine());
    assert_eq!(regions(&plan, 0), [("x", 0, MIB)]);
    assert!(says(&plan, "begins at 0"));
}

#[test]
fn clones_are_offset_by_the_increment() {
    let starts = |job: &Job, facts: &record::Facts| -> Vec<u64> {
        let plan = plan(std::slice::from_ref(job), facts);
        plan.workers.iter().map(|w| w.files[0].start).collect()
    };
    let mut job = on("x", ReadWrite::Read, 4096);
    (job.target.size, job.identity.numjobs) = (bytes(64 * KIB), Some(3));
    job.target.offset_increment = bytes(MIB);
    assert_eq!(starts(&job, &machine()), [0, 2 * MIB, MIB]);
    job.target.offset_increment = percent(10.0);
    assert_eq!(starts(&job, &with_x(MIB)), [0, 212992, 106496]);
    (job.target.offset, job.target.offset_align) = (bytes(4096), Bytes(K64));
    assert_eq!(starts(&job, &with_x(MIB)), [65536, 262144, 131072]);
    job.target.offset_increment = bytes(u64::MAX / 2);
    one_problem(&[job], &machine(), Usage, "size", "beyond 2^63");
}

#[test]
fn devices_cut_the_region_off() {
    let mut facts = machine();
    disk(&mut facts, "sdb", 4 * MIB);
    let mut job = on("/dev/sdb", ReadWrite::Read, K64);
    assert_eq!(region(&job, &facts), (0, 4 * MIB));
    (job.target.size, job.target.offset) = (bytes(4 * MIB), bytes(MIB));
    let cut = plan(&[job.clone()], &facts);
    assert_eq!(regions(&cut, 0), [("/dev/sdb", MIB, 3 * MIB)]);
    assert!(says(&cut, "cut to 3 MiB"));
    assert_eq!(prepare(&cut, 0), Prepare::Nothing);
    (job.target.size, job.target.offset) = (percent(50.0), percent(75.0));
    assert_eq!(region(&job, &facts), (3 * MIB, MIB));
    job.target.offset = bytes(4 * MIB);
    one_problem(&[job.clone()], &facts, Refusal, "offset", "ends at 4194304");
    (job.target.offset, job.target.file_append) = (None, true);
    assert_eq!(region(&job, &facts).0, 0, "oracle: appending is for files");
    // Oracle: size=2m over a device and a file gives 1 MiB to each.
    job.target.filenames.push("x".into());
    (job.target.size, job.target.file_append) = (bytes(2 * MIB), false);
    assert_eq!(regions(&plan(&[job], &facts), 0), [("/dev/sdb", 0, MIB), ("x", 0, MIB)]);
}

#[test]
fn an_empty_device_and_a_large_block() {
    let mut facts = machine();
    disk(&mut facts, "sdb", 0);
    let mut job = on("/dev/sdb", ReadWrite::Read, K64);
    one_problem(&[job.clone()], &facts, Refusal, "filename", "device of 0 bytes");
    job.target.size = bytes(MIB);
    one_problem(&[job.clone()], &facts, Refusal, "filename", "device of 0 bytes");
    disk(&mut facts, "sdb", 4 * MIB);
    (job.target.size, job.blocks.size.read) = (None, Some(Bytes(8 * MIB)));
    one_problem(&[job], &facts, Refusal, "size", "4 MiB of /dev/sdb hold no block of 8 MiB");
}

#[test]
fn regions_smaller_than_a_block() {
    let mut job = sized("a", KIB);
    let problems_of =
        |job: &Job| problems(std::slice::from_ref(job), &machine(), &Policy::default());
    assert_eq!(problems_of(&job)[0].found, "1 KiB hold no block of 4 KiB");
    // Only the directions in use count. Oracle: bs=8k,4k writes 4 KiB.
    job.target.size = bytes(4096);
    job.pattern.rw = ReadWrite::Write;
    job.blocks.size.read = Some(Bytes(8192));
    assert_eq!(region(&job, &machine()), (0, 4096));
    // Oracle: files of 655 bytes are made and get no I/O at all; here that is no run.
    let mut job = sized("a", K64);
    job.target.nrfiles = Some(100);
    one_problem(&[job], &machine(), Refusal, "size", "655 bytes of a.0.0 hold no block");
    // Oracle: of two files the small one is left out.
    let mut facts = with_x(KIB);
    file(&mut facts, "y", K64);
    let plan = plan(&[on("x:y", ReadWrite::Read, 4096)], &facts);
    assert_eq!(regions(&plan, 0), [("y", 0, K64)]);
    assert!(says(&plan, "no I/O goes to x"));
    file(&mut facts, "x", 0);
    let jobs = [on("x:y", ReadWrite::Read, 4096)];
    let without = resolve_with(&jobs, &facts, &Policy::default()).expect("y is left");
    assert_eq!(regions(&without, 0), [("y", 0, K64)]);
}

#[test]
fn null_and_endless_targets() {
    let mut job = null("a", MIB);
    job.target.nrfiles = Some(4);
    let made = plan(&[job.clone()], &machine());
    assert_eq!(regions(&made, 0)[3], ("a.0.3", 0, 256 * KIB));
    assert_eq!((prepare(&made, 0), made.disks.len()), (Prepare::Nothing, 0));
    job.target.size = None;
    job.target.nrfiles = Some(1);
    one_problem(&[job.clone()], &machine(), Usage, "size", "no size is given");
    job.target.size = percent(50.0);
    one_problem(&[job], &machine(), Usage, "size", "has no size");

    let mut facts = machine();
    let zero = TargetFacts {
        kind: TargetKind::Char,
        readable: true,
        writable: true,
        ..TargetFacts::default()
    };
    facts.targets.insert("/dev/zero".into(), zero);
    let mut job = on("/dev/zero", ReadWrite::Write, K64);
    one_problem(&[job.clone()], &facts, Usage, "size", "no size is given");
    job.target.size = bytes(MIB);
    assert_eq!(region(&job, &facts), (0, MIB));
}

#[test]
fn how_files_are_prepared() {
    let prepared = |rw, change: fn(&mut Job)| {
        let mut job = on("x", rw, 4096);
        job.target.size = bytes(MIB);
        change(&mut job);
        prepare(&plan(&[job], &machine()), 0)
    };
    assert_eq!(prepared(ReadWrite::Read, |_| {}), Prepare::Fill { size: MIB });
    assert_eq!(prepared(ReadWrite::RandRw, |_| {}), Prepare::Fill { size: MIB });
    assert_eq!(prepared(ReadWrite::Write, |_| {}), Prepare::Extend { size: MIB });
    let overwrite: fn(&mut Job) = |j| j.layout.overwrite = true;
    assert_eq!(prepared(ReadWrite::RandWrite, overwrite), Prepare::Fill { size: MIB });
    let on_open: fn(&mut Job) = |j| j.layout.on_open = true;
    assert_eq!(prepared(ReadWrite::Write, on_open), Prepare::OnOpen { size: MIB });
}

#[test]
fn what_an_earlier_job_writes_is_not_laid_out() {
    let mut writer = on("x", ReadWrite::Write, K64);
    writer.target.size = bytes(MIB);
    let mut reader = on("x", ReadWrite::Read, K64);
    reader.identity.name = "b".into();
    reader.identity.stonewall = true;
    // Oracle: the reader needs no size of its own.
    let jobs = [writer.clone(), reader.clone()];
    let after = plan(&jobs, &machine());
    assert_eq!(regions(&after, 1), [("x", 0, MIB)]);
    assert_eq!(prepare(&after, 1), Prepare::Nothing);
    reader.target.size = bytes(2 * MIB);
    let larger = plan(&[writer.clone(), reader.clone()], &machine());
    assert_eq!(prepare(&larger, 1), Prepare::Fill { size: 2 * MIB });
    (reader.identity.stonewall, reader.target.size) = (false, None);
    let beside = plan(&[writer, reader], &machine());
    assert_eq!(prepare(&beside, 1), Prepare::Fill { size: MIB });
}

#[test]
fn appending_starts_at_the_end() {
    let mut job = on("x", ReadWrite::Write, K64);
    (job.target.size, job.target.file_append) = (bytes(MIB), true);
    job.target.offset = bytes(128 * KIB);
    let made = plan(&[job.clone()], &with_x(512 * KIB));
    assert_eq!(regions(&made, 0), [("x", 512 * KIB, MIB)]);
    assert_eq!(prepare(&made, 0), Prepare::Extend { size: MIB + 512 * KIB });
    assert_eq!(region(&job, &machine()), (0, MIB));
    // Oracle: once over the region, whatever loops and io_size say.
    (job.timing.loops, job.target.io_size) = (Some(2), bytes(800 * KIB));
    let once = plan(&[job.clone()], &machine());
    assert_eq!((once.workers[0].stop.loops, once.workers[0].stop.bytes), (1, None));
    assert!(says(&once, "file_append goes once"));
    job.target.io_size = bytes(240 * KIB);
    assert_eq!(plan(&[job.clone()], &machine()).workers[0].stop.bytes, Some(480 * KIB));
    job.target.size = None;
    one_problem(&[job], &with_x(512 * KIB), Refusal, "offset", "set --size");
}

#[test]
fn names_of_files_that_may_not_be_made_are_taken_whatever_the_files_hold() {
    let mut job = on("x", ReadWrite::Read, 4096);
    (job.queue.engine, job.target.size) = (job::Engine::Filestat, bytes(K64));
    job.layout.allow_create = false;
    one_problem(&[job.clone()], &machine(), Refusal, "allow_file_create", "x is not there");
    let found = plan(&[job], &with_x(32 * KIB));
    assert_eq!(prepare(&found, 0), Prepare::Nothing);
}

#[test]
fn files_that_may_not_be_made_or_grown() {
    let mut job = on("x", ReadWrite::Read, 4096);
    (job.target.size, job.layout.allow_create) = (bytes(K64), false);
    one_problem(&[job.clone()], &machine(), Refusal, "allow_file_create", "x is not there");
    one_problem(&[job.clone()], &with_x(32 * KIB), Refusal, "allow_file_create", "64 KiB are");
    assert_eq!(region(&job, &with_x(K64)), (0, K64));
    job.layout.allow_create = true;

    let readonly = Policy { readonly: true, ..Policy::default() };
    let refused = problems(&[job.clone()], &machine(), &readonly);
    assert_problem(&refused, Refusal, "filename", "--readonly");
    let there = resolve_with(&[job.clone()], &with_x(K64), &readonly).expect("it is there");
    assert_eq!(prepare(&there, 0), Prepare::Nothing);

    let mut facts = with_x(K64);
    let x = facts.targets.get_mut("x").expect("made above");
    x.writable = false;
    x.extents = Some(Extents { holes: Bytes(4096), unwritten: Bytes(4096), ..Extents::default() });
    let plan = plan(&[job.clone()], &facts);
    assert_eq!(prepare(&plan, 0), Prepare::Nothing);
    assert!(says(&plan, "8 KiB of x were never written"));
    job.target.size = bytes(MIB);
    one_problem(&[job], &facts, Refusal, "filename", "the file may not be written");
}

#[test]
fn filling_until_no_space_is_left() {
    let mut job = on("x", ReadWrite::Write, K64);
    job.target.fill_device = true;
    let made = plan(&[job.clone()], &machine());
    assert_eq!(regions(&made, 0), [("x", 0, i64::MAX as u64)]);
    assert_eq!(prepare(&made, 0), Prepare::Extend { size: 0 });
    assert!(made.workers[0].stop.fill_device && made.workers[0].stop.bytes.is_none());
    assert_eq!(made.workers[0].workload().io_size, None);
}

/// Others than sequential writes need to know where their files end.
#[test]
fn files_as_large_as_what_is_free() {
    let mut job = on("x", ReadWrite::RandWrite, K64);
    job.target.fill_device = true;
    let mut facts = machine();
    let free = 64 * MIB;
    for target in facts.targets.values_mut() {
        if let Some(filesystem) = &mut target.filesystem {
            filesystem.free = Bytes(free);
        }
    }
    let made = plan(&[job.clone()], &facts);
    assert_eq!(regions(&made, 0), [("x", 0, 63 * MIB)]);
    assert_eq!(made.workers[0].layout.fallocate, "truncate");
    job.identity.numjobs = Some(4);
    let made = plan(&[job.clone()], &facts);
    let each = (63 << 20) / 4 / 65536 * 65536;
    assert_eq!(regions(&made, 3), [("x", 0, each)]);
    job.target.size = bytes(MIB);
    assert_eq!(regions(&plan(&[job], &facts), 0), [("x", 0, MIB)]);
}

#[test]
fn bytes_of_a_loop() {
    let stop = |change: &dyn Fn(&mut Job)| {
        let mut job = null("a", 10000);
        change(&mut job);
        plan(&[job], &machine()).workers[0].stop.bytes
    };
    assert_eq!(stop(&|_| {}), None);
    assert_eq!(stop(&|j| j.target.io_size = bytes(100)), Some(100));
    assert_eq!(stop(&|j| j.target.io_size = percent(50.0)), Some(5000));
    let mut job = null("a", 10000);
    job.target.io_size = percent(22.0);
    one_problem(&[job], &machine(), Usage, "io_size", "22 per cent of 10000 bytes hold no block");
}

#[test]
fn more_than_the_filesystem_holds_is_remarked_on() {
    let mut facts = with_x(MIB);
    for target in facts.targets.values_mut() {
        if let Some(fs) = &mut target.filesystem {
            fs.free = Bytes(MIB);
        }
    }
    let mut job = on("x:y", ReadWrite::Read, 4096);
    job.target.size = bytes(4 * MIB);
    assert!(says(&plan(&[job.clone()], &facts), "need 3 MiB more on /, which has 1 MiB left"));
    let mut endless = facts.clone();
    for fs in endless.targets.values_mut().filter_map(|t| t.filesystem.as_mut()) {
        (fs.total, fs.free) = (Bytes(0), Bytes(0));
    }
    assert!(plan(&[job.clone()], &endless).messages.is_empty(), "ramfs has no size");
    job.target.size = bytes(2 * MIB);
    assert!(plan(&[job], &facts).messages.is_empty(), "x is there already");
}
