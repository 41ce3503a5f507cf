//! What holds for every job.

use crate::support::*;
use job::{FileSizeRange, Job, ReadWrite, Size};
use plan::{Plan, Policy, Prepare};
use proptest::option::of;
use proptest::prelude::*;
use record::{Bytes, TargetKind};
use std::collections::HashMap;

const DEVICE: u64 = 4 * MIB;

fn any_size() -> impl Strategy<Value = Size> {
    prop_oneof![
        4 => (0..8 * MIB).prop_map(|b| Size::Bytes(Bytes(b))),
        2 => (1.0..100.0f64).prop_map(Size::Percent),
        1 => any::<u64>().prop_map(|b| Size::Bytes(Bytes(b))),
    ]
}

fn any_job() -> impl Strategy<Value = Job> {
    let rw = prop_oneof![
        Just(ReadWrite::Read),
        Just(ReadWrite::Write),
        Just(ReadWrite::RandRw),
        Just(ReadWrite::RandWrite),
        Just(ReadWrite::Rw),
    ];
    let paths = prop_oneof![Just("x"), Just("new"), Just("/dev/sdb"), Just("x:new:/dev/sdb")];
    let sizes = (of(any_size()), of(any_size()), of(any_size()), of(any_size()));
    let shape = (1..200_000u64, 1..5u64, any::<bool>(), of((0..MIB, 0..2 * MIB)));
    (rw, paths, sizes, shape).prop_map(|(rw, paths, sizes, shape)| {
        let mut job = on(paths, rw, shape.0);
        let target = &mut job.target;
        (target.size, target.offset, target.offset_increment, target.io_size) = sizes;
        target.file_append = shape.2;
        target.filesize = shape.3.map(|(a, b)| FileSizeRange {
            low: Size::Bytes(Bytes(a)),
            high: Size::Bytes(Bytes(b)),
        });
        job.identity.numjobs = Some(shape.1);
        job
    })
}

fn facts() -> record::Facts {
    let mut facts = machine();
    file(&mut facts, "x", MIB + 12345);
    disk(&mut facts, "sdb", DEVICE);
    facts
}

fn check_regions(plan: &Plan) -> Result<(), TestCaseError> {
    // The last block may reach into what was there before, or what an earlier worker lays out.
    let mut sizes = HashMap::from([("x", MIB + 12345)]);
    for worker in &plan.workers {
        prop_assert!(!worker.files.is_empty());
        for file in &worker.files {
            let end = file.start.checked_add(file.length).expect("no overflow");
            prop_assert!(file.length >= worker.min_block());
            prop_assert!(end <= i64::MAX as u64);
            match (file.kind, file.prepare) {
                (TargetKind::Block, prepare) => {
                    prop_assert!(end <= DEVICE);
                    prop_assert_eq!(prepare, Prepare::Nothing);
                }
                (_, Prepare::Fill { size } | Prepare::Extend { size }) => {
                    let there = sizes.entry(&file.path).or_default();
                    *there = size.max(*there);
                    prop_assert!(end <= *there, "{} of {} needs {end}", there, file.path);
                }
                (_, other) => prop_assert!(false, "{other:?}"),
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn regions_lie_inside_what_is_prepared(job in any_job()) {
        if let Ok(plan) = resolve_with(&[job], &facts(), &Policy::default()) {
            check_regions(&plan)?;
        }
    }

    #[test]
    fn plans_repeat(job in any_job()) {
        let jobs = [job];
        let resolve = || resolve_with(&jobs, &facts(), &Policy::default());
        prop_assert_eq!(resolve(), resolve());
    }

    #[test]
    fn increments_of_the_size_keep_clones_apart(
        blocks in 1..256u64, clones in 1..20u64, offset in 0..MIB,
    ) {
        let size = blocks * 4096;
        let mut job = on("new", ReadWrite::Write, 4096);
        (job.target.size, job.target.offset) = (bytes(size), bytes(offset));
        job.target.offset_increment = bytes(size);
        job.identity.numjobs = Some(clones);
        let plan = plan(&[job], &facts());
        for worker in &plan.workers {
            let (file, clone) = (&worker.files[0], u64::from(worker.clone));
            prop_assert_eq!((file.start, file.length), (offset + clone * size, size));
        }
        prop_assert!(plan.messages.is_empty());
    }

    #[test]
    fn shares_of_the_files_add_up(size in MIB..64 * MIB, files in 1..64u64) {
        let mut job = sized("a", size);
        job.target.nrfiles = Some(files);
        let worker = &plan(&[job], &facts()).workers[0];
        prop_assert!(worker.region() <= size && worker.region() > size - files);
        prop_assert_eq!(worker.files.len() as u64, files);
    }

    #[test]
    fn block_shares_make_100(shares in prop::collection::vec(of(0..40u32), 1..6)) {
        let mut job = null("a", MIB);
        let entry = |(at, percent): (usize, &Option<u32>)| job::SplitEntry {
            size: Bytes(512 << at),
            percent: *percent,
        };
        job.blocks.split.read = shares.iter().enumerate().map(entry).collect();
        let total: u32 = shares.iter().flatten().sum();
        match resolve_with(&[job], &facts(), &Policy::default()) {
            Ok(plan) => match &plan.workers[0].pattern.blocks.read {
                plan::BlockPlan::Split(list) => {
                    prop_assert_eq!(list.iter().map(|e| e.1).sum::<u32>(), 100);
                }
                plan::BlockPlan::Fixed(size) => prop_assert!(*size >= 512),
                other => prop_assert!(false, "{other:?}"),
            },
            Err(_) => prop_assert!(total > 100),
        }
    }
}
