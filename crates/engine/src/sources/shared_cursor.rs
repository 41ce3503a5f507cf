//! A position that all clones of a job share (`shared_cursor`).

use super::RecordSource;
use crate::hot::op::{Next, Op, OpKind, Source};
use plan::{ReadWrite, Worker};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Issues each block once per pass, to the clone that asks first. Blocks are numbered through all
/// files; the rest of a file behind its last whole block is left out.
pub(crate) struct SharedCursor {
    position: Arc<AtomicU64>,
    kind: OpKind,
    block: u64,
    files: Vec<Blocks>,
    /// Number of blocks in a pass.
    pass: u64,
    /// Number of blocks in all passes.
    end: u64,
    ios_left: u64,
}

/// The blocks of a file.
struct Blocks {
    /// Number of blocks in the files up to and including this one.
    until: u64,
    /// Offset that block 0 would have in this file.
    origin: u64,
}

impl SharedCursor {
    /// The source of one clone. All clones share `position`, which starts at 0.
    pub fn new(worker: &Worker, position: Arc<AtomicU64>) -> SharedCursor {
        let kind = match worker.pattern.rw {
            ReadWrite::Write => OpKind::Write,
            ReadWrite::Trim => OpKind::Trim,
            _ => OpKind::Read,
        };
        let block = worker.max_block().max(1);
        let mut files = Vec::with_capacity(worker.files.len());
        let mut pass = 0;
        for file in &worker.files {
            let origin = file.start.wrapping_sub(pass * block);
            pass += file.length / block;
            files.push(Blocks { until: pass, origin });
        }
        let stop = &worker.stop;
        let once = stop.bytes.map_or(pass, |bytes| bytes.div_ceil(block));
        let end = if stop.time_based { u64::MAX } else { once.saturating_mul(stop.loops.max(1)) };
        let ios_left = stop.ios.unwrap_or(u64::MAX);
        SharedCursor { position, kind, block, files, pass, end, ios_left }
    }
}

impl Source for SharedCursor {
    fn next(&mut self) -> Next {
        if self.ios_left == 0 || self.pass == 0 {
            return Next::End;
        }
        // Relaxed: the position orders no other memory.
        let number = self.position.fetch_add(1, Ordering::Relaxed);
        if number >= self.end {
            return Next::End;
        }
        self.ios_left -= 1;
        let number = number % self.pass;
        let file = self.files.partition_point(|blocks| blocks.until <= number);
        let offset = self.files[file].origin.wrapping_add(number * self.block);
        Next::Io(Op { kind: self.kind, file: file as u32, offset, length: self.block, tag: 0 })
    }
}

impl RecordSource for SharedCursor {}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{BlockPlan, File};
    use record::PerDirection;

    fn worker() -> Worker {
        let mut worker = Worker::default();
        let file = |start, length| File { start, length, ..File::default() };
        worker.files = vec![file(4096, 10_000), file(0, 3000), file(0, 8192)];
        worker.pattern.blocks = PerDirection::all(BlockPlan::Fixed(4096));
        worker.stop.loops = 2;
        worker
    }

    #[test]
    fn clones_together_touch_each_block_once_a_pass() {
        let position = Arc::new(AtomicU64::new(0));
        let mut clones: Vec<SharedCursor> =
            (0..3).map(|_| SharedCursor::new(&worker(), Arc::clone(&position))).collect();
        let mut seen = Vec::new();
        let mut turn = 0;
        while let Next::Io(op) = clones[turn % 3].next() {
            seen.push((op.file, op.offset));
            turn += 1;
        }
        let pass = [(0, 4096), (0, 8192), (2, 0), (2, 4096)];
        assert_eq!(seen, [pass, pass].concat());
        assert!(clones.iter_mut().all(|clone| clone.next() == Next::End));
    }

    #[test]
    fn clones_share_size_but_not_number_ios() {
        let mut worker = worker();
        worker.stop.bytes = Some(5000);
        worker.stop.loops = 1;
        let position = Arc::new(AtomicU64::new(0));
        let mut cursor = SharedCursor::new(&worker, position);
        assert!(matches!(cursor.next(), Next::Io(_)) && matches!(cursor.next(), Next::Io(_)));
        assert_eq!(cursor.next(), Next::End);
        worker.stop.time_based = true;
        worker.stop.ios = Some(7);
        let mut cursor = SharedCursor::new(&worker, Arc::default());
        let count = std::iter::from_fn(|| match cursor.next() {
            Next::Io(_) => Some(()),
            _ => None,
        });
        assert_eq!(count.count(), 7);
    }
}
