//! A worker's workload for the record.

use crate::model::{BlockPlan, FileOrder, RateLimit, Worker};
use crate::objects::Objects;
use crate::placing::Strides;
use job::{BufferContent, Distribution, ReadUse, Sequencer, SequentialOrder, SyncMode};
use record::{Bytes, Direction, Region, Workload};
use std::collections::BTreeMap;

impl Worker {
    /// What it is to do, for people and for comparison. `settings` holds what is not fio's default.
    pub fn workload(&self) -> Workload {
        Workload {
            rw: self.pattern.rw.name().into(),
            block_size: self.pattern.blocks.map(|_, b| (Bytes(b.min()), Bytes(b.max()))),
            ioengine: self.queue.engine.name().into(),
            medium: self.queue.engine.medium(),
            iodepth: self.queue.depth_requested,
            direct: self.queue.direct,
            region: Bytes(self.region()),
            io_size: self.io_size().map(Bytes),
            runtime: self.stop.runtime,
            time_based: self.stop.time_based,
            ramp: self.stop.ramp,
            rate: self.pacing.limit.map(|_, l| match l {
                Some(RateLimit::Bytes(b)) => Some(*b),
                _ => None,
            }),
            rate_iops: self.pacing.limit.map(|_, l| match l {
                Some(RateLimit::Iops(i)) => Some(*i),
                _ => None,
            }),
            files: self.distinct().map(|f| f.path.clone()).collect(),
            regions: self
                .distinct()
                .map(|f| Region { start: Bytes(f.start), length: Bytes(f.length) })
                .collect(),
            settings: self.settings(),
        }
    }

    /// Bytes all loops are to move, where that is what ends the worker.
    fn io_size(&self) -> Option<u64> {
        let once = self.stop.bytes.unwrap_or_else(|| self.region());
        // What is to fill a device has no amount of its own, unless one was given.
        let endless = self.stop.fill_device && once > i64::MAX as u64 / 2;
        if self.stop.time_based || endless {
            return None;
        }
        Some(once.saturating_mul(self.stop.loops))
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let mut settings = BTreeMap::new();
        let mut set = |differs: bool, name: &str, value: String| {
            if differs {
                settings.insert(name.to_owned(), value);
            }
        };
        let (pattern, syncing, stop) = (&self.pattern, &self.syncing, &self.stop);
        let mixed = pattern.rw.reads() && pattern.rw.writes();
        set(mixed, "rwmixread", pattern.mix_read.to_string());
        set(pattern.skip != 0, "skip", pattern.skip.to_string());
        let order = match pattern.order {
            SequentialOrder::Ascending => String::new(),
            SequentialOrder::Descending => "descending".into(),
            SequentialOrder::Interleaved(blocks) => format!("interleaved:{blocks}"),
        };
        set(!order.is_empty(), "sequential_order", order);
        set(pattern.run_length > 1, "run_length", pattern.run_length.to_string());
        let identical = pattern.sequencer == Sequencer::Identical;
        set(identical, "rw_sequencer", "identical".into());
        set(pattern.shared_cursor, "shared_cursor", "1".into());
        let random = pattern.rw.is_random();
        set(random && pattern.norandommap, "norandommap", "1".into());
        set(pattern.randseed.is_some(), "randseed", pattern.randseed.unwrap_or(0).to_string());
        set(stop.loops > 1, "loops", stop.loops.to_string());
        set(stop.ios.is_some(), "number_ios", stop.ios.unwrap_or(0).to_string());
        let sync = match syncing.mode {
            SyncMode::None => "none",
            SyncMode::Sync => "sync",
            SyncMode::Dsync => "dsync",
        };
        set(syncing.mode != SyncMode::None, "sync", sync.into());
        set(syncing.fsync > 0, "fsync", syncing.fsync.to_string());
        set(syncing.fdatasync > 0, "fdatasync", syncing.fdatasync.to_string());
        set(syncing.end_fsync, "end_fsync", "1".into());
        set(syncing.end_syncfs, "end_syncfs", "1".into());
        set(syncing.fsync_on_close, "fsync_on_close", "1".into());
        let range = syncing.file_range;
        set(range.is_some(), "sync_file_range", range.map_or(0, |r| r.writes).to_string());
        let think = self.pacing.think.time.map_or(0, |t| t.0);
        set(think > 0, "thinktime_ns", think.to_string());
        if let Some(replay) = &self.replay {
            let times = if replay.stalls { "kept" } else { "ignored" };
            set(true, "replay_times", times.into());
            set(true, "replay_ios", replay.recording.ios.to_string());
            let direct = self.direct_only();
            set(direct.is_some(), "direct_only", direct.map_or("", Direction::name).into());
        }
        self.limit_settings(&mut settings);
        self.placing_settings(&mut settings);
        settings.extend(self.object_settings());
        if let Some(verify) = &self.verify {
            settings.insert("verify".into(), verify.method.name().into());
            if !verify.read_back {
                settings.insert("do_verify".into(), "0".into());
            }
        }
        self.queue_settings(&mut settings);
        self.buffer_settings(&mut settings);
        settings.extend(self.objects.iter().flat_map(Objects::settings));
        settings
    }

