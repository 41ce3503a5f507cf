//! `--debug`: each I/O as it is issued and as it ends (io), and what it was drawn by (random, rate),
//! is checked against (verify) and lies in (zbd).

use super::Chore;
use crate::meter::Stamps;
use crate::ops::{Fault, Next, Op, OpKind, UNPACED};
use crate::random::Random;
use crate::trace::Trace;
use crate::worker::Builder;
use plan::{RateProcess, Worker};
use std::sync::Arc;

/// Streams of random numbers a worker draws from: offsets, mix, sizes, files.
const STREAMS: u64 = 4;

/// Says what a worker issues.
pub(super) struct Tracer {
    trace: Arc<Trace>,
    paths: Vec<String>,
    io: bool,
    random: bool,
    checked: Option<Checked>,
    poisson: Option<[u64; 3]>,
    /// Distance of the zones of each file, in bytes.
    zones: Option<Vec<u64>>,
}

/// Blocks that are checked.
struct Checked {
    method: &'static str,
    /// Bytes between two headers; 0: a header an I/O.
    interval: u64,
    /// What was written is being read back.
    reading: bool,
}

impl Tracer {
    /// For a worker of which any of that is traced; `None` for any other.
    pub fn new(worker: &Worker, trace: &Arc<Trace>) -> Option<Tracer> {
        let asked = worker.trace;
        let method = worker.verify.as_ref().filter(|_| asked.verify);
        let poisson = asked.rate && worker.pacing.process == RateProcess::Poisson;
        let zones = worker.zbd.as_ref().filter(|_| asked.zbd);
        if !(asked.io || asked.random || poisson) && method.is_none() && zones.is_none() {
            return None;
        }
        let tracer = Tracer {
            trace: Arc::clone(trace),
            paths: worker.files.iter().map(|file| file.path.clone()).collect(),
            io: asked.io,
            random: asked.random && worker.pattern.rw.is_random(),
            checked: method.map(|verify| Checked {
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
            self.trace.say("random", &format!("FIO_RAND_NR_OFFS={STREAMS}"));
            for stream in 0..STREAMS {
                let first = Random::new(worker.pattern.seed, stream).bits();
                self.trace.say("random", &format!("rand_seeds[{stream}]={first}"));
            }
        }
        if let (Some(_), Some(zbd)) = (&self.zones, &worker.zbd) {
            for path in &self.paths {
                let text = format!("{path}: using max open zones limit: {}", zbd.max_open);
                self.trace.say("zbd", &text);
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
            way(op.kind),
            self.path(op),
        );
        self.trace.say("io", &text);
    }

    /// A block is made, or one that was made is asked for.
    fn block_begins(&mut self, op: &Op) {
        let reads_back = op.kind == OpKind::Read && op.tag == UNPACED;
        let Some(checked) = &mut self.checked else { return };
        if reads_back {
            if !std::mem::replace(&mut checked.reading, true) {
                self.trace.say("verify", "starting loop");
            }
            self.trace.say("verify", &format!("get_next_verify: ret io_u 0x{:x}", unit(op)));
        } else if op.kind == OpKind::Write {
            self.leave_reading();
            self.trace.say("verify", &format!("fill random bytes len={}", op.length));
            self.each_header(op, |method, unit, length| {
                format!("fill {method} io_u 0x{unit:x}, len {length}")
            });
        }
    }

    fn each_header(&self, op: &Op, text: impl Fn(&str, u64, u64) -> String) {
        let Some(checked) = &self.checked else { return };
        let interval = if checked.interval == 0 { op.length } else { checked.interval };
        for _ in 0..op.length / interval.max(1) {
            self.trace.say("verify", &text(checked.method, unit(op), interval));
        }
    }

    fn leave_reading(&mut self) {
        let reading = self.checked.as_mut().map(|checked| &mut checked.reading);
        if reading.is_some_and(std::mem::take) {
            self.trace.say("verify", "get_next_verify: empty");
            self.trace.say("verify", "exiting loop");
        }
    }

    fn drawn(&mut self, op: &Op, stamps: &Stamps) {
        let Some(direction) = op.kind.direction() else { return };
        if self.random {
            self.trace.say("random", &format!("off rand {}", op.offset));
        }
        if let Some(last) = &mut self.poisson {
            let before = std::mem::replace(&mut last[direction as usize], stamps.intended);
            let gap = stamps.intended.saturating_sub(before);
            if before > 0 && gap > 0 {
                let iops = 1_000_000_000 / gap;
                let text = format!("poisson rate iops={iops}, ddir={}", way(op.kind));
                self.trace.say("rate", &text);
            }
        }
    }

    fn placed(&self, op: &Op) {
        let Some(size) = self.zones.as_ref().and_then(|zones| zones.get(op.file as usize)) else {
            return;
        };
        let (path, zone) = (self.path(op), op.offset / size);
        let text = match op.kind {
            OpKind::ResetZone => format!("{path}: resetting zone {zone}"),
            _ => format!("{path}: queued I/O ({}, {}) for zone {zone}", op.offset, op.length),
        };
        self.trace.say("zbd", &text);
    }
}

/// What stands for the address of fio's io_u: the same at both ends of an I/O, another for any other
/// that may be in flight with it.
fn unit(op: &Op) -> u64 {
    0x5500_0000_0000 | (u64::from(op.file) << 40) | (op.offset >> 9)
}

/// fio's number for what an I/O does.
fn way(kind: OpKind) -> u8 {
    match kind {
        OpKind::Read => 0,
        OpKind::Write => 1,
        OpKind::Trim | OpKind::ResetZone => 2,
        OpKind::Fsync => 3,
        OpKind::Fdatasync => 4,
        OpKind::SyncFileRange(_) | OpKind::Stat => 6,
    }
}

impl Chore for Tracer {
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        self.block_begins(op);
        self.drawn(op, stamps);
        self.placed(op);
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

    fn gather(mut self: Box<Self>, _: u64, _: &mut Builder<'_>) {
        self.leave_reading();
    }
}
