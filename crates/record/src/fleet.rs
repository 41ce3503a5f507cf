//! What the ranks of a fleet add to a record: several processes, started by an MPI launcher, that made
//! one measurement. The jobs of the record are sums over the ranks.

use crate::{Bytes, Nanos, PerDirection, Severity};
use serde::{Deserialize, Serialize};

/// Parts of equal length into which the common window of a group is divided, to compare the ranks.
pub const WINDOW_PARTS: usize = 24;

/// The ranks of a measurement. Times are on the clock of rank 0, from the origin of its run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fleet {
    /// The MPI library with its version ("Open MPI v4.1.4").
    pub library: String,
    /// All ranks in order, those that did not measure included.
    pub ranks: Vec<RankRecord>,
    /// The windows in which all ranks ran, by group of jobs.
    pub windows: Vec<FleetWindow>,
    /// What the fleet itself took.
    pub costs: FleetCosts,
}

/// Time that a fleet takes besides its I/O, at rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetCosts {
    /// From the start of MPI until the last rank had planned its run.
    pub join: Nanos,
    /// Comparing clocks, before and after.
    pub clocks: Nanos,
    /// From the moment when the last rank was set up to the common start.
    pub start: Nanos,
    /// From the request for results to the sum of all.
    pub merge: Nanos,
}

/// The window in which all ranks that ran a group of jobs ran it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetWindow {
    /// Number of the group, as in the jobs' `GroupKey`.
    pub group: u32,
    /// When the last rank began.
    pub start: Nanos,
    /// When the first rank ended; not after `start` if the ranks had no time in common.
    pub end: Nanos,
    /// From the first rank's start to the last rank's end.
    pub span: Nanos,
}

/// What a job moved in the window in which all ranks ran its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommonWindow {
    /// Its start, from the run's origin.
    #[serde(default)]
    pub start: Nanos,
    /// Its length.
    pub length: Nanos,
    /// I/Os and bytes of the ranks that ran during the whole window.
    pub moved: PerDirection<(u64, Bytes)>,
}

impl CommonWindow {
    /// Adds what the same job of other ranks moved.
    pub fn add(&mut self, other: &CommonWindow) {
        for (direction, (ios, bytes)) in other.moved.iter() {
            let own: &mut (u64, Bytes) = &mut self.moved[direction];
            *own = (own.0 + ios, own.1 + *bytes);
        }
    }
}

/// How far a rank came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RankState {
    /// It ran, and its results are in the sum.
    #[default]
    Ran,
    /// It refused its jobs before anything ran.
    Refused,
    /// It was not heard of any more; nothing of it is in the sum.
    Lost,
}

crate::named!(RankState: Ran "ran", Refused "refused", Lost "lost");

/// One rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRecord {
    /// Its number.
    pub rank: u32,
    /// Its host; empty if it was never heard of.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// Version of its fathom.
    pub version: String,
    /// The filesystems of its targets ("nfs4 server:/export"), each once.
    pub mounts: Vec<String>,
    /// How far it came.
    pub state: RankState,
    /// Why it refused or was lost; the first error of one that ran, if there was any; else empty.
    pub why: String,
    /// Its exit code.
    pub exit_code: u8,
    /// Its clock against that of rank 0.
    pub clock: ClockComparison,
    /// What it did, by group of jobs.
    pub groups: Vec<RankGroup>,
    /// What limited its jobs, by the evidence of its own host.
    pub verdicts: Vec<RankVerdict>,
    /// What its checks found.
    pub findings: Vec<RankFinding>,
}

impl RankRecord {
    /// "rank 3 on node3"; without the host if it is not known.
    pub fn label(&self) -> String {
        match self.host.is_empty() {
            true => format!("rank {}", self.rank),
            false => format!("rank {} on {}", self.rank, self.host),
        }
    }

    /// What it did in a group of jobs, if it ran it.
    pub fn group(&self, number: u32) -> Option<&RankGroup> {
        self.groups.iter().find(|group| group.group == number)
    }
}

/// What a rank did in one group of jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankGroup {
    /// Number of the group.
    pub group: u32,
    /// Start of its first job.
    pub started: Nanos,
    /// End of its last.
    pub ended: Nanos,
    /// Whether the common window was made with it.
    pub in_window: bool,
    /// I/Os and bytes in the common window.
    pub within: PerDirection<(u64, Bytes)>,
    /// I/Os of all directions in each of [`WINDOW_PARTS`] equal parts of the common window.
    pub parts: Vec<u64>,
    /// Mean completion latency, over all it did.
    pub clat_mean: Nanos,
    /// 99th percentile of completion latency, over all it did.
    pub clat_p99: Nanos,
    /// Digest of the names and workloads of its jobs: ranks with the same one did the same work. 0 in records of
    /// earlier versions.
    #[serde(default)]
    pub work: u64,
}

impl RankGroup {
    /// I/Os of all directions in the common window.
    pub fn ios(&self) -> u64 {
        self.within.iter().map(|(_, (ios, _))| ios).sum()
    }
}

/// A clock against that of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockComparison {
    /// Whether it is the same clock: rank 0 itself, or a rank on its host.
    pub same: bool,
    /// Before the run.
    pub before: Option<ClockOffset>,
    /// After the run.
    pub after: Option<ClockOffset>,
}

/// How far a clock is ahead of that of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// When it was measured, on the clock of rank 0, in nanoseconds.
    pub at: u64,
    /// How far it is ahead; negative: behind. In nanoseconds.
    pub ahead: i64,
    /// The true offset is at most this far off: half of the shortest round trip.
    pub bound: u64,
}

