use super::*;
use plan::{BlockPlan, File, FileOrder, Sequencer, SyncFileRange};
use proptest::prelude::*;

const K: u64 = 1024;

fn worker(rw: ReadWrite, block: u64, lengths: &[u64]) -> Worker {
    let mut worker = Worker::default();
    worker.pattern.rw = rw;
    worker.pattern.mix_read = 50;
    worker.pattern.run_length = 1;
    worker.pattern.blocks = PerDirection::all(BlockPlan::Fixed(block));
    worker.selection.ios = 1;
    worker.stop.loops = 1;
    worker.queue.depth = 1;
    worker.queue.direct = true;
    worker.files =
        lengths.iter().map(|&length| File { length, whole: length, ..File::default() }).collect();
    worker
}

/// Everything a worker is told to do, at most `most` steps; every I/O ends at once.
fn steps(worker: &Worker, most: usize) -> Vec<Next> {
    let mut workload = Workload::new(worker);
    let mut steps = Vec::new();
    while steps.len() < most {
        let next = workload.next();
        steps.push(next);
        match next {
            Next::Io(op) => workload.completed(&op, op.length),
            Next::End => break,
            _ => {}
        }
    }
    steps
}

fn ops(worker: &Worker, most: usize) -> Vec<Op> {
    let io = |next| if let Next::Io(op) = next { Some(op) } else { None };
    steps(worker, most).into_iter().filter_map(io).collect()
}

/// Steps as text: `W0+4` is a write of 4 KiB at 0; the file is told when there are several.
fn text(worker: &Worker, most: usize) -> String {
    let name = |file: u32| if worker.files.len() > 1 { format!("{file}:") } else { String::new() };
    let one = |next: &Next| match next {
        Next::Io(op) => {
            let kind = match op.kind {
                OpKind::Read => "R",
                OpKind::Write => "W",
                OpKind::Trim => "T",
                OpKind::Fsync => return format!("F{}", name(op.file)),
                OpKind::Fdatasync => return format!("D{}", name(op.file)),
                OpKind::ResetZone => "Z",
                OpKind::SyncFileRange(_) => "S",
                OpKind::Stat => "A",
            };
            format!("{kind}{}{}+{}", name(op.file), op.offset / K, op.length / K)
        }
        Next::Open(file) => format!("open{file}"),
        Next::Close(file) => format!("close{file}"),
        Next::Settle | Next::Busy | Next::Forget { .. } => {
            panic!("only other sources ask for this")
        }
        Next::Drain => "|".into(),
        Next::LoopEnd => "loop".into(),
        Next::End => "end".into(),
    };
    steps(worker, most).iter().map(one).collect::<Vec<_>>().join(" ")
}

fn total(ops: &[Op]) -> u64 {
    ops.iter().map(|op| op.length).sum()
}

/// Ranges sorted; panics where two overlap.
fn disjoint(ops: &[Op]) -> u64 {
    let mut ranges: Vec<_> = ops.iter().map(|o| (o.file, o.offset, o.offset + o.length)).collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "{pair:?}");
    }
    ranges.iter().map(|r| r.2 - r.1).sum()
}

// What fio 3.33 was seen to do, unless said otherwise.

#[test]
fn amounts_are_fios() {
    let count = |length: u64, bytes: Option<u64>, loops, ios| {
        let mut worker = worker(ReadWrite::Write, 4 * K, &[length]);
        (worker.stop.bytes, worker.stop.wraps) = (bytes, true);
        worker.stop.loops = loops;
        worker.stop.ios = ios;
        ops(&worker, 1000).len()
    };
    assert_eq!(count(18 * K, None, 1, None), 4);
    assert_eq!(count(32 * K, Some(80 * K), 1, None), 20);
    assert_eq!(count(32 * K, Some(10 * K), 1, None), 3);
    assert_eq!(count(8 * K, Some(10 * K), 1, None), 2);
    assert_eq!(count(32 * K, Some(36 * K), 1, None), 9);
    assert_eq!(count(18 * K, Some(40 * K), 1, None), 10);
    assert_eq!(count(18 * K, Some(18 * K), 2, None), 8);
    assert_eq!(count(32 * K, Some(16 * K), 3, None), 12);
    // fio 3.42: each loop of writes has all of io_size.
    assert_eq!(count(32 * K, Some(48 * K), 2, None), 24);
    assert_eq!(count(32 * K, Some(80 * K), 2, None), 40);
    assert_eq!(count(32 * K, Some(64 * K), 1, Some(12)), 12);
    assert_eq!(count(32 * K, None, 3, Some(9)), 9);
    assert_eq!(count(2 * K, None, 3, None), 0);
    assert_eq!(count(0, None, 3, None), 0);
}

