//! Bodies of requests, and ranges.

use super::spelling::Spelling;
use crate::Failure;
use std::ops::Range;

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    Nothing,
    /// These bytes of the slot's content.
    Content(Range<usize>),
    /// This text.
    Text(Vec<u8>),
}

/// The range of the slot's content of `whole` bytes that a request sends.
pub fn part(from: u64, length: u64, whole: usize) -> Result<Range<usize>, Failure> {
    let end = from.checked_add(length).and_then(|end| usize::try_from(end).ok());
    match end.filter(|end| *end <= whole) {
        Some(end) => Ok(end - length as usize..end),
        None => Err(Failure::Refused(format!(
            "{length} bytes from byte {from} on were to be sent, and there are {whole}"
        ))),
    }
}

/// Adds the header that requests a range, given its first byte and length; `None`: the whole
/// object.
pub fn ask_for_range(range: Option<(u64, u64)>, to: &mut Spelling) -> Result<(), Failure> {
    let Some((first, length)) = range else { return Ok(()) };
    match first.checked_add(length).filter(|_| length > 0) {
        Some(end) => {
            to.header("range", format_args!("bytes={first}-{}", end - 1));
            Ok(())
        }
        None => Err(Failure::Refused(format!(
            "{length} bytes from byte {first} on are no range: expected at least one, below 2^64"
        ))),
    }
}
