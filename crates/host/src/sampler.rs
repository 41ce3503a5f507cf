//! Looking at the machine once a second while a run goes on.

use crate::Host;
use record::{Nanos, Sample, Timeline};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two samples of a run that is not very long.
const PERIOD: Duration = Duration::from_secs(1);

/// Samples kept. The kernel's counters only grow, so leaving out every other sample loses detail in
/// time and nothing else; a run of a week then takes as little memory as one of an hour.
const SAMPLES_MAX: usize = 3600;

/// A thread that samples the machine: CPUs, memory, the devices under the targets, and how long the
/// workers ran and waited for a CPU. The first sample is taken before [`Sampler::start`] returns,
/// the last one within [`Sampler::finish`]; between them one a second, and in a run of more than an
/// hour one every 2, 4, 8 … seconds, the earlier ones thinned likewise.
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
    fn wait_until(&self, moment: Instant) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        while !*asked {
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
    /// Starts sampling `devices` (kernel names; unknown ones are left out of the samples). Times
    /// count from `origin`; moments before it count as 0. `tids` gives the thread ids of the
    /// workers that live at the moment.
    ///
    /// # Errors
    /// When the system cannot start another thread.
    pub fn start(
        host: Host,
        devices: Vec<String>,
        origin: Instant,
        tids: impl Fn() -> Vec<u32> + Send + 'static,
    ) -> std::io::Result<Sampler> {
        let stop = Arc::new(Stop::default());
        let look = move || sample(&host, &devices, origin, &tids());
        let first = look();
        let thread = std::thread::Builder::new().name("fathom-sampler".into()).spawn({
            let stop = Arc::clone(&stop);
            move || run(&stop, look, first, PERIOD, SAMPLES_MAX)
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

/// Samples on a fixed grid, so that a late wake-up does not shift those after it.
fn run(
    stop: &Stop,
    look: impl Fn() -> Sample,
    first: Sample,
    mut period: Duration,
    samples_max: usize,
) -> Timeline {
    let mut samples = vec![first];
    let mut next = Instant::now() + period;
    while !stop.wait_until(next) {
        samples.push(look());
        if samples.len() >= samples_max {
            thin(&mut samples);
            period *= 2;
        }
        while next <= Instant::now() {
            next += period;
        }
    }
    samples.push(look());
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

fn sample(host: &Host, devices: &[String], origin: Instant, tids: &[u32]) -> Sample {
    let at = Instant::now().saturating_duration_since(origin);
    let [memory_available, memory_cached, memory_dirty, memory_writeback] =
        host.memory_bytes(["MemAvailable", "Cached", "Dirty", "Writeback"]);
    Sample {
        at: Nanos(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX)),
        cpus: host.cpu_samples(),
        disks: known(devices, |name| Some((name.clone(), host.disk_sample(name)?))),
        workers: known(tids, |tid| Some((*tid, host.worker_sample(*tid)?))),
        memory_available,
        memory_cached,
        memory_dirty,
        memory_writeback,
        own: None,
        slow: None,
    }
}

fn known<I, K: Ord, V>(items: &[I], look: impl Fn(&I) -> Option<(K, V)>) -> BTreeMap<K, V> {
    items.iter().filter_map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered() -> impl Fn() -> Sample {
        let count = std::cell::Cell::new(0);
        move || {
            count.set(count.get() + 1);
            Sample { at: Nanos(count.get()), ..Sample::default() }
        }
    }

    #[test]
    fn first_and_last_samples_are_always_there() {
        let origin = Instant::now();
        let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let sampler =
            Sampler::start(Host::at("/"), vec!["no-such".into()], origin, move || vec![tid, 0])
                .unwrap();
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
        let sampler = Sampler::start(Host::at("/"), Vec::new(), origin, Vec::new).unwrap();
        assert!(sampler.finish().samples.iter().all(|s| s.at == Nanos(0)));
    }

    #[test]
    fn stopping_does_not_wait_for_the_next_sample() {
        let stop = Arc::new(Stop::default());
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || run(&stop, numbered(), Sample::default(), Duration::from_secs(3600), 10)
        });
        stop.ask();
        assert_eq!(thread.join().unwrap().samples.len(), 2);
    }

    #[test]
    fn long_runs_thin_their_samples_and_keep_the_ends() {
        let stop = Stop::default();
        let number = numbered();
        let look = || {
            let sample = number();
            if sample.at == Nanos(13) {
                stop.ask();
            }
            sample
        };
        let timeline = run(&stop, look, Sample::default(), Duration::from_micros(100), 4);
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
        let sampler = Sampler::start(Host::at("/"), Vec::new(), Instant::now(), move || {
            let _ = &held;
            Vec::new()
        })
        .unwrap();
        drop(sampler);
        assert_eq!(Arc::strong_count(&guard), 1);
    }
}