/// Two clocks gain on each other at most this much, in parts per million: Linux slews each by at most 500.
const GAIN_MAX_PPM: u64 = 1000;

impl ClockComparison {
    /// Whether the clock could be compared, or need not be.
    pub fn is_known(&self) -> bool {
        self.same || self.before.or(self.after).is_some()
    }

    /// How far the clock jumped ahead between both measurements, in nanoseconds; `None` if it went on as clocks
    /// do.
    pub fn jump(&self) -> Option<i64> {
        let (before, after) = (self.before.filter(|_| !self.same)?, self.after?);
        let gained = after.ahead.saturating_sub(before.ahead);
        let by_drift = after.at.saturating_sub(before.at) / (1_000_000 / GAIN_MAX_PPM);
        let most = by_drift.saturating_add(before.bound).saturating_add(after.bound);
        (gained.unsigned_abs() > most).then_some(gained)
    }

    /// How much faster the clock runs than that of rank 0, and how far off that may be, in parts per
    /// million; `None` without two measurements, or if it jumped between them.
    pub fn drift_ppm(&self) -> Option<(f64, f64)> {
        let (before, after) = (self.before?, self.after.filter(|_| self.jump().is_none())?);
        let time = after.at.checked_sub(before.at).filter(|time| *time > 0)? as f64;
        let drift = (after.ahead - before.ahead) as f64 * 1e6 / time;
        Some((drift, (after.bound + before.bound) as f64 * 1e6 / time))
    }

    /// A moment of this clock on that of rank 0, in nanoseconds: by the line through both measurements, or by
    /// the first alone if there is no other or the clock jumped between them: nothing tells when. `None` if it
    /// could not be compared.
    pub fn to_lead(&self, own: u64) -> Option<u64> {
        if self.same {
            return Some(own);
        }
        let first = self.before.or(self.after)?;
        let by_first = i128::from(own) - i128::from(first.ahead);
        let second = self.after.filter(|after| after.at > first.at && self.jump().is_none());
        let drifted = second.map_or(0, |second| {
            let gained = i128::from(second.ahead) - i128::from(first.ahead);
            let time = i128::from(second.at) - i128::from(first.at);
            gained * (by_first - i128::from(first.at)) / time
        });
        Some(u64::try_from(by_first - drifted).unwrap_or(0))
    }

    /// The largest error of [`ClockComparison::to_lead`], in nanoseconds; `None` if it could not be compared.
    pub fn bound(&self) -> Option<u64> {
        if self.same {
            return Some(0);
        }
        let bounds = self.before.iter().chain(&self.after).map(|offset| offset.bound);
        let jump = self.jump().map_or(0, i64::unsigned_abs);
        bounds.max().map(|bound| bound.saturating_add(jump))
    }
}

/// What limited a job of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankVerdict {
    /// The job.
    pub job: String,
    /// The limit, as it is printed.
    pub limit: String,
    /// The confidence, as it is printed.
    pub confidence: String,
    /// Why.
    pub because: String,
    /// For what the figure is valid.
    pub valid_for: String,
}

/// What a check of a rank found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFinding {
    /// The id of the check.
    pub check: String,
    /// How grave.
    pub severity: Severity,
    /// The jobs it is about; empty: the whole run.
    pub jobs: Vec<String>,
    /// What happened.
    pub text: String,
    /// The cause.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_drifts_is_followed_between_two_measurements() {
        let at = |at, ahead| Some(ClockOffset { at, ahead, bound: 10 });
        let clock =
            ClockComparison { same: false, before: at(1_000_000, 500), after: at(2_000_000, 700) };
        assert_eq!(clock.to_lead(1_000_500), Some(1_000_000));
        assert_eq!(clock.to_lead(2_000_700), Some(2_000_000));
        assert!(clock.to_lead(1_500_600).unwrap().abs_diff(1_500_000) <= 1);
        let (drift, bound) = clock.drift_ppm().unwrap();
        assert!((drift - 200.0).abs() < 1e-9 && (bound - 20.0).abs() < 1e-9, "{drift} {bound}");
        assert_eq!((clock.jump(), clock.bound()), (None, Some(10)));
        let behind = ClockComparison { same: false, before: at(1000, -400), after: None };
        assert_eq!((behind.to_lead(600), behind.drift_ppm()), (Some(1000), None));
        let own = ClockComparison { same: true, ..behind };
        assert_eq!((own.to_lead(600), own.bound()), (Some(600), Some(0)));
    }

    #[test]
    fn a_clock_that_jumps_is_not_followed_and_one_that_was_not_compared_is_not_known() {
        let at = |at, ahead| Some(ClockOffset { at, ahead, bound: 10 });
        // 1000 ppm of a second, and both bounds: 1 000 020 ns.
        for (gained, jump) in
            [(1_000_020, None), (1_000_021, Some(1_000_021)), (-9_000_000, Some(-9_000_000))]
        {
            let clock = ClockComparison {
                before: at(5, 500),
                after: at(1_000_000_005, 500 + gained),
                ..ClockComparison::default()
            };
            assert_eq!(clock.jump(), jump);
            if jump.is_some() {
                assert_eq!(
                    (clock.to_lead(900_000_500), clock.drift_ppm()),
                    (Some(900_000_000), None)
                );
                assert_eq!(clock.bound(), Some(10 + gained.unsigned_abs()));
            }
        }
        let late = ClockComparison { after: at(1000, 400), ..ClockComparison::default() };
        assert_eq!(
            (late.to_lead(1400), late.bound(), late.is_known()),
            (Some(1000), Some(10), true)
        );
        let never = ClockComparison::default();
        assert_eq!((never.to_lead(5), never.bound(), never.is_known()), (None, None, false));
    }
}
