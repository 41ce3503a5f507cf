//! From the text of a value to a [`Value`].
//!
//! fio ignores what it cannot read after a number: `4x` is 4, `1e3` is 1, `1.5s` is one second and
//! `1m30s` a microsecond. Here each of these is an error, because a benchmark that runs something
//! else than was asked for is worse than none. The module `fio` knows what fio reads, for the name fio.

mod expression;
mod fio;
mod number;
mod range;
mod read;
pub(crate) use fio::as_fio;
pub(crate) use read::spread;

pub use number::Units;
pub(crate) use number::{duration, size_number, whole_number};
pub(crate) use range::split_range;

use crate::options::{Choice, Kind, OptionDef, Value};

/// Parses the value of an option; `None` is an option given alone. The error says what was expected
/// and what was found, without naming the option.
pub fn parse(def: &OptionDef, raw: Option<&str>, units: Units) -> Result<Value, String> {
    let text = match raw {
        Some(text) if !text.trim().is_empty() => text.trim(),
        _ if def.alone => return Ok(Value::Text(String::new())),
        None if def.kind == Kind::Flag => return Ok(Value::Bool(true)),
        _ => return Err(format!("needs a value: {}", expected(def))),
    };
    match def.kind {
        Kind::Text => Ok(Value::Text(text.into())),
        Kind::Choice | Kind::ChoiceWith => choice(def, text),
        Kind::Int { min, max, lists } => ints(text, min, max, lists, units),
        Kind::Time { bare, range: false } => duration(text, bare).map(Value::Time),
        Kind::Time { bare, range: true } => {
            let (low, high) = split_range(text);
            let low = duration(low, bare)?;
            let high = high.map_or(Ok(low), |high| duration(high, bare))?;
            Ok(Value::TimeRange(low.min(high), low.max(high)))
        }
        Kind::Times { bare } => by_direction(text, number::EXPECTED_TIME, |part| {
            let time = duration(part, bare)?;
            i64::try_from(time.0).map_err(|_| format!("'{part}' is too long"))
        }),
        Kind::Bool | Kind::Flag => switch(text),
        Kind::Ranges => range::ranges(text, units),
        Kind::Floats { min, max } => floats(text, min, max),
        Kind::Size { percent, zones } => number::size(text, percent, zones, units).map(Value::Size),
    }
}

/// What is compared with the list of values: all, or what stands before the colon.
pub(crate) fn head(kind: Kind, text: &str) -> &str {
    match kind {
        Kind::ChoiceWith => text.split(':').next().unwrap_or(text),
        _ => text,
    }
}

/// The candidate most like `name`, when one is like enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = |candidate: &str| (name.len().max(candidate.len()) / 3).clamp(1, 4);
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= allowed(candidate))
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// What a value of this option looks like, for errors.
fn expected(def: &OptionDef) -> String {
    match def.kind {
        Kind::Text => "any text".into(),
        Kind::Choice | Kind::ChoiceWith => format!("one of {}", names(def.values)),
        Kind::Int { lists: false, .. } => number::EXPECTED.into(),
        Kind::Int { lists: true, .. } => {
            format!("{}, or up to three of them split by commas", number::EXPECTED)
        }
        Kind::Time { .. } => number::EXPECTED_TIME.into(),
        Kind::Times { .. } => {
            format!("{}, or up to three of them split by commas", number::EXPECTED_TIME)
        }
        Kind::Bool | Kind::Flag => "0 or 1".into(),
        Kind::Ranges => range::EXPECTED.into(),
        Kind::Floats { .. } => EXPECTED_FLOATS.into(),
        Kind::Size { .. } => "a size such as 4g".into(),
    }
}

const EXPECTED_FLOATS: &str = "numbers split by colons, such as 50:99:99.9";

/// The values to choose from: those that work, or all if none does.
fn names(values: &[Choice]) -> String {
    let any = values.iter().any(|choice| choice.works);
    values
        .iter()
        .filter(|choice| choice.works == any)
        .map(|choice| choice.name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn choice(def: &OptionDef, text: &str) -> Result<Value, String> {
    let typed = head(def.kind, text);
    if let Some(found) = def.values.iter().find(|choice| choice.name == typed) {
        let name = if found.same_as.is_empty() { found.name } else { found.same_as };
        return Ok(Value::Text(format!("{name}{}", &text[typed.len()..])));
    }
    let all = def.values.iter().map(|choice| choice.name);
    let hint = nearest(typed, all).map_or(String::new(), |n| format!("; did you mean '{n}'?"));
    Err(format!("expected one of {}, got '{text}'{hint}", names(def.values)))
}

fn ints(text: &str, min: i64, max: i64, lists: bool, units: Units) -> Result<Value, String> {
    let one = |part: &str| bounded(whole_number(part, units)?, min, max, part);
    if lists {
        return by_direction(&without_ranges(text), number::EXPECTED, one);
    }
    Ok(Value::Ints { values: [Some(one(text)?), None, None], commas: 0 })
}

/// A list in which fio's other separator, `-` or `:` between two values, is resolved: alone it divides
/// like a comma, beside commas the second value counts for nothing.
fn without_ranges(text: &str) -> String {
    let separator = |part: &str| {
        let at = part.char_indices().skip(1).find(|(_, c)| matches!(c, '-' | ':'))?.0;
        part[at + 1..].starts_with(|c: char| c.is_ascii_digit()).then_some(at)
    };
    if text.contains(',') {
        let first = |part| separator(part).map_or(part, |at| &part[..at]);
        return text.split(',').map(first).collect::<Vec<_>>().join(",");
    }
    match separator(text) {
        Some(at) => format!("{},{}", &text[..at], &text[at + 1..]),
        None => text.into(),
    }
}

/// One to three values split by commas, each read by `one`.
fn by_direction(
    text: &str,
    expected: &str,
    one: impl Fn(&str) -> Result<i64, String>,
) -> Result<Value, String> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("expected at most three values (reads, writes, trims), got '{text}'"));
    }
    let mut values = [None; 3];
    for (slot, part) in values.iter_mut().zip(&parts) {
        let part = part.trim();
        if !part.is_empty() {
            *slot = Some(one(part)?);
        }
    }
    if values == [None; 3] {
        return Err(format!("expected {expected}, got '{text}'"));
    }
    Ok(Value::Ints { values, commas: parts.len() as u8 - 1 })
}

fn bounded(number: i64, min: i64, max: i64, text: &str) -> Result<i64, String> {
    if number < min {
        Err(format!("value out of range: must be at least {min}, got '{text}'"))
    } else if number > max {
        Err(format!("value out of range: must be at most {max}, got '{text}'"))
    } else {
        Ok(number)
    }
}

fn switch(text: &str) -> Result<Value, String> {
    match whole_number(text, Units::default()) {
        Ok(0) => Ok(Value::Bool(false)),
        Ok(1) => Ok(Value::Bool(true)),
        _ => Err(format!("expected 0 or 1, got '{text}'")),
    }
}

fn floats(text: &str, min: f64, max: f64) -> Result<Value, String> {
    let mut numbers = Vec::new();
    for part in text.split(':') {
        let number: f64 = part
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| format!("expected {EXPECTED_FLOATS}, got '{text}'"))?;
        if number < min || number > max {
            return Err(format!(
                "value out of range: each number must lie between {min} and {max}, got '{part}'"
            ));
        }
        numbers.push(number);
    }
    Ok(Value::Floats(numbers))
}

#[cfg(test)]
mod tests;
