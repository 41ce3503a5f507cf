//! A JSON value that keeps the order of its keys and the form of its numbers.

use serde_json::Value;

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

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        // JSON has no infinity and no NaN; judge gives neither.
        Json::Real(if value.is_finite() { value } else { 0.0 })
    }
}

/// An array with a value for each item.
pub(super) fn array<T>(items: &[T], each: impl Fn(&T) -> Json) -> Json {
    Json::Array(items.iter().map(each).collect())
}

/// An array of texts.
pub(super) fn texts(texts: &[String]) -> Json {
    array(texts, |text| text.into())
}

macro_rules! from {
    ($($type:ty => $json:expr),* $(,)?) => {
        $(impl From<$type> for Json {
            fn from(value: $type) -> Self {
                $json(value.into())
            }
        })*
    };
}

from! {
    u32 => Json::Whole,
    i32 => Json::Whole,
    bool => Json::Flag,
    &str => Json::Text,
    &String => Json::Text,
    String => Json::Text,
}

impl From<&record::Sentence> for Json {
    fn from(value: &record::Sentence) -> Self {
        Json::Text(value.to_string())
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

    /// The document in fio's layout: two spaces for each level, `"key" : value`.
    pub(super) fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out + "\n"
    }

    /// The document on one line.
    pub(super) fn to_line(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out + "\n"
    }

    /// Writes the value at a level of indentation; `None`: without whitespace.
    fn write(&self, out: &mut String, level: Option<usize>) {
        let inner = level.map(|level| level + 1);
        match self {
            Json::Object(pairs) => enclose(out, level, ['{', '}'], pairs, |out, (key, value)| {
                *out += &Value::from(key.as_str()).to_string();
                *out += if level.is_some() { " : " } else { ":" };
                value.write(out, inner);
            }),
            Json::Array(values) => {
                enclose(out, level, ['[', ']'], values, |out, value| value.write(out, inner));
            }
            Json::Text(text) => *out += &Value::from(text.as_str()).to_string(),
            Json::Whole(value) => *out += &value.to_string(),
            Json::Real(value) => *out += &format!("{value:.6}"),
            Json::Flag(value) => *out += &value.to_string(),
            Json::Null => *out += "null",
        }
    }
}

fn enclose<T>(
    out: &mut String,
    level: Option<usize>,
    [open, close]: [char; 2],
    items: &[T],
    write_item: impl Fn(&mut String, &T),
) {
    let new_line = |level: usize| format!("\n{:width$}", "", width = 2 * level);
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        *out += if index == 0 { "" } else { "," };
        *out += &level.map_or(String::new(), |level| new_line(level + 1));
        write_item(out, item);
    }
    *out += &level.map_or(String::new(), new_line);
    out.push(close);
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
