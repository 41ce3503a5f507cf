//! The times in each layer over the time of a run, from the kernel's histograms of each second, and the
//! slowest I/O of each.

use layers::Path;
use record::{Direction, LatencyHistory, Nanos, PerDirection, SlowIo};
use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Length of a step.
const STEP: Nanos = Nanos::SECOND;
/// How often it is asked whether I/Os are timed, until that is decided.
const UNDECIDED: Duration = Duration::from_millis(50);
/// Reading takes at most one part in this many of a CPU's time.
const SHARE: u32 = 100;
/// Most paths whose times are kept.
const PATHS_MAX: usize = 32;
/// Most steps of a path.
const STEPS_MAX: usize = 600;

/// What is known of one path.
struct PathHistory {
    group: usize,
    device_name: String,
    direction: Direction,
    /// For each layer: the histogram at the last reading, and the steps.
    layers: [(Vec<u64>, LatencyHistory); 4],
    /// The slowest I/O of each step, by number.
    slowest: BTreeMap<u64, SlowIo>,
}

/// Times in each layer, in steps.
#[derive(Default)]
pub(super) struct LayerHistory {
    paths: Vec<PathHistory>,
    /// When they were read last, from the run's origin.
    read: Nanos,
}

impl LayerHistory {
    /// Adds the I/Os since the last reading.
    fn add(&mut self, paths: &[Path], now: Nanos) {
        for Path { group, path, slowest_of_steps, .. } in paths {
            let Some(direction) = path.direction else { continue };
            let same = |known: &PathHistory| {
                (known.group, &known.device_name, known.direction)
                    == (*group, &path.device_name, direction)
            };
            let at = match self.paths.iter().position(same) {
                Some(at) => at,
                None if self.paths.len() == PATHS_MAX => continue,
                None => {
                    let layers = std::array::from_fn(|_| (Vec::new(), LatencyHistory::new(STEP)));
                    self.paths.push(PathHistory {
                        group: *group,
                        device_name: path.device_name.clone(),
                        direction,
                        layers,
                        slowest: BTreeMap::new(),
                    });
                    self.paths.len() - 1
                }
            };
            // A step that goes on while it is read is read again.
            self.paths[at].slowest.extend(slowest_of_steps);
            for ((seen, history), times) in self.paths[at].layers.iter_mut().zip(path.inside()) {
                let mut counts = PerDirection::default();
                counts[direction] = times.histogram.coarse_since(seen);
                history.push(self.read, counts);
            }
        }
        self.read = now;
    }

    /// Adds what was not read yet, and moves the steps to their paths.
    pub fn finish(mut self, paths: &mut [Path]) {
        // The last step ends with the run.
        self.add(paths, Nanos(0));
        for PathHistory { group, device_name, direction, layers, slowest } in self.paths {
            let of_it = |path: &&mut Path| {
                (path.group, &path.path.device_name, path.path.direction)
                    == (group, &device_name, Some(direction))
            };
            let Some(path) = paths.iter_mut().find(of_it) else { continue };
            for (times, (_, history)) in path.path.inside_mut().into_iter().zip(layers) {
                times.history = history;
            }
            path.path.slowest_of_steps = at_most(STEPS_MAX, slowest.into_values().collect());
        }
    }
}

/// The slowest of each few neighbours, if there are too many.
fn at_most(count: usize, ios: Vec<SlowIo>) -> Vec<SlowIo> {
    let together = ios.len().div_ceil(count).max(1);
    let slowest = |ios: &[SlowIo]| ios.iter().copied().max_by_key(|io| io.total);
    ios.chunks(together).filter_map(slowest).collect()
}

/// What is read.
pub(super) trait TimedPaths: Send + 'static {
    /// Whether it is known that I/Os are timed, or that they never will be.
    fn is_decided(&self) -> bool;
    /// Begins a step, the first one with number 1.
    fn begin_step(&self, number: u64);
    /// The I/Os so far.
    fn paths(&self) -> Vec<Path>;
    /// CPU time that timing takes for each I/O, in nanoseconds; `None` if it was not measured.
    fn cost_ns(&self) -> Option<f64>;
}

