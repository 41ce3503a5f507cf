use crate::support::*;
use job::{CpuSplit, Engine, Job, NumaMemory, ReadWrite, SplitEntry};
use plan::{BlockPlan, Plan, ProblemKind::*, RateLimit};
use record::{Bytes, PerDirection, Severity};

/// A block size with its share, and as it comes out.
type Given = (u64, Option<u32>);
type Shared = (u64, u32);

fn split(entries: &[Given]) -> Job {
    let mut job = null("a", MIB);
    let list = entries.iter().map(|(s, p)| SplitEntry { size: Bytes(*s), percent: *p }).collect();
    job.blocks.split.read = list;
    job
}

fn read_blocks(job: &Job) -> BlockPlan {
    plan(std::slice::from_ref(job), &machine()).workers[0].pattern.blocks.read.clone()
}

#[test]
fn shares_are_completed_to_100() {
    // Oracle, by counting I/Os: 80/20, 52/16/16/16, 10/90, all to 4k.
    let cases: [(&[Given], &[Shared]); 5] = [
        (&[(4, Some(60)), (64, Some(20))], &[(4, 80), (64, 20)]),
        (&[(4, Some(50)), (1, None), (32, None)], &[(4, 50), (1, 25), (32, 25)]),
        (
            &[(4, Some(50)), (1, None), (32, None), (16, None)],
            &[(4, 52), (1, 16), (32, 16), (16, 16)],
        ),
        (&[(4, Some(10)), (8, Some(10))], &[(4, 10), (8, 90)]),
        (&[(4, None), (8, None), (16, None)], &[(4, 33), (8, 33), (16, 34)]),
    ];
    for (given, expected) in cases {
        assert_eq!(read_blocks(&split(given)), BlockPlan::Split(expected.to_vec()));
    }
    assert_eq!(read_blocks(&split(&[(4, Some(100)), (64, None)])), BlockPlan::Fixed(4));
    let above = split(&[(4, Some(60)), (64, Some(50))]);
    one_problem(&[above], &machine(), Usage, "bssplit", "110 per cent");
}

#[test]
fn ranges() {
    // Oracle: 64k-4k is 4k-64k; sizes are multiples of the smallest unless unaligned.
    let mut job = null("a", MIB);
    job.blocks.range.read = Some((Bytes(65536), Bytes(4096)));
    let range = |step| BlockPlan::Range { min: 4096, max: 65536, step };
    assert_eq!(read_blocks(&job), range(4096));
    job.blocks.unaligned = true;
    assert_eq!(read_blocks(&job), range(1));
    job.blocks.range.read = Some((Bytes(4096), Bytes(4096)));
    assert_eq!(read_blocks(&job), BlockPlan::Fixed(4096));
    job.blocks.range.read = Some((Bytes(0), Bytes(4096)));
    one_problem(&[job], &machine(), Usage, "bs", "a block of 0 bytes");
}

#[test]
fn sizes_by_order_instead_of_direction() {
    let mut job = null("a", MIB);
    job.blocks.is_seq_rand = true;
    job.blocks.size =
        PerDirection { read: Some(Bytes(4096)), write: Some(Bytes(8192)), trim: None };
    job.pattern.rw = ReadWrite::Write;
    let blocks = |job: &Job| {
        plan(std::slice::from_ref(job), &machine()).workers[0].pattern.blocks.write.clone()
    };
    assert_eq!(blocks(&job), BlockPlan::Fixed(4096));
    job.pattern.rw = ReadWrite::RandWrite;
    assert_eq!(blocks(&job), BlockPlan::Fixed(8192));
}

#[test]
fn another_alignment_turns_the_map_off() {
    // Oracle: "Any use of blockalign= turns off randommap", for random I/O only.
    let mut job = null("a", MIB);
    job.blocks.align.read = Some(Bytes(65536));
    let sequential = plan(&[job.clone()], &machine());
    assert!(!sequential.workers[0].pattern.norandommap && sequential.messages.is_empty());
    job.pattern.rw = ReadWrite::RandRead;
    let random = plan(&[job], &machine());
    assert!(random.workers[0].pattern.norandommap && says(&random, "random map off"));
    assert_eq!(random.workers[0].pattern.align.read, 65536);
    assert_eq!(random.workers[0].pattern.align.write, 4096);
}

