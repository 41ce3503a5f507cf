//! The amount of work, and how much of it is left.
//!
//! # Rules
//! A loop is a pass over every file. The total is `bytes` (default: the files' regions) times the
//! loops; later loops do what the first ones leave undone. With `io_size`, loops are added until less
//! than one block of `bytes` is missing; sequential writes go over their files within a loop until it
//! has `io_size`. A loop of sequential reads has the bytes of its region at most, except in strides
//! (`zonemode=strided`). Time-based work ends only by time or number of I/Os. fio counts alike.

use plan::{ReadWrite, Worker};

/// Amounts requested and done.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Bytes of all loops.
    cap: u64,
    /// Bytes that loops are added for; 0: no loops are added.
    wanted: u64,
    max_block: u64,
    ios_left: u64,
    loops_left: u64,
    forever: bool,
    bytes: u64,
    loop_began_at: u64,
    /// Bytes of a loop; `None`: a loop is a pass.
    loop_bytes: Option<u64>,
    /// A loop goes on with another pass until it has its bytes. Otherwise they end its only pass.
    wraps: bool,
    /// Bytes at which this loop ends.
    loop_end: u64,
    /// Bytes taken back that are not subtracted yet.
    returned: u64,
}

impl Progress {
    pub fn new(worker: &Worker) -> Progress {
        let stop = &worker.stop;
        let unlimited = stop.time_based;
        let loops = stop.loops.max(1);
        let (region, rw) = (worker.region(), worker.pattern.rw);
        let beyond = stop.bytes.filter(|bytes| stop.wraps && *bytes > region && !unlimited);
        let wraps = rw == ReadWrite::Write && beyond.is_some();
        // Strides go on from where they are.
        let passes = !rw.is_random() && !rw.writes() && worker.placing.strides.is_none();
        let loop_bytes = match beyond {
            Some(bytes) if wraps => Some(bytes),
            Some(_) if passes => Some(region),
            _ => None,
        };
        Progress {
            cap: if unlimited {
                u64::MAX
            } else {
                stop.bytes.unwrap_or_else(|| worker.region()).saturating_mul(loops)
            },
            wanted: stop.bytes.filter(|_| stop.wraps && !unlimited).unwrap_or(0),
            max_block: worker.max_block(),
            ios_left: stop.ios.unwrap_or(u64::MAX),
            loops_left: loops,
            forever: stop.time_based,
            bytes: 0,
            loop_began_at: 0,
            loop_bytes,
            wraps,
            loop_end: loop_bytes.unwrap_or(u64::MAX),
            returned: 0,
        }
    }

    /// Whether everything was issued.
    #[inline]
    pub fn done(&self) -> bool {
        self.bytes >= self.cap || self.ios_left == 0
    }

    /// `ios` I/Os of `bytes` in all were issued.
    #[inline]
    pub fn add(&mut self, ios: u64, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.ios_left = self.ios_left.saturating_sub(ios);
        if self.returned > 0 {
            self.take_back(0, 0);
        }
    }

    /// Uncounts `ios` I/Os and `bytes` that were not issued; they may be counted later.
    #[cold]
    pub fn take_back(&mut self, ios: u64, bytes: u64) {
        self.ios_left = self.ios_left.saturating_add(ios);
        self.returned += bytes;
        let now = self.returned.min(self.bytes - self.loop_began_at.min(self.bytes));
        self.bytes -= now;
        self.returned -= now;
    }

    /// How many I/Os of `size` may follow.
    pub fn allows(&self, size: u64) -> u64 {
        self.cap.min(self.loop_end).saturating_sub(self.bytes).div_ceil(size).min(self.ios_left)
    }

    /// Whether the loop has its bytes, wherever its pass is.
    #[inline]
    pub fn loop_is_over(&self) -> bool {
        self.bytes >= self.loop_end
    }

    /// A pass has ended. Returns whether the same loop goes on with another one.
    pub fn continues_loop(&mut self) -> bool {
        let idle = self.bytes == self.loop_began_at;
        let continues = self.wraps && !idle && self.lacks_a_block(self.loop_end);
        if continues {
            self.loop_began_at = self.bytes;
        }
        continues
    }

    /// Whether at least one block of the largest size is missing up to `end`.
    fn lacks_a_block(&self, end: u64) -> bool {
        let missing = end.saturating_sub(self.bytes);
        missing > 0 && missing >= self.max_block
    }

    /// A pass over every file has ended. Returns whether another one follows. A pass without I/O is the
    /// last.
    pub fn next_loop(&mut self) -> bool {
        let idle = self.bytes == self.loop_began_at;
        self.loop_began_at = self.bytes;
        if let Some(bytes) = self.loop_bytes {
            self.loop_end = self.bytes.saturating_add(bytes);
        }
        self.loops_left = self.loops_left.saturating_sub(1);
        !idle && (self.forever || self.loops_left > 0 || self.lacks_a_block(self.wanted))
    }
}
