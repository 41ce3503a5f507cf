//! Fleets of threads.

use crate::exchange::Exchange;
use crate::testing::{Switch, TestClock, ThreadExchange, ranks};
use crate::{Enrolment, Fleet, Orders, OwnResult, Settings, Sum, Task};
use record::{
    DirectionResult, Histogram, Interval, JobRecord, LatencyResult, Nanos, PerDirection, RankState,
    SplitMix64,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

/// After which a rank counts as lost in tests that lose one. Threads of a busy machine wait for a CPU,
/// but not for so long.
const SHORT: Duration = Duration::from_secs(3);
/// In tests that lose none.
const LONG: Duration = Duration::from_secs(60);

/// What a rank does in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Runs,
    Refuses,
    /// It is gone before it has planned.
    DiesEarly,
    /// It is gone when its I/O has begun.
    DiesRunning,
    /// It is gone when it has said that it ended, so its results do not arrive.
    DiesLate,
    /// It is there, but its I/O does not end.
    Hangs,
    /// Its clock jumps ahead by so many nanoseconds while it runs.
    Jumps(i64),
    /// It is gone so many microseconds after it was told of the run.
    DiesAfter(u64),
}

impl Part {
    fn ends_by_itself(self) -> bool {
        matches!(self, Part::Runs | Part::Refuses | Part::Jumps(_))
    }
}

fn samples(rank: u32) -> Vec<u64> {
    let mut random = SplitMix64::new(u64::from(rank) + 7);
    (0..200).map(|_| 1_000 + random.bits() % 5_000_000).collect()
}

/// A second of I/O that began when the rank was let go.
pub(crate) fn result(rank: u32, origin: Instant, started: Instant) -> OwnResult {
    let mut clat = Histogram::new();
    samples(rank).iter().for_each(|sample| clat.record(*sample));
    let started = Nanos((started - origin).as_nanos() as u64);
    let read = DirectionResult {
        ios: 200,
        ios_issued: 200,
        runtime: Nanos::SECOND,
        latency: LatencyResult { clat: Some(clat), ..LatencyResult::default() },
        ..DirectionResult::default()
    };
    let interval = Interval {
        start: started,
        length: Nanos::SECOND,
        ios: PerDirection { read: 200, ..PerDirection::default() },
        ..Interval::default()
    };
    let job = JobRecord {
        name: "job".into(),
        started,
        ended: started + Nanos::SECOND,
        elapsed: Nanos::SECOND,
        results: PerDirection { read, ..PerDirection::default() },
        intervals: vec![interval],
        interval_step: Nanos::from_millis(100),
        ..JobRecord::default()
    };
    OwnResult {
        jobs: vec![job],
        origin,
        exit_code: 0,
        verdicts: Vec::new(),
        findings: Vec::new(),
        why: String::new(),
    }
}

/// What a rank of a test comes to: the sum at rank 0, and when it was let go.
type Outcome = Result<(Option<Sum>, Option<Instant>), String>;

fn kill_after(switch: &Switch, time: Duration) {
    let switch = switch.clone();
    spawn(move || {
        std::thread::sleep(time);
        switch.kill();
    });
}

fn start(
    exchange: ThreadExchange,
    switch: Switch,
    part: Part,
    timeout: Duration,
) -> JoinHandle<Outcome> {
    let jumped = Arc::clone(&exchange.jumped);
    spawn(move || {
        let settings = Settings { timeout, host: format!("host{}", exchange.rank()) };
        let fleet = Fleet::join(|| Ok(Box::new(exchange)), settings)?;
        match fleet.is_lead() {
            true => {
                let task = Task { ranks: (0..fleet.size).collect(), body: "a run".into() };
                fleet.announce(task)?;
            }
            false => assert_eq!(fleet.next_task()?.unwrap().body, "a run"),
        }
        match part {
            Part::DiesEarly => switch.kill(),
            Part::DiesAfter(time) => kill_after(&switch, Duration::from_micros(time)),
            _ => {}
        }
        let enrolment = Enrolment {
            clock: fleet.rank.to_string(),
            refusal: (part == Part::Refuses).then(|| ("no such file".to_owned(), 3)),
            ..Enrolment::default()
        };
        let orders = fleet.enrol(enrolment)?;
        if part == Part::Refuses {
            assert_eq!(orders, Orders::Watch);
            fleet.finish(None, || None)?;
            return fleet.next_task().map(|_| (None, None));
        }
        assert!(matches!(orders, Orders::Run(_)), "{orders:?}");
        let (gate, origin) = (fleet.gate(), Instant::now());
        gate.laid_out();
        let started = gate.set_up(0).unwrap_or_else(Instant::now);
        match part {
            Part::DiesRunning => switch.kill(),
            Part::Hangs => std::thread::sleep(3 * timeout),
            Part::Jumps(by) => jumped.store(by, Ordering::Relaxed),
            _ => {}
        }
        let dies_late = part == Part::DiesLate;
        if dies_late {
            kill_after(&switch, Duration::from_millis(2));
        }
        let sum = fleet.finish(Some(result(fleet.rank, origin, started)), || None)?;
        match fleet.is_lead() {
            true => fleet.leave(0),
            false => assert_eq!(fleet.next_task()?, None),
        }
        Ok((sum, Some(started)))
    })
}