fn queue(engine: Engine, change: impl Fn(&mut job::Queue)) -> (plan::Queue, Plan) {
    let mut job = sized("a", MIB);
    job.queue.engine = engine;
    job.queue.iodepth = Some(8);
    change(&mut job.queue);
    let plan = plan(&[job], &machine());
    (plan.workers[0].queue.clone(), plan)
}

#[test]
fn synchronous_engines_have_a_depth_of_one() {
    let (queue, plan) = queue(Engine::Psync, |q| q.low = Some(4));
    assert_eq!((queue.depth, queue.depth_requested, queue.low), (1, 8, 1));
    assert_eq!(plan.messages.len(), 1);
    assert_eq!(plan.messages[0].severity, Severity::Note);
    assert!(says(&plan, "iodepth=8 acts as 1"));
    assert_eq!(plan.workers[0].workload().iodepth, 8);
}

#[test]
fn buffered_libaio_is_remarked_on() {
    let (queued, plan) = queue(Engine::Libaio, |_| {});
    assert_eq!(queued.depth, 8);
    assert!(says(&plan, "without direct=1") && plan.messages[0].severity == Severity::Warning);
    assert!(queue(Engine::Libaio, |q| q.direct = true).1.messages.is_empty());
}

#[test]
fn batches_are_cut_to_the_depth() {
    let batches = |change: fn(&mut job::Queue)| {
        let (q, _) = queue(Engine::IoUring, change);
        (q.batch_submit, q.complete_min, q.complete_max, q.low)
    };
    assert_eq!(batches(|_| {}), (None, 1, None, 8));
    assert_eq!(batches(|q| q.batch_submit = Some(0)), (Some(8), 1, None, 8));
    assert_eq!(batches(|q| q.batch_submit = Some(16)), (Some(8), 1, None, 8));
    assert_eq!(batches(|q| q.batch_complete_min = Some(4)), (None, 4, Some(4), 8));
    assert_eq!(batches(|q| q.batch_complete_min = Some(0)), (None, 0, Some(1), 8));
    let both = |q: &mut job::Queue| {
        (q.batch_complete_min, q.batch_complete_max) = (Some(16), Some(4));
    };
    assert_eq!(batches(both), (None, 8, Some(8), 8));
    assert_eq!(batches(|q| q.batch_complete_max = Some(4)), (None, 1, Some(4), 8));
    assert_eq!(batches(|q| q.low = Some(2)), (None, 1, None, 2));
    assert_eq!(batches(|q| q.low = Some(99)), (None, 1, None, 8));
}

#[test]
fn depths_out_of_reach() {
    let mut job = sized("a", MIB);
    job.queue.engine = Engine::IoUring;
    job.queue.iodepth = Some(32769);
    one_problem(&[job.clone()], &machine(), Usage, "iodepth", "give 1 to 32768");
    job.queue.iodepth = Some(0);
    one_problem(&[job.clone()], &machine(), Usage, "iodepth", "a depth of 0");
    (job.queue.iodepth, job.queue.engine) = (Some(u64::MAX), Engine::Null);
    one_problem(&[job.clone()], &machine(), Usage, "iodepth", "a depth of 18446744073709551615");
    job.queue.iodepth = Some(1 << 20);
    one_problem(&[job], &machine(), Refusal, "iodepth", "buffers of 4 GiB at once");
}

#[test]
fn rates() {
    let mut job = null("a", MIB);
    job.rate.bandwidth.read = Some(Bytes(MIB));
    job.rate.iops_min.read = Some(20);
    let pacing = plan(&[job.clone()], &machine()).workers[0].pacing.clone();
    assert_eq!(pacing.limit.read, Some(RateLimit::Bytes(MIB)));
    assert_eq!((pacing.limit.write, pacing.min_iops.read), (None, Some(20)));
    assert_eq!(pacing.cycle, record::Nanos::SECOND);

    // Oracle: with blocks of several sizes, an IOPS limit is the bandwidth of so many of the smallest.
    let mut ranged = split(&[(4096, Some(50)), (65_536, Some(50))]);
    ranged.rate.iops.read = Some(100);
    let planned = plan(&[ranged], &machine());
    assert_eq!(planned.workers[0].pacing.limit.read, Some(RateLimit::Bytes(409_600)));
    let says =
        planned.messages.iter().any(|m| m.text.contains("rate_iops=100 limits reads to 400"));
    assert!(says, "{:?}", planned.messages);

    // Oracle: exclusive even in different directions; so are the minima.
    job.rate.iops.write = Some(100);
    one_problem(&[job.clone()], &machine(), Usage, "rate_iops", "both given");
    job.rate.iops.write = None;
    job.rate.bandwidth_min.read = Some(Bytes(10));
    one_problem(&[job.clone()], &machine(), Usage, "rate_iops_min", "both given");
    job.rate.iops_min.read = None;
    job.rate.bandwidth_min.read = Some(Bytes(2 * MIB));
    let says = "2097152 for reads is above rate=1048576";
    one_problem(&[job.clone()], &machine(), Usage, "rate_min", says);
    // Ways the job does not go have nothing to keep.
    job.rate.bandwidth.write = Some(Bytes(MIB));
    job.rate.bandwidth_min.write = Some(Bytes(2 * MIB));
    one_problem(&[job.clone()], &machine(), Usage, "rate_min", says);
    // Oracle: a minimum alone is fine.
    job.rate.bandwidth.read = None;
    let pacing = plan(&[job], &machine()).workers[0].pacing.clone();
    assert_eq!((pacing.min_bytes.read, pacing.min_bytes.write), (Some(2 * MIB), None));
}

