//! What is measured with what, as the command line has it.

use super::operation::Operation;

/// What is measured with what, as the command line has it.
#[derive(Clone, Debug, PartialEq)]
pub struct IozoneCommand {
    /// What is gone through.
    pub mode: Mode,
    /// File sizes that were named, in kB of 1024 bytes.
    pub sizes: Vec<u64>,
    /// Record sizes that were named, in kB.
    pub records: Vec<u64>,
    /// File sizes of automatic mode, in kB.
    pub size_range: Range,
    /// Record sizes of automatic mode, in kB.
    pub record_range: Range,
    /// That was named, at one end at least.
    pub records_limited: bool,
    /// In automatic mode, small records in large files as well.
    pub all_records: bool,
    /// By how much a size is multiplied to get the next one.
    pub factor: u64,
    /// Numbers of the tests, in rising order, none twice.
    pub tests: Vec<u8>,
    /// Tests 9 and 10 come to those that were named.
    pub positioned: bool,
    /// The file; `None`: IOzone's usual name.
    pub file: Option<String>,
    /// One file a process.
    pub files: Vec<String>,
    /// How files are reached.
    pub access: Access,
    /// Second results of tests (rewrite, reread) are measured as well.
    pub retests: bool,
    /// Files stay.
    pub keep: bool,
    /// Files begin anew before they are written in sequence.
    pub truncate: bool,
    /// How processes go together.
    pub together: Together,
    /// What is shown.
    pub show: Show,
    /// What fathom adds.
    pub own: Own,
    /// What the user should know about flags that mean something else here, or nothing.
    pub notes: Vec<String>,
}

/// What is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each pair of the sizes that were named.
    Single,
    /// File sizes and record sizes, each a multiple of the one before.
    Automatic,
    /// Several processes at a time.
    Throughput {
        /// Fewest.
        from: u32,
        /// Most.
        to: u32,
    },
}

/// How files are reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// O_DIRECT.
    pub direct: bool,
    /// Flag that files are opened with.
    pub sync: Sync,
    /// fsync at the end of writing is part of the time.
    pub fsync: bool,
    /// System calls that move the data.
    pub calls: IoCalls,
    /// Pages of the file are dropped before each test.
    pub cold: bool,
    /// A stride, in records.
    pub stride: u64,
    /// Pause before each operation, in milliseconds.
    pub think_ms: u64,
    /// It is part of the time.
    pub think_counts: bool,
    /// Pause between tests, in seconds.
    pub rest_s: u64,
    /// What is advised of the mapping, as `fadvise_hint` has it.
    pub advice: Option<&'static str>,
    /// Files are locked around each operation.
    pub lock: bool,
    /// Byte that is written, and checked when it is read.
    pub pattern: Option<u8>,
    /// Share of writes that repeat a block, per cent.
    pub dedupe: Option<u8>,
    /// Share of a block that compresses, per cent.
    pub compress: Option<u8>,
    /// Share of reads in the mixed workload, per cent.
    pub reads: u8,
    /// The mixed workload goes in sequence.
    pub sequential_mix: bool,
    /// Latency and offset of each operation are logged.
    pub log: bool,
}

/// Flag that files are opened with.
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
    /// Those the test is named after.
    Usual,
    /// None: a mapping.
    Mapping,
    /// POSIX asynchronous I/O with so many operations in flight.
    Asynchronous(u32),
}

/// How processes of throughput mode go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// The first that ends ends the others.
    pub stonewall: bool,
    /// All work in one file.
    pub shared: bool,
    /// The file size is divided among them.
    pub constant_total: bool,
    /// Each starts so many microseconds after the one before.
    pub delay_us: u64,
    /// CPU of the first; the others take those that follow.
    pub first_cpu: Option<u32>,
}

/// What is shown.
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
    /// Size of a cache of the processor, in kB, and of a line of it, in bytes: shown, not used.
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

/// What fathom adds to the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// Files and devices that may be overwritten.
    pub allow_destroy: Vec<String>,
    /// Where the records are kept as well as in the archive.
    pub record: Option<String>,
    /// They are not archived.
    pub no_archive: bool,
    /// JSON is printed, not text.
    pub json: bool,
    /// With serial numbers of disks.
    pub with_serials: bool,
}

impl Unit {
    /// The unit behind a figure.
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

    /// Digits behind the point of a figure.
    pub(super) fn decimals(self) -> usize {
        if self == Unit::Microseconds { 2 } else { 0 }
    }
}

impl Default for IozoneCommand {
    /// What IOzone does without any flag: 512 kB in records of 4 kB, all tests.
    fn default() -> IozoneCommand {
        IozoneCommand {
            mode: Mode::Single,
            sizes: Vec::new(),
            records: Vec::new(),
            size_range: Range { least: 64, most: 512 << 10 },
            record_range: Range { least: 4, most: 16 << 10 },
            records_limited: false,
            all_records: false,
            factor: 2,
            tests: Vec::new(),
            positioned: false,
            file: None,
            files: Vec::new(),
            access: Access {
                direct: false,
                sync: Sync::No,
                fsync: false,
                calls: IoCalls::Usual,
                cold: false,
                stride: 17,
                think_ms: 0,
                think_counts: false,
                rest_s: 0,
                advice: None,
                lock: false,
                pattern: None,
                dedupe: None,
                compress: None,
                reads: 50,
                sequential_mix: false,
                log: false,
            },
            retests: true,
            keep: false,
            truncate: true,
            together: Together {
                stonewall: true,
                shared: false,
                constant_total: false,
                delay_us: 0,
                first_cpu: None,
            },
            show: Show { cache: (1024, 32), ..Show::default() },
            own: Own::default(),
            notes: Vec::new(),
        }
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