#[test]
fn free_offsets_end_by_amount() {
    let mut worker = worker(ReadWrite::RandWrite, 4 * K, &[18 * K]);
    worker.pattern.norandommap = true;
    let ops = ops(&worker, 100);
    assert_eq!(ops.len(), 5);
    assert!(ops.iter().all(|op| op.offset <= 12 * K && op.offset % (4 * K) == 0));
}

#[test]
fn endless_regions_need_neither_memory_nor_luck() {
    let range = BlockPlan::Range { min: 512, max: 4096, step: 1 };
    for blocks in [BlockPlan::Fixed(1), BlockPlan::Fixed(4096), range] {
        for rw in [ReadWrite::Write, ReadWrite::RandWrite] {
            let mut worker = worker(rw, 1, &[u64::MAX, u64::MAX]);
            worker.pattern.blocks.write = blocks.clone();
            worker.stop.fill_device = true;
            assert_eq!(ops(&worker, 1000).len(), 1000);
        }
    }
}

#[test]
fn loops_drain_and_are_reported() {
    let mut worker = worker(ReadWrite::Read, 4 * K, &[8 * K]);
    worker.stop.loops = 2;
    assert_eq!(text(&worker, 99), "R0+4 R4+4 | loop R0+4 R4+4 end");
}

#[test]
fn skips_continue_until_the_amount_is_done() {
    let mut worker = worker(ReadWrite::Write, 4 * K, &[16 * K]);
    worker.pattern.skip = 4096;
    worker.files[0].start = 64 * K;
    assert_eq!(text(&worker, 99), "W64+4 W72+4 W64+4 W72+4 end");
}

#[test]
fn mixed_sequences_have_a_position_each() {
    let mut worker = worker(ReadWrite::Rw, 4 * K, &[64 * K]);
    worker.pattern.mix_read = 70;
    let ops = ops(&worker, 1000);
    assert_eq!(ops.len(), 16);
    for kind in [OpKind::Read, OpKind::Write] {
        let of_kind = ops.iter().filter(|op| op.kind == kind);
        assert!(of_kind.enumerate().all(|(index, op)| op.offset == index as u64 * 4 * K));
    }
}

#[test]
fn time_based_mixes_spare_the_slower_direction() {
    let mut worker = worker(ReadWrite::Rw, 4 * K, &[64 * K]);
    worker.pattern.mix_read = 90;
    worker.stop.time_based = true;
    let ops = ops(&worker, 1000);
    assert_eq!(ops.len(), 1000);
    let writes = ops.iter().filter(|op| op.kind == OpKind::Write);
    assert!(writes.enumerate().all(|(index, op)| op.offset == index as u64 % 16 * 4 * K));
}

#[test]
fn time_based_cached_work_reports_its_loops() {
    let mut worker = worker(ReadWrite::RandRead, 4 * K, &[8 * K]);
    worker.stop.time_based = true;
    assert!(!text(&worker, 50).contains("loop"));
    worker.queue.direct = false;
    worker.layout.invalidate = true;
    assert_eq!(text(&worker, 50).matches("| loop").count(), 12);
    worker.files[0].length = 1;
    assert_eq!(text(&worker, 50), "end");
}

#[test]
fn time_based_work_may_end_by_number() {
    let mut worker = worker(ReadWrite::RandRead, 4 * K, &[8 * K]);
    worker.stop.time_based = true;
    worker.stop.ios = Some(7);
    assert_eq!(ops(&worker, 50).len(), 7);
}

#[test]
fn files_take_turns() {
    let mut worker = worker(ReadWrite::Write, 4 * K, &[8 * K, 8 * K]);
    assert_eq!(text(&worker, 99), "W0:0+4 W1:0+4 W0:4+4 W1:4+4 end");
    worker.selection.order = FileOrder::Sequential;
    assert_eq!(text(&worker, 99), "W0:0+4 W0:4+4 W1:0+4 W1:4+4 end");
    worker.selection.open_files = 1;
    worker.stop.loops = 2;
    let once = "W0:0+4 W0:4+4 close0 open1 W1:0+4 W1:4+4 close1";
    // The last file is closed only to begin again: the end closes what is open anyway.
    let text = text(&worker, 99);
    assert!(text.starts_with("W0:0+4 W0:4+4 close0 open1 W1:0+4 W1:4+4"), "{text}");
    assert!(text.ends_with("open0 W0:0+4 W0:4+4 close0 open1 W1:0+4 W1:4+4 end"), "{text}");
    assert!(text.starts_with(once), "{text}");
}

