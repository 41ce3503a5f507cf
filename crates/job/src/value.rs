//! From the text of a value to a [`Value`].

use crate::options::{Kind, OptionDef, Value};

/// How suffixes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// `kb_base`: 1024 (every prefix is binary-sized as fio's old files mean it) or 1000.
    pub kb_base: u32,
}

impl Default for Units {
    fn default() -> Self {
        Units { kb_base: 1024 }
    }
}

/// Parses the value of an option; `None` is an option given alone.
pub fn parse(def: &OptionDef, raw: Option<&str>, _units: Units) -> Result<Value, String> {
    match (def.kind, raw) {
        (Kind::Flag, None) => Ok(Value::Bool(true)),
        (_, Some(text)) => Ok(Value::Text(text.into())),
        (_, None) => Err(format!("option '{}' needs a value", def.name)),
    }
}

/// The candidate most like `name`, when one is like enough to be meant.
pub fn nearest(name: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= name.len().max(candidate.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// What a setter reads. The kind of its row fixes the variant, so another one is a mistake in the
/// table, which its tests would meet.
impl Value {
    /// Text as typed.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            other => unreachable!("{other:?} is no text"),
        }
    }

    /// A single whole number.
    pub fn int(&self) -> i64 {
        match self {
            Value::Ints { values: [Some(number), ..], .. } => *number,
            other => unreachable!("{other:?} is no whole number"),
        }
    }

    /// A switch.
    pub fn flag(&self) -> bool {
        match self {
            Value::Bool(on) => *on,
            other => unreachable!("{other:?} is no switch"),
        }
    }
}
