//! Recording and replay of I/O.

use record::with_defaults;
use std::sync::Arc;
use trace::{Adjust, Recording, Skip};

with_defaults! {
    /// Recording and replay of I/O.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Replay {
        /// `write_iolog`: file that lists the issued I/O.
        pub write: Option<String>,
        /// `read_iolog`, split at unescaped colons. Logs are assigned to clones round robin. "-" is
        /// standard input.
        pub logs: Vec<String>,
        /// `model_threads`: the threads of a model file that the job draws.
        pub model_threads: Option<String>,
        /// `read_iolog_chunked`: the log is read while it is replayed.
        pub chunked: bool,
        /// `replay_no_stall`: the times in the log are ignored.
        pub no_stall: bool,
        /// `replay_redirect`: the target of all I/O.
        pub redirect: Option<String>,
        /// `replay_scale`; at least 1.
        pub scale: u64 = 1,
        /// `replay_align`, a power of two; 1: none.
        pub align: u64 = 1,
        /// `replay_time_scale`, per cent of the recorded speed.
        pub time_scale: u64 = 100,
        /// `replay_skip`.
        pub skip: Skip,
        /// Options for merging traces.
        pub merge: Merge,
        /// The content of the logs, in order. Empty after parsing: the runner reads the logs and calls
        /// [`crate::Job::attach`].
        pub recordings: Vec<Arc<Recording>>,
    }
}

/// `merge_blktrace_*`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merge {
    /// `merge_blktrace_file`: the file for the merged trace.
    pub file: Option<String>,
    /// `merge_blktrace_scalars`, one for each trace, per cent; empty: 100.
    pub percents: Vec<f64>,
    /// `merge_blktrace_iters`, one for each trace; empty: 1.
    pub runs: Vec<u64>,
}

impl Replay {
    /// Whether the job's I/O comes from a log.
    pub fn is_on(&self) -> bool {
        !self.logs.is_empty()
    }

    /// The changes to the I/O of the logs.
    pub fn adjust(&self) -> Adjust {
        Adjust {
            redirected: self.redirect.is_some(),
            scale: self.scale,
            align: self.align,
            speed: self.time_scale,
            skip: self.skip,
        }
    }

    /// The recording of a clone; recordings are assigned round robin.
    pub fn of_clone(&self, clone: u64) -> Option<&Arc<Recording>> {
        let count = self.recordings.len() as u64;
        self.recordings.get(clone.checked_rem(count)? as usize)
    }
}