/// Runs ranks with these parts and clocks. Returns the sum, and when each was let go.
fn run(parts: &[Part], clocks: &[TestClock]) -> (Sum, Vec<Option<Instant>>) {
    let begin = Instant::now();
    let loses_some = parts.iter().any(|part| !part.ends_by_itself());
    let timeout = if loses_some { SHORT } else { LONG };
    let all = ranks(clocks).into_iter().zip(parts);
    let threads: Vec<_> =
        all.map(|((exchange, switch), part)| start(exchange, switch, *part, timeout)).collect();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (thread, part) in threads.into_iter().zip(parts) {
        // A rank that is gone, or was given up, ends on its own.
        if part.ends_by_itself() {
            outcomes.push(thread.join().unwrap());
        } else {
            outcomes.push(Err("not waited for".into()));
        }
    }
    assert!(begin.elapsed() < 8 * timeout, "{:?}", begin.elapsed());
    let sum = outcomes[0].as_mut().unwrap().0.take().unwrap();
    (sum, outcomes.iter().map(|outcome| outcome.as_ref().ok()?.1).collect())
}

fn in_step(count: usize) -> Vec<TestClock> {
    vec![TestClock::default(); count]
}

/// The jobs are the exact sum of the samples of these ranks.
fn assert_sum_of(sum: &Sum, ranks: impl Iterator<Item = u32>) {
    let mut all = Histogram::new();
    let mut workers = 0;
    for rank in ranks {
        samples(rank).iter().for_each(|sample| all.record(*sample));
        workers += 1;
    }
    assert_eq!(sum.jobs.len(), 1);
    assert_eq!(sum.jobs[0].results.read.latency.clat.as_ref(), Some(&all));
    assert_eq!(sum.jobs[0].summed().workers, workers);
    assert_eq!(sum.jobs[0].results.read.ios, u64::from(workers) * 200);
}

#[test]
fn percentiles_of_ranks_together_are_those_of_all_samples() {
    for count in [1, 2, 5, 16, 33] {
        let (sum, _) = run(&vec![Part::Runs; count], &in_step(count));
        assert_sum_of(&sum, 0..count as u32);
        assert!(sum.fleet.ranks.iter().all(|rank| rank.state == RankState::Ran));
        assert_eq!(sum.fleet.ranks.len(), count);
    }
}

#[test]
fn clocks_are_found_within_their_bounds_and_ranks_start_together() {
    let second = 1_000_000_000;
    let clock = |ahead_ns, drift_ppm| TestClock { ahead_ns, drift_ppm, is_silent: false };
    let clocks =
        [clock(0, 0), clock(3600 * second, 0), clock(-90 * second, 40), clock(1_234_567, -25)];
    let (sum, starts) = run(&[Part::Runs; 4], &clocks);
    for (rank, clock) in sum.fleet.ranks.iter().zip(clocks).skip(1) {
        for offset in [rank.clock.before.unwrap(), rank.clock.after.unwrap()] {
            let difference = (TestClock::now(clock) as i64) - (TestClock::default().now() as i64);
            // The drift since, and the time between the two readings above.
            let since = 10_000 + clock.drift_ppm.unsigned_abs() * 3_000;
            let error = (offset.ahead - difference).unsigned_abs();
            assert!(error <= offset.bound + since, "{error} of {offset:?}, {clock:?}");
        }
        assert!(!rank.clock.same);
    }
    let starts: Vec<Instant> = starts.into_iter().map(Option::unwrap).collect();
    let skew = *starts.iter().max().unwrap() - *starts.iter().min().unwrap();
    // The clocks are an hour apart. A thread may wait for a CPU before it notes its start.
    assert!(skew < Duration::from_secs(1), "{skew:?}");
    let bound = sum.fleet.ranks.iter().filter_map(|rank| rank.clock.bound()).max().unwrap();
    let window = sum.fleet.windows[0];
    let length = (window.end - window.start).0;
    // Each rank ran for a second by its own clock, and began when its thread had a CPU.
    let (skew, error) = (skew.as_nanos() as u64, 2 * bound + 300_000);
    assert!(length < 1_000_000_000 + error, "{window:?}, {bound}");
    assert!(length + skew + error + 100_000_000 > 1_000_000_000, "{window:?}, {skew}, {bound}");
    let within = sum.fleet.ranks[2].groups[0].within.read.0;
    let share = 200 * length / (1_000_000_000 + 2 * bound);
    assert!((share.saturating_sub(1)..=200).contains(&within), "{within} of {share}");
}

