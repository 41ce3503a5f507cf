//! The options table: one [`OptionDef`] for every option of fio, core and engine. The parser, the
//! help, the man page and the web reference read it, so everything about an option is written once.
//!
//! The rows are in `options/`, one file per subject, in fio's order.

mod access;
mod content;
mod def;
mod engines;
mod field;
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

use crate::model::Job;
use crate::value::{self, Units};
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

pub use def::{Access, Choice, Group, Kind, OptionDef, Status, Value};

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

/// The name or alias most similar to a misspelt `name`.
pub fn nearest(name: &str) -> Option<&'static str> {
    value::nearest(name, all().flat_map(OptionDef::names))
}

/// Parses a value and stores it in a job. Returns warnings. The error is one line that names the
/// option, what was expected and what was found.
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
    // Setters parse sizes inside text values (`rw=write:4k`, `bssplit`) and see only the job, so
    // kb_base must be stored first.
    job.measure.kb_base = units.kb_base;
    (def.access.set)(job, &parsed).map_err(|why| format!("{}: {why}", def.name))?;
    match def.status {
        Status::Accepted(why) if def.warns && !def.is_neutral(&parsed, units) => {
            Ok(vec![format!("{} has no effect here: {why}", def.name)])
        }
        _ => Ok(Vec::new()),
    }
}

/// The options of a job in the record: names and values of those that are not the default. The plan
/// adds options whose values depend on files or the machine.
pub fn recorded(job: &Job) -> BTreeMap<String, String> {
    let rows = all().filter_map(|def| def.recorded);
    rows.filter_map(|(name, get)| Some((name.to_owned(), get(job)?))).collect()
}

/// The end of an error about something that is not built.
fn needs(what: &str) -> String {
    format!(": it needs {what}, which a later version brings")
}

impl Choice {
    /// Its meaning, or the value it is another name of, in one line.
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

    /// The error for using an option that does not work.
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

    /// Whether a value is the default. Giving the default is no error, even if the option does not
    /// work: `verify=0`.
    fn is_neutral(&self, given: &Value, units: Units) -> bool {
        !self.default.is_empty()
            && value::parse(self, Some(self.default), units)
                .is_ok_and(|default| default.spread() == given.spread())
    }
}
