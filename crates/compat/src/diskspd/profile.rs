//! What DISKSPD is told to do: a profile of timespans, each of targets. A command line is one timespan
//! whose targets are all alike; a profile in XML may say more.

use record::with_defaults;

/// All of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// `-P`: a sign of life after so many I/Os; 0: none.
    pub progress: u64,
    /// `-R`.
    pub format: Format,
    /// `-v`.
    pub verbose: bool,
    /// `-:`, a mask of bits.
    pub experiment: u64,
    /// `PrecreateFiles`, as written.
    pub precreate: Option<String>,
    /// What runs, one after the other.
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
        /// `-D`: the deviation of IOPS is asked for.
        pub iops_deviation: bool,
        /// Length of the intervals for that, in milliseconds.
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
        /// What it works on.
        pub targets: Vec<Target>,
    }
}

/// Where threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Affinity {
    /// One CPU a thread, in turn.
    #[default]
    RoundRobin,
    /// Wherever the kernel puts them.
    Off,
    /// In turn on these (processor group, number in it).
    Cpus(Vec<(u64, u64)>),
}

with_defaults! {
    /// A file or device, and what is done to it.
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
        /// `-i`: I/Os a burst of a thread.
        pub burst: Option<u64>,
        /// `-j`: milliseconds between bursts.
        pub think_ms: Option<u64>,
        /// `-c`: it is made anew, this long.
        pub create: Option<u64>,
        /// Which offsets.
        pub access: Access = Access::Sequential { stride: 64 << 10, interlocked: false },
        /// `-T`, bytes.
        pub thread_stride: u64,
        /// `-f`: nothing beyond is touched; 0: up to its end.
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
    /// The page cache takes part.
    #[default]
    Buffered,
    /// O_DIRECT.
    None,
}

/// What writes carry.
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
        /// Where its bytes come from.
        file: Option<String>,
    },
}

/// Which offsets.
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// One after the other.
    Sequential {
        /// Bytes from one to the next.
        stride: u64,
        /// `-si`: all threads share one position.
        interlocked: bool,
    },
    /// At random.
    Random {
        /// Offsets are multiples of it.
        align: u64,
        /// `-rs`: share that is random; the rest goes on in sequence.
        percent: u64,
        /// `-rd`.
        spread: Option<Spread>,
    },
}

/// How random I/O is spread over a target, from its beginning on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Parts are sizes, not shares.
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