/// The ranks in the window of the only group, and its length.
fn window_of(sum: &Sum) -> (Vec<u32>, u64) {
    let [window] = &sum.fleet.windows[..] else { panic!("{:?}", sum.fleet.windows) };
    let within = sum.fleet.ranks.iter().filter(|rank| rank.groups[0].in_window);
    (within.map(|rank| rank.rank).collect(), (window.end - window.start).0)
}

#[test]
fn a_clock_that_jumps_moves_its_rank_and_no_other() {
    let jump = 7_000_000_000;
    let parts = [Part::Runs, Part::Runs, Part::Jumps(jump), Part::Jumps(-jump), Part::Runs];
    let (sum, _) = run(&parts, &in_step(5));
    for (rank, expected) in sum.fleet.ranks.iter().zip([None, None, Some(jump), Some(-jump), None])
    {
        let error = rank.clock.jump().unwrap_or(0).abs_diff(expected.unwrap_or(0));
        // The drift of a second, and both bounds.
        let most =
            [rank.clock.before, rank.clock.after].iter().flatten().map(|o| o.bound).sum::<u64>();
        assert!(
            error <= most && rank.clock.jump().is_some() == expected.is_some(),
            "{:?}",
            rank.clock
        );
    }
    assert_sum_of(&sum, 0..5);
    let (within, length) = window_of(&sum);
    assert_eq!(within, [0, 1, 4]);
    assert!(length > 0, "{:?}", sum.fleet.windows);
}

#[test]
fn a_clock_that_does_not_answer_is_not_known_and_its_rank_is_in_no_window() {
    let mut clocks = in_step(3);
    clocks[1] = TestClock { ahead_ns: 3_600_000_000_000, is_silent: true, ..TestClock::default() };
    let (sum, starts) = run(&[Part::Runs; 3], &clocks);
    let clock = sum.fleet.ranks[1].clock;
    assert_eq!((clock.is_known(), clock.bound()), (false, None));
    assert_sum_of(&sum, 0..3);
    let (within, length) = window_of(&sum);
    assert!(within == [0, 2] && length > 0, "{within:?} {length}");
    // It starts at once, not an hour later.
    let starts: Vec<Instant> = starts.into_iter().map(Option::unwrap).collect();
    let skew = *starts.iter().max().unwrap() - *starts.iter().min().unwrap();
    assert!(skew < Duration::from_secs(5), "{skew:?}");
}

#[test]
fn the_rest_is_summed_whenever_ranks_are_lost() {
    use Part::{DiesEarly, DiesLate, DiesRunning, Hangs, Refuses, Runs};
    let lose = |lost| {
        // Rank 4 is an inner node of the tree: 5, 6 and 7 are below it.
        let mut parts = [Runs; 8];
        parts[4] = lost;
        let (sum, _) = run(&parts, &in_step(8));
        let row = &sum.fleet.ranks[4];
        // One that died after its word may have been in time.
        if lost == DiesLate && row.state == RankState::Ran {
            return assert_sum_of(&sum, 0..8);
        }
        assert_sum_of(&sum, (0..8).filter(|rank| *rank != 4));
        let state = if lost == Refuses { RankState::Refused } else { RankState::Lost };
        assert_eq!((row.state, row.why.is_empty()), (state, false), "{lost:?}: {}", row.why);
    };
    std::thread::scope(|scope| {
        for lost in [DiesEarly, DiesRunning, DiesLate, Hangs, Refuses] {
            scope.spawn(move || lose(lost));
        }
    });
}

/// The run of a rank, whatever its task is. Returns the sum at rank 0.
fn take_part(fleet: &Fleet) -> Result<Option<Sum>, String> {
    let clock = fleet.rank.to_string();
    // Ranks of odd and even numbers are on two machines.
    let (process_space, process) = ((fleet.rank % 2).to_string(), 100 + fleet.rank);
    let enrolment = Enrolment { clock, process_space, process, ..Enrolment::default() };
    let Orders::Run(beside) = fleet.enrol(enrolment)? else { return Err("it does not run".into()) };
    assert!(beside.iter().all(|other| *other != process && other % 2 == process % 2), "{beside:?}");
    let (gate, origin) = (fleet.gate(), Instant::now());
    gate.laid_out();
    let started = gate.set_up(0).unwrap_or_else(Instant::now);
    fleet.finish(Some(result(fleet.rank, origin, started)), || None)
}

