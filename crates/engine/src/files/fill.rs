//! Writes data into files with a queue of writes, bypassing the page cache if possible.

use crate::clock::RunClock;
use crate::engines::{IoSettings, Queued, Ring, RingFile, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::payload::Payload;
use crate::sys::buffers::BufferArea;
use crate::sys::files::Span;
use plan::{BlockPlan, Buffers, MemoryKind, ReadWrite, Worker};
use record::PerDirection;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Duration;

/// Bytes per write.
const BLOCK: u64 = 1 << 20;
/// Writes in flight. Ctrl-C has to wait for them: 8 MiB take 0.1 s on a slow disk.
const DEPTH: u32 = 8;
/// Alignment that O_DIRECT accepts on every disk.
const ALIGNMENT: u64 = 4096;
/// Bytes in the page cache before they are synchronised, so that neither the fsync at the end nor an
/// interrupt takes long.
const DIRTY_MAX: u64 = 8 << 20;
/// Maximum wait for completions before the caller is asked whether to continue.
const REAP_TIMEOUT: Duration = Duration::from_millis(50);

/// Writes data with the content that a job asks for.
pub(super) struct Writer<R> {
    ring: R,
    area: BufferArea,
    payload: Payload,
}

/// A file being filled.
struct Target<'a> {
    /// Without O_DIRECT.
    buffered: &'a File,
    /// The ring's descriptor is buffered as well.
    cached: bool,
    dirty: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    offset: u64,
    length: u64,
    aligned: bool,
}

impl<R: Ring> Writer<R> {
    /// For the files of `worker`.
    pub fn new(worker: &Worker) -> io::Result<Self> {
        let buffers = Buffers { memory: MemoryKind::Malloc, align: None, ..Buffers::default() };
        let mut area = BufferArea::new(&buffers, DEPTH, BLOCK)?;
        let mut payload = Payload::new(&writing_worker(worker));
        for slot in 0..DEPTH {
            payload.prepare(area.slice_mut(slot, BLOCK as usize));
        }
        let files = [RingFile { path: String::new(), fd: -1, start: 0, length: 0 }];
        let ring = R::open(&RingSetup {
            worker,
            depth: DEPTH,
            buffers: &area,
            options: &plan::EngineOptions::default(),
            files: &files,
            io: IoSettings::direct(RunClock::start(Some("clock_gettime"))),
            overlaps: None,
        })?;
        Ok(Writer { ring, area, payload })
    }