#[test]
fn synchronisations_follow_their_writes_but_not_the_last() {
    let mut worker = worker(ReadWrite::Write, 4 * K, &[24 * K]);
    worker.syncing.fsync = 3;
    assert_eq!(text(&worker, 99), "W0+4 W4+4 W8+4 F W12+4 W16+4 W20+4 end");
    worker.syncing.fdatasync = 3;
    worker.syncing.fsync = 4;
    assert_eq!(text(&worker, 99), "W0+4 W4+4 W8+4 D W12+4 F W16+4 W20+4 end");
    worker.syncing.fdatasync = 0;
    let range = SyncFileRange { write: true, wait_after: true, writes: 3, ..Default::default() };
    worker.syncing.file_range = Some(range);
    assert_eq!(text(&worker, 99), "W0+4 W4+4 W8+4 S0+12 W12+4 F W16+4 W20+4 end");
    let kind = steps(&worker, 4).into_iter().last();
    assert!(matches!(kind, Some(Next::Io(Op { kind: OpKind::SyncFileRange(6), .. }))));
}

/// fio repeats an fsync before every read until the next write, and synchronises the file whose
/// turn it is; ours come once, for the file written last.
#[test]
fn synchronisations_come_once_in_a_mix_and_for_the_file_written() {
    let mut mix = worker(ReadWrite::Rw, 4 * K, &[400 * K]);
    mix.syncing.fsync = 3;
    let ops = ops(&mix, 1000);
    let writes = ops.iter().filter(|op| op.kind == OpKind::Write).count();
    let syncs = ops.iter().filter(|op| op.kind == OpKind::Fsync).count();
    assert!(syncs == writes / 3 || syncs == (writes - 1) / 3, "{syncs} {writes}");
    let mut files = worker(ReadWrite::Write, 4 * K, &[12 * K, 12 * K]);
    files.syncing.fsync = 3;
    let expected = "W0:0+4 W1:0+4 W0:4+4 F0: W1:4+4 W0:8+4 W1:8+4 end";
    assert_eq!(text(&files, 99), expected);
}

#[test]
fn barriers_stand_alone_in_the_queue() {
    let mut worker = worker(ReadWrite::Write, 4 * K, &[20 * K]);
    worker.syncing.write_barrier = 2;
    assert_eq!(text(&worker, 99), "W0+4 W4+4 W8+4 W12+4 W16+4 end");
    worker.queue.depth = 8;
    assert_eq!(text(&worker, 99), "W0+4 | W4+4 | W8+4 | W12+4 | W16+4 end");
}

#[test]
fn trims_are_followed_by_their_writes() {
    let mut worker = worker(ReadWrite::TrimWrite, 4 * K, &[12 * K]);
    assert_eq!(text(&worker, 99), "T0+4 W0+4 T4+4 W4+4 T8+4 W8+4 end");
    worker.stop.ios = Some(2);
    assert_eq!(text(&worker, 99), "T0+4 W0+4 T4+4 W4+4 end");
    worker.stop.ios = None;
    (worker.stop.bytes, worker.stop.wraps) = (Some(8 * K), true);
    assert_eq!(text(&worker, 99), "T0+4 W0+4 T4+4 W4+4 end");
    worker.stop.bytes = None;
    worker.pattern.blocks.trim = BlockPlan::Fixed(6 * K);
    assert_eq!(text(&worker, 99), "T0+6 W0+4 W4+2 T6+6 W6+4 W10+2 end");
}

#[test]
fn writes_wrap_within_a_loop_until_it_has_io_size() {
    let mut worker = worker(ReadWrite::Write, 4 * K, &[8 * K]);
    (worker.stop.bytes, worker.stop.wraps, worker.stop.loops) = (Some(20 * K), true, 2);
    let pass = "W0+4 W4+4 W0+4 W4+4 W0+4";
    assert_eq!(text(&worker, 99), format!("{pass} | loop {pass} end"));
    worker.pattern.blocks.write = BlockPlan::Range { min: 4 * K, max: 8 * K, step: 4 * K };
    assert_eq!(total(&ops(&worker, 99)) / K, 32, "no pass for less than the largest block");
    worker.pattern.rw = ReadWrite::Read;
    let mut workload = text(&worker, 99);
    workload.truncate(workload.find('|').unwrap());
    assert_eq!(workload, "R0+4 R4+4 ", "a loop of reads is a pass");
}

