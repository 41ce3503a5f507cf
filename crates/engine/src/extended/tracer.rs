//! `--debug=io` and `--debug=random`: each I/O as it is issued and as it ends.

use super::Chore;
use crate::meter::Stamps;
use crate::ops::{Fault, Op, OpKind};
use crate::random::Random;
use crate::trace::Trace;
use crate::worker::Builder;
use plan::Worker;
use std::sync::Arc;

/// Streams of random numbers a worker draws from: offsets, mix, sizes, files.
const STREAMS: u64 = 4;

/// Says what a worker issues.
pub(super) struct Tracer {
    trace: Arc<Trace>,
    paths: Vec<String>,
    io: bool,
    random: bool,
}

impl Tracer {
    /// For a worker of which I/O or offsets are traced; `None` for any other.
    pub fn new(worker: &Worker, trace: &Arc<Trace>) -> Option<Tracer> {
        let asked = worker.trace;
        if !(asked.io || asked.random) {
            return None;
        }
        if asked.random {
            trace.say("random", &format!("FIO_RAND_NR_OFFS={STREAMS}"));
            for stream in 0..STREAMS {
                let first = Random::new(worker.pattern.seed, stream).bits();
                trace.say("random", &format!("rand_seeds[{stream}]={first}"));
            }
        }
        Some(Tracer {
            trace: Arc::clone(trace),
            paths: worker.files.iter().map(|file| file.path.clone()).collect(),
            io: asked.io,
            random: asked.random && worker.pattern.rw.is_random(),
        })
    }

    fn step(&self, step: &str, op: &Op) {
        let path = self.paths.get(op.file as usize).map_or("", String::as_str);
        // What stands for the address of fio's io_u: the same at both ends of an I/O, another for
        // any other that may be in flight with it.
        let unit = 0x5500_0000_0000 | (u64::from(op.file) << 40) | (op.offset >> 9);
        let text = format!(
            "{step}: io_u 0x{unit:x}: off=0x{:x},len=0x{:x},ddir={},file={path}",
            op.offset,
            op.length,
            way(op.kind),
        );
        self.trace.say("io", &text);
    }
}

/// fio's number for what an I/O does.
fn way(kind: OpKind) -> u8 {
    match kind {
        OpKind::Read => 0,
        OpKind::Write => 1,
        OpKind::Trim | OpKind::ResetZone => 2,
        OpKind::Fsync => 3,
        OpKind::Fdatasync => 4,
        OpKind::SyncFileRange(_) => 6,
    }
}

impl Chore for Tracer {
    fn issued(&mut self, op: &Op, _: &Stamps) {
        if self.random && op.kind.direction().is_some() {
            self.trace.say("random", &format!("off rand {}", op.offset));
        }
        if self.io {
            ["fill", "prep", "queue"].iter().for_each(|step| self.step(step, op));
        }
    }

    fn ended(&mut self, op: &Op, _: &Stamps, _: u64) -> Result<(), Fault> {
        if self.io {
            self.step("complete", op);
        }
        Ok(())
    }

    fn gather(self: Box<Self>, _: u64, _: &mut Builder<'_>) {}
}
