//! The rules, on a simulated device that enforces them.

use super::target::{ZoneDevice, ZonedTarget, ZonedTargets};
use super::work::ZonedWork;
use crate::hot::op::{Next, Op, OpKind, Source};
use crate::random::Random;
use crate::sys::zones::{Condition, ZoneKind, ZoneReport};
use plan::{BlockPlan, File, ReadWrite, Worker, Zbd, ZonedFile};
use record::PerDirection;
use std::io;
use std::sync::{Arc, Mutex};

const K: u64 = 1024;
const SIZE: u64 = 64 * K;
const CAPACITY: u64 = 48 * K;

/// A simulated device of eight zones.
#[derive(Clone)]
struct Device(Arc<Mutex<Vec<ZoneReport>>>);

impl Device {
    fn new() -> Device {
        let zone = |index: u64| ZoneReport {
            start: index * SIZE,
            length: SIZE,
            capacity: CAPACITY,
            pointer: index * SIZE,
            kind: ZoneKind::Sequential,
            condition: Condition::Empty,
        };
        Device(Arc::new(Mutex::new((0..8).map(zone).collect())))
    }

    fn with(self, index: usize, change: impl FnOnce(&mut ZoneReport)) -> Device {
        change(&mut self.0.lock().unwrap()[index]);
        self
    }

    fn filled(self, index: usize, bytes: u64) -> Device {
        self.with(index, |zone| {
            zone.pointer = zone.start + bytes;
            zone.condition = if bytes == CAPACITY { Condition::Full } else { Condition::Open };
        })
    }

    /// Does an I/O and checks the rules.
    #[track_caller]
    fn write(&self, op: &Op) {
        let zone = &mut self.0.lock().unwrap()[(op.offset / SIZE) as usize];
        if zone.kind == ZoneKind::Conventional {
            assert!(op.offset + op.length <= zone.start + zone.length, "{op:?} in {zone:?}");
            return;
        }
        assert_eq!(op.offset, zone.pointer, "{op:?} in {zone:?}");
        zone.pointer += op.length;
        assert!(zone.pointer <= zone.start + zone.capacity, "{op:?} in {zone:?}");
        let full = zone.pointer == zone.start + zone.capacity;
        zone.condition = if full { Condition::Full } else { Condition::Open };
    }

    #[track_caller]
    fn read(&self, op: &Op) {
        let zone = self.0.lock().unwrap()[(op.offset / SIZE) as usize];
        assert!(op.length > 0 && op.offset + op.length <= zone.pointer, "{op:?} in {zone:?}");
    }

    fn is_sequential(&self, zone: u64) -> bool {
        self.0.lock().unwrap()[zone as usize].kind == ZoneKind::Sequential
    }

    fn active(&self) -> usize {
        let zones = self.0.lock().unwrap();
        zones.iter().filter(|zone| zone.condition == Condition::Open).count()
    }

    fn pointers(&self) -> Vec<u64> {
        let zones = self.0.lock().unwrap();
        zones.iter().map(|zone| (zone.pointer - zone.start) / K).collect()
    }
}

impl ZoneDevice for Device {
    fn report(&self, from: u64) -> io::Result<Vec<ZoneReport>> {
        let zones = self.0.lock().unwrap();
        // Two at a time, like a driver with a small buffer.
        Ok(zones.iter().skip((from / SIZE) as usize).take(2).copied().collect())
    }

    fn reset(&self, start: u64, length: u64) -> io::Result<()> {
        assert_eq!((start % SIZE, length), (0, SIZE));
        let zone = &mut self.0.lock().unwrap()[(start / SIZE) as usize];
        (zone.pointer, zone.condition) = (start, Condition::Empty);
        Ok(())
    }

    fn finish(&self, start: u64, length: u64) -> io::Result<()> {
        assert_eq!((start % SIZE, length), (0, SIZE));
        let zone = &mut self.0.lock().unwrap()[(start / SIZE) as usize];
        (zone.pointer, zone.condition) = (start + zone.capacity, Condition::Full);
        Ok(())
    }
}

