//! The input of DISKSPD: a profile of timespans with targets. A command line is one timespan with
//! equal targets; a profile in XML is more general.

use record::with_defaults;

/// A profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// `-P`: progress after this many I/Os; 0: none.
    pub progress: u64,
    /// `-R`.
    pub format: Format,
    /// `-v`.
    pub verbose: bool,
    /// `-:`, a mask of bits.
    pub experiment: u64,
    /// `PrecreateFiles`, as written.
    pub precreate: Option<String>,
    /// The timespans, in order.
    pub spans: Vec<TimeSpan>,
}

/// Form of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Tables.
    #[default]
    Text,
    /// XML.
    Xml,
}

with_defaults! {
    /// One run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TimeSpan {
        /// `-x`.
        pub completion_routines: bool,
        /// `-L`.
        pub latency: bool,
        /// `-D`: print the deviation of IOPS.
        pub iops_deviation: bool,
        /// Length of the intervals for the deviation, in milliseconds.
        pub bucket_ms: u64 = 1000,
        /// `-n`, `-a`.
        pub affinity: Affinity = Affinity::RoundRobin,
        /// `-d`, seconds.
        pub duration_s: u64 = 10,
        /// `-W`, seconds.
        pub warmup_s: u64 = 5,
        /// `-C`, seconds.
        pub cooldown_s: u64,
        /// `-F`: threads that share all targets; 0: each target has its own.
        pub threads: u64,
        /// `-O`: outstanding I/Os a thread, over all targets; 0: each target has its own.
        pub requests: u64,
        /// `-z`.
        pub seed: u64,
        /// Its targets.
        pub targets: Vec<Target>,
    }
}

/// The CPUs of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Affinity {
    /// One CPU for each thread, round robin.
    #[default]
    RoundRobin,
    /// No affinity.
    Off,
    /// Round robin on these CPUs (processor group, number in it).
    Cpus(Vec<(u64, u64)>),
}

with_defaults! {
    /// A file or device and its I/O.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Target {
        /// Its path.
        pub path: String,
        /// `-b`, bytes.
        pub block: u64 = 64 << 10,
        /// `-B`, bytes.
        pub base: u64,
        /// `-fs`.
        pub hint_sequential: bool,
        /// `-fr`.
        pub hint_random: bool,
        /// `-ft`.
        pub hint_temporary: bool,
        /// `-l`.
        pub large_pages: bool,
        /// `-Sb`, `-Su`.
        pub cache: Cache = Cache::Buffered,
        /// `-Sw`.
        pub write_through: bool,
        /// `-Sm`.
        pub mapped: bool,
        /// `-Nv`: flushed after each write.
        pub flush: bool,
        /// `-Z`.
        pub content: Content = Content::Sequence,
        /// `-p`.
        pub parallel: bool,
        /// `-i`: I/Os per burst of a thread.
        pub burst: Option<u64>,
        /// `-j`: milliseconds between bursts.
        pub think_ms: Option<u64>,
        /// `-c`: create the file with this size.
        pub create: Option<u64>,
        /// The offsets.
        pub access: Access = Access::Sequential { stride: 64 << 10, interlocked: false },
        /// `-T`, bytes.
        pub thread_stride: u64,
        /// `-f`: end of the accessed region; 0: the end of the target.
        pub max_size: u64,
        /// `-o`.
        pub depth: u64 = 2,
        /// `-w`, per cent.
        pub write_percent: u64,
        /// `-g`.
        pub throughput: Option<Throughput>,
        /// `-t`.
        pub threads: u64 = 1,
        /// `-I`: 1 to 3.
        pub priority: u64 = 3,
        /// Share of a thread's I/Os with `-O`.
        pub weight: u64 = 1,
    }
}

/// Software caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// Through the page cache.
    #[default]
    Buffered,
    /// O_DIRECT.
    None,
}

/// The content of writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// The bytes 0 to 255, repeated.
    #[default]
    Sequence,
    /// Zeros.
    Zero,
    /// `-Zr`: new random bytes for each write.
    Random,
    /// `-Z<size>`: taken from a buffer of this size, random or filled from a file.
    Buffer {
        /// Its size, bytes.
        size: u64,
        /// The file with its content.
        file: Option<String>,
    },
}

/// The offsets.
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// Sequential.
    Sequential {
        /// Bytes from one offset to the next.
        stride: u64,
        /// `-si`: all threads share one position.
        interlocked: bool,
    },
    /// Random.
    Random {
        /// Offsets are multiples of it.
        align: u64,
        /// `-rs`: random share; the rest is sequential.
        percent: u64,
        /// `-rd`.
        spread: Option<Spread>,
    },
}

/// The spread of random I/O over a target, from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Whether parts are sizes instead of shares.
    pub absolute: bool,
    /// (per cent of the I/O, per cent of the target or bytes).
    pub ranges: Vec<(u64, u64)>,
}

/// A limit of one thread on one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// Bytes a millisecond.
    BytesPerMs(u64),
    /// I/Os a second.
    Iops(u64),
}
