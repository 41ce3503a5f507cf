//! The mapping of threads and targets to jobs.

use crate::diskspd::profile::{Profile, TimeSpan};
use crate::diskspd::validate::threads;
use record::Bytes;

/// Why a profile cannot run on these targets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsuitable(
    /// What was found and what to do.
    pub String,
);

/// The threads and the target of one job's clones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::diskspd) struct Clones {
    /// Index of the target; `None`: all targets of the timespan.
    pub target: Option<usize>,
    /// The thread of the first clone.
    pub first: u64,
    /// Number of threads.
    pub threads: u64,
    /// Clones per thread.
    pub streams: u64,
    /// Index of the first thread among those of the target.
    pub place: u64,
}

/// The jobs of a timespan, in order.
pub(in crate::diskspd) fn layout(span: &TimeSpan) -> Vec<Clones> {
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
            // Each thread starts at a different offset and thus has a different length.
            _ => all.extend((0..threads).map(|place| clones(first + place, 1, place))),
        }
    }
    all
}

/// The paths of a profile, each with the size at which it is created, if it is.
pub(in crate::diskspd) fn files(profile: &Profile) -> Vec<(String, Option<Bytes>)> {
    let mut all: Vec<(String, Option<Bytes>)> = Vec::new();
    for target in profile.spans.iter().flat_map(|span| &span.targets) {
        match all.iter_mut().find(|(path, _)| *path == target.path) {
            Some((_, create)) => *create = create.or(target.create.map(Bytes)),
            None => all.push((target.path.clone(), target.create.map(Bytes))),
        }
    }
    all
}
