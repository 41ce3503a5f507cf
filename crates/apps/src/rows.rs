//! The rows of database benchmarks.

use crate::random::{Words, skewed};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use suite::Draw;

/// Generated rows: the same seed gives the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// Number of rows.
    pub count: u64,
    /// Their seed.
    pub seed: u64,
}

/// The columns of the tables, in SQL that all three databases understand.
pub(crate) const COLUMNS: &str = "id BIGINT NOT NULL PRIMARY KEY, customer INTEGER NOT NULL, \
                                  city VARCHAR(40) NOT NULL, kind INTEGER NOT NULL, \
                                  amount BIGINT NOT NULL, note VARCHAR(160) NOT NULL";
/// The three columns of the index.
pub(crate) const INDEXED: &str = "city, kind, amount";

/// One row.
pub(crate) struct Row<'a> {
    pub(crate) id: u64,
    pub(crate) customer: u64,
    pub(crate) city: &'a str,
    pub(crate) kind: u64,
    pub(crate) amount: u64,
    pub(crate) note: &'a str,
}

impl Rows {
    /// Generates the rows one by one. Stops at the first error of `take`.
    pub(crate) fn each<E>(&self, mut take: impl FnMut(&Row) -> Result<(), E>) -> Result<(), E> {
        let mut draw = Draw::new(self.seed);
        let words = Words::new(&mut draw);
        let mut note = String::new();
        for id in 0..self.count {
            note.clear();
            for _ in 0..12 {
                let word = words.draw(&mut draw);
                let _ = write!(note, "{word} ");
            }
            let city = words.draw(&mut draw);
            take(&Row {
                id,
                customer: skewed(&mut draw, 1 << 20),
                city,
                kind: draw.below(100),
                amount: draw.below(1 << 40),
                note: note.trim_end(),
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_their_seed_and_fit_their_columns() {
        let text = |seed| {
            let mut all = Vec::new();
            let rows = Rows { count: 500, seed };
            let taken = rows.each(|row| {
                assert!(row.note.len() <= 160 && row.city.len() <= 40);
                // Letters and digits have no special meaning in any of the databases.
                let plain = |c: char| c.is_ascii_lowercase() || c == ' ';
                assert!(row.note.chars().all(plain) && row.city.chars().all(plain));
                all.push(format!("{} {} {} {}", row.id, row.city, row.amount, row.note));
                Ok::<_, ()>(())
            });
            assert_eq!(taken, Ok(()));
            all
        };
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
        assert_eq!(text(1).len(), 500);
        let stopped =
            Rows { count: 9, seed: 1 }.each(|row| if row.id == 3 { Err(3) } else { Ok(()) });
        assert_eq!(stopped, Err(3));
    }
}
