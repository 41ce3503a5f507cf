//! A job as typed: one [`Job`] per section, with every value parsed and nothing resolved. Sizes may
//! still be percentages, files are still patterns, and no fact about the machine is used.
//!
//! `None` means "not given" if the default depends on something else.

mod buffers;
mod engine;
mod logs;
mod named;
mod net;
mod numbered;
mod nvme;
mod objects;
mod pace;
mod pattern;
mod priority;
mod process;
mod process_context;
mod queue;
mod replay;
mod served;
mod size;
mod steady;
mod target;
mod verify;
mod zones;

pub use buffers::{BufferContent, Buffers, DedupeMode, MemoryKind, ReadUse};
pub use engine::{Ceph, CpuLoad, CustomEngine, Program, SgWriteMode, StatCall};
pub use logs::Logs;
pub use named::Named;
pub use net::{Net, Protocol, RdmaVerb};
pub use numbered::{ObjectMix, ObjectSet, ObjectWork};
pub use nvme::{
    DataPlacement, NvmeOptions, NvmeVerifyMode, NvmeWriteMode, PlacementSelect, PlacementUse,
    ProtectionChecks,
};
pub use objects::{Http, Payload, Secret, StoreKind, Tls};
pub use pace::{DelayRange, Flow, Rate, RateProcess, ThinkTime, Timing};
pub use pattern::{
    BlockSizes, Distribution, Flash, Pattern, ReadWrite, Sequencer, SequentialOrder, SplitEntry,
    ZoneShare,
};
pub use priority::PriorityShare;
pub use process::{CpuSplit, ErrorPolicy, ExitScope, Measure, NumaMemory, Process, Retry};
pub use process_context::ProcessContext;
pub use queue::{EngineOptions, Queue, SyncFileRange, SyncMode, Syncing};
pub use replay::{Merge, Replay};
pub use served::Served;
pub use size::Size;
pub use steady::{LatencyGoal, SteadyCriterion, SteadyFigure, SteadyLimit, SteadyState};
pub use target::{
    FileService, FileServiceOrder, FileSizeRange, FileType, Layout, LockFile, Target, WriteHint,
};
pub use verify::{BlockPattern, Verify, VerifyMethod};
pub use zones::{ZoneMode, Zones};

use record::Direction;
use std::sync::Arc;
use trace::Recording;

/// One job section (or `--name` on the command line), `[global]` merged in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Name, description, place in the file.
    pub identity: Identity,
    /// Options as typed, for showcmd and for the record.
    pub options: JobOptions,
    /// What it works on.
    pub target: Target,
    /// How files are made before the run.
    pub layout: Layout,
    /// Which I/O at which offsets.
    pub pattern: Pattern,
    /// Zones it works in.
    pub zones: Zones,
    /// How much data an I/O moves.
    pub blocks: BlockSizes,
    /// What buffers hold and where they lie.
    pub buffers: Buffers,
    /// Engine, its own options, depth and batches.
    pub queue: Queue,
    /// When data is made durable.
    pub syncing: Syncing,
    /// When it starts and ends.
    pub timing: Timing,
    /// How fast it may go.
    pub rate: Rate,
    /// When it counts as steady and ends.
    pub steady: SteadyState,
    /// CPUs, priorities, identity of the process.
    pub process: Process,
    /// Changes to its surroundings.
    pub context: ProcessContext,
    /// What is measured and how it is shown.
    pub measure: Measure,
    /// What an error does.
    pub errors: ErrorPolicy,
    /// What is checked of the data.
    pub verify: Verify,
    /// Values that a server adds.
    pub served: Served,
    /// Recorded and replayed I/O.
    pub replay: Replay,
    /// Engines, options and values that fio has and fathom does not run.
    pub unmet: Vec<Unmet>,
}

/// Something that fio has and fathom does not run. It parses; the plan refuses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The option.
    pub option: &'static str,
    /// What is given, and what it would need.
    pub found: String,
    /// What to do.
    pub remedy: String,
}

impl Job {
    /// Adds the content of the job's logs. Its directions are then those of the logs, whatever `rw`
    /// says.
    pub fn attach(&mut self, recordings: Vec<Arc<Recording>>) {
        let has = |direction| recordings.iter().any(|recording| recording.has(direction));
        self.pattern.rw = ReadWrite::Replay {
            reads: has(Direction::Read),
            writes: has(Direction::Write),
            trims: has(Direction::Trim),
        };
        self.replay.recordings = recordings;
    }
}

/// Name and place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// Section name, or `name=`.
    pub name: String,
    /// `description`.
    pub description: String,
    /// Where it was defined ("quick.fio:7" or "command line").
    pub origin: String,
    /// `numjobs`; default 1.
    pub numjobs: Option<u64>,
    /// `group_reporting`.
    pub group_reporting: bool,
    /// `new_group`.
    pub new_group: bool,
    /// `stonewall`.
    pub stonewall: bool,
    /// `wait_for`: name of the job to wait for.
    pub wait_for: Option<String>,
    /// `hosts`: patterns of the names of hosts that run it; empty: all do.
    pub hosts: Vec<String>,
    /// `exitall`: when it ends, other jobs end as well.
    pub exitall: bool,
    /// `exit_what`: which others.
    pub exit_what: ExitScope,
}

impl Identity {
    /// Whether a host of this name runs it.
    pub fn is_for(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|pattern| is_like(host, pattern))
    }
}

/// Whether a name fits a pattern with '*' for any characters and '?' for one.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut rest = name.chars();
    match (pattern.chars().next(), rest.next()) {
        (None, first) => first.is_none(),
        (Some('*'), _) => {
            let tails = name.char_indices().map(|(at, _)| &name[at..]).chain([""]);
            let pattern = pattern.trim_start_matches('*');
            pattern.is_empty() || tails.into_iter().any(|tail| is_like(tail, pattern))
        }
        (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
            is_like(rest.as_str(), &pattern[wanted.len_utf8()..])
        }
        _ => false,
    }
}

/// Options as typed: canonical names, values unexpanded where fio keeps them so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobOptions {
    /// Inherited from `[global]`.
    pub global: Vec<(String, String)>,
    /// Of its own section.
    pub own: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_by_patterns() {
        let is_for = |patterns: &[&str], host: &str| {
            let hosts = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            Identity { hosts, ..Identity::default() }.is_for(host)
        };
        assert!(is_for(&[], "a") && is_for(&["b", "a"], "a") && !is_for(&["b"], "a"));
        assert!(is_for(&["node*"], "node12") && is_for(&["node?2"], "node12"));
        assert!(!is_for(&["node?"], "node12") && !is_for(&["*3"], "node12"));
        assert!(is_for(&["*d*1*"], "node12") && is_for(&["**"], "") && !is_for(&["?"], ""));
    }
}
