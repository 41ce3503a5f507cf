//! Objects of a store that are known by number.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The numbered objects that a worker put, well or not; [`numbered_path`] tells their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectsPut {
    /// "/bucket/prefix/CLONE/".
    pub below: String,
    /// The first number.
    pub from: u32,
    /// One more than the last.
    pub to: u32,
}

/// Writes the path of object `number` over `path`: what it is `below`, and the number in eight digits.
pub fn numbered_path(below: &str, number: u32, path: &mut String) {
    path.clear();
    // Writing to a string cannot fail.
    let _ = write!(path, "{below}{number:08}");
}