/// Reads the histograms in a thread of its own.
pub(crate) struct HistoryReader {
    /// Dropping it ends the thread.
    stop: Sender<()>,
    thread: JoinHandle<(LayerHistory, Option<f64>)>,
}

impl HistoryReader {
    /// Reads times at each whole second after `origin`, as soon as I/Os are timed; `None` if the thread
    /// cannot be started.
    pub(super) fn start(timed: impl TimedPaths, origin: Instant) -> Option<HistoryReader> {
        let (stop, stopped) = mpsc::channel::<()>();
        let read = move || {
            let (mut history, mut cost) = (LayerHistory::default(), None);
            let step = Duration::from_nanos(STEP.0);
            let mut spent = Duration::ZERO;
            while !timed.is_decided() {
                if stopped.recv_timeout(UNDECIDED) != Err(RecvTimeoutError::Timeout) {
                    return (history, cost);
                }
            }
            history.read = Nanos(origin.elapsed().as_nanos() as u64);
            for number in 1.. {
                timed.begin_step(number);
                let wait = (spent * SHARE).max(step);
                let next = history.read.0 + wait.as_nanos() as u64;
                let next = origin + Duration::from_nanos(next / STEP.0 * STEP.0);
                let left = next.saturating_duration_since(Instant::now());
                if stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
                    return (history, cost);
                }
                let began = Instant::now();
                history.add(&timed.paths(), Nanos(origin.elapsed().as_nanos() as u64));
                spent = began.elapsed();
                cost = cost.or_else(|| timed.cost_ns());
            }
            (history, cost)
        };
        let thread = std::thread::Builder::new().name("layers".into()).spawn(read).ok()?;
        Some(HistoryReader { stop, thread })
    }

    /// What was read, and what timing cost each I/O in nanoseconds.
    pub(super) fn finish(self) -> (LayerHistory, Option<f64>) {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::LayerPath;

    fn path(direction: Option<Direction>, device: &[u64]) -> Path {
        let mut path = LayerPath { direction, ..LayerPath::default() };
        device.iter().for_each(|ns| path.device.histogram.record(*ns));
        Path { group: 0, path, entered: 0, left: 0, slowest_of_steps: BTreeMap::new() }
    }

    #[test]
    fn the_slowest_of_each_step_is_kept() {
        let io = |total| SlowIo { total: Nanos(total), ..SlowIo::default() };
        let read = |steps: &[(u64, u64)]| Path {
            slowest_of_steps: steps.iter().map(|(step, total)| (*step, io(*total))).collect(),
            ..path(Some(Direction::Read), &[])
        };
        let mut history = LayerHistory::default();
        history.add(&[read(&[(1, 500), (2, 30)])], STEP);
        let mut paths = [read(&[(2, 40), (3, 700)])];
        history.finish(&mut paths);
        let slowest = &paths[0].path.slowest_of_steps;
        assert_eq!(slowest[..], [io(500), io(40), io(700)]);
        assert_eq!(at_most(2, slowest.clone()), [io(500), io(700)]);
    }

    #[test]
    fn each_io_is_in_the_step_in_which_it_was_seen() {
        let mut history = LayerHistory::default();
        let second = |at: u64| Nanos(at * STEP.0 + 5);
        let read = Some(Direction::Read);
        history.add(&[path(read, &[100, 100])], second(1));
        history.add(&[path(read, &[100, 100])], second(2));
        history.add(&[path(read, &[100, 100, 9000]), path(None, &[5])], second(3));
        let mut paths = [path(read, &[100, 100, 9000, 70]), path(None, &[5, 6])];
        history.finish(&mut paths);
        let steps = &paths[0].path.device.history.columns;
        let found = steps.iter().map(|step| (step.at, step.counts.read.count()));
        assert_eq!(found.collect::<Vec<_>>(), [(0, 2), (2, 1), (3, 1)]);
        let slow = steps[1].counts.read.percentile(50.0).unwrap();
        assert!((slow / 9000.0 - 1.0).abs() < 0.05, "{slow}");
        assert!(paths[0].path.plug.history.is_empty() && paths[1].path.device.history.is_empty());
    }
}
