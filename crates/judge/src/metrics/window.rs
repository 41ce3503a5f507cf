//! Windows of time in which workers were busy.

use record::{Direction, JobRecord};

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

    #[test]
    fn a_union_counts_no_time_twice_and_no_pause() {
        assert_eq!(union_ns(&[(0, 10), (5, 15), (20, 30)]), 25);
        assert_eq!(union_ns(&[(20, 30), (0, 10), (0, 30)]), 30);
        assert_eq!(union_ns(&[]), 0);
    }

    #[test]
    fn chained_windows_have_nothing_in_common() {
        assert_eq!(common_ns(&[(0, 10), (5, 15)]), 5);
        assert_eq!(common_ns(&[(0, 10), (10, 20)]), 0);
        assert_eq!(common_ns(&[]), 0);
    }
}