fn serve(exchange: ThreadExchange) -> Result<(), String> {
    let settings = Settings { timeout: LONG, host: format!("host{}", exchange.rank()) };
    let fleet = Fleet::join(|| Ok(Box::new(exchange)), settings)?;
    while fleet.next_task()?.is_some() {
        take_part(&fleet)?;
    }
    Ok(())
}

#[test]
fn several_runs_have_the_ranks_that_are_named() {
    let mut exchanges = ranks(&in_step(6)).into_iter().map(|(exchange, _)| exchange);
    let first = exchanges.next().unwrap();
    let others: Vec<_> = exchanges.map(|exchange| spawn(|| serve(exchange))).collect();
    let settings = Settings { timeout: LONG, host: "host0".into() };
    let fleet = Fleet::join(|| Ok(Box::new(first)), settings).unwrap();
    assert_eq!(fleet.hosts, ["host0", "host1", "host2", "host3", "host4", "host5"]);
    for chosen in [&[0][..], &[0, 1, 2, 3, 4, 5], &[0, 3, 5], &[0, 1], &[0, 2, 3, 4, 5]] {
        fleet.announce(Task { ranks: chosen.to_vec(), body: String::new() }).unwrap();
        let sum = take_part(&fleet).unwrap().unwrap();
        assert_sum_of(&sum, chosen.iter().copied());
        let rows: Vec<_> = sum.fleet.ranks.iter().map(|row| (row.rank, row.host.clone())).collect();
        let expected: Vec<_> =
            chosen.iter().zip(0..).map(|(rank, place)| (place, format!("host{rank}"))).collect();
        assert_eq!(rows, expected);
        assert!(
            sum.fleet.ranks.iter().all(|row| row.state == RankState::Ran && row.groups.len() == 1)
        );
    }
    fleet.leave(0);
    for other in others {
        assert_eq!(other.join().unwrap(), Ok(()));
    }
}

#[test]
fn a_rank_that_dies_at_any_moment_hangs_nobody() {
    let mut random = SplitMix64::new(11);
    let mut lose = || {
        // All is over after some 60 ms.
        let (lost, after) = (1 + random.bits() as usize % 7, random.bits() % 80_000);
        move || {
            let mut parts = [Part::Runs; 8];
            parts[lost] = Part::DiesAfter(after);
            let (sum, _) = run(&parts, &in_step(8));
            let rows = &sum.fleet.ranks;
            let ran = rows.iter().zip(0..).filter(|(row, _)| row.state == RankState::Ran);
            let ran: Vec<u32> = ran.map(|(_, rank)| rank).collect();
            assert!(ran.len() >= 7 && (ran.len() == 8 || rows[lost].state == RankState::Lost));
            assert_sum_of(&sum, ran.into_iter());
        }
    };
    // Side by side, because each waits for the lost rank; but so few that a rank which only waits for a CPU is
    // not taken for lost.
    for _ in 0..2 {
        let cases: Vec<_> = (0..25).map(|_| lose()).collect();
        std::thread::scope(|scope| cases.into_iter().for_each(|case| _ = scope.spawn(case)));
    }
}

#[test]
fn a_rank_without_jobs_in_a_phase_waits_for_its_next_one() {
    let phases = |rank| if rank == 1 { &[1][..] } else { &[0, 1][..] };
    let rank = move |exchange: ThreadExchange| {
        let settings = Settings { timeout: LONG, host: String::new() };
        let fleet = Fleet::join(|| Ok(Box::new(exchange)), settings).unwrap();
        match fleet.is_lead() {
            true => fleet.announce(Task { ranks: vec![0, 1, 2], body: String::new() }).unwrap(),
            false => drop(fleet.next_task()),
        }
        // A clock of one name needs no comparison, whose error could hide the order of starts.
        fleet.enrol(Enrolment { clock: "one".into(), ..Enrolment::default() }).unwrap();
        let (gate, origin) = (fleet.gate(), Instant::now());
        gate.laid_out();
        let starts: Vec<_> =
            phases(fleet.rank).iter().map(|phase| (*phase, gate.set_up(*phase).unwrap())).collect();
        fleet.finish(Some(result(fleet.rank, origin, origin)), || None).unwrap();
        match fleet.is_lead() {
            true => fleet.leave(0),
            false => assert_eq!(fleet.next_task(), Ok(None)),
        }
        starts
    };
    let threads: Vec<_> =
        ranks(&in_step(3)).into_iter().map(|(exchange, _)| spawn(move || rank(exchange))).collect();
    let starts: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let of = |phase| starts.iter().filter(move |start| start.0 == phase).map(|start| start.1);
    assert_eq!((of(0).count(), of(1).count()), (2, 3));
    assert!(of(0).max().unwrap() < of(1).min().unwrap(), "{starts:?}");
}
