use crate::support::*;
use job::{
    Engine, Job, NvmeVerifyMode, NvmeWriteMode, RdmaVerb, ReadWrite, VerifyMethod, ZoneMode,
};
use plan::ProblemKind::*;

fn rdma(host: Option<&str>, rw: ReadWrite) -> Job {
    let mut job = sized("a", MIB);
    job.queue.engine = Engine::Rdma;
    job.queue.options.net.hostname = host.map(Into::into);
    job.queue.options.net.port = Some(1);
    job.pattern.rw = rw;
    job
}

#[test]
fn the_side_of_rdma_with_a_host_connects() {
    let mut job = rdma(Some("host"), ReadWrite::Read);
    job.queue.options.net.verb = RdmaVerb::Recv;
    let connects = plan(&[job], &machine()).workers[0].socket.clone().unwrap();
    assert!(!connects.waits);
    assert_eq!(connects.rdma.as_ref().unwrap().verb, RdmaVerb::Recv);
    assert_eq!(connects.label(), "rdma:host:1");
    let listens = plan(&[rdma(None, ReadWrite::Write)], &machine());
    assert!(listens.workers[0].socket.as_ref().unwrap().waits);
}

#[test]
fn rdma_goes_one_way_with_one_size_to_a_port() {
    let mixed = rdma(None, ReadWrite::RandRw);
    one_problem(&[mixed], &machine(), Usage, "rw", "over a network");
    let mut ranged = rdma(None, ReadWrite::Read);
    ranged.blocks.range =
        record::PerDirection::all(Some((record::Bytes(4096), record::Bytes(8192))));
    one_problem(&[ranged], &machine(), Usage, "bs", "give one bs");
    let mut without = rdma(None, ReadWrite::Read);
    without.queue.options.net.port = None;
    one_problem(&[without], &machine(), Usage, "port", "rdma needs a port");
}

/// The problems of a job of io_uring_cmd, except that its device is missing.
fn wrong(change: impl Fn(&mut Job)) -> Vec<String> {
    let mut job = on("/dev/ng0n1", ReadWrite::Write, 4096);
    job.queue.engine = Engine::IoUringCmd;
    change(&mut job);
    let all = problems(&[job], &machine(), &plan::Policy::default());
    let others = all.into_iter().filter(|problem| problem.option != "filename");
    others.map(|problem| problem.option.to_string()).collect()
}

#[test]
fn a_device_compares_patterns_only() {
    let compares = |method| {
        move |job: &mut Job| {
            job.queue.options.nvme.verify_mode = NvmeVerifyMode::Compare;
            job.verify.method = Some(method);
            job.verify.pattern = Some(job::BlockPattern { bytes: vec![1], offsets: Vec::new() });
        }
    };
    assert_eq!(wrong(compares(VerifyMethod::Pattern)), [""; 0]);
    assert_eq!(wrong(compares(VerifyMethod::Crc32c)), ["verify_mode"]);
    let trims = |job: &mut Job| {
        compares(VerifyMethod::Pattern)(job);
        job.verify.trim_percentage = 10;
    };
    assert_eq!(wrong(trims), ["verify_mode"]);
}

#[test]
fn only_plain_writes_to_zones_append() {
    let appends = |mode| {
        move |job: &mut Job| {
            job.queue.options.nvme.zone_append = true;
            job.zones.mode = mode;
        }
    };
    assert!(wrong(appends(ZoneMode::None)).contains(&"zone_append".to_owned()));
    assert!(!wrong(appends(ZoneMode::Zbd)).contains(&"zone_append".to_owned()));
    let zeroes = |job: &mut Job| {
        appends(ZoneMode::Zbd)(job);
        job.queue.options.nvme.write_mode = NvmeWriteMode::Zeroes;
    };
    assert!(wrong(zeroes).contains(&"zone_append".to_owned()));
}
