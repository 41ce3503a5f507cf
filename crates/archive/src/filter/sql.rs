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
            _ => format!(" ORDER BY {column} {direction} NULLS LAST, number DESC"),
        };
        if self.limit.is_some() || self.offset > 0 {
            clause.sql += " LIMIT ? OFFSET ?";
            let limit = self.limit.map_or(i64::MAX, |limit| limit.try_into().unwrap_or(i64::MAX));
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
            Condition::Interrupted(wanted) => {
                self.sql +=
                    if *wanted { "interrupted_by IS NOT NULL" } else { "interrupted_by IS NULL" };
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
        let values = match subject {
            Subject::Column(column @ ("id" | "set_id")) => Test::begins_with(column, patterns),
            // A comparison with NULL is never true, even after NOT.
            Subject::Column("cell") => Test::matches("coalesce(cell, '')", patterns),
            Subject::Column(column) => Test::matches(column, patterns),
            Subject::Fact(_) => Test::matches("value", patterns),
            Subject::Tag => Test::matches("tag", patterns),
        };
        if not {
            self.sql += "NOT ";
        }
        let test = values.sql;
        self.sql += &match subject {
            Subject::Column(_) => format!("({test})"),
            Subject::Fact(name) => {
                format!("number IN (SELECT run FROM facts WHERE name = '{name}' AND ({test}))")
            }
            Subject::Tag => format!("number IN (SELECT run FROM tags WHERE {test})"),
        };
        self.values.extend(values.values);
    }
}

/// Whether a text matches one of several patterns.
struct Test {
    sql: String,
    values: Vec<Value>,
}

impl Test {
    /// Patterns with * and ?. An index finds patterns without those.
    fn matches(column: &str, patterns: &[String]) -> Test {
        let (sql, text): (String, fn(&String) -> String) =
            match patterns.iter().any(|pattern| pattern.contains(['*', '?'])) {
                true => {
                    let like = format!("{column} LIKE ? ESCAPE '\\'");
                    (vec![like; patterns.len()].join(" OR "), |pattern| escaped(pattern, true))
                }
                false => {
                    let any = vec!["lower(?)"; patterns.len()].join(", ");
                    (format!("lower({column}) IN ({any})"), String::clone)
                }
            };
        Test { sql, values: patterns.iter().map(|pattern| Value::Text(text(pattern))).collect() }
    }

    /// First digits of ids, which an index finds, or patterns of them.
    fn begins_with(column: &str, digits: &[String]) -> Test {
        if !digits.iter().all(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())) {
            let open: Vec<String> = digits.iter().map(|digits| format!("{digits}*")).collect();
            return Test::matches(&format!("coalesce({column}, '')"), &open);
        }
        let range = format!("({column} >= ? AND {column} < ?)");
        // 'g' comes after every digit.
        let values = digits.iter().map(|digits| digits.to_lowercase()).flat_map(|digits| {
            let end = format!("{digits}g");
            [Value::Text(digits), Value::Text(end)]
        });
        // Runs of no set are in none, even after NOT.
        let any = vec![range; digits.len()].join(" OR ");
        let sql = format!("{column} IS NOT NULL AND ({any})");
        Test { sql, values: values.collect() }
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