#[test]
fn a_loop_of_reads_with_gaps_has_the_bytes_of_its_region() {
    // Observed in fio 3.42: size=1000000, io_size=6m, loops=3, bs=4k.
    let mut worker = worker(ReadWrite::Read, 4 * K, &[1_000_000]);
    (worker.stop.bytes, worker.stop.wraps, worker.stop.loops) = (Some(6 << 20), true, 3);
    assert_eq!(total(&ops(&worker, 9999)), 6_995_968);
    worker.pattern.skip = 8 * K as i64;
    assert_eq!(total(&ops(&worker, 9999)), 7_024_640);
}

#[test]
fn without_a_map_a_write_is_as_long_as_its_trim() {
    for trim in [8, 2] {
        let mut worker = worker(ReadWrite::RandTrimWrite, 4 * K, &[64 * K]);
        worker.pattern.blocks.trim = BlockPlan::Fixed(trim * K);
        worker.pattern.norandommap = true;
        worker.stop.ios = Some(6);
        let ops = ops(&worker, 99);
        assert_eq!(ops.len(), 12);
        for pair in ops.chunks(2) {
            assert_eq!((pair[0].kind, pair[0].length), (OpKind::Trim, trim * K));
            assert_eq!(pair[1], Op { kind: OpKind::Write, ..pair[0] });
        }
    }
}

#[test]
fn tausworthe_asked_for_draws_32_bits_over_more_blocks_than_that() {
    let blocks = 1u64 << 34;
    let mut worker = worker(ReadWrite::RandRead, 4 * K, &[blocks * 4 * K]);
    worker.pattern.norandommap = true;
    let odd = |worker: &Worker| {
        let places = ops(worker, 1000).into_iter().map(|op| op.offset / (4 * K));
        places.filter(|block| block % 4 != 0).count()
    };
    assert!(odd(&worker) > 600);
    worker.pattern.short_draws = true;
    assert_eq!(odd(&worker), 0);
    assert!(ops(&worker, 1000).iter().any(|op| op.offset / (4 * K) > blocks / 2));
    worker.files[0].length = (1 << 32) * 4 * K;
    assert!(odd(&worker) > 600, "32 bits reach each of 2^32 blocks");
}

#[test]
fn writes_wait_for_their_trims() {
    let mut worker = worker(ReadWrite::TrimWrite, 4 * K, &[8 * K]);
    worker.queue.depth = 4;
    let mut workload = Workload::new(&worker);
    let Next::Io(first) = workload.next() else { panic!() };
    let Next::Io(second) = workload.next() else { panic!() };
    assert_eq!((first.kind, second.kind), (OpKind::Trim, OpKind::Trim));
    assert_eq!(workload.next(), Next::Drain);
    workload.completed(&second, second.length);
    // A trim that failed is not written.
    workload.completed(&first, 0);
    assert_eq!(workload.next(), Next::Io(Op { kind: OpKind::Write, ..second }));
    assert_eq!(workload.next(), Next::End);
}

#[test]
fn runs_follow_each_other_and_cover_the_region() {
    let mut worker = worker(ReadWrite::RandRead, 4 * K, &[40 * K]);
    worker.pattern.run_length = 4;
    let ops = ops(&worker, 99);
    assert_eq!(disjoint(&ops), 40 * K);
    let jumps = ops.windows(2).filter(|w| w[1].offset != w[0].offset + w[0].length).count();
    assert!(jumps <= 2, "{ops:?}");
    worker.pattern.sequencer = Sequencer::Identical;
    let same = super::tests::ops(&worker, 99);
    assert_eq!(same.len(), 10);
    assert!(same[..4].iter().all(|op| op.offset == same[0].offset));
    assert_ne!(same[3].offset, same[4].offset);
}

#[test]
fn runs_without_a_map_stay_inside() {
    let mut worker = worker(ReadWrite::RandRead, 4 * K, &[64 * K]);
    worker.pattern.run_length = 3;
    worker.pattern.norandommap = true;
    (worker.stop.bytes, worker.stop.wraps) = (Some(4000 * K), true);
    let ops = ops(&worker, 9999);
    assert_eq!(ops.len(), 1000);
    assert!(ops.iter().all(|op| op.offset + op.length <= 64 * K));
    let jumps = ops.windows(2).filter(|w| w[1].offset != w[0].offset + w[0].length).count();
    assert!((330..450).contains(&jumps), "{jumps}");
}

