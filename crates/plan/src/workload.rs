//! A worker's workload for the record.

use crate::model::{BlockPlan, RateLimit, Strides, Worker};
use job::{BufferContent, Distribution, ObjectWork};
use record::{Bytes, Direction, Region, Workload};
use std::collections::BTreeMap;
use trace::{Held, Recording};

impl Worker {
    /// The workload, to show and to compare. `settings` has the options that differ from fio's
    /// default.
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

    /// Bytes of all loops, if they end the worker.
    fn io_size(&self) -> Option<u64> {
        let once = self.stop.bytes.unwrap_or_else(|| self.region());
        // A job that fills a device has no amount, unless one was given.
        let endless = self.stop.fill_device && once > i64::MAX as u64 / 2;
        if self.stop.time_based || endless {
            return None;
        }
        Some(once.saturating_mul(self.stop.loops))
    }

    /// Settings that differ from fio's default, by their names in the record: first those of the
    /// options table, then those that are resolved from files or the machine.
    fn settings(&self) -> BTreeMap<String, String> {
        let mut settings = self.settings.clone();
        let mut set = |name: &str, value: Option<String>| {
            settings.extend(value.map(|value| (name.to_owned(), value)));
        };
        let (pattern, stop, queue) = (&self.pattern, &self.stop, &self.queue);
        let mixed = pattern.rw.reads() && pattern.rw.writes();
        set("rwmixread", mixed.then(|| pattern.mix_read.to_string()));
        set("skip", differs(pattern.skip, 0));
        set("run_length", differs(pattern.run_length.max(1), 1));
        set("norandommap", on(pattern.rw.is_random() && pattern.norandommap));
        set("randseed", pattern.randseed.map(|seed| seed.to_string()));
        set("loops", differs(stop.loops.max(1), 1));
        set("number_ios", stop.ios.map(|ios| ios.to_string()));
        set("ramp_size", differs(stop.ramp_bytes, 0));
        set("copies", on(self.buffers.content == BufferContent::AsRead));
        set("directory", queue.program_at.clone());
        set("iodepth_batch_submit", differs(queue.batch_submit.unwrap_or(0), 0));
        set("iodepth_batch_complete_min", differs(queue.complete_min, 1));
        set("iodepth_low", (queue.low < queue.depth).then(|| queue.low.to_string()));
        let cpus = &self.placement.cpus;
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        set("cpus_allowed", Some(cpus.join(",")).filter(|cpus| !cpus.is_empty()));
        if let Some(replay) = &self.replay {
            let times = if replay.stalls { "kept" } else { "ignored" };
            set("replay_times", Some(times.into()));
            set("replay_ios", Some(replay.recording.ios).filter(|n| *n > 0).map(|n| n.to_string()));
            set("replay_order", replay_order(&replay.recording).map(str::to_owned));
            let is_drawn = matches!(replay.recording.held, Held::Drawn(_));
            set(record::REPLAY_DRAWN, is_drawn.then(|| "1".into()));
            set("direct_only", self.direct_only().map(|direction| direction.name().into()));
        }
        if let Some(verify) = &self.verify {
            set("verify", Some(verify.method.name().into()));
            set("do_verify", (!verify.read_back).then(|| "0".into()));
        }
        if let Some(Strides { moved, range, skip }) = self.placing.strides {
            set("zonemode_strided", Some(format!("{moved} of {range}, {skip} skipped")));
        }
        if let Some(zbd) = self.zbd.as_ref().filter(|_| pattern.rw.reads() && !pattern.rw.writes())
        {
            let largest = zbd.files.iter().map(|file| file.size).max().unwrap_or(0);
            let is_above = pattern.blocks.read.min() > largest;
            set(record::BLOCK_ABOVE_ZONE, is_above.then(|| largest.to_string()));
        }
        if let Some(store) = &self.objects {
            let hosts: Vec<String> =
                store.endpoints.iter().map(|(host, port)| format!("{host}:{port}")).collect();
            set("http_host", Some(hosts.join(",")));
        }
        if let Some(objects) = &self.numbered {
            let counted = objects.work != ObjectWork::Put;
            set("object_count", counted.then(|| objects.count.to_string()));
            set("object_rate", objects.rate.map(|rate| rate.to_string()));
        }
        settings.extend(Direction::ALL.into_iter().flat_map(|d| self.settings_of(d)));
        settings
    }

    /// The settings of one direction.
    fn settings_of(&self, direction: Direction) -> Vec<(String, String)> {
        if !self.has(direction) {
            return Vec::new();
        }
        let spread = &self.placing.spread[direction];
        let sequential = self.placing.sequential_share[direction];
        let shares = match &self.pattern.blocks[direction] {
            BlockPlan::Split(entries) => {
                let shares: Vec<String> = entries.iter().map(|(s, p)| format!("{s}/{p}")).collect();
                Some(shares.join(":"))
            }
            _ => None,
        };
        let uniform = *spread == Distribution::Uniform;
        let settings = [
            ("random_distribution", (!uniform).then(|| format!("{spread:?}"))),
            ("percentage_random", (sequential > 0).then(|| (100 - sequential).to_string())),
            ("bssplit", shares),
        ];
        let name = direction.name();
        let given = settings.into_iter();
        given.filter_map(|(option, value)| Some((format!("{option}_{name}"), value?))).collect()
    }
}

/// The number, if it differs from the default.
fn differs<T: PartialEq + ToString>(number: T, default: T) -> Option<String> {
    (number != default).then(|| number.to_string())
}

fn on(is_on: bool) -> Option<String> {
    is_on.then(|| "1".to_owned())
}

/// From this share of sequential I/Os on, a recording counts as sequential, and up to the rest of it as
/// random.
const MOSTLY: f64 = 0.8;

/// The order of the I/Os of a recorded log.
fn replay_order(recording: &Recording) -> Option<&'static str> {
    let share = recording.sequential? as f64 / recording.ios.max(1) as f64;
    Some(match share {
        share if share >= MOSTLY => "sequential",
        share if share <= 1.0 - MOSTLY => "random",
        _ => "partly sequential",
    })
}
