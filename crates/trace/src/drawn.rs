//! Model files: I/O that is drawn from the distributions of a model, thread by thread. The text is TOML.
//!
//! A thread goes from step to step (a Markov chain): read this kind of file, write that one, sync it.
//! Each step has its own sizes, positions and pauses, so that steps that follow each other in the traced program do so here.

use crate::error::TraceError;
use record::Direction;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

/// The first line of a model file.
pub const MODEL_HEADER: &str = "# fathom model 1";

/// A model file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// How long the traced load took, in milliseconds.
    pub milliseconds: u64,
    /// Its files.
    #[serde(rename = "file")]
    pub files: Vec<DrawnFiles>,
    /// Its threads.
    #[serde(rename = "threads")]
    pub threads: Vec<DrawnThreads>,
}

/// Files that are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnFiles {
    /// Path; a number is added if there are several.
    pub name: String,
    /// How many.
    pub count: u32,
    /// Bytes of each.
    pub bytes: u64,
    /// Bytes of each that are written before the load begins; those that are read are in any case.
    #[serde(default)]
    pub filled: u64,
}

/// Threads that are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnThreads {
    /// Name of the job.
    pub name: String,
    /// How many run at a time.
    pub count: u32,
    /// I/Os that each has outstanding.
    pub depth: u32,
    /// Whether files are opened with O_DIRECT.
    pub direct: bool,
    /// Whether files are opened with O_DSYNC.
    pub dsync: bool,
    /// Whether I/Os keep their times (true), or wait for the end of the one before (false).
    pub open_loop: bool,
    /// When they begin, in milliseconds.
    pub from: u64,
    /// When they end.
    pub to: u64,
    /// What they do; the first is the first.
    #[serde(rename = "step")]
    pub steps: Vec<DrawnStep>,
}

/// One operation of threads on files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnStep {
    /// The operation.
    pub operation: DrawnOperation,
    /// Index of its files.
    pub file: usize,
    /// Offsets are multiples of this.
    pub align: u64,
    /// Bytes and weight of each size.
    #[serde(default)]
    pub sizes: Vec<(u64, u64)>,
    /// I/Os and weight of each length of a sequential run.
    #[serde(default)]
    pub runs: Vec<(u64, u64)>,
    /// How runs are spread over blocks: "uniform", "zipf:THETA", "pareto:H" as in fio, or empty to
    /// follow `zones` and `again`.
    #[serde(default)]
    pub skew: String,
    /// Weights of equal parts of the files.
    #[serde(default)]
    pub zones: Vec<u64>,
    /// A run that begins where one of this step began so many runs before: lowest and highest number,
    /// and weight. Numbers 0 and 0 are a new place.
    #[serde(default)]
    pub again: Vec<(u64, u64, u64)>,
    /// The pause before it: shortest and longest in nanoseconds, and weight.
    #[serde(default)]
    pub gaps: Vec<(u64, u64, u64)>,
    /// The steps that follow, and their weights.
    pub next: Vec<(usize, u64)>,
}

/// The operation of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DrawnOperation {
    /// A read.
    #[default]
    Read,
    /// A write.
    Write,
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2) of a whole file, with SYNC_FILE_RANGE_WRITE: writing back begins.
    SyncRange,
    /// A discard.
    Trim,
}

/// What a worker draws: its threads, and the files of all as they are numbered for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The threads.
    pub threads: DrawnThreads,
    /// For each kind of files: the number of the first, how many, and the bytes of each.
    pub files: Vec<(u32, u32, u64)>,
}

/// The largest I/O and the most files of a kind that a model may have.
const LENGTH_MAX: u64 = 1 << 30;
const FILES_MAX: u32 = 1 << 16;
/// The largest file, and the largest distance, pause and sum of weights.
const BYTES_MAX: u64 = 1 << 60;

impl Drawing {
    /// Whether this is the beginning of a model file.
    pub fn is_one(start: &[u8]) -> bool {
        start.starts_with(MODEL_HEADER.as_bytes())
    }

