//! `--debug` lines per I/O: its steps (io), random numbers (random), schedule (rate), verification
//! (verify) and zone (zbd).

use super::IoObserver;
use crate::hot::op::{Fault, Next, Op, OpKind, UNPACED};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use crate::random::Random;
use crate::trace::Trace;
use plan::{RateProcess, Worker};
use std::sync::Arc;

/// Random number streams of a worker: offsets, mix, sizes, files.
const STREAMS: u64 = 4;

/// Traces the I/O of a worker.
pub(crate) struct IoTracer {
    trace: Arc<Trace>,
    paths: Vec<String>,
    io: bool,
    random: bool,
    verify: Option<VerifyTrace>,
    /// Intended start of the last I/O per direction.
    poisson: Option<[u64; 3]>,
    /// Zone size of each file, in bytes.
    zones: Option<Vec<u64>>,
}

struct VerifyTrace {
    method: &'static str,
    /// Bytes between two headers; 0: one header per I/O.
    interval: u64,
    /// The worker is reading back.
    reading: bool,
}

impl IoTracer {
    /// `None` if none of these is traced.
    pub fn new(worker: &Worker, trace: &Arc<Trace>) -> Option<IoTracer> {
        let asked = worker.trace;
        let method = worker.verify.as_ref().filter(|_| asked.verify);
        let poisson = asked.rate && worker.pacing.process == RateProcess::Poisson;
        let zones = worker.zbd.as_ref().filter(|_| asked.zbd);
        if !(asked.io || asked.random || poisson) && method.is_none() && zones.is_none() {
            return None;
        }
        let tracer = IoTracer {
            trace: Arc::clone(trace),
            paths: worker.files.iter().map(|file| file.path.clone()).collect(),
            io: asked.io,
            random: asked.random && worker.pattern.rw.is_random(),
            verify: method.map(|verify| VerifyTrace {
                method: verify.method.name(),
                interval: verify.interval,
                reading: false,
            }),
            poisson: poisson.then_some([0; 3]),
            zones: zones.map(|zbd| zbd.files.iter().map(|file| file.size.max(1)).collect()),
        };
        tracer.introduce(worker, asked.random);
        Some(tracer)
    }

    fn introduce(&self, worker: &Worker, random: bool) {
        if random {
            self.trace.line("random", &format!("FIO_RAND_NR_OFFS={STREAMS}"));
            for stream in 0..STREAMS {
                let first = Random::new(worker.pattern.seed, stream).bits();
                self.trace.line("random", &format!("rand_seeds[{stream}]={first}"));
            }
        }
        if let (Some(_), Some(zbd)) = (&self.zones, &worker.zbd) {
            for path in &self.paths {
                let text = format!("{path}: using max open zones limit: {}", zbd.max_open);
                self.trace.line("zbd", &text);
            }
        }
    }

    fn path(&self, op: &Op) -> &str {
        self.paths.get(op.file as usize).map_or("", String::as_str)
    }

    fn step(&self, step: &str, op: &Op) {
        let text = format!(
            "{step}: io_u 0x{:x}: off=0x{:x},len=0x{:x},ddir={},file={}",
            unit(op),
            op.offset,
            op.length,
            ddir(op.kind),
            self.path(op),
        );
        self.trace.line("io", &text);
    }

    /// A block is filled for a write, or read back.
    fn trace_verify(&mut self, op: &Op) {
        let reads_back = op.kind == OpKind::Read && op.tag == UNPACED;
        let Some(verify) = &mut self.verify else { return };
        if reads_back {
            if !std::mem::replace(&mut verify.reading, true) {
                self.trace.line("verify", "starting loop");
            }
            self.trace.line("verify", &format!("get_next_verify: ret io_u 0x{:x}", unit(op)));
        } else if op.kind == OpKind::Write {
            self.leave_reading();
            self.trace.line("verify", &format!("fill random bytes len={}", op.length));
            self.each_header(op, |method, unit, length| {
                format!("fill {method} io_u 0x{unit:x}, len {length}")
            });
        }
    }

    fn each_header(&self, op: &Op, text: impl Fn(&str, u64, u64) -> String) {
        let Some(verify) = &self.verify else { return };
        let interval = if verify.interval == 0 { op.length } else { verify.interval };
        for _ in 0..op.length / interval.max(1) {
            self.trace.line("verify", &text(verify.method, unit(op), interval));
        }
    }

    fn leave_reading(&mut self) {
        let reading = self.verify.as_mut().map(|verify| &mut verify.reading);
        if reading.is_some_and(std::mem::take) {
            self.trace.line("verify", "get_next_verify: empty");
            self.trace.line("verify", "exiting loop");
        }
    }

    fn trace_draw(&mut self, op: &Op, stamps: &Stamps) {
        let Some(direction) = op.kind.direction() else { return };
        if self.random {
            self.trace.line("random", &format!("off rand {}", op.offset));
        }
        if let Some(last) = &mut self.poisson {
            let before = std::mem::replace(&mut last[direction as usize], stamps.intended);
            let gap = stamps.intended.saturating_sub(before);
            if before > 0 && gap > 0 {
                let iops = 1_000_000_000 / gap;
                let text = format!("poisson rate iops={iops}, ddir={}", ddir(op.kind));
                self.trace.line("rate", &text);
            }
        }
    }

    fn trace_zone(&self, op: &Op) {
        let Some(size) = self.zones.as_ref().and_then(|zones| zones.get(op.file as usize)) else {
            return;
        };
        let (path, zone) = (self.path(op), op.offset / size);
        let text = match op.kind {
            OpKind::ResetZone => format!("{path}: resetting zone {zone}"),
            _ => format!("{path}: queued I/O ({}, {}) for zone {zone}", op.offset, op.length),
        };
        self.trace.line("zbd", &text);
    }
}

/// Stands for the address of fio's io_u: the same at both ends of an I/O, and unique in flight.
fn unit(op: &Op) -> u64 {
    0x5500_0000_0000 | (u64::from(op.file) << 40) | (op.offset >> 9)
}

/// fio's number of a direction.
fn ddir(kind: OpKind) -> u8 {
    match kind {
        OpKind::Read => 0,
        OpKind::Write => 1,
        OpKind::Trim | OpKind::ResetZone => 2,
        OpKind::Fsync => 3,
        OpKind::Fdatasync => 4,
        OpKind::SyncFileRange(_) | OpKind::Stat => 6,
    }
}

impl IoObserver for IoTracer {
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        self.trace_verify(op);
        self.trace_draw(op, stamps);
        self.trace_zone(op);
        if self.io {
            ["fill", "prep", "queue"].iter().for_each(|step| self.step(step, op));
        }
    }

    fn file_step(&mut self, step: Next) {
        if step == Next::LoopEnd {
            self.leave_reading();
        }
    }

    fn ended(&mut self, op: &Op, _: &Stamps, _: u64) -> Result<(), Fault> {
        if self.io {
            self.step("complete", op);
        }
        if op.kind == OpKind::Read {
            self.each_header(op, |method, unit, length| {
                format!("{method} verify io_u 0x{unit:x}, len {length}")
            });
        }
        Ok(())
    }

    fn record(&mut self, _: u64, _: &mut JobRecordBuilder<'_>) {
        self.leave_reading();
    }
}