    fn limit_settings(&self, settings: &mut BTreeMap<String, String>) {
        let limits = &self.limits;
        let mut set = |name: &str, value: Option<String>| {
            settings.extend(value.map(|value| (name.to_owned(), value)));
        };
        set("flow", limits.flow.map(|flow| format!("{}:{}", flow.id, flow.weight)));
        set("latency_target_ns", limits.latency.map(|l| l.target.0.to_string()));
        set("latency_percentile", limits.latency.map(|l| l.percentile.to_string()));
        set("steadystate", limits.steady.map(|s| s.criterion.name().to_owned()));
        let cycles = self.pacing.think.cycles;
        set("thinkcycles", (cycles > 0).then(|| cycles.to_string()));
    }

    fn placing_settings(&self, settings: &mut BTreeMap<String, String>) {
        let placing = &self.placing;
        for (direction, spread) in placing.spread.iter().filter(|(d, _)| self.has(*d)) {
            if *spread != Distribution::Uniform {
                let name = format!("random_distribution_{}", direction.name());
                settings.insert(name, format!("{spread:?}"));
            }
            let share = placing.sequential_share[direction];
            if share > 0 {
                let name = format!("percentage_random_{}", direction.name());
                settings.insert(name, (100 - share).to_string());
            }
        }
        if placing.renewal.is_some() {
            settings.insert("sprandom".into(), "1".into());
        }
        if let Some(Strides { moved, range, skip }) = placing.strides {
            let text = format!("{moved} of {range}, {skip} skipped");
            settings.insert("zonemode_strided".into(), text);
        }
        if placing.serialize_overlap {
            settings.insert("serialize_overlap".into(), "1".into());
        }
        if let FileOrder::Drawn(distribution) = &self.selection.order {
            settings.insert("file_service_type".into(), format!("{distribution:?}"));
        }
        if self.stop.ramp_bytes > 0 {
            settings.insert("ramp_size".into(), self.stop.ramp_bytes.to_string());
        }
    }

    fn buffer_settings(&self, settings: &mut BTreeMap<String, String>) {
        let buffers = &self.buffers;
        let mut set = |name: &str, value: Option<String>| {
            settings.extend(value.map(|value| (name.to_owned(), value)));
        };
        let is_zero = buffers.content == BufferContent::Zero;
        set("zero_buffers", is_zero.then(|| "1".into()));
        set("copies", (buffers.content == BufferContent::AsRead).then(|| "1".into()));
        let pattern = matches!(buffers.content, BufferContent::Pattern(_));
        set("buffer_pattern", pattern.then(|| "1".into()));
        // What is always the same costs next to nothing to make again.
        let refill = buffers.refill && !is_zero && !pattern;
        set("refill_buffers", refill.then(|| "1".into()));
        set("scramble_buffers", (!buffers.scramble).then(|| "0".into()));
        set("buffer_compress_percentage", buffers.compress_percentage.map(|p| p.to_string()));
        set("dedupe_percentage", buffers.dedupe_percentage.map(|p| p.to_string()));
        if let ReadUse::Touch(every) = buffers.read_use {
            set("touch_read", Some(every.to_string()));
        }
        set("pre_read", self.layout.pre_read.then(|| "1".into()));
        set("invalidate", (!self.layout.invalidate).then(|| "0".into()));
    }

    fn queue_settings(&self, settings: &mut BTreeMap<String, String>) {
        let queue = &self.queue;
        let mut set = |differs: bool, name: &str, value: String| {
            if differs {
                settings.insert(name.to_owned(), value);
            }
        };
        let at = queue.program_at.as_deref();
        set(at.is_some(), "directory", at.unwrap_or_default().into());
        set(queue.offload, "io_submit_mode", "offload".into());
        let submit = queue.batch_submit.unwrap_or(0);
        set(submit > 0, "iodepth_batch_submit", submit.to_string());
        let least = queue.complete_min;
        set(least != 1, "iodepth_batch_complete_min", least.to_string());
        set(queue.low < queue.depth, "iodepth_low", queue.low.to_string());
        for (direction, plan) in self.pattern.blocks.iter().filter(|(d, _)| self.has(*d)) {
            if let BlockPlan::Split(entries) = plan {
                let shares: Vec<String> = entries.iter().map(|(s, p)| format!("{s}/{p}")).collect();
                set(true, &format!("bssplit_{}", direction.name()), shares.join(":"));
            }
        }
        let options = &queue.options;
        set(options.hipri, "hipri", "1".into());
        set(options.fixedbufs, "fixedbufs", "1".into());
        set(options.registerfiles, "registerfiles", "1".into());
        set(options.sqthread_poll, "sqthread_poll", "1".into());
        let cpus: Vec<String> = self.placement.cpus.iter().map(ToString::to_string).collect();
        set(!cpus.is_empty(), "cpus_allowed", cpus.join(","));
    }
}
