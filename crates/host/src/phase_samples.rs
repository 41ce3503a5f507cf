//! Samples of the machine at the moments at which workers begin their I/O.

use crate::Host;
use crate::sample_reader::{Detail, SampleReader};
use record::{Nanos, Sample};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Takes a sample on request. A phase may be shorter than the period of a
/// [`Sampler`](crate::Sampler).
pub struct PhaseSamples(Mutex<Taken>);

struct Taken {
    reader: SampleReader,
    /// The moment that the samples count from.
    origin: Instant,
    samples: Vec<Sample>,
}

impl PhaseSamples {
    /// Prepares to sample the machine and these block devices.
    pub fn new(host: Host, devices: Vec<String>) -> PhaseSamples {
        let origin = Instant::now();
        let reader = SampleReader::new(host, devices, origin);
        PhaseSamples(Mutex::new(Taken { reader, origin, samples: Vec::new() }))
    }

    /// Takes a sample.
    pub fn take(&self) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sample = taken.reader.read(&[], Detail::Counters);
        taken.samples.push(sample);
    }

    /// The samples so far. Their times count from `origin`; samples before it are at 0.
    pub fn since(&self, origin: Instant) -> Vec<Sample> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let late = origin.saturating_duration_since(taken.origin).as_nanos() as u64;
        let shifted = |sample: &Sample| Sample {
            at: Nanos(sample.at.0.saturating_sub(late)),
            ..sample.clone()
        };
        taken.samples.iter().map(shifted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_from_the_origin_that_is_asked_for() {
        let samples = PhaseSamples::new(Host::at("/"), Vec::new());
        let origin = Instant::now();
        samples.take();
        samples.take();
        let passed = origin.elapsed().as_nanos() as u64;
        let taken = samples.since(origin);
        assert_eq!(taken.len(), 2);
        assert!(taken[0].at <= taken[1].at && taken[1].at.0 <= passed, "{taken:?}");
        assert!(!taken[0].cpus.is_empty() && taken[0].workers.is_empty());
    }
}
