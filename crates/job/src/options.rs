//! THE options table: one [`OptionDef`] for every option fio has, core and engine. The parser, the
//! help, the man page and the web reference all read it; nothing about an option is said twice.
//!
//! The rows are in `options/`, one file a subject, in fio's order.

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
    (def.access.set)(job, &parsed).map_err(|why| format!("{}: {why}", def.name))?;
    match def.status {
        Status::Accepted(why) if def.warns && !def.is_neutral(&parsed, units) => {
            Ok(vec![format!("{} has no effect here: {why}", def.name)])
        }
        _ => Ok(Vec::new()),
    }
}

/// What the record says of a job's options: name and value of those that are not the default. Options
/// that come to something only with files or a machine are added by the plan.
pub fn recorded(job: &Job) -> BTreeMap<String, String> {
    let rows = all().filter_map(|def| def.recorded);
    rows.filter_map(|(name, get)| Some((name.to_owned(), get(job)?))).collect()
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
