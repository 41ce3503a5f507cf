//! Ranges `low-high` and lists of them.

use super::{Units, size_number};
use crate::options::Value;
use record::Bytes;

pub(super) const EXPECTED: &str = "one to three ranges such as 1k-4k, split by commas";

/// Splits at the first `-` or `:` that stands between two values: not at a sign and not inside
/// parentheses.
pub(crate) fn split_range(text: &str) -> (&str, Option<&str>) {
    let mut depth = 0_i32;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            '-' | ':' if depth == 0 && at > 0 => {
                return (text[..at].trim(), Some(text[at + 1..].trim()));
            }
            _ => {}
        }
    }
    (text.trim(), None)
}

/// One to three ranges of sizes, by direction. fio's documents split them by `/`, its parser by
/// commas; both work here.
pub(super) fn ranges(text: &str, units: Units) -> Result<Value, String> {
    let parts = split_list(text);
    if parts.len() > 3 {
        return Err(format!("expected {EXPECTED}, got '{text}'"));
    }
    let mut values = [None; 3];
    for (slot, part) in values.iter_mut().zip(&parts) {
        let part = part.trim();
        if !part.is_empty() {
            *slot = Some(parse_one(part, units)?);
        }
    }
    if values == [None; 3] {
        return Err(format!("expected {EXPECTED}, got '{text}'"));
    }
    Ok(Value::Ranges { values, commas: parts.len() as u8 - 1 })
}

fn parse_one(part: &str, units: Units) -> Result<(Bytes, Bytes), String> {
    let (low, Some(high)) = split_range(part) else {
        return Err(format!("expected a range such as 1k-4k, got '{part}'"));
    };
    let (low, high) = (size_number(low, units)?, size_number(high, units)?);
    match low.min(high) {
        Bytes(0) => Err(format!("a range must begin above 0, got '{part}'")),
        least => Ok((least, low.max(high))),
    }
}

/// Splits at commas and slashes outside parentheses, where a slash divides.
fn split_list(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(character, ',' | '/')
    })
    .collect()
}
