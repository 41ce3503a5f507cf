//! One option of the table: how it is described, and how its value is written.

use crate::model::{Job, Size};
use record::{Bytes, Nanos};

/// One option.
pub struct OptionDef {
    /// Canonical name.
    pub name: &'static str,
    /// Other names, as fio has them.
    pub aliases: &'static [&'static str],
    /// Engines it belongs to; empty: a core option.
    pub engines: &'static [&'static str],
    /// How its value is written.
    pub kind: Kind,
    /// Default, as one would type it; empty: none.
    pub default: &'static str,
    /// The values it takes, when it takes only these.
    pub values: &'static [Choice],
    /// Where it stands in help and reference.
    pub group: Group,
    /// One line.
    pub doc: &'static str,
    /// A paragraph or more.
    pub long: &'static str,
    /// Whether it works.
    pub status: Status,
    /// Given alone it means the empty text.
    pub alone: bool,
    /// An *accepted* option whose use deserves a warning, because what it asks for is not done.
    pub warns: bool,
    /// Its value is a key, password or token: it is left out of what is kept and shown of a run.
    pub secret: bool,
    /// How it is put into a job and read back.
    pub access: Access,
    /// Its name in the record and its value there; `None`: the record does not have it.
    pub recorded: Option<Recorded>,
}

/// How an option is put into a job, and read back from one.
pub struct Access {
    /// Puts a parsed value into a job. The error says what is wrong with the value; the caller adds
    /// option and place.
    pub set: fn(&mut Job, &Value) -> Result<(), String>,
    /// The value a job has, as one would type it; `None`: the default. Without this function the
    /// option is not read back.
    pub get: Option<fn(&Job) -> Option<String>>,
}

/// A name in the record, and what a job has there; `None`: nothing, as with the default.
pub type Recorded = (&'static str, fn(&Job) -> Option<String>);

/// One value an option takes.
pub struct Choice {
    /// As typed.
    pub name: &'static str,
    /// What it means, in one line.
    pub doc: &'static str,
    /// The value this is another name of; empty: none.
    pub same_as: &'static str,
    /// Whether it works; a value that does not is refused by name.
    pub works: bool,
    /// What a value needs that is refused because something is not built; else empty.
    pub needs: &'static str,
}

/// Whether an option works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It does what its doc says.
    Works,
    /// It is read and checked, and has no effect; why.
    Accepted(&'static str),
    /// Using it is an error that names it.
    NotYet,
    /// It belongs to an engine, or to hardware or a service behind one, that is not built; what it
    /// needs. Using it is an error that says so.
    Needs(&'static str),
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of `values`.
    Choice,
    /// One of `values`, then perhaps `:` and more (`rw=randread:8`), which `set` reads.
    ChoiceWith,
    /// A whole number with suffixes; `lists` allows one to three, by direction, split by commas.
    Int {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
        /// `a,b,c` for reads, writes and trims.
        lists: bool,
    },
    /// A duration; a bare number counts in `bare`.
    Time {
        /// Unit of a number without suffix.
        bare: Nanos,
        /// `low-high` is allowed too.
        range: bool,
    },
    /// One to three durations split by commas, for reads, writes and trims.
    Times {
        /// Unit of a number without suffix.
        bare: Nanos,
    },
    /// 0 or 1, needed.
    Bool,
    /// 0 or 1; alone it means 1.
    Flag,
    /// One to three ranges `low-high`.
    Ranges,
    /// Real numbers split by colons.
    Floats {
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// A size; it may be per cent of the target, or a number of zones (`z`).
    Size {
        /// `20%` is allowed.
        percent: bool,
        /// `3z` is allowed.
        zones: bool,
    },
}

/// A parsed value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Text`], [`Kind::Choice`] and [`Kind::ChoiceWith`], as typed.
    Text(String),
    /// Of [`Kind::Int`], and of [`Kind::Times`] in nanoseconds: what was given for reads, writes, trims. `5` is `[Some(5), None, None]`;
    /// `,8k,` is `[None, Some(8192), None]`. `,8k` and `,8k,` differ in `commas`.
    Ints {
        /// By direction.
        values: [Option<i64>; 3],
        /// How many commas were typed.
        commas: u8,
    },
    /// Of [`Kind::Time`].
    Time(Nanos),
    /// Of [`Kind::Time`] that may be a range: shortest and longest.
    TimeRange(Nanos, Nanos),
    /// Of [`Kind::Bool`] and [`Kind::Flag`].
    Bool(bool),
    /// Of [`Kind::Ranges`].
    Ranges {
        /// (low, high) by direction.
        values: [Option<(Bytes, Bytes)>; 3],
        /// How many commas were typed.
        commas: u8,
    },
    /// Of [`Kind::Floats`].
    Floats(Vec<f64>),
    /// Of [`Kind::Size`].
    Size(Size),
}

/// Where an option stands in help and reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Name, clones, order of jobs.
    Job,
    /// Runtime, ramp, start.
    Time,
    /// Files, directories, devices, zones.
    Target,
    /// Kind and place of I/O.
    Pattern,
    /// Block sizes.
    Block,
    /// Content and memory of buffers.
    Buffer,
    /// Amounts.
    Size,
    /// Engines and their options.
    Engine,
    /// Depth and batches.
    Depth,
    /// Rate and latency targets, thinktime, flow.
    Rate,
    /// Recorded I/O.
    Replay,
    /// Threads, CPUs, priorities.
    Process,
    /// Verification.
    Verify,
    /// Steady state.
    Steady,
    /// Statistics and logs.
    Measure,
    /// Errors.
    Error,
}