#[test]
fn alignment_frees_offsets() {
    let mut worker = worker(ReadWrite::RandWrite, 4 * K, &[32 * K]);
    worker.pattern.align.write = K;
    (worker.stop.bytes, worker.stop.wraps) = (Some(4000 * K), true);
    let ops = ops(&worker, 9999);
    assert!(ops.iter().all(|op| op.offset % K == 0 && op.offset + 4 * K <= 32 * K));
    let places: std::collections::HashSet<_> = ops.iter().map(|op| op.offset).collect();
    assert_eq!(places.len(), 29);
}

#[test]
fn mixes_keep_their_share() {
    for (rw, percent) in [(ReadWrite::RandRw, 70), (ReadWrite::Rw, 20), (ReadWrite::RandRw, 0)] {
        let mut worker = worker(rw, 4 * K, &[4 << 20]);
        worker.pattern.mix_read = percent;
        worker.stop.time_based = true;
        let ops = ops(&worker, 20_000);
        let reads = ops.iter().filter(|op| op.kind == OpKind::Read).count() as f64;
        assert!((reads / 200.0 - f64::from(percent)).abs() < 1.5, "{rw:?} {percent} {reads}");
    }
}

#[test]
fn passes_have_different_orders() {
    let mut worker = worker(ReadWrite::RandRead, 4 * K, &[400 * K]);
    worker.stop.loops = 2;
    let ops = ops(&worker, 999);
    assert_eq!(ops.len(), 200);
    assert_ne!(ops[..100], ops[100..]);
    assert_eq!(disjoint(&ops[..100]), 400 * K);
    assert_eq!(disjoint(&ops[100..]), 400 * K);
}

fn sizes() -> impl Strategy<Value = BlockPlan> {
    prop_oneof![
        (1u64..9).prop_map(|n| BlockPlan::Fixed(n * 512)),
        (1u64..9, 0u64..9).prop_map(|(n, more)| BlockPlan::Range {
            min: n * 512,
            max: (n + more) * 512,
            step: n * 512
        }),
        (1u64..3000, 0u64..3000).prop_map(|(min, more)| BlockPlan::Range {
            min,
            max: min + more,
            step: 1
        }),
        (1u64..9, 1u64..9, 1u32..100).prop_map(|(a, b, share)| BlockPlan::Split(vec![
            (a * 512, share),
            (b * 512, 100 - share)
        ])),
    ]
}

fn random_modes() -> impl Strategy<Value = ReadWrite> {
    prop::sample::select(vec![
        ReadWrite::RandRead,
        ReadWrite::RandWrite,
        ReadWrite::RandTrim,
        ReadWrite::RandRw,
        ReadWrite::RandTrimWrite,
    ])
}

fn any_mode() -> impl Strategy<Value = ReadWrite> {
    prop_oneof![
        random_modes(),
        prop::sample::select(vec![
            ReadWrite::Read,
            ReadWrite::Write,
            ReadWrite::Trim,
            ReadWrite::Rw,
            ReadWrite::TrimWrite,
        ])
    ]
}

prop_compose! {
    fn any_worker()(
        rw in any_mode(), read in sizes(), write in sizes(), trim in sizes(),
        lengths in prop::collection::vec(0u64..60_000, 1..4), start in 0u64..100_000,
        seed: u64, mix in 0u8..=100, run_length in 1u64..5, identical: bool, norandommap: bool,
        skip in prop_oneof![Just(0i64), -20_000i64..20_000], order in 0usize..3, ios in 1u64..4,
        open_files in 0u64..3, loops in 1u64..3, bytes in prop::option::of(0u64..100_000),
        depth in 1u32..4, fsync in 0u64..4,
    ) -> Worker {
        let mut worker = worker(rw, 1, &lengths);
        worker.files.iter_mut().for_each(|file| file.start = start);
        worker.pattern.blocks = PerDirection { read, write, trim };
        worker.pattern.seed = seed;
        worker.pattern.mix_read = mix;
        worker.pattern.run_length = run_length;
        worker.pattern.sequencer =
            if identical { Sequencer::Identical } else { Sequencer::Sequential };
        worker.pattern.norandommap = norandommap;
        worker.pattern.skip = skip;
        worker.selection.order =
            [FileOrder::RoundRobin, FileOrder::Sequential, FileOrder::Random][order].clone();
        worker.selection.ios = ios;
        worker.selection.open_files = open_files;
        worker.stop.loops = loops;
        (worker.stop.bytes, worker.stop.wraps) = (bytes, true);
        worker.queue.depth = depth;
        worker.syncing.fsync = fsync;
        worker.syncing.write_barrier = fsync;
        worker
    }
}

