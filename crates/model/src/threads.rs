//! What threads do between their I/Os, by class of threads.

use crate::counts::LogHistogram;
use crate::depth::Depth;
use serde::Serialize;
use std::collections::HashMap;

/// Whether I/O waits for the I/O before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Loop {
    /// The next I/O is issued some time after the end of one before: faster storage brings more.
    #[default]
    Closed,
    /// I/Os are issued at their times, however long the ones before take.
    Open,
}

/// Threads that are followed at a time.
const THREADS: usize = 1 << 16;

/// A thread that is followed.
#[derive(Clone, Copy, Debug)]
pub struct ThreadState {
    first: u64,
    /// End of its latest I/O.
    pub end: u64,
    /// Duration of its latest I/O.
    duration: u64,
    /// CPU time since then, if all events told it.
    cpu: Option<u64>,
    /// Its latest step.
    pub step: Option<u16>,
    started: bool,
}

/// What an I/O came after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Time since the end of the I/O before; `None` for the first and for overlapping ones.
    pub gap: Option<u64>,
    /// CPU time of it.
    pub cpu: Option<u64>,
    /// The step before.
    pub step: Option<u16>,
}

/// Threads with the same name.
#[derive(Clone, Debug, Default)]
pub struct ThreadClass {
    pub name: String,
    /// How many there were.
    pub count: u64,
    /// Sum of the times from their first to their last event.
    pub lifetime: u64,
    /// From the first event of any of them to the last.
    pub span: Option<(u64, u64)>,
    pub io_time: u64,
    pub cpu_time: u64,
    pub ios: u64,
    pub overlapping: u64,
    pub asynchronous: u64,
    pub gaps: LogHistogram,
    /// Gaps whose CPU time is known: their number, the CPU time, the whole time.
    pub cpu_known: (u64, u64, u64),
    regression: Regression,
    pub depth: Depth,
}

/// Sums for the regression of gaps on the durations before them.
#[derive(Clone, Copy, Debug, Default)]
struct Regression {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Regression {
    fn add(&mut self, x: f64, y: f64) {
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// Slope and its standard error.
    fn line(&self) -> Option<(f64, f64)> {
        let covariance = self.xy - self.x * self.y / self.n;
        let (x, y) = (self.xx - self.x * self.x / self.n, self.yy - self.y * self.y / self.n);
        let slope = covariance / x;
        let rest = (y - slope * covariance).max(0.0) / (self.n - 2.0);
        (self.n >= 50.0 && x > 0.0).then(|| (slope, (rest / x).sqrt()))
    }
}

/// The threads of a trace.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    followed: HashMap<u32, ThreadState>,
    pub classes: Vec<ThreadClass>,
}

impl Threads {
    /// The class with this number, made if need be.
    pub fn class(&mut self, class: u32, name: &str) -> &mut ThreadClass {
        while self.classes.len() <= class as usize {
            self.classes.push(ThreadClass::default());
        }
        let class = &mut self.classes[class as usize];
        if class.name.is_empty() {
            name.clone_into(&mut class.name);
        }
        class
    }

    /// An event of a thread that is no I/O: only its CPU time counts.
    pub fn passes(&mut self, thread: u32, cpu: Option<u64>) {
        if let Some(state) = self.followed.get_mut(&thread) {
            state.cpu = state.cpu.zip(cpu).map(|(sum, more)| sum + more);
        }
    }