fn worker(rw: ReadWrite, block: u64, region: std::ops::Range<u64>) -> Worker {
    let mut worker = Worker::default();
    let length = (region.end - region.start) * SIZE;
    worker.files.push(File { start: region.start * SIZE, length, ..File::default() });
    worker.pattern.rw = rw;
    worker.pattern.mix_read = 50;
    worker.pattern.run_length = 1;
    worker.pattern.blocks = PerDirection::all(BlockPlan::Fixed(block));
    worker.pattern.align = PerDirection::all(block);
    worker.pattern.seed = 7;
    worker.stop.loops = 1;
    worker.queue.depth = 4;
    let file = ZonedFile { name: "d".into(), device: true, size: SIZE, ..ZonedFile::default() };
    worker.zbd = Some(Zbd { files: vec![file], random: rw.is_random(), ..Zbd::default() });
    worker
}

fn targets(device: &Device) -> ZonedTargets {
    ZonedTargets::with("d", ZonedTarget::new(Box::new(device.clone()), SIZE, true).unwrap())
}

fn work(worker: &Worker, targets: &ZonedTargets) -> ZonedWork {
    ZonedWork::new(worker, worker.zbd.as_ref().unwrap(), targets)
}

/// Runs with up to four I/Os in flight that end in any order. Returns the I/Os, in KiB.
#[track_caller]
fn run(worker: &Worker, device: &Device, most_active: usize) -> Vec<(char, u64, u64)> {
    let targets = targets(device);
    let mut work = work(worker, &targets);
    let mut random = Random::new(1, 0);
    let (mut flying, mut done): (Vec<Op>, _) = (Vec::new(), Vec::new());
    loop {
        let next = work.next();
        if let Next::Io(op) = next {
            let zone = |op: &Op| op.offset / SIZE;
            let write = op.kind == OpKind::Write && device.is_sequential(zone(&op));
            let twice = flying.iter().any(|o| o.kind == op.kind && zone(o) == zone(&op));
            assert!(!write || !twice, "two writes in one zone: {op:?} and {flying:?}");
            let kind = match op.kind {
                OpKind::Read => 'r',
                OpKind::Write => 'w',
                _ => 't',
            };
            done.push((kind, op.offset / K, op.length / K));
            flying.push(op);
        }
        if flying.len() == 4 || (!matches!(next, Next::Io(_)) && !flying.is_empty()) {
            let op = flying.swap_remove(random.below(flying.len() as u64) as usize);
            match op.kind {
                OpKind::Write => device.write(&op),
                OpKind::Read => device.read(&op),
                OpKind::ResetZone => device.reset(op.offset, op.length).unwrap(),
                other => panic!("{other:?}"),
            }
            assert!(device.active() <= most_active, "{:?}", device.pointers());
            work.completed(&op, op.length);
        } else if next == Next::End {
            return done;
        }
    }
}

#[test]
fn sequential_writes_fill_each_zone_from_its_pointer_on() {
    let device = Device::new().filled(1, 40 * K).filled(2, CAPACITY);
    let done = run(&worker(ReadWrite::Write, 8 * K, 0..4), &device, 2);
    let offsets: Vec<u64> = done.iter().map(|d| d.1).collect();
    let expected: Vec<u64> = (0..48).step_by(8).chain([104]).collect();
    assert_eq!(offsets[..7], expected);
    // A full zone is reset when the pass reaches it.
    assert_eq!(offsets[7..13], [128, 136, 144, 152, 160, 168]);
    assert_eq!(device.pointers(), [48, 48, 48, 48, 0, 0, 0, 0]);
}

#[test]
fn a_job_writes_its_amount_or_each_zone_once() {
    let device = Device::new();
    let mut worker = worker(ReadWrite::Write, 4 * K, 0..4);
    (worker.stop.bytes, worker.stop.wraps) = (Some(512 * K), true);
    assert_eq!(run(&worker, &device, 8).len(), 128);
    worker.stop.bytes = None;
    assert_eq!(run(&worker, &Device::new(), 8).len(), 48);
}

/// What two workers on the same zones write, in KiB. The first one writes so many blocks before the
/// second one begins; then they take turns.
fn written_by_two(worker: &Worker, blocks_before: usize) -> [u64; 2] {
    let device = Device::new();
    let targets = targets(&device);
    let mut works = [work(worker, &targets), work(worker, &targets)];
    let (mut written, mut is_running) = ([0, 0], [true, true]);
    let mut turns = std::iter::repeat_n(0, blocks_before).chain([1, 0].into_iter().cycle());
    while is_running.contains(&true) {
        let turn = turns.next().unwrap();
        match works[turn].next() {
            Next::Io(op) => {
                device.write(&op);
                works[turn].completed(&op, op.length);
                written[turn] += op.length / K;
            }
            Next::End => is_running[turn] = false,
            _ => {}
        }
    }
    written
}

