//! From what was counted to the model.

use crate::builder::{BLOCK, Builder, Side};
use crate::counts::{Counts, LogHistogram};
use crate::distinct::Distinct;
use crate::model::{
    Arrivals, CpuLimit, Locality, Model, Parts, Phase, StreamShare, Syncs, Totals, Window,
};
use crate::phases::change_points;
use crate::steps::{Step, StepKind};
use crate::streams::streams;
use crate::threads::ThreadClass;
use crate::windows::Windows;
use trace::ftr::Level;

/// Rows in which changes are looked for.
const ROWS: usize = 128;
/// Sizes of caches, in bytes, whose hits the model states.
const CACHES: [u64; 10] = [
    1 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
    256 << 20,
    1 << 30,
    4 << 30,
    16 << 30,
    64 << 30,
    256 << 30,
];

impl Builder {
    /// The model of what was taken. Without reads and writes of the application, it is that of the
    /// devices.
    #[must_use]
    pub fn finish(mut self) -> Model {
        for side in &mut self.sides {
            side.depth.finish();
            side.threads.classes.iter_mut().for_each(|class| class.depth.finish());
            std::mem::take(&mut side.cursors).finish(&mut side.steps);
        }
        let level = match self.sides[0].ios() {
            0 if self.sides[1].ios() > 0 => Level::Device,
            _ => Level::Application,
        };
        let side = &self.sides[usize::from(level == Level::Device)];
        let (streams, left_out) = streams(&self, side);
        let windows = windows(side, &side.windows, side.length());
        let phases = phases(side, &streams, &windows);
        let totals = self.totals(side, level);
        let meter = &side.depth.arrivals;
        let mut model = Model {
            warnings: Vec::new(),
            phases,
            arrivals: Arrivals {
                rate: meter.rate(),
                gap_variation: meter.gaps().variation(),
                dispersion: meter.dispersion(),
                poisson: meter.is_poisson(),
                exponential_distance: meter.exponential_distance(),
            },
            outstanding: side.depth.shares(),
            outstanding_mean: side.depth.mean_busy(),
            locality: locality(side),
            syncs: Syncs {
                writes_per_sync: mean_of(&side.writes_per_sync),
                writes_per_sync_median: mean_of(&side.writes_per_sync)
                    .map(|_| side.writes_per_sync.quantile(0.5)),
                ..self.syncs.clone()
            },
            cache_share: cache_share(&totals, level),
            cpu: cpu(side),
            windows,
            parts: parts(&self, side),
            streams,
            totals,
        };
        model.warnings = self.warnings(side, &model, left_out);
        model
    }

    fn totals(&self, side: &Side, level: Level) -> Totals {
        let [application, device] = &self.sides;
        let main = if level == Level::Device { device } else { application };
        Totals {
            level: Totals::level_name(level),
            events: self.events,
            lost: self.lost,
            seconds: main.length() as f64 / 1e9,
            device_read_bytes: device.totals.read_bytes,
            device_written_bytes: device.totals.written_bytes,
            files: self.file_classes.iter().map(|class| class.count).sum(),
            threads: side.threads.classes.iter().map(|class| class.count).sum(),
            ..side.totals.clone()
        }
    }

    fn warnings(&self, side: &Side, model: &Model, left_out: f64) -> Vec<String> {
        let (totals, mut warnings) = (&model.totals, Vec::new());
        let ios = side.ios();
        if self.lost > 0 {
            let share = self.lost as f64 / (self.lost + self.events) as f64;
            warnings.push(format!(
                "{} events were lost while the trace was taken ({}): rates are too low by as much, \
                 and runs and pauses may be wrong",
                self.lost,
                record::human::percent(share)
            ));
        }
        if ios == 0 {
            warnings.push("the trace has no reads and no writes".into());
        } else if ios < 1000 {
            warnings.push(format!(
                "{ios} reads and writes are few: distributions and fits are rough; trace for longer"
            ));
        }
        if self.back > 0 {
            warnings.push(format!(
                "the clock went back {} times: pauses and rates around it are wrong",
                self.back
            ));
        }
        if side.without_duration > 0 {
            warnings.push(format!(
                "{} events have no duration: latency, outstanding I/Os and think times are unknown \
                 there",
                side.without_duration
            ));
        }
        if totals.level == "device" {
            warnings.push(
                "the trace has only the device level: hits of the page cache, syncs and the threads \
                 of the application are not seen"
                    .into(),
            );
        }
        if left_out >= 0.01 {
            warnings.push(format!(
                "{} of the I/Os belong to small streams that are left out",
                record::human::percent(left_out)
            ));
        }
        if totals.failed > 0 {
            warnings.push(format!("{} I/Os failed; they count as issued", totals.failed));
        }
        warnings
    }
}