#[test]
fn cpus() {
    let mut job = null("a", MIB);
    job.process.cpus_allowed = vec![0, 1];
    job.process.cpus_policy = CpuSplit::Split;
    job.identity.numjobs = Some(3);
    // Oracle: dealt out by the worker's number over the whole run.
    let plan = plan(&[null("first", MIB), job.clone()], &machine());
    let cpus: Vec<_> = plan.workers.iter().map(|w| w.placement.cpus.clone()).collect();
    assert_eq!(cpus, [vec![], vec![1], vec![0], vec![1]]);

    job.process.cpus_allowed = vec![0, 9];
    let problems = problems(&[job], &machine(), &plan::Policy::default());
    assert_problem(
        &problems,
        Usage,
        "cpus_allowed",
        "CPU 9 is not available to this process; choose among 0-1",
    );
}

#[test]
fn numa_nodes() {
    let mut job = null("a", MIB);
    job.process.numa_cpu_nodes = vec![1];
    job.process.numa_memory = Some(NumaMemory::Bind(vec![1]));
    let placement = plan(&[job.clone()], &machine()).workers[0].placement.clone();
    assert_eq!((placement.cpus, placement.memory), (vec![1], Some(NumaMemory::Bind(vec![1]))));
    job.process.cpus_allowed = vec![0];
    one_problem(&[job.clone()], &machine(), Usage, "numa_cpu_nodes", "no CPU of these nodes");
    job.process.cpus_allowed = vec![];
    job.process.numa_cpu_nodes = vec![3];
    one_problem(&[job.clone()], &machine(), Usage, "numa_cpu_nodes", "no NUMA node 3");
    job.process.numa_cpu_nodes = vec![];
    job.process.numa_memory = Some(NumaMemory::Prefer(5));
    one_problem(&[job], &machine(), Usage, "numa_mem_policy", "choose among 0-1");
}

#[test]
fn a_priority_without_a_class_is_best_effort() {
    // Oracle: ioprio_set(…, IOPRIO_CLASS_BE, 3).
    let mut job = null("a", MIB);
    assert_eq!(plan(&[job.clone()], &machine()).workers[0].placement.io_priority, None);
    job.process.prio = Some(3);
    let placement = plan(&[job], &machine()).workers[0].placement.clone();
    assert_eq!(placement.io_priority, Some((2, 3, 0)));
}

#[test]
fn the_workload_for_the_record() {
    let mut job = null("a", MIB);
    job.pattern.rw = ReadWrite::RandRw;
    job.timing.loops = Some(2);
    job.rate.iops.read = Some(10);
    job.blocks.split.write = vec![
        SplitEntry { size: Bytes(4096), percent: Some(60) },
        SplitEntry { size: Bytes(8192), percent: None },
    ];
    let workload = plan(&[job], &machine()).workers[0].workload();
    assert_eq!((workload.rw.as_str(), workload.ioengine.as_str()), ("randrw", "null"));
    assert_eq!((workload.region, workload.io_size), (Bytes(MIB), Some(Bytes(2 * MIB))));
    assert_eq!(workload.block_size.write, (Bytes(4096), Bytes(8192)));
    assert_eq!((workload.rate_iops.read, workload.rate.read), (Some(10), None));
    assert_eq!(workload.files, ["a.0.0"]);
    assert_eq!(workload.settings["rwmixread"], "50");
    assert_eq!(workload.settings["bssplit_write"], "4096/60:8192/40");
    assert_eq!(workload.settings["loops"], "2");
}
