//! Conditions as SQL. Text from the user is always bound as a value.

use super::{Condition, Filter, Operator, Subject};
use rusqlite::types::{ToSql, Value};

/// The end of a statement, after FROM, with its values.
pub(crate) struct Clause {
    /// " WHERE …", " ORDER BY …", " LIMIT …".
    pub sql: String,
    /// Values of its placeholders, in order.
    pub values: Vec<Value>,
}

/// The columns in which text is searched.
const TEXT_COLUMNS: &str = "job || ' ' || host || ' ' || kind || ' ' || target || ' ' || device || ' ' || \
     model || ' ' || command || ' ' || note || ' ' || coalesce(cell, '') || ' ' || \
     coalesce(verdict, '')";

impl Filter {
    /// The WHERE clause.
    pub(crate) fn where_clause(&self) -> Clause {
        let mut clause = Clause { sql: String::new(), values: Vec::new() };
        for (index, condition) in self.conditions().iter().enumerate() {
            clause.sql += if index == 0 { " WHERE " } else { " AND " };
            clause.add(condition);
        }
        clause
    }

    /// WHERE, ORDER BY and LIMIT.
    pub(crate) fn clause(&self) -> Clause {
        let mut clause = self.where_clause();
        let direction = if self.sort.descending { "DESC" } else { "ASC" };
        let column = self.sort.column;
        clause.sql += &match column {
            "started_ms" => format!(" ORDER BY started_ms {direction}, number {direction}"),
            _ => format!(" ORDER BY {column} IS NULL, {column} {direction}, number DESC"),
        };
        if self.limit.is_some() || self.offset > 0 {
            clause.sql += " LIMIT ? OFFSET ?";
            let limit = self.limit.map_or(i64::MAX, |limit| limit as i64);
            clause.values.extend([Value::Integer(limit), Value::Integer(self.offset as i64)]);
        }
        clause
    }
}

/// Values for the placeholders of a statement.
pub(crate) fn bound(values: &[Value]) -> Vec<&dyn ToSql> {
    values.iter().map(|value| value as &dyn ToSql).collect()
}

impl Operator {
    fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::NotEqual => "<>",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        }
    }
}

impl Clause {
    fn add(&mut self, condition: &Condition) {
        match condition {
            Condition::Is { subject, patterns, not } => self.add_match(*subject, patterns, *not),
            Condition::Column { column, operator, limit } => {
                // PostgreSQL uses the index of an integer column for an integer only.
                let (placeholder, value) = match limit.fract() == 0.0 && limit.abs() < 9e15 {
                    true => ("?", Value::Integer(*limit as i64)),
                    false => ("CAST(? AS DOUBLE PRECISION)", Value::Real(*limit)),
                };
                self.sql += &format!("{column} {} {placeholder}", operator.sign());
                self.values.push(value);
            }
            Condition::Figure { measure, operator, limit } => {
                self.sql += &format!(
                    "EXISTS (SELECT 1 FROM figures WHERE run = number AND name = ? AND value {} ?)",
                    operator.sign()
                );
                self.values.extend([Value::Text(measure.clone()), Value::Real(*limit)]);
            }
            Condition::Interrupted(is) => {
                self.sql +=
                    if *is { "interrupted_by IS NOT NULL" } else { "interrupted_by IS NULL" };
            }
            Condition::Text(text) => {
                self.sql += &format!(
                    "({TEXT_COLUMNS} LIKE ? ESCAPE '\\' OR EXISTS (SELECT 1 FROM tags WHERE run = number AND \
                     tag LIKE ? ESCAPE '\\'))"
                );
                let like = Value::Text(format!("%{}%", escaped(text, false)));
                self.values.extend([like.clone(), like]);
            }
        }
    }

    /// Adds the condition that one of the values matches one of the patterns, or none with `not`.
    fn add_match(&mut self, subject: Subject, patterns: &[String], not: bool) {
        let like = |column: &str| {
            vec![format!("{column} LIKE ? ESCAPE '\\'"); patterns.len()].join(" OR ")
        };
        if not {
            self.sql += "NOT ";
        }
        match subject {
            Subject::Column(column) => {
                // A comparison with NULL is never true, even after NOT.
                self.sql += &format!("({})", like(&format!("coalesce({column}, '')")));
            }
            Subject::Fact(name) => {
                self.sql += &format!(
                    "EXISTS (SELECT 1 FROM facts WHERE run = number AND name = '{name}' AND ({}))",
                    like("value")
                );
            }
            Subject::Tag => {
                self.sql += &format!(
                    "EXISTS (SELECT 1 FROM tags WHERE run = number AND ({}))",
                    like("tag")
                );
            }
        }
        let matches_prefix = matches!(subject, Subject::Column("id" | "set_id"));
        let pattern = |pattern: &String| {
            let end = if matches_prefix { "%" } else { "" };
            Value::Text(escaped(pattern, true) + end)
        };
        self.values.extend(patterns.iter().map(pattern));
    }
}

/// A pattern for LIKE, with its special characters escaped. With `with_wildcards`, * and ? work as in
/// file names.
fn escaped(text: &str, with_wildcards: bool) -> String {
    let mut like = String::new();
    for c in text.chars() {
        match c {
            '*' if with_wildcards => like.push('%'),
            '?' if with_wildcards => like.push('_'),
            '%' | '_' | '\\' => like.extend(['\\', c]),
            c => like.push(c),
        }
    }
    like
}
