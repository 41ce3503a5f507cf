//! The blocks that a device is to compare itself (`verify_mode=compare`).

use super::content::Content;
use crate::hot::op::{Op, OpKind, UNPACED};
use plan::{NvmeVerifyMode, Worker};

/// Generates what reads of the verification should find. A pattern is all that a block depends on.
pub(crate) struct ExpectedBlocks {
    content: Content,
    /// Every read is checked: the worker writes nothing.
    only_reads: bool,
}

impl ExpectedBlocks {
    /// `None` if the worker checks data itself, or not at all.
    pub fn new(worker: &Worker) -> Option<ExpectedBlocks> {
        let compares = worker.queue.options.nvme.verify_mode == NvmeVerifyMode::Compare;
        let verify = worker.verify.as_ref().filter(|_| compares)?;
        let only_reads = !worker.pattern.rw.writes();
        Some(ExpectedBlocks { content: Content::new(worker, verify), only_reads })
    }

    /// Whether the device is to compare the blocks of this I/O.
    pub fn compares(&self, op: &Op) -> bool {
        op.kind == OpKind::Read && (self.only_reads || op.tag == UNPACED)
    }

    /// Fills `buffer` with the blocks that should be at `offset`.
    pub fn fill(&mut self, buffer: &mut [u8], offset: u64) {
        self.content.make(buffer, offset, 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;
    use plan::{BlockPattern, ReadWrite, Verify, VerifyMethod};

    fn worker(rw: ReadWrite) -> Worker {
        let mut worker = Worker::default();
        let pattern = BlockPattern { bytes: vec![1, 2, 3], offsets: Vec::new() };
        worker.pattern.rw = rw;
        worker.queue.options.nvme.verify_mode = NvmeVerifyMode::Compare;
        let method = VerifyMethod::Pattern;
        worker.verify = Some(Verify { method, pattern: Some(pattern), ..tests::verify() });
        worker
    }

    #[test]
    fn reads_of_the_verification_are_compared_with_the_pattern() {
        let read = Op { kind: OpKind::Read, file: 0, offset: 4, length: 4, tag: 0 };
        let read_back = Op { tag: UNPACED, ..read };
        let mut writes = ExpectedBlocks::new(&worker(ReadWrite::RandWrite)).unwrap();
        assert!(!writes.compares(&read) && writes.compares(&read_back));
        assert!(!writes.compares(&Op { kind: OpKind::Trim, ..read_back }));
        assert!(ExpectedBlocks::new(&worker(ReadWrite::Read)).unwrap().compares(&read));
        let mut buffer = [0; 4];
        writes.fill(&mut buffer, 4);
        assert_eq!(buffer, [1, 2, 3, 1]);
        let mut plain = worker(ReadWrite::Read);
        plain.queue.options.nvme.verify_mode = NvmeVerifyMode::Read;
        assert!(ExpectedBlocks::new(&plain).is_none());
    }
}