    /// Writes data into `spans` of `file`, whose path is `path`. `step` gets the bytes written and returns
    /// whether to continue. Returns the first error, when nothing is in flight any more.
    pub fn fill(
        &mut self,
        path: &str,
        file: &File,
        spans: &[Span],
        step: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<()> {
        let direct = OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(path).ok();
        let fd = direct.as_ref().map_or(file.as_raw_fd(), AsRawFd::as_raw_fd);
        self.ring.file_changed(0, fd)?;
        let mut target = Target { buffered: file, cached: direct.is_none(), dirty: 0 };
        let result = self.pump(&mut target, spans, step);
        self.ring.file_changed(0, -1)?;
        result
    }

    fn pump(
        &mut self,
        target: &mut Target<'_>,
        spans: &[Span],
        step: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<()> {
        let mut pieces = spans.iter().cloned().flat_map(pieces).peekable();
        let mut flight = InFlight::new();
        let mut result = Ok(());
        let mut going = true;
        loop {
            while going && let (Some(piece), Some(&slot)) = (pieces.peek(), flight.free.last()) {
                let op = piece.write();
                let Some(moved) = self.start(slot, &op, piece.aligned, &mut flight) else { break };
                pieces.next();
                if let Some(moved) = moved {
                    result = target.finish(self.buffer(slot), &op, moved);
                    going = result.is_ok() && step(op.length);
                }
            }
            self.ring.submit()?;
            if flight.is_empty() && (!going || pieces.peek().is_none()) {
                return result;
            }
            for index in 0..self.ring.reap(1, DEPTH, Some(REAP_TIMEOUT))? {
                let done = self.ring.completion(index);
                let Some(op) = flight.finish(done.slot) else { continue };
                let ended = target.finish(self.buffer(done.slot), &op, done.result);
                result = result.and(ended);
                going &= result.is_ok() && step(op.length);
            }
            going &= step(0);
        }
    }

    /// Queues a write. Returns bytes moved if it has ended already; `None` if the ring has no room.
    /// [`Target::finish`] writes unaligned data.
    fn start(
        &mut self,
        slot: u32,
        op: &Op,
        aligned: bool,
        flight: &mut InFlight,
    ) -> Option<Option<i64>> {
        self.payload.fill(self.area.slice_mut(slot, op.length as usize), op);
        if !aligned {
            return Some(Some(0));
        }
        match self.ring.queue(slot, op) {
            Queued::Full => None,
            Queued::Done(moved) => Some(Some(moved)),
            Queued::Pending => {
                flight.start(slot, *op);
                Some(None)
            }
        }
    }

    fn buffer(&mut self, slot: u32) -> &[u8] {
        self.area.slice_mut(slot, BLOCK as usize)
    }
}

/// The writes in flight, by slot.
struct InFlight {
    ops: [Option<Op>; DEPTH as usize],
    free: Vec<u32>,
}

impl InFlight {
    fn new() -> InFlight {
        InFlight { ops: [None; DEPTH as usize], free: (0..DEPTH).collect() }
    }

    fn is_empty(&self) -> bool {
        self.free.len() == DEPTH as usize
    }

    /// Marks `slot` as used by `op`.
    fn start(&mut self, slot: u32, op: Op) {
        self.free.retain(|free| *free != slot);
        self.ops[slot as usize] = Some(op);
    }

    fn finish(&mut self, slot: u32) -> Option<Op> {
        let op = self.ops[slot as usize].take()?;
        self.free.push(slot);
        Some(op)
    }
}

impl Piece {
    fn write(&self) -> Op {
        Op { kind: OpKind::Write, file: 0, offset: self.offset, length: self.length, tag: 0 }
    }
}

impl Target<'_> {
    /// Writes the rest of `op` after `moved` bytes were written, or returns the error of a negative errno.
    fn finish(&mut self, buffer: &[u8], op: &Op, moved: i64) -> io::Result<()> {
        let refused = moved == -i64::from(libc::EINVAL);
        if moved < 0 && !refused {
            return Err(io::Error::from_raw_os_error(-moved as i32));
        }
        let moved = moved.max(0) as u64;
        if moved < op.length {
            // A short write, or one that O_DIRECT refuses.
            let rest = &buffer[moved as usize..op.length as usize];
            self.buffered.write_all_at(rest, op.offset + moved)?;
        }
        if self.cached || moved < op.length {
            self.dirty += op.length - if self.cached { 0 } else { moved };
        }
        if self.dirty >= DIRTY_MAX {
            self.buffered.sync_data()?;
            self.dirty = 0;
        }
        Ok(())
    }
}

/// A worker that writes whole blocks with the content of `worker`.
fn writing_worker(worker: &Worker) -> Worker {
    let mut pattern = worker.pattern.clone();
    pattern.rw = ReadWrite::Write;
    pattern.blocks = PerDirection::all(BlockPlan::Fixed(BLOCK));
    Worker { pattern, buffers: worker.buffers.clone(), ..Worker::default() }
}

/// Splits a range into blocks, with unaligned parts as separate pieces.
fn pieces(span: Span) -> impl Iterator<Item = Piece> {
    let mut position = span.start;
    std::iter::from_fn(move || {
        let left = span.end.checked_sub(position).filter(|l| *l > 0)?;
        let offset = position;
        let lead = offset % ALIGNMENT;
        let (length, aligned) = if lead != 0 {
            (left.min(ALIGNMENT - lead), false)
        } else if left < ALIGNMENT {
            (left, false)
        } else {
            ((BLOCK - offset % BLOCK).min(left / ALIGNMENT * ALIGNMENT), true)
        };
        position += length;
        Some(Piece { offset, length, aligned })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_cover_a_range_once(start in 0u64..5 << 20, length in 0u64..5 << 20) {
            let mut position = start;
            for piece in pieces(start..start + length) {
                prop_assert_eq!(piece.offset, position);
                prop_assert!(piece.length > 0 && piece.length <= BLOCK);
                let fits = piece.offset % ALIGNMENT == 0 && piece.length % ALIGNMENT == 0;
                prop_assert_eq!(piece.aligned, fits);
                position += piece.length;
            }
            prop_assert_eq!(position, start + length);
        }
    }
}
