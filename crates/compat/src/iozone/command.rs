//! The measurement that a command line of IOzone describes.

use super::operation::Operation;
use record::with_defaults;

with_defaults! {
    /// The measurement that a command line of IOzone describes.
    #[derive(Clone, Debug, PartialEq)]
    pub struct IozoneCommand {
        /// The sizes to measure.
        pub mode: Mode = Mode::Single,
        /// File sizes of `-s`, in kB of 1024 bytes.
        pub sizes: Vec<u64>,
        /// Record sizes of `-r`, in kB.
        pub records: Vec<u64>,
        /// File sizes of automatic mode, in kB.
        pub size_range: Range = Range { least: 64, most: 512 << 10 },
        /// Record sizes of automatic mode, in kB.
        pub record_range: Range = Range { least: 4, most: 16 << 10 },
        /// Whether `-y` or `-q` was given.
        pub records_limited: bool,
        /// In automatic mode, small records in large files as well.
        pub all_records: bool,
        /// The factor from one size to the next.
        pub factor: u64 = 2,
        /// Numbers of the tests, ascending, without duplicates.
        pub tests: Vec<u8>,
        /// Whether tests 9 and 10 run, too.
        pub positioned: bool,
        /// The file; `None`: IOzone's default name.
        pub file: Option<String>,
        /// One file for each process.
        pub files: Vec<String>,
        /// How files are accessed.
        pub access: Access,
        /// Whether tests are repeated (rewrite, reread).
        pub retests: bool = true,
        /// Whether files are kept.
        pub keep: bool,
        /// Whether files are truncated before sequential writes.
        pub truncate: bool = true,
        /// How processes run together.
        pub together: Together,
        /// The output.
        pub show: Show = Show { cache: (1024, 32), ..Show::default() },
        /// fathom's own options.
        pub own: Own,
        /// Notes on flags that work differently here or have no effect.
        pub notes: Vec<String>,
    }
}

/// The sizes to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each pair of the given sizes.
    Single,
    /// File sizes and record sizes, each a multiple of the one before it.
    Automatic,
    /// Several processes at a time.
    Throughput {
        /// Fewest.
        from: u32,
        /// Most.
        to: u32,
    },
}

with_defaults! {
    /// How files are accessed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Access {
        /// O_DIRECT.
        pub direct: bool,
        /// Flag for opening files.
        pub sync: Sync,
        /// fsync at the end of writing is part of the time.
        pub fsync: bool,
        /// System calls that move the data.
        pub calls: IoCalls = IoCalls::Usual,
        /// Pages of the file are dropped before each test.
        pub cold: bool,
        /// The stride in records.
        pub stride: u64 = 17,
        /// Pause before each operation, in milliseconds.
        pub think_ms: u64,
        /// Whether that pause counts in the time.
        pub think_counts: bool,
        /// Pause between tests, in seconds.
        pub rest_s: u64,
        /// Advice for the mapping, as a value of `fadvise_hint`.
        pub advice: Option<&'static str>,
        /// Files are locked around each operation.
        pub lock: bool,
        /// Byte that is written, and verified when it is read.
        pub pattern: Option<u8>,
        /// Share of writes that repeat a block, per cent.
        pub dedupe: Option<u8>,
        /// Share of a block that compresses, per cent.
        pub compress: Option<u8>,
        /// Share of reads in the mixed workload, per cent.
        pub reads: u8 = 50,
        /// Whether the mixed workload is sequential.
        pub sequential_mix: bool,
        /// Latency and offset of each operation are logged.
        pub log: bool,
    }
}

/// Flag for opening files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// None.
    #[default]
    No,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// System calls that move the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoCalls {
    /// The calls that the test is named after.
    Usual,
    /// None: files are mapped.
    Mapping,
    /// POSIX asynchronous I/O with this many operations in flight.
    Asynchronous(u32),
}

with_defaults! {
    /// How the processes of throughput mode run together.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Together {
        /// Whether the end of the first process ends the others.
        pub stonewall: bool = true,
        /// Whether all processes share one file.
        pub shared: bool,
        /// Whether the file size is divided among the processes.
        pub constant_total: bool,
        /// Delay between the starts of two processes, in microseconds.
        pub delay_us: u64,
        /// CPU of the first process; the others run on the CPUs after it.
        pub first_cpu: Option<u32>,
    }
}

/// The output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Show {
    /// Unit of the figures.
    pub unit: Unit,
    /// Spreadsheet text after the table.
    pub spreadsheet: bool,
    /// File for the same figures in a spreadsheet's own format.
    pub workbook: Option<String>,
    /// System, release, machine.
    pub uname: bool,
    /// Bytes that each process moved.
    pub children: bool,
    /// CPU use.
    pub cpu: bool,
    /// Size of the processor's cache in kB and of its lines in bytes. They are printed, not used.
    pub cache: (u64, u64),
}

