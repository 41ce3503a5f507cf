//! A thread that samples the machine during a run.

use crate::Host;
use crate::sample_reader::{Detail, SampleReader};
use record::{Sample, Timeline};
use std::cell::Cell;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Most samples kept. Counters only grow, so dropping every other sample only loses time
/// resolution. A run of a week needs as little memory as one of six minutes.
const SAMPLES_MAX: usize = 3600;

/// Time between two readings of the data that cost more than counters.
const SLOW_PERIOD: Duration = Duration::from_secs(1);

/// The settings of a sampler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplerConfig {
    /// Kernel names of block devices; unknown ones are left out of the samples.
    pub devices: Vec<String>,
    /// Time between two samples; with `None` only the first and the last one are taken.
    pub period: Option<Duration>,
    /// CPUs of the sampler thread, away from the workers; empty for all.
    pub cpus: Vec<u32>,
}

/// A thread that samples the machine: CPUs, memory, the devices under the targets, and run and wait
/// times of the workers. The first sample is taken before [`Sampler::start`] returns, the last one
/// in [`Sampler::finish`], and one each period between them. In a run of more than 3600 periods
/// there is one every 2, 4, 8 … periods, and earlier samples are thinned likewise.
pub struct Sampler {
    /// Dropping it stops the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Timeline>>,
}

/// Waits until the moment or the request to stop. Returns whether to stop.
fn wait_until(stop: &Receiver<()>, moment: Option<Instant>) -> bool {
    let Some(moment) = moment else {
        let _ = stop.recv();
        return true;
    };
    let left = moment.saturating_duration_since(Instant::now());
    stop.recv_timeout(left) != Err(RecvTimeoutError::Timeout)
}

impl Sampler {
    /// Starts sampling. Times count from `origin`, and samples are taken at whole periods after it.
    /// `tids` returns the thread ids of the current workers.
    ///
    /// # Errors
    /// When the system cannot start another thread.
    pub fn start(
        host: Host,
        watched: SamplerConfig,
        origin: Instant,
        tids: impl Fn() -> Vec<u32> + Send + 'static,
    ) -> std::io::Result<Sampler> {
        let (stop, stopped) = mpsc::channel();
        let SamplerConfig { devices, period, cpus } = watched;
        let reader = SampleReader::new(host, devices, origin);
        let last_slow = Cell::new(Instant::now());
        let look = move |at_an_end: bool| {
            let now = Instant::now();
            let detail = match at_an_end {
                true => Detail::All,
                false if now.duration_since(last_slow.get()) >= SLOW_PERIOD => Detail::Slow,
                false => Detail::Counters,
            };
            if detail != Detail::Counters {
                last_slow.set(now);
            }
            reader.read(&tids(), detail)
        };
        let first = look(true);
        let grid = Grid { origin, period };
        let thread =
            std::thread::Builder::new().name("fathom-sampler".into()).spawn(move || {
                pin_to(&cpus);
                run(&stopped, look, first, grid, SAMPLES_MAX)
            })?;
        Ok(Sampler { stop: Some(stop), thread: Some(thread) })
    }

    /// Takes the last sample, ends the thread and gives all samples.
    pub fn finish(mut self) -> Timeline {
        self.stop = None;
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic in the thread was already printed; another one here would abort.
            let _ = thread.join();
        }
    }
}

