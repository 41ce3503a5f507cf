//! Numbers out of fio's JSON, held against what can be.

use super::ImportError;
use serde_json::Value;
use std::cell::Cell;

/// No single number of a run is larger: the largest whole number that JSON readers keep exactly.
const LARGEST: u64 = 1 << 53;
/// All numbers of a document together: far below where adding them up overflows.
const BUDGET: f64 = (1_u64 << 62) as f64;

/// Reads numbers, and remembers how much they add up to.
#[derive(Default)]
pub(super) struct Reader {
    sum: Cell<f64>,
}

impl Reader {
    /// A whole number; 0 where there is none.
    pub(super) fn count(&self, job: &str, of: &Value, key: &str) -> Result<u64, ImportError> {
        let expected = "a whole number from 0 to 2^53";
        match &of[key] {
            Value::Null => Ok(0),
            value => match value.as_u64().filter(|number| *number <= LARGEST) {
                Some(number) => {
                    self.spend(number as f64)?;
                    Ok(number)
                }
                None => Err(wrong(job, key, value, expected)),
            },
        }
    }

    /// A number that is not negative; 0 where there is none.
    pub(super) fn real(&self, job: &str, of: &Value, key: &str) -> Result<f64, ImportError> {
        match &of[key] {
            Value::Null => Ok(0.0),
            value => self.number(job, key, value),
        }
    }

    /// The same of a value that stands in a list of this name.
    pub(super) fn number(&self, job: &str, key: &str, value: &Value) -> Result<f64, ImportError> {
        value
            .as_f64()
            .filter(|number| (0.0..=LARGEST as f64).contains(number))
            .ok_or_else(|| wrong(job, key, value, "a number from 0 to 2^53"))
    }

    /// Counts an amount among those that are added up somewhere.
    pub(super) fn spend(&self, amount: f64) -> Result<(), ImportError> {
        self.sum.set(self.sum.get() + amount);
        if self.sum.get() <= BUDGET { Ok(()) } else { Err(ImportError::TooLarge) }
    }
}

/// The text of a value; empty where it is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn wrong(job: &str, key: &str, found: &Value, expected: &'static str) -> ImportError {
    let mut found = found.to_string();
    const SHOWN: usize = 40;
    if let Some((at, _)) = found.char_indices().nth(SHOWN) {
        found.truncate(at);
        found.push('…');
    }
    ImportError::Value { job: job.into(), key: key.into(), found, expected }
}
