//! Command lines as one would type them.

use super::common::Texts;
use job::{Dialect, Invocation, JobErrors, parse};

/// Parses words split at blanks.
pub fn run(line: &str, dialect: Dialect, texts: &Texts) -> Result<Invocation, JobErrors> {
    let args: Vec<String> = line.split_whitespace().map(Into::into).collect();
    parse(&args, dialect, texts)
}

/// The errors of a line that must have some.
pub fn errors(line: &str, dialect: Dialect, texts: &Texts) -> Vec<String> {
    match run(line, dialect, texts) {
        Ok(invocation) => panic!("'{line}' was taken: {invocation:?}"),
        Err(errors) => errors.list.iter().map(ToString::to_string).collect(),
    }
}
