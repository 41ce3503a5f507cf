//! From a profile to fathom's jobs.
//!
//! A thread that works on a target is a worker. Threads that are alike are clones of one job, so a
//! profile is a few jobs whatever the number of its threads; [`layout`] says which worker is which
//! thread, for the reports to read.

mod options;

use super::profile::{Profile, TimeSpan};
use super::validate::threads;
use options::JobWriter;
pub(super) use options::{effective, path_list};
use record::{Bytes, Cell, Facts, Nanos, RunRecord};
use std::collections::VecDeque;
use std::fmt;
use suite::{Expected, Step, Suite};

/// A run looks at the machine at both ends.
const OVERHEAD: Nanos = Nanos::from_millis(150);
/// Speed that files are expected to be made with, bytes a second.
const FILL_SPEED: u64 = 500_000_000;

/// Why a profile cannot run on these targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsuitable(
    /// What was found and what to do.
    pub String,
);

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsuitable {}

/// Clones of one job: which threads and targets they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clones {
    /// Index of the target; `None`: all targets of the timespan.
    pub target: Option<usize>,
    /// Number of the thread that the first clone is.
    pub first: u64,
    /// How many threads.
    pub threads: u64,
    /// Clones a thread.
    pub streams: u64,
    /// Thread of the target that the first one is, from 0.
    pub place: u64,
}

/// The jobs of a timespan, in order.
pub(super) fn layout(span: &TimeSpan) -> Vec<Clones> {
    let mut all = Vec::new();
    let mut next = 0;
    if span.requests > 0 && !span.targets.is_empty() {
        let threads = span.threads;
        return vec![Clones { target: None, first: 0, threads, streams: 1, place: 0 }];
    }
    for (index, target) in span.targets.iter().enumerate() {
        let threads = threads(span, target);
        let first = if span.threads > 0 { 0 } else { next };
        next += threads;
        let streams = if target.parallel { target.depth } else { 1 };
        let clones =
            |first, threads, place| Clones { target: Some(index), first, threads, streams, place };
        match target.thread_stride {
            0 => all.push(clones(first, threads, 0)),
            // Each begins elsewhere, and has another length before it.
            _ => all.extend((0..threads).map(|place| clones(first + place, 1, place))),
        }
    }
    all
}

/// What the run is called that makes the files of `-c`.
const CREATION: &str = "creating files";

/// Whether a run made files, as it should, and measured nothing.
pub fn only_created(run: &RunRecord) -> bool {
    let creation = run.cell.as_ref().is_some_and(|cell| cell.name == CREATION);
    creation && run.jobs.iter().all(|job| job.error == 0)
}

/// What each timespan's measured run is called.
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
    /// Before the first timespan, for all of them.
    Creation,
    Measured,
    CoolDown,
}

impl Spans {
    /// All runs, on targets that `facts` tell of.
    ///
    /// # Errors
    /// When a target is missing, or has no room for what is to be done there.
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
        // Found now what a later timespan could not do.
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
        // A file may be larger than what could be written in all the time that can be counted.
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
        let call = &record.invocation;
        self.spent += Nanos::from_millis(call.ended_unix_ms.saturating_sub(call.started_unix_ms));
        let errors = record.jobs.iter().flat_map(|job| &job.errors);
        let refused = errors.into_iter().find(|error| error.operation == "use the I/O engine");
        if let Some(error) = refused.filter(|_| self.engine == "io_uring") {
            self.engine = "libaio";
            return vec![format!("io_uring cannot be used here ({}): using libaio", error.text)];
        }
        self.left.pop_front();
        if record.jobs.iter().any(|job| job.error != 0) {
            // The others would fail as this one did.
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        let all = self.steps().iter().fold(0_u64, |sum, step| sum.saturating_add(step.duration.0));
        // Profiles may ask for more centuries than nanoseconds can count.
        Expected { whole: Nanos(all.saturating_add(self.spent.0)), left: Nanos(all) }
    }
}

/// What one timespan makes is there in the others.
fn with_files(profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    let files = files(&profile);
    for target in profile.spans.iter_mut().flat_map(|span| &mut span.targets) {
        let made = files.iter().find(|(path, _)| *path == target.path);
        target.create = made.and_then(|file| file.1).map(|size| size.0);
    }
    profile
}

/// Paths a profile works on, each with the size it is made with, where it is.
pub(super) fn files(profile: &Profile) -> Vec<(String, Option<Bytes>)> {
    let mut all: Vec<(String, Option<Bytes>)> = Vec::new();
    for target in profile.spans.iter().flat_map(|span| &span.targets) {
        match all.iter_mut().find(|(path, _)| *path == target.path) {
            Some((_, create)) => *create = create.or(target.create.map(Bytes)),
            None => all.push((target.path.clone(), target.create.map(Bytes))),
        }
    }
    all
}
