//! Writes a trace, block by block.

use super::codec::{Context, encode};
use super::event::Entry;
use super::header::{End, Header};
use std::io::{self, Write};

/// First bytes of a block of entries, and of the one that ends the trace.
pub(super) const BLOCK: u32 = u32::from_le_bytes(*b"ftrB");
pub(super) const END: u32 = u32::from_le_bytes(*b"ftrE");
/// Bytes before a block: mark, bytes in the file, bytes unpacked, entries, checksum.
pub(super) const BEFORE: usize = 20;
/// A block is written when its entries need so many bytes.
const FULL: usize = 256 << 10;
/// Bytes that the entries of a block may need.
pub(super) const UNPACKED_MAX: usize = 1 << 20;

/// Writes entries. What was written before the last [`Writer::flush`] stays readable, however the
/// program ends.
pub struct Writer<W: Write> {
    output: W,
    entries: Vec<u8>,
    count: u32,
    context: Context,
    packed: Vec<u8>,
    written: u64,
    end: End,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    pub fn new(mut output: W, header: &Header) -> io::Result<Self> {
        let header = header.encode();
        output.write_all(&header)?;
        output.flush()?;
        Ok(Writer {
            output,
            entries: Vec::with_capacity(FULL + (FULL >> 2)),
            count: 0,
            context: Context::new(),
            packed: Vec::new(),
            written: header.len() as u64,
            end: End::default(),
        })
    }

    /// Adds an entry.
    pub fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        match entry {
            Entry::Lost(events) => self.end.lost += events,
            Entry::Event(event) => {
                let end = event.at_ns.saturating_add(event.duration_ns.unwrap_or(0));
                self.end.duration_ns = self.end.duration_ns.max(end);
            }
            Entry::File(_) | Entry::Thread(_) | Entry::Contents(_) => {}
        }
        encode(&mut self.entries, entry, &mut self.context);
        self.count += 1;
        match self.entries.len() {
            ..FULL => Ok(()),
            _ => self.block(),
        }
    }

    /// Bytes in the output, and those that wait to be packed.
    pub fn size(&self) -> u64 {
        self.written + self.entries.len() as u64
    }

    /// Writes what waits as a block.
    pub fn flush(&mut self) -> io::Result<()> {
        match self.count {
            0 => Ok(()),
            _ => self.block(),
        }
    }

    fn block(&mut self) -> io::Result<()> {
        self.packed.resize(lz4_flex::block::get_maximum_output_size(self.entries.len()), 0);
        let packed = lz4_flex::block::compress_into(&self.entries, &mut self.packed)
            .map_err(io::Error::other)?;
        self.packed.truncate(packed);
        let unpacked = self.entries.len() as u32;
        self.put(BLOCK, unpacked)?;
        self.entries.clear();
        self.context.reset();
        Ok(())
    }

    /// Writes a block whose bytes are `packed`, in one call.
    fn put(&mut self, mark: u32, unpacked: u32) -> io::Result<()> {
        let mut block = Vec::with_capacity(BEFORE + self.packed.len());
        for word in [mark, self.packed.len() as u32, unpacked, self.count] {
            block.extend(word.to_le_bytes());
        }
        let sum = crc32c::crc32c_append(crc32c::crc32c(&block), &self.packed);
        block.extend(sum.to_le_bytes());
        block.extend_from_slice(&self.packed);
        self.output.write_all(&block)?;
        self.written += block.len() as u64;
        self.count = 0;
        self.output.flush()
    }

    /// Ends the trace with what is known only now: its length if it is longer than its events, and
    /// the calls that were left out. Returns the output.
    pub fn finish_with(mut self, duration_ns: u64, left_out: u64) -> io::Result<W> {
        self.flush()?;
        self.end.duration_ns = self.end.duration_ns.max(duration_ns);
        self.end.left_out = left_out;
        self.packed = self.end.encode();
        let unpacked = self.packed.len() as u32;
        self.put(END, unpacked)?;
        Ok(self.output)
    }

    /// Ends the trace. Returns the output.
    pub fn finish(self) -> io::Result<W> {
        self.finish_with(0, 0)
    }
}
