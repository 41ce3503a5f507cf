//! What rank 0 has to do for thousands of ranks: they answer at once, in its own thread.

use crate::exchange::Exchange;
use crate::message::{Enrolment, Hello, Message, Task};
use crate::part::{Gather, GroupTime, TimedResult};
use crate::tests::result;
use crate::tree::Place;
use crate::{Fleet, Orders, Settings};
use record::{RankRecord, RankState};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What passed, and the time that the other ranks took: on a cluster they have CPUs of their own.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    sent: u64,
    sent_bytes: u64,
    received: u64,
    received_bytes: u64,
    others: Duration,
}

struct Crowd {
    size: u32,
    inbox: VecDeque<(u32, Vec<u8>)>,
    round: u32,
    passed: Arc<Mutex<Passed>>,
}

impl Crowd {
    fn new(size: u32, passed: &Arc<Mutex<Passed>>) -> Crowd {
        let mut crowd =
            Crowd { size, inbox: VecDeque::new(), round: 0, passed: Arc::clone(passed) };
        for rank in 1..size {
            crowd.answer(rank, &Message::Hello(Hello::from(&format!("node{rank}"))));
        }
        crowd
    }

    fn answer(&mut self, rank: u32, message: &Message) {
        self.inbox.push_back((rank, message.to_bytes(self.round)));
    }

    fn take(&mut self, rank: u32, message: Message) {
        match message {
            Message::Task(_) => {
                let enrolment = Enrolment {
                    kernel: "6.1.0-40-amd64".into(),
                    mounts: vec!["lustre mds@tcp:/scratch at /scratch".into()],
                    clock: format!("b2f0a1de-95b8-4c35-a33c-{rank:012} time:[4026531834]"),
                    process_space: format!("b2f0a1de-95b8-4c35-a33c-{:012}", rank / 16),
                    process: rank,
                    files: vec![(u64::from(rank) << 32 | 0xfeed, 1 << 30); 4],
                    refusal: None,
                };
                self.answer(rank, &Message::Enrolled(Box::new(enrolment)));
            }
            Message::Ping(number) => {
                let now = self.now();
                self.answer(rank, &Message::Pong(number, now));
            }
            Message::Begin(_) => self.answer(rank, &Message::Reached(1)),
            Message::Release(1, _) => self.answer(rank, &Message::Reached(2)),
            Message::Release(..) => {
                let now = self.now();
                let time = GroupTime { group: 0, started: now, ended: now + 1_000_000_000 };
                self.answer(rank, &Message::Ended(vec![time]));
            }
            Message::Gather(gather) => self.gather(rank, &gather),
            _ => {}
        }
    }

    /// The part of a rank below rank 0 has a row for each rank of its branch.
    fn gather(&mut self, rank: u32, gather: &Gather) {
        let top =
            Place::of_rank(0, self.size, &[]).unwrap_or_else(|| panic!("rank 0 has no place"));
        if !top.children.contains(&rank) {
            return;
        }
        let now = Instant::now();
        let own = TimedResult::new(Box::new(result(rank, now, now)), self);
        let mut part = own.part(rank, gather);
        let row = part.ranks[0].clone();
        let branch = rank + 1..(2 * rank).min(self.size);
        part.ranks.extend(branch.map(|rank| RankRecord { rank, ..row.clone() }));
        self.answer(rank, &Message::Part(Box::new(part)));
    }
}

impl Exchange for Crowd {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn library(&self) -> String {
        "a crowd".into()
    }

    fn now(&self) -> u64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), String> {
        let begin = Instant::now();
        let (round, message) = Message::of_bytes(&bytes)?;
        self.round = round;
        self.take(to, message);
        let mut passed = self.passed.lock().unwrap();
        passed.sent += 1;
        passed.sent_bytes += bytes.len() as u64;
        passed.others += begin.elapsed();
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>, String> {
        let message = self.inbox.pop_front();
        if let Some((_, bytes)) = &message {
            let mut passed = self.passed.lock().unwrap();
            passed.received += 1;
            passed.received_bytes += bytes.len() as u64;
        }
        Ok(message)
    }

    fn is_idle(&mut self) -> bool {
        true
    }

    fn finish(self: Box<Self>) {}

    fn abort(self: Box<Self>, _: u8) {}
}

/// Resident memory of this process, in KiB.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// One run of so many ranks; prints what it takes of rank 0.
fn measure(size: u32) {
    let passed = Arc::<Mutex<Passed>>::default();
    let (begin, before) = (Instant::now(), resident());
    let crowd = Crowd::new(size, &passed);
    let settings = Settings { timeout: Duration::from_secs(120), host: "node0".into() };
    let fleet = Fleet::join(move || Ok(Box::new(crowd)), settings).unwrap();
    assert_eq!(fleet.hosts.len(), size as usize);
    fleet.announce(Task { ranks: (0..size).collect(), body: String::new() }).unwrap();
    let enrolment = Enrolment { clock: "own".into(), ..Enrolment::default() };
    assert!(matches!(fleet.enrol(enrolment).unwrap(), Orders::Run(_)));
    let (gate, origin) = (fleet.gate(), Instant::now());
    gate.laid_out();
    let started = gate.set_up(0).unwrap();
    let sum = fleet.finish(Some(result(0, origin, started)), || None).unwrap().unwrap();
    let (after, all) = (resident(), begin.elapsed());
    fleet.leave(0);
    let ran = sum.fleet.ranks.iter().filter(|rank| rank.state == RankState::Ran).count();
    assert_eq!(ran, size as usize);
    println!(
        "{size} ranks: {all:.2?} in all, {:?}; {} MiB more; {:?}",
        *passed.lock().unwrap(),
        after.saturating_sub(before) / 1024,
        sum.fleet.costs
    );
}

#[test]
fn a_thousand_ranks_are_led() {
    measure(1000);
}

#[test]
#[ignore = "measures: cargo test --release -p fathom-fleet ten_thousand -- --ignored --nocapture"]
fn ten_thousand_ranks_are_measured() {
    [100, 1000, 10_000].into_iter().for_each(measure);
}
