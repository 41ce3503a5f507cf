//! The contract of a store, and what it is opened for.

use crate::hot::op::OpKind;
use plan::{Engine, EngineOptions};
use std::time::Duration;

/// One I/O on a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreIo {
    /// Slot of the ring.
    pub slot: u32,
    /// What it does.
    pub kind: OpKind,
    /// Index of the file.
    pub file: u32,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// Its data.
    pub buffer: *mut u8,
}

// SAFETY: the buffer belongs to the I/O, whichever thread ends it (contract of `Store::start`).
unsafe impl Send for StoreIo {}

/// The end of an I/O: its slot, and bytes moved or a negative errno.
pub type Ended = (u32, i64);

/// A store that does I/O asynchronously.
pub trait Store: Send {
    /// Starts an I/O. `Err` is its result: nothing was started.
    ///
    /// # Safety
    /// The buffer must be valid for `length` bytes and belong to this I/O until [`Store::poll`]
    /// returned its end or the store is dropped.
    unsafe fn start(&mut self, io: &StoreIo) -> Result<(), i64>;

    /// Tells the store of all I/O that was started.
    fn flush(&mut self) {}

    /// Adds what has ended to `ended`, after waiting for at most `wait` if nothing has.
    fn poll(&mut self, wait: Duration, ended: &mut Vec<Ended>) -> Result<(), String>;

    /// Whether dropping the store ends I/O in flight. If not, a caller has to wait for it.
    fn can_abandon(&self) -> bool {
        true
    }

    /// What a user should know at the end.
    fn end(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// What a store is opened for.
pub struct StoreSetup<'a> {
    /// The engine.
    pub engine: Engine,
    /// Options of the engine.
    pub options: &'a EngineOptions,
    /// Names of files, URLs or objects.
    pub names: &'a [String],
    /// I/Os in flight.
    pub depth: u32,
    /// Bytes of the largest I/O.
    pub block_bytes: u64,
    /// Whether the job changes data.
    pub writes: bool,
    /// The length that each file needs before the first I/O, because reads and writes are mixed; 0
    /// if any will do.
    pub lengths: &'a [u64],
}