/// Pins the calling thread to CPUs, if that is allowed.
fn pin_to(cpus: &[u32]) {
    let mut set = rustix::thread::CpuSet::new();
    let known = cpus.iter().filter(|cpu| (**cpu as usize) < rustix::thread::CpuSet::MAX_CPU);
    known.for_each(|cpu| set.set(*cpu as usize));
    if set.count() > 0 {
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
}

/// The times at which samples are due.
struct Grid {
    origin: Instant,
    period: Option<Duration>,
}

impl Grid {
    /// The next whole period after the origin.
    fn next(&self) -> Option<Instant> {
        let period = self.period?.as_nanos().max(1);
        let passed = Instant::now().saturating_duration_since(self.origin).as_nanos();
        let due = (passed / period + 1) * period;
        Some(self.origin + Duration::from_nanos(u64::try_from(due).ok()?))
    }
}

/// Samples on a fixed grid, so that a late wake-up does not shift later samples.
fn run(
    stop: &Receiver<()>,
    look: impl Fn(bool) -> Sample,
    first: Sample,
    mut grid: Grid,
    samples_max: usize,
) -> Timeline {
    let mut samples = vec![first];
    while !wait_until(stop, grid.next()) {
        samples.push(look(false));
        if samples.len() >= samples_max {
            thin(&mut samples);
            grid.period = grid.period.map(|period| period * 2);
        }
    }
    samples.push(look(true));
    Timeline { samples, ..Timeline::default() }
}

/// Drops every other sample, not the first.
fn thin(samples: &mut Vec<Sample>) {
    let mut keep = false;
    samples.retain(|_| {
        keep = !keep;
        keep
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Nanos;
    use std::sync::Arc;

    fn grid(period: Duration) -> Grid {
        Grid { origin: Instant::now(), period: Some(period) }
    }

    fn numbered() -> impl Fn(bool) -> Sample {
        let count = Cell::new(0);
        move |_| {
            count.set(count.get() + 1);
            Sample { at: Nanos(count.get()), ..Sample::default() }
        }
    }

    #[test]
    fn first_and_last_samples_are_always_there() {
        let origin = Instant::now();
        let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let watched = SamplerConfig { devices: vec!["no-such".into()], ..SamplerConfig::default() };
        let sampler = Sampler::start(Host::at("/"), watched, origin, move || vec![tid, 0]).unwrap();
        let timeline = sampler.finish();
        assert_eq!(timeline.samples.len(), 2);
        let [first, last] = &timeline.samples[..] else { unreachable!() };
        assert!(first.at < last.at);
        assert!(!first.cpus.is_empty() && first.memory_available > 0);
        assert!(first.disks.is_empty());
        assert_eq!(first.workers.keys().collect::<Vec<_>>(), [&tid]);
        assert!(last.workers[&tid].run_ns >= first.workers[&tid].run_ns);
    }

    #[test]
    fn a_moment_before_the_origin_is_zero() {
        let origin = Instant::now() + Duration::from_secs(3600);
        let sampler =
            Sampler::start(Host::at("/"), SamplerConfig::default(), origin, Vec::new).unwrap();
        assert!(sampler.finish().samples.iter().all(|s| s.at == Nanos(0)));
    }

    #[test]
    fn stopping_does_not_wait_for_the_next_sample() {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            run(&stopped, numbered(), Sample::default(), grid(Duration::from_secs(3600)), 10)
        });
        drop(stop);
        assert_eq!(thread.join().unwrap().samples.len(), 2);
    }

    #[test]
    fn long_runs_thin_their_samples_and_keep_the_ends() {
        let (stop, stopped) = mpsc::channel();
        let number = numbered();
        let look = |at_an_end| {
            let sample = number(at_an_end);
            if sample.at == Nanos(13) {
                stop.send(()).unwrap();
            }
            sample
        };
        let timeline = run(&stopped, look, Sample::default(), grid(Duration::from_micros(100)), 4);
        let at: Vec<u64> = timeline.samples.iter().map(|s| s.at.0).collect();
        assert!(at.len() <= 5, "{at:?}");
        assert_eq!(at[0], 0);
        assert_eq!(at.last(), Some(&14));
        assert!(at.is_sorted());
    }

    #[test]
    fn thinning_keeps_every_other_sample() {
        let mut samples: Vec<Sample> =
            (0..5).map(|n| Sample { at: Nanos(n), ..Sample::default() }).collect();
        thin(&mut samples);
        assert_eq!(samples.iter().map(|s| s.at.0).collect::<Vec<_>>(), [0, 2, 4]);
    }

    #[test]
    fn dropping_a_sampler_ends_its_thread() {
        let guard = Arc::new(());
        let held = Arc::clone(&guard);
        let sampler =
            Sampler::start(Host::at("/"), SamplerConfig::default(), Instant::now(), move || {
                let _ = &held;
                Vec::new()
            })
            .unwrap();
        drop(sampler);
        assert_eq!(Arc::strong_count(&guard), 1);
    }
}
