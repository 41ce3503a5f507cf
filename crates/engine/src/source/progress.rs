//! How much is to be done, and what is left of it.
//!
//! # Rules
//! A loop is a pass over every file. The amount of all loops together is `bytes` (the files' regions
//! if not given) times the loops: what it leaves undone in the first loops the later ones do. With
//! `io_size`, when the loops have ended with less than `bytes` done, more are added until less than
//! one block is missing. Time based work ends by time or number of I/Os only. This is how fio counts.

use plan::Worker;

/// Amounts asked for and done.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Bytes of all loops.
    cap: u64,
    /// Bytes that more loops are added for, 0 for none.
    wanted: u64,
    max_block: u64,
    ios_left: u64,
    loops_left: u64,
    forever: bool,
    bytes: u64,
    loop_began_at: u64,
    /// Bytes given back that are not counted yet.
    returned: u64,
}

impl Progress {
    pub fn new(worker: &Worker) -> Progress {
        let stop = &worker.stop;
        let unlimited = stop.time_based;
        let loops = stop.loops.max(1);
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
            returned: 0,
        }
    }

    /// Everything asked for was issued.
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

    /// `ios` I/Os and `bytes` of what was given did not come to be; they may be counted later.
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
        self.cap.saturating_sub(self.bytes).div_ceil(size).min(self.ios_left)
    }

    /// A pass over every file has ended: whether another one follows. A pass that found nothing to
    /// do is the last.
    pub fn next_loop(&mut self) -> bool {
        let idle = self.bytes == self.loop_began_at;
        self.loop_began_at = self.bytes;
        self.loops_left = self.loops_left.saturating_sub(1);
        let missing = self.wanted.saturating_sub(self.bytes);
        !idle && (self.forever || self.loops_left > 0 || (missing > 0 && missing >= self.max_block))
    }
}
