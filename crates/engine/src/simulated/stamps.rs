//! Which stamps I/Os share, and which they have to themselves.

use super::*;

/// The simulated disk, waited for within the call.
struct SimBlocking;

impl Ring for SimBlocking {
    const SYNCHRONOUS: bool = true;

    fn open(_: &RingSetup<'_>) -> io::Result<Self> {
        Ok(SimBlocking)
    }

    fn file_changed(&mut self, _: u32, _: RawFd) -> io::Result<()> {
        Ok(())
    }

    fn queue(&mut self, _: u32, op: &Op) -> Queued {
        world(|w| {
            w.now += w.latency;
            Queued::Done(w.answer(op))
        })
    }
}

/// Reads or writes blocks in order, each at hand but for the tenth, twentieth and so on.
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

/// Reads or writes `ios` blocks that are at hand, one at a time, each within its call.
fn run_blocking(kind: OpKind, ios: u64) -> Metered {
    let worker = worker(1);
    let source = AtHand(Blocks { next: 0, end: ios }, kind);
    run_ring::<_, _, _, false, false>(SimBlocking, &worker, OpenGate, source, all_at_once(1)).1
}

#[test]
fn one_stamp_ends_an_io_and_begins_the_next() {
    reset(1000);
    let Metered { results, shared_stamps, .. } = run_blocking(OpKind::Read, 10_000);
    let between = shared_stamps.between.unwrap();
    // Those that have to be looked for are stamped by themselves, and the one after the first tick.
    assert_eq!(shared_stamps.shared + between.count(), 9_000 - 1);
    assert_eq!(between.count(), 9_000 / 1024 + 1);
    assert_eq!((between.min(), between.max()), (10, 10), "what a look at the clock takes");
    let clat = results.read.latency.clat.unwrap();
    assert_eq!((clat.count(), clat.min(), clat.max()), (10_000, 1010, 1010));
    let looks = world(|w| w.looks);
    assert!(looks < 11_000 + between.count() + 10, "{looks} looks at the clock");
}

#[test]
fn what_is_filled_short_or_waited_for_has_stamps_of_its_own() {
    reset(1000);
    assert!(run_blocking(OpKind::Write, 1000).shared_stamps.is_empty());
    reset(1000);
    let whole = run_blocking(OpKind::Read, 1000).shared_stamps;
    reset(1000);
    world(|w| w.answers = [(13, 1024), (15, 4095)].into());
    let short = run_blocking(OpKind::Read, 1000).shared_stamps;
    // Only the rests are stamped by themselves, after what a short I/O makes to do.
    assert_eq!(short.shared, whole.shared);
    reset(1000);
    let (_, metered) = run::<_, false>(&worker(8), OpenGate, 1000);
    assert!(metered.shared_stamps.is_empty(), "each had to be looked for");
}

#[test]
fn what_is_handed_over_together_was_ready_together() {
    reset(100_000);
    let source = AtHand(Blocks { next: 0, end: 1000 }, OpKind::Read);
    let (_, metered) = run_source::<_, _, false>(&worker(8), OpenGate, source);
    let shared = metered.shared_stamps.shared;
    assert!((600..=900).contains(&shared), "{shared} of 1000");
    let slat = metered.results.read.latency.slat.unwrap();
    // One look at the clock when the first was ready, one for another that is not at hand, one when
    // they were handed over.
    assert!(slat.max() <= 30, "{slat:?}");
}
