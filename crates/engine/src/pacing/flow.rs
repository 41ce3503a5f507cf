//! Flows: workers of one id do I/O in the ratio of their weights.
//!
//! Each I/O takes a turn. Workers may be ahead of their shares, so that two on different CPUs need not
//! hand every single I/O to each other; all of them together by no more than a small part of what is
//! due to the one with the least weight, which would be that far behind.

use plan::{FlowPart, Plan, Worker};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The flows of a run, by id.
#[derive(Default)]
pub struct Flows(BTreeMap<u64, Arc<Shared>>);

/// What the workers of a flow share.
#[derive(Default)]
struct Shared {
    /// Turns and weights of those that take part now.
    turns: AtomicU64,
    weight: AtomicU64,
    /// How many the plan has.
    members: u64,
    /// The least weight of them.
    least: u64,
}

/// One part in so many of what is due to the least weight is how far all together may be ahead.
const AHEAD: u64 = 50;

/// One worker's part in a flow, to its end.
pub struct Flow {
    part: FlowPart,
    shared: Arc<Shared>,
    turns: u64,
    joined: bool,
}

impl Flows {
    /// The flows that the workers of a plan take part in.
    pub fn new(plan: &Plan) -> Flows {
        let mut all: BTreeMap<u64, Shared> = BTreeMap::new();
        for part in plan.workers.iter().filter_map(|worker| worker.limits.flow) {
            let first = || Shared { least: part.weight, ..Shared::default() };
            let shared = all.entry(part.id).or_insert_with(first);
            shared.members += 1;
            shared.least = shared.least.min(part.weight);
        }
        Flows(all.into_iter().map(|(id, shared)| (id, Arc::new(shared))).collect())
    }

    /// A worker's part. One that starts at once is counted on from now: those that start with it
    /// do not run away while it comes up. One with a delay takes part from its first I/O.
    pub fn join(&self, worker: &Worker) -> Option<Flow> {
        let part = worker.limits.flow?;
        let shared = Arc::clone(self.0.get(&part.id)?);
        let mut flow = Flow { part, shared, turns: 0, joined: false };
        if worker.start.delay.0 == 0 {
            flow.take_part();
        }
        Some(flow)
    }
}

/// How long a worker that is ahead rests when `flow_sleep` says nothing: it tries again at once,
/// but leaves the CPU to those it waits for.
const REST_NS: u64 = 100_000;

impl Flow {
    /// Whether the next I/O may be issued now; else how long to wait before asking again.
    pub fn may_go(&mut self) -> Result<(), u64> {
        self.take_part();
        let weight = self.shared.weight.load(Ordering::Relaxed);
        let turns = self.shared.turns.load(Ordering::Relaxed);
        let parts = u128::from(AHEAD * self.shared.members);
        let due = parts * u128::from(self.part.weight) + u128::from(self.shared.least);
        if u128::from(self.turns) * u128::from(weight) * parts <= u128::from(turns) * due {
            return Ok(());
        }
        Err(if self.part.sleep.0 > 0 { self.part.sleep.0 } else { REST_NS })
    }

    /// An I/O is issued.
    #[inline]
    pub fn goes(&mut self) {
        self.turns += 1;
        self.shared.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// It was not issued after all.
    pub fn takes_back(&mut self) {
        self.turns -= 1;
        self.shared.turns.fetch_sub(1, Ordering::Relaxed);
    }

    /// Oracle: one that comes later catches up while the others wait, so that the ratio is that of
    /// all they did.
    fn take_part(&mut self) {
        if !std::mem::replace(&mut self.joined, true) {
            self.shared.weight.fetch_add(self.part.weight, Ordering::Relaxed);
        }
    }
}

impl Drop for Flow {
    /// Those that go on share among themselves.
    fn drop(&mut self) {
        if !self.joined {
            return;
        }
        self.shared.weight.fetch_sub(self.part.weight, Ordering::Relaxed);
        self.shared.turns.fetch_sub(self.turns, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Nanos;
    fn flows(weights: &[u64], delay: Nanos) -> Vec<Flow> {
        let mut plan = Plan::default();
        for weight in weights {
            let mut worker = Worker::default();
            let part = FlowPart { id: 7, weight: *weight, ..FlowPart::default() };
            worker.limits.flow = Some(part);
            worker.start.delay = delay;
            plan.workers.push(worker);
        }
        let flows = Flows::new(&plan);
        plan.workers.iter().map(|w| flows.join(w).unwrap()).collect()
    }

    /// Every part goes as often as it may, in turn; returns how often each went.
    fn race(flows: &mut [Flow], rounds: u32) -> Vec<u64> {
        let mut done = vec![0; flows.len()];
        for _ in 0..rounds {
            for (flow, done) in flows.iter_mut().zip(&mut done) {
                while flow.may_go().is_ok() {
                    flow.goes();
                    *done += 1;
                }
            }
        }
        done
    }

    #[test]
    fn turns_come_in_the_ratio_of_the_weights() {
        let mut all = flows(&[3, 2, 1], Nanos(0));
        let done = race(&mut all, 500);
        let unit = done.iter().sum::<u64>() as f64 / 6.0;
        for (done, weight) in done.iter().zip([3.0, 2.0, 1.0]) {
            assert!((*done as f64 / unit / weight - 1.0).abs() < 0.03, "{done} of weight {weight}");
        }
    }

    #[test]
    fn one_of_little_weight_that_stops_is_hardly_left_behind() {
        let mut all = flows(&[10, 1, 1], Nanos(0));
        let before = race(&mut all, 1000)[2];
        let after: u64 = race(&mut all[..2], 1000).iter().sum();
        let all: u64 = all.iter().map(|flow| flow.turns).sum();
        let due = all as f64 / 12.0;
        assert!(before as f64 > due * 0.95, "{before} of {due}, {after} by the others");
    }

    #[test]
    fn one_that_is_alone_is_never_held() {
        let mut all = flows(&[5], Nanos(0));
        (0..1000).for_each(|_| {
            assert!(all[0].may_go().is_ok());
            all[0].goes();
        });
    }

    #[test]
    fn who_comes_late_catches_up_and_who_goes_holds_nobody() {
        let mut all = flows(&[1, 1], Nanos(1));
        let mut second = all.pop().unwrap();
        let mut first = all.pop().unwrap();
        (0..1000).for_each(|_| {
            assert!(first.may_go().is_ok());
            first.goes();
        });
        assert!(second.may_go().is_ok());
        assert!(first.may_go().is_err());
        let done = race(std::slice::from_mut(&mut second), 1)[0];
        assert!((990..=1050).contains(&done), "{done} turns to catch up with 1000");
        while first.may_go().is_ok() {
            first.goes();
        }
        drop(second);
        (0..1000).for_each(|_| {
            assert!(first.may_go().is_ok());
            first.goes();
        });
    }
}
