//! Observes the run of a rank.

use anyhow::{Result, bail};
use fleet::Fleet;
use runner::{RunControl, RunInProgress, RunObserver};
use std::time::{Duration, Instant};

/// Time between two looks at how much I/O was made.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Tells the fleet how far the run is, and ends it when the fleet is to end. Rank 0 has an observer of its
/// own, which is not told of the record: it gets that of all ranks later.
pub struct RankObserver<'a> {
    fleet: &'a Fleet,
    own: Option<&'a mut dyn RunObserver>,
    origin: Option<Instant>,
    reported: Option<Instant>,
}

impl<'a> RankObserver<'a> {
    /// For rank 0.
    pub fn shown(fleet: &'a Fleet, own: &'a mut dyn RunObserver) -> Self {
        RankObserver { own: Some(own), ..RankObserver::silent(fleet) }
    }

    /// For the others.
    pub fn silent(fleet: &'a Fleet) -> Self {
        RankObserver { fleet, own: None, origin: None, reported: None }
    }

    /// The moment that the times of the run count from.
    pub fn origin(&self) -> Instant {
        self.origin.unwrap_or_else(Instant::now)
    }

    fn report_progress(&mut self, run: &RunInProgress) {
        if self.reported.is_some_and(|reported| reported.elapsed() < PROGRESS_INTERVAL) {
            return;
        }
        self.reported = Some(Instant::now());
        let snapshot = run.run.snapshot();
        let ios: u64 = snapshot
            .workers
            .iter()
            .map(|worker| worker.ios.iter().map(|(_, n)| n).sum::<u64>())
            .sum();
        let laid_out = snapshot.layout.map_or(0, |layout| layout.done + 1);
        self.fleet.set_progress(ios + laid_out);
    }
}

impl RunObserver for RankObserver<'_> {
    fn laying_out(&mut self, job: &str, files: u64, bytes: u64) -> Result<()> {
        self.own.as_mut().map_or(Ok(()), |own| own.laying_out(job, files, bytes))
    }

    fn traced(&mut self, lines: &str) -> Result<()> {
        self.own.as_mut().map_or(Ok(()), |own| own.traced(lines))
    }

    fn poll(&mut self, run: &RunInProgress) -> Result<RunControl> {
        self.origin = Some(run.run.origin());
        if let Some(signal) = run.signals.caught() {
            self.fleet.stop(signal);
        }
        if self.fleet.is_abandoned() {
            bail!("the I/O of rank 0 does not end");
        }
        self.report_progress(run);
        let own = self.own.as_mut().map_or(Ok(RunControl::default()), |own| own.poll(run))?;
        Ok(RunControl { stop: own.stop || self.fleet.stopped_by().is_some(), ..own })
    }

    fn ended(&mut self, run: &RunInProgress) -> Result<()> {
        self.origin = Some(run.run.origin());
        self.own.as_mut().map_or(Ok(()), |own| own.ended(run))
    }
}