    /// Puts the files into a directory. They keep their names.
    pub fn move_files(&mut self, directory: &Path) {
        for file in &mut self.files {
            let name = Path::new(&file.name).file_name().unwrap_or_default();
            file.name = directory.join(name).display().to_string();
        }
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let rest = toml::to_string(self).unwrap_or_default();
        format!(
            "{MODEL_HEADER}\n# Run it: fathom run FILE. Change names and bytes of files to run it \
             elsewhere; positions scale with them.\n{rest}"
        )
    }

    /// Reads and checks a file.
    pub fn parse(text: &str) -> Result<Drawing, TraceError> {
        let drawing: Drawing = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            TraceError::Line { line: line as u64, what: error.message().to_owned() }
        })?;
        match drawing.mistake() {
            Some(what) => Err(TraceError::Whole(what)),
            None => Ok(drawing),
        }
    }

    fn mistake(&self) -> Option<String> {
        if self.threads.is_empty() {
            return Some("a model needs at least one [[threads]]".into());
        }
        let bad_file = |file: &&DrawnFiles| {
            !(1..=FILES_MAX).contains(&file.count)
                || !(1..=BYTES_MAX).contains(&file.bytes)
                || file.name.is_empty()
        };
        if let Some(file) = self.files.iter().find(bad_file) {
            return Some(format!(
                "file '{}': name it, with a count from 1 to {FILES_MAX} and bytes from 1 to {BYTES_MAX}",
                file.name
            ));
        }
        self.threads.iter().find_map(|threads| {
            let mistake = threads.mistake(&self.files)?;
            Some(format!("threads '{}': {mistake}", threads.name))
        })
    }

    /// The job file that runs the model at `path`: a section for each kind of threads.
    pub fn job(&self, path: &str) -> String {
        let mut text = String::from("[global]\ngroup_reporting\n");
        for threads in &self.threads {
            let DrawnThreads { name, count, depth, .. } = threads;
            let engine = if *depth > 1 { "io_uring" } else { "psync" };
            let _ = writeln!(
                text,
                "[{name}]\nread_iolog={path}\nmodel_threads={name}\nnumjobs={count}\n\
                 ioengine={engine}\niodepth={depth}\ndirect={}\nstartdelay={}ms\nruntime={}ms",
                u8::from(threads.direct),
                threads.from,
                (threads.to.saturating_sub(threads.from)).max(1),
            );
            if threads.dsync {
                text.push_str("sync=dsync\n");
            }
        }
        text
    }
}

impl DrawnThreads {
    fn mistake(&self, files: &[DrawnFiles]) -> Option<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || !self.name.chars().all(is_plain) {
            return Some("a name has letters, digits, '-', '_' and '.'".into());
        }
        if !(1..=65_536).contains(&self.count) || !(1..=65_536).contains(&self.depth) {
            return Some("count and depth are from 1 to 65536".into());
        }
        if self.steps.is_empty() {
            return Some("at least one step is needed".into());
        }
        let bad = |step: &DrawnStep| step.mistake(files, self.steps.len());
        self.steps
            .iter()
            .enumerate()
            .find_map(|(n, step)| Some(format!("step {n}: {}", bad(step)?)))
    }
}

impl DrawnStep {
    /// The largest I/O.
    pub fn longest(&self) -> u64 {
        self.sizes.iter().map(|(size, _)| *size).max().unwrap_or(0)
    }

