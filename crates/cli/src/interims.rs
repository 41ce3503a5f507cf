//! Reports on a run that still goes on (`--status-interval`).

use crate::call::Call;
use crate::output::Output;
use crate::runner::UnderWay;
use judge::Judged;
use record::RunRecord;
use report::Dress;
use std::time::{Duration, Instant};

/// Workers lay out what they have at the same moments, each when it looks at the time; after this
/// long all but those that wait for a slow I/O have.
const GRACE: Duration = Duration::from_millis(50);

/// Makes one report after the other.
pub struct Interims {
    every: Duration,
    formats: Vec<report::Format>,
    dress: Dress,
    /// How many multiples of the interval have passed, and how many reports were made.
    passed: u32,
    made: u64,
    before: Option<RunRecord>,
}

impl Interims {
    /// `None` where they are not asked for.
    pub fn new(call: &Call, output: &Output) -> Option<Interims> {
        let every = call.invocation.status_interval?;
        Some(Interims {
            every: Duration::from_nanos(every.0),
            formats: call.formats(),
            dress: call.dress(output),
            passed: 0,
            made: 0,
            before: None,
        })
    }

    /// The report that is due, if one is. Before the first worker has begun there is none.
    pub fn due(&mut self, under_way: &UnderWay) -> Option<String> {
        let next = under_way.run.origin() + self.every * (self.passed + 1) + GRACE;
        let late = Instant::now().checked_duration_since(next)?;
        self.passed += 1 + (late.as_nanos() / self.every.as_nanos()) as u32;
        let record = under_way.so_far();
        if record.jobs.iter().all(|job| job.elapsed.0 == 0) {
            return None;
        }
        let mut judged = judge::figures(&record);
        self.note_since(&record, &mut judged);
        let report = report::render_so_far(&record, &judged, &self.formats, &self.dress);
        self.before = Some(record);
        Some(report)
    }

    /// Adds to the last report what came since the one before.
    pub fn note_since(&mut self, record: &RunRecord, judged: &mut Judged) {
        self.made += 1;
        judged.since = Some(judge::since(self.before.as_ref(), record, self.made));
    }
}
