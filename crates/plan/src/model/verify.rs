//! Verification of the data of a worker.

use job::{BlockPattern, VerifyMethod};

/// Verification of a worker's data.
#[derive(Clone, Debug, PartialEq)]
pub struct Verify {
    /// How a block proves what it is.
    pub method: VerifyMethod,
    /// What was written is read back.
    pub read_back: bool,
    /// Nothing is written: what an earlier run wrote is checked.
    pub only: bool,
    /// Bytes between two headers; 0: one for each block.
    pub interval: u64,
    /// Place of the header in its interval, which changes places with it; 0: at its beginning.
    pub offset: u64,
    /// What blocks are filled with; `None`: random bytes.
    pub pattern: Option<BlockPattern>,
    /// Bytes after which the pattern begins anew; 0: never.
    pub pattern_interval: u64,
    /// The first mismatch ends the worker.
    pub fatal: bool,
    /// Expected and received blocks go to files.
    pub dump: bool,
    /// Threads that check; 0: the worker does.
    pub threads: u32,
    /// CPUs of these threads; empty: all.
    pub cpus: Vec<u32>,
    /// Writes after which they are read back; 0: all have to be written.
    pub backlog: u64,
    /// Blocks read back at a time; at least 1 with a backlog.
    pub backlog_batch: u64,
    /// The saved state of an interrupted run says how far to go.
    pub state_load: bool,
    /// The state is saved at the end of writing.
    pub state_save: bool,
    /// The saved state names only what the last good fsync covered.
    pub only_fsynced: bool,
    /// The number in headers is checked.
    pub write_sequence: bool,
    /// The seed in headers is checked.
    pub header_seed: bool,
    /// Blocks that are trimmed before they are read back.
    pub trimming: Option<Trimming>,
}

/// Blocks that are trimmed between writing and reading back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trimming {
    /// Share of the blocks written, per cent.
    pub percent: u8,
    /// They must read as zeros.
    pub zero: bool,
    /// Writes after which they are trimmed; 0: all have to be written.
    pub backlog: u64,
    /// Blocks trimmed at a time.
    pub batch: u64,
}
