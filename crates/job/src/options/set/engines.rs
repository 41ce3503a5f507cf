//! The values of `ioengine`, from the rows in `record`.

use super::super::Choice;
use super::super::row::{same, unbuilt, value};
use record::{ENGINES, UNBUILT_ENGINES};

/// Each engine with its aliases, then those that are not built.
pub(in crate::options) const CHOICES: &[Choice] = &choices();

const COUNT: usize = {
    let (mut count, mut row) = (ENGINES.len() + UNBUILT_ENGINES.len(), 0);
    while row < ENGINES.len() {
        count += ENGINES[row].aliases.len();
        row += 1;
    }
    count
};

const fn choices() -> [Choice; COUNT] {
    let mut choices = [const { value("", "") }; COUNT];
    let (mut at, mut row) = (0, 0);
    while row < ENGINES.len() {
        let engine = &ENGINES[row];
        choices[at] = value(engine.name, engine.doc);
        at += 1;
        let mut alias = 0;
        while alias < engine.aliases.len() {
            choices[at] = same(engine.aliases[alias], engine.name);
            (at, alias) = (at + 1, alias + 1);
        }
        row += 1;
    }
    let mut row = 0;
    while row < UNBUILT_ENGINES.len() {
        let engine = &UNBUILT_ENGINES[row];
        choices[at] = unbuilt(engine.name, engine.doc, engine.needs);
        (at, row) = (at + 1, row + 1);
    }
    choices
}
