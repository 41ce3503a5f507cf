//! A JSON value that keeps the order of its keys and the form of its numbers.

use std::fmt::Write;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    /// Key and value pairs, in order.
    Object(Vec<(String, Json)>),
    /// Values, in order.
    Array(Vec<Json>),
    /// Text.
    Text(String),
    /// A whole number, written without a point.
    Whole(i64),
    /// A real number, written with six decimals.
    Real(f64),
    /// true or false.
    Flag(bool),
    /// null
    Null,
}

/// An object of `key => value` pairs.
macro_rules! object {
    ($($key:expr => $value:expr),* $(,)?) => {
        $crate::json::tree::Json::Object(vec![$(($key.into(), $value.into())),*])
    };
}
pub(super) use object;

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Json::Whole(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Json::Whole(value.into())
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Json::Whole(value.into())
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        // JSON has no infinity and no NaN; judge gives neither.
        Json::Real(if value.is_finite() { value } else { 0.0 })
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Flag(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Json::Text(value.into())
    }
}

impl From<&record::Sentence> for Json {
    fn from(value: &record::Sentence) -> Self {
        Json::Text(value.to_string())
    }
}

impl From<&String> for Json {
    fn from(value: &String) -> Self {
        Json::Text(value.clone())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Json::Text(value)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

impl Json {
    /// Adds a pair at the end of an object.
    pub(super) fn push(&mut self, key: &str, value: impl Into<Json>) {
        if let Json::Object(pairs) = self {
            pairs.push((key.into(), value.into()));
        }
    }

    /// Adds the pairs of another object at the end of this one.
    pub(super) fn extend(&mut self, other: Json) {
        if let (Json::Object(pairs), Json::Object(more)) = (self, other) {
            pairs.extend(more);
        }
    }

    /// Takes a value out of an object.
    pub(super) fn take(&mut self, key: &str) -> Option<Json> {
        let Json::Object(pairs) = self else { return None };
        let at = pairs.iter().position(|(known, _)| known == key)?;
        Some(pairs.remove(at).1)
    }

    /// Leaves these keys of an object out.
    pub(super) fn remove(&mut self, keys: &[&str]) {
        if let Json::Object(pairs) = self {
            pairs.retain(|(key, _)| !keys.contains(&key.as_str()));
        }
    }

    /// The document as fio lays it out: two spaces a level, `"key" : value`.
    pub(super) fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out.push('\n');
        out
    }

    /// The document in one line.
    pub(super) fn to_line(&self) -> String {
        let mut out = String::new();
        self.write_compact(&mut out);
        out.push('\n');
        out
    }

    fn write_compact(&self, out: &mut String) {
        match self {
            Json::Object(pairs) => {
                out.push('{');
                for (index, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    escape(out, key);
                    out.push(':');
                    value.write_compact(out);
                }
                out.push('}');
            }
            Json::Array(values) => {
                out.push('[');
                for (index, value) in values.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    value.write_compact(out);
                }
                out.push(']');
            }
            plain => plain.write(out, 0),
        }
    }

    fn write(&self, out: &mut String, level: usize) {
        match self {
            Json::Object(pairs) => {
                let write_pair = |out: &mut String, (key, value): &(String, Json)| {
                    escape(out, key);
                    out.push_str(" : ");
                    value.write(out, level + 1);
                };
                enclose(out, level, ['{', '}'], pairs, write_pair);
            }
            Json::Array(values) => {
                let write_value = |out: &mut String, value: &Json| value.write(out, level + 1);
                enclose(out, level, ['[', ']'], values, write_value);
            }
            Json::Text(text) => escape(out, text),
            Json::Whole(value) => {
                let _ = write!(out, "{value}");
            }
            Json::Real(value) => {
                let _ = write!(out, "{value:.6}");
            }
            Json::Flag(value) => {
                let _ = write!(out, "{value}");
            }
            Json::Null => out.push_str("null"),
        }
    }
}

fn enclose<T>(
    out: &mut String,
    level: usize,
    [open, close]: [char; 2],
    items: &[T],
    write_item: impl Fn(&mut String, &T),
) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        indent(out, level + 1);
        write_item(out, item);
    }
    out.push('\n');
    indent(out, level);
    out.push(close);
}

fn indent(out: &mut String, level: usize) {
    (0..level).for_each(|_| out.push_str("  "));
}

fn escape(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_the_oracles() {
        let document = object! {
            "a" => 1_u64,
            "b" => object! { "c" => 0.5, "d" => Json::Object(Vec::new()) },
            "e" => Json::Array(vec![object! { "f" => "x" }]),
        };
        let expected = "{\n  \"a\" : 1,\n  \"b\" : {\n    \"c\" : 0.500000,\n    \"d\" : {\n    }\n  \
                        },\n  \"e\" : [\n    {\n      \"f\" : \"x\"\n    }\n  ]\n}\n";
        assert_eq!(document.to_text(), expected);
        let line = "{\"a\":1,\"b\":{\"c\":0.500000,\"d\":{}},\"e\":[{\"f\":\"x\"}]}\n";
        assert_eq!(document.to_line(), line);
    }

    #[test]
    fn any_text_survives() {
        let text = "quote \" back \\ line \n tab \t bell \u{7} é \u{1f600}";
        let written = Json::from(text).to_text();
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }

    #[test]
    fn a_number_json_cannot_hold_is_not_written() {
        assert_eq!(Json::from(f64::NAN).to_text(), "0.000000\n");
    }
}
