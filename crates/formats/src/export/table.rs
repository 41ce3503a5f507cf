//! A table of named columns, and its form as CSV.

use std::fmt::Write;

/// Columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns, in order.
    pub columns: Vec<Column>,
}

/// A column: its name ends with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its values, one a row.
    pub values: Values,
}

/// Values of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Text; empty where there is none.
    Text(Vec<String>),
    /// Whole numbers.
    Whole(Vec<Option<u64>>),
    /// Real numbers.
    Real(Vec<Option<f64>>),
}

impl Column {
    pub(super) fn text(name: &'static str, values: Vec<String>) -> Column {
        Column { name, values: Values::Text(values) }
    }

    pub(super) fn whole(name: &'static str, values: Vec<Option<u64>>) -> Column {
        Column { name, values: Values::Whole(values) }
    }

    pub(super) fn real(name: &'static str, values: Vec<Option<f64>>) -> Column {
        Column { name, values: Values::Real(values) }
    }

    fn cell(&self, row: usize) -> String {
        match &self.values {
            Values::Text(values) => quoted(&values[row]),
            Values::Whole(values) => values[row].map_or(String::new(), |value| value.to_string()),
            Values::Real(values) => values[row].map_or(String::new(), |value| value.to_string()),
        }
    }
}

/// RFC 4180: a field with a comma, a quote or an end of line stands in quotes, quotes in it doubled.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

impl Table {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| match &column.values {
            Values::Text(values) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Real(values) => values.len(),
        })
    }

    /// As CSV (RFC 4180, lines ended as usual on Unix): a line of names, then a line a row. A value
    /// that is not there is empty.
    pub fn csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let mut out = names.join(",") + "\n";
        for row in 0..self.rows() {
            let cells: Vec<String> = self.columns.iter().map(|column| column.cell(row)).collect();
            let _ = writeln!(out, "{}", cells.join(","));
        }
        out
    }
}
