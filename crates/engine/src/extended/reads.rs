//! What becomes of the data of reads: a program that reads does something with it.

use crate::ops::{Op, OpKind};
use plan::{ReadUse, Worker};
use std::fs::File;

/// Does something with the data of each read.
pub(super) enum Consumer {
    /// Looks at one byte of every so many: they come to the processor.
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
    pub fn ended(&self, op: &Op, data: &[u8]) {
        if op.kind != OpKind::Read {
            return;
        }
        match self {
            Consumer::Touch(every) => {
                std::hint::black_box(touched(data, *every));
            }
            // It takes everything; who gives less to it is no reason to stop.
            Consumer::Null(sink) => {
                let _ = rustix::io::write(sink, data);
            }
        }
    }
}

/// What cannot be known without one byte of every so many.
fn touched(data: &[u8], every: usize) -> u8 {
    data.iter().step_by(every).fold(0, |seen, byte| seen ^ byte)
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
    fn one_byte_of_so_many_is_looked_at() {
        let data: Vec<u8> = (0..=255).collect();
        assert_eq!(touched(&data, 64), 64 ^ 128 ^ 192);
        assert_eq!(touched(&data[1..], 200), 1 ^ 201);
        assert_eq!(touched(&data[3..], usize::MAX), 3);
        assert_eq!(touched(&[], 1), 0);
    }

    #[test]
    fn data_of_reads_alone_is_handed_on() {
        let (mut seen, sink) = std::io::pipe().unwrap();
        let sink = Consumer::Null(std::os::fd::OwnedFd::from(sink).into());
        let op = |kind| Op { kind, file: 0, offset: 0, length: 4, tag: 0 };
        sink.ended(&op(OpKind::Write), b"left");
        sink.ended(&op(OpKind::Read), b"here");
        drop(sink);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut seen, &mut text).unwrap();
        assert_eq!(text, "here");
        assert!(consumer(ReadUse::Nothing).is_none());
        assert!(matches!(consumer(ReadUse::NullDevice), Some(Consumer::Null(_))));
        assert!(matches!(consumer(ReadUse::Touch(64)), Some(Consumer::Touch(64))));
    }
}
