//! Filters of runs, parsed from words. `fathom runs`, the web pages and the API share this syntax.

mod sql;
mod value;

pub(crate) use sql::bound;
pub use value::Now;

use crate::SetId;
use crate::search_terms::{MULTI_VALUED, size};
use judge::Measure;

/// Which runs are wanted, in which order, and how many of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// All conditions have to hold.
    conditions: Vec<Condition>,
    /// The order.
    pub sort: Sort,
    /// Most runs to list.
    pub limit: Option<u64>,
    /// Number of runs to skip.
    pub offset: u64,
}

/// The order of a list. Runs without the figure come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    column: &'static str,
    /// Largest first.
    pub descending: bool,
}

impl Default for Sort {
    /// The latest run first.
    fn default() -> Sort {
        Sort { column: "started_ms", descending: true }
    }
}

/// A word that is not a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{word}': {problem}")]
pub struct FilterError {
    /// As typed.
    pub word: String,
    /// The problem, and what was expected.
    pub problem: String,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// One of the values of a fact or column matches one of the patterns.
    Is { subject: Subject, patterns: Vec<String>, not: bool },
    /// A column compared with a number.
    Column { column: &'static str, operator: Operator, limit: f64 },
    /// A figure compared with a number, in the measure's unit.
    Figure { measure: String, operator: Operator, limit: f64 },
    /// Whether a signal ended the run early.
    Interrupted(bool),
    /// The text occurs in one of the text columns.
    Text(String),
}

/// The thing whose values are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Column(&'static str),
    Fact(&'static str),
    Tag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Longer operators come first, because ">=" begins with ">".
const OPERATORS: [(&str, Operator); 6] = [
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Keys with text values, and the column or fact to compare.
const TEXT_KEYS: [(&str, Subject); 11] = [
    ("host", Subject::Column("host")),
    ("kernel", Subject::Column("kernel")),
    ("fathom", Subject::Column("fathom")),
    ("kind", Subject::Column("kind")),
    ("cell", Subject::Column("cell")),
    ("id", Subject::Column("id")),
    ("set", Subject::Column("set_id")),
    ("verdict", Subject::Fact("verdict")),
    ("confidence", Subject::Fact("confidence")),
    ("finding", Subject::Fact("finding")),
    ("tag", Subject::Tag),
];

/// Other names of keys.
const ALIASES: [(&str, &str); 5] = [
    ("fs", "filesystem"),
    ("path", "target"),
    ("file", "target"),
    ("ioengine", "engine"),
    ("blocksize", "bs"),
];

/// Keys with numeric values, their columns and units.
const NUMBER_KEYS: [(&str, &str, value::NumberKind); 6] = [
    ("errors", "errors", value::NumberKind::Count),
    ("warnings", "found_warnings", value::NumberKind::Count),
    ("findings", "(found_errors + found_warnings + found_notes)", value::NumberKind::Count),
    ("iodepth", "iodepth", value::NumberKind::Count),
    ("duration", "(ended_ms - started_ms)", value::NumberKind::Milliseconds),
    ("max", "max_ns", value::NumberKind::Latency),
];

/// Sort keys and their columns.
const SORT_KEYS: [(&str, &str); 15] = [
    ("time", "started_ms"),
    ("iops", "iops"),
    ("bandwidth", "bandwidth"),
    ("mean", "mean_ns"),
    ("p50", "p50_ns"),
    ("p99", "p99_ns"),
    ("p99.9", "p99_9_ns"),
    ("max", "max_ns"),
    ("host", "host"),
    ("job", "job"),
    ("kind", "kind"),
    ("device", "device"),
    ("errors", "errors"),
    ("warnings", "found_warnings"),
    ("duration", "(ended_ms - started_ms)"),
];

/// Keys that are not properties of a run.
const OTHER_KEYS: [&str; 7] = ["since", "until", "sort", "limit", "offset", "interrupted", "text"];

impl Filter {
    /// Reads a line of words: `host=web* kind=test,sweep since=7d iops>100k p99<1ms "any text"`.
    /// Double quotes enclose values with blanks.
    ///
    /// # Errors
    /// The word that is not a condition, and what was expected.
    pub fn parse(text: &str, now: Now) -> Result<Filter, FilterError> {
        Filter::from_words(&split(text)?, now)
    }

    /// As [`Filter::parse`], with the words already separated.
    ///
    /// # Errors
    /// The word that is not a condition, and what was expected.
    pub fn from_words(words: &[String], now: Now) -> Result<Filter, FilterError> {
        let mut filter = Filter::default();
        for word in words.iter().filter(|word| !word.is_empty()) {
            let wrong = |problem| FilterError { word: word.clone(), problem };
            filter.add_word(word, now).map_err(wrong)?;
        }
        Ok(filter)
    }

    /// Every run, the latest first.
    pub fn all() -> Filter {
        Filter::default()
    }

    /// The same with another limit and offset.
    pub fn page(&self, limit: Option<u64>, offset: u64) -> Filter {
        Filter { limit, offset, ..self.clone() }
    }

    /// The same with at most so many runs.
    pub fn at_most(&self, most: u64) -> Filter {
        self.page(Some(self.limit.map_or(most, |limit| limit.min(most))), self.offset)
    }

    /// The same, of the runs of a set.
    pub fn in_set(&self, set: &SetId) -> Filter {
        let subject = Subject::Column("set_id");
        let mut filter = self.clone();
        let patterns = vec![set.to_string()];
        filter.conditions.push(Condition::Is { subject, patterns, not: false });
        filter
    }

    /// Whether the filter matches every run.
    pub fn matches_all(&self) -> bool {
        self.conditions.is_empty()
    }

    pub(crate) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn add_word(&mut self, word: &str, now: Now) -> Result<(), String> {
        let Some((key, operator, value)) = split_condition(word) else {
            self.conditions.push(Condition::Text(word.into()));
            return Ok(());
        };
        let require_equal = |what: &str| match operator {
            Operator::Equal => Ok(()),
            _ => Err(format!("{what} is given with '='")),
        };
        match key {
            "sort" => require_equal("an order")
                .and_then(|()| parse_sort(value))
                .map(|sort| self.sort = sort),
            "limit" => {
                require_equal("a limit")?;
                value::whole_number(value).map(|limit| self.limit = Some(limit as u64))
            }
            "offset" => {
                require_equal("an offset")?;
                value::whole_number(value).map(|offset| self.offset = offset as u64)
            }
            "since" | "until" => {
                require_equal("a time")?;
                let [start, end] = value::time_range(value, now)?;
                let (operator, limit) = match key {
                    "since" => (Operator::GreaterOrEqual, start),
                    _ => (Operator::Less, end),
                };
                self.conditions.push(Condition::Column { column: "started_ms", operator, limit });
                Ok(())
            }
            _ => {
                self.conditions.push(parse_condition(key, operator, value)?);
                Ok(())
            }
        }
    }
}

/// Key, operator and value of a condition; `None` for plain text.
fn split_condition(word: &str) -> Option<(&str, Operator, &str)> {
    let at = word.find(['=', '!', '<', '>'])?;
    let (key, rest) = word.split_at(at);
    let (sign, operator) = OPERATORS.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
    let is_key = key.chars().next()?.is_ascii_alphabetic()
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
    is_key.then(|| (key, operator, &rest[sign.len()..]))
}

fn parse_condition(key: &str, operator: Operator, value: &str) -> Result<Condition, String> {
    let key = ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name);
    let column = TEXT_KEYS.into_iter().find(|(name, _)| *name == key).map(|(_, subject)| subject);
    let fact = MULTI_VALUED.into_iter().find(|name| *name == key).map(Subject::Fact);
    if let Some(subject) = column.or(fact) {
        let not = match operator {
            Operator::Equal => false,
            Operator::NotEqual => true,
            _ => return Err(format!("{key} is a word: compare it with '=' or '!='")),
        };
        let pattern =
            |value: &str| if key == "bs" { stored_block_size(value) } else { value.to_owned() };
        let mut patterns: Vec<String> = value.split(',').map(pattern).collect();
        if key == "finding" {
            add_former_ids(&mut patterns);
        }
        return Ok(Condition::Is { subject, patterns, not });
    }
    if let Some((_, column, kind)) = NUMBER_KEYS.into_iter().find(|(name, ..)| *name == key) {
        return Ok(Condition::Column { column, operator, limit: kind.read(value)? });
    }
    if key == "interrupted" {
        let not = operator == Operator::NotEqual;
        return match value {
            "yes" => Ok(Condition::Interrupted(!not)),
            "no" => Ok(Condition::Interrupted(not)),
            _ => Err("say interrupted=yes or interrupted=no".into()),
        };
    }
    if key == "text" {
        return match operator {
            Operator::Equal => Ok(Condition::Text(value.into())),
            _ => Err("text is given with '='".into()),
        };
    }
    let name = key.replace("bw", "bandwidth");
    let measure = Measure::parse(&name).map_err(|_| unknown_key(key))?;
    let kind = match measure.unit() {
        "IOPS" => value::NumberKind::Count,
        "bytes/s" => value::NumberKind::Bytes,
        _ => value::NumberKind::Latency,
    };
    Ok(Condition::Figure { measure: measure.name(), operator, limit: kind.read(value)? })
}

/// Adds the other id of every check that was renamed: the archive holds the id of the time when a run was
/// judged.
fn add_former_ids(patterns: &mut Vec<String>) {
    for (former, id) in judge::checks::FORMER_IDS {
        if patterns.iter().any(|pattern| pattern == former || pattern == id) {
            patterns.extend([former.to_owned(), id.to_owned()]);
        }
    }
}

/// A block size as the archive stores it: "4096" is "4k".
fn stored_block_size(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_lowercase(), size)
}

fn parse_sort(value: &str) -> Result<Sort, String> {
    let (descending, name) = match value.strip_prefix('-') {
        Some(name) => (true, name),
        None => (false, value),
    };
    let name = name.replace("bw", "bandwidth");
    let known = SORT_KEYS.into_iter().find(|(known, _)| *known == name);
    let (_, column) = known.ok_or_else(|| {
        let names: Vec<&str> = SORT_KEYS.into_iter().map(|(known, _)| known).collect();
        format!("lists are sorted by {}; -{} puts the largest first", names.join(", "), names[0])
    })?;
    Ok(Sort { column, descending })
}

fn unknown_key(key: &str) -> String {
    let names = || {
        let words = TEXT_KEYS.into_iter().map(|(name, _)| name);
        let numbers = NUMBER_KEYS.into_iter().map(|(name, ..)| name);
        words.chain(MULTI_VALUED).chain(numbers).chain(OTHER_KEYS).chain([
            "iops",
            "bandwidth",
            "p99",
        ])
    };
    // A name with more differences is another key, not a typing error.
    let distance_max = (key.len() / 3).clamp(1, 2);
    let near = names().min_by_key(|name| strsim::damerau_levenshtein(key, name));
    let near = near.filter(|name| strsim::damerau_levenshtein(key, name) <= distance_max);
    let hint = near.map_or("there".into(), |near| format!("did you mean {near}? There"));
    format!(
        "runs have no '{key}': {hint} are {}, and the figures iops, bandwidth, mean, p50 … \
         p99.99, each also of one direction (read.p99)",
        names()
            .take(TEXT_KEYS.len() + MULTI_VALUED.len() + NUMBER_KEYS.len() + OTHER_KEYS.len())
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// Splits at blanks, except within double quotes.
fn split(text: &str) -> Result<Vec<String>, FilterError> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    match (quoted, word) {
        (true, word) => Err(FilterError {
            word: word.unwrap_or_default(),
            problem: "the quote (\") is not closed".into(),
        }),
        (false, word) => {
            words.extend(word);
            Ok(words)
        }
    }
}

#[cfg(test)]
mod tests;