fn mean_of(counts: &Counts) -> Option<f64> {
    (counts.total() > 0).then(|| counts.mean())
}

/// The share of the bytes read by the application that no device read.
fn cache_share(totals: &Totals, level: Level) -> Option<f64> {
    let known = level == Level::Application
        && totals.read_bytes > 0
        && totals.device_read_bytes + totals.device_written_bytes > 0;
    known.then(|| (1.0 - totals.device_read_bytes as f64 / totals.read_bytes as f64).max(0.0))
}

fn locality(side: &Side) -> Locality {
    let tracker = &side.tracker;
    let (cold, all) = tracker.cold();
    let footprint = side.distinct.estimate() * BLOCK as f64;
    let cache = |bytes: &u64| (*bytes as f64, tracker.hits(*bytes as f64 / BLOCK as f64));
    let useful = |bytes: &&u64| (**bytes as f64) < footprint * 4.0;
    Locality {
        footprint,
        first_accesses: cold as f64 / all.max(1) as f64,
        cache: CACHES.iter().take_while(useful).map(cache).collect(),
        hot_set: tracker.cache_for(0.5).map(|blocks| blocks * BLOCK as f64),
        sampled: tracker.rate(),
    }
}

/// The class of threads that spends most time in I/O, and what it gains at most.
fn cpu(side: &Side) -> Option<CpuLimit> {
    let waits = |class: &&ThreadClass| class.lifetime > 0 && class.ios > 0 && !class.is_queued();
    let class = side.threads.classes.iter().filter(waits).max_by_key(|class| class.io_time)?;
    if class.io_time == 0 {
        return None;
    }
    let waiting = (class.io_time as f64 / class.lifetime as f64).min(0.999);
    let (known, ..) = class.cpu_known;
    let computing =
        (known > 0).then(|| (class.cpu_time as f64 / class.lifetime as f64).min(1.0 - waiting));
    // Amdahl (1967): what remains is 1 - waiting.
    Some(CpuLimit {
        threads: class.name.clone(),
        waiting,
        computing,
        gain: waiting / (1.0 - waiting),
    })
}

fn parts(builder: &Builder, side: &Side) -> Parts {
    let mut latency: [LogHistogram; 3] = Default::default();
    let mut sizes: [Counts; 2] = Default::default();
    let mut gaps = LogHistogram::default();
    for step in &side.steps {
        let kind = match step.key.kind {
            StepKind::Read => 0,
            StepKind::Write => 1,
            kind if kind.syncs() => 2,
            _ => continue,
        };
        latency[kind].merge(&step.latency);
        if let Some(sizes) = sizes.get_mut(kind) {
            sizes.merge(&step.sizes);
        }
        gaps.merge(&step.gaps);
    }
    let dispersion = side.depth.arrivals.dispersion().last().map_or(1.0, |scale| scale.index);
    let files = builder.file_classes.clone();
    Parts {
        steps: side.steps.clone(),
        threads: side.threads.classes.clone(),
        files,
        latency,
        sizes,
        gaps,
        reuse: side.tracker.distances().clone(),
        cold: side.tracker.cold().0,
        depth_segments: side.depth.segments().to_vec(),
        device_windows: device_windows(builder, side),
        dispersion,
        origin: side.start(),
    }
}

/// The load of the devices over the time of the application.
fn device_windows(builder: &Builder, application: &Side) -> Vec<Window> {
    let device = &builder.sides[1];
    let is_application = std::ptr::eq(application, &raw const builder.sides[0]);
    if !is_application || device.ios() == 0 {
        return Vec::new();
    }
    let length = application.length().max(device.length()).max(1);
    let mut padded = device.windows.clone();
    padded.at(length - 1);
    windows(device, &padded, length)
}

