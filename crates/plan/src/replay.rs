//! Jobs that replay a log: their targets, and which of their options apply.

use crate::files::{Files, JobContext};
use crate::model::{BlockPlan, File, Prepare, Replay, Worker};
use crate::names::directions_of;
use crate::problem::Diagnostics;
use crate::safety;
use crate::sizes::{Extent, Region};
use job::{Engine, Job, ReadWrite};
use record::{Direction, Message, PerDirection, TargetKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::{FileUse, Held, Recording};

/// Oracle: a trace of stacked devices lacks completions, so its depth is used only up to this.
const DEPTH_MAX: u32 = 1024;

/// Checks options that a replay ignores or requires.
pub(crate) fn check(job: &Job, diagnostics: &mut Diagnostics) {
    let (replay, timing, target) = (&job.replay, &job.timing, &job.target);
    if !replay.is_on() {
        return;
    }
    if replay.recordings.is_empty() {
        diagnostics.usage(
            job,
            "read_iolog",
            "the log was not read",
            "run the job from a command line",
        );
    }
    let is_empty = |recording: &Arc<Recording>| {
        recording.ios == 0 && !matches!(recording.held, Held::Later(_))
    };
    if replay.recordings.iter().all(is_empty) {
        let what = "the log has no I/O, or replay_skip leaves out all of it";
        diagnostics.usage(job, "read_iolog", what, "name another log");
    }
    let engine = job.queue.engine;
    if !engine.moves_data() && !engine.moves_nothing() {
        let what = match engine {
            Engine::Http => "logs are of files, the http engine has objects".to_owned(),
            _ => format!("the {} engine moves no data", engine.name()),
        };
        diagnostics.usage(
            job,
            "ioengine",
            what,
            "name one that moves data of files, such as psync",
        );
    }
    let given = [
        ("filename", !target.filenames.is_empty()),
        ("io_size", target.io_size.is_some()),
        ("number_ios", job.pattern.number_ios.is_some()),
        ("loops", timing.loops.is_some_and(|loops| loops > 1)),
        ("time_based", timing.time_based),
    ];
    for (option, _) in given.iter().filter(|(_, given)| *given) {
        diagnostics
            .warn(job, format!("{option} has no effect on a replay: the log says what is done"));
    }
}

/// Warns about workers that write a log of their I/O to the same file.
pub(crate) fn check_logs(jobs: &[Job], workers: &[Worker], diagnostics: &mut Diagnostics) {
    let mut writers: BTreeMap<&str, u32> = BTreeMap::new();
    for worker in workers {
        if let Some(log) = worker.write_log.as_ref().filter(|log| !log.ends_with(".ftr")) {
            *writers.entry(log).or_default() += 1;
        }
    }
    for (log, count) in writers.into_iter().filter(|(_, count)| *count > 1) {
        let name = jobs.iter().find(|j| j.replay.write.as_deref() == Some(log));
        let text = format!(
            "{count} workers write the iolog {log}: split it before it is replayed, or give each \
             job a log of its own"
        );
        diagnostics.add_message(Message::warning(name.map(|j| j.identity.name.as_str()), text));
    }
}

/// The recording of a log with what the workers `before` write to it, if it is read only then.
pub(crate) fn with_writers(
    job: &Job,
    recording: &Arc<Recording>,
    before: &[Worker],
) -> Arc<Recording> {
    let Held::Later(log) = &recording.held else { return Arc::clone(recording) };
    let mut known = Recording::later(log.clone(), recording.adjust);
    let is_writer = |worker: &&Worker| worker.write_log.as_deref() == log.to_str();
    for writer in before.iter().filter(is_writer) {
        let blocks = &writer.pattern.blocks;
        let sizes = blocks.map(|d, plan| writer.has(d).then(|| (plan.min(), plan.max())));
        let files = writer.files.iter().map(|file| (file.path.as_str(), file.start + file.length));
        known.add_writer(files, sizes, job.replay.redirect.as_deref());
    }
    Arc::new(known)
}

/// Sets up a worker to replay a log, after its files are resolved.
pub(crate) fn apply(job: &Job, recording: &Arc<Recording>, worker: &mut Worker) {
    let has = |direction| recording.has(direction);
    worker.pattern.rw = ReadWrite::Replay {
        reads: has(Direction::Read),
        writes: has(Direction::Write),
        trims: has(Direction::Trim),
    };
    worker.pattern.blocks = PerDirection::from_fn(|d| match recording.sizes[d] {
        Some((min, max)) if min < max => BlockPlan::Range { min, max, step: 1 },
        Some((size, _)) => BlockPlan::Fixed(size),
        None => BlockPlan::default(),
    });
    let stop = &mut worker.stop;
    stop.bytes = match recording.held {
        Held::Later(_) | Held::Drawn(_) => None,
        _ => Some(recording.bytes.iter().fold(0, |sum: u64, (_, b)| sum.saturating_add(*b))),
    };
    (stop.loops, stop.ios, stop.time_based, stop.fill_device) = (1, None, false, false);
    let queue = &mut worker.queue;
    if job.queue.iodepth.is_none() && recording.peak_depth > 1 {
        queue.depth_requested = recording.peak_depth.min(DEPTH_MAX);
        if !queue.engine.is_synchronous() || queue.offload {
            queue.depth = queue.depth_requested;
            queue.low = queue.depth;
        }
    }
    worker.selection.unlink_each_loop = false;
    let is_open = !matches!(&recording.held, Held::Drawn(drawn) if !drawn.threads.open_loop);
    let stalls = !job.replay.no_stall && is_open;
    worker.replay = Some(Replay { recording: Arc::clone(recording), stalls });
}

impl Files<'_> {
    /// The files of a clone that replays a log.
    pub fn of_recording(
        &mut self,
        cx: &JobContext<'_>,
        recording: &Recording,
        diagnostics: &mut Diagnostics,
    ) -> Vec<File> {
        let mut files: Vec<File> = Vec::new();
        for used in &recording.files {
            let Some(file) = self.replayed(cx, used, diagnostics) else { continue };
            if used.again
                && let Some(first) = files.iter_mut().find(|first| first.path == file.path)
            {
                first.length = first.length.max(file.length);
            }
            files.push(file);
        }
        files
    }

    /// The file to replay a file of a log on; `None` if it cannot be used. The parts of a regular file that
    /// the log reads are laid out before the run. The replay itself writes the rest.
    fn replayed(
        &mut self,
        cx: &JobContext<'_>,
        used: &FileUse,
        diagnostics: &mut Diagnostics,
    ) -> Option<File> {
        let mut job = cx.job.clone();
        job.pattern.rw = directions_of(used);
        job.queue.direct &= !used.buffered;
        // A model may have files that are there before they are written.
        job.layout.overwrite |= used.read_end > 0;
        let path = &used.path;
        let (kind, extent) = match job.queue.engine {
            Engine::Null => (TargetKind::Missing, Extent::Endless),
            _ => self.target(&job, path, diagnostics)?,
        };
        let (whole, prepare) = match extent {
            Extent::Device(size) if size < used.end => {
                let what =
                    format!("the log goes to byte {} of {path}, which ends at {size}", used.end);
                let cure = "replay onto a larger device, or set replay_scale";
                diagnostics.refuse(&job, safety::named_by(&job), what, cure);
                return None;
            }
            Extent::Device(size) => (size, Prepare::Nothing),
            Extent::Endless => (used.end, Prepare::Nothing),
            Extent::File(size) => {
                let region = Region { file_size: used.read_end, ..Region::default() };
                let cx = JobContext { job: &job, ..*cx };
                (size.max(used.end), self.prepare(&cx, path, size, region, diagnostics))
            }
        };
        safety::check_direct_grain(&job, path, used.grain, self.facts, diagnostics);
        Some(File { path: path.clone(), kind, start: 0, length: used.end, whole, prepare })
    }
}
