//! The types of the options table.

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
    /// Default as typed; empty: none.
    pub default: &'static str,
    /// The allowed values, if the option has a list of them.
    pub values: &'static [Choice],
    /// Its group in help and reference.
    pub group: Group,
    /// One line.
    pub doc: &'static str,
    /// A paragraph or more.
    pub long: &'static str,
    /// Whether it works.
    pub status: Status,
    /// Without a value it means the empty text.
    pub alone: bool,
    /// An *accepted* option whose use causes a warning, because it has no effect.
    pub warns: bool,
    /// Its value is a key, password or token, which records and reports do not show.
    pub secret: bool,
    /// How it is put into a job and read back.
    pub access: Access,
    /// Its name and value in the record; `None`: it is not recorded.
    pub recorded: Option<Recorded>,
}

/// Setter and getter of an option.
pub struct Access {
    /// Stores a parsed value in a job. The error says what is wrong with the value; the caller adds
    /// option and place.
    pub set: fn(&mut Job, &Value) -> Result<(), String>,
    /// The value in a job as typed; `None`: the default. Without this function the option is not
    /// read back.
    pub get: Option<fn(&Job) -> Option<String>>,
}

/// A name in the record, and a function that returns the value in a job; `None`: the default, which
/// is not recorded.
pub type Recorded = (&'static str, fn(&Job) -> Option<String>);

/// An allowed value of an option.
pub struct Choice {
    /// As typed.
    pub name: &'static str,
    /// What it means, in one line.
    pub doc: &'static str,
    /// The value this is another name of; empty: none.
    pub same_as: &'static str,
    /// Whether it works. Values that do not work parse, and the plan refuses them.
    pub works: bool,
    /// What a value that does not work would need; else empty.
    pub needs: &'static str,
}

/// Whether an option works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It does what its doc says.
    Works,
    /// It is parsed and has no effect; the reason.
    Accepted(&'static str),
    /// It parses, and the plan refuses it.
    NotYet,
    /// It belongs to an engine that is not built; what that engine needs. It parses, and the plan
    /// refuses it and says so.
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
    /// A duration; a number without suffix has the unit `bare`.
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
    /// 0 or 1; a value is required.
    Bool,
    /// 0 or 1; without a value it means 1.
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
    /// Of [`Kind::Int`], and of [`Kind::Times`] in nanoseconds: the values for reads, writes,
    /// trims. `5` is `[Some(5), None, None]`; `,8k,` is `[None, Some(8192), None]`. `,8k` and
    /// `,8k,` differ in `commas`.
    Ints {
        /// By direction.
        values: [Option<i64>; 3],
        /// Number of commas typed.
        commas: u8,
    },
    /// Of [`Kind::Time`].
    Time(Nanos),
    /// Of [`Kind::Time`] with `range`: shortest and longest.
    TimeRange(Nanos, Nanos),
    /// Of [`Kind::Bool`] and [`Kind::Flag`].
    Bool(bool),
    /// Of [`Kind::Ranges`].
    Ranges {
        /// (low, high) by direction.
        values: [Option<(Bytes, Bytes)>; 3],
        /// Number of commas typed.
        commas: u8,
    },
    /// Of [`Kind::Floats`].
    Floats(Vec<f64>),
    /// Of [`Kind::Size`].
    Size(Size),
}

/// The group of an option in help and reference.
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
