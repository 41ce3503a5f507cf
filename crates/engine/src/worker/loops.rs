//! Chooses the loop of a worker: ring, clock, gate, meter and source.

use super::failure::{Failure, step};
use super::link::SupervisorLink;
use super::source::ObservedSource;
use crate::clock::RunClock;
use crate::engines::{IoSettings, Ring, RingFile, RingSetup, RingVisitor};
use crate::files::{OpenFiles, pattern_advice};
use crate::job_record::{JobRecordBuilder, default_priority};
use crate::pacing::{OpenGate, PacedGate};
use crate::run_shared::RunShared;
use crate::sources::workload::Workload;
use crate::sys::buffers::BufferArea;
use plan::Worker;

/// In kernels since 6.11.
const RWF_ATOMIC: u32 = 0x40;

/// A worker with its memory and its first files open.
pub(super) struct ReadyWorker<'a, 'w> {
    pub shared: &'w RunShared,
    pub index: usize,
    pub buffers: &'a mut BufferArea,
    pub files: OpenFiles<'w>,
    pub link: &'a SupervisorLink,
    pub builder: &'a mut JobRecordBuilder<'w>,
}

impl<'w> RingVisitor for ReadyWorker<'_, 'w> {
    type Output = Result<OpenFiles<'w>, Failure>;

    /// Runs the smallest loop that does what the worker needs.
    fn visit<R: Ring + 'static, const QUEUED: bool>(self) -> Self::Output {
        let worker = self.worker();
        let ring = self.open_ring::<R>()?;
        if let Some(source) = ObservedSource::if_needed(self.shared, self.index, QUEUED) {
            return self.run_observed::<R, QUEUED>(ring, source);
        }
        let source = Workload::new(worker);
        let wants_latency = worker.measuring.clat || worker.measuring.lat || worker.measuring.slat;
        let gate = PacedGate::new(worker, &self.shared.gate_context());
        match (self.shared.clock, gate) {
            (RunClock::Tsc(clock), None) if wants_latency => {
                self.run_loop::<_, _, _, _, true, QUEUED, false>(ring, clock, OpenGate, source)
            }
            (RunClock::Tsc(clock), None) => {
                self.run_loop::<_, _, _, _, false, QUEUED, false>(ring, clock, OpenGate, source)
            }
            (RunClock::Tsc(clock), Some(gate)) if gate.is_scheduled() => {
                self.run_loop::<_, _, _, _, true, QUEUED, true>(ring, clock, gate, source)
            }
            (RunClock::Tsc(clock), Some(gate)) => {
                self.run_loop::<_, _, _, _, true, QUEUED, false>(ring, clock, gate, source)
            }
            (RunClock::Monotonic(clock), None) => {
                self.run_loop::<_, _, _, _, true, QUEUED, false>(ring, clock, OpenGate, source)
            }
            // Next to the calls of this clock, what the general loop costs does not count.
            (RunClock::Monotonic(_), Some(_)) => {
                let source = ObservedSource::new(self.shared, self.index, QUEUED);
                self.run_observed::<R, QUEUED>(ring, source)
            }
        }
    }

    /// Runs the one loop that is compiled for a ring whose I/O is expensive.
    fn visit_general<R: Ring + 'static, const QUEUED: bool>(self) -> Self::Output {
        let ring = self.open_ring::<R>()?;
        let source = ObservedSource::new(self.shared, self.index, QUEUED);
        self.run_observed::<R, QUEUED>(ring, source)
    }
}

impl<'w> ReadyWorker<'_, 'w> {
    pub fn worker(&self) -> &'w Worker {
        &self.shared.plan.workers[self.index]
    }

    /// Opens the ring and reads the zones, as far as that is possible without other workers.
    fn open_ring<R: Ring>(&self) -> Result<R, Failure> {
        let worker = self.worker();
        self.shared.zones.prepare(worker).map_err(step("use the zones"))?;
        let files: Vec<RingFile> = (0_u32..)
            .zip(&worker.files)
            .map(|(index, file)| RingFile {
                path: file.path.clone(),
                fd: self.files.fd(index),
                start: file.start,
                length: file.length,
            })
            .collect();
        let only_verifies = worker.verify.as_ref().is_some_and(|verify| verify.only);
        let setup = RingSetup {
            worker,
            depth: worker.queue.depth,
            buffers: self.buffers,
            options: &worker.queue.options,
            files: &files,
            io: IoSettings {
                io_priority: default_priority(worker),
                direct: worker.queue.direct,
                writes: worker.pattern.rw.writes() && !only_verifies,
                write_flags: if worker.queue.atomic { RWF_ATOMIC } else { 0 },
                advice: pattern_advice(worker),
                clock: self.shared.clock,
            },
            overlaps: worker.placing.serialize_overlap.then_some(&self.shared.overlaps),
        };
        let mut ring = R::open(&setup).map_err(step("set up the I/O engine"))?;
        ring.prepare()?;
        Ok(ring)
    }

    /// Runs the loop for any source and gate.
    fn run_observed<R: Ring, const QUEUED: bool>(
        self,
        ring: R,
        source: ObservedSource,
    ) -> Result<OpenFiles<'w>, Failure> {
        const { assert!(QUEUED != R::SYNCHRONOUS) };
        let gate = PacedGate::always(self.worker(), &self.shared.gate_context());
        let clock = self.shared.clock;
        self.run_loop::<_, _, _, _, true, QUEUED, true>(ring, clock, gate, source)
    }
}
