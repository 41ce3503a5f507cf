//! Windows of time in which workers were busy.

use record::{Bytes, Direction, JobRecord};

/// The windows (start, end) in which workers were busy in any of `directions`, in nanoseconds from the
/// run's origin. A worker without I/O in them has no window.
pub(crate) fn busy(jobs: &[&JobRecord], directions: &[Direction]) -> Vec<(u64, u64)> {
    // All windows of a worker begin at its start, so the longest contains the others.
    let window = |job: &JobRecord| directions.iter().filter_map(|d| busy_in(job, *d)).max();
    jobs.iter().filter_map(|job| window(job)).collect()
}

fn busy_in(job: &JobRecord, direction: Direction) -> Option<(u64, u64)> {
    let result = &job.results[direction];
    let idle = result.ios_issued == 0 && result.ios == 0;
    (!idle).then(|| (job.started.0, job.started.0 + result.runtime.0))
}

/// Length of the union of windows. A pause between chained jobs is not part of it.
pub(crate) fn union_ns(windows: &[(u64, u64)]) -> u64 {
    let mut sorted = windows.to_vec();
    sorted.sort_unstable();
    let (mut length, mut reached) = (0, 0);
    for (begin, end) in sorted {
        length += end.saturating_sub(begin.max(reached));
        reached = reached.max(end);
    }
    length
}

/// What workers moved, and the time in which they did, in nanoseconds: of ranks, while all of them ran; else as
/// long as workers were busy in any of `directions`. `amount` takes it from the counted I/Os and bytes.
pub(crate) fn moved(
    jobs: &[&JobRecord],
    directions: &[Direction],
    amount: impl Fn(&JobRecord, Direction, (u64, Bytes)) -> u64,
) -> (u64, u64) {
    let sum = |counted: &dyn Fn(&JobRecord, Direction) -> (u64, Bytes)| {
        let each = |job: &&JobRecord| {
            directions.iter().map(|d| amount(job, *d, counted(job, *d))).sum::<u64>()
        };
        jobs.iter().map(each).sum()
    };
    match common_window(jobs, directions) {
        Some((start, end)) => (sum(&|job, d| job.common.unwrap_or_default().moved[d]), end - start),
        None => {
            let counted = sum(&|job, d| (job.results[d].ios, job.results[d].bytes));
            (counted, union_ns(&busy(jobs, directions)))
        }
    }
}

/// The window (start, end) in which all ranks ran these jobs, in nanoseconds from the run's origin; `None` if they
/// have no such window, or not one. Phases in turn (writes, then reads that verify them) each have a part of it
/// only, which is no window of theirs.
pub(crate) fn common_window(jobs: &[&JobRecord], directions: &[Direction]) -> Option<(u64, u64)> {
    let busy_ns = union_ns(&busy(jobs, directions));
    let window = |job: &&JobRecord| {
        let common = job.common.unwrap_or_default();
        (common.start.0, (common.start + common.length).0)
    };
    let mut windows = jobs.iter().filter(|job| !job.did_nothing()).map(window);
    let first = windows.next().filter(|(start, end)| end > start && end - start <= busy_ns)?;
    windows.all(|window| window == first).then_some(first)
}

/// Length of the intersection of windows.
pub(crate) fn common_ns(windows: &[(u64, u64)]) -> u64 {
    let begin = windows.iter().map(|w| w.0).max().unwrap_or(0);
    let end = windows.iter().map(|w| w.1).min().unwrap_or(0);
    end.saturating_sub(begin)
}

/// Length of the longest window.
pub(crate) fn longest_ns(windows: &[(u64, u64)]) -> u64 {
    windows.iter().map(|(begin, end)| end - begin).max().unwrap_or(0)
}

/// `amount` a second over `window_ns`; 0 for an empty window.
pub(crate) fn per_second(amount: u64, window_ns: u64) -> f64 {
    if window_ns == 0 { 0.0 } else { amount as f64 * 1e9 / window_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{CommonWindow, DirectionResult, Nanos};

    #[test]
    fn a_union_counts_no_time_twice_and_no_pause() {
        assert_eq!(union_ns(&[(0, 10), (5, 15), (20, 30)]), 25);
        assert_eq!(union_ns(&[(20, 30), (0, 10), (0, 30)]), 30);
        assert_eq!(union_ns(&[]), 0);
    }

    #[test]
    fn rates_of_ranks_are_of_the_time_in_which_all_ran() {
        let mut job = JobRecord { elapsed: Nanos(900), ..JobRecord::default() };
        job.results.read = DirectionResult {
            ios: 90,
            ios_issued: 90,
            bytes: Bytes(9_000),
            runtime: Nanos(900),
            ..DirectionResult::default()
        };
        let ios = |job: &JobRecord| moved(&[job], &[Direction::Read], |_, _, (ios, _)| ios);
        assert_eq!(ios(&job), (90, 900));
        let mut common = CommonWindow { length: Nanos(300), ..CommonWindow::default() };
        common.moved.read = (60, Bytes(6_000));
        job.common = Some(common);
        assert_eq!(ios(&job), (60, 300));
        let bytes = moved(&[&job], &Direction::ALL, |_, _, (_, bytes)| bytes.0);
        assert_eq!(bytes, (6_000, 300));
        // Reads were a phase of their own, shorter than the window.
        job.results.read.runtime = Nanos(200);
        assert_eq!(ios(&job), (90, 200));
        job.common = Some(CommonWindow::default());
        assert_eq!(ios(&job), (90, 200), "the ranks had no time in common");
    }

    #[test]
    fn chained_windows_have_nothing_in_common() {
        assert_eq!(common_ns(&[(0, 10), (5, 15)]), 5);
        assert_eq!(common_ns(&[(0, 10), (10, 20)]), 0);
        assert_eq!(common_ns(&[]), 0);
    }
}
