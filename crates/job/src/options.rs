//! THE options table: one [`OptionDef`] for every option fio has, core and engine. The parser, the
//! help, the man page and the web reference all read it; nothing about an option is said twice.
//!
//! The rows are in `options/`, one file a subject, in fio's order.

mod access;
mod content;
mod engines;
mod layout;
mod logs;
mod measure;
mod numbered;
mod objects;
mod order;
mod pace;
mod pattern;
mod replay;
mod row;
mod set;
mod size;
mod target;
mod verify;
mod zones;

use crate::model::{Job, Size};
use crate::value::{self, Units};
use record::{Bytes, Nanos};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The table, in fio's order.
static TABLE: &[&[OptionDef]] = &[
    target::ROWS,
    pattern::ROWS,
    size::ROWS,
    access::ROWS,
    verify::ROWS,
    replay::ROWS,
    zones::ROWS,
    pace::ROWS,
    layout::ROWS,
    order::ROWS,
    logs::ROWS,
    content::ROWS,
    measure::ROWS,
    engines::LOCAL,
    engines::REMOTE,
    objects::HTTP,
    numbered::ROWS,
];

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
    /// Puts a parsed value into a job. The error says what is wrong with the value; the caller adds
    /// option and place.
    pub set: fn(&mut Job, &Value) -> Result<(), String>,
}

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

/// Every option: core options in fio's order, then those of engines.
pub fn all() -> impl Iterator<Item = &'static OptionDef> {
    TABLE.iter().flat_map(|rows| rows.iter())
}

/// Core options by name and alias.
static CORE: LazyLock<HashMap<&'static str, &'static OptionDef>> = LazyLock::new(|| {
    all()
        .filter(|def| def.engines.is_empty())
        .flat_map(|def| def.names().map(move |name| (name, def)))
        .collect()
});

/// A core option by its name or an alias.
pub fn find(name: &str) -> Option<&'static OptionDef> {
    CORE.get(name).copied()
}

/// An option of one engine by its name or an alias.
pub fn find_engine(engine: &str, name: &str) -> Option<&'static OptionDef> {
    all().find(|def| def.engines.contains(&engine) && def.names().any(|n| n == name))
}

/// The name or alias that a misspelt `name` most likely meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    value::nearest(name, all().flat_map(OptionDef::names))
}

/// Parses a value and puts it into a job. The strings returned are warnings; the error is one line
/// without place, naming option, what was expected and what was found.
pub fn apply(
    job: &mut Job,
    def: &OptionDef,
    raw: Option<&str>,
    units: Units,
) -> Result<Vec<String>, String> {
    let parsed = value::parse(def, raw, units).map_err(|why| format!("{}: {why}", def.name));
    if matches!(def.status, Status::NotYet | Status::Needs(_)) {
        if parsed.is_ok_and(|value| def.is_neutral(&value, units)) {
            return Ok(Vec::new());
        }
        return Err(def.refusal());
    }
    let parsed = parsed?;
    def.check_choice(&parsed)?;
    // Sizes inside a text value (`rw=write:4k`, `bssplit`) are read by the setter, which sees only
    // the job: kb_base has to be in it by then.
    job.measure.kb_base = units.kb_base;
    (def.set)(job, &parsed).map_err(|why| format!("{}: {why}", def.name))?;
    match def.status {
        Status::Accepted(why) if def.warns && !def.is_neutral(&parsed, units) => {
            Ok(vec![format!("{} has no effect here: {why}", def.name)])
        }
        _ => Ok(Vec::new()),
    }
}

/// The end of a refusal of what needs something that is not built.
fn needs(what: &str) -> String {
    format!(": it needs {what}, which a later version brings")
}

impl Choice {
    /// What it means, or which value it is another name of; one line.
    pub fn about(&self) -> String {
        match self.same_as {
            "" => self.doc.into(),
            name => format!("the same as {name}"),
        }
    }
}

impl OptionDef {
    /// Its name, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// What using a *not yet* option is answered with.
    fn refusal(&self) -> String {
        let needs = match self.status {
            Status::Needs(what) => needs(what),
            _ => String::new(),
        };
        match self.default {
            "" => format!("option '{}' does not work yet{needs}", self.name),
            default => format!(
                "option '{}' does not work yet{needs}; only its default, {default}, is accepted",
                self.name
            ),
        }
    }

    /// Refuses a value that fio knows and that does not work yet.
    fn check_choice(&self, value: &Value) -> Result<(), String> {
        let Value::Text(text) = value else { return Ok(()) };
        let typed = value::head(self.kind, text);
        match self.values.iter().find(|choice| choice.name == typed) {
            Some(choice) if !choice.works => {
                let needs =
                    if choice.needs.is_empty() { String::new() } else { needs(choice.needs) };
                Err(format!("{}: '{}' does not work yet{needs}", self.name, choice.name))
            }
            _ => Ok(()),
        }
    }

    /// Whether a value is the default, so that giving it asks for nothing: `verify=0` is no error
    /// even where verification does not work.
    fn is_neutral(&self, given: &Value, units: Units) -> bool {
        !self.default.is_empty()
            && value::parse(self, Some(self.default), units)
                .is_ok_and(|default| default.spread() == given.spread())
    }
}
