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
mod unbuilt;
mod verify;
mod zones;

use crate::model::{Job, Unmet};
use crate::value::{self, Units};
use record::UNBUILT_ENGINES;
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
    unbuilt::ROWS,
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

/// Options of a single real number. Oracle: further ones are warned of.
const ONE_NUMBER: &[&str] = &["zone_reset_threshold", "zone_reset_frequency", "latency_percentile"];

/// Parses a value and stores it in a job. Returns warnings. The error is one line that names the
/// option, what was expected and what was found.
pub fn apply(
    job: &mut Job,
    def: &OptionDef,
    raw: Option<&str>,
    units: Units,
) -> Result<Vec<String>, String> {
    let parsed = value::parse(def, raw, units).map_err(|why| format!("{}: {why}", def.name));
    if def.name == "ioengine" {
        job.unmet.retain(|unmet| find(unmet.option).is_some() && unmet.option != "ioengine");
    }
    if matches!(def.status, Status::NotYet | Status::Needs(_)) {
        if !def.is_neutral(&parsed?, units) {
            job.unmet.push(def.unmet());
        }
        return Ok(Vec::new());
    }
    let parsed = parsed?;
    if let Some(unmet) = def.unmet_choice(&parsed) {
        job.unmet.push(unmet);
        return Ok(Vec::new());
    }
    // Setters parse sizes inside text values (`rw=write:4k`, `bssplit`) and see only the job, so
    // kb_base must be stored first.
    job.measure.kb_base = units.kb_base;
    (def.access.set)(job, &parsed).map_err(|why| format!("{}: {why}", def.name))?;
    if let Value::Floats(numbers) = &parsed
        && numbers.len() > 1
        && ONE_NUMBER.contains(&def.name)
    {
        let name = def.name;
        return Ok(vec![format!(
            "{name}: the list exceeding max length 1; its first number counts"
        )]);
    }
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

impl Choice {
    /// Its meaning, or the value it is another name of, in one line.
    pub fn meaning(&self) -> String {
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

    /// Whether the option has a list of values, and this is one of them.
    pub fn has_value(&self, name: &str) -> bool {
        self.values.iter().any(|choice| choice.name == name)
    }

    /// What the plan says about using an option that does not work.
    fn unmet(&self) -> Unmet {
        let needs = match self.status {
            Status::Needs(what) => format!(": it needs {what}"),
            _ => String::new(),
        };
        let remedy = match self.default {
            "" => "leave it out".to_owned(),
            default => format!("leave it out or give its default, {default}"),
        };
        Unmet { option: self.name, found: format!("it does not work here{needs}"), remedy }
    }

    /// What the plan says about a value that fio knows and that does not work here.
    fn unmet_choice(&self, value: &Value) -> Option<Unmet> {
        let Value::Text(text) = value else { return None };
        let typed = value::head(self.kind, text);
        let choice = self.values.iter().find(|choice| choice.name == typed && !choice.works)?;
        let needs = match choice.needs {
            "" => String::new(),
            needs => format!(": it needs {needs}"),
        };
        let found = format!("'{}' does not work here{needs}", choice.name);
        let engine = UNBUILT_ENGINES.iter().find(|engine| engine.name == choice.name);
        let remedy = engine.map_or("take another value", |engine| engine.instead).to_owned();
        Some(Unmet { option: self.name, found, remedy })
    }

    /// Whether a value is the default. Giving the default is no error, even if the option does not
    /// work: `verify=0`.
    fn is_neutral(&self, given: &Value, units: Units) -> bool {
        !self.default.is_empty()
            && value::parse(self, Some(self.default), units)
                .is_ok_and(|default| default.spread() == given.spread())
    }
}
