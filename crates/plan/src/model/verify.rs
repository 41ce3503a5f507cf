//! Verification of the data of a worker.

use job::{BlockPattern, VerifyMethod};

/// Verification of a worker's data.
#[derive(Clone, Debug, PartialEq)]
pub struct Verify {
    /// Method that identifies the content of a block.
    pub method: VerifyMethod,
    /// Whether written data is read back.
    pub read_back: bool,
    /// Whether only data of an earlier run is checked and nothing is written.
    pub only: bool,
    /// Bytes between two headers; 0 for one header per block.
    pub interval: u64,
    /// Offset of the header in the interval. The data there moves to the start.
    pub offset: u64,
    /// Content of blocks; `None` for random bytes.
    pub pattern: Option<BlockPattern>,
    /// Bytes after which the pattern restarts; 0 for never.
    pub pattern_interval: u64,
    /// Whether the first mismatch ends the worker.
    pub fatal: bool,
    /// Whether expected and received blocks are written to files.
    pub dump: bool,
    /// Threads that check data; 0 if the worker does.
    pub threads: u32,
    /// CPUs of these threads; empty for all.
    pub cpus: Vec<u32>,
    /// Writes after which blocks are read back; 0 to read back after all writes.
    pub backlog: u64,
    /// Blocks read back at a time; at least 1 with a backlog.
    pub backlog_batch: u64,
    /// Whether the saved state of an interrupted run limits what is checked.
    pub state_load: bool,
    /// Whether the state is saved after writing.
    pub state_save: bool,
    /// Whether only writes that an fsync confirmed are saved in the state.
    pub only_fsynced: bool,
    /// Whether the number in headers is checked.
    pub write_sequence: bool,
    /// Whether the seed in headers is checked.
    pub header_seed: bool,
    /// Blocks that are trimmed before they are read back.
    pub trimming: Option<Trimming>,
}

/// Blocks that are trimmed between writing and reading back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trimming {
    /// Share of the blocks written, per cent.
    pub percent: u8,
    /// Whether they must read as zeros.
    pub zero: bool,
    /// Writes after which blocks are trimmed; 0 to trim after all writes.
    pub backlog: u64,
    /// Blocks trimmed at a time.
    pub batch: u64,
}
