//! Translates a profile into fathom's jobs.
//!
//! A thread with a target is a worker. Equal threads are clones of one job, so a profile becomes a
//! few jobs for any number of threads. [`layout()`] maps workers to threads for the reports.

mod layout;
mod options;

use super::profile::Profile;
pub use layout::Unsuitable;
pub(super) use layout::{files, layout};
use options::JobWriter;
pub(super) use options::{effective, path_list};
use record::{Cell, Facts, Nanos, RunRecord};
use std::collections::VecDeque;
use suite::{Expected, Step, Suite, run_duration};

/// Assumed time for reading facts at the start and the end of a run.
const OVERHEAD: Nanos = Nanos::from_millis(150);
/// Assumed speed of creating files, in bytes per second.
const FILL_SPEED: u64 = 500_000_000;

/// The name of the run that creates the files of `-c`.
const CREATION: &str = "creating files";

/// Whether a run only created files, without errors.
pub fn only_created(run: &RunRecord) -> bool {
    let creation = run.cell.as_ref().is_some_and(|cell| cell.name == CREATION);
    creation && run.jobs.iter().all(|job| job.error == 0)
}

/// The name of the measured run of a timespan.
pub(super) fn cell_name(index: usize) -> String {
    format!("timespan {}", index + 1)
}

/// The runs of a profile.
pub struct Spans {
    profile: Profile,
    facts: Facts,
    engine: &'static str,
    left: VecDeque<(usize, Part)>,
    spent: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The creation of files before the first timespan.
    Creation,
    Measured,
    CoolDown,
}

impl Spans {
    /// The runs of a profile on targets with these facts.
    ///
    /// # Errors
    /// When a target is missing or too small.
    pub fn new(profile: &Profile, facts: &Facts) -> Result<Spans, Unsuitable> {
        let profile = with_files(profile);
        let mut left = VecDeque::new();
        if options::made(&profile, facts).next().is_some() {
            left.push_back((0, Part::Creation));
        }
        for (index, span) in profile.spans.iter().enumerate() {
            left.push_back((index, Part::Measured));
            if span.cooldown_s > 0 {
                left.push_back((index, Part::CoolDown));
            }
        }
        let facts = facts.clone();
        let spans = Spans { profile, facts, engine: "io_uring", left, spent: Nanos::default() };
        // Errors of later timespans must show before the first run.
        spans.left.iter().try_for_each(|(index, part)| spans.arguments(*index, *part).map(drop))?;
        Ok(spans)
    }

    /// Every run, in order.
    pub fn steps(&self) -> Vec<Step> {
        self.left.iter().filter_map(|(index, part)| self.step(*index, *part)).collect()
    }

    fn step(&self, index: usize, part: Part) -> Option<Step> {
        let span = &self.profile.spans[index];
        let (name, seconds) = match part {
            Part::Creation => {
                let files = options::made(&self.profile, &self.facts);
                let bytes = files.fold(0_u64, |sum, file| sum.saturating_add(file.1));
                (CREATION.to_owned(), bytes / FILL_SPEED)
            }
            Part::Measured => (cell_name(index), span.warmup_s.saturating_add(span.duration_s)),
            Part::CoolDown => (format!("cool-down {}", index + 1), span.cooldown_s),
        };
        // The time for a huge file may exceed the largest number.
        let lasts = seconds.saturating_mul(Nanos::SECOND.0).saturating_add(OVERHEAD.0);
        let arguments = self.arguments(index, part).ok()?;
        let cell = Cell { name: name.clone(), ..Cell::default() };
        Some(Step { cell, description: name, arguments, duration: Nanos(lasts) })
    }

    fn arguments(&self, index: usize, part: Part) -> Result<Vec<String>, Unsuitable> {
        if part == Part::Creation {
            return Ok(options::made(&self.profile, &self.facts)
                .flat_map(options::creation)
                .collect());
        }
        let span = &self.profile.spans[index];
        let mut all = Vec::new();
        for clones in layout(span) {
            let cool_down = part == Part::CoolDown;
            let words = JobWriter { span, facts: &self.facts, engine: self.engine, cool_down };
            all.extend(words.job(&clones)?);
        }
        Ok(all)
    }
}

impl Suite for Spans {
    fn next(&mut self) -> Option<Step> {
        let (index, part) = *self.left.front()?;
        self.step(index, part)
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        let errors = record.jobs.iter().flat_map(|job| &job.errors);
        let refused = errors.into_iter().find(|error| error.operation == "use the I/O engine");
        if let Some(error) = refused.filter(|_| self.engine == "io_uring") {
            self.engine = "libaio";
            return vec![format!("io_uring cannot be used here ({}): using libaio", error.text)];
        }
        self.left.pop_front();
        if record.jobs.iter().any(|job| job.error != 0) {
            // The other timespans would fail in the same way.
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        Expected::from_steps(self.spent, self.steps().iter().map(|step| step.duration))
    }
}

/// Files created in one timespan exist in the others.
fn with_files(profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    let files = files(&profile);
    for target in profile.spans.iter_mut().flat_map(|span| &mut span.targets) {
        let made = files.iter().find(|(path, _)| *path == target.path);
        target.create = made.and_then(|file| file.1).map(|size| size.0);
    }
    profile
}
