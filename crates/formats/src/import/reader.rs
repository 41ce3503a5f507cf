//! Values of fio's JSON, checked against what fio can print.

use super::error::ImportError;
use serde_json::Value;
use std::cell::Cell;

/// The largest accepted number: the largest whole number that JSON readers keep exactly.
const LARGEST: u64 = 1 << 53;
/// The largest accepted sum of all numbers, far below an overflow.
const TOTAL_MAX: f64 = (1_u64 << 62) as f64;

/// An object of a document, with the job that errors name and the sum of all numbers read so far.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    pub(super) value: &'a Value,
    pub(super) job: &'a str,
    sum: &'a Cell<f64>,
}

impl<'a> Object<'a> {
    pub(super) fn new(value: &'a Value, sum: &'a Cell<f64>) -> Self {
        Object { value, job: "", sum }
    }

    /// The same object, with this job in errors.
    pub(super) fn of_job<'b>(self, job: &'b str) -> Object<'b>
    where
        'a: 'b,
    {
        Object { job, ..self }
    }

    /// The object under a key; empty if there is none.
    pub(super) fn at(self, key: &str) -> Self {
        Object { value: &self.value[key], ..self }
    }

    /// The objects in the array under a key.
    pub(super) fn list(self, key: &str) -> impl Iterator<Item = Self> {
        let values = self.value[key].as_array().into_iter().flatten();
        values.map(move |value| Object { value, ..self })
    }

    /// A whole number; 0 if there is none.
    pub(super) fn count(self, key: &str) -> Result<u64, ImportError> {
        match &self.value[key] {
            Value::Null => Ok(0),
            value => {
                let number = value.as_u64().filter(|number| *number <= LARGEST);
                let number =
                    number.ok_or_else(|| self.wrong(key, "a whole number from 0 to 2^53"))?;
                self.add_to_sum(number as f64)?;
                Ok(number)
            }
        }
    }

    /// A number that is not negative; 0 if there is none.
    pub(super) fn real(self, key: &str) -> Result<f64, ImportError> {
        match &self.value[key] {
            Value::Null => Ok(0.0),
            value => self.number(key, value),
        }
    }

    /// The number of a value in the list under a key.
    pub(super) fn number(self, key: &str, value: &Value) -> Result<f64, ImportError> {
        let number = value.as_f64().filter(|number| (0.0..=LARGEST as f64).contains(number));
        number.ok_or_else(|| wrong(self.job, key, value, "a number from 0 to 2^53"))
    }

    /// An errno; 0 if there is none.
    pub(super) fn errno(self, key: &str) -> Result<i32, ImportError> {
        match &self.value[key] {
            Value::Null => Ok(0),
            value => {
                let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
                number.ok_or_else(|| self.wrong(key, "an errno"))
            }
        }
    }

    /// The text under a key; empty if there is none.
    pub(super) fn text(self, key: &str) -> &'a str {
        self.value[key].as_str().unwrap_or_default()
    }

    /// Adds a number that later code adds up with others.
    pub(super) fn add_to_sum(self, amount: f64) -> Result<(), ImportError> {
        self.sum.set(self.sum.get() + amount);
        if self.sum.get() <= TOTAL_MAX { Ok(()) } else { Err(ImportError::TooLarge) }
    }

    /// The error for a value that fio does not print under this key.
    pub(super) fn wrong(self, key: &str, expected: &'static str) -> ImportError {
        wrong(self.job, key, &self.value[key], expected)
    }
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
