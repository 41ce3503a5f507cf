//! The windows in which all ranks ran.

use record::{FleetWindow, Nanos};
use std::collections::BTreeMap;

/// When a rank ran a group of jobs, on the axis of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RanAt {
    pub group: u32,
    pub started: u64,
    pub ended: u64,
}

/// The common window of each group: from the last start to the first end. A rank that ran at quite
/// another time than most, for less than a twentieth of the typical window within it, does not shrink
/// the window; it is not in it.
pub(crate) fn common(ran: &[RanAt]) -> Vec<FleetWindow> {
    let mut groups: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for ran in ran {
        groups.entry(ran.group).or_default().push((ran.started, ran.ended));
    }
    let window = |(group, times): (u32, Vec<(u64, u64)>)| {
        let typical = (median(times.iter().map(|t| t.0)), median(times.iter().map(|t| t.1)));
        let overlap = |t: &&(u64, u64)| {
            t.1.min(typical.1).saturating_sub(t.0.max(typical.0)) * 20
                >= typical.1.saturating_sub(typical.0)
        };
        let members: Vec<(u64, u64)> = times.iter().filter(overlap).copied().collect();
        let first = times.iter().map(|t| t.0).min().unwrap_or(0);
        let last = times.iter().map(|t| t.1).max().unwrap_or(0);
        FleetWindow {
            group,
            start: Nanos(members.iter().map(|t| t.0).max().unwrap_or(0)),
            end: Nanos(members.iter().map(|t| t.1).min().unwrap_or(0)),
            span: Nanos(last - first),
        }
    };
    groups.into_iter().map(window).collect()
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_where_all_ranks_ran() {
        let ran = |started, ended| RanAt { group: 3, started, ended };
        let windows = common(&[ran(100, 1000), ran(150, 1100), ran(120, 990)]);
        let expected =
            FleetWindow { group: 3, start: Nanos(150), end: Nanos(990), span: Nanos(1000) };
        assert_eq!(windows, [expected]);
    }

    #[test]
    fn a_rank_that_came_when_the_others_were_done_is_not_in_it() {
        let ran = |started, ended| RanAt { group: 0, started, ended };
        let windows = common(&[ran(0, 1000), ran(10, 1000), ran(995, 2000)]);
        assert_eq!((windows[0].start, windows[0].end), (Nanos(10), Nanos(1000)));
        assert_eq!(windows[0].span, Nanos(2000));
        assert!(common(&[]).is_empty());
    }
}
