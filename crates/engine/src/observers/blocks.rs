//! Tracks blocks until they fail (`block_error_percentiles`).

use super::IoObserver;
use crate::hot::op::{Fault, Op};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use plan::Worker;
use record::{BlockStates, Direction, Histogram};

/// A block's state is in the top bits, its number of trims in the others.
const STATE_SHIFT: u32 = 29;
const TRIMS_MAX: u32 = (1 << STATE_SHIFT) - 1;
const TRIMMED: u32 = 1;
const WRITTEN: u32 = 2;
/// This state and the next are final.
const TRIM_FAILED: u32 = 3;
const WRITE_FAILED: u32 = 4;

/// The states of a worker's blocks.
pub(crate) struct BlockFailures {
    size: u64,
    /// For each file, the start of its region and its blocks.
    files: Vec<(u64, Vec<u32>)>,
}

impl BlockFailures {
    /// Blocks of `size` bytes.
    pub fn new(worker: &Worker, size: u64) -> BlockFailures {
        let blocks = |length: u64| vec![0; length.div_ceil(size) as usize];
        let files = worker.files.iter().map(|file| (file.start, blocks(file.length))).collect();
        BlockFailures { size, files }
    }

    /// Changes the state and trims of each block of an I/O that has not failed yet.
    fn change(&mut self, op: &Op, change: impl Fn(u32) -> (u32, u32)) {
        let Some((start, blocks)) = self.files.get_mut(op.file as usize) else { return };
        let first = op.offset.saturating_sub(*start) / self.size;
        let end = (op.offset + op.length).saturating_sub(*start).div_ceil(self.size);
        let blocks = blocks.iter_mut().skip(first as usize).take((end - first) as usize);
        for block in blocks.filter(|block| **block >> STATE_SHIFT < TRIM_FAILED) {
            let (state, trims) = change(*block & TRIMS_MAX);
            *block = state << STATE_SHIFT | trims.min(TRIMS_MAX);
        }
    }

    fn states(&self) -> BlockStates {
        let mut out = BlockStates { size: self.size, ..BlockStates::default() };
        let mut survived = Histogram::new();
        for block in self.files.iter().flat_map(|(_, blocks)| blocks) {
            let counter = match block >> STATE_SHIFT {
                TRIMMED => &mut out.trimmed,
                WRITTEN => &mut out.written,
                TRIM_FAILED => &mut out.trim_failed,
                WRITE_FAILED => &mut out.write_failed,
                _ => &mut out.untouched,
            };
            *counter += 1;
            if block >> STATE_SHIFT >= TRIM_FAILED {
                survived.record(u64::from(block & TRIMS_MAX));
            }
        }
        BlockStates { trims_survived: survived, ..out }
    }
}

impl IoObserver for BlockFailures {
    fn ended(&mut self, op: &Op, _: &Stamps, _: u64) -> Result<(), Fault> {
        match op.kind.direction() {
            Some(Direction::Trim) => self.change(op, |trims| (TRIMMED, trims + 1)),
            Some(Direction::Write) => self.change(op, |trims| (WRITTEN, trims)),
            _ => {}
        }
        Ok(())
    }

    fn short(&mut self, op: &Op, moved: u64) {
        match op.kind.direction() {
            Some(Direction::Trim) if moved == 0 => self.change(op, |trims| (TRIM_FAILED, trims)),
            Some(Direction::Write) if moved == 0 => self.change(op, |trims| (WRITE_FAILED, trims)),
            _ => {}
        }
    }

    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        builder.job.blocks = Some(self.states());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::op::OpKind;
    use plan::File;

    fn op(kind: OpKind, offset: u64, length: u64) -> Op {
        Op { kind, file: 0, offset, length, tag: 0 }
    }

    #[test]
    fn a_block_is_followed_until_it_fails() {
        let file = File { start: 4096, length: 40_960, ..File::default() };
        let worker = Worker { files: vec![file], ..Worker::default() };
        let mut blocks = BlockFailures::new(&worker, 4096);
        let mut end = |kind, offset, length| {
            blocks.ended(&op(kind, offset, length), &Stamps::default(), 0).unwrap();
        };
        end(OpKind::Trim, 4096, 8192);
        end(OpKind::Trim, 4096, 4096);
        end(OpKind::Write, 4096, 4096);
        end(OpKind::Read, 12_288, 4096);
        blocks.short(&op(OpKind::Trim, 4096, 4096), 0);
        blocks.short(&op(OpKind::Write, 40_960, 4096), 0);
        blocks.short(&op(OpKind::Write, 36_864, 4096), 512);
        blocks.ended(&op(OpKind::Write, 4096, 4096), &Stamps::default(), 0).unwrap();
        let states = blocks.states();
        let counts = [states.untouched, states.trimmed, states.written];
        assert_eq!((counts, states.trim_failed, states.write_failed), ([7, 1, 0], 1, 1));
        let survived = &states.trims_survived;
        assert_eq!((survived.count(), survived.min(), survived.max()), (2, 0, 2));
    }
}