proptest! {
    /// Every byte (but for a rest shorter than any unit of the sizes) once a pass, in all directions
    /// together; a trim's write covers what was trimmed.
    #[test]
    fn random_maps_cover_every_byte_once(
        rw in random_modes(), read in sizes(), write in sizes(), trim in sizes(), same: bool,
        lengths in prop::collection::vec(0u64..60_000, 1..4), seed: u64, mix in 0u8..=100,
        run_length in 1u64..5,
    ) {
        let mut worker = worker(rw, 1, &lengths);
        worker.pattern.blocks = if same {
            PerDirection::all(read)
        } else {
            PerDirection { read, write, trim }
        };
        worker.pattern.seed = seed;
        worker.pattern.mix_read = mix;
        worker.pattern.run_length = run_length;
        // Sizes differ from direction to direction: alignment follows the smallest.
        worker.pattern.align = worker.pattern.blocks.map(|_, plan| plan.min());
        let ops = ops(&worker, usize::MAX);
        let pairs = rw.trims() && rw.writes();
        let placed: Vec<Op> =
            ops.iter().filter(|op| !pairs || op.kind == OpKind::Trim).copied().collect();
        let covered = disjoint(&placed);
        let (_, used) = directions(&worker);
        let unit = used
            .iter()
            .map(|d| Blocks::new(&worker.pattern.blocks[*d]).unit)
            .fold(0, crate::offsets::gcd);
        let whole: u64 = lengths.iter().map(|length| length / unit * unit).sum();
        prop_assert_eq!(covered, whole);
        for op in &ops {
            let largest = worker.pattern.blocks[op.kind.direction().unwrap()].max();
            prop_assert!(op.length > 0 && op.length <= largest);
        }
        if pairs {
            let writes: Vec<Op> =
                ops.iter().filter(|op| op.kind == OpKind::Write).copied().collect();
            prop_assert_eq!(disjoint(&writes), whole);
        }
    }

    #[test]
    fn equal_plans_give_equal_work(worker in any_worker()) {
        prop_assert_eq!(steps(&worker, 2000), steps(&worker, 2000));
    }

    /// Whatever is asked for stays inside the regions, ends, and does not do more than asked.
    #[test]
    fn work_stays_inside_and_ends(worker in any_worker()) {
        let region = worker.region();
        let amount = worker.stop.bytes.unwrap_or(region);
        let done = steps(&worker, 2_000_000);
        prop_assert_eq!(done.last(), Some(&Next::End));
        let ops = ops(&worker, usize::MAX);
        let pairs = worker.pattern.rw.trims() && worker.pattern.rw.writes();
        let counted: Vec<Op> = ops
            .iter()
            .filter(|op| op.kind != OpKind::Fsync && !(pairs && op.kind == OpKind::Write))
            .copied()
            .collect();
        let most = amount * worker.stop.loops + worker.max_block();
        prop_assert!(total(&counted) <= most);
        for op in &ops {
            let file = &worker.files[op.file as usize];
            prop_assert!(op.kind == OpKind::Fsync || op.offset >= file.start);
            prop_assert!(op.offset + op.length <= file.start + file.length);
        }
    }

    /// Never I/O on a file that is not open, never more open than allowed.
    #[test]
    fn files_are_open_when_used(mut worker in any_worker(), lengths in prop::collection::vec(0u64..30_000, 1..8)) {
        worker.files = lengths.iter().map(|&length| File { length, whole: length, ..File::default() }).collect();
        let limit = match worker.selection.open_files as usize {
            0 => lengths.len(),
            limit => limit.min(lengths.len()),
        };
        let mut open: std::collections::BTreeSet<u32> = (0..limit as u32).collect();
        for step in steps(&worker, 20_000) {
            match step {
                Next::Io(op) => prop_assert!(open.contains(&op.file)),
                Next::Open(file) => prop_assert!(open.insert(file)),
                Next::Close(file) => prop_assert!(open.remove(&file)),
                // All files are closed and, without a limit, opened again.
                Next::LoopEnd if limit < lengths.len() => open.clear(),
                _ => {}
            }
            prop_assert!(open.len() <= limit);
        }
    }
}
