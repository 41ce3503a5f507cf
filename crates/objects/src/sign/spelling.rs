//! The parts of a request's head.

use super::encode::push_encoded;
use crate::Failure;
use std::fmt::{self, Write};
use std::ops::Range;

/// A request before it is signed. It is reused for each request and keeps its buffers, so that a
/// request costs no allocation.
#[derive(Default)]
pub struct Spelling {
    /// Method.
    pub method: &'static str,
    /// The value of `Host`.
    pub host: String,
    /// Path, encoded.
    pub path: String,
    /// Query, encoded; names in byte order, each with its `=`.
    pub query: String,
    /// Names in lower case, and the ranges of their values in `values`.
    headers: Vec<(&'static str, Range<usize>)>,
    values: String,
}

impl Spelling {
    /// Removes the previous request.
    pub fn clear(&mut self) {
        self.host.clear();
        self.path.clear();
        self.query.clear();
        self.headers.clear();
        self.values.clear();
    }

    /// Adds a header. Its name is in lower case; its value is known to be printable.
    pub fn header(&mut self, name: &'static str, value: impl fmt::Display) {
        let from = self.values.len();
        // Writing to a String cannot fail.
        let _ = write!(self.values, "{value}");
        self.headers.push((name, from..self.values.len()));
    }

    /// Adds a parameter to the query. Names must be added in byte order, because the signature
    /// requires it.
    pub fn query(&mut self, name: &str, value: &str) {
        if !self.query.is_empty() {
            self.query.push('&');
        }
        self.query.push_str(name);
        self.query.push('=');
        push_encoded(&mut self.query, value);
    }

    /// Sorts the headers by name, as signatures require.
    pub fn sort(&mut self) {
        self.headers.sort_unstable_by_key(|(name, _)| *name);
    }

    /// The headers, without `Host`.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.headers.iter().map(|(name, at)| (*name, &self.values[at.clone()]))
    }
}

/// Returns `value` if it may be part of a head. `what` names it in the error, which does not
/// contain the value, because that may be a secret.
pub fn printable<'a>(what: &str, value: &'a str) -> Result<&'a str, Failure> {
    match value.chars().find(|char| char.is_control()) {
        Some(char) => Err(Failure::Refused(format!(
            "{what} holds the control character {char:?}, which no HTTP header may: remove it"
        ))),
        None => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_request_holds_nothing_of_the_first() {
        let mut spelling = Spelling::default();
        spelling.header("range", "bytes=0-1");
        spelling.query("prefix", "a/b c");
        assert_eq!(spelling.query, "prefix=a%2Fb%20c");
        spelling.clear();
        spelling.header("x-b", 2);
        spelling.header("x-a", "one");
        spelling.sort();
        assert_eq!(spelling.headers().collect::<Vec<_>>(), [("x-a", "one"), ("x-b", "2")]);
        assert_eq!(spelling.query, "");
    }

    #[test]
    fn a_refusal_does_not_repeat_the_secret() {
        let Err(Failure::Refused(why)) = printable("the session token", "abc\r\ndef") else {
            panic!("it was taken");
        };
        assert!(why.starts_with("the session token holds the control character '\\r'"), "{why}");
        assert!(!why.contains("abc"), "{why}");
    }
}
