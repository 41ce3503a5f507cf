//! What becomes of the data of reads: a program that reads does something with it.

use crate::ops::{Op, OpKind};
use plan::{ReadUse, Worker};
use std::fs::File;
use std::hint::black_box;

/// Does something with the data of each read.
pub(super) enum Consumer {
    /// Takes one byte of every so many and puts it back: they come to the processor.
    Touch(usize),
    /// Hands it to /dev/null.
    Null(File),
}

impl Consumer {
    /// `None` when nothing is to be done.
    pub fn new(worker: &Worker) -> Option<Consumer> {
        match worker.buffers.read_use {
            ReadUse::Nothing => None,
            ReadUse::Touch(every) => {
                Some(Consumer::Touch(usize::try_from(every).unwrap_or(usize::MAX).max(1)))
            }
            ReadUse::NullDevice => {
                File::options().write(true).open("/dev/null").ok().map(Consumer::Null)
            }
        }
    }

    /// An I/O ended, and this is what it moved.
    pub fn ended(&self, op: &Op, data: &mut [u8]) {
        if op.kind != OpKind::Read {
            return;
        }
        match self {
            Consumer::Touch(every) => touch(data, *every, black_box(u8::MAX)),
            // It takes everything; who gives less to it is no reason to stop.
            Consumer::Null(sink) => {
                let _ = rustix::io::write(sink, data);
            }
        }
    }
}

/// Keeps the bits `kept` of one byte of every so many. A compiler that does not know these bits
/// can leave out neither the reading nor the writing.
fn touch(data: &mut [u8], every: usize, kept: u8) {
    data.iter_mut().step_by(every).for_each(|byte| *byte &= kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumer(read_use: ReadUse) -> Option<Consumer> {
        let mut worker = Worker::default();
        worker.buffers.read_use = read_use;
        Consumer::new(&worker)
    }

    #[test]
    fn one_byte_of_so_many_is_taken_and_put_back() {
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
        Consumer::Touch(1).ended(&op, &mut after);
        assert_eq!(after, before);
    }

    #[test]
    fn data_of_reads_alone_is_handed_on() {
        let (mut seen, sink) = std::io::pipe().unwrap();
        let sink = Consumer::Null(std::os::fd::OwnedFd::from(sink).into());
        let op = |kind| Op { kind, file: 0, offset: 0, length: 4, tag: 0 };
        sink.ended(&op(OpKind::Write), &mut b"left".clone());
        sink.ended(&op(OpKind::Read), &mut b"here".clone());
        drop(sink);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut seen, &mut text).unwrap();
        assert_eq!(text, "here");
        assert!(consumer(ReadUse::Nothing).is_none());
        assert!(matches!(consumer(ReadUse::NullDevice), Some(Consumer::Null(_))));
        assert!(matches!(consumer(ReadUse::Touch(64)), Some(Consumer::Touch(64))));
    }
}