#[test]
fn workers_on_the_same_zones_write_as_much_as_alone_whoever_begins() {
    for loops in [1, 3] {
        let mut worker = worker(ReadWrite::Write, 16 * K, 0..4);
        worker.stop.loops = loops;
        for blocks_before in 0..=12 {
            let each = loops * 4 * CAPACITY / K;
            assert_eq!(written_by_two(&worker, blocks_before), [each; 2], "{blocks_before}");
        }
    }
}

#[test]
fn random_writes_keep_to_pointers_and_limits() {
    for limit in [1, 2, 3, 0] {
        let device = Device::new().filled(5, 12 * K);
        let mut worker = worker(ReadWrite::RandWrite, 4 * K, 0..8);
        worker.stop.loops = 3;
        worker.zbd.as_mut().unwrap().max_open = limit;
        let most = if limit == 0 { 8 } else { limit as usize };
        assert_eq!(run(&worker, &device, most).len(), 3 * 128, "limit {limit}");
    }
}

#[test]
fn a_worker_keeps_to_its_own_limit_of_open_zones() {
    let device = Device::new();
    let mut worker = worker(ReadWrite::RandWrite, 4 * K, 2..8);
    let zbd = worker.zbd.as_mut().unwrap();
    (zbd.max_open, zbd.job_max_open) = (5, 2);
    assert_eq!(run(&worker, &device, 2).len(), 96);
    assert_eq!(device.pointers()[..2], [0, 0]);
}

#[test]
fn a_rest_too_small_for_a_block_is_finished_or_written() {
    let device = Device::new();
    let done = run(&worker(ReadWrite::Write, 20 * K, 0..2), &device, 2);
    assert_eq!(done.iter().map(|d| d.2).collect::<Vec<_>>(), [20, 20, 20, 20]);
    assert_eq!(device.pointers()[..2], [48, 48]);
    let mut worker = worker(ReadWrite::Write, 20 * K, 0..2);
    worker.zbd.as_mut().unwrap().write_remainder = true;
    let done = run(&worker, &Device::new(), 2);
    assert_eq!(done.iter().map(|d| d.2).collect::<Vec<_>>(), [20, 20, 8, 20, 20, 8]);
}

#[test]
fn reads_stay_below_the_write_pointer() {
    for rw in [ReadWrite::Read, ReadWrite::RandRead] {
        let device = Device::new().filled(1, 40 * K).filled(3, 4 * K).filled(6, 2 * K);
        let done = run(&worker(rw, 4 * K, 0..8), &device, 3);
        assert!(done.iter().all(|d| [1, 3].contains(&(d.1 * K / SIZE))), "{done:?}");
        if rw == ReadWrite::Read {
            assert_eq!(done.len(), 11);
        }
    }
    assert!(run(&worker(ReadWrite::RandRead, 4 * K, 0..8), &Device::new(), 0).is_empty());
}

#[test]
fn reads_beyond_the_pointer_go_where_they_were_drawn() {
    let device = Device::new();
    let mut worker = worker(ReadWrite::Read, 16 * K, 0..2);
    worker.zbd.as_mut().unwrap().read_beyond = true;
    let targets = targets(&device);
    let mut work = work(&worker, &targets);
    for block in 0..8 {
        let Next::Io(op) = work.next() else { panic!("no read {block}") };
        assert_eq!((op.offset, op.length), (block * 16 * K, 16 * K));
    }
}

#[test]
fn reads_of_a_mix_follow_the_writes() {
    for rw in [ReadWrite::Rw, ReadWrite::RandRw] {
        let device = Device::new();
        let done = run(&worker(rw, 4 * K, 0..4), &device, 4);
        let reads = done.iter().filter(|d| d.0 == 'r').count();
        assert!(reads > 10 && done.len() >= 48, "{rw:?}: {reads} of {}", done.len());
    }
}

