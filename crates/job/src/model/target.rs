//! The files and devices of a job, and the creation of files.

use super::Size;
use super::named::named;
use super::pattern::Distribution;
use record::{Bytes, with_defaults};

/// The files and devices of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// `directory`, split at unescaped colons.
    pub directories: Vec<String>,
    /// `filename`, split at unescaped colons.
    pub filenames: Vec<String>,
    /// `filename_format`; `None` is `$jobname.$jobnum.$filenum`.
    pub filename_format: Option<String>,
    /// `filenum_first`: the number of the first file.
    pub filenum_first: u64,
    /// `opendir`: use every file below this directory.
    pub opendir: Option<String>,
    /// The files below it. The plan fills them in.
    pub below: Vec<String>,
    /// `filetype`.
    pub file_type: FileType,
    /// `nrfiles`.
    pub nrfiles: Option<u64>,
    /// `openfiles`.
    pub openfiles: Option<u64>,
    /// `file_service_type`.
    pub file_service: FileService,
    /// `lockfile`.
    pub lockfile: LockFile,
    /// `size`.
    pub size: Option<Size>,
    /// `io_size`.
    pub io_size: Option<Size>,
    /// `filesize`.
    pub filesize: Option<FileSizeRange>,
    /// `offset`.
    pub offset: Option<Size>,
    /// `offset_increment`.
    pub offset_increment: Option<Size>,
    /// `offset_align`, bytes; 0: to the block size.
    pub offset_align: Bytes,
    /// `fill_device`.
    pub fill_device: bool,
    /// `file_append`.
    pub file_append: bool,
    /// `unlink`.
    pub unlink: bool,
    /// `unlink_each_loop`.
    pub unlink_each_loop: bool,
    /// `allow_mounted_write`.
    pub allow_mounted_write: bool,
}

/// `filesize=low-high`; one value is both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileSizeRange {
    /// Smallest.
    pub low: Size,
    /// Largest.
    pub high: Size,
}

/// `file_service_type`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileService {
    /// The order of the files.
    pub order: FileServiceOrder,
    /// I/Os before switching; 1 by default.
    pub ios: Option<u64>,
}

/// The order in which files get I/O.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum FileServiceOrder {
    /// One I/O for each file in turn.
    #[default]
    RoundRobin,
    /// Each file to its end, then the next one.
    Sequential,
    /// Uniform at random.
    Random,
    /// Drawn by a distribution over the files, in their order.
    Drawn(Distribution),
}

/// `filetype`: the type that every target is assumed to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileType {
    /// The actual type.
    #[default]
    Any,
    /// A regular file.
    File,
    /// A block device.
    Block,
    /// A character device.
    Char,
}

/// `lockfile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockFile {
    /// No locking.
    #[default]
    None,
    /// One worker at a time.
    Exclusive,
    /// Many readers or one writer.
    ReadWrite,
}

/// `write_hint`: how long written data is expected to stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteHint {
    /// Not known.
    #[default]
    None,
    /// Soon overwritten.
    Short,
    /// In between.
    Medium,
    /// Kept for long.
    Long,
    /// Kept for very long.
    Extreme,
}

with_defaults! {
    /// Creation of files.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Layout {
        /// `create_serialize`.
        pub serialize: bool = true,
        /// `create_fsync`.
        pub fsync: bool = true,
        /// `create_on_open`.
        pub on_open: bool,
        /// `create_only`: lay out, then stop.
        pub only: bool,
        /// `allow_file_create`.
        pub allow_create: bool = true,
        /// `overwrite`: lay out data that write jobs then overwrite.
        pub overwrite: bool,
        /// `fallocate`: "none", "native", "posix", "keep", "truncate".
        pub fallocate: String = "native".into(),
        /// `pre_read`.
        pub pre_read: bool,
        /// `invalidate`.
        pub invalidate: bool = true,
        /// `fadvise_hint`: "0", "1", "random", "sequential", "noreuse".
        pub fadvise_hint: String = "1".into(),
        /// `write_hint`; `None`: no hint is given.
        pub write_hint: Option<WriteHint>,
    }
}

named!(WriteHint: None "none", Short "short", Medium "medium", Long "long", Extreme "extreme");

named!(LockFile: None "none", Exclusive "exclusive", ReadWrite "readwrite");

named!(FileType: Any "none", File "file", Block "block", Char "char");
