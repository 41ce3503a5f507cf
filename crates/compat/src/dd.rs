//! dd (GNU coreutils 9.1): its operands, the I/O they stand for, and its last lines.
//!
//! dd reads a block and writes it, one after the other, and what it says is how long all of that
//! took. So a call is a list of reads and writes in dd's order ([`trace::Recording`]), which the
//! engine does one by one as it does those of a log. In a copy each write carries what the read
//! before it brought: the output is a copy. A source that only makes bytes (`/dev/zero`) is not read:
//! zeros and random bytes are made between two writes, within the time of the call as with dd, but
//! within no latency.

mod direct;
mod number;
mod parse;
mod terminology;
mod text;
mod translate;

#[cfg(test)]
mod tests;

pub use text::{asked, lines, progress, traps};
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

/// A call of dd, understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DdCommand {
    /// Where bytes come from.
    pub input: Input,
    /// Where they go.
    pub output: Output,
    /// Bytes of a read; at least 1.
    pub ibs: u64,
    /// Bytes of a write; at least 1.
    pub obs: u64,
    /// Bytes to copy at most.
    pub limit: Option<u64>,
    /// Bytes of the input that are left out.
    pub skip: u64,
    /// Bytes of the output that are left out.
    pub seek: u64,
    /// O_DIRECT on the input.
    pub direct_in: bool,
    /// O_DIRECT on the output.
    pub direct_out: bool,
    /// What is cached of the input is dropped first, and again behind the reads.
    pub forget_in: bool,
    /// The page cache is told to drop what was written.
    pub forget_out: bool,
    /// Whether each write is durable.
    pub sync: EachSync,
    /// Writes begin at the end of the output.
    pub append: bool,
    /// What comes after the last write.
    pub end: Option<EndSync>,
    /// The output is not cut.
    pub notrunc: bool,
    /// The output must not be there yet.
    pub excl: bool,
    /// The output must be there.
    pub nocreat: bool,
    /// All is copied, and something fails after it.
    pub fails: bool,
    /// How much is said.
    pub status: Status,
    /// Devices that may be overwritten whatever is on them.
    pub allow_destroy: Vec<String>,
    /// Where the record is kept.
    pub record: Option<String>,
    /// What of the line means something else here, or nothing; a sentence each.
    pub notes: Vec<String>,
}

/// Where bytes come from.
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

/// Where they go.
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

/// What comes after the last write, within the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndSync {
    /// `conv=fsync`.
    Fsync,
    /// `conv=fdatasync`.
    Fdatasync,
}

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// All.
    #[default]
    All,
    /// All, and once a second how far it is.
    Progress,
    /// Records only, no rate.
    Noxfer,
    /// Nothing of dd's own.
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
            // Nothing but the reading is left to measure.
            (Input::Zero, Output::Null) => Some("/dev/zero"),
            (Input::Random, Output::Null) => Some("/dev/urandom"),
            _ => None,
        }
    }
}