    fn mistake(&self, files: &[DrawnFiles], steps: usize) -> Option<&'static str> {
        let moves = self.operation.direction().is_some();
        let weighs = |sum: u64| sum > 0 && sum <= BYTES_MAX;
        let total = |weights: &mut dyn Iterator<Item = u64>| weights.fold(0, u64::saturating_add);
        let sizes_bad = !weighs(total(&mut self.sizes.iter().map(|(_, weight)| *weight)))
            || self.sizes.iter().any(|(size, _)| !(1..=LENGTH_MAX).contains(size));
        let triples = || self.gaps.iter().chain(&self.again);
        let others = [
            total(&mut self.zones.iter().copied()),
            total(&mut self.runs.iter().map(|(_, weight)| *weight)),
            total(&mut self.gaps.iter().map(|(.., weight)| *weight)),
            total(&mut self.again.iter().map(|(.., weight)| *weight)),
        ];
        let is_large = triples().any(|(_, high, _)| *high > BYTES_MAX)
            || others.iter().any(|sum| *sum > BYTES_MAX);
        match self {
            _ if is_large => Some("a pause, a distance or a sum of weights is too large"),
            _ if self.file >= files.len() => Some("its file is not in the list"),
            _ if !self.align.is_power_of_two() => Some("align is a power of two"),
            _ if moves && sizes_bad => Some("sizes are pairs of bytes (1 to 1 GiB) and weight"),
            _ if self.gaps.iter().any(|(low, high, _)| low > high) => {
                Some("a gap ends before it begins")
            }
            _ if self.again.iter().any(|(low, high, _)| low > high) => {
                Some("a distance ends before it begins")
            }
            _ if self.next.iter().any(|(next, _)| *next >= steps) => {
                Some("a next step is not there")
            }
            _ if !weighs(total(&mut self.next.iter().map(|(_, weight)| *weight))) => {
                Some("next needs a step with a weight above 0")
            }
            _ if self.parameter().is_none() => {
                Some("skew is \"\", \"uniform\", \"zipf:THETA\" or \"pareto:H\"")
            }
            _ => None,
        }
    }

    /// The kind of skew and its parameter; `None` if it is wrong.
    pub fn parameter(&self) -> Option<(&str, f64)> {
        if self.skew.is_empty() || self.skew == "uniform" {
            return Some((&self.skew, 0.0));
        }
        let (kind, value) = self.skew.split_once(':')?;
        let value: f64 = value.parse().ok()?;
        let holds = match kind {
            "zipf" => value > 0.0 && value < 10.0 && (value - 1.0).abs() > 1e-6,
            "pareto" => value > 0.0 && value < 1.0,
            _ => false,
        };
        holds.then_some((kind, value))
    }
}

impl DrawnOperation {
    /// The direction of its data.
    pub const fn direction(self) -> Option<Direction> {
        match self {
            DrawnOperation::Read => Some(Direction::Read),
            DrawnOperation::Write => Some(Direction::Write),
            DrawnOperation::Trim => Some(Direction::Trim),
            DrawnOperation::Fsync | DrawnOperation::Fdatasync | DrawnOperation::SyncRange => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A model of one file and two threads that read it.
    pub(crate) fn drawing() -> Drawing {
        let step = DrawnStep {
            operation: DrawnOperation::Read,
            align: 4096,
            sizes: vec![(4096, 3), (8192, 1)],
            skew: "zipf:0.9".into(),
            next: vec![(0, 1)],
            ..DrawnStep::default()
        };
        let threads = DrawnThreads {
            name: "db".into(),
            count: 2,
            depth: 1,
            to: 1000,
            steps: vec![step],
            ..DrawnThreads::default()
        };
        let file = DrawnFiles { name: "data".into(), count: 3, bytes: 1 << 20, filled: 4096 };
        Drawing { milliseconds: 1000, files: vec![file], threads: vec![threads] }
    }

    #[test]
    fn a_model_file_is_read_as_it_was_written() {
        let text = drawing().text();
        assert!(Drawing::is_one(text.as_bytes()));
        assert_eq!(Drawing::parse(&text).unwrap(), drawing(), "{text}");
        let job = drawing().job("m.toml");
        assert!(job.contains("[db]\nread_iolog=m.toml\nmodel_threads=db\nnumjobs=2\n"), "{job}");
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let mut wrong = drawing();
        wrong.threads[0].steps[0].next = vec![(7, 1)];
        let text = Drawing::parse(&wrong.text()).unwrap_err().to_string();
        assert_eq!(text, "threads 'db': step 0: a next step is not there");
        let text = Drawing::parse("milliseconds = 1\nfile = 3\n").unwrap_err().to_string();
        assert!(text.starts_with("line 2: "), "{text}");
        let mut wrong = drawing();
        wrong.threads[0].steps[0].skew = "zipf:x".into();
        assert!(Drawing::parse(&wrong.text()).is_err());
    }
}
