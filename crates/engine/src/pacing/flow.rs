//! Flows: workers with the same flow id do I/O in the ratio of their weights.
//!
//! A worker may exceed its share a little, so that workers on different CPUs need not alternate I/O
//! by I/O. The total excess is limited to a small part of the share of the lowest weight, because that
//! worker would fall behind by as much.

use plan::{FlowPart, Plan, Worker};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The flows of a run, by id.
#[derive(Default)]
pub struct Flows(BTreeMap<u64, Arc<Shared>>);

/// The state that the workers of a flow share.
#[derive(Default)]
struct Shared {
    /// Number of I/Os of the current members.
    ios: AtomicU64,
    /// Sum of the weights of the current members.
    weight: AtomicU64,
    /// Number of members in the plan.
    members: u64,
    /// The lowest weight in the plan.
    lowest_weight: u64,
}

/// The total excess may be 1/50 of the share of the lowest weight.
const EXCESS_DIVISOR: u64 = 50;

/// One worker's membership in a flow.
pub struct Flow {
    part: FlowPart,
    shared: Arc<Shared>,
    ios: u64,
    joined: bool,
}

impl Flows {
    /// The flows that the workers of a plan take part in.
    pub fn new(plan: &Plan) -> Flows {
        let mut all: BTreeMap<u64, Shared> = BTreeMap::new();
        for part in plan.workers.iter().filter_map(|worker| worker.limits.flow) {
            let first = || Shared { lowest_weight: part.weight, ..Shared::default() };
            let shared = all.entry(part.id).or_insert_with(first);
            shared.members += 1;
            shared.lowest_weight = shared.lowest_weight.min(part.weight);
        }
        Flows(all.into_iter().map(|(id, shared)| (id, Arc::new(shared))).collect())
    }

    /// A worker's membership. A worker that starts at once is a member from now on, so that the others
    /// do not run ahead while it starts. A worker with a start delay joins with its first I/O.
    pub fn join(&self, worker: &Worker) -> Option<Flow> {
        let part = worker.limits.flow?;
        let shared = Arc::clone(self.0.get(&part.id)?);
        let mut flow = Flow { part, shared, ios: 0, joined: false };
        if worker.start.delay.0 == 0 {
            flow.join();
        }
        Some(flow)
    }
}

/// Default of `flow_sleep`, in nanoseconds: short, but it leaves the CPU to the workers it waits for.
const DEFAULT_SLEEP_NS: u64 = 100_000;

impl Flow {
    /// `Ok` if the next I/O may be issued now; otherwise how long to wait, in nanoseconds.
    pub fn may_go(&mut self) -> Result<(), u64> {
        self.join();
        let weight = self.shared.weight.load(Ordering::Relaxed);
        let ios = self.shared.ios.load(Ordering::Relaxed);
        let parts = u128::from(EXCESS_DIVISOR * self.shared.members);
        let due = parts * u128::from(self.part.weight) + u128::from(self.shared.lowest_weight);
        if u128::from(self.ios) * u128::from(weight) * parts <= u128::from(ios) * due {
            return Ok(());
        }
        Err(if self.part.sleep.0 > 0 { self.part.sleep.0 } else { DEFAULT_SLEEP_NS })
    }

    /// Counts an I/O.
    #[inline]
    pub fn count(&mut self) {
        self.ios += 1;
        self.shared.ios.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back an I/O that was not issued after all.
    pub fn uncount(&mut self) {
        self.ios -= 1;
        self.shared.ios.fetch_sub(1, Ordering::Relaxed);
    }

    /// As in fio, a worker that joins late catches up while the others wait, so that the ratio holds
    /// for all I/O.
    fn join(&mut self) {
        if !std::mem::replace(&mut self.joined, true) {
            self.shared.weight.fetch_add(self.part.weight, Ordering::Relaxed);
        }
    }
}

impl Drop for Flow {
    /// Leaves the flow; the remaining workers share among themselves.
    fn drop(&mut self) {
        if !self.joined {
            return;
        }
        self.shared.weight.fetch_sub(self.part.weight, Ordering::Relaxed);
        self.shared.ios.fetch_sub(self.ios, Ordering::Relaxed);
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

    /// Each member issues as much I/O as it may, in turn. Returns how much each issued.
    fn race(flows: &mut [Flow], rounds: u32) -> Vec<u64> {
        let mut done = vec![0; flows.len()];
        for _ in 0..rounds {
            for (flow, done) in flows.iter_mut().zip(&mut done) {
                while flow.may_go().is_ok() {
                    flow.count();
                    *done += 1;
                }
            }
        }
        done
    }

    #[test]
    fn io_is_in_the_ratio_of_the_weights() {
        let mut all = flows(&[3, 2, 1], Nanos(0));
        let done = race(&mut all, 500);
        let unit = done.iter().sum::<u64>() as f64 / 6.0;
        for (done, weight) in done.iter().zip([3.0, 2.0, 1.0]) {
            assert!((*done as f64 / unit / weight - 1.0).abs() < 0.03, "{done} of weight {weight}");
        }
    }

    #[test]
    fn a_worker_of_low_weight_that_stops_is_hardly_behind() {
        let mut all = flows(&[10, 1, 1], Nanos(0));
        let before = race(&mut all, 1000)[2];
        let after: u64 = race(&mut all[..2], 1000).iter().sum();
        let all: u64 = all.iter().map(|flow| flow.ios).sum();
        let due = all as f64 / 12.0;
        assert!(before as f64 > due * 0.95, "{before} of {due}, {after} by the others");
    }

    #[test]
    fn a_worker_alone_in_its_flow_never_waits() {
        let mut all = flows(&[5], Nanos(0));
        (0..1000).for_each(|_| {
            assert!(all[0].may_go().is_ok());
            all[0].count();
        });
    }

    #[test]
    fn a_late_worker_catches_up_and_an_ended_one_delays_no_other() {
        let mut all = flows(&[1, 1], Nanos(1));
        let mut second = all.pop().unwrap();
        let mut first = all.pop().unwrap();
        (0..1000).for_each(|_| {
            assert!(first.may_go().is_ok());
            first.count();
        });
        assert!(second.may_go().is_ok());
        assert!(first.may_go().is_err());
        let done = race(std::slice::from_mut(&mut second), 1)[0];
        assert!((990..=1050).contains(&done), "{done} turns to catch up with 1000");
        while first.may_go().is_ok() {
            first.count();
        }
        drop(second);
        (0..1000).for_each(|_| {
            assert!(first.may_go().is_ok());
            first.count();
        });
    }
}
