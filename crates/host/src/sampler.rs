//! Looking at the machine ten times a second while a run goes on.

use crate::Host;
use crate::sample_reader::{Detail, SampleReader};
use record::{Sample, Timeline};
use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Samples kept. The kernel's counters only grow, so leaving out every other sample loses detail in
/// time and nothing else; a run of a week then takes as little memory as one of six minutes.
const SAMPLES_MAX: usize = 3600;

/// Time between two looks at what costs more than counters.
const SLOW_PERIOD: Duration = Duration::from_secs(1);

/// What a sampler watches, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplerConfig {
    /// Kernel names of block devices; unknown ones are left out of the samples.
    pub devices: Vec<String>,
    /// Time between two samples; `None`: only the first and the last one are taken.
    pub period: Option<Duration>,
    /// CPUs the sampler keeps to, so that it is out of the workers' way; empty: all.
    pub cpus: Vec<u32>,
}

/// A thread that samples the machine: CPUs, memory, the devices under the targets, and how long the
/// workers ran and waited for a CPU. The first sample is taken before [`Sampler::start`] returns,
/// the last one within [`Sampler::finish`]; between them one a period, and in a run of more than
/// 3600 periods one every 2, 4, 8 … of them, the earlier ones thinned likewise.
pub struct Sampler {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<Timeline>>,
}

#[derive(Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    fn ask(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for the moment or for the request to stop, whichever is first; true when asked to stop.
    fn wait_until(&self, moment: Option<Instant>) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        while !*asked {
            let Some(moment) = moment else {
                asked = self.changed.wait(asked).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.changed.wait_timeout(asked, left);
            asked = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        *asked
    }
}

impl Sampler {
    /// Starts sampling. Times count from `origin`, and samples are taken at whole periods after it;
    /// moments before it count as 0. `tids` gives the thread ids of the workers that live at the
    /// moment.
    ///
    /// # Errors
    /// When the system cannot start another thread.
    pub fn start(
        host: Host,
        watched: SamplerConfig,
        origin: Instant,
        tids: impl Fn() -> Vec<u32> + Send + 'static,
    ) -> std::io::Result<Sampler> {
        let stop = Arc::new(Stop::default());
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
        let thread = std::thread::Builder::new().name("fathom-sampler".into()).spawn({
            let stop = Arc::clone(&stop);
            move || {
                pin_to(&cpus);
                run(&stop, look, first, grid, SAMPLES_MAX)
            }
        })?;
        Ok(Sampler { stop, thread: Some(thread) })
    }

    /// Takes the last sample, ends the thread and gives all samples.
    pub fn finish(mut self) -> Timeline {
        self.stop.ask();
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.ask();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread was already printed; a second one here would abort.
            let _ = thread.join();
        }
    }
}

/// Keeps the calling thread to some CPUs. Where that is not allowed it stays where it is.
fn pin_to(cpus: &[u32]) {
    let mut set = rustix::thread::CpuSet::new();
    let known = cpus.iter().filter(|cpu| (**cpu as usize) < rustix::thread::CpuSet::MAX_CPU);
    known.for_each(|cpu| set.set(*cpu as usize));
    if set.count() > 0 {
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
}

/// The moments at which samples are due.
struct Grid {
    origin: Instant,
    period: Option<Duration>,
}

impl Grid {
    /// The next whole period after the origin that has not passed.
    fn next(&self) -> Option<Instant> {
        let period = self.period?.as_nanos().max(1);
        let passed = Instant::now().saturating_duration_since(self.origin).as_nanos();
        let due = (passed / period + 1) * period;
        Some(self.origin + Duration::from_nanos(u64::try_from(due).ok()?))
    }
}

/// Samples on a fixed grid, so that a late wake-up does not shift those after it.
fn run(
    stop: &Stop,
    look: impl Fn(bool) -> Sample,
    first: Sample,
    mut grid: Grid,
    samples_max: usize,
) -> Timeline {
    let mut samples = vec![first];
    while !stop.wait_until(grid.next()) {
        samples.push(look(false));
        if samples.len() >= samples_max {
            thin(&mut samples);
            grid.period = grid.period.map(|period| period * 2);
        }
    }
    samples.push(look(true));
    Timeline { samples }
}

/// Leaves out every other sample; the first one stays.
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
        let stop = Arc::new(Stop::default());
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || run(&stop, numbered(), Sample::default(), grid(Duration::from_secs(3600)), 10)
        });
        stop.ask();
        assert_eq!(thread.join().unwrap().samples.len(), 2);
    }

    #[test]
    fn long_runs_thin_their_samples_and_keep_the_ends() {
        let stop = Stop::default();
        let number = numbered();
        let look = |at_an_end| {
            let sample = number(at_an_end);
            if sample.at == Nanos(13) {
                stop.ask();
            }
            sample
        };
        let timeline = run(&stop, look, Sample::default(), grid(Duration::from_micros(100)), 4);
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