/// The load of `side` in windows, over `length` nanoseconds from the first I/O.
fn windows(side: &Side, loads: &Windows, length: u64) -> Vec<Window> {
    let width = loads.width as f64 / 1e9;
    let all = length as f64 / 1e9;
    let (mut windows, mut seen) = (Vec::new(), Distinct::default());
    for (index, load) in loads.loads.iter().enumerate() {
        seen.merge(&load.distinct);
        let from = index as f64 * width;
        let seconds = width.min((all - from).max(1e-9));
        let steps_and_bytes = |kind: StepKind| {
            let steps = load
                .steps
                .iter()
                .filter(move |(step, _)| side.steps[**step as usize].key.kind == kind);
            steps.fold((0, 0), |(ios, bytes), (_, (n, b))| (ios + n, bytes + b))
        };
        let ((reads, read), (writes, written)) =
            (steps_and_bytes(StepKind::Read), steps_and_bytes(StepKind::Write));
        windows.push(Window {
            from,
            seconds,
            reads: reads as f64 / seconds,
            writes: writes as f64 / seconds,
            bytes: (read + written) as f64 / seconds,
            read_bytes: read as f64 / seconds,
            working_set: load.distinct.estimate() * BLOCK as f64,
            footprint: seen.estimate() * BLOCK as f64,
        });
    }
    windows
}

fn phases(side: &Side, streams: &[crate::Stream], windows: &[Window]) -> Vec<Phase> {
    // A last window that is hardly begun is no change.
    let full = windows.len().saturating_sub(1).max(1);
    let group = full.div_ceil(ROWS);
    let row = |windows: &[Window]| {
        let sum = |of: fn(&Window) -> f64| windows.iter().map(|w| of(w) * w.seconds).sum::<f64>();
        let ios = sum(|window| window.reads + window.writes);
        let size = if ios > 0.0 { (sum(|window| window.bytes) / ios).max(1.0).ln() } else { 0.0 };
        let reads = if ios > 0.0 { 2.0 * sum(|window| window.reads) / ios } else { 0.0 };
        let seconds = sum(|_| 1.0).max(1e-9);
        // Ten I/Os more or less say little.
        vec![((10.0 + ios) / seconds).ln(), reads, size]
    };
    let rows: Vec<Vec<f64>> = windows[..full.min(windows.len())].chunks(group).map(row).collect();
    // A phase lasts a second or more.
    let width = side.windows.width.saturating_mul(group as u64).max(1);
    let shortest = 1_000_000_000_u64.div_ceil(width) as usize;
    let starts = if windows.is_empty() { Vec::new() } else { change_points(&rows, shortest) };
    let starts: Vec<usize> = starts.into_iter().map(|start| start * group).collect();
    let ends = starts.iter().skip(1).copied().chain([windows.len()]);
    starts.iter().zip(ends).map(|(from, to)| phase(side, streams, windows, *from, to)).collect()
}

fn phase(
    side: &Side,
    streams: &[crate::Stream],
    windows: &[Window],
    from: usize,
    to: usize,
) -> Phase {
    let seconds: f64 = windows[from..to].iter().map(|window| window.seconds).sum();
    let sum = |steps: &dyn Fn(u16) -> bool| {
        let loads = side.windows.loads[from..to].iter().flat_map(|load| &load.steps);
        let ours = loads.filter(|(step, _)| steps(**step));
        let (ios, bytes) = ours.fold((0, 0), |(ios, bytes), (_, (n, b))| (ios + n, bytes + b));
        (ios as f64 / seconds, bytes as f64 / seconds)
    };
    let (iops, bytes_per_second) = sum(&|_| true);
    let is_read = |step: u16| {
        let step: &Step = &side.steps[step as usize];
        step.key.kind == StepKind::Read
    };
    let mut shares: Vec<StreamShare> = streams
        .iter()
        .enumerate()
        .map(|(stream, parts)| {
            let (iops, bytes_per_second) = sum(&|step| parts.parts.contains(&(step as usize)));
            StreamShare { stream, iops, bytes_per_second }
        })
        .filter(|share| share.iops > 0.005 * iops)
        .collect();
    shares.sort_by(|a, b| b.iops.total_cmp(&a.iops));
    Phase {
        from: windows[from].from,
        to: windows[to - 1].from + windows[to - 1].seconds,
        iops,
        bytes_per_second,
        read_share: if iops > 0.0 { sum(&is_read).0 / iops } else { 0.0 },
        streams: shares,
    }
}
