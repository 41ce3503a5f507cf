use crate::support::*;
use job::{
    BlockSizes, Distribution, FileType, Job, ReadWrite, SequentialOrder, Size, ZoneMode, ZoneShare,
};
use plan::{BlockPlan, Placing, ProblemKind::*, Strides};
use record::{Bytes, PerDirection};

fn strided(size: u64, skip: Option<Size>) -> Job {
    let mut job = on("d1/f", ReadWrite::Write, 4 * KIB);
    job.zones.mode = ZoneMode::Strided;
    job.zones.size = Bytes(size);
    job.zones.skip = skip;
    job
}

#[test]
fn strides_reach_to_the_end_and_size_only_says_how_much() {
    let mut facts = machine();
    file(&mut facts, "d1/f", MIB);
    let mut job = strided(8 * KIB, Some(Size::Zones(2)));
    job.target.size = Some(Size::Zones(4));
    job.target.offset = Some(Size::Zones(1));
    let plan = plan(&[job], &facts);
    let worker = &plan.workers[0];
    assert_eq!(regions(&plan, 0), [("d1/f", 8 * KIB, MIB - 8 * KIB)]);
    assert_eq!(worker.stop.bytes, Some(32 * KIB));
    let strides = Strides { moved: 8 * KIB, range: 8 * KIB, skip: 16 * KIB };
    assert_eq!(worker.placing.strides, Some(strides));
}

#[test]
fn zones_need_a_size_and_a_mode() {
    let mut job = strided(0, None);
    job.target.size = bytes(MIB);
    one_problem(&[job.clone()], &machine(), Usage, "zonesize", "without it");
    job.zones.mode = ZoneMode::None;
    job.zones.size = Bytes(4096);
    one_problem(&[job.clone()], &machine(), Usage, "zonesize", "without a zonemode");
    job.zones.mode = ZoneMode::Strided;
    job.zones.range = Bytes(2048);
    plan(&[job.clone()], &machine());
    job.pattern.rw = ReadWrite::RandWrite;
    one_problem(&[job], &machine(), Usage, "zonerange", "hold no block");
}

#[test]
fn direct_strides_keep_to_the_sectors() {
    let mut facts = machine();
    disk(&mut facts, "sdb", MIB);
    let mut job = strided(8 * KIB, Some(Size::Bytes(Bytes(1000))));
    job.target.filenames = vec!["/dev/sdb".into()];
    job.pattern.rw = ReadWrite::Read;
    job.queue.direct = true;
    let all = problems(&[job.clone()], &facts, &plan::Policy::default());
    assert!(all.iter().all(|problem| problem.option == "zoneskip"), "{all:?}");
    job.zones.skip = None;
    plan(&[job], &facts);
}

fn spread(distribution: Distribution) -> Job {
    let mut job = on("d1/f", ReadWrite::RandRead, 4 * KIB);
    job.target.size = bytes(64 * KIB);
    job.pattern.distribution = PerDirection::all(distribution);
    job
}

#[test]
fn zones_and_sequences_lie_within_the_region() {
    let zones = |size| {
        let zone = ZoneShare { access: 50, size: Size::Bytes(Bytes(size)) };
        spread(Distribution::Zoned(vec![zone; 2]))
    };
    plan(&[zones(32 * KIB)], &machine());
    let beyond = zones(32 * KIB + 1);
    one_problem(&[beyond], &machine(), Refusal, "random_distribution", "its zones make");
    plan(&[spread(Distribution::Sequence(vec![15, 0]))], &machine());
    let mut beyond = spread(Distribution::Sequence(vec![0, 16]));
    one_problem(&[beyond.clone()], &machine(), Refusal, "random_distribution", "block 16");
    beyond.pattern.sequence_stride = true;
    plan(&[beyond], &machine());
}