/// Unit of the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// 1024 bytes a second.
    #[default]
    Kilobytes,
    /// Operations a second.
    Operations,
    /// Microseconds an operation takes.
    Microseconds,
}

/// Options of fathom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// Files and devices that may be overwritten.
    pub allow_destroy: Vec<String>,
    /// A further file for the records.
    pub record: Option<String>,
    /// Whether the runs are not archived.
    pub no_archive: bool,
    /// Whether JSON is printed.
    pub json: bool,
    /// Whether the records keep serial numbers of disks.
    pub with_serials: bool,
}

impl Unit {
    /// The unit after a figure.
    pub(super) fn label(self) -> &'static str {
        match self {
            Unit::Kilobytes => "kB/sec",
            Unit::Operations => "ops/sec",
            Unit::Microseconds => "usec/op",
        }
    }

    /// A throughput in this unit.
    pub(super) fn convert(self, bytes_per_second: f64, ops_per_second: f64) -> f64 {
        match self {
            Unit::Kilobytes => bytes_per_second / 1024.0,
            Unit::Operations => ops_per_second,
            Unit::Microseconds if ops_per_second > 0.0 => 1e6 / ops_per_second,
            Unit::Microseconds => 0.0,
        }
    }

    /// Decimals of a figure.
    pub(super) fn decimals(self) -> usize {
        if self == Unit::Microseconds { 2 } else { 0 }
    }
}

impl IozoneCommand {
    /// Operations in the order they are measured in.
    pub fn operations(&self) -> Vec<Operation> {
        let throughput = matches!(self.mode, Mode::Throughput { .. });
        let all: Vec<Operation> = match throughput {
            true => Operation::in_throughput().collect(),
            false => Operation::in_tables().collect(),
        };
        let wanted = |operation: &Operation| {
            let kind = operation.kind();
            self.tests.contains(&kind.test) && (self.retests || !kind.again)
        };
        all.into_iter().filter(wanted).collect()
    }

    /// Columns of the table.
    pub(super) fn columns(&self) -> Vec<Operation> {
        let wanted = |tests: [u8; 2]| tests.iter().any(|test| self.tests.contains(test));
        Operation::columns(wanted([9, 10]), wanted([11, 12]))
    }

    /// The file of a process, counted from 0.
    pub fn path(&self, process: u32) -> String {
        if !matches!(self.mode, Mode::Throughput { .. }) {
            return self.file.clone().unwrap_or_else(|| "iozone.tmp".into());
        }
        let process = if self.together.shared { 0 } else { process };
        match self.files.get(process as usize) {
            Some(file) => file.clone(),
            None => format!("{}.DUMMY.{process}", self.file.as_deref().unwrap_or("iozone")),
        }
    }

    /// All files, none twice.
    pub fn paths(&self) -> Vec<String> {
        let most = if let Mode::Throughput { to, .. } = self.mode { to } else { 1 };
        record::distinct((0..most).map(|process| self.path(process)))
    }

    /// Whether a file has the name that IOzone gives when none is given.
    pub fn is_usual_name(&self, path: &str) -> bool {
        self.file.is_none() && !self.files.iter().any(|file| file == path)
    }

    /// Whether files are emptied before they are written.
    pub fn begins_anew(&self) -> bool {
        self.truncate && self.operations().first().is_some_and(|first| first.begins_anew())
    }

    /// Whether anything writes.
    pub fn writes(&self) -> bool {
        self.operations().iter().any(|operation| operation.kind().writes)
    }

    /// Size, in kB, that the files must have when nothing here makes them; `None`: they are made.
    pub fn needs(&self) -> Option<u64> {
        let makes = self.operations().first().is_some_and(|first| first.makes_its_file());
        if makes { None } else { self.largest() }
    }

    /// Size, in kB, of the largest file of the call.
    pub fn largest(&self) -> Option<u64> {
        self.grid().iter().map(|(size, _)| *size).max()
    }
}

/// A range by powers of two, in kB; both ends are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Where it begins.
    pub least: u64,
    /// What is not gone beyond.
    pub most: u64,
}

impl Range {
    /// The sizes in it, each `factor` times the one before.
    pub(super) fn steps(self, factor: u64) -> Vec<u64> {
        let next = |size: &u64| size.checked_mul(factor);
        let all = std::iter::successors(Some(self.least), next);
        all.take_while(|size| *size <= self.most).collect()
    }
}
