//! Reports on a run that still goes on (`--status-interval`, SIGUSR1).

use crate::call::Call;
use crate::output::Output;
use engine::{LOOK_AT_LEAST, Run};
use judge::Judged;
use record::{Nanos, RunRecord};
use report::Dress;
use std::time::{Duration, Instant};

/// Workers lay out what they have at the same moments, each when it looks at the time; after this
/// long all but those that wait for a slow I/O have.
pub const GRACE: Duration = Duration::from_millis(50);

/// When a run that goes on is to be reported.
pub struct Due {
    every: Option<Duration>,
    /// How many multiples of the interval have passed.
    passed: u32,
    /// When that is there what was asked for.
    asked: Option<Instant>,
}

impl Due {
    /// At each multiple of an interval from the run's origin, and when asked for.
    pub fn new(every: Option<Nanos>) -> Due {
        let every = every.map(|every| Duration::from_nanos(every.0.max(1)));
        Due { every, passed: 0, asked: None }
    }

    /// Asks for a report as soon as the workers can give one.
    pub fn ask(&mut self, run: &Run) {
        run.ask();
        self.asked.get_or_insert_with(|| Instant::now() + LOOK_AT_LEAST + GRACE);
    }

    /// Whether a report is due; once for each.
    pub fn is_due(&mut self, origin: Instant) -> bool {
        let now = Instant::now();
        let asked = self.asked.take_if(|at| now >= *at).is_some();
        let Some(every) = self.every else { return asked };
        let next = origin + every * (self.passed + 1) + GRACE;
        let Some(late) = now.checked_duration_since(next) else { return asked };
        self.passed += 1 + (late.as_nanos() / every.as_nanos()) as u32;
        true
    }
}

/// Makes one report after the other.
pub struct Interims {
    formats: Vec<report::Format>,
    dress: Dress,
    told: Told,
}

/// What was told of a run while it went on.
#[derive(Default)]
pub struct Told {
    /// It is told of more than once.
    pub wanted: bool,
    times: u64,
    before: Option<RunRecord>,
}

impl Told {
    /// Judges what was measured so far, with what came since the time before.
    pub fn so_far(&mut self, record: &RunRecord) -> Judged {
        let mut judged = judge::figures(record);
        self.wanted = true;
        self.note_since(record, &mut judged);
        self.before = Some(record.clone());
        judged
    }

    /// Adds what came since the report before, where there is more than one.
    pub fn note_since(&mut self, record: &RunRecord, judged: &mut Judged) {
        if self.wanted {
            self.times += 1;
            judged.since = Some(judge::since(self.before.as_ref(), record, self.times));
        }
    }
}

impl Interims {
    /// Reports in the formats of a call.
    pub fn new(call: &Call, output: &Output) -> Interims {
        Interims {
            formats: call.formats(),
            dress: call.dress(output),
            told: Told { wanted: call.invocation.status_interval.is_some(), ..Told::default() },
        }
    }

    /// The report on what was measured so far.
    pub fn report(&mut self, record: &RunRecord) -> String {
        let judged = self.told.so_far(record);
        report::render_so_far(record, &judged, &self.formats, &self.dress)
    }

    /// Adds to the last report what came since the one before.
    pub fn note_since(&mut self, record: &RunRecord, judged: &mut Judged) {
        self.told.note_since(record, judged);
    }
}