    /// An I/O of a thread. The class must exist.
    pub fn io(&mut self, thread: u32, class: u32, io: &ThreadIo, step: u16) -> Before {
        let ThreadIo { at, end, cpu, asynchronous } = *io;
        if self.followed.len() >= THREADS && !self.followed.contains_key(&thread) {
            self.forget();
        }
        let class = &mut self.classes[class as usize];
        let state = self.followed.entry(thread).or_insert_with(|| {
            class.count += 1;
            ThreadState {
                first: at,
                end: at,
                duration: 0,
                cpu: Some(0),
                step: None,
                started: false,
            }
        });
        let cpu = state.cpu.zip(cpu).map(|(sum, more)| sum + more);
        let overlaps = at < state.end;
        let gap = (state.started && !overlaps).then(|| at - state.end);
        if let Some(gap) = gap {
            class.gaps.add(gap);
            let (n, computed, all) = &mut class.cpu_known;
            if let Some(cpu) = cpu {
                (*n, *computed, *all) = (*n + 1, *computed + cpu.min(gap), *all + gap);
            }
            // A rare long pause says nothing about the loop, and would hide the rest.
            if class.ios < 20 || (gap as f64) < 20.0 * class.gaps.mean() {
                class.regression.add(state.duration as f64, gap as f64);
            }
        }
        let before = Before { gap, cpu: cpu.filter(|_| gap.is_some()), step: state.step };
        class.ios += 1;
        class.overlapping += u64::from(overlaps && state.started);
        class.asynchronous += u64::from(asynchronous);
        class.cpu_time += cpu.unwrap_or(0);
        class.io_time += end.saturating_sub(if overlaps { state.end } else { at });
        class.lifetime += end.max(state.end) - if state.started { state.end } else { state.first };
        let (first, last) = class.span.unwrap_or((at, end));
        class.span = Some((first.min(at), last.max(end)));
        class.depth.add(at, end);
        *state = ThreadState {
            first: state.first,
            end: end.max(state.end),
            duration: end - at,
            cpu: Some(0),
            step: Some(step),
            started: true,
        };
        before
    }

    /// Forgets the half of the threads that did nothing for longest.
    fn forget(&mut self) {
        let mut ends: Vec<u64> = self.followed.values().map(|state| state.end).collect();
        let middle = ends.len() / 2;
        let (_, limit, _) = ends.select_nth_unstable(middle);
        let limit = *limit;
        self.followed.retain(|_, state| state.end > limit);
    }
}

/// An I/O as a thread sees it.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIo {
    pub at: u64,
    pub end: u64,
    pub cpu: Option<u64>,
    pub asynchronous: bool,
}

impl ThreadClass {
    /// How many of them live at a time, on average.
    pub fn concurrency(&self) -> u32 {
        let span = self.span.map_or(0, |(first, last)| last - first);
        let mean = self.lifetime as f64 / span.max(1) as f64;
        (mean.round() as u64).clamp(1, self.count.max(1)) as u32
    }

    /// Whether it submits I/O without waiting for the one before.
    pub fn is_queued(&self) -> bool {
        let mut half = self.ios / 2;
        half = half.max(1);
        self.asynchronous >= half || self.overlapping >= half
    }

    /// Open or closed loop, and why (B. Schroeder, A. Wierman and M. Harchol-Balter, "Open Versus
    /// Closed", 2006). A thread that keeps a schedule pauses less after a slow I/O: the slope of the
    /// pause over the latency before is -1. For a thread that thinks, it is 0.
    pub fn pacing(&self) -> (Loop, String) {
        if self.is_queued() {
            let deep = self.depth.quantile_busy(0.95).max(1);
            let each = self.depth.shares();
            let near = each.iter().skip(deep.saturating_sub(1).max(1) as usize).sum::<f64>();
            let share = near / (1.0 - each.first().copied().unwrap_or(0.0)).max(1e-9);
            let why = format!(
                "{:.0} % of the busy time has {} or more of {deep} I/Os outstanding",
                share * 100.0,
                deep.saturating_sub(1).max(1)
            );
            return if share >= 0.6 && deep > 1 { (Loop::Closed, why) } else { (Loop::Open, why) };
        }
        let (known, computed, all) = self.cpu_known;
        let computes = (known > 0 && all > 0).then(|| computed as f64 / all as f64);
        if let Some(share) = computes.filter(|share| *share >= 0.5) {
            let why = format!("threads compute {:.0} % of the time between I/Os", share * 100.0);
            return (Loop::Closed, why);
        }
        match self.regression.line() {
            Some((slope, error)) if slope < -0.6 && slope + 3.0 * error < -0.3 => {
                let why = format!("pauses shorten by {:.2} of the latency before", -slope);
                (Loop::Open, why)
            }
            Some((slope, _)) => {
                let why =
                    format!("pauses do not make up for the latency before (slope {slope:.2})");
                (Loop::Closed, why)
            }
            None => {
                (Loop::Closed, "each thread waits for its I/O; too few pauses to tell more".into())
            }
        }
    }
}
