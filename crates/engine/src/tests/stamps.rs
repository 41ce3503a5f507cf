//! Which timestamps I/Os share.

use super::*;

/// The simulated disk with blocking calls.
struct SimBlocking;

impl Ring for SimBlocking {
    const SYNCHRONOUS: bool = true;

    fn open(_: &RingSetup<'_>) -> io::Result<Self> {
        Ok(SimBlocking)
    }

    fn queue(&mut self, _: u32, op: &Op) -> Queued {
        world(|w| {
            w.now += w.latency;
            Queued::Done(w.answer(op))
        })
    }
}

/// Reads or writes blocks in order. All but every tenth are ready at once.
struct AtHand(Blocks, OpKind);

impl LoopSource for AtHand {}

impl Source for AtHand {
    fn next_ready(&mut self) -> Option<Op> {
        let known = !self.0.next.is_multiple_of(10) && self.0.next < self.0.end;
        known.then(|| self.next()).and_then(|next| match next {
            Next::Io(op) => Some(op),
            _ => None,
        })
    }

    fn next(&mut self) -> Next {
        match self.0.next() {
            Next::Io(op) => Next::Io(Op { kind: self.1, ..op }),
            other => other,
        }
    }

    fn completed(&mut self, _: &Op, _: u64) {}
}

/// Reads or writes `ios` ready blocks, one at a time, with blocking calls.
fn run_blocking(kind: OpKind, ios: u64) -> Metered {
    let worker = worker(1);
    let source = AtHand(Blocks { next: 0, end: ios }, kind);
    run_ring::<_, _, _, false, false>(
        SimBlocking,
        &worker,
        OpenGate,
        source,
        QueuePolicy::all_at_once(1),
    )
    .1
}

#[test]
fn one_stamp_ends_an_io_and_begins_the_next() {
    reset(1000);
    let Metered { results, shared_stamps, .. } = run_blocking(OpKind::Read, 10_000);
    let between = shared_stamps.between.unwrap();
    // I/O that is not ready has its own timestamp, and so has the one after the first tick.
    assert_eq!(shared_stamps.shared + between.count(), 9_000 - 1);
    assert_eq!(between.count(), 9_000 / 1024 + 1);
    assert_eq!((between.min(), between.max()), (10, 10), "what a look at the clock takes");
    let clat = results.read.latency.clat.unwrap();
    assert_eq!((clat.count(), clat.min(), clat.max()), (10_000, 1010, 1010));
    let looks = world(|w| w.looks);
    assert!(looks < 11_000 + between.count() + 10, "{looks} looks at the clock");
}

#[test]
fn filled_short_or_delayed_io_has_its_own_stamps() {
    reset(1000);
    assert!(run_blocking(OpKind::Write, 1000).shared_stamps.is_empty());
    reset(1000);
    let whole = run_blocking(OpKind::Read, 1000).shared_stamps;
    reset(1000);
    world(|w| w.answers = [(13, 1024), (15, 4095)].into());
    let short = run_blocking(OpKind::Read, 1000).shared_stamps;
    // Only the rest of a short I/O has its own timestamp.
    assert_eq!(short.shared, whole.shared);
    reset(1000);
    let (_, metered) = run::<_, false>(&worker(8), OpenGate, 1000);
    assert!(metered.shared_stamps.is_empty(), "each had to be looked for");
}

#[test]
fn io_submitted_together_was_ready_at_the_same_time() {
    reset(100_000);
    let source = AtHand(Blocks { next: 0, end: 1000 }, OpKind::Read);
    let (_, metered) = run_source::<_, _, false>(&worker(8), OpenGate, source);
    let shared = metered.shared_stamps.shared;
    assert!((600..=900).contains(&shared), "{shared} of 1000");
    let slat = metered.results.read.latency.slat.unwrap();
    // The clock is read when the first is ready, for another one that is not ready at once, and at the
    // submission.
    assert!(slat.max() <= 30, "{slat:?}");
}