#[test]
fn what_is_not_random_is_not_spread() {
    let mut job = spread(Distribution::Zipf { theta: 1.2, center: None });
    job.pattern.percentage_random = PerDirection::all(40);
    let of = |job: &Job| plan(std::slice::from_ref(job), &machine()).workers[0].placing.clone();
    assert_eq!(of(&job).sequential_share, PerDirection { read: 60, write: 0, trim: 0 });
    job.pattern.rw = ReadWrite::Read;
    assert_eq!(of(&job), Placing::default());
}

#[test]
fn sizes_for_sequential_io_serve_its_share_of_random_jobs() {
    let mut job = spread(Distribution::Uniform);
    let size = |kib| Some(Bytes(kib * KIB));
    job.blocks = BlockSizes {
        size: PerDirection { read: size(4), write: size(16), trim: size(16) },
        is_seq_rand: true,
        ..BlockSizes::default()
    };
    job.pattern.percentage_random = PerDirection::all(50);
    let mixed = plan(&[job.clone()], &machine());
    let worker = &mixed.workers[0];
    assert_eq!(worker.pattern.blocks.read, BlockPlan::Fixed(16 * KIB));
    assert_eq!(worker.placing.sequential_blocks, Some(BlockPlan::Fixed(4 * KIB)));
    assert_eq!((worker.min_block(), worker.max_block()), (4 * KIB, 16 * KIB));
    job.pattern.percentage_random = PerDirection::all(100);
    assert_eq!(plan(&[job], &machine()).workers[0].placing.sequential_blocks, None);
}

#[test]
fn a_shift_register_needs_no_map_for_blocks_of_one_size() {
    let mut job = spread(Distribution::Uniform);
    job.pattern.norandommap = true;
    let repeats =
        |job: &Job| plan(std::slice::from_ref(job), &machine()).workers[0].pattern.norandommap;
    assert!(repeats(&job));
    job.pattern.generator = "lfsr".into();
    assert!(!repeats(&job));
    job.blocks.range.read = Some((Bytes(4096), Bytes(8192)));
    assert!(repeats(&job));
}

#[test]
fn targets_are_of_the_type_taken_for_granted() {
    let mut job = sized("a", MIB);
    job.target.file_type = FileType::File;
    plan(&[job.clone()], &machine());
    job.target.file_type = FileType::Block;
    one_problem(&[job], &machine(), Refusal, "filetype", "not of type block");
}

#[test]
fn a_working_set_is_shared_by_those_who_ask_for_it() {
    let mut sharing = sized("a", MIB);
    sharing.pattern.rw = ReadWrite::Write;
    sharing.buffers.dedupe_percentage = Some(50);
    sharing.buffers.dedupe_mode = job::DedupeMode::WorkingSet;
    let alone = Job { identity: sized("b", 1).identity, ..sharing.clone() };
    sharing.buffers.dedupe_global = true;
    sharing.identity.numjobs = Some(2);
    let plan = plan(&[sharing, alone], &machine());
    let with: Vec<Vec<u32>> =
        plan.workers.iter().map(|w| w.duplicates.iter().map(|d| d.0).collect()).collect();
    assert_eq!(with, [vec![1, 2], vec![1, 2], vec![]]);
}

#[test]
fn another_order_is_for_one_way_in_sequence_with_one_block_size() {
    let mut facts = machine();
    file(&mut facts, "d1/f", MIB);
    let mut job = on("d1/f", ReadWrite::Read, 64 * KIB);
    job.pattern.order = SequentialOrder::Descending;
    assert_eq!(plan(&[job.clone()], &facts).workers[0].pattern.order, job.pattern.order);
    let refused = |change: fn(&mut Job), words: &str| {
        let mut job = job.clone();
        change(&mut job);
        one_problem(&[job], &facts, Usage, "sequential_order", words);
    };
    refused(|job| job.pattern.rw = ReadWrite::RandRead, "one way and in sequence");
    refused(|job| job.pattern.rw = ReadWrite::Rw, "one way and in sequence");
    refused(|job| job.pattern.skip = Some(4096), "the order says all");
}
