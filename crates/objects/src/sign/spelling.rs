//! A request as it will stand in its head.

use super::encode::push_encoded;
use crate::Failure;
use std::fmt::{self, Write};
use std::ops::Range;

/// A request spelled out, before it is signed. It is filled anew for each one and keeps its room,
/// so that a request costs no allocation.
#[derive(Default)]
pub struct Spelling {
    /// Method.
    pub method: &'static str,
    /// Where the request goes to: what `Host` says.
    pub host: String,
    /// Path, encoded.
    pub path: String,
    /// Query, encoded; names in the order of their bytes, each with its `=`.
    pub query: String,
    /// Names in lower case, and where in `values` their values are.
    headers: Vec<(&'static str, Range<usize>)>,
    values: String,
}

impl Spelling {
    /// Forgets the request before.
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

    /// Adds to the query. Names have to come in the order of their bytes, so that what is sent is
    /// also what is signed.
    pub fn query(&mut self, name: &str, value: &str) {
        if !self.query.is_empty() {
            self.query.push('&');
        }
        self.query.push_str(name);
        self.query.push('=');
        push_encoded(&mut self.query, value);
    }

    /// Puts the headers in the order of their names, as signatures want them.
    pub fn sort(&mut self) {
        self.headers.sort_unstable_by_key(|(name, _)| *name);
    }

    /// The headers, without `Host`.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.headers.iter().map(|(name, at)| (*name, &self.values[at.clone()]))
    }
}

/// `value`, if it may stand in a head as it is. `what` names it in the refusal, which does not
/// repeat it: it may be a secret.
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