#[test]
fn trims_reset_each_zone_in_turn_or_at_random_those_that_hold_data() {
    let device = Device::new().filled(1, 4 * K).filled(4, CAPACITY);
    let done = run(&worker(ReadWrite::Trim, SIZE, 0..8), &device, 1);
    let each: Vec<_> = (0..8).map(|zone| ('t', zone * 64, 64)).collect();
    assert_eq!(done, each);
    assert_eq!(device.pointers(), [0; 8]);
    let device = Device::new().filled(1, 4 * K).filled(4, CAPACITY);
    let done = run(&worker(ReadWrite::RandTrim, SIZE, 0..8), &device, 1);
    assert_eq!((done.len(), device.pointers()), (2, vec![0; 8]));
}

#[test]
fn conventional_zones_are_written_anywhere_and_offline_zones_nowhere() {
    let device = Device::new()
        .with(0, |zone| {
            (zone.kind, zone.capacity, zone.pointer) = (ZoneKind::Conventional, SIZE, SIZE);
        })
        .with(2, |zone| zone.condition = Condition::Offline)
        .with(3, |zone| zone.condition = Condition::ReadOnly);
    let done = run(&worker(ReadWrite::RandWrite, 4 * K, 0..4), &device, 2);
    let zones: std::collections::BTreeSet<u64> = done.iter().map(|d| d.1 * K / SIZE).collect();
    assert_eq!(zones.into_iter().collect::<Vec<_>>(), [0, 1]);
    let plain = done.iter().filter(|d| d.1 < 64).map(|d| d.1);
    assert!(
        !plain.clone().is_sorted(),
        "at random within the zone: {:?}",
        plain.collect::<Vec<_>>()
    );
}

#[test]
fn zones_are_reset_before_they_are_full_if_requested() {
    let mut worker = worker(ReadWrite::RandWrite, 4 * K, 0..4);
    let zbd = worker.zbd.as_mut().unwrap();
    (zbd.reset_threshold, zbd.reset_every) = (0.25, 4);
    let device = Device::new();
    run(&worker, &device, 4);
    let held: u64 = device.pointers().iter().sum();
    assert!(held < 100, "{held} KiB are held although zones are reset beyond 64");
}

#[test]
fn two_workers_share_pointers_and_limits() {
    let device = Device::new();
    let targets = targets(&device);
    let mut worker = worker(ReadWrite::RandWrite, 4 * K, 0..8);
    worker.zbd.as_mut().unwrap().max_open = 2;
    let other =
        Worker { pattern: plan::Pattern { seed: 8, ..worker.pattern.clone() }, ..worker.clone() };
    let mut works = [work(&worker, &targets), work(&other, &targets)];
    let mut flying: [Option<Op>; 2] = [None, None];
    let mut done = [0, 0];
    for step in 0..4096 {
        let me = step % 2;
        if let Some(op) = flying[me].take() {
            device.write(&op);
            assert!(device.active() <= 2);
            works[me].completed(&op, op.length);
            done[me] += 1;
        }
        if let Next::Io(op) = works[me].next() {
            flying[me] = Some(op);
        }
    }
    assert_eq!(done, [128, 128]);
}

#[test]
fn io_that_was_never_issued_blocks_no_other_io() {
    let device = Device::new();
    let targets = targets(&device);
    let worker = worker(ReadWrite::Write, 4 * K, 0..1);
    let mut first = work(&worker, &targets);
    assert!(matches!(first.next(), Next::Io(_)));
    assert_eq!(first.next(), Next::Busy);
    drop(first);
    let mut second = work(&worker, &targets);
    let Next::Io(op) = second.next() else { panic!("the zone is still taken") };
    device.write(&op);
}

#[test]
fn after_a_failed_write_the_write_pointer_is_read_from_the_device() {
    for recover in [true, false] {
        let device = Device::new();
        let targets = targets(&device);
        let mut worker = worker(ReadWrite::Write, 16 * K, 0..1);
        worker.zbd.as_mut().unwrap().recover = recover;
        let mut work = work(&worker, &targets);
        let Next::Io(op) = work.next() else { panic!() };
        // A part of it was written.
        device.write(&Op { length: 4 * K, ..op });
        work.completed(&Op { length: 0, ..op }, 0);
        let Next::Io(op) = work.next() else { panic!() };
        assert_eq!(op.offset / K, if recover { 4 } else { 16 });
    }
}
