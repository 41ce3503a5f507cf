//! Uses the data of reads, as an application would.

use crate::hot::op::{Op, OpKind};
use plan::{ReadUse, Worker};
use std::fs::File;
use std::hint::black_box;

/// Uses the data of each read.
pub(crate) enum ReadConsumer {
    /// Reads and writes back every n-th byte, which loads it into the CPU cache.
    Touch(usize),
    /// Writes the data to /dev/null.
    Null(File),
}

impl ReadConsumer {
    /// `None` if the data is not used.
    pub fn new(worker: &Worker) -> Option<ReadConsumer> {
        match worker.buffers.read_use {
            ReadUse::Nothing => None,
            ReadUse::Touch(every) => {
                Some(ReadConsumer::Touch(usize::try_from(every).unwrap_or(usize::MAX).max(1)))
            }
            ReadUse::NullDevice => {
                File::options().write(true).open("/dev/null").ok().map(ReadConsumer::Null)
            }
        }
    }

    /// An I/O ended and moved `data`.
    pub fn ended(&self, op: &Op, data: &mut [u8]) {
        if op.kind != OpKind::Read {
            return;
        }
        match self {
            ReadConsumer::Touch(every) => touch(data, *every, black_box(u8::MAX)),
            // /dev/null accepts everything; an error does not matter.
            ReadConsumer::Null(sink) => {
                let _ = rustix::io::write(sink, data);
            }
        }
    }
}

/// Masks every n-th byte with `kept`. The compiler does not know the mask, so it cannot leave out the
/// read or the write.
fn touch(data: &mut [u8], every: usize, kept: u8) {
    data.iter_mut().step_by(every).for_each(|byte| *byte &= kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumer(read_use: ReadUse) -> Option<ReadConsumer> {
        let mut worker = Worker::default();
        worker.buffers.read_use = read_use;
        ReadConsumer::new(&worker)
    }

    #[test]
    fn every_nth_byte_is_touched() {
        let taken = |data: &[u8], every| {
            let mut data = data.to_vec();
            touch(&mut data, every, 0);
            (0..data.len()).filter(|&at| data[at] == 0).collect::<Vec<_>>()
        };
        assert_eq!(taken(&[7; 256], 64), [0, 64, 128, 192]);
        assert_eq!(taken(&[7; 255], 200), [0, 200]);
        assert_eq!(taken(&[7; 9], usize::MAX), [0]);
        assert_eq!(taken(&[], 1), [0_usize; 0]);

        let op = Op { kind: OpKind::Read, file: 0, offset: 0, length: 256, tag: 0 };
        let before: Vec<u8> = (0..=255).collect();
        let mut after = before.clone();
        ReadConsumer::Touch(1).ended(&op, &mut after);
        assert_eq!(after, before);
    }

    #[test]
    fn only_reads_are_consumed() {
        let (mut seen, sink) = std::io::pipe().unwrap();
        let sink = ReadConsumer::Null(std::os::fd::OwnedFd::from(sink).into());
        let op = |kind| Op { kind, file: 0, offset: 0, length: 4, tag: 0 };
        sink.ended(&op(OpKind::Write), &mut b"left".clone());
        sink.ended(&op(OpKind::Read), &mut b"here".clone());
        drop(sink);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut seen, &mut text).unwrap();
        assert_eq!(text, "here");
        assert!(consumer(ReadUse::Nothing).is_none());
        assert!(matches!(consumer(ReadUse::NullDevice), Some(ReadConsumer::Null(_))));
        assert!(matches!(consumer(ReadUse::Touch(64)), Some(ReadConsumer::Touch(64))));
    }
}
