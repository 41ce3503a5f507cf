//! Numbered objects of a store.

use crate::support::*;
use job::{Engine, Job, ObjectMix, ObjectWork, ReadWrite, StoreKind};
use plan::RateLimit;

/// Work on 10 objects of 4 KiB.
fn objects(work: ObjectWork, rw: ReadWrite) -> Job {
    let mut job = on("/bucket/prefix", rw, 4096);
    job.queue.engine = Engine::Http;
    job.queue.options.http.kind = StoreKind::S3;
    job.queue.options.numbered.work = Some(work);
    job.queue.options.numbered.count = 10;
    job
}

#[test]
fn clones_share_the_objects_out_and_name_them_apart() {
    let mut job = objects(ObjectWork::Get, ReadWrite::RandRead);
    job.identity.numjobs = Some(3);
    let plan = plan(&[job], &machine());
    let sets: Vec<_> = plan.workers.iter().filter_map(|w| w.numbered.as_ref()).collect();
    let mut shared: Vec<_> = sets.iter().map(|set| (set.below.as_str(), set.count)).collect();
    shared.sort_unstable();
    let apart = [("/bucket/prefix/0/", 4), ("/bucket/prefix/1/", 3), ("/bucket/prefix/2/", 3)];
    assert_eq!(shared, apart);
    assert!(plan.workers.iter().all(|w| w.max_buffer() == 0 && w.files.len() == 1));
}

#[test]
fn sizes_are_the_same_in_every_plan_of_one_seed() {
    let sizes = |seed, work, rw| {
        let mut job = objects(work, rw);
        job.pattern.randseed = Some(seed);
        let range = (record::Bytes(4096), record::Bytes(1 << 20));
        job.blocks.range = record::PerDirection::all(Some(range));
        let plan = plan(&[job], &machine());
        let set = plan.workers[0].numbered.clone().unwrap();
        (0..50).map(|number| set.size(number)).collect::<Vec<_>>()
    };
    let put = sizes(7, ObjectWork::Put, ReadWrite::RandWrite);
    assert_eq!(put, sizes(7, ObjectWork::Get, ReadWrite::RandRead));
    assert_ne!(put, sizes(8, ObjectWork::Put, ReadWrite::RandWrite));
}

#[test]
fn objects_that_are_looked_at_have_memory() {
    let mut job = objects(ObjectWork::Get, ReadWrite::RandRead);
    assert_eq!(plan(&[job.clone()], &machine()).workers[0].max_buffer(), 0);
    job.buffers.read_use = job::ReadUse::Touch(64);
    let worker = plan(&[job], &machine()).workers.remove(0);
    assert_eq!(worker.max_buffer(), worker.pattern.blocks.read.max());
    assert_eq!(worker.workload().settings["touch_read"], "64");
}

#[test]
fn the_rate_of_a_mix_is_of_all_its_kinds() {
    let mut job = objects(ObjectWork::Mixed, ReadWrite::RandRw);
    job.rate.iops = record::PerDirection::all(Some(500));
    let worker = plan(&[job], &machine()).workers.remove(0);
    assert_eq!(worker.numbered.as_ref().unwrap().rate, Some(500));
    assert!(worker.is_scheduled() && worker.pacing.limit.iter().all(|(_, l)| l.is_none()));
    let mut job = objects(ObjectWork::Get, ReadWrite::RandRead);
    job.rate.iops = record::PerDirection::all(Some(500));
    let worker = plan(&[job], &machine()).workers.remove(0);
    assert_eq!(worker.pacing.limit.read, Some(RateLimit::Iops(500)));
}

#[test]
fn what_cannot_be_done_with_numbered_objects_is_named() {
    let wrong = |change: fn(&mut Job), option: &str| {
        let mut job = objects(ObjectWork::Mixed, ReadWrite::RandRw);
        change(&mut job);
        let found = problems(&[job], &machine(), &plan::Policy::default());
        assert!(found.iter().any(|p| p.option == option), "{option}: {found:?}");
    };
    wrong(|job| job.queue.options.numbered.count = 0, "object_count");
    wrong(|job| job.queue.options.numbered.count = 1 << 33, "object_count");
    wrong(|job| job.target.filenames = vec!["/bucket".into()], "filename");
    wrong(|job| job.target.filenames.push("/bucket/other".into()), "filename");
    wrong(|job| job.pattern.rw = ReadWrite::Write, "rw");
    wrong(|job| job.blocks.size.read = Some(record::Bytes(512)), "bs");
    wrong(
        |job| {
            let mix = ObjectMix { get: 1, stat: 0, put: 1, delete: 2 };
            job.queue.options.numbered.mix = mix;
        },
        "object_mix",
    );
    wrong(|job| job.rate.bandwidth.write = Some(record::Bytes(1)), "rate");
    wrong(|job| job.verify.method = Some(job::VerifyMethod::Crc32c), "verify");
    wrong(
        |job| {
            job.queue.iodepth = Some(1000);
            (job.queue.options.numbered.part_size, job.queue.options.numbered.part_concurrent) =
                (1024, 100);
        },
        "object_part_concurrent",
    );
    let mut endless = objects(ObjectWork::Put, ReadWrite::RandWrite);
    endless.queue.options.numbered.count = 0;
    let found = problems(&[endless], &machine(), &plan::Policy::default());
    assert_eq!(found[0].option, "object_count");
}
