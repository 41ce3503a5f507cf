//! dd (GNU coreutils 9.1): its operands, the I/O they stand for, and its last lines.
//!
//! dd reads a block, writes it, and so on, and prints the time that all of this took. A call is
//! therefore translated into a list of reads and writes in dd's order ([`trace::Recording`]), which
//! the engine executes one by one like the I/O of a log. In a copy, each write carries the bytes of
//! the read before it. A source that generates bytes (`/dev/zero`) is not read: zeros and random
//! bytes are generated between two writes, so they count in the total time, as with dd, but in no
//! latency.

mod direct;
mod number;
mod parse;
mod terminology;
mod text;
mod translate;

#[cfg(test)]
mod tests;

pub use text::{lines, progress, summary_so_far, traps};
pub use translate::Work;

/// Name in messages.
pub(crate) const TOOL: &str = "dd";

/// What `fathom dd --help` prints.
pub const HELP: &str = "\
usage: fathom dd if=FILE of=FILE [OPERAND…]

Does what dd (GNU coreutils 9.1) does, prints its last lines on standard error, and under them, on
standard output, what the figure is worth.

  if=FILE         read from FILE; /dev/zero, /dev/urandom and /dev/random make what is written
  of=FILE         write to FILE; /dev/null: nowhere
  bs=BYTES        read and write so many bytes at a time; otherwise ibs= and obs=, 512 each. From
                  file to file both have to be alike: a write carries what one read brought
  count=N skip=N seek=N   blocks, or bytes when N ends in B (iflag=count_bytes,skip_bytes,
                  oflag=seek_bytes)
  conv=LIST       fsync, fdatasync, notrunc, excl, nocreat
  iflag=LIST      direct, nocache, fullblock, count_bytes, skip_bytes
  oflag=LIST      direct, dsync, sync, nocache, append, seek_bytes
  status=LEVEL    none, noxfer, progress

  --allow-destroy=DEVICE   write to this device even if it holds data or is in use
  --record=FILE   keep the record of the run
  --version       print which fathom this is

iflag=direct and oflag=direct may be given one without the other. A last block that is not full is
written through the page cache and synchronised, as by dd; of a read to /dev/null the rest that
O_DIRECT does not take is left out, and told.

A regular file named by of= is overwritten, and cut to seek= unless conv=notrunc, as by dd.
";

/// A parsed call of dd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DdCommand {
    /// The input.
    pub input: Input,
    /// The output.
    pub output: Output,
    /// Size of a read in bytes; at least 1.
    pub ibs: u64,
    /// Size of a write in bytes; at least 1.
    pub obs: u64,
    /// Most bytes to copy.
    pub limit: Option<u64>,
    /// Offset of the first read in bytes.
    pub skip: u64,
    /// Offset of the first write in bytes.
    pub seek: u64,
    /// O_DIRECT on the input.
    pub direct_in: bool,
    /// O_DIRECT on the output.
    pub direct_out: bool,
    /// The input's pages are dropped from the page cache before the first read and behind the
    /// reads.
    pub forget_in: bool,
    /// Written pages are dropped from the page cache.
    pub forget_out: bool,
    /// Whether each write is durable.
    pub sync: EachSync,
    /// Writes begin at the end of the output.
    pub append: bool,
    /// The synchronisation after the last write.
    pub end: Option<EndSync>,
    /// The output is not truncated.
    pub notrunc: bool,
    /// The output must not exist.
    pub excl: bool,
    /// The output must exist.
    pub nocreat: bool,
    /// dd would fail after it has copied everything.
    pub fails: bool,
    /// How much is printed.
    pub status: Status,
    /// Devices that may be overwritten even if they hold data.
    pub allow_destroy: Vec<String>,
    /// The file for the record.
    pub record: Option<String>,
    /// Notes on operands that work differently here or have no effect, a sentence each.
    pub notes: Vec<String>,
}

/// The input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// `/dev/zero`.
    #[default]
    Zero,
    /// `/dev/urandom` or `/dev/random`.
    Random,
    /// A file or block device.
    Path(String),
}

/// The output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// `/dev/null`.
    #[default]
    Null,
    /// A file or block device.
    Path(String),
}

/// Whether each write is durable when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EachSync {
    /// No.
    #[default]
    No,
    /// `oflag=dsync`.
    Dsync,
    /// `oflag=sync`.
    Sync,
}

/// The synchronisation after the last write, which counts in the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndSync {
    /// `conv=fsync`.
    Fsync,
    /// `conv=fdatasync`.
    Fdatasync,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// All lines.
    #[default]
    All,
    /// All lines, and the progress once a second.
    Progress,
    /// The numbers of records, without the rate.
    Noxfer,
    /// None of dd's lines.
    None,
}

impl DdCommand {
    /// The file or device that is written.
    pub fn written(&self) -> Option<&str> {
        match &self.output {
            Output::Path(path) => Some(path),
            Output::Null => None,
        }
    }

    /// The file or device that is read.
    pub fn read(&self) -> Option<&str> {
        match (&self.input, &self.output) {
            (Input::Path(path), _) => Some(path),
            // Only the reading is measured.
            (Input::Zero, Output::Null) => Some("/dev/zero"),
            (Input::Random, Output::Null) => Some("/dev/urandom"),
            _ => None,
        }
    }
}
